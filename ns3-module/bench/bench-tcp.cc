// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * @ingroup ferrocc
 *
 * What ns-3's own TCP costs per delivered byte: one TcpSocketBase transfer with TcpCubic over
 * topo-1. Prints the bytes delivered and the packets dropped.
 */

#include "bench-topology.h"

#include "ns3/bulk-send-application.h"
#include "ns3/config.h"
#include "ns3/inet-socket-address.h"
#include "ns3/packet-sink.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-cubic.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    /// Where the receiver listens.
    constexpr uint16_t port = 9000;
    BenchTopology topology;
    uint64_t bytes = 6250000;
    uint32_t segment = 1250;
    uint32_t window = 400000;
    CommandLine command(__FILE__);
    topology.AddOptions(command);
    command.AddValue("bytes", "What the replica sends to the receiver", bytes);
    command.AddValue("segment", "Segment size, bytes", segment);
    command.AddValue("window",
                     "Send and receive buffer, bytes; it keeps the run free of loss",
                     window);
    command.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));

    const Topo1Helper network = topology.Build();
    const auto receiverAddress =
        Ipv4Address::ConvertFrom(network.GetLinks().back().ends[1].address);
    auto sink = CreateObject<PacketSink>();
    sink->SetAttribute("Protocol", TypeIdValue(TypeId::LookupByName("ns3::TcpSocketFactory")));
    sink->SetAttribute("Local", AddressValue(InetSocketAddress(Ipv4Address::GetAny(), port)));
    network.GetReceiver(0)->AddApplication(sink);
    auto source = CreateObject<BulkSendApplication>();
    source->SetAttribute("Protocol", TypeIdValue(TypeId::LookupByName("ns3::TcpSocketFactory")));
    source->SetAttribute("Remote", AddressValue(InetSocketAddress(receiverAddress, port)));
    source->SetAttribute("MaxBytes", UintegerValue(bytes));
    source->SetAttribute("SendSize", UintegerValue(segment));
    source->SetStartTime(MilliSeconds(100));
    network.GetReplica()->AddApplication(source);
    Simulator::Run();
    const auto drops = network.GetBottleneck().ends[0].disc->GetStats().nTotalDroppedPackets;
    std::cout << "bytes=" << sink->GetTotalRx() << "\ndropped=" << drops
              << "\nend_s=" << Simulator::Now().GetSeconds() << "\n";
    Simulator::Destroy();
    return 0;
}
