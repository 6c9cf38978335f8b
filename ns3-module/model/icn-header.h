// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_HEADER_H
#define ICN_HEADER_H

#include "icn-eid.h"

#include "ns3/header.h"

#include <array>
#include <cstdint>

namespace ns3
{

class Packet;

/**
 * @ingroup ferrocc
 *
 * The header of a REQ or DATA packet: ID header, transport header and options as one string of
 * bytes. The bytes are written and read by the transport engines; this class carries them in and
 * out of packets, and describes them where ns-3 prints a packet.
 */
class IcnHeader : public Header
{
  public:
    /// Longest header in bytes; the transport header's length field ends there.
    static constexpr uint32_t MAX_SIZE = 512;

    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    /// Makes an empty header, to be filled by Deserialize().
    IcnHeader();

    /**
     * Makes a header of bytes that an engine wrote.
     *
     * @param bytes The bytes.
     * @param size How many, at most MAX_SIZE.
     */
    IcnHeader(const uint8_t* bytes, uint32_t size);

    /**
     * Reads the header that a packet starts with and leaves it there. Cheaper than
     * Packet::PeekHeader, because no more bytes are looked at than the header has.
     *
     * @param packet The packet.
     * @return The header's length; zero if there is none.
     */
    uint32_t Peek(const Packet& packet);

    /**
     * @return The header's bytes, GetSerializedSize() of them.
     */
    const uint8_t* GetBytes() const
    {
        return m_bytes.data();
    }

    /// What a packet is.
    enum class Kind
    {
        NONE,    //!< No packet of the ICN transport.
        REQUEST, //!< A REQ.
        DATA,    //!< DATA.
    };

    /**
     * Tells what a packet is by the first bytes of its header.
     *
     * @param packet The packet; what it starts with is looked at as an ICN header.
     * @return What it is. Whether the rest of the header is right is not looked at.
     */
    static Kind GetKind(const Packet& packet);

    /**
     * Sets the congestion mark of DATA. The checksum stays right.
     *
     * @return False, and nothing is changed, if this is no DATA header.
     */
    bool SetMark();

    /**
     * @return Whether the packet is a REQ.
     */
    bool IsRequest() const;

    /**
     * @return Whether the packet is DATA.
     */
    bool IsData() const;

    /**
     * @return Who sends: the receiver's device in a REQ, the NDC in DATA.
     */
    IcnEid GetSource() const;

    /**
     * @return Who is meant: the NDC in a REQ, the receiver's device in DATA.
     */
    IcnEid GetDestination() const;

    TypeId GetInstanceTypeId() const override;
    void Print(std::ostream& os) const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(Buffer::Iterator start) const override;

    /**
     * Reads a header.
     *
     * @param start Where it begins.
     * @return Its length; zero if the bytes are no ICN header.
     */
    uint32_t Deserialize(Buffer::Iterator start) override;

  private:
    std::array<uint8_t, MAX_SIZE> m_bytes; //!< The header; the first m_size bytes hold.
    uint32_t m_size;                       //!< Its length in bytes.
};

} // namespace ns3

#endif /* ICN_HEADER_H */
