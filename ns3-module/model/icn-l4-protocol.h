// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_L4_PROTOCOL_H
#define ICN_L4_PROTOCOL_H

#include "icn-eid.h"

#include "ns3/address.h"
#include "ns3/ip-l4-protocol.h"
#include "ns3/traced-callback.h"

#include <unordered_map>

namespace ns3
{

class IcnReceiver;
class IcnReplicaApplication;
class Ipv4;
class Ipv6;
class Node;
class Packet;

/**
 * @ingroup ferrocc
 *
 * The ICN transport below its endpoints: IP protocol 0x99 over IPv4 and IPv6. It hands DATA to the
 * receiver whose transfer it belongs to (one hash lookup) and REQs to the node's replica, and
 * sends what they make.
 */
class IcnL4Protocol : public IpL4Protocol
{
  public:
    /// IP protocol number.
    static constexpr uint8_t PROT_NUMBER = 0x99;

    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    IcnL4Protocol();
    ~IcnL4Protocol() override;

    /**
     * Adds a receiver. There is one per transfer; a second one with the same key is a mistake of
     * the simulation program.
     *
     * @param key Its transfer.
     * @param receiver The receiver, which removes itself before it goes.
     */
    void AddReceiver(const IcnTransferKey& key, IcnReceiver* receiver);

    /**
     * Removes a receiver.
     *
     * @param key Its transfer.
     */
    void RemoveReceiver(const IcnTransferKey& key);

    /**
     * Sets what answers REQs.
     *
     * @param replica The replica (null for none), which removes itself before it goes.
     */
    void SetReplica(IcnReplicaApplication* replica);

    /**
     * @return An EID that no other endpoint of the simulation has.
     */
    IcnEid AllocateDeviceEid();

    /**
     * Sends a packet.
     *
     * @param packet The packet with its ICN header.
     * @param destination Where to: an Ipv4Address or an Ipv6Address.
     * @param dscp Its DS codepoint; zero is best effort.
     */
    void SendPacket(Ptr<Packet> packet, const Address& destination, uint8_t dscp);

    int GetProtocolNumber() const override;
    RxStatus Receive(Ptr<Packet> p,
                     const Ipv4Header& header,
                     Ptr<Ipv4Interface> incomingInterface) override;
    RxStatus Receive(Ptr<Packet> p,
                     const Ipv6Header& header,
                     Ptr<Ipv6Interface> incomingInterface) override;
    void SetDownTarget(DownTargetCallback cb) override;
    void SetDownTarget6(DownTargetCallback6 cb) override;
    DownTargetCallback GetDownTarget() const override;
    DownTargetCallback6 GetDownTarget6() const override;

  protected:
    void DoDispose() override;
    void NotifyNewAggregate() override;

  private:
    /**
     * Sends a packet over IPv4.
     *
     * @param packet The packet.
     * @param destination Where to.
     * @param dscp Its DS codepoint.
     * @return Whether there was a route.
     */
    bool SendOverIpv4(Ptr<Packet> packet, const Address& destination, uint8_t dscp);

    /**
     * Sends a packet over IPv6.
     *
     * @param packet The packet.
     * @param destination Where to.
     * @param dscp Its DS codepoint.
     * @return Whether there was a route.
     */
    bool SendOverIpv6(Ptr<Packet> packet, const Address& destination, uint8_t dscp);

    /**
     * Hands a packet to whom it belongs.
     *
     * @param packet The packet.
     * @param source Where it comes from.
     * @return Whether it belonged to someone.
     */
    RxStatus Dispatch(Ptr<Packet> packet, const Address& source);

    /// Transfers of this node.
    using Receivers = std::unordered_map<IcnTransferKey, IcnReceiver*, IcnTransferKeyHash>;

    Ptr<Node> m_node;                  //!< The node.
    Ptr<Ipv4> m_ipv4;                  //!< Its IPv4, or null.
    Ptr<Ipv6> m_ipv6;                  //!< Its IPv6, or null.
    DownTargetCallback m_downTarget;   //!< Sends over IPv4.
    DownTargetCallback6 m_downTarget6; //!< Sends over IPv6.
    Receivers m_receivers;             //!< Receivers by transfer.
    IcnReplicaApplication* m_replica;  //!< What answers REQs, or null.
    uint32_t m_devices;                //!< Device EIDs allocated so far.

    TracedCallback<Ptr<const Packet>> m_dropTrace; //!< Packets that were for nobody.
};

} // namespace ns3

#endif /* ICN_L4_PROTOCOL_H */
