// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_LINKS_H
#define SCENARIO_LINKS_H

#include "link-monitor.h"
#include "scenario-network.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ferrocc
{
namespace trace
{
struct RunWriter;
} // namespace trace
} // namespace ferrocc

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * The directions of links that a scenario watches, and their part of its output.
 */
class ScenarioLinks
{
  public:
    /**
     * Watches nothing yet.
     *
     * @param writer The output.
     * @param decisions Whether to write what AQMs decide about each packet.
     */
    explicit ScenarioLinks(ferrocc::trace::RunWriter& writer, bool decisions = false);

    /**
     * Watches both directions of the links between routers: first all directions of DATA of forward
     * flows, beginning with the bottleneck, then those of REQs, whose names end in "-reverse".
     *
     * @param links The links.
     * @param rate Their rate.
     */
    void Watch(const std::vector<ScenarioNetwork::RouterLink>& links, DataRate rate);

    /// Writes a row for each direction.
    void Sample();

    /// Writes the last counters.
    void Finish();

  private:
    /// A watched direction.
    struct Direction
    {
        ferrocc::trace::RunWriter& writer; //!< The output.
        uint32_t index;                    //!< Its number in the output.
        LinkMonitor monitor;               //!< What watches it.

        /// The queue changed. @param packets How many wait. @param bytes How many bytes.
        void OnQueue(uint32_t packets, uint32_t bytes);

        /**
         * The AQM decided about a packet.
         *
         * @param item The packet.
         * @param decision What was decided.
         */
        void OnDecision(Ptr<const QueueDiscItem> item, const FerroccQueueDisc::Decision& decision);
    };

    ferrocc::trace::RunWriter& m_writer;                  //!< The output.
    bool m_decisions;                                     //!< Whether decisions are written.
    std::vector<std::unique_ptr<Direction>> m_directions; //!< The watched directions.
};

} // namespace ns3

#endif /* SCENARIO_LINKS_H */
