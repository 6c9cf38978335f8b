// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/icn-name-client.h"
#include "ns3/icn-name-server-application.h"
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

#include <functional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup ferrocc
 *
 * Suite ferrocc-names: name servers, sessions over several replicas, faults, router caches.
 */

using namespace ns3;

namespace
{

/// Size of the NDC, bytes.
constexpr uint64_t SIZE = 2'000'000;

/**
 * A name server and a receiver at one end of a bottleneck, replicas at the other, all with the same
 * real NDC.
 */
struct World
{
    /// What it is like.
    struct Setting
    {
        bool ipv6{false};            //!< IPv6 instead of IPv4.
        uint32_t replicas{2};        //!< How many replicas.
        Time delay{MilliSeconds(5)}; //!< The bottleneck's one-way delay.
        double loss{0};              //!< Loss in both directions.
        double reorder{0};           //!< Probability that DATA is held back.
        double serverLoss{0};        //!< Loss on the name server's link, both directions.
        Time processing;             //!< The name server's service time.
        bool register_{true};        //!< Whether replicas register.
    };

    /**
     * Builds it.
     *
     * @param setting What it is like.
     */
    explicit World(const Setting& setting)
        : network({Bottleneck(setting)}, setting.ipv6)
    {
        LinkSpec access;
        access.delay = MilliSeconds(1);
        const auto host = network.AddHost(0, access);
        LinkSpec serverLink = access;
        serverLink.loss = {setting.serverLoss, setting.serverLoss};
        const auto serverHost = network.AddHost(0, serverLink);
        server = CreateObject<IcnNameServerApplication>();
        server->SetAttribute("ProcessingTime", TimeValue(setting.processing));
        serverHost.node->AddApplication(server);
        serverAddress = network.GetAddress(serverHost);
        for (uint32_t i = 0; i < setting.replicas; i++)
        {
            const auto replicaHost = network.AddHost(1, access);
            auto replica = CreateObject<IcnReplicaApplication>();
            if (setting.register_)
            {
                replica->SetAttribute("NameServer", AddressValue(serverAddress));
            }
            replica->SetAttribute("Cost", UintegerValue(100 - i));
            replica->AssignStreams(500 + i);
            ndc = replica->AddSynthetic(7, SIZE);
            replicaHost.node->AddApplication(replica);
            replicas.push_back(replica);
            addresses.push_back(network.GetAddress(replicaHost));
        }
        receiver = CreateObject<IcnReceiver>();
        receiver->SetAttribute("Verify", BooleanValue(true));
        receiver->SetNode(host.node);
        receiver->SetNdc(ndc);
        receiver->AssignStreams(600);
        session = CreateObject<IcnSession>();
        session->SetReceiver(receiver);
        session->SetNameServer(serverAddress);
        session->AssignStreams(700);
        session->TraceConnectWithoutContext("Replica", MakeCallback(&World::OnReplica, this));
        session->TraceConnectWithoutContext("Failed", MakeCallback(&World::OnFailed, this));
        receiver->TraceConnectWithoutContext("Delivered", MakeCallback(&World::OnDelivered, this));
        network.AssignStreams(100);
    }

    /**
     * Starts the session and simulates.
     *
     * @param seconds How long.
     */
    void Run(double seconds)
    {
        Simulator::Schedule(MilliSeconds(100), &IcnSession::Start, session);
        Simulator::Stop(Seconds(seconds));
        Simulator::Run();
    }

    /**
     * Schedules something.
     *
     * @param at When.
     * @param what What.
     */
    static void At(Time at, const std::function<void()>& what)
    {
        Simulator::Schedule(at, what);
    }

    /// Lets go of everything.
    ~World()
    {
        session->Dispose();
        receiver->Dispose();
        Simulator::Destroy();
    }

    /**
     * @param setting What it is like.
     * @return What the bottleneck is like.
     */
    static LinkSpec Bottleneck(const Setting& setting)
    {
        LinkSpec link;
        link.rate = DataRate("20Mbps");
        link.delay = setting.delay;
        link.buffer = "40p";
        link.priority = true;
        link.loss = {setting.loss, setting.loss};
        link.reorder = setting.reorder;
        link.reorderDelay = MilliSeconds(5);
        return link;
    }

    /**
     * REQs go to another replica.
     *
     * @param replica Its address.
     */
    void OnReplica(const Address& replica)
    {
        used.push_back(replica);
    }

    /**
     * The transfer has failed.
     *
     * @param name Why.
     */
    void OnFailed(const std::string& name)
    {
        failure = name;
        failedAt = Simulator::Now();
    }

    /**
     * Adds what was delivered.
     *
     * @param before Bytes before.
     * @param now Bytes now.
     */
    void OnDelivered(uint64_t before, uint64_t now)
    {
        delivered += now - before;
    }

    RouterLine network;                               //!< The network.
    Ptr<IcnNameServerApplication> server;             //!< The name server.
    Address serverAddress;                            //!< Its address.
    std::vector<Ptr<IcnReplicaApplication>> replicas; //!< The replicas.
    std::vector<Address> addresses;                   //!< Their addresses.
    Ptr<IcnReceiver> receiver;                        //!< The receiver.
    Ptr<IcnSession> session;                          //!< Its session.
    IcnEid ndc;                                       //!< The NDC.
    std::vector<Address> used;                        //!< Replicas in the order of their use.
    std::string failure;                              //!< Why it failed.
    Time failedAt;                                    //!< When.
    uint64_t delivered{0};                            //!< Bytes delivered.
};

} // namespace

/**
 * @ingroup ferrocc
 *
 * A world with something in it that happens, and what must have come of it.
 */
class WorldTestCase : public TestCase
{
  public:
    /// Prepares what happens.
    using Prepare = std::function<void(World&)>;

    /// What comes of it.
    struct Outcome
    {
        std::string failure;        //!< The failure, or empty: the content is whole.
        std::vector<uint32_t> used; //!< Numbers of the replicas in the order of their use.
        bool inPart{false};         //!< Whether some bytes are delivered before a failure.
    };

    /**
     * @param name For the report.
     * @param setting What the world is like.
     * @param prepare What happens.
     * @param outcome What comes of it.
     */
    WorldTestCase(const std::string& name,
                  const World::Setting& setting,
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
        World world(m_setting);
        m_prepare(world);
        world.Run(100);
        NS_TEST_EXPECT_MSG_EQ(world.failure, m_outcome.failure, "failure");
        NS_TEST_EXPECT_MSG_EQ(world.session->GetFailure(), m_outcome.failure, "the same");
        if (m_outcome.failure.empty())
        {
            NS_TEST_EXPECT_MSG_EQ(world.receiver->IsCompleted(), true, "completed");
            NS_TEST_EXPECT_MSG_EQ(world.receiver->IsVerified(), true, "hash of the content");
            NS_TEST_EXPECT_MSG_EQ(world.delivered, SIZE, "every byte once");
        }
        else
        {
            NS_TEST_EXPECT_MSG_EQ(world.receiver->IsCompleted(), false, "not completed");
            NS_TEST_EXPECT_MSG_EQ((world.delivered > 0), m_outcome.inPart, "delivered in part");
            NS_TEST_EXPECT_MSG_LT_OR_EQ(world.failedAt, Seconds(62), "within a minute");
        }
        NS_TEST_ASSERT_MSG_EQ(world.used.size(), m_outcome.used.size(), "replicas used");
        for (std::size_t i = 0; i < world.used.size(); i++)
        {
            NS_TEST_EXPECT_MSG_EQ((world.used[i] == world.addresses[m_outcome.used[i]]),
                                  true,
                                  "replica number " << i);
        }
        const uint64_t switches = world.used.empty() ? 0 : world.used.size() - 1;
        NS_TEST_EXPECT_MSG_EQ(world.session->GetSwitches(), switches, "changes");
        NS_TEST_EXPECT_MSG_EQ(world.server->GetMalformed(), 0, "no bad messages");
    }

    World::Setting m_setting; //!< What the world is like.
    Prepare m_prepare;        //!< What happens.
    Outcome m_outcome;        //!< What comes of it.
};

/**
 * @ingroup ferrocc
 *
 * Registrations are there, are renewed, and expire.
 */
class RegistrationTestCase : public TestCase
{
  public:
    /**
     * @param ipv6 IPv6 instead of IPv4.
     */
    explicit RegistrationTestCase(bool ipv6)
        : TestCase(ipv6 ? "registrations over IPv6" : "registrations over IPv4"),
          m_ipv6(ipv6)
    {
    }

  private:
    void DoRun() override
    {
        World::Setting setting;
        setting.ipv6 = m_ipv6;
        setting.serverLoss = 0.2;
        World world(setting);
        world.replicas[0]->SetAttribute("Lifetime", TimeValue(Seconds(10)));
        world.replicas[1]->SetAttribute("Lifetime", TimeValue(Seconds(10)));
        const auto count = [&world, this](double at, uint32_t expected, const char* why) {
            World::At(Seconds(at), [&world, this, expected, why] {
                NS_TEST_EXPECT_MSG_EQ(world.server->GetNReplicas(world.ndc), expected, why);
            });
        };
        count(0, 0, "nothing at the start");
        count(4, 2, "registered, if need be by a repetition");
        World::At(Seconds(100), [&world] { world.replicas[0]->Fail(); });
        count(99, 2, "renewed ten times");
        count(115, 1, "the dead one's has expired");
        World::At(Seconds(120), [&world] { world.replicas[1]->Vanish(); });
        count(125, 0, "the other one has been taken away");
        World::At(Seconds(130), [&world] { world.replicas[0]->Restore(); });
        count(135, 1, "restored");
        World::At(Seconds(140), [&world] { world.server->Fail(); });
        World::At(Seconds(160), [&world] { world.server->Restore(); });
        count(165, 0, "expired, and not renewed for lack of a server");
        count(200, 1, "tried again when it was back");
        Simulator::Stop(Seconds(201));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_GT(world.server->GetRegistrations(), 30, "renewals");
        NS_TEST_EXPECT_MSG_EQ(world.server->GetMalformed(), 0, "no bad messages");
    }

    bool m_ipv6; //!< IPv6 instead of IPv4.
};

/**
 * @ingroup ferrocc
 *
 * Requests are served one after the other, and a client hears the server only.
 */
class ServerTestCase : public TestCase
{
  public:
    ServerTestCase()
        : TestCase("service times and bad datagrams")
    {
    }

  private:
    void DoRun() override
    {
        World::Setting setting;
        setting.processing = MilliSeconds(10);
        setting.replicas = 1;
        World world(setting);
        auto client = CreateObject<IcnNameClient>();
        client->Open(world.receiver->GetNode(),
                     world.serverAddress,
                     MakeCallback(&ServerTestCase::OnReply, this));
        World::At(Seconds(1), [&client] {
            // A request with one byte too many, which is answered, and one that no one can read.
            const std::vector<uint8_t> bad{1, 4, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0,
                                           0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
            for (int i = 0; i < 3; i++)
            {
                client->Send(bad.data(), static_cast<uint32_t>(bad.size()));
            }
            client->Send(bad.data(), 3);
        });
        Simulator::Stop(Seconds(2));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(m_replies.size(), 3, "three answers");
        NS_TEST_EXPECT_MSG_EQ((m_replies[1] - m_replies[0]), MilliSeconds(10), "one by one");
        NS_TEST_EXPECT_MSG_EQ((m_replies[2] - m_replies[1]), MilliSeconds(10), "one by one");
        NS_TEST_EXPECT_MSG_EQ(world.server->GetMalformed(), 4, "bad datagrams are counted");
        client->Dispose();
    }

    /**
     * A reply came.
     *
     * @param bytes Its bytes.
     */
    void OnReply(const std::vector<uint8_t>& bytes)
    {
        NS_TEST_ASSERT_MSG_EQ(bytes.size(), 29, "an ERROR has no locators");
        NS_TEST_EXPECT_MSG_EQ(+bytes[1], 6, "ERROR");
        NS_TEST_EXPECT_MSG_EQ(+bytes[3], 2, "malformed");
        NS_TEST_EXPECT_MSG_EQ(+bytes[7], 9, "of that transaction");
        m_replies.push_back(Simulator::Now());
    }

    std::vector<Time> m_replies; //!< When replies came.
};

/**
 * @ingroup ferrocc
 *
 * A router that forwards an NDC becomes a replica, and serves the next receiver alone.
 */
class RouterTestCase : public TestCase
{
  public:
    /**
     * @param ipv6 IPv6 instead of IPv4.
     */
    explicit RouterTestCase(bool ipv6)
        : TestCase(ipv6 ? "router cache over IPv6" : "router cache over IPv4"),
          m_ipv6(ipv6)
    {
    }

  private:
    void DoRun() override
    {
        World::Setting setting;
        setting.ipv6 = m_ipv6;
        setting.replicas = 1;
        setting.loss = 0.02;
        setting.reorder = 0.1;
        World world(setting);
        const Ptr<Node> router = world.network.GetRouter(0);
        IcnStackHelper().Install(router);
        auto cache = CreateObject<IcnReplicaApplication>();
        const Address server = world.serverAddress;
        cache->SetAttribute("NameServer", AddressValue(server));
        router->AddApplication(cache);
        auto assembler = CreateObject<IcnRouterCacheApplication>();
        assembler->SetAttribute("Verify", BooleanValue(true));
        assembler->SetReplica(cache);
        router->AddApplication(assembler);

        auto second = CreateObject<IcnReceiver>();
        second->SetAttribute("Verify", BooleanValue(true));
        second->SetNode(world.receiver->GetNode());
        second->SetNdc(world.ndc);
        auto session = CreateObject<IcnSession>();
        session->SetReceiver(second);
        session->SetNameServer(server);
        session->SetAttribute("ReplicaChoice", StringValue("nearest"));
        World::At(Seconds(20), [&] {
            NS_TEST_EXPECT_MSG_EQ(assembler->GetAssembled(), 1, "assembled");
            NS_TEST_EXPECT_MSG_EQ(cache->GetRegistered(), 1, "registered");
            NS_TEST_EXPECT_MSG_EQ(world.server->GetNReplicas(world.ndc), 2, "beside the first");
            world.replicas[0]->Fail();
            session->Start();
        });
        world.Run(40);
        NS_TEST_EXPECT_MSG_EQ(world.receiver->IsVerified(), true, "the first receiver's content");
        NS_TEST_EXPECT_MSG_EQ(second->IsVerified(), true, "the second receiver's content");
        NS_TEST_EXPECT_MSG_EQ(session->GetSwitches(), 0, "from the router alone");
        NS_TEST_EXPECT_MSG_GT(cache->GetAnswered(), 10, "REQs that the router answered");
        session->Dispose();
        second->Dispose();
    }

    bool m_ipv6; //!< IPv6 instead of IPv4.
};

/**
 * @ingroup ferrocc
 *
 * The suite.
 */
class FerroccNamesTestSuite : public TestSuite
{
  public:
    FerroccNamesTestSuite();
};

FerroccNamesTestSuite::FerroccNamesTestSuite()
    : TestSuite("ferrocc-names", Type::UNIT)
{
    const auto add = [this](TestCase* test) { AddTestCase(test, compat::QuickTest()); };
    const auto at = [](double seconds, auto what) {
        return [seconds, what](World& w) { World::At(Seconds(seconds), [&w, what] { what(w); }); };
    };
    const auto nothing = [](World&) {};
    const World::Setting plain;
    World::Setting ipv6;
    ipv6.ipv6 = true;
    World::Setting bad;
    bad.loss = 0.02;
    bad.reorder = 0.1;
    World::Setting badIpv6 = bad;
    badIpv6.ipv6 = true;
    World::Setting unregistered;
    unregistered.register_ = false;

    add(new RegistrationTestCase(false));
    add(new RegistrationTestCase(true));
    add(new ServerTestCase);
    add(new RouterTestCase(false));
    add(new RouterTestCase(true));

    add(new WorldTestCase("the first replica suffices", plain, nothing, {"", {0}}));
    add(new WorldTestCase("the same over IPv6", ipv6, nothing, {"", {0}}));
    add(new WorldTestCase(
        "the nearest replica is taken",
        plain,
        [](World& w) { w.session->SetAttribute("ReplicaChoice", StringValue("nearest")); },
        {"", {1}}));
    add(new WorldTestCase("the first to answer a probe is taken",
                          plain,
                          [](World& w) {
                              w.session->SetAttribute("ReplicaChoice", StringValue("lowest-rtt"));
                              w.replicas[0]->SetAttribute("ServiceDelay",
                                                          TimeValue(MilliSeconds(20)));
                          },
                          {"", {1}}));
    const auto switches = [](World& w) {
        for (int i = 0; i < 4; i++)
        {
            World::At(MilliSeconds(400 + 100 * i),
                      [&w, i] { w.session->SwitchTo(w.addresses[(i + 1) % 2]); });
        }
    };
    add(new WorldTestCase("switches under loss and reordering",
                          bad,
                          switches,
                          {"", {0, 1, 0, 1, 0}}));
    add(new WorldTestCase("the same over IPv6", badIpv6, switches, {"", {0, 1, 0, 1, 0}}));
    add(new WorldTestCase("a silent replica is left",
                          plain,
                          at(0.5, [](World& w) { w.replicas[0]->Fail(); }),
                          {"", {0, 1}}));
    add(new WorldTestCase("a vanished replica is left",
                          plain,
                          at(0.5, [](World& w) { w.replicas[0]->Vanish(); }),
                          {"", {0, 1}}));
    add(new WorldTestCase("a slow replica is left",
                          plain,
                          [](World& w) {
                              w.session->SetAttribute("SwitchBelow", DoubleValue(0.5));
                              World::At(Seconds(0.8), [&w] {
                                  w.replicas[0]->Slow(MilliSeconds(10), DataRate("1Mbps"));
                              });
                          },
                          {"", {0, 1}}));
    add(new WorldTestCase("a replica that was away for a while is not left",
                          plain,
                          [](World& w) {
                              World::At(Seconds(0.5), [&w] { w.replicas[0]->Fail(); });
                              World::At(Seconds(1.0), [&w] { w.replicas[0]->Restore(); });
                          },
                          {"", {0}}));
    add(new WorldTestCase("a dead server is no harm to who has a list",
                          plain,
                          at(0.5,
                             [](World& w) {
                                 w.server->Fail();
                                 w.replicas[0]->Fail();
                             }),
                          {"", {0, 1}}));
    add(new WorldTestCase("a dead server fails who has none",
                          plain,
                          at(0.05, [](World& w) { w.server->Fail(); }),
                          {"name-server-unreachable", {}}));
    add(new WorldTestCase("registrations that come after the first queries",
                          plain,
                          [](World& w) {
                              for (const auto& replica : w.replicas)
                              {
                                  replica->SetStartTime(Seconds(2.5));
                              }
                          },
                          {"", {0}}));
    World::Setting alone;
    alone.replicas = 1;
    add(new WorldTestCase("a name server that is down at the start",
                          alone,
                          [](World& w) {
                              World::At(Time(0), [&w] { w.server->Fail(); });
                              World::At(Seconds(2), [&w] { w.server->Restore(); });
                          },
                          {"", {0}}));
    World::Setting lossy = alone;
    lossy.serverLoss = 0.2;
    lossy.loss = 0.2;
    add(new WorldTestCase("registrations that may be lost", lossy, nothing, {"", {0}}));
    World::Setting far = alone;
    far.delay = MilliSeconds(250);
    add(new WorldTestCase("registrations that are on their way", far, nothing, {"", {0}}));
    add(new WorldTestCase("unknown names", unregistered, nothing, {"name-unknown", {}}));
    add(new WorldTestCase("replicas that all vanish",
                          plain,
                          at(0.5,
                             [](World& w) {
                                 w.replicas[0]->Vanish();
                                 w.replicas[1]->Vanish();
                             }),
                          {"no-replica", {0, 1}, true}));
}

static FerroccNamesTestSuite g_ferroccNamesTestSuite; //!< Registers the suite.
