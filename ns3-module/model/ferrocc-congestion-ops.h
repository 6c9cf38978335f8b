// SPDX-License-Identifier: GPL-2.0-only

#ifndef FERROCC_CONGESTION_OPS_H
#define FERROCC_CONGESTION_OPS_H

#include "ns3/tcp-congestion-ops.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * A controller of ferrocc as congestion control of ns-3's TCP.
 *
 * Every controller of the registry is a TypeId of its own, `ns3::Ferrocc<Name>`
 * (`ns3::FerroccCubic`, `ns3::FerroccNewReno`, ...), whose attributes are the controller's
 * parameters. They are made when the library is loaded, so that
 *
 * @code
 *   Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::FerroccCubic"));
 * @endcode
 *
 * works in any program.
 *
 * Controllers that reduce their window by a factor once per loss episode leave the window to the
 * socket's recovery algorithm (TcpRecoveryOps) while that is active; all others set it with every
 * ACK (HasCongControl) and switch pacing on where they pace. What the controllers are told is made
 * from the hooks' arguments in Rust (`ferrocc::tcp`); see the module's documentation for what a
 * plain TcpSocketBase does not tell.
 */
class FerroccCongestionOps : public TcpCongestionOps
{
  public:
    /**
     * @return The TypeId of the common parent.
     */
    static TypeId GetTypeId();

    /**
     * @param controller A controller's name in the registry, such as "copa-icn".
     * @return Its TypeId.
     * @throws std::exception (std::invalid_argument) if there is no such controller.
     */
    static TypeId FindType(const std::string& controller);

    ~FerroccCongestionOps() override;

    /**
     * Replaces all parameters.
     *
     * @param parameters A JSON object; what it leaves out has its default.
     */
    void SetParameters(const std::string& parameters);

    /**
     * Sets a parameter.
     *
     * @param index Its number among the controller's parameters.
     * @param value Its value as text.
     * @return Whether the controller takes it.
     */
    bool SetParameter(std::size_t index, const std::string& value);

    /**
     * @param index The number of a parameter.
     * @return Its value as text.
     */
    std::string GetParameter(std::size_t index) const;

    /**
     * Assigns a fixed stream number to the random draw that a controller may use.
     *
     * @param stream The stream number.
     * @return How many streams were assigned: one.
     */
    int64_t AssignStreams(int64_t stream);

    std::string GetName() const override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override;
    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked) override;
    void CongestionStateSet(Ptr<TcpSocketState> tcb,
                            const TcpSocketState::TcpCongState_t newState) override;
    void CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event) override;
    bool HasCongControl() const override;
    void CongControl(Ptr<TcpSocketState> tcb,
                     const TcpRateOps::TcpRateConnection& connection,
                     const TcpRateOps::TcpRateSample& sample) override;

  protected:
    /**
     * @param row The controller's number in the registry.
     */
    explicit FerroccCongestionOps(std::size_t row);

    /**
     * Copies the controller with all its state.
     *
     * @param other What is copied.
     */
    FerroccCongestionOps(const FerroccCongestionOps& other);

  private:
    struct Impl; //!< The controller and its parameters.

    std::size_t m_row;            //!< Number in the registry.
    int64_t m_stream{-1};         //!< Stream of random numbers; -1 for the next free one.
    bool m_paces{false};          //!< Whether pacing was switched on here.
    std::unique_ptr<Impl> m_impl; //!< See Impl.
};

} // namespace ns3

#endif /* FERROCC_CONGESTION_OPS_H */
