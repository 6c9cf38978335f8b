// SPDX-License-Identifier: GPL-2.0-only

#include "icn-binding-application.h"

#include "ferrocc-ffi/src/router.rs.h"
#include "icn-address-bridge.h"
#include "icn-header.h"
#include "icn-l4-protocol.h"
#include "icn-name-client.h"
#include "ipv4-hashed-routing.h"
#include "ipv6-hashed-routing.h"

#include "ns3/abort.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/ipv6-route.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <limits>
#include <unordered_map>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IcnBindingApplication");

NS_OBJECT_ENSURE_REGISTERED(IcnBindingApplication);

namespace
{

/**
 * @param header A header.
 * @return Its bytes.
 */
rust::Slice<const uint8_t>
Bytes(const IcnHeader& header)
{
    return {header.GetBytes(), header.GetSerializedSize()};
}

} // namespace

/// A REQ that waits to be bound.
struct IcnBindingApplication::Held
{
    IcnHeader header;   //!< Its ICN header.
    Ptr<Packet> packet; //!< The packet, with the ICN header.
    Address source;     //!< Who asks.
    uint8_t hopLimit;   //!< The hop limit that it came with.
};

/// The engine, whose type is known to this file only, and the REQs that wait.
struct IcnBindingApplication::Engine
{
    rust::Box<ferrocc::router::Binder> binder; //!< It.
    /// REQs that wait, by NDC.
    std::unordered_map<IcnEid, std::vector<Held>, IcnEidHash> held;
};

TypeId
IcnBindingApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::IcnBindingApplication")
            .SetParent<Application>()
            .SetGroupName("Ferrocc")
            .AddConstructor<IcnBindingApplication>()
            .AddAttribute("NameServer",
                          "Address of the name server",
                          AddressValue(),
                          MakeAddressAccessor(&IcnBindingApplication::m_nameServer),
                          MakeAddressChecker())
            .AddAttribute("Mode",
                          "Which REQs are bound: edge (those sent to this router) or path (those "
                          "that it forwards, too)",
                          StringValue("edge"),
                          MakeStringAccessor(&IcnBindingApplication::m_mode),
                          MakeStringChecker())
            .AddAttribute("Choice",
                          "Which source is taken: nearest (the lowest registered cost), listed "
                          "(the first) or random",
                          StringValue("nearest"),
                          MakeStringAccessor(&IcnBindingApplication::m_choice),
                          MakeStringChecker())
            .AddAttribute("Lifetime",
                          "Age at which a list of sources is asked for again",
                          TimeValue(Seconds(1)),
                          MakeTimeAccessor(&IcnBindingApplication::m_lifetime),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("NameTimeout",
                          "Time until a query is repeated for the first time; doubles each time",
                          TimeValue(Seconds(1)), // RFC 8085, section 3.1.1
                          MakeTimeAccessor(&IcnBindingApplication::m_nameTimeout),
                          MakeTimeChecker(MilliSeconds(1), Seconds(60)))
            .AddAttribute("NameTries",
                          "How often a query is sent until it has failed",
                          UintegerValue(5),
                          MakeUintegerAccessor(&IcnBindingApplication::m_nameTries),
                          MakeUintegerChecker<uint32_t>(1, 16))
            .AddAttribute("MaxHeld",
                          "Most REQs that wait for the name server; further ones are dropped",
                          UintegerValue(1000),
                          MakeUintegerAccessor(&IcnBindingApplication::m_maxHeld),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("SilentAfter",
                          "Time from a transfer's first REQ without DATA until its source may be "
                          "suspected",
                          TimeValue(Seconds(1)), // RFC 6298's first timeout
                          MakeTimeAccessor(&IcnBindingApplication::m_silentAfter),
                          MakeTimeChecker(MilliSeconds(1)))
            .AddAttribute("SilentRequests",
                          "REQs without DATA after which, and SilentAfter, the source is suspected",
                          UintegerValue(3),
                          MakeUintegerAccessor(&IcnBindingApplication::m_silentRequests),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("SuspectTime",
                          "For how long a suspect is chosen only if there is no other source, and "
                          "a source that says \"not here\" is not chosen",
                          TimeValue(Seconds(10)),
                          MakeTimeAccessor(&IcnBindingApplication::m_suspectTime),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("RefusalLifetime",
                          "For how long a refusal is repeated without another query",
                          TimeValue(Seconds(1)),
                          MakeTimeAccessor(&IcnBindingApplication::m_refusalLifetime),
                          MakeTimeChecker(Time(0)))
            .AddTraceSource("Bound",
                            "A transfer is bound to a source, the first one or another one",
                            MakeTraceSourceAccessor(&IcnBindingApplication::m_boundTrace),
                            "ns3::IcnBindingApplication::BoundTracedCallback")
            .AddTraceSource("Refused",
                            "A REQ cannot be bound, and is answered by a refusal",
                            MakeTraceSourceAccessor(&IcnBindingApplication::m_refusedTrace),
                            "ns3::IcnBindingApplication::RefusedTracedCallback");
    return tid;
}

IcnBindingApplication::IcnBindingApplication()
    : m_nameTries(0),
      m_maxHeld(0),
      m_silentRequests(0),
      m_client(CreateObject<IcnNameClient>()),
      m_draw(CreateObject<UniformRandomVariable>())
{
}

IcnBindingApplication::~IcnBindingApplication() = default;

void
IcnBindingApplication::StartApplication()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_UNLESS(m_mode == "edge" || m_mode == "path",
                        "binding mode: unknown \"" << m_mode << "\" (accepted: edge, path)");
    NS_ABORT_MSG_IF(m_nameServer.IsInvalid(), "a binding application needs a name server");
    m_protocol = GetNode()->GetObject<IcnL4Protocol>();
    NS_ABORT_MSG_UNLESS(m_protocol, "node " << GetNode()->GetId() << " has no IcnL4Protocol");
    ferrocc::router::BindingConfig config;
    config.choice = m_choice;
    config.lifetime_ns = static_cast<uint64_t>(m_lifetime.GetNanoSeconds());
    config.timeout_ns = static_cast<uint64_t>(m_nameTimeout.GetNanoSeconds());
    config.tries = m_nameTries;
    config.max_held = m_maxHeld;
    config.silent_after_ns = static_cast<uint64_t>(m_silentAfter.GetNanoSeconds());
    config.silent_requests = m_silentRequests;
    config.suspect_ns = static_cast<uint64_t>(m_suspectTime.GetNanoSeconds());
    config.refusal_ns = static_cast<uint64_t>(m_refusalLifetime.GetNanoSeconds());
    config.draw = Draw();
    try
    {
        m_engine = std::make_unique<Engine>(Engine{ferrocc::router::new_binder(config), {}});
    }
    catch (const std::exception& error)
    {
        NS_ABORT_MSG(error.what());
    }
    AddOwnAddresses();
    m_client->Open(GetNode(), m_nameServer, MakeCallback(&IcnBindingApplication::OnMessage, this));
    m_protocol->SetBinding(this);
    Listen(true);
}

void
IcnBindingApplication::StopApplication()
{
    NS_LOG_FUNCTION(this);
    m_timer.Cancel();
    m_client->Close();
    if (m_engine)
    {
        Listen(false);
        m_protocol->SetBinding(nullptr);
        m_protocol = nullptr;
        m_engine.reset();
    }
}

void
IcnBindingApplication::AddOwnAddresses()
{
    if (const auto ipv4 = GetNode()->GetObject<Ipv4>())
    {
        for (uint32_t i = 0; i < ipv4->GetNInterfaces(); i++)
        {
            for (uint32_t k = 0; k < ipv4->GetNAddresses(i); k++)
            {
                m_engine->binder->add_own(bridge::FromAddress(ipv4->GetAddress(i, k).GetLocal()));
            }
        }
    }
    if (const auto ipv6 = GetNode()->GetObject<Ipv6>())
    {
        for (uint32_t i = 0; i < ipv6->GetNInterfaces(); i++)
        {
            for (uint32_t k = 0; k < ipv6->GetNAddresses(i); k++)
            {
                m_engine->binder->add_own(bridge::FromAddress(ipv6->GetAddress(i, k).GetAddress()));
            }
        }
    }
}

void
IcnBindingApplication::Listen(bool on)
{
    const bool path = m_mode == "path";
    if (const auto ipv4 = GetNode()->GetObject<Ipv4L3Protocol>())
    {
        const auto forwarded = MakeCallback(&IcnBindingApplication::OnForward, this);
        on ? ipv4->TraceConnectWithoutContext("UnicastForward", forwarded)
           : ipv4->TraceDisconnectWithoutContext("UnicastForward", forwarded);
        const auto routing = DynamicCast<Ipv4HashedRouting>(ipv4->GetRoutingProtocol());
        NS_ABORT_MSG_IF(path && on && !routing, "binding on the path needs Ipv4HashedRouting");
        if (path && routing) // When the node is disposed of, routing may have gone before.
        {
            routing->SetInterceptor(on ? MakeCallback(&IcnBindingApplication::Intercept, this)
                                       : Ipv4HashedRouting::Interceptor());
        }
    }
    if (const auto ipv6 = GetNode()->GetObject<Ipv6L3Protocol>())
    {
        const auto forwarded = MakeCallback(&IcnBindingApplication::OnForward6, this);
        on ? ipv6->TraceConnectWithoutContext("UnicastForward", forwarded)
           : ipv6->TraceDisconnectWithoutContext("UnicastForward", forwarded);
        const auto routing = DynamicCast<Ipv6HashedRouting>(ipv6->GetRoutingProtocol());
        NS_ABORT_MSG_IF(path && on && !routing, "binding on the path needs Ipv6HashedRouting");
        if (path && routing) // When the node is disposed of, routing may have gone before.
        {
            routing->SetInterceptor(on ? MakeCallback(&IcnBindingApplication::Intercept6, this)
                                       : Ipv6HashedRouting::Interceptor());
        }
    }
}

void
IcnBindingApplication::Restart()
{
    NS_LOG_FUNCTION(this);
    m_timer.Cancel();
    if (m_engine)
    {
        m_engine->held.clear();
        m_engine->binder->restart(Draw());
    }
}

void
IcnBindingApplication::OnRequest(const IcnHeader& header,
                                 Ptr<Packet> packet,
                                 const Address& source,
                                 uint8_t hopLimit)
{
    NS_LOG_FUNCTION(this << header << source);
    const auto step = m_engine->binder->on_request(bridge::NowNs(), Bytes(header), Draw());
    Do(step, Held{header, packet, source, hopLimit});
    Apply(step);
}

void
IcnBindingApplication::Do(const ferrocc::router::BindingStep& step, Held&& request)
{
    using ferrocc::router::Action;
    const IcnEid ndc = request.header.GetDestination();
    switch (step.action)
    {
    case Action::Forward: {
        const Address to = bridge::ToAddress(step.address);
        if (step.bound)
        {
            m_boundTrace(ndc, to);
        }
        SendOn(request, to);
        break;
    }
    case Action::Hold:
        m_engine->held[ndc].push_back(std::move(request));
        break;
    case Action::Refuse: {
        const Ptr<Packet> answer = Create<Packet>();
        answer->AddHeader(IcnHeader(step.bytes.data() + step.refusal.offset, step.refusal.length));
        m_refusedTrace(ndc, std::string(step.reason));
        m_protocol->SendPacket(answer, request.source, 0);
        break;
    }
    default:
        break;
    }
}

void
IcnBindingApplication::Apply(const ferrocc::router::BindingStep& step)
{
    for (const auto& datagram : step.datagrams)
    {
        m_client->Send(step.bytes.data() + datagram.offset, datagram.length);
    }
    m_timer.Cancel();
    if (step.next_timer_ns != std::numeric_limits<uint64_t>::max())
    {
        m_timer = Simulator::Schedule(bridge::Until(step.next_timer_ns),
                                      &IcnBindingApplication::Expire,
                                      this);
    }
}

void
IcnBindingApplication::Settle(const ferrocc::router::BindingStep& step)
{
    // What follows needs the engine, whose answer the step is.
    std::vector<IcnEid> settled;
    for (const auto& ndc : step.settled)
    {
        settled.push_back(IcnEid{ndc.bytes});
    }
    Apply(step);
    for (const IcnEid& ndc : settled)
    {
        const auto found = m_engine->held.find(ndc);
        if (found == m_engine->held.end())
        {
            continue;
        }
        const std::vector<Held> waiting = std::move(found->second);
        m_engine->held.erase(found);
        for (const Held& request : waiting)
        {
            const auto next =
                m_engine->binder->release(bridge::NowNs(), Bytes(request.header), Draw());
            Do(next, Held(request));
            Apply(next);
        }
    }
}

void
IcnBindingApplication::SendOn(const Held& request, const Address& destination)
{
    if (request.hopLimit <= 1)
    {
        NS_LOG_LOGIC("the hop limit of a REQ is used up");
        return;
    }
    const auto hopLimit = static_cast<uint8_t>(request.hopLimit - 1);
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    if (Ipv4Address::IsMatchingType(destination))
    {
        const auto ipv4 = GetNode()->GetObject<Ipv4L3Protocol>();
        const auto to = Ipv4Address::ConvertFrom(destination);
        Ipv4Header header;
        header.SetDestination(to);
        const auto route =
            ipv4->GetRoutingProtocol()->RouteOutput(request.packet, header, nullptr, error);
        if (route)
        {
            SocketIpTtlTag tag;
            tag.SetTtl(hopLimit);
            request.packet->ReplacePacketTag(tag);
            ipv4->Send(request.packet,
                       Ipv4Address::ConvertFrom(request.source),
                       to,
                       IcnL4Protocol::PROT_NUMBER,
                       route);
        }
    }
    else
    {
        const auto ipv6 = GetNode()->GetObject<Ipv6L3Protocol>();
        const auto to = Ipv6Address::ConvertFrom(destination);
        Ipv6Header header;
        header.SetDestination(to);
        const auto route =
            ipv6->GetRoutingProtocol()->RouteOutput(request.packet, header, nullptr, error);
        if (route)
        {
            SocketIpv6HopLimitTag tag;
            tag.SetHopLimit(hopLimit);
            request.packet->ReplacePacketTag(tag);
            ipv6->Send(request.packet,
                       Ipv6Address::ConvertFrom(request.source),
                       to,
                       IcnL4Protocol::PROT_NUMBER,
                       route);
        }
    }
}

Ptr<NetDevice>
IcnBindingApplication::GetDeviceTowards(const Address& destination) const
{
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    if (Ipv4Address::IsMatchingType(destination))
    {
        Ipv4Header header;
        header.SetDestination(Ipv4Address::ConvertFrom(destination));
        const auto route = GetNode()->GetObject<Ipv4>()->GetRoutingProtocol()->RouteOutput(nullptr,
                                                                                           header,
                                                                                           nullptr,
                                                                                           error);
        return route ? route->GetOutputDevice() : nullptr;
    }
    Ipv6Header header;
    header.SetDestination(Ipv6Address::ConvertFrom(destination));
    const auto route = GetNode()->GetObject<Ipv6>()->GetRoutingProtocol()->RouteOutput(nullptr,
                                                                                       header,
                                                                                       nullptr,
                                                                                       error);
    return route ? route->GetOutputDevice() : nullptr;
}

bool
IcnBindingApplication::Intercept(Ptr<const Packet> packet,
                                 const Ipv4Header& header,
                                 Ptr<const NetDevice> device)
{
    return header.GetProtocol() == IcnL4Protocol::PROT_NUMBER && header.IsLastFragment() &&
           header.GetFragmentOffset() == 0 &&
           OnPassing(packet, header.GetSource(), header.GetDestination(), header.GetTtl(), device);
}

bool
IcnBindingApplication::Intercept6(Ptr<const Packet> packet,
                                  const Ipv6Header& header,
                                  Ptr<const NetDevice> device)
{
    return header.GetNextHeader() == IcnL4Protocol::PROT_NUMBER &&
           OnPassing(packet,
                     header.GetSource(),
                     header.GetDestination(),
                     header.GetHopLimit(),
                     device);
}

bool
IcnBindingApplication::OnPassing(Ptr<const Packet> packet,
                                 const Address& source,
                                 const Address& destination,
                                 uint8_t hopLimit,
                                 Ptr<const NetDevice> device)
{
    IcnHeader header;
    header.Peek(*packet);
    if (!header.IsRequest())
    {
        return false;
    }
    if (m_protocol->ServeInstead(header, source))
    {
        return true;
    }
    const auto step = m_engine->binder->on_passing(bridge::NowNs(),
                                                   Bytes(header),
                                                   bridge::FromAddress(destination),
                                                   Draw());
    bool taken = false;
    if (step.action == ferrocc::router::Action::Forward)
    {
        const Address to = bridge::ToAddress(step.address);
        // A REQ does not go back to where it came from: two routers with lists of different age
        // would send it to and fro.
        const auto out = GetDeviceTowards(to);
        taken = out && out != device;
        if (taken)
        {
            m_protocol->NotifyRequest(header);
            Do(step, Held{header, packet->Copy(), source, hopLimit});
        }
    }
    Apply(step);
    return taken;
}

void
IcnBindingApplication::OnForward(const Ipv4Header& header,
                                 Ptr<const Packet> packet,
                                 uint32_t /* interface */)
{
    if (header.GetProtocol() == IcnL4Protocol::PROT_NUMBER && header.IsLastFragment() &&
        header.GetFragmentOffset() == 0)
    {
        OnPacket(*packet, header.GetSource());
    }
}

void
IcnBindingApplication::OnForward6(const Ipv6Header& header,
                                  Ptr<const Packet> packet,
                                  uint32_t /* interface */)
{
    if (header.GetNextHeader() == IcnL4Protocol::PROT_NUMBER)
    {
        OnPacket(*packet, header.GetSource());
    }
}

void
IcnBindingApplication::OnPacket(const Packet& packet, const Address& source)
{
    IcnHeader header;
    header.Peek(packet);
    if (header.IsData())
    {
        const bool empty = packet.GetSize() == header.GetSerializedSize();
        m_engine->binder->on_data(bridge::NowNs(),
                                  {header.GetDestination().bytes},
                                  {header.GetSource().bytes},
                                  bridge::FromAddress(source),
                                  empty ? Bytes(header) : rust::Slice<const uint8_t>());
    }
}

void
IcnBindingApplication::OnMessage(const std::vector<uint8_t>& bytes)
{
    NS_LOG_FUNCTION(this << bytes.size());
    Settle(m_engine->binder->on_message(bridge::NowNs(), {bytes.data(), bytes.size()}));
}

void
IcnBindingApplication::Expire()
{
    NS_LOG_FUNCTION(this);
    Settle(m_engine->binder->on_timeout(bridge::NowNs(), Draw()));
}

double
IcnBindingApplication::Draw()
{
    return m_draw->GetValue(0.0, 1.0);
}

uint64_t
IcnBindingApplication::GetBound() const
{
    return m_engine ? m_engine->binder->stats().bound : 0;
}

uint64_t
IcnBindingApplication::GetRebound() const
{
    return m_engine ? m_engine->binder->stats().rebound : 0;
}

uint64_t
IcnBindingApplication::GetResolutions() const
{
    return m_engine ? m_engine->binder->stats().resolutions : 0;
}

uint64_t
IcnBindingApplication::GetRefused() const
{
    return m_engine ? m_engine->binder->stats().refused : 0;
}

uint64_t
IcnBindingApplication::GetDropped() const
{
    return m_engine ? m_engine->binder->stats().dropped : 0;
}

int64_t
IcnBindingApplication::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    m_draw->SetStream(stream);
    return 1;
}

void
IcnBindingApplication::DoDispose()
{
    NS_LOG_FUNCTION(this);
    StopApplication();
    m_client->Dispose();
    Application::DoDispose();
}

} // namespace ns3
