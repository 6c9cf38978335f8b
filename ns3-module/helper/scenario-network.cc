// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-network.h"

#include "ferrocc-ffi/src/scenario.rs.h"

#include "ns3/abort.h"
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
 * Gives a link the queues of a router.
 *
 * @param link The link.
 * @param spec What to run.
 */
void
SetQueue(LinkSpec& link, const ferrocc::scenario::RunSpec& spec)
{
    link.buffer = std::string(spec.bottleneck_buffer);
    link.aqm = std::string(spec.aqm);
    link.aqmParameters = std::string(spec.aqm_parameters);
    link.priority = true;
    link.dscp = spec.priority_dscp;
}

/**
 * @param cell The scenario.
 * @param spec What to run.
 * @return What the links between routers are like; the first is the bottleneck.
 */
std::vector<LinkSpec>
RouterLinkSpecs(const ferrocc::scenario::Cell& cell, const ferrocc::scenario::RunSpec& spec)
{
    std::vector<LinkSpec> links;
    const auto routers = cell.routers();
    for (std::size_t router = routers.size() - 1; router > 0; router--)
    {
        LinkSpec link;
        link.rate = DataRate(spec.bottleneck_rate_bps);
        link.delay = NanoSeconds(static_cast<int64_t>(routers[router].delay_ns));
        link.deviceQueuePackets = spec.device_queue_packets;
        link.mtu = static_cast<uint16_t>(spec.mtu_bytes);
        link.icnRouter = {routers[router].icn, routers[router - 1].icn};
        SetQueue(link, spec);
        links.push_back(link);
    }
    LinkSpec& bottleneck = links.front();
    bottleneck.extraDelayReverse = NanoSeconds(spec.extra_delay_reverse_ns);
    bottleneck.loss = {spec.loss, spec.loss_reverse};
    bottleneck.reorder = spec.reorder;
    bottleneck.reorderDelay = NanoSeconds(spec.reorder_delay_ns);
    return links;
}

/**
 * @param spec What to run.
 * @param delay Propagation delay, one way, nanoseconds.
 * @return What the link of the name server is like.
 */
LinkSpec
PlainSpec(const ferrocc::scenario::RunSpec& spec, uint64_t delay)
{
    LinkSpec link;
    link.rate = DataRate(spec.access_rate_bps);
    link.delay = NanoSeconds(delay);
    link.deviceQueuePackets = spec.device_queue_packets;
    link.mtu = static_cast<uint16_t>(spec.mtu_bytes);
    return link;
}

/**
 * @param spec What to run.
 * @param delay Propagation delay, one way, nanoseconds.
 * @param router The router at end 0.
 * @return What the link of a receiver or a replica node is like.
 */
LinkSpec
AccessSpec(const ferrocc::scenario::RunSpec& spec,
           uint64_t delay,
           const ferrocc::scenario::RouterSpec& router)
{
    LinkSpec link = PlainSpec(spec, delay);
    if (spec.access_queues)
    {
        SetQueue(link, spec);
        link.managed = {true, false};
        link.icnRouter = {router.icn, false};
    }
    return link;
}

} // namespace

ScenarioNetwork::ScenarioNetwork(const ferrocc::scenario::Cell& cell,
                                 const ferrocc::scenario::RunSpec& spec)
    : m_network(RouterLinkSpecs(cell, spec), spec.ipv6)
{
    const auto routers = cell.routers();
    uint64_t delay = 0;
    for (const auto& router : routers)
    {
        delay += router.delay_ns;
        m_routers.push_back({std::string(router.name), std::string(router.link), delay});
    }
    for (const auto& replica : cell.replicas())
    {
        m_replicas.push_back(
            m_network.AddHost(replica.router,
                              AccessSpec(spec, replica.delay_ns, routers[replica.router])));
    }
    for (const auto& receiver : cell.receivers())
    {
        const auto host =
            m_network.AddHost(receiver.router,
                              AccessSpec(spec, receiver.delay_ns, routers[receiver.router]));
        m_receivers.push_back(host);
        SetClock(host.node, receiver);
    }
    if (spec.names_mode == "server")
    {
        LinkSpec link = PlainSpec(spec, spec.names_delay_ns);
        link.loss = {spec.names_loss, spec.names_loss};
        m_nameServer = m_network.AddHost(0, link);
    }
    if (spec.off_path_router < routers.size())
    {
        // A link like those between routers, as long as the first one.
        LinkSpec link = RouterLinkSpecs(cell, spec).back();
        m_offPath = m_network.AddHost(spec.off_path_router, link);
    }
    AddPlaces(cell, spec);
    NoteNames(cell);
}

void
ScenarioNetwork::SetClock(Ptr<Node> node, const ferrocc::scenario::ReceiverSpec& receiver)
{
    if (receiver.clock_offset_ns == 0 && receiver.clock_skew_ppb == 0 &&
        receiver.clock_steps.empty())
    {
        return;
    }
    auto clock = CreateObject<NodeClock>();
    clock->SetAttribute("Offset", TimeValue(NanoSeconds(receiver.clock_offset_ns)));
    clock->SetAttribute("Skew",
                        DoubleValue(static_cast<double>(receiver.clock_skew_ppb) / PPB_PER_PPM));
    node->AggregateObject(clock);
    for (const auto& step : receiver.clock_steps)
    {
        Simulator::Schedule(NanoSeconds(step.at_ns),
                            &NodeClock::Step,
                            clock,
                            NanoSeconds(step.step_ns));
    }
}

void
ScenarioNetwork::AddPlaces(const ferrocc::scenario::Cell& cell,
                           const ferrocc::scenario::RunSpec& spec)
{
    const auto faults = cell.faults();
    for (std::size_t i = 0; i < faults.size(); i++)
    {
        const auto& fault = faults[i];
        const bool isReceiver = fault.kind == "receiver-move";
        if (isReceiver || fault.kind == "replica-move")
        {
            const auto& host = (isReceiver ? m_receivers : m_replicas).at(fault.target);
            const uint64_t delay = isReceiver ? cell.receivers()[fault.target].delay_ns
                                              : cell.replicas()[fault.target].delay_ns;
            m_places[i] = m_network.AddPlace(host,
                                             fault.to,
                                             AccessSpec(spec, delay, cell.routers()[fault.to]));
        }
    }
}

void
ScenarioNetwork::NoteNames(const ferrocc::scenario::Cell& cell)
{
    std::map<uint32_t, std::string> names;
    for (uint32_t i = 0; i < GetNRouters(); i++)
    {
        names[GetRouter(i)->GetId()] = m_routers[i].name;
    }
    const auto receivers = cell.receivers();
    for (std::size_t i = 0; i < m_receivers.size(); i++)
    {
        names[m_receivers[i].node->GetId()] = std::string(receivers[i].name);
    }
    const auto replicas = cell.replicas();
    for (std::size_t i = 0; i < m_replicas.size(); i++)
    {
        names[m_replicas[i].node->GetId()] = std::string(replicas[i].name);
    }
    if (m_nameServer.node)
    {
        names[m_nameServer.node->GetId()] = "NS";
    }
    if (m_offPath.node)
    {
        names[m_offPath.node->GetId()] = OFF_PATH_NAME;
    }
    for (const Link& link : m_network.GetLinks())
    {
        for (const LinkEnd& end : link.ends)
        {
            m_names[end.address] = names.at(end.device->GetNode()->GetId());
        }
    }
}

Address
ScenarioNetwork::GetEdgeAddress(uint32_t index) const
{
    return m_network.GetRouterAddress(m_receivers.at(index));
}

const std::string&
ScenarioNetwork::GetName(const Address& address) const
{
    const auto found = m_names.find(address);
    NS_ABORT_MSG_IF(found == m_names.end(), "nobody has the address " << address);
    return found->second;
}

void
ScenarioNetwork::MoveReceiver(uint32_t index, std::size_t fault)
{
    RouterLine::Host& host = m_receivers.at(index);
    m_network.Move(host, m_places.at(fault));
    host = m_places.at(fault);
}

void
ScenarioNetwork::MoveReplica(uint32_t index, std::size_t fault)
{
    RouterLine::Host& host = m_replicas.at(index);
    m_network.Move(host, m_places.at(fault));
    host = m_places.at(fault);
}

void
ScenarioNetwork::SetRouterUp(uint32_t router, bool up)
{
    m_network.SetUp(router, up);
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

Ptr<Node>
ScenarioNetwork::GetOffPathCache() const
{
    return m_offPath.node;
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

Address
ScenarioNetwork::GetReceiverAddress(uint32_t index) const
{
    return m_network.GetAddress(m_receivers.at(index));
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

std::vector<RouterLine::Host>
ScenarioNetwork::GetHosts() const
{
    std::vector<RouterLine::Host> hosts(m_replicas);
    hosts.insert(hosts.end(), m_receivers.begin(), m_receivers.end());
    if (m_nameServer.node)
    {
        hosts.push_back(m_nameServer);
    }
    if (m_offPath.node)
    {
        hosts.push_back(m_offPath);
    }
    return hosts;
}

uint32_t
ScenarioNetwork::GetNRouters() const
{
    return m_network.GetNRouters();
}

Ptr<Node>
ScenarioNetwork::GetRouter(uint32_t index) const
{
    return m_network.GetRouter(index);
}

const std::string&
ScenarioNetwork::GetRouterName(uint32_t index) const
{
    return m_routers.at(index).name;
}

uint32_t
ScenarioNetwork::FindRouter(const std::string& name) const
{
    for (uint32_t i = 0; i < m_routers.size(); i++)
    {
        if (m_routers[i].name == name)
        {
            return i;
        }
    }
    NS_ABORT_MSG("there is no router " << name);
}

uint64_t
ScenarioNetwork::GetDelayNs(uint32_t router) const
{
    return m_routers.at(router).delayNs;
}

std::vector<ScenarioNetwork::RouterLink>
ScenarioNetwork::GetRouterLinks() const
{
    std::vector<RouterLink> links;
    for (std::size_t router = m_routers.size() - 1; router > 0; router--)
    {
        links.push_back({m_network.GetRouterLink(links.size()),
                         m_routers[router].link,
                         {m_routers[router].name, m_routers[router - 1].name}});
    }
    return links;
}

int64_t
ScenarioNetwork::AssignStreams(int64_t stream) const
{
    return m_network.AssignStreams(stream);
}

} // namespace ns3
