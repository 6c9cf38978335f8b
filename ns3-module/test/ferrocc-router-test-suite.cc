// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/icn-binding-application.h"
#include "ns3/icn-l4-protocol.h"
#include "ns3/icn-name-server-application.h"
#include "ns3/icn-off-path-cache-application.h"
#include "ns3/icn-receiver.h"
#include "ns3/icn-replica-application.h"
#include "ns3/icn-router-cache-application.h"
#include "ns3/icn-session.h"
#include "ns3/icn-stack-helper.h"
#include "ns3/node.h"
#include "ns3/ns3-compat.h"
#include "ns3/router-line.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup ferrocc
 *
 * Suite ferrocc-router: caches in routers, late binding, sources and receivers that move.
 */

using namespace ns3;

namespace
{

/// Size of the NDC, bytes: 0.4 s at the routers' rate.
constexpr uint64_t SIZE = 1'000'000;
/// Seed of its bytes.
constexpr uint64_t SEED = 7;

/**
 * Routers R1, R2 and R3; receivers and the name server at R1, a server at R3 and perhaps another
 * one at R2. All content is real.
 */
struct Line
{
    /// What it is like.
    struct Setting
    {
        bool ipv6{false};                    //!< IPv6 instead of IPv4.
        uint32_t receivers{2};               //!< How many receivers.
        std::vector<uint32_t> caches;        //!< Routers with a cache, from 0.
        std::vector<uint32_t> plain;         //!< Routers that are plain IP routers.
        std::string placement{"lce"};        //!< The caches' placement.
        double probability{0.5};             //!< Its probability.
        uint64_t capacity{10 * SIZE};        //!< The caches' capacity, bytes.
        std::string mode{"edge"};            //!< Binding in R2 and R3; in R1 it is edge.
        Time lifetime{Seconds(1)};           //!< The lifetime of lists in R1.
        bool second{false};                  //!< Whether there is another server, at R2.
        Time secondStart{MilliSeconds(0)};   //!< When it starts.
        bool offPath{false};                 //!< Whether there is an off-path cache at R2.
        std::string offPathPlacement{"lce"}; //!< Its placement.
        std::string offPathOptions;          //!< Its fetches' transport options.
        double loss{0};                      //!< Loss on each router link, both directions.
    };

    /// A receiver.
    struct Client
    {
        RouterLine::Host host;     //!< Its host.
        Ptr<IcnReceiver> receiver; //!< It.
        Ptr<IcnSession> session;   //!< Its session.
        Time failedAt;             //!< When it failed.
    };

    /**
     * Builds it.
     *
     * @param setting What it is like.
     */
    explicit Line(const Setting& setting)
        : line({RouterLink(setting), RouterLink(setting)}, setting.ipv6)
    {
        LinkSpec access;
        access.delay = MilliSeconds(1);
        const auto serverHost = line.AddHost(0, access);
        nameServer = CreateObject<IcnNameServerApplication>();
        serverHost.node->AddApplication(nameServer);
        nameServerAddress = line.GetAddress(serverHost);
        server = AddServer(2, 30, Time(0));
        if (setting.second)
        {
            second = AddServer(1, 5, setting.secondStart);
        }
        for (uint32_t i = 0; i < line.GetNRouters(); i++)
        {
            const bool isPlain = std::count(setting.plain.begin(), setting.plain.end(), i) > 0;
            if (!isPlain)
            {
                AddRouter(setting, i);
            }
        }
        if (setting.offPath)
        {
            AddOffPathCache(setting);
        }
        for (uint32_t i = 0; i < setting.receivers; i++)
        {
            AddClient(i);
        }
        line.AssignStreams(100);
    }

    /**
     * @param setting What the network is like.
     * @return What a link between routers is like.
     */
    static LinkSpec RouterLink(const Setting& setting)
    {
        LinkSpec link;
        link.rate = DataRate("20Mbps");
        link.delay = MilliSeconds(3);
        link.buffer = "60p";
        link.priority = true;
        link.loss = {setting.loss, setting.loss};
        return link;
    }

    /**
     * Adds a server of the NDC.
     *
     * @param router The number of its router.
     * @param cost The cost that it registers.
     * @param start When it starts.
     * @return Its application.
     */
    Ptr<IcnReplicaApplication> AddServer(uint32_t router, uint16_t cost, Time start)
    {
        LinkSpec access;
        access.delay = MilliSeconds(1);
        const auto host = line.AddHost(router, access);
        serverHosts.push_back(host);
        auto replica = CreateObject<IcnReplicaApplication>();
        replica->SetAttribute("NameServer", AddressValue(nameServerAddress));
        replica->SetAttribute("Cost", UintegerValue(cost));
        replica->AssignStreams(500 + router);
        ndc = replica->AddSynthetic(SEED, SIZE);
        replica->SetStartTime(start);
        host.node->AddApplication(replica);
        return replica;
    }

    /**
     * Makes a router an ICN router.
     *
     * @param setting What the network is like.
     * @param number Its number.
     */
    void AddRouter(const Setting& setting, uint32_t number)
    {
        const Ptr<Node> node = line.GetRouter(number);
        IcnStackHelper().Install(node);
        auto binding = CreateObject<IcnBindingApplication>();
        binding->SetAttribute("NameServer", AddressValue(nameServerAddress));
        if (number == 0)
        {
            binding->SetAttribute("Lifetime", TimeValue(setting.lifetime));
        }
        else
        {
            binding->SetAttribute("Mode", StringValue(setting.mode));
        }
        binding->AssignStreams(700 + number);
        node->AddApplication(binding);
        bindings[number] = binding;
        if (std::count(setting.caches.begin(), setting.caches.end(), number) > 0)
        {
            auto replica = CreateObject<IcnReplicaApplication>();
            replica->SetAttribute("NameServer", AddressValue(nameServerAddress));
            replica->SetAttribute("Cost", UintegerValue(10 * number));
            replica->AssignStreams(600 + number);
            node->AddApplication(replica);
            auto cache = CreateObject<IcnRouterCacheApplication>();
            cache->SetAttribute("Verify", BooleanValue(true));
            cache->SetAttribute("Placement", StringValue(setting.placement));
            cache->SetAttribute("Probability", DoubleValue(setting.probability));
            cache->SetAttribute("CapacityBytes", UintegerValue(setting.capacity));
            cache->SetReplica(replica);
            cache->AssignStreams(800 + number);
            node->AddApplication(cache);
            caches[number] = cache;
        }
    }

    /**
     * Adds a cache beside the path.
     *
     * @param setting What the network is like.
     */
    void AddOffPathCache(const Setting& setting)
    {
        LinkSpec access;
        access.delay = MilliSeconds(1);
        const Ptr<Node> node = line.AddHost(1, access).node;
        auto replica = CreateObject<IcnReplicaApplication>();
        replica->SetAttribute("NameServer", AddressValue(nameServerAddress));
        replica->SetAttribute("Cost", UintegerValue(12));
        node->AddApplication(replica);
        offPathCache = CreateObject<IcnRouterCacheApplication>();
        offPathCache->SetAttribute("Verify", BooleanValue(true));
        offPathCache->SetReplica(replica);
        node->AddApplication(offPathCache);
        offPath = CreateObject<IcnOffPathCacheApplication>();
        offPath->SetAttribute("NameServer", AddressValue(nameServerAddress));
        offPath->SetAttribute("Verify", BooleanValue(true));
        offPath->SetAttribute("Placement", StringValue(setting.offPathPlacement));
        offPath->SetAttribute("Controller", StringValue("newreno"));
        offPath->SetAttribute("Options", StringValue(setting.offPathOptions));
        offPath->SetCache(offPathCache);
        offPath->AssignStreams(850);
        node->AddApplication(offPath);
        node->GetObject<IcnL4Protocol>()->TraceConnectWithoutContext(
            "Data",
            MakeCallback(&Line::OnOffPathData, this));
    }

    /**
     * DATA came to the off-path cache's fetches.
     *
     * @param packet It.
     * @param hopLimit Its hop limit.
     */
    void OnOffPathData(Ptr<const Packet> packet, uint8_t /* hopLimit */)
    {
        offPathLargest = std::max(offPathLargest, packet->GetSize());
    }

    /**
     * Adds a receiver at R1.
     *
     * @param number Its number.
     */
    void AddClient(uint32_t number)
    {
        LinkSpec access;
        access.delay = MilliSeconds(1);
        Client client;
        client.host = line.AddHost(0, access);
        client.receiver = CreateObject<IcnReceiver>();
        client.receiver->SetAttribute("Verify", BooleanValue(true));
        client.receiver->SetNode(client.host.node);
        client.receiver->SetNdc(ndc);
        client.receiver->AssignStreams(900 + number);
        client.session = CreateObject<IcnSession>();
        client.session->SetAttribute("Resolution", StringValue("edge"));
        client.session->SetReceiver(client.receiver);
        const Address edge = line.GetRouterAddress(client.host);
        // A closure is no member function: ns-3 3.37 wants one that it can compare.
        edges.push_back(edge);
        client.session->SetTable(MakeCallback(&Line::LookUp, this).Bind(number));
        client.session->AssignStreams(950 + number);
        clients.push_back(client);
    }

    /**
     * @param number A receiver's number.
     * @param ndc An NDC.
     * @return Its edge router.
     */
    std::vector<IcnLocator> LookUp(uint32_t number, const IcnEid& /* ndc */)
    {
        return {IcnLocator{edges.at(number), 0}};
    }

    /**
     * Schedules something.
     *
     * @param at When, seconds.
     * @param what What.
     */
    static void At(double at, const std::function<void()>& what)
    {
        Simulator::Schedule(Seconds(at), what);
    }

    /**
     * Starts a receiver.
     *
     * @param number Its number.
     * @param at When, seconds.
     */
    void Start(uint32_t number, double at)
    {
        Simulator::Schedule(Seconds(at), &IcnSession::Start, clients.at(number).session);
    }

    /// Lets go of everything.
    ~Line()
    {
        for (const Client& client : clients)
        {
            client.session->Dispose();
            client.receiver->Dispose();
        }
        Simulator::Destroy();
    }

    RouterLine line;                                        //!< The network.
    Ptr<IcnNameServerApplication> nameServer;               //!< The name server.
    Address nameServerAddress;                              //!< Its address.
    Ptr<IcnReplicaApplication> server;                      //!< The server at R3.
    Ptr<IcnReplicaApplication> second;                      //!< The one at R2, or null.
    std::vector<RouterLine::Host> serverHosts;              //!< Their hosts.
    std::vector<Client> clients;                            //!< The receivers.
    std::vector<Address> edges;                             //!< Their edge routers.
    std::array<Ptr<IcnBindingApplication>, 3> bindings{};   //!< Binding in the routers.
    std::array<Ptr<IcnRouterCacheApplication>, 3> caches{}; //!< The routers' caches.
    Ptr<IcnRouterCacheApplication> offPathCache;            //!< The cache beside the path, or null.
    Ptr<IcnOffPathCacheApplication> offPath;                //!< What fills it, or null.
    uint32_t offPathLargest{0};                             //!< Its largest DATA, bytes.
    IcnEid ndc;                                             //!< The NDC.
};

} // namespace

/**
 * @ingroup ferrocc
 *
 * A line with something in it that happens, and what must have come of it.
 */
class RoutersTestCase : public TestCase
{
  public:
    /// Prepares what happens: starts receivers, too.
    using Prepare = std::function<void(Line&)>;

    /// What a router's cache has counted; -1 for whatever.
    struct Counts
    {
        uint32_t router;       //!< The router's number.
        int64_t hits{-1};      //!< Transfers that it served.
        int64_t misses{-1};    //!< Transfers that others served.
        int64_t assembled{-1}; //!< NDCs that became complete.
        int64_t abandoned{-1}; //!< NDCs that were given up.
        int64_t evictions{-1}; //!< NDCs that were evicted.
        int64_t tooLarge{-1};  //!< Transfers of an NDC that is too large.
    };

    /// What comes of it.
    struct Outcome
    {
        std::vector<std::string> failures{};          //!< Per receiver; empty: it is whole.
        std::vector<uint64_t> changes{};              //!< Per receiver: changes of its source.
        std::vector<Counts> caches{};                 //!< What caches have counted.
        std::function<void(Line&, TestCase&)> more{}; //!< Further checks, or none.
    };

    /**
     * @param name For the report.
     * @param setting What the line is like.
     * @param prepare What happens.
     * @param outcome What comes of it.
     */
    RoutersTestCase(const std::string& name,
                    const Line::Setting& setting,
                    const Prepare& prepare,
                    const Outcome& outcome)
        : TestCase(name),
          m_setting(setting),
          m_prepare(prepare),
          m_outcome(outcome)
    {
    }

  private:
    void DoRun() override
    {
        Line world(m_setting);
        m_prepare(world);
        Simulator::Stop(Seconds(80));
        Simulator::Run();
        for (std::size_t i = 0; i < m_outcome.failures.size(); i++)
        {
            const auto& client = world.clients.at(i);
            const bool whole = m_outcome.failures[i].empty();
            NS_TEST_EXPECT_MSG_EQ(client.session->GetFailure(),
                                  m_outcome.failures[i],
                                  "failure of receiver " << i);
            NS_TEST_EXPECT_MSG_EQ(client.receiver->IsCompleted(), whole, "receiver " << i);
            NS_TEST_EXPECT_MSG_EQ(client.receiver->IsVerified(), whole, "hash, receiver " << i);
            if (whole)
            {
                NS_TEST_EXPECT_MSG_EQ(client.receiver->GetDelivered(), SIZE, "every byte once");
            }
        }
        for (std::size_t i = 0; i < m_outcome.changes.size(); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(world.clients.at(i).receiver->GetSourceChanges(),
                                  m_outcome.changes[i],
                                  "changes of the source of receiver " << i);
        }
        for (const Counts& counts : m_outcome.caches)
        {
            const auto& cache = *world.caches.at(counts.router);
            Compare(counts.router, "hits", cache.GetHits(), counts.hits);
            Compare(counts.router, "misses", cache.GetMisses(), counts.misses);
            Compare(counts.router, "assembled", cache.GetAssembled(), counts.assembled);
            Compare(counts.router, "abandoned", cache.GetAbandoned(), counts.abandoned);
            Compare(counts.router, "evictions", cache.GetEvictions(), counts.evictions);
            Compare(counts.router, "too large", cache.GetTooLarge(), counts.tooLarge);
        }
        NS_TEST_EXPECT_MSG_EQ(world.nameServer->GetMalformed(), 0, "no bad messages");
        if (m_outcome.more)
        {
            m_outcome.more(world, *this);
        }
    }

    /**
     * @param router A router's number.
     * @param what What was counted.
     * @param counted How much.
     * @param expected How much it should be; negative for whatever.
     */
    void Compare(uint32_t router, const std::string& what, uint64_t counted, int64_t expected)
    {
        if (expected >= 0)
        {
            NS_TEST_EXPECT_MSG_EQ(counted,
                                  static_cast<uint64_t>(expected),
                                  what << " of R" << router + 1);
        }
    }

    Line::Setting m_setting; //!< What the line is like.
    Prepare m_prepare;       //!< What happens.
    Outcome m_outcome;       //!< What comes of it.
};

/**
 * @ingroup ferrocc
 *
 * The suite.
 */
class FerroccRouterTestSuite : public TestSuite
{
  public:
    FerroccRouterTestSuite();

  private:
    /// Adds the tests of caches.
    void AddCacheTests();

    /// Adds the tests of the cache beside the path.
    void AddOffPathTests();

    /// Adds the tests of binding.
    void AddBindingTests();

    /// Adds the tests of what moves.
    void AddMobilityTests();

    /**
     * Adds a test, over IPv4 and over IPv6.
     *
     * @param name For the report.
     * @param setting What the line is like.
     * @param prepare What happens.
     * @param outcome What comes of it.
     */
    void Add(const std::string& name,
             const Line::Setting& setting,
             const RoutersTestCase::Prepare& prepare,
             const RoutersTestCase::Outcome& outcome)
    {
        AddTestCase(new RoutersTestCase(name, setting, prepare, outcome), compat::QuickTest());
        Line::Setting ipv6 = setting;
        ipv6.ipv6 = true;
        AddTestCase(new RoutersTestCase(name + ", IPv6", ipv6, prepare, outcome),
                    compat::QuickTest());
    }
};

namespace
{

/**
 * @param first When the first receiver starts, seconds.
 * @param second When the second one does.
 * @return What starts them.
 */
RoutersTestCase::Prepare
Both(double first, double second)
{
    return [first, second](Line& w) {
        w.Start(0, first);
        w.Start(1, second);
    };
}

/**
 * @param prepare What happens.
 * @param at When something else happens, seconds.
 * @param what What.
 * @return Both.
 */
RoutersTestCase::Prepare
And(const RoutersTestCase::Prepare& prepare, double at, const std::function<void(Line&)>& what)
{
    return [prepare, at, what](Line& w) {
        prepare(w);
        Line::At(at, [&w, what] { what(w); });
    };
}

} // namespace

FerroccRouterTestSuite::FerroccRouterTestSuite()
    : TestSuite("ferrocc-router", Type::UNIT)
{
    AddCacheTests();
    AddOffPathTests();
    AddBindingTests();
    AddMobilityTests();
}

void
FerroccRouterTestSuite::AddCacheTests()
{
    Line::Setting edge;
    edge.caches = {0};
    Line::Setting middle;
    middle.caches = {1};
    Line::Setting all;
    all.caches = {0, 1, 2};

    Add("two receivers at once make one copy",
        edge,
        Both(0.5, 0.51),
        {{"", ""}, {0, 0}, {{0, 0, 2, 1, 0}}});
    Add("the edge router serves the second receiver",
        edge,
        And(Both(0.5, 5), 4, [](Line& w) { w.server->Fail(); }),
        {{"", ""}, {0, 0}, {{0, 1, 1, 1, 0}}});
    Add("the middle router serves the second receiver",
        middle,
        And(Both(0.5, 5), 4, [](Line& w) { w.server->Fail(); }),
        {{"", ""}, {0, 0}, {{1, 1, 1, 1, 0}}});
    Line::Setting lossy = all;
    lossy.loss = 0.02;
    Add("copies everywhere, under loss",
        lossy,
        Both(0.5, 8),
        {{"", ""}, {0, 0}, {{0, 1, 1, 1}, {1, 0, 1, 1}, {2, 0, 1, 1}}});
    Add("eviction in mid-transfer at the edge",
        edge,
        And(Both(0.5, 5), 5.007, [](Line& w) { w.caches[0]->EvictAll(); }),
        {{"", ""}, {0, 1}, {{0, 1, 1, -1, -1, 1}}});
    Add("eviction in mid-transfer in the middle",
        middle,
        And(Both(0.5, 5), 5.1, [](Line& w) { w.caches[1]->EvictAll(); }),
        {{"", ""}, {0, 1}, {{1, 1, 1, -1, -1, 1}}});
    Line::Setting small = all;
    small.capacity = SIZE - 1;
    Add("an NDC larger than the caches",
        small,
        Both(0.5, 5),
        {{"", ""}, {0, 0}, {{0, 0, 2, 0, 0, 0, 2}, {1, 0, 2, 0, 0, 0, 2}, {2, 0, 2, 0, 0, 0, 2}}});
    const auto restart = [](uint32_t router) {
        return [router](Line& w) {
            if (w.caches[router])
            {
                w.caches[router]->Restart();
            }
            w.bindings[router]->Restart();
            w.line.SetUp(router, false);
            Line::At(0.5, [&w, router] { w.line.SetUp(router, true); });
        };
    };
    Add("the router that serves restarts",
        middle,
        And(Both(0.5, 5), 5.1, restart(1)),
        {{"", ""}, {0, 1}, {{1, 1, 1}}});
    // The rest of the first transfer and the second one make a copy, which then serves the latter.
    Add("the edge router restarts",
        edge,
        And(Both(0.5, 5), 0.7, restart(0)),
        {{"", ""}, {0, 1}, {}});

    Line::Setting down = all;
    down.placement = "lcd";
    down.receivers = 4;
    Add("copies come down one router per transfer",
        down,
        [](Line& w) {
            for (uint32_t i = 0; i < 4; i++)
            {
                w.Start(i, 0.5 + 5 * i);
            }
        },
        {{"", "", "", ""}, {0, 0, 0, 0}, {{0, 1, 3, 1}, {1, 1, 2, 1}, {2, 1, 1, 1}}});
    Line::Setting never = all;
    never.placement = "probabilistic";
    never.probability = 0;
    Add("no copies at probability 0",
        never,
        Both(0.5, 5),
        {{"", ""}, {0, 0}, {{0, 0, 2, 0}, {1, 0, 2, 0}, {2, 0, 2, 0}}});
    Line::Setting always = never;
    always.probability = 1;
    Add("copies everywhere at probability 1",
        always,
        Both(0.5, 5),
        {{"", ""}, {0, 0}, {{0, 1, 1, 1}, {1, 0, 1, 1}, {2, 0, 1, 1}}});
    Line::Setting mixed = all;
    mixed.plain = {1};
    mixed.caches = {0, 2};
    Add("a plain IP router in between",
        mixed,
        Both(0.5, 5),
        {{"", ""}, {0, 0}, {{0, 1, 1, 1}, {2, 0, 1, 1}}});
    Add("a preloaded NDC is a hit",
        edge,
        And(Both(1, 2), 0.5, [](Line& w) { w.caches[0]->Preload(w.ndc, SIZE, SEED); }),
        {{"", ""}, {0, 0}, {{0, 2, 0, 0}}});
}

void
FerroccRouterTestSuite::AddOffPathTests()
{
    Line::Setting setting;
    setting.offPath = true;
    const auto counted = [](uint64_t fetched, uint64_t declined, uint64_t hits) {
        return [fetched, declined, hits](Line& w, TestCase&) {
            const auto& app = *w.offPath;
            NS_ABORT_MSG_UNLESS(
                app.GetAnnounced() == 1 && app.GetFailed() == 0 && app.GetFetched() == fetched &&
                    app.GetDeclined() == declined && w.offPathCache->GetHits() == hits,
                "announced " << app.GetAnnounced() << ", fetched " << app.GetFetched()
                             << ", failed " << app.GetFailed() << ", declined " << app.GetDeclined()
                             << ", hits " << w.offPathCache->GetHits());
        };
    };
    Add("a cache beside the path fetches what is announced and serves it",
        setting,
        And(Both(0.5, 6), 5, [](Line& w) { w.server->Fail(); }),
        {{"", ""}, {0, 0}, {}, counted(1, 0, 1)});
    Line::Setting small = setting;
    small.offPathOptions = R"({"mss_bytes": 400})";
    Add("its fetches have the payload that they are told",
        small,
        Both(0.5, 6),
        {{"", ""}, {0, 0}, {}, [](Line& w, TestCase&) {
             // With the ICN header.
             NS_ABORT_MSG_UNLESS(w.offPathLargest > 400 && w.offPathLargest < 500,
                                 "largest DATA " << w.offPathLargest);
         }});
    setting.offPathPlacement = "lcd";
    Add("a cache beside the path is nobody's first router",
        setting,
        Both(0.5, 6),
        {{"", ""}, {0, 0}, {}, counted(0, 1, 0)});
}

void
FerroccRouterTestSuite::AddBindingTests()
{
    const Line::Setting plain;
    Line::Setting two;
    two.second = true;
    const auto within = [](double seconds) {
        return [seconds](Line& w, TestCase&) {
            NS_ABORT_MSG_UNLESS(w.clients[0].receiver->GetCompletionTime() < Seconds(seconds),
                                "it took longer than " << seconds << " s");
        };
    };
    Add("the nearest source is taken",
        two,
        And(Both(0.5, 0.5), 0.4, [](Line& w) { w.server->Fail(); }),
        {{"", ""}, {0, 0}, {}, within(3)});
    Add("a dead name server fails receivers by name",
        plain,
        And(Both(0.5, 0.6), 0.3, [](Line& w) { w.nameServer->Fail(); }),
        {{"name-server-unreachable", "name-server-unreachable"}, {0, 0}, {}});
    Add("a name server that is away for a while",
        plain,
        And(And(Both(0.5, 0.6), 0.3, [](Line& w) { w.nameServer->Fail(); }),
            4,
            [](Line& w) { w.nameServer->Restore(); }),
        {{"", ""}, {0, 0}, {}, within(12)});
    Add("a name server that dies in mid-transfer",
        plain,
        And(Both(0.5, 0.5), 0.6, [](Line& w) { w.nameServer->Fail(); }),
        {{"", ""}, {0, 0}, {}, within(3)});
    Add("a name that nobody has registered",
        plain,
        And(Both(1, 1), 0.5, [](Line& w) { w.server->Vanish(); }),
        {{"name-unknown", "name-unknown"}, {0, 0}, {}});
    Add("the only source vanishes in mid-transfer",
        plain,
        And(Both(0.5, 0.5), 0.7, [](Line& w) { w.server->Vanish(); }),
        {{"no-replica", "no-replica"}, {0, 0}, {}});
    Add("one of two sources vanishes in mid-transfer",
        two,
        And(Both(0.5, 0.5), 0.7, [](Line& w) { w.second->Vanish(); }),
        {{"", ""}, {1, 1}, {}, within(4)});
    Add("one of two sources dies in mid-transfer",
        two,
        And(Both(0.5, 0.5), 0.7, [](Line& w) { w.second->Fail(); }),
        {{"", ""}, {1, 1}, {}, within(8)});

    Line::Setting path;
    path.mode = "path";
    path.caches = {1};
    path.lifetime = Seconds(100);
    Add("a router on the path serves what is on its way to the server",
        path,
        And(Both(0.5, 5), 4, [](Line& w) { w.server->Fail(); }),
        {{"", ""}, {0, 0}, {{1, 1, 1, 1}}});
    Line::Setting nearer = path;
    nearer.caches = {};
    nearer.second = true;
    nearer.secondStart = Seconds(3);
    Add("a router on the path changes the destination",
        nearer,
        Both(0.5, 5),
        {{"", ""}, {0, 1}, {}, [](Line& w, TestCase&) {
             NS_ABORT_MSG_UNLESS(w.bindings[1]->GetBound() == 2, "R2 has bound both");
         }});
}

void
FerroccRouterTestSuite::AddMobilityTests()
{
    const Line::Setting plain;
    Add("the server moves in mid-transfer",
        plain,
        [](Line& w) {
            w.Start(0, 0.5);
            w.Start(1, 0.5);
            LinkSpec access;
            access.delay = MilliSeconds(1);
            const auto from = w.serverHosts[0];
            const auto to = w.line.AddPlace(from, 1, access);
            Line::At(0.7, [&w, from, to] {
                w.line.Move(from, to);
                w.server->NotifyAddressChange();
            });
        },
        {{"", ""}, {1, 1}, {}});
    Add("a receiver that starts after three moves of the server finds it at once",
        plain,
        [](Line& w) {
            w.Start(0, 0.5);
            w.Start(1, 10);
            LinkSpec access;
            access.delay = MilliSeconds(1);
            const auto first = w.serverHosts[0];
            const auto second = w.line.AddPlace(first, 1, access);
            const auto third = w.line.AddPlace(first, 0, access);
            const auto fourth = w.line.AddPlace(first, 1, access);
            const auto move = [&w](double at, const auto& from, const auto& to) {
                Line::At(at, [&w, from, to] {
                    w.line.Move(from, to);
                    w.server->NotifyAddressChange();
                });
            };
            move(4, first, second);
            move(5, second, third);
            move(6, third, fourth);
            Line::At(9, [&w] {
                NS_ABORT_MSG_UNLESS(w.nameServer->GetNReplicas(w.ndc) == 1,
                                    "it is listed where it is and nowhere else");
            });
        },
        {{"", ""}, {0, 0}, {}, [](Line& w, TestCase&) {
             NS_ABORT_MSG_UNLESS(w.clients[1].receiver->GetCompletionTime() < Seconds(12),
                                 "it waited for a dead address");
         }});
    Line::Setting cached;
    cached.caches = {0, 1, 2};
    Add("a receiver moves in mid-transfer",
        cached,
        [](Line& w) {
            w.Start(0, 0.5);
            w.Start(1, 6);
            LinkSpec access;
            access.delay = MilliSeconds(1);
            const auto from = w.clients[0].host;
            const auto to = w.line.AddPlace(from, 1, access);
            Line::At(0.7, [&w, from, to] {
                w.line.Move(from, to);
                w.edges[0] = w.line.GetRouterAddress(to);
                w.clients[0].session->NotifyMoved(w.edges[0]);
            });
        },
        {{"", ""}, {0, 0}, {{2, 0, 1, 1}}});
}

static FerroccRouterTestSuite g_ferroccRouterTestSuite; //!< Registers the suite.
