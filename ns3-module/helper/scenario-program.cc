// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-program.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "scenario-runner.h"
#include "scenario-tcp-flow.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace ns3
{

namespace
{

/// Exit code if text could not be printed.
constexpr int EXIT_NOT_PRINTED = 1;
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
    action.sa_handler = OnSignal; // Without SA_RESTART, so that sleeping ends.
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    {
        // A hang-up that the caller has us ignore (nohup) stays ignored.
        struct sigaction before = {};
        sigaction(signal, nullptr, &before);
        if (signal != SIGHUP || before.sa_handler != SIG_IGN)
        {
            sigaction(signal, &action, nullptr);
        }
    }
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

/// Text could not be printed.
class PrintingError : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/**
 * Prints text.
 *
 * @param text The text.
 * @throws PrintingError if it cannot be written.
 */
void
Print(const std::string& text)
{
    errno = 0;
    std::cout << text << std::flush;
    if (!std::cout)
    {
        const std::string cause = errno != 0 ? std::strerror(errno) : "unknown cause";
        throw PrintingError("cannot write to the standard output: " + cause);
    }
}

/**
 * @param text UTF-8 or not.
 * @return The text with everything but printable ASCII escaped.
 */
std::string
Escaped(const std::string& text)
{
    std::string out;
    for (const char c : text)
    {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f)
        {
            out += c;
        }
        else
        {
            char code[5];
            std::snprintf(code, sizeof(code), "\\x%02x", static_cast<unsigned>(byte));
            out += code;
        }
    }
    return out;
}

/**
 * Hands the arguments to Rust.
 *
 * @param arguments The arguments.
 * @return The same as Rust's strings.
 * @throws std::invalid_argument if one of them is not UTF-8.
 */
rust::Vec<rust::String>
ToWords(const std::vector<std::string>& arguments)
{
    rust::Vec<rust::String> words;
    for (const auto& argument : arguments)
    {
        try
        {
            words.push_back(rust::String(argument));
        }
        catch (const std::invalid_argument&)
        {
            throw std::invalid_argument("\"" + Escaped(argument) +
                                        "\": not UTF-8 text (accepted: --key=value in UTF-8)");
        }
    }
    return words;
}

/**
 * Runs one cell in this process.
 *
 * @param plan The plan.
 * @param index The cell's index.
 * @param progress Whether to show its progress.
 * @param clear Whether to clear the line of another progress display before the summary.
 */
void
RunCell(const ferrocc::scenario::Plan& plan, std::size_t index, bool progress, bool clear)
{
    const auto cell = plan.cell(index);
    ScenarioRunner runner(*cell, progress);
    if (runner.Run())
    {
        if (clear)
        {
            std::fprintf(stderr, "\r\033[K");
        }
        Print(runner.GetTable());
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
        const pid_t parent = getpid();
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
#ifdef __linux__
            // A run does not outlive a sweep that is killed.
            prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
            if (getppid() != parent)
            {
                std::exit(EXIT_RUN_FAILED); // It ended before that.
            }
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
            RunCell(m_plan, index, false, m_progress);
            return EXIT_SUCCESS;
        }
        catch (const PrintingError& error)
        {
            PrintError(error);
            return EXIT_NOT_PRINTED;
        }
        catch (const std::exception& error)
        {
            PrintError(error);
            return EXIT_RUN_FAILED; // The input was checked before the first run.
        }
    }

    /// Waits for one child, or a signal.
    void Wait()
    {
        // Not one long waitpid: a signal just before it would be noticed only after a run.
        constexpr timespec PAUSE{0, 5'000'000};
        int status = 0;
        pid_t child = 0;
        while (g_signal == 0 && (child = waitpid(-1, &status, WNOHANG)) == 0)
        {
            nanosleep(&PAUSE, nullptr);
        }
        if (child <= 0)
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
            const bool ran = code == EXIT_SUCCESS || code == EXIT_NOT_PRINTED;
            m_result = std::max(m_result, ran ? code : EXIT_RUN_FAILED);
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
    int m_result{EXIT_SUCCESS};            //!< The exit code so far.
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
    if (result == EXIT_SUCCESS || result == EXIT_NOT_PRINTED)
    {
        plan.finish();
        Print("results: " + std::string(plan.out()) + " (" + std::to_string(plan.cell_count()) +
              " runs, sweep.csv)\n");
    }
    return result;
}

/**
 * @param plan The plan.
 * @throws std::invalid_argument if it names a congestion control that ns-3 lacks.
 */
void
CheckTypes(const ferrocc::scenario::Plan& plan)
{
    for (const auto& type : plan.ns3_types())
    {
        const std::string error = ScenarioTcpFlow::CheckType(std::string(type.name));
        if (!error.empty())
        {
            throw std::invalid_argument(std::string(type.field) + ": " + error);
        }
    }
}

/**
 * Makes the runs of a plan.
 *
 * @param plan The plan.
 * @return The exit code.
 */
int
RunPlan(const ferrocc::scenario::Plan& plan)
{
    CatchSignals();
    try
    {
        CheckTypes(plan);
        // What is said before the runs.
        Print(std::string(plan.text()));
        // The runs of a sweep have names, even if there is only one.
        if (!plan.cell(0)->spec().cell.empty())
        {
            return RunSweep(plan);
        }
        RunCell(plan, 0, plan.progress(), false);
        EndBySignal();
        Print("results: " + std::string(plan.out()) + "\n");
        return EXIT_SUCCESS;
    }
    catch (const PrintingError& error)
    {
        PrintError(error);
        return EXIT_NOT_PRINTED;
    }
    catch (const std::invalid_argument& error)
    {
        PrintError(error);
        return EXIT_BAD_INPUT; // An option that this build lacks.
    }
    catch (const std::exception& error)
    {
        PrintError(error);
        return EXIT_RUN_FAILED;
    }
}

} // namespace

int
RunScenarioProgram(const std::vector<std::string>& arguments)
{
    try
    {
        const auto plan = ferrocc::scenario::parse(ToWords(arguments));
        if (plan->action() == ferrocc::scenario::Action::Run)
        {
            return RunPlan(*plan);
        }
        Print(std::string(plan->text()));
        return EXIT_SUCCESS;
    }
    catch (const PrintingError& error)
    {
        PrintError(error);
        return EXIT_NOT_PRINTED;
    }
    catch (const std::exception& error)
    {
        PrintError(error);
        return EXIT_BAD_INPUT;
    }
}

} // namespace ns3
