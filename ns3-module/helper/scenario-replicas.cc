// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-replicas.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "ferrocc-ffi/src/trace.rs.h"
#include "ferrocc-ffi/src/transport.rs.h"
#include "icn-stack-helper.h"
#include "scenario-network.h"
#include "scenario-streams.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/icn-l4-protocol.h"
#include "ns3/icn-name-server-application.h"
#include "ns3/icn-replica-application.h"
#include "ns3/icn-router-cache-application.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>

namespace ns3
{

namespace
{

/// A registered cost is the propagation delay to the receivers' router in this unit, ns.
constexpr uint64_t COST_UNIT_NS = 100'000;

/**
 * @param delayNs A propagation delay, nanoseconds.
 * @return The cost to register.
 */
uint16_t
ToCost(uint64_t delayNs)
{
    constexpr uint64_t MOST = std::numeric_limits<uint16_t>::max();
    return static_cast<uint16_t>(std::min(delayNs / COST_UNIT_NS, MOST));
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

struct ScenarioReplicas::Faults
{
    rust::Vec<ferrocc::scenario::FaultSpec> list; //!< They.
};

ScenarioReplicas::ScenarioReplicas(const ferrocc::scenario::Cell& cell,
                                   const ferrocc::scenario::RunSpec& spec,
                                   const ScenarioNetwork& network)
    : m_verify(spec.verify),
      m_fixed(spec.names_mode == "address"),
      m_nameServerAddress(network.GetNameServerAddress()),
      m_faults(std::make_unique<Faults>(Faults{cell.faults()}))
{
    if (const auto node = network.GetNameServer())
    {
        m_nameServer = CreateObject<IcnNameServerApplication>();
        m_nameServer->SetAttribute(
            "ProcessingTime",
            TimeValue(NanoSeconds(static_cast<int64_t>(spec.names_processing_ns))));
        node->AddApplication(m_nameServer);
    }
    for (const auto& replica : cell.replicas())
    {
        const auto index = static_cast<uint32_t>(m_replicas.size());
        const uint16_t cost = ToCost(replica.delay_ns + network.GetDelayNs(replica.router));
        const auto application =
            MakeApplication(spec, cost, replica.registered, STREAM_REPLICAS + index);
        network.GetReplica(index)->AddApplication(application);
        m_replicas.push_back({std::string(replica.name),
                              network.GetReplicaAddress(index),
                              cost,
                              replica.registered,
                              application});
    }
    AddCaches(spec, network);
    for (std::size_t i = 0; i < m_faults->list.size(); i++)
    {
        Simulator::Schedule(NanoSeconds(static_cast<int64_t>(m_faults->list[i].at_ns)),
                            &ScenarioReplicas::OnFault,
                            this,
                            i);
    }
}

ScenarioReplicas::~ScenarioReplicas() = default;

Ptr<IcnReplicaApplication>
ScenarioReplicas::MakeApplication(const ferrocc::scenario::RunSpec& spec,
                                  uint16_t cost,
                                  bool registered,
                                  int64_t stream) const
{
    auto application = CreateObject<IcnReplicaApplication>();
    application->SetAttribute("ExpeditedDscp", UintegerValue(spec.priority_dscp));
    application->SetAttribute("Cost", UintegerValue(cost));
    application->SetAttribute("NameTimeout",
                              TimeValue(NanoSeconds(static_cast<int64_t>(spec.names_timeout_ns))));
    application->SetAttribute("NameTries", UintegerValue(spec.names_tries));
    if (registered)
    {
        application->SetAttribute("NameServer", AddressValue(m_nameServerAddress));
    }
    application->AssignStreams(stream);
    return application;
}

void
ScenarioReplicas::AddCaches(const ferrocc::scenario::RunSpec& spec, const ScenarioNetwork& network)
{
    for (const auto& name : spec.cache_at)
    {
        const uint32_t router = network.FindRouter(std::string(name));
        const Ptr<Node> node = network.GetRouter(router);
        IcnStackHelper().Install(node);
        const uint16_t cost = ToCost(network.GetDelayNs(router));
        const auto stream = static_cast<int64_t>(m_replicas.size() + m_routers.size());
        const auto application = MakeApplication(spec, cost, true, STREAM_REPLICAS + stream);
        node->AddApplication(application);
        auto assembler = CreateObject<IcnRouterCacheApplication>();
        assembler->SetAttribute("Capacity", UintegerValue(spec.cache_capacity_bytes));
        assembler->SetAttribute(
            "Timeout",
            TimeValue(NanoSeconds(static_cast<int64_t>(spec.cache_timeout_ns))));
        assembler->SetAttribute("Verify", BooleanValue(spec.verify));
        assembler->SetReplica(application);
        node->AddApplication(assembler);
        m_assemblers.push_back(assembler);
        m_routers.push_back({std::string(name), FirstAddress(*node), cost, true, application});
    }
}

IcnEid
ScenarioReplicas::AddNdc(const ferrocc::scenario::FlowSpec& flow,
                         const std::string& name,
                         uint64_t seed)
{
    IcnEid ndc;
    // Content decides the EID, so that those who only promise it come last.
    for (const bool holds : {true, false})
    {
        for (const auto& holder : flow.replicas)
        {
            IcnReplicaApplication& application = *m_replicas.at(holder.replica).application;
            if (holder.holds != holds)
            {
                continue;
            }
            if (!holds)
            {
                application.NotifyAdded(ndc);
            }
            else if (m_verify)
            {
                ndc = application.AddSynthetic(seed, flow.size_bytes);
            }
            else
            {
                ndc = application.AddVirtual(name, flow.size_bytes);
            }
        }
    }
    return ndc;
}

IcnEid
ScenarioReplicas::Provide(const std::string& name, uint64_t seed, uint64_t size)
{
    IcnEid ndc;
    for (const Replica& replica : m_replicas)
    {
        auto& engine = replica.application->GetEngine();
        ndc = IcnEid{m_verify ? engine.add_synthetic(seed, size).bytes
                              : engine.add_virtual(name, size).bytes};
        if (m_nameServer && replica.registered)
        {
            m_nameServer->Provision(ndc, replica.address, replica.cost);
        }
    }
    m_provided.insert(ndc.bytes);
    return ndc;
}

std::vector<IcnLocator>
ScenarioReplicas::LookUp(const IcnEid& ndc) const
{
    std::vector<IcnLocator> list;
    const bool isProvided = m_provided.count(ndc.bytes) > 0;
    for (const auto* group : {&m_replicas, &m_routers})
    {
        for (const Replica& replica : *group)
        {
            const auto& application = *replica.application;
            const bool has = application.Has(ndc) || (isProvided && group == &m_replicas);
            // What is configured stays, whatever becomes of the replica.
            const bool offers =
                has && (m_fixed || application.GetState() != IcnReplicaApplication::VANISHED);
            if (replica.registered && offers && !(m_fixed && group == &m_routers))
            {
                list.push_back({replica.address, replica.cost});
            }
        }
    }
    return list;
}

const Address&
ScenarioReplicas::GetAddress(uint32_t replica) const
{
    return m_replicas.at(replica).address;
}

const std::string&
ScenarioReplicas::GetName(const Address& address) const
{
    for (const auto* group : {&m_replicas, &m_routers})
    {
        for (const Replica& replica : *group)
        {
            if (replica.address == address)
            {
                return replica.name;
            }
        }
    }
    // A router registers another of its addresses: the one that the name server sees.
    if (const Replica* router = FindRouter(address))
    {
        return router->name;
    }
    NS_ABORT_MSG("there is no replica at " << address);
}

const ScenarioReplicas::Replica*
ScenarioReplicas::FindRouter(const Address& address) const
{
    for (const Replica& router : m_routers)
    {
        const Ptr<Node> node = router.application->GetNode();
        const auto ipv4 = node->GetObject<Ipv4>();
        const auto ipv6 = node->GetObject<Ipv6>();
        if ((ipv4 && Ipv4Address::IsMatchingType(address) &&
             ipv4->GetInterfaceForAddress(Ipv4Address::ConvertFrom(address)) >= 0) ||
            (ipv6 && Ipv6Address::IsMatchingType(address) &&
             ipv6->GetInterfaceForAddress(Ipv6Address::ConvertFrom(address)) >= 0))
        {
            return &router;
        }
    }
    return nullptr;
}

bool
ScenarioReplicas::IsCache(const Address& address) const
{
    return FindRouter(address) != nullptr;
}

const Address&
ScenarioReplicas::GetNameServerAddress() const
{
    return m_nameServerAddress;
}

void
ScenarioReplicas::OnFault(std::size_t number)
{
    const auto& fault = m_faults->list[number];
    if (fault.kind == "name-server-fail")
    {
        m_nameServer->Fail();
        return;
    }
    if (fault.kind == "name-server-restore")
    {
        m_nameServer->Restore();
        return;
    }
    IcnReplicaApplication& replica = *m_replicas.at(fault.replica).application;
    if (fault.kind == "replica-fail")
    {
        replica.Fail();
    }
    else if (fault.kind == "replica-vanish")
    {
        replica.Vanish();
    }
    else if (fault.kind == "replica-slow")
    {
        replica.Slow(NanoSeconds(static_cast<int64_t>(fault.delay_ns)), DataRate(fault.rate_bps));
    }
    else
    {
        replica.Restore();
    }
}

void
ScenarioReplicas::Finish(ferrocc::trace::RunWriter& writer) const
{
    for (std::size_t i = 0; i < m_routers.size(); i++)
    {
        const Replica& router = m_routers[i];
        ferrocc::trace::CacheCounters counters;
        counters.name = router.name;
        counters.hits = router.application->GetAnswered();
        counters.misses = router.application->GetUnknown();
        counters.assembled = m_assemblers[i]->GetAssembled();
        counters.abandoned = m_assemblers[i]->GetAbandoned();
        writer.finish_cache(counters);
    }
}

} // namespace ns3
