// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_RECEIVER_H
#define ICN_RECEIVER_H

#include "icn-eid.h"

#include "ns3/address.h"
#include "ns3/callback.h"
#include "ns3/data-rate.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"
#include "ns3/traced-value.h"

#include <memory>
#include <string>

namespace ferrocc
{
namespace transport
{
struct Receiver;
struct Step;
} // namespace transport
} // namespace ferrocc

namespace ns3
{

class IcnHeader;
class IcnL4Protocol;
class Node;
class NodeClock;
class Packet;

/**
 * @ingroup ferrocc
 *
 * Fetches one NDC: the receiver's half of the ICN transport, which decides what is requested and
 * how fast. The decisions are those of an engine in Rust; this class gives it what happened (a
 * packet, a timer), and does what it answers: send REQs, set the timer, show the traced values.
 *
 * Set the attributes, SetNode(), SetNdc(), SetReplica(), then Open().
 */
class IcnReceiver : public Object
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    IcnReceiver();
    ~IcnReceiver() override;

    /**
     * Sets the node, which has an IcnL4Protocol when Open() is called.
     *
     * @param node The node.
     */
    void SetNode(Ptr<Node> node);

    /**
     * Sets what to fetch.
     *
     * @param ndc The NDC's EID.
     */
    void SetNdc(const IcnEid& ndc);

    /**
     * Sets where REQs go: the replica, or a router that knows one.
     *
     * @param address Its address: an Ipv4Address or an Ipv6Address.
     */
    void SetReplica(const Address& address);

    /**
     * Starts the transfer. A controller, parameter or option that does not exist aborts the
     * program with a message; Configure() lets a program find out before.
     */
    void Open();

    /**
     * Makes the engine from the attributes, which do not count any more afterwards. Called by
     * Open() if it was not called before.
     *
     * @throws std::exception (a rust::Error) whose text says which parameter is wrong and what is
     *         accepted.
     */
    void Configure();

    /**
     * Makes DATA for the transfer reach this receiver before Open(), which does the same: answers
     * to probes arrive before a replica is chosen. After Configure().
     */
    void Attach();

    /**
     * Sets what is told of DATA without payload: answers to probes, and a replica's word that it
     * does not hold the NDC.
     *
     * @param callback What is told, with the packet's header.
     */
    void SetEmptyDataCallback(Callback<void, const IcnHeader&> callback);

    /// Gives the transfer up; nothing happens if it is complete.
    void Cancel();

    /**
     * Tells that REQs go to another replica or over another path from now on, so that what was
     * learnt about the path is void. What has arrived stays.
     *
     * @param replicaChanged Whether the replica changed, and not only the path.
     */
    void NotifyPathChange(bool replicaChanged);

    /**
     * Takes a DATA packet; called by the L4 protocol.
     *
     * @param header Its header.
     * @param packet The packet, with the header.
     * @param source Who sent it.
     */
    void OnData(const IcnHeader& header, const Packet& packet, const Address& source);

    /**
     * @return Whether every byte of the NDC has arrived.
     */
    bool IsCompleted() const;

    /**
     * @return Whether the content's hash equals the NDC's EID; needs the attribute Verify.
     */
    bool IsVerified() const;

    /**
     * @return Whether the transfer has been started and has not ended.
     */
    bool IsRunning() const;

    /**
     * @return When the transfer was complete.
     */
    Time GetCompletionTime() const;

    /**
     * @return Bytes received exactly once so far.
     */
    uint64_t GetDelivered() const;

    /**
     * @return DATA packets so far that arrived with a mark.
     */
    uint64_t GetMarks() const;

    /**
     * @return DATA packets so far that were not valid.
     */
    uint64_t GetMalformed() const;

    /**
     * @return Changes so far of the address that DATA comes from: another source serves, or the
     * same one at another address.
     */
    uint64_t GetSourceChanges() const;

    /**
     * @return This receiver's own EID; after Configure().
     */
    const IcnEid& GetDeviceEid() const;

    /**
     * @return The EID of the NDC.
     */
    const IcnEid& GetNdc() const;

    /**
     * @return The node.
     */
    Ptr<Node> GetNode() const;

    /**
     * @return The engine, for the output of runs; after Configure().
     */
    const ferrocc::transport::Receiver& GetEngine() const;

    /**
     * Assigns a fixed stream number to the random variable.
     *
     * @param stream The stream number.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * TracedCallback signature of the end of a transfer.
     *
     * @param [in] receiver The receiver.
     */
    typedef void (*EndTracedCallback)(Ptr<IcnReceiver> receiver);

    /**
     * The name of a value of the trace source State.
     *
     * @param state The value.
     * @return The name of the controller's phase.
     */
    static std::string GetStateName(uint8_t state);

  protected:
    void DoDispose() override;

  private:
    /**
     * @return The engine's options from the attributes, a JSON object.
     */
    std::string GetOptions() const;

    /**
     * Does everything that follows from one event: the only function that sends, sets the timer
     * or changes traced values.
     *
     * @param step What the engine answered.
     */
    void Apply(const ferrocc::transport::Step& step);

    /**
     * Sends the REQs of a step.
     *
     * @param step The step.
     */
    void SendRequests(const ferrocc::transport::Step& step);

    /**
     * Sees to it that the timer expires at a time, or earlier.
     *
     * @param deadline When, in nanoseconds.
     */
    void SetTimer(uint64_t deadline);

    /// The timer expired.
    void Expire();

    /// Ends the transfer: no timer, no more DATA.
    void Close();

    /// What became of the transfer.
    enum class Progress
    {
        IDLE,      //!< Not opened.
        RUNNING,   //!< Opened.
        COMPLETED, //!< Every byte has arrived.
        CANCELLED, //!< Given up.
    };

    struct Engine; //!< The receiver's engine.

    std::string m_controller;       //!< Name of the controller.
    std::string m_controllerParams; //!< Its parameters.
    std::string m_options;          //!< Options of the engine instead of the following ones.
    uint16_t m_mss;                 //!< Payload of a full DATA packet, bytes.
    Time m_minRto;                  //!< Smallest retransmission timeout.
    Time m_maxRto;                  //!< Largest retransmission timeout.
    Time m_initialRto;              //!< Retransmission timeout before the first sample.
    std::string m_rtoUpdate;        //!< Which samples update the timeout.
    std::string m_rttSamples;       //!< Which units give samples.
    uint8_t m_lossThreshold;        //!< Later units until a missing one is lost.
    uint16_t m_quantumUnits;        //!< Units per REQ; zero chooses by rate.
    uint64_t m_receiveBuffer;       //!< Receive buffer, bytes; zero is unlimited.
    double m_initialWindow;         //!< First window, packets.
    bool m_timestamps;              //!< Whether DATA is stamped.
    bool m_verify;                  //!< Whether payload is real.

    Ptr<Node> m_node;                  //!< The node.
    Ptr<NodeClock> m_clock;            //!< Its clock, or null if that is exact.
    Ptr<IcnL4Protocol> m_protocol;     //!< Its L4 protocol.
    Address m_replica;                 //!< Where REQs go.
    IcnTransferKey m_key;              //!< Which transfer this is.
    Ptr<UniformRandomVariable> m_draw; //!< For controllers with a random phase.
    std::unique_ptr<Engine> m_engine;  //!< See Engine.
    Progress m_progress;               //!< See Progress.
    bool m_verified;                   //!< See IsVerified.
    Time m_completionTime;             //!< See GetCompletionTime.
    uint64_t m_malformed;              //!< See GetMalformed.
    EventId m_timer;                   //!< The one pending timer event.
    uint64_t m_timerAt;                //!< When it expires, ns; the largest value for never.
    uint64_t m_deadline;               //!< When the engine wants to be called, ns.
    bool m_attached;                   //!< Whether the L4 protocol knows it.

    Callback<void, const IcnHeader&> m_emptyData; //!< See SetEmptyDataCallback.

    TracedValue<uint64_t> m_window;                    //!< Bytes that may be outstanding.
    TracedValue<DataRate> m_pacingRate;                //!< Pacing rate.
    TracedValue<Time> m_rtt;                           //!< Last RTT sample.
    TracedValue<Time> m_smoothedRtt;                   //!< Smoothed RTT.
    TracedValue<Time> m_oneWayDelay;                   //!< Last one-way sample.
    TracedValue<uint64_t> m_bytesInFlight;             //!< Bytes outstanding.
    TracedValue<uint64_t> m_ssThresh;                  //!< Slow-start threshold.
    TracedValue<uint8_t> m_state;                      //!< The controller's phase.
    TracedValue<uint64_t> m_losses;                    //!< Units declared lost.
    TracedValue<uint64_t> m_sourceChanges;             //!< Changes of the source.
    TracedValue<uint64_t> m_timeouts;                  //!< Retransmission timer expiries.
    TracedValue<uint64_t> m_marks;                     //!< DATA that arrived with a mark.
    TracedValue<uint64_t> m_windowCuts;                //!< Reductions of the window.
    TracedValue<uint64_t> m_delivered;                 //!< Bytes received exactly once.
    TracedCallback<Ptr<IcnReceiver>> m_completedTrace; //!< Every byte has arrived.
};

} // namespace ns3

#endif /* ICN_RECEIVER_H */
