// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-routers.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "ferrocc-ffi/src/trace.rs.h"
#include "icn-stack-helper.h"
#include "scenario-network.h"
#include "scenario-replicas.h"
#include "scenario-streams.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/icn-binding-application.h"
#include "ns3/icn-off-path-cache-application.h"
#include "ns3/icn-replica-application.h"
#include "ns3/icn-router-cache-application.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/node.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{

namespace
{

/**
 * @param ns Nanoseconds.
 * @return The same as an attribute's value.
 */
TimeValue
ToTime(uint64_t ns)
{
    return TimeValue(NanoSeconds(static_cast<int64_t>(ns)));
}

/**
 * @param node A node.
 * @return Its address on its first link.
 */
Address
FirstAddress(const Node& node)
{
    // Interface 0 is the loopback device; address 0 of IPv6 is the link-local one.
    if (const auto ipv4 = node.GetObject<Ipv4>())
    {
        return ipv4->GetAddress(1, 0).GetLocal();
    }
    return node.GetObject<Ipv6>()->GetAddress(1, 1).GetAddress();
}

} // namespace

ScenarioRouters::ScenarioRouters(const ferrocc::scenario::Cell& cell,
                                 const ferrocc::scenario::RunSpec& spec,
                                 const ScenarioNetwork& network,
                                 uint32_t replicas)
    : m_replicas(replicas)
{
    const auto routers = cell.routers();
    const auto count = static_cast<uint32_t>(routers.size());
    const bool binds = spec.names_binding != "receiver";
    for (uint32_t i = 0; i < count; i++)
    {
        if (routers[i].icn && (routers[i].cache || binds))
        {
            IcnStackHelper().Install(network.GetRouter(i));
        }
        if (routers[i].cache)
        {
            // DATA passes plain IP routers on its way from the next source.
            uint32_t hops = 1;
            for (uint32_t next = i + 1; next < count && !routers[next].icn; next++)
            {
                hops++;
            }
            Cache cache{};
            cache.name = network.GetRouterName(i);
            cache.router = i;
            cache.cost = ScenarioReplicas::ToCost(network.GetDelayNs(i));
            const std::string placement(spec.cache_placement);
            AddCache(spec, network, network.GetRouter(i), cache, placement, hops);
        }
        if (routers[i].icn && binds)
        {
            AddBinding(spec, network, i);
        }
    }
    if (network.GetOffPathCache())
    {
        AddOffPathCache(cell, spec, network);
    }
}

ScenarioRouters::~ScenarioRouters() = default;

void
ScenarioRouters::AddCache(const ferrocc::scenario::RunSpec& spec,
                          const ScenarioNetwork& network,
                          Ptr<Node> node,
                          Cache cache,
                          const std::string& placement,
                          uint32_t firstHops)
{
    const auto stream = m_replicas + static_cast<int64_t>(m_caches.size());
    const auto replica = ScenarioReplicas::MakeApplication(spec,
                                                           cache.cost,
                                                           network.GetNameServerAddress(),
                                                           STREAM_REPLICAS + stream);
    node->AddApplication(replica);
    auto assembler = CreateObject<IcnRouterCacheApplication>();
    assembler->SetAttribute("CapacityBytes", UintegerValue(spec.cache_capacity_bytes));
    assembler->SetAttribute("CapacityNdcs", UintegerValue(spec.cache_capacity_ndcs));
    assembler->SetAttribute("Policy", StringValue(std::string(spec.cache_policy)));
    assembler->SetAttribute("Placement", StringValue(placement));
    assembler->SetAttribute("Probability", DoubleValue(spec.cache_probability));
    assembler->SetAttribute("FirstHops", UintegerValue(firstHops));
    assembler->SetAttribute("AssemblyMemory", UintegerValue(spec.cache_assembly_bytes));
    assembler->SetAttribute("AssemblyTimeout", ToTime(spec.cache_timeout_ns));
    assembler->SetAttribute("Verify", BooleanValue(spec.verify));
    assembler->SetReplica(replica);
    assembler->AssignStreams(STREAM_ROUTERS + 4 * static_cast<int64_t>(cache.router));
    node->AddApplication(assembler);
    cache.address = FirstAddress(*node);
    cache.replica = replica;
    cache.assembler = assembler;
    m_caches.push_back(cache);
}

void
ScenarioRouters::AddOffPathCache(const ferrocc::scenario::Cell& cell,
                                 const ferrocc::scenario::RunSpec& spec,
                                 const ScenarioNetwork& network)
{
    const Ptr<Node> node = network.GetOffPathCache();
    const uint64_t before = network.GetDelayNs(spec.off_path_router);
    Cache cache{};
    cache.name = ScenarioNetwork::OFF_PATH_NAME;
    cache.router = network.GetNRouters();
    cache.cost = ScenarioReplicas::ToCost(before + network.GetDelayNs(1));
    AddCache(spec, network, node, cache, "lce", 1);

    auto fetcher = CreateObject<IcnOffPathCacheApplication>();
    const bool isChance = spec.cache_placement == "probabilistic";
    fetcher->SetAttribute("NameServer", AddressValue(network.GetNameServerAddress()));
    fetcher->SetAttribute("Placement", StringValue(isChance ? "probabilistic" : "lce"));
    fetcher->SetAttribute("Probability", DoubleValue(spec.cache_probability));
    fetcher->SetAttribute("NameTimeout", ToTime(spec.names_timeout_ns));
    fetcher->SetAttribute("NameTries", UintegerValue(spec.names_tries));
    fetcher->SetAttribute("Verify", BooleanValue(spec.verify));
    const auto fetches = cell.off_path();
    fetcher->SetAttribute("Controller", StringValue(std::string(fetches.controller)));
    fetcher->SetAttribute("ControllerParams", StringValue(std::string(fetches.controller_params)));
    fetcher->SetAttribute("Options", StringValue(std::string(fetches.transport_options)));
    fetcher->SetCache(m_caches.back().assembler);
    fetcher->AssignStreams(STREAM_ROUTERS + 4 * static_cast<int64_t>(cache.router) + 1);
    node->AddApplication(fetcher);
}

void
ScenarioRouters::AddBinding(const ferrocc::scenario::RunSpec& spec,
                            const ScenarioNetwork& network,
                            uint32_t router)
{
    auto binding = CreateObject<IcnBindingApplication>();
    binding->SetAttribute("NameServer", AddressValue(network.GetNameServerAddress()));
    binding->SetAttribute("Mode", StringValue(std::string(spec.names_binding)));
    binding->SetAttribute("NameTimeout", ToTime(spec.names_timeout_ns));
    binding->SetAttribute("NameTries", UintegerValue(spec.names_tries));
    binding->AssignStreams(STREAM_ROUTERS + 4 * static_cast<int64_t>(router) + 1);
    network.GetRouter(router)->AddApplication(binding);
    m_bindings.push_back({router, binding});
}

std::vector<IcnLocator>
ScenarioRouters::LookUp(const IcnEid& ndc) const
{
    std::vector<IcnLocator> list;
    for (const Cache& cache : m_caches)
    {
        if (cache.replica->Offers(ndc))
        {
            list.push_back({cache.address, cache.cost});
        }
    }
    return list;
}

const std::vector<ScenarioRouters::Cache>&
ScenarioRouters::GetCaches() const
{
    return m_caches;
}

void
ScenarioRouters::Restart(uint32_t router) const
{
    for (const Cache& cache : m_caches)
    {
        if (cache.router == router)
        {
            cache.assembler->Restart();
        }
    }
    for (const Binding& binding : m_bindings)
    {
        if (binding.router == router)
        {
            binding.application->Restart();
        }
    }
}

void
ScenarioRouters::EvictAll(uint32_t router) const
{
    for (const Cache& cache : m_caches)
    {
        if (cache.router == router)
        {
            cache.assembler->EvictAll();
        }
    }
}

void
ScenarioRouters::Finish(ferrocc::trace::RunWriter& writer) const
{
    for (const Cache& cache : m_caches)
    {
        ferrocc::trace::CacheCounters counters;
        counters.name = cache.name;
        counters.hits = cache.assembler->GetHits();
        counters.misses = cache.assembler->GetMisses();
        counters.evictions = cache.assembler->GetEvictions();
        counters.assembled = cache.assembler->GetAssembled();
        counters.abandoned = cache.assembler->GetAbandoned();
        writer.finish_cache(counters);
    }
}

} // namespace ns3
