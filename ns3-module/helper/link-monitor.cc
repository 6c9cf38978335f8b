// SPDX-License-Identifier: GPL-2.0-only

#include "link-monitor.h"

#include <utility>

namespace ns3
{

namespace
{

/**
 * Adds counts of a queue disc to others.
 *
 * @param reasons The others.
 * @param counts The counts, by reason.
 * @param child What a root queue disc puts before a child's reason.
 */
template <typename Counts>
void
Add(LinkMonitor::Reasons& reasons, const Counts& counts, const std::string& child)
{
    for (const auto& [reason, count] : counts)
    {
        const bool inherited = reason.compare(0, child.size(), child) == 0;
        reasons[inherited ? reason.substr(child.size()) : reason] += count;
    }
}

} // namespace

LinkMonitor::LinkMonitor(const LinkEnd& sender, const LinkEnd& receiver)
    : m_disc(sender.disc),
      m_fifo(sender.device->GetQueue()),
      m_aqm(sender.aqm)
{
    m_disc->TraceConnectWithoutContext("Enqueue", MakeCallback(&LinkMonitor::OnDiscChange, this));
    m_fifo->TraceConnectWithoutContext("Dequeue", MakeCallback(&LinkMonitor::OnTransmission, this));
    receiver.device->TraceConnectWithoutContext("PhyRxDrop",
                                                MakeCallback(&LinkMonitor::OnErrorLoss, this));
}

void
LinkMonitor::SetQueueCallback(QueueCallback callback)
{
    m_callback = std::move(callback);
}

LinkMonitor::Counters
LinkMonitor::GetCounters() const
{
    const QueueDisc::Stats& stats = m_disc->GetStats();
    return {stats.nTotalReceivedPackets,
            stats.nTotalDroppedPackets,
            stats.nTotalMarkedPackets + (m_aqm ? m_aqm->GetNTransportMarks() : 0),
            m_errorLosses,
            m_sentBytes};
}

LinkMonitor::Reasons
LinkMonitor::GetDropReasons() const
{
    Reasons reasons;
    const QueueDisc::Stats& stats = m_disc->GetStats();
    Add(reasons, stats.nDroppedPacketsBeforeEnqueue, QueueDisc::CHILD_QUEUE_DISC_DROP);
    Add(reasons, stats.nDroppedPacketsAfterDequeue, QueueDisc::CHILD_QUEUE_DISC_DROP);
    return reasons;
}

LinkMonitor::Reasons
LinkMonitor::GetMarkReasons() const
{
    Reasons reasons;
    Add(reasons, m_disc->GetStats().nMarkedPackets, QueueDisc::CHILD_QUEUE_DISC_MARK);
    if (m_aqm)
    {
        Add(reasons, m_aqm->GetTransportMarks(), QueueDisc::CHILD_QUEUE_DISC_MARK);
    }
    return reasons;
}

Ptr<FerroccQueueDisc>
LinkMonitor::GetAqm() const
{
    return m_aqm;
}

void
LinkMonitor::OnDiscChange(Ptr<const QueueDiscItem> /* item */)
{
    Report();
}

void
LinkMonitor::OnTransmission(Ptr<const Packet> packet)
{
    m_sentBytes += packet->GetSize();
    Report();
}

void
LinkMonitor::OnErrorLoss(Ptr<const Packet> /* packet */)
{
    m_errorLosses++;
}

void
LinkMonitor::Report() const
{
    if (!m_callback.IsNull())
    {
        m_callback(m_disc->GetNPackets() + m_fifo->GetNPackets(),
                   m_disc->GetNBytes() + m_fifo->GetNBytes());
    }
}

} // namespace ns3
