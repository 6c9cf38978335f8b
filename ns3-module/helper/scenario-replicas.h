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
struct FaultSpec;
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
class IcnRouterCacheApplication;
class ScenarioNetwork;

/**
 * @ingroup ferrocc
 *
 * Where the NDCs of a scenario are and how receivers learn it: replicas, routers that become
 * replicas, the name server, and what goes wrong with them.
 */
class ScenarioReplicas
{
  public:
    /**
     * Puts applications on replica nodes, routers and the name server's node, and schedules the
     * faults.
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
     * @param address A replica's address.
     * @return Its name.
     */
    const std::string& GetName(const Address& address) const;

    /**
     * @return The name server's address; an invalid one if there is none.
     */
    const Address& GetNameServerAddress() const;

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
        std::string name;                       //!< Its name.
        Address address;                        //!< Its address.
        uint16_t cost;                          //!< The cost that it registers.
        bool registered;                        //!< Whether it registers.
        Ptr<IcnReplicaApplication> application; //!< Its application.
    };

    /**
     * Makes an application that serves NDCs.
     *
     * @param spec What to run.
     * @param cost The cost to register.
     * @param registered Whether it registers.
     * @param stream Its stream of random numbers.
     * @return The application.
     */
    Ptr<IcnReplicaApplication> MakeApplication(const ferrocc::scenario::RunSpec& spec,
                                               uint16_t cost,
                                               bool registered,
                                               int64_t stream) const;

    /**
     * Makes routers replicas.
     *
     * @param spec What to run.
     * @param network The network.
     */
    void AddCaches(const ferrocc::scenario::RunSpec& spec, const ScenarioNetwork& network);

    /**
     * Something goes wrong now.
     *
     * @param number The fault's number, from 0.
     */
    void OnFault(std::size_t number);

    /**
     * @param address An address.
     * @return The router that has it, or null.
     */
    const Replica* FindRouter(const Address& address) const;

    /// What goes wrong; its type is known to the source file only.
    struct Faults;

    bool m_verify;                                            //!< Whether content is real.
    bool m_fixed;                                             //!< Whether addresses are configured.
    Address m_nameServerAddress;                              //!< See GetNameServerAddress.
    Ptr<IcnNameServerApplication> m_nameServer;               //!< The name server, or null.
    std::vector<Replica> m_replicas;                          //!< The replica nodes.
    std::vector<Replica> m_routers;                           //!< Routers that are replicas.
    std::vector<Ptr<IcnRouterCacheApplication>> m_assemblers; //!< What assembles in the latter.
    std::set<std::array<uint8_t, IcnEid::SIZE>> m_provided;   //!< See Provide.
    std::unique_ptr<Faults> m_faults;                         //!< What goes wrong.
};

} // namespace ns3

#endif /* SCENARIO_REPLICAS_H */
