// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-warmup.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "ferrocc-ffi/src/trace.rs.h"
#include "ferrocc-ffi/src/workload.rs.h"
#include "scenario-catalogue.h"
#include "scenario-replicas.h"
#include "scenario-routers.h"
#include "scenario-streams.h"

#include "ns3/icn-router-cache-application.h"
#include "ns3/node.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <array>
#include <map>

namespace ns3
{

void
ReplayWarmup(const ferrocc::scenario::RunSpec& spec,
             const ScenarioCatalogue& catalogue,
             const ScenarioReplicas& replicas,
             const std::vector<Ptr<UniformRandomVariable>>& choices,
             ferrocc::trace::RunWriter& writer)
{
    const auto& caches = replicas.GetRouters().GetCaches();
    ferrocc::workload::PathConfig config;
    config.caches = static_cast<uint32_t>(caches.size());
    config.capacity_bytes = spec.cache_capacity_bytes;
    config.capacity_ndcs = spec.cache_capacity_ndcs;
    config.assembly_bytes = spec.cache_assembly_bytes;
    config.policy = spec.cache_policy;
    config.placement = spec.cache_placement;
    config.probability = spec.cache_probability;
    auto replay = ferrocc::workload::new_replay(config);

    auto draw = CreateObject<UniformRandomVariable>();
    draw->SetStream(STREAM_REPLAY);
    const uint64_t size = spec.workload.ndc_bytes;
    std::vector<double> draws(replay->draw_count());
    std::vector<uint64_t> hits(choices.size());
    for (uint32_t request = 0; request < spec.workload.warmup; request++)
    {
        for (std::size_t client = 0; client < choices.size(); client++)
        {
            const uint32_t rank = catalogue.Choose(choices[client]->GetValue(0.0, 1.0));
            std::generate(draws.begin(), draws.end(), [&] { return draw->GetValue(0.0, 1.0); });
            const uint32_t served =
                replay->fetch({catalogue.GetEid(rank).bytes}, size, {draws.data(), draws.size()});
            hits[client] += served < caches.size() ? 1 : 0;
        }
    }
    for (std::size_t client = 0; client < choices.size(); client++)
    {
        writer.on_replay(static_cast<uint32_t>(client), spec.workload.warmup, hits[client]);
    }

    std::map<std::array<uint8_t, IcnEid::SIZE>, uint32_t> ranks;
    for (uint32_t rank = 0; rank < spec.workload.catalogue; rank++)
    {
        ranks[catalogue.GetEid(rank).bytes] = rank;
    }
    for (uint32_t i = 0; i < caches.size(); i++)
    {
        for (const auto& ndc : replay->contents(i))
        {
            const uint64_t seed = ScenarioCatalogue::GetSeed(spec, ranks.at(ndc.bytes));
            // The first to go first: so the cache's order is the model's. When it runs.
            Simulator::ScheduleWithContext(caches[i].assembler->GetNode()->GetId(),
                                           NanoSeconds(1),
                                           &IcnRouterCacheApplication::Preload,
                                           caches[i].assembler,
                                           IcnEid{ndc.bytes},
                                           size,
                                           seed);
        }
    }
}

} // namespace ns3
