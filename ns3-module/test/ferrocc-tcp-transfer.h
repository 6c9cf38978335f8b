// SPDX-License-Identifier: GPL-2.0-only

#ifndef FERROCC_TCP_TRANSFER_H
#define FERROCC_TCP_TRANSFER_H

#include "ns3/boolean.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/topo1-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup ferrocc
 *
 * A TCP transfer for the suite ferrocc-tcp.
 */

using namespace ns3;

namespace
{

/// Payload of a segment, bytes: 1500 with headers.
constexpr uint32_t MSS = 1460;

/// What a transfer is like.
struct Spec
{
    uint64_t size{0};              //!< Bytes; zero for no end.
    bool isPull{false};            //!< Whether the side that listens sends.
    uint32_t receiver{0};          //!< Which receiver node.
    uint16_t port{9000};           //!< Where is listened.
    Time start{MilliSeconds(100)}; //!< When.
};

/// One transfer from topo-1's replica node to a receiver node.
class Transfer
{
  public:
    /**
     * @param network The network.
     * @param address The address of the end that listens.
     * @param ops The sender's congestion control.
     * @param spec What it is like.
     */
    Transfer(const Topo1Helper& network,
             const Address& address,
             Ptr<TcpCongestionOps> ops,
             const Spec& spec)
        : m_spec(spec)
    {
        const auto replica = network.GetReplica();
        const auto receiver = network.GetReceiver(spec.receiver);
        m_listener = MakeSocket(spec.isPull ? replica : receiver);
        m_active = MakeSocket(spec.isPull ? receiver : replica);
        // A listener's congestion control is forked for each connection.
        (spec.isPull ? m_listener : m_active)->SetCongestionControlAlgorithm(ops);
        Bind(m_listener, address, spec.port);
        m_listener->Listen();
        m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                      MakeCallback(&Transfer::OnAccept, this));
        m_active->SetConnectCallback(MakeCallback(&Transfer::OnConnected, this),
                                     MakeNullCallback<void, Ptr<Socket>>());
        m_target = WithPort(address, spec.port);
        Simulator::ScheduleWithContext((spec.isPull ? receiver : replica)->GetId(),
                                       spec.start,
                                       &Transfer::Connect,
                                       this);
    }

    uint64_t received{0};                           //!< Bytes that were read.
    bool isWrong{false};                            //!< Whether a byte was not what was sent.
    Time end;                                       //!< When the last byte was read.
    uint32_t cuts{0};                               //!< Recoveries from losses.
    uint32_t timeouts{0};                           //!< Times that the state of loss was entered.
    std::vector<std::pair<Time, uint32_t>> windows; //!< The window outside of recovery.
    std::vector<double> factors; //!< Window after a cut by the one before, of cuts alone.
    uint64_t paced{0};           //!< Changes of the pacing rate.

  private:
    /// @param node Its node. @return A socket.
    static Ptr<TcpSocketBase> MakeSocket(const Ptr<Node>& node)
    {
        auto socket = DynamicCast<TcpSocketBase>(node->GetObject<TcpL4Protocol>()->CreateSocket());
        socket->SetAttribute("SegmentSize", UintegerValue(MSS));
        socket->SetAttribute("Timestamp", BooleanValue(false));
        socket->SetAttribute("SndBufSize", UintegerValue(4'000'000));
        socket->SetAttribute("RcvBufSize", UintegerValue(4'000'000));
        return socket;
    }

    /// @param host A host. @param port A port. @return Both.
    static Address WithPort(const Address& host, uint16_t port)
    {
        if (Ipv4Address::IsMatchingType(host))
        {
            return InetSocketAddress(Ipv4Address::ConvertFrom(host), port);
        }
        return Inet6SocketAddress(Ipv6Address::ConvertFrom(host), port);
    }

    /// @param socket A socket. @param host Tells the IP version. @param port Its port.
    static void Bind(const Ptr<Socket>& socket, const Address& host, uint16_t port)
    {
        if (Ipv4Address::IsMatchingType(host))
        {
            socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        }
        else
        {
            socket->Bind(Inet6SocketAddress(Ipv6Address::GetAny(), port));
        }
    }

    /// @param offset Place in the stream. @return The byte there.
    static uint8_t ByteAt(uint64_t offset)
    {
        return static_cast<uint8_t>((offset * 2'654'435'761U) >> 13);
    }

    /// It starts.
    void Connect()
    {
        if (!m_spec.isPull)
        {
            Send(m_active);
        }
        m_active->Connect(m_target);
    }

    /// @param socket The sending socket, which is watched from now on.
    void Send(Ptr<Socket> socket)
    {
        m_sender = DynamicCast<TcpSocketBase>(socket);
        m_sender->SetSendCallback(MakeCallback(&Transfer::OnRoom, this));
        m_sender->TraceConnectWithoutContext("CongestionWindow",
                                             MakeCallback(&Transfer::OnWindow, this));
        m_sender->TraceConnectWithoutContext("CongState", MakeCallback(&Transfer::OnState, this));
        m_sender->TraceConnectWithoutContext("PacingRate", MakeCallback(&Transfer::OnPacing, this));
    }

    /// The active side is connected.
    void OnConnected(Ptr<Socket> socket)
    {
        if (m_spec.isPull)
        {
            Read(socket);
        }
        else
        {
            Write();
        }
    }

    /// The listening side is connected.
    void OnAccept(Ptr<Socket> socket, const Address& /* from */)
    {
        if (m_spec.isPull)
        {
            Send(socket);
            Write();
        }
        else
        {
            Read(socket);
        }
    }

    /// @param socket The reading socket.
    void Read(Ptr<Socket> socket)
    {
        m_reader = socket;
        m_reader->SetRecvCallback(MakeCallback(&Transfer::OnReadable, this));
    }

    /// There is room in the sender's buffer.
    void OnRoom(Ptr<Socket> /* socket */, uint32_t /* available */)
    {
        Write();
    }

    /// Writes as much as the sender takes.
    void Write()
    {
        while (m_spec.size == 0 || m_written < m_spec.size)
        {
            uint32_t length = MSS;
            if (m_spec.size > 0)
            {
                length = static_cast<uint32_t>(std::min<uint64_t>(MSS, m_spec.size - m_written));
            }
            if (m_sender->GetTxAvailable() < length)
            {
                return;
            }
            // Without an end nobody looks at the bytes.
            auto packet = Create<Packet>(length);
            if (m_spec.size > 0)
            {
                std::vector<uint8_t> bytes(length);
                for (uint32_t i = 0; i < length; i++)
                {
                    bytes[i] = ByteAt(m_written + i);
                }
                packet = Create<Packet>(bytes.data(), length);
            }
            if (m_sender->Send(packet, 0) < 0)
            {
                return;
            }
            m_written += length;
        }
        m_sender->Close();
    }

    /// There is something to read.
    void OnReadable(Ptr<Socket> socket)
    {
        while (const auto packet = socket->Recv())
        {
            end = Simulator::Now();
            if (m_spec.size == 0)
            {
                received += packet->GetSize();
                continue;
            }
            std::vector<uint8_t> bytes(packet->GetSize());
            packet->CopyData(bytes.data(), packet->GetSize());
            for (const uint8_t byte : bytes)
            {
                isWrong |= byte != ByteAt(received++);
            }
        }
    }

    /// The window has changed.
    void OnWindow(uint32_t /* before */, uint32_t now)
    {
        if (m_isOpen)
        {
            if (m_before > 0)
            {
                factors.push_back(static_cast<double>(now) / m_before);
                m_before = 0;
            }
            windows.emplace_back(Simulator::Now(), now);
        }
    }

    /// The congestion state has changed.
    void OnState(const TcpSocketState::TcpCongState_t /* before */,
                 const TcpSocketState::TcpCongState_t now)
    {
        m_isOpen = now == TcpSocketState::CA_OPEN || now == TcpSocketState::CA_DISORDER;
        if (now == TcpSocketState::CA_RECOVERY)
        {
            // ns-3's recovery begins with a segment per ACK, so that a full queue drops once more
            // and a second cut follows at once; it says nothing about the factor.
            const bool isAlone = Simulator::Now() - m_lastCut > Seconds(1);
            m_before = isAlone && !windows.empty() ? windows.back().second : 0;
            m_lastCut = Simulator::Now();
        }
        cuts += now == TcpSocketState::CA_RECOVERY ? 1 : 0;
        timeouts += now == TcpSocketState::CA_LOSS ? 1 : 0;
    }

    /// The pacing rate has changed.
    void OnPacing(DataRate /* before */, DataRate /* now */)
    {
        paced++;
    }

    Spec m_spec;                   //!< What it is like.
    Address m_target;              //!< Where to connect to.
    Ptr<TcpSocketBase> m_listener; //!< Listens.
    Ptr<TcpSocketBase> m_active;   //!< Connects.
    Ptr<TcpSocketBase> m_sender;   //!< Sends.
    Ptr<Socket> m_reader;          //!< Reads.
    uint64_t m_written{0};         //!< Bytes given to the sender.
    bool m_isOpen{true};           //!< Whether the sender is not in recovery.
    uint32_t m_before{0};          //!< The window before the cut, until it is over.
    Time m_lastCut;                //!< When the last one was.
};

} // namespace

#endif /* FERROCC_TCP_TRANSFER_H */
