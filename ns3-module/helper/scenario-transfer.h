// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_TRANSFER_H
#define SCENARIO_TRANSFER_H

#include <cstdint>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * A flow of a scenario, over whatever transport.
 */
class ScenarioTransfer
{
  public:
    ScenarioTransfer() = default;
    virtual ~ScenarioTransfer() = default;

    ScenarioTransfer(const ScenarioTransfer&) = delete;
    ScenarioTransfer& operator=(const ScenarioTransfer&) = delete;

    /// Its receiver node has another router and another address. TCP has no answer to that: its
    /// connection breaks.
    virtual void NotifyMove()
    {
    }

    /**
     * One of its transmissions, which it has numbered with a TransmissionTag, is lost.
     *
     * @param number The transmission's number.
     * @param inQueue Whether a queue dropped it; else an error model took it.
     */
    virtual void NotifyLoss(uint64_t /* number */, bool /* inQueue */)
    {
    }

    /// Writes a row, if it goes on.
    virtual void Sample() = 0;

    /// Writes its last state, if it has not ended, and lets go of everything.
    virtual void Finish() = 0;

    /**
     * @return Whether the run need not wait for it: it has ended, or is in the background.
     */
    virtual bool IsDone() const = 0;

    /**
     * @return Bytes delivered so far.
     */
    virtual uint64_t GetDelivered() const = 0;
};

} // namespace ns3

#endif /* SCENARIO_TRANSFER_H */
