// SPDX-License-Identifier: GPL-2.0-only

#include "ipv4-hashed-routing.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/output-stream-wrapper.h"
#include "ns3/simulator.h"

#include <map>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("Ipv4HashedRouting");

NS_OBJECT_ENSURE_REGISTERED(Ipv4HashedRouting);

TypeId
Ipv4HashedRouting::GetTypeId()
{
    static TypeId tid = TypeId("ns3::Ipv4HashedRouting")
                            .SetParent<Ipv4RoutingProtocol>()
                            .SetGroupName("Ferrocc")
                            .AddConstructor<Ipv4HashedRouting>();
    return tid;
}

Ipv4HashedRouting::Ipv4HashedRouting() = default;

Ipv4HashedRouting::~Ipv4HashedRouting() = default;

void
Ipv4HashedRouting::AddHostRoute(const Address& destination,
                                const Address& gateway,
                                uint32_t interface)
{
    const auto host = Ipv4Address::ConvertFrom(destination);
    NS_LOG_FUNCTION(this << host << gateway << interface);
    m_routes[host.Get()] = MakeRoute(host, Ipv4Address::ConvertFrom(gateway), interface);
}

void
Ipv4HashedRouting::SetDefaultRoute(const Address& gateway, uint32_t interface)
{
    NS_LOG_FUNCTION(this << gateway << interface);
    m_default = MakeRoute(Ipv4Address::GetAny(), Ipv4Address::ConvertFrom(gateway), interface);
}

std::size_t
Ipv4HashedRouting::GetNRoutes() const
{
    return m_routes.size();
}

Ptr<Ipv4Route>
Ipv4HashedRouting::MakeRoute(Ipv4Address destination, Ipv4Address gateway, uint32_t interface) const
{
    NS_ABORT_MSG_UNLESS(
        m_ipv4 && interface < m_ipv4->GetNInterfaces() && m_ipv4->GetNAddresses(interface) > 0,
        "a route to " << destination << " needs an interface with an address, not " << interface);
    Ptr<Ipv4Route> route = Create<Ipv4Route>();
    route->SetDestination(destination);
    route->SetGateway(gateway);
    route->SetSource(m_ipv4->GetAddress(interface, 0).GetLocal());
    route->SetOutputDevice(m_ipv4->GetNetDevice(interface));
    return route;
}

Ptr<Ipv4Route>
Ipv4HashedRouting::Lookup(Ipv4Address destination) const
{
    const auto found = m_routes.find(destination.Get());
    return found != m_routes.end() ? found->second : m_default;
}

Ptr<Ipv4Route>
Ipv4HashedRouting::RouteOutput(Ptr<Packet> /* p */,
                               const Ipv4Header& header,
                               Ptr<NetDevice> oif,
                               Socket::SocketErrno& sockerr)
{
    NS_LOG_FUNCTION(this << header.GetDestination() << oif);
    const Ipv4Address destination = header.GetDestination();
    Ptr<Ipv4Route> route;
    if (m_local.find(destination.Get()) != m_local.end())
    {
        // Interface 0 is the loopback device.
        route = Create<Ipv4Route>();
        route->SetDestination(destination);
        route->SetGateway(Ipv4Address::GetAny());
        route->SetSource(destination);
        route->SetOutputDevice(m_ipv4->GetNetDevice(0));
    }
    else
    {
        route = Lookup(destination);
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
Ipv4HashedRouting::SetInterceptor(Interceptor interceptor)
{
    m_interceptor = interceptor;
}

bool
Ipv4HashedRouting::RouteInput(Ptr<const Packet> p,
                              const Ipv4Header& header,
                              Ptr<const NetDevice> idev,
                              compat::RouteInputArgument<3> ucb,
                              compat::RouteInputArgument<4> /* mcb */,
                              compat::RouteInputArgument<5> lcb,
                              compat::RouteInputArgument<6> ecb)
{
    NS_LOG_FUNCTION(this << p << header.GetDestination() << idev);
    const Ipv4Address destination = header.GetDestination();
    const int32_t interface = m_ipv4->GetInterfaceForDevice(idev);
    NS_ASSERT_MSG(interface >= 0, "packet from a device that is no IPv4 interface");
    if (m_local.find(destination.Get()) != m_local.end())
    {
        if (lcb.IsNull())
        {
            return false;
        }
        lcb(p, header, static_cast<uint32_t>(interface));
        return true;
    }
    if (destination.IsMulticast())
    {
        return false;
    }
    const Ptr<Ipv4Route> route = Lookup(destination);
    if (!route)
    {
        return false;
    }
    if (!m_ipv4->IsForwarding(static_cast<uint32_t>(interface)))
    {
        ecb(p, header, Socket::ERROR_NOROUTETOHOST);
        return true;
    }
    if (!m_interceptor.IsNull() && m_interceptor(p, header, idev))
    {
        return true;
    }
    ucb(route, p, header);
    return true;
}

void
Ipv4HashedRouting::NotifyInterfaceUp(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    for (uint32_t i = 0; i < m_ipv4->GetNAddresses(interface); i++)
    {
        m_local.insert(m_ipv4->GetAddress(interface, i).GetLocal().Get());
    }
}

void
Ipv4HashedRouting::NotifyInterfaceDown(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    for (uint32_t i = 0; i < m_ipv4->GetNAddresses(interface); i++)
    {
        m_local.erase(m_ipv4->GetAddress(interface, i).GetLocal().Get());
    }
}

void
Ipv4HashedRouting::NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    if (m_ipv4->IsUp(interface))
    {
        m_local.insert(address.GetLocal().Get());
    }
}

void
Ipv4HashedRouting::NotifyRemoveAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    m_local.erase(address.GetLocal().Get());
}

void
Ipv4HashedRouting::SetIpv4(Ptr<Ipv4> ipv4)
{
    NS_LOG_FUNCTION(this << ipv4);
    NS_ASSERT_MSG(!m_ipv4 && ipv4, "SetIpv4 is called once");
    m_ipv4 = ipv4;
    for (uint32_t i = 0; i < m_ipv4->GetNInterfaces(); i++)
    {
        if (m_ipv4->IsUp(i))
        {
            NotifyInterfaceUp(i);
        }
    }
}

void
Ipv4HashedRouting::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const
{
    std::ostream& os = *stream->GetStream();
    os << "Node: " << m_ipv4->GetObject<Node>()->GetId() << ", Time: " << Now().As(unit)
       << ", Ipv4HashedRouting table\nDestination     Gateway         Iface\n";
    const std::map<uint32_t, Ptr<Ipv4Route>> sorted(m_routes.begin(), m_routes.end());
    for (const auto& [address, route] : sorted)
    {
        os << route->GetDestination() << "\t" << route->GetGateway() << "\t"
           << m_ipv4->GetInterfaceForDevice(route->GetOutputDevice()) << "\n";
    }
    if (m_default)
    {
        os << "default\t" << m_default->GetGateway() << "\t"
           << m_ipv4->GetInterfaceForDevice(m_default->GetOutputDevice()) << "\n";
    }
}

void
Ipv4HashedRouting::DoDispose()
{
    m_interceptor.Nullify();
    m_routes.clear();
    m_default = nullptr;
    m_ipv4 = nullptr;
    Ipv4RoutingProtocol::DoDispose();
}

} // namespace ns3
