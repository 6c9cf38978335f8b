// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/ns3-compat.h"
#include "ns3/scenario-program.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <cstdint>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup ferrocc
 *
 * Suite ferrocc-scenario: the runner's commands, exit codes and output.
 */

using namespace ns3;

namespace
{

/// Takes what a stream is given, for as long as it lives.
class Capture
{
  public:
    /**
     * @param stream The stream.
     */
    explicit Capture(std::ostream& stream)
        : m_stream(stream),
          m_before(stream.rdbuf(m_text.rdbuf()))
    {
    }

    ~Capture()
    {
        m_stream.rdbuf(m_before);
    }

    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    /**
     * @return What the stream was given.
     */
    std::string GetText() const
    {
        return m_text.str();
    }

  private:
    std::ostream& m_stream;    //!< The stream.
    std::ostringstream m_text; //!< What it was given.
    std::streambuf* m_before;  //!< Where that went before.
};

/**
 * @param path A file.
 * @return Its content; empty if there is none.
 */
std::string
ReadFile(const std::string& path)
{
    std::ifstream file(path);
    std::stringstream content;
    content << file.rdbuf();
    return content.str();
}

} // namespace

/**
 * @ingroup ferrocc
 *
 * A short run, twice.
 */
class RunTestCase : public TestCase
{
  public:
    RunTestCase()
        : TestCase("a run writes its output, and the same output again")
    {
    }

  private:
    void DoRun() override;
};

void
RunTestCase::DoRun()
{
    std::vector<std::string> summaries;
    for (const char* name : {"first", "second"})
    {
        const std::string folder = CreateTempDirFilename(name);
        Capture output(std::cout);
        const int code = RunScenarioProgram({"--scenario=base/topo-1",
                                             "--controller=newreno",
                                             "--duration=2s",
                                             "--flows=3",
                                             "--loss=0.001",
                                             "--no-progress",
                                             "--out=" + folder});
        NS_TEST_ASSERT_MSG_EQ(code, 0, "exit code");
        NS_TEST_ASSERT_MSG_NE(output.GetText().find("newreno"), std::string::npos, "a table");
        summaries.push_back(ReadFile(folder + "/summary.json"));
        NS_TEST_ASSERT_MSG_NE(summaries.back().find("goodput_mbps"), std::string::npos, "summary");
        NS_TEST_ASSERT_MSG_NE(ReadFile(folder + "/run.json").size(), 0, "run.json");
    }
    NS_TEST_ASSERT_MSG_EQ((summaries[0] == summaries[1]), true, "equal seed gives equal bytes");
}

/**
 * @ingroup ferrocc
 *
 * A run whose end and flows are as the scenario says: flows both ways, one after the other, in the
 * background, and stopped.
 */
class FlowsTestCase : public TestCase
{
  public:
    /**
     * @param ip The version of IP.
     */
    explicit FlowsTestCase(const std::string& ip)
        : TestCase(ip + ": flows both ways, repeated, in the background, stopped"),
          m_ip(ip)
    {
    }

  private:
    void DoRun() override;

    /**
     * @param text A summary.
     * @param what What to look for.
     * @return How often it is there.
     */
    static uint32_t Count(const std::string& text, const std::string& what)
    {
        uint32_t count = 0;
        for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        {
            count++;
        }
        return count;
    }

    std::string m_ip; //!< The version of IP.
};

void
FlowsTestCase::DoRun()
{
    const std::string folder = CreateTempDirFilename("out");
    Capture output(std::cout);
    const int code = RunScenarioProgram({"--scenario=base/topo-2",
                                         "--flows=3",
                                         "--duration=60s",
                                         "--set=topology.ip=" + m_ip,
                                         "--set=flows[0].size=1 MB",
                                         "--set=flows[0].start=0 s",
                                         "--set=flows[1].size=100 kB",
                                         "--set=flows[1].repeat=true",
                                         "--set=flows[1].background=true",
                                         "--set=flows[2].start=0.2 s",
                                         "--set=flows[2].stop=0.25 s",
                                         "--no-progress",
                                         "--out=" + folder});
    NS_TEST_ASSERT_MSG_EQ(code, 0, "exit code");
    const std::string summary = ReadFile(folder + "/summary.json");
    NS_TEST_ASSERT_MSG_EQ(Count(summary, "\"completed\": true"), 1, "the first flow");
    NS_TEST_ASSERT_MSG_EQ(Count(summary, "\"failure\": \"cancelled\""), 1, "the third flow");
    NS_TEST_ASSERT_MSG_EQ(Count(summary, "\"fcts_s\": ["), 1, "the second flow");
    NS_TEST_ASSERT_MSG_EQ(Count(summary, "\"duration_s\": 60"), 0, "it does not run on");
    const std::string events = ReadFile(folder + "/events.csv");
    NS_TEST_ASSERT_MSG_GT(Count(events, ",2,ndc,"), 1, "NDCs one after the other");
    NS_TEST_ASSERT_MSG_EQ(Count(events, ",3,end,"), 1, "the end of the third flow");
}

/**
 * @ingroup ferrocc
 *
 * Three routers in a line: one of them restarts, a client moves, and real content arrives whole.
 */
class LineTestCase : public TestCase
{
  public:
    /**
     * @param ip The version of IP.
     * @param binding Who binds names.
     */
    LineTestCase(const std::string& ip, const std::string& binding)
        : TestCase(ip + ": a line of routers, names bound by " + binding),
          m_ip(ip),
          m_binding(binding)
    {
    }

  private:
    void DoRun() override;

    std::string m_ip;      //!< The version of IP.
    std::string m_binding; //!< Who binds names.
};

void
LineTestCase::DoRun()
{
    const std::string folder = CreateTempDirFilename("out");
    Capture output(std::cout);
    const int code = RunScenarioProgram(
        {"--scenario=smoke/line-restart",
         "--controller=newreno",
         "--set=topology.ip=" + m_ip,
         "--set=names.binding=" + m_binding,
         "--set=flows[*].size=6 MB",
         "--set=flows[0].start=0 s",
         "--set=flows[1].start=8 s",
         "--set=faults=[{\"at\": \"0.5 s\", \"kind\": \"router-restart\", \"target\": \"R2\", "
         "\"outage\": \"300 ms\"}, {\"at\": \"2 s\", \"kind\": \"receiver-move\", "
         "\"target\": \"C1\", \"to\": \"R3\"}]",
         "--no-progress",
         "--out=" + folder});
    NS_TEST_ASSERT_MSG_EQ(code, 0, "exit code");
    const std::string summary = ReadFile(folder + "/summary.json");
    const auto count = [&summary](const std::string& what) {
        uint32_t found = 0;
        for (auto at = summary.find(what); at != std::string::npos; at = summary.find(what, at + 1))
        {
            found++;
        }
        return found;
    };
    // The first flow is the first of the list. It has begun before the restart, and is under way,
    // still, when the client moves: beside the server, where nothing limits it to 20 Mbps.
    const auto first = [&summary](const std::string& field) {
        const auto at = summary.find("\"" + field + "\": ");
        return at == std::string::npos ? -1.0 : std::stod(summary.substr(at + field.size() + 4));
    };
    NS_TEST_ASSERT_MSG_EQ(first("start_s"), 0, "it began before the restart");
    NS_TEST_ASSERT_MSG_GT(first("end_s"), 2.0, "it ended after the restart and the move");
    NS_TEST_ASSERT_MSG_EQ(count("\"completed\": true"), 2, "both transfers");
    NS_TEST_ASSERT_MSG_EQ(count("\"verified\": true"), 2, "both are what their names say");
    NS_TEST_ASSERT_MSG_EQ(count("\"name\": \"edge\""), 1, "the second link");
    NS_TEST_ASSERT_MSG_EQ(count("\"name\": \"edge-reverse\""), 1, "its other direction");
}

/**
 * @ingroup ferrocc
 *
 * Bad input: one line, exit code 2.
 */
class BadInputTestCase : public TestCase
{
  public:
    /**
     * @param field What it is wrong with.
     * @param option What is wrong.
     * @param word What the line mentions.
     */
    BadInputTestCase(const std::string& field, std::string option, std::string word)
        : TestCase("bad input: " + field),
          m_option(std::move(option)),
          m_word(std::move(word))
    {
    }

  private:
    void DoRun() override
    {
        const std::string folder = CreateTempDirFilename("none");
        Capture errors(std::cerr);
        const int code = RunScenarioProgram({"--out=" + folder, m_option});
        const std::string text = errors.GetText();
        NS_TEST_ASSERT_MSG_EQ(code, 2, "exit code");
        NS_TEST_ASSERT_MSG_NE(text.find(m_word), std::string::npos, text);
        NS_TEST_ASSERT_MSG_EQ(text.find('\n') + 1, text.size(), "one line");
        NS_TEST_ASSERT_MSG_EQ(ReadFile(folder + "/summary.json").size(), 0, "nothing is written");
    }

    std::string m_option; //!< What is wrong.
    std::string m_word;   //!< What the line mentions.
};

/**
 * @ingroup ferrocc
 *
 * What is there is listed.
 */
class ListTestCase : public TestCase
{
  public:
    ListTestCase()
        : TestCase("--list")
    {
    }

  private:
    void DoRun() override
    {
        Capture output(std::cout);
        NS_TEST_ASSERT_MSG_EQ(RunScenarioProgram({"--list"}), 0, "exit code");
        for (const char* word : {"base/topo-1", "newreno", "copa-icn"})
        {
            NS_TEST_ASSERT_MSG_NE(output.GetText().find(word), std::string::npos, word);
        }
    }
};

/**
 * @ingroup ferrocc
 *
 * The suite.
 */
class FerroccScenarioTestSuite : public TestSuite
{
  public:
    FerroccScenarioTestSuite()
        : TestSuite("ferrocc-scenario", Type::UNIT)
    {
        AddTestCase(new RunTestCase, compat::QuickTest());
        AddTestCase(new FlowsTestCase("ipv4"), compat::QuickTest());
        AddTestCase(new FlowsTestCase("ipv6"), compat::QuickTest());
        for (const char* ip : {"ipv4", "ipv6"})
        {
            for (const char* binding : {"receiver", "edge", "path"})
            {
                AddTestCase(new LineTestCase(ip, binding), compat::QuickTest());
            }
        }
        AddTestCase(new ListTestCase, compat::QuickTest());
        AddTestCase(new BadInputTestCase("scenario", "--scenario=base/topo1", "base/topo-1"),
                    compat::QuickTest());
        AddTestCase(new BadInputTestCase("controller", "--controller=newrenoo", "newreno"),
                    compat::QuickTest());
        AddTestCase(new BadInputTestCase("rate", "--rate=-1Mbps", "rate"), compat::QuickTest());
        AddTestCase(new BadInputTestCase("flows", "--flows=0", "flows"), compat::QuickTest());
    }
};

static FerroccScenarioTestSuite g_ferroccScenarioTestSuite; //!< Registers the suite.
