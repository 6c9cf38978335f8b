// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-runner.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "ferrocc-ffi/src/trace.rs.h"
#include "progress-meter.h"
#include "scenario-catalogue.h"
#include "scenario-faults.h"
#include "scenario-flows.h"
#include "scenario-links.h"
#include "scenario-network.h"
#include "scenario-replicas.h"
#include "scenario-streams.h"

#include "ns3/node.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#ifdef FERROCC_HAVE_NETANIM
#include "ns3/animation-interface.h"
#endif

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <vector>

namespace ns3
{

/// Behind ScenarioRunner: the parts of a run, and their order.
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
    /// Builds the network, the flows, and what watches them.
    void Build();
    /// Switches pcap on, if it is wanted.
    void EnablePcap();
#ifdef FERROCC_HAVE_NETANIM
    /// Starts NetAnim's recording. @return What records, or null if that is not wanted.
    std::unique_ptr<AnimationInterface> Animate() const;
#endif
    /// Writes a row for each flow and link, and comes again.
    void Sample();

    const ferrocc::scenario::Cell& m_cell;          //!< The scenario.
    ferrocc::scenario::RunSpec m_spec;              //!< What to run.
    rust::Box<ferrocc::trace::RunWriter> m_writer;  //!< The output.
    std::unique_ptr<ScenarioNetwork> m_network;     //!< The network.
    std::unique_ptr<ScenarioReplicas> m_replicas;   //!< The replicas.
    std::unique_ptr<ScenarioCatalogue> m_catalogue; //!< What the workload asks for, or null.
    std::unique_ptr<ScenarioFaults> m_faults;       //!< What goes wrong.
    std::unique_ptr<ScenarioFlows> m_flows;         //!< The transfers.
    std::unique_ptr<ScenarioLinks> m_links;         //!< The watched links.
    bool m_progress;                                //!< Whether to show progress.
};

ScenarioRunner::Impl::Impl(const ferrocc::scenario::Cell& cell, bool progress)
    : m_cell(cell),
      m_spec(cell.spec()),
      m_writer(ferrocc::trace::new_writer(cell, FERROCC_NS3_VERSION)),
      m_progress(progress)
{
}

void
ScenarioRunner::Impl::Build()
{
    m_network = std::make_unique<ScenarioNetwork>(m_cell, m_spec);
    m_network->AssignStreams(STREAM_LINKS);
    m_links = std::make_unique<ScenarioLinks>(*m_writer, m_spec.trace_packets);
    m_links->Watch(m_network->GetRouterLinks(), DataRate(m_spec.bottleneck_rate_bps));
    m_replicas = std::make_unique<ScenarioReplicas>(m_cell, m_spec, *m_network);
    m_faults = std::make_unique<ScenarioFaults>(m_cell, *m_network, *m_replicas);
    if (m_spec.workload.catalogue > 0)
    {
        m_catalogue = std::make_unique<ScenarioCatalogue>(m_spec, *m_replicas);
    }
    m_flows = std::make_unique<ScenarioFlows>(m_cell,
                                              m_spec,
                                              *m_network,
                                              *m_replicas,
                                              m_catalogue.get(),
                                              *m_writer);
    m_faults->SetFlows(*m_flows);
}

void
ScenarioRunner::Impl::EnablePcap()
{
    if (m_spec.pcap)
    {
        PointToPointHelper helper;
        helper.EnablePcapAll(std::string(m_writer->folder()) + "/trace", false);
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
    // The routers in a row; the hosts of the first one in a column before it, those of the last one
    // in a column behind it, those of others in a column below theirs.
    constexpr double STEP = 20;
    const uint32_t routers = m_network->GetNRouters();
    std::vector<std::vector<Ptr<Node>>> columns(routers);
    for (const auto& host : m_network->GetHosts())
    {
        columns[host.router].push_back(host.node);
    }
    const std::size_t longest = std::max(columns.front().size(), columns.back().size());
    const double middle = STEP * static_cast<double>(longest - 1) / 2;
    for (uint32_t i = 0; i < routers; i++)
    {
        const double x = STEP * (i + 1);
        AnimationInterface::SetConstantPosition(m_network->GetRouter(i), x, middle);
        const bool isInner = i > 0 && i + 1 < routers;
        const double above = STEP * (static_cast<double>(columns[i].size()) - 1) / 2;
        double y = isInner ? middle + STEP : middle - above;
        for (const auto& node : columns[i])
        {
            AnimationInterface::SetConstantPosition(node, isInner ? x : i == 0 ? 0 : x + STEP, y);
            y += STEP;
        }
    }
    return std::make_unique<AnimationInterface>(std::string(m_spec.anim));
}
#endif

void
ScenarioRunner::Impl::Sample()
{
    m_flows->Sample();
    m_links->Sample();
    Simulator::Schedule(NanoSeconds(m_spec.trace_interval_ns), &Impl::Sample, this);
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
    Build();
    EnablePcap();
#ifdef FERROCC_HAVE_NETANIM
    const auto animation = Animate();
#endif
    if (m_spec.trace)
    {
        Simulator::Schedule(NanoSeconds(m_spec.trace_interval_ns), &Impl::Sample, this);
    }
    ProgressMeter meter(std::string(m_spec.scenario), NanoSeconds(m_spec.duration_ns));
    meter.Start(m_progress);
    Simulator::Stop(NanoSeconds(m_spec.duration_ns));
    Simulator::Run();
    meter.Finish();
    if (ProgressMeter::IsInterrupted())
    {
        return false; // The writer removes what it has written.
    }
    m_flows->Finish();
    m_links->Finish();
    m_replicas->Finish(*m_writer);
    const uint64_t events = Simulator::GetEventCount() - meter.GetEvents();
    Simulator::Destroy();
    // The last references: this closes the pcap files, too.
    m_links.reset();
    m_flows.reset();
    m_faults.reset();
    m_replicas.reset();
    m_network.reset();
    const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
    m_writer->finish(events, wall);
    return true;
}

std::string
ScenarioRunner::Impl::GetTable() const
{
    return std::string(m_writer->table());
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
