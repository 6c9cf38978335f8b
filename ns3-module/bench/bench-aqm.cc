// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * @ingroup ferrocc
 *
 * What a queue disc costs per packet: one enqueue and one dequeue, with a queue of constant length
 * whose packets wait less than any target. Prints how many packets left.
 */

#include "ns3/command-line.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/queue-disc.h"
#include "ns3/queue-size.h"
#include "ns3/simulator.h"

#include <cstdint>
#include <iostream>
#include <string>

using namespace ns3;

namespace
{

/// Packets that wait.
constexpr uint64_t STANDING = 200;
/// Packets that come and go at one time, so that the simulator's events hardly count.
constexpr uint64_t BATCH = 100;
/// Payload of the packets, bytes.
constexpr uint32_t PAYLOAD = 1338;

/// The queue disc and what comes to it.
struct Load
{
    Ptr<QueueDisc> disc; //!< The queue disc; null to make the packets only.
    uint64_t left;       //!< Packets still to come.
    uint64_t sent{0};    //!< Packets that left.

    /// A batch comes, and as many packets go once the queue stands.
    void Run()
    {
        for (uint64_t i = 0; i < BATCH && left > 0; i++, left--)
        {
            auto item =
                Create<Ipv4QueueDiscItem>(Create<Packet>(PAYLOAD), Address(), 0x0800, Ipv4Header());
            if (!disc)
            {
                sent++;
                continue;
            }
            disc->Enqueue(item);
            if (disc->GetNPackets() > STANDING && disc->Dequeue())
            {
                sent++;
            }
        }
        if (left > 0)
        {
            Simulator::Schedule(MilliSeconds(1), &Load::Run, this);
        }
    }
};

} // namespace

int
main(int argc, char* argv[])
{
    std::string type{"none"};
    uint64_t packets = 10000;
    CommandLine command(__FILE__);
    command.AddValue("disc", "Type of the queue disc; none: only packets are made", type);
    command.AddValue("packets", "Packets that come", packets);
    command.Parse(argc, argv);
    Load load;
    load.left = packets;
    if (type != "none")
    {
        ObjectFactory factory(type);
        factory.Set("MaxSize", QueueSizeValue(QueueSize("1000p")));
        load.disc = factory.Create<QueueDisc>();
        load.disc->Initialize();
    }
    Simulator::Schedule(MilliSeconds(1), &Load::Run, &load);
    Simulator::Run();
    std::cout << "sent=" << load.sent << "\n";
    Simulator::Destroy();
    return 0;
}
