// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-links.h"

#include "ferrocc-ffi/src/trace.rs.h"

#include "ns3/simulator.h"

namespace ns3
{

namespace
{

/**
 * @param counters What a monitor counted.
 * @return The same for the output.
 */
ferrocc::trace::LinkCounters
ToTrace(const LinkMonitor::Counters& counters)
{
    return {counters.arrivals,
            counters.dropped,
            counters.marked,
            counters.errorLosses,
            counters.sentBytes};
}

} // namespace

ScenarioLinks::ScenarioLinks(ferrocc::trace::RunWriter& writer)
    : m_writer(writer)
{
}

void
ScenarioLinks::Watch(const std::vector<ScenarioNetwork::RouterLink>& links, DataRate rate)
{
    for (std::size_t sender = 0; sender < 2; sender++)
    {
        for (const auto& [link, name, names] : links)
        {
            ferrocc::trace::LinkInfo info;
            info.name = sender == 0 ? name : name + "-reverse";
            info.from = names[sender];
            info.to = names[1 - sender];
            info.rate_bps = rate.GetBitRate();
            const uint32_t index = m_writer.add_link(info);
            m_directions.push_back(std::unique_ptr<Direction>(
                new Direction{m_writer, index, {link.ends[sender], link.ends[1 - sender]}}));
            Direction& direction = *m_directions.back();
            direction.monitor.SetQueueCallback(MakeCallback(&Direction::OnQueue, &direction));
        }
    }
}

void
ScenarioLinks::Sample()
{
    const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
    for (const auto& direction : m_directions)
    {
        m_writer.sample_link(direction->index, now, ToTrace(direction->monitor.GetCounters()));
    }
}

void
ScenarioLinks::Finish()
{
    for (const auto& direction : m_directions)
    {
        m_writer.finish_link(direction->index, ToTrace(direction->monitor.GetCounters()));
    }
}

void
ScenarioLinks::Direction::OnQueue(uint32_t packets, uint32_t bytes)
{
    const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
    writer.on_queue(index, now, packets, bytes);
}

} // namespace ns3
