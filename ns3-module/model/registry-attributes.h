// SPDX-License-Identifier: GPL-2.0-only

#ifndef REGISTRY_ATTRIBUTES_H
#define REGISTRY_ATTRIBUTES_H

#include "ns3/type-id.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup ferrocc
 *
 * Parameters of the algorithms of a registry as attributes of ns-3: they are made at run time from
 * what the registry says, so that a new algorithm needs no C++.
 */

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * A parameter of an algorithm.
 */
struct RegistryParameter
{
    /// What values it has.
    enum Kind
    {
        NUMBER,  //!< A DoubleValue.
        INTEGER, //!< A UintegerValue.
        FLAG,    //!< A BooleanValue.
        CHOICE,  //!< A StringValue, one of `choices`.
    };

    std::string name;                 //!< Its name in the registry, such as `target_ms`.
    std::string help;                 //!< What it is.
    Kind kind{NUMBER};                //!< What values it has.
    std::string defaultValue;         //!< Its default, as JSON.
    std::vector<std::string> choices; //!< The names to choose from.
};

/**
 * @ingroup ferrocc
 *
 * What an object whose class has such attributes keeps their values in. The class inherits from it
 * beside its own base.
 */
class RegistryParameters
{
  public:
    virtual ~RegistryParameters() = default;

    /**
     * @param name A parameter's name in the registry.
     * @param json Its new value, as JSON.
     */
    void SetParameter(const std::string& name, const std::string& json);

    /**
     * @param name A parameter's name in the registry.
     * @return Its value as JSON; empty if it was never set.
     */
    std::string GetParameter(const std::string& name) const;

    /**
     * @return All values that were set, as a JSON object.
     */
    std::string GetParameters() const;

  private:
    std::map<std::string, std::string> m_parameters; //!< The values as JSON, by name.
};

/**
 * Says whether a parameter (its name) may have a value (JSON).
 */
using RegistryCheck = std::function<bool(const std::string& name, const std::string& json)>;

/**
 * Adds an attribute for each parameter to a type, such as `TargetMs` for `target_ms`.
 *
 * @param tid The type; its class inherits from RegistryParameters.
 * @param parameters The parameters.
 * @param check Judges values.
 */
void AddRegistryAttributes(TypeId tid,
                           const std::vector<RegistryParameter>& parameters,
                           const RegistryCheck& check);

/**
 * @param name A name of the registry, such as `target_ms`.
 * @return The same as ns-3 writes it, `TargetMs`.
 */
std::string ToAttributeName(const std::string& name);

} // namespace ns3

#endif /* REGISTRY_ATTRIBUTES_H */
