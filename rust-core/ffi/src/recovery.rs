//! Bridge of the policies that judge duplicate ACKs: `ferrocc::recovery`.

#[cxx::bridge(namespace = "ferrocc::recovery")]
pub(crate) mod bridge {
    /// The congestion state of a socket.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Phase {
        /// Open, or duplicate ACKs have begun to come.
        Open,
        /// In fast recovery.
        Recovery,
        /// After a timeout, or anything else in which duplicate ACKs are not judged.
        Loss,
    }

    /// An ACK that a socket is about to handle. Sequence numbers are those on the wire.
    #[derive(Debug, Clone, Copy)]
    struct AckView {
        /// When, nanoseconds.
        now_ns: u64,
        /// The ACK number.
        ack: u32,
        /// First byte that was not acknowledged before.
        una: u32,
        /// Byte behind the last that was sent.
        high: u32,
        /// What was sent before the recovery began.
        recover: u32,
        /// Congestion window, bytes, not inflated.
        window: u32,
        /// Slow start threshold, bytes.
        threshold: u32,
        /// Duplicate ACKs with this one; 0 if it is none.
        duplicates: u32,
        /// Whether a fast retransmission may begin.
        may_retransmit: bool,
        /// Where the socket is.
        phase: Phase,
        /// Until the retransmission timer expires, nanoseconds.
        timer_ns: u64,
    }

    /// What becomes of the window at a fast retransmission.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Reduction {
        /// What the congestion control says.
        Controller,
        /// Nothing.
        Keep,
        /// It becomes a share of the outstanding bytes.
        Share,
    }

    /// What a socket is to do.
    #[derive(Debug, Clone, Copy)]
    struct StepView {
        /// Send the first missing segment again and begin a recovery.
        retransmit: bool,
        /// What becomes of the window then.
        reduction: Reduction,
        /// The share.
        share: f64,
        /// Restart the retransmission timer with that segment.
        restart_timer: bool,
        /// The window before the ACK is handled, bytes; 0 leaves it.
        window: u32,
        /// The window when this ACK ends a recovery whose window was kept, bytes; 0 for the
        /// threshold.
        exit: u32,
        /// Whether this ACK may grow the window.
        grow: bool,
        /// The verdict: "congestion", "random-loss", "reordering", or nothing.
        verdict: &'static str,
        /// When `on_deadline` is due, nanoseconds; the largest number for never.
        deadline_ns: u64,
    }

    extern "Rust" {
        /// The policy of a sending socket.
        type Sender;

        /// A policy. Fails on an unknown name and on parameters (a JSON object, or empty) that it
        /// does not have.
        fn new_sender(policy: &str, params: &str, segment_bytes: u32) -> Result<Box<Sender>>;
        /// A segment is sent, for the first time or again.
        fn on_sent(self: &mut Sender, now_ns: u64, seq: u32, bytes: u32);
        /// An ACK has come and has not been handled.
        fn on_ack(self: &mut Sender, ack: &AckView) -> StepView;
        /// The last step's deadline has come.
        fn on_deadline(self: &mut Sender, state: &AckView) -> StepView;
        /// The retransmission timer has expired.
        fn on_timeout(self: &mut Sender, now_ns: u64);
    }
}

use bridge::{AckView, Phase, Reduction, StepView};
use ferrocc::recovery::{self, Ack, History, Policy, Setup, Step};
use ferrocc::tcp::Sequence;
use ferrocc::units::{Bytes, Duration, Instant};
use serde_json::{Map, Value};

/// A policy with what it learns RTTs from.
pub struct Sender {
    policy: Box<dyn Policy>,
    history: History,
    /// None until the first byte was sent.
    sequence: Option<Sequence>,
}

fn new_sender(policy: &str, params: &str, segment_bytes: u32) -> Result<Box<Sender>, String> {
    let params: Value = if params.is_empty() {
        Map::new().into()
    } else {
        serde_json::from_str(params).map_err(|e| format!("parameters of {policy}: {e}"))?
    };
    let setup = Setup {
        segment: Bytes::new(u64::from(segment_bytes.max(1))),
    };
    Ok(Box::new(Sender {
        policy: recovery::registry::build(policy, &setup, &params)?,
        history: History::default(),
        sequence: None,
    }))
}

impl Sender {
    fn on_sent(&mut self, now_ns: u64, seq: u32, bytes: u32) {
        let sequence = self.sequence.get_or_insert(Sequence::new(seq));
        let at = sequence.position(seq);
        let end = sequence.position(seq.wrapping_add(bytes));
        self.history.on_sent(Instant::from_nanos(now_ns), at, end);
    }

    fn on_ack(&mut self, ack: &AckView) -> StepView {
        let mut ack = self.ack(ack);
        if ack.is_new() {
            ack.rtt = self.history.on_ack(ack.now, ack.ack);
        }
        view(&self.policy.on_ack(&ack))
    }

    fn on_deadline(&mut self, state: &AckView) -> StepView {
        let state = self.ack(state);
        view(&self.policy.on_deadline(&state))
    }

    fn on_timeout(&mut self, now_ns: u64) {
        self.history.on_timeout();
        self.policy.on_timeout(Instant::from_nanos(now_ns));
    }

    fn ack(&mut self, ack: &AckView) -> Ack {
        let sequence = self.sequence.get_or_insert(Sequence::new(ack.una));
        Ack {
            now: Instant::from_nanos(ack.now_ns),
            una: sequence.position(ack.una),
            ack: sequence.position(ack.ack),
            high: sequence.position(ack.high),
            recover: sequence.position(ack.recover),
            window: Bytes::new(ack.window.into()),
            threshold: Bytes::new(ack.threshold.into()),
            duplicates: ack.duplicates,
            may_retransmit: ack.may_retransmit,
            phase: match ack.phase {
                Phase::Open => recovery::Phase::Open,
                Phase::Recovery => recovery::Phase::Recovery,
                _ => recovery::Phase::Loss,
            },
            rtt: None,
            timer: Duration::from_nanos(ack.timer_ns),
        }
    }
}

fn view(step: &Step) -> StepView {
    let bytes = |b: Option<Bytes>| b.map_or(0, |b| u32::try_from(b.get()).unwrap_or(u32::MAX));
    let (reduction, share) = match step.reduction {
        recovery::Reduction::Controller => (Reduction::Controller, 0.0),
        recovery::Reduction::Keep => (Reduction::Keep, 0.0),
        recovery::Reduction::Share(share) => (Reduction::Share, share),
    };
    StepView {
        retransmit: step.retransmit,
        reduction,
        share,
        restart_timer: step.restart_timer,
        window: bytes(step.window),
        exit: bytes(step.exit),
        grow: step.grow,
        verdict: step.verdict.map_or("", recovery::Verdict::as_str),
        deadline_ns: step.deadline.as_nanos(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_wrap_are_one_stream() {
        let mut sender = new_sender("newreno", "", 1000).unwrap();
        let zero = u32::MAX - 1499;
        for i in 0..5u32 {
            sender.on_sent(u64::from(i), zero.wrapping_add(i * 1000), 1000);
        }
        let ack = AckView {
            now_ns: 1_000_000,
            ack: zero.wrapping_add(1000),
            una: zero,
            high: zero.wrapping_add(5000),
            recover: zero,
            window: 5000,
            threshold: 5000,
            duplicates: 0,
            may_retransmit: true,
            phase: Phase::Open,
            timer_ns: 0,
        };
        assert_eq!(sender.on_ack(&ack).verdict, "");
        let third = AckView {
            una: ack.ack,
            duplicates: 3,
            ..ack
        };
        let step = sender.on_ack(&third);
        assert!(step.retransmit && step.reduction == Reduction::Controller);
        assert_eq!((step.verdict, step.deadline_ns), ("congestion", u64::MAX));
        let seen = sender.ack(&third);
        assert_eq!((seen.una, seen.high), (1000, 5000));
    }

    #[test]
    fn bad_input_is_told() {
        let error = |policy, params| new_sender(policy, params, 1000).err().unwrap();
        assert!(error("rno", "").contains("unknown recovery"));
        assert!(error("newreno", "[").contains("parameters of newreno"));
        assert!(error("newreno", "{\"a\": 1}").contains("unknown field"));
    }
}
