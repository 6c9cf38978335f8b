//! A TCP connection of which tests decide which segment arrives next: a sender that does as ns-3's
//! does without SACK (one hole is filled per round trip, duplicate ACKs let new segments go), and a
//! receiver that acknowledges each segment at once.

use super::{Ack, Note, Phase, Policy, Reduction, Verdict};
use crate::units::{Bytes, Duration, Instant};
use std::collections::{BTreeSet, VecDeque};

/// Bytes of a segment.
pub(super) const SEGMENT: u64 = 1000;

/// The duplicate ACK of the given number, of a window of ten segments.
pub(super) fn duplicate(number: u32) -> Ack {
    Ack {
        now: Instant::from_millis(1000),
        ack: 50 * SEGMENT,
        una: 50 * SEGMENT,
        high: 60 * SEGMENT,
        recover: 0,
        window: Bytes::new(10 * SEGMENT),
        threshold: Bytes::new(5 * SEGMENT),
        duplicates: number,
        may_retransmit: true,
        phase: Phase::Open,
        rtt: None,
        timer: Duration::from_secs(1),
        timeout: Duration::from_secs(1),
        note: Note::default(),
        truth: None,
        draw: 0.5,
    }
}

/// The connection. Segments are numbered; number n is the bytes from n * [`SEGMENT`].
pub(super) struct Tcp {
    pub(super) policy: Box<dyn Policy>,
    pub(super) now: Instant,
    /// In the network, in the order in which they were sent.
    pub(super) network: VecDeque<u64>,
    /// What was sent, in that order.
    pub(super) sent: Vec<u64>,
    pub(super) verdicts: Vec<Verdict>,
    pub(super) window: u64,
    pub(super) threshold: u64,
    pub(super) phase: Phase,
    pub(super) una: u64,
    pub(super) high: u64,
    /// Segments beyond this may not be sent, whatever the window.
    pub(super) receiver_limit: u64,
    pub(super) deadline: Instant,
    /// What RTT new ACKs tell.
    pub(super) rtt: Option<Duration>,
    duplicates: u32,
    recover: u64,
    kept_threshold: Option<u64>,
    received: BTreeSet<u64>,
    expected: u64,
}

impl Tcp {
    /// Segments from `first` on are sent with a window of `window` segments; all before have been
    /// acknowledged, with RTTs of `rtts_ms`.
    pub(super) fn new(policy: Box<dyn Policy>, first: u64, window: u64, rtts_ms: &[u64]) -> Tcp {
        let mut t = Tcp {
            policy,
            now: Instant::from_millis(1000),
            network: VecDeque::new(),
            sent: Vec::new(),
            verdicts: Vec::new(),
            window: window * SEGMENT,
            threshold: window * SEGMENT / 2,
            phase: Phase::Open,
            una: first,
            high: first,
            receiver_limit: u64::MAX,
            deadline: Instant::MAX,
            rtt: None,
            duplicates: 0,
            recover: 0,
            kept_threshold: None,
            received: BTreeSet::new(),
            expected: first,
        };
        for &ms in rtts_ms {
            let ack = Ack {
                ack: first * SEGMENT,
                una: first * SEGMENT - 1,
                rtt: Some(Duration::from_millis(ms)),
                ..t.view(first, 0)
            };
            t.policy.on_ack(&ack);
        }
        t.send_new();
        t
    }

    fn view(&self, ack: u64, duplicates: u32) -> Ack {
        Ack {
            now: self.now,
            ack: ack * SEGMENT,
            una: self.una * SEGMENT,
            high: self.high * SEGMENT,
            recover: self.recover * SEGMENT,
            window: Bytes::new(self.window),
            threshold: Bytes::new(self.threshold),
            duplicates,
            may_retransmit: self.una >= self.recover,
            phase: self.phase,
            rtt: None,
            ..duplicate(duplicates)
        }
    }

    /// Sends what the window lets go. A duplicate ACK lets one go from the third on.
    fn send_new(&mut self) {
        let inflation = u64::from(self.duplicates.saturating_sub(2));
        while self.high - self.una < self.window / SEGMENT + inflation
            && self.high < self.receiver_limit
        {
            self.send(self.high);
            self.high += 1;
        }
    }

    fn send(&mut self, number: u64) {
        self.sent.push(number);
        self.network.push_back(number);
    }

    /// Loses the segment `number`, which is in the network.
    pub(super) fn lose(&mut self, number: u64) {
        let at = self.network.iter().position(|&n| n == number).unwrap();
        self.network.remove(at);
    }

    /// The segment `number` arrives, before others if need be, and is acknowledged.
    pub(super) fn arrive(&mut self, number: u64) {
        self.lose(number);
        self.now += Duration::from_millis(1);
        self.received.insert(number);
        while self.received.remove(&self.expected) {
            self.expected += 1;
        }
        self.on_ack(self.expected);
    }

    /// The next segment arrives.
    pub(super) fn next(&mut self) -> u64 {
        let number = self.network[0];
        self.arrive(number);
        number
    }

    fn on_ack(&mut self, ack: u64) {
        let new = ack > self.una;
        let duplicates = if new { 0 } else { self.duplicates + 1 };
        let step = self.policy.on_ack(&Ack {
            rtt: self.rtt.filter(|_| new),
            ..self.view(ack, duplicates)
        });
        self.verdicts.extend(step.verdict);
        self.deadline = step.deadline;
        if let Some(window) = step.window {
            self.window = window.get();
        }
        if !new {
            self.duplicates = duplicates;
            if step.retransmit && self.phase == Phase::Open {
                self.enter(step.reduction);
            }
        } else if self.phase == Phase::Recovery && ack < self.recover {
            self.una = ack;
            self.duplicates = 0;
            self.send(ack);
        } else {
            if self.phase == Phase::Recovery {
                self.window = step.exit.map_or(self.threshold, Bytes::get);
                if let Some(kept) = self.kept_threshold.take() {
                    self.threshold = kept;
                }
                self.phase = Phase::Open;
            } else if step.grow {
                self.window += SEGMENT * SEGMENT / self.window.max(1);
            }
            self.una = ack;
            self.duplicates = 0;
        }
        self.send_new();
    }

    fn enter(&mut self, reduction: Reduction) {
        self.recover = self.high;
        self.phase = Phase::Recovery;
        let flight = (self.high - self.una) * SEGMENT;
        let share = match reduction {
            Reduction::Controller => 0.5,
            Reduction::Share(share) => share,
            Reduction::Keep => {
                self.kept_threshold = Some(self.threshold);
                self.send(self.una);
                return;
            }
        };
        self.threshold = ((flight as f64 * share) as u64).max(2 * SEGMENT);
        self.window = self.threshold;
        self.send(self.una);
    }

    /// The policy's own time has come.
    pub(super) fn run_out(&mut self) {
        self.now = self.deadline;
        let view = self.view(self.una, 0);
        let step = self.policy.on_deadline(&view);
        self.verdicts.extend(step.verdict);
        self.deadline = step.deadline;
        if step.retransmit {
            self.enter(step.reduction);
        }
    }

    /// How often the segment `number` was sent.
    pub(super) fn times(&self, number: u64) -> usize {
        self.sent.iter().filter(|&&n| n == number).count()
    }
}
