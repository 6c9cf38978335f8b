// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_LOCATOR_H
#define ICN_LOCATOR_H

#include "ns3/address.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Where an NDC is: a node that holds it.
 */
struct IcnLocator
{
    Address address;  //!< The node's address, an Ipv4Address or an Ipv6Address.
    uint16_t cost{0}; //!< What it costs to fetch the NDC there; less is better.
};

} // namespace ns3

#endif /* ICN_LOCATOR_H */
