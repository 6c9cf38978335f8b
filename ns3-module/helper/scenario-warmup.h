// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_WARMUP_H
#define SCENARIO_WARMUP_H

#include "ns3/ptr.h"

#include <vector>

namespace ferrocc
{
namespace scenario
{
struct RunSpec;
} // namespace scenario

namespace trace
{
struct RunWriter;
} // namespace trace
} // namespace ferrocc

namespace ns3
{

class ScenarioCatalogue;
class ScenarioReplicas;
class UniformRandomVariable;

/**
 * @ingroup ferrocc
 *
 * Fills the caches of a scenario without packets: makes the clients' warm-up requests, in turns,
 * one of each client, on a model of the caches, and puts into the routers' caches what is then in
 * the model. The clients go on from there.
 *
 * @param spec What to run.
 * @param catalogue The NDCs.
 * @param replicas The caches.
 * @param choices What each client chooses its NDCs with.
 * @param writer The output.
 */
void ReplayWarmup(const ferrocc::scenario::RunSpec& spec,
                  const ScenarioCatalogue& catalogue,
                  const ScenarioReplicas& replicas,
                  const std::vector<Ptr<UniformRandomVariable>>& choices,
                  ferrocc::trace::RunWriter& writer);

} // namespace ns3

#endif /* SCENARIO_WARMUP_H */
