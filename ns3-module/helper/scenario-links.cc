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

/**
 * @param reasons Counts by reason.
 * @return The same for the output.
 */
rust::Vec<ferrocc::trace::ReasonCount>
ToTrace(const LinkMonitor::Reasons& reasons)
{
    rust::Vec<ferrocc::trace::ReasonCount> counts;
    for (const auto& [reason, packets] : reasons)
    {
        counts.push_back({reason, packets});
    }
    return counts;
}

/**
 * @param kind What a packet is.
 * @return Its name in the output.
 */
rust::Str
ToName(FerroccQueueDisc::PacketKind kind)
{
    switch (kind)
    {
    case FerroccQueueDisc::PacketKind::DATA:
        return "data";
    case FerroccQueueDisc::PacketKind::REQUEST:
        return "req";
    case FerroccQueueDisc::PacketKind::OTHER:
        break;
    }
    return "other";
}

} // namespace

ScenarioLinks::ScenarioLinks(ferrocc::trace::RunWriter& writer, bool decisions)
    : m_writer(writer),
      m_decisions(decisions)
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
            if (const auto aqm = direction.monitor.GetAqm(); aqm && m_decisions)
            {
                aqm->TraceConnectWithoutContext("Decision",
                                                MakeCallback(&Direction::OnDecision, &direction));
            }
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
        const LinkMonitor& monitor = direction->monitor;
        m_writer.finish_link(direction->index,
                             ToTrace(monitor.GetCounters()),
                             ToTrace(monitor.GetDropReasons()),
                             ToTrace(monitor.GetMarkReasons()));
    }
}

void
ScenarioLinks::Direction::OnQueue(uint32_t packets, uint32_t bytes)
{
    const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
    writer.on_queue(index, now, packets, bytes);
}

void
ScenarioLinks::Direction::OnDecision(Ptr<const QueueDiscItem> item,
                                     const FerroccQueueDisc::Decision& decision)
{
    const std::vector<double>& state = monitor.GetAqm()->GetState();
    writer.on_decision(index,
                       {static_cast<uint64_t>(Simulator::Now().GetNanoSeconds()),
                        decision.dequeue ? "dequeue" : "enqueue",
                        ToName(FerroccQueueDisc::GetKind(*item)),
                        item->GetSize(),
                        static_cast<uint64_t>(decision.sojourn.GetNanoSeconds()),
                        decision.verdict,
                        decision.reason,
                        {state.data(), state.size()}});
}

} // namespace ns3
