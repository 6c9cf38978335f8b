// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_DROPS_H
#define SCENARIO_DROPS_H

#include "ns3/callback.h"
#include "ns3/ptr.h"
#include "ns3/tag.h"

#include <cstdint>

namespace ns3
{

class Packet;
class QueueDiscItem;

/**
 * @ingroup ferrocc
 *
 * Says which transmission of which flow a packet is.
 */
class TransmissionTag : public Tag
{
  public:
    TransmissionTag() = default;

    /**
     * @param flow Number of the flow, from 0.
     * @param number Number of its transmission, from 1.
     */
    TransmissionTag(uint32_t flow, uint64_t number);

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

    uint32_t flow{0};   //!< Number of the flow, from 0.
    uint64_t number{0}; //!< Number of its transmission, from 1; 0 for none.
};

/**
 * @ingroup ferrocc
 *
 * Tells what queues and error models of all nodes take of the packets that have a TransmissionTag.
 */
class ScenarioDrops
{
  public:
    /// Called with the flow, the transmission, and whether a queue took it.
    using DropCallback = Callback<void, uint32_t, uint64_t, bool>;

    /**
     * Watches all devices of all nodes that there are.
     *
     * @param callback Called for each packet that is taken.
     */
    explicit ScenarioDrops(DropCallback callback);

    ScenarioDrops(const ScenarioDrops&) = delete;
    ScenarioDrops& operator=(const ScenarioDrops&) = delete;

  private:
    /// A queue disc has dropped a packet. @param item The packet.
    void OnDiscDrop(Ptr<const QueueDiscItem> item);
    /// A device has not taken a packet to send. @param packet The packet.
    void OnDeviceDrop(Ptr<const Packet> packet);
    /// An error model has taken a packet. @param packet The packet.
    void OnErrorLoss(Ptr<const Packet> packet);
    /// Tells the callback. @param packet The packet. @param inQueue Whether a queue took it.
    void Report(const Packet& packet, bool inQueue) const;

    DropCallback m_callback; //!< Called for each packet that is taken.
};

} // namespace ns3

#endif /* SCENARIO_DROPS_H */
