// SPDX-License-Identifier: GPL-2.0-only

#ifndef TCP_NOTES_H
#define TCP_NOTES_H

#include "ns3/tag.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Which transmission of its sender a segment is, and when it left. It takes no room in the packet;
 * a real TCP would use TCP-DOOR's option TPSN and time stamps.
 */
class TcpSegmentNoteTag : public Tag
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();
    TypeId GetInstanceTypeId() const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(TagBuffer buffer) const override;
    void Deserialize(TagBuffer buffer) override;
    void Print(std::ostream& os) const override;

    uint64_t transmission{0}; //!< Number of the transmission, from 1.
    uint64_t sentNs{0};       //!< When it left, nanoseconds.
};

/**
 * @ingroup ferrocc
 *
 * What a receiver says beside an ACK: DSACK's block (RFC 2883), TCP-DOOR's option ADSN, the times
 * of the segment that the ACK answers, and whether a router has marked it. It takes no room in the
 * packet.
 */
class TcpAckNoteTag : public Tag
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();
    TypeId GetInstanceTypeId() const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(TagBuffer buffer) const override;
    void Deserialize(TagBuffer buffer) override;
    void Print(std::ostream& os) const override;

    uint64_t sentNs{0};         //!< When the segment had left, nanoseconds.
    uint64_t receivedNs{0};     //!< When it arrived, nanoseconds.
    uint32_t duplicate{0};      //!< First byte of a segment that arrived twice.
    uint32_t duplicateBytes{0}; //!< How many bytes that has; 0 if there was none.
    uint32_t repeat{0};         //!< How many ACKs have had the same number.
    bool isOutOfOrder{false};   //!< Whether segments have overtaken each other.
    bool isMarked{false};       //!< Whether a router has marked one.
};

} // namespace ns3

#endif /* TCP_NOTES_H */
