//! What policies are told, and what they answer.

use super::DUPLICATES;
use crate::units::{Bytes, Duration, Instant};

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

/// What the receiver says beside an ACK: what RR-TCP takes from DSACK (RFC 2883), TCP-DOOR from its
/// options ADSN and TPSN, NewJersey from time stamps and echoed marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Note {
    /// Time since the transmission left whose arrival the ACK answers; of one sent again, too.
    pub echo: Option<Duration>,
    /// When that arrived, by the receiver's clock.
    pub received: Option<Instant>,
    /// Whether segments or ACKs have overtaken each other since the last ACK that came.
    pub out_of_order: bool,
    /// A segment that arrived though all of it had arrived before: its first byte, and the one
    /// behind it.
    pub duplicate: Option<(u64, u64)>,
    /// Whether a router has marked one of the segments that it answers.
    pub marked: bool,
}

/// A segment that leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// When.
    pub now: Instant,
    /// Its first byte.
    pub at: u64,
    /// The byte behind it.
    pub end: u64,
    /// Whether it, or a part of it, was sent before.
    pub again: bool,
    /// The congestion window, not inflated.
    pub window: Bytes,
}

/// An ACK that the socket is about to handle.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    /// The retransmission timeout, doubled by those before.
    pub timeout: Duration,
    /// What the receiver says beside; only with [`super::Needs::notes`].
    pub note: Note,
    /// What has become of the first missing segment, if that is known by now; only with
    /// [`super::Needs::truth`].
    pub truth: Option<Verdict>,
    /// A number in [0, 1) at random; only with [`super::Needs::truth`].
    pub draw: f64,
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
    /// Sends the first missing segment again without a recovery, once the ACK is handled.
    pub resend: bool,
    /// What is outstanding counts as lost, as when the retransmission timer expires.
    pub timeout: bool,
    /// The window before the ACK is handled, if it changes.
    pub window: Option<Bytes>,
    /// The threshold before the ACK is handled, if it changes.
    pub threshold: Option<Bytes>,
    /// The retransmission timeout, if it changes.
    pub rto: Option<Duration>,
    /// Nothing new leaves before that.
    pub hold: Instant,
    /// The window when this ACK ends a recovery whose window was kept; the threshold is then again
    /// what it was.
    pub exit: Option<Bytes>,
    /// Whether this ACK may grow the window.
    pub grow: bool,
    /// What the policy has made up its mind about.
    pub verdict: Option<Verdict>,
    /// The first byte of the segment that it is about; by default the first missing one before the
    /// ACK.
    pub verdict_on: Option<u64>,
    /// When [`super::Policy::on_deadline`] is due; [`Instant::MAX`] for never.
    pub deadline: Instant,
}

impl Default for Step {
    fn default() -> Step {
        Step {
            retransmit: false,
            reduction: Reduction::Controller,
            restart_timer: false,
            resend: false,
            timeout: false,
            window: None,
            threshold: None,
            rto: None,
            hold: Instant::ZERO,
            exit: None,
            grow: true,
            verdict: None,
            verdict_on: None,
            deadline: Instant::MAX,
        }
    }
}

/// What becomes of the window when the retransmission timer expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Expiry {
    /// Window, threshold and timeout stay; the segment is sent again all the same.
    pub keep: bool,
}
