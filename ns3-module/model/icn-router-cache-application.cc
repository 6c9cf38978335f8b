// SPDX-License-Identifier: GPL-2.0-only

#include "icn-router-cache-application.h"

#include "ferrocc-ffi/src/router.rs.h"
#include "ferrocc-ffi/src/transport.rs.h"
#include "icn-address-bridge.h"
#include "icn-header.h"
#include "icn-l4-protocol.h"
#include "icn-replica-application.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <limits>
#include <vector>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IcnRouterCacheApplication");

NS_OBJECT_ENSURE_REGISTERED(IcnRouterCacheApplication);

namespace
{

/**
 * @param value An attribute, where zero is no limit.
 * @return The same for the engine.
 */
uint64_t
ToLimit(uint64_t value)
{
    return value == 0 ? std::numeric_limits<uint64_t>::max() : value;
}

} // namespace

/// The cache; its type is known to this file only.
struct IcnRouterCacheApplication::Engine
{
    rust::Box<ferrocc::router::RouterCache> cache; //!< It.
    std::vector<uint8_t> bytes;                    //!< One packet, where payload is real.
};

TypeId
IcnRouterCacheApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::IcnRouterCacheApplication")
            .SetParent<Application>()
            .SetGroupName("Ferrocc")
            .AddConstructor<IcnRouterCacheApplication>()
            .AddAttribute("CapacityBytes",
                          "Most bytes of complete NDCs; virtual content counts, too; zero for no "
                          "limit",
                          UintegerValue(200'000'000),
                          MakeUintegerAccessor(&IcnRouterCacheApplication::m_capacityBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("CapacityNdcs",
                          "Most complete NDCs; zero for no limit",
                          UintegerValue(0),
                          MakeUintegerAccessor(&IcnRouterCacheApplication::m_capacityNdcs),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Policy",
                          "What makes room for another NDC: lru, lfu, fifo or random",
                          StringValue("lru"),
                          MakeStringAccessor(&IcnRouterCacheApplication::m_policy),
                          MakeStringChecker())
            .AddAttribute("Placement",
                          "Whether a copy is kept: lce (always), lcd (in the first router after "
                          "the source) or probabilistic",
                          StringValue("lce"),
                          MakeStringAccessor(&IcnRouterCacheApplication::m_placement),
                          MakeStringChecker())
            .AddAttribute("Probability",
                          "Probability of a copy under the placement probabilistic",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&IcnRouterCacheApplication::m_probability),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("AssemblyMemory",
                          "Most bytes of incomplete NDCs, each with its full size",
                          UintegerValue(200'000'000),
                          MakeUintegerAccessor(&IcnRouterCacheApplication::m_assemblyMemory),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("AssemblyTimeout",
                          "Time without anything new after which an incomplete NDC is given up",
                          TimeValue(Seconds(10)),
                          MakeTimeAccessor(&IcnRouterCacheApplication::m_assemblyTimeout),
                          MakeTimeChecker(MilliSeconds(1)))
            .AddAttribute("Verify",
                          "Whether the payload is real and its hash is compared with the NDC's EID",
                          BooleanValue(false),
                          MakeBooleanAccessor(&IcnRouterCacheApplication::m_verify),
                          MakeBooleanChecker())
            .AddAttribute("SourceHopLimit",
                          "Hop limit that sources send DATA with; tells lcd how far they are",
                          UintegerValue(64), // DefaultTtl of ns-3's Ipv4L3Protocol
                          MakeUintegerAccessor(&IcnRouterCacheApplication::m_sourceHopLimit),
                          MakeUintegerChecker<uint8_t>(1))
            .AddAttribute("FirstHops",
                          "A router so many hops after the source, or fewer, is the first one "
                          "after it for lcd: 1 and one for each plain IP router between",
                          UintegerValue(1),
                          MakeUintegerAccessor(&IcnRouterCacheApplication::m_firstHops),
                          MakeUintegerChecker<uint8_t>(1))
            .AddTraceSource("Hit",
                            "The router serves a transfer",
                            MakeTraceSourceAccessor(&IcnRouterCacheApplication::m_hitTrace),
                            "ns3::IcnRouterCacheApplication::NdcTracedCallback")
            .AddTraceSource("Miss",
                            "The router sees a transfer that another source serves",
                            MakeTraceSourceAccessor(&IcnRouterCacheApplication::m_missTrace),
                            "ns3::IcnRouterCacheApplication::NdcTracedCallback")
            .AddTraceSource("Evict",
                            "An NDC is evicted",
                            MakeTraceSourceAccessor(&IcnRouterCacheApplication::m_evictTrace),
                            "ns3::IcnRouterCacheApplication::NdcTracedCallback")
            .AddTraceSource("Assembled",
                            "An NDC is complete and stored",
                            MakeTraceSourceAccessor(&IcnRouterCacheApplication::m_assembledTrace),
                            "ns3::IcnRouterCacheApplication::NdcTracedCallback")
            .AddTraceSource("Abandoned",
                            "Incomplete NDCs given up so far",
                            MakeTraceSourceAccessor(&IcnRouterCacheApplication::m_abandoned),
                            "ns3::TracedValueCallback::Uint64");
    return tid;
}

IcnRouterCacheApplication::IcnRouterCacheApplication()
    : m_capacityBytes(0),
      m_capacityNdcs(0),
      m_probability(0),
      m_assemblyMemory(0),
      m_verify(false),
      m_sourceHopLimit(0),
      m_firstHops(0),
      m_draw(CreateObject<UniformRandomVariable>()),
      m_next(0),
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

bool
IcnRouterCacheApplication::Preload(const IcnEid& ndc, uint64_t size, uint64_t contentSeed)
{
    NS_LOG_FUNCTION(this << ndc << size << contentSeed);
    NS_ABORT_MSG_UNLESS(m_engine, "a cache is preloaded while it runs");
    if (!m_engine->cache->preload({ndc.bytes}, size, m_draw->GetValue(0.0, 1.0)))
    {
        return false;
    }
    DropEvicted();
    auto& replica = m_replica->GetEngine();
    if (m_verify)
    {
        const IcnEid real{replica.add_synthetic(contentSeed, size).bytes};
        NS_ABORT_MSG_UNLESS(real == ndc, "content of seed " << contentSeed << " is not " << ndc);
    }
    else
    {
        replica.add_known({ndc.bytes}, size);
    }
    m_replica->NotifyAdded(ndc);
    return true;
}

void
IcnRouterCacheApplication::Restart()
{
    NS_LOG_FUNCTION(this);
    if (m_engine)
    {
        for (const auto& lost : m_engine->cache->restart())
        {
            m_replica->Forget(IcnEid{lost.bytes});
        }
        CountAbandoned();
    }
}

void
IcnRouterCacheApplication::EvictAll()
{
    NS_LOG_FUNCTION(this);
    if (m_engine)
    {
        m_engine->cache->evict_all();
        DropEvicted();
    }
}

void
IcnRouterCacheApplication::TakeData(const Packet& packet, uint8_t hopLimit)
{
    if (m_engine)
    {
        OnPacket(packet, hopLimit);
    }
}

const ferrocc::router::RouterCache&
IcnRouterCacheApplication::GetEngine() const
{
    NS_ABORT_MSG_UNLESS(m_engine, "a cache that does not run has no engine");
    return *m_engine->cache;
}

bool
IcnRouterCacheApplication::Contains(const IcnEid& ndc) const
{
    return m_engine && m_engine->cache->contains({ndc.bytes});
}

uint64_t
IcnRouterCacheApplication::GetHits() const
{
    return m_engine ? m_engine->cache->stats().hits : 0;
}

uint64_t
IcnRouterCacheApplication::GetMisses() const
{
    return m_engine ? m_engine->cache->stats().misses : 0;
}

uint64_t
IcnRouterCacheApplication::GetEvictions() const
{
    return m_engine ? m_engine->cache->stats().evictions : 0;
}

uint64_t
IcnRouterCacheApplication::GetAssembled() const
{
    return m_engine ? m_engine->cache->stats().assembled : 0;
}

uint64_t
IcnRouterCacheApplication::GetAbandoned() const
{
    return m_abandoned;
}

uint64_t
IcnRouterCacheApplication::GetTooLarge() const
{
    return m_engine ? m_engine->cache->stats().too_large : 0;
}

uint64_t
IcnRouterCacheApplication::GetNdcs() const
{
    return m_engine ? m_engine->cache->stats().ndcs : 0;
}

int64_t
IcnRouterCacheApplication::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    m_draw->SetStream(stream);
    return 1;
}

void
IcnRouterCacheApplication::StartApplication()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_UNLESS(m_replica, "a router's cache needs a replica: SetReplica()");
    ferrocc::router::CacheConfig config;
    config.capacity_ndcs = ToLimit(m_capacityNdcs);
    config.capacity_bytes = ToLimit(m_capacityBytes);
    config.policy = m_policy;
    config.placement = m_placement;
    config.probability = m_probability;
    config.assembly_memory_bytes = m_assemblyMemory;
    config.assembly_timeout_ns = static_cast<uint64_t>(m_assemblyTimeout.GetNanoSeconds());
    config.verify = m_verify;
    config.source_hop_limit = m_sourceHopLimit;
    config.first_hops = m_firstHops;
    try
    {
        m_engine = std::make_unique<Engine>(Engine{ferrocc::router::new_router_cache(config), {}});
    }
    catch (const std::exception& error)
    {
        NS_ABORT_MSG(error.what());
    }
    m_next = m_draw->GetValue(0.0, 1.0);
    m_protocol = GetNode()->GetObject<IcnL4Protocol>();
    NS_ABORT_MSG_UNLESS(m_protocol, "node " << GetNode()->GetId() << " has no IcnL4Protocol");
    m_protocol->TraceConnectWithoutContext(
        "Request",
        MakeCallback(&IcnRouterCacheApplication::OnRequest, this));
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
    m_protocol->TraceDisconnectWithoutContext(
        "Request",
        MakeCallback(&IcnRouterCacheApplication::OnRequest, this));
    m_protocol = nullptr;
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
        OnPacket(*packet, header.GetTtl());
    }
}

void
IcnRouterCacheApplication::OnForward6(const Ipv6Header& header,
                                      Ptr<const Packet> packet,
                                      uint32_t /* interface */)
{
    if (header.GetNextHeader() == IcnL4Protocol::PROT_NUMBER)
    {
        OnPacket(*packet, header.GetHopLimit());
    }
}

void
IcnRouterCacheApplication::OnPacket(const Packet& packet, uint8_t hopLimit)
{
    IcnHeader header;
    header.Peek(packet);
    if (header.IsRequest())
    {
        OnRequest(header);
        return;
    }
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
    const auto step = m_engine->cache->on_data(bridge::NowNs(),
                                               {header.GetBytes(), headerLength},
                                               payloadLength,
                                               payload,
                                               hopLimit,
                                               m_next);
    if (step.draw_used)
    {
        m_next = m_draw->GetValue(0.0, 1.0);
    }
    SetTimer(step.next_timer_ns);
    for (const auto& evicted : step.evicted)
    {
        Evict(IcnEid{evicted.bytes});
    }
    if (step.completed)
    {
        const IcnEid ndc{step.eid.bytes};
        NS_LOG_INFO("assembled " << ndc);
        m_engine->cache->store(m_replica->GetEngine());
        m_replica->NotifyAdded(ndc);
        m_assembledTrace(ndc);
    }
}

void
IcnRouterCacheApplication::OnRequest(const IcnHeader& header)
{
    const IcnEid ndc = header.GetDestination();
    switch (m_engine->cache->on_request({header.GetSource().bytes}, {ndc.bytes}))
    {
    case ferrocc::router::Sighting::Hit:
        m_hitTrace(ndc);
        break;
    case ferrocc::router::Sighting::Miss:
        m_missTrace(ndc);
        break;
    default:
        break;
    }
}

void
IcnRouterCacheApplication::DropEvicted()
{
    for (const auto& evicted : m_engine->cache->take_evicted())
    {
        Evict(IcnEid{evicted.bytes});
    }
}

void
IcnRouterCacheApplication::Evict(const IcnEid& ndc)
{
    NS_LOG_INFO("evicted " << ndc);
    m_replica->Remove(ndc);
    m_evictTrace(ndc);
}

void
IcnRouterCacheApplication::CountAbandoned()
{
    m_abandoned = m_engine->cache->stats().abandoned;
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
    const uint64_t next = m_engine->cache->expire(bridge::NowNs());
    CountAbandoned();
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
