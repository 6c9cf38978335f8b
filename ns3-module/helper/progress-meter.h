// SPDX-License-Identifier: GPL-2.0-only

#ifndef PROGRESS_METER_H
#define PROGRESS_METER_H

#include "ns3/nstime.h"

#include <chrono>
#include <string>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Shows on stderr how far a simulation is and when it will be done. It looks at the wall clock a
 * few hundred times per run and changes nothing in the simulation's results.
 */
class ProgressMeter
{
  public:
    /**
     * @param label What is run.
     * @param duration How long the simulation is.
     */
    ProgressMeter(std::string label, Time duration);

    /// Starts to show, from within the simulation. Nothing happens if stderr is no terminal.
    void Start();

    /// Removes what was shown.
    void Finish();

  private:
    /// Shows the state if that is due, and comes again.
    void Update();

    using Clock = std::chrono::steady_clock; //!< The wall clock.

    std::string m_label;       //!< What is run.
    Time m_duration;           //!< How long the simulation is.
    Clock::time_point m_start; //!< When it started.
    Clock::time_point m_shown; //!< When the line was last shown.
    bool m_active{false};      //!< Whether anything is shown.
};

} // namespace ns3

#endif /* PROGRESS_METER_H */
