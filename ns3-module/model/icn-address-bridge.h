// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_ADDRESS_BRIDGE_H
#define ICN_ADDRESS_BRIDGE_H

// For source files only: it includes a generated header.
#include "ferrocc-ffi/src/icn.rs.h"

#include "ns3/address.h"
#include "ns3/ipv4-address.h"
#include "ns3/ipv6-address.h"
#include "ns3/simulator.h"

namespace ns3
{
namespace bridge
{

/**
 * @ingroup ferrocc
 *
 * @param address An Ipv4Address or an Ipv6Address; anything else is no address.
 * @return The same for the engines.
 */
inline ferrocc::NodeAddress
FromAddress(const Address& address)
{
    ferrocc::NodeAddress result{0, {}};
    if (Ipv4Address::IsMatchingType(address))
    {
        result.family = 4;
        Ipv4Address::ConvertFrom(address).Serialize(result.bytes.data());
    }
    else if (Ipv6Address::IsMatchingType(address))
    {
        result.family = 6;
        Ipv6Address::ConvertFrom(address).Serialize(result.bytes.data());
    }
    return result;
}

/**
 * @ingroup ferrocc
 *
 * @param address An address of the engines.
 * @return The same for ns-3; an invalid address if it is none.
 */
inline Address
ToAddress(const ferrocc::NodeAddress& address)
{
    switch (address.family)
    {
    case 4:
        return Ipv4Address::Deserialize(address.bytes.data());
    case 6:
        return Ipv6Address::Deserialize(address.bytes.data());
    default:
        return Address();
    }
}

/**
 * @ingroup ferrocc
 *
 * @return The time now, as the engines count it.
 */
inline uint64_t
NowNs()
{
    return static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
}

/**
 * @ingroup ferrocc
 *
 * @param deadline A time of an engine, ns.
 * @return How long it is until then.
 */
inline Time
Until(uint64_t deadline)
{
    const uint64_t now = NowNs();
    return NanoSeconds(deadline > now ? deadline - now : 0);
}

} // namespace bridge
} // namespace ns3

#endif /* ICN_ADDRESS_BRIDGE_H */
