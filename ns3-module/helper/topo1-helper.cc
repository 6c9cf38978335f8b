// SPDX-License-Identifier: GPL-2.0-only

#include "topo1-helper.h"

#include "ns3/abort.h"

namespace ns3
{

Topo1Helper::Topo1Helper(const Config& config)
    : m_network({config.bottleneck}, config.ipv6)
{
    NS_ABORT_MSG_UNLESS(config.receivers > 0, "topo-1 needs a receiver");
    LinkSpec access;
    access.rate = config.accessRate;
    access.deviceQueuePackets = config.deviceQueuePackets;
    access.mtu = config.mtu;
    access.delay = config.replicaDelay;
    m_replica = m_network.AddHost(1, access);
    access.delay = config.receiverDelay;
    for (uint32_t i = 0; i < config.receivers; i++)
    {
        m_receivers.push_back(m_network.AddHost(0, access));
    }
}

Ptr<Node>
Topo1Helper::GetReceiver(uint32_t index) const
{
    return m_receivers.at(index).node;
}

Ptr<Node>
Topo1Helper::GetReplica() const
{
    return m_replica.node;
}

Address
Topo1Helper::GetReplicaAddress() const
{
    return m_network.GetAddress(m_replica);
}

const Link&
Topo1Helper::GetBottleneck() const
{
    return m_network.GetRouterLink(0);
}

const std::vector<Link>&
Topo1Helper::GetLinks() const
{
    return m_network.GetLinks();
}

int64_t
Topo1Helper::AssignStreams(int64_t stream) const
{
    return m_network.AssignStreams(stream);
}

} // namespace ns3
