// SPDX-License-Identifier: GPL-2.0-only

#include "link-helper.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/node.h"
#include "ns3/queue-size.h"
#include "ns3/reordering-point-to-point-channel.h"
#include "ns3/string.h"
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

/// What a link does that is down.
class EverythingIsLost : public ErrorModel
{
  private:
    bool DoCorrupt(Ptr<Packet> /* packet */) override
    {
        return true;
    }

    void DoReset() override
    {
    }
};

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
 * Installs the queue discs of an end of a link.
 *
 * @param end The end; its device is set.
 * @param spec What the link is like.
 * @param icnRouter Whether this end is an ICN router.
 */
void
InstallQueueDisc(LinkEnd& end, const LinkSpec& spec, bool icnRouter)
{
    TrafficControlHelper helper;
    const QueueSizeValue buffer{QueueSize(spec.buffer)};
    // Calls `set` with the type and the attributes of the queue that may have an AQM.
    const auto withQueue = [&](const auto& set) {
        if (spec.aqm.empty())
        {
            set("ns3::FifoQueueDisc", "MaxSize", buffer);
        }
        else
        {
            set(FerroccQueueDisc::GetTypeId(spec.aqm).GetName(),
                "MaxSize",
                buffer,
                "LinkBandwidth",
                DataRateValue(spec.rate),
                "LinkDelay",
                TimeValue(spec.delay),
                "IcnRouter",
                BooleanValue(icnRouter),
                "Parameters",
                StringValue(spec.aqmParameters));
        }
    };
    if (!spec.priority)
    {
        withQueue([&](const std::string& type, const auto&... attributes) {
            helper.SetRootQueueDisc(type, attributes...);
        });
        end.disc = helper.Install(end.device).Get(0);
        end.aqm = DynamicCast<FerroccQueueDisc>(end.disc);
        return;
    }
    const uint16_t root = helper.SetRootQueueDisc("ns3::PrioQueueDisc");
    const auto bands = helper.AddQueueDiscClasses(root, 2, "ns3::QueueDiscClass");
    helper.AddPacketFilter(root, "ns3::DsFieldPacketFilter", "Dscp", UintegerValue(spec.dscp));
    helper.AddChildQueueDisc(root,
                             bands[0],
                             "ns3::FifoQueueDisc",
                             "MaxSize",
                             QueueSizeValue(QueueSize(EXPEDITED_BUFFER)));
    withQueue([&](const std::string& type, const auto&... attributes) {
        helper.AddChildQueueDisc(root, bands[1], type, attributes...);
    });
    end.disc = helper.Install(end.device).Get(0);
    const Ptr<QueueDisc> bestEffort = end.disc->GetQueueDiscClass(1)->GetQueueDisc();
    end.aqm = DynamicCast<FerroccQueueDisc>(bestEffort);
}

/**
 * Gives a device an IPv4 address.
 *
 * @param end The end of a link; its device is set.
 * @param ipv4 Its node's IPv4.
 * @param network The number of the network.
 * @param host The number of the address in it.
 */
void
AssignIpv4(LinkEnd& end, Ptr<Ipv4> ipv4, uint32_t network, uint32_t host)
{
    const Ipv4Address address(NETWORK_BASE + 4 * network + host);
    end.address = address;
    end.interface = ipv4->AddInterface(end.device);
    ipv4->AddAddress(end.interface, Ipv4InterfaceAddress(address, Ipv4Mask("/30")));
    ipv4->SetMetric(end.interface, 1);
    ipv4->SetUp(end.interface);
}

/**
 * Gives a device an IPv6 address beside its link-local one, usable at once.
 *
 * @param end The end of a link; its device is set.
 * @param ipv6 Its node's IPv6.
 * @param network The number of the network.
 * @param host The number of the address in it.
 */
void
AssignIpv6(LinkEnd& end, Ptr<Ipv6> ipv6, uint32_t network, uint32_t host)
{
    // Unique local addresses (RFC 4193) with an arbitrary global ID.
    std::array<uint8_t, 16> bytes{0xfd, 0xfe, 0x44, 0x0c};
    for (std::size_t i = 0; i < 4; i++)
    {
        bytes[4 + i] = static_cast<uint8_t>(network >> (24 - 8 * i));
    }
    bytes[15] = static_cast<uint8_t>(host);
    const Ipv6Address address(bytes.data());
    const uint32_t interface = ipv6->AddInterface(end.device);
    // As IPv4 in ns-3. An interface that does not forward would solicit routers from time to time,
    // which are not there.
    ipv6->SetForwarding(interface, true);
    ipv6->SetMetric(interface, 1);
    ipv6->SetUp(interface);
    ipv6->AddAddress(interface, Ipv6InterfaceAddress(address, Ipv6Prefix(64)));
    if (end.address.IsInvalid())
    {
        end.address = address;
        end.interface = interface;
    }
}

/**
 * Gives a device addresses.
 *
 * @param end The end of a link; its device is set.
 * @param network The number of the network.
 * @param host The number of the address in it.
 */
void
AssignAddress(LinkEnd& end, uint32_t network, uint32_t host)
{
    const Ptr<Node> node = end.device->GetNode();
    const Ptr<Ipv4> ipv4 = node->GetObject<Ipv4>();
    const Ptr<Ipv6> ipv6 = node->GetObject<Ipv6>();
    NS_ABORT_MSG_UNLESS(ipv4 || ipv6, "a linked node needs an internet stack");
    if (ipv4)
    {
        AssignIpv4(end, ipv4, network, host);
    }
    if (ipv6)
    {
        // Without a wait for duplicates to object, which a point-to-point link does not have.
        if (const auto icmpv6 = node->GetObject<Icmpv6L4Protocol>())
        {
            icmpv6->SetAttribute("DAD", BooleanValue(false));
        }
        AssignIpv6(end, ipv6, network, host);
    }
}

} // namespace

Link
LinkHelper::Install(Ptr<Node> a, Ptr<Node> b, const LinkSpec& spec)
{
    NS_ABORT_MSG_UNLESS(m_networks < NETWORKS, "more than " << NETWORKS << " links");
    const uint32_t network = m_networks++;
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
        InstallQueueDisc(end, spec.managed[i] ? spec : LinkSpec(), spec.icnRouter[i]);
        AssignAddress(end, network, 1 + i);
        // What this end receives is what the other one sent.
        const double loss = spec.loss[1 - i];
        if (loss > 0)
        {
            auto errors = CreateObject<RateErrorModel>();
            errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            errors->SetRate(loss);
            end.device->SetReceiveErrorModel(errors);
            link.errors[i] = errors;
        }
    }
    return link;
}

void
LinkHelper::SetUp(const Link& link, bool up)
{
    for (std::size_t i = 0; i < link.ends.size(); i++)
    {
        Ptr<ErrorModel> errors = link.errors[i];
        if (!up)
        {
            errors = CreateObject<EverythingIsLost>();
        }
        link.ends[i].device->SetReceiveErrorModel(errors);
    }
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
        if (const auto errors = DynamicCast<RateErrorModel>(link.errors[i]))
        {
            errors->AssignStreams(stream + static_cast<int64_t>(i));
        }
        if (const auto& aqm = link.ends[i].aqm)
        {
            aqm->AssignStreams(stream + AQM_STREAMS + static_cast<int64_t>(i));
        }
    }
    if (const auto channel = DynamicCast<ReorderingPointToPointChannel>(link.channel))
    {
        channel->AssignStreams(stream + REORDERING);
    }
    return STREAMS;
}

} // namespace ns3
