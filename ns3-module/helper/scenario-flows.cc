// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-flows.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "ferrocc-ffi/src/trace.rs.h"
#include "scenario-network.h"
#include "scenario-replicas.h"
#include "scenario-streams.h"

#include "ns3/boolean.h"
#include "ns3/icn-receiver-application.h"
#include "ns3/node.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <limits>
#include <string>

namespace ns3
{

namespace
{

/**
 * @return The time now, as the output counts it.
 */
uint64_t
NowNs()
{
    return static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
}

} // namespace

/// A transfer.
class ScenarioFlows::Flow
{
  public:
    /**
     * @param flows Whose it is.
     * @param index Its number, from 0.
     * @param size Size of its NDC, bytes; zero for unlimited.
     * @param receiver Its receiver.
     */
    Flow(ScenarioFlows& flows, uint32_t index, uint64_t size, Ptr<IcnReceiver> receiver);

    /// It is opened now.
    void OnStart();
    /// Writes a row, if it goes on.
    void Sample();
    /// Writes its last state, if it has not ended.
    void Finish();

    /**
     * @return Whether it has ended.
     */
    bool IsFinished() const;

    /**
     * @return Bytes delivered so far.
     */
    uint64_t GetDelivered() const;

  private:
    /// Connects the trace sources that make rows of events.csv.
    void TraceEvents();
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

    ScenarioFlows& m_flows;      //!< Whose it is.
    uint32_t m_index;            //!< Its number, from 0.
    uint64_t m_size;             //!< Size of its NDC, bytes; zero for unlimited.
    Ptr<IcnReceiver> m_receiver; //!< Its receiver.
    bool m_started{false};       //!< Whether it has been opened.
    bool m_finished{false};      //!< Whether its last state has been written.
};

ScenarioFlows::Flow::Flow(ScenarioFlows& flows,
                          uint32_t index,
                          uint64_t size,
                          Ptr<IcnReceiver> receiver)
    : m_flows(flows),
      m_index(index),
      m_size(size),
      m_receiver(receiver)
{
    m_receiver->TraceConnectWithoutContext("Completed", MakeCallback(&Flow::OnCompleted, this));
    if (m_flows.m_spec.trace)
    {
        TraceEvents();
    }
}

void
ScenarioFlows::Flow::OnStart()
{
    m_started = true;
    m_flows.m_writer.on_start(m_index, NowNs());
    m_flows.ScheduleBin();
}

void
ScenarioFlows::Flow::Sample()
{
    if (m_started && !m_finished)
    {
        m_flows.m_writer.sample_flow(m_index, NowNs(), m_receiver->GetEngine());
    }
}

void
ScenarioFlows::Flow::Finish()
{
    if (!m_finished)
    {
        m_flows.m_writer.finish_flow(m_index, m_flows.m_spec.duration_ns, m_receiver->GetEngine());
    }
}

bool
ScenarioFlows::Flow::IsFinished() const
{
    return m_finished;
}

uint64_t
ScenarioFlows::Flow::GetDelivered() const
{
    return m_receiver->GetDelivered();
}

void
ScenarioFlows::Flow::TraceEvents()
{
    IcnReceiver& receiver = *m_receiver;
    receiver.TraceConnectWithoutContext("Losses", MakeCallback(&Flow::OnLosses, this));
    receiver.TraceConnectWithoutContext("Timeouts", MakeCallback(&Flow::OnTimeouts, this));
    receiver.TraceConnectWithoutContext("WindowCuts", MakeCallback(&Flow::OnWindowCuts, this));
    receiver.TraceConnectWithoutContext("State", MakeCallback(&Flow::OnState, this));
}

void
ScenarioFlows::Flow::OnCompleted(Ptr<IcnReceiver> receiver)
{
    Write("end", static_cast<double>(m_size), "");
    m_finished = true;
    if (m_flows.m_spec.trace)
    {
        // The last row, however little time has passed since the one before.
        m_flows.m_writer.sample_flow(m_index, NowNs(), receiver->GetEngine());
    }
    m_flows.m_writer.finish_flow(m_index, NowNs(), receiver->GetEngine());
    m_flows.OnEnd();
}

void
ScenarioFlows::Flow::OnLosses(uint64_t before, uint64_t now)
{
    Write("loss", static_cast<double>(now - before), "");
}

void
ScenarioFlows::Flow::OnTimeouts(uint64_t /* before */, uint64_t now)
{
    Write("timeout", static_cast<double>(now), "");
}

void
ScenarioFlows::Flow::OnWindowCuts(uint64_t /* before */, uint64_t now)
{
    Write("cut", static_cast<double>(now), "");
}

void
ScenarioFlows::Flow::OnState(uint8_t /* before */, uint8_t now)
{
    Write("phase", now, IcnReceiver::GetStateName(now));
}

void
ScenarioFlows::Flow::Write(const char* kind, double value, const std::string& text)
{
    m_flows.m_writer.on_event(m_index, NowNs(), kind, value, text);
}

ScenarioFlows::ScenarioFlows(const ferrocc::scenario::Cell& cell,
                             const ferrocc::scenario::RunSpec& spec,
                             const ScenarioNetwork& network,
                             ScenarioReplicas& replicas,
                             ferrocc::trace::RunWriter& writer)
    : m_spec(spec),
      m_writer(writer)
{
    auto jitter = CreateObject<UniformRandomVariable>();
    jitter->SetStream(STREAM_JITTER);
    for (const auto& flow : cell.flows())
    {
        const auto index = static_cast<uint32_t>(m_flows.size());
        const Ptr<Node> node = network.GetReceiver(flow.receiver);
        auto application = CreateObject<IcnReceiverApplication>();
        node->AddApplication(application);
        const Ptr<IcnReceiver> receiver = application->GetReceiver();
        receiver->SetAttribute("Controller", StringValue(std::string(flow.controller)));
        receiver->SetAttribute("ControllerParams",
                               StringValue(std::string(flow.controller_params)));
        receiver->SetAttribute("Options", StringValue(std::string(flow.transport_options)));
        receiver->SetAttribute("Verify", BooleanValue(m_spec.verify));
        receiver->SetAttribute("ReplicaClockOffset",
                               TimeValue(NanoSeconds(-m_spec.clock_offset_ns)));
        receiver->AssignStreams(STREAM_FLOWS + index);
        receiver->SetNode(node);
        receiver->SetReplica(network.GetReplicaAddress(0));
        receiver->SetNdc(replicas.AddNdc(0,
                                         "flow " + std::to_string(flow.id),
                                         (m_spec.run << 32) + flow.id,
                                         flow.size_bytes));
        receiver->Configure();

        m_flows.push_back(std::make_unique<Flow>(*this, index, flow.size_bytes, receiver));
        uint64_t start = flow.start_ns;
        if (flow.start_jitter_ns > 0)
        {
            start += static_cast<uint64_t>(
                jitter->GetValue(0.0, static_cast<double>(flow.start_jitter_ns)));
        }
        // Entered before the application's own start, hence executed before it.
        Simulator::Schedule(NanoSeconds(start), &Flow::OnStart, m_flows.back().get());
        application->SetStartTime(NanoSeconds(start));
    }
}

ScenarioFlows::~ScenarioFlows() = default;

void
ScenarioFlows::Sample()
{
    for (const auto& flow : m_flows)
    {
        flow->Sample();
    }
}

void
ScenarioFlows::Finish()
{
    for (const auto& flow : m_flows)
    {
        flow->Finish();
    }
}

void
ScenarioFlows::OnEnd()
{
    ScheduleBin();
    const auto isFinished = [](const auto& flow) { return flow->IsFinished(); };
    if (std::all_of(m_flows.begin(), m_flows.end(), isFinished))
    {
        // What still travels belongs to nobody: the counters of links end with the flows.
        Simulator::Stop();
    }
}

void
ScenarioFlows::ScheduleBin()
{
    m_bin.Cancel();
    const uint64_t due = m_writer.next_bin_ns();
    if (due != std::numeric_limits<uint64_t>::max())
    {
        const uint64_t now = NowNs();
        m_bin = Simulator::Schedule(NanoSeconds(due > now ? due - now : 0),
                                    &ScenarioFlows::OnBin,
                                    this);
    }
}

void
ScenarioFlows::OnBin()
{
    m_delivered.clear();
    for (const auto& flow : m_flows)
    {
        m_delivered.push_back(flow->GetDelivered());
    }
    m_writer.on_bin(NowNs(), {m_delivered.data(), m_delivered.size()});
    ScheduleBin();
}

} // namespace ns3
