// SPDX-License-Identifier: GPL-2.0-only

#ifndef TOPO1_HELPER_H
#define TOPO1_HELPER_H

#include "router-line.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Topo-1 of the Copa-ICN paper: receivers RE1..REn share the bottleneck between the routers IR1
 * and IR2 on their way to the replica RN.
 *
 * @code
 *   RE1 ---\                                 .
 *   RE2 ---- IR1 ===bottleneck=== IR2 --- RN .
 *   REn ---/                                 .
 * @endcode
 *
 * Installs nodes, stacks, links, addresses and routes.
 */
class Topo1Helper
{
  public:
    /// What the network is like.
    struct Config
    {
        uint32_t receivers{1};          //!< Receiver nodes.
        bool ipv6{false};               //!< Whether IPv6 is used instead of IPv4.
        LinkSpec bottleneck;            //!< Link between IR2 (end 0) and IR1 (end 1).
        DataRate accessRate{"1Gbps"};   //!< Rate of all other links.
        Time receiverDelay;             //!< Propagation delay of the links to the receivers.
        Time replicaDelay;              //!< Propagation delay of the link to the replica.
        uint32_t deviceQueuePackets{2}; //!< Limit of the queues in those links' devices.
        uint16_t mtu{1500};             //!< Largest IP packet on those links, bytes.
    };

    /**
     * Builds the network.
     *
     * @param config What it is like.
     */
    explicit Topo1Helper(const Config& config);

    /**
     * @param index A receiver's number, from 0.
     * @return Its node.
     */
    Ptr<Node> GetReceiver(uint32_t index) const;

    /**
     * @return The replica's node.
     */
    Ptr<Node> GetReplica() const;

    /**
     * @return Where to send REQs.
     */
    Address GetReplicaAddress() const;

    /**
     * @return The bottleneck; end 0 sends the DATA.
     */
    const Link& GetBottleneck() const;

    /**
     * @return All links.
     */
    const std::vector<Link>& GetLinks() const;

    /**
     * Assigns fixed stream numbers to the random variables of the links.
     *
     * @param stream The first stream number.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream) const;

  private:
    RouterLine m_network;                      //!< The network.
    RouterLine::Host m_replica;                //!< RN.
    std::vector<RouterLine::Host> m_receivers; //!< RE1..REn.
};

} // namespace ns3

#endif /* TOPO1_HELPER_H */
