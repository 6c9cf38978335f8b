// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_STREAMS_H
#define SCENARIO_STREAMS_H

#include <cstdint>

/**
 * @file
 * @ingroup ferrocc
 *
 * Which streams of random numbers the parts of a scenario draw from. They are given out in fixed
 * blocks, so that one more flow or link does not change what the others draw.
 */

namespace ns3
{

/// Start jitters, one after the other.
constexpr int64_t STREAM_JITTER = 1;
/// Losses and reordering of the links.
constexpr int64_t STREAM_LINKS = 1000;
/// One for each replica's registrations.
constexpr int64_t STREAM_REPLICAS = 500'000;
/// Four for each router and the off-path cache: the cache's, and the binding's or the fetches'.
constexpr int64_t STREAM_ROUTERS = 700'000;
/// One for each session, numbered as the controllers below and far behind them.
constexpr int64_t STREAM_SESSIONS = 1'000'000'000'000;
/// One for each flow's verdicts of a given accuracy.
constexpr int64_t STREAM_VERDICTS = 2'000'000'000'000;
/// Placement and eviction of replayed requests.
constexpr int64_t STREAM_REPLAY = 590'000;
/// One for each flow's choice of NDCs.
constexpr int64_t STREAM_WORKLOAD = 600'000;
/// One for the controller of each flow's first NDC, then as many for the second NDCs, and so on.
constexpr int64_t STREAM_FLOWS = 1'000'000;
/// The most flows of a scenario: the size of these blocks.
constexpr int64_t MAX_FLOWS = 100'000;

} // namespace ns3

#endif /* SCENARIO_STREAMS_H */
