// SPDX-License-Identifier: GPL-2.0-only

#include "progress-meter.h"

#include "ns3/simulator.h"

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

} // namespace

ProgressMeter::ProgressMeter(std::string label, Time duration)
    : m_label(std::move(label)),
      m_duration(duration)
{
}

void
ProgressMeter::Start()
{
    m_active = isatty(STDERR_FILENO) != 0;
    if (m_active)
    {
        m_start = Clock::now();
        m_shown = m_start;
        Update();
    }
}

void
ProgressMeter::Update()
{
    const auto now = Clock::now();
    if (now - m_shown >= SHOW_INTERVAL)
    {
        m_shown = now;
        const double done = Simulator::Now().GetSeconds() / m_duration.GetSeconds();
        const double elapsed = std::chrono::duration<double>(now - m_start).count();
        const double left = done > 0 ? elapsed * (1 - done) / done : 0;
        std::fprintf(stderr,
                     "\r%s: %3.0f %%, %.0f s left \033[K",
                     m_label.c_str(),
                     100 * done,
                     left);
        std::fflush(stderr);
    }
    Simulator::Schedule(m_duration / LOOKS, &ProgressMeter::Update, this);
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
