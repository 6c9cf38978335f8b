// SPDX-License-Identifier: GPL-2.0-only

#include "ds-field-packet-filter.h"

#include "ns3/ipv4-header.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-queue-disc-item.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(DsFieldPacketFilter);

TypeId
DsFieldPacketFilter::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::DsFieldPacketFilter")
            .SetParent<PacketFilter>()
            .SetGroupName("Ferrocc")
            .AddConstructor<DsFieldPacketFilter>()
            .AddAttribute("Dscp",
                          "Codepoint of the packets that go into the first band; the default is EF",
                          UintegerValue(Ipv4Header::DSCP_EF), // RFC 3246
                          MakeUintegerAccessor(&DsFieldPacketFilter::m_dscp),
                          MakeUintegerChecker<uint8_t>(0, 63));
    return tid;
}

DsFieldPacketFilter::DsFieldPacketFilter()
    : m_dscp(Ipv4Header::DSCP_EF)
{
}

DsFieldPacketFilter::~DsFieldPacketFilter() = default;

bool
DsFieldPacketFilter::CheckProtocol(Ptr<QueueDiscItem> /* item */) const
{
    // DoClassify tells "not mine" itself, so that the item's type is looked at once per packet.
    return true;
}

int32_t
DsFieldPacketFilter::DoClassify(Ptr<QueueDiscItem> item) const
{
    uint8_t dscp;
    if (const auto* v4 = dynamic_cast<const Ipv4QueueDiscItem*>(PeekPointer(item)))
    {
        dscp = v4->GetHeader().GetDscp();
    }
    else if (const auto* v6 = dynamic_cast<const Ipv6QueueDiscItem*>(PeekPointer(item)))
    {
        dscp = v6->GetHeader().GetDscp();
    }
    else
    {
        return PF_NO_MATCH;
    }
    return dscp == m_dscp ? BAND_EXPEDITED : BAND_BEST_EFFORT;
}

} // namespace ns3
