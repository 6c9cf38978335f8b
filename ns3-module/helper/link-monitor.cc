// SPDX-License-Identifier: GPL-2.0-only

#include "link-monitor.h"

#include <utility>

namespace ns3
{

LinkMonitor::LinkMonitor(const LinkEnd& sender, const LinkEnd& receiver)
    : m_disc(sender.disc),
      m_fifo(sender.device->GetQueue())
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
            stats.nTotalMarkedPackets,
            m_errorLosses,
            m_sentBytes};
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
