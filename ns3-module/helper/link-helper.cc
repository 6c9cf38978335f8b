// SPDX-License-Identifier: GPL-2.0-only

#include "link-helper.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/error-model.h"
#include "ns3/ipv4.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/queue-size.h"
#include "ns3/reordering-point-to-point-channel.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"

namespace ns3
{

namespace
{

/// First address of the networks.
constexpr uint32_t NETWORK_BASE = 10U << 24;
/// Networks of four addresses in 10.0.0.0/8.
constexpr uint32_t NETWORKS = 1U << 22;

/// Limit of the band of expedited packets. They are few; a limit only keeps a mistake finite.
constexpr char EXPEDITED_BUFFER[] = "10000p";

/**
 * @param node The node to which the device is added.
 * @param spec What the link is like.
 * @return The device.
 */
Ptr<PointToPointNetDevice>
MakeDevice(Ptr<Node> node, const LinkSpec& spec)
{
    auto device =
        CreateObjectWithAttributes<PointToPointNetDevice>("DataRate", DataRateValue(spec.rate));
    device->SetAddress(Mac48Address::Allocate());
    device->SetMtu(spec.mtu);
    node->AddDevice(device);
    auto queue = CreateObjectWithAttributes<DropTailQueue<Packet>>(
        "MaxSize",
        QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, spec.deviceQueuePackets)));
    device->SetQueue(queue);
    auto interface = CreateObject<NetDeviceQueueInterface>();
    interface->GetTxQueue(0)->ConnectQueueTraces(Ptr<Queue<Packet>>(queue));
    device->AggregateObject(interface);
    return device;
}

/**
 * @param device The device.
 * @param spec What the link is like.
 * @return The device's new root queue disc.
 */
Ptr<QueueDisc>
MakeQueueDisc(Ptr<NetDevice> device, const LinkSpec& spec)
{
    TrafficControlHelper helper;
    const QueueSizeValue buffer{QueueSize(spec.buffer)};
    if (!spec.priority)
    {
        helper.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", buffer);
        return helper.Install(device).Get(0);
    }
    const uint16_t root = helper.SetRootQueueDisc("ns3::PrioQueueDisc");
    const auto bands = helper.AddQueueDiscClasses(root, 2, "ns3::QueueDiscClass");
    helper.AddPacketFilter(root, "ns3::DsFieldPacketFilter", "Dscp", UintegerValue(spec.dscp));
    helper.AddChildQueueDisc(root,
                             bands[0],
                             "ns3::FifoQueueDisc",
                             "MaxSize",
                             QueueSizeValue(QueueSize(EXPEDITED_BUFFER)));
    helper.AddChildQueueDisc(root, bands[1], "ns3::FifoQueueDisc", "MaxSize", buffer);
    return helper.Install(device).Get(0);
}

/**
 * Gives a device an address.
 *
 * @param end The end of a link; its device is set.
 * @param address The address.
 */
void
AssignAddress(LinkEnd& end, Ipv4Address address)
{
    const Ptr<Ipv4> ipv4 = end.device->GetNode()->GetObject<Ipv4>();
    NS_ABORT_MSG_UNLESS(ipv4, "a linked node needs an internet stack");
    end.address = address;
    end.interface = ipv4->AddInterface(end.device);
    ipv4->AddAddress(end.interface, Ipv4InterfaceAddress(address, Ipv4Mask("/30")));
    ipv4->SetMetric(end.interface, 1);
    ipv4->SetUp(end.interface);
}

} // namespace

Link
LinkHelper::Install(Ptr<Node> a, Ptr<Node> b, const LinkSpec& spec)
{
    NS_ABORT_MSG_UNLESS(m_networks < NETWORKS, "more than " << NETWORKS << " links");
    const uint32_t network = NETWORK_BASE + 4 * m_networks++;
    Link link;
    if (spec.reorder > 0 || !spec.extraDelayReverse.IsZero())
    {
        link.channel = CreateObjectWithAttributes<ReorderingPointToPointChannel>(
            "Probability",
            DoubleValue(spec.reorder),
            "ExtraDelay",
            TimeValue(spec.reorderDelay),
            "ReverseExtraDelay",
            TimeValue(spec.extraDelayReverse),
            "Direction",
            UintegerValue(0));
    }
    else
    {
        link.channel = CreateObject<PointToPointChannel>();
    }
    link.channel->SetAttribute("Delay", TimeValue(spec.delay));
    const std::array<Ptr<Node>, 2> nodes{a, b};
    for (uint32_t i = 0; i < 2; i++)
    {
        LinkEnd& end = link.ends[i];
        end.device = MakeDevice(nodes[i], spec);
        end.device->Attach(link.channel);
        // Before the address, because ns-3 installs a queue disc of its own choice otherwise.
        end.disc = MakeQueueDisc(end.device, spec);
        AssignAddress(end, Ipv4Address(network + 1 + i));
        // What this end receives is what the other one sent.
        const double loss = spec.loss[1 - i];
        if (loss > 0)
        {
            auto errors = CreateObject<RateErrorModel>();
            errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            errors->SetRate(loss);
            end.device->SetReceiveErrorModel(errors);
        }
    }
    return link;
}

int64_t
LinkHelper::AssignStreams(const Link& link, int64_t stream)
{
    // Each random variable has a stream of its own, whether the others are there or not: switching
    // losses on does not change which packets are reordered.
    constexpr int64_t REORDERING = 2; // Behind the error models of both ends.
    constexpr int64_t STREAMS = 4;
    for (std::size_t i = 0; i < link.ends.size(); i++)
    {
        PointerValue value;
        link.ends[i].device->GetAttribute("ReceiveErrorModel", value);
        if (const auto errors = value.Get<RateErrorModel>())
        {
            errors->AssignStreams(stream + static_cast<int64_t>(i));
        }
    }
    if (const auto channel = DynamicCast<ReorderingPointToPointChannel>(link.channel))
    {
        channel->AssignStreams(stream + REORDERING);
    }
    return STREAMS;
}

} // namespace ns3
