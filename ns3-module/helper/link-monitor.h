// SPDX-License-Identifier: GPL-2.0-only

#ifndef LINK_MONITOR_H
#define LINK_MONITOR_H

#include "link-helper.h"

#include "ns3/callback.h"
#include "ns3/packet.h"
#include "ns3/queue.h"

#include <cstdint>
#include <map>
#include <string>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Watches one direction of a link: how long its queue is, and what happened to its packets. The
 * queue is the root queue disc and the device's queue together, since an AQM cannot see the latter
 * but a packet waits in both.
 */
class LinkMonitor
{
  public:
    /// Called with the packets and bytes that wait, whenever they changed.
    using QueueCallback = Callback<void, uint32_t, uint32_t>;

    /// What a direction of a link has counted.
    struct Counters
    {
        uint64_t arrivals;    //!< Packets that came to the queue.
        uint64_t dropped;     //!< Packets that the queue disc dropped.
        uint64_t marked;      //!< Packets that the queue disc marked.
        uint64_t errorLosses; //!< Packets that the error model took.
        uint64_t sentBytes;   //!< Bytes whose transmission started, link header included.
    };

    /**
     * Watches what a sender sends to a receiver. Neither may go before the simulation's end.
     *
     * @param sender The end that sends.
     * @param receiver The other end.
     */
    LinkMonitor(const LinkEnd& sender, const LinkEnd& receiver);

    LinkMonitor(const LinkMonitor&) = delete;
    LinkMonitor& operator=(const LinkMonitor&) = delete;

    /**
     * @param callback Called whenever the queue's length changed.
     */
    void SetQueueCallback(QueueCallback callback);

    /// How many packets were dropped or marked, for each reason.
    using Reasons = std::map<std::string, uint64_t>;

    /**
     * @return What was counted so far.
     */
    Counters GetCounters() const;

    /**
     * @return Why packets were dropped.
     */
    Reasons GetDropReasons() const;

    /**
     * @return Why packets were marked, in IP's or in the transport header.
     */
    Reasons GetMarkReasons() const;

    /**
     * @return The AQM; null with ns-3's FIFO.
     */
    Ptr<FerroccQueueDisc> GetAqm() const;

  private:
    /**
     * A packet entered the queue disc, or was dropped out of it.
     *
     * @param item The packet.
     */
    void OnDiscChange(Ptr<const QueueDiscItem> item);

    /**
     * A packet left the device's queue for the link.
     *
     * @param packet The packet.
     */
    void OnTransmission(Ptr<const Packet> packet);

    /**
     * The error model took a packet.
     *
     * @param packet The packet.
     */
    void OnErrorLoss(Ptr<const Packet> packet);

    /// Tells the callback.
    void Report() const;

    Ptr<QueueDisc> m_disc;       //!< The root queue disc.
    Ptr<Queue<Packet>> m_fifo;   //!< The device's queue.
    Ptr<FerroccQueueDisc> m_aqm; //!< The AQM; null with ns-3's FIFO.
    QueueCallback m_callback;    //!< Called whenever the queue's length changed.
    uint64_t m_errorLosses{0};   //!< Packets that the error model took.
    uint64_t m_sentBytes{0};     //!< Bytes whose transmission started.
};

} // namespace ns3

#endif /* LINK_MONITOR_H */
