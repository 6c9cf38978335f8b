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
mod history;
mod nce;
mod newreno;
pub mod registry;
#[cfg(test)]
mod test_tcp;
mod veno;

pub use cerl::Cerl;
pub use history::History;
pub use nce::{Exit, Nce, Threshold};
pub use newreno::{NewReno, NoCut};
pub use veno::Veno;

use crate::units::{Bytes, Duration, Instant};

/// Duplicate ACKs after which a segment counts as missing (RFC 5681, section 3.2).
pub const DUPLICATES: u32 = 3;

/// What a policy is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Bytes of a full segment.
    pub segment: Bytes,
}

/// The congestion state of the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Nothing is suspected, or duplicate ACKs have begun to come.
    #[default]
    Open,
    /// The first missing segment has been sent again; more may be missing.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// An ACK that the socket is about to handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// When.
    pub now: Instant,
    /// First byte that the receiver lacks.
    pub ack: u64,
    /// The same before this ACK.
    pub una: u64,
    /// Byte behind the last that was sent.
    pub high: u64,
    /// What was sent up to here before the recovery began: an ACK beyond it ends the recovery.
    pub recover: u64,
    /// The congestion window, not inflated.
    pub window: Bytes,
    /// The slow start threshold.
    pub threshold: Bytes,
    /// Duplicate ACKs for `una` with this one; 0 if this is none.
    pub duplicates: u32,
    /// Whether a fast retransmission may begin (RFC 6582, section 3.2, step 2).
    pub may_retransmit: bool,
    /// Where the socket is.
    pub phase: Phase,
    /// The RTT that this ACK tells, of a segment that was sent once.
    pub rtt: Option<Duration>,
    /// Until the retransmission timer expires.
    pub timer: Duration,
}

impl Ack {
    /// Whether it acknowledges something new.
    pub const fn is_new(&self) -> bool {
        self.ack > self.una
    }

    /// Whether it ends a recovery.
    pub const fn is_full(&self) -> bool {
        self.ack >= self.recover
    }

    /// Whether the socket leaves fast recovery with it.
    pub const fn ends_recovery(&self) -> bool {
        self.is_new() && self.is_full() && matches!(self.phase, Phase::Recovery)
    }

    /// Segments that are outstanding.
    pub fn outstanding(&self, segment: Bytes) -> u32 {
        let segments = (self.high - self.una.min(self.high)).div_ceil(segment.get().max(1));
        u32::try_from(segments).unwrap_or(u32::MAX)
    }

    /// Whether the duplicate ACKs have come that call for a judgement.
    pub const fn calls(&self) -> bool {
        self.duplicates == DUPLICATES && self.may_retransmit && matches!(self.phase, Phase::Open)
    }
}

/// What becomes of the window when the first missing segment is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Reduction {
    /// What the congestion control says, as after a loss.
    #[default]
    Controller,
    /// Nothing.
    Keep,
    /// The threshold and the window become this share of the outstanding bytes.
    Share(f64),
}

/// Why segments were missing or late, as the sender judges it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A queue was full.
    Congestion,
    /// A link lost a segment.
    RandomLoss,
    /// A segment came late.
    Reordering,
}

impl Verdict {
    /// Its name in traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Congestion => "congestion",
            Verdict::RandomLoss => "random-loss",
            Verdict::Reordering => "reordering",
        }
    }
}

/// What the socket is to do with an ACK, or when a policy's own time has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Sends the first missing segment again and begins a recovery.
    pub retransmit: bool,
    /// What becomes of the window then.
    pub reduction: Reduction,
    /// Restarts the retransmission timer with that segment.
    pub restart_timer: bool,
    /// The window before the ACK is handled, if it changes.
    pub window: Option<Bytes>,
    /// The window when this ACK ends a recovery whose window was kept; the threshold is then again
    /// what it was.
    pub exit: Option<Bytes>,
    /// Whether this ACK may grow the window.
    pub grow: bool,
    /// What the policy has made up its mind about.
    pub verdict: Option<Verdict>,
    /// When [`Policy::on_deadline`] is due; [`Instant::MAX`] for never.
    pub deadline: Instant,
}

impl Default for Step {
    fn default() -> Step {
        Step {
            retransmit: false,
            reduction: Reduction::Controller,
            restart_timer: false,
            window: None,
            exit: None,
            grow: true,
            verdict: None,
            deadline: Instant::MAX,
        }
    }
}

/// How duplicate ACKs are judged.
pub trait Policy: std::fmt::Debug + Send {
    /// An ACK has come and has not been handled.
    fn on_ack(&mut self, ack: &Ack) -> Step;

    /// The time of the last [`Step::deadline`] has come; `state` has no duplicate and nothing new.
    fn on_deadline(&mut self, state: &Ack) -> Step {
        let _ = state;
        Step::default()
    }

    /// The retransmission timer has expired.
    fn on_timeout(&mut self, now: Instant) {
        let _ = now;
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
