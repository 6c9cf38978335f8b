// SPDX-License-Identifier: GPL-2.0-only

#include "ferrocc-queue-disc.h"

#include "ferrocc-ffi/src/aqm.rs.h"
#include "icn-header.h"
#include "icn-l4-protocol.h"
#include "rust/cxx.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/ipv6-queue-disc-item.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"

#include <numeric>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FerroccQueueDisc");

namespace
{

/// The bits of the DS field that are ECN's (RFC 3168, section 5).
constexpr uint8_t ECN_MASK = 3;

/// Names of verdicts.
constexpr const char* PASS = "pass";
/// @copydoc PASS
constexpr const char* MARK = "mark";
/// @copydoc PASS
constexpr const char* DROP = "drop";
/// For packets that are let go.
constexpr const char* NO_REASON = "";

/**
 * @param text Text of the core.
 * @return The same.
 */
std::string
ToString(const rust::String& text)
{
    return std::string(text);
}

/**
 * @param texts Texts of the core.
 * @return The same.
 */
std::vector<std::string>
ToStrings(const rust::Vec<rust::String>& texts)
{
    std::vector<std::string> strings;
    for (const auto& text : texts)
    {
        strings.push_back(ToString(text));
    }
    return strings;
}

/**
 * @return Why packets are dropped, by the reason's number.
 */
const std::vector<std::string>&
DropReasons()
{
    static const std::vector<std::string> reasons = ToStrings(ferrocc::aqm::drop_reasons());
    return reasons;
}

/**
 * @return Why packets are marked, by the reason's number.
 */
const std::vector<std::string>&
MarkReasons()
{
    static const std::vector<std::string> reasons = ToStrings(ferrocc::aqm::mark_reasons());
    return reasons;
}

/**
 * @param info A parameter, from the registry.
 * @return The same for its attribute.
 */
RegistryParameter
ToParameter(const ferrocc::aqm::ParameterInfo& info)
{
    RegistryParameter parameter;
    parameter.name = ToString(info.name);
    parameter.help = ToString(info.help);
    parameter.defaultValue = ToString(info.default_value);
    parameter.choices = ToStrings(info.choices);
    using ferrocc::aqm::ParameterKind;
    switch (info.kind)
    {
    case ParameterKind::Integer:
        parameter.kind = RegistryParameter::INTEGER;
        break;
    case ParameterKind::Flag:
        parameter.kind = RegistryParameter::FLAG;
        break;
    case ParameterKind::Choice:
        parameter.kind = RegistryParameter::CHOICE;
        break;
    default:
        parameter.kind = RegistryParameter::NUMBER;
        break;
    }
    return parameter;
}

/**
 * @param time A time that is not negative.
 * @return Its nanoseconds.
 */
uint64_t
ToNanoseconds(Time time)
{
    return static_cast<uint64_t>(time.GetNanoSeconds());
}

} // namespace

/// The algorithm of a queue disc.
struct FerroccQueueDisc::Impl
{
    rust::Box<ferrocc::aqm::Aqm> aqm; //!< What decides.
    ferrocc::aqm::Marks marks;        //!< What it wants to know of packets.

    /**
     * @param queue The packets beside the one in question.
     * @return The same for the algorithm.
     */
    static ferrocc::aqm::QueueView View(const InternalQueue& queue)
    {
        return {queue.GetNPackets(), queue.GetNBytes()};
    }
};

/// A type and its algorithm.
struct FerroccQueueDisc::Row
{
    std::string aqm;                //!< The algorithm's name in scenarios.
    TypeId type;                    //!< The type.
    std::vector<std::string> state; //!< Names of the algorithm's state variables.
};

/// The accessor of a state variable's trace source.
class FerroccQueueDisc::StateAccessor : public TraceSourceAccessor
{
  public:
    /// @param index The variable's number.
    explicit StateAccessor(std::size_t index)
        : m_index(index)
    {
    }

    bool ConnectWithoutContext(ObjectBase* object, const CallbackBase& callback) const override
    {
        const auto value = Find(object);
        return value && (value->ConnectWithoutContext(callback), true);
    }

    bool Connect(ObjectBase* object,
                 std::string context,
                 const CallbackBase& callback) const override
    {
        const auto value = Find(object);
        return value && (value->Connect(callback, context), true);
    }

    bool DisconnectWithoutContext(ObjectBase* object, const CallbackBase& callback) const override
    {
        const auto value = Find(object);
        return value && (value->DisconnectWithoutContext(callback), true);
    }

    bool Disconnect(ObjectBase* object,
                    std::string context,
                    const CallbackBase& callback) const override
    {
        const auto value = Find(object);
        return value && (value->Disconnect(callback, context), true);
    }

  private:
    /**
     * @param object A queue disc.
     * @return Its traced variable, followed from now on.
     */
    TracedValue<double>* Find(ObjectBase* object) const
    {
        const auto disc = dynamic_cast<FerroccQueueDisc*>(object);
        if (!disc)
        {
            return nullptr;
        }
        disc->m_stateTraced = true;
        // Never again: who listens must not move.
        if (disc->m_tracedState.empty())
        {
            disc->m_tracedState.resize(disc->GetRow().state.size());
        }
        return &disc->m_tracedState.at(m_index);
    }

    std::size_t m_index; //!< The variable's number.
};

NS_OBJECT_ENSURE_REGISTERED(FerroccQueueDisc);

TypeId
FerroccQueueDisc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FerroccQueueDisc")
            .SetParent<QueueDisc>()
            .SetGroupName("Ferrocc")
            .AddAttribute("MaxSize",
                          "The most that the queue holds, packets or bytes",
                          QueueSizeValue(QueueSize("1000p")),
                          MakeQueueSizeAccessor(&QueueDisc::SetMaxSize, &QueueDisc::GetMaxSize),
                          MakeQueueSizeChecker())
            .AddAttribute("LinkBandwidth",
                          "Rate of the link behind the queue",
                          DataRateValue(DataRate("1.5Mbps")),
                          MakeDataRateAccessor(&FerroccQueueDisc::m_linkBandwidth),
                          MakeDataRateChecker())
            .AddAttribute("LinkDelay",
                          "Propagation delay of the link behind the queue",
                          TimeValue(MilliSeconds(20)),
                          MakeTimeAccessor(&FerroccQueueDisc::m_linkDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("IcnRouter",
                          "Whether ICN DATA may be marked in its transport header; a plain IP "
                          "router does not know it",
                          BooleanValue(true),
                          MakeBooleanAccessor(&FerroccQueueDisc::m_icnRouter),
                          MakeBooleanChecker())
            .AddAttribute("Parameters",
                          "A JSON object of parameters of the algorithm, by their names in "
                          "scenarios; they go before the attributes",
                          StringValue("{}"),
                          MakeStringAccessor(&FerroccQueueDisc::SetOverrides,
                                             &FerroccQueueDisc::GetOverrides),
                          MakeStringChecker())
            .AddTraceSource("TransportMark",
                            "A packet was marked in its transport header",
                            MakeTraceSourceAccessor(&FerroccQueueDisc::m_traceTransportMark),
                            "ns3::QueueDiscItem::TracedCallback")
            .AddTraceSource("Decision",
                            "What was decided about a packet at dequeue, or at enqueue if it was "
                            "marked or dropped there",
                            MakeTraceSourceAccessor(&FerroccQueueDisc::m_traceDecision),
                            "ns3::FerroccQueueDisc::DecisionTracedCallback");
    return tid;
}

const std::map<std::string, FerroccQueueDisc::Row>&
FerroccQueueDisc::GetRows()
{
    static const std::map<std::string, Row> rows = [] {
        std::map<std::string, Row> made;
        for (const auto& info : ferrocc::aqm::registry())
        {
            Row row;
            row.aqm = ToString(info.name);
            row.type = TypeId("ns3::Ferrocc" + ToString(info.type_name) + "QueueDisc")
                           .SetParent(GetTypeId())
                           .SetGroupName("Ferrocc")
                           .AddConstructor<FerroccQueueDisc>();
            std::vector<RegistryParameter> parameters;
            for (const auto& parameter : info.parameters)
            {
                parameters.push_back(ToParameter(parameter));
            }
            const auto check = [aqm = row.aqm](const std::string& name, const std::string& json) {
                try
                {
                    ferrocc::aqm::check_parameter(aqm, name, json);
                    return true;
                }
                catch (const rust::Error& error)
                {
                    NS_LOG_WARN(aqm << ": " << error.what());
                    return false;
                }
            };
            AddRegistryAttributes(row.type, parameters, check);
            row.state = ToStrings(info.state);
            for (std::size_t i = 0; i < row.state.size(); i++)
            {
                row.type.AddTraceSource(ToAttributeName(row.state[i]),
                                        "State variable " + row.state[i] + " of the algorithm",
                                        Create<StateAccessor>(i),
                                        "ns3::TracedValueCallback::Double");
            }
            made.emplace(row.aqm, row);
        }
        return made;
    }();
    return rows;
}

TypeId
FerroccQueueDisc::GetTypeId(const std::string& aqm)
{
    const auto& rows = GetRows();
    const auto found = rows.find(aqm);
    NS_ABORT_MSG_IF(found == rows.end(), "no AQM is called " << aqm);
    return found->second.type;
}

const FerroccQueueDisc::Row&
FerroccQueueDisc::GetRow() const
{
    const TypeId type = GetInstanceTypeId();
    for (const auto& [name, row] : GetRows())
    {
        if (row.type == type)
        {
            return row;
        }
    }
    NS_ABORT_MSG(type.GetName() << " has no algorithm: make one of its child types, by an "
                                   "ObjectFactory or a TrafficControlHelper");
}

FerroccQueueDisc::PacketKind
FerroccQueueDisc::GetKind(const QueueDiscItem& item)
{
    uint8_t protocol = 0;
    if (const auto ipv4 = dynamic_cast<const Ipv4QueueDiscItem*>(&item))
    {
        // Only the first fragment has the header.
        if (ipv4->GetHeader().GetFragmentOffset() == 0)
        {
            protocol = ipv4->GetHeader().GetProtocol();
        }
    }
    else if (const auto ipv6 = dynamic_cast<const Ipv6QueueDiscItem*>(&item))
    {
        protocol = ipv6->GetHeader().GetNextHeader();
    }
    if (protocol != IcnL4Protocol::PROT_NUMBER)
    {
        return PacketKind::OTHER;
    }
    switch (IcnHeader::GetKind(*item.GetPacket()))
    {
    case IcnHeader::Kind::DATA:
        return PacketKind::DATA;
    case IcnHeader::Kind::REQUEST:
        return PacketKind::REQUEST;
    case IcnHeader::Kind::NONE:
        break;
    }
    return PacketKind::OTHER;
}

FerroccQueueDisc::FerroccQueueDisc()
    : QueueDisc(QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE),
      m_random(CreateObject<UniformRandomVariable>()),
      m_transportMarks(MarkReasons().size())
{
    NS_LOG_FUNCTION(this);
}

FerroccQueueDisc::~FerroccQueueDisc()
{
    NS_LOG_FUNCTION(this);
}

void
FerroccQueueDisc::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_queue = nullptr;
    m_random = nullptr;
    QueueDisc::DoDispose();
}

void
FerroccQueueDisc::SetOverrides(const std::string& parameters)
{
    NS_LOG_FUNCTION(this << parameters);
    m_overrides = parameters;
}

std::string
FerroccQueueDisc::GetOverrides() const
{
    return m_overrides;
}

std::map<std::string, uint64_t>
FerroccQueueDisc::GetTransportMarks() const
{
    std::map<std::string, uint64_t> marks;
    for (std::size_t i = 0; i < m_transportMarks.size(); i++)
    {
        if (m_transportMarks[i] > 0)
        {
            marks[MarkReasons()[i]] = m_transportMarks[i];
        }
    }
    return marks;
}

uint64_t
FerroccQueueDisc::GetNTransportMarks() const
{
    return std::accumulate(m_transportMarks.begin(), m_transportMarks.end(), uint64_t{0});
}

const std::vector<std::string>&
FerroccQueueDisc::GetStateNames() const
{
    return GetRow().state;
}

const std::vector<double>&
FerroccQueueDisc::GetState()
{
    if (m_impl)
    {
        m_impl->aqm->state({m_state.data(), m_state.size()});
    }
    return m_state;
}

int64_t
FerroccQueueDisc::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    m_random->SetStream(stream);
    m_drawn = false;
    return 1;
}

bool
FerroccQueueDisc::CheckConfig()
{
    NS_LOG_FUNCTION(this);
    if (GetNQueueDiscClasses() > 0 || GetNPacketFilters() > 0)
    {
        NS_LOG_ERROR("FerroccQueueDisc cannot have classes or packet filters");
        return false;
    }
    if (GetNInternalQueues() == 0)
    {
        AddInternalQueue(
            CreateObjectWithAttributes<DropTailQueue<QueueDiscItem>>("MaxSize",
                                                                     QueueSizeValue(GetMaxSize())));
    }
    if (GetNInternalQueues() != 1)
    {
        NS_LOG_ERROR("FerroccQueueDisc needs one internal queue");
        return false;
    }
    return true;
}

void
FerroccQueueDisc::InitializeParams()
{
    NS_LOG_FUNCTION(this);
    const Row& row = GetRow();
    const QueueSize limit = GetMaxSize();
    ferrocc::aqm::Setup setup;
    setup.limit = limit.GetValue();
    setup.limit_in_bytes = limit.GetUnit() == QueueSizeUnit::BYTES;
    setup.link_rate_bps = m_linkBandwidth.GetBitRate();
    setup.link_delay_ns = ToNanoseconds(m_linkDelay);
    try
    {
        auto aqm = ferrocc::aqm::new_aqm(row.aqm, GetParameters(), m_overrides, setup);
        const auto marks = aqm->marks();
        m_impl = std::make_unique<Impl>(Impl{std::move(aqm), marks});
    }
    catch (const rust::Error& error)
    {
        NS_FATAL_ERROR(row.type.GetName() << ": " << error.what());
    }
    m_queue = GetInternalQueue(0);
    m_state.resize(row.state.size());
}

bool
FerroccQueueDisc::IsEct(const QueueDiscItem& item) const
{
    uint8_t field = 0;
    return m_impl->marks.ecn && item.GetUint8Value(QueueItem::IP_DSFIELD, field) &&
           (field & ECN_MASK) != 0;
}

double
FerroccQueueDisc::GetDraw()
{
    if (!m_drawn)
    {
        m_draw = m_random->GetValue();
        m_drawn = true;
    }
    return m_draw;
}

bool
FerroccQueueDisc::DoEnqueue(Ptr<QueueDiscItem> item)
{
    NS_LOG_FUNCTION(this << item);
    const uint64_t now = ToNanoseconds(Simulator::Now());
    const ferrocc::aqm::PacketView packet{item->GetSize(), now, false, IsEct(*item)};
    const auto decision = m_impl->aqm->on_enqueue(now, packet, Impl::View(*m_queue), GetDraw());
    m_drawn = !decision.draw_used;
    TraceState();
    switch (decision.verdict)
    {
    case ferrocc::aqm::Verdict::Drop: {
        const char* reason = DropReasons()[decision.reason].c_str();
        TraceDecision(item, {false, Time(), DROP, reason});
        DropBeforeEnqueue(item, reason);
        return false;
    }
    case ferrocc::aqm::Verdict::MarkEcn: {
        const char* reason = MarkReasons()[decision.reason].c_str();
        TraceDecision(item, {false, Time(), MARK, reason});
        Mark(item, reason);
        break;
    }
    default:
        break;
    }
    return m_queue->Enqueue(item);
}

Ptr<QueueDiscItem>
FerroccQueueDisc::DoDequeue()
{
    NS_LOG_FUNCTION(this);
    const Time time = Simulator::Now();
    const uint64_t now = ToNanoseconds(time);
    while (Ptr<QueueDiscItem> item = m_queue->Dequeue())
    {
        const Time arrival = item->GetTimeStamp();
        const bool data =
            m_icnRouter && m_impl->marks.transport && GetKind(*item) == PacketKind::DATA;
        const ferrocc::aqm::PacketView packet{item->GetSize(),
                                              ToNanoseconds(arrival),
                                              data,
                                              IsEct(*item)};
        const auto decision = m_impl->aqm->on_dequeue(now, packet, Impl::View(*m_queue), GetDraw());
        m_drawn = !decision.draw_used;
        TraceState();
        switch (decision.verdict)
        {
        case ferrocc::aqm::Verdict::Drop: {
            const char* reason = DropReasons()[decision.reason].c_str();
            TraceDecision(item, {true, time - arrival, DROP, reason});
            DropAfterDequeue(item, reason);
            continue;
        }
        case ferrocc::aqm::Verdict::MarkTransport:
            TraceDecision(item,
                          {true, time - arrival, MARK, MarkReasons()[decision.reason].c_str()});
            MarkTransport(item, decision.reason);
            break;
        case ferrocc::aqm::Verdict::MarkEcn: {
            const char* reason = MarkReasons()[decision.reason].c_str();
            TraceDecision(item, {true, time - arrival, MARK, reason});
            Mark(item, reason);
            break;
        }
        default:
            TraceDecision(item, {true, time - arrival, PASS, NO_REASON});
            break;
        }
        return item;
    }
    m_impl->aqm->on_empty(now);
    TraceState();
    return nullptr;
}

void
FerroccQueueDisc::MarkTransport(Ptr<QueueDiscItem> item, uint8_t reason)
{
    const Ptr<Packet> packet = item->GetPacket();
    IcnHeader header;
    // A header that only looks like one at its start stays as it is.
    if (header.Peek(*packet) == 0)
    {
        return;
    }
    packet->RemoveHeader(header);
    header.SetMark();
    packet->AddHeader(header);
    m_transportMarks[reason]++;
    m_traceTransportMark(item, MarkReasons()[reason].c_str());
}

void
FerroccQueueDisc::TraceState()
{
    if (m_stateTraced)
    {
        const auto& state = GetState();
        for (std::size_t i = 0; i < state.size(); i++)
        {
            m_tracedState[i] = state[i];
        }
    }
}

void
FerroccQueueDisc::TraceDecision(Ptr<const QueueDiscItem> item, const Decision& decision)
{
    if (!m_traceDecision.IsEmpty())
    {
        m_traceDecision(item, decision);
    }
}

namespace
{

/// Makes the types when the library is loaded.
const struct Registration
{
    Registration()
    {
        FerroccQueueDisc::GetTypeId("drop-tail");
    }
} g_registration; //!< The registration.

} // namespace

} // namespace ns3
