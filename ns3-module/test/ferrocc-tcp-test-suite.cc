// SPDX-License-Identifier: GPL-2.0-only

#include "ferrocc-tcp-transfer.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/ferrocc-congestion-ops.h"
#include "ns3/node.h"
#include "ns3/ns3-compat.h"
#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-cubic.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-linux-reno.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/test.h"
#include "ns3/topo1-helper.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup ferrocc
 *
 * Suite ferrocc-tcp: ferrocc's controllers as congestion control of ns-3's TCP, beside ns-3's own.
 */

using namespace ns3;

namespace
{

/**
 * @param controller A controller of ferrocc.
 * @return It as congestion control.
 */
Ptr<FerroccCongestionOps>
MakeOps(const std::string& controller)
{
    ObjectFactory factory;
    factory.SetTypeId(FerroccCongestionOps::FindType(controller));
    return factory.Create<FerroccCongestionOps>();
}

/**
 * @param rate Rate of the bottleneck.
 * @param buffer Its queue.
 * @param loss Loss probability of a data packet.
 * @param receivers Receiver nodes.
 * @param ipv6 Whether IPv6 is used.
 * @return topo-1 with an RTprop of 20 ms.
 */
Topo1Helper
MakeNetwork(const char* rate,
            const char* buffer,
            double loss = 0,
            uint32_t receivers = 1,
            bool ipv6 = false)
{
    Topo1Helper::Config config;
    config.receivers = receivers;
    config.ipv6 = ipv6;
    config.receiverDelay = MilliSeconds(1);
    config.replicaDelay = MilliSeconds(1);
    config.bottleneck.rate = DataRate(rate);
    config.bottleneck.delay = MilliSeconds(8);
    config.bottleneck.buffer = buffer;
    config.bottleneck.priority = true;
    config.bottleneck.loss = {loss, 0};
    Topo1Helper network(config);
    network.AssignStreams(1000);
    return network;
}

/**
 * @param network The network.
 * @param receiver Which receiver node.
 * @return Its address.
 */
Address
ReceiverAddress(const Topo1Helper& network, uint32_t receiver = 0)
{
    // The bottleneck, the replica's link, the receivers' links.
    return network.GetLinks().at(2 + receiver).ends[1].address;
}

} // namespace

/**
 * @ingroup ferrocc
 *
 * The types and their attributes.
 */
class TypesTestCase : public TestCase
{
  public:
    TypesTestCase()
        : TestCase("every controller is a type with its parameters as attributes")
    {
    }

  private:
    void DoRun() override;
};

void
TypesTestCase::DoRun()
{
    for (const char* name : {"Bbr", "Copa", "CopaIcn", "Cubic", "Fixed", "NewReno"})
    {
        TypeId tid;
        const bool found = TypeId::LookupByNameFailSafe("ns3::Ferrocc" + std::string(name), &tid);
        NS_TEST_ASSERT_MSG_EQ(found, true, name);
        NS_TEST_EXPECT_MSG_EQ(tid.IsChildOf(TcpCongestionOps::GetTypeId()), true, name);
        ObjectFactory factory;
        factory.SetTypeId(tid);
        const auto ops = factory.Create<TcpCongestionOps>();
        NS_TEST_EXPECT_MSG_EQ(ops->GetName(), "Ferrocc" + std::string(name), "name");
        NS_TEST_EXPECT_MSG_EQ(ops->GetInstanceTypeId(), tid, "instance");
        NS_TEST_EXPECT_MSG_EQ(ops->Fork()->GetInstanceTypeId(), tid, "fork");
    }
    const auto ops = MakeOps("newreno");
    NS_TEST_EXPECT_MSG_EQ(ops->HasCongControl(), false, "the socket recovers");
    NS_TEST_EXPECT_MSG_EQ(MakeOps("bbr")->HasCongControl(), true, "BBR has full control");
    DoubleValue number;
    ops->GetAttribute("Beta", number);
    NS_TEST_EXPECT_MSG_EQ(number.Get(), 0.5, "default");
    NS_TEST_EXPECT_MSG_EQ(ops->SetAttributeFailSafe("Beta", DoubleValue(1.5)), false, "bad value");
    NS_TEST_EXPECT_MSG_EQ(ops->SetAttributeFailSafe("Beta", DoubleValue(0.8)), true, "good value");
    ops->GetAttribute("Beta", number);
    NS_TEST_EXPECT_MSG_EQ(number.Get(), 0.8, "set");
    ops->Fork()->GetAttribute("Beta", number);
    NS_TEST_EXPECT_MSG_EQ(number.Get(), 0.8, "a fork has the parameters");
    BooleanValue flag;
    MakeOps("cubic")->GetAttribute("Hystart", flag);
    NS_TEST_EXPECT_MSG_EQ(flag.Get(), false, "default");
    bool thrown = false;
    try
    {
        FerroccCongestionOps::FindType("cubi");
    }
    catch (const std::exception&)
    {
        thrown = true;
    }
    NS_TEST_EXPECT_MSG_EQ(thrown, true, "unknown controller");
}

/**
 * @ingroup ferrocc
 *
 * The same transfer with ferrocc's and with ns-3's congestion control.
 */
class CompareTestCase : public TestCase
{
  public:
    /**
     * @param controller Ferrocc's.
     * @param theirs ns-3's.
     * @param factor What the window is multiplied by at a loss.
     */
    CompareTestCase(const std::string& controller, const TypeId& theirs, double factor)
        : TestCase(controller + " beside " + theirs.GetName()),
          m_controller(controller),
          m_theirs(theirs),
          m_factor(factor)
    {
    }

  private:
    /// What a run came to.
    struct Result
    {
        double goodput;              //!< Over [10 s, 60 s], Mbps.
        uint32_t cuts;               //!< Recoveries.
        uint32_t timeouts;           //!< Timeouts.
        double mean;                 //!< Mean window over [20 s, 60 s], packets.
        std::vector<double> factors; //!< What single cuts multiply the window by.
        double highest;              //!< The highest window in that time.
    };

    void DoRun() override;
    /// @param ops The sender's congestion control. @return What it came to.
    static Result Run(Ptr<TcpCongestionOps> ops);

    std::string m_controller; //!< Ferrocc's.
    TypeId m_theirs;          //!< ns-3's.
    double m_factor;          //!< What the window is multiplied by at a loss.
};

CompareTestCase::Result
CompareTestCase::Run(Ptr<TcpCongestionOps> ops)
{
    Result result{};
    {
        const Topo1Helper network = MakeNetwork("10Mbps", "40p");
        Transfer transfer(network, ReceiverAddress(network), ops, Spec());
        uint64_t before = 0;
        Simulator::Schedule(Seconds(10), [&] { before = transfer.received; });
        Simulator::Stop(Seconds(60));
        Simulator::Run();
        result.goodput = 8e-6 * static_cast<double>(transfer.received - before) / 50;
        result.cuts = transfer.cuts;
        result.timeouts = transfer.timeouts;
        double sum = 0;
        double time = 0;
        for (std::size_t i = 0; i + 1 < transfer.windows.size(); i++)
        {
            const auto& [at, bytes] = transfer.windows[i];
            const double span = (transfer.windows[i + 1].first - at).GetSeconds();
            if (at < Seconds(20))
            {
                continue;
            }
            const double packets = static_cast<double>(bytes) / MSS;
            sum += packets * span;
            time += span;
            result.highest = std::max(result.highest, packets);
        }
        result.mean = sum / time;
        result.factors = transfer.factors;
    }
    Simulator::Destroy();
    return result;
}

void
CompareTestCase::DoRun()
{
    ObjectFactory factory;
    factory.SetTypeId(m_theirs);
    const Result theirs = Run(factory.Create<TcpCongestionOps>());
    const auto ops = MakeOps(m_controller);
    if (m_controller == "cubic")
    {
        ops->SetAttribute("Hystart", BooleanValue(true));
    }
    const Result ours = Run(ops);
    // 1460/1502 of the link. Both fill it: the buffer is larger than what a cut takes.
    NS_TEST_EXPECT_MSG_EQ_TOL(theirs.goodput, 9.72, 0.10, "ns-3's fills the link");
    NS_TEST_EXPECT_MSG_EQ_TOL(ours.goodput, theirs.goodput, 0.02 * theirs.goodput, "goodput");
    NS_TEST_EXPECT_MSG_EQ_TOL(ours.mean, theirs.mean, 0.10 * theirs.mean, "mean window");
    NS_TEST_EXPECT_MSG_GT(ours.cuts, 4, "a sawtooth");
    // ferrocc's CUBIC is of RFC 9438, where the Reno-friendly window grows by a segment per round
    // trip above the window before the last cut; ns-3's is of RFC 8312, without that.
    const double least = 0.85 * theirs.cuts - 1.0;
    const double most = (m_controller == "cubic" ? 1.5 : 1.15) * theirs.cuts + 1.0;
    NS_TEST_EXPECT_MSG_GT_OR_EQ(ours.cuts, least, "recoveries");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(ours.cuts, most, "recoveries");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(ours.timeouts, theirs.timeouts, "timeouts");
    // The full path: 17 packets and the queue of 42.
    NS_TEST_EXPECT_MSG_EQ_TOL(ours.highest, theirs.highest, 3.0, "highest window");
    NS_TEST_ASSERT_MSG_GT(ours.factors.size(), 3, "cuts");
    for (std::size_t i = 1; i < ours.factors.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(ours.factors[i], m_factor, 0.03, "the factor of cut " << i);
    }
}

/**
 * @ingroup ferrocc
 *
 * Whole transfers with every controller.
 */
class CompleteTestCase : public TestCase
{
  public:
    /**
     * @param controller The controller.
     * @param ipv6 Whether IPv6 is used.
     * @param loss Loss probability of a data packet.
     */
    CompleteTestCase(const std::string& controller, bool ipv6, double loss)
        : TestCase(controller + (ipv6 ? ", IPv6" : ", IPv4") + ", loss " + std::to_string(loss)),
          m_controller(controller),
          m_ipv6(ipv6),
          m_loss(loss)
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t size = 2'000'000;
        {
            const Topo1Helper network = MakeNetwork("20Mbps", "100p", m_loss, 1, m_ipv6);
            Spec spec;
            spec.size = size;
            Transfer transfer(network, ReceiverAddress(network), MakeOps(m_controller), spec);
            Simulator::Stop(Seconds(120));
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(transfer.received, size, "all bytes");
            NS_TEST_EXPECT_MSG_EQ(transfer.isWrong, false, "these bytes");
            if (m_loss > 0)
            {
                NS_TEST_EXPECT_MSG_GT(transfer.cuts, 0, "losses are noticed");
            }
            else
            {
                // 0.83 s at the link's rate.
                NS_TEST_EXPECT_MSG_LT(transfer.end, Seconds(3), "fast enough");
            }
            const bool paces = m_controller == "bbr" || m_controller.rfind("copa", 0) == 0;
            NS_TEST_EXPECT_MSG_EQ((transfer.paced > 1),
                                  paces,
                                  "pacing is switched on where wanted");
        }
        Simulator::Destroy();
    }

    std::string m_controller; //!< The controller.
    bool m_ipv6;              //!< Whether IPv6 is used.
    double m_loss;            //!< Loss probability of a data packet.
};

/**
 * @ingroup ferrocc
 *
 * Many connections, half of them sent by sockets that listened: each has a controller of its own.
 */
class ManyTestCase : public TestCase
{
  public:
    ManyTestCase()
        : TestCase("40 connections, sockets that listen send")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t count = 40;
        {
            const Topo1Helper network = MakeNetwork("50Mbps", "200p", 0, 4);
            std::vector<std::unique_ptr<Transfer>> transfers;
            const std::vector<std::string> names{"newreno", "cubic", "bbr", "copa"};
            for (uint32_t i = 0; i < count; i++)
            {
                Spec spec;
                spec.size = 500'000;
                spec.isPull = i % 2 == 0;
                spec.receiver = i % 4;
                spec.port = static_cast<uint16_t>(9000 + i);
                spec.start = MilliSeconds(100 + 10 * i);
                const Address address = spec.isPull ? network.GetReplicaAddress()
                                                    : ReceiverAddress(network, spec.receiver);
                transfers.push_back(
                    std::make_unique<Transfer>(network, address, MakeOps(names[i / 4 % 4]), spec));
            }
            Simulator::Stop(Seconds(60));
            Simulator::Run();
            for (uint32_t i = 0; i < count; i++)
            {
                NS_TEST_EXPECT_MSG_EQ(transfers[i]->received, 500'000, "all bytes of " << i);
                NS_TEST_EXPECT_MSG_EQ(transfers[i]->isWrong, false, "the bytes of " << i);
            }
        }
        Simulator::Destroy();
    }
};

/**
 * @ingroup ferrocc
 *
 * A copy of a controller in mid-course.
 */
class ForkTestCase : public TestCase
{
  public:
    ForkTestCase()
        : TestCase("a fork has the whole state and shares none")
    {
    }

  private:
    void DoRun() override
    {
        auto tcb = CreateObject<TcpSocketState>();
        tcb->m_segmentSize = 1000;
        tcb->m_initialCWnd = 10;
        tcb->m_cWnd = 10'000;
        tcb->m_bytesInFlight = 10'000;
        tcb->m_highTxMark = SequenceNumber32(10'000);
        const auto ops = MakeOps("newreno");
        ops->Init(tcb);
        ops->CwndEvent(tcb, TcpSocketState::CA_EVENT_TX_START);
        NS_TEST_ASSERT_MSG_EQ(tcb->m_cWnd.Get(), 10'000, "initial window");
        tcb->m_lastAckedSeq = SequenceNumber32(2000);
        tcb->m_highTxMark = SequenceNumber32(14'000);
        ops->IncreaseWindow(tcb, 2);
        NS_TEST_ASSERT_MSG_EQ(tcb->m_cWnd.Get(), 12'000, "slow start");
        const auto fork = ops->Fork();
        // A loss on one side only.
        ops->CongestionStateSet(tcb, TcpSocketState::CA_RECOVERY);
        NS_TEST_ASSERT_MSG_EQ(ops->GetSsThresh(tcb, 12'000), 6000, "cut");
        tcb->m_lastAckedSeq = SequenceNumber32(4000);
        tcb->m_highTxMark = SequenceNumber32(18'000);
        fork->IncreaseWindow(tcb, 2);
        NS_TEST_ASSERT_MSG_EQ(tcb->m_cWnd.Get(), 14'000, "the fork goes on");
    }
};

/**
 * @ingroup ferrocc
 *
 * As a program uses it: by the default of the socket type.
 */
class DefaultTestCase : public TestCase
{
  public:
    DefaultTestCase()
        : TestCase("Config::SetDefault of the socket type")
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::FerroccBbr"));
        const Topo1Helper network = MakeNetwork("10Mbps", "100p");
        const auto socket = network.GetReplica()->GetObject<TcpL4Protocol>()->CreateSocket();
        PointerValue ops;
        socket->GetAttribute("CongestionOps", ops);
        NS_TEST_EXPECT_MSG_EQ(ops.Get<TcpCongestionOps>()->GetName(), "FerroccBbr", "the type");
        Config::Reset();
        Simulator::Destroy();
    }
};

/**
 * @ingroup ferrocc
 *
 * The suite.
 */
class FerroccTcpTestSuite : public TestSuite
{
  public:
    FerroccTcpTestSuite()
        : TestSuite("ferrocc-tcp", Type::UNIT)
    {
        AddTestCase(new TypesTestCase, compat::QuickTest());
        AddTestCase(new ForkTestCase, compat::QuickTest());
        AddTestCase(new DefaultTestCase, compat::QuickTest());
        AddTestCase(new CompareTestCase("newreno", TcpLinuxReno::GetTypeId(), 0.5),
                    compat::QuickTest());
        AddTestCase(new CompareTestCase("cubic", TcpCubic::GetTypeId(), 0.7), compat::QuickTest());
        for (const char* controller : {"newreno", "cubic", "bbr", "copa", "copa-icn"})
        {
            for (const double loss : {0.0, 0.02})
            {
                AddTestCase(new CompleteTestCase(controller, loss > 0, loss), compat::QuickTest());
            }
        }
        AddTestCase(new ManyTestCase, compat::QuickTest());
    }
};

static FerroccTcpTestSuite g_ferroccTcpTestSuite; //!< Registers the suite.
