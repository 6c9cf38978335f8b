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

    /// What a policy needs of the socket.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Needs {
        /// What the receiver says beside its ACKs, and ACKs that others have overtaken.
        notes: bool,
        /// What has become of missing segments, and random numbers.
        truth: bool,
        /// That the retransmission timer does not expire.
        parks_timer: bool,
    }

    /// What has become of a segment.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Truth {
        /// Not known.
        Unknown,
        /// A queue was full.
        Congestion,
        /// A link lost it.
        RandomLoss,
        /// It is late.
        Reordering,
    }

    /// A segment that reaches a receiver. Sequence numbers are those on the wire.
    #[derive(Debug, Clone, Copy)]
    struct ArrivalView {
        /// When, nanoseconds.
        now_ns: u64,
        /// Its first byte.
        seq: u32,
        /// How many bytes it has.
        bytes: u32,
        /// The first byte that is missing.
        next: u32,
        /// Number of the transmission.
        transmission: u64,
        /// When it left, nanoseconds.
        sent_ns: u64,
        /// Whether a router has marked it.
        marked: bool,
    }

    /// What an ACK bears.
    #[derive(Debug, Clone, Copy, Default)]
    struct ReportView {
        /// Whether it bears anything.
        is_there: bool,
        /// When the last segment that arrived had left, nanoseconds.
        sent_ns: u64,
        /// When it arrived, nanoseconds.
        received_ns: u64,
        /// Whether segments have overtaken each other.
        out_of_order: bool,
        /// First byte of a segment that arrived twice.
        duplicate: u32,
        /// How many bytes that has; 0 if there was none.
        duplicate_bytes: u32,
        /// Whether a router has marked a segment.
        marked: bool,
        /// How many ACKs have had the same number.
        repeat: u32,
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
        /// The retransmission timeout, nanoseconds.
        timeout_ns: u64,
        /// What the receiver says beside.
        report: ReportView,
        /// What has become of the first missing segment.
        truth: Truth,
        /// A random number in [0, 1).
        draw: f64,
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
        /// Send the first missing segment again, without a recovery.
        resend: bool,
        /// Everything outstanding is lost, as when the retransmission timer expires.
        timeout: bool,
        /// The window before the ACK is handled, bytes; 0 leaves it.
        window: u32,
        /// The same of the threshold.
        threshold_bytes: u32,
        /// The retransmission timeout, nanoseconds; 0 leaves it.
        rto_ns: u64,
        /// Nothing new leaves before, nanoseconds.
        hold_ns: u64,
        /// The window when this ACK ends a recovery whose window was kept, bytes; 0 for the
        /// threshold.
        exit: u32,
        /// Whether this ACK may grow the window.
        grow: bool,
        /// The verdict: "congestion", "random-loss", "reordering", or nothing.
        verdict: &'static str,
        /// First byte of the segment that it is about.
        verdict_on: u32,
        /// When `on_deadline` is due, nanoseconds; the largest number for never.
        deadline_ns: u64,
        /// Whether this is a step at all; else everything stays as it is, the deadline too.
        is_step: bool,
    }

    extern "Rust" {
        /// The policy of a sending socket.
        type Sender;

        /// A policy. Fails on an unknown name and on parameters (a JSON object, or empty) that it
        /// does not have.
        fn new_sender(policy: &str, params: &str, segment_bytes: u32) -> Result<Box<Sender>>;
        /// What it needs; always the same.
        fn needs(self: &Sender) -> Needs;
        /// A segment is sent, for the first time or again: a new deadline, nanoseconds, or 0 if the
        /// old one stays.
        fn on_sent(self: &mut Sender, now_ns: u64, seq: u32, bytes: u32, window: u32) -> u64;
        /// An ACK has come and has not been handled.
        fn on_ack(self: &mut Sender, ack: &AckView) -> StepView;
        /// An ACK has come that others have overtaken.
        fn on_stale(self: &mut Sender, ack: &AckView) -> StepView;
        /// The last step's deadline has come.
        fn on_deadline(self: &mut Sender, state: &AckView) -> StepView;
        /// The retransmission timer has expired; whether window, threshold and timeout stay.
        fn on_timeout(self: &mut Sender, state: &AckView) -> bool;

        /// What a receiver says beside its ACKs.
        type Notes;
        /// Nothing has arrived.
        fn new_notes() -> Box<Notes>;
        /// A segment has arrived and has not been handled.
        fn on_segment(self: &mut Notes, arrival: &ArrivalView);
        /// An ACK leaves.
        fn report(self: &mut Notes, ack: u32) -> ReportView;
    }
}

use bridge::{AckView, ArrivalView, Needs, Phase, Reduction, ReportView, StepView, Truth};
use ferrocc::recovery::{
    self, Ack, Arrival, History, Note, Policy, Reader, Receiver, Report, Sent, Setup, Step, Verdict,
};
use ferrocc::tcp::Sequence;
use ferrocc::units::{Bytes, Duration, Instant};
use serde_json::{Map, Value};

/// A policy with what it learns RTTs from.
pub struct Sender {
    policy: Box<dyn Policy>,
    history: History,
    reader: Reader,
    /// None until the first byte was sent.
    sequence: Option<Sequence>,
    /// The byte behind the last that was sent.
    high: u64,
}

/// A receiver's notes.
pub struct Notes {
    receiver: Receiver,
    /// None until the first segment arrived.
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
        reader: Reader::default(),
        sequence: None,
        high: 0,
    }))
}

impl Sender {
    fn needs(&self) -> Needs {
        let needs = self.policy.needs();
        Needs {
            notes: needs.notes,
            truth: needs.truth,
            parks_timer: needs.parks_timer,
        }
    }

    fn on_sent(&mut self, now_ns: u64, seq: u32, bytes: u32, window: u32) -> u64 {
        let sequence = self.sequence.get_or_insert(Sequence::new(seq));
        let at = sequence.position(seq);
        let end = sequence.position(seq.wrapping_add(bytes));
        let now = Instant::from_nanos(now_ns);
        self.history.on_sent(now, at, end);
        let again = at < self.high;
        self.high = self.high.max(end);
        let deadline = self.policy.on_sent(&Sent {
            now,
            at,
            end,
            again,
            window: Bytes::new(window.into()),
        });
        deadline.map_or(0, |at| at.as_nanos().max(1))
    }

    fn on_ack(&mut self, ack: &AckView) -> StepView {
        let mut ack = self.ack(ack);
        if ack.is_new() {
            ack.rtt = self.history.on_ack(ack.now, ack.ack);
        }
        let step = self.policy.on_ack(&ack);
        self.view(&ack, &step)
    }

    fn on_stale(&mut self, ack: &AckView) -> StepView {
        let ack = self.ack(ack);
        match self.policy.on_stale(&ack) {
            Some(step) => self.view(&ack, &step),
            None => StepView {
                is_step: false,
                ..view(&Step::default())
            },
        }
    }

    fn on_deadline(&mut self, state: &AckView) -> StepView {
        let state = self.ack(state);
        let step = self.policy.on_deadline(&state);
        self.view(&state, &step)
    }

    fn on_timeout(&mut self, state: &AckView) -> bool {
        let state = self.ack(state);
        self.history.on_timeout();
        self.policy.on_timeout(&state).keep
    }

    fn view(&self, ack: &Ack, step: &Step) -> StepView {
        let on = step.verdict_on.unwrap_or(ack.una);
        StepView {
            verdict_on: self.sequence.map_or(0, |s| s.number(on)),
            ..view(step)
        }
    }

    fn ack(&mut self, ack: &AckView) -> Ack {
        let sequence = self.sequence.get_or_insert(Sequence::new(ack.una));
        let now = Instant::from_nanos(ack.now_ns);
        let una = sequence.position(ack.una);
        let number = sequence.position(ack.ack);
        let mut note = Note::default();
        if ack.report.is_there {
            let report = &ack.report;
            let duplicate = (report.duplicate_bytes > 0).then(|| {
                let at = sequence.position(report.duplicate);
                (at, at + u64::from(report.duplicate_bytes))
            });
            let report = Report {
                sent: Instant::from_nanos(report.sent_ns),
                received: Instant::from_nanos(report.received_ns),
                out_of_order: report.out_of_order,
                duplicate,
                marked: report.marked,
                repeat: report.repeat,
            };
            note = self.reader.read(now, number, &report);
        }
        Ack {
            now,
            una,
            ack: number,
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
            timeout: Duration::from_nanos(ack.timeout_ns),
            note,
            truth: match ack.truth {
                Truth::Congestion => Some(Verdict::Congestion),
                Truth::RandomLoss => Some(Verdict::RandomLoss),
                Truth::Reordering => Some(Verdict::Reordering),
                _ => None,
            },
            draw: ack.draw,
        }
    }
}

fn new_notes() -> Box<Notes> {
    Box::new(Notes {
        receiver: Receiver::default(),
        sequence: None,
    })
}

impl Notes {
    fn on_segment(&mut self, a: &ArrivalView) {
        let sequence = self.sequence.get_or_insert(Sequence::new(a.next));
        let next = sequence.position(a.next);
        let at = sequence.position(a.seq);
        self.receiver.on_segment(&Arrival {
            now: Instant::from_nanos(a.now_ns),
            at,
            end: sequence.position(a.seq.wrapping_add(a.bytes)),
            next,
            transmission: a.transmission,
            sent: Instant::from_nanos(a.sent_ns),
            marked: a.marked,
        });
    }

    fn report(&mut self, ack: u32) -> ReportView {
        let Some(sequence) = &mut self.sequence else {
            return ReportView::default();
        };
        let ack = sequence.position(ack);
        let Some(report) = self.receiver.report(ack) else {
            return ReportView::default();
        };
        let (at, end) = report.duplicate.unwrap_or_default();
        ReportView {
            is_there: true,
            sent_ns: report.sent.as_nanos(),
            received_ns: report.received.as_nanos(),
            out_of_order: report.out_of_order,
            duplicate: sequence.number(at),
            duplicate_bytes: u32::try_from(end - at).unwrap_or(u32::MAX),
            marked: report.marked,
            repeat: report.repeat,
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
        resend: step.resend,
        timeout: step.timeout,
        window: bytes(step.window),
        threshold_bytes: bytes(step.threshold),
        rto_ns: step.rto.map_or(0, |d| d.as_nanos()),
        hold_ns: step.hold.as_nanos(),
        exit: bytes(step.exit),
        grow: step.grow,
        verdict: step.verdict.map_or("", Verdict::as_str),
        verdict_on: 0,
        deadline_ns: step.deadline.as_nanos(),
        is_step: true,
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
            sender.on_sent(u64::from(i), zero.wrapping_add(i * 1000), 1000, 5000);
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
            timeout_ns: 0,
            report: ReportView::default(),
            truth: Truth::Unknown,
            draw: 0.0,
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
        assert_eq!(step.verdict_on, third.una);
        let seen = sender.ack(&third);
        assert_eq!((seen.una, seen.high), (1000, 5000));
    }

    #[test]
    fn a_receivers_notes_reach_the_sender() {
        let zero = u32::MAX - 1499;
        let mut sender = new_sender("newreno", "", 1000).unwrap();
        let mut notes = new_notes();
        assert!(!notes.report(zero).is_there);
        let mut arrive = |i: u32, next: u32, transmission| {
            notes.on_segment(&ArrivalView {
                now_ns: 1000 * transmission,
                seq: zero.wrapping_add(i * 1000),
                bytes: 1000,
                next: zero.wrapping_add(next * 1000),
                transmission,
                sent_ns: 10,
                marked: i == 2,
            });
            notes.report(zero.wrapping_add(1000))
        };
        for i in 0..5 {
            sender.on_sent(10, zero.wrapping_add(i * 1000), 1000, 5000);
        }
        let reports = [arrive(0, 0, 1), arrive(2, 1, 3), arrive(2, 1, 4)];
        let notes = reports.map(|report| {
            let view = AckView {
                now_ns: 30_000,
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
                timeout_ns: 0,
                report,
                truth: Truth::Unknown,
                draw: 0.0,
            };
            sender.ack(&view).note
        });
        assert_eq!(notes[0].echo, Some(Duration::from_nanos(29_990)));
        assert_eq!(notes.map(|n| n.marked), [false, true, true]);
        assert_eq!(notes[1].duplicate, None);
        assert_eq!(notes[2].duplicate, Some((2000, 3000)));
        assert!(notes.iter().all(|n| !n.out_of_order));
    }

    #[test]
    fn bad_input_is_told() {
        let error = |policy, params| new_sender(policy, params, 1000).err().unwrap();
        assert!(error("rno", "").contains("unknown recovery"));
        assert!(error("newreno", "[").contains("parameters of newreno"));
        assert!(error("newreno", "{\"a\": 1}").contains("unknown field"));
    }
}
