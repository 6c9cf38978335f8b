// SPDX-License-Identifier: GPL-2.0-only

#include "icn-header.h"

#include "ferrocc-ffi/src/wire.rs.h"

#include "ns3/assert.h"
#include "ns3/packet.h"

#include <algorithm>
#include <cstring>

namespace ns3
{

namespace
{

// The fixed part of the format (rust-core/src/wire) that tells where a packet belongs. Everything
// else is the engines' business.

/// First byte of an ID header that a transport header follows.
constexpr uint8_t NEXT_HEADER_TRANSPORT = 1;
/// Where the source EID starts.
constexpr uint32_t SOURCE_AT = 1;
/// Where the destination EID starts.
constexpr uint32_t DESTINATION_AT = SOURCE_AT + IcnEid::SIZE;
/// Where the message type is.
constexpr uint32_t MESSAGE_TYPE_AT = DESTINATION_AT + IcnEid::SIZE;
/// Message type of a REQ.
constexpr uint8_t REQUEST = 1;
/// Message type of DATA.
constexpr uint8_t DATA = 2;

/// As many bytes as the header of a DATA packet or a plain REQ has, in one go.
constexpr uint32_t USUAL_SIZE = 88;

/**
 * @param bytes The ID header.
 * @param at Where an EID starts.
 * @return The EID.
 */
IcnEid
ReadEid(const uint8_t* bytes, uint32_t at)
{
    IcnEid eid;
    std::memcpy(eid.bytes.data(), bytes + at, IcnEid::SIZE);
    return eid;
}

} // namespace

NS_OBJECT_ENSURE_REGISTERED(IcnHeader);

TypeId
IcnHeader::GetTypeId()
{
    static TypeId tid = TypeId("ns3::IcnHeader")
                            .SetParent<Header>()
                            .SetGroupName("Ferrocc")
                            .AddConstructor<IcnHeader>();
    return tid;
}

IcnHeader::IcnHeader()
    : m_size(0)
{
}

IcnHeader::IcnHeader(const uint8_t* bytes, uint32_t size)
    : m_size(size)
{
    NS_ASSERT_MSG(size <= MAX_SIZE, "an ICN header of " << size << " bytes");
    std::memcpy(m_bytes.data(), bytes, size);
}

uint32_t
IcnHeader::Peek(const Packet& packet)
{
    uint32_t available = packet.CopyData(m_bytes.data(), USUAL_SIZE);
    m_size = ferrocc::wire::header_len({m_bytes.data(), available});
    if (m_size > available)
    {
        available = packet.CopyData(m_bytes.data(), MAX_SIZE);
        m_size = m_size <= available ? m_size : 0;
    }
    return m_size;
}

IcnHeader::Kind
IcnHeader::GetKind(const Packet& packet)
{
    std::array<uint8_t, MESSAGE_TYPE_AT + 1> start;
    if (packet.CopyData(start.data(), start.size()) < start.size() ||
        start[0] != NEXT_HEADER_TRANSPORT)
    {
        return Kind::NONE;
    }
    switch (start[MESSAGE_TYPE_AT])
    {
    case REQUEST:
        return Kind::REQUEST;
    case DATA:
        return Kind::DATA;
    default:
        return Kind::NONE;
    }
}

bool
IcnHeader::SetMark()
{
    return ferrocc::wire::set_mark({m_bytes.data(), m_size});
}

bool
IcnHeader::IsRequest() const
{
    return m_size != 0 && m_bytes[MESSAGE_TYPE_AT] == REQUEST;
}

bool
IcnHeader::IsData() const
{
    return m_size != 0 && m_bytes[MESSAGE_TYPE_AT] == DATA;
}

IcnEid
IcnHeader::GetSource() const
{
    return ReadEid(m_bytes.data(), SOURCE_AT);
}

IcnEid
IcnHeader::GetDestination() const
{
    return ReadEid(m_bytes.data(), DESTINATION_AT);
}

TypeId
IcnHeader::GetInstanceTypeId() const
{
    return GetTypeId();
}

void
IcnHeader::Print(std::ostream& os) const
{
    const auto text = ferrocc::wire::describe({m_bytes.data(), m_size});
    os.write(text.data(), static_cast<std::streamsize>(text.size()));
}

uint32_t
IcnHeader::GetSerializedSize() const
{
    return m_size;
}

void
IcnHeader::Serialize(Buffer::Iterator start) const
{
    start.Write(m_bytes.data(), m_size);
}

uint32_t
IcnHeader::Deserialize(Buffer::Iterator start)
{
    const uint32_t available = std::min(start.GetRemainingSize(), MAX_SIZE);
    start.Read(m_bytes.data(), available);
    const uint32_t size = ferrocc::wire::header_len({m_bytes.data(), available});
    m_size = size <= available ? size : 0;
    return m_size;
}

} // namespace ns3
