// SPDX-License-Identifier: GPL-2.0-only

#include "icn-receiver-application.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/pointer.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("IcnReceiverApplication");

NS_OBJECT_ENSURE_REGISTERED(IcnReceiverApplication);

TypeId
IcnReceiverApplication::GetTypeId()
{
    static TypeId tid = TypeId("ns3::IcnReceiverApplication")
                            .SetParent<Application>()
                            .SetGroupName("Ferrocc")
                            .AddConstructor<IcnReceiverApplication>()
                            .AddAttribute("Receiver",
                                          "The receiver, with its attributes and trace sources",
                                          TypeId::ATTR_GET,
                                          PointerValue(),
                                          MakePointerAccessor(&IcnReceiverApplication::m_receiver),
                                          MakePointerChecker<IcnReceiver>());
    return tid;
}

IcnReceiverApplication::IcnReceiverApplication()
    : m_receiver(CreateObject<IcnReceiver>())
{
}

IcnReceiverApplication::~IcnReceiverApplication() = default;

Ptr<IcnReceiver>
IcnReceiverApplication::GetReceiver() const
{
    return m_receiver;
}

int64_t
IcnReceiverApplication::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    return m_receiver->AssignStreams(stream);
}

void
IcnReceiverApplication::DoDispose()
{
    NS_LOG_FUNCTION(this);
    if (m_receiver)
    {
        m_receiver->Dispose();
        m_receiver = nullptr;
    }
    Application::DoDispose();
}

void
IcnReceiverApplication::StartApplication()
{
    NS_LOG_FUNCTION(this);
    m_receiver->SetNode(GetNode());
    m_receiver->Open();
}

void
IcnReceiverApplication::StopApplication()
{
    NS_LOG_FUNCTION(this);
    m_receiver->Cancel();
}

} // namespace ns3
