// SPDX-License-Identifier: GPL-2.0-only

#include "topo1-helper.h"

#include "icn-stack-helper.h"
#include "ipv4-hashed-routing-helper.h"

#include "ns3/abort.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-hashed-routing.h"
#include "ns3/names.h"
#include "ns3/node.h"

namespace ns3
{

namespace
{

/// The bottleneck's place in the list of links.
constexpr std::size_t BOTTLENECK = 0;
/// The place of the link to the replica.
constexpr std::size_t REPLICA = 1;

} // namespace

Topo1Helper::Topo1Helper(const Config& config)
{
    NS_ABORT_MSG_UNLESS(config.receivers > 0, "topo-1 needs a receiver");
    m_routers.Create(2);
    m_replica = CreateObject<Node>();
    m_receivers.Create(config.receivers);
    NodeContainer all(m_routers, m_receivers);
    all.Add(m_replica);

    const Ipv4HashedRoutingHelper routing;
    InternetStackHelper internet;
    internet.SetRoutingHelper(routing);
    internet.SetIpv6StackInstall(false);
    internet.Install(all);
    IcnStackHelper icn;
    icn.Install(m_replica);
    icn.Install(m_receivers);

    const Ptr<Node> left = m_routers.Get(0);
    const Ptr<Node> right = m_routers.Get(1);
    LinkHelper links;
    m_links.reserve(config.receivers + 2);
    m_links.push_back(links.Install(right, left, config.bottleneck));
    LinkSpec access;
    access.rate = config.accessRate;
    access.deviceQueuePackets = config.deviceQueuePackets;
    access.mtu = config.mtu;
    access.delay = config.replicaDelay;
    m_links.push_back(links.Install(m_replica, right, access));
    access.delay = config.receiverDelay;
    for (uint32_t i = 0; i < config.receivers; i++)
    {
        m_links.push_back(links.Install(left, m_receivers.Get(i), access));
    }

    const auto& [rightEnd, leftEnd] = m_links[BOTTLENECK].ends;
    const auto& [replicaEnd, replicaRouterEnd] = m_links[REPLICA].ends;
    const auto leftRouting = Ipv4HashedRoutingHelper::GetRouting(left);
    const auto rightRouting = Ipv4HashedRoutingHelper::GetRouting(right);
    leftRouting->SetDefaultRoute(rightEnd.address, leftEnd.interface);
    rightRouting->SetDefaultRoute(leftEnd.address, rightEnd.interface);
    rightRouting->AddHostRoute(replicaEnd.address, replicaEnd.address, replicaRouterEnd.interface);
    Ipv4HashedRoutingHelper::GetRouting(m_replica)->SetDefaultRoute(replicaRouterEnd.address,
                                                                    replicaEnd.interface);
    for (uint32_t i = 0; i < config.receivers; i++)
    {
        const auto& [routerEnd, hostEnd] = m_links[REPLICA + 1 + i].ends;
        leftRouting->AddHostRoute(hostEnd.address, hostEnd.address, routerEnd.interface);
        Ipv4HashedRoutingHelper::GetRouting(m_receivers.Get(i))
            ->SetDefaultRoute(routerEnd.address, hostEnd.interface);
    }
}

Ptr<Node>
Topo1Helper::GetReceiver(uint32_t index) const
{
    return m_receivers.Get(index);
}

Ptr<Node>
Topo1Helper::GetReplica() const
{
    return m_replica;
}

Ipv4Address
Topo1Helper::GetReplicaAddress() const
{
    return m_links[REPLICA].ends[0].address;
}

const Link&
Topo1Helper::GetBottleneck() const
{
    return m_links[BOTTLENECK];
}

const std::vector<Link>&
Topo1Helper::GetLinks() const
{
    return m_links;
}

int64_t
Topo1Helper::AssignStreams(int64_t stream) const
{
    const int64_t first = stream;
    for (const Link& link : m_links)
    {
        stream += LinkHelper::AssignStreams(link, stream);
    }
    return stream - first;
}

} // namespace ns3
