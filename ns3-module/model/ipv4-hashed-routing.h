// SPDX-License-Identifier: GPL-2.0-only

#ifndef IPV4_HASHED_ROUTING_H
#define IPV4_HASHED_ROUTING_H

#include "ns3-compat.h"

#include "ns3/callback.h"
#include "ns3/ipv4-address.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"

#include <unordered_map>
#include <unordered_set>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Static unicast routing with one hash lookup per packet: a table of host routes and a default
 * route. ns-3's static and global routing search their tables and the node's interfaces from the
 * start for every packet, which in a router with thousands of receivers is nearly all the work.
 *
 * It knows no masks and no multicast; the helpers that use it enter a route per host.
 */
class Ipv4HashedRouting : public Ipv4RoutingProtocol
{
  public:
    /// What sees packets before they are forwarded: it gets the packet, its header and the device
    /// that it came from, and says whether it has dealt with the packet, which is then not
    /// forwarded.
    using Interceptor = Callback<bool, Ptr<const Packet>, const Ipv4Header&, Ptr<const NetDevice>>;

    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    Ipv4HashedRouting();
    ~Ipv4HashedRouting() override;

    /**
     * Enters a route to a host; one that is there already is replaced.
     *
     * @param destination The host, an Ipv4Address.
     * @param gateway The next hop's address.
     * @param interface The interface it is reached by; it must have an address.
     */
    void AddHostRoute(const Address& destination, const Address& gateway, uint32_t interface);

    /**
     * Sets the route for all hosts that have none of their own.
     *
     * @param gateway The next hop's address.
     * @param interface The interface it is reached by; it must have an address.
     */
    void SetDefaultRoute(const Address& gateway, uint32_t interface);

    /**
     * Sets what sees packets before they are forwarded.
     *
     * @param interceptor It; a null callback for none.
     */
    void SetInterceptor(Interceptor interceptor);

    /**
     * @return Number of host routes.
     */
    std::size_t GetNRoutes() const;

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet> p,
                               const Ipv4Header& header,
                               Ptr<NetDevice> oif,
                               Socket::SocketErrno& sockerr) override;
    bool RouteInput(Ptr<const Packet> p,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> idev,
                    compat::RouteInputArgument<3> ucb,
                    compat::RouteInputArgument<4> mcb,
                    compat::RouteInputArgument<5> lcb,
                    compat::RouteInputArgument<6> ecb) override;
    void NotifyInterfaceUp(uint32_t interface) override;
    void NotifyInterfaceDown(uint32_t interface) override;
    void NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void NotifyRemoveAddress(uint32_t interface, Ipv4InterfaceAddress address) override;
    void SetIpv4(Ptr<Ipv4> ipv4) override;
    void PrintRoutingTable(Ptr<OutputStreamWrapper> stream,
                           Time::Unit unit = Time::S) const override;

  protected:
    void DoDispose() override;

  private:
    /**
     * @param destination The route's destination.
     * @param gateway The next hop's address.
     * @param interface The interface.
     * @return The route.
     */
    Ptr<Ipv4Route> MakeRoute(Ipv4Address destination,
                             Ipv4Address gateway,
                             uint32_t interface) const;

    /**
     * @param destination A host.
     * @return The route to it, or null.
     */
    Ptr<Ipv4Route> Lookup(Ipv4Address destination) const;

    Interceptor m_interceptor;                             //!< See SetInterceptor.
    Ptr<Ipv4> m_ipv4;                                      //!< The node's IPv4.
    std::unordered_map<uint32_t, Ptr<Ipv4Route>> m_routes; //!< Host routes by address.
    Ptr<Ipv4Route> m_default;                              //!< Default route or null.
    std::unordered_set<uint32_t> m_local;                  //!< The node's own addresses.
};

} // namespace ns3

#endif /* IPV4_HASHED_ROUTING_H */
