// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_REPLICAS_H
#define SCENARIO_REPLICAS_H

#include "ns3/icn-eid.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferrocc
{
namespace scenario
{
struct RunSpec;
} // namespace scenario
} // namespace ferrocc

namespace ns3
{

class IcnReplicaApplication;
class ScenarioNetwork;

/**
 * @ingroup ferrocc
 *
 * The replicas of a scenario and their content.
 */
class ScenarioReplicas
{
  public:
    /**
     * Puts a replica on each replica node.
     *
     * @param spec What to run.
     * @param network The network.
     */
    ScenarioReplicas(const ferrocc::scenario::RunSpec& spec, const ScenarioNetwork& network);
    ~ScenarioReplicas();

    ScenarioReplicas(const ScenarioReplicas&) = delete;
    ScenarioReplicas& operator=(const ScenarioReplicas&) = delete;

    /**
     * Adds content.
     *
     * @param replica Number of the replica that holds it, from 0.
     * @param name Its name, unique.
     * @param seed Seed of its bytes, if they are real.
     * @param size Its size, bytes; zero for unlimited.
     * @return Its EID.
     */
    IcnEid AddNdc(uint32_t replica, const std::string& name, uint64_t seed, uint64_t size);

  private:
    bool m_verify;                                      //!< Whether content is real.
    std::vector<Ptr<IcnReplicaApplication>> m_replicas; //!< The replicas.
};

} // namespace ns3

#endif /* SCENARIO_REPLICAS_H */
