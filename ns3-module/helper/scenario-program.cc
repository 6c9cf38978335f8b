// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-program.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "scenario-runner.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace ns3
{

namespace
{

/// Exit code for bad input.
constexpr int EXIT_BAD_INPUT = 2;
/// Exit code if a run failed.
constexpr int EXIT_RUN_FAILED = 3;

/// The signal that asked us to end, or zero.
volatile std::sig_atomic_t g_signal = 0;

/**
 * Remembers a signal, and ends a run.
 *
 * @param signal The signal.
 */
void
OnSignal(int signal)
{
    g_signal = signal;
    ScenarioRunner::Interrupt();
}

/**
 * Lets signals end what is going on in order.
 */
void
CatchSignals()
{
    struct sigaction action = {};
    action.sa_handler = OnSignal; // Without SA_RESTART, so that waitpid returns.
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

/**
 * Ends the process by the signal that asked for it, if there was one, so that the caller sees that.
 */
void
EndBySignal()
{
    if (g_signal != 0)
    {
        std::signal(g_signal, SIG_DFL);
        std::raise(g_signal);
    }
}

/**
 * Prints an error as one line.
 *
 * @param error The error.
 */
void
PrintError(const std::exception& error)
{
    std::cerr << error.what() << std::endl;
}

/**
 * Runs one cell in this process.
 *
 * @param plan The plan.
 * @param index The cell's index.
 * @param progress Whether to show progress.
 * @param table Whether to print the summary.
 */
void
RunCell(const ferrocc::scenario::Plan& plan, std::size_t index, bool progress, bool table)
{
    const auto cell = plan.cell(index);
    ScenarioRunner runner(*cell, progress);
    if (runner.Run() && table)
    {
        std::cout << runner.GetTable() << std::flush;
    }
}

/// Runs the cells of a sweep as child processes.
class Sweep
{
  public:
    /**
     * @param plan The plan.
     */
    explicit Sweep(const ferrocc::scenario::Plan& plan)
        : m_plan(plan),
          m_progress(plan.progress() && isatty(STDERR_FILENO))
    {
    }

    /**
     * Runs all cells, and goes on with the others if one fails.
     *
     * @return The exit code.
     */
    int Run()
    {
        const std::size_t cells = m_plan.cell_count();
        const std::size_t jobs = std::max<std::size_t>(m_plan.jobs(), 1);
        std::size_t next = 0;
        while (g_signal == 0 && (next < cells || !m_children.empty()))
        {
            if (next < cells && m_children.size() < jobs)
            {
                Start(next++);
            }
            else
            {
                Wait();
            }
            Show();
        }
        if (m_progress)
        {
            std::fprintf(stderr, "\r\033[K");
        }
        if (g_signal != 0)
        {
            KillAll();
        }
        return m_result;
    }

  private:
    /**
     * Starts a cell.
     *
     * @param index Its index.
     */
    void Start(std::size_t index)
    {
        std::cout.flush();
        const pid_t child = fork();
        if (child < 0)
        {
            std::cerr << "cannot start a process for a run" << std::endl;
            m_result = EXIT_RUN_FAILED;
            m_done++;
            return;
        }
        if (child == 0)
        {
            const int result = RunChild(index);
            EndBySignal();
            std::exit(result);
        }
        m_children.push_back(child);
    }

    /**
     * What a child does.
     *
     * @param index The cell's index.
     * @return The exit code.
     */
    int RunChild(std::size_t index) const
    {
        try
        {
            RunCell(m_plan, index, false, false);
            return EXIT_SUCCESS;
        }
        catch (const std::exception& error)
        {
            PrintError(error);
            return EXIT_BAD_INPUT;
        }
    }

    /// Waits for one child, or a signal.
    void Wait()
    {
        int status = 0;
        const pid_t child = waitpid(-1, &status, 0);
        if (child < 0)
        {
            return; // A signal; the caller looks.
        }
        const auto found = std::find(m_children.begin(), m_children.end(), child);
        if (found == m_children.end())
        {
            return;
        }
        m_children.erase(found);
        m_done++;
        if (WIFEXITED(status))
        {
            const int code = WEXITSTATUS(status);
            const int result = code == 0 || code == EXIT_BAD_INPUT ? code : EXIT_RUN_FAILED;
            m_result = std::max(m_result, result);
        }
        else
        {
            std::cerr << "a run ended by signal " << WTERMSIG(status) << std::endl;
            m_result = EXIT_RUN_FAILED;
        }
    }

    /// Ends all children, and waits for them.
    void KillAll()
    {
        for (const pid_t child : m_children)
        {
            kill(child, SIGTERM);
        }
        for (const pid_t child : m_children)
        {
            while (waitpid(child, nullptr, 0) < 0 && errno == EINTR)
            {
            }
        }
        m_children.clear();
    }

    /// Shows how many cells are done.
    void Show() const
    {
        if (m_progress)
        {
            std::fprintf(stderr, "\r%zu of %zu runs done\033[K", m_done, m_plan.cell_count());
            std::fflush(stderr);
        }
    }

    const ferrocc::scenario::Plan& m_plan; //!< The plan.
    bool m_progress;                       //!< Whether to show progress.
    std::vector<pid_t> m_children;         //!< Running children.
    std::size_t m_done{0};                 //!< Cells that have ended.
    int m_result{EXIT_SUCCESS};            //!< The worst exit code so far.
};

/**
 * Runs a sweep.
 *
 * @param plan The plan.
 * @return The exit code.
 */
int
RunSweep(const ferrocc::scenario::Plan& plan)
{
    const int result = Sweep(plan).Run();
    EndBySignal();
    if (result == EXIT_SUCCESS)
    {
        plan.finish();
    }
    return result;
}

} // namespace

int
RunScenarioProgram(const std::vector<std::string>& arguments)
{
    try
    {
        rust::Vec<rust::String> words;
        for (const auto& argument : arguments)
        {
            words.push_back(argument);
        }
        const auto plan = ferrocc::scenario::parse(words);
        if (plan->action() == ferrocc::scenario::Action::Print)
        {
            const auto text = plan->text();
            std::cout.write(text.data(), static_cast<std::streamsize>(text.size()));
            std::cout.flush();
            return EXIT_SUCCESS;
        }
        CatchSignals();
        if (plan->cell_count() > 1)
        {
            return RunSweep(*plan);
        }
        RunCell(*plan, 0, plan->progress(), true);
        EndBySignal();
        plan->finish();
        return EXIT_SUCCESS;
    }
    catch (const std::exception& error)
    {
        PrintError(error);
        return EXIT_BAD_INPUT;
    }
}

} // namespace ns3
