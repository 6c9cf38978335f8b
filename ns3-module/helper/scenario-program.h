// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_PROGRAM_H
#define SCENARIO_PROGRAM_H

#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * The runner program: reads a command line, resolves the scenario, and runs it. The runs of a
 * sweep are child processes, several at once, because ns-3's state is global; it must not be in
 * use when this is called.
 *
 * @param arguments The command line without the program's name; `--help` tells what there is.
 * @return The exit code: 0 all done, 2 bad input (one line on stderr, nothing written), 3 a run
 *         failed.
 */
int RunScenarioProgram(const std::vector<std::string>& arguments);

} // namespace ns3

#endif /* SCENARIO_PROGRAM_H */
