// SPDX-License-Identifier: GPL-2.0-only

#ifndef ICN_REPLICA_APPLICATION_H
#define ICN_REPLICA_APPLICATION_H

#include "icn-eid.h"

#include "ns3/application.h"
#include "ns3/ipv4-address.h"

#include <memory>
#include <string>

namespace ns3
{

class IcnHeader;
class IcnL4Protocol;
class NodeClock;
class Packet;

/**
 * @ingroup ferrocc
 *
 * Holds NDCs and answers REQs for them with DATA packets, at once and without any state per
 * transfer. Content is added before the simulation starts.
 */
class IcnReplicaApplication : public Application
{
  public:
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
     * Answers a REQ; called by the L4 protocol.
     *
     * @param header The REQ's header.
     * @param source Who asks.
     */
    void OnRequest(const IcnHeader& header, Ipv4Address source);

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

    struct Engine;                    //!< The replica's engine.
    std::unique_ptr<Engine> m_engine; //!< See Engine.
    Ptr<IcnL4Protocol> m_protocol;    //!< What sends, while the application runs.
    Ptr<NodeClock> m_clock;           //!< The node's clock, or null if that is exact.
    uint8_t m_dscp;                   //!< Codepoint of expedited DATA.
    uint64_t m_malformed;             //!< REQs that were not valid.
    uint64_t m_unknown;               //!< REQs for an NDC that is not here.
};

} // namespace ns3

#endif /* ICN_REPLICA_APPLICATION_H */
