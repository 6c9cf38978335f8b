// SPDX-License-Identifier: GPL-2.0-only

#ifndef FERROCC_QUEUE_DISC_H
#define FERROCC_QUEUE_DISC_H

#include "registry-attributes.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/queue-disc.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"
#include "ns3/traced-value.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * A FIFO whose algorithm of active queue management is one of the registry's. The algorithm
 * decides; this class stores the packets, marks and drops them, counts and traces.
 *
 * There is a type for each algorithm: `ns3::FerroccDropTailQueueDisc`, `ns3::FerroccRedQueueDisc`,
 * `ns3::FerroccCoDelQueueDisc`, `ns3::FerroccEcdQueueDisc`. They are made from the registry when
 * the library is loaded; their attributes are the algorithm's parameters (`TargetMs` for
 * `target_ms`), their trace sources its state variables. Objects are made by type
 * (TrafficControlHelper, ObjectFactory), not with CreateObject.
 *
 * A mark is set in the transport header of ICN DATA, if the node is an ICN router, or in IP's ECN
 * field. The former is counted by GetTransportMarks() and told by the trace source TransportMark;
 * QueueDisc counts the latter, and all drops.
 */
class FerroccQueueDisc : public QueueDisc, public RegistryParameters
{
  public:
    /// What a packet is.
    enum class PacketKind
    {
        OTHER,   //!< No packet of the ICN transport.
        REQUEST, //!< A REQ.
        DATA,    //!< DATA.
    };

    /// What was decided about a packet.
    struct Decision
    {
        bool dequeue;        //!< At dequeue, else at enqueue.
        Time sojourn;        //!< How long the packet waited.
        const char* verdict; //!< `pass`, `mark` or `drop`.
        const char* reason;  //!< Why it was marked or dropped; else empty.
    };

    /**
     * TracedCallback signature of decisions.
     *
     * @param item The packet.
     * @param decision What was decided.
     */
    typedef void (*DecisionTracedCallback)(Ptr<const QueueDiscItem> item, const Decision& decision);

    /**
     * Get the type ID.
     * @return The object TypeId of what all types have in common.
     */
    static TypeId GetTypeId();

    /**
     * @param aqm An algorithm's name in scenarios.
     * @return Its type; it aborts if there is none.
     */
    static TypeId GetTypeId(const std::string& aqm);

    /**
     * @param item A packet.
     * @return What it is.
     */
    static PacketKind GetKind(const QueueDiscItem& item);

    FerroccQueueDisc();
    ~FerroccQueueDisc() override;

    /**
     * @param parameters A JSON object of parameters, which go before the attributes.
     */
    void SetOverrides(const std::string& parameters);

    /**
     * @return What was set by SetOverrides().
     */
    std::string GetOverrides() const;

    /**
     * @return How many packets were marked in the transport header, for each reason.
     */
    std::map<std::string, uint64_t> GetTransportMarks() const;

    /**
     * @return How many packets were marked in the transport header.
     */
    uint64_t GetNTransportMarks() const;

    /**
     * @return The names of the algorithm's state variables.
     */
    const std::vector<std::string>& GetStateNames() const;

    /**
     * @return The values of the algorithm's state variables, in the order of their names; nothing
     * before the start.
     */
    const std::vector<double>& GetState();

    /**
     * Assigns a fixed stream number to the random variable.
     *
     * @param stream The stream number.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream);

  protected:
    void DoDispose() override;

  private:
    struct Impl;
    struct Row;
    class StateAccessor;

    /// @return The types, by the algorithm's name in scenarios.
    static const std::map<std::string, Row>& GetRows();
    /// @return The row of this object's type; it aborts without one.
    const Row& GetRow() const;

    bool DoEnqueue(Ptr<QueueDiscItem> item) override;
    Ptr<QueueDiscItem> DoDequeue() override;
    bool CheckConfig() override;
    void InitializeParams() override;

    /**
     * @param item A packet.
     * @return Whether IP's ECN field allows a mark, as far as the algorithm wants to know.
     */
    bool IsEct(const QueueDiscItem& item) const;

    /// @return A number in 0..1 that no decision has used.
    double GetDraw();

    /**
     * Sets the mark in the transport header.
     *
     * @param item ICN DATA.
     * @param reason The number of the reason.
     */
    void MarkTransport(Ptr<QueueDiscItem> item, uint8_t reason);

    /// Tells the state variables, if anyone listens.
    void TraceState();

    /**
     * Tells a decision, if anyone listens.
     *
     * @param item The packet.
     * @param decision What was decided.
     */
    void TraceDecision(Ptr<const QueueDiscItem> item, const Decision& decision);

    DataRate m_linkBandwidth;     //!< Rate of the link behind the queue.
    Time m_linkDelay;             //!< Its propagation delay.
    bool m_icnRouter;             //!< Whether ICN DATA may be marked in its transport header.
    std::string m_overrides;      //!< Parameters that go before the attributes, JSON.
    std::unique_ptr<Impl> m_impl; //!< The algorithm, from initialization on.
    Ptr<InternalQueue> m_queue;   //!< The packets.

    Ptr<UniformRandomVariable> m_random; //!< Where draws come from.
    double m_draw{0};                    //!< The draw for the next decision.
    bool m_drawn{false};                 //!< Whether there is one.

    std::vector<uint64_t> m_transportMarks;         //!< Marks in the transport header, by reason.
    std::vector<double> m_state;                    //!< Values of the state variables.
    std::vector<TracedValue<double>> m_tracedState; //!< The same for their trace sources.
    bool m_stateTraced{false};                      //!< Whether anyone has asked for them.

    /// Tells packets that were marked in the transport header.
    TracedCallback<Ptr<const QueueDiscItem>, const char*> m_traceTransportMark;
    /// Tells decisions.
    TracedCallback<Ptr<const QueueDiscItem>, const Decision&> m_traceDecision;
};

} // namespace ns3

#endif /* FERROCC_QUEUE_DISC_H */
