// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCENARIO_TCP_FLOW_H
#define SCENARIO_TCP_FLOW_H

#include "scenario-flow.h"

#include "ns3/address.h"
#include "ns3/nstime.h"
#include "ns3/sequence-number.h"
#include "ns3/tcp-socket-state.h"

#include <memory>

namespace ferrocc
{
namespace scenario
{
struct TcpSpec;
} // namespace scenario
} // namespace ferrocc

namespace ns3
{

class Node;
class Packet;
class Socket;
class TcpCongestionOps;
class TcpHeader;
class FerroccTcpSocket;
class TcpSocketBase;

/**
 * @ingroup ferrocc
 *
 * A flow of a scenario over ns-3's TCP: a bulk sender at the replica node, the application that
 * reads at the receiver node, and what is watched of both.
 *
 * The sender is a TcpSocketBase with ns-3's or ferrocc's congestion control. A flow that is stopped
 * is reset by its receiver, as when a program that reads is killed.
 */
class ScenarioTcpFlow : public ScenarioTransfer
{
  public:
    /**
     * Schedules the flow.
     *
     * @param environment What it shares with other flows.
     * @param spec What it does; lives as long as this object.
     * @param tcp Options of TCP; lives as long as this object.
     * @param index Its number, from 0.
     * @param startNs When it starts, nanoseconds.
     */
    ScenarioTcpFlow(const ScenarioFlow::Environment& environment,
                    const ferrocc::scenario::FlowSpec& spec,
                    const ferrocc::scenario::TcpSpec& tcp,
                    uint32_t index,
                    uint64_t startNs);
    ~ScenarioTcpFlow() override;

    void NotifyLoss(uint64_t number, bool inQueue) override;
    void Sample() override;
    void Finish() override;
    bool IsDone() const override;
    uint64_t GetDelivered() const override;

    /**
     * @param type A type of ns-3, without "ns3::".
     * @return Why it is not the congestion control of a TCP socket; empty if it is.
     */
    static std::string CheckType(const std::string& type);

  private:
    struct Impl; //!< The meter.

    /// It starts now: listens, and connects.
    void Start();
    /// It is given up now.
    void Stop();
    /// Makes the socket that sends. @param node Its node. @return The socket.
    Ptr<FerroccTcpSocket> MakeSender(const Ptr<Node>& node);
    /// Makes the socket that listens. @param node Its node. @return The socket.
    Ptr<TcpSocketBase> MakeListener(const Ptr<Node>& node, bool notes) const;
    /// Sets what both have. @param socket The socket.
    void Configure(const Ptr<TcpSocketBase>& socket) const;
    /// Makes the sender's congestion control. @return It.
    Ptr<TcpCongestionOps> MakeCongestionOps() const;
    /// The port of both ends. @param host The host's address; an invalid one for any.
    /// @return The address with the port.
    Address WithPort(const Address& host) const;
    /// Gives the sender as much as it takes.
    void Write();
    /// Ends the flow. @param failure Why it is not complete, or empty.
    void End(const std::string& failure);
    /// Tells the meter how the sender is.
    void Update();
    /// Writes an event. @param kind Its kind. @param value Its value. @param text Its text.
    void Event(const char* kind, double value, const std::string& text);

    /// The connection is established. @param socket The sender.
    void OnConnected(Ptr<Socket> socket);
    /// There is no connection. @param socket The sender.
    void OnNotConnected(Ptr<Socket> socket);
    /// The sender has judged duplicate ACKs. @param sequence The first byte that was missing.
    /// @param verdict Why.
    void OnVerdict(SequenceNumber32 sequence, const std::string& verdict);
    /// Tells what has become of a segment. @param sequence Its first byte. @return A verdict's
    /// name.
    std::string GetTruth(SequenceNumber32 sequence);
    /// The sender has room. @param socket The sender. @param available How much, bytes.
    void OnRoom(Ptr<Socket> socket, uint32_t available);
    /// The connection has broken. @param socket The sender.
    void OnBroken(Ptr<Socket> socket);
    /// The receiver has a connection. @param socket Its socket. @param from The sender.
    void OnAccept(Ptr<Socket> socket, const Address& from);
    /// The receiver may read. @param socket Its socket.
    void OnReadable(Ptr<Socket> socket);
    /// The sender sends. @param packet Its payload. @param header Its header. @param socket The
    /// sender.
    void OnSent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase> socket);
    /// The sender receives. @copydetails OnSent
    void OnAck(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase> socket);
    /// The receiver receives. @copydetails OnSent
    void OnArrival(Ptr<const Packet> packet,
                   const TcpHeader& header,
                   Ptr<const TcpSocketBase> socket);
    /// The window has changed. @param before It before. @param now It now.
    void OnWindow(uint32_t before, uint32_t now);
    /// The threshold has changed. @param before It before. @param now It now.
    void OnThreshold(uint32_t before, uint32_t now);
    /// The outstanding bytes have changed. @param before They before. @param now They now.
    void OnInFlight(uint32_t before, uint32_t now);
    /// The congestion state has changed. @param before It before. @param now It now.
    void OnState(const TcpSocketState::TcpCongState_t before,
                 const TcpSocketState::TcpCongState_t now);
    /// The retransmission timeout has changed. @param before It before. @param now It now.
    void OnRto(Time before, Time now);

    /// Where it is.
    enum class Progress
    {
        WAITING, //!< Not started.
        RUNNING, //!< Started.
        ENDED,   //!< Its last state has been written.
    };

    const ScenarioFlow::Environment& m_environment; //!< What it shares with other flows.
    const ferrocc::scenario::FlowSpec& m_spec;      //!< What it does.
    const ferrocc::scenario::TcpSpec& m_tcp;        //!< Options of TCP.
    uint32_t m_index;                               //!< Its number, from 0.
    std::unique_ptr<Impl> m_impl;                   //!< The meter.
    Ptr<TcpSocketBase> m_sender;                    //!< The sending socket.
    Ptr<TcpSocketBase> m_listener;                  //!< Waits for the sender.
    Ptr<Socket> m_reader;                           //!< The receiving socket.
    uint64_t m_written{0};                          //!< Bytes given to the sender.
    uint64_t m_timeouts{0};                         //!< Timeouts so far.
    uint64_t m_windowCuts{0};                       //!< Reductions of the window so far.
    Progress m_progress{Progress::WAITING};         //!< See Progress.
    EventId m_stop;                                 //!< The end, if one is set.
};

} // namespace ns3

#endif /* SCENARIO_TCP_FLOW_H */
