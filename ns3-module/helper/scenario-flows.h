// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_FLOWS_H
#define SCENARIO_FLOWS_H

#include "ns3/event-id.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ferrocc
{
namespace scenario
{
struct Cell;
struct RunSpec;
} // namespace scenario

namespace trace
{
struct RunWriter;
} // namespace trace
} // namespace ferrocc

namespace ns3
{

class ScenarioNetwork;
class ScenarioReplicas;

/**
 * @ingroup ferrocc
 *
 * The transfers of a scenario, and their part of its output.
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
     * @param writer The output.
     */
    ScenarioFlows(const ferrocc::scenario::Cell& cell,
                  const ferrocc::scenario::RunSpec& spec,
                  const ScenarioNetwork& network,
                  ScenarioReplicas& replicas,
                  ferrocc::trace::RunWriter& writer);
    ~ScenarioFlows();

    ScenarioFlows(const ScenarioFlows&) = delete;
    ScenarioFlows& operator=(const ScenarioFlows&) = delete;

    /// Writes a row for each transfer that goes on.
    void Sample();

    /// Writes the last states.
    void Finish();

  private:
    class Flow; //!< A transfer.

    /// A transfer has ended.
    void OnEnd();
    /// Sees to it that the delivered bytes are told when the output wants to know them.
    void ScheduleBin();
    /// Tells the delivered bytes of all flows, for the fairness between them.
    void OnBin();

    const ferrocc::scenario::RunSpec& m_spec;   //!< What to run.
    ferrocc::trace::RunWriter& m_writer;        //!< The output.
    std::vector<std::unique_ptr<Flow>> m_flows; //!< The transfers.
    std::vector<uint64_t> m_delivered;          //!< Delivered bytes by flow.
    EventId m_bin;                              //!< The next call of OnBin.
};

} // namespace ns3

#endif /* SCENARIO_FLOWS_H */
