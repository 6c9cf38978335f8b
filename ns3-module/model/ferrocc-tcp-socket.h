// SPDX-License-Identifier: GPL-2.0-only

#ifndef FERROCC_TCP_SOCKET_H
#define FERROCC_TCP_SOCKET_H

#include "ns3/callback.h"
#include "ns3/event-id.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv6-header.h"
#include "ns3/random-variable-stream.h"
#include "ns3/socket-factory.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ferrocc
{
namespace recovery
{
struct StepView;
} // namespace recovery
} // namespace ferrocc

namespace ns3
{

class Ipv4Interface;
class Ipv6Interface;
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

    /// Tells what has become of the segment that begins with a byte: a verdict's name, or nothing
    /// if that is not known.
    typedef Callback<std::string, SequenceNumber32> TruthCallback;

    /**
     * For policies whose verdicts have a given accuracy (`verdict_flip`).
     *
     * @param truth Tells what has become of a segment.
     */
    void SetTruth(TruthCallback truth);

    /**
     * Assigns a fixed stream number to the random variable.
     *
     * @param stream The stream number.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * Makes the policy, as Connect does, so that the congestion control must be set before.
     *
     * @return Whether the policy needs a receiver that is a FerroccTcpSocket, too.
     */
    bool NeedsNotes();

  protected:
    void DoDispose() override;
    Ptr<TcpSocketBase> Fork() override;
    void CompleteFork(Ptr<Packet> p,
                      const TcpHeader& tcpHeader,
                      const Address& fromAddress,
                      const Address& toAddress) override;
    void DoForwardUp(Ptr<Packet> packet,
                     const Address& fromAddress,
                     const Address& toAddress) override;
    void ReceivedAck(Ptr<Packet> packet, const TcpHeader& tcpHeader) override;
    uint32_t SendDataPacket(SequenceNumber32 seq, uint32_t maxSize, bool withAck) override;
    void ReTxTimeout() override;
    uint32_t Window() const override;
    uint32_t AvailableWindow() const override;

  private:
    struct Impl; //!< The policy, whose type is known to the implementation only.

    /// Makes the policy and has the congestion control and the recovery follow it.
    void Judge();
    /// Provides what the policy needs.
    void Provide();
    /// Has notes added to what leaves, once.
    void AddNotes();
    /// The policy's deadline has come.
    void OnDeadline();
    /// A segment has come over IPv4. @param packet It. @param header Its header. @param port The
    /// sender's port. @param interface Where it has come.
    void OnSegment(Ptr<Packet> packet,
                   Ipv4Header header,
                   uint16_t port,
                   Ptr<Ipv4Interface> interface);
    /// A segment has come over IPv6. @param packet It. @param header Its header. @param port The
    /// sender's port. @param interface Where it has come.
    void OnSegment6(Ptr<Packet> packet,
                    Ipv6Header header,
                    uint16_t port,
                    Ptr<Ipv6Interface> interface);
    /// Notes what has arrived, if the sender wants that. @param packet A segment.
    void Note(Ptr<Packet> packet);
    /// Adds notes to what leaves. @param packet It. @param header Its header. @param socket The
    /// socket.
    static void OnTransmission(Ptr<const Packet> packet,
                               const TcpHeader& header,
                               Ptr<const TcpSocketBase> socket);
    /// Sets the deadline. @param deadlineNs When, nanoseconds; the largest number for never.
    void SetDeadline(uint64_t deadlineNs);
    /// Sends the first missing segment again without a recovery.
    void Resend();
    /// Sets what a step says of the window. @param step What the policy says.
    void ApplyWindow(const ferrocc::recovery::StepView& step);
    /// Does the rest of a step once the ACK is handled. @param step What the policy says.
    void Conclude(const ferrocc::recovery::StepView& step);
    /// Acts as if the retransmission timer had expired.
    void ExpireNow();
    /// Tells the congestion control and the recovery what holds from now on.
    /// @param judgement What holds.
    void SetJudgement(const struct TcpJudgement& judgement);

    std::string m_policy;                    //!< The policy's name.
    std::string m_parameters;                //!< Its parameters, a JSON object.
    uint32_t m_maxWindow{0};                 //!< Most bytes in flight; 0 for no limit.
    std::unique_ptr<Impl> m_impl;            //!< The policy.
    struct Receiver;                         //!< The notes, whose type is known there only.
    std::unique_ptr<Receiver> m_notes;       //!< What this end has received, if it is noted.
    bool m_isNoting{false};                  //!< Whether notes are added to what leaves.
    TruthCallback m_truth;                   //!< What has become of segments.
    int64_t m_stream{-1};                    //!< The stream of m_draw; -1 for any.
    Ptr<UniformRandomVariable> m_draw;       //!< Draws, if the policy needs them.
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
