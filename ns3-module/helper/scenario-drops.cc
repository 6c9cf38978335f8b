// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-drops.h"

#include "ns3/net-device.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/queue-disc.h"
#include "ns3/traffic-control-layer.h"

#include <ostream>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(TransmissionTag);

TransmissionTag::TransmissionTag(uint32_t flow, uint64_t number)
    : flow(flow),
      number(number)
{
}

TypeId
TransmissionTag::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FerroccTransmissionTag")
                            .SetParent<Tag>()
                            .SetGroupName("Ferrocc")
                            .AddConstructor<TransmissionTag>();
    return tid;
}

TypeId
TransmissionTag::GetInstanceTypeId() const
{
    return GetTypeId();
}

uint32_t
TransmissionTag::GetSerializedSize() const
{
    return sizeof(flow) + sizeof(number);
}

void
TransmissionTag::Serialize(TagBuffer buffer) const
{
    buffer.WriteU32(flow);
    buffer.WriteU64(number);
}

void
TransmissionTag::Deserialize(TagBuffer buffer)
{
    flow = buffer.ReadU32();
    number = buffer.ReadU64();
}

void
TransmissionTag::Print(std::ostream& os) const
{
    os << "flow=" << flow << " transmission=" << number;
}

ScenarioDrops::ScenarioDrops(DropCallback callback)
    : m_callback(std::move(callback))
{
    for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
    {
        const auto control = (*node)->GetObject<TrafficControlLayer>();
        for (uint32_t i = 0; i < (*node)->GetNDevices(); i++)
        {
            const auto device = (*node)->GetDevice(i);
            // Devices without such a trace source lose nothing in that way.
            device->TraceConnectWithoutContext("MacTxDrop",
                                               MakeCallback(&ScenarioDrops::OnDeviceDrop, this));
            device->TraceConnectWithoutContext("PhyRxDrop",
                                               MakeCallback(&ScenarioDrops::OnErrorLoss, this));
            if (const auto disc = control ? control->GetRootQueueDiscOnDevice(device) : nullptr)
            {
                // What its children drop is among that.
                disc->TraceConnectWithoutContext("Drop",
                                                 MakeCallback(&ScenarioDrops::OnDiscDrop, this));
            }
        }
    }
}

void
ScenarioDrops::OnDiscDrop(Ptr<const QueueDiscItem> item)
{
    Report(*item->GetPacket(), true);
}

void
ScenarioDrops::OnDeviceDrop(Ptr<const Packet> packet)
{
    Report(*packet, true);
}

void
ScenarioDrops::OnErrorLoss(Ptr<const Packet> packet)
{
    Report(*packet, false);
}

void
ScenarioDrops::Report(const Packet& packet, bool inQueue) const
{
    TransmissionTag tag;
    if (packet.PeekPacketTag(tag))
    {
        m_callback(tag.flow, tag.number, inQueue);
    }
}

} // namespace ns3
