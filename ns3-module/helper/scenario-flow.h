// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_FLOW_H
#define SCENARIO_FLOW_H

#include "scenario-transfer.h"

#include "ns3/callback.h"
#include "ns3/event-id.h"
#include "ns3/icn-eid.h"
#include "ns3/icn-locator.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferrocc
{
namespace scenario
{
struct FlowSpec;
struct RunSpec;
} // namespace scenario

namespace trace
{
struct RunWriter;
} // namespace trace
} // namespace ferrocc

namespace ns3
{

class Address;
class IcnReceiver;
class IcnSession;
class ScenarioCatalogue;
class ScenarioNetwork;
class ScenarioReplicas;
class UniformRandomVariable;

/**
 * @ingroup ferrocc
 *
 * A transfer of a scenario: one NDC, or with `repeat` or a workload one after the other, and its
 * part of the output.
 */
class ScenarioFlow : public ScenarioTransfer
{
  public:
    /// What all flows of a run share; all of it lives as long as they.
    struct Environment
    {
        const ferrocc::scenario::RunSpec& run; //!< What to run.
        const ScenarioNetwork& network;        //!< The network.
        ScenarioReplicas& replicas;            //!< The replicas, which get the content.
        const ScenarioCatalogue* catalogue;    //!< What the workload asks for, or null.
        ferrocc::trace::RunWriter& writer;     //!< The output.
        Callback<void> onChange;               //!< Called when a flow has started or ended.
    };

    /**
     * Builds the receiver of its first NDC, and schedules it.
     *
     * @param environment What it shares with other flows.
     * @param spec What it does; lives as long as this object.
     * @param index Its number, from 0.
     * @param startNs When it starts, nanoseconds.
     * @param choice What it chooses NDCs of the catalogue with; null without one.
     * @throws std::exception (a rust::Error) if its controller cannot be built.
     */
    ScenarioFlow(const Environment& environment,
                 const ferrocc::scenario::FlowSpec& spec,
                 uint32_t index,
                 uint64_t startNs,
                 const Ptr<UniformRandomVariable>& choice);
    ~ScenarioFlow() override;

    ScenarioFlow(const ScenarioFlow&) = delete;
    ScenarioFlow& operator=(const ScenarioFlow&) = delete;

    void NotifyMove() override;
    void Sample() override;
    void Finish() override;
    bool IsDone() const override;
    uint64_t GetDelivered() const override;

  private:
    /// Makes the receiver of the next NDC.
    void Prepare();
    /// A request of the workload has ended. @param failure Why it failed, or empty.
    void EndRequest(const std::string& failure);
    /// @return How many requests of the workload there are.
    uint64_t CountRequests() const;
    /// Makes its session. @param stream Number of its stream of random numbers.
    void PrepareSession(int64_t stream);
    /// Says where REQs go that routers bind. @param ndc The NDC. @return The edge router.
    std::vector<IcnLocator> GetEdge(const IcnEid& ndc) const;
    /// Adds an NDC to the replicas. @param number Its number, from 0. @return Its EID.
    IcnEid AddNdc(uint64_t number);
    /// Takes note of how long the first list took.
    void NoteResolution();
    /// @return How often the source of the current NDC has changed.
    uint64_t GetSwitches() const;
    /// Writes what its sessions came to.
    void FinishNames();
    /// It starts now.
    void Start();
    /// It is given up now.
    void Stop();
    /// Begins the NDC after the one that is complete.
    void Next();
    /// Makes the next receiver if an NDC is complete and already counted, and another one follows.
    void LeaveCompleted();
    /// Ends it. @param value For the event. @param failure Why it is not complete, or empty.
    void End(double value, const std::string& failure);
    /// Connects the trace sources that make rows of events.csv.
    void TraceEvents();
    /// The last byte of an NDC has arrived. @param receiver The receiver.
    void OnCompleted(Ptr<IcnReceiver> receiver);
    /// The transfer has failed. @param failure Why.
    void OnFailed(const std::string& failure);
    /// REQs go to another replica. @param replica Its address.
    void OnReplica(const Address& replica);
    /// A forced change of the replica. @param number The change's number, from 0.
    void Switch(std::size_t number);
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

    /// Where it is.
    enum class Progress
    {
        WAITING, //!< Not started.
        RUNNING, //!< Started.
        ENDED,   //!< Its last state has been written.
    };

    const Environment& m_environment;          //!< What it shares with other flows.
    const ferrocc::scenario::FlowSpec& m_spec; //!< What it does.
    uint32_t m_index;                          //!< Its number, from 0.
    bool m_late;                               //!< Whether routers bind its REQs.
    uint64_t m_ndcs{0};                        //!< NDCs before the present one.
    uint64_t m_delivered{0};                   //!< Bytes of these.
    Ptr<UniformRandomVariable> m_choice;       //!< Chooses NDCs of the catalogue.
    uint32_t m_rank{0};                        //!< Rank of the present one.
    uint64_t m_requestNs{0};                   //!< When it was asked for.
    uint64_t m_firstReqNs;                     //!< When its first REQ left; largest for not yet.
    bool m_counted{false};                     //!< Whether it is among those before already.
    uint64_t m_timeouts{0};                    //!< Timeouts so far.
    uint64_t m_windowCuts{0};                  //!< Reductions of the window so far.
    Ptr<IcnReceiver> m_receiver;               //!< The receiver of the present NDC.
    Ptr<IcnSession> m_session;                 //!< Its session.
    uint64_t m_resolveNs;                      //!< Time of the first list; largest for none.
    uint64_t m_switches{0};                    //!< Changes of the replica before this NDC.
    std::string m_replica;                     //!< Name of the last replica.
    Progress m_progress{Progress::WAITING};    //!< See Progress.
    EventId m_stop;                            //!< The end, if one is set.
};

} // namespace ns3

#endif /* SCENARIO_FLOW_H */
