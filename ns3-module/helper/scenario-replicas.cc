// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-replicas.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "ferrocc-ffi/src/trace.rs.h"
#include "scenario-network.h"
#include "scenario-routers.h"
#include "scenario-streams.h"

#include "ns3/icn-name-server-application.h"
#include "ns3/icn-replica-application.h"
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

} // namespace

ScenarioReplicas::ScenarioReplicas(const ferrocc::scenario::Cell& cell,
                                   const ferrocc::scenario::RunSpec& spec,
                                   const ScenarioNetwork& network)
    : m_network(network),
      m_verify(spec.verify),
      m_fixed(spec.names_mode == "address"),
      m_nameServerAddress(network.GetNameServerAddress())
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
            MakeApplication(spec,
                            cost,
                            replica.registered ? m_nameServerAddress : Address(),
                            STREAM_REPLICAS + index);
        network.GetReplica(index)->AddApplication(application);
        m_replicas.push_back(
            {network.GetReplicaAddress(index), cost, replica.registered, application});
    }
    m_routers = std::make_unique<ScenarioRouters>(cell,
                                                  spec,
                                                  network,
                                                  static_cast<uint32_t>(m_replicas.size()));
}

ScenarioReplicas::~ScenarioReplicas() = default;

Ptr<IcnReplicaApplication>
ScenarioReplicas::MakeApplication(const ferrocc::scenario::RunSpec& spec,
                                  uint16_t cost,
                                  const Address& nameServer,
                                  int64_t stream)
{
    auto application = CreateObject<IcnReplicaApplication>();
    application->SetAttribute("ExpeditedDscp", UintegerValue(spec.priority_dscp));
    application->SetAttribute("Cost", UintegerValue(cost));
    application->SetAttribute("NameTimeout",
                              TimeValue(NanoSeconds(static_cast<int64_t>(spec.names_timeout_ns))));
    application->SetAttribute("NameTries", UintegerValue(spec.names_tries));
    if (!nameServer.IsInvalid())
    {
        application->SetAttribute("NameServer", AddressValue(nameServer));
    }
    application->AssignStreams(stream);
    return application;
}

uint16_t
ScenarioReplicas::ToCost(uint64_t delayNs)
{
    constexpr uint64_t MOST = std::numeric_limits<uint16_t>::max();
    return static_cast<uint16_t>(std::min(delayNs / COST_UNIT_NS, MOST));
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

std::vector<IcnLocator>
ScenarioReplicas::LookUp(const IcnEid& ndc) const
{
    std::vector<IcnLocator> list;
    for (const Replica& replica : m_replicas)
    {
        // What is configured stays, whatever becomes of the replica.
        const bool offers =
            m_fixed ? replica.application->Has(ndc) : replica.application->Offers(ndc);
        if (replica.registered && offers)
        {
            list.push_back({replica.address, replica.cost});
        }
    }
    if (!m_fixed)
    {
        const auto caches = m_routers->LookUp(ndc);
        list.insert(list.end(), caches.begin(), caches.end());
    }
    return list;
}

const Address&
ScenarioReplicas::GetAddress(uint32_t replica) const
{
    return m_replicas.at(replica).address;
}

const Address&
ScenarioReplicas::GetNameServerAddress() const
{
    return m_nameServerAddress;
}

Ptr<IcnNameServerApplication>
ScenarioReplicas::GetNameServer() const
{
    return m_nameServer;
}

Ptr<IcnReplicaApplication>
ScenarioReplicas::GetApplication(uint32_t replica) const
{
    return m_replicas.at(replica).application;
}

const ScenarioRouters&
ScenarioReplicas::GetRouters() const
{
    return *m_routers;
}

void
ScenarioReplicas::NotifyMove(uint32_t replica)
{
    m_replicas.at(replica).address = m_network.GetReplicaAddress(replica);
    m_replicas.at(replica).application->NotifyAddressChange();
}

void
ScenarioReplicas::Finish(ferrocc::trace::RunWriter& writer) const
{
    m_routers->Finish(writer);
}

} // namespace ns3
