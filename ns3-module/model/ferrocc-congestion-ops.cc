// SPDX-License-Identifier: GPL-2.0-only

#include "ferrocc-congestion-ops.h"

#include "ferrocc-ffi/src/tcp.rs.h"
#include "ns3-compat.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FerroccCongestionOps");

namespace
{

namespace bridge = ferrocc::tcp;

/// How many controllers the registry may have; each needs an own C++ type for its constructor.
constexpr std::size_t MAX_ROWS = 32;

/// "None" among thresholds.
constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();

/// Headers of a segment without options over IPv4, bytes.
constexpr uint32_t HEADER_BYTES = 40;

/**
 * @return The controllers.
 */
const rust::Vec<bridge::Row>&
Rows()
{
    static const rust::Vec<bridge::Row> rows = bridge::rows();
    return rows;
}

/**
 * @param value A number.
 * @return It as JSON, exactly.
 */
std::string
ToText(double value)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%.17g", value);
    return text;
}

/// Reads and writes one parameter of a controller as an attribute.
class ParameterAccessor : public AttributeAccessor
{
  public:
    /**
     * @param index The parameter's number.
     */
    explicit ParameterAccessor(std::size_t index)
        : m_index(index)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        auto ops = dynamic_cast<FerroccCongestionOps*>(object);
        if (!ops)
        {
            return false;
        }
        if (auto number = dynamic_cast<const DoubleValue*>(&value))
        {
            return ops->SetParameter(m_index, ToText(number->Get()));
        }
        if (auto flag = dynamic_cast<const BooleanValue*>(&value))
        {
            return ops->SetParameter(m_index, flag->Get() ? "true" : "false");
        }
        auto text = dynamic_cast<const StringValue*>(&value);
        return text && ops->SetParameter(m_index, text->Get());
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        auto ops = dynamic_cast<const FerroccCongestionOps*>(object);
        if (!ops)
        {
            return false;
        }
        const std::string text = ops->GetParameter(m_index);
        if (auto number = dynamic_cast<DoubleValue*>(&value))
        {
            number->Set(std::stod(text));
        }
        else if (auto flag = dynamic_cast<BooleanValue*>(&value))
        {
            flag->Set(text == "true");
        }
        else if (auto string = dynamic_cast<StringValue*>(&value))
        {
            string->Set(text);
        }
        else
        {
            return false;
        }
        return true;
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
    std::size_t m_index; //!< The parameter's number.
};

/// A controller's C++ type. @tparam I Its number in the registry.
template <std::size_t I>
class Row final : public FerroccCongestionOps
{
  public:
    Row()
        : FerroccCongestionOps(I)
    {
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<Row<I>>(this);
    }
};

/**
 * Adds a parameter to a TypeId.
 *
 * @param tid The TypeId.
 * @param parameter The parameter.
 * @param index Its number.
 */
void
AddParameter(TypeId tid, const bridge::Parameter& parameter, std::size_t index)
{
    const std::string name(parameter.attribute);
    const std::string initial(parameter.initial);
    const std::string help = "Parameter " + std::string(parameter.name) + " of the controller.";
    const Ptr<const AttributeAccessor> accessor = Create<ParameterAccessor>(index);
    switch (parameter.kind)
    {
    case bridge::ParameterKind::Number:
        tid.AddAttribute(name,
                         help,
                         DoubleValue(std::stod(initial)),
                         accessor,
                         MakeDoubleChecker<double>());
        break;
    case bridge::ParameterKind::Flag:
        tid.AddAttribute(name,
                         help,
                         BooleanValue(initial == "true"),
                         accessor,
                         MakeBooleanChecker());
        break;
    default:
        tid.AddAttribute(name, help, StringValue(initial), accessor, MakeStringChecker());
        break;
    }
}

/**
 * Registers a controller, if there are so many. @tparam I Its number in the registry.
 *
 * @return Its TypeId, if there is one.
 */
template <std::size_t I>
std::optional<TypeId>
Register()
{
    if (I >= Rows().size())
    {
        return std::nullopt;
    }
    const auto& row = Rows()[I];
    TypeId tid("ns3::Ferrocc" + std::string(row.type_name));
    tid.SetParent<FerroccCongestionOps>();
    tid.SetGroupName("Ferrocc");
    tid.template AddConstructor<Row<I>>();
    for (std::size_t i = 0; i < row.parameters.size(); i++)
    {
        AddParameter(tid, row.parameters[i], i);
    }
    return tid;
}

/// @tparam I The numbers of rows. @return The TypeIds of all controllers.
template <std::size_t... I>
std::array<std::optional<TypeId>, sizeof...(I)>
RegisterAll(std::index_sequence<I...> /* rows */)
{
    NS_ABORT_MSG_IF(Rows().size() > MAX_ROWS, "more controllers than MAX_ROWS");
    return {Register<I>()...};
}

/**
 * @return The TypeIds of all controllers, in the registry's order.
 */
const std::array<std::optional<TypeId>, MAX_ROWS>&
Types()
{
    static const auto types = RegisterAll(std::make_index_sequence<MAX_ROWS>());
    return types;
}

/// Makes the TypeIds when the library is loaded.
const bool g_registered = Types().front().has_value();

/**
 * @param tcb A socket's state.
 * @return The same for Rust.
 */
bridge::SocketState
ToState(const Ptr<const TcpSocketState>& tcb)
{
    const auto ns = [](const Time& time) {
        return static_cast<uint64_t>(std::max<int64_t>(time.GetNanoSeconds(), 0));
    };
    return {ns(Simulator::Now()),
            tcb->m_lastAckedSeq.GetValue(),
            tcb->m_highTxMark.Get().GetValue(),
            tcb->m_bytesInFlight.Get(),
            ns(tcb->m_lastRtt.Get()),
            ns(compat::SmoothedRtt(*tcb))};
}

} // namespace

/// The controller's row, its parameters, and, once there is something to control, itself.
struct FerroccCongestionOps::Impl
{
    std::string parameters;                        //!< A JSON object, or empty.
    std::optional<rust::Box<bridge::Hooks>> hooks; //!< The controller.

    /**
     * Makes the controller, if that has not been done.
     *
     * @param ops To whom it belongs.
     * @param tcb The socket's state.
     * @return The controller.
     */
    bridge::Hooks& Get(const FerroccCongestionOps& ops, const Ptr<const TcpSocketState>& tcb);

    /**
     * Does what the controller wants.
     *
     * @param ops To whom it belongs.
     * @param tcb The socket's state.
     * @param verdict What the controller wants.
     */
    static void Apply(FerroccCongestionOps& ops,
                      const Ptr<TcpSocketState>& tcb,
                      const bridge::Verdict& verdict);
};

bridge::Hooks&
FerroccCongestionOps::Impl::Get(const FerroccCongestionOps& ops,
                                const Ptr<const TcpSocketState>& tcb)
{
    if (!hooks)
    {
        auto uniform = CreateObject<UniformRandomVariable>();
        uniform->SetStream(ops.m_stream);
        bridge::HooksConfig config;
        config.controller = Rows()[ops.m_row].name;
        config.params = parameters;
        config.mss_bytes = tcb->m_segmentSize;
        config.packet_bytes = tcb->m_segmentSize + HEADER_BYTES;
        config.initial_window = std::max<uint32_t>(tcb->m_initialCWnd, 1);
        config.draw = uniform->GetValue(0.0, 1.0);
        try
        {
            hooks.emplace(bridge::new_hooks(config));
        }
        catch (const std::exception& error)
        {
            NS_FATAL_ERROR(ops.GetName() << ": " << error.what());
        }
    }
    return **hooks;
}

void
FerroccCongestionOps::Impl::Apply(FerroccCongestionOps& ops,
                                  const Ptr<TcpSocketState>& tcb,
                                  const bridge::Verdict& verdict)
{
    tcb->m_cWnd = std::max(verdict.window_bytes, tcb->m_segmentSize);
    if (verdict.ssthresh_bytes != NONE)
    {
        tcb->m_ssThresh = verdict.ssthresh_bytes;
    }
    if (verdict.pacing_bps > 0)
    {
        ops.m_paces = true;
        tcb->m_pacing = true;
        tcb->m_pacingRate = std::min(DataRate(verdict.pacing_bps), tcb->m_maxPacingRate);
    }
    else if (ops.m_paces)
    {
        ops.m_paces = false;
        tcb->m_pacing = false;
    }
}

NS_OBJECT_ENSURE_REGISTERED(FerroccCongestionOps);

TypeId
FerroccCongestionOps::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FerroccCongestionOps").SetParent<TcpCongestionOps>().SetGroupName("Ferrocc");
    return tid;
}

TypeId
FerroccCongestionOps::FindType(const std::string& controller)
{
    for (std::size_t i = 0; i < Rows().size(); i++)
    {
        if (Rows()[i].name == controller)
        {
            return Types()[i].value();
        }
    }
    throw std::invalid_argument("there is no controller " + controller);
}

FerroccCongestionOps::FerroccCongestionOps(std::size_t row)
    : m_row(row),
      m_impl(std::make_unique<Impl>())
{
}

FerroccCongestionOps::FerroccCongestionOps(const FerroccCongestionOps& other)
    : TcpCongestionOps(other),
      m_row(other.m_row),
      m_stream(other.m_stream),
      m_paces(other.m_paces),
      m_impl(std::make_unique<Impl>())
{
    m_impl->parameters = other.m_impl->parameters;
    if (other.m_impl->hooks)
    {
        m_impl->hooks.emplace((*other.m_impl->hooks)->duplicate());
    }
}

FerroccCongestionOps::~FerroccCongestionOps() = default;

void
FerroccCongestionOps::SetParameters(const std::string& parameters)
{
    m_impl->parameters = parameters;
}

bool
FerroccCongestionOps::SetParameter(std::size_t index, const std::string& value)
{
    const auto& row = Rows()[m_row];
    const auto& parameter = row.parameters[index];
    try
    {
        std::string changed(bridge::with_parameter(row.name,
                                                   m_impl->parameters,
                                                   parameter.name,
                                                   parameter.kind,
                                                   value));
        m_impl->parameters = std::move(changed);
        return true;
    }
    catch (const std::exception& error)
    {
        NS_LOG_ERROR(GetName() << ": " << error.what());
        return false;
    }
}

std::string
FerroccCongestionOps::GetParameter(std::size_t index) const
{
    const auto& row = Rows()[m_row];
    return std::string(bridge::parameter(row.name, m_impl->parameters, row.parameters[index].name));
}

int64_t
FerroccCongestionOps::AssignStreams(int64_t stream)
{
    m_stream = stream;
    return 1;
}

std::string
FerroccCongestionOps::GetName() const
{
    return "Ferrocc" + std::string(Rows()[m_row].type_name);
}

uint32_t
FerroccCongestionOps::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight)
{
    NS_LOG_FUNCTION(this << tcb << bytesInFlight);
    auto state = ToState(tcb);
    state.in_flight_bytes = bytesInFlight;
    const bool echo = tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD;
    return std::max(m_impl->Get(*this, tcb).threshold(state, echo), 2 * tcb->m_segmentSize);
}

void
FerroccCongestionOps::IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked)
{
    NS_LOG_FUNCTION(this << tcb << segmentsAcked);
    if (!HasCongControl())
    {
        Impl::Apply(*this, tcb, m_impl->Get(*this, tcb).on_increase(ToState(tcb), segmentsAcked));
    }
}

void
FerroccCongestionOps::CongestionStateSet(Ptr<TcpSocketState> tcb,
                                         const TcpSocketState::TcpCongState_t newState)
{
    NS_LOG_FUNCTION(this << tcb << newState);
    if (newState == TcpSocketState::CA_RECOVERY)
    {
        m_impl->Get(*this, tcb).on_recovery();
    }
}

void
FerroccCongestionOps::CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event)
{
    NS_LOG_FUNCTION(this << tcb << event);
    if (event == TcpSocketState::CA_EVENT_LOSS)
    {
        m_impl->Get(*this, tcb).on_timeout(ToState(tcb));
    }
    else if (event == TcpSocketState::CA_EVENT_TX_START)
    {
        const auto verdict = m_impl->Get(*this, tcb).on_transmit_start(ToState(tcb));
        // After a timeout a single segment leaves, whatever the controller says.
        if (tcb->m_congState == TcpSocketState::CA_OPEN)
        {
            Impl::Apply(*this, tcb, verdict);
        }
    }
}

bool
FerroccCongestionOps::HasCongControl() const
{
    return Rows()[m_row].full_control;
}

void
FerroccCongestionOps::CongControl(Ptr<TcpSocketState> tcb,
                                  const TcpRateOps::TcpRateConnection& connection,
                                  const TcpRateOps::TcpRateSample& sample)
{
    NS_LOG_FUNCTION(this << tcb);
    bridge::RateReport report;
    report.acked_bytes = sample.m_ackedSacked;
    report.delivered_bytes = connection.m_delivered;
    report.prior_in_flight_bytes = sample.m_priorInFlight;
    const bool isValid = !sample.m_interval.IsZero() && sample.m_delivered > 0;
    report.rate_bps = isValid ? sample.m_deliveryRate.GetBitRate() : 0;
    report.prior_delivered_bytes = sample.m_priorDelivered;
    report.app_limited = sample.m_isAppLimited;
    Impl::Apply(*this, tcb, m_impl->Get(*this, tcb).on_report(ToState(tcb), report));
}

} // namespace ns3
