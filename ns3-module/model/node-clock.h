// SPDX-License-Identifier: GPL-2.0-only

#ifndef NODE_CLOCK_H
#define NODE_CLOCK_H

#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>

namespace ns3
{

class Node;

/**
 * @ingroup ferrocc
 *
 * A node's own clock, aggregated to the node: it reads t + offset + skew x t where the simulator's
 * reads t. A replica stamps its DATA by it, a receiver takes its one-way samples by it. Timers do
 * not use it, nor do round-trip times.
 *
 * A node without this object has an exact clock.
 */
class NodeClock : public Object
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    NodeClock();
    ~NodeClock() override;

    /**
     * @return What the clock is ahead of the simulator's now, nanoseconds.
     */
    int64_t GetErrorNs() const;

    /**
     * Sets the clock forward, or back.
     *
     * @param step By how much.
     */
    void Step(Time step);

    /**
     * @param node A node, or null.
     * @return Its clock, or null if that is exact.
     */
    static Ptr<NodeClock> Of(Ptr<Node> node);

  private:
    /**
     * @param ppm How much faster the clock runs, parts per million.
     */
    void SetSkew(double ppm);

    /**
     * @return How much faster the clock runs, parts per million.
     */
    double GetSkew() const;

    Time m_offset;     //!< What it is ahead at time zero.
    int64_t m_skewPpb; //!< Nanoseconds that it gains per second.
};

} // namespace ns3

#endif /* NODE_CLOCK_H */
