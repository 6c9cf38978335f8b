// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-runner.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "ferrocc-ffi/src/trace.rs.h"
#include "link-monitor.h"
#include "progress-meter.h"
#include "topo1-helper.h"

#include "ns3/boolean.h"
#include "ns3/event-id.h"
#include "ns3/icn-receiver-application.h"
#include "ns3/icn-replica-application.h"
#include "ns3/node.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#ifdef FERROCC_HAVE_NETANIM
#include "ns3/animation-interface.h"
#endif

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <vector>

namespace ns3
{

namespace
{

// Streams of random numbers. They are given out in fixed blocks, so that one more flow or link
// does not change what the others draw.

/// Start jitters, one after the other.
constexpr int64_t STREAM_JITTER = 1;
/// Losses and reordering of the links.
constexpr int64_t STREAM_LINKS = 1000;
/// One for each flow's controller.
constexpr int64_t STREAM_FLOWS = 1'000'000;

/**
 * @param text A string of Rust.
 * @return The same.
 */
std::string
ToString(const rust::String& text)
{
    return std::string(text);
}

/**
 * @param counters What a monitor counted.
 * @return The same for the output.
 */
ferrocc::trace::LinkCounters
ToTrace(const LinkMonitor::Counters& counters)
{
    return {counters.arrivals,
            counters.dropped,
            counters.marked,
            counters.errorLosses,
            counters.sentBytes};
}

} // namespace

/// Behind ScenarioRunner: the network, the flows, and what watches them.
class ScenarioRunner::Impl
{
  public:
    /**
     * @param cell The resolved scenario.
     * @param progress Whether to show progress.
     */
    Impl(const ferrocc::scenario::Cell& cell, bool progress);

    /// See ScenarioRunner::Run. @return See ScenarioRunner::Run.
    bool Run();

    /**
     * @return See ScenarioRunner::GetTable.
     */
    std::string GetTable() const;

  private:
    /// A transfer.
    struct Flow
    {
        Impl& runner;              //!< Whose it is.
        uint32_t index;            //!< Its number, from 0.
        uint64_t size;             //!< Size of its NDC, bytes; zero for unlimited.
        Ptr<IcnReceiver> receiver; //!< Its receiver.
        bool started{false};       //!< Whether it has been opened.
        bool finished{false};      //!< Whether its last state has been written.

        /// It is opened now.
        void OnStart();
        /// Its last byte has arrived. @param receiver The receiver.
        void OnCompleted(Ptr<IcnReceiver> receiver);
        /// Units were declared lost. @param before The count before. @param now The count.
        void OnLosses(uint64_t before, uint64_t now);
        /// The retransmission timer expired. @param before The count before. @param now The count.
        void OnTimeouts(uint64_t before, uint64_t now);
        /// The window was reduced. @param before The count before. @param now The count.
        void OnWindowCuts(uint64_t before, uint64_t now);
        /// The controller's phase changed. @param before The phase before. @param now The phase.
        void OnState(uint8_t before, uint8_t now);
        /// Writes an event. @param kind Its kind. @param value Its value. @param text Its text.
        void Write(const char* kind, double value, const std::string& text);
    };

    /// A watched direction of a link.
    struct Direction
    {
        Impl& runner;        //!< Whose it is.
        uint32_t index;      //!< Its number in the output.
        LinkMonitor monitor; //!< What watches it.

        /// The queue changed. @param packets How many wait. @param bytes How many bytes.
        void OnQueue(uint32_t packets, uint32_t bytes);
    };

    /// Builds the network.
    void BuildTopology();
    /// Builds the replica and the transfers.
    void BuildFlows();
    /// Connects the trace sources that make rows of events.csv. @param flow The flow.
    void TraceEvents(Flow& flow);
    /// Watches a direction of the bottleneck. @param sender Its sending end. @param names From, to.
    void Watch(std::size_t sender, const char* from, const char* to);
    /// Switches pcap on, if it is wanted.
    void EnablePcap();
#ifdef FERROCC_HAVE_NETANIM
    /// Starts NetAnim's recording. @return What records, or null if that is not wanted.
    std::unique_ptr<AnimationInterface> Animate() const;
#endif
    /// Writes a row for each flow and link, and comes again.
    void Sample();
    /// Sees to it that the delivered bytes are told at a time. @param due When, ns.
    void ScheduleBin(uint64_t due);
    /// Tells the delivered bytes of all flows, for the fairness between them.
    void OnBin();
    /// Writes the last states.
    void FinishTraces();

    const ferrocc::scenario::Cell& m_cell;           //!< The scenario.
    ferrocc::scenario::RunSpec m_spec;               //!< What to run.
    rust::Box<ferrocc::trace::RunWriter> m_writer;   //!< The output.
    std::unique_ptr<Topo1Helper> m_network;          //!< The network.
    std::vector<std::unique_ptr<Flow>> m_flows;      //!< The transfers.
    std::vector<std::unique_ptr<Direction>> m_links; //!< The watched directions.
    std::vector<uint64_t> m_delivered;               //!< Delivered bytes by flow.
    EventId m_bin;                                   //!< The next call of OnBin.
    bool m_progress;                                 //!< Whether to show progress.
};

void
ScenarioRunner::Impl::Flow::OnStart()
{
    started = true;
    runner.m_writer->on_start(index, static_cast<uint64_t>(Simulator::Now().GetNanoSeconds()));
    runner.ScheduleBin(runner.m_writer->next_bin_ns());
}

void
ScenarioRunner::Impl::Flow::OnCompleted(Ptr<IcnReceiver> /* receiver */)
{
    const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
    Write("end", static_cast<double>(size), "");
    finished = true;
    if (runner.m_spec.trace)
    {
        // The last row, however little time has passed since the one before.
        runner.m_writer->sample_flow(index, now, receiver->GetEngine());
    }
    runner.m_writer->finish_flow(index, now, receiver->GetEngine());
    runner.ScheduleBin(runner.m_writer->next_bin_ns());
    const auto isFinished = [](const auto& flow) { return flow->finished; };
    if (std::all_of(runner.m_flows.begin(), runner.m_flows.end(), isFinished))
    {
        // What still travels belongs to nobody: the counters of links end with the flows.
        Simulator::Stop();
    }
}

void
ScenarioRunner::Impl::Flow::OnLosses(uint64_t before, uint64_t now)
{
    Write("loss", static_cast<double>(now - before), "");
}

void
ScenarioRunner::Impl::Flow::OnTimeouts(uint64_t /* before */, uint64_t now)
{
    Write("timeout", static_cast<double>(now), "");
}

void
ScenarioRunner::Impl::Flow::OnWindowCuts(uint64_t /* before */, uint64_t now)
{
    Write("cut", static_cast<double>(now), "");
}

void
ScenarioRunner::Impl::Flow::OnState(uint8_t /* before */, uint8_t now)
{
    Write("phase", now, IcnReceiver::GetStateName(now));
}

void
ScenarioRunner::Impl::Flow::Write(const char* kind, double value, const std::string& text)
{
    const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
    runner.m_writer->on_event(index, now, kind, value, text);
}

void
ScenarioRunner::Impl::Direction::OnQueue(uint32_t packets, uint32_t bytes)
{
    const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
    runner.m_writer->on_queue(index, now, packets, bytes);
}

ScenarioRunner::Impl::Impl(const ferrocc::scenario::Cell& cell, bool progress)
    : m_cell(cell),
      m_spec(cell.spec()),
      m_writer(ferrocc::trace::new_writer(cell, FERROCC_NS3_VERSION)),
      m_progress(progress)
{
}

void
ScenarioRunner::Impl::BuildTopology()
{
    Topo1Helper::Config config;
    config.receivers = m_spec.receivers;
    config.accessRate = DataRate(m_spec.access_rate_bps);
    config.receiverDelay = NanoSeconds(m_spec.receiver_delay_ns);
    config.replicaDelay = NanoSeconds(m_spec.replica_delay_ns);
    config.deviceQueuePackets = m_spec.device_queue_packets;
    LinkSpec& bottleneck = config.bottleneck;
    bottleneck.rate = DataRate(m_spec.bottleneck_rate_bps);
    bottleneck.delay = NanoSeconds(m_spec.bottleneck_delay_ns);
    bottleneck.buffer = ToString(m_spec.bottleneck_buffer);
    bottleneck.deviceQueuePackets = m_spec.device_queue_packets;
    config.mtu = static_cast<uint16_t>(m_spec.mtu_bytes);
    bottleneck.mtu = config.mtu;
    bottleneck.priority = true;
    bottleneck.dscp = m_spec.priority_dscp;
    bottleneck.loss = {m_spec.loss, m_spec.loss_reverse};
    bottleneck.reorder = m_spec.reorder;
    bottleneck.reorderDelay = NanoSeconds(m_spec.reorder_delay_ns);
    m_network = std::make_unique<Topo1Helper>(config);
    m_network->AssignStreams(STREAM_LINKS);
    Watch(0, "IR2", "IR1");
    Watch(1, "IR1", "IR2");
}

void
ScenarioRunner::Impl::Watch(std::size_t sender, const char* from, const char* to)
{
    const Link& link = m_network->GetBottleneck();
    ferrocc::trace::LinkInfo info;
    info.name = sender == 0 ? "bottleneck" : "bottleneck-reverse";
    info.from = from;
    info.to = to;
    info.rate_bps = m_spec.bottleneck_rate_bps;
    const uint32_t index = m_writer->add_link(info);
    m_links.push_back(std::unique_ptr<Direction>(
        new Direction{*this, index, {link.ends[sender], link.ends[1 - sender]}}));
    m_links.back()->monitor.SetQueueCallback(
        MakeCallback(&Direction::OnQueue, m_links.back().get()));
}

void
ScenarioRunner::Impl::BuildFlows()
{
    auto replica = CreateObject<IcnReplicaApplication>();
    // The offset is that of the receivers' clocks; only the difference counts.
    replica->SetAttribute("ClockOffset", TimeValue(NanoSeconds(-m_spec.clock_offset_ns)));
    replica->SetAttribute("ExpeditedDscp", UintegerValue(m_spec.priority_dscp));
    m_network->GetReplica()->AddApplication(replica);

    auto jitter = CreateObject<UniformRandomVariable>();
    jitter->SetStream(STREAM_JITTER);
    for (const auto& spec : m_cell.flows())
    {
        const auto index = static_cast<uint32_t>(m_flows.size());
        const Ptr<Node> node = m_network->GetReceiver(spec.receiver);
        auto application = CreateObject<IcnReceiverApplication>();
        node->AddApplication(application);
        const Ptr<IcnReceiver> receiver = application->GetReceiver();
        receiver->SetAttribute("Controller", StringValue(ToString(spec.controller)));
        receiver->SetAttribute("ControllerParams", StringValue(ToString(spec.controller_params)));
        receiver->SetAttribute("Options", StringValue(ToString(spec.transport_options)));
        receiver->SetAttribute("Verify", BooleanValue(m_spec.verify));
        receiver->SetAttribute("ReplicaClockOffset",
                               TimeValue(NanoSeconds(-m_spec.clock_offset_ns)));
        receiver->AssignStreams(STREAM_FLOWS + index);
        receiver->SetNode(node);
        receiver->SetReplica(m_network->GetReplicaAddress());
        receiver->SetNdc(
            m_spec.verify
                ? replica->AddSynthetic((m_spec.run << 32) + spec.id, spec.size_bytes)
                : replica->AddVirtual("flow " + std::to_string(spec.id), spec.size_bytes));
        receiver->Configure();

        m_flows.push_back(std::unique_ptr<Flow>(new Flow{*this, index, spec.size_bytes, receiver}));
        Flow& flow = *m_flows.back();
        uint64_t start = spec.start_ns;
        if (spec.start_jitter_ns > 0)
        {
            start += static_cast<uint64_t>(
                jitter->GetValue(0.0, static_cast<double>(spec.start_jitter_ns)));
        }
        // Entered before the application's own start, hence executed before it.
        Simulator::Schedule(NanoSeconds(start), &Flow::OnStart, &flow);
        application->SetStartTime(NanoSeconds(start));
        receiver->TraceConnectWithoutContext("Completed", MakeCallback(&Flow::OnCompleted, &flow));
        if (m_spec.trace)
        {
            TraceEvents(flow);
        }
    }
}

void
ScenarioRunner::Impl::TraceEvents(Flow& flow)
{
    IcnReceiver& receiver = *flow.receiver;
    receiver.TraceConnectWithoutContext("Losses", MakeCallback(&Flow::OnLosses, &flow));
    receiver.TraceConnectWithoutContext("Timeouts", MakeCallback(&Flow::OnTimeouts, &flow));
    receiver.TraceConnectWithoutContext("WindowCuts", MakeCallback(&Flow::OnWindowCuts, &flow));
    receiver.TraceConnectWithoutContext("State", MakeCallback(&Flow::OnState, &flow));
}

void
ScenarioRunner::Impl::EnablePcap()
{
    if (m_spec.pcap)
    {
        PointToPointHelper helper;
        helper.EnablePcapAll(ToString(m_writer->folder()) + "/trace", false);
    }
}

#ifdef FERROCC_HAVE_NETANIM
std::unique_ptr<AnimationInterface>
ScenarioRunner::Impl::Animate() const
{
    if (m_spec.anim.empty())
    {
        return nullptr;
    }
    // The receivers in a column on the left, then the routers and the replica in a row.
    constexpr double STEP = 20;
    const double middle = STEP * (m_spec.receivers - 1) / 2;
    const auto& bottleneck = m_network->GetBottleneck().ends;
    for (uint32_t i = 0; i < m_spec.receivers; i++)
    {
        AnimationInterface::SetConstantPosition(m_network->GetReceiver(i), 0, STEP * i);
    }
    AnimationInterface::SetConstantPosition(bottleneck[1].device->GetNode(), STEP, middle);
    AnimationInterface::SetConstantPosition(bottleneck[0].device->GetNode(), 2 * STEP, middle);
    AnimationInterface::SetConstantPosition(m_network->GetReplica(), 3 * STEP, middle);
    return std::make_unique<AnimationInterface>(ToString(m_spec.anim));
}
#endif

void
ScenarioRunner::Impl::Sample()
{
    const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
    for (const auto& flow : m_flows)
    {
        if (flow->started && !flow->finished)
        {
            m_writer->sample_flow(flow->index, now, flow->receiver->GetEngine());
        }
    }
    for (const auto& link : m_links)
    {
        m_writer->sample_link(link->index, now, ToTrace(link->monitor.GetCounters()));
    }
    Simulator::Schedule(NanoSeconds(m_spec.trace_interval_ns), &Impl::Sample, this);
}

void
ScenarioRunner::Impl::ScheduleBin(uint64_t due)
{
    m_bin.Cancel();
    if (due != std::numeric_limits<uint64_t>::max())
    {
        const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
        m_bin = Simulator::Schedule(NanoSeconds(due > now ? due - now : 0), &Impl::OnBin, this);
    }
}

void
ScenarioRunner::Impl::OnBin()
{
    const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
    m_delivered.clear();
    for (const auto& flow : m_flows)
    {
        m_delivered.push_back(flow->receiver->GetDelivered());
    }
    ScheduleBin(m_writer->on_bin(now, {m_delivered.data(), m_delivered.size()}));
}

void
ScenarioRunner::Impl::FinishTraces()
{
    for (const auto& flow : m_flows)
    {
        if (!flow->finished)
        {
            m_writer->finish_flow(flow->index, m_spec.duration_ns, flow->receiver->GetEngine());
        }
    }
    for (const auto& link : m_links)
    {
        m_writer->finish_link(link->index, ToTrace(link->monitor.GetCounters()));
    }
}

bool
ScenarioRunner::Impl::Run()
{
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
#ifndef FERROCC_HAVE_NETANIM
    if (!m_spec.anim.empty())
    {
        throw std::invalid_argument("--anim: this ns-3 was built without its netanim module; leave "
                                    "the option out or build ns-3 with netanim");
    }
#endif
    RngSeedManager::SetSeed(m_spec.seed);
    RngSeedManager::SetRun(m_spec.run);
    BuildTopology();
    BuildFlows();
    EnablePcap();
#ifdef FERROCC_HAVE_NETANIM
    const auto animation = Animate();
#endif
    if (m_spec.trace)
    {
        Simulator::Schedule(NanoSeconds(m_spec.trace_interval_ns), &Impl::Sample, this);
    }
    ProgressMeter meter(ToString(m_spec.scenario), NanoSeconds(m_spec.duration_ns));
    meter.Start(m_progress);
    Simulator::Stop(NanoSeconds(m_spec.duration_ns));
    Simulator::Run();
    meter.Finish();
    if (ProgressMeter::IsInterrupted())
    {
        return false; // The writer removes what it has written.
    }
    FinishTraces();
    const uint64_t events = Simulator::GetEventCount() - meter.GetEvents();
    Simulator::Destroy();
    // The last references: this closes the pcap files, too.
    m_links.clear();
    m_flows.clear();
    m_network.reset();
    const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
    m_writer->finish(events, wall);
    return true;
}

std::string
ScenarioRunner::Impl::GetTable() const
{
    return ToString(m_writer->table());
}

ScenarioRunner::ScenarioRunner(const ferrocc::scenario::Cell& cell, bool progress)
    : m_impl(std::make_unique<Impl>(cell, progress))
{
}

ScenarioRunner::~ScenarioRunner() = default;

void
ScenarioRunner::Interrupt()
{
    ProgressMeter::Interrupt();
}

bool
ScenarioRunner::Run()
{
    return m_impl->Run();
}

std::string
ScenarioRunner::GetTable() const
{
    return m_impl->GetTable();
}

} // namespace ns3
