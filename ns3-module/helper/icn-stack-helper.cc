// SPDX-License-Identifier: GPL-2.0-only

#include "icn-stack-helper.h"

#include "ns3/abort.h"
#include "ns3/icn-l4-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/node.h"

namespace ns3
{

void
IcnStackHelper::Install(Ptr<Node> node) const
{
    NS_ABORT_MSG_UNLESS(node->GetObject<Ipv4>() || node->GetObject<Ipv6>(),
                        "node " << node->GetId() << " needs an internet stack before the ICN one");
    if (!node->GetObject<IcnL4Protocol>())
    {
        node->AggregateObject(CreateObject<IcnL4Protocol>());
    }
}

void
IcnStackHelper::Install(const NodeContainer& nodes) const
{
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        Install(*node);
    }
}

} // namespace ns3
