// SPDX-License-Identifier: GPL-2.0-only

#include "registry-attributes.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/object-base.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cctype>
#include <iomanip>
#include <limits>
#include <memory>
#include <sstream>

namespace ns3
{

namespace
{

/**
 * @param parameter A parameter.
 * @return A value of its attribute, without content.
 */
Ptr<AttributeValue>
CreateValue(const RegistryParameter& parameter)
{
    switch (parameter.kind)
    {
    case RegistryParameter::INTEGER:
        return Create<UintegerValue>();
    case RegistryParameter::FLAG:
        return Create<BooleanValue>();
    case RegistryParameter::CHOICE:
        return Create<StringValue>();
    case RegistryParameter::NUMBER:
        break;
    }
    return Create<DoubleValue>();
}

/**
 * @param parameter A parameter.
 * @param value A value of its attribute.
 * @return The value as JSON; empty if it is of another type.
 */
std::string
ToJson(const RegistryParameter& parameter, const AttributeValue& value)
{
    if (parameter.kind == RegistryParameter::NUMBER)
    {
        if (const auto number = dynamic_cast<const DoubleValue*>(&value))
        {
            std::ostringstream text;
            text << std::setprecision(std::numeric_limits<double>::max_digits10) << number->Get();
            return text.str();
        }
    }
    else if (parameter.kind == RegistryParameter::INTEGER)
    {
        if (const auto number = dynamic_cast<const UintegerValue*>(&value))
        {
            return std::to_string(number->Get());
        }
    }
    else if (parameter.kind == RegistryParameter::FLAG)
    {
        if (const auto flag = dynamic_cast<const BooleanValue*>(&value))
        {
            return flag->Get() ? "true" : "false";
        }
    }
    else if (const auto choice = dynamic_cast<const StringValue*>(&value))
    {
        const auto& names = parameter.choices;
        if (std::find(names.begin(), names.end(), choice->Get()) != names.end())
        {
            return '"' + choice->Get() + '"';
        }
    }
    return {};
}

/**
 * Sets a value of a parameter's attribute.
 *
 * @param parameter The parameter.
 * @param json The new content, as the parameter's own JSON.
 * @param value The value.
 * @return Whether it is of the parameter's type.
 */
bool
FromJson(const RegistryParameter& parameter, const std::string& json, AttributeValue& value)
{
    if (parameter.kind == RegistryParameter::NUMBER)
    {
        const auto number = dynamic_cast<DoubleValue*>(&value);
        return number && (number->Set(std::stod(json)), true);
    }
    if (parameter.kind == RegistryParameter::INTEGER)
    {
        const auto number = dynamic_cast<UintegerValue*>(&value);
        return number && (number->Set(std::stoull(json)), true);
    }
    if (parameter.kind == RegistryParameter::FLAG)
    {
        const auto flag = dynamic_cast<BooleanValue*>(&value);
        return flag && (flag->Set(json == "true"), true);
    }
    const auto choice = dynamic_cast<StringValue*>(&value);
    // Without its quotes; names of the registry have nothing to escape.
    return choice && (choice->Set(json.substr(1, json.size() - 2)), true);
}

/// The accessor of a parameter's attribute.
class ParameterAccessor : public AttributeAccessor
{
  public:
    /// @param parameter The parameter.
    explicit ParameterAccessor(RegistryParameter parameter)
        : m_parameter(std::move(parameter))
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        const auto holder = dynamic_cast<RegistryParameters*>(object);
        const std::string json = ToJson(m_parameter, value);
        if (!holder || json.empty())
        {
            return false;
        }
        holder->SetParameter(m_parameter.name, json);
        return true;
    }

    bool Get(const ObjectBase* object, AttributeValue& attribute) const override
    {
        const auto holder = dynamic_cast<const RegistryParameters*>(object);
        if (!holder)
        {
            return false;
        }
        const std::string json = holder->GetParameter(m_parameter.name);
        return FromJson(m_parameter, json.empty() ? m_parameter.defaultValue : json, attribute);
    }

    bool HasGetter() const override
    {
        return true;
    }

    bool HasSetter() const override
    {
        return true;
    }

  private:
    RegistryParameter m_parameter; //!< The parameter.
};

/// The checker of a parameter's attribute.
class ParameterChecker : public AttributeChecker
{
  public:
    /**
     * @param parameter The parameter.
     * @param check Judges values.
     */
    ParameterChecker(RegistryParameter parameter, RegistryCheck check)
        : m_parameter(std::move(parameter)),
          m_check(std::move(check))
    {
    }

    bool Check(const AttributeValue& value) const override
    {
        const std::string json = ToJson(m_parameter, value);
        return !json.empty() && m_check(m_parameter.name, json);
    }

    std::string GetValueTypeName() const override
    {
        switch (m_parameter.kind)
        {
        case RegistryParameter::INTEGER:
            return "ns3::UintegerValue";
        case RegistryParameter::FLAG:
            return "ns3::BooleanValue";
        case RegistryParameter::CHOICE:
            return "ns3::StringValue";
        case RegistryParameter::NUMBER:
            break;
        }
        return "ns3::DoubleValue";
    }

    bool HasUnderlyingTypeInformation() const override
    {
        return m_parameter.kind == RegistryParameter::CHOICE;
    }

    std::string GetUnderlyingTypeInformation() const override
    {
        std::string names;
        for (const auto& name : m_parameter.choices)
        {
            names += (names.empty() ? "" : "|") + name;
        }
        return names;
    }

    Ptr<AttributeValue> Create() const override
    {
        return CreateValue(m_parameter);
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        const std::string json = ToJson(m_parameter, source);
        return !json.empty() && FromJson(m_parameter, json, destination);
    }

  private:
    RegistryParameter m_parameter; //!< The parameter.
    RegistryCheck m_check;         //!< Judges values.
};

} // namespace

void
RegistryParameters::SetParameter(const std::string& name, const std::string& json)
{
    m_parameters[name] = json;
}

std::string
RegistryParameters::GetParameter(const std::string& name) const
{
    const auto found = m_parameters.find(name);
    return found == m_parameters.end() ? std::string() : found->second;
}

std::string
RegistryParameters::GetParameters() const
{
    std::string object;
    for (const auto& [name, json] : m_parameters)
    {
        object += (object.empty() ? "{\"" : ", \"") + name + "\": " + json;
    }
    return object.empty() ? "{}" : object + '}';
}

void
AddRegistryAttributes(TypeId tid,
                      const std::vector<RegistryParameter>& parameters,
                      const RegistryCheck& check)
{
    for (const auto& parameter : parameters)
    {
        const Ptr<AttributeValue> initial = CreateValue(parameter);
        NS_ABORT_MSG_UNLESS(FromJson(parameter, parameter.defaultValue, *initial),
                            "the default of " << parameter.name);
        tid.AddAttribute(ToAttributeName(parameter.name),
                         parameter.help,
                         *initial,
                         Create<ParameterAccessor>(parameter),
                         Create<ParameterChecker>(parameter, check));
    }
}

std::string
ToAttributeName(const std::string& name)
{
    std::string camel;
    bool upper = true;
    for (const char c : name)
    {
        if (c == '_' || c == '-')
        {
            upper = true;
            continue;
        }
        camel += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        upper = false;
    }
    return camel;
}

} // namespace ns3
