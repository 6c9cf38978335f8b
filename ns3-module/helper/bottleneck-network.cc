// SPDX-License-Identifier: GPL-2.0-only

#include "bottleneck-network.h"

#include "icn-stack-helper.h"
#include "ipv4-hashed-routing-helper.h"

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-hashed-routing.h"
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
 */
void
InstallStack(const NodeContainer& nodes)
{
    const Ipv4HashedRoutingHelper routing;
    InternetStackHelper internet;
    internet.SetRoutingHelper(routing);
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
}

} // namespace

BottleneckNetwork::BottleneckNetwork(const LinkSpec& bottleneck)
{
    m_routers.Create(2);
    InstallStack(m_routers);
    const Ptr<Node> left = GetRouter(LEFT);
    const Ptr<Node> right = GetRouter(RIGHT);
    m_links.push_back(m_linkHelper.Install(right, left, bottleneck));
    const auto& [rightEnd, leftEnd] = m_links[BOTTLENECK].ends;
    Ipv4HashedRoutingHelper::GetRouting(left)->SetDefaultRoute(rightEnd.address, leftEnd.interface);
    Ipv4HashedRoutingHelper::GetRouting(right)->SetDefaultRoute(leftEnd.address,
                                                                rightEnd.interface);
}

BottleneckNetwork::Host
BottleneckNetwork::AddHost(Side side, const LinkSpec& access)
{
    const Host host{CreateObject<Node>(), m_links.size()};
    InstallStack(NodeContainer(host.node));
    IcnStackHelper().Install(host.node);
    const Ptr<Node> router = GetRouter(side);
    m_links.push_back(m_linkHelper.Install(router, host.node, access));
    const auto& [routerEnd, hostEnd] = m_links.back().ends;
    Ipv4HashedRoutingHelper::GetRouting(router)->AddHostRoute(hostEnd.address,
                                                              hostEnd.address,
                                                              routerEnd.interface);
    Ipv4HashedRoutingHelper::GetRouting(host.node)->SetDefaultRoute(routerEnd.address,
                                                                    hostEnd.interface);
    return host;
}

Ptr<Node>
BottleneckNetwork::GetRouter(Side side) const
{
    return m_routers.Get(side);
}

Ipv4Address
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
