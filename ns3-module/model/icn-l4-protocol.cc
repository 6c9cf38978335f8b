// SPDX-License-Identifier: GPL-2.0-only

#include "icn-l4-protocol.h"

#include "icn-binding-application.h"
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
#include "ns3/ipv6-route.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/ipv6.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/socket.h"

#include <string>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IcnL4Protocol");

NS_OBJECT_ENSURE_REGISTERED(IcnL4Protocol);

namespace
{

/// The codepoint is the upper six bits of the DS field (RFC 2474).
constexpr int DS_SHIFT = 2;

} // namespace

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
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Request",
                            "A REQ came for this node, or is served or bound by it on its way",
                            MakeTraceSourceAccessor(&IcnL4Protocol::m_requestTrace),
                            "ns3::IcnL4Protocol::RequestTracedCallback")
            .AddTraceSource("Data",
                            "DATA came for a receiver on this node",
                            MakeTraceSourceAccessor(&IcnL4Protocol::m_dataTrace),
                            "ns3::IcnL4Protocol::DataTracedCallback");
    return tid;
}

IcnL4Protocol::IcnL4Protocol()
    : m_replica(nullptr),
      m_binding(nullptr),
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

void
IcnL4Protocol::SetBinding(IcnBindingApplication* binding)
{
    NS_LOG_FUNCTION(this << binding);
    NS_ABORT_MSG_IF(binding && m_binding, "node " << m_node->GetId() << " binds REQs already");
    m_binding = binding;
}

bool
IcnL4Protocol::Serves(const IcnEid& ndc) const
{
    return m_replica && m_replica->GetState() != IcnReplicaApplication::VANISHED &&
           m_replica->Has(ndc);
}

void
IcnL4Protocol::NotifyRequest(const IcnHeader& header)
{
    m_requestTrace(header);
}

bool
IcnL4Protocol::ServeInstead(const IcnHeader& header, const Address& source)
{
    if (!Serves(header.GetDestination()) || m_replica->GetState() != IcnReplicaApplication::SERVING)
    {
        return false;
    }
    m_requestTrace(header);
    m_replica->OnRequest(header, source, Address());
    return true;
}

IcnEid
IcnL4Protocol::AllocateDeviceEid()
{
    return IcnEid::OfDevice("node " + std::to_string(m_node->GetId()) + " endpoint " +
                            std::to_string(m_devices++));
}

void
IcnL4Protocol::SendPacket(Ptr<Packet> packet,
                          const Address& destination,
                          uint8_t dscp,
                          const Address& source)
{
    NS_LOG_FUNCTION(this << packet << destination << +dscp);
    const bool sent = Ipv4Address::IsMatchingType(destination)
                          ? SendOverIpv4(packet, destination, dscp, source)
                          : SendOverIpv6(packet, destination, dscp, source);
    if (!sent)
    {
        NS_LOG_LOGIC("no route to " << destination);
        m_dropTrace(packet);
    }
}

bool
IcnL4Protocol::SendOverIpv4(Ptr<Packet> packet,
                            const Address& destination,
                            uint8_t dscp,
                            const Address& source)
{
    const auto address = Ipv4Address::ConvertFrom(destination);
    NS_ABORT_MSG_UNLESS(m_ipv4, "node " << m_node->GetId() << " needs IPv4 to reach " << address);
    Ipv4Header header;
    header.SetDestination(address);
    header.SetProtocol(PROT_NUMBER);
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    const Ptr<Ipv4Route> route =
        m_ipv4->GetRoutingProtocol()->RouteOutput(packet, header, nullptr, error);
    if (!route)
    {
        return false;
    }
    if (dscp != 0)
    {
        SocketIpTosTag tag;
        tag.SetTos(static_cast<uint8_t>(dscp << DS_SHIFT));
        packet->AddPacketTag(tag);
    }
    const auto from = source.IsInvalid() ? route->GetSource() : Ipv4Address::ConvertFrom(source);
    m_downTarget(packet, from, address, PROT_NUMBER, route);
    return true;
}

bool
IcnL4Protocol::SendOverIpv6(Ptr<Packet> packet,
                            const Address& destination,
                            uint8_t dscp,
                            const Address& source)
{
    const auto address = Ipv6Address::ConvertFrom(destination);
    NS_ABORT_MSG_UNLESS(m_ipv6, "node " << m_node->GetId() << " needs IPv6 to reach " << address);
    Ipv6Header header;
    header.SetDestination(address);
    header.SetNextHeader(PROT_NUMBER);
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    const Ptr<Ipv6Route> route =
        m_ipv6->GetRoutingProtocol()->RouteOutput(packet, header, nullptr, error);
    if (!route)
    {
        return false;
    }
    if (dscp != 0)
    {
        SocketIpv6TclassTag tag;
        tag.SetTclass(static_cast<uint8_t>(dscp << DS_SHIFT));
        packet->AddPacketTag(tag);
    }
    const auto from = source.IsInvalid() ? route->GetSource() : Ipv6Address::ConvertFrom(source);
    m_downTarget6(packet, from, address, PROT_NUMBER, route);
    return true;
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
    return Dispatch(p, header.GetSource(), header.GetDestination(), header.GetTtl());
}

IpL4Protocol::RxStatus
IcnL4Protocol::Receive(Ptr<Packet> p,
                       const Ipv6Header& header,
                       Ptr<Ipv6Interface> /* incomingInterface */)
{
    NS_LOG_FUNCTION(this << p << header.GetSource());
    return Dispatch(p, header.GetSource(), header.GetDestination(), header.GetHopLimit());
}

IpL4Protocol::RxStatus
IcnL4Protocol::Dispatch(Ptr<Packet> packet,
                        const Address& source,
                        const Address& destination,
                        uint8_t hopLimit)
{
    IcnHeader icn;
    icn.Peek(*packet);
    if (icn.IsData())
    {
        const auto found = m_receivers.find({icn.GetDestination(), icn.GetSource()});
        if (found != m_receivers.end())
        {
            m_dataTrace(packet, hopLimit);
            found->second->OnData(icn, *packet, source);
            return RX_OK;
        }
    }
    else if (icn.IsRequest() && (m_replica || m_binding))
    {
        m_requestTrace(icn);
        if (m_binding && !Serves(icn.GetDestination()))
        {
            m_binding->OnRequest(icn, packet, source, hopLimit);
        }
        else
        {
            m_replica->OnRequest(icn, source, destination);
        }
        return RX_OK;
    }
    m_dropTrace(packet);
    // A transfer that has ended leaves packets behind; nobody is told about them.
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
    m_binding = nullptr;
    m_downTarget.Nullify();
    m_downTarget6.Nullify();
    m_ipv4 = nullptr;
    m_ipv6 = nullptr;
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
    if (!m_ipv6)
    {
        m_ipv6 = GetObject<Ipv6>();
        if (m_ipv6)
        {
            m_ipv6->Insert(this);
            SetDownTarget6(MakeCallback(&Ipv6::Send, m_ipv6));
        }
    }
    IpL4Protocol::NotifyNewAggregate();
}

} // namespace ns3
