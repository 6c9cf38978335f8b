// SPDX-License-Identifier: GPL-2.0-only

#ifndef LINK_HELPER_H
#define LINK_HELPER_H

#include "ns3/address.h"
#include "ns3/data-rate.h"
#include "ns3/error-model.h"
#include "ns3/ferrocc-queue-disc.h"
#include "ns3/nstime.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"

#include <array>
#include <cstdint>
#include <string>

namespace ns3
{

class Node;

/**
 * @ingroup ferrocc
 *
 * What a point-to-point link between two routers or hosts is like; both directions are equal
 * except for losses and reordering.
 */
struct LinkSpec
{
    DataRate rate{"1Gbps"};          //!< Rate.
    Time delay;                      //!< Propagation delay, one way.
    Time extraDelayReverse;          //!< Added to it for what end 1 sends.
    std::string buffer{"100000p"};   //!< Limit of the (best-effort) queue, packets or bytes.
    uint32_t deviceQueuePackets{2};  //!< Limit of the queue in the device below.
    uint16_t mtu{1500};              //!< Largest IP packet, bytes.
    std::string aqm;                 //!< AQM of that queue, by name; empty: ns-3's FIFO.
    std::string aqmParameters{"{}"}; //!< Its parameters, a JSON object.
    /// Whether end 0 and end 1 are ICN routers, whose AQM may mark DATA in its transport header.
    std::array<bool, 2> icnRouter{true, true};
    /// Whether end 0 and end 1 have the queue that is described; else a long FIFO.
    std::array<bool, 2> managed{true, true};
    bool priority{false};         //!< Whether packets with the codepoint go first.
    uint8_t dscp{46};             //!< The codepoint (EF).
    std::array<double, 2> loss{}; //!< Loss probability of what end 0 and what end 1 sends.
    double reorder{0};            //!< Probability that a packet of end 0 is held back.
    Time reorderDelay;            //!< Mean extra delay of a packet that is held back.
};

/**
 * @ingroup ferrocc
 *
 * One end of a link.
 */
struct LinkEnd
{
    Ptr<PointToPointNetDevice> device; //!< The device.
    Ptr<QueueDisc> disc;               //!< Its root queue disc.
    Ptr<FerroccQueueDisc> aqm;         //!< The AQM in it; null with ns-3's FIFO.
    Address address;                   //!< Its IPv4 address; its IPv6 one if it has only that.
    uint32_t interface;                //!< The interface of that IP version.
};

/**
 * @ingroup ferrocc
 *
 * A link.
 */
struct Link
{
    std::array<LinkEnd, 2> ends;           //!< Both ends.
    Ptr<PointToPointChannel> channel;      //!< The channel.
    std::array<Ptr<ErrorModel>, 2> errors; //!< What each end loses of what it receives, or null.
};

/**
 * @ingroup ferrocc
 *
 * Builds links with all that ns-3 would else choose by itself: explicit queue discs (not FqCoDel),
 * short device queues, addresses without ns-3's search for duplicates.
 */
class LinkHelper
{
  public:
    /**
     * Links two nodes, in the next free network: a /30 of 10.0.0.0/8, a /64 of fd00::/8 (RFC 4193),
     * or both, as the nodes have IPv4, IPv6, or both.
     *
     * @param a The node of end 0, with an internet stack.
     * @param b The node of end 1, with an internet stack.
     * @param spec What the link is like.
     * @return The link.
     */
    Link Install(Ptr<Node> a, Ptr<Node> b, const LinkSpec& spec);

    /**
     * Takes a link down, so that everything sent on it is lost (and counted as the error model's
     * losses), or up again.
     *
     * @param link The link.
     * @param up Whether it shall be up.
     */
    static void SetUp(const Link& link, bool up);

    /**
     * Assigns fixed stream numbers to the random variables of a link's losses and reordering, and
     * AQM_STREAMS behind them to those of its AQMs.
     *
     * @param link The link.
     * @param stream The first stream number.
     * @return How many streams were assigned, without the AQMs'.
     */
    static int64_t AssignStreams(const Link& link, int64_t stream);

    /// How far the streams of the AQMs are behind the others, so that they take none of them.
    static constexpr int64_t AQM_STREAMS = 200'000;

  private:
    uint32_t m_networks{0}; //!< Networks that are taken.
};

} // namespace ns3

#endif /* LINK_HELPER_H */
