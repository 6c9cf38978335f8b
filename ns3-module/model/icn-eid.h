// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_EID_H
#define ICN_EID_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * An entity identifier (EID) of 160 bits: the name of a piece of content (NDC) or of a device.
 */
struct IcnEid
{
    /// Length in bytes.
    static constexpr std::size_t SIZE = 20;

    /// The bits, in network order.
    std::array<uint8_t, SIZE> bytes{};

    /**
     * @param name A device's name, unique in the simulation.
     * @return The device's EID: a hash of the name.
     */
    static IcnEid OfDevice(const std::string& name);

    /**
     * @param other Another EID.
     * @return Whether both are the same.
     */
    bool operator==(const IcnEid& other) const
    {
        return bytes == other.bytes;
    }

    /**
     * @param other Another EID.
     * @return Whether both differ.
     */
    bool operator!=(const IcnEid& other) const
    {
        return !(*this == other);
    }
};

/**
 * Prints an EID as 40 hexadecimal digits.
 *
 * @param os The stream.
 * @param eid The EID.
 * @return The stream.
 */
std::ostream& operator<<(std::ostream& os, const IcnEid& eid);

/**
 * @ingroup ferrocc
 *
 * What tells the transfers of a node apart: which of its endpoints asks for which NDC.
 */
struct IcnTransferKey
{
    IcnEid device; //!< The receiver's EID.
    IcnEid ndc;    //!< The NDC's EID.

    /**
     * @param other Another key.
     * @return Whether both are the same.
     */
    bool operator==(const IcnTransferKey& other) const
    {
        return device == other.device && ndc == other.ndc;
    }
};

/**
 * @ingroup ferrocc
 *
 * Hash of an EID, which is a cryptographic hash, so that some of its bits do.
 */
struct IcnEidHash
{
    /**
     * @param eid The EID.
     * @return Its hash.
     */
    std::size_t operator()(const IcnEid& eid) const
    {
        std::size_t bits;
        std::memcpy(&bits, eid.bytes.data(), sizeof(bits));
        return bits;
    }
};

/**
 * @ingroup ferrocc
 *
 * Hash of a transfer's key. EIDs are cryptographic hashes, so that some bits of both do.
 */
struct IcnTransferKeyHash
{
    /**
     * @param key The key.
     * @return Its hash.
     */
    std::size_t operator()(const IcnTransferKey& key) const
    {
        uint64_t device;
        uint64_t ndc;
        std::memcpy(&device, key.device.bytes.data(), sizeof(device));
        std::memcpy(&ndc, key.ndc.bytes.data(), sizeof(ndc));
        return static_cast<std::size_t>(device + 3 * ndc);
    }
};

} // namespace ns3

#endif /* ICN_EID_H */
