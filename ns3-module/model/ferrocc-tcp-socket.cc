// SPDX-License-Identifier: GPL-2.0-only

#include "ferrocc-tcp-socket.h"

#include "ferrocc-ffi/src/recovery.rs.h"
#include "rust/cxx.h"
#include "tcp-judged-ops.h"

#include "ns3/abort.h"
#include "ns3/node.h"
#include "ns3/rtt-estimator.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-tx-buffer.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FerroccTcpSocket);
NS_OBJECT_ENSURE_REGISTERED(FerroccTcpSocketFactory);

namespace
{

namespace bridge = ferrocc::recovery;

/// The policy that is ns-3's own.
const char* const STANDARD = "standard";
/// Duplicate ACKs after which a segment counts as missing (RFC 5681, section 3.2).
constexpr uint32_t DUPLICATES = 3;
/// No deadline.
constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();

/// @return The simulated time in nanoseconds.
uint64_t
NowNs()
{
    return static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
}

/// @param step What a policy says. @return The same for the congestion control.
TcpJudgement
JudgementOf(const bridge::StepView& step)
{
    TcpJudgement judgement;
    judgement.grow = step.grow;
    judgement.share = step.share;
    switch (step.reduction)
    {
    case bridge::Reduction::Keep:
        judgement.window = TcpJudgement::Window::KEEP;
        break;
    case bridge::Reduction::Share:
        judgement.window = TcpJudgement::Window::SHARE;
        break;
    default:
        break;
    }
    return judgement;
}

} // namespace

/// The policy.
struct FerroccTcpSocket::Impl
{
    rust::Box<bridge::Sender> sender; //!< The policy.
    bool hasSent{false};              //!< Whether there was data.
    bool isKept{false};               //!< Whether this recovery keeps the window.
    uint32_t threshold{0};            //!< The threshold before it.

    /// Asks the policy. @param socket The socket's state. @return What to do.
    bridge::AckView View(const FerroccTcpSocket& socket,
                         SequenceNumber32 ack,
                         uint32_t duplicates) const
    {
        const auto& tcb = *socket.m_tcb;
        bridge::AckView view{};
        view.now_ns = NowNs();
        view.ack = ack.GetValue();
        view.una = socket.m_txBuffer->HeadSequence().GetValue();
        view.high = tcb.m_highTxMark.Get().GetValue();
        view.recover = socket.m_recover.GetValue();
        view.window = tcb.m_cWnd;
        view.threshold = isKept ? threshold : tcb.m_ssThresh.Get();
        view.duplicates = duplicates;
        view.may_retransmit =
            !socket.m_recoverActive || socket.m_highRxAckMark.Get() >= socket.m_recover;
        switch (tcb.m_congState.Get())
        {
        case TcpSocketState::CA_OPEN:
        case TcpSocketState::CA_DISORDER:
            view.phase = bridge::Phase::Open;
            break;
        case TcpSocketState::CA_RECOVERY:
            view.phase = bridge::Phase::Recovery;
            break;
        default:
            view.phase = bridge::Phase::Loss;
            break;
        }
        view.timer_ns = socket.m_retxEvent.IsExpired()
                            ? NEVER
                            : static_cast<uint64_t>(
                                  Simulator::GetDelayLeft(socket.m_retxEvent).GetNanoSeconds());
        return view;
    }
};

TypeId
FerroccTcpSocket::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FerroccTcpSocket")
            .SetParent<TcpSocketBase>()
            .SetGroupName("Ferrocc")
            .AddConstructor<FerroccTcpSocket>()
            .AddAttribute(
                "Recovery",
                "How duplicate ACKs are judged: the name of a policy, or \"standard\" for "
                "ns-3's own",
                StringValue("newreno"),
                MakeStringAccessor(&FerroccTcpSocket::m_policy),
                MakeStringChecker())
            .AddAttribute("RecoveryParameters",
                          "Parameters of the policy, a JSON object; empty for its defaults",
                          StringValue(""),
                          MakeStringAccessor(&FerroccTcpSocket::m_parameters),
                          MakeStringChecker())
            .AddAttribute("MaxWindow",
                          "Most bytes in flight, whatever the congestion window; 0 for no limit",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FerroccTcpSocket::m_maxWindow),
                          MakeUintegerChecker<uint32_t>())
            .AddTraceSource("Verdict",
                            "Why segments were missing or late, as the policy judges it",
                            MakeTraceSourceAccessor(&FerroccTcpSocket::m_verdictTrace),
                            "ns3::FerroccTcpSocket::VerdictTracedCallback");
    return tid;
}

TypeId
FerroccTcpSocket::GetInstanceTypeId() const
{
    return GetTypeId();
}

FerroccTcpSocket::FerroccTcpSocket() = default;

FerroccTcpSocket::FerroccTcpSocket(const FerroccTcpSocket& other)
    : TcpSocketBase(other),
      m_policy(other.m_policy),
      m_parameters(other.m_parameters),
      m_maxWindow(other.m_maxWindow)
{
    if (other.m_impl)
    {
        // The base class has forked both; what is judged is this connection's.
        m_ops = DynamicCast<TcpJudgedCongestionOps>(m_congestionControl);
        m_judgedRecovery = DynamicCast<TcpJudgedRecovery>(m_recoveryOps);
        m_impl = std::make_unique<Impl>(
            Impl{bridge::new_sender(m_policy, m_parameters, m_tcb->m_segmentSize)});
    }
}

FerroccTcpSocket::~FerroccTcpSocket() = default;

void
FerroccTcpSocket::DoDispose()
{
    m_deadline.Cancel();
    TcpSocketBase::DoDispose();
}

void
FerroccTcpSocket::Judge()
{
    if (m_impl || m_policy == STANDARD)
    {
        return;
    }
    try
    {
        m_impl = std::make_unique<Impl>(
            Impl{bridge::new_sender(m_policy, m_parameters, m_tcb->m_segmentSize)});
    }
    catch (const rust::Error& error)
    {
        NS_ABORT_MSG(error.what());
    }
    m_sackEnabled = false;
    m_ops = CreateObject<TcpJudgedCongestionOps>();
    m_ops->SetInner(m_congestionControl);
    m_congestionControl = m_ops;
    m_judgedRecovery = CreateObject<TcpJudgedRecovery>();
    m_recoveryOps = m_judgedRecovery;
}

int
FerroccTcpSocket::Connect(const Address& address)
{
    Judge();
    return TcpSocketBase::Connect(address);
}

int
FerroccTcpSocket::Listen()
{
    Judge();
    return TcpSocketBase::Listen();
}

Ptr<TcpSocketBase>
FerroccTcpSocket::Fork()
{
    return CopyObject<FerroccTcpSocket>(this);
}

void
FerroccTcpSocket::SetJudgement(const TcpJudgement& judgement)
{
    m_ops->SetJudgement(judgement);
    m_judgedRecovery->SetJudgement(judgement);
}

void
FerroccTcpSocket::ReceivedAck(Ptr<Packet> packet, const TcpHeader& tcpHeader)
{
    const SequenceNumber32 ack = tcpHeader.GetAckNumber();
    const SequenceNumber32 una = m_txBuffer->HeadSequence();
    if (!m_impl || !m_impl->hasSent || ack < una)
    {
        TcpSocketBase::ReceivedAck(packet, tcpHeader);
        return;
    }
    const auto state = m_tcb->m_congState.Get();
    const bool isJudged = state == TcpSocketState::CA_OPEN || state == TcpSocketState::CA_DISORDER;
    const bool isDuplicate = ack == una && ack < m_tcb->m_highTxMark.Get();
    const uint32_t duplicates = isDuplicate ? m_dupAckCount + 1 : 0;
    const auto step = m_impl->sender->on_ack(m_impl->View(*this, ack, duplicates));
    if (isDuplicate && isJudged)
    {
        // The base class sends again when the count reaches the threshold exactly.
        SetRetxThresh(step.retransmit ? duplicates : std::max(DUPLICATES, duplicates + 1));
    }
    else if (ack > una)
    {
        SetRetxThresh(DUPLICATES);
        if (isJudged)
        {
            // Without SACK the buffer guesses which segments have arrived, and would send the head
            // again at once where a second hole shows.
            m_txBuffer->ResetRenoSack();
        }
    }
    if (step.window > 0)
    {
        m_tcb->m_cWnd = step.window;
        m_tcb->m_cWndInfl = step.window;
    }
    if (step.retransmit)
    {
        m_impl->isKept = step.reduction == bridge::Reduction::Keep;
        m_impl->threshold = m_tcb->m_ssThresh;
        if (step.restart_timer)
        {
            m_retxEvent.Cancel();
        }
    }
    const bool isExit = m_impl->isKept && step.exit > 0;
    if (isExit)
    {
        // The base class sets the window to the threshold when a recovery ends.
        m_tcb->m_ssThresh = step.exit;
    }
    SetJudgement(JudgementOf(step));
    TcpSocketBase::ReceivedAck(packet, tcpHeader);
    SetJudgement(TcpJudgement());
    if (isExit)
    {
        m_tcb->m_ssThresh = m_impl->threshold;
        m_impl->isKept = false;
    }
    m_deadline.Cancel();
    if (step.deadline_ns != NEVER)
    {
        const uint64_t now = NowNs();
        const uint64_t wait = step.deadline_ns > now ? step.deadline_ns - now : 0;
        m_deadline = Simulator::Schedule(NanoSeconds(wait), &FerroccTcpSocket::OnDeadline, this);
    }
    if (!step.verdict.empty())
    {
        m_verdictTrace(una, std::string(step.verdict));
    }
}

void
FerroccTcpSocket::OnDeadline()
{
    const SequenceNumber32 una = m_txBuffer->HeadSequence();
    const auto step = m_impl->sender->on_deadline(m_impl->View(*this, una, 0));
    const auto state = m_tcb->m_congState.Get();
    const bool isJudged = state == TcpSocketState::CA_OPEN || state == TcpSocketState::CA_DISORDER;
    if (!step.retransmit || !isJudged || m_txBuffer->Size() == 0)
    {
        return;
    }
    m_impl->isKept = step.reduction == bridge::Reduction::Keep;
    m_impl->threshold = m_tcb->m_ssThresh;
    m_retxEvent.Cancel();
    SetJudgement(JudgementOf(step));
    EnterRecovery(0);
    SetJudgement(TcpJudgement());
    SendPendingData(m_connected);
    m_verdictTrace(una, std::string(step.verdict));
}

uint32_t
FerroccTcpSocket::SendDataPacket(SequenceNumber32 seq, uint32_t maxSize, bool withAck)
{
    const uint32_t size = TcpSocketBase::SendDataPacket(seq, maxSize, withAck);
    if (m_impl && size > 0)
    {
        m_impl->hasSent = true;
        m_impl->sender->on_sent(NowNs(), seq.GetValue(), size);
    }
    return size;
}

void
FerroccTcpSocket::ReTxTimeout()
{
    if (m_impl && m_txBuffer->Size() > 0)
    {
        m_deadline.Cancel();
        m_impl->isKept = false;
        m_impl->sender->on_timeout(NowNs());
        m_dupAckCount = 0;
        SetRetxThresh(DUPLICATES);
    }
    TcpSocketBase::ReTxTimeout();
}

uint32_t
FerroccTcpSocket::Window() const
{
    const uint32_t window = TcpSocketBase::Window();
    return m_maxWindow > 0 ? std::min(window, m_maxWindow) : window;
}

uint32_t
FerroccTcpSocket::AvailableWindow() const
{
    const uint32_t window = TcpSocketBase::AvailableWindow();
    // Up to ns-3.40 NextSeg finds an empty segment when the receiver's window is used up exactly,
    // and its transmission crashes.
    if (m_impl && window > 0 &&
        m_tcb->m_highTxMark.Get() - m_txBuffer->HeadSequence() ==
            static_cast<int32_t>(m_rWnd.Get()))
    {
        SequenceNumber32 next;
        SequenceNumber32 high;
        if (m_txBuffer->NextSeg(&next, &high, false) && next == high)
        {
            return 0;
        }
    }
    return window;
}

TypeId
FerroccTcpSocketFactory::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FerroccTcpSocketFactory")
            .SetParent<SocketFactory>()
            .SetGroupName("Ferrocc")
            .AddConstructor<FerroccTcpSocketFactory>()
            .AddAttribute(
                "Recovery",
                "How duplicate ACKs are judged: the name of a policy, or \"standard\" for "
                "ns-3's own",
                StringValue("newreno"),
                MakeStringAccessor(&FerroccTcpSocketFactory::m_policy),
                MakeStringChecker())
            .AddAttribute("RecoveryParameters",
                          "Parameters of the policy, a JSON object; empty for its defaults",
                          StringValue(""),
                          MakeStringAccessor(&FerroccTcpSocketFactory::m_parameters),
                          MakeStringChecker())
            .AddAttribute("MaxWindow",
                          "Most bytes in flight, whatever the congestion window; 0 for no limit",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FerroccTcpSocketFactory::m_maxWindow),
                          MakeUintegerChecker<uint32_t>());
    return tid;
}

Ptr<Socket>
FerroccTcpSocketFactory::CreateSocket()
{
    const auto node = GetObject<Node>();
    const auto protocol = GetObject<TcpL4Protocol>();
    NS_ABORT_MSG_IF(!node || !protocol,
                    "FerroccTcpSocketFactory: aggregate it to a node with the internet stack");
    TypeIdValue type;
    protocol->GetAttribute("SocketType", type);
    ObjectFactory congestion;
    congestion.SetTypeId(type.Get());
    auto socket = CreateObject<FerroccTcpSocket>();
    socket->SetNode(node);
    socket->SetTcp(protocol);
    socket->SetRtt(CreateObject<RttMeanDeviation>());
    socket->SetCongestionControlAlgorithm(congestion.Create<TcpCongestionOps>());
    if (m_policy == STANDARD)
    {
        TypeIdValue recovery;
        protocol->GetAttribute("RecoveryType", recovery);
        ObjectFactory recoveries;
        recoveries.SetTypeId(recovery.Get());
        socket->SetRecoveryAlgorithm(recoveries.Create<TcpRecoveryOps>());
    }
    else
    {
        socket->SetRecoveryAlgorithm(CreateObject<TcpClassicRecovery>());
    }
    socket->SetAttribute("Recovery", StringValue(m_policy));
    socket->SetAttribute("RecoveryParameters", StringValue(m_parameters));
    socket->SetAttribute("MaxWindow", UintegerValue(m_maxWindow));
    protocol->AddSocket(socket);
    return socket;
}

} // namespace ns3
