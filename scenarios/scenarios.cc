// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * @ingroup ferrocc
 *
 * The runner of scenarios. `--help` tells the options.
 */

#include "ns3/scenario-program.h"

#include <string>
#include <vector>

int
main(int argc, char* argv[])
{
    return ns3::RunScenarioProgram(std::vector<std::string>(argv + 1, argv + argc));
}
