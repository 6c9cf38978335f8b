// SPDX-License-Identifier: GPL-2.0-only

#ifndef ROUTER_LINE_H
#define ROUTER_LINE_H

#include "link-helper.h"

#include "ns3/node-container.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup ferrocc
 *
 * Routers in a line, and hosts at any of them.
 *
 * @code
 *   host ---\                                /--- host .
 *   host ---- router 0 === ... === router n-1 --- host .
 *   host ---/         \--- host              \--- host .
 * @endcode
 *
 * Installs nodes, stacks, links, addresses and routes.
 */
class RouterLine
{
  public:
    /// A host and its link.
    struct Host
    {
        Ptr<Node> node;     //!< Its node, with the ICN transport.
        std::size_t link;   //!< The number of its link; end 0 is the router, end 1 the host.
        uint32_t router{0}; //!< The number of its router.
    };

    /**
     * Builds the routers and the links between them.
     *
     * @param links What these links are like, beginning with the one between the last two routers;
     *        end 0 of each is the router with the larger number.
     * @param ipv6 Whether all nodes have IPv6 instead of IPv4.
     */
    explicit RouterLine(const std::vector<LinkSpec>& links, bool ipv6 = false);

    /**
     * Adds a host.
     *
     * @param router The number of the router that it is linked to.
     * @param access What its link is like.
     * @return The host.
     */
    Host AddHost(uint32_t router, const LinkSpec& access);

    /**
     * Adds another link to a host, unused until the host moves.
     *
     * @param host The host.
     * @param router The number of the router at the link's other end.
     * @param access What the link is like.
     * @return The host as it is once it has moved.
     */
    Host AddPlace(const Host& host, uint32_t router, const LinkSpec& access);

    /**
     * Takes one link of a host down and another one up: the host changes its router and its
     * address. What is under way on the old link is lost.
     *
     * @param from The host as it is.
     * @param to The host as it shall be.
     */
    void Move(const Host& from, const Host& to);

    /**
     * Takes all links of a router down, or up again. What is sent on a link that is down is lost.
     *
     * @param router The router's number.
     * @param up Whether they shall be up. As often as they were taken down.
     */
    void SetUp(uint32_t router, bool up);

    /**
     * @return How many routers there are.
     */
    uint32_t GetNRouters() const;

    /**
     * @param router A router's number, from 0.
     * @return Its node.
     */
    Ptr<Node> GetRouter(uint32_t router) const;

    /**
     * @param host A host.
     * @return Its address.
     */
    Address GetAddress(const Host& host) const;

    /**
     * @param host A host.
     * @return The address of its router on the host's link.
     */
    Address GetRouterAddress(const Host& host) const;

    /**
     * @param index The number of a link between routers: 0 for the one between the last two.
     * @return The link; end 0 is the router with the larger number.
     */
    const Link& GetRouterLink(std::size_t index) const;

    /**
     * @return All links: those between routers, then those of the hosts as they were added.
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
    /// A link, and what it is for.
    struct Place
    {
        uint32_t router; //!< The number of the router at end 0; of a router link the larger one.
        uint32_t other;  //!< Of a router link the number of the router at end 1; else the same.
        uint32_t down;   //!< How often it was taken down.
    };

    /**
     * Enters routes to both ends of a new link in the routers between the first and the last one,
     * which have default routes.
     *
     * @param link The link's number.
     */
    void AddInnerRoutes(std::size_t link) const;

    /**
     * Takes a link down or up.
     *
     * @param link Its number.
     * @param up Whether it shall be up.
     */
    void SetLinkUp(std::size_t link, bool up);

    /**
     * @param router A router's number.
     * @param neighbour The number of the router before or after it.
     * @return The router's end of the link between them, and the neighbour's.
     */
    std::array<LinkEnd, 2> GetHop(uint32_t router, uint32_t neighbour) const;

    bool m_ipv6;                 //!< Whether IPv6 is used.
    LinkHelper m_linkHelper;     //!< Makes links and addresses.
    NodeContainer m_routers;     //!< The routers.
    std::vector<Link> m_links;   //!< The links between routers, the hosts'.
    std::vector<Place> m_places; //!< What each of them is for.
};

} // namespace ns3

#endif /* ROUTER_LINE_H */
