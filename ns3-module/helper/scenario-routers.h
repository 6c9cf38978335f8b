// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_ROUTERS_H
#define SCENARIO_ROUTERS_H

#include "ns3/address.h"
#include "ns3/icn-eid.h"
#include "ns3/icn-locator.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferrocc
{
namespace scenario
{
struct Cell;
struct RunSpec;
} // namespace scenario

namespace trace
{
struct RunWriter;
} // namespace trace
} // namespace ferrocc

namespace ns3
{

class IcnBindingApplication;
class IcnReplicaApplication;
class IcnRouterCacheApplication;
class Node;
class ScenarioNetwork;

/**
 * @ingroup ferrocc
 *
 * What the ICN routers of a scenario do beside forwarding: they keep the NDCs that pass, serve
 * them, and bind names to addresses.
 */
class ScenarioRouters
{
  public:
    /**
     * Puts applications on the routers.
     *
     * @param cell The scenario.
     * @param spec What to run.
     * @param network The network.
     * @param replicas How many replica nodes there are, whose streams of random numbers come first.
     */
    ScenarioRouters(const ferrocc::scenario::Cell& cell,
                    const ferrocc::scenario::RunSpec& spec,
                    const ScenarioNetwork& network,
                    uint32_t replicas);
    ~ScenarioRouters();

    ScenarioRouters(const ScenarioRouters&) = delete;
    ScenarioRouters& operator=(const ScenarioRouters&) = delete;

    /**
     * @param ndc An NDC.
     * @return The caches that hold it and are registered for it.
     */
    std::vector<IcnLocator> LookUp(const IcnEid& ndc) const;

    /// A router's cache.
    struct Cache
    {
        std::string name;                         //!< The router's name.
        uint32_t router;                          //!< Its number.
        Address address;                          //!< Its address.
        uint16_t cost;                            //!< The cost that it registers.
        Ptr<IcnReplicaApplication> replica;       //!< What serves.
        Ptr<IcnRouterCacheApplication> assembler; //!< What keeps.
    };

    /**
     * @return The caches, from the receivers' router on.
     */
    const std::vector<Cache>& GetCaches() const;

    /**
     * Content, incomplete NDCs and bindings of a router are lost.
     *
     * @param router Its number.
     */
    void Restart(uint32_t router) const;

    /**
     * A cache loses its complete NDCs, and says so to the name server.
     *
     * @param router The number of its router.
     */
    void EvictAll(uint32_t router) const;

    /**
     * Writes what the caches have counted.
     *
     * @param writer The output.
     */
    void Finish(ferrocc::trace::RunWriter& writer) const;

  private:
    /// What binds names in a router.
    struct Binding
    {
        uint32_t router;                        //!< The router's number.
        Ptr<IcnBindingApplication> application; //!< What binds.
    };

    /**
     * Makes a node a cache.
     *
     * @param spec What to run.
     * @param network The network.
     * @param node The node.
     * @param cache Its name, number and cost; the rest is filled in.
     * @param placement Which NDCs it keeps.
     * @param firstHops How many hops a DATA packet has made that comes from the next source.
     */
    void AddCache(const ferrocc::scenario::RunSpec& spec,
                  const ScenarioNetwork& network,
                  Ptr<Node> node,
                  Cache cache,
                  const std::string& placement,
                  uint32_t firstHops);

    /**
     * Adds the off-path cache.
     *
     * @param cell The scenario.
     * @param spec What to run.
     * @param network The network.
     */
    void AddOffPathCache(const ferrocc::scenario::Cell& cell,
                         const ferrocc::scenario::RunSpec& spec,
                         const ScenarioNetwork& network);

    /**
     * Lets a router bind names.
     *
     * @param spec What to run.
     * @param network The network.
     * @param router The router's number.
     */
    void AddBinding(const ferrocc::scenario::RunSpec& spec,
                    const ScenarioNetwork& network,
                    uint32_t router);

    uint32_t m_replicas;             //!< How many replica nodes there are.
    std::vector<Cache> m_caches;     //!< The caches.
    std::vector<Binding> m_bindings; //!< What binds names.
};

} // namespace ns3

#endif /* SCENARIO_ROUTERS_H */
