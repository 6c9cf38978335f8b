// SPDX-License-Identifier: GPL-2.0-only

#include "tcp-judged-ops.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(TcpJudgedCongestionOps);
NS_OBJECT_ENSURE_REGISTERED(TcpJudgedRecovery);

TypeId
TcpJudgedCongestionOps::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::TcpJudgedCongestionOps").SetParent<TcpCongestionOps>().SetGroupName("Ferrocc");
    return tid;
}

TcpJudgedCongestionOps::TcpJudgedCongestionOps() = default;

TcpJudgedCongestionOps::TcpJudgedCongestionOps(const TcpJudgedCongestionOps& other)
    : TcpCongestionOps(other),
      m_inner(other.m_inner->Fork())
{
}

TcpJudgedCongestionOps::~TcpJudgedCongestionOps() = default;

void
TcpJudgedCongestionOps::SetInner(Ptr<TcpCongestionOps> inner)
{
    m_inner = inner;
}

Ptr<TcpCongestionOps>
TcpJudgedCongestionOps::GetInner() const
{
    return m_inner;
}

void
TcpJudgedCongestionOps::SetJudgement(const TcpJudgement& judgement)
{
    m_judgement = judgement;
}

std::string
TcpJudgedCongestionOps::GetName() const
{
    return m_inner->GetName();
}

void
TcpJudgedCongestionOps::Init(Ptr<TcpSocketState> tcb)
{
    m_inner->Init(tcb);
}

uint32_t
TcpJudgedCongestionOps::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight)
{
    switch (m_judgement.window)
    {
    case TcpJudgement::Window::KEEP:
        return tcb->m_cWnd;
    case TcpJudgement::Window::SHARE:
        // Not less than two segments, as RFC 5681, equation (4).
        return std::max(static_cast<uint32_t>(bytesInFlight * m_judgement.share),
                        2 * tcb->m_segmentSize);
    case TcpJudgement::Window::CONTROLLER:
        break;
    }
    return m_inner->GetSsThresh(tcb, bytesInFlight);
}

void
TcpJudgedCongestionOps::IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked)
{
    if (m_judgement.grow)
    {
        m_inner->IncreaseWindow(tcb, segmentsAcked);
    }
}

void
TcpJudgedCongestionOps::PktsAcked(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked, const Time& rtt)
{
    m_inner->PktsAcked(tcb, segmentsAcked, rtt);
}

void
TcpJudgedCongestionOps::CongestionStateSet(Ptr<TcpSocketState> tcb,
                                           const TcpSocketState::TcpCongState_t newState)
{
    m_inner->CongestionStateSet(tcb, newState);
}

void
TcpJudgedCongestionOps::CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event)
{
    m_inner->CwndEvent(tcb, event);
}

bool
TcpJudgedCongestionOps::HasCongControl() const
{
    return m_inner->HasCongControl();
}

void
TcpJudgedCongestionOps::CongControl(Ptr<TcpSocketState> tcb,
                                    const TcpRateOps::TcpRateConnection& connection,
                                    const TcpRateOps::TcpRateSample& sample)
{
    m_inner->CongControl(tcb, connection, sample);
}

Ptr<TcpCongestionOps>
TcpJudgedCongestionOps::Fork()
{
    return CopyObject<TcpJudgedCongestionOps>(this);
}

TypeId
TcpJudgedRecovery::GetTypeId()
{
    static TypeId tid = TypeId("ns3::TcpJudgedRecovery")
                            .SetParent<TcpClassicRecovery>()
                            .SetGroupName("Ferrocc")
                            .AddConstructor<TcpJudgedRecovery>();
    return tid;
}

void
TcpJudgedRecovery::SetJudgement(const TcpJudgement& judgement)
{
    m_judgement = judgement;
}

std::string
TcpJudgedRecovery::GetName() const
{
    return "TcpJudgedRecovery";
}

void
TcpJudgedRecovery::EnterRecovery(Ptr<TcpSocketState> tcb,
                                 uint32_t dupAckCount,
                                 uint32_t unAckDataCount,
                                 uint32_t deliveredBytes)
{
    if (m_judgement.window == TcpJudgement::Window::KEEP)
    {
        tcb->m_cWndInfl = tcb->m_cWnd + dupAckCount * tcb->m_segmentSize;
        return;
    }
    TcpClassicRecovery::EnterRecovery(tcb, dupAckCount, unAckDataCount, deliveredBytes);
}

Ptr<TcpRecoveryOps>
TcpJudgedRecovery::Fork()
{
    return CopyObject<TcpJudgedRecovery>(this);
}

} // namespace ns3
