// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_FLOWS_H
#define SCENARIO_FLOWS_H

#include "scenario-flow.h"

#include "ns3/event-id.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ferrocc
{
namespace scenario
{
struct Cell;
} // namespace scenario
} // namespace ferrocc

namespace ns3
{

class ScenarioDrops;

/**
 * @ingroup ferrocc
 *
 * The transfers of a scenario, what concerns them together, and the end of the run.
 */
class ScenarioFlows
{
  public:
    /**
     * Builds and schedules the transfers. Everything given must live as long as this object.
     *
     * @param cell The scenario.
     * @param spec What to run.
     * @param network The network.
     * @param replicas The replicas, which get the content.
     * @param catalogue What the workload asks for, or null without one.
     * @param writer The output.
     */
    ScenarioFlows(const ferrocc::scenario::Cell& cell,
                  const ferrocc::scenario::RunSpec& spec,
                  const ScenarioNetwork& network,
                  ScenarioReplicas& replicas,
                  const ScenarioCatalogue* catalogue,
                  ferrocc::trace::RunWriter& writer);
    ~ScenarioFlows();

    ScenarioFlows(const ScenarioFlows&) = delete;
    ScenarioFlows& operator=(const ScenarioFlows&) = delete;

    /**
     * A receiver node has another router and another address.
     *
     * @param receiver Its number, from 0.
     */
    void NotifyMove(uint32_t receiver);

    /// Writes a row for each transfer that goes on.
    void Sample();

    /// Writes the last states; the simulation is over.
    void Finish();

  private:
    struct Specs; //!< What the transfers do.

    /// A transmission is lost. @param flow Whose it is. @param number Its number. @param inQueue
    /// Whether a queue dropped it; else an error model took it.
    void OnLoss(uint32_t flow, uint64_t number, bool inQueue);
    /// A transfer has started or ended.
    void OnChange();
    /// Sees to it that the delivered bytes are told when the output wants to know them.
    void ScheduleBin();
    /// Tells the delivered bytes of all flows, for the fairness between them.
    void OnBin();

    std::unique_ptr<Specs> m_specs;                         //!< What the transfers do.
    ScenarioFlow::Environment m_environment;                //!< What they share.
    std::vector<std::unique_ptr<ScenarioTransfer>> m_flows; //!< The transfers.
    std::unique_ptr<ScenarioDrops> m_drops;                 //!< Losses, if flows want to know them.
    std::vector<uint64_t> m_delivered;                      //!< Delivered bytes by flow.
    EventId m_bin;                                          //!< The next call of OnBin.
};

} // namespace ns3

#endif /* SCENARIO_FLOWS_H */
