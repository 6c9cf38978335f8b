//! Active queue management: what a queue does with each packet.
//!
//! An [`Aqm`] decides and nothing else. The queue disc (in ns-3 a `QueueDisc`) stores the packets,
//! asks at every enqueue and dequeue, and carries the verdict out: it writes the mark, drops the
//! packet, counts and traces. Time, the packet, the queue and a uniform draw are arguments, so a
//! decision can be repeated exactly.
//!
//! What the queue disc owes the algorithm:
//!
//! - [`Aqm::on_enqueue`] sees the queue without the arriving packet, [`Aqm::on_dequeue`] the queue
//!   that is left after the packet was taken out.
//! - After a drop at dequeue it takes the next packet and asks again at the same time, until a
//!   packet may go or none is left. None left, then or from the start, is [`Aqm::on_empty`].
//! - The draw is uniform in 0..1. One that was not used ([`Decision::draw_used`]) serves the next
//!   question; only so is a generator's sequence used up in the same order as in a queue disc that
//!   draws when it needs to.
//!
//! | name | file | algorithm |
//! |---|---|---|
//! | `drop-tail` | [`drop_tail`] | a limit |
//! | `red` | [`red`] | random early detection |
//! | `codel` | [`codel`] | CoDel of RFC 8289, or in ns-3's arithmetic |
//! | `ecd` | [`ecd`] | CoDel that marks before it drops |

pub mod codel;
mod control_law;
pub mod drop_tail;
pub mod ecd;
pub mod red;
pub mod registry;
#[cfg(test)]
mod testing;

use crate::units::{Bytes, Duration, Instant, Rate};
use std::fmt;

/// A packet as a queue sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Size in the queue, IP header included.
    pub size: Bytes,
    /// When it entered the queue.
    pub enqueued: Instant,
    /// Whether it is DATA of the ICN transport, whose header has a congestion mark.
    pub icn_data: bool,
    /// Whether IP's ECN field allows a mark: ECT(0), ECT(1) or CE (RFC 3168, section 5).
    pub ect: bool,
}

/// What a queue holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Queue {
    /// Number of packets.
    pub packets: u64,
    /// Their sizes together.
    pub bytes: Bytes,
}

/// How much a queue may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
}

impl Limit {
    /// Whether a packet of `size` still fits in.
    pub fn admits(self, queue: &Queue, size: Bytes) -> bool {
        match self {
            Limit::Packets(most) => queue.packets < most,
            Limit::Bytes(most) => queue.bytes + size <= most,
        }
    }

    /// The queue's length in the limit's unit.
    pub fn measure(self, queue: &Queue) -> u64 {
        match self {
            Limit::Packets(_) => queue.packets,
            Limit::Bytes(_) => queue.bytes.get(),
        }
    }

    /// The limit as a number of its unit.
    pub fn get(self) -> u64 {
        match self {
            Limit::Packets(most) => most,
            Limit::Bytes(most) => most.get(),
        }
    }
}

/// What an algorithm is told of its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// How much the queue may hold; not zero.
    pub limit: Limit,
    /// Rate of the link behind the queue; not zero.
    pub link_rate: Rate,
    /// Propagation delay of that link.
    pub link_delay: Duration,
}

impl Setup {
    /// An error line if a value is out of range.
    fn check(&self) -> Result<(), String> {
        if self.limit.get() == 0 {
            return Err("limit: 0 is not accepted (at least 1)".into());
        }
        if self.link_rate == Rate::ZERO {
            return Err("link_rate: 0bps is not accepted (at least 1bps)".into());
        }
        Ok(())
    }
}

/// Where a mark is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkField {
    /// The congestion mark of ICN DATA's transport header.
    Transport,
    /// The ECN field of IP: CE.
    Ecn,
}

/// Why a packet was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MarkReason {
    /// RED: by chance, the average is between the thresholds.
    Unforced,
    /// RED: the average is above the upper threshold.
    Forced,
    /// Early congestion detection: by chance, the sojourn time is above the target.
    EarlyCongestion,
}

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The queue is full.
    Overlimit,
    /// RED: by chance, the average is between the thresholds.
    Unforced,
    /// RED: the average is above the upper threshold.
    Forced,
    /// CoDel: the sojourn time stayed above the target for an interval.
    TargetExceeded,
}

impl fmt::Display for MarkReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MarkReason::Unforced => "Unforced mark",
            MarkReason::Forced => "Forced mark",
            MarkReason::EarlyCongestion => "Early congestion mark",
        })
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DropReason::Overlimit => "Overlimit drop",
            DropReason::Unforced => "Unforced drop",
            DropReason::Forced => "Forced drop",
            DropReason::TargetExceeded => "Target exceeded drop",
        })
    }
}

impl MarkReason {
    /// All of them, in their order.
    pub const ALL: [MarkReason; 3] = [
        MarkReason::Unforced,
        MarkReason::Forced,
        MarkReason::EarlyCongestion,
    ];
}

impl DropReason {
    /// All of them, in their order.
    pub const ALL: [DropReason; 4] = [
        DropReason::Overlimit,
        DropReason::Unforced,
        DropReason::Forced,
        DropReason::TargetExceeded,
    ];
}

/// A reason as it stands in files: `target-exceeded` for "Target exceeded drop". Works on the
/// reasons of any queue disc.
pub fn reason_key(reason: &str) -> String {
    let short = [" drop", " mark"]
        .iter()
        .find_map(|ending| reason.strip_suffix(ending))
        .unwrap_or(reason);
    short.to_lowercase().replace(' ', "-")
}

/// What happens to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on as it is.
    Pass,
    /// It goes on with a mark.
    Mark(MarkField, MarkReason),
    /// It is dropped.
    Drop(DropReason),
}

/// A verdict, and whether chance had a part in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// What happens to the packet.
    pub verdict: Verdict,
    /// Whether the draw was looked at. If not, it is kept for the next question.
    pub draw_used: bool,
}

impl Decision {
    /// A decision that needed no draw.
    const fn certain(verdict: Verdict) -> Decision {
        Decision {
            verdict,
            draw_used: false,
        }
    }

    /// A decision by the draw.
    const fn drawn(verdict: Verdict) -> Decision {
        Decision {
            verdict,
            draw_used: true,
        }
    }
}

/// Which marks an algorithm may set: what a queue disc has to find out about packets, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks {
    /// It looks at [`Packet::icn_data`] at dequeue.
    pub transport: bool,
    /// It looks at [`Packet::ect`], at enqueue or dequeue.
    pub ecn: bool,
}

/// An algorithm of active queue management. See the module for who does what.
pub trait Aqm: fmt::Debug + Send {
    /// A packet arrives; `queue` is what waits already.
    fn on_enqueue(&mut self, now: Instant, packet: &Packet, queue: &Queue, draw: f64) -> Decision;

    /// A packet was taken out; `queue` is what is left.
    fn on_dequeue(&mut self, now: Instant, packet: &Packet, queue: &Queue, draw: f64) -> Decision;

    /// A packet was wanted and none is there.
    fn on_empty(&mut self, now: Instant);

    /// Which marks it may set. What is false here need not be known of a packet.
    fn marks(&self) -> Marks {
        Marks::default()
    }

    /// Calls `visit` with the name and value of each state variable, for traces. Times are in
    /// seconds, lengths in the limit's unit.
    fn visit_state(&self, visit: &mut dyn FnMut(&'static str, f64));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_of_reasons_are_in_the_order_of_their_numbers() {
        for (i, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, i);
        }
        for (i, reason) in MarkReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, i);
        }
    }

    #[test]
    fn keys_of_reasons() {
        assert_eq!(
            DropReason::ALL.map(|r| reason_key(&r.to_string())),
            ["overlimit", "unforced", "forced", "target-exceeded"]
        );
        assert_eq!(
            MarkReason::ALL.map(|r| reason_key(&r.to_string())),
            ["unforced", "forced", "early-congestion"]
        );
        assert_eq!(
            reason_key("Queue disc limit exceeded"),
            "queue-disc-limit-exceeded"
        );
    }
}
