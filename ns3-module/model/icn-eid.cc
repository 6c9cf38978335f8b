// SPDX-License-Identifier: GPL-2.0-only

#include "icn-eid.h"

#include "ferrocc-ffi/src/transport.rs.h"

namespace ns3
{

IcnEid
IcnEid::OfDevice(const std::string& name)
{
    return {ferrocc::transport::device_eid(name).bytes};
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
