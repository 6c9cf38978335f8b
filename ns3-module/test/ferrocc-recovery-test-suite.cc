// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * @ingroup ferrocc
 *
 * FerroccTcpSocket: its policies against ns3::TcpSocketBase and against what may happen to
 * segments.
 */

#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/ferrocc-tcp-socket.h"
#include "ns3/inet-socket-address.h"
#include "ns3/node.h"
#include "ns3/ns3-compat.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-notes.h"
#include "ns3/tcp-recovery-ops.h"
#include "ns3/test.h"
#include "ns3/topo1-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

using namespace ns3;

namespace
{

/// Payload of a segment, bytes.
constexpr uint32_t SEGMENT = 512;
/// Where is listened.
constexpr uint16_t PORT = 9000;

/// All policies.
const char* const POLICIES[] = {"cerl", "nce", "newreno", "no-cut", "veno"};

/// @param policy A policy. @return Parameters that it can be made with.
std::string
ParametersOf(const std::string& policy)
{
    return policy == "nce" ? R"({"bottleneck_mbps": 6, "buffer_bytes": 50000, "exit": "deflate"})"
                           : "";
}

/// What happens to the segments of a transfer.
struct Path
{
    const char* buffer{"100p"}; //!< Limit of the bottleneck's queue.
    double loss{0};             //!< Probability that a data segment is lost.
    double ackLoss{0};          //!< The same of an ACK.
    double reorder{0};          //!< Probability that a data segment is held back.
    uint64_t bytes{256'000};    //!< What is sent.
    const char* parameters{""}; //!< Of the policy; empty for those of ParametersOf.
    bool isNoted{false};        //!< Whether the receiving socket has the policy, too.
};

/// One transfer over topo-1, and what its sender did.
class RecoveryRun
{
  public:
    /// @param policy A policy; empty for ns3::TcpSocketBase. @param path The path.
    RecoveryRun(const std::string& policy, const Path& path)
        : m_path(path)
    {
        Topo1Helper::Config config;
        config.receiverDelay = MilliSeconds(1);
        config.replicaDelay = MilliSeconds(1);
        config.bottleneck.rate = DataRate("6Mbps");
        config.bottleneck.delay = MilliSeconds(18);
        config.bottleneck.buffer = path.buffer;
        config.bottleneck.priority = true;
        config.bottleneck.loss = {path.loss, path.ackLoss};
        config.bottleneck.reorder = path.reorder;
        config.bottleneck.reorderDelay = MilliSeconds(10);
        Topo1Helper network(config);
        network.AssignStreams(1000);
        const Address to = network.GetLinks().at(2).ends[1].address;
        m_target = InetSocketAddress(Ipv4Address::ConvertFrom(to), PORT);

        const std::string parameters =
            path.parameters[0] == 0 ? ParametersOf(policy) : path.parameters;
        m_listener = path.isNoted ? Judging(network.GetReceiver(0), policy, parameters)
                                  : Plain(network.GetReceiver(0));
        m_listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        m_listener->Listen();
        m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                      MakeCallback(&RecoveryRun::OnAccept, this));
        const auto node = network.GetReplica();
        if (policy.empty())
        {
            m_sender = Plain(node);
            m_sender->SetRecoveryAlgorithm(CreateObject<TcpClassicRecovery>());
        }
        else
        {
            m_sender = Judging(node, policy, parameters);
            m_sender->TraceConnectWithoutContext("Verdict",
                                                 MakeCallback(&RecoveryRun::OnVerdict, this));
            m_sender->TraceConnectWithoutContext("Rx", MakeCallback(&RecoveryRun::OnAck, this));
        }
        m_sender->SetCongestionControlAlgorithm(CreateObject<TcpNewReno>());
        m_sender->SetSendCallback(MakeCallback(&RecoveryRun::OnRoom, this));
        m_sender->TraceConnectWithoutContext("CongestionWindow",
                                             MakeCallback(&RecoveryRun::OnWindow, this));
        m_sender->TraceConnectWithoutContext("Tx", MakeCallback(&RecoveryRun::OnSent, this));
        Simulator::ScheduleWithContext(node->GetId(),
                                       MilliSeconds(100),
                                       &RecoveryRun::Connect,
                                       this);
        Simulator::Stop(Seconds(2000));
        Simulator::Run();
        Simulator::Destroy();
    }

    uint64_t received{0};                               //!< Bytes that were read.
    bool isWrong{false};                                //!< Whether one was not what was sent.
    std::vector<std::tuple<int64_t, uint32_t>> sent;    //!< When which segment was sent.
    std::vector<std::tuple<int64_t, uint32_t>> windows; //!< When the window became what.
    std::vector<std::string> verdicts;                  //!< The policy's verdicts.
    uint32_t notes{0};                                  //!< ACKs with a note.
    uint32_t duplicates{0};                             //!< Notes of a segment that came twice.
    uint32_t overtaken{0};                              //!< Notes of segments out of order.

    /// @return How many segments were sent more than once.
    uint32_t CountRepeated() const
    {
        uint32_t high = 0;
        uint32_t count = 0;
        for (const auto& [time, sequence] : sent)
        {
            count += sequence < high;
            high = std::max(high, sequence + 1);
        }
        return count;
    }

  private:
    /// @param node Its node. @return A socket of ns-3's.
    static Ptr<TcpSocketBase> Plain(const Ptr<Node>& node)
    {
        auto socket = DynamicCast<TcpSocketBase>(node->GetObject<TcpL4Protocol>()->CreateSocket());
        Configure(socket);
        return socket;
    }

    /**
     * @param node Its node.
     * @param policy Its policy.
     * @param parameters Those of the policy.
     * @return A socket that judges.
     */
    static Ptr<TcpSocketBase> Judging(const Ptr<Node>& node,
                                      const std::string& policy,
                                      const std::string& parameters)
    {
        auto factory = CreateObject<FerroccTcpSocketFactory>();
        factory->SetAttribute("Recovery", StringValue(policy));
        factory->SetAttribute("RecoveryParameters", StringValue(parameters));
        node->AggregateObject(factory);
        auto socket = DynamicCast<TcpSocketBase>(
            Socket::CreateSocket(node, FerroccTcpSocketFactory::GetTypeId()));
        Configure(socket);
        return socket;
    }

    /// @param socket A socket, which is made like all others.
    static void Configure(const Ptr<TcpSocketBase>& socket)
    {
        socket->SetAttribute("SegmentSize", UintegerValue(SEGMENT));
        socket->SetAttribute("Sack", BooleanValue(false));
        socket->SetAttribute("Timestamp", BooleanValue(false));
        socket->SetAttribute("InitialCwnd", UintegerValue(1));
        socket->SetAttribute("InitialSlowStartThreshold", UintegerValue(65535));
        socket->SetAttribute("SndBufSize", UintegerValue(1'000'000));
        socket->SetAttribute("RcvBufSize", UintegerValue(1'000'000));
        socket->SetAttribute("DataRetries", UintegerValue(1'000'000));
    }

    /// @param offset Place in the stream. @return The byte there.
    static uint8_t ByteAt(uint64_t offset)
    {
        return static_cast<uint8_t>((offset * 2'654'435'761U) >> 13);
    }

    /// It starts.
    void Connect()
    {
        m_sender->Connect(m_target);
        OnRoom(m_sender, 0);
    }

    /// Writes. @param socket The sender. @param room Its room.
    void OnRoom(Ptr<Socket> socket, uint32_t /* room */)
    {
        while (m_written < m_path.bytes && socket->GetTxAvailable() >= SEGMENT)
        {
            const auto size =
                static_cast<uint32_t>(std::min<uint64_t>(SEGMENT, m_path.bytes - m_written));
            std::vector<uint8_t> bytes(size);
            for (uint32_t i = 0; i < size; i++)
            {
                bytes[i] = ByteAt(m_written + i);
            }
            if (socket->Send(Create<Packet>(bytes.data(), size), 0) < 0)
            {
                return;
            }
            m_written += size;
        }
    }

    /// @param socket The socket that reads. @param from The sender.
    void OnAccept(Ptr<Socket> socket, const Address& /* from */)
    {
        socket->SetRecvCallback(MakeCallback(&RecoveryRun::OnReadable, this));
    }

    /// @param socket The socket that reads.
    void OnReadable(Ptr<Socket> socket)
    {
        while (const auto packet = socket->Recv())
        {
            std::vector<uint8_t> bytes(packet->GetSize());
            packet->CopyData(bytes.data(), packet->GetSize());
            for (const uint8_t byte : bytes)
            {
                isWrong |= byte != ByteAt(received++);
            }
        }
        if (received >= m_path.bytes)
        {
            Simulator::Stop(Seconds(0));
        }
    }

    /// @param now The window now.
    void OnWindow(uint32_t /* before */, uint32_t now)
    {
        windows.emplace_back(Simulator::Now().GetNanoSeconds(), now);
    }

    /// @param packet The payload. @param header Its header.
    void OnSent(Ptr<const Packet> packet,
                const TcpHeader& header,
                Ptr<const TcpSocketBase> /* socket */)
    {
        if (packet->GetSize() > 0)
        {
            sent.emplace_back(Simulator::Now().GetNanoSeconds(),
                              header.GetSequenceNumber().GetValue());
        }
    }

    /// @param packet The ACK, without its header.
    void OnAck(Ptr<const Packet> packet,
               const TcpHeader& /* header */,
               Ptr<const TcpSocketBase> /* socket */)
    {
        TcpAckNoteTag note;
        if (packet->PeekPacketTag(note))
        {
            notes++;
            duplicates += note.duplicateBytes == SEGMENT;
            overtaken += note.isOutOfOrder;
        }
    }

    /// @param verdict The policy's verdict.
    void OnVerdict(SequenceNumber32 /* sequence */, const std::string& verdict)
    {
        verdicts.push_back(verdict);
    }

    Path m_path;                   //!< The path.
    Address m_target;              //!< Where is listened.
    Ptr<TcpSocketBase> m_listener; //!< Who listens.
    Ptr<TcpSocketBase> m_sender;   //!< Who sends.
    uint64_t m_written{0};         //!< Bytes that were given to the sender.
};

} // namespace

/**
 * @ingroup ferrocc
 *
 * NewReno's policy does what the base class does, event for event.
 */
class SameAsBaseTestCase : public TestCase
{
  public:
    SameAsBaseTestCase()
        : TestCase("newreno is ns3::TcpSocketBase without SACK, event for event")
    {
    }

  private:
    void DoRun() override
    {
        for (const Path& path : {Path{"100p"}, Path{"10p"}, Path{"30p", 0.02}, Path{"30p", 0.05}})
        {
            const RecoveryRun base("", path);
            const RecoveryRun ours("newreno", path);
            NS_TEST_EXPECT_MSG_EQ(base.received, path.bytes, "complete");
            NS_TEST_EXPECT_MSG_EQ((base.sent == ours.sent), true, "segments");
            NS_TEST_EXPECT_MSG_EQ((base.windows == ours.windows), true, "windows");
            const bool isLossy = path.loss > 0;
            NS_TEST_EXPECT_MSG_EQ((ours.CountRepeated() > 0 || !isLossy), true, "losses");
        }
    }
};

/**
 * @ingroup ferrocc
 *
 * Whatever happens to segments and ACKs, every byte arrives in order.
 */
class CompleteRecoveryTestCase : public TestCase
{
  public:
    CompleteRecoveryTestCase()
        : TestCase("every policy delivers every byte under loss and reordering")
    {
    }

  private:
    void DoRun() override
    {
        for (const char* policy : POLICIES)
        {
            for (const Path& path : {Path{"100p", 0.3},
                                     Path{"100p", 0, 0, 0.3},
                                     Path{"100p", 0, 0.3},
                                     Path{"100p", 0.05, 0.05, 0.05}})
            {
                const RecoveryRun run(policy, path);
                NS_TEST_EXPECT_MSG_EQ(run.received, path.bytes, policy);
                NS_TEST_EXPECT_MSG_EQ(run.isWrong, false, policy);
            }
        }
    }
};

/**
 * @ingroup ferrocc
 *
 * What NCE takes reordering for is not sent again, and random loss costs no window.
 */
class NceTestCase : public TestCase
{
  public:
    NceTestCase()
        : TestCase("NCE tells random loss and reordering apart")
    {
    }

  private:
    void DoRun() override
    {
        const Path reordered{"100p", 0, 0, 0.02, 1'000'000};
        const RecoveryRun reno("newreno", reordered);
        const RecoveryRun nce("nce", reordered);
        NS_TEST_EXPECT_MSG_GT(reno.CountRepeated(), 10, "NewReno sends in vain");
        NS_TEST_EXPECT_MSG_LT(nce.CountRepeated(), reno.CountRepeated() / 2, "NCE hardly does");
        const Path lossy{"100p", 0.02, 0, 0, 1'000'000};
        const RecoveryRun lost("nce", lossy);
        uint32_t random = 0;
        for (const auto& verdict : lost.verdicts)
        {
            random += verdict == "random-loss";
        }
        NS_TEST_EXPECT_MSG_GT(random, 10, "random losses are recognised");
        const RecoveryRun cut("newreno", lossy);
        NS_TEST_EXPECT_MSG_LT(std::get<0>(lost.sent.back()),
                              std::get<0>(cut.sent.back()),
                              "the window that is kept is used");
    }
};

/**
 * @ingroup ferrocc
 *
 * A receiver notes what it gets twice and what comes late, also where ns-3 has dropped it by then,
 * for a policy that asks for it.
 */
class NotesTestCase : public TestCase
{
  public:
    NotesTestCase()
        : TestCase("ACKs bear what the receiver has noted")
    {
    }

  private:
    void DoRun() override
    {
        // Any queue is congestion, so that late segments are sent again, in vain.
        const char* const ECHO = R"({"threshold": "estimated", "share": 0, "rtt": "echo"})";
        Path path{"1000p", 0, 0, 0.02, 1'000'000, ECHO, true};
        const RecoveryRun run("nce", path);
        NS_TEST_EXPECT_MSG_EQ(run.received, path.bytes, "complete");
        NS_TEST_EXPECT_MSG_GT(run.CountRepeated(), 10, "segments are sent again");
        NS_TEST_EXPECT_MSG_EQ(run.duplicates, run.CountRepeated(), "each arrives twice");
        NS_TEST_EXPECT_MSG_GT(run.overtaken, 20, "segments come late");
        // Without disorder there is nothing to note but times.
        path.reorder = 0;
        const RecoveryRun quiet("nce", path);
        NS_TEST_EXPECT_MSG_GT(quiet.notes, 900, "every other segment is acknowledged");
        NS_TEST_EXPECT_MSG_EQ(quiet.duplicates + quiet.overtaken, 0U, "in order");
        // A policy that does not ask is told nothing.
        path.parameters = "";
        NS_TEST_EXPECT_MSG_EQ(RecoveryRun("nce", path).notes, 0U, "no notes");
    }
};

/**
 * @ingroup ferrocc
 *
 * Applications name the factory as they name ns-3's TCP, at both ends.
 */
class ApplicationTestCase : public TestCase
{
  public:
    ApplicationTestCase()
        : TestCase("ns-3's applications take the factory by its name")
    {
    }

  private:
    void DoRun() override
    {
        Topo1Helper::Config config;
        config.receiverDelay = MilliSeconds(1);
        config.replicaDelay = MilliSeconds(1);
        config.bottleneck.rate = DataRate("6Mbps");
        config.bottleneck.delay = MilliSeconds(8);
        config.bottleneck.priority = true;
        config.bottleneck.loss = {0.02, 0};
        Topo1Helper network(config);
        network.AssignStreams(1000);
        for (const auto& node : {network.GetReplica(), network.GetReceiver(0)})
        {
            auto factory = CreateObject<FerroccTcpSocketFactory>();
            factory->SetAttribute("Recovery", StringValue("nce"));
            factory->SetAttribute("RecoveryParameters", StringValue(ParametersOf("nce")));
            node->AggregateObject(factory);
        }
        const std::string name = "ns3::FerroccTcpSocketFactory";
        const Address to = network.GetLinks().at(2).ends[1].address;
        PacketSinkHelper sinks(name, InetSocketAddress(Ipv4Address::GetAny(), PORT));
        const auto sink = DynamicCast<PacketSink>(sinks.Install(network.GetReceiver(0)).Get(0));
        BulkSendHelper bulk(name, InetSocketAddress(Ipv4Address::ConvertFrom(to), PORT));
        constexpr uint64_t SIZE = 300'000;
        bulk.SetAttribute("MaxBytes", UintegerValue(SIZE));
        bulk.Install(network.GetReplica()).Start(MilliSeconds(100));
        Simulator::Stop(Seconds(100));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(sink->GetTotalRx(), SIZE, "complete");
        const auto accepted = sink->GetAcceptedSockets();
        NS_TEST_ASSERT_MSG_EQ(accepted.size(), 1U, "one connection");
        const auto socket = DynamicCast<FerroccTcpSocket>(accepted.front());
        NS_TEST_EXPECT_MSG_EQ((PeekPointer(socket) != nullptr), true, "the same type accepts");
        Simulator::Destroy();
    }
};

/**
 * @ingroup ferrocc
 *
 * The suite.
 */
class FerroccRecoveryTestSuite : public TestSuite
{
  public:
    FerroccRecoveryTestSuite()
        : TestSuite("ferrocc-recovery")
    {
        AddTestCase(new SameAsBaseTestCase, compat::QuickTest());
        AddTestCase(new CompleteRecoveryTestCase, compat::QuickTest());
        AddTestCase(new NceTestCase, compat::QuickTest());
        AddTestCase(new NotesTestCase, compat::QuickTest());
        AddTestCase(new ApplicationTestCase, compat::QuickTest());
    }
};

static FerroccRecoveryTestSuite g_ferroccRecoveryTestSuite; //!< The suite.
