// SPDX-License-Identifier: GPL-2.0-only

#include "icn-router-cache-application.h"

#include "ferrocc-ffi/src/transport.rs.h"
#include "icn-address-bridge.h"
#include "icn-header.h"
#include "icn-l4-protocol.h"
#include "icn-replica-application.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/uinteger.h"

#include <limits>
#include <vector>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IcnRouterCacheApplication");

NS_OBJECT_ENSURE_REGISTERED(IcnRouterCacheApplication);

/// The assembler; its type is known to this file only.
struct IcnRouterCacheApplication::Engine
{
    rust::Box<ferrocc::icn::Assembler> assembler; //!< It.
    std::vector<uint8_t> bytes;                   //!< One packet, where payload is real.
};

TypeId
IcnRouterCacheApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::IcnRouterCacheApplication")
            .SetParent<Application>()
            .SetGroupName("Ferrocc")
            .AddConstructor<IcnRouterCacheApplication>()
            .AddAttribute("Capacity",
                          "Most bytes of content, complete or not; virtual content counts, too",
                          UintegerValue(200'000'000),
                          MakeUintegerAccessor(&IcnRouterCacheApplication::m_capacity),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("Timeout",
                          "Time without anything new after which an incomplete NDC is given up",
                          TimeValue(Seconds(10)),
                          MakeTimeAccessor(&IcnRouterCacheApplication::m_timeout),
                          MakeTimeChecker(MilliSeconds(1)))
            .AddAttribute("Verify",
                          "Whether the payload is real and its hash is compared with the NDC's EID",
                          BooleanValue(false),
                          MakeBooleanAccessor(&IcnRouterCacheApplication::m_verify),
                          MakeBooleanChecker())
            .AddTraceSource("Assembled",
                            "An NDC is complete",
                            MakeTraceSourceAccessor(&IcnRouterCacheApplication::m_assembledTrace),
                            "ns3::IcnRouterCacheApplication::AssembledTracedCallback")
            .AddTraceSource("AssembledCount",
                            "NDCs that became complete so far",
                            MakeTraceSourceAccessor(&IcnRouterCacheApplication::m_assembled),
                            "ns3::TracedValueCallback::Uint64");
    return tid;
}

IcnRouterCacheApplication::IcnRouterCacheApplication()
    : m_capacity(0),
      m_verify(false),
      m_assembled(0),
      m_abandoned(0)
{
}

IcnRouterCacheApplication::~IcnRouterCacheApplication() = default;

void
IcnRouterCacheApplication::SetReplica(Ptr<IcnReplicaApplication> replica)
{
    NS_LOG_FUNCTION(this << replica);
    m_replica = replica;
}

uint64_t
IcnRouterCacheApplication::GetAssembled() const
{
    return m_assembled;
}

uint64_t
IcnRouterCacheApplication::GetAbandoned() const
{
    return m_abandoned;
}

void
IcnRouterCacheApplication::StartApplication()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_UNLESS(m_replica, "a router's cache needs a replica: SetReplica()");
    const auto timeout = static_cast<uint64_t>(m_timeout.GetNanoSeconds());
    m_engine = std::make_unique<Engine>(
        Engine{ferrocc::icn::new_assembler(m_capacity, timeout, m_verify), {}});
    if (const auto ipv4 = GetNode()->GetObject<Ipv4L3Protocol>())
    {
        ipv4->TraceConnectWithoutContext("UnicastForward",
                                         MakeCallback(&IcnRouterCacheApplication::OnForward, this));
    }
    if (const auto ipv6 = GetNode()->GetObject<Ipv6L3Protocol>())
    {
        // A router is registered with one of its addresses, and reached over any of its links.
        ipv6->SetAttribute("StrongEndSystemModel", BooleanValue(false));
        ipv6->TraceConnectWithoutContext(
            "UnicastForward",
            MakeCallback(&IcnRouterCacheApplication::OnForward6, this));
    }
}

void
IcnRouterCacheApplication::StopApplication()
{
    NS_LOG_FUNCTION(this);
    m_timer.Cancel();
    if (!m_engine)
    {
        return;
    }
    m_engine.reset();
    if (const auto ipv4 = GetNode()->GetObject<Ipv4L3Protocol>())
    {
        ipv4->TraceDisconnectWithoutContext(
            "UnicastForward",
            MakeCallback(&IcnRouterCacheApplication::OnForward, this));
    }
    if (const auto ipv6 = GetNode()->GetObject<Ipv6L3Protocol>())
    {
        ipv6->TraceDisconnectWithoutContext(
            "UnicastForward",
            MakeCallback(&IcnRouterCacheApplication::OnForward6, this));
    }
}

void
IcnRouterCacheApplication::OnForward(const Ipv4Header& header,
                                     Ptr<const Packet> packet,
                                     uint32_t /* interface */)
{
    // A fragment is no segment.
    if (header.GetProtocol() == IcnL4Protocol::PROT_NUMBER && header.IsLastFragment() &&
        header.GetFragmentOffset() == 0)
    {
        OnPacket(*packet);
    }
}

void
IcnRouterCacheApplication::OnForward6(const Ipv6Header& header,
                                      Ptr<const Packet> packet,
                                      uint32_t /* interface */)
{
    if (header.GetNextHeader() == IcnL4Protocol::PROT_NUMBER)
    {
        OnPacket(*packet);
    }
}

void
IcnRouterCacheApplication::OnPacket(const Packet& packet)
{
    IcnHeader header;
    header.Peek(packet);
    if (!header.IsData())
    {
        return;
    }
    const uint32_t headerLength = header.GetSerializedSize();
    const uint32_t payloadLength = packet.GetSize() - headerLength;
    rust::Slice<const uint8_t> payload;
    if (m_verify)
    {
        auto& bytes = m_engine->bytes;
        bytes.resize(packet.GetSize());
        packet.CopyData(bytes.data(), packet.GetSize());
        payload = {bytes.data() + headerLength, payloadLength};
    }
    const auto step = m_engine->assembler->on_packet(bridge::NowNs(),
                                                     {header.GetBytes(), headerLength},
                                                     payloadLength,
                                                     payload);
    m_abandoned = step.abandoned;
    SetTimer(step.next_timer_ns);
    if (step.completed)
    {
        const IcnEid ndc{step.eid.bytes};
        NS_LOG_INFO("assembled " << ndc);
        m_engine->assembler->store(m_replica->GetEngine());
        m_replica->NotifyAdded(ndc);
        m_assembled = step.assembled;
        m_assembledTrace(ndc);
    }
}

void
IcnRouterCacheApplication::SetTimer(uint64_t deadline)
{
    // One pending event suffices: when it is too early, the next deadline is set then.
    if (deadline != std::numeric_limits<uint64_t>::max() && m_timer.IsExpired())
    {
        m_timer =
            Simulator::Schedule(bridge::Until(deadline), &IcnRouterCacheApplication::Expire, this);
    }
}

void
IcnRouterCacheApplication::Expire()
{
    NS_LOG_FUNCTION(this);
    const uint64_t next = m_engine->assembler->expire(bridge::NowNs());
    m_abandoned = m_engine->assembler->abandoned();
    SetTimer(next);
}

void
IcnRouterCacheApplication::DoDispose()
{
    NS_LOG_FUNCTION(this);
    StopApplication();
    m_replica = nullptr;
    Application::DoDispose();
}

} // namespace ns3
