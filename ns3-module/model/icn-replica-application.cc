// SPDX-License-Identifier: GPL-2.0-only

#include "icn-replica-application.h"

#include "ferrocc-ffi/src/transport.rs.h"
#include "icn-address-bridge.h"
#include "icn-header.h"
#include "icn-l4-protocol.h"
#include "icn-name-client.h"
#include "node-clock.h"

#include "ns3/abort.h"
#include "ns3/ipv4-header.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IcnReplicaApplication");

NS_OBJECT_ENSURE_REGISTERED(IcnReplicaApplication);

namespace
{

/// Size of content without an end, for the engine.
constexpr uint64_t UNLIMITED = std::numeric_limits<uint64_t>::max();

} // namespace

/// The replica's engines; their types are known to this file only.
struct IcnReplicaApplication::Engine
{
    rust::Box<ferrocc::transport::Replica> replica =
        ferrocc::transport::new_replica();                       //!< Answers REQs.
    std::optional<rust::Box<ferrocc::icn::Registrar>> registrar; //!< Keeps NDCs registered.
};

TypeId
IcnReplicaApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::IcnReplicaApplication")
            .SetParent<Application>()
            .SetGroupName("Ferrocc")
            .AddConstructor<IcnReplicaApplication>()
            .AddAttribute("ExpeditedDscp",
                          "DS codepoint of DATA that answers a REQ with the priority flag",
                          UintegerValue(Ipv4Header::DSCP_EF), // RFC 3246
                          MakeUintegerAccessor(&IcnReplicaApplication::m_dscp),
                          MakeUintegerChecker<uint8_t>(0, 63))
            .AddAttribute("NameServer",
                          "Address of the name server; invalid for none",
                          AddressValue(),
                          MakeAddressAccessor(&IcnReplicaApplication::m_nameServer),
                          MakeAddressChecker())
            .AddAttribute("Cost",
                          "The cost to register: less is nearer",
                          UintegerValue(0),
                          MakeUintegerAccessor(&IcnReplicaApplication::m_cost),
                          MakeUintegerChecker<uint16_t>())
            .AddAttribute("Lifetime",
                          "For how long an NDC is registered; renewed at half of it",
                          TimeValue(Minutes(5)),
                          MakeTimeAccessor(&IcnReplicaApplication::m_lifetime),
                          MakeTimeChecker(MilliSeconds(1)))
            .AddAttribute("NameTimeout",
                          "Time until a request to the name server is repeated for the first "
                          "time; doubles each time",
                          TimeValue(Seconds(1)), // RFC 8085, section 3.1.1
                          MakeTimeAccessor(&IcnReplicaApplication::m_nameTimeout),
                          MakeTimeChecker(MilliSeconds(1), Seconds(60)))
            .AddAttribute("NameTries",
                          "How often a request to the name server is sent until it has failed",
                          UintegerValue(5),
                          MakeUintegerAccessor(&IcnReplicaApplication::m_nameTries),
                          MakeUintegerChecker<uint32_t>(1, 16))
            .AddAttribute("ServiceDelay",
                          "How much later each REQ is answered",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&IcnReplicaApplication::m_serviceDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("RateCap",
                          "Rate of all DATA, with the ICN header; zero for no limit",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&IcnReplicaApplication::m_rateCap),
                          MakeDataRateChecker())
            .AddAttribute("QueueLimit",
                          "DATA packets that the rate cap holds back; further ones are dropped",
                          UintegerValue(1000),
                          MakeUintegerAccessor(&IcnReplicaApplication::m_queueLimit),
                          MakeUintegerChecker<uint32_t>(1))
            .AddTraceSource("State",
                            "What the replica does with REQs, see State",
                            MakeTraceSourceAccessor(&IcnReplicaApplication::m_state),
                            "ns3::TracedValueCallback::Uint8");
    return tid;
}

IcnReplicaApplication::IcnReplicaApplication()
    : m_engine(std::make_unique<Engine>()),
      m_client(CreateObject<IcnNameClient>()),
      m_draw(CreateObject<UniformRandomVariable>()),
      m_dscp(Ipv4Header::DSCP_EF),
      m_cost(0),
      m_nameTries(0),
      m_queueLimit(0),
      m_queued(0),
      m_malformed(0),
      m_unknown(0),
      m_answered(0),
      m_registered(0),
      m_state(SERVING)
{
}

IcnReplicaApplication::~IcnReplicaApplication() = default;

IcnEid
IcnReplicaApplication::AddVirtual(const std::string& name, uint64_t size)
{
    NS_LOG_FUNCTION(this << name << size);
    const IcnEid ndc{m_engine->replica->add_virtual(name, size == 0 ? UNLIMITED : size).bytes};
    NotifyAdded(ndc);
    return ndc;
}

IcnEid
IcnReplicaApplication::AddSynthetic(uint64_t seed, uint64_t size)
{
    NS_LOG_FUNCTION(this << seed << size);
    const IcnEid ndc{m_engine->replica->add_synthetic(seed, size).bytes};
    NotifyAdded(ndc);
    return ndc;
}

void
IcnReplicaApplication::NotifyAdded(const IcnEid& ndc)
{
    NS_LOG_FUNCTION(this << ndc);
    if (m_places.emplace(ndc, m_names.size()).second)
    {
        m_names.push_back(ndc);
        if (m_engine->registrar && m_state == SERVING)
        {
            Apply((*m_engine->registrar)->add(bridge::NowNs(), {ndc.bytes}, Draw()));
        }
    }
}

bool
IcnReplicaApplication::Unlist(const IcnEid& ndc)
{
    const auto found = m_places.find(ndc);
    if (found == m_places.end())
    {
        return false;
    }
    const std::size_t place = found->second;
    m_places.erase(found);
    if (place + 1 < m_names.size())
    {
        m_names[place] = m_names.back();
        m_places[m_names[place]] = place;
    }
    m_names.pop_back();
    return true;
}

void
IcnReplicaApplication::Remove(const IcnEid& ndc)
{
    NS_LOG_FUNCTION(this << ndc);
    m_engine->replica->remove({ndc.bytes});
    if (Unlist(ndc) && m_engine->registrar)
    {
        Apply((*m_engine->registrar)->remove(bridge::NowNs(), {ndc.bytes}, Draw()));
    }
}

void
IcnReplicaApplication::Forget(const IcnEid& ndc)
{
    NS_LOG_FUNCTION(this << ndc);
    m_engine->replica->remove({ndc.bytes});
    if (Unlist(ndc) && m_engine->registrar)
    {
        (*m_engine->registrar)->forget({ndc.bytes});
    }
}

void
IcnReplicaApplication::NotifyAddressChange()
{
    NS_LOG_FUNCTION(this);
    StopRegistering();
    if (m_protocol && m_state == SERVING)
    {
        RegisterAll();
    }
}

ferrocc::transport::Replica&
IcnReplicaApplication::GetEngine()
{
    return *m_engine->replica;
}

void
IcnReplicaApplication::Fail()
{
    NS_LOG_FUNCTION(this);
    m_state = FAILED;
    StopRegistering();
}

void
IcnReplicaApplication::Vanish()
{
    NS_LOG_FUNCTION(this);
    m_state = VANISHED;
    m_engine->replica->set_hidden(true);
    if (m_engine->registrar)
    {
        for (const IcnEid& ndc : m_names)
        {
            Apply((*m_engine->registrar)->remove(bridge::NowNs(), {ndc.bytes}, Draw()));
        }
    }
}

void
IcnReplicaApplication::Slow(Time delay, DataRate cap)
{
    NS_LOG_FUNCTION(this << delay << cap);
    m_serviceDelay = delay;
    m_rateCap = cap;
}

void
IcnReplicaApplication::Restore()
{
    NS_LOG_FUNCTION(this);
    const bool wasAway = m_state != SERVING;
    m_state = SERVING;
    m_engine->replica->set_hidden(false);
    m_serviceDelay = Time(0);
    m_rateCap = DataRate(0);
    if (wasAway && m_protocol)
    {
        RegisterAll();
    }
}

IcnReplicaApplication::State
IcnReplicaApplication::GetState() const
{
    return static_cast<State>(m_state.Get());
}

bool
IcnReplicaApplication::Offers(const IcnEid& ndc) const
{
    return m_state != VANISHED && Has(ndc);
}

bool
IcnReplicaApplication::Has(const IcnEid& ndc) const
{
    return m_places.find(ndc) != m_places.end();
}

uint64_t
IcnReplicaApplication::GetAnswered() const
{
    return m_answered;
}

uint64_t
IcnReplicaApplication::GetRegistered() const
{
    return m_registered;
}

int64_t
IcnReplicaApplication::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    m_draw->SetStream(stream);
    return 1;
}

void
IcnReplicaApplication::OnRequest(const IcnHeader& header,
                                 const Address& source,
                                 const Address& local)
{
    if (m_serviceDelay.IsZero())
    {
        Answer(header, source, local);
        return;
    }
    Simulator::Schedule(m_serviceDelay,
                        &IcnReplicaApplication::Answer,
                        this,
                        header,
                        source,
                        local);
}

void
IcnReplicaApplication::Answer(const IcnHeader& header, const Address& source, const Address& local)
{
    NS_LOG_FUNCTION(this << header << source);
    if (m_state == FAILED || !m_protocol)
    {
        return;
    }
    const int64_t clock = Simulator::Now().GetNanoSeconds() + (m_clock ? m_clock->GetErrorNs() : 0);
    const auto step =
        m_engine->replica->on_request(clock, {header.GetBytes(), header.GetSerializedSize()});
    if (step.malformed == m_malformed && step.unknown == m_unknown)
    {
        m_answered++;
    }
    m_malformed = step.malformed;
    m_unknown = step.unknown;
    const uint8_t* payload = step.payload.empty() ? nullptr : step.payload.data();
    for (const auto& data : step.packets)
    {
        // Without a payload to copy, ns-3 carries zeros that occupy no memory.
        Ptr<Packet> packet = payload
                                 ? Create<Packet>(payload + data.payload_offset, data.payload_len)
                                 : Create<Packet>(data.payload_len);
        packet->AddHeader(IcnHeader(step.headers.data() + data.header_offset, data.header_len));
        SendData(packet, source, data.expedited ? m_dscp : 0, local);
    }
}

void
IcnReplicaApplication::SendData(Ptr<Packet> packet,
                                const Address& destination,
                                uint8_t dscp,
                                const Address& local)
{
    if (m_rateCap.GetBitRate() == 0 && m_queued == 0)
    {
        m_protocol->SendPacket(packet, destination, dscp, local);
        return;
    }
    if (m_queued >= m_queueLimit)
    {
        NS_LOG_LOGIC("the rate cap's queue is full");
        return;
    }
    m_departure = std::max(m_departure, Simulator::Now());
    if (m_rateCap.GetBitRate() > 0)
    {
        m_departure += m_rateCap.CalculateBytesTxTime(packet->GetSize());
    }
    m_queued++;
    Simulator::Schedule(m_departure - Simulator::Now(),
                        &IcnReplicaApplication::Depart,
                        this,
                        packet,
                        destination,
                        dscp,
                        local);
}

void
IcnReplicaApplication::Depart(Ptr<Packet> packet,
                              const Address& destination,
                              uint8_t dscp,
                              const Address& local)
{
    m_queued--;
    if (m_state != FAILED && m_protocol)
    {
        m_protocol->SendPacket(packet, destination, dscp, local);
    }
}

void
IcnReplicaApplication::RegisterAll()
{
    if (m_nameServer.IsInvalid())
    {
        return;
    }
    if (!m_client->IsOpen())
    {
        m_client->Open(GetNode(),
                       m_nameServer,
                       MakeCallback(&IcnReplicaApplication::OnMessage, this));
    }
    const auto address = bridge::FromAddress(m_client->GetLocalAddress());
    NS_ABORT_MSG_IF(address.family == 0,
                    "node " << GetNode()->GetId() << " has no route to its name server");
    if (m_engine->registrar)
    {
        // It stays the same holder of its registrations.
        Apply((*m_engine->registrar)->relocate(bridge::NowNs(), address, Draw()));
    }
    else
    {
        ferrocc::icn::RegistrarConfig config;
        config.address = address;
        config.cost = m_cost;
        config.lifetime_ns = static_cast<uint64_t>(m_lifetime.GetNanoSeconds());
        config.timeout_ns = static_cast<uint64_t>(m_nameTimeout.GetNanoSeconds());
        config.tries = m_nameTries;
        config.draw = Draw();
        m_engine->registrar.emplace(ferrocc::icn::new_registrar(config));
    }
    for (const IcnEid& ndc : m_names)
    {
        Apply((*m_engine->registrar)->add(bridge::NowNs(), {ndc.bytes}, Draw()));
    }
}

void
IcnReplicaApplication::StopRegistering()
{
    m_timer.Cancel();
    m_client->Close();
    if (m_engine->registrar)
    {
        (*m_engine->registrar)->stop();
    }
}

void
IcnReplicaApplication::Apply(const ferrocc::icn::RegistrarStep& step)
{
    for (const auto& datagram : step.datagrams)
    {
        m_client->Send(step.bytes.data() + datagram.offset, datagram.length);
    }
    m_registered = step.registered;
    m_timer.Cancel();
    if (step.next_timer_ns != std::numeric_limits<uint64_t>::max())
    {
        m_timer = Simulator::Schedule(bridge::Until(step.next_timer_ns),
                                      &IcnReplicaApplication::Expire,
                                      this);
    }
}

void
IcnReplicaApplication::OnMessage(const std::vector<uint8_t>& bytes)
{
    NS_LOG_FUNCTION(this << bytes.size());
    Apply((*m_engine->registrar)->on_message(bridge::NowNs(), {bytes.data(), bytes.size()}));
}

void
IcnReplicaApplication::Expire()
{
    NS_LOG_FUNCTION(this);
    Apply((*m_engine->registrar)->on_timeout(bridge::NowNs(), Draw()));
}

double
IcnReplicaApplication::Draw()
{
    return m_draw->GetValue(0.0, 1.0);
}

uint64_t
IcnReplicaApplication::GetMalformed() const
{
    return m_malformed;
}

uint64_t
IcnReplicaApplication::GetUnknown() const
{
    return m_unknown;
}

void
IcnReplicaApplication::DoDispose()
{
    NS_LOG_FUNCTION(this);
    StopRegistering();
    m_engine->registrar.reset();
    StopApplication();
    m_client->Dispose();
    m_clock = nullptr;
    Application::DoDispose();
}

void
IcnReplicaApplication::StartApplication()
{
    NS_LOG_FUNCTION(this);
    m_clock = NodeClock::Of(GetNode());
    m_protocol = GetNode()->GetObject<IcnL4Protocol>();
    NS_ABORT_MSG_UNLESS(m_protocol, "node " << GetNode()->GetId() << " has no IcnL4Protocol");
    m_protocol->SetReplica(this);
    if (m_state == SERVING)
    {
        RegisterAll();
    }
}

void
IcnReplicaApplication::StopApplication()
{
    NS_LOG_FUNCTION(this);
    if (m_engine->registrar)
    {
        for (const IcnEid& ndc : m_names)
        {
            Apply((*m_engine->registrar)->remove(bridge::NowNs(), {ndc.bytes}, Draw()));
        }
    }
    if (m_protocol)
    {
        m_protocol->SetReplica(nullptr);
        m_protocol = nullptr;
    }
}

} // namespace ns3
