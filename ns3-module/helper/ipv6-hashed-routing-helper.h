// SPDX-License-Identifier: GPL-2.0-only

#ifndef IPV6_HASHED_ROUTING_HELPER_H
#define IPV6_HASHED_ROUTING_HELPER_H

#include "ns3/ipv6-routing-helper.h"

namespace ns3
{

class Ipv6HashedRouting;

/**
 * @ingroup ferrocc
 *
 * Lets InternetStackHelper install Ipv6HashedRouting.
 */
class Ipv6HashedRoutingHelper : public Ipv6RoutingHelper
{
  public:
    Ipv6HashedRoutingHelper* Copy() const override;
    Ptr<Ipv6RoutingProtocol> Create(Ptr<Node> node) const override;

    /**
     * @param node A node.
     * @return Its routing table; the program aborts if it has none.
     */
    static Ptr<Ipv6HashedRouting> GetRouting(Ptr<Node> node);
};

} // namespace ns3

#endif /* IPV6_HASHED_ROUTING_HELPER_H */
