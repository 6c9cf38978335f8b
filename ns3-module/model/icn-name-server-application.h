// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_NAME_SERVER_APPLICATION_H
#define ICN_NAME_SERVER_APPLICATION_H

#include "icn-eid.h"

#include "ns3/address.h"
#include "ns3/application.h"
#include "ns3/nstime.h"
#include "ns3/traced-value.h"

#include <map>
#include <memory>
#include <vector>

namespace ns3
{

class Packet;
class Socket;

/**
 * @ingroup ferrocc
 *
 * A name server: knows which nodes hold an NDC, because they register it, and tells receivers. It
 * listens on a UDP port, over IPv4 and IPv6 as far as its node has them. Requests are served one
 * after the other, each for the attribute ProcessingTime.
 */
class IcnNameServerApplication : public Application
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    IcnNameServerApplication();
    ~IcnNameServerApplication() override;

    /**
     * Enters a registration that has been there all along and never expires, without a message;
     * also before the application starts.
     *
     * @param ndc The NDC.
     * @param address The address of a node that holds it.
     * @param cost Its cost: less is nearer.
     */
    void Provision(const IcnEid& ndc, const Address& address, uint16_t cost);

    /// Makes the server deaf and dumb; its table stays. Nothing happens if it is already.
    void Fail();

    /// Makes it serve again.
    void Restore();

    /**
     * @param ndc An NDC.
     * @return How many nodes are registered for it now.
     */
    uint32_t GetNReplicas(const IcnEid& ndc) const;

    /**
     * @return Queries so far, answered or not.
     */
    uint64_t GetQueries() const;

    /**
     * @return Registrations so far that were taken, refreshes among them.
     */
    uint64_t GetRegistrations() const;

    /**
     * @return Datagrams so far that were no valid request.
     */
    uint64_t GetMalformed() const;

  protected:
    void DoDispose() override;

  private:
    void StartApplication() override;
    void StopApplication() override;

    /**
     * Takes what has arrived.
     *
     * @param socket The socket.
     */
    void Receive(Ptr<Socket> socket);

    /**
     * Serves a request.
     *
     * @param socket The socket that it came from.
     * @param packet The datagram.
     * @param from Who sent it.
     */
    void Serve(Ptr<Socket> socket, Ptr<Packet> packet, const Address& from);

    struct Engine; //!< The server's engine.

    /// Where a subscriber's datagrams come from and go to.
    struct Subscriber
    {
        Ptr<Socket> socket; //!< The socket of its IP version.
        Address address;    //!< Its address and port.
    };

    /// Subscribers by their addresses.
    using Subscribers = std::map<Address, Subscriber>;

    /// A registration that never expires.
    struct Provisioned
    {
        IcnEid ndc;      //!< The NDC.
        Address address; //!< Where it is.
        uint16_t cost;   //!< Its cost.
    };

    Time m_processingTime;  //!< Service time of a request.
    Time m_maxLifetime;     //!< Longest lifetime of a registration.
    uint32_t m_maxReplicas; //!< Most replicas of an NDC.
    uint32_t m_maxNames;    //!< Most NDCs.

    std::vector<Provisioned> m_provisioned; //!< See Provision.
    std::unique_ptr<Engine> m_engine;       //!< See Engine; while the application runs.
    std::vector<Ptr<Socket>> m_sockets;     //!< For IPv4 and IPv6.
    Subscribers m_subscribers;              //!< Where announcements go.
    Time m_busyUntil;                       //!< When the last request in the queue is served.
    bool m_failed;                          //!< Whether it is deaf and dumb.

    TracedValue<uint64_t> m_queries;       //!< Queries so far.
    TracedValue<uint64_t> m_registrations; //!< Registrations so far.
    TracedValue<uint64_t> m_malformed;     //!< Invalid datagrams so far.
};

} // namespace ns3

#endif /* ICN_NAME_SERVER_APPLICATION_H */
