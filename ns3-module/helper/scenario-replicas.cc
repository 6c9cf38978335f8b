// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-replicas.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "scenario-network.h"

#include "ns3/icn-replica-application.h"
#include "ns3/node.h"
#include "ns3/uinteger.h"

namespace ns3
{

ScenarioReplicas::ScenarioReplicas(const ferrocc::scenario::RunSpec& spec,
                                   const ScenarioNetwork& network)
    : m_verify(spec.verify)
{
    for (uint32_t i = 0; i < network.GetNReplicas(); i++)
    {
        auto replica = CreateObject<IcnReplicaApplication>();
        replica->SetAttribute("ExpeditedDscp", UintegerValue(spec.priority_dscp));
        network.GetReplica(i)->AddApplication(replica);
        m_replicas.push_back(replica);
    }
}

ScenarioReplicas::~ScenarioReplicas() = default;

IcnEid
ScenarioReplicas::AddNdc(uint32_t replica, const std::string& name, uint64_t seed, uint64_t size)
{
    IcnReplicaApplication& application = *m_replicas.at(replica);
    return m_verify ? application.AddSynthetic(seed, size) : application.AddVirtual(name, size);
}

} // namespace ns3
