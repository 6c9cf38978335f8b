// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_NETWORK_H
#define SCENARIO_NETWORK_H

#include "bottleneck-network.h"

#include <cstdint>
#include <vector>

namespace ferrocc
{
namespace scenario
{
struct Cell;
struct RunSpec;
} // namespace scenario
} // namespace ferrocc

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * The network of a scenario: receiver nodes, replica nodes, and what is between them.
 */
class ScenarioNetwork
{
  public:
    /**
     * Builds the network.
     *
     * @param cell The scenario.
     * @param spec What to run.
     */
    ScenarioNetwork(const ferrocc::scenario::Cell& cell, const ferrocc::scenario::RunSpec& spec);

    /**
     * @return How many receiver nodes there are.
     */
    uint32_t GetNReceivers() const;

    /**
     * @param index A receiver node's number, from 0.
     * @return The node.
     */
    Ptr<Node> GetReceiver(uint32_t index) const;

    /**
     * @param index A receiver node's number, from 0.
     * @return Its address.
     */
    Address GetReceiverAddress(uint32_t index) const;

    /**
     * @return How many replica nodes there are.
     */
    uint32_t GetNReplicas() const;

    /**
     * @param index A replica node's number, from 0.
     * @return The node.
     */
    Ptr<Node> GetReplica(uint32_t index) const;

    /**
     * @param index A replica node's number, from 0.
     * @return Where to send REQs.
     */
    Address GetReplicaAddress(uint32_t index) const;

    /**
     * @return The name server's node, or null if there is none.
     */
    Ptr<Node> GetNameServer() const;

    /**
     * @return The name server's address; an invalid one if there is none.
     */
    Address GetNameServerAddress() const;

    /**
     * @return All hosts: the replica nodes, the receiver nodes, and the name server if there is
     * one.
     */
    std::vector<BottleneckNetwork::Host> GetHosts() const;

    /**
     * @param side Which router.
     * @return Its node.
     */
    Ptr<Node> GetRouter(BottleneckNetwork::Side side) const;

    /**
     * @return The bottleneck; end 0 sends the DATA of forward flows.
     */
    const Link& GetBottleneck() const;

    /**
     * Assigns fixed stream numbers to the random variables of the links.
     *
     * @param stream The first stream number.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream) const;

  private:
    BottleneckNetwork m_network;                      //!< The network.
    std::vector<BottleneckNetwork::Host> m_replicas;  //!< Replica nodes.
    std::vector<BottleneckNetwork::Host> m_receivers; //!< Receiver nodes.
    BottleneckNetwork::Host m_nameServer{};           //!< The name server, if there is one.
};

} // namespace ns3

#endif /* SCENARIO_NETWORK_H */
