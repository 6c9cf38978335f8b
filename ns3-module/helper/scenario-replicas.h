// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_REPLICAS_H
#define SCENARIO_REPLICAS_H

#include "ns3/address.h"
#include "ns3/icn-eid.h"
#include "ns3/icn-locator.h"
#include "ns3/ptr.h"

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ferrocc
{
namespace scenario
{
struct Cell;
struct FlowSpec;
struct RunSpec;
} // namespace scenario

namespace trace
{
struct RunWriter;
} // namespace trace
} // namespace ferrocc

namespace ns3
{

class IcnNameServerApplication;
class IcnReplicaApplication;
class ScenarioNetwork;
class ScenarioRouters;

/**
 * @ingroup ferrocc
 *
 * Where the NDCs of a scenario are and how receivers learn it: replicas, routers that become
 * replicas, and the name server.
 */
class ScenarioReplicas
{
  public:
    /**
     * Puts applications on replica nodes, routers and the name server's node.
     *
     * @param cell The scenario.
     * @param spec What to run.
     * @param network The network.
     */
    ScenarioReplicas(const ferrocc::scenario::Cell& cell,
                     const ferrocc::scenario::RunSpec& spec,
                     const ScenarioNetwork& network);
    ~ScenarioReplicas();

    ScenarioReplicas(const ScenarioReplicas&) = delete;
    ScenarioReplicas& operator=(const ScenarioReplicas&) = delete;

    /**
     * Adds an NDC to the replicas of a flow.
     *
     * @param flow The flow.
     * @param name Its name, unique.
     * @param seed Seed of its bytes, if they are real.
     * @return Its EID.
     */
    IcnEid AddNdc(const ferrocc::scenario::FlowSpec& flow, const std::string& name, uint64_t seed);

    /**
     * Puts an NDC on every replica node; the name server knows it from the start, if the node is
     * registered.
     *
     * @param name Its name, unique.
     * @param seed Seed of its bytes, if they are real.
     * @param size Its size, bytes.
     * @return Its EID.
     */
    IcnEid Provide(const std::string& name, uint64_t seed, uint64_t size);

    /**
     * @param address An address that DATA came from.
     * @return Whether it is that of a router that is a replica.
     */
    bool IsCache(const Address& address) const;

    /**
     * Looks up where an NDC is, without a packet.
     *
     * @param ndc The NDC.
     * @return The nodes that are registered for it, in order.
     */
    std::vector<IcnLocator> LookUp(const IcnEid& ndc) const;

    /**
     * @param replica A replica's number, from 0.
     * @return Its address.
     */
    const Address& GetAddress(uint32_t replica) const;

    /**
     * @return The name server's address; an invalid one if there is none.
     */
    const Address& GetNameServerAddress() const;

    /**
     * @return The name server, or null if there is none.
     */
    Ptr<IcnNameServerApplication> GetNameServer() const;

    /**
     * @param replica A replica's number, from 0.
     * @return Its application.
     */
    Ptr<IcnReplicaApplication> GetApplication(uint32_t replica) const;

    /**
     * @return What the routers do.
     */
    const ScenarioRouters& GetRouters() const;

    /**
     * A replica node has another address.
     *
     * @param replica Its number, from 0.
     */
    void NotifyMove(uint32_t replica);

    /**
     * Makes an application that serves NDCs.
     *
     * @param spec What to run.
     * @param cost The cost to register.
     * @param nameServer Where it registers, or an invalid address.
     * @param stream Its stream of random numbers.
     * @return The application.
     */
    static Ptr<IcnReplicaApplication> MakeApplication(const ferrocc::scenario::RunSpec& spec,
                                                      uint16_t cost,
                                                      const Address& nameServer,
                                                      int64_t stream);

    /**
     * @param delayNs A propagation delay to the receivers' router, nanoseconds.
     * @return The cost to register.
     */
    static uint16_t ToCost(uint64_t delayNs);

    /**
     * Writes what the routers' caches have counted.
     *
     * @param writer The output.
     */
    void Finish(ferrocc::trace::RunWriter& writer) const;

  private:
    /// A node that holds NDCs.
    struct Replica
    {
        Address address;                        //!< Its address.
        uint16_t cost;                          //!< The cost that it registers.
        bool registered;                        //!< Whether it registers.
        Ptr<IcnReplicaApplication> application; //!< Its application.
    };

    const ScenarioNetwork& m_network;                       //!< The network.
    bool m_verify;                                          //!< Whether content is real.
    bool m_fixed;                                           //!< Whether addresses are configured.
    Address m_nameServerAddress;                            //!< See GetNameServerAddress.
    Ptr<IcnNameServerApplication> m_nameServer;             //!< The name server, or null.
    std::vector<Replica> m_replicas;                        //!< The replica nodes.
    std::unique_ptr<ScenarioRouters> m_routers;             //!< What the routers do.
    std::set<std::array<uint8_t, IcnEid::SIZE>> m_provided; //!< See Provide.
};

} // namespace ns3

#endif /* SCENARIO_REPLICAS_H */
