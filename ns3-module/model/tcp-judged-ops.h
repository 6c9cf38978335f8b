// SPDX-License-Identifier: GPL-2.0-only

#ifndef TCP_JUDGED_OPS_H
#define TCP_JUDGED_OPS_H

#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-recovery-ops.h"

#include <cstdint>
#include <string>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * What becomes of the window when a FerroccTcpSocket sends the first missing segment again, as its
 * policy says. It is set around the base class's handling of one ACK.
 */
struct TcpJudgement
{
    /// What becomes of the window.
    enum class Window
    {
        CONTROLLER, //!< What the congestion control says.
        KEEP,       //!< Nothing.
        SHARE,      //!< A share of the outstanding bytes.
    };

    Window window{Window::CONTROLLER}; //!< What becomes of it.
    double share{0};                   //!< The share.
    bool grow{true};                   //!< Whether the ACK may grow it.
};

/**
 * @ingroup ferrocc
 *
 * Congestion control that does what another one does, but where a judgement says something else.
 */
class TcpJudgedCongestionOps : public TcpCongestionOps
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();
    TcpJudgedCongestionOps();
    /// Copies the other one with what it wraps. @param other The other one.
    TcpJudgedCongestionOps(const TcpJudgedCongestionOps& other);
    ~TcpJudgedCongestionOps() override;

    /// @param inner The congestion control that is asked.
    void SetInner(Ptr<TcpCongestionOps> inner);
    /// @return The congestion control that is asked.
    Ptr<TcpCongestionOps> GetInner() const;
    /// @param judgement What holds until the next call.
    void SetJudgement(const TcpJudgement& judgement);

    std::string GetName() const override;
    void Init(Ptr<TcpSocketState> tcb) override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override;
    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked) override;
    void PktsAcked(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked, const Time& rtt) override;
    void CongestionStateSet(Ptr<TcpSocketState> tcb,
                            const TcpSocketState::TcpCongState_t newState) override;
    void CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event) override;
    bool HasCongControl() const override;
    void CongControl(Ptr<TcpSocketState> tcb,
                     const TcpRateOps::TcpRateConnection& connection,
                     const TcpRateOps::TcpRateSample& sample) override;
    Ptr<TcpCongestionOps> Fork() override;

  private:
    Ptr<TcpCongestionOps> m_inner; //!< The congestion control that is asked.
    TcpJudgement m_judgement;      //!< What holds now.
};

/**
 * @ingroup ferrocc
 *
 * ns-3's classic fast recovery, without its reduction where a judgement keeps the window.
 */
class TcpJudgedRecovery : public TcpClassicRecovery
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    /// @param judgement What holds until the next call.
    void SetJudgement(const TcpJudgement& judgement);

    std::string GetName() const override;
    void EnterRecovery(Ptr<TcpSocketState> tcb,
                       uint32_t dupAckCount,
                       uint32_t unAckDataCount,
                       uint32_t deliveredBytes) override;
    Ptr<TcpRecoveryOps> Fork() override;

  private:
    TcpJudgement m_judgement; //!< What holds now.
};

} // namespace ns3

#endif /* TCP_JUDGED_OPS_H */
