// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-flows.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "ferrocc-ffi/src/trace.rs.h"
#include "scenario-drops.h"
#include "scenario-streams.h"
#include "scenario-tcp-flow.h"
#include "scenario-warmup.h"

#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <limits>

namespace ns3
{

/// What the transfers do; their type is known to this file only.
struct ScenarioFlows::Specs
{
    rust::Vec<ferrocc::scenario::FlowSpec> flows; //!< By index.
    ferrocc::scenario::TcpSpec tcp;               //!< What those over TCP share.
};

ScenarioFlows::ScenarioFlows(const ferrocc::scenario::Cell& cell,
                             const ferrocc::scenario::RunSpec& spec,
                             const ScenarioNetwork& network,
                             ScenarioReplicas& replicas,
                             const ScenarioCatalogue* catalogue,
                             ferrocc::trace::RunWriter& writer)
    : m_specs(std::make_unique<Specs>(Specs{cell.flows(), cell.tcp()})),
      m_environment{spec,
                    network,
                    replicas,
                    catalogue,
                    writer,
                    MakeCallback(&ScenarioFlows::OnChange, this)}
{
    std::vector<Ptr<UniformRandomVariable>> choices(m_specs->flows.size());
    if (catalogue)
    {
        for (std::size_t i = 0; i < choices.size(); i++)
        {
            choices[i] = CreateObject<UniformRandomVariable>();
            choices[i]->SetStream(STREAM_WORKLOAD + static_cast<int64_t>(i));
        }
        if (spec.workload.replay)
        {
            ReplayWarmup(spec, *catalogue, replicas, choices, writer);
        }
    }
    auto jitter = CreateObject<UniformRandomVariable>();
    jitter->SetStream(STREAM_JITTER);
    for (const auto& flow : m_specs->flows)
    {
        uint64_t start = flow.start_ns;
        if (flow.start_jitter_ns > 0)
        {
            start += static_cast<uint64_t>(
                jitter->GetValue(0.0, static_cast<double>(flow.start_jitter_ns)));
        }
        const auto index = static_cast<uint32_t>(m_flows.size());
        if (flow.transport == "tcp")
        {
            m_flows.push_back(
                std::make_unique<ScenarioTcpFlow>(m_environment, flow, m_specs->tcp, index, start));
            if (!m_drops)
            {
                m_drops =
                    std::make_unique<ScenarioDrops>(MakeCallback(&ScenarioFlows::OnLoss, this));
            }
            continue;
        }
        m_flows.push_back(
            std::make_unique<ScenarioFlow>(m_environment, flow, index, start, choices[index]));
    }
}

ScenarioFlows::~ScenarioFlows() = default;

void
ScenarioFlows::NotifyMove(uint32_t receiver)
{
    for (std::size_t i = 0; i < m_flows.size(); i++)
    {
        if (m_specs->flows[i].receiver == receiver)
        {
            m_flows[i]->NotifyMove();
        }
    }
}

void
ScenarioFlows::OnLoss(uint32_t flow, uint64_t number, bool inQueue)
{
    m_flows[flow]->NotifyLoss(number, inQueue);
}

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
ScenarioFlows::OnChange()
{
    ScheduleBin();
    const auto isDone = [](const auto& flow) { return flow->IsDone(); };
    if (std::all_of(m_flows.begin(), m_flows.end(), isDone))
    {
        // What still travels belongs to nobody: the counters of links end with the flows.
        Simulator::Stop();
    }
}

void
ScenarioFlows::ScheduleBin()
{
    m_bin.Cancel();
    const uint64_t due = m_environment.writer.next_bin_ns();
    if (due != std::numeric_limits<uint64_t>::max())
    {
        const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
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
    m_environment.writer.on_bin(static_cast<uint64_t>(Simulator::Now().GetNanoSeconds()),
                                {m_delivered.data(), m_delivered.size()});
    ScheduleBin();
}

} // namespace ns3
