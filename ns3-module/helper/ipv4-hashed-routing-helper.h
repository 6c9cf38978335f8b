// SPDX-License-Identifier: GPL-2.0-only

#ifndef IPV4_HASHED_ROUTING_HELPER_H
#define IPV4_HASHED_ROUTING_HELPER_H

#include "ns3/ipv4-routing-helper.h"

namespace ns3
{

class Ipv4HashedRouting;

/**
 * @ingroup ferrocc
 *
 * Lets InternetStackHelper install Ipv4HashedRouting.
 */
class Ipv4HashedRoutingHelper : public Ipv4RoutingHelper
{
  public:
    Ipv4HashedRoutingHelper* Copy() const override;
    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node> node) const override;

    /**
     * @param node A node.
     * @return Its routing table; the program aborts if it has none.
     */
    static Ptr<Ipv4HashedRouting> GetRouting(Ptr<Node> node);
};

} // namespace ns3

#endif /* IPV4_HASHED_ROUTING_HELPER_H */
