// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_STACK_HELPER_H
#define ICN_STACK_HELPER_H

#include "ns3/node-container.h"

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Puts the ICN transport on nodes that have an internet stack.
 */
class IcnStackHelper
{
  public:
    /**
     * Aggregates an IcnL4Protocol to a node, unless it has one.
     *
     * @param node The node, with Ipv4 or Ipv6.
     */
    void Install(Ptr<Node> node) const;

    /**
     * Does the same for several nodes.
     *
     * @param nodes The nodes.
     */
    void Install(const NodeContainer& nodes) const;
};

} // namespace ns3

#endif /* ICN_STACK_HELPER_H */
