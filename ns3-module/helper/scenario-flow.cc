// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-flow.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "ferrocc-ffi/src/trace.rs.h"
#include "scenario-network.h"
#include "scenario-replicas.h"
#include "scenario-streams.h"

#include "ns3/boolean.h"
#include "ns3/icn-receiver.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <limits>

namespace ns3
{

namespace
{

/// Distance between the seeds of a flow's NDCs with real content: 2^64 / golden ratio, so that no
/// two flows' seeds meet.
constexpr uint64_t SEED_STEP = 0x9E37'79B9'7F4A'7C15;

/// Name of the failure of a flow that is stopped.
constexpr char CANCELLED[] = "cancelled";

/**
 * @return The time now, as the output counts it.
 */
uint64_t
NowNs()
{
    return static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
}

} // namespace

ScenarioFlow::ScenarioFlow(const Environment& environment,
                           const ferrocc::scenario::FlowSpec& spec,
                           uint32_t index,
                           uint64_t startNs)
    : m_environment(environment),
      m_spec(spec),
      m_index(index)
{
    Prepare();
    const uint32_t node = m_environment.network.GetReceiver(m_spec.receiver)->GetId();
    Simulator::ScheduleWithContext(node, NanoSeconds(startNs), &ScenarioFlow::Start, this);
}

ScenarioFlow::~ScenarioFlow() = default;

void
ScenarioFlow::Prepare()
{
    std::string name = "flow " + std::to_string(m_spec.id);
    if (m_ndcs > 0)
    {
        name += " NDC " + std::to_string(m_ndcs + 1);
    }
    const uint64_t seed = (m_environment.run.run << 32) + m_spec.id + m_ndcs * SEED_STEP;
    const auto stream = static_cast<int64_t>(m_ndcs) * MAX_FLOWS + m_index;
    m_receiver = CreateObject<IcnReceiver>();
    m_receiver->SetAttribute("Controller", StringValue(std::string(m_spec.controller)));
    m_receiver->SetAttribute("ControllerParams",
                             StringValue(std::string(m_spec.controller_params)));
    m_receiver->SetAttribute("Options", StringValue(std::string(m_spec.transport_options)));
    m_receiver->SetAttribute("Verify", BooleanValue(m_environment.run.verify));
    m_receiver->AssignStreams(STREAM_FLOWS + stream);
    m_receiver->SetNode(m_environment.network.GetReceiver(m_spec.receiver));
    m_receiver->SetReplica(m_environment.network.GetReplicaAddress(m_spec.replica));
    m_receiver->SetNdc(
        m_environment.replicas.AddNdc(m_spec.replica, name, seed, m_spec.size_bytes));
    m_receiver->Configure();
    m_receiver->TraceConnectWithoutContext("Completed",
                                           MakeCallback(&ScenarioFlow::OnCompleted, this));
    if (m_environment.run.trace)
    {
        TraceEvents();
    }
}

void
ScenarioFlow::Start()
{
    m_progress = Progress::RUNNING;
    m_environment.writer.on_start(m_index, NowNs());
    m_environment.onChange();
    if (m_spec.stop_ns != std::numeric_limits<uint64_t>::max())
    {
        m_stop =
            Simulator::Schedule(NanoSeconds(m_spec.stop_ns - NowNs()), &ScenarioFlow::Stop, this);
    }
    m_receiver->Open();
}

void
ScenarioFlow::Stop()
{
    LeaveCompleted();
    m_receiver->Cancel();
    End(static_cast<double>(GetDelivered()), CANCELLED);
}

void
ScenarioFlow::Next()
{
    if (m_progress == Progress::RUNNING)
    {
        LeaveCompleted();
        m_receiver->Open();
    }
}

void
ScenarioFlow::LeaveCompleted()
{
    if (m_spec.repeat && m_receiver->IsCompleted())
    {
        Prepare();
    }
}

void
ScenarioFlow::End(double value, const std::string& failure)
{
    m_stop.Cancel();
    Write("end", value, failure);
    m_progress = Progress::ENDED;
    if (m_environment.run.trace)
    {
        // The last row, however little time has passed since the one before.
        m_environment.writer.sample_flow(m_index, NowNs(), m_receiver->GetEngine());
    }
    m_environment.writer.finish_flow(m_index, NowNs(), m_receiver->GetEngine());
    m_environment.onChange();
}

void
ScenarioFlow::Sample()
{
    if (m_progress == Progress::RUNNING)
    {
        m_environment.writer.sample_flow(m_index, NowNs(), m_receiver->GetEngine());
    }
}

void
ScenarioFlow::Finish()
{
    if (m_progress != Progress::ENDED)
    {
        LeaveCompleted();
        m_environment.writer.finish_flow(m_index,
                                         m_environment.run.duration_ns,
                                         m_receiver->GetEngine());
    }
    m_receiver->Dispose();
}

bool
ScenarioFlow::IsDone() const
{
    return m_spec.background || m_progress == Progress::ENDED;
}

uint64_t
ScenarioFlow::GetDelivered() const
{
    return m_delivered +
           (m_receiver->IsCompleted() && m_spec.repeat ? 0 : m_receiver->GetDelivered());
}

void
ScenarioFlow::TraceEvents()
{
    IcnReceiver& receiver = *m_receiver;
    receiver.TraceConnectWithoutContext("Losses", MakeCallback(&ScenarioFlow::OnLosses, this));
    receiver.TraceConnectWithoutContext("Timeouts", MakeCallback(&ScenarioFlow::OnTimeouts, this));
    receiver.TraceConnectWithoutContext("WindowCuts",
                                        MakeCallback(&ScenarioFlow::OnWindowCuts, this));
    receiver.TraceConnectWithoutContext("State", MakeCallback(&ScenarioFlow::OnState, this));
}

void
ScenarioFlow::OnCompleted(Ptr<IcnReceiver> receiver)
{
    if (!m_spec.repeat)
    {
        End(static_cast<double>(m_spec.size_bytes), "");
        return;
    }
    m_ndcs++;
    m_delivered += receiver->GetDelivered();
    Write("ndc", static_cast<double>(m_ndcs), "");
    if (m_environment.run.trace)
    {
        m_environment.writer.sample_flow(m_index, NowNs(), receiver->GetEngine());
    }
    m_environment.writer.on_ndc(m_index, NowNs(), receiver->GetEngine());
    // Not from within the receiver that is complete.
    Simulator::ScheduleNow(&ScenarioFlow::Next, this);
}

void
ScenarioFlow::OnLosses(uint64_t before, uint64_t now)
{
    Write("loss", static_cast<double>(now - before), "");
}

void
ScenarioFlow::OnTimeouts(uint64_t before, uint64_t now)
{
    m_timeouts += now - before;
    Write("timeout", static_cast<double>(m_timeouts), "");
}

void
ScenarioFlow::OnWindowCuts(uint64_t before, uint64_t now)
{
    m_windowCuts += now - before;
    Write("cut", static_cast<double>(m_windowCuts), "");
}

void
ScenarioFlow::OnState(uint8_t /* before */, uint8_t now)
{
    Write("phase", now, IcnReceiver::GetStateName(now));
}

void
ScenarioFlow::Write(const char* kind, double value, const std::string& text)
{
    m_environment.writer.on_event(m_index, NowNs(), kind, value, text);
}

} // namespace ns3
