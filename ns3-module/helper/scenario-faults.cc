// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-faults.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "scenario-flows.h"
#include "scenario-network.h"
#include "scenario-replicas.h"
#include "scenario-routers.h"

#include "ns3/icn-name-server-application.h"
#include "ns3/icn-replica-application.h"
#include "ns3/simulator.h"

namespace ns3
{

struct ScenarioFaults::List
{
    rust::Vec<ferrocc::scenario::FaultSpec> faults; //!< They.
};

ScenarioFaults::ScenarioFaults(const ferrocc::scenario::Cell& cell,
                               ScenarioNetwork& network,
                               ScenarioReplicas& replicas)
    : m_list(std::make_unique<List>(List{cell.faults()})),
      m_network(network),
      m_replicas(replicas),
      m_flows(nullptr)
{
    for (std::size_t i = 0; i < m_list->faults.size(); i++)
    {
        Simulator::Schedule(NanoSeconds(static_cast<int64_t>(m_list->faults[i].at_ns)),
                            &ScenarioFaults::OnFault,
                            this,
                            i);
    }
}

ScenarioFaults::~ScenarioFaults() = default;

void
ScenarioFaults::SetFlows(ScenarioFlows& flows)
{
    m_flows = &flows;
}

void
ScenarioFaults::OnFault(std::size_t number)
{
    const auto& fault = m_list->faults[number];
    const auto replica = [&] { return m_replicas.GetApplication(fault.target); };
    if (fault.kind == "name-server-fail")
    {
        m_replicas.GetNameServer()->Fail();
    }
    else if (fault.kind == "name-server-restore")
    {
        m_replicas.GetNameServer()->Restore();
    }
    else if (fault.kind == "replica-fail")
    {
        replica()->Fail();
    }
    else if (fault.kind == "replica-vanish")
    {
        replica()->Vanish();
    }
    else if (fault.kind == "replica-slow")
    {
        replica()->Slow(NanoSeconds(static_cast<int64_t>(fault.delay_ns)),
                        DataRate(fault.rate_bps));
    }
    else if (fault.kind == "replica-restore")
    {
        replica()->Restore();
    }
    else if (fault.kind == "router-restart")
    {
        RestartRouter(fault.target, fault.outage_ns);
    }
    else if (fault.kind == "cache-evict")
    {
        m_replicas.GetRouters().EvictAll(fault.target);
    }
    else if (fault.kind == "replica-move")
    {
        m_network.MoveReplica(fault.target, number);
        m_replicas.NotifyMove(fault.target);
    }
    else
    {
        m_network.MoveReceiver(fault.target, number);
        m_flows->NotifyMove(fault.target);
    }
}

void
ScenarioFaults::RestartRouter(uint32_t router, uint64_t outageNs)
{
    m_network.SetRouterUp(router, false);
    m_replicas.GetRouters().Restart(router);
    Simulator::Schedule(NanoSeconds(static_cast<int64_t>(outageNs)),
                        &ScenarioNetwork::SetRouterUp,
                        &m_network,
                        router,
                        true);
}

} // namespace ns3
