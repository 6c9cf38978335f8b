// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_REPLICA_APPLICATION_H
#define ICN_REPLICA_APPLICATION_H

#include "icn-eid.h"

#include "ns3/address.h"
#include "ns3/application.h"
#include "ns3/data-rate.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-value.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ferrocc
{
namespace icn
{
struct RegistrarStep;
} // namespace icn

namespace transport
{
struct Replica;
} // namespace transport
} // namespace ferrocc

namespace ns3
{

class IcnHeader;
class IcnL4Protocol;
class IcnNameClient;
class NodeClock;
class Packet;

/**
 * @ingroup ferrocc
 *
 * Holds NDCs and answers REQs for them with DATA packets, at once and without any state per
 * transfer; a REQ for another NDC is answered by one empty DATA packet without a size. Where the
 * attribute NameServer is set, it registers its NDCs when it starts, keeps them registered, and
 * takes them from the server when it stops. It can fail, vanish, become slow, and be restored.
 */
class IcnReplicaApplication : public Application
{
  public:
    /// What a replica does with REQs.
    enum State : uint8_t
    {
        SERVING,  //!< Answers them.
        FAILED,   //!< Nothing, like a dead node.
        VANISHED, //!< Says that it does not hold the NDC.
    };

    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    IcnReplicaApplication();
    ~IcnReplicaApplication() override;

    /**
     * Adds an NDC of virtual bytes, which cost no memory.
     *
     * @param name Its name, from which its EID is made.
     * @param size Its size in bytes; zero for unlimited.
     * @return Its EID.
     */
    IcnEid AddVirtual(const std::string& name, uint64_t size);

    /**
     * Adds an NDC of real pseudo-random bytes, whose EID is the hash of its content.
     *
     * @param seed Seed of the bytes.
     * @param size Its size in bytes.
     * @return Its EID.
     * @throws std::exception if there is not enough memory for it.
     */
    IcnEid AddSynthetic(uint64_t seed, uint64_t size);

    /**
     * Tells that the engine has got another NDC, which is then registered. Without content, the
     * replica promises what it does not hold.
     *
     * @param ndc Its EID.
     */
    void NotifyAdded(const IcnEid& ndc);

    /**
     * Takes an NDC out, and from the name server. Who fetches it is told that it is not here.
     *
     * @param ndc Its EID.
     */
    void Remove(const IcnEid& ndc);

    /**
     * Takes an NDC out without a word to the name server, where its entry expires.
     *
     * @param ndc Its EID.
     */
    void Forget(const IcnEid& ndc);

    /// Tells that the node has another address: its NDCs are registered with that one. The entries
    /// of the old address expire.
    void NotifyAddressChange();

    /**
     * @return The engine, for what adds content to it.
     */
    ferrocc::transport::Replica& GetEngine();

    /// Falls silent without a word to the name server, whose entries expire.
    void Fail();

    /// Takes its NDCs from the name server and answers REQs with "not here".
    void Vanish();

    /**
     * Becomes slow.
     *
     * @param delay How much later each REQ is answered.
     * @param cap Rate of all DATA, with headers up to IP's; zero for no limit.
     */
    void Slow(Time delay, DataRate cap);

    /// Serves as at the start, after any of these.
    void Restore();

    /**
     * @return What it does with REQs.
     */
    State GetState() const;

    /**
     * @param ndc An NDC.
     * @return Whether it is registered, or would be if there was a name server.
     */
    bool Offers(const IcnEid& ndc) const;

    /**
     * @param ndc An NDC.
     * @return Whether it has been added, whatever the state.
     */
    bool Has(const IcnEid& ndc) const;

    /**
     * @return REQs so far that were answered with DATA.
     */
    uint64_t GetAnswered() const;

    /**
     * @return How often the name server has confirmed a registration.
     */
    uint64_t GetRegistered() const;

    /**
     * Assigns a fixed stream number to the random variable.
     *
     * @param stream The stream number.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * Answers a REQ; called by the L4 protocol.
     *
     * @param header The REQ's header.
     * @param source Who asks.
     * @param local The address to answer from, which is the one that was asked; an invalid one for
     *              that of the outgoing interface.
     */
    void OnRequest(const IcnHeader& header, const Address& source, const Address& local);

    /**
     * @return REQs so far that were not valid.
     */
    uint64_t GetMalformed() const;

    /**
     * @return REQs so far for an NDC that is not here.
     */
    uint64_t GetUnknown() const;

  protected:
    void DoDispose() override;

  private:
    void StartApplication() override;
    void StopApplication() override;

    struct Engine; //!< The replica's engines.

    /// Places of NDCs in a list.
    using Places = std::unordered_map<IcnEid, std::size_t, IcnEidHash>;

    /**
     * Takes an NDC out of the replica's own list.
     *
     * @param ndc Its EID.
     * @return Whether it was there.
     */
    bool Unlist(const IcnEid& ndc);

    /**
     * Answers a REQ, when its time of service has passed.
     *
     * @param header The REQ's header.
     * @param source Who asks.
     * @param local The address to answer from.
     */
    void Answer(const IcnHeader& header, const Address& source, const Address& local);

    /**
     * Sends a DATA packet, behind those that the rate cap holds back.
     *
     * @param packet The packet.
     * @param destination Who asked.
     * @param dscp Its DS codepoint.
     * @param local The address to send from.
     */
    void SendData(Ptr<Packet> packet,
                  const Address& destination,
                  uint8_t dscp,
                  const Address& local);

    /**
     * Sends a DATA packet unless the replica has failed since.
     *
     * @param packet The packet.
     * @param destination Who asked.
     * @param dscp Its DS codepoint.
     * @param local The address to send from.
     */
    void Depart(Ptr<Packet> packet, const Address& destination, uint8_t dscp, const Address& local);

    /// Registers all NDCs, if there is a name server.
    void RegisterAll();

    /// Stops registering, without a word to the name server.
    void StopRegistering();

    /**
     * Does what the registrar says.
     *
     * @param step What it answered.
     */
    void Apply(const ferrocc::icn::RegistrarStep& step);

    /**
     * A datagram of the name server arrived.
     *
     * @param bytes Its bytes.
     */
    void OnMessage(const std::vector<uint8_t>& bytes);

    /// The registrar's timer expired.
    void Expire();

    /**
     * @return A draw for the registrar.
     */
    double Draw();

    std::unique_ptr<Engine> m_engine;  //!< See Engine.
    Ptr<IcnL4Protocol> m_protocol;     //!< What sends, while the application runs.
    Ptr<IcnNameClient> m_client;       //!< Exchanges datagrams with the name server.
    Ptr<UniformRandomVariable> m_draw; //!< For the registrar's retries.
    std::vector<IcnEid> m_names;       //!< What is here.
    Places m_places;                   //!< Where each stands in m_names.
    EventId m_timer;                   //!< The registrar's timer.

    Ptr<NodeClock> m_clock;       //!< The node's clock, or null if that is exact.
    uint8_t m_dscp;               //!< Codepoint of expedited DATA.
    Address m_nameServer;         //!< Where to register, or an invalid address.
    uint16_t m_cost;              //!< The cost to register.
    Time m_lifetime;              //!< For how long to register.
    Time m_nameTimeout;           //!< Time until a request to the name server is repeated.
    uint32_t m_nameTries;         //!< How often it is sent.
    Time m_serviceDelay;          //!< How much later REQs are answered.
    DataRate m_rateCap;           //!< Rate of all DATA; zero for no limit.
    uint32_t m_queueLimit;        //!< DATA packets that the cap may hold back.
    Time m_departure;             //!< When the last packet that the cap holds back has left.
    uint32_t m_queued;            //!< Packets that it holds back.
    uint64_t m_malformed;         //!< REQs that were not valid.
    uint64_t m_unknown;           //!< REQs for an NDC that is not here.
    uint64_t m_answered;          //!< REQs answered with DATA.
    uint64_t m_registered;        //!< Confirmed registrations.
    TracedValue<uint8_t> m_state; //!< See State.
};

} // namespace ns3

#endif /* ICN_REPLICA_APPLICATION_H */
