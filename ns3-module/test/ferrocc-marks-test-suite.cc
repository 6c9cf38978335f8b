// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/boolean.h"
#include "ns3/ferrocc-queue-disc.h"
#include "ns3/icn-header.h"
#include "ns3/icn-l4-protocol.h"
#include "ns3/icn-receiver-application.h"
#include "ns3/icn-replica-application.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/ipv6-queue-disc-item.h"
#include "ns3/node.h"
#include "ns3/ns3-compat.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/topo1-helper.h"

#include <string>
#include <vector>

/**
 * @file
 * @ingroup ferrocc
 *
 * Suite ferrocc-marks: what queue discs mark, where, and what becomes of it.
 */

using namespace ns3;

namespace
{

/// Early congestion detection that marks what waits at all, and never drops.
constexpr char MARK_ALL[] =
    R"({"target_ms": 0.001, "interval_ms": 100000, "c": 1.001, "mtu_bytes": 0})";

/// Where the flags are in an ICN header.
constexpr std::size_t FLAGS_AT = 42;
/// The flag of the mark.
constexpr uint8_t FLAG_MARK = 1;
/// IP protocol of UDP.
constexpr uint8_t UDP = 17;

/// Bytes of a packet.
using Bytes = std::vector<uint8_t>;

/**
 * @param packet A packet.
 * @return Its bytes.
 */
Bytes
GetBytes(const Packet& packet)
{
    Bytes bytes(packet.GetSize());
    packet.CopyData(bytes.data(), packet.GetSize());
    return bytes;
}

/**
 * @param bytes Of an ICN packet.
 * @return The same with the mark.
 */
Bytes
Marked(Bytes bytes)
{
    bytes.at(FLAGS_AT) |= FLAG_MARK;
    return bytes;
}

/**
 * A transfer over a bottleneck with an AQM.
 */
class MarkedTransfer
{
  public:
    uint64_t marked{0};         //!< DATA that the bottleneck marked.
    uint64_t markedRequests{0}; //!< Packets that it marked in the other direction.
    uint64_t marks{0};          //!< Marks that arrived.
    uint64_t malformed{0};      //!< Bad packets at both ends.
    bool verified{false};       //!< Whether the content is right.
    bool completed{false};      //!< Whether it is complete.
    Ptr<const Packet> data;     //!< A DATA packet before the bottleneck.
    Ptr<const Packet> request;  //!< A REQ.

    /**
     * Runs it.
     *
     * @param ipv6 Whether IPv6 is used instead of IPv4.
     * @param parameters Of early congestion detection.
     * @param icnRouter Whether the routers are ICN routers.
     */
    void Run(bool ipv6, const std::string& parameters, bool icnRouter)
    {
        Topo1Helper::Config config;
        config.ipv6 = ipv6;
        config.bottleneck.rate = DataRate("10Mbps");
        config.bottleneck.delay = MilliSeconds(5);
        config.bottleneck.buffer = "1000p";
        config.bottleneck.aqm = "ecd";
        config.bottleneck.aqmParameters = parameters;
        config.bottleneck.icnRouter = {icnRouter, icnRouter};
        const Topo1Helper network(config);
        network.AssignStreams(100);
        auto replica = CreateObject<IcnReplicaApplication>();
        network.GetReplica()->AddApplication(replica);
        auto application = CreateObject<IcnReceiverApplication>();
        network.GetReceiver(0)->AddApplication(application);
        const Ptr<IcnReceiver> receiver = application->GetReceiver();
        receiver->SetAttribute("Controller", StringValue("fixed"));
        receiver->SetAttribute("ControllerParams", StringValue(R"({"window": 50})"));
        receiver->SetAttribute("Verify", BooleanValue(true));
        receiver->SetReplica(network.GetReplicaAddress());
        receiver->SetNdc(replica->AddSynthetic(1, 400'000));
        const auto& ends = network.GetBottleneck().ends;
        ends[0].aqm->TraceConnectWithoutContext("Decision",
                                                MakeCallback(&MarkedTransfer::OnData, this));
        ends[1].aqm->TraceConnectWithoutContext("Decision",
                                                MakeCallback(&MarkedTransfer::OnRequest, this));
        Simulator::Stop(Seconds(60));
        Simulator::Run();
        marked = ends[0].aqm->GetNTransportMarks();
        markedRequests = ends[1].aqm->GetNTransportMarks();
        marks = receiver->GetMarks();
        malformed = receiver->GetMalformed() + replica->GetMalformed();
        verified = receiver->IsVerified();
        completed = receiver->IsCompleted();
        Simulator::Destroy();
    }

  private:
    /// The bottleneck decided about DATA. @param item The packet.
    void OnData(Ptr<const QueueDiscItem> item, const FerroccQueueDisc::Decision& /* decision */)
    {
        if (!data)
        {
            data = item->GetPacket()->Copy();
        }
    }

    /// The bottleneck decided about a REQ. @param item The packet.
    void OnRequest(Ptr<const QueueDiscItem> item, const FerroccQueueDisc::Decision& /* decision */)
    {
        if (!request)
        {
            request = item->GetPacket()->Copy();
        }
    }
};

} // namespace

/**
 * @ingroup ferrocc
 *
 * Marks are set on DATA, arrive, and leave headers and content right.
 */
class MarkedTransferTestCase : public TestCase
{
  public:
    /**
     * @param ipv6 Whether IPv6 is used instead of IPv4.
     */
    explicit MarkedTransferTestCase(bool ipv6)
        : TestCase(std::string("marked transfer over ") + (ipv6 ? "IPv6" : "IPv4")),
          m_ipv6(ipv6)
    {
    }

  private:
    void DoRun() override
    {
        MarkedTransfer transfer;
        transfer.Run(m_ipv6, MARK_ALL, true);
        NS_TEST_EXPECT_MSG_EQ(transfer.completed, true, "it ends");
        NS_TEST_EXPECT_MSG_GT(transfer.marked, 100, "what waits is marked");
        NS_TEST_EXPECT_MSG_EQ(transfer.marks, transfer.marked, "and every mark arrives");
        NS_TEST_EXPECT_MSG_EQ(transfer.malformed, 0, "the checksum stays right");
        NS_TEST_EXPECT_MSG_EQ(transfer.verified, true, "and so does the content");
        NS_TEST_EXPECT_MSG_EQ(transfer.markedRequests, 0, "REQs have no marks");

        MarkedTransfer plain;
        plain.Run(m_ipv6, MARK_ALL, false);
        NS_TEST_EXPECT_MSG_EQ(plain.completed, true, "it ends");
        NS_TEST_EXPECT_MSG_EQ(plain.marked + plain.marks, 0, "plain IP routers do not mark");
    }

    bool m_ipv6; //!< Whether IPv6 is used instead of IPv4.
};

/**
 * @ingroup ferrocc
 *
 * What happens to single packets in a queue disc.
 */
class SinglePacketsTestCase : public TestCase
{
  public:
    SinglePacketsTestCase()
        : TestCase("one packet: where the mark is, that it stays, and what is never marked")
    {
    }

  private:
    /**
     * Lets a packet wait in a queue disc that marks what waits.
     *
     * @param item The packet.
     * @param parameters Parameters of early congestion detection.
     * @param icnRouter Whether the node is an ICN router.
     * @param wait How long it waits.
     * @return The queue disc.
     */
    static Ptr<FerroccQueueDisc> Pass(Ptr<QueueDiscItem> item,
                                      const std::string& parameters = MARK_ALL,
                                      bool icnRouter = true,
                                      Time wait = MilliSeconds(1))
    {
        ObjectFactory factory("ns3::FerroccEcdQueueDisc");
        factory.Set("Parameters", StringValue(parameters));
        factory.Set("IcnRouter", BooleanValue(icnRouter));
        const auto disc = factory.Create<FerroccQueueDisc>();
        disc->Initialize();
        // One behind it, because the last packet of a queue is never a reason to mark.
        Ipv4Header header;
        auto other = Create<Ipv4QueueDiscItem>(Create<Packet>(1000), Address(), 0x0800, header);
        disc->Enqueue(item);
        disc->Enqueue(other);
        Simulator::Schedule(wait, [disc] { disc->Dequeue(); });
        Simulator::Run();
        Simulator::Destroy();
        return disc;
    }

    /**
     * @param bytes The payload.
     * @param protocol IP's protocol.
     * @param ecn IP's ECN field.
     * @param offset Offset of a fragment, bytes.
     * @return The packet.
     */
    static Ptr<Ipv4QueueDiscItem> Item(const Bytes& bytes,
                                       uint8_t protocol = IcnL4Protocol::PROT_NUMBER,
                                       Ipv4Header::EcnType ecn = Ipv4Header::ECN_NotECT,
                                       uint16_t offset = 0)
    {
        Ipv4Header header;
        header.SetProtocol(protocol);
        header.SetEcn(ecn);
        header.SetFragmentOffset(offset);
        const auto packet = Create<Packet>(bytes.data(), static_cast<uint32_t>(bytes.size()));
        return Create<Ipv4QueueDiscItem>(packet, Address(), 0x0800, header);
    }

    void DoRun() override
    {
        MarkedTransfer transfer;
        transfer.Run(false, "{}", true);
        NS_TEST_ASSERT_MSG_EQ((transfer.data && transfer.request), true, "packets to work with");
        const Bytes data = GetBytes(*transfer.data);
        const Bytes request = GetBytes(*transfer.request);
        NS_TEST_ASSERT_MSG_EQ((Marked(data) != data), true, "DATA leaves the replica unmarked");

        auto item = Item(data);
        auto disc = Pass(item);
        const auto after = [](Ptr<const QueueDiscItem> i) { return GetBytes(*i->GetPacket()); };
        NS_TEST_EXPECT_MSG_EQ((after(item) == Marked(data)), true, "the mark and nothing else");
        NS_TEST_EXPECT_MSG_EQ(+item->GetHeader().GetEcn(), +Ipv4Header::ECN_NotECT, "not IP's");
        NS_TEST_EXPECT_MSG_EQ(disc->GetNTransportMarks(), 1, "counted");
        NS_TEST_EXPECT_MSG_EQ(disc->GetTransportMarks().at("Early congestion mark"),
                              1,
                              "by reason");
        NS_TEST_EXPECT_MSG_EQ(disc->GetStats().nTotalMarkedPackets, 0, "not as IP's");

        // A second hop: one that marks again, and one that has no reason to.
        Pass(item);
        NS_TEST_EXPECT_MSG_EQ((after(item) == Marked(data)), true, "marked twice");
        item = Item(after(item));
        disc = Pass(item, "{}");
        NS_TEST_EXPECT_MSG_EQ(disc->GetNTransportMarks(), 0, "no reason at the second hop");
        NS_TEST_EXPECT_MSG_EQ((after(item) == Marked(data)), true, "the mark stays");

        item = Item(data);
        Pass(item, MARK_ALL, true, Time(0));
        NS_TEST_EXPECT_MSG_EQ((after(item) == data), true, "what did not wait");
        item = Item(data);
        Pass(item, MARK_ALL, false);
        NS_TEST_EXPECT_MSG_EQ((after(item) == data), true, "a plain IP router");
        item = Item(request);
        Pass(item);
        NS_TEST_EXPECT_MSG_EQ((after(item) == request), true, "a REQ");
        item = Item(data, UDP);
        Pass(item);
        NS_TEST_EXPECT_MSG_EQ((after(item) == data), true, "another protocol with these bytes");
        item = Item(data, IcnL4Protocol::PROT_NUMBER, Ipv4Header::ECN_NotECT, 1480);
        Pass(item);
        NS_TEST_EXPECT_MSG_EQ((after(item) == data), true, "a later fragment with these bytes");
        // The header's length is there, but the header is not.
        const Bytes cut(data.begin(), data.begin() + 50);
        item = Item(cut);
        disc = Pass(item);
        NS_TEST_EXPECT_MSG_EQ((after(item) == cut), true, "a header that is cut off");
        NS_TEST_EXPECT_MSG_EQ(disc->GetNTransportMarks(), 0, "and does not count");

        // Virtual payload stays virtual.
        const auto virtualPacket = Create<Packet>(1250);
        IcnHeader header;
        transfer.data->Copy()->RemoveHeader(header);
        virtualPacket->AddHeader(header);
        Ipv4Header ip;
        ip.SetProtocol(IcnL4Protocol::PROT_NUMBER);
        item = Create<Ipv4QueueDiscItem>(virtualPacket, Address(), 0x0800, ip);
        Pass(item);
        NS_TEST_EXPECT_MSG_EQ(item->GetPacket()->GetSize(), 1250 + header.GetSerializedSize(), "");
        IcnHeader marked;
        item->GetPacket()->PeekHeader(marked);
        NS_TEST_EXPECT_MSG_EQ((marked.GetBytes()[FLAGS_AT] & FLAG_MARK), +FLAG_MARK, "marked");

        Ipv6Header ipv6;
        ipv6.SetNextHeader(IcnL4Protocol::PROT_NUMBER);
        const auto sixth = Create<Ipv6QueueDiscItem>(
            Create<Packet>(data.data(), static_cast<uint32_t>(data.size())),
            Address(),
            0x86dd,
            ipv6);
        Pass(sixth);
        NS_TEST_EXPECT_MSG_EQ((after(sixth) == Marked(data)), true, "IPv6");

        // IP's ECN field, only if it is wanted and allowed.
        std::string ecn(MARK_ALL);
        ecn.insert(1, "\"mark_ecn\": true, ");
        item = Item(data, UDP, Ipv4Header::ECN_ECT0);
        Pass(item);
        NS_TEST_EXPECT_MSG_EQ(+item->GetHeader().GetEcn(), +Ipv4Header::ECN_ECT0, "not wanted");
        disc = Pass(item, ecn);
        NS_TEST_EXPECT_MSG_EQ(+item->GetHeader().GetEcn(), +Ipv4Header::ECN_CE, "wanted, allowed");
        NS_TEST_EXPECT_MSG_EQ(disc->GetStats().GetNMarkedPackets("Early congestion mark"), 1, "");
        NS_TEST_EXPECT_MSG_EQ(disc->GetNTransportMarks(), 0, "that is not the transport's");
        item = Item(data, UDP);
        disc = Pass(item, ecn);
        NS_TEST_EXPECT_MSG_EQ(+item->GetHeader().GetEcn(), +Ipv4Header::ECN_NotECT, "forbidden");
        NS_TEST_EXPECT_MSG_EQ(disc->GetStats().nTotalMarkedPackets, 0, "not counted");
    }
};

/**
 * @ingroup ferrocc
 *
 * The suite.
 */
class FerroccMarksTestSuite : public TestSuite
{
  public:
    FerroccMarksTestSuite()
        : TestSuite("ferrocc-marks", Type::UNIT)
    {
        AddTestCase(new MarkedTransferTestCase(false), compat::QuickTest());
        AddTestCase(new MarkedTransferTestCase(true), compat::QuickTest());
        AddTestCase(new SinglePacketsTestCase, compat::QuickTest());
    }
};

static FerroccMarksTestSuite g_ferroccMarksTestSuite; //!< Registers the suite.
