// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_NETWORK_H
#define SCENARIO_NETWORK_H

#include "router-line.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ferrocc
{
namespace scenario
{
struct Cell;
struct ReceiverSpec;
struct RunSpec;
} // namespace scenario
} // namespace ferrocc

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * The network of a scenario: receiver nodes, replica nodes, and the routers between them.
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
     * @return The off-path cache's node, or null if there is none.
     */
    Ptr<Node> GetOffPathCache() const;

    /**
     * @return All hosts: the replica nodes, the receiver nodes, and the name server and the
     * off-path cache if there are any.
     */
    std::vector<RouterLine::Host> GetHosts() const;

    /**
     * @return How many routers there are.
     */
    uint32_t GetNRouters() const;

    /**
     * @param index A router's number, from 0 (the receivers').
     * @return Its node.
     */
    Ptr<Node> GetRouter(uint32_t index) const;

    /**
     * @param index A router's number, from 0.
     * @return Its name.
     */
    const std::string& GetRouterName(uint32_t index) const;

    /**
     * @param name A router's name.
     * @return Its number.
     */
    uint32_t FindRouter(const std::string& name) const;

    /**
     * @param router A router's number, from 0.
     * @return Propagation delay between it and the receivers' router, nanoseconds.
     */
    uint64_t GetDelayNs(uint32_t router) const;

    /// The name of the off-path cache.
    static constexpr char OFF_PATH_NAME[] = "R4";

    /// A link between routers.
    struct RouterLink
    {
        const Link& link;                 //!< It; end 0 sends the DATA of forward flows.
        std::string name;                 //!< Its name.
        std::array<std::string, 2> names; //!< The names of the routers at its ends.
    };

    /**
     * @return The links between routers, that of the bottleneck first.
     */
    std::vector<RouterLink> GetRouterLinks() const;

    /**
     * @param index A receiver node's number, from 0.
     * @return The address of its router on its link.
     */
    Address GetEdgeAddress(uint32_t index) const;

    /**
     * @param address An address of a router or a host.
     * @return The name of its node.
     */
    const std::string& GetName(const Address& address) const;

    /**
     * A receiver node changes its router and its address.
     *
     * @param index Its number, from 0.
     * @param fault The number of the fault that says so, from 0.
     */
    void MoveReceiver(uint32_t index, std::size_t fault);

    /**
     * A replica node changes its router and its address.
     *
     * @param index Its number, from 0.
     * @param fault The number of the fault that says so, from 0.
     */
    void MoveReplica(uint32_t index, std::size_t fault);

    /**
     * Takes all links of a router down, or up again.
     *
     * @param router Its number, from 0.
     * @param up Whether they shall be up.
     */
    void SetRouterUp(uint32_t router, bool up);

    /**
     * Assigns fixed stream numbers to the random variables of the links.
     *
     * @param stream The first stream number.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream) const;

  private:
    /// A router.
    struct Router
    {
        std::string name; //!< Its name.
        std::string link; //!< The name of the link to the router before it.
        uint64_t delayNs; //!< Propagation delay to the first router, nanoseconds.
    };

    /**
     * Sets a receiver node's clock, unless it is exact.
     *
     * @param node The node.
     * @param receiver What the scenario says of it.
     */
    static void SetClock(Ptr<Node> node, const ferrocc::scenario::ReceiverSpec& receiver);

    /**
     * Adds the links that hosts move to.
     *
     * @param cell The scenario.
     * @param spec What to run.
     */
    void AddPlaces(const ferrocc::scenario::Cell& cell, const ferrocc::scenario::RunSpec& spec);

    /**
     * Notes the names of all addresses.
     *
     * @param cell The scenario.
     */
    void NoteNames(const ferrocc::scenario::Cell& cell);

    std::vector<Router> m_routers;                    //!< The routers.
    RouterLine m_network;                             //!< The network.
    std::vector<RouterLine::Host> m_replicas;         //!< Replica nodes.
    std::vector<RouterLine::Host> m_receivers;        //!< Receiver nodes.
    RouterLine::Host m_nameServer{};                  //!< The name server, if there is one.
    RouterLine::Host m_offPath{};                     //!< The off-path cache, if there is one.
    std::map<Address, std::string> m_names;           //!< By address: the node's name.
    std::map<std::size_t, RouterLine::Host> m_places; //!< By fault: where a host moves to.
};

} // namespace ns3

#endif /* SCENARIO_NETWORK_H */
