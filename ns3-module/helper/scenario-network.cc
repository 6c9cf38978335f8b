// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-network.h"

#include "ferrocc-ffi/src/scenario.rs.h"

#include "ns3/node.h"

#include <string>

namespace ns3
{

namespace
{

/**
 * @param spec What to run.
 * @return What the bottleneck is like.
 */
LinkSpec
BottleneckSpec(const ferrocc::scenario::RunSpec& spec)
{
    LinkSpec link;
    link.rate = DataRate(spec.bottleneck_rate_bps);
    link.delay = NanoSeconds(spec.bottleneck_delay_ns);
    link.buffer = std::string(spec.bottleneck_buffer);
    link.deviceQueuePackets = spec.device_queue_packets;
    link.mtu = static_cast<uint16_t>(spec.mtu_bytes);
    link.priority = true;
    link.dscp = spec.priority_dscp;
    link.loss = {spec.loss, spec.loss_reverse};
    link.reorder = spec.reorder;
    link.reorderDelay = NanoSeconds(spec.reorder_delay_ns);
    return link;
}

/**
 * @param spec What to run.
 * @param delay Propagation delay, one way.
 * @return What the link of a host is like.
 */
LinkSpec
AccessSpec(const ferrocc::scenario::RunSpec& spec, Time delay)
{
    LinkSpec link;
    link.rate = DataRate(spec.access_rate_bps);
    link.delay = delay;
    link.deviceQueuePackets = spec.device_queue_packets;
    link.mtu = static_cast<uint16_t>(spec.mtu_bytes);
    return link;
}

} // namespace

ScenarioNetwork::ScenarioNetwork(const ferrocc::scenario::RunSpec& spec)
    : m_network(BottleneckSpec(spec))
{
    const LinkSpec replica = AccessSpec(spec, NanoSeconds(spec.replica_delay_ns));
    m_replicas.push_back(m_network.AddHost(BottleneckNetwork::RIGHT, replica));
    const LinkSpec receiver = AccessSpec(spec, NanoSeconds(spec.receiver_delay_ns));
    for (uint32_t i = 0; i < spec.receivers; i++)
    {
        m_receivers.push_back(m_network.AddHost(BottleneckNetwork::LEFT, receiver));
    }
}

uint32_t
ScenarioNetwork::GetNReceivers() const
{
    return static_cast<uint32_t>(m_receivers.size());
}

Ptr<Node>
ScenarioNetwork::GetReceiver(uint32_t index) const
{
    return m_receivers.at(index).node;
}

uint32_t
ScenarioNetwork::GetNReplicas() const
{
    return static_cast<uint32_t>(m_replicas.size());
}

Ptr<Node>
ScenarioNetwork::GetReplica(uint32_t index) const
{
    return m_replicas.at(index).node;
}

Ipv4Address
ScenarioNetwork::GetReplicaAddress(uint32_t index) const
{
    return m_network.GetAddress(m_replicas.at(index));
}

Ptr<Node>
ScenarioNetwork::GetRouter(BottleneckNetwork::Side side) const
{
    return m_network.GetRouter(side);
}

const Link&
ScenarioNetwork::GetBottleneck() const
{
    return m_network.GetBottleneck();
}

int64_t
ScenarioNetwork::AssignStreams(int64_t stream) const
{
    return m_network.AssignStreams(stream);
}

} // namespace ns3
