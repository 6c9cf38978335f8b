// SPDX-License-Identifier: GPL-2.0-only

#include "ipv4-hashed-routing-helper.h"

#include "ns3/abort.h"
#include "ns3/ipv4-hashed-routing.h"
#include "ns3/ipv4.h"
#include "ns3/node.h"

namespace ns3
{

Ipv4HashedRoutingHelper*
Ipv4HashedRoutingHelper::Copy() const
{
    return new Ipv4HashedRoutingHelper(*this);
}

Ptr<Ipv4RoutingProtocol>
Ipv4HashedRoutingHelper::Create(Ptr<Node> /* node */) const
{
    return CreateObject<Ipv4HashedRouting>();
}

Ptr<Ipv4HashedRouting>
Ipv4HashedRoutingHelper::GetRouting(Ptr<Node> node)
{
    const Ptr<Ipv4> ipv4 = node->GetObject<Ipv4>();
    NS_ABORT_MSG_UNLESS(ipv4, "node " << node->GetId() << " has no internet stack");
    const Ptr<Ipv4HashedRouting> routing =
        DynamicCast<Ipv4HashedRouting>(ipv4->GetRoutingProtocol());
    NS_ABORT_MSG_UNLESS(routing, "node " << node->GetId() << " does not use Ipv4HashedRouting");
    return routing;
}

} // namespace ns3
