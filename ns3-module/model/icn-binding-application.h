// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_BINDING_APPLICATION_H
#define ICN_BINDING_APPLICATION_H

#include "icn-eid.h"

#include "ns3/address.h"
#include "ns3/application.h"
#include "ns3/event-id.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv6-header.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <string>
#include <vector>

namespace ferrocc
{
namespace router
{
struct BindingStep;
} // namespace router
} // namespace ferrocc

namespace ns3
{

class IcnHeader;
class IcnL4Protocol;
class IcnNameClient;
class Packet;

/**
 * @ingroup ferrocc
 *
 * Late binding in an ICN router. Receivers send REQs to the address of their edge router, which
 * asks the name server where the NDC is, chooses the nearest source, and sends the REQ on with only
 * its destination address changed; DATA comes back to the receiver directly. REQs wait in the
 * router while it asks, as many as the attribute MaxHeld says. What cannot be bound is answered by
 * an empty DATA packet that says why.
 *
 * With the attribute Mode "path" the router also looks at REQs that it forwards: it serves them
 * itself if it holds the NDC, and changes their destination if that is gone or there is a nearer
 * source. A destination that lies where the REQ came from is never chosen. The node then needs
 * IpvXHashedRouting.
 *
 * The binding of a transfer is looked at again when it is older than the attribute Lifetime, when
 * the source says that it does not hold the NDC, and when REQs stay without DATA.
 */
class IcnBindingApplication : public Application
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    IcnBindingApplication();
    ~IcnBindingApplication() override;

    /// Loses all bindings and all REQs that wait. What has been counted stays.
    void Restart();

    /**
     * A REQ came for this node, which does not hold the NDC; called by the L4 protocol.
     *
     * @param header Its ICN header.
     * @param packet The packet, with the ICN header.
     * @param source Who asks.
     * @param hopLimit The hop limit that it came with.
     */
    void OnRequest(const IcnHeader& header,
                   Ptr<Packet> packet,
                   const Address& source,
                   uint8_t hopLimit);

    /**
     * @return Transfers that were bound to a source, once for each source.
     */
    uint64_t GetBound() const;

    /**
     * @return Transfers that were bound to another source than before.
     */
    uint64_t GetRebound() const;

    /**
     * @return Queries of the name server.
     */
    uint64_t GetResolutions() const;

    /**
     * @return REQs that were answered by a refusal.
     */
    uint64_t GetRefused() const;

    /**
     * @return REQs that were dropped because too many were waiting.
     */
    uint64_t GetDropped() const;

    /**
     * Assigns a fixed stream number to the random variable.
     *
     * @param stream The stream number.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * TracedCallback signature of a binding.
     *
     * @param [in] ndc The NDC.
     * @param [in] source The address that its REQs go to.
     */
    typedef void (*BoundTracedCallback)(const IcnEid& ndc, const Address& source);

    /**
     * TracedCallback signature of a refusal.
     *
     * @param [in] ndc The NDC.
     * @param [in] reason The name of the failure, as IcnSession::GetFailure tells it.
     */
    typedef void (*RefusedTracedCallback)(const IcnEid& ndc, const std::string& reason);

  protected:
    void DoDispose() override;

  private:
    void StartApplication() override;
    void StopApplication() override;

    struct Engine; //!< The engine and the REQs that wait.
    struct Held;   //!< A REQ that waits.

    /// Tells the engine the node's own addresses.
    void AddOwnAddresses();

    /**
     * Sees what the node forwards.
     *
     * @param on Whether to begin; else to end.
     */
    void Listen(bool on);

    /**
     * Does with a REQ what the engine says.
     *
     * @param step What it answered.
     * @param request The REQ.
     */
    void Do(const ferrocc::router::BindingStep& step, Held&& request);

    /**
     * Sends datagrams and sets the timer.
     *
     * @param step What the engine answered.
     */
    void Apply(const ferrocc::router::BindingStep& step);

    /**
     * Does that, and works off the REQs that need not wait any longer.
     *
     * @param step What the engine answered.
     */
    void Settle(const ferrocc::router::BindingStep& step);

    /**
     * Sends a REQ on with another destination and the receiver's address as source.
     *
     * @param request The REQ.
     * @param destination Where to.
     */
    void SendOn(const Held& request, const Address& destination);

    /**
     * @param destination A node.
     * @return The device that leads to it, or null.
     */
    Ptr<NetDevice> GetDeviceTowards(const Address& destination) const;

    /**
     * An IPv4 packet is to be forwarded.
     *
     * @param packet It.
     * @param header Its IP header.
     * @param device Where it came from.
     * @return Whether it is not to be forwarded, because it has been dealt with.
     */
    bool Intercept(Ptr<const Packet> packet, const Ipv4Header& header, Ptr<const NetDevice> device);

    /**
     * An IPv6 packet is to be forwarded.
     *
     * @param packet It.
     * @param header Its IP header.
     * @param device Where it came from.
     * @return Whether it is not to be forwarded, because it has been dealt with.
     */
    bool Intercept6(Ptr<const Packet> packet,
                    const Ipv6Header& header,
                    Ptr<const NetDevice> device);

    /**
     * An ICN packet is to be forwarded.
     *
     * @param packet It.
     * @param source Its source.
     * @param destination Its destination.
     * @param hopLimit Its hop limit.
     * @param device Where it came from.
     * @return Whether it has been dealt with.
     */
    bool OnPassing(Ptr<const Packet> packet,
                   const Address& source,
                   const Address& destination,
                   uint8_t hopLimit,
                   Ptr<const NetDevice> device);

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
     * @param source Its source.
     */
    void OnPacket(const Packet& packet, const Address& source);

    /**
     * A datagram of the name server arrived.
     *
     * @param bytes Its bytes.
     */
    void OnMessage(const std::vector<uint8_t>& bytes);

    /// The engine's timer expired.
    void Expire();

    /**
     * @return A draw for the engine.
     */
    double Draw();

    Address m_nameServer;      //!< The name server.
    std::string m_mode;        //!< "edge" or "path".
    std::string m_choice;      //!< Which source is taken.
    Time m_lifetime;           //!< Age at which a list of sources is asked for again.
    Time m_nameTimeout;        //!< Time until a query is repeated.
    uint32_t m_nameTries;      //!< How often it is sent.
    uint32_t m_maxHeld;        //!< Most REQs that wait.
    Time m_silentAfter;        //!< Time without DATA after which a source is suspected.
    uint32_t m_silentRequests; //!< REQs without DATA after which it is.
    Time m_suspectTime;        //!< For how long it is not chosen.
    Time m_refusalLifetime;    //!< For how long a refusal holds without another query.

    std::unique_ptr<Engine> m_engine;  //!< See Engine.
    Ptr<IcnL4Protocol> m_protocol;     //!< The node's.
    Ptr<IcnNameClient> m_client;       //!< Exchanges datagrams with the name server.
    Ptr<UniformRandomVariable> m_draw; //!< For retries and random choice.
    EventId m_timer;                   //!< The pending timer event.

    TracedCallback<const IcnEid&, const Address&> m_boundTrace;       //!< A binding.
    TracedCallback<const IcnEid&, const std::string&> m_refusedTrace; //!< A refusal.
};

} // namespace ns3

#endif /* ICN_BINDING_APPLICATION_H */
