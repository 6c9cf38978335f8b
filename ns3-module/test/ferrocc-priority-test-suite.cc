// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/icn-l4-protocol.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/node.h"
#include "ns3/ns3-compat.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/topo1-helper.h"

#include <algorithm>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup ferrocc
 *
 * Suite ferrocc-priority: DATA with the expedited codepoint overtakes the queue of a router.
 */

using namespace ns3;

/**
 * @ingroup ferrocc
 *
 * The replica sends a burst that fills the bottleneck's queue, and one packet behind it. The queue
 * is in IR2, which forwards: the socket's tags of the packet are gone there.
 */
class OvertakingTestCase : public TestCase
{
  public:
    /**
     * @param ipv6 Whether IPv6 is used instead of IPv4.
     * @param dscp Codepoint of the packet that comes last.
     */
    OvertakingTestCase(bool ipv6, uint8_t dscp)
        : TestCase(std::string(ipv6 ? "IPv6" : "IPv4") + ": a packet with codepoint " +
                   std::to_string(dscp) + " behind a burst"),
          m_ipv6(ipv6),
          m_dscp(dscp)
    {
    }

  private:
    void DoRun() override;

    /// Sends the burst and the packet behind it.
    void SendBurst();

    /**
     * Notes a packet that arrived at the receiver.
     *
     * @param header Its header.
     * @param packet The packet.
     * @param interface Where it arrived.
     */
    template <typename Header>
    void OnArrival(const Header& header, Ptr<const Packet> packet, uint32_t interface);

    static constexpr uint32_t BUFFER = 20;       //!< The best-effort band's limit, packets.
    static constexpr uint32_t DEVICE_QUEUE = 2;  //!< The limit of the queue in the device.
    static constexpr uint32_t BURST = 60;        //!< Packets in the burst.
    static constexpr uint32_t BURST_SIZE = 1000; //!< Their size, bytes.
    static constexpr uint32_t LAST_SIZE = 500;   //!< Size of the packet behind them.

    bool m_ipv6;                       //!< Whether IPv6 is used instead of IPv4.
    uint8_t m_dscp;                    //!< Codepoint of the packet that comes last.
    Ptr<IcnL4Protocol> m_protocol;     //!< The replica's transport.
    Address m_destination;             //!< The receiver.
    std::vector<uint32_t> m_arrivals;  //!< Sizes of what arrived, in order.
    std::vector<uint8_t> m_codepoints; //!< Their codepoints.
};

void
OvertakingTestCase::SendBurst()
{
    for (uint32_t i = 0; i < BURST; i++)
    {
        m_protocol->SendPacket(Create<Packet>(BURST_SIZE), m_destination, 0);
    }
    m_protocol->SendPacket(Create<Packet>(LAST_SIZE), m_destination, m_dscp);
}

template <typename Header>
void
OvertakingTestCase::OnArrival(const Header& header,
                              Ptr<const Packet> packet,
                              uint32_t /* interface */)
{
    m_arrivals.push_back(packet->GetSize());
    m_codepoints.push_back(header.GetDscp());
}

void
OvertakingTestCase::DoRun()
{
    Topo1Helper::Config config;
    config.ipv6 = m_ipv6;
    config.bottleneck.rate = DataRate("1Mbps");
    config.bottleneck.buffer = std::to_string(BUFFER) + "p";
    config.bottleneck.priority = true;
    config.bottleneck.deviceQueuePackets = DEVICE_QUEUE;
    const Topo1Helper network(config);
    m_protocol = network.GetReplica()->GetObject<IcnL4Protocol>();
    m_destination = network.GetLinks().back().ends[1].address;
    if (m_ipv6)
    {
        network.GetReceiver(0)->GetObject<Ipv6L3Protocol>()->TraceConnectWithoutContext(
            "LocalDeliver",
            MakeCallback(&OvertakingTestCase::OnArrival<Ipv6Header>, this));
    }
    else
    {
        network.GetReceiver(0)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
            "LocalDeliver",
            MakeCallback(&OvertakingTestCase::OnArrival<Ipv4Header>, this));
    }
    Simulator::ScheduleWithContext(network.GetReplica()->GetId(),
                                   Seconds(1),
                                   &OvertakingTestCase::SendBurst,
                                   this);
    Simulator::Stop(Seconds(10));
    Simulator::Run();

    const auto found = std::find(m_arrivals.begin(), m_arrivals.end(), LAST_SIZE);
    const auto& stats = network.GetBottleneck().ends[0].disc->GetStats();
    NS_TEST_ASSERT_MSG_GT(stats.nTotalDroppedPackets, 0, "the queue was full");
    if (m_dscp == 0)
    {
        NS_TEST_ASSERT_MSG_EQ((found == m_arrivals.end()), true, "best effort: dropped at the end");
    }
    else
    {
        NS_TEST_ASSERT_MSG_EQ((found != m_arrivals.end()), true, "expedited: arrives");
        const auto before = static_cast<std::size_t>(found - m_arrivals.begin());
        NS_TEST_ASSERT_MSG_GT(m_arrivals.size(), BUFFER, "the queue's packets arrive, too");
        // The burst comes at 1 Gbps, so that hardly anything leaves meanwhile: before it are the
        // packet on the link and those in the device.
        NS_TEST_ASSERT_MSG_LT_OR_EQ(before, DEVICE_QUEUE + 2, "it overtakes the queue");
        NS_TEST_ASSERT_MSG_EQ(+m_codepoints[before], +m_dscp, "the codepoint is in the IP header");
    }
    Simulator::Destroy();
}

/**
 * @ingroup ferrocc
 *
 * The suite.
 */
class FerroccPriorityTestSuite : public TestSuite
{
  public:
    FerroccPriorityTestSuite()
        : TestSuite("ferrocc-priority", Type::UNIT)
    {
        for (const bool ipv6 : {false, true})
        {
            AddTestCase(new OvertakingTestCase(ipv6, Ipv4Header::DSCP_EF), compat::QuickTest());
            AddTestCase(new OvertakingTestCase(ipv6, Ipv4Header::DscpDefault), compat::QuickTest());
        }
    }
};

static FerroccPriorityTestSuite g_ferroccPriorityTestSuite; //!< Registers the suite.
