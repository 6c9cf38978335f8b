// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_CATALOGUE_H
#define SCENARIO_CATALOGUE_H

#include "ns3/icn-eid.h"

#include <cstdint>
#include <memory>
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

class ScenarioReplicas;

/**
 * @ingroup ferrocc
 *
 * The NDCs of a workload, the most popular first, and their popularity. All replica nodes hold them
 * from the start, and the name server knows.
 */
class ScenarioCatalogue
{
  public:
    /**
     * Makes the NDCs and puts them on the replica nodes.
     *
     * @param spec What to run.
     * @param replicas The replica nodes.
     */
    ScenarioCatalogue(const ferrocc::scenario::RunSpec& spec, ScenarioReplicas& replicas);
    ~ScenarioCatalogue();

    ScenarioCatalogue(const ScenarioCatalogue&) = delete;
    ScenarioCatalogue& operator=(const ScenarioCatalogue&) = delete;

    /**
     * @param draw A uniform draw in [0, 1).
     * @return The rank of the NDC that it stands for, from 0.
     */
    uint32_t Choose(double draw) const;

    /**
     * @param rank An NDC's rank.
     * @return Its EID.
     */
    const IcnEid& GetEid(uint32_t rank) const;

    /**
     * @param rank An NDC's rank.
     * @return Its name, of which its EID is made where the content is virtual.
     */
    static std::string GetName(uint32_t rank);

    /**
     * @param spec What to run.
     * @param rank An NDC's rank.
     * @return The seed of its bytes, where they are real.
     */
    static uint64_t GetSeed(const ferrocc::scenario::RunSpec& spec, uint32_t rank);

  private:
    struct Popularity; //!< The distribution of the ranks.

    std::unique_ptr<Popularity> m_popularity; //!< See Popularity.
    std::vector<IcnEid> m_ndcs;               //!< By rank.
};

} // namespace ns3

#endif /* SCENARIO_CATALOGUE_H */
