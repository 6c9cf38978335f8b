// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_ROUTER_CACHE_APPLICATION_H
#define ICN_ROUTER_CACHE_APPLICATION_H

#include "icn-eid.h"

#include "ns3/application.h"
#include "ns3/event-id.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv6-header.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"
#include "ns3/traced-value.h"

#include <memory>

namespace ns3
{

class IcnReplicaApplication;
class Packet;

/**
 * @ingroup ferrocc
 *
 * Makes a router a replica: puts the DATA packets that the router forwards together, and when an
 * NDC is complete (and, with the attribute Verify, its hash is its EID), hands it to a replica
 * application on the same node, which registers it. The node needs an IcnL4Protocol.
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
     * @return NDCs that became complete.
     */
    uint64_t GetAssembled() const;

    /**
     * @return NDCs that were given up: idle for too long, or no room.
     */
    uint64_t GetAbandoned() const;

    /**
     * TracedCallback signature of a complete NDC.
     *
     * @param [in] ndc Its EID.
     */
    typedef void (*AssembledTracedCallback)(const IcnEid& ndc);

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
     */
    void OnPacket(const Packet& packet);

    /**
     * Sees to it that what is idle is given up.
     *
     * @param deadline When, ns.
     */
    void SetTimer(uint64_t deadline);

    /// The timer expired.
    void Expire();

    struct Engine; //!< The assembler.

    uint64_t m_capacity; //!< Most bytes of content.
    Time m_timeout;      //!< Idle time until an NDC is given up.
    bool m_verify;       //!< Whether payload is real.

    std::unique_ptr<Engine> m_engine;     //!< See Engine; while the application runs.
    Ptr<IcnReplicaApplication> m_replica; //!< What serves complete NDCs.
    EventId m_timer;                      //!< The pending timer event.

    TracedValue<uint64_t> m_assembled;              //!< NDCs that became complete.
    uint64_t m_abandoned;                           //!< NDCs that were given up.
    TracedCallback<const IcnEid&> m_assembledTrace; //!< An NDC is complete.
};

} // namespace ns3

#endif /* ICN_ROUTER_CACHE_APPLICATION_H */
