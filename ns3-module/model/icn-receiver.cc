// SPDX-License-Identifier: GPL-2.0-only

#include "icn-receiver.h"

#include "ferrocc-ffi/src/transport.rs.h"
#include "icn-address-bridge.h"
#include "icn-header.h"
#include "icn-l4-protocol.h"
#include "node-clock.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/ipv4.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <iomanip>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IcnReceiver");

NS_OBJECT_ENSURE_REGISTERED(IcnReceiver);

namespace
{

/// "Never", where the engine gives a time.
constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();

/**
 * @return The time now, as the engine counts it.
 */
uint64_t
NowNs()
{
    return static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
}

} // namespace

/// The receiver's engine; its type is known to this file only.
struct IcnReceiver::Engine
{
    rust::Box<ferrocc::transport::Receiver> receiver; //!< It.
    std::vector<uint8_t> payload;                     //!< The payload of one DATA packet.
};

TypeId
IcnReceiver::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::IcnReceiver")
            .SetParent<Object>()
            .SetGroupName("Ferrocc")
            .AddConstructor<IcnReceiver>()
            .AddAttribute("Controller",
                          "Name of the congestion controller",
                          StringValue("copa-icn"),
                          MakeStringAccessor(&IcnReceiver::m_controller),
                          MakeStringChecker())
            .AddAttribute("ControllerParams",
                          "Parameters of the controller, a JSON object; empty for its defaults",
                          StringValue(""),
                          MakeStringAccessor(&IcnReceiver::m_controllerParams),
                          MakeStringChecker())
            .AddAttribute("Options",
                          "Options of the transport, a JSON object that counts instead of the "
                          "attributes from Mss to Timestamps; empty to use those",
                          StringValue(""),
                          MakeStringAccessor(&IcnReceiver::m_options),
                          MakeStringChecker())
            .AddAttribute("Mss",
                          "Payload of a full DATA packet, bytes",
                          UintegerValue(1250), // Copa-ICN paper, section 5.1
                          MakeUintegerAccessor(&IcnReceiver::m_mss),
                          MakeUintegerChecker<uint16_t>(64, 9000))
            .AddAttribute("MinRto",
                          "Smallest retransmission timeout",
                          TimeValue(MilliSeconds(200)),
                          MakeTimeAccessor(&IcnReceiver::m_minRto),
                          MakeTimeChecker(MilliSeconds(1), Seconds(60)))
            .AddAttribute("MaxRto",
                          "Largest retransmission timeout",
                          TimeValue(Seconds(60)), // RFC 6298
                          MakeTimeAccessor(&IcnReceiver::m_maxRto),
                          MakeTimeChecker(MilliSeconds(1), Seconds(3600)))
            .AddAttribute("InitialRto",
                          "Retransmission timeout before the first sample",
                          TimeValue(Seconds(1)), // RFC 6298
                          MakeTimeAccessor(&IcnReceiver::m_initialRto),
                          MakeTimeChecker(MilliSeconds(1), Seconds(3600)))
            .AddAttribute("RtoUpdate",
                          "Which samples update the timeout: all or in-order",
                          StringValue("all"),
                          MakeStringAccessor(&IcnReceiver::m_rtoUpdate),
                          MakeStringChecker())
            .AddAttribute("RttSamples",
                          "Which units give round-trip samples: all or first-transmission",
                          StringValue("all"),
                          MakeStringAccessor(&IcnReceiver::m_rttSamples),
                          MakeStringChecker())
            .AddAttribute("LossThreshold",
                          "How many later units must arrive until a missing one is lost",
                          UintegerValue(3), // Copa-ICN paper, section 3.3
                          MakeUintegerAccessor(&IcnReceiver::m_lossThreshold),
                          MakeUintegerChecker<uint8_t>(1, 64))
            .AddAttribute("QuantumUnits",
                          "Units per REQ; zero chooses by rate",
                          UintegerValue(0),
                          MakeUintegerAccessor(&IcnReceiver::m_quantumUnits),
                          MakeUintegerChecker<uint16_t>(0, 1000))
            .AddAttribute("ReceiveBuffer",
                          "Receive buffer, bytes; zero is unlimited",
                          UintegerValue(0),
                          MakeUintegerAccessor(&IcnReceiver::m_receiveBuffer),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("InitialWindow",
                          "First window in packets, where the controller does not say otherwise",
                          DoubleValue(10), // RFC 6928
                          MakeDoubleAccessor(&IcnReceiver::m_initialWindow),
                          MakeDoubleChecker<double>(1, 1e6))
            .AddAttribute("Timestamps",
                          "Whether the replica stamps its DATA, for one-way delays",
                          BooleanValue(true),
                          MakeBooleanAccessor(&IcnReceiver::m_timestamps),
                          MakeBooleanChecker())
            .AddAttribute("Verify",
                          "Whether the payload is real and its hash is compared with the NDC's EID",
                          BooleanValue(false),
                          MakeBooleanAccessor(&IcnReceiver::m_verify),
                          MakeBooleanChecker())
            .AddTraceSource("CongestionWindow",
                            "Bytes that may be outstanding",
                            MakeTraceSourceAccessor(&IcnReceiver::m_window),
                            "ns3::TracedValueCallback::Uint64")
            .AddTraceSource("PacingRate",
                            "Rate at which REQs ask for bytes; zero if the controller does not "
                            "pace",
                            MakeTraceSourceAccessor(&IcnReceiver::m_pacingRate),
                            "ns3::TracedValueCallback::DataRate")
            .AddTraceSource("Rtt",
                            "Last valid round-trip time sample",
                            MakeTraceSourceAccessor(&IcnReceiver::m_rtt),
                            "ns3::TracedValueCallback::Time")
            .AddTraceSource("SmoothedRtt",
                            "Smoothed round-trip time (RFC 6298)",
                            MakeTraceSourceAccessor(&IcnReceiver::m_smoothedRtt),
                            "ns3::TracedValueCallback::Time")
            .AddTraceSource("OneWayDelay",
                            "Last valid one-way delay sample, the offset between the clocks "
                            "included",
                            MakeTraceSourceAccessor(&IcnReceiver::m_oneWayDelay),
                            "ns3::TracedValueCallback::Time")
            .AddTraceSource("BytesInFlight",
                            "Bytes requested that have neither arrived nor been declared lost",
                            MakeTraceSourceAccessor(&IcnReceiver::m_bytesInFlight),
                            "ns3::TracedValueCallback::Uint64")
            .AddTraceSource("SlowStartThreshold",
                            "Slow-start threshold, bytes; the largest number where there is none",
                            MakeTraceSourceAccessor(&IcnReceiver::m_ssThresh),
                            "ns3::TracedValueCallback::Uint64")
            .AddTraceSource("State",
                            "The controller's phase; GetStateName() tells its name",
                            MakeTraceSourceAccessor(&IcnReceiver::m_state),
                            "ns3::TracedValueCallback::Uint8")
            .AddTraceSource("Losses",
                            "Units declared lost so far",
                            MakeTraceSourceAccessor(&IcnReceiver::m_losses),
                            "ns3::TracedValueCallback::Uint64")
            .AddTraceSource("Timeouts",
                            "Expiries of the retransmission timer so far",
                            MakeTraceSourceAccessor(&IcnReceiver::m_timeouts),
                            "ns3::TracedValueCallback::Uint64")
            .AddTraceSource("Marks",
                            "DATA packets that arrived with a mark so far",
                            MakeTraceSourceAccessor(&IcnReceiver::m_marks),
                            "ns3::TracedValueCallback::Uint64")
            .AddTraceSource("WindowCuts",
                            "Reductions of the window on loss, timeout or mark so far",
                            MakeTraceSourceAccessor(&IcnReceiver::m_windowCuts),
                            "ns3::TracedValueCallback::Uint64")
            .AddTraceSource("Delivered",
                            "Bytes received exactly once so far",
                            MakeTraceSourceAccessor(&IcnReceiver::m_delivered),
                            "ns3::TracedValueCallback::Uint64")
            .AddTraceSource("SourceChanges",
                            "Changes of the address that DATA comes from so far",
                            MakeTraceSourceAccessor(&IcnReceiver::m_sourceChanges),
                            "ns3::TracedValueCallback::Uint64")
            .AddTraceSource("Completed",
                            "Every byte of the NDC has arrived",
                            MakeTraceSourceAccessor(&IcnReceiver::m_completedTrace),
                            "ns3::IcnReceiver::EndTracedCallback");
    return tid;
}

IcnReceiver::IcnReceiver()
    : m_mss(0),
      m_lossThreshold(0),
      m_quantumUnits(0),
      m_receiveBuffer(0),
      m_initialWindow(0),
      m_timestamps(false),
      m_verify(false),
      m_draw(CreateObject<UniformRandomVariable>()),
      m_progress(Progress::IDLE),
      m_verified(false),
      m_malformed(0),
      m_timerAt(NEVER),
      m_deadline(NEVER),
      m_attached(false),
      m_window(0),
      m_pacingRate(DataRate(0)),
      m_rtt(Time(0)),
      m_smoothedRtt(Time(0)),
      m_oneWayDelay(Time(0)),
      m_bytesInFlight(0),
      m_ssThresh(NEVER),
      m_state(0),
      m_losses(0),
      m_sourceChanges(0),
      m_timeouts(0),
      m_marks(0),
      m_windowCuts(0),
      m_delivered(0)
{
}

IcnReceiver::~IcnReceiver()
{
    // Where nobody disposed of a running receiver: its protocol and its timer must not keep it.
    if (m_attached)
    {
        Close();
    }
}

void
IcnReceiver::SetNode(Ptr<Node> node)
{
    NS_LOG_FUNCTION(this << node);
    m_node = node;
}

void
IcnReceiver::SetNdc(const IcnEid& ndc)
{
    NS_LOG_FUNCTION(this << ndc);
    m_key.ndc = ndc;
}

void
IcnReceiver::SetReplica(const Address& address)
{
    NS_LOG_FUNCTION(this << address);
    m_replica = address;
}

void
IcnReceiver::Configure()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(m_engine, "a receiver is configured once");
    NS_ABORT_MSG_UNLESS(m_node, "a receiver needs a node before it is configured");
    m_protocol = m_node->GetObject<IcnL4Protocol>();
    NS_ABORT_MSG_UNLESS(m_protocol, "node " << m_node->GetId() << " has no IcnL4Protocol");
    m_clock = NodeClock::Of(m_node);
    m_key.device = m_protocol->AllocateDeviceEid();

    ferrocc::transport::ReceiverConfig config;
    config.controller = m_controller;
    config.controller_params = m_controllerParams;
    config.options = m_options.empty() ? GetOptions() : m_options;
    // A node with both sends over IPv4 where it can.
    config.ipv6 = !m_node->GetObject<Ipv4>();
    config.draw = m_draw->GetValue(0.0, 1.0);
    config.device.bytes = m_key.device.bytes;
    config.ndc.bytes = m_key.ndc.bytes;
    config.verify = m_verify;
    m_engine = std::make_unique<Engine>(Engine{ferrocc::transport::new_receiver(config), {}});
}

std::string
IcnReceiver::GetOptions() const
{
    std::ostringstream json;
    json.precision(std::numeric_limits<double>::max_digits10);
    json << "{\"mss_bytes\":" << m_mss << ",\"min_rto_ms\":" << m_minRto.ToDouble(Time::MS)
         << ",\"max_rto_ms\":" << m_maxRto.ToDouble(Time::MS)
         << ",\"initial_rto_ms\":" << m_initialRto.ToDouble(Time::MS)
         << ",\"rto_update\":" << std::quoted(m_rtoUpdate)
         << ",\"rtt_samples\":" << std::quoted(m_rttSamples)
         << ",\"loss_threshold\":" << +m_lossThreshold << ",\"quantum_units\":" << m_quantumUnits
         << ",\"receive_buffer_bytes\":" << m_receiveBuffer
         << ",\"initial_window\":" << m_initialWindow
         << ",\"timestamps\":" << (m_timestamps ? "true" : "false") << "}";
    return json.str();
}

void
IcnReceiver::Open()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_UNLESS(m_progress == Progress::IDLE, "a receiver is opened once");
    if (!m_engine)
    {
        try
        {
            Configure();
        }
        catch (const std::exception& error)
        {
            NS_ABORT_MSG(error.what());
        }
    }
    m_progress = Progress::RUNNING;
    Attach();
    Apply(m_engine->receiver->open(NowNs()));
}

void
IcnReceiver::Attach()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_UNLESS(m_engine, "a receiver is configured before it is attached");
    if (!m_attached)
    {
        m_protocol->AddReceiver(m_key, this);
        m_attached = true;
    }
}

void
IcnReceiver::SetEmptyDataCallback(Callback<void, const IcnHeader&> callback)
{
    m_emptyData = callback;
}

void
IcnReceiver::Cancel()
{
    NS_LOG_FUNCTION(this);
    if (m_progress == Progress::IDLE && m_attached)
    {
        m_progress = Progress::CANCELLED;
        Close();
    }
    if (m_progress == Progress::RUNNING)
    {
        m_progress = Progress::CANCELLED;
        Apply(m_engine->receiver->cancel(NowNs()));
        Close();
    }
}

void
IcnReceiver::NotifyPathChange(bool replicaChanged)
{
    NS_LOG_FUNCTION(this << replicaChanged);
    if (m_progress == Progress::RUNNING)
    {
        Apply(m_engine->receiver->on_path_change(NowNs(), replicaChanged));
    }
}

void
IcnReceiver::OnData(const IcnHeader& header, const Packet& packet, const Address& source)
{
    NS_LOG_FUNCTION(this << header);
    const uint32_t headerLength = header.GetSerializedSize();
    const uint32_t payloadLength = packet.GetSize() - headerLength;
    if (payloadLength == 0 && !m_emptyData.IsNull())
    {
        m_emptyData(header);
    }
    if (m_progress != Progress::RUNNING)
    {
        return; // Not opened yet, or ended by what it was told.
    }
    if (m_source.IsInvalid() && payloadLength > 0)
    {
        m_source = source;
    }
    rust::Slice<const uint8_t> payload;
    if (m_verify)
    {
        // ns-3 copies from a packet's start only.
        auto& buffer = m_engine->payload;
        buffer.resize(packet.GetSize());
        packet.CopyData(buffer.data(), packet.GetSize());
        payload = {buffer.data() + headerLength, payloadLength};
    }
    Apply(m_engine->receiver->on_datagram(NowNs(),
                                          m_clock ? m_clock->GetErrorNs() : 0,
                                          {header.GetBytes(), headerLength},
                                          payloadLength,
                                          payload,
                                          bridge::FromAddress(source)));
}

void
IcnReceiver::Apply(const ferrocc::transport::Step& step)
{
    SendRequests(step);
    SetTimer(step.next_timer_ns);

    m_malformed = step.malformed;
    m_sourceChanges = step.source_changes;
    m_verified = step.verified;
    m_window = step.window_bytes;
    m_pacingRate = DataRate(step.pacing_bps);
    m_rtt = NanoSeconds(step.rtt_ns);
    m_smoothedRtt = NanoSeconds(step.srtt_ns);
    if (step.has_one_way)
    {
        m_oneWayDelay = NanoSeconds(step.one_way_ns);
    }
    m_bytesInFlight = step.in_flight_bytes;
    m_ssThresh = step.ssthresh_bytes;
    m_state = step.phase;
    m_losses = step.losses;
    m_timeouts = step.timeouts;
    m_marks = step.marks;
    m_windowCuts = step.window_cuts;
    m_delivered = step.delivered_bytes;

    if (step.completed && m_progress == Progress::RUNNING)
    {
        m_progress = Progress::COMPLETED;
        m_completionTime = Simulator::Now();
        Close();
        m_completedTrace(this);
    }
}

void
IcnReceiver::SendRequests(const ferrocc::transport::Step& step)
{
    for (const auto& request : step.packets)
    {
        Ptr<Packet> packet = Create<Packet>();
        packet->AddHeader(
            IcnHeader(step.headers.data() + request.header_offset, request.header_len));
        m_protocol->SendPacket(packet, m_replica, 0);
    }
}

void
IcnReceiver::SetTimer(uint64_t deadline)
{
    m_deadline = deadline;
    // A later deadline needs no new event: Expire() looks at the deadline, and waits on.
    if (deadline < m_timerAt)
    {
        m_timer.Cancel();
        m_timerAt = deadline;
        const uint64_t now = NowNs();
        const uint64_t delay = deadline > now ? deadline - now : 0;
        m_timer = Simulator::Schedule(NanoSeconds(delay), &IcnReceiver::Expire, this);
    }
}

void
IcnReceiver::Expire()
{
    NS_LOG_FUNCTION(this);
    m_timerAt = NEVER;
    const uint64_t now = NowNs();
    if (m_deadline > now)
    {
        SetTimer(m_deadline);
        return;
    }
    Apply(m_engine->receiver->on_timeout(now));
}

void
IcnReceiver::Close()
{
    m_timer.Cancel();
    m_timerAt = NEVER;
    m_deadline = NEVER;
    m_protocol->RemoveReceiver(m_key);
    m_attached = false;
}

bool
IcnReceiver::IsCompleted() const
{
    return m_progress == Progress::COMPLETED;
}

bool
IcnReceiver::IsVerified() const
{
    return m_verified;
}

bool
IcnReceiver::IsRunning() const
{
    return m_progress == Progress::RUNNING;
}

Time
IcnReceiver::GetCompletionTime() const
{
    return m_completionTime;
}

const Address&
IcnReceiver::GetSource() const
{
    return m_source;
}

uint64_t
IcnReceiver::GetDelivered() const
{
    return m_delivered;
}

uint64_t
IcnReceiver::GetMarks() const
{
    return m_marks;
}

uint64_t
IcnReceiver::GetMalformed() const
{
    return m_malformed;
}

uint64_t
IcnReceiver::GetSourceChanges() const
{
    return m_sourceChanges;
}

const IcnEid&
IcnReceiver::GetDeviceEid() const
{
    return m_key.device;
}

const IcnEid&
IcnReceiver::GetNdc() const
{
    return m_key.ndc;
}

Ptr<Node>
IcnReceiver::GetNode() const
{
    return m_node;
}

const ferrocc::transport::Receiver&
IcnReceiver::GetEngine() const
{
    NS_ABORT_MSG_UNLESS(m_engine, "a receiver has no engine before it is configured");
    return *m_engine->receiver;
}

int64_t
IcnReceiver::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    m_draw->SetStream(stream);
    return 1;
}

std::string
IcnReceiver::GetStateName(uint8_t state)
{
    return std::string(ferrocc::transport::phase_name(state));
}

void
IcnReceiver::DoDispose()
{
    NS_LOG_FUNCTION(this);
    if (m_attached)
    {
        m_progress = Progress::CANCELLED;
        Close();
    }
    m_emptyData.Nullify();
    m_protocol = nullptr;
    m_clock = nullptr;
    m_node = nullptr;
    Object::DoDispose();
}

} // namespace ns3
