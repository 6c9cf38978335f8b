// SPDX-License-Identifier: GPL-2.0-only

#include "router-line.h"

#include "icn-stack-helper.h"
#include "ipv4-hashed-routing-helper.h"
#include "ipv6-hashed-routing-helper.h"

#include "ns3/abort.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-hashed-routing.h"
#include "ns3/ipv6-hashed-routing.h"
#include "ns3/node.h"

#include <algorithm>

namespace ns3
{

namespace
{

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
 * Enters a node's route to a host.
 *
 * @param destination The host's address.
 * @param from The node's end of the link that the route takes.
 * @param to The other end.
 */
void
AddHostRoute(const Address& destination, const LinkEnd& from, const LinkEnd& to)
{
    const Ptr<Node> node = from.device->GetNode();
    const auto enter = [&](const auto& routing) {
        routing->AddHostRoute(destination, to.address, from.interface);
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

RouterLine::RouterLine(const std::vector<LinkSpec>& links, bool ipv6)
    : m_ipv6(ipv6)
{
    NS_ABORT_MSG_IF(links.empty(), "a line needs two routers");
    const auto last = static_cast<uint32_t>(links.size());
    m_routers.Create(last + 1);
    InstallStack(m_routers, m_ipv6);
    for (uint32_t i = 0; i < last; i++)
    {
        const uint32_t router = last - i;
        m_links.push_back(m_linkHelper.Install(GetRouter(router), GetRouter(router - 1), links[i]));
        m_places.push_back({router, router - 1, 0});
    }
    const auto first = GetHop(0, 1);
    SetDefaultRoute(first[0], first[1]);
    const auto final = GetHop(last, last - 1);
    SetDefaultRoute(final[0], final[1]);
    for (std::size_t i = 0; i < m_links.size(); i++)
    {
        AddInnerRoutes(i);
    }
}

RouterLine::Host
RouterLine::AddHost(uint32_t router, const LinkSpec& access)
{
    const Ptr<Node> node = CreateObject<Node>();
    InstallStack(NodeContainer(node), m_ipv6);
    IcnStackHelper().Install(node);
    const Host host = AddPlace({node, 0, 0}, router, access);
    const auto& [routerEnd, hostEnd] = m_links[host.link].ends;
    SetDefaultRoute(hostEnd, routerEnd);
    return host;
}

RouterLine::Host
RouterLine::AddPlace(const Host& host, uint32_t router, const LinkSpec& access)
{
    const std::size_t link = m_links.size();
    m_links.push_back(m_linkHelper.Install(GetRouter(router), host.node, access));
    m_places.push_back({router, router, 0});
    const auto& [routerEnd, hostEnd] = m_links[link].ends;
    if (router == 0 || router + 1 == GetNRouters())
    {
        AddHostRoute(hostEnd.address, routerEnd, hostEnd);
    }
    AddInnerRoutes(link);
    return {host.node, link, router};
}

void
RouterLine::AddInnerRoutes(std::size_t link) const
{
    const auto& place = m_places[link];
    const uint32_t last = GetNRouters() - 1;
    for (uint32_t inner = 1; inner < last; inner++)
    {
        if (inner == place.router || inner == place.other)
        {
            const std::size_t here = inner == place.router ? 0 : 1;
            const auto& ends = m_links[link].ends;
            AddHostRoute(ends[1 - here].address, ends[here], ends[1 - here]);
            continue;
        }
        const auto [here, next] = GetHop(inner, inner < place.router ? inner + 1 : inner - 1);
        for (const LinkEnd& end : m_links[link].ends)
        {
            AddHostRoute(end.address, here, next);
        }
    }
}

void
RouterLine::Move(const Host& from, const Host& to)
{
    SetLinkUp(from.link, false);
    const auto& [routerEnd, hostEnd] = m_links[to.link].ends;
    SetDefaultRoute(hostEnd, routerEnd);
}

void
RouterLine::SetUp(uint32_t router, bool up)
{
    for (std::size_t i = 0; i < m_links.size(); i++)
    {
        if (m_places[i].router == router || m_places[i].other == router)
        {
            SetLinkUp(i, up);
        }
    }
}

void
RouterLine::SetLinkUp(std::size_t link, bool up)
{
    uint32_t& down = m_places[link].down;
    NS_ABORT_MSG_IF(up && down == 0, "link " << link << " is not down");
    down = up ? down - 1 : down + 1;
    LinkHelper::SetUp(m_links[link], down == 0);
}

std::array<LinkEnd, 2>
RouterLine::GetHop(uint32_t router, uint32_t neighbour) const
{
    const bool up = router > neighbour;
    const Link& link = m_links[GetNRouters() - 1 - std::max(router, neighbour)];
    return {link.ends[up ? 0 : 1], link.ends[up ? 1 : 0]};
}

uint32_t
RouterLine::GetNRouters() const
{
    return m_routers.GetN();
}

Ptr<Node>
RouterLine::GetRouter(uint32_t router) const
{
    return m_routers.Get(router);
}

Address
RouterLine::GetAddress(const Host& host) const
{
    return m_links[host.link].ends[1].address;
}

Address
RouterLine::GetRouterAddress(const Host& host) const
{
    return m_links[host.link].ends[0].address;
}

const Link&
RouterLine::GetRouterLink(std::size_t index) const
{
    NS_ABORT_MSG_UNLESS(index + 1 < GetNRouters(), "there is no router link " << index);
    return m_links[index];
}

const std::vector<Link>&
RouterLine::GetLinks() const
{
    return m_links;
}

int64_t
RouterLine::AssignStreams(int64_t stream) const
{
    const int64_t first = stream;
    for (const Link& link : m_links)
    {
        stream += LinkHelper::AssignStreams(link, stream);
    }
    return stream - first;
}

} // namespace ns3
