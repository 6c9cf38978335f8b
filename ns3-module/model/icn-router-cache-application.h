// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_ROUTER_CACHE_APPLICATION_H
#define ICN_ROUTER_CACHE_APPLICATION_H

#include "icn-eid.h"

#include "ns3/application.h"
#include "ns3/event-id.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv6-header.h"
#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"
#include "ns3/traced-value.h"

#include <memory>
#include <string>

namespace ferrocc
{
namespace router
{
struct RouterCache;
} // namespace router
} // namespace ferrocc

namespace ns3
{

class IcnHeader;
class IcnL4Protocol;
class IcnReplicaApplication;
class Packet;

/**
 * @ingroup ferrocc
 *
 * A router's cache: puts the DATA packets that the router forwards together, decides whether a copy
 * is kept, and hands what is complete (and, with the attribute Verify, whose hash is its EID) to
 * the replica application on the same node, which registers and serves it; takes from it what is
 * evicted. Counts transfers: a hit is one that the router serves, a miss one that it sees another
 * source serve. The node needs an IcnL4Protocol.
 */
class IcnRouterCacheApplication : public Application
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    IcnRouterCacheApplication();
    ~IcnRouterCacheApplication() override;

    /**
     * Sets what serves complete NDCs.
     *
     * @param replica The replica application, on the same node.
     */
    void SetReplica(Ptr<IcnReplicaApplication> replica);

    /**
     * Puts an NDC into the store and the replica, as if it had been put together before, and
     * registers it. While the application runs.
     *
     * @param ndc Its EID.
     * @param size Its size, bytes.
     * @param contentSeed Seed of the synthetic content that has this EID; counts with Verify only.
     * @return Whether it is in the store now; not if it is larger than all of it.
     */
    bool Preload(const IcnEid& ndc, uint64_t size, uint64_t contentSeed);

    /// Loses all content, complete or not, without a word to the name server: the replica answers
    /// "not here", and registrations expire. What has been counted stays.
    void Restart();

    /// Evicts everything that is complete; the name server is told.
    void EvictAll();

    /**
     * Takes a DATA packet as if the router forwarded it.
     *
     * @param packet The packet, with its ICN header.
     * @param hopLimit Its hop limit.
     */
    void TakeData(const Packet& packet, uint8_t hopLimit);

    /**
     * @return The engine, for what looks what is in it; while the application runs.
     */
    const ferrocc::router::RouterCache& GetEngine() const;

    /**
     * @param ndc An NDC.
     * @return Whether it is in the store.
     */
    bool Contains(const IcnEid& ndc) const;

    /**
     * @return Transfers that this router served.
     */
    uint64_t GetHits() const;

    /**
     * @return Transfers that were seen, or bound by this router, and that others served.
     */
    uint64_t GetMisses() const;

    /**
     * @return NDCs that made room for others.
     */
    uint64_t GetEvictions() const;

    /**
     * @return NDCs that became complete.
     */
    uint64_t GetAssembled() const;

    /**
     * @return NDCs that were begun and given up: idle for too long, no room, or lost by a restart.
     */
    uint64_t GetAbandoned() const;

    /**
     * @return Transfers of an NDC larger than the store or the memory for incomplete ones.
     */
    uint64_t GetTooLarge() const;

    /**
     * @return Complete NDCs in the store.
     */
    uint64_t GetNdcs() const;

    /**
     * Assigns a fixed stream number to the random variable.
     *
     * @param stream The stream number.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * TracedCallback signature of what happens to an NDC.
     *
     * @param [in] ndc Its EID.
     */
    typedef void (*NdcTracedCallback)(const IcnEid& ndc);

  protected:
    void DoDispose() override;

  private:
    void StartApplication() override;
    void StopApplication() override;

    /**
     * The router forwards an IPv4 packet.
     *
     * @param header Its IP header.
     * @param packet The rest.
     * @param interface Where it leaves.
     */
    void OnForward(const Ipv4Header& header, Ptr<const Packet> packet, uint32_t interface);

    /**
     * The router forwards an IPv6 packet.
     *
     * @param header Its IP header.
     * @param packet The rest.
     * @param interface Where it leaves.
     */
    void OnForward6(const Ipv6Header& header, Ptr<const Packet> packet, uint32_t interface);

    /**
     * The router forwards an ICN packet.
     *
     * @param packet It.
     * @param hopLimit Its hop limit when it leaves.
     */
    void OnPacket(const Packet& packet, uint8_t hopLimit);

    /**
     * A REQ came, for this node or to be forwarded.
     *
     * @param header Its header.
     */
    void OnRequest(const IcnHeader& header);

    /// Takes what the engine has evicted from the replica.
    void DropEvicted();

    /**
     * Takes an NDC from the replica.
     *
     * @param ndc It.
     */
    void Evict(const IcnEid& ndc);

    /// Looks how many NDCs have been given up.
    void CountAbandoned();

    /**
     * Sees to it that what is idle is given up.
     *
     * @param deadline When, ns.
     */
    void SetTimer(uint64_t deadline);

    /// The timer expired.
    void Expire();

    struct Engine; //!< The cache.

    uint64_t m_capacityBytes;  //!< Most bytes of complete NDCs; zero for no limit.
    uint64_t m_capacityNdcs;   //!< Most complete NDCs; zero for no limit.
    std::string m_policy;      //!< What is evicted.
    std::string m_placement;   //!< Whether a copy is kept.
    double m_probability;      //!< Probability of a copy.
    uint64_t m_assemblyMemory; //!< Most bytes of incomplete NDCs.
    Time m_assemblyTimeout;    //!< Idle time until an NDC is given up.
    bool m_verify;             //!< Whether payload is real.
    uint8_t m_sourceHopLimit;  //!< Hop limit that sources send DATA with.
    uint8_t m_firstHops;       //!< Hops up to which a router is the first after the source.

    std::unique_ptr<Engine> m_engine;     //!< See Engine; while the application runs.
    Ptr<IcnReplicaApplication> m_replica; //!< What serves complete NDCs.
    Ptr<IcnL4Protocol> m_protocol;        //!< The node's.
    Ptr<UniformRandomVariable> m_draw;    //!< For placement and eviction.
    double m_next;                        //!< The next draw.
    EventId m_timer;                      //!< The pending timer event.

    TracedCallback<const IcnEid&> m_hitTrace;       //!< A transfer is served here.
    TracedCallback<const IcnEid&> m_missTrace;      //!< A transfer is served elsewhere.
    TracedCallback<const IcnEid&> m_evictTrace;     //!< An NDC made room.
    TracedCallback<const IcnEid&> m_assembledTrace; //!< An NDC is complete.
    TracedValue<uint64_t> m_abandoned;              //!< Incomplete NDCs given up.
};

} // namespace ns3

#endif /* ICN_ROUTER_CACHE_APPLICATION_H */
