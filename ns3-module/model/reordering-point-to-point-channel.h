// SPDX-License-Identifier: GPL-2.0-only

#ifndef REORDERING_POINT_TO_POINT_CHANNEL_H
#define REORDERING_POINT_TO_POINT_CHANNEL_H

#include "ns3/point-to-point-channel.h"
#include "ns3/random-variable-stream.h"

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * A point-to-point link that holds some packets of one direction back for an extra, exponentially
 * distributed delay, so that later packets overtake them; the other direction may take longer than
 * this one. Both are properties of the medium: the sender's queue and transmission times, and the
 * receiver's error model, are as without it.
 *
 * The channel's TxRxPointToPoint trace does not fire for packets that take longer.
 */
class ReorderingPointToPointChannel : public PointToPointChannel
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    ReorderingPointToPointChannel();
    ~ReorderingPointToPointChannel() override;

    bool TransmitStart(Ptr<const Packet> p, Ptr<PointToPointNetDevice> src, Time txTime) override;

    /**
     * Assigns fixed stream numbers to the random variables.
     *
     * @param stream The first stream number.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * @return How many packets were held back so far.
     */
    uint64_t GetHeldBack() const;

  private:
    /**
     * Sends a packet that takes longer.
     *
     * @param p The packet.
     * @param sender Index of the device that sends it.
     * @param delay Transmission, propagation and what is added to them.
     */
    void Deliver(Ptr<const Packet> p, uint32_t sender, Time delay);

    double m_probability;                       //!< Probability that a packet is held back.
    Time m_extraDelay;                          //!< Mean of the extra delay.
    Time m_reverseExtraDelay;                   //!< Added for the other device's packets.
    uint32_t m_direction;                       //!< Index of the device whose packets are meant.
    uint64_t m_heldBack;                        //!< Packets held back so far.
    Ptr<UniformRandomVariable> m_choice;        //!< Decides whether.
    Ptr<ExponentialRandomVariable> m_holdSteps; //!< Decides how long, in units of the mean.
};

} // namespace ns3

#endif /* REORDERING_POINT_TO_POINT_CHANNEL_H */
