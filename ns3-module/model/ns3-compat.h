// SPDX-License-Identifier: GPL-2.0-only

#ifndef FERROCC_NS3_COMPAT_H
#define FERROCC_NS3_COMPAT_H

#include "ns3/ipv4-routing-protocol.h"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

/**
 * @file
 * @ingroup ferrocc
 *
 * The differences between the supported ns-3 versions (3.37 and later), all in this place. They
 * are found from the declarations themselves, so that programs which include our headers need no
 * version macro.
 */

namespace ns3
{

class TestCase;

namespace compat
{

/// Argument types of a member function; see RouteInputArgument.
template <typename T>
struct MemberArguments;

/// @copydoc MemberArguments
template <typename C, typename R, typename... A>
struct MemberArguments<R (C::*)(A...)>
{
    /// All of them.
    using Tuple = std::tuple<A...>;
};

/// Argument number I of RouteInput of Ipv4RoutingProtocol, or of Ipv6RoutingProtocol: its callbacks
/// are passed by value up to 3.38 and by reference since 3.39.
template <std::size_t I, typename Protocol = Ipv4RoutingProtocol>
using RouteInputArgument =
    std::tuple_element_t<I, typename MemberArguments<decltype(&Protocol::RouteInput)>::Tuple>;

/// How long a test takes: `TestCase::QUICK` up to 3.41, `TestCase::Duration::QUICK` since 3.42.
template <typename T, typename = void>
struct TestDuration
{
    /// Fast test.
    static constexpr auto QUICK = T::QUICK;
};

/// @copydoc TestDuration
template <typename T>
struct TestDuration<T, std::void_t<typename T::Duration>>
{
    /// Fast test.
    static constexpr auto QUICK = T::Duration::QUICK;
};

/// A fast test, in every version.
template <typename T = TestCase>
constexpr auto
QuickTest()
{
    return TestDuration<T>::QUICK;
}

/// The smoothed RTT in a socket's state: `m_srtt` since 3.43, where `m_lastRtt` is the last sample;
/// `m_lastRtt` before, which tells no samples. @tparam T The type of the state.
template <typename T, typename = void>
struct RttOfSocket
{
    /// @param tcb The state. @return The smoothed RTT.
    static auto Smoothed(const T& tcb)
    {
        return tcb.m_lastRtt.Get();
    }
};

/// @copydoc RttOfSocket
template <typename T>
struct RttOfSocket<T, std::void_t<decltype(std::declval<T>().m_srtt)>>
{
    /// @param tcb The state. @return The smoothed RTT.
    static auto Smoothed(const T& tcb)
    {
        return tcb.m_srtt.Get();
    }
};

/// @param tcb A socket's state. @return The smoothed RTT, in every version.
template <typename T>
auto
SmoothedRtt(const T& tcb)
{
    return RttOfSocket<T>::Smoothed(tcb);
}

} // namespace compat
} // namespace ns3

#endif /* FERROCC_NS3_COMPAT_H */
