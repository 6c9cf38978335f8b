// SPDX-License-Identifier: GPL-2.0-only

#ifndef IPV6_HASHED_ROUTING_H
#define IPV6_HASHED_ROUTING_H

#include "ns3-compat.h"

#include "ns3/callback.h"
#include "ns3/ipv6-address.h"
#include "ns3/ipv6-route.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/ipv6.h"

#include <unordered_map>
#include <unordered_set>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Ipv4HashedRouting for IPv6: static unicast routing with one hash lookup per packet, a table of
 * host routes and a default route. Routes that router advertisements or redirects tell are not
 * taken: the helpers that use it enter a route per host.
 */
class Ipv6HashedRouting : public Ipv6RoutingProtocol
{
  public:
    /// What sees packets before they are forwarded: it gets the packet, its header and the device
    /// that it came from, and says whether it has dealt with the packet, which is then not
    /// forwarded.
    using Interceptor = Callback<bool, Ptr<const Packet>, const Ipv6Header&, Ptr<const NetDevice>>;

    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    Ipv6HashedRouting();
    ~Ipv6HashedRouting() override;

    /**
     * Enters a route to a host; one that is there already is replaced.
     *
     * @param destination The host, an Ipv6Address.
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

    Ptr<Ipv6Route> RouteOutput(Ptr<Packet> p,
                               const Ipv6Header& header,
                               Ptr<NetDevice> oif,
                               Socket::SocketErrno& sockerr) override;
    bool RouteInput(Ptr<const Packet> p,
                    const Ipv6Header& header,
                    Ptr<const NetDevice> idev,
                    compat::RouteInputArgument<3, Ipv6RoutingProtocol> ucb,
                    compat::RouteInputArgument<4, Ipv6RoutingProtocol> mcb,
                    compat::RouteInputArgument<5, Ipv6RoutingProtocol> lcb,
                    compat::RouteInputArgument<6, Ipv6RoutingProtocol> ecb) override;
    void NotifyInterfaceUp(uint32_t interface) override;
    void NotifyInterfaceDown(uint32_t interface) override;
    void NotifyAddAddress(uint32_t interface, Ipv6InterfaceAddress address) override;
    void NotifyRemoveAddress(uint32_t interface, Ipv6InterfaceAddress address) override;
    void NotifyAddRoute(Ipv6Address dst,
                        Ipv6Prefix mask,
                        Ipv6Address nextHop,
                        uint32_t interface,
                        Ipv6Address prefixToUse = Ipv6Address::GetZero()) override;
    void NotifyRemoveRoute(Ipv6Address dst,
                           Ipv6Prefix mask,
                           Ipv6Address nextHop,
                           uint32_t interface,
                           Ipv6Address prefixToUse = Ipv6Address::GetZero()) override;
    void SetIpv6(Ptr<Ipv6> ipv6) override;
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
    Ptr<Ipv6Route> MakeRoute(Ipv6Address destination,
                             Ipv6Address gateway,
                             uint32_t interface) const;

    /**
     * @param interface An interface.
     * @return Its first address that is not link-local; the program aborts if it has none.
     */
    Ipv6Address GetSourceAddress(uint32_t interface) const;

    /**
     * @param destination A host.
     * @return The route to it, or null.
     */
    Ptr<Ipv6Route> Lookup(Ipv6Address destination) const;

    Interceptor m_interceptor; //!< See SetInterceptor.
    Ptr<Ipv6> m_ipv6;          //!< The node's IPv6.
    std::unordered_map<Ipv6Address, Ptr<Ipv6Route>, Ipv6AddressHash> m_routes; //!< Host routes.
    Ptr<Ipv6Route> m_default;                                 //!< Default route or null.
    std::unordered_set<Ipv6Address, Ipv6AddressHash> m_local; //!< The node's own addresses.
};

} // namespace ns3

#endif /* IPV6_HASHED_ROUTING_H */
