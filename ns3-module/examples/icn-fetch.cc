// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * @ingroup ferrocc
 *
 * A receiver fetches 1 MB from a replica over one link:
 *
 *   receiver (10.0.0.2) ---- 10 Mbps, 10 ms ---- replica (10.0.0.1)
 */

#include "ns3/core-module.h"
#include "ns3/icn-receiver-application.h"
#include "ns3/icn-replica-application.h"
#include "ns3/icn-stack-helper.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-hashed-routing-helper.h"
#include "ns3/ipv4-hashed-routing.h"
#include "ns3/link-helper.h"
#include "ns3/network-module.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string controller = "copa-icn";
    uint64_t size = 1'000'000;
    CommandLine cmd(__FILE__);
    cmd.AddValue("controller", "Congestion controller", controller);
    cmd.AddValue("size", "Size of the content, bytes", size);
    cmd.Parse(argc, argv);

    NodeContainer nodes(2);
    const Ipv4HashedRoutingHelper routing;
    InternetStackHelper internet;
    internet.SetRoutingHelper(routing);
    internet.Install(nodes);
    IcnStackHelper().Install(nodes);

    LinkSpec spec;
    spec.rate = DataRate("10Mbps");
    spec.delay = MilliSeconds(10);
    spec.buffer = "50p";
    spec.priority = true;
    const Link link = LinkHelper().Install(nodes.Get(0), nodes.Get(1), spec);
    const auto& [a, b] = link.ends;
    routing.GetRouting(nodes.Get(0))->SetDefaultRoute(b.address, a.interface);
    routing.GetRouting(nodes.Get(1))->SetDefaultRoute(a.address, b.interface);

    auto replica = CreateObject<IcnReplicaApplication>();
    nodes.Get(0)->AddApplication(replica);
    auto application = CreateObject<IcnReceiverApplication>();
    nodes.Get(1)->AddApplication(application);
    application->SetStartTime(MilliSeconds(100));
    const Ptr<IcnReceiver> receiver = application->GetReceiver();
    receiver->SetAttribute("Controller", StringValue(controller));
    receiver->SetReplica(a.address);
    receiver->SetNdc(replica->AddVirtual("/example/content", size));

    Simulator::Stop(Seconds(60));
    Simulator::Run();
    std::cout << (receiver->IsCompleted() ? "complete at " : "not complete: ")
              << receiver->GetCompletionTime().As(Time::S) << std::endl;
    const int result = receiver->IsCompleted() ? 0 : 1;
    Simulator::Destroy();
    return result;
}
