// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-hashed-routing-helper.h"
#include "ns3/ipv4-hashed-routing.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-hashed-routing-helper.h"
#include "ns3/ipv6-hashed-routing.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/link-helper.h"
#include "ns3/node-container.h"
#include "ns3/ns3-compat.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/udp-socket-factory.h"

#include <string>
#include <type_traits>

/**
 * @file
 * @ingroup ferrocc
 *
 * Suite ferrocc-routing: hashed routes on the way out, in a router and at the end.
 */

using namespace ns3;

namespace
{

/// What the test needs to know of IPv4.
struct Version4
{
    using L3Protocol = Ipv4L3Protocol;      //!< The protocol's class.
    using Stack = Ipv4;                     //!< Its interface.
    using Header = Ipv4Header;              //!< Its header.
    using IpAddress = Ipv4Address;          //!< Its addresses.
    using Helper = Ipv4HashedRoutingHelper; //!< Installs its hashed routing.
    static constexpr char NAME[] = "IPv4";  //!< Its name.
    static constexpr auto NO_ROUTE = Ipv4L3Protocol::DROP_NO_ROUTE; //!< In a router.

    /**
     * @param address An address of it.
     * @param port A port.
     * @return Both.
     */
    static Address ToSocketAddress(IpAddress address, uint16_t port)
    {
        return InetSocketAddress(address, port);
    }

    /**
     * @return An address that nobody has.
     */
    static IpAddress GetNobody()
    {
        return {"192.0.2.1"}; // RFC 5737
    }
};

/// What the test needs to know of IPv6.
struct Version6
{
    using L3Protocol = Ipv6L3Protocol;      //!< The protocol's class.
    using Stack = Ipv6;                     //!< Its interface.
    using Header = Ipv6Header;              //!< Its header.
    using IpAddress = Ipv6Address;          //!< Its addresses.
    using Helper = Ipv6HashedRoutingHelper; //!< Installs its hashed routing.
    static constexpr char NAME[] = "IPv6";  //!< Its name.
    static constexpr auto NO_ROUTE = Ipv6L3Protocol::DROP_ROUTE_ERROR; //!< In a router.

    /**
     * @param address An address of it.
     * @param port A port.
     * @return Both.
     */
    static Address ToSocketAddress(IpAddress address, uint16_t port)
    {
        return Inet6SocketAddress(address, port);
    }

    /**
     * @return An address that nobody has.
     */
    static IpAddress GetNobody()
    {
        return {"fd00::1"}; // RFC 4193
    }
};

} // namespace

/**
 * @ingroup ferrocc
 *
 * Datagrams cross a router in a line of three nodes.
 */
template <typename Ip>
class HashedRoutingTestCase : public TestCase
{
  public:
    HashedRoutingTestCase()
        : TestCase(std::string(Ip::NAME) + ": host routes, default routes and local addresses")
    {
    }

  private:
    void DoRun() override;

    /**
     * Sends a datagram.
     *
     * @param from The sending node.
     * @param to The destination.
     */
    void SendDatagram(Ptr<Node> from, typename Ip::IpAddress to)
    {
        const Ptr<Socket> socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
        socket->SendTo(Create<Packet>(100), 0, Ip::ToSocketAddress(to, PORT));
    }

    /**
     * Counts a packet that was dropped.
     *
     * @param header Its header.
     * @param packet The packet.
     * @param reason Why.
     * @param stack Where.
     * @param interface Where.
     */
    void OnDrop(const typename Ip::Header& /* header */,
                Ptr<const Packet> /* packet */,
                typename Ip::L3Protocol::DropReason reason,
                Ptr<typename Ip::Stack> /* stack */,
                uint32_t /* interface */)
    {
        if (reason == Ip::NO_ROUTE)
        {
            m_noRoute++;
        }
    }

    static constexpr uint16_t PORT = 9; //!< Where the datagrams go.

    uint32_t m_noRoute{0}; //!< Packets dropped for want of a route.
};

template <typename Ip>
void
HashedRoutingTestCase<Ip>::DoRun()
{
    using IpAddress = typename Ip::IpAddress;
    NodeContainer nodes(3);
    const typename Ip::Helper helper;
    InternetStackHelper internet;
    internet.SetRoutingHelper(helper);
    internet.SetIpv4StackInstall(std::is_same_v<Ip, Version4>);
    internet.SetIpv6StackInstall(std::is_same_v<Ip, Version6>);
    internet.Install(nodes);
    const Ptr<Node> a = nodes.Get(0);
    const Ptr<Node> router = nodes.Get(1);
    const Ptr<Node> c = nodes.Get(2);
    LinkHelper links;
    const Link left = links.Install(a, router, LinkSpec());
    const Link right = links.Install(router, c, LinkSpec());
    const auto near = IpAddress::ConvertFrom(left.ends[1].address);
    const auto outward = IpAddress::ConvertFrom(right.ends[0].address);
    const auto far = IpAddress::ConvertFrom(right.ends[1].address);
    NS_TEST_ASSERT_MSG_NE(near, outward, "networks differ");

    auto routing = helper.GetRouting(router);
    helper.GetRouting(a)->SetDefaultRoute(near, left.ends[0].interface);
    routing->AddHostRoute(far, far, right.ends[0].interface);
    routing->AddHostRoute(far, far, right.ends[0].interface);
    NS_TEST_ASSERT_MSG_EQ(routing->GetNRoutes(), 1, "the second one replaces the first one");

    typename Ip::Header header;
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    header.SetDestination(far);
    auto route = routing->RouteOutput(nullptr, header, nullptr, error);
    NS_TEST_ASSERT_MSG_NE(route, nullptr, "host route");
    NS_TEST_ASSERT_MSG_EQ(route->GetOutputDevice(), right.ends[0].device, "its device");
    NS_TEST_ASSERT_MSG_EQ(route->GetSource(), outward, "its source address");
    route = routing->RouteOutput(nullptr, header, left.ends[1].device, error);
    NS_TEST_ASSERT_MSG_EQ(route, nullptr, "not by another device");
    header.SetDestination(Ip::GetNobody());
    route = routing->RouteOutput(nullptr, header, nullptr, error);
    NS_TEST_ASSERT_MSG_EQ(route, nullptr, "no default route");
    NS_TEST_ASSERT_MSG_EQ(error, Socket::ERROR_NOROUTETOHOST, "and its error");
    header.SetDestination(near);
    route = routing->RouteOutput(nullptr, header, nullptr, error);
    NS_TEST_ASSERT_MSG_NE(route, nullptr, "own address");
    NS_TEST_ASSERT_MSG_EQ(route->GetGateway(), IpAddress::GetAny(), "by loopback");

    const Ptr<Socket> sink = Socket::CreateSocket(c, UdpSocketFactory::GetTypeId());
    sink->Bind(Ip::ToSocketAddress(IpAddress::GetAny(), PORT));
    router->GetObject<typename Ip::L3Protocol>()->TraceConnectWithoutContext(
        "Drop",
        MakeCallback(&HashedRoutingTestCase::OnDrop, this));
    for (const IpAddress& destination : {far, Ip::GetNobody()})
    {
        // At once: nothing waits for duplicate addresses or neighbours to be found.
        Simulator::ScheduleWithContext(a->GetId(),
                                       Seconds(0),
                                       &HashedRoutingTestCase::SendDatagram,
                                       this,
                                       a,
                                       destination);
    }
    uint32_t packets = 0;
    for (const LinkEnd& end : {left.ends[0], left.ends[1], right.ends[0], right.ends[1]})
    {
        end.device->TraceConnectWithoutContext(
            "MacTx",
            Callback<void, Ptr<const Packet>>([&packets](Ptr<const Packet>) { packets++; }));
    }
    Simulator::Stop(Seconds(100));
    Simulator::Run();
    uint32_t received = 0;
    while (sink->Recv())
    {
        received++;
    }
    NS_TEST_ASSERT_MSG_EQ(received, 1, "forwarded");
    NS_TEST_ASSERT_MSG_EQ(m_noRoute, 1, "dropped without a route");
    // Two to the router, one from there; nobody solicits neighbours or routers.
    NS_TEST_ASSERT_MSG_EQ(packets, 3, "no packets but these");
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
        AddTestCase(new HashedRoutingTestCase<Version4>, compat::QuickTest());
        AddTestCase(new HashedRoutingTestCase<Version6>, compat::QuickTest());
    }
};

static FerroccRoutingTestSuite g_ferroccRoutingTestSuite; //!< Registers the suite.
