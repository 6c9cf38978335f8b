// SPDX-License-Identifier: GPL-2.0-only

#ifndef FERROCC_TCP_SOCKET_H
#define FERROCC_TCP_SOCKET_H

#include "ns3/event-id.h"
#include "ns3/socket-factory.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3
{

class TcpJudgedCongestionOps;
class TcpJudgedRecovery;

/**
 * @ingroup ferrocc
 *
 * ns-3's TCP socket with another judgement of duplicate ACKs: which of the registry's policies is
 * in the attribute `Recovery`. Handshake, buffers, timers and the repair of one hole per round trip
 * are ns-3's. There is no SACK, unless the policy is `standard`, which is the base class.
 *
 * The policy is made when the socket connects or listens. It sees RTTs in nanoseconds, of segments
 * that were sent once. A socket that accepts a connection has a policy of its own.
 */
class FerroccTcpSocket : public TcpSocketBase
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();
    TypeId GetInstanceTypeId() const override;
    FerroccTcpSocket();
    /// A socket for another connection. @param other What it is like.
    FerroccTcpSocket(const FerroccTcpSocket& other);
    ~FerroccTcpSocket() override;

    int Connect(const Address& address) override;
    int Listen() override;

    /**
     * TracedCallback signature of verdicts.
     *
     * @param sequence First byte that was missing.
     * @param verdict "congestion", "random-loss" or "reordering".
     */
    typedef void (*VerdictTracedCallback)(SequenceNumber32 sequence, const std::string& verdict);

  protected:
    void DoDispose() override;
    Ptr<TcpSocketBase> Fork() override;
    void ReceivedAck(Ptr<Packet> packet, const TcpHeader& tcpHeader) override;
    uint32_t SendDataPacket(SequenceNumber32 seq, uint32_t maxSize, bool withAck) override;
    void ReTxTimeout() override;
    uint32_t Window() const override;
    uint32_t AvailableWindow() const override;

  private:
    struct Impl; //!< The policy, whose type is known to the implementation only.

    /// Makes the policy and has the congestion control and the recovery follow it.
    void Judge();
    /// The policy's deadline has come.
    void OnDeadline();
    /// Tells the congestion control and the recovery what holds from now on.
    /// @param judgement What holds.
    void SetJudgement(const struct TcpJudgement& judgement);

    std::string m_policy;                    //!< The policy's name.
    std::string m_parameters;                //!< Its parameters, a JSON object.
    uint32_t m_maxWindow{0};                 //!< Most bytes in flight; 0 for no limit.
    std::unique_ptr<Impl> m_impl;            //!< The policy.
    Ptr<TcpJudgedCongestionOps> m_ops;       //!< The congestion control with what is judged.
    Ptr<TcpJudgedRecovery> m_judgedRecovery; //!< The recovery with what is judged.
    EventId m_deadline;                      //!< When the policy wants to be asked.
    /// First missing byte, verdict.
    TracedCallback<SequenceNumber32, const std::string&> m_verdictTrace;
};

/**
 * @ingroup ferrocc
 *
 * Makes FerroccTcpSocket objects: aggregate it to a node with the internet stack, and name its type
 * where an application asks for a protocol.
 */
class FerroccTcpSocketFactory : public SocketFactory
{
  public:
    /**
     * Get the type ID.
     * @return The object TypeId.
     */
    static TypeId GetTypeId();

    Ptr<Socket> CreateSocket() override;

  private:
    std::string m_policy;     //!< The policy's name.
    std::string m_parameters; //!< Its parameters, a JSON object.
    uint32_t m_maxWindow{0};  //!< Most bytes in flight; 0 for no limit.
};

} // namespace ns3

#endif /* FERROCC_TCP_SOCKET_H */
