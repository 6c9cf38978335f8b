// SPDX-License-Identifier: GPL-2.0-only

#ifndef BENCH_TOPOLOGY_H
#define BENCH_TOPOLOGY_H

#include "ns3/command-line.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/topo1-helper.h"

#include <string>

/**
 * @file
 * @ingroup ferrocc
 *
 * The network of the benchmarks: topo-1 as the scenario base/topo-1 builds it, with one receiver.
 */

/// What both benchmarks can be told about the network.
struct BenchTopology
{
    ns3::DataRate rate{"50Mbps"};            //!< Rate of the bottleneck.
    ns3::Time rtprop{ns3::MilliSeconds(30)}; //!< Propagation round trip of the path.
    std::string buffer{"100000p"};           //!< Limit of the bottleneck's queue.

    /**
     * Adds the options.
     *
     * @param command The command line.
     */
    void AddOptions(ns3::CommandLine& command)
    {
        command.AddValue("rate", "Rate of the bottleneck", rate);
        command.AddValue("rtprop", "Propagation round trip of the path", rtprop);
        command.AddValue("buffer", "Limit of the bottleneck's queue, packets or bytes", buffer);
    }

    /**
     * Builds the network. The links between hosts and routers take a twentieth of the delay each.
     *
     * @return The network.
     */
    ns3::Topo1Helper Build() const
    {
        ns3::Topo1Helper::Config config;
        config.receiverDelay = ns3::NanoSeconds(rtprop.GetNanoSeconds() / 40);
        config.replicaDelay = config.receiverDelay;
        config.bottleneck.rate = rate;
        config.bottleneck.delay = ns3::NanoSeconds(rtprop.GetNanoSeconds() / 2) -
                                  config.receiverDelay - config.replicaDelay;
        config.bottleneck.buffer = buffer;
        config.bottleneck.priority = true;
        return ns3::Topo1Helper(config);
    }
};

#endif /* BENCH_TOPOLOGY_H */
