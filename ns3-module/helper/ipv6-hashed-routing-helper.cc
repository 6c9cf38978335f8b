// SPDX-License-Identifier: GPL-2.0-only

#include "ipv6-hashed-routing-helper.h"

#include "ns3/abort.h"
#include "ns3/ipv6-hashed-routing.h"
#include "ns3/ipv6.h"
#include "ns3/node.h"

namespace ns3
{

Ipv6HashedRoutingHelper*
Ipv6HashedRoutingHelper::Copy() const
{
    return new Ipv6HashedRoutingHelper(*this);
}

Ptr<Ipv6RoutingProtocol>
Ipv6HashedRoutingHelper::Create(Ptr<Node> /* node */) const
{
    return CreateObject<Ipv6HashedRouting>();
}

Ptr<Ipv6HashedRouting>
Ipv6HashedRoutingHelper::GetRouting(Ptr<Node> node)
{
    const Ptr<Ipv6> ipv6 = node->GetObject<Ipv6>();
    NS_ABORT_MSG_UNLESS(ipv6, "node " << node->GetId() << " has no internet stack");
    const Ptr<Ipv6HashedRouting> routing =
        DynamicCast<Ipv6HashedRouting>(ipv6->GetRoutingProtocol());
    NS_ABORT_MSG_UNLESS(routing, "node " << node->GetId() << " does not use Ipv6HashedRouting");
    return routing;
}

} // namespace ns3
