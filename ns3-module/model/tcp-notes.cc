// SPDX-License-Identifier: GPL-2.0-only

#include "tcp-notes.h"

#include <ostream>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(TcpSegmentNoteTag);
NS_OBJECT_ENSURE_REGISTERED(TcpAckNoteTag);

TypeId
TcpSegmentNoteTag::GetTypeId()
{
    static TypeId tid = TypeId("ns3::TcpSegmentNoteTag")
                            .SetParent<Tag>()
                            .SetGroupName("Ferrocc")
                            .AddConstructor<TcpSegmentNoteTag>();
    return tid;
}

TypeId
TcpSegmentNoteTag::GetInstanceTypeId() const
{
    return GetTypeId();
}

uint32_t
TcpSegmentNoteTag::GetSerializedSize() const
{
    return 16;
}

void
TcpSegmentNoteTag::Serialize(TagBuffer buffer) const
{
    buffer.WriteU64(transmission);
    buffer.WriteU64(sentNs);
}

void
TcpSegmentNoteTag::Deserialize(TagBuffer buffer)
{
    transmission = buffer.ReadU64();
    sentNs = buffer.ReadU64();
}

void
TcpSegmentNoteTag::Print(std::ostream& os) const
{
    os << "transmission=" << transmission << " sent=" << sentNs << "ns";
}

TypeId
TcpAckNoteTag::GetTypeId()
{
    static TypeId tid = TypeId("ns3::TcpAckNoteTag")
                            .SetParent<Tag>()
                            .SetGroupName("Ferrocc")
                            .AddConstructor<TcpAckNoteTag>();
    return tid;
}

TypeId
TcpAckNoteTag::GetInstanceTypeId() const
{
    return GetTypeId();
}

uint32_t
TcpAckNoteTag::GetSerializedSize() const
{
    return 2 * 8 + 3 * 4 + 1;
}

void
TcpAckNoteTag::Serialize(TagBuffer buffer) const
{
    buffer.WriteU64(sentNs);
    buffer.WriteU64(receivedNs);
    buffer.WriteU32(duplicate);
    buffer.WriteU32(duplicateBytes);
    buffer.WriteU32(repeat);
    buffer.WriteU8((isOutOfOrder ? 1 : 0) | (isMarked ? 2 : 0));
}

void
TcpAckNoteTag::Deserialize(TagBuffer buffer)
{
    sentNs = buffer.ReadU64();
    receivedNs = buffer.ReadU64();
    duplicate = buffer.ReadU32();
    duplicateBytes = buffer.ReadU32();
    repeat = buffer.ReadU32();
    const uint8_t flags = buffer.ReadU8();
    isOutOfOrder = (flags & 1) != 0;
    isMarked = (flags & 2) != 0;
}

void
TcpAckNoteTag::Print(std::ostream& os) const
{
    os << "sent=" << sentNs << "ns received=" << receivedNs << "ns duplicate=" << duplicate << "+"
       << duplicateBytes << " repeat=" << repeat << " out-of-order=" << isOutOfOrder
       << " marked=" << isMarked;
}

} // namespace ns3
