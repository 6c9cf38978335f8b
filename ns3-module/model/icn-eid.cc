// SPDX-License-Identifier: GPL-2.0-only

#include "icn-eid.h"

namespace ns3
{

IcnEid
IcnEid::ForEndpoint(uint32_t node, uint32_t index)
{
    static constexpr char PREFIX[] = {'e', 'n', 'd', 'p', 'o', 'i', 'n', 't'};
    IcnEid eid;
    std::memcpy(eid.bytes.data(), PREFIX, sizeof(PREFIX));
    for (std::size_t i = 0; i < 4; i++)
    {
        const auto shift = static_cast<uint32_t>(8 * (3 - i));
        eid.bytes[SIZE - 8 + i] = static_cast<uint8_t>(node >> shift);
        eid.bytes[SIZE - 4 + i] = static_cast<uint8_t>(index >> shift);
    }
    return eid;
}

std::ostream&
operator<<(std::ostream& os, const IcnEid& eid)
{
    static constexpr char DIGITS[] = "0123456789abcdef";
    for (const uint8_t byte : eid.bytes)
    {
        os << DIGITS[byte >> 4] << DIGITS[byte & 0xf];
    }
    return os;
}

} // namespace ns3
