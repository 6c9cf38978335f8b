// SPDX-License-Identifier: GPL-2.0-only

#include "icn-off-path-cache-application.h"

#include "ferrocc-ffi/src/router.rs.h"
#include "icn-address-bridge.h"
#include "icn-l4-protocol.h"
#include "icn-name-client.h"
#include "icn-receiver.h"
#include "icn-router-cache-application.h"
#include "icn-session.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <limits>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IcnOffPathCacheApplication");

NS_OBJECT_ENSURE_REGISTERED(IcnOffPathCacheApplication);

/// The subscriber; its type is known to this file only.
struct IcnOffPathCacheApplication::Engine
{
    rust::Box<ferrocc::router::Subscriber> subscriber; //!< It.
};

TypeId
IcnOffPathCacheApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::IcnOffPathCacheApplication")
            .SetParent<Application>()
            .SetGroupName("Ferrocc")
            .AddConstructor<IcnOffPathCacheApplication>()
            .AddAttribute("NameServer",
                          "Address of the name server",
                          AddressValue(),
                          MakeAddressAccessor(&IcnOffPathCacheApplication::m_nameServer),
                          MakeAddressChecker())
            .AddAttribute(
                "Placement",
                "Which announced NDCs are fetched: lce (all), probabilistic or lcd (none)",
                StringValue("lce"),
                MakeStringAccessor(&IcnOffPathCacheApplication::m_placement),
                MakeStringChecker())
            .AddAttribute("Probability",
                          "Probability of a fetch under the placement probabilistic",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&IcnOffPathCacheApplication::m_probability),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("Controller",
                          "Congestion controller of the fetches",
                          StringValue("copa-icn"),
                          MakeStringAccessor(&IcnOffPathCacheApplication::m_controller),
                          MakeStringChecker())
            .AddAttribute("ControllerParams",
                          "Parameters of the controller, a JSON object; empty for its defaults",
                          StringValue(""),
                          MakeStringAccessor(&IcnOffPathCacheApplication::m_controllerParams),
                          MakeStringChecker())
            .AddAttribute("Options",
                          "Options of the fetches' transport, as in IcnReceiver; empty for its "
                          "attributes",
                          StringValue(""),
                          MakeStringAccessor(&IcnOffPathCacheApplication::m_options),
                          MakeStringChecker())
            .AddAttribute("ReplicaChoice",
                          "How a fetch chooses its source, as in IcnSession",
                          StringValue("nearest"),
                          MakeStringAccessor(&IcnOffPathCacheApplication::m_choice),
                          MakeStringChecker())
            .AddAttribute("Lifetime",
                          "For how long to subscribe; renewed at half of it",
                          TimeValue(Minutes(5)),
                          MakeTimeAccessor(&IcnOffPathCacheApplication::m_lifetime),
                          MakeTimeChecker(MilliSeconds(1)))
            .AddAttribute("NameTimeout",
                          "Time until a request is repeated for the first time; doubles each time",
                          TimeValue(Seconds(1)), // RFC 8085, section 3.1.1
                          MakeTimeAccessor(&IcnOffPathCacheApplication::m_nameTimeout),
                          MakeTimeChecker(MilliSeconds(1), Seconds(60)))
            .AddAttribute("NameTries",
                          "How often a request is sent until it has failed",
                          UintegerValue(5),
                          MakeUintegerAccessor(&IcnOffPathCacheApplication::m_nameTries),
                          MakeUintegerChecker<uint32_t>(1, 16))
            .AddAttribute("MaxFetches",
                          "Most fetches at once; the other NDCs wait",
                          UintegerValue(1),
                          MakeUintegerAccessor(&IcnOffPathCacheApplication::m_maxFetches),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("MaxWaiting",
                          "Most NDCs that wait; the oldest goes for a new one",
                          UintegerValue(1000),
                          MakeUintegerAccessor(&IcnOffPathCacheApplication::m_maxWaiting),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Verify",
                          "Whether the payload is real and its hash is compared with the NDC's EID",
                          BooleanValue(false),
                          MakeBooleanAccessor(&IcnOffPathCacheApplication::m_verify),
                          MakeBooleanChecker())
            .AddTraceSource("Fetched",
                            "A fetch has ended, well or not",
                            MakeTraceSourceAccessor(&IcnOffPathCacheApplication::m_fetchedTrace),
                            "ns3::IcnOffPathCacheApplication::FetchedTracedCallback");
    return tid;
}

IcnOffPathCacheApplication::IcnOffPathCacheApplication()
    : m_probability(0),
      m_nameTries(0),
      m_maxFetches(0),
      m_maxWaiting(0),
      m_verify(false),
      m_client(CreateObject<IcnNameClient>()),
      m_draw(CreateObject<UniformRandomVariable>()),
      m_stream(-1),
      m_announced(0),
      m_declined(0),
      m_fetched(0),
      m_failed(0)
{
}

IcnOffPathCacheApplication::~IcnOffPathCacheApplication() = default;

void
IcnOffPathCacheApplication::SetCache(Ptr<IcnRouterCacheApplication> cache)
{
    NS_LOG_FUNCTION(this << cache);
    m_cache = cache;
}

void
IcnOffPathCacheApplication::StartApplication()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_UNLESS(m_cache, "an off-path cache needs a cache: SetCache()");
    NS_ABORT_MSG_IF(m_nameServer.IsInvalid(), "an off-path cache needs a name server");
    m_protocol = GetNode()->GetObject<IcnL4Protocol>();
    NS_ABORT_MSG_UNLESS(m_protocol, "node " << GetNode()->GetId() << " has no IcnL4Protocol");
    m_client->Open(GetNode(),
                   m_nameServer,
                   MakeCallback(&IcnOffPathCacheApplication::OnMessage, this));
    ferrocc::router::SubscriberConfig config;
    config.address = bridge::FromAddress(m_client->GetLocalAddress());
    NS_ABORT_MSG_IF(config.address.family == 0,
                    "node " << GetNode()->GetId() << " has no route to its name server");
    config.placement = m_placement;
    config.probability = m_probability;
    config.lifetime_ns = static_cast<uint64_t>(m_lifetime.GetNanoSeconds());
    config.timeout_ns = static_cast<uint64_t>(m_nameTimeout.GetNanoSeconds());
    config.tries = m_nameTries;
    config.max_fetches = m_maxFetches;
    config.max_waiting = m_maxWaiting;
    config.draw = Draw();
    try
    {
        m_engine = std::make_unique<Engine>(Engine{ferrocc::router::new_subscriber(config)});
    }
    catch (const std::exception& error)
    {
        NS_ABORT_MSG(error.what());
    }
    m_protocol->TraceConnectWithoutContext("Data",
                                           MakeCallback(&IcnOffPathCacheApplication::OnData, this));
    Apply(m_engine->subscriber->start(bridge::NowNs(), Draw()));
}

void
IcnOffPathCacheApplication::StopApplication()
{
    NS_LOG_FUNCTION(this);
    m_timer.Cancel();
    m_clear.Cancel();
    m_client->Close();
    for (const auto& [ndc, fetch] : m_fetches)
    {
        m_ended.push_back(fetch);
    }
    m_fetches.clear();
    // Without an engine nothing that waits is begun.
    const bool isStarted = m_engine != nullptr;
    m_engine.reset();
    Clear();
    if (isStarted)
    {
        m_protocol->TraceDisconnectWithoutContext(
            "Data",
            MakeCallback(&IcnOffPathCacheApplication::OnData, this));
        m_protocol = nullptr;
    }
}

void
IcnOffPathCacheApplication::Apply(const ferrocc::router::SubscriberStep& step)
{
    for (const auto& datagram : step.datagrams)
    {
        m_client->Send(step.bytes.data() + datagram.offset, datagram.length);
    }
    m_announced = step.announced;
    m_declined = step.declined;
    m_timer.Cancel();
    if (step.next_timer_ns != std::numeric_limits<uint64_t>::max())
    {
        m_timer = Simulator::Schedule(bridge::Until(step.next_timer_ns),
                                      &IcnOffPathCacheApplication::Expire,
                                      this);
    }
    std::vector<IcnEid> begun;
    for (const auto& ndc : step.fetch)
    {
        begun.push_back(IcnEid{ndc.bytes});
    }
    for (const IcnEid& ndc : begun)
    {
        Begin(ndc);
    }
}

void
IcnOffPathCacheApplication::Begin(const IcnEid& ndc)
{
    NS_LOG_FUNCTION(this << ndc);
    Fetch fetch{CreateObject<IcnReceiver>(), CreateObject<IcnSession>()};
    fetch.receiver->SetAttribute("Controller", StringValue(m_controller));
    fetch.receiver->SetAttribute("ControllerParams", StringValue(m_controllerParams));
    fetch.receiver->SetAttribute("Options", StringValue(m_options));
    fetch.receiver->SetAttribute("Verify", BooleanValue(m_verify));
    fetch.receiver->SetNode(GetNode());
    fetch.receiver->SetNdc(ndc);
    fetch.session->SetAttribute("ReplicaChoice", StringValue(m_choice));
    fetch.session->SetAttribute("NameTimeout", TimeValue(m_nameTimeout));
    fetch.session->SetAttribute("NameTries", UintegerValue(m_nameTries));
    fetch.session->SetReceiver(fetch.receiver);
    fetch.session->SetNameServer(m_nameServer);
    if (m_stream >= 0)
    {
        // One pair for all fetches, since their number is not known beforehand.
        fetch.receiver->AssignStreams(m_stream);
        fetch.session->AssignStreams(m_stream + 1);
    }
    fetch.receiver->TraceConnectWithoutContext(
        "Completed",
        MakeCallback(&IcnOffPathCacheApplication::OnCompleted, this));
    fetch.session->TraceConnectWithoutContext(
        "Failed",
        MakeCallback(&IcnOffPathCacheApplication::OnFailed, this));
    m_fetches.emplace(ndc, fetch);
    fetch.session->Start();
}

void
IcnOffPathCacheApplication::OnData(Ptr<const Packet> packet, uint8_t hopLimit)
{
    m_cache->TakeData(*packet, hopLimit);
}

void
IcnOffPathCacheApplication::OnCompleted(Ptr<IcnReceiver> receiver)
{
    NS_LOG_FUNCTION(this << receiver);
    const IcnEid ndc = receiver->GetNdc();
    const auto found = m_fetches.find(ndc);
    if (found == m_fetches.end())
    {
        return;
    }
    m_ended.push_back(found->second);
    m_fetches.erase(found);
    m_fetched++;
    m_fetchedTrace(ndc, "");
    if (m_clear.IsExpired())
    {
        m_clear = Simulator::ScheduleNow(&IcnOffPathCacheApplication::Clear, this);
    }
}

void
IcnOffPathCacheApplication::OnFailed(const std::string& failure)
{
    NS_LOG_FUNCTION(this << failure);
    for (auto it = m_fetches.begin(); it != m_fetches.end();)
    {
        if (it->second.session->GetFailure().empty())
        {
            ++it;
            continue;
        }
        m_failed++;
        m_fetchedTrace(it->first, failure);
        m_ended.push_back(it->second);
        it = m_fetches.erase(it);
    }
    if (m_clear.IsExpired())
    {
        m_clear = Simulator::ScheduleNow(&IcnOffPathCacheApplication::Clear, this);
    }
}

void
IcnOffPathCacheApplication::Clear()
{
    NS_LOG_FUNCTION(this);
    const std::vector<Fetch> ended = std::move(m_ended);
    m_ended.clear();
    for (const Fetch& fetch : ended)
    {
        const IcnEid ndc = fetch.receiver->GetNdc();
        fetch.session->Dispose();
        fetch.receiver->Dispose();
        if (m_engine)
        {
            Apply(m_engine->subscriber->on_fetched({ndc.bytes}));
        }
    }
}

void
IcnOffPathCacheApplication::OnMessage(const std::vector<uint8_t>& bytes)
{
    NS_LOG_FUNCTION(this << bytes.size());
    Apply(m_engine->subscriber->on_message(bridge::NowNs(),
                                           {bytes.data(), bytes.size()},
                                           m_cache->GetEngine(),
                                           Draw()));
}

void
IcnOffPathCacheApplication::Expire()
{
    NS_LOG_FUNCTION(this);
    Apply(m_engine->subscriber->on_timeout(bridge::NowNs(), Draw()));
}

double
IcnOffPathCacheApplication::Draw()
{
    return m_draw->GetValue(0.0, 1.0);
}

uint64_t
IcnOffPathCacheApplication::GetAnnounced() const
{
    return m_announced;
}

uint64_t
IcnOffPathCacheApplication::GetDeclined() const
{
    return m_declined;
}

uint64_t
IcnOffPathCacheApplication::GetFetched() const
{
    return m_fetched;
}

uint64_t
IcnOffPathCacheApplication::GetFailed() const
{
    return m_failed;
}

int64_t
IcnOffPathCacheApplication::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    m_draw->SetStream(stream);
    m_stream = stream + 1;
    return 3;
}

void
IcnOffPathCacheApplication::DoDispose()
{
    NS_LOG_FUNCTION(this);
    StopApplication();
    m_client->Dispose();
    m_cache = nullptr;
    Application::DoDispose();
}

} // namespace ns3
