// SPDX-License-Identifier: GPL-2.0-only

#include "icn-replica-application.h"

#include "ferrocc-ffi/src/transport.rs.h"
#include "icn-header.h"
#include "icn-l4-protocol.h"
#include "node-clock.h"

#include "ns3/abort.h"
#include "ns3/ipv4-header.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <limits>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IcnReplicaApplication");

NS_OBJECT_ENSURE_REGISTERED(IcnReplicaApplication);

namespace
{

/// Size of content without an end, for the engine.
constexpr uint64_t UNLIMITED = std::numeric_limits<uint64_t>::max();

} // namespace

/// The replica's engine; its type is known to this file only.
struct IcnReplicaApplication::Engine
{
    rust::Box<ferrocc::transport::Replica> replica = ferrocc::transport::new_replica(); //!< It.
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
                          MakeUintegerChecker<uint8_t>(0, 63));
    return tid;
}

IcnReplicaApplication::IcnReplicaApplication()
    : m_engine(std::make_unique<Engine>()),
      m_dscp(Ipv4Header::DSCP_EF),
      m_malformed(0),
      m_unknown(0)
{
}

IcnReplicaApplication::~IcnReplicaApplication() = default;

IcnEid
IcnReplicaApplication::AddVirtual(const std::string& name, uint64_t size)
{
    NS_LOG_FUNCTION(this << name << size);
    return {m_engine->replica->add_virtual(name, size == 0 ? UNLIMITED : size).bytes};
}

IcnEid
IcnReplicaApplication::AddSynthetic(uint64_t seed, uint64_t size)
{
    NS_LOG_FUNCTION(this << seed << size);
    return {m_engine->replica->add_synthetic(seed, size).bytes};
}

void
IcnReplicaApplication::OnRequest(const IcnHeader& header, Ipv4Address source)
{
    NS_LOG_FUNCTION(this << header << source);
    const int64_t clock = Simulator::Now().GetNanoSeconds() + (m_clock ? m_clock->GetErrorNs() : 0);
    const auto step =
        m_engine->replica->on_request(clock, {header.GetBytes(), header.GetSerializedSize()});
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
        m_protocol->SendPacket(packet, source, data.expedited ? m_dscp : 0);
    }
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
    StopApplication();
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
}

void
IcnReplicaApplication::StopApplication()
{
    NS_LOG_FUNCTION(this);
    if (m_protocol)
    {
        m_protocol->SetReplica(nullptr);
        m_protocol = nullptr;
    }
}

} // namespace ns3
