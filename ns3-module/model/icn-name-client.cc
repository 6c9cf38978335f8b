// SPDX-License-Identifier: GPL-2.0-only

#include "icn-name-client.h"

#include "icn-address-bridge.h"

#include "ns3/abort.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-route.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/ipv6.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/socket.h"
#include "ns3/udp-socket-factory.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IcnNameClient");

NS_OBJECT_ENSURE_REGISTERED(IcnNameClient);

TypeId
IcnNameClient::GetTypeId()
{
    static TypeId tid = TypeId("ns3::IcnNameClient")
                            .SetParent<Object>()
                            .SetGroupName("Ferrocc")
                            .AddConstructor<IcnNameClient>()
                            .AddTraceSource("Tx",
                                            "A datagram was sent to the name server",
                                            MakeTraceSourceAccessor(&IcnNameClient::m_txTrace),
                                            "ns3::Packet::TracedCallback")
                            .AddTraceSource("Rx",
                                            "A datagram of the name server arrived",
                                            MakeTraceSourceAccessor(&IcnNameClient::m_rxTrace),
                                            "ns3::Packet::TracedCallback");
    return tid;
}

IcnNameClient::IcnNameClient() = default;

IcnNameClient::~IcnNameClient() = default;

void
IcnNameClient::Open(Ptr<Node> node, const Address& server, ReceiveCallback receive)
{
    NS_LOG_FUNCTION(this << node << server);
    NS_ABORT_MSG_IF(m_socket, "a name client is opened once");
    const bool isIpv4 = Ipv4Address::IsMatchingType(server);
    NS_ABORT_MSG_UNLESS(isIpv4 || Ipv6Address::IsMatchingType(server),
                        "a name server has an IPv4 or an IPv6 address");
    m_node = node;
    m_server = server;
    m_receive = receive;
    m_socket = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
    const int result = isIpv4 ? m_socket->Bind() : m_socket->Bind6();
    NS_ABORT_MSG_IF(result != 0, "node " << node->GetId() << " has no free UDP port");
    m_socket->SetRecvCallback(MakeCallback(&IcnNameClient::Receive, this));
}

void
IcnNameClient::Close()
{
    NS_LOG_FUNCTION(this);
    if (m_socket)
    {
        m_socket->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
        m_socket->Close();
        m_socket = nullptr;
    }
}

bool
IcnNameClient::IsOpen() const
{
    return m_socket != nullptr;
}

void
IcnNameClient::Send(const uint8_t* bytes, uint32_t size)
{
    NS_LOG_FUNCTION(this << size);
    if (!m_socket)
    {
        return;
    }
    const uint16_t port = ferrocc::icn::name_port();
    const Ptr<Packet> packet = Create<Packet>(bytes, size);
    m_txTrace(packet);
    if (Ipv4Address::IsMatchingType(m_server))
    {
        m_socket->SendTo(packet, 0, InetSocketAddress(Ipv4Address::ConvertFrom(m_server), port));
    }
    else
    {
        m_socket->SendTo(packet, 0, Inet6SocketAddress(Ipv6Address::ConvertFrom(m_server), port));
    }
}

Address
IcnNameClient::GetLocalAddress() const
{
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    if (Ipv4Address::IsMatchingType(m_server))
    {
        Ipv4Header header;
        header.SetDestination(Ipv4Address::ConvertFrom(m_server));
        const auto routing = m_node->GetObject<Ipv4>()->GetRoutingProtocol();
        const auto route = routing->RouteOutput(Create<Packet>(), header, nullptr, error);
        return route ? Address(route->GetSource()) : Address();
    }
    Ipv6Header header;
    header.SetDestination(Ipv6Address::ConvertFrom(m_server));
    const auto routing = m_node->GetObject<Ipv6>()->GetRoutingProtocol();
    const auto route = routing->RouteOutput(Create<Packet>(), header, nullptr, error);
    return route ? Address(route->GetSource()) : Address();
}

void
IcnNameClient::Receive(Ptr<Socket> socket)
{
    Address from;
    while (const Ptr<Packet> packet = socket->RecvFrom(from))
    {
        const bool isServer =
            InetSocketAddress::IsMatchingType(from)
                ? Address(InetSocketAddress::ConvertFrom(from).GetIpv4()) == m_server
                : Address(Inet6SocketAddress::ConvertFrom(from).GetIpv6()) == m_server;
        if (!isServer || m_receive.IsNull())
        {
            continue;
        }
        m_rxTrace(packet);
        std::vector<uint8_t> bytes(packet->GetSize());
        packet->CopyData(bytes.data(), packet->GetSize());
        m_receive(bytes);
        if (!m_socket)
        {
            return; // Closed by what it was told.
        }
    }
}

void
IcnNameClient::DoDispose()
{
    Close();
    m_receive.Nullify();
    m_node = nullptr;
    Object::DoDispose();
}

} // namespace ns3
