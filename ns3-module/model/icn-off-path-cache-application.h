// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_OFF_PATH_CACHE_APPLICATION_H
#define ICN_OFF_PATH_CACHE_APPLICATION_H

#include "icn-eid.h"

#include "ns3/address.h"
#include "ns3/application.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ferrocc
{
namespace router
{
struct SubscriberStep;
} // namespace router
} // namespace ferrocc

namespace ns3
{

class IcnL4Protocol;
class IcnNameClient;
class IcnReceiver;
class IcnRouterCacheApplication;
class IcnSession;
class Packet;

/**
 * @ingroup ferrocc
 *
 * Fills the cache of a node that no transfer passes: subscribes to the name server's announcements
 * of NDCs that are asked for, decides by a placement which of them to fetch, and fetches these with
 * receivers of its own, whose DATA goes to the node's IcnRouterCacheApplication as if it were
 * forwarded. That application keeps all that is complete (placement lce) and registers it.
 */
class IcnOffPathCacheApplication : public Application
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    IcnOffPathCacheApplication();
    ~IcnOffPathCacheApplication() override;

    /**
     * Sets the cache, on the same node, which starts before this application.
     *
     * @param cache The cache.
     */
    void SetCache(Ptr<IcnRouterCacheApplication> cache);

    /**
     * @return Announcements that came.
     */
    uint64_t GetAnnounced() const;

    /**
     * @return NDCs that were not fetched: by the placement, or because too many waited.
     */
    uint64_t GetDeclined() const;

    /**
     * @return Fetches that ended with the whole NDC.
     */
    uint64_t GetFetched() const;

    /**
     * @return Fetches that failed.
     */
    uint64_t GetFailed() const;

    /**
     * Assigns fixed stream numbers to the random variables.
     *
     * @param stream The first stream number.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * TracedCallback signature of the end of a fetch.
     *
     * @param [in] ndc The NDC.
     * @param [in] failure The name of the failure; empty if there was none.
     */
    typedef void (*FetchedTracedCallback)(const IcnEid& ndc, const std::string& failure);

  protected:
    void DoDispose() override;

  private:
    void StartApplication() override;
    void StopApplication() override;

    /// A fetch.
    struct Fetch
    {
        Ptr<IcnReceiver> receiver; //!< The receiver.
        Ptr<IcnSession> session;   //!< Its session.
    };

    /**
     * Sends datagrams, begins fetches, sets the timer.
     *
     * @param step What the engine answered.
     */
    void Apply(const ferrocc::router::SubscriberStep& step);

    /**
     * Begins a fetch.
     *
     * @param ndc The NDC.
     */
    void Begin(const IcnEid& ndc);

    /**
     * DATA came for a receiver of this node.
     *
     * @param packet The packet, with its ICN header.
     * @param hopLimit Its hop limit.
     */
    void OnData(Ptr<const Packet> packet, uint8_t hopLimit);

    /**
     * A receiver has all.
     *
     * @param receiver It.
     */
    void OnCompleted(Ptr<IcnReceiver> receiver);

    /// Looks which fetches have failed.
    void OnFailed(const std::string& failure);

    /// Lets go of the fetches that have ended.
    void Clear();

    /**
     * A datagram of the name server arrived.
     *
     * @param bytes Its bytes.
     */
    void OnMessage(const std::vector<uint8_t>& bytes);

    /// The engine's timer expired.
    void Expire();

    /**
     * @return A draw for the engine.
     */
    double Draw();

    struct Engine; //!< The subscriber.

    Address m_nameServer;           //!< The name server.
    std::string m_placement;        //!< Which NDCs are fetched.
    double m_probability;           //!< Probability of a fetch.
    std::string m_controller;       //!< The receivers' controller.
    std::string m_controllerParams; //!< Its parameters.
    std::string m_options;          //!< The receivers' transport options.
    std::string m_choice;           //!< How they choose a source.
    Time m_lifetime;                //!< For how long to subscribe.
    Time m_nameTimeout;             //!< Time until a request is repeated.
    uint32_t m_nameTries;           //!< How often it is sent.
    uint32_t m_maxFetches;          //!< Most fetches at once.
    uint32_t m_maxWaiting;          //!< Most NDCs that wait.
    bool m_verify;                  //!< Whether payload is real.

    std::unique_ptr<Engine> m_engine;       //!< See Engine; while the application runs.
    Ptr<IcnRouterCacheApplication> m_cache; //!< What keeps what is fetched.
    Ptr<IcnL4Protocol> m_protocol;          //!< The node's.
    Ptr<IcnNameClient> m_client;            //!< Exchanges datagrams with the name server.
    Ptr<UniformRandomVariable> m_draw;      //!< For the placement and retries.
    EventId m_timer;                        //!< The pending timer event.
    EventId m_clear;                        //!< The pending call of Clear.
    int64_t m_stream;                       //!< The next stream for receivers; negative for none.
    uint64_t m_announced;                   //!< Announcements.
    uint64_t m_declined;                    //!< NDCs that were not fetched.
    uint64_t m_fetched;                     //!< Fetches that ended well.
    uint64_t m_failed;                      //!< Fetches that failed.

    /// Fetches under way.
    std::unordered_map<IcnEid, Fetch, IcnEidHash> m_fetches;
    std::vector<Fetch> m_ended; //!< Those that have ended, in the middle of their own events.

    TracedCallback<const IcnEid&, const std::string&> m_fetchedTrace; //!< A fetch has ended.
};

} // namespace ns3

#endif /* ICN_OFF_PATH_CACHE_APPLICATION_H */
