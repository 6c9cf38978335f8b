// SPDX-License-Identifier: GPL-2.0-only

#ifndef BOTTLENECK_NETWORK_H
#define BOTTLENECK_NETWORK_H

#include "link-helper.h"

#include "ns3/node-container.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Hosts at either end of one bottleneck link between two routers.
 *
 * @code
 *   host ---\                               /--- host .
 *   host ---- IR1 ===== bottleneck ===== IR2 --- host .
 *   host ---/                               \--- host .
 * @endcode
 *
 * Installs nodes, stacks, links, addresses and routes.
 */
class BottleneckNetwork
{
  public:
    /// A router.
    enum Side : uint32_t
    {
        LEFT = 0,  //!< IR1, end 1 of the bottleneck.
        RIGHT = 1, //!< IR2, end 0 of the bottleneck.
    };

    /// A host and its link.
    struct Host
    {
        Ptr<Node> node;   //!< Its node, with the ICN transport.
        std::size_t link; //!< The number of its link; end 0 is the router, end 1 the host.
        Side side{LEFT};  //!< Its router.
    };

    /**
     * Builds the routers and the link between them.
     *
     * @param bottleneck What that link is like.
     * @param ipv6 Whether all nodes have IPv6 instead of IPv4.
     */
    explicit BottleneckNetwork(const LinkSpec& bottleneck, bool ipv6 = false);

    /**
     * Adds a host.
     *
     * @param side The router that it is linked to.
     * @param access What its link is like.
     * @return The host.
     */
    Host AddHost(Side side, const LinkSpec& access);

    /**
     * @param side Which router.
     * @return Its node.
     */
    Ptr<Node> GetRouter(Side side) const;

    /**
     * @param host A host.
     * @return Its address.
     */
    Address GetAddress(const Host& host) const;

    /**
     * @return The bottleneck; end 0 is IR2, end 1 is IR1.
     */
    const Link& GetBottleneck() const;

    /**
     * @return All links: the bottleneck, then those of the hosts as they were added.
     */
    const std::vector<Link>& GetLinks() const;

    /**
     * Assigns fixed stream numbers to the random variables of the links.
     *
     * @param stream The first stream number.
     * @return How many streams were assigned.
     */
    int64_t AssignStreams(int64_t stream) const;

  private:
    bool m_ipv6;               //!< Whether IPv6 is used.
    LinkHelper m_linkHelper;   //!< Makes links and addresses.
    NodeContainer m_routers;   //!< IR1, IR2.
    std::vector<Link> m_links; //!< The bottleneck, the hosts'.
};

} // namespace ns3

#endif /* BOTTLENECK_NETWORK_H */
