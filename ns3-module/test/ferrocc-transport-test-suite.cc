// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/boolean.h"
#include "ns3/icn-receiver-application.h"
#include "ns3/icn-replica-application.h"
#include "ns3/node-clock.h"
#include "ns3/node.h"
#include "ns3/ns3-compat.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/topo1-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup ferrocc
 *
 * Suite ferrocc-transport: transfers end with every byte, and their trace sources tell of it.
 */

using namespace ns3;

/**
 * @ingroup ferrocc
 *
 * Several transfers at once over topo-1.
 */
class TransferTestCase : public TestCase
{
  public:
    /// What is transferred, and how.
    struct Setting
    {
        std::string name;          //!< For the report.
        std::string controller;    //!< The controller.
        uint32_t receivers{1};     //!< Receiver nodes.
        uint32_t transfers{1};     //!< Transfers, on the receivers in turn.
        uint64_t size{400'000};    //!< Size of each NDC, bytes.
        bool verify{false};        //!< Real payload.
        std::string buffer{"40p"}; //!< The bottleneck's buffer.
        double loss{0};            //!< Loss in both directions.
        double reorder{0};         //!< Probability that DATA is held back.
    };

    /**
     * @param setting What is transferred, and how.
     */
    explicit TransferTestCase(const Setting& setting)
        : TestCase(setting.name),
          m_setting(setting)
    {
    }

  private:
    void DoRun() override;

    /**
     * Counts a transfer that ended.
     *
     * @param receiver Its receiver.
     */
    void OnCompleted(Ptr<IcnReceiver> receiver)
    {
        NS_TEST_EXPECT_MSG_EQ(receiver->IsCompleted(), true, "state at the end");
        m_completed++;
    }

    /**
     * Adds what was delivered.
     *
     * @param before Bytes before.
     * @param now Bytes now.
     */
    void OnDelivered(uint64_t before, uint64_t now)
    {
        NS_TEST_EXPECT_MSG_GT(now, before, "delivered bytes only grow");
        m_delivered += now - before;
    }

    Setting m_setting;       //!< What is transferred, and how.
    uint32_t m_completed{0}; //!< Transfers that ended.
    uint64_t m_delivered{0}; //!< Bytes that the trace sources told of.
};

void
TransferTestCase::DoRun()
{
    Topo1Helper::Config config;
    config.receivers = m_setting.receivers;
    config.bottleneck.rate = DataRate("20Mbps");
    config.bottleneck.delay = MilliSeconds(5);
    config.bottleneck.buffer = m_setting.buffer;
    config.bottleneck.priority = true;
    config.bottleneck.loss = {m_setting.loss, m_setting.loss};
    config.bottleneck.reorder = m_setting.reorder;
    config.bottleneck.reorderDelay = MilliSeconds(2);
    config.receiverDelay = MilliSeconds(1);
    const Topo1Helper network(config);
    network.AssignStreams(100);

    auto replica = CreateObject<IcnReplicaApplication>();
    network.GetReplica()->AddApplication(replica);
    std::vector<Ptr<IcnReceiver>> receivers;
    for (uint32_t i = 0; i < m_setting.transfers; i++)
    {
        auto application = CreateObject<IcnReceiverApplication>();
        network.GetReceiver(i % m_setting.receivers)->AddApplication(application);
        application->SetStartTime(MilliSeconds(100 + 10 * i));
        const Ptr<IcnReceiver> receiver = application->GetReceiver();
        receiver->AssignStreams(200 + i);
        receiver->SetAttribute("Controller", StringValue(m_setting.controller));
        receiver->SetAttribute("Verify", BooleanValue(m_setting.verify));
        receiver->SetReplica(network.GetReplicaAddress());
        receiver->SetNdc(m_setting.verify ? replica->AddSynthetic(i, m_setting.size)
                                          : replica->AddVirtual(std::to_string(i), m_setting.size));
        receiver->TraceConnectWithoutContext("Completed",
                                             MakeCallback(&TransferTestCase::OnCompleted, this));
        receiver->TraceConnectWithoutContext("Delivered",
                                             MakeCallback(&TransferTestCase::OnDelivered, this));
        receivers.push_back(receiver);
    }
    Simulator::Stop(Seconds(120));
    Simulator::Run();

    NS_TEST_ASSERT_MSG_EQ(m_completed, m_setting.transfers, "all transfers complete");
    NS_TEST_ASSERT_MSG_EQ(m_delivered, m_setting.transfers * m_setting.size, "every byte once");
    for (const auto& receiver : receivers)
    {
        NS_TEST_ASSERT_MSG_EQ(receiver->IsVerified(), m_setting.verify, "hash of the content");
        NS_TEST_ASSERT_MSG_EQ(receiver->GetMalformed(), 0, "no bad packets");
    }
    NS_TEST_ASSERT_MSG_EQ(replica->GetMalformed(), 0, "no bad REQs");
    NS_TEST_ASSERT_MSG_EQ(replica->GetUnknown(), 0, "no unknown NDCs");
    Simulator::Destroy();
}

/**
 * @ingroup ferrocc
 *
 * Every trace source fires, with plausible values.
 */
class TraceSourcesTestCase : public TestCase
{
  public:
    TraceSourcesTestCase()
        : TestCase("trace sources")
    {
    }

  private:
    void DoRun() override;

    /**
     * Notes a value. @param before The value before. @param now The value.
     */
    void OnWindow(uint64_t before, uint64_t now)
    {
        NS_TEST_EXPECT_MSG_NE(before, now, "fires on changes");
        m_windows++;
    }

    /**
     * Notes a value. @param before The value before. @param now The value.
     */
    void OnInFlight(uint64_t /* before */, uint64_t now)
    {
        m_largestInFlight = std::max(m_largestInFlight, now);
    }

    /**
     * Notes a value. @param before The value before. @param now The value.
     */
    void OnRate(DataRate /* before */, DataRate now)
    {
        m_largestRate = std::max(m_largestRate, now.GetBitRate());
    }

    /**
     * Notes a value. @param before The value before. @param now The value.
     */
    void OnRtt(Time /* before */, Time now)
    {
        m_smallestRtt = std::min(m_smallestRtt, now);
    }

    /**
     * Notes a value. @param before The value before. @param now The value.
     */
    void OnSmoothedRtt(Time /* before */, Time now)
    {
        m_smoothedRtt = now;
    }

    /**
     * Notes a value. @param before The value before. @param now The value.
     */
    void OnOneWay(Time /* before */, Time now)
    {
        m_smallestOneWay = std::min(m_smallestOneWay, now);
    }

    /**
     * Notes a value. @param before The value before. @param now The value.
     */
    void OnState(uint8_t /* before */, uint8_t now)
    {
        m_states.push_back(IcnReceiver::GetStateName(now));
    }

    /**
     * Notes a value. @param before The value before. @param now The value.
     */
    void OnLosses(uint64_t /* before */, uint64_t now)
    {
        m_losses = now;
    }

    uint32_t m_windows{0};              //!< Changes of the window.
    uint64_t m_largestInFlight{0};      //!< Bytes.
    uint64_t m_largestRate{0};          //!< Largest pacing rate, bit/s.
    Time m_smallestRtt{Time::Max()};    //!< Smallest RTT sample.
    Time m_smoothedRtt;                 //!< Last smoothed RTT.
    Time m_smallestOneWay{Time::Max()}; //!< Smallest one-way sample.
    std::vector<std::string> m_states;  //!< Phases.
    uint64_t m_losses{0};               //!< Losses.
};

void
TraceSourcesTestCase::DoRun()
{
    Topo1Helper::Config config;
    config.bottleneck.rate = DataRate("10Mbps");
    config.bottleneck.delay = MilliSeconds(10);
    config.bottleneck.buffer = "10p"; // Too small for slow start: there are losses.
    config.bottleneck.priority = true;
    const Topo1Helper network(config);
    auto replica = CreateObject<IcnReplicaApplication>();
    const Time offset = Seconds(3);
    network.GetReplica()->AggregateObject(
        CreateObjectWithAttributes<NodeClock>("Offset", TimeValue(offset)));
    network.GetReplica()->AddApplication(replica);
    auto application = CreateObject<IcnReceiverApplication>();
    network.GetReceiver(0)->AddApplication(application);
    const Ptr<IcnReceiver> receiver = application->GetReceiver();
    receiver->SetAttribute("Controller", StringValue("newreno"));
    receiver->SetAttribute("ControllerParams", StringValue("{\"pacing\": true}"));
    receiver->SetReplica(network.GetReplicaAddress());
    receiver->SetNdc(replica->AddVirtual("traced", 2'000'000));
    const auto connect = [&receiver](const char* source, const auto& callback) {
        return receiver->TraceConnectWithoutContext(source, callback);
    };
    using Self = TraceSourcesTestCase;
    const bool connected = connect("CongestionWindow", MakeCallback(&Self::OnWindow, this)) &&
                           connect("BytesInFlight", MakeCallback(&Self::OnInFlight, this)) &&
                           connect("PacingRate", MakeCallback(&Self::OnRate, this)) &&
                           connect("Rtt", MakeCallback(&Self::OnRtt, this)) &&
                           connect("SmoothedRtt", MakeCallback(&Self::OnSmoothedRtt, this)) &&
                           connect("OneWayDelay", MakeCallback(&Self::OnOneWay, this)) &&
                           connect("State", MakeCallback(&Self::OnState, this)) &&
                           connect("Losses", MakeCallback(&Self::OnLosses, this));
    NS_TEST_ASSERT_MSG_EQ(connected, true, "the trace sources exist");
    Simulator::Stop(Seconds(60));
    Simulator::Run();

    NS_TEST_ASSERT_MSG_EQ(receiver->IsCompleted(), true, "complete");
    NS_TEST_ASSERT_MSG_GT(m_windows, 10, "CongestionWindow");
    NS_TEST_ASSERT_MSG_GT(m_largestInFlight, 10'000, "BytesInFlight");
    NS_TEST_ASSERT_MSG_GT(m_largestRate, 1'000'000, "PacingRate");
    NS_TEST_ASSERT_MSG_GT_OR_EQ(m_smallestRtt, MilliSeconds(20), "Rtt above propagation");
    NS_TEST_ASSERT_MSG_LT(m_smallestRtt, MilliSeconds(30), "Rtt");
    NS_TEST_ASSERT_MSG_GT_OR_EQ(m_smoothedRtt, m_smallestRtt, "SmoothedRtt");
    // The clocks' offset is in it.
    NS_TEST_ASSERT_MSG_GT_OR_EQ(m_smallestOneWay, MilliSeconds(10) - offset, "OneWayDelay");
    NS_TEST_ASSERT_MSG_LT(m_smallestOneWay, MilliSeconds(20) - offset, "OneWayDelay");
    NS_TEST_ASSERT_MSG_GT(m_losses, 0, "Losses");
    NS_TEST_ASSERT_MSG_GT(m_states.size(), 0, "State");
    Simulator::Destroy();
}

/**
 * @ingroup ferrocc
 *
 * What is wrong is said before anything is sent, and a transfer can be given up.
 */
class ConfigurationTestCase : public TestCase
{
  public:
    ConfigurationTestCase()
        : TestCase("configuration errors and cancellation")
    {
    }

  private:
    void DoRun() override;
};

void
ConfigurationTestCase::DoRun()
{
    Topo1Helper::Config config;
    config.bottleneck.rate = DataRate("10Mbps");
    const Topo1Helper network(config);
    auto wrong = CreateObject<IcnReceiver>();
    wrong->SetNode(network.GetReceiver(0));
    wrong->SetAttribute("Controller", StringValue("newrenoo"));
    std::string message;
    try
    {
        wrong->Configure();
    }
    catch (const std::exception& error)
    {
        message = error.what();
    }
    NS_TEST_ASSERT_MSG_NE(message.find("newrenoo"),
                          std::string::npos,
                          "what was given: " + message);
    NS_TEST_ASSERT_MSG_NE(message.find("newreno"), std::string::npos, "what is accepted");
    NS_TEST_ASSERT_MSG_EQ(message.find('\n'), std::string::npos, "one line");

    auto replica = CreateObject<IcnReplicaApplication>();
    network.GetReplica()->AddApplication(replica);
    auto application = CreateObject<IcnReceiverApplication>();
    network.GetReceiver(0)->AddApplication(application);
    application->SetStopTime(MilliSeconds(500));
    const Ptr<IcnReceiver> receiver = application->GetReceiver();
    receiver->SetAttribute("Controller", StringValue("newreno"));
    receiver->SetAttribute("QuantumUnits", UintegerValue(1));
    receiver->SetReplica(network.GetReplicaAddress());
    receiver->SetNdc(replica->AddVirtual("endless", 0));
    Simulator::Stop(MilliSeconds(400));
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(receiver->IsRunning(), true, "runs");
    Simulator::Stop(MilliSeconds(400));
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(receiver->IsRunning(), false, "was given up");
    NS_TEST_ASSERT_MSG_EQ(receiver->IsCompleted(), false, "is not complete");
    Simulator::Destroy();
}

/**
 * @ingroup ferrocc
 *
 * The suite.
 */
class FerroccTransportTestSuite : public TestSuite
{
  public:
    FerroccTransportTestSuite()
        : TestSuite("ferrocc-transport", Type::UNIT)
    {
        TransferTestCase::Setting one{"one transfer", "newreno"};
        Add(one);
        TransferTestCase::Setting odd{"a last unit of one byte", "fixed"};
        odd.size = 1250 * 7 + 1;
        Add(odd);
        TransferTestCase::Setting verified{"real payload", "newreno"};
        verified.verify = true;
        Add(verified);
        TransferTestCase::Setting several{"several receivers on each node", "newreno"};
        several.receivers = 2;
        several.transfers = 6;
        several.verify = true;
        Add(several);
        TransferTestCase::Setting lossy{"random losses in both directions", "cubic"};
        lossy.loss = 0.05;
        lossy.verify = true;
        Add(lossy);
        TransferTestCase::Setting reordered{"reordering and a small buffer", "newreno"};
        reordered.reorder = 0.1;
        reordered.buffer = "5p";
        Add(reordered);
        AddTestCase(new TraceSourcesTestCase, compat::QuickTest());
        AddTestCase(new ConfigurationTestCase, compat::QuickTest());
    }

  private:
    /**
     * @param setting A setting to test.
     */
    void Add(const TransferTestCase::Setting& setting)
    {
        AddTestCase(new TransferTestCase(setting), compat::QuickTest());
    }
};

static FerroccTransportTestSuite g_ferroccTransportTestSuite; //!< Registers the suite.
