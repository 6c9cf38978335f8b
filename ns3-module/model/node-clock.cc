// SPDX-License-Identifier: GPL-2.0-only

#include "node-clock.h"

#include "ns3/double.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(NodeClock);

namespace
{

/// Parts per billion in a part per million.
constexpr double PPB_PER_PPM = 1000;
/// Nanoseconds in a second, and also parts per billion in one.
constexpr int64_t BILLION = 1'000'000'000;

} // namespace

TypeId
NodeClock::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::NodeClock")
            .SetParent<Object>()
            .SetGroupName("Ferrocc")
            .AddConstructor<NodeClock>()
            .AddAttribute("Offset",
                          "What the clock is ahead of the simulator's at time zero",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&NodeClock::m_offset),
                          MakeTimeChecker())
            .AddAttribute("Skew",
                          "How much faster the clock runs than the simulator's, parts per million, "
                          "to three decimals",
                          DoubleValue(0),
                          MakeDoubleAccessor(&NodeClock::SetSkew, &NodeClock::GetSkew),
                          MakeDoubleChecker<double>(-1e5, 1e5));
    return tid;
}

NodeClock::NodeClock()
    : m_skewPpb(0)
{
}

NodeClock::~NodeClock() = default;

int64_t
NodeClock::GetErrorNs() const
{
    // In whole numbers and without an overflow, so that an offset changes nothing else.
    const int64_t now = Simulator::Now().GetNanoSeconds();
    const int64_t gained = now / BILLION * m_skewPpb + now % BILLION * m_skewPpb / BILLION;
    return m_offset.GetNanoSeconds() + gained;
}

void
NodeClock::Step(Time step)
{
    m_offset += step;
}

Ptr<NodeClock>
NodeClock::Of(Ptr<Node> node)
{
    return node ? node->GetObject<NodeClock>() : nullptr;
}

void
NodeClock::SetSkew(double ppm)
{
    m_skewPpb = std::llround(ppm * PPB_PER_PPM);
}

double
NodeClock::GetSkew() const
{
    return static_cast<double>(m_skewPpb) / PPB_PER_PPM;
}

} // namespace ns3
