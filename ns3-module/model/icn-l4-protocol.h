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

class IcnBindingApplication;
class IcnHeader;
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
     * Sets what binds REQs for NDCs that the node does not hold.
     *
     * @param binding The binding application (null for none), which removes itself before it goes.
     */
    void SetBinding(IcnBindingApplication* binding);

    /**
     * Tells that a REQ which was on its way to another node is bound by this one.
     *
     * @param header The REQ's header.
     */
    void NotifyRequest(const IcnHeader& header);

    /**
     * Serves a REQ that was on its way to another node, if the node's replica holds the NDC.
     *
     * @param header The REQ's header.
     * @param source Who asks.
     * @return Whether it is served here.
     */
    bool ServeInstead(const IcnHeader& header, const Address& source);

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
     * @param source The address to send from; an invalid one for that of the outgoing interface.
     */
    void SendPacket(Ptr<Packet> packet,
                    const Address& destination,
                    uint8_t dscp,
                    const Address& source = Address());

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

    /**
     * TracedCallback signature of a REQ.
     *
     * @param [in] header Its header.
     */
    typedef void (*RequestTracedCallback)(const IcnHeader& header);

    /**
     * TracedCallback signature of DATA.
     *
     * @param [in] packet The packet, with its ICN header.
     * @param [in] hopLimit Its hop limit.
     */
    typedef void (*DataTracedCallback)(Ptr<const Packet> packet, uint8_t hopLimit);

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
     * @param source The address to send from, or an invalid one.
     * @return Whether there was a route.
     */
    bool SendOverIpv4(Ptr<Packet> packet,
                      const Address& destination,
                      uint8_t dscp,
                      const Address& source);

    /**
     * Sends a packet over IPv6.
     *
     * @param packet The packet.
     * @param destination Where to.
     * @param dscp Its DS codepoint.
     * @param source The address to send from, or an invalid one.
     * @return Whether there was a route.
     */
    bool SendOverIpv6(Ptr<Packet> packet,
                      const Address& destination,
                      uint8_t dscp,
                      const Address& source);

    /**
     * Hands a packet to whom it belongs.
     *
     * @param packet The packet.
     * @param source Where it comes from.
     * @param destination The address of this node that it was sent to.
     * @param hopLimit Its hop limit.
     * @return Whether it belonged to someone.
     */
    RxStatus Dispatch(Ptr<Packet> packet,
                      const Address& source,
                      const Address& destination,
                      uint8_t hopLimit);

    /**
     * @param ndc An NDC.
     * @return Whether the node's replica serves it.
     */
    bool Serves(const IcnEid& ndc) const;

    /// Transfers of this node.
    using Receivers = std::unordered_map<IcnTransferKey, IcnReceiver*, IcnTransferKeyHash>;

    Ptr<Node> m_node;                  //!< The node.
    Ptr<Ipv4> m_ipv4;                  //!< Its IPv4, or null.
    Ptr<Ipv6> m_ipv6;                  //!< Its IPv6, or null.
    DownTargetCallback m_downTarget;   //!< Sends over IPv4.
    DownTargetCallback6 m_downTarget6; //!< Sends over IPv6.
    Receivers m_receivers;             //!< Receivers by transfer.
    IcnReplicaApplication* m_replica;  //!< What answers REQs, or null.
    IcnBindingApplication* m_binding;  //!< What binds other REQs, or null.
    uint32_t m_devices;                //!< Device EIDs allocated so far.

    TracedCallback<Ptr<const Packet>> m_dropTrace;          //!< Packets that were for nobody.
    TracedCallback<Ptr<const Packet>, uint8_t> m_dataTrace; //!< DATA for receivers here.
    TracedCallback<const IcnHeader&> m_requestTrace;        //!< REQs that end here or are bound.
};

} // namespace ns3

#endif /* ICN_L4_PROTOCOL_H */
