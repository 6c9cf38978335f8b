// SPDX-License-Identifier: GPL-2.0-only

#include "reordering-point-to-point-channel.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("ReorderingPointToPointChannel");

NS_OBJECT_ENSURE_REGISTERED(ReorderingPointToPointChannel);

TypeId
ReorderingPointToPointChannel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::ReorderingPointToPointChannel")
            .SetParent<PointToPointChannel>()
            .SetGroupName("Ferrocc")
            .AddConstructor<ReorderingPointToPointChannel>()
            .AddAttribute("Probability",
                          "Probability that a packet is held back",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&ReorderingPointToPointChannel::m_probability),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("ExtraDelay",
                          "Mean of the exponentially distributed extra delay",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&ReorderingPointToPointChannel::m_extraDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("ReverseExtraDelay",
                          "Propagation delay added for all packets of the other device",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&ReorderingPointToPointChannel::m_reverseExtraDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Direction",
                          "Index (0 or 1) of the device whose packets may be held back",
                          UintegerValue(0),
                          MakeUintegerAccessor(&ReorderingPointToPointChannel::m_direction),
                          MakeUintegerChecker<uint32_t>(0, 1));
    return tid;
}

ReorderingPointToPointChannel::ReorderingPointToPointChannel()
    : m_heldBack(0),
      m_choice(CreateObject<UniformRandomVariable>()),
      m_holdSteps(CreateObject<ExponentialRandomVariable>())
{
}

ReorderingPointToPointChannel::~ReorderingPointToPointChannel() = default;

bool
ReorderingPointToPointChannel::TransmitStart(Ptr<const Packet> p,
                                             Ptr<PointToPointNetDevice> src,
                                             Time txTime)
{
    const bool reverse = src != GetSource(m_direction);
    if (reverse ? m_reverseExtraDelay.IsZero() : m_choice->GetValue(0.0, 1.0) >= m_probability)
    {
        return PointToPointChannel::TransmitStart(p, src, txTime);
    }
    NS_LOG_FUNCTION(this << p << src << txTime);
    if (reverse)
    {
        Deliver(p, 1 - m_direction, txTime + GetDelay() + m_reverseExtraDelay);
        return true;
    }
    const Time extra = Seconds(m_extraDelay.GetSeconds() * m_holdSteps->GetValue(1.0, 0.0));
    m_heldBack++;
    Deliver(p, m_direction, txTime + GetDelay() + extra);
    return true;
}

void
ReorderingPointToPointChannel::Deliver(Ptr<const Packet> p, uint32_t sender, Time delay)
{
    const Ptr<PointToPointNetDevice> destination = GetDestination(sender);
    Simulator::ScheduleWithContext(destination->GetNode()->GetId(),
                                   delay,
                                   &PointToPointNetDevice::Receive,
                                   destination,
                                   p->Copy());
}

int64_t
ReorderingPointToPointChannel::AssignStreams(int64_t stream)
{
    m_choice->SetStream(stream);
    m_holdSteps->SetStream(stream + 1);
    return 2;
}

uint64_t
ReorderingPointToPointChannel::GetHeldBack() const
{
    return m_heldBack;
}

} // namespace ns3
