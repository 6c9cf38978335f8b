//! How a TCP sender judges duplicate ACKs: loss by congestion, loss by chance, or reordering.
//!
//! A [`Policy`] is asked about each ACK before the socket handles it, and says when the first
//! missing segment is sent again and what becomes of the window. Everything else (handshake,
//! buffers, timers, NewReno's fast recovery without SACK) is the socket's own. What a policy learns
//! about RTTs comes from [`History`], which times each segment from its last byte's first
//! transmission to the ACK that covers it.
//!
//! Positions are bytes of the stream, as [`crate::tcp::Sequence`] makes them. The window is that of
//! ns-3's sockets, which is not inflated by duplicate ACKs: each of them takes a segment off what
//! is outstanding instead, which lets one new segment go.

mod cerl;
mod event;
mod flip;
mod history;
mod nce;
mod newreno;
mod notes;
pub mod registry;
#[cfg(test)]
mod test_tcp;
mod veno;

pub use cerl::Cerl;
pub use event::{Ack, Expiry, Note, Phase, Reduction, Sent, Step, Verdict};
pub use history::History;
pub use nce::{Exit, Nce, RttSource, Threshold};
pub use newreno::{NewReno, NoCut};
pub use notes::{Arrival, Reader, Receiver, Report};
pub use veno::Veno;

use crate::units::{Bytes, Instant};

/// Duplicate ACKs after which a segment counts as missing (RFC 5681, section 3.2).
pub const DUPLICATES: u32 = 3;

/// What a policy is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Bytes of a full segment.
    pub segment: Bytes,
}

/// What a policy needs of the socket beside ACKs and timeouts. It costs, and is had only where it is
/// needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// [`Ack::note`], and [`Policy::on_stale`].
    pub notes: bool,
    /// [`Ack::truth`] and [`Ack::draw`].
    pub truth: bool,
    /// The policy has timers of its own: the socket's retransmission timer never expires while
    /// segments are outstanding, but when a step says [`Step::timeout`].
    pub parks_timer: bool,
}

/// How duplicate ACKs are judged.
pub trait Policy: std::fmt::Debug + Send {
    /// What it needs; always the same.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// An ACK has come and has not been handled.
    fn on_ack(&mut self, ack: &Ack) -> Step;

    /// An ACK has come that later ones have overtaken: `ack.ack` is less than `ack.una`. None leaves
    /// everything, the deadline too. Only with [`Needs::notes`].
    fn on_stale(&mut self, ack: &Ack) -> Option<Step> {
        let _ = ack;
        None
    }

    /// A segment leaves. A time that is returned replaces the last [`Step::deadline`].
    fn on_sent(&mut self, sent: &Sent) -> Option<Instant> {
        let _ = sent;
        None
    }

    /// The time of the last [`Step::deadline`] has come; `state` has no duplicate and nothing new.
    fn on_deadline(&mut self, state: &Ack) -> Step {
        let _ = state;
        Step::default()
    }

    /// The retransmission timer has expired, or a step said so; `state` is that before the socket's
    /// answer. The last deadline is void.
    fn on_timeout(&mut self, state: &Ack) -> Expiry {
        let _ = state;
        Expiry::default()
    }

    /// One of another connection in the same state.
    fn duplicate(&self) -> Box<dyn Policy>;
}

/// A recovery during which the window is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kept {
    /// The window at its begin.
    window: Bytes,
    /// The threshold at its begin.
    threshold: Bytes,
}

impl Kept {
    const fn new(ack: &Ack) -> Kept {
        Kept {
            window: ack.window,
            threshold: ack.threshold,
        }
    }

    /// Ends the recovery that `kept` is of, if `ack` does: the window then.
    fn end(kept: &mut Option<Kept>, ack: &Ack) -> Option<Bytes> {
        if !ack.ends_recovery() {
            return None;
        }
        kept.take().map(|k| k.window)
    }
}
