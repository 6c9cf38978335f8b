// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-flow.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "ferrocc-ffi/src/trace.rs.h"
#include "scenario-network.h"
#include "scenario-replicas.h"
#include "scenario-streams.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/icn-receiver.h"
#include "ns3/icn-session.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
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
/// Name of the failure of a flow whose content is not what its name says.
constexpr char CONTENT_MISMATCH[] = "content-mismatch";

/// "None" where a time is expected, ns.
constexpr uint64_t NONE = std::numeric_limits<uint64_t>::max();

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
      m_index(index),
      m_late(environment.run.names_binding != "receiver"),
      m_resolveNs(NONE)
{
    Prepare();
    const uint32_t node = m_environment.network.GetReceiver(m_spec.receiver)->GetId();
    Simulator::ScheduleWithContext(node, NanoSeconds(startNs), &ScenarioFlow::Start, this);
}

ScenarioFlow::~ScenarioFlow() = default;

void
ScenarioFlow::Prepare()
{
    const auto stream = static_cast<int64_t>(m_ndcs) * MAX_FLOWS + m_index;
    m_receiver = CreateObject<IcnReceiver>();
    m_receiver->SetAttribute("Controller", StringValue(std::string(m_spec.controller)));
    m_receiver->SetAttribute("ControllerParams",
                             StringValue(std::string(m_spec.controller_params)));
    m_receiver->SetAttribute("Options", StringValue(std::string(m_spec.transport_options)));
    m_receiver->SetAttribute("Verify", BooleanValue(m_environment.run.verify));
    m_receiver->AssignStreams(STREAM_FLOWS + stream);
    m_receiver->SetNode(m_environment.network.GetReceiver(m_spec.receiver));
    m_receiver->SetNdc(AddNdc(m_ndcs));
    if (m_spec.repeat)
    {
        AddNdc(m_ndcs + 1); // It shall be registered when its time comes.
    }
    PrepareSession(stream);
    m_receiver->TraceConnectWithoutContext("Completed",
                                           MakeCallback(&ScenarioFlow::OnCompleted, this));
    if (m_environment.run.trace)
    {
        TraceEvents();
    }
}

IcnEid
ScenarioFlow::AddNdc(uint64_t number)
{
    std::string name(m_spec.ndc);
    if (number > 0)
    {
        name += " NDC " + std::to_string(number + 1);
    }
    const uint64_t seed = (m_environment.run.run << 32) + m_spec.ndc_id + number * SEED_STEP;
    return m_environment.replicas.AddNdc(m_spec, name, seed);
}

void
ScenarioFlow::PrepareSession(int64_t stream)
{
    const auto& run = m_environment.run;
    const auto time = [](uint64_t ns) { return TimeValue(NanoSeconds(static_cast<int64_t>(ns))); };
    m_session = CreateObject<IcnSession>();
    const std::string resolution = m_late ? "edge" : std::string(run.names_mode);
    m_session->SetAttribute("Resolution", StringValue(resolution));
    m_session->SetAttribute("ReplicaChoice", StringValue(std::string(m_spec.replica_choice)));
    m_session->SetAttribute("NameTimeout", time(run.names_timeout_ns));
    m_session->SetAttribute("NameTries", UintegerValue(run.names_tries));
    m_session->SetAttribute("SwitchAfterTimeouts", UintegerValue(run.switch_after_timeouts));
    m_session->SetAttribute("SwitchBelow", DoubleValue(run.switch_below));
    m_session->SetAttribute("GiveUp", time(run.give_up_ns));
    m_session->AssignStreams(STREAM_SESSIONS + stream);
    m_session->SetReceiver(m_receiver);
    m_session->SetNameServer(m_environment.replicas.GetNameServerAddress());
    if (m_late)
    {
        m_session->SetTable(MakeCallback(&ScenarioFlow::GetEdge, this));
    }
    else
    {
        m_session->SetTable(MakeCallback(&ScenarioReplicas::LookUp, &m_environment.replicas));
    }
    m_session->Configure();
    m_session->TraceConnectWithoutContext("Failed", MakeCallback(&ScenarioFlow::OnFailed, this));
    m_session->TraceConnectWithoutContext("Replica", MakeCallback(&ScenarioFlow::OnReplica, this));
}

std::vector<IcnLocator>
ScenarioFlow::GetEdge(const IcnEid& /* ndc */) const
{
    return {{m_environment.network.GetEdgeAddress(m_spec.receiver), 0}};
}

void
ScenarioFlow::NotifyMove()
{
    if (m_progress == Progress::RUNNING)
    {
        m_session->NotifyMoved(m_late ? m_environment.network.GetEdgeAddress(m_spec.receiver)
                                      : Address());
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
    for (std::size_t i = 0; i < m_spec.switches.size(); i++)
    {
        const uint64_t at = std::max(m_spec.switches[i].at_ns, NowNs());
        Simulator::Schedule(NanoSeconds(at - NowNs()), &ScenarioFlow::Switch, this, i);
    }
    m_session->Start();
}

void
ScenarioFlow::Stop()
{
    LeaveCompleted();
    m_session->Cancel();
    End(static_cast<double>(GetDelivered()), CANCELLED);
}

void
ScenarioFlow::Next()
{
    if (m_progress == Progress::RUNNING)
    {
        LeaveCompleted();
        m_session->Start();
    }
}

void
ScenarioFlow::LeaveCompleted()
{
    if (m_spec.repeat && m_receiver->IsCompleted())
    {
        m_switches += m_session->GetSwitches();
        m_session->Dispose();
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
    FinishNames();
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
        FinishNames();
        m_environment.writer.finish_flow(m_index,
                                         m_environment.run.duration_ns,
                                         m_receiver->GetEngine());
    }
    m_session->Dispose();
    m_receiver->Dispose();
}

void
ScenarioFlow::FinishNames()
{
    const bool isConfigured = m_late || m_environment.run.names_mode == "address";
    m_environment.writer.finish_names(m_index,
                                      isConfigured ? NONE : m_resolveNs,
                                      m_switches + m_session->GetSwitches(),
                                      m_replica);
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
    const bool isWrong = m_environment.run.verify && !receiver->IsVerified();
    if (!m_spec.repeat || isWrong)
    {
        End(static_cast<double>(m_spec.size_bytes), isWrong ? CONTENT_MISMATCH : "");
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
ScenarioFlow::OnFailed(const std::string& failure)
{
    NoteResolution();
    End(static_cast<double>(GetDelivered()), failure);
}

void
ScenarioFlow::OnReplica(const Address& replica)
{
    NoteResolution();
    m_replica = m_environment.network.GetName(replica);
    Write("replica", static_cast<double>(m_switches + m_session->GetSwitches()), m_replica);
}

void
ScenarioFlow::NoteResolution()
{
    if (m_resolveNs == NONE && m_session->IsResolved())
    {
        m_resolveNs = static_cast<uint64_t>(m_session->GetResolveTime().GetNanoSeconds());
    }
}

void
ScenarioFlow::Switch(std::size_t number)
{
    if (m_progress == Progress::RUNNING)
    {
        const uint32_t to = m_spec.switches[number].to;
        const bool isNext = to == std::numeric_limits<uint32_t>::max();
        m_session->SwitchTo(isNext ? Address() : m_environment.replicas.GetAddress(to));
    }
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
