// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * @ingroup ferrocc
 *
 * What ns-3 itself costs per packet: UDP at constant rate in both directions over topo-1, with the
 * packet counts and sizes of an ICN transfer. Prints how many packets arrived.
 *
 * Plain sockets, no applications: ns-3's own sending applications format addresses for every
 * packet.
 */

#include "bench-topology.h"

#include "ns3/abort.h"
#include "ns3/callback.h"
#include "ns3/inet-socket-address.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/udp-socket-factory.h"

#include <cstdint>
#include <iostream>

using namespace ns3;

namespace
{

/// Where both ends listen.
constexpr uint16_t PORT = 9000;
/// IPv4 and UDP headers, bytes.
constexpr uint32_t HEADERS = 28;

/// One direction: a socket that sends packets of one size in equal intervals.
class ConstantRate
{
  public:
    /**
     * @param from The sending node.
     * @param to The receiving node.
     * @param address The receiving node's address.
     * @param packets How many packets to send.
     * @param size Their size at the IPv4 layer.
     * @param length How long sending takes altogether.
     */
    ConstantRate(Ptr<Node> from,
                 Ptr<Node> to,
                 Ipv4Address address,
                 uint64_t packets,
                 uint32_t size,
                 Time length)
        : m_left(packets),
          m_payload(size - HEADERS),
          m_interval(packets > 0 ? NanoSeconds(length.GetNanoSeconds() / packets) : Time())
    {
        NS_ABORT_MSG_UNLESS(size >= HEADERS, "a packet has " << HEADERS << " B of headers");
        m_receiver = Socket::CreateSocket(to, UdpSocketFactory::GetTypeId());
        m_receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        m_receiver->SetRecvCallback(MakeCallback(&ConstantRate::Receive, this));
        m_sender = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
        m_sender->Bind();
        m_sender->Connect(InetSocketAddress(address, PORT));
        Simulator::Schedule(MilliSeconds(100), &ConstantRate::Send, this);
    }

    /**
     * @return How many packets arrived.
     */
    uint64_t GetArrived() const
    {
        return m_arrived;
    }

  private:
    /// Sends a packet and schedules the next.
    void Send()
    {
        if (m_left == 0)
        {
            return;
        }
        m_left--;
        m_sender->Send(Create<Packet>(m_payload));
        Simulator::Schedule(m_interval, &ConstantRate::Send, this);
    }

    /**
     * Takes what has arrived.
     *
     * @param socket The receiving socket.
     */
    void Receive(Ptr<Socket> socket)
    {
        while (socket->Recv())
        {
            m_arrived++;
        }
    }

    Ptr<Socket> m_sender;   //!< Sends.
    Ptr<Socket> m_receiver; //!< Receives.
    uint64_t m_left;        //!< Packets still to send.
    uint32_t m_payload;     //!< Bytes per packet above UDP.
    Time m_interval;        //!< Time between two packets.
    uint64_t m_arrived{0};  //!< Packets that arrived.
};

} // namespace

int
main(int argc, char* argv[])
{
    BenchTopology topology;
    uint64_t data = 5000;
    uint64_t reqs = 5000;
    uint32_t dataSize = 1358;
    uint32_t reqSize = 106;
    Time length = Seconds(1.2);
    CommandLine command(__FILE__);
    topology.AddOptions(command);
    command.AddValue("data", "Packets from the replica to the receiver", data);
    command.AddValue("data-size", "Their size at the IPv4 layer, bytes", dataSize);
    command.AddValue("reqs", "Packets from the receiver to the replica", reqs);
    command.AddValue("req-size", "Their size at the IPv4 layer, bytes", reqSize);
    command.AddValue("length", "How long sending takes", length);
    command.Parse(argc, argv);

    const Topo1Helper network = topology.Build();
    const Ptr<Node> receiver = network.GetReceiver(0);
    const Ptr<Node> replica = network.GetReplica();
    // The receivers' links follow the bottleneck's and the replica's; end 1 is the host.
    const auto receiverAddress =
        Ipv4Address::ConvertFrom(network.GetLinks().back().ends[1].address);
    const auto replicaAddress = Ipv4Address::ConvertFrom(network.GetReplicaAddress());
    ConstantRate down(replica, receiver, receiverAddress, data, dataSize, length);
    ConstantRate up(receiver, replica, replicaAddress, reqs, reqSize, length);
    Simulator::Run();
    std::cout << "data=" << down.GetArrived() << "\nreqs=" << up.GetArrived() << "\n";
    Simulator::Destroy();
    return 0;
}
