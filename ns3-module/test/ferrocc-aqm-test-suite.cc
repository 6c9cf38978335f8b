// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/boolean.h"
#include "ns3/bulk-send-application.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/ferrocc-queue-disc.h"
#include "ns3/inet-socket-address.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/ns3-compat.h"
#include "ns3/object-factory.h"
#include "ns3/packet-sink.h"
#include "ns3/packet.h"
#include "ns3/red-queue-disc.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/test.h"
#include "ns3/topo1-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup ferrocc
 *
 * Suite ferrocc-aqm: our queue discs beside ns-3's own, event for event, and their attributes.
 */

using namespace ns3;

namespace
{

/// A packet that arrives.
struct Arrival
{
    Time at;       //!< When.
    uint32_t size; //!< Its size, IP header included.
    bool ect;      //!< Whether IP's ECN field allows a mark.
};

/// What happened to a packet.
struct Event
{
    int64_t at;       //!< When, nanoseconds.
    uint32_t packet;  //!< Which, by its arrival.
    std::string what; //!< `dequeue`, or why it was dropped or marked.

    /// @param other Another event. @return Whether they are equal.
    bool operator==(const Event& other) const
    {
        return at == other.at && packet == other.packet && what == other.what;
    }
};

/// A packet that knows its number.
class NumberedItem : public Ipv4QueueDiscItem
{
  public:
    /**
     * @param number Its number.
     * @param arrival How it arrives.
     * @param header Its IP header.
     */
    NumberedItem(uint32_t number, const Arrival& arrival, const Ipv4Header& header)
        : Ipv4QueueDiscItem(Create<Packet>(arrival.size - header.GetSerializedSize()),
                            Address(),
                            0x0800,
                            header),
          m_number(number)
    {
    }

    /// @return Its number.
    uint32_t GetNumber() const
    {
        return m_number;
    }

  private:
    uint32_t m_number; //!< Its number.
};

/**
 * A queue disc before a link, fed with arrivals.
 */
class Bed
{
  public:
    /**
     * @param type The queue disc's type.
     * @param attributes Its attributes, as text.
     * @param rate The link's rate.
     */
    Bed(const std::string& type,
        const std::vector<std::pair<std::string, std::string>>& attributes,
        DataRate rate)
        : m_rate(rate)
    {
        ObjectFactory factory(type);
        for (const auto& [name, value] : attributes)
        {
            factory.Set(name, StringValue(value));
        }
        m_disc = factory.Create<QueueDisc>();
        m_disc->TraceConnectWithoutContext("DropBeforeEnqueue", MakeCallback(&Bed::OnEvent, this));
        m_disc->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&Bed::OnEvent, this));
        m_disc->TraceConnectWithoutContext("Mark", MakeCallback(&Bed::OnEvent, this));
    }

    /// @return The queue disc.
    Ptr<QueueDisc> GetDisc() const
    {
        return m_disc;
    }

    /**
     * Runs all arrivals through, and the queue empty.
     *
     * @param arrivals The arrivals, in order.
     * @return What happened.
     */
    const std::vector<Event>& Run(const std::vector<Arrival>& arrivals)
    {
        m_disc->Initialize();
        for (const auto& arrival : arrivals)
        {
            Simulator::Schedule(arrival.at, &Bed::Arrive, this, arrival);
        }
        Simulator::Run();
        Simulator::Destroy();
        return m_events;
    }

  private:
    /// A packet arrives. @param arrival How.
    void Arrive(const Arrival& arrival)
    {
        Ipv4Header header;
        header.SetProtocol(17);
        header.SetEcn(arrival.ect ? Ipv4Header::ECN_ECT0 : Ipv4Header::ECN_NotECT);
        m_disc->Enqueue(Create<NumberedItem>(m_arrivals++, arrival, header));
        if (!m_busy)
        {
            Serve();
        }
    }

    /// The link is free.
    void Serve()
    {
        const auto item = m_disc->Dequeue();
        m_busy = item != nullptr;
        if (item)
        {
            Note(item, "dequeue");
            Simulator::Schedule(m_rate.CalculateBytesTxTime(item->GetSize()), &Bed::Serve, this);
        }
    }

    /**
     * A packet was dropped or marked.
     *
     * @param item The packet.
     * @param reason Why.
     */
    void OnEvent(Ptr<const QueueDiscItem> item, const char* reason)
    {
        Note(item, reason);
    }

    /**
     * Notes an event.
     *
     * @param item The packet.
     * @param what What happened.
     */
    void Note(Ptr<const QueueDiscItem> item, std::string what)
    {
        const uint32_t number = DynamicCast<const NumberedItem>(item)->GetNumber();
        // RED of ns-3 leaves the limit to its inner queue, and may have marked the packet before.
        if (what == QueueDisc::INTERNAL_QUEUE_DROP)
        {
            what = "Overlimit drop";
            if (!m_events.empty() && m_events.back().packet == number)
            {
                m_events.pop_back();
            }
        }
        m_events.push_back({Simulator::Now().GetNanoSeconds(), number, std::move(what)});
    }

    Ptr<QueueDisc> m_disc;       //!< The queue disc.
    DataRate m_rate;             //!< The link's rate.
    bool m_busy{false};          //!< Whether the link sends.
    uint32_t m_arrivals{0};      //!< Packets that arrived.
    std::vector<Event> m_events; //!< What happened.
};

/**
 * @param seed Of the generator.
 * @param packets How many.
 * @return Bursts and pauses that use 10 Mbps now more, now less than fully.
 */
std::vector<Arrival>
RandomArrivals(uint32_t seed, uint32_t packets)
{
    std::mt19937 generator(seed);
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(generator() % n); };
    std::vector<Arrival> arrivals;
    Time now = MilliSeconds(1);
    while (arrivals.size() < packets)
    {
        // A phase of one mean load, and sometimes silence before it.
        now += MilliSeconds(below(4) == 0 ? below(300) : 0);
        const uint32_t gap = 400 + below(1400);
        for (uint32_t left = 50 + below(1500); left > 0; left--)
        {
            now += MicroSeconds(below(2 * gap)) + NanoSeconds(below(1000));
            arrivals.push_back({now, below(3) == 0 ? 60 + below(1000) : 1500, below(2) == 0});
        }
    }
    arrivals.resize(packets);
    return arrivals;
}

/// Records what arrives at a queue disc.
class ArrivalRecorder
{
  public:
    /// A packet arrived and was taken or dropped. @param item The packet.
    void OnItem(Ptr<const QueueDiscItem> item)
    {
        arrivals.push_back({Simulator::Now(), item->GetSize(), arrivals.size() % 3 == 0});
    }

    /**
     * A packet arrived and was dropped.
     *
     * @param item The packet.
     */
    void OnDrop(Ptr<const QueueDiscItem> item, const char* /* reason */)
    {
        OnItem(item);
    }

    std::vector<Arrival> arrivals; //!< The arrivals.
};

/**
 * @return What six TCP flows send to a queue of 60 packets before 10 Mbps, with their losses.
 */
std::vector<Arrival>
Record()
{
    constexpr uint16_t port = 9000;
    constexpr uint32_t flows = 6;
    Topo1Helper::Config config;
    config.receivers = flows;
    config.bottleneck.rate = DataRate("10Mbps");
    config.bottleneck.delay = MilliSeconds(10);
    config.bottleneck.buffer = "60p";
    const Topo1Helper network(config);
    for (uint32_t i = 0; i < flows; i++)
    {
        const auto address = Ipv4Address::ConvertFrom(network.GetLinks().at(2 + i).ends[1].address);
        auto sink = CreateObject<PacketSink>();
        sink->SetAttribute("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
        sink->SetAttribute("Local", AddressValue(InetSocketAddress(Ipv4Address::GetAny(), port)));
        network.GetReceiver(i)->AddApplication(sink);
        auto source = CreateObject<BulkSendApplication>();
        source->SetAttribute("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
        source->SetAttribute("Remote", AddressValue(InetSocketAddress(address, port)));
        source->SetStartTime(MilliSeconds(100 + 70 * i));
        network.GetReplica()->AddApplication(source);
    }
    ArrivalRecorder recorder;
    const auto disc = network.GetBottleneck().ends[0].disc;
    disc->TraceConnectWithoutContext("Enqueue", MakeCallback(&ArrivalRecorder::OnItem, &recorder));
    disc->TraceConnectWithoutContext("DropBeforeEnqueue",
                                     MakeCallback(&ArrivalRecorder::OnDrop, &recorder));
    Simulator::Stop(Seconds(20));
    Simulator::Run();
    Simulator::Destroy();
    return recorder.arrivals;
}

/**
 * @return What Record() finds, recorded once.
 */
const std::vector<Arrival>&
RecordedArrivals()
{
    static const std::vector<Arrival> arrivals = Record();
    return arrivals;
}

} // namespace

/**
 * @ingroup ferrocc
 *
 * Two queue discs with the same arrivals and random numbers: the same happens to the same packets
 * at the same times.
 */
class TwinTestCase : public TestCase
{
  public:
    /// Attributes as text.
    using Attributes = std::vector<std::pair<std::string, std::string>>;

    /// A disc.
    struct Disc
    {
        std::string type;      //!< Its type.
        Attributes attributes; //!< Its attributes.
    };

    /**
     * @param name For the report.
     * @param ours One.
     * @param other The other.
     * @param expected What has to happen at least once, so that something is compared.
     */
    TwinTestCase(const std::string& name, Disc ours, Disc other, std::vector<std::string> expected)
        : TestCase(name),
          m_discs{std::move(ours), std::move(other)},
          m_expected(std::move(expected))
    {
    }

  private:
    void DoRun() override
    {
        std::vector<std::vector<Arrival>> loads{RecordedArrivals()};
        for (uint32_t seed = 1; seed <= 3; seed++)
        {
            loads.push_back(RandomArrivals(seed, 20'000));
        }
        std::vector<std::string> seen;
        for (const auto& load : loads)
        {
            NS_TEST_ASSERT_MSG_GT(load.size(), 10'000, "a load worth the name");
            Compare(load, seen);
        }
        for (const auto& what : m_expected)
        {
            NS_TEST_EXPECT_MSG_EQ((std::find(seen.begin(), seen.end(), what) != seen.end()),
                                  true,
                                  "the loads lead to: " << what);
        }
    }

    /**
     * Runs a load through both.
     *
     * @param load The arrivals.
     * @param seen What happened is added here.
     */
    void Compare(const std::vector<Arrival>& load, std::vector<std::string>& seen)
    {
        std::vector<std::vector<Event>> events;
        for (const auto& [type, attributes] : m_discs)
        {
            Bed bed(type, attributes, DataRate("10Mbps"));
            if (const auto red = DynamicCast<FerroccQueueDisc>(bed.GetDisc()))
            {
                red->AssignStreams(7);
            }
            else if (const auto theirs = DynamicCast<RedQueueDisc>(bed.GetDisc()))
            {
                theirs->AssignStreams(7);
            }
            events.push_back(bed.Run(load));
        }
        for (const auto& event : events[0])
        {
            if (std::find(seen.begin(), seen.end(), event.what) == seen.end())
            {
                seen.push_back(event.what);
            }
        }
        NS_TEST_EXPECT_MSG_EQ(events[0].size(), events[1].size(), "as many events");
        const std::size_t common = std::min(events[0].size(), events[1].size());
        for (std::size_t i = 0; i < common; i++)
        {
            const Event& a = events[0][i];
            const Event& b = events[1][i];
            NS_TEST_ASSERT_MSG_EQ((a == b),
                                  true,
                                  "event " << i << ": " << a.at << " ns packet " << a.packet << " "
                                           << a.what << " against " << b.at << " ns packet "
                                           << b.packet << " " << b.what);
        }
    }

    std::vector<Disc> m_discs;           //!< Both.
    std::vector<std::string> m_expected; //!< What has to happen at least once.
};

/**
 * @ingroup ferrocc
 *
 * Attributes made of the registry: types, defaults, checks; state variables as trace sources.
 */
class AqmAttributesTestCase : public TestCase
{
  public:
    AqmAttributesTestCase()
        : TestCase("attributes and trace sources of the registry")
    {
    }

  private:
    /// The last value of a state variable. @param value The new one.
    void OnState(double /* old */, double value)
    {
        m_changes++;
        m_state = value;
    }

    void DoRun() override
    {
        ObjectFactory factory("ns3::FerroccEcdQueueDisc");
        factory.Set("MaxSize", StringValue("50p"));
        factory.Set("PMax", DoubleValue(0.25));
        factory.Set("Dropping", StringValue("drop-all"));
        const auto disc = factory.Create<QueueDisc>();
        DoubleValue number;
        disc->GetAttribute("PMax", number);
        NS_TEST_EXPECT_MSG_EQ(number.Get(), 0.25, "what was set");
        disc->GetAttribute("TargetMs", number);
        NS_TEST_EXPECT_MSG_EQ(number.Get(), 5.0, "the registry's default");
        StringValue choice;
        disc->GetAttribute("Dropping", choice);
        NS_TEST_EXPECT_MSG_EQ(choice.Get(), "drop-all", "a name");
        UintegerValue bytes;
        disc->GetAttribute("MtuBytes", bytes);
        NS_TEST_EXPECT_MSG_EQ(bytes.Get(), 1500, "a whole number");
        NS_TEST_EXPECT_MSG_EQ(disc->GetMaxSize(), QueueSize("50p"), "the limit");

        const auto accepts = [&](const std::string& name, const AttributeValue& value) {
            return disc->SetAttributeFailSafe(name, value);
        };
        NS_TEST_EXPECT_MSG_EQ(accepts("PMax", DoubleValue(1.5)), false, "above 1");
        NS_TEST_EXPECT_MSG_EQ(accepts("PMax", StringValue("0.75")), true, "a number as text");
        NS_TEST_EXPECT_MSG_EQ(accepts("MarkEcn", BooleanValue(true)), true, "a flag");
        NS_TEST_EXPECT_MSG_EQ(accepts("Dropping", StringValue("some")), false, "no name of it");
        NS_TEST_EXPECT_MSG_EQ(accepts("TargetMs", DoubleValue(0)), false, "no time");
        NS_TEST_EXPECT_MSG_EQ(accepts("Target", DoubleValue(5)), false, "no attribute");
        disc->GetAttribute("PMax", number);
        NS_TEST_EXPECT_MSG_EQ(number.Get(), 0.75, "refused values leave it");

        for (const std::string aqm : {"codel", "drop-tail", "ecd", "red"})
        {
            const TypeId type = FerroccQueueDisc::GetTypeId(aqm);
            NS_TEST_EXPECT_MSG_EQ(type.HasConstructor(), true, "objects by type: " << aqm);
            NS_TEST_EXPECT_MSG_EQ((type.GetParent() == FerroccQueueDisc::GetTypeId()),
                                  true,
                                  "what they have in common: " << aqm);
        }

        Bed bed("ns3::FerroccCoDelQueueDisc", {{"MaxSize", "1000p"}}, DataRate("10Mbps"));
        const bool connected = bed.GetDisc()->TraceConnectWithoutContext(
            "Count",
            MakeCallback(&AqmAttributesTestCase::OnState, this));
        NS_TEST_EXPECT_MSG_EQ(connected, true, "a state variable");
        const auto& events = bed.Run(RandomArrivals(1, 20'000));
        const auto isDrop = [](const Event& e) { return e.what == "Target exceeded drop"; };
        NS_TEST_EXPECT_MSG_GT(std::count_if(events.begin(), events.end(), isDrop), 10, "drops");
        NS_TEST_EXPECT_MSG_GT(m_changes, 10, "the count changes with the drops");
        NS_TEST_EXPECT_MSG_GT(m_state, 0, "and is told");
        const auto& stats = bed.GetDisc()->GetStats();
        NS_TEST_EXPECT_MSG_EQ(stats.GetNDroppedPackets("Target exceeded drop"),
                              std::count_if(events.begin(), events.end(), isDrop),
                              "drops are counted by reason");
    }

    uint32_t m_changes{0}; //!< How often it changed.
    double m_state{0};     //!< Its last value.
};

/**
 * @ingroup ferrocc
 *
 * The suite.
 */
class FerroccAqmTestSuite : public TestSuite
{
  public:
    FerroccAqmTestSuite()
        : TestSuite("ferrocc-aqm", Type::UNIT)
    {
        using Attributes = TwinTestCase::Attributes;
        const std::vector<std::string> drops{"Unforced drop", "Forced drop"};
        // What both call the same, then what each calls it in its own way.
        const auto red = [&](const std::string& name,
                             const Attributes& both,
                             const Attributes& ours,
                             const Attributes& theirs,
                             const std::vector<std::string>& expected) {
            Attributes a{{"LinkBandwidth", "10Mbps"}, {"MaxSize", "80p"}};
            a.insert(a.end(), both.begin(), both.end());
            Attributes b = a;
            a.insert(a.end(), ours.begin(), ours.end());
            b.insert(b.end(), theirs.begin(), theirs.end());
            AddTestCase(new TwinTestCase("RED, " + name,
                                         {"ns3::FerroccRedQueueDisc", a},
                                         {"ns3::RedQueueDisc", b},
                                         expected),
                        compat::QuickTest());
        };
        const Attributes size{{"MeanPacketBytes", "1000"}};
        const Attributes sizeThere{{"MeanPktSize", "1000"}};
        const auto with = [](Attributes a, const Attributes& more) {
            a.insert(a.end(), more.begin(), more.end());
            return a;
        };
        const Attributes thresholds = with(size, {{"MinThreshold", "10"}, {"MaxThreshold", "30"}});
        const Attributes thresholdsThere = with(sizeThere, {{"MinTh", "10"}, {"MaxTh", "30"}});
        red("gentle (the default)", {}, {}, {}, drops);
        red("classic", {{"Gentle", "false"}}, thresholds, thresholdsThere, drops);
        red("without wait",
            {{"Wait", "false"}},
            with(thresholds, {{"MaxP", "0.1"}, {"QueueWeight", "0.02"}}),
            with(thresholdsThere, {{"LInterm", "10"}, {"QW", "0.02"}}),
            {"Unforced drop"});
        red("thresholds in % of the limit",
            {{"Gentle", "false"}},
            with(size,
                 {{"MinThreshold", "20"}, {"MaxThreshold", "40"}, {"ThresholdUnit", "percent"}}),
            with(sizeThere, {{"MinTh", "16"}, {"MaxTh", "32"}}),
            drops);
        red("adaptive",
            {},
            with(size, {{"Adaptation", "ared"}}),
            with(sizeThere, {{"ARED", "true"}}),
            drops);
        red("adaptive, own thresholds",
            {},
            with(thresholds, {{"Adaptation", "max-p"}, {"QueueWeight", "0"}}),
            with(thresholdsThere, {{"AdaptMaxP", "true"}, {"QW", "0"}}),
            {"Unforced drop"});
        red("Feng's adaptive",
            {},
            with(thresholds, {{"Adaptation", "feng"}, {"QueueWeight", "-1"}}),
            with(thresholdsThere, {{"FengAdaptive", "true"}, {"QW", "-1"}}),
            {"Unforced drop"});
        red("ECN",
            {{"UseEcn", "true"}},
            with(thresholds, {{"UseHardDrop", "false"}, {"QueueWeight", "-2"}}),
            with(thresholdsThere, {{"UseHardDrop", "false"}, {"QW", "-2"}}),
            {"Unforced mark", "Unforced drop"});
        red("limit and thresholds in bytes",
            {{"MaxSize", "80000B"}, {"UseEcn", "true"}},
            with(
                size,
                {{"MinThreshold", "10000"}, {"MaxThreshold", "30000"}, {"ThresholdUnit", "bytes"}}),
            with(sizeThere, {{"MinTh", "10000"}, {"MaxTh", "30000"}}),
            {"Unforced mark", "Unforced drop"});

        const Attributes limit{{"MaxSize", "80p"}};
        AddTestCase(
            new TwinTestCase("CoDel in ns-3's arithmetic",
                             {"ns3::FerroccCoDelQueueDisc", with(limit, {{"Arithmetic", "ns3"}})},
                             {"ns3::CoDelQueueDisc", limit},
                             {"Target exceeded drop", "Overlimit drop"}),
            compat::QuickTest());
        AddTestCase(new TwinTestCase("CoDel in ns-3's arithmetic, own times",
                                     {"ns3::FerroccCoDelQueueDisc",
                                      {{"MaxSize", "100000B"},
                                       {"Arithmetic", "ns3"},
                                       {"TargetMs", "13"},
                                       {"IntervalMs", "30"},
                                       {"MtuBytes", "600"}}},
                                     {"ns3::CoDelQueueDisc",
                                      {{"MaxSize", "100000B"},
                                       {"Target", "13ms"},
                                       {"Interval", "30ms"},
                                       {"MinBytes", "600"}}},
                                     {"Target exceeded drop"}),
                    compat::QuickTest());
        AddTestCase(new TwinTestCase("early congestion detection on traffic that cannot be marked",
                                     {"ns3::FerroccEcdQueueDisc", limit},
                                     {"ns3::FerroccCoDelQueueDisc", limit},
                                     {"Target exceeded drop", "Overlimit drop"}),
                    compat::QuickTest());
        AddTestCase(new AqmAttributesTestCase, compat::QuickTest());
    }
};

static FerroccAqmTestSuite g_ferroccAqmTestSuite; //!< Registers the suite.
