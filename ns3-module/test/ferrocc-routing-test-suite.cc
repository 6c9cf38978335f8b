// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-hashed-routing-helper.h"
#include "ns3/ipv4-hashed-routing.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/link-helper.h"
#include "ns3/node-container.h"
#include "ns3/ns3-compat.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/udp-socket-factory.h"

/**
 * @file
 * @ingroup ferrocc
 *
 * Suite ferrocc-routing: hashed routes on the way out, in a router and at the end.
 */

using namespace ns3;

/**
 * @ingroup ferrocc
 *
 * Datagrams cross a router in a line of three nodes.
 */
class HashedRoutingTestCase : public TestCase
{
  public:
    HashedRoutingTestCase()
        : TestCase("host routes, default routes and local addresses")
    {
    }

  private:
    void DoRun() override;

    /**
     * Sends a datagram at time zero.
     *
     * @param from The sending node.
     * @param to The destination.
     */
    void SendDatagram(Ptr<Node> from, Ipv4Address to);

    /**
     * Counts a packet that IPv4 dropped.
     *
     * @param header Its header.
     * @param packet The packet.
     * @param reason Why.
     * @param ipv4 Where.
     * @param interface Where.
     */
    void OnDrop(const Ipv4Header& header,
                Ptr<const Packet> packet,
                Ipv4L3Protocol::DropReason reason,
                Ptr<Ipv4> ipv4,
                uint32_t interface);

    uint32_t m_noRoute{0}; //!< Packets dropped for want of a route.
};

void
HashedRoutingTestCase::OnDrop(const Ipv4Header& /* header */,
                              Ptr<const Packet> /* packet */,
                              Ipv4L3Protocol::DropReason reason,
                              Ptr<Ipv4> /* ipv4 */,
                              uint32_t /* interface */)
{
    if (reason == Ipv4L3Protocol::DROP_NO_ROUTE)
    {
        m_noRoute++;
    }
}

void
HashedRoutingTestCase::SendDatagram(Ptr<Node> from, Ipv4Address to)
{
    const Ptr<Socket> socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
    socket->SendTo(Create<Packet>(100), 0, InetSocketAddress(to, 9));
}

void
HashedRoutingTestCase::DoRun()
{
    NodeContainer nodes(3);
    const Ipv4HashedRoutingHelper helper;
    InternetStackHelper internet;
    internet.SetRoutingHelper(helper);
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    const Ptr<Node> a = nodes.Get(0);
    const Ptr<Node> router = nodes.Get(1);
    const Ptr<Node> c = nodes.Get(2);
    LinkHelper links;
    const Link left = links.Install(a, router, LinkSpec());
    const Link right = links.Install(router, c, LinkSpec());
    NS_TEST_ASSERT_MSG_NE(left.ends[1].address, right.ends[0].address, "networks differ");

    auto routing = helper.GetRouting(router);
    helper.GetRouting(a)->SetDefaultRoute(left.ends[1].address, left.ends[0].interface);
    routing->AddHostRoute(right.ends[1].address, right.ends[1].address, right.ends[0].interface);
    routing->AddHostRoute(right.ends[1].address, right.ends[1].address, right.ends[0].interface);
    NS_TEST_ASSERT_MSG_EQ(routing->GetNRoutes(), 1, "the second one replaces the first one");

    Ipv4Header header;
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    header.SetDestination(right.ends[1].address);
    auto route = routing->RouteOutput(nullptr, header, nullptr, error);
    NS_TEST_ASSERT_MSG_NE(route, nullptr, "host route");
    NS_TEST_ASSERT_MSG_EQ(route->GetOutputDevice(), right.ends[0].device, "its device");
    NS_TEST_ASSERT_MSG_EQ(route->GetSource(), right.ends[0].address, "its source address");
    route = routing->RouteOutput(nullptr, header, left.ends[1].device, error);
    NS_TEST_ASSERT_MSG_EQ(route, nullptr, "not by another device");
    header.SetDestination(Ipv4Address("192.0.2.1"));
    route = routing->RouteOutput(nullptr, header, nullptr, error);
    NS_TEST_ASSERT_MSG_EQ(route, nullptr, "no default route");
    NS_TEST_ASSERT_MSG_EQ(error, Socket::ERROR_NOROUTETOHOST, "and its error");
    header.SetDestination(left.ends[1].address);
    route = routing->RouteOutput(nullptr, header, nullptr, error);
    NS_TEST_ASSERT_MSG_NE(route, nullptr, "own address");
    NS_TEST_ASSERT_MSG_EQ(route->GetGateway(), Ipv4Address::GetAny(), "by loopback");

    uint32_t received = 0;
    const Ptr<Socket> sink = Socket::CreateSocket(c, UdpSocketFactory::GetTypeId());
    sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
    router->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
        "Drop",
        MakeCallback(&HashedRoutingTestCase::OnDrop, this));
    Simulator::ScheduleWithContext(a->GetId(),
                                   Seconds(0),
                                   &HashedRoutingTestCase::SendDatagram,
                                   this,
                                   a,
                                   right.ends[1].address);
    Simulator::ScheduleWithContext(a->GetId(),
                                   Seconds(0),
                                   &HashedRoutingTestCase::SendDatagram,
                                   this,
                                   a,
                                   Ipv4Address("192.0.2.1"));
    Simulator::Stop(Seconds(1));
    Simulator::Run();
    while (sink->Recv())
    {
        received++;
    }
    NS_TEST_ASSERT_MSG_EQ(received, 1, "forwarded");
    NS_TEST_ASSERT_MSG_EQ(m_noRoute, 1, "dropped without a route");
    Simulator::Destroy();
}

/**
 * @ingroup ferrocc
 *
 * The suite.
 */
class FerroccRoutingTestSuite : public TestSuite
{
  public:
    FerroccRoutingTestSuite()
        : TestSuite("ferrocc-routing", Type::UNIT)
    {
        AddTestCase(new HashedRoutingTestCase, compat::QuickTest());
    }
};

static FerroccRoutingTestSuite g_ferroccRoutingTestSuite; //!< Registers the suite.
