// SPDX-License-Identifier: GPL-2.0-only

#include "icn-session.h"

#include "ferrocc-ffi/src/transport.rs.h"
#include "icn-address-bridge.h"
#include "icn-header.h"
#include "icn-l4-protocol.h"
#include "icn-name-client.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <limits>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IcnSession");

NS_OBJECT_ENSURE_REGISTERED(IcnSession);

/// The session's engine; its type is known to this file only.
struct IcnSession::Engine
{
    rust::Box<ferrocc::icn::Session> session; //!< It.
};

TypeId
IcnSession::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::IcnSession")
            .SetParent<Object>()
            .SetGroupName("Ferrocc")
            .AddConstructor<IcnSession>()
            .AddAttribute("Resolution",
                          "Where the list of replicas comes from: server (a name server), table "
                          "(looked up without a packet), address (configured, the same for ever) "
                          "or edge (the same, but of a router that binds REQs to sources)",
                          StringValue("server"),
                          MakeStringAccessor(&IcnSession::m_resolution),
                          MakeStringChecker())
            .AddAttribute("ReplicaChoice",
                          "Which replica is taken: listed (the first), nearest (the lowest "
                          "registered cost), lowest-rtt (the first to answer a probe) or random",
                          StringValue("listed"),
                          MakeStringAccessor(&IcnSession::m_choice),
                          MakeStringChecker())
            .AddAttribute("NameTimeout",
                          "Time until a request to the name server is repeated for the first "
                          "time; doubles each time. Holds for probes of replicas, too",
                          TimeValue(Seconds(1)), // RFC 8085, section 3.1.1
                          MakeTimeAccessor(&IcnSession::m_nameTimeout),
                          MakeTimeChecker(MilliSeconds(1), Seconds(60)))
            .AddAttribute("NameTries",
                          "How often a request is sent until it has failed",
                          UintegerValue(5),
                          MakeUintegerAccessor(&IcnSession::m_nameTries),
                          MakeUintegerChecker<uint32_t>(1, 16))
            .AddAttribute("SwitchAfterTimeouts",
                          "Expiries of the retransmission timer in a row after which a replica is "
                          "left",
                          UintegerValue(3),
                          MakeUintegerAccessor(&IcnSession::m_switchAfterTimeouts),
                          MakeUintegerChecker<uint32_t>(1, 100))
            .AddAttribute("SwitchBelow",
                          "Fraction of the best goodput below which, for 2 s, a replica is left; "
                          "zero for never",
                          DoubleValue(0),
                          MakeDoubleAccessor(&IcnSession::m_switchBelow),
                          MakeDoubleChecker<double>(0, 0.999))
            .AddAttribute("GiveUp",
                          "Time without a new byte after which the transfer has failed",
                          TimeValue(Seconds(60)),
                          MakeTimeAccessor(&IcnSession::m_giveUp),
                          MakeTimeChecker(MilliSeconds(1)))
            .AddTraceSource("Replica",
                            "REQs go to this replica from now on",
                            MakeTraceSourceAccessor(&IcnSession::m_replicaTrace),
                            "ns3::IcnSession::ReplicaTracedCallback")
            .AddTraceSource("Failed",
                            "The transfer has failed",
                            MakeTraceSourceAccessor(&IcnSession::m_failedTrace),
                            "ns3::IcnSession::FailedTracedCallback");
    return tid;
}

IcnSession::IcnSession()
    : m_nameTries(0),
      m_switchAfterTimeouts(0),
      m_switchBelow(0),
      m_client(CreateObject<IcnNameClient>()),
      m_draw(CreateObject<UniformRandomVariable>()),
      m_running(false)
{
}

IcnSession::~IcnSession() = default;

void
IcnSession::SetReceiver(Ptr<IcnReceiver> receiver)
{
    NS_LOG_FUNCTION(this << receiver);
    m_receiver = receiver;
}

void
IcnSession::SetNameServer(const Address& server)
{
    NS_LOG_FUNCTION(this << server);
    m_server = server;
}

void
IcnSession::SetTable(Table table)
{
    m_table = table;
}

void
IcnSession::Configure()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(m_engine, "a session is configured once");
    NS_ABORT_MSG_UNLESS(m_receiver, "a session needs a receiver before it is configured");
    m_receiver->Configure();
    const Ptr<Node> node = m_receiver->GetNode();

    ferrocc::icn::SessionConfig config;
    config.resolution = m_resolution;
    config.choice = m_choice;
    config.timeout_ns = static_cast<uint64_t>(m_nameTimeout.GetNanoSeconds());
    config.tries = m_nameTries;
    config.switch_after_timeouts = m_switchAfterTimeouts;
    config.switch_below = m_switchBelow;
    config.give_up_ns = static_cast<uint64_t>(m_giveUp.GetNanoSeconds());
    config.ipv4 = node->GetObject<Ipv4>() != nullptr;
    config.ipv6 = node->GetObject<Ipv6>() != nullptr;
    config.draw = Draw();
    m_engine = std::make_unique<Engine>(
        Engine{ferrocc::icn::new_session(config,
                                         {m_receiver->GetDeviceEid().bytes},
                                         {m_receiver->GetNdc().bytes})});
    NS_ABORT_MSG_IF(m_resolution == "server" && m_server.IsInvalid(),
                    "a session needs a name server: SetNameServer()");
    NS_ABORT_MSG_IF(m_resolution != "server" && m_table.IsNull(),
                    "a session needs a table: SetTable()");
}

void
IcnSession::Start()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(m_running, "a session is started once");
    if (!m_engine)
    {
        try
        {
            Configure();
        }
        catch (const std::exception& error)
        {
            NS_ABORT_MSG(error.what());
        }
    }
    m_running = true;
    m_receiver->SetEmptyDataCallback(MakeCallback(&IcnSession::OnEmptyData, this));
    m_receiver->TraceConnectWithoutContext("Timeouts", MakeCallback(&IcnSession::OnRto, this));
    m_receiver->TraceConnectWithoutContext("Completed",
                                           MakeCallback(&IcnSession::OnCompleted, this));
    m_receiver->Attach();
    if (m_resolution == "server")
    {
        m_client->Open(m_receiver->GetNode(), m_server, MakeCallback(&IcnSession::OnMessage, this));
    }
    Apply(m_engine->session->start(bridge::NowNs(), Draw()));
}

void
IcnSession::SwitchTo(const Address& replica)
{
    NS_LOG_FUNCTION(this << replica);
    if (m_running)
    {
        Apply(m_engine->session->switch_to(bridge::NowNs(), bridge::FromAddress(replica), Draw()));
    }
}

void
IcnSession::NotifyMoved(const Address& edge)
{
    NS_LOG_FUNCTION(this << edge);
    if (!m_running)
    {
        return;
    }
    if (!edge.IsInvalid() && !m_replica.IsInvalid())
    {
        m_engine->session->relocate(bridge::FromAddress(edge));
        m_replica = edge;
        m_replicaTrace(edge);
        m_receiver->SetReplica(edge);
    }
    m_receiver->NotifyPathChange(false);
}

void
IcnSession::Cancel()
{
    NS_LOG_FUNCTION(this);
    if (m_running)
    {
        Close();
        m_receiver->Cancel();
    }
}

void
IcnSession::Apply(const ferrocc::icn::SessionStep& step)
{
    for (const auto& datagram : step.datagrams)
    {
        m_client->Send(step.bytes.data() + datagram.offset, datagram.length);
    }
    const Ptr<IcnL4Protocol> protocol = m_receiver->GetNode()->GetObject<IcnL4Protocol>();
    for (const auto& probe : step.probes)
    {
        const Ptr<Packet> packet = Create<Packet>();
        packet->AddHeader(IcnHeader(step.bytes.data() + probe.header.offset, probe.header.length));
        protocol->SendPacket(packet, bridge::ToAddress(probe.address), 0);
    }
    m_timer.Cancel();
    if (step.next_timer_ns != std::numeric_limits<uint64_t>::max())
    {
        m_timer = Simulator::Schedule(bridge::Until(step.next_timer_ns), &IcnSession::Expire, this);
    }
    // Last: what follows may come back here.
    if (!step.failure.empty())
    {
        m_failure = std::string(step.failure);
        NS_LOG_INFO("failed: " << m_failure);
        Close();
        m_receiver->Cancel();
        m_failedTrace(m_failure);
    }
    else if (step.look_up)
    {
        LookUp();
    }
    else if (step.replica.family != 0)
    {
        UseReplica(bridge::ToAddress(step.replica));
    }
}

void
IcnSession::UseReplica(const Address& replica)
{
    NS_LOG_FUNCTION(this << replica);
    m_replica = replica;
    m_replicaTrace(replica);
    m_receiver->SetReplica(replica);
    if (m_receiver->IsRunning())
    {
        m_receiver->NotifyPathChange(true);
    }
    else
    {
        m_receiver->Open();
    }
}

void
IcnSession::LookUp()
{
    std::vector<ferrocc::icn::NodeLocator> list;
    for (const IcnLocator& locator : m_table(m_receiver->GetNdc()))
    {
        list.push_back({bridge::FromAddress(locator.address), locator.cost});
    }
    Apply(m_engine->session->on_list(bridge::NowNs(), {list.data(), list.size()}, Draw()));
}

void
IcnSession::OnMessage(const std::vector<uint8_t>& bytes)
{
    NS_LOG_FUNCTION(this << bytes.size());
    Apply(m_engine->session->on_message(bridge::NowNs(), {bytes.data(), bytes.size()}, Draw()));
}

void
IcnSession::OnEmptyData(const IcnHeader& header)
{
    NS_LOG_FUNCTION(this << header);
    if (m_running)
    {
        Apply(m_engine->session->on_empty_data(bridge::NowNs(),
                                               {header.GetBytes(), header.GetSerializedSize()},
                                               m_receiver->GetEngine(),
                                               Draw()));
    }
}

void
IcnSession::OnRto(uint64_t /* before */, uint64_t now)
{
    NS_LOG_FUNCTION(this << now);
    // The receiver is in the middle of its own event.
    m_rto = Simulator::ScheduleNow(&IcnSession::TellRto, this);
}

void
IcnSession::TellRto()
{
    if (m_running)
    {
        Apply(m_engine->session->on_rto(bridge::NowNs(), m_receiver->GetDelivered(), Draw()));
    }
}

void
IcnSession::OnCompleted(Ptr<IcnReceiver> /* receiver */)
{
    NS_LOG_FUNCTION(this);
    Close();
}

void
IcnSession::Expire()
{
    NS_LOG_FUNCTION(this);
    Apply(m_engine->session->on_timeout(bridge::NowNs(), m_receiver->GetDelivered(), Draw()));
}

void
IcnSession::Close()
{
    m_running = false;
    m_timer.Cancel();
    m_rto.Cancel();
    m_client->Close();
    if (m_engine)
    {
        m_engine->session->end();
    }
}

double
IcnSession::Draw()
{
    return m_draw->GetValue(0.0, 1.0);
}

const Address&
IcnSession::GetReplica() const
{
    return m_replica;
}

uint64_t
IcnSession::GetSwitches() const
{
    return m_engine ? m_engine->session->switches() : 0;
}

bool
IcnSession::IsResolved() const
{
    return m_engine && m_engine->session->resolve_ns() != std::numeric_limits<uint64_t>::max();
}

Time
IcnSession::GetResolveTime() const
{
    NS_ABORT_MSG_UNLESS(IsResolved(), "there has been no list of replicas");
    return NanoSeconds(m_engine->session->resolve_ns());
}

const std::string&
IcnSession::GetFailure() const
{
    return m_failure;
}

int64_t
IcnSession::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    m_draw->SetStream(stream);
    return 1;
}

void
IcnSession::DoDispose()
{
    NS_LOG_FUNCTION(this);
    Close();
    if (m_receiver)
    {
        m_receiver->SetEmptyDataCallback(MakeNullCallback<void, const IcnHeader&>());
        m_receiver->TraceDisconnectWithoutContext("Timeouts",
                                                  MakeCallback(&IcnSession::OnRto, this));
        m_receiver->TraceDisconnectWithoutContext("Completed",
                                                  MakeCallback(&IcnSession::OnCompleted, this));
    }
    m_client->Dispose();
    m_table.Nullify();
    m_receiver = nullptr;
    Object::DoDispose();
}

} // namespace ns3
