// SPDX-License-Identifier: GPL-2.0-only

#include "bottleneck-network.h"

#include "icn-stack-helper.h"
#include "ipv4-hashed-routing-helper.h"
#include "ipv6-hashed-routing-helper.h"

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-hashed-routing.h"
#include "ns3/ipv6-hashed-routing.h"
#include "ns3/node.h"

namespace ns3
{

namespace
{

/// The bottleneck's place in the list of links.
constexpr std::size_t BOTTLENECK = 0;

/**
 * Installs the internet stack.
 *
 * @param nodes The nodes.
 * @param ipv6 Whether they have IPv6 instead of IPv4.
 */
void
InstallStack(const NodeContainer& nodes, bool ipv6)
{
    InternetStackHelper internet;
    internet.SetIpv4StackInstall(!ipv6);
    internet.SetIpv6StackInstall(ipv6);
    if (ipv6)
    {
        internet.SetRoutingHelper(Ipv6HashedRoutingHelper());
    }
    else
    {
        internet.SetRoutingHelper(Ipv4HashedRoutingHelper());
    }
    internet.Install(nodes);
}

/**
 * Enters a node's default route.
 *
 * @param from Its end of the link that the route takes.
 * @param to The other end.
 */
void
SetDefaultRoute(const LinkEnd& from, const LinkEnd& to)
{
    const Ptr<Node> node = from.device->GetNode();
    if (Ipv4Address::IsMatchingType(to.address))
    {
        Ipv4HashedRoutingHelper::GetRouting(node)->SetDefaultRoute(to.address, from.interface);
    }
    else
    {
        Ipv6HashedRoutingHelper::GetRouting(node)->SetDefaultRoute(to.address, from.interface);
    }
}

/**
 * Enters a node's route to the other end of a link.
 *
 * @param from Its end.
 * @param to The other end.
 */
void
AddHostRoute(const LinkEnd& from, const LinkEnd& to)
{
    const Ptr<Node> node = from.device->GetNode();
    const auto enter = [&](const auto& routing) {
        routing->AddHostRoute(to.address, to.address, from.interface);
    };
    if (Ipv4Address::IsMatchingType(to.address))
    {
        enter(Ipv4HashedRoutingHelper::GetRouting(node));
    }
    else
    {
        enter(Ipv6HashedRoutingHelper::GetRouting(node));
    }
}

} // namespace

BottleneckNetwork::BottleneckNetwork(const LinkSpec& bottleneck, bool ipv6)
    : m_ipv6(ipv6)
{
    m_routers.Create(2);
    InstallStack(m_routers, m_ipv6);
    m_links.push_back(m_linkHelper.Install(GetRouter(RIGHT), GetRouter(LEFT), bottleneck));
    const auto& [rightEnd, leftEnd] = m_links[BOTTLENECK].ends;
    SetDefaultRoute(leftEnd, rightEnd);
    SetDefaultRoute(rightEnd, leftEnd);
}

BottleneckNetwork::Host
BottleneckNetwork::AddHost(Side side, const LinkSpec& access)
{
    const Host host{CreateObject<Node>(), m_links.size(), side};
    InstallStack(NodeContainer(host.node), m_ipv6);
    IcnStackHelper().Install(host.node);
    m_links.push_back(m_linkHelper.Install(GetRouter(side), host.node, access));
    const auto& [routerEnd, hostEnd] = m_links.back().ends;
    AddHostRoute(routerEnd, hostEnd);
    SetDefaultRoute(hostEnd, routerEnd);
    return host;
}

Ptr<Node>
BottleneckNetwork::GetRouter(Side side) const
{
    return m_routers.Get(side);
}

Address
BottleneckNetwork::GetAddress(const Host& host) const
{
    return m_links[host.link].ends[1].address;
}

const Link&
BottleneckNetwork::GetBottleneck() const
{
    return m_links[BOTTLENECK];
}

const std::vector<Link>&
BottleneckNetwork::GetLinks() const
{
    return m_links;
}

int64_t
BottleneckNetwork::AssignStreams(int64_t stream) const
{
    const int64_t first = stream;
    for (const Link& link : m_links)
    {
        stream += LinkHelper::AssignStreams(link, stream);
    }
    return stream - first;
}

} // namespace ns3
