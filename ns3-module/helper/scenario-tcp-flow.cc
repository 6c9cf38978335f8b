// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-tcp-flow.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "ferrocc-ffi/src/tcp.rs.h"
#include "ferrocc-ffi/src/trace.rs.h"
#include "scenario-drops.h"
#include "scenario-network.h"
#include "scenario-streams.h"

#include "ns3/boolean.h"
#include "ns3/ferrocc-congestion-ops.h"
#include "ns3/ferrocc-tcp-socket.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace ns3
{

namespace
{

/// Port of the first flow, the first that is not well known (RFC 6335).
constexpr uint16_t FIRST_PORT = 1024;

/// The recovery that is ns-3's own.
constexpr char STANDARD[] = "standard";
/// Timeouts in a row after which a sender gives up; never, in practice.
constexpr uint32_t DATA_RETRIES = 1'000'000;
/// Duplicate ACKs at which a segment is suspected to be missing (RFC 5681, section 3.2).
constexpr uint32_t DUPLICATES = 3;
/// Longer than any run: three years.
const Time NO_PERSIST_TIMEOUT = Seconds(1e8);

/// Name of the failure of a flow that is stopped.
constexpr char CANCELLED[] = "cancelled";
/// Name of the failure of a flow whose content is not what was sent.
constexpr char CONTENT_MISMATCH[] = "content-mismatch";
/// Name of the failure of a flow without an answer to its SYNs.
constexpr char NO_CONNECTION[] = "no-connection";
/// Name of the failure of a flow whose connection breaks.
constexpr char CONNECTION_LOST[] = "connection-lost";

/// "None" among thresholds.
constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();

/**
 * @return The time now, as the output counts it.
 */
uint64_t
NowNs()
{
    return static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
}

/**
 * @param type A type of ns-3, without "ns3::".
 * @return Its TypeId.
 */
TypeId
FindNs3Type(const std::string& type)
{
    return TypeId::LookupByName("ns3::" + type);
}

/**
 * @param node A host.
 * @return Its factory of ferrocc's sockets.
 */
Ptr<FerroccTcpSocketFactory>
GetFactory(const Ptr<Node>& node)
{
    auto factory = node->GetObject<FerroccTcpSocketFactory>();
    if (!factory)
    {
        factory = CreateObject<FerroccTcpSocketFactory>();
        node->AggregateObject(factory);
    }
    return factory;
}

} // namespace

/// The meter, whose type is known to this file only.
struct ScenarioTcpFlow::Impl
{
    rust::Box<ferrocc::tcp::Meter> meter; //!< What is watched.
    ferrocc::tcp::MeterState sender;      //!< How the sender is.
};

std::string
ScenarioTcpFlow::CheckType(const std::string& type)
{
    const TypeId parent = TcpCongestionOps::GetTypeId();
    const auto isUsable = [&parent](const TypeId& tid) {
        // ns-3.37 says that TcpCubic's parent is TcpSocketBase.
        const bool isOps = tid.IsChildOf(parent) || tid.GetName() == "ns3::TcpCubic";
        return isOps && tid.HasConstructor();
    };
    TypeId found;
    if (TypeId::LookupByNameFailSafe("ns3::" + type, &found) && isUsable(found))
    {
        return "";
    }
    std::vector<std::string> names;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const TypeId tid = TypeId::GetRegistered(i);
        const std::string name = tid.GetName();
        // Ours are controllers with a name of their own.
        if (isUsable(tid) && name.rfind("ns3::Ferrocc", 0) != 0)
        {
            names.push_back(name.substr(5));
        }
    }
    std::sort(names.begin(), names.end());
    rust::Vec<rust::String> accepted;
    for (const auto& name : names)
    {
        accepted.push_back(name);
    }
    return std::string(ferrocc::scenario::unknown_name("congestion control", type, accepted));
}

ScenarioTcpFlow::ScenarioTcpFlow(const ScenarioFlow::Environment& environment,
                                 const ferrocc::scenario::FlowSpec& spec,
                                 const ferrocc::scenario::TcpSpec& tcp,
                                 uint32_t index,
                                 uint64_t startNs)
    : m_environment(environment),
      m_spec(spec),
      m_tcp(tcp),
      m_index(index)
{
    const auto& run = m_environment.run;
    m_impl = std::make_unique<Impl>(Impl{ferrocc::tcp::new_meter(spec.size_bytes,
                                                                 run.verify,
                                                                 (run.run << 32) + spec.id,
                                                                 spec.recovery == STANDARD),
                                         {0, 0, NONE, 0, false, false}});
    const uint32_t node = m_environment.network.GetReplica(m_spec.replicas[0].replica)->GetId();
    Simulator::ScheduleWithContext(node, NanoSeconds(startNs), &ScenarioTcpFlow::Start, this);
}

ScenarioTcpFlow::~ScenarioTcpFlow() = default;

Ptr<TcpCongestionOps>
ScenarioTcpFlow::MakeCongestionOps() const
{
    ObjectFactory factory;
    if (!m_spec.ns3_type.empty())
    {
        factory.SetTypeId(FindNs3Type(std::string(m_spec.ns3_type)));
        return factory.Create<TcpCongestionOps>();
    }
    factory.SetTypeId(FerroccCongestionOps::FindType(std::string(m_spec.controller)));
    auto ops = factory.Create<FerroccCongestionOps>();
    ops->SetParameters(std::string(m_spec.controller_params));
    ops->AssignStreams(STREAM_FLOWS + m_index);
    return ops;
}

Ptr<FerroccTcpSocket>
ScenarioTcpFlow::MakeSender(const Ptr<Node>& node)
{
    const auto factory = GetFactory(node);
    factory->SetAttribute("Recovery", StringValue(std::string(m_spec.recovery)));
    factory->SetAttribute("RecoveryParameters", StringValue(std::string(m_spec.recovery_params)));
    factory->SetAttribute("MaxWindow", UintegerValue(m_tcp.max_window * m_tcp.mss_bytes));
    auto socket = DynamicCast<FerroccTcpSocket>(factory->CreateSocket());
    socket->TraceConnectWithoutContext("Verdict", MakeCallback(&ScenarioTcpFlow::OnVerdict, this));
    socket->SetTruth(MakeCallback(&ScenarioTcpFlow::GetTruth, this));
    socket->AssignStreams(STREAM_VERDICTS + m_index);
    Configure(socket);
    if (m_spec.recovery != STANDARD)
    {
        // What is compared under heavy loss goes on as long as the run.
        socket->SetAttribute("DataRetries", UintegerValue(DATA_RETRIES));
    }
    return socket;
}

Ptr<TcpSocketBase>
ScenarioTcpFlow::MakeListener(const Ptr<Node>& node, bool notes) const
{
    Ptr<TcpSocketBase> socket;
    if (notes)
    {
        // It sends nothing, so that its own judgement does not matter.
        const auto factory = GetFactory(node);
        factory->SetAttribute("Recovery", StringValue("newreno"));
        factory->SetAttribute("RecoveryParameters", StringValue(""));
        factory->SetAttribute("MaxWindow", UintegerValue(0));
        socket = DynamicCast<TcpSocketBase>(factory->CreateSocket());
    }
    else
    {
        socket = DynamicCast<TcpSocketBase>(node->GetObject<TcpL4Protocol>()->CreateSocket());
    }
    Configure(socket);
    return socket;
}

void
ScenarioTcpFlow::Configure(const Ptr<TcpSocketBase>& socket) const
{
    socket->SetAttribute("SegmentSize", UintegerValue(m_tcp.mss_bytes));
    socket->SetAttribute("Sack", BooleanValue(m_tcp.sack));
    socket->SetAttribute("Timestamp", BooleanValue(false));
    socket->SetAttribute("WindowScaling", BooleanValue(true));
    socket->SetAttribute("DelAckCount", UintegerValue(m_tcp.delayed_ack));
    socket->SetAttribute("InitialCwnd", UintegerValue(m_tcp.initial_window));
    socket->SetAttribute("SndBufSize", UintegerValue(m_tcp.buffer_bytes));
    socket->SetAttribute("RcvBufSize", UintegerValue(m_tcp.buffer_bytes));
    // What arrives is read at once, so that a window of zero is that of a reset. ns-3 takes it for
    // a full buffer, and its probe would look for a segment that the closed socket has not.
    socket->SetAttribute("PersistTimeout", TimeValue(NO_PERSIST_TIMEOUT));
}

Address
ScenarioTcpFlow::WithPort(const Address& host) const
{
    const auto port = static_cast<uint16_t>(FIRST_PORT + m_index % (65536 - FIRST_PORT));
    if (m_environment.run.ipv6)
    {
        return Inet6SocketAddress(host.IsInvalid() ? Ipv6Address::GetAny()
                                                   : Ipv6Address::ConvertFrom(host),
                                  port);
    }
    return InetSocketAddress(host.IsInvalid() ? Ipv4Address::GetAny()
                                              : Ipv4Address::ConvertFrom(host),
                             port);
}

void
ScenarioTcpFlow::Start()
{
    m_progress = Progress::RUNNING;
    m_environment.writer.on_start(m_index, NowNs());
    m_environment.onChange();
    if (m_spec.stop_ns != std::numeric_limits<uint64_t>::max())
    {
        m_stop = Simulator::Schedule(NanoSeconds(m_spec.stop_ns - NowNs()),
                                     &ScenarioTcpFlow::Stop,
                                     this);
    }
    const auto& network = m_environment.network;
    const auto sender = MakeSender(network.GetReplica(m_spec.replicas[0].replica));
    m_sender = sender;
    m_sender->SetCongestionControlAlgorithm(MakeCongestionOps());
    m_listener = MakeListener(network.GetReceiver(m_spec.receiver), sender->NeedsNotes());
    m_listener->Bind(WithPort(Address()));
    m_listener->Listen();
    m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                  MakeCallback(&ScenarioTcpFlow::OnAccept, this));
    m_sender->SetConnectCallback(MakeCallback(&ScenarioTcpFlow::OnConnected, this),
                                 MakeCallback(&ScenarioTcpFlow::OnNotConnected, this));
    m_sender->SetCloseCallbacks(MakeNullCallback<void, Ptr<Socket>>(),
                                MakeCallback(&ScenarioTcpFlow::OnBroken, this));
    m_sender->SetSendCallback(MakeCallback(&ScenarioTcpFlow::OnRoom, this));
    const auto watch = [this](const char* source, const auto& callback) {
        m_sender->TraceConnectWithoutContext(source, callback);
    };
    watch("Tx", MakeCallback(&ScenarioTcpFlow::OnSent, this));
    watch("Rx", MakeCallback(&ScenarioTcpFlow::OnAck, this));
    watch("CongestionWindow", MakeCallback(&ScenarioTcpFlow::OnWindow, this));
    watch("SlowStartThreshold", MakeCallback(&ScenarioTcpFlow::OnThreshold, this));
    watch("BytesInFlight", MakeCallback(&ScenarioTcpFlow::OnInFlight, this));
    watch("CongState", MakeCallback(&ScenarioTcpFlow::OnState, this));
    watch("RTO", MakeCallback(&ScenarioTcpFlow::OnRto, this));
    m_sender->Bind(WithPort(Address()));
    m_sender->Connect(WithPort(network.GetReceiverAddress(m_spec.receiver)));
}

void
ScenarioTcpFlow::Stop()
{
    if (m_progress != Progress::RUNNING)
    {
        return;
    }
    End(CANCELLED);
    if (!m_reader)
    {
        m_sender->Close();
    }
    // Else the next segment that arrives is answered by a reset; see OnReadable.
}

void
ScenarioTcpFlow::Write()
{
    const uint64_t size =
        m_spec.size_bytes > 0 ? m_spec.size_bytes : std::numeric_limits<uint64_t>::max();
    while (m_written < size)
    {
        const auto length =
            static_cast<uint32_t>(std::min<uint64_t>(m_tcp.mss_bytes, size - m_written));
        if (m_sender->GetTxAvailable() < length)
        {
            return;
        }
        const auto bytes = m_impl->meter->content(m_written, length);
        auto packet = bytes.empty() ? Create<Packet>(length) : Create<Packet>(bytes.data(), length);
        if (m_sender->Send(packet, 0) < 0)
        {
            return;
        }
        m_written += length;
        if (m_written == size)
        {
            m_sender->Close(); // When everything is sent.
        }
    }
}

void
ScenarioTcpFlow::End(const std::string& failure)
{
    m_stop.Cancel();
    Event("end", static_cast<double>(GetDelivered()), failure);
    m_progress = Progress::ENDED;
    Update();
    if (m_environment.run.trace)
    {
        // The last row, however little time has passed since the one before.
        m_environment.writer.sample_tcp(m_index, NowNs(), *m_impl->meter);
    }
    m_environment.writer.finish_tcp(m_index, NowNs(), *m_impl->meter);
    m_environment.onChange();
}

void
ScenarioTcpFlow::Sample()
{
    if (m_progress == Progress::RUNNING)
    {
        Update();
        m_environment.writer.sample_tcp(m_index, NowNs(), *m_impl->meter);
    }
}

void
ScenarioTcpFlow::Finish()
{
    if (m_progress != Progress::ENDED)
    {
        Update();
        m_environment.writer.finish_tcp(m_index, m_environment.run.duration_ns, *m_impl->meter);
        m_progress = Progress::ENDED;
    }
}

bool
ScenarioTcpFlow::IsDone() const
{
    return m_spec.background || m_progress == Progress::ENDED;
}

uint64_t
ScenarioTcpFlow::GetDelivered() const
{
    return m_impl->meter->delivered();
}

void
ScenarioTcpFlow::Update()
{
    m_impl->meter->set_state(m_impl->sender);
}

void
ScenarioTcpFlow::Event(const char* kind, double value, const std::string& text)
{
    m_environment.writer.on_event(m_index, NowNs(), kind, value, text);
}

void
ScenarioTcpFlow::OnConnected(Ptr<Socket> /* socket */)
{
    if (m_progress == Progress::RUNNING)
    {
        Write();
    }
}

void
ScenarioTcpFlow::OnNotConnected(Ptr<Socket> /* socket */)
{
    if (m_progress == Progress::RUNNING)
    {
        End(NO_CONNECTION);
    }
}

void
ScenarioTcpFlow::OnVerdict(SequenceNumber32 sequence, const std::string& verdict)
{
    if (m_progress != Progress::RUNNING)
    {
        return;
    }
    const uint32_t duplicates = m_impl->meter->on_verdict(NowNs(), sequence.GetValue(), verdict);
    if (m_environment.run.trace)
    {
        Event("verdict", duplicates, verdict);
    }
}

void
ScenarioTcpFlow::NotifyLoss(uint64_t number, bool inQueue)
{
    if (m_progress == Progress::RUNNING)
    {
        m_impl->meter->on_lost(number, inQueue);
    }
}

std::string
ScenarioTcpFlow::GetTruth(SequenceNumber32 sequence)
{
    return std::string(m_impl->meter->truth(sequence.GetValue()));
}

void
ScenarioTcpFlow::OnRoom(Ptr<Socket> /* socket */, uint32_t /* available */)
{
    if (m_progress == Progress::RUNNING)
    {
        Write();
    }
}

void
ScenarioTcpFlow::OnBroken(Ptr<Socket> /* socket */)
{
    if (m_progress == Progress::RUNNING)
    {
        End(CONNECTION_LOST);
    }
}

void
ScenarioTcpFlow::OnAccept(Ptr<Socket> socket, const Address& /* from */)
{
    m_reader = socket;
    m_listener->Close();
    m_reader->SetRecvCallback(MakeCallback(&ScenarioTcpFlow::OnReadable, this));
    m_reader->TraceConnectWithoutContext("Rx", MakeCallback(&ScenarioTcpFlow::OnArrival, this));
}

void
ScenarioTcpFlow::OnReadable(Ptr<Socket> socket)
{
    if (m_progress != Progress::RUNNING)
    {
        if (!m_impl->meter->completed())
        {
            // With unread data this is a reset, which ends the sender, too.
            socket->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
            socket->Close();
        }
        return;
    }
    std::vector<uint8_t> bytes;
    while (const auto packet = socket->Recv())
    {
        bytes.resize(m_environment.run.verify ? packet->GetSize() : 0);
        packet->CopyData(bytes.data(), static_cast<uint32_t>(bytes.size()));
        m_impl->meter->on_read(packet->GetSize(), {bytes.data(), bytes.size()});
    }
    if (m_impl->meter->completed())
    {
        const bool isWrong = m_environment.run.verify && !m_impl->meter->verified();
        End(isWrong ? CONTENT_MISMATCH : "");
    }
}

void
ScenarioTcpFlow::OnSent(Ptr<const Packet> packet,
                        const TcpHeader& header,
                        Ptr<const TcpSocketBase> /* socket */)
{
    const uint32_t seq = header.GetSequenceNumber().GetValue();
    if (header.GetFlags() & TcpHeader::SYN)
    {
        m_impl->meter->on_open(seq + 1);
    }
    if (m_progress != Progress::RUNNING || packet->GetSize() == 0)
    {
        return;
    }
    const bool isRepeated = m_impl->meter->on_sent(NowNs(), seq, packet->GetSize(), m_impl->sender);
    packet->AddPacketTag(TransmissionTag(m_index, m_impl->meter->transmission()));
    if (isRepeated && m_environment.run.trace)
    {
        Event("loss", 1, "");
    }
}

void
ScenarioTcpFlow::OnAck(Ptr<const Packet> /* packet */,
                       const TcpHeader& header,
                       Ptr<const TcpSocketBase> /* socket */)
{
    if (m_progress == Progress::RUNNING && (header.GetFlags() & TcpHeader::ACK))
    {
        const uint32_t ack = header.GetAckNumber().GetValue();
        if (m_impl->meter->on_ack(NowNs(), ack, m_impl->sender))
        {
            m_windowCuts++;
            if (m_environment.run.trace)
            {
                Event("cut", static_cast<double>(m_windowCuts), "");
            }
        }
        if (m_environment.run.trace && m_impl->meter->duplicates() == DUPLICATES)
        {
            Event("suspect", static_cast<double>(m_impl->meter->outstanding()), "");
        }
    }
}

void
ScenarioTcpFlow::OnArrival(Ptr<const Packet> packet,
                           const TcpHeader& header,
                           Ptr<const TcpSocketBase> /* socket */)
{
    if (m_progress == Progress::RUNNING && packet->GetSize() > 0)
    {
        TransmissionTag tag;
        packet->PeekPacketTag(tag);
        m_impl->meter->on_arrival(NowNs(),
                                  header.GetSequenceNumber().GetValue(),
                                  packet->GetSize(),
                                  tag.number);
    }
}

void
ScenarioTcpFlow::OnWindow(uint32_t /* before */, uint32_t now)
{
    m_impl->sender.window_bytes = now;
}

void
ScenarioTcpFlow::OnThreshold(uint32_t /* before */, uint32_t now)
{
    m_impl->sender.ssthresh_bytes = now;
}

void
ScenarioTcpFlow::OnInFlight(uint32_t /* before */, uint32_t now)
{
    m_impl->sender.in_flight_bytes = now;
}

void
ScenarioTcpFlow::OnState(const TcpSocketState::TcpCongState_t /* before */,
                         const TcpSocketState::TcpCongState_t now)
{
    m_impl->sender.recovering = now == TcpSocketState::CA_RECOVERY || now == TcpSocketState::CA_CWR;
    m_impl->sender.timed_out = now == TcpSocketState::CA_LOSS;
    if (m_progress == Progress::RUNNING)
    {
        m_impl->meter->on_phase(m_impl->sender);
    }
}

void
ScenarioTcpFlow::OnRto(Time before, Time now)
{
    // The timeout is doubled where the timer expires, and only there.
    if (now == before + before && m_progress == Progress::RUNNING)
    {
        m_impl->meter->on_timeout();
        m_timeouts++;
        if (m_environment.run.trace)
        {
            Event("timeout", static_cast<double>(m_timeouts), "");
        }
    }
}

} // namespace ns3
