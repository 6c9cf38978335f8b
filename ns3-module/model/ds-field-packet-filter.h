// SPDX-License-Identifier: GPL-2.0-only

#ifndef DS_FIELD_PACKET_FILTER_H
#define DS_FIELD_PACKET_FILTER_H

#include "ns3/packet-filter.h"

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Puts packets whose DS field has one given codepoint (default: EF, RFC 3246) into band 0 and all
 * others into band 1 of a PrioQueueDisc. The DS field travels in the IP header, so that this works
 * in routers, where the socket's priority tag is gone; and unlike the default Priomap it does not
 * put EF beside best effort.
 */
class DsFieldPacketFilter : public PacketFilter
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    DsFieldPacketFilter();
    ~DsFieldPacketFilter() override;

    /// The band of packets that bear the codepoint.
    static constexpr int32_t BAND_EXPEDITED = 0;
    /// The band of all others.
    static constexpr int32_t BAND_BEST_EFFORT = 1;

  private:
    bool CheckProtocol(Ptr<QueueDiscItem> item) const override;
    int32_t DoClassify(Ptr<QueueDiscItem> item) const override;

    uint8_t m_dscp; //!< The codepoint.
};

} // namespace ns3

#endif /* DS_FIELD_PACKET_FILTER_H */
