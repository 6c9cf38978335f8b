// SPDX-License-Identifier: GPL-2.0-only

#include "icn-name-server-application.h"

#include "icn-address-bridge.h"

#include "ns3/abort.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/socket.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <string>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IcnNameServerApplication");

NS_OBJECT_ENSURE_REGISTERED(IcnNameServerApplication);

/// The server's engine; its type is known to this file only.
struct IcnNameServerApplication::Engine
{
    rust::Box<ferrocc::icn::NameServer> server; //!< It.
    std::vector<uint8_t> bytes;                 //!< One datagram.
};

TypeId
IcnNameServerApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::IcnNameServerApplication")
            .SetParent<Application>()
            .SetGroupName("Ferrocc")
            .AddConstructor<IcnNameServerApplication>()
            .AddAttribute("ProcessingTime",
                          "Service time of a request; requests are served one after the other",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&IcnNameServerApplication::m_processingTime),
                          MakeTimeChecker(Time(0), Seconds(60)))
            .AddAttribute("MaxLifetime",
                          "Longest lifetime of a registration",
                          TimeValue(Hours(1)),
                          MakeTimeAccessor(&IcnNameServerApplication::m_maxLifetime),
                          MakeTimeChecker(MilliSeconds(1)))
            .AddAttribute("MaxReplicas",
                          "Most replicas of an NDC; further ones are refused",
                          UintegerValue(256),
                          MakeUintegerAccessor(&IcnNameServerApplication::m_maxReplicas),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("MaxNames",
                          "Most NDCs; further ones are refused",
                          UintegerValue(1'000'000),
                          MakeUintegerAccessor(&IcnNameServerApplication::m_maxNames),
                          MakeUintegerChecker<uint32_t>(1))
            .AddTraceSource("Queries",
                            "Queries so far, answered or not",
                            MakeTraceSourceAccessor(&IcnNameServerApplication::m_queries),
                            "ns3::TracedValueCallback::Uint64")
            .AddTraceSource("Registrations",
                            "Registrations so far that were taken, refreshes among them",
                            MakeTraceSourceAccessor(&IcnNameServerApplication::m_registrations),
                            "ns3::TracedValueCallback::Uint64")
            .AddTraceSource("Malformed",
                            "Datagrams so far that were no valid request",
                            MakeTraceSourceAccessor(&IcnNameServerApplication::m_malformed),
                            "ns3::TracedValueCallback::Uint64");
    return tid;
}

IcnNameServerApplication::IcnNameServerApplication()
    : m_maxReplicas(0),
      m_maxNames(0),
      m_failed(false),
      m_queries(0),
      m_registrations(0),
      m_malformed(0)
{
}

IcnNameServerApplication::~IcnNameServerApplication() = default;

void
IcnNameServerApplication::Provision(const IcnEid& ndc, const Address& address, uint16_t cost)
{
    NS_LOG_FUNCTION(this << ndc << address << cost);
    m_provisioned.push_back({ndc, address, cost});
    if (m_engine)
    {
        m_engine->server->provision({ndc.bytes}, bridge::FromAddress(address), cost);
    }
}

void
IcnNameServerApplication::Fail()
{
    NS_LOG_FUNCTION(this);
    m_failed = true;
}

void
IcnNameServerApplication::Restore()
{
    NS_LOG_FUNCTION(this);
    m_failed = false;
}

uint32_t
IcnNameServerApplication::GetNReplicas(const IcnEid& ndc) const
{
    return m_engine ? m_engine->server->replicas(bridge::NowNs(), {ndc.bytes}) : 0;
}

uint64_t
IcnNameServerApplication::GetQueries() const
{
    return m_queries;
}

uint64_t
IcnNameServerApplication::GetRegistrations() const
{
    return m_registrations;
}

uint64_t
IcnNameServerApplication::GetMalformed() const
{
    return m_malformed;
}

void
IcnNameServerApplication::StartApplication()
{
    NS_LOG_FUNCTION(this);
    const auto lifetime = static_cast<uint64_t>(m_maxLifetime.GetNanoSeconds());
    m_engine = std::make_unique<Engine>(
        Engine{ferrocc::icn::new_name_server(lifetime, m_maxReplicas, m_maxNames), {}});
    for (const auto& [ndc, address, cost] : m_provisioned)
    {
        m_engine->server->provision({ndc.bytes}, bridge::FromAddress(address), cost);
    }
    const uint16_t port = ferrocc::icn::name_port();
    const auto listen = [this](const Address& local) {
        auto socket = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
        NS_ABORT_MSG_IF(socket->Bind(local) != 0,
                        "node " << GetNode()->GetId() << " has a name server already");
        socket->SetRecvCallback(MakeCallback(&IcnNameServerApplication::Receive, this));
        m_sockets.push_back(socket);
    };
    if (GetNode()->GetObject<Ipv4>())
    {
        listen(InetSocketAddress(Ipv4Address::GetAny(), port));
    }
    if (GetNode()->GetObject<Ipv6>())
    {
        listen(Inet6SocketAddress(Ipv6Address::GetAny(), port));
    }
}

void
IcnNameServerApplication::StopApplication()
{
    NS_LOG_FUNCTION(this);
    for (const auto& socket : m_sockets)
    {
        socket->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
        socket->Close();
    }
    m_sockets.clear();
    m_subscribers.clear();
    m_engine.reset();
}

void
IcnNameServerApplication::Receive(Ptr<Socket> socket)
{
    Address from;
    while (const Ptr<Packet> packet = socket->RecvFrom(from))
    {
        NS_LOG_LOGIC("request of " << packet->GetSize() << " bytes");
        if (m_failed)
        {
            continue;
        }
        if (m_processingTime.IsZero())
        {
            Serve(socket, packet, from);
            continue;
        }
        m_busyUntil = std::max(m_busyUntil, Simulator::Now()) + m_processingTime;
        Simulator::Schedule(m_busyUntil - Simulator::Now(),
                            &IcnNameServerApplication::Serve,
                            this,
                            socket,
                            packet,
                            from);
    }
}

void
IcnNameServerApplication::Serve(Ptr<Socket> socket, Ptr<Packet> packet, const Address& from)
{
    NS_LOG_FUNCTION(this << packet);
    if (m_failed || !m_engine)
    {
        return;
    }
    auto& bytes = m_engine->bytes;
    bytes.resize(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    const Address sender = InetSocketAddress::IsMatchingType(from)
                               ? Address(InetSocketAddress::ConvertFrom(from).GetIpv4())
                               : Address(Inet6SocketAddress::ConvertFrom(from).GetIpv6());
    const auto step = m_engine->server->on_message(bridge::NowNs(),
                                                   bridge::FromAddress(sender),
                                                   {bytes.data(), bytes.size()});
    m_queries = step.queries;
    m_registrations = step.registrations;
    m_malformed = step.malformed;
    if (step.subscribed)
    {
        m_subscribers[sender] = {socket, from};
    }
    for (const auto& announcement : step.announcements)
    {
        const auto found = m_subscribers.find(bridge::ToAddress(announcement.to));
        if (found != m_subscribers.end())
        {
            const uint8_t* begin = step.bytes.data() + announcement.bytes.offset;
            found->second.socket->SendTo(Create<Packet>(begin, announcement.bytes.length),
                                         0,
                                         found->second.address);
        }
    }
    if (!step.reply.empty())
    {
        socket->SendTo(Create<Packet>(step.reply.data(), static_cast<uint32_t>(step.reply.size())),
                       0,
                       from);
    }
}

void
IcnNameServerApplication::DoDispose()
{
    NS_LOG_FUNCTION(this);
    StopApplication();
    Application::DoDispose();
}

} // namespace ns3
