// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-network.h"

#include "ferrocc-ffi/src/scenario.rs.h"

#include "ns3/double.h"
#include "ns3/node-clock.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

#include <string>

namespace ns3
{

namespace
{

/// Parts per billion in a part per million.
constexpr double PPB_PER_PPM = 1000;

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
    link.extraDelayReverse = NanoSeconds(spec.extra_delay_reverse_ns);
    link.buffer = std::string(spec.bottleneck_buffer);
    link.deviceQueuePackets = spec.device_queue_packets;
    link.mtu = static_cast<uint16_t>(spec.mtu_bytes);
    link.aqm = std::string(spec.aqm);
    link.aqmParameters = std::string(spec.aqm_parameters);
    link.priority = true;
    link.dscp = spec.priority_dscp;
    link.loss = {spec.loss, spec.loss_reverse};
    link.reorder = spec.reorder;
    link.reorderDelay = NanoSeconds(spec.reorder_delay_ns);
    return link;
}

/**
 * @param spec What to run.
 * @param delay Propagation delay, one way, nanoseconds.
 * @return What the link of a host is like.
 */
LinkSpec
AccessSpec(const ferrocc::scenario::RunSpec& spec, uint64_t delay)
{
    LinkSpec link;
    link.rate = DataRate(spec.access_rate_bps);
    link.delay = NanoSeconds(delay);
    link.deviceQueuePackets = spec.device_queue_packets;
    link.mtu = static_cast<uint16_t>(spec.mtu_bytes);
    return link;
}

/**
 * @param side A router of the scenario.
 * @return The same for the network.
 */
BottleneckNetwork::Side
ToSide(ferrocc::scenario::RouterSide side)
{
    return side == ferrocc::scenario::RouterSide::Left ? BottleneckNetwork::LEFT
                                                       : BottleneckNetwork::RIGHT;
}

} // namespace

ScenarioNetwork::ScenarioNetwork(const ferrocc::scenario::Cell& cell,
                                 const ferrocc::scenario::RunSpec& spec)
    : m_network(BottleneckSpec(spec), spec.ipv6)
{
    for (const auto& replica : cell.replicas())
    {
        m_replicas.push_back(
            m_network.AddHost(ToSide(replica.side), AccessSpec(spec, replica.delay_ns)));
    }
    for (const auto& receiver : cell.receivers())
    {
        const auto host =
            m_network.AddHost(ToSide(receiver.side), AccessSpec(spec, receiver.delay_ns));
        m_receivers.push_back(host);
        if (receiver.clock_offset_ns != 0 || receiver.clock_skew_ppb != 0 ||
            !receiver.clock_steps.empty())
        {
            auto clock = CreateObject<NodeClock>();
            clock->SetAttribute("Offset", TimeValue(NanoSeconds(receiver.clock_offset_ns)));
            clock->SetAttribute(
                "Skew",
                DoubleValue(static_cast<double>(receiver.clock_skew_ppb) / PPB_PER_PPM));
            host.node->AggregateObject(clock);
            for (const auto& step : receiver.clock_steps)
            {
                Simulator::Schedule(NanoSeconds(step.at_ns),
                                    &NodeClock::Step,
                                    clock,
                                    NanoSeconds(step.step_ns));
            }
        }
    }
    if (spec.names_mode == "server")
    {
        LinkSpec link = AccessSpec(spec, spec.names_delay_ns);
        link.loss = {spec.names_loss, spec.names_loss};
        m_nameServer = m_network.AddHost(BottleneckNetwork::LEFT, link);
    }
}

Ptr<Node>
ScenarioNetwork::GetNameServer() const
{
    return m_nameServer.node;
}

Address
ScenarioNetwork::GetNameServerAddress() const
{
    return m_nameServer.node ? m_network.GetAddress(m_nameServer) : Address();
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

Address
ScenarioNetwork::GetReplicaAddress(uint32_t index) const
{
    return m_network.GetAddress(m_replicas.at(index));
}

std::vector<BottleneckNetwork::Host>
ScenarioNetwork::GetHosts() const
{
    std::vector<BottleneckNetwork::Host> hosts(m_replicas);
    hosts.insert(hosts.end(), m_receivers.begin(), m_receivers.end());
    if (m_nameServer.node)
    {
        hosts.push_back(m_nameServer);
    }
    return hosts;
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
