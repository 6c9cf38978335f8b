// SPDX-License-Identifier: GPL-2.0-only

#include "icn-l4-protocol.h"

#include "icn-header.h"
#include "icn-receiver.h"
#include "icn-replica-application.h"

#include "ns3/abort.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-interface.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/socket.h"

#include <string>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IcnL4Protocol");

NS_OBJECT_ENSURE_REGISTERED(IcnL4Protocol);

TypeId
IcnL4Protocol::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::IcnL4Protocol")
            .SetParent<IpL4Protocol>()
            .SetGroupName("Ferrocc")
            .AddConstructor<IcnL4Protocol>()
            .AddTraceSource("Drop",
                            "A packet came that is not valid, or for which there is no receiver "
                            "or replica on this node",
                            MakeTraceSourceAccessor(&IcnL4Protocol::m_dropTrace),
                            "ns3::Packet::TracedCallback");
    return tid;
}

IcnL4Protocol::IcnL4Protocol()
    : m_replica(nullptr),
      m_devices(0)
{
}

IcnL4Protocol::~IcnL4Protocol() = default;

void
IcnL4Protocol::AddReceiver(const IcnTransferKey& key, IcnReceiver* receiver)
{
    NS_LOG_FUNCTION(this << key.device << key.ndc);
    const bool added = m_receivers.emplace(key, receiver).second;
    NS_ABORT_MSG_UNLESS(added,
                        "device " << key.device << " already has a receiver for " << key.ndc);
}

void
IcnL4Protocol::RemoveReceiver(const IcnTransferKey& key)
{
    NS_LOG_FUNCTION(this << key.device << key.ndc);
    m_receivers.erase(key);
}

void
IcnL4Protocol::SetReplica(IcnReplicaApplication* replica)
{
    NS_LOG_FUNCTION(this << replica);
    NS_ABORT_MSG_IF(replica && m_replica, "node " << m_node->GetId() << " has a replica already");
    m_replica = replica;
}

IcnEid
IcnL4Protocol::AllocateDeviceEid()
{
    return IcnEid::OfDevice("node " + std::to_string(m_node->GetId()) + " endpoint " +
                            std::to_string(m_devices++));
}

void
IcnL4Protocol::SendPacket(Ptr<Packet> packet, Ipv4Address destination, uint8_t dscp)
{
    NS_LOG_FUNCTION(this << packet << destination << +dscp);
    Ipv4Header header;
    header.SetDestination(destination);
    header.SetProtocol(PROT_NUMBER);
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    const Ptr<Ipv4Route> route =
        m_ipv4->GetRoutingProtocol()->RouteOutput(packet, header, nullptr, error);
    if (!route)
    {
        NS_LOG_LOGIC("no route to " << destination);
        m_dropTrace(packet);
        return;
    }
    if (dscp != 0)
    {
        SocketIpTosTag tag;
        tag.SetTos(static_cast<uint8_t>(dscp << 2)); // RFC 2474: the DS field's upper six bits.
        packet->AddPacketTag(tag);
    }
    m_downTarget(packet, route->GetSource(), destination, PROT_NUMBER, route);
}

int
IcnL4Protocol::GetProtocolNumber() const
{
    return PROT_NUMBER;
}

IpL4Protocol::RxStatus
IcnL4Protocol::Receive(Ptr<Packet> p,
                       const Ipv4Header& header,
                       Ptr<Ipv4Interface> /* incomingInterface */)
{
    NS_LOG_FUNCTION(this << p << header.GetSource());
    IcnHeader icn;
    icn.Peek(*p);
    if (icn.IsData())
    {
        const auto found = m_receivers.find({icn.GetDestination(), icn.GetSource()});
        if (found != m_receivers.end())
        {
            found->second->OnData(icn, *p);
            return RX_OK;
        }
    }
    else if (icn.IsRequest() && m_replica)
    {
        m_replica->OnRequest(icn, header.GetSource());
        return RX_OK;
    }
    m_dropTrace(p);
    // A transfer that has ended leaves packets behind; nobody is told about them.
    return RX_ENDPOINT_CLOSED;
}

IpL4Protocol::RxStatus
IcnL4Protocol::Receive(Ptr<Packet> p,
                       const Ipv6Header& header,
                       Ptr<Ipv6Interface> /* incomingInterface */)
{
    NS_LOG_FUNCTION(this << p << header.GetSource());
    m_dropTrace(p);
    return RX_ENDPOINT_CLOSED;
}

void
IcnL4Protocol::SetDownTarget(DownTargetCallback cb)
{
    m_downTarget = cb;
}

void
IcnL4Protocol::SetDownTarget6(DownTargetCallback6 cb)
{
    m_downTarget6 = cb;
}

IpL4Protocol::DownTargetCallback
IcnL4Protocol::GetDownTarget() const
{
    return m_downTarget;
}

IpL4Protocol::DownTargetCallback6
IcnL4Protocol::GetDownTarget6() const
{
    return m_downTarget6;
}

void
IcnL4Protocol::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_receivers.clear();
    m_replica = nullptr;
    m_downTarget.Nullify();
    m_downTarget6.Nullify();
    m_ipv4 = nullptr;
    m_node = nullptr;
    IpL4Protocol::DoDispose();
}

void
IcnL4Protocol::NotifyNewAggregate()
{
    NS_LOG_FUNCTION(this);
    if (!m_node)
    {
        m_node = GetObject<Node>();
    }
    if (!m_ipv4)
    {
        m_ipv4 = GetObject<Ipv4>();
        if (m_ipv4)
        {
            m_ipv4->Insert(this);
            SetDownTarget(MakeCallback(&Ipv4::Send, m_ipv4));
        }
    }
    IpL4Protocol::NotifyNewAggregate();
}

} // namespace ns3
