// SPDX-License-Identifier: GPL-2.0-only

#include "ipv6-hashed-routing.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/output-stream-wrapper.h"
#include "ns3/simulator.h"

#include <map>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("Ipv6HashedRouting");

NS_OBJECT_ENSURE_REGISTERED(Ipv6HashedRouting);

TypeId
Ipv6HashedRouting::GetTypeId()
{
    static TypeId tid = TypeId("ns3::Ipv6HashedRouting")
                            .SetParent<Ipv6RoutingProtocol>()
                            .SetGroupName("Ferrocc")
                            .AddConstructor<Ipv6HashedRouting>();
    return tid;
}

Ipv6HashedRouting::Ipv6HashedRouting() = default;

Ipv6HashedRouting::~Ipv6HashedRouting() = default;

void
Ipv6HashedRouting::AddHostRoute(const Address& destination,
                                const Address& gateway,
                                uint32_t interface)
{
    const auto host = Ipv6Address::ConvertFrom(destination);
    NS_LOG_FUNCTION(this << host << gateway << interface);
    m_routes[host] = MakeRoute(host, Ipv6Address::ConvertFrom(gateway), interface);
}

void
Ipv6HashedRouting::SetDefaultRoute(const Address& gateway, uint32_t interface)
{
    NS_LOG_FUNCTION(this << gateway << interface);
    m_default = MakeRoute(Ipv6Address::GetAny(), Ipv6Address::ConvertFrom(gateway), interface);
}

std::size_t
Ipv6HashedRouting::GetNRoutes() const
{
    return m_routes.size();
}

Ptr<Ipv6Route>
Ipv6HashedRouting::MakeRoute(Ipv6Address destination, Ipv6Address gateway, uint32_t interface) const
{
    NS_ABORT_MSG_UNLESS(m_ipv6 && interface < m_ipv6->GetNInterfaces(),
                        "a route to " << destination << " needs an interface, not " << interface);
    Ptr<Ipv6Route> route = Create<Ipv6Route>();
    route->SetDestination(destination);
    route->SetGateway(gateway);
    route->SetSource(GetSourceAddress(interface));
    route->SetOutputDevice(m_ipv6->GetNetDevice(interface));
    return route;
}

Ipv6Address
Ipv6HashedRouting::GetSourceAddress(uint32_t interface) const
{
    for (uint32_t i = 0; i < m_ipv6->GetNAddresses(interface); i++)
    {
        const Ipv6Address address = m_ipv6->GetAddress(interface, i).GetAddress();
        if (!address.IsLinkLocal())
        {
            return address;
        }
    }
    NS_ABORT_MSG("interface " << interface << " has no address but its link-local one");
}

Ptr<Ipv6Route>
Ipv6HashedRouting::Lookup(Ipv6Address destination) const
{
    const auto found = m_routes.find(destination);
    return found != m_routes.end() ? found->second : m_default;
}

Ptr<Ipv6Route>
Ipv6HashedRouting::RouteOutput(Ptr<Packet> /* p */,
                               const Ipv6Header& header,
                               Ptr<NetDevice> oif,
                               Socket::SocketErrno& sockerr)
{
    NS_LOG_FUNCTION(this << header.GetDestination() << oif);
    const Ipv6Address destination = header.GetDestination();
    Ptr<Ipv6Route> route;
    if (m_local.find(destination) != m_local.end())
    {
        // Interface 0 is the loopback device.
        route = Create<Ipv6Route>();
        route->SetDestination(destination);
        route->SetGateway(Ipv6Address::GetAny());
        route->SetSource(destination);
        route->SetOutputDevice(m_ipv6->GetNetDevice(0));
    }
    else
    {
        route = Lookup(destination);
    }
    // Link-local and multicast destinations are on the link, which no route of ours tells.
    if (destination.IsLinkLocal() || destination.IsMulticast())
    {
        route = nullptr;
    }
    if (!route || (oif && route->GetOutputDevice() != oif))
    {
        sockerr = Socket::ERROR_NOROUTETOHOST;
        return nullptr;
    }
    sockerr = Socket::ERROR_NOTERROR;
    return route;
}

void
Ipv6HashedRouting::SetInterceptor(Interceptor interceptor)
{
    m_interceptor = interceptor;
}

bool
Ipv6HashedRouting::RouteInput(Ptr<const Packet> p,
                              const Ipv6Header& header,
                              Ptr<const NetDevice> idev,
                              compat::RouteInputArgument<3, Ipv6RoutingProtocol> ucb,
                              compat::RouteInputArgument<4, Ipv6RoutingProtocol> /* mcb */,
                              compat::RouteInputArgument<5, Ipv6RoutingProtocol> lcb,
                              compat::RouteInputArgument<6, Ipv6RoutingProtocol> ecb)
{
    NS_LOG_FUNCTION(this << p << header.GetDestination() << idev);
    const Ipv6Address destination = header.GetDestination();
    const int32_t interface = m_ipv6->GetInterfaceForDevice(idev);
    NS_ASSERT_MSG(interface >= 0, "packet from a device that is no IPv6 interface");
    if (m_local.find(destination) != m_local.end())
    {
        if (lcb.IsNull())
        {
            return false;
        }
        lcb(p, header, static_cast<uint32_t>(interface));
        return true;
    }
    if (destination.IsMulticast() || destination.IsLinkLocal())
    {
        return false;
    }
    const Ptr<Ipv6Route> route = Lookup(destination);
    if (!route)
    {
        // IPv6 in ns-3 traces a drop, and tells the source, only if it is told here.
        ecb(p, header, Socket::ERROR_NOROUTETOHOST);
        return false;
    }
    if (!m_ipv6->IsForwarding(static_cast<uint32_t>(interface)))
    {
        ecb(p, header, Socket::ERROR_NOROUTETOHOST);
        return true;
    }
    if (!m_interceptor.IsNull() && m_interceptor(p, header, idev))
    {
        return true;
    }
    ucb(idev, route, p, header);
    return true;
}

void
Ipv6HashedRouting::NotifyInterfaceUp(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    for (uint32_t i = 0; i < m_ipv6->GetNAddresses(interface); i++)
    {
        m_local.insert(m_ipv6->GetAddress(interface, i).GetAddress());
    }
}

void
Ipv6HashedRouting::NotifyInterfaceDown(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    for (uint32_t i = 0; i < m_ipv6->GetNAddresses(interface); i++)
    {
        m_local.erase(m_ipv6->GetAddress(interface, i).GetAddress());
    }
}

void
Ipv6HashedRouting::NotifyAddAddress(uint32_t interface, Ipv6InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    if (m_ipv6->IsUp(interface))
    {
        m_local.insert(address.GetAddress());
    }
}

void
Ipv6HashedRouting::NotifyRemoveAddress(uint32_t interface, Ipv6InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    m_local.erase(address.GetAddress());
}

void
Ipv6HashedRouting::NotifyAddRoute(Ipv6Address dst,
                                  Ipv6Prefix mask,
                                  Ipv6Address nextHop,
                                  uint32_t interface,
                                  Ipv6Address prefixToUse)
{
    NS_LOG_FUNCTION(this << dst << mask << nextHop << interface << prefixToUse);
}

void
Ipv6HashedRouting::NotifyRemoveRoute(Ipv6Address dst,
                                     Ipv6Prefix mask,
                                     Ipv6Address nextHop,
                                     uint32_t interface,
                                     Ipv6Address prefixToUse)
{
    NS_LOG_FUNCTION(this << dst << mask << nextHop << interface << prefixToUse);
}

void
Ipv6HashedRouting::SetIpv6(Ptr<Ipv6> ipv6)
{
    NS_LOG_FUNCTION(this << ipv6);
    NS_ASSERT_MSG(!m_ipv6 && ipv6, "SetIpv6 is called once");
    m_ipv6 = ipv6;
    for (uint32_t i = 0; i < m_ipv6->GetNInterfaces(); i++)
    {
        if (m_ipv6->IsUp(i))
        {
            NotifyInterfaceUp(i);
        }
    }
}

void
Ipv6HashedRouting::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const
{
    std::ostream& os = *stream->GetStream();
    os << "Node: " << m_ipv6->GetObject<Node>()->GetId() << ", Time: " << Now().As(unit)
       << ", Ipv6HashedRouting table\nDestination     Gateway         Iface\n";
    const std::map<Ipv6Address, Ptr<Ipv6Route>> sorted(m_routes.begin(), m_routes.end());
    for (const auto& [address, route] : sorted)
    {
        os << route->GetDestination() << "\t" << route->GetGateway() << "\t"
           << m_ipv6->GetInterfaceForDevice(route->GetOutputDevice()) << "\n";
    }
    if (m_default)
    {
        os << "default\t" << m_default->GetGateway() << "\t"
           << m_ipv6->GetInterfaceForDevice(m_default->GetOutputDevice()) << "\n";
    }
}

void
Ipv6HashedRouting::DoDispose()
{
    m_interceptor.Nullify();
    m_routes.clear();
    m_default = nullptr;
    m_ipv6 = nullptr;
    Ipv6RoutingProtocol::DoDispose();
}

} // namespace ns3
