// SPDX-License-Identifier: GPL-2.0-only

#include "ferrocc-tcp-socket.h"

#include "ferrocc-ffi/src/recovery.rs.h"
#include "rust/cxx.h"
#include "tcp-judged-ops.h"
#include "tcp-notes.h"

#include "ns3/abort.h"
#include "ns3/ipv4-end-point.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv6-end-point.h"
#include "ns3/ipv6-interface.h"
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
/// A retransmission timer that does not expire: longer than any run.
const Time PARKED = Seconds(1e8);
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

/// @param verdict The name of what has become of a segment. @return The same.
bridge::Truth
TruthOf(const std::string& verdict)
{
    if (verdict == "congestion")
    {
        return bridge::Truth::Congestion;
    }
    if (verdict == "random-loss")
    {
        return bridge::Truth::RandomLoss;
    }
    return verdict == "reordering" ? bridge::Truth::Reordering : bridge::Truth::Unknown;
}

} // namespace

/// What is noted of arriving segments.
struct FerroccTcpSocket::Receiver
{
    rust::Box<bridge::Notes> notes{bridge::new_notes()}; //!< What is noted.
};

/// The policy.
struct FerroccTcpSocket::Impl
{
    rust::Box<bridge::Sender> sender;     //!< The policy.
    bridge::Needs needs{sender->needs()}; //!< What it needs.
    bool hasSent{false};                  //!< Whether there was data.
    bool isKept{false};                   //!< Whether this recovery keeps the window.
    uint32_t threshold{0};                //!< The threshold before it.
    uint64_t transmissions{0};            //!< How many segments have left.
    uint64_t deadlineNs{NEVER};           //!< When the policy wants to be asked.
    uint64_t holdNs{0};                   //!< Nothing new leaves before.
    bridge::ReportView report{};          //!< What the ACK that is being handled bears.

    /**
     * What the policy is shown.
     *
     * @param socket The socket's state.
     * @param ack The ACK number.
     * @param duplicates Duplicate ACKs with this one; 0 if it is none.
     * @param isJudged Whether the policy may judge now, so that the truth is looked up.
     * @return It.
     */
    bridge::AckView View(const FerroccTcpSocket& socket,
                         SequenceNumber32 ack,
                         uint32_t duplicates,
                         bool isJudged) const
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
        view.timeout_ns = static_cast<uint64_t>(socket.m_rto.Get().GetNanoSeconds());
        view.report = report;
        view.truth = bridge::Truth::Unknown;
        if (needs.truth && isJudged)
        {
            view.draw = socket.m_draw->GetValue();
            view.truth = socket.m_truth.IsNull()
                             ? bridge::Truth::Unknown
                             : TruthOf(socket.m_truth(socket.m_txBuffer->HeadSequence()));
        }
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
      m_maxWindow(other.m_maxWindow),
      m_isNoting(other.m_isNoting),
      m_truth(other.m_truth),
      m_stream(other.m_stream)
{
    if (other.m_impl)
    {
        // The base class has forked both; what is judged is this connection's.
        m_ops = DynamicCast<TcpJudgedCongestionOps>(m_congestionControl);
        m_judgedRecovery = DynamicCast<TcpJudgedRecovery>(m_recoveryOps);
        m_impl = std::make_unique<Impl>(
            Impl{bridge::new_sender(m_policy, m_parameters, m_tcb->m_segmentSize)});
        Provide();
    }
}

FerroccTcpSocket::~FerroccTcpSocket() = default;

void
FerroccTcpSocket::DoDispose()
{
    m_deadline.Cancel();
    m_truth = TruthCallback();
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
    Provide();
    m_sackEnabled = false;
    m_ops = CreateObject<TcpJudgedCongestionOps>();
    m_ops->SetInner(m_congestionControl);
    m_congestionControl = m_ops;
    m_judgedRecovery = CreateObject<TcpJudgedRecovery>();
    m_recoveryOps = m_judgedRecovery;
}

void
FerroccTcpSocket::Provide()
{
    if (m_impl->needs.parks_timer)
    {
        m_minRto = PARKED;
    }
    if (m_impl->needs.notes)
    {
        AddNotes();
    }
    if (m_impl->needs.truth)
    {
        m_draw = CreateObject<UniformRandomVariable>();
        m_draw->SetStream(m_stream);
    }
}

void
FerroccTcpSocket::AddNotes()
{
    if (!m_isNoting)
    {
        m_isNoting = true;
        TraceConnectWithoutContext("Tx", MakeCallback(&FerroccTcpSocket::OnTransmission));
    }
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
FerroccTcpSocket::CompleteFork(Ptr<Packet> p,
                               const TcpHeader& tcpHeader,
                               const Address& fromAddress,
                               const Address& toAddress)
{
    TcpSocketBase::CompleteFork(p, tcpHeader, fromAddress, toAddress);
    // ns-3 answers segments that it has had before DoForwardUp, so that they are seen here only.
    if (m_endPoint)
    {
        m_endPoint->SetRxCallback(
            MakeCallback(&FerroccTcpSocket::OnSegment, Ptr<FerroccTcpSocket>(this)));
    }
    if (m_endPoint6)
    {
        m_endPoint6->SetRxCallback(
            MakeCallback(&FerroccTcpSocket::OnSegment6, Ptr<FerroccTcpSocket>(this)));
    }
}

void
FerroccTcpSocket::OnSegment(Ptr<Packet> packet,
                            Ipv4Header header,
                            uint16_t port,
                            Ptr<Ipv4Interface> interface)
{
    Note(packet);
    ForwardUp(packet, header, port, interface);
}

void
FerroccTcpSocket::OnSegment6(Ptr<Packet> packet,
                             Ipv6Header header,
                             uint16_t port,
                             Ptr<Ipv6Interface> interface)
{
    Note(packet);
    ForwardUp6(packet, header, port, interface);
}

void
FerroccTcpSocket::Note(Ptr<Packet> packet)
{
    TcpSegmentNoteTag tag;
    TcpHeader header;
    if (!packet->PeekPacketTag(tag) || packet->PeekHeader(header) == 0)
    {
        return;
    }
    const uint32_t bytes = packet->GetSize() - header.GetSerializedSize();
    if (bytes == 0)
    {
        return;
    }
    if (!m_notes)
    {
        m_notes = std::make_unique<Receiver>();
        AddNotes();
    }
    bridge::ArrivalView view{};
    view.now_ns = NowNs();
    view.seq = header.GetSequenceNumber().GetValue();
    view.bytes = bytes;
    view.next = m_tcb->m_rxBuffer->NextRxSequence().GetValue();
    view.transmission = tag.transmission;
    view.sent_ns = tag.sentNs;
    view.marked = false;
    m_notes->notes->on_segment(view);
}

void
FerroccTcpSocket::OnTransmission(Ptr<const Packet> packet,
                                 const TcpHeader& header,
                                 Ptr<const TcpSocketBase> socket)
{
    const auto self = DynamicCast<const FerroccTcpSocket>(socket);
    if (self->m_impl && self->m_impl->needs.notes && packet->GetSize() > 0)
    {
        TcpSegmentNoteTag tag;
        tag.transmission = ++self->m_impl->transmissions;
        tag.sentNs = NowNs();
        packet->AddPacketTag(tag);
    }
    if (self->m_notes && (header.GetFlags() & TcpHeader::ACK))
    {
        const auto report = self->m_notes->notes->report(header.GetAckNumber().GetValue());
        TcpAckNoteTag tag;
        tag.sentNs = report.sent_ns;
        tag.receivedNs = report.received_ns;
        tag.duplicate = report.duplicate;
        tag.duplicateBytes = report.duplicate_bytes;
        tag.repeat = report.repeat;
        tag.isOutOfOrder = report.out_of_order;
        tag.isMarked = report.marked;
        packet->AddPacketTag(tag);
    }
}

void
FerroccTcpSocket::DoForwardUp(Ptr<Packet> packet,
                              const Address& fromAddress,
                              const Address& toAddress)
{
    TcpAckNoteTag tag;
    if (m_impl && m_impl->needs.notes && packet->PeekPacketTag(tag))
    {
        auto& report = m_impl->report;
        report.is_there = true;
        report.sent_ns = tag.sentNs;
        report.received_ns = tag.receivedNs;
        report.out_of_order = tag.isOutOfOrder;
        report.duplicate = tag.duplicate;
        report.duplicate_bytes = tag.duplicateBytes;
        report.marked = tag.isMarked;
        report.repeat = tag.repeat;
        TcpHeader header;
        packet->PeekHeader(header);
        if (m_impl->hasSent && header.GetAckNumber() < m_txBuffer->HeadSequence())
        {
            // ns-3 drops it.
            const auto step =
                m_impl->sender->on_stale(m_impl->View(*this, header.GetAckNumber(), 0, false));
            if (step.is_step)
            {
                ApplyWindow(step);
                Conclude(step);
            }
        }
        TcpSocketBase::DoForwardUp(packet, fromAddress, toAddress);
        if (m_impl)
        {
            m_impl->report.is_there = false;
        }
        return;
    }
    TcpSocketBase::DoForwardUp(packet, fromAddress, toAddress);
}

void
FerroccTcpSocket::ApplyWindow(const ferrocc::recovery::StepView& step)
{
    if (step.window > 0)
    {
        m_tcb->m_cWnd = step.window;
        m_tcb->m_cWndInfl = step.window;
    }
    if (step.threshold_bytes > 0)
    {
        m_tcb->m_ssThresh = step.threshold_bytes;
    }
    if (step.rto_ns > 0)
    {
        m_rto = NanoSeconds(step.rto_ns);
    }
    m_impl->holdNs = std::max(m_impl->holdNs, step.hold_ns);
}

void
FerroccTcpSocket::Conclude(const ferrocc::recovery::StepView& step)
{
    SetDeadline(step.deadline_ns);
    if (!step.verdict.empty())
    {
        m_verdictTrace(SequenceNumber32(step.verdict_on), std::string(step.verdict));
    }
    if (step.timeout)
    {
        ExpireNow();
    }
    else if (step.resend)
    {
        Resend();
    }
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
    const auto step = m_impl->sender->on_ack(m_impl->View(*this, ack, duplicates, isDuplicate));
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
    ApplyWindow(step);
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
    Conclude(step);
}

void
FerroccTcpSocket::SetDeadline(uint64_t deadlineNs)
{
    m_impl->deadlineNs = deadlineNs;
    if (deadlineNs == NEVER)
    {
        m_deadline.Cancel();
        return;
    }
    const uint64_t now = NowNs();
    const uint64_t wait = deadlineNs > now ? deadlineNs - now : 0;
    // A deadline that moves on leaves the event, which then looks again.
    if (m_deadline.IsExpired() || Simulator::GetDelayLeft(m_deadline) > NanoSeconds(wait))
    {
        m_deadline.Cancel();
        m_deadline = Simulator::Schedule(NanoSeconds(wait), &FerroccTcpSocket::OnDeadline, this);
    }
}

void
FerroccTcpSocket::Resend()
{
    if (m_txBuffer->Size() == 0 || m_txBuffer->HeadSequence() >= m_tcb->m_highTxMark.Get())
    {
        return;
    }
    m_txBuffer->MarkHeadAsLost();
    SendDataPacket(m_txBuffer->HeadSequence(), m_tcb->m_segmentSize, true);
}

void
FerroccTcpSocket::ExpireNow()
{
    m_retxEvent.Cancel();
    ReTxTimeout();
}

void
FerroccTcpSocket::OnDeadline()
{
    if (m_impl->deadlineNs > NowNs())
    {
        SetDeadline(m_impl->deadlineNs);
        return;
    }
    m_impl->deadlineNs = NEVER;
    const SequenceNumber32 una = m_txBuffer->HeadSequence();
    const auto step = m_impl->sender->on_deadline(m_impl->View(*this, una, 0, true));
    const auto state = m_tcb->m_congState.Get();
    const bool isJudged = state == TcpSocketState::CA_OPEN || state == TcpSocketState::CA_DISORDER;
    ApplyWindow(step);
    if (step.retransmit && isJudged && m_txBuffer->Size() > 0)
    {
        m_impl->isKept = step.reduction == bridge::Reduction::Keep;
        m_impl->threshold = m_tcb->m_ssThresh;
        m_retxEvent.Cancel();
        SetJudgement(JudgementOf(step));
        EnterRecovery(0);
        SetJudgement(TcpJudgement());
    }
    Conclude(step);
    SendPendingData(m_connected);
}

uint32_t
FerroccTcpSocket::SendDataPacket(SequenceNumber32 seq, uint32_t maxSize, bool withAck)
{
    const uint32_t size = TcpSocketBase::SendDataPacket(seq, maxSize, withAck);
    if (m_impl && size > 0)
    {
        m_impl->hasSent = true;
        const uint64_t deadline =
            m_impl->sender->on_sent(NowNs(), seq.GetValue(), size, m_tcb->m_cWnd);
        if (deadline > 0)
        {
            SetDeadline(deadline);
        }
    }
    return size;
}

void
FerroccTcpSocket::ReTxTimeout()
{
    if (!m_impl || m_txBuffer->Size() == 0)
    {
        TcpSocketBase::ReTxTimeout();
        return;
    }
    SetDeadline(NEVER);
    const uint32_t window = m_tcb->m_cWnd;
    const uint32_t threshold = m_impl->isKept ? m_impl->threshold : m_tcb->m_ssThresh.Get();
    const Time rto = m_rto;
    m_impl->isKept = false;
    m_impl->holdNs = 0;
    const bool isKept =
        m_impl->sender->on_timeout(m_impl->View(*this, m_txBuffer->HeadSequence(), 0, true));
    m_dupAckCount = 0;
    SetRetxThresh(DUPLICATES);
    TcpSocketBase::ReTxTimeout();
    if (isKept)
    {
        m_tcb->m_cWnd = window;
        m_tcb->m_cWndInfl = window;
        m_tcb->m_ssThresh = threshold;
        m_rto = rto;
    }
}

void
FerroccTcpSocket::SetTruth(TruthCallback truth)
{
    m_truth = truth;
}

int64_t
FerroccTcpSocket::AssignStreams(int64_t stream)
{
    m_stream = stream;
    if (m_draw)
    {
        m_draw->SetStream(stream);
    }
    return 1;
}

bool
FerroccTcpSocket::NeedsNotes()
{
    Judge();
    return m_impl && m_impl->needs.notes;
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
    if (m_impl && m_impl->holdNs > NowNs())
    {
        return 0;
    }
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
