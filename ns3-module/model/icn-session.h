// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_SESSION_H
#define ICN_SESSION_H

#include "icn-eid.h"
#include "icn-locator.h"
#include "icn-receiver.h"

#include "ns3/address.h"
#include "ns3/callback.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <string>
#include <vector>

namespace ferrocc
{
namespace icn
{
struct SessionStep;
} // namespace icn
} // namespace ferrocc

namespace ns3
{

class IcnHeader;
class IcnNameClient;

/**
 * @ingroup ferrocc
 *
 * A receiver's way from a name to a completed NDC: asks a name server which nodes hold the NDC,
 * chooses one, opens the receiver, leaves a replica that does not deliver (or is slow, or is not
 * wanted any more) for another one, and gives up by name. What has arrived is kept when the replica
 * changes; the congestion controller starts over.
 *
 * Set the attributes, SetReceiver(), SetNameServer() or SetTable(), then Start().
 */
class IcnSession : public Object
{
  public:
    /// What knows the nodes that hold an NDC without asking.
    using Table = Callback<std::vector<IcnLocator>, const IcnEid&>;

    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    IcnSession();
    ~IcnSession() override;

    /**
     * Sets the receiver, which has a node and an NDC when Configure() is called. The session opens
     * it.
     *
     * @param receiver The receiver.
     */
    void SetReceiver(Ptr<IcnReceiver> receiver);

    /**
     * Sets the name server, where the attribute Resolution says "server".
     *
     * @param server Its Ipv4Address or Ipv6Address.
     */
    void SetNameServer(const Address& server);

    /**
     * Sets what is looked up, where the attribute Resolution says "table", "address" or "edge".
     *
     * @param table The table.
     */
    void SetTable(Table table);

    /**
     * Makes the engines of the session and of its receiver; their attributes do not count any more
     * afterwards. Called by Start() if it was not called before.
     *
     * @throws std::exception (a rust::Error) whose text says what is wrong and what is accepted.
     */
    void Configure();

    /// Starts. A name or number that does not exist aborts the program with a message.
    void Start();

    /**
     * Changes to another replica. Nothing happens before the first one serves.
     *
     * @param replica Its Ipv4Address or Ipv6Address; an invalid address for the next of the list.
     */
    void SwitchTo(const Address& replica);

    /**
     * Tells that the node has moved: it has another address, and what was learnt about the path is
     * void. What has arrived stays.
     *
     * @param edge The address of the edge router that REQs go to from now on, where the attribute
     *             Resolution says "edge"; else an invalid address.
     */
    void NotifyMoved(const Address& edge);

    /// Gives the transfer up; nothing happens if it has ended.
    void Cancel();

    /**
     * @return The replica that REQs go to; an invalid address before there is one.
     */
    const Address& GetReplica() const;

    /**
     * @return How often the replica has been changed.
     */
    uint64_t GetSwitches() const;

    /**
     * @return Whether there has been a list of replicas.
     */
    bool IsResolved() const;

    /**
     * @return How long the first list took, once there was one.
     */
    Time GetResolveTime() const;

    /**
     * @return Why the transfer failed: "name-server-unreachable", "name-unknown", "no-replica" or
     *         "stalled"; empty if it did not.
     */
    const std::string& GetFailure() const;

    /**
     * Assigns a fixed stream number to the random variable of the session; the receiver has its
     * own.
     *
     * @param stream The first stream number.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * TracedCallback signature of a change of the replica.
     *
     * @param [in] replica Its address.
     */
    typedef void (*ReplicaTracedCallback)(const Address& replica);

    /**
     * TracedCallback signature of a failure.
     *
     * @param [in] failure Its name.
     */
    typedef void (*FailedTracedCallback)(const std::string& failure);

  protected:
    void DoDispose() override;

  private:
    /**
     * Does everything that follows from one event.
     *
     * @param step What the engine answered.
     */
    void Apply(const ferrocc::icn::SessionStep& step);

    /**
     * Sends REQs to another replica than before.
     *
     * @param replica Its address.
     */
    void UseReplica(const Address& replica);

    /// The transfer has ended: no timer, no socket.
    void Close();

    /// Looks the table up.
    void LookUp();

    /**
     * A datagram of the name server arrived.
     *
     * @param bytes Its bytes.
     */
    void OnMessage(const std::vector<uint8_t>& bytes);

    /**
     * DATA without payload arrived.
     *
     * @param header Its header.
     */
    void OnEmptyData(const IcnHeader& header);

    /**
     * The receiver's retransmission timer expired.
     *
     * @param before Expiries before.
     * @param now Expiries now.
     */
    void OnRto(uint64_t before, uint64_t now);

    /// Tells the engine of it, outside of the receiver's own event.
    void TellRto();

    /**
     * The receiver is complete.
     *
     * @param receiver It.
     */
    void OnCompleted(Ptr<IcnReceiver> receiver);

    /// The timer expired.
    void Expire();

    /**
     * @return A draw for the engine.
     */
    double Draw();

    struct Engine; //!< The session's engine.

    std::string m_resolution;       //!< Where the list of replicas comes from.
    std::string m_choice;           //!< How one is chosen.
    Time m_nameTimeout;             //!< Time until a request is repeated.
    uint32_t m_nameTries;           //!< How often it is sent.
    uint32_t m_switchAfterTimeouts; //!< Retransmission timeouts in a row.
    double m_switchBelow;           //!< Fraction of the best goodput.
    Time m_giveUp;                  //!< Time without progress until it has failed.

    Ptr<IcnReceiver> m_receiver;       //!< The receiver.
    Ptr<IcnNameClient> m_client;       //!< Exchanges datagrams with the name server.
    Address m_server;                  //!< The name server.
    Table m_table;                     //!< See SetTable.
    Ptr<UniformRandomVariable> m_draw; //!< For retries and random choice.
    std::unique_ptr<Engine> m_engine;  //!< See Engine.
    bool m_running;                    //!< Whether it has been started and has not ended.
    Address m_replica;                 //!< See GetReplica.
    std::string m_failure;             //!< See GetFailure.
    EventId m_timer;                   //!< The pending timer event.
    EventId m_rto;                     //!< The pending call of TellRto.

    TracedCallback<const Address&> m_replicaTrace;    //!< REQs go to another replica.
    TracedCallback<const std::string&> m_failedTrace; //!< The transfer has failed.
};

} // namespace ns3

#endif /* ICN_SESSION_H */
