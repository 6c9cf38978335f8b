// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_FAULTS_H
#define SCENARIO_FAULTS_H

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ferrocc
{
namespace scenario
{
struct Cell;
} // namespace scenario
} // namespace ferrocc

namespace ns3
{

class ScenarioFlows;
class ScenarioNetwork;
class ScenarioReplicas;

/**
 * @ingroup ferrocc
 *
 * What goes wrong in a scenario, and when: replicas, routers and the name server fail, hosts move.
 */
class ScenarioFaults
{
  public:
    /**
     * Schedules the faults.
     *
     * @param cell The scenario.
     * @param network The network.
     * @param replicas The replicas and what the routers do.
     */
    ScenarioFaults(const ferrocc::scenario::Cell& cell,
                   ScenarioNetwork& network,
                   ScenarioReplicas& replicas);
    ~ScenarioFaults();

    ScenarioFaults(const ScenarioFaults&) = delete;
    ScenarioFaults& operator=(const ScenarioFaults&) = delete;

    /**
     * Sets who learns that their receiver node has moved.
     *
     * @param flows The transfers.
     */
    void SetFlows(ScenarioFlows& flows);

  private:
    /**
     * Something goes wrong now.
     *
     * @param number The fault's number, from 0.
     */
    void OnFault(std::size_t number);

    /**
     * A router restarts.
     *
     * @param router Its number.
     * @param outageNs How long its links are down, nanoseconds.
     */
    void RestartRouter(uint32_t router, uint64_t outageNs);

    /// What goes wrong; its type is known to the source file only.
    struct List;

    std::unique_ptr<List> m_list; //!< What goes wrong.
    ScenarioNetwork& m_network;   //!< The network.
    ScenarioReplicas& m_replicas; //!< The replicas.
    ScenarioFlows* m_flows;       //!< The transfers, or null.
};

} // namespace ns3

#endif /* SCENARIO_FAULTS_H */
