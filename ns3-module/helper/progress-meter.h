// SPDX-License-Identifier: GPL-2.0-only

#ifndef PROGRESS_METER_H
#define PROGRESS_METER_H

#include "ns3/nstime.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Shows on stderr how far a simulation is and when it will be done, and stops it if the user wants
 * that. It looks at both a few hundred times per run and changes nothing in the simulation's
 * results.
 */
class ProgressMeter
{
  public:
    /**
     * @param label What is run.
     * @param duration How long the simulation is.
     */
    ProgressMeter(std::string label, Time duration);

    /**
     * Starts, before the simulation runs.
     *
     * @param show Whether to show anything, if stderr is a terminal.
     */
    void Start(bool show);

    /**
     * Asks the simulation to end soon; may be called by a signal handler.
     */
    static void Interrupt();

    /**
     * @return Whether Interrupt() was called.
     */
    static bool IsInterrupted();

    /// Removes what was shown.
    void Finish();

    /**
     * @return How many simulator events were ours, so that results do not depend on the terminal.
     */
    uint64_t GetEvents() const;

  private:
    /// Stops or shows the state, if that is due, and comes again.
    void Update();

    /// Shows the state, if that is due.
    void Show();

    using Clock = std::chrono::steady_clock; //!< The wall clock.

    std::string m_label;       //!< What is run.
    Time m_duration;           //!< How long the simulation is.
    Clock::time_point m_start; //!< When it started.
    Clock::time_point m_shown; //!< When the line was last shown.
    uint64_t m_events{0};      //!< Our simulator events.
    bool m_active{false};      //!< Whether anything is shown.
};

} // namespace ns3

#endif /* PROGRESS_METER_H */
