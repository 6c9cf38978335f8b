// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * @ingroup ferrocc
 *
 * A plain ns-3 program with a congestion controller of ferrocc: a bulk TCP transfer over one link.
 *
 *   sender (10.0.0.1) ---- 10 Mbps, 10 ms, 50 packets ---- receiver (10.0.0.2)
 */

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string controller = "ns3::FerroccCubic";
    double beta = 0.7;
    CommandLine cmd(__FILE__);
    cmd.AddValue("controller", "A TypeId: ns3::FerroccBbr, ns3::FerroccNewReno, ...", controller);
    cmd.AddValue("beta", "What ns3::FerroccCubic multiplies its window by at a loss", beta);
    cmd.Parse(argc, argv);

    // All that is special to ferrocc: the congestion control of every TCP socket, by its name, and
    // a parameter of the controller as an attribute.
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(controller));
    Config::SetDefault("ns3::FerroccCubic::Beta", DoubleValue(beta));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));

    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    link.SetChannelAttribute("Delay", StringValue("10ms"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("50p"));
    const NetDeviceContainer devices = link.Install(nodes);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);

    const InetSocketAddress receiver(interfaces.GetAddress(1), 9000);
    BulkSendHelper source("ns3::TcpSocketFactory", receiver);
    source.Install(nodes.Get(0)).Start(Seconds(0.1));
    PacketSinkHelper sink("ns3::TcpSocketFactory", receiver);
    const ApplicationContainer sinks = sink.Install(nodes.Get(1));

    Simulator::Stop(Seconds(10));
    Simulator::Run();
    const double bits = 8.0 * DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    std::cout << controller << ": " << bits / 9.9 / 1e6 << " Mbps" << std::endl;
    Simulator::Destroy();
    return bits > 0 ? 0 : 1;
}
