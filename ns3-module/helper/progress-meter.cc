// SPDX-License-Identifier: GPL-2.0-only

#include "progress-meter.h"

#include "ns3/simulator.h"

#include <csignal>
#include <cstdio>
#include <unistd.h>
#include <utility>

namespace ns3
{

namespace
{

/// How often the wall clock is looked at in a run.
constexpr int LOOKS = 500;
/// How often the line is shown.
constexpr std::chrono::milliseconds SHOW_INTERVAL{250};

/// Whether the user wants the simulation to end.
volatile std::sig_atomic_t g_interrupted = 0;

} // namespace

ProgressMeter::ProgressMeter(std::string label, Time duration)
    : m_label(std::move(label)),
      m_duration(duration)
{
}

void
ProgressMeter::Start(bool show)
{
    m_active = show && isatty(STDERR_FILENO) != 0;
    m_start = Clock::now();
    m_shown = m_start;
    Simulator::Schedule(m_duration / LOOKS, &ProgressMeter::Update, this);
}

void
ProgressMeter::Interrupt()
{
    g_interrupted = 1;
}

bool
ProgressMeter::IsInterrupted()
{
    return g_interrupted != 0;
}

void
ProgressMeter::Update()
{
    m_events++;
    if (IsInterrupted())
    {
        Simulator::Stop();
    }
    if (m_active)
    {
        Show();
    }
    Simulator::Schedule(m_duration / LOOKS, &ProgressMeter::Update, this);
}

void
ProgressMeter::Show()
{
    const auto now = Clock::now();
    if (now - m_shown < SHOW_INTERVAL)
    {
        return;
    }
    m_shown = now;
    const double done = Simulator::Now().GetSeconds() / m_duration.GetSeconds();
    const double elapsed = std::chrono::duration<double>(now - m_start).count();
    const double left = elapsed * (1 - done) / done;
    std::fprintf(stderr, "\r%s: %3.0f %%, %.0f s left \033[K", m_label.c_str(), 100 * done, left);
    std::fflush(stderr);
}

uint64_t
ProgressMeter::GetEvents() const
{
    return m_events;
}

void
ProgressMeter::Finish()
{
    if (m_active)
    {
        std::fprintf(stderr, "\r\033[K");
        std::fflush(stderr);
        m_active = false;
    }
}

} // namespace ns3
