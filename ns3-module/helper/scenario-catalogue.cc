// SPDX-License-Identifier: GPL-2.0-only

#include "scenario-catalogue.h"

#include "ferrocc-ffi/src/scenario.rs.h"
#include "ferrocc-ffi/src/workload.rs.h"
#include "scenario-replicas.h"

namespace ns3
{

/// The distribution; its type is known to this file only.
struct ScenarioCatalogue::Popularity
{
    rust::Box<ferrocc::workload::Catalogue> ranks; //!< It.
};

ScenarioCatalogue::ScenarioCatalogue(const ferrocc::scenario::RunSpec& spec,
                                     ScenarioReplicas& replicas)
    : m_popularity(std::make_unique<Popularity>(Popularity{
          ferrocc::workload::new_catalogue(spec.workload.catalogue, spec.workload.alpha)}))
{
    m_ndcs.reserve(spec.workload.catalogue);
    for (uint32_t rank = 0; rank < spec.workload.catalogue; rank++)
    {
        m_ndcs.push_back(
            replicas.Provide(GetName(rank), GetSeed(spec, rank), spec.workload.ndc_bytes));
    }
}

ScenarioCatalogue::~ScenarioCatalogue() = default;

uint32_t
ScenarioCatalogue::Choose(double draw) const
{
    return m_popularity->ranks->rank(draw);
}

const IcnEid&
ScenarioCatalogue::GetEid(uint32_t rank) const
{
    return m_ndcs.at(rank);
}

std::string
ScenarioCatalogue::GetName(uint32_t rank)
{
    return "catalogue NDC " + std::to_string(rank + 1);
}

uint64_t
ScenarioCatalogue::GetSeed(const ferrocc::scenario::RunSpec& spec, uint32_t rank)
{
    return (spec.run << 32) + rank;
}

} // namespace ns3
