// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_RUNNER_H
#define SCENARIO_RUNNER_H

#include <memory>
#include <string>

namespace ferrocc
{
namespace scenario
{
struct Cell;
} // namespace scenario
} // namespace ferrocc

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Runs one resolved scenario: builds the network and the flows, runs the simulation, and writes
 * the run's output.
 *
 * A process runs one scenario, because ns-3's state is global.
 */
class ScenarioRunner
{
  public:
    /**
     * Prepares a run.
     *
     * @param cell The resolved scenario, which must live as long as this object.
     * @param progress Whether to show progress on stderr, if that is a terminal.
     */
    ScenarioRunner(const ferrocc::scenario::Cell& cell, bool progress);
    ~ScenarioRunner();

    ScenarioRunner(const ScenarioRunner&) = delete;
    ScenarioRunner& operator=(const ScenarioRunner&) = delete;

    /**
     * Asks the run to end soon and to leave nothing behind; may be called by a signal handler.
     */
    static void Interrupt();

    /**
     * Runs it, and writes its output.
     *
     * @return Whether it ran to its end and was not interrupted.
     * @throws std::exception (rust::Error or std::invalid_argument) with a line of text on a
     *         scenario that this build cannot run, or output that cannot be written.
     */
    bool Run();

    /**
     * @return The run's summary as a table, after Run().
     */
    std::string GetTable() const;

  private:
    class Impl;                   //!< Everything behind it.
    std::unique_ptr<Impl> m_impl; //!< See Impl.
};

} // namespace ns3

#endif /* SCENARIO_RUNNER_H */
