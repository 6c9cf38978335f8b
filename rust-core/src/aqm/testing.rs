//! A queue disc for tests: a FIFO that asks an AQM and writes down what it said.

use super::{Aqm, Limit, Packet, Queue, Setup, Verdict};
use crate::units::{Bytes, Duration, Instant, Rate};
use std::collections::VecDeque;

/// 100 packets before a link of 10 Mbps and 10 ms.
pub(super) const SETUP: Setup = Setup {
    limit: Limit::Packets(100),
    link_rate: Rate::from_bps(10_000_000),
    link_delay: Duration::from_millis(10),
};

/// A verdict that was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Event {
    /// When.
    pub at: Instant,
    /// The packet, counted by arrivals.
    pub id: u64,
    /// At dequeue (else at enqueue).
    pub dequeue: bool,
    /// How long the packet had waited.
    pub sojourn: Duration,
    /// Bytes behind it (dequeue) or before it (enqueue).
    pub backlog: Bytes,
    /// What was decided.
    pub verdict: Verdict,
}

/// A small generator (splitmix64), so that a test's whole input is its seed.
#[derive(Debug, Clone)]
pub(super) struct Draws(u64);

impl Draws {
    pub(super) fn new(seed: u64) -> Draws {
        Draws(seed)
    }

    pub(super) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in 0..1.
    pub(super) fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in 0..n.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.next_u64() % n
    }
}

/// The queue disc.
#[derive(Debug)]
pub(super) struct Disc {
    aqm: Box<dyn Aqm>,
    limit: Limit,
    waiting: VecDeque<(u64, Packet)>,
    queue: Queue,
    draws: Draws,
    draw: f64,
    arrivals: u64,
    pub now: Instant,
    pub events: Vec<Event>,
    /// Longest queue so far, in the limit's unit.
    pub longest: u64,
}

impl Disc {
    pub(super) fn new(aqm: Box<dyn Aqm>, limit: Limit) -> Disc {
        let mut draws = Draws::new(1);
        Disc {
            aqm,
            limit,
            waiting: VecDeque::new(),
            queue: Queue::default(),
            draw: draws.uniform(),
            draws,
            arrivals: 0,
            now: Instant::ZERO,
            events: Vec::new(),
            longest: 0,
        }
    }

    /// Makes room for `events` events and packets.
    pub(super) fn reserve(&mut self, events: usize) {
        self.events.reserve(events);
        self.waiting.reserve(events);
    }

    fn note(&mut self, id: u64, packet: &Packet, dequeue: bool, decision: super::Decision) {
        if decision.draw_used {
            self.draw = self.draws.uniform();
        }
        self.events.push(Event {
            at: self.now,
            id,
            dequeue,
            sojourn: self.now - packet.enqueued,
            backlog: self.queue.bytes,
            verdict: decision.verdict,
        });
    }

    /// `wait_ns` pass, then a packet arrives.
    pub(super) fn arrive(&mut self, wait_ns: u64, size: u64, icn_data: bool, ect: bool) {
        self.now += Duration::from_nanos(wait_ns);
        let packet = Packet {
            size: Bytes::new(size),
            enqueued: self.now,
            icn_data,
            ect,
        };
        let id = self.arrivals;
        self.arrivals += 1;
        let decision = self
            .aqm
            .on_enqueue(self.now, &packet, &self.queue, self.draw);
        self.note(id, &packet, false, decision);
        if !matches!(decision.verdict, Verdict::Drop(_)) {
            self.waiting.push_back((id, packet));
            self.queue.packets += 1;
            self.queue.bytes += packet.size;
            self.longest = self.longest.max(self.limit.measure(&self.queue));
        }
    }

    /// The link wants a packet. Returns the packet that leaves.
    pub(super) fn serve(&mut self) -> Option<u64> {
        while let Some((id, packet)) = self.waiting.pop_front() {
            self.queue.packets -= 1;
            self.queue.bytes -= packet.size;
            let decision = self
                .aqm
                .on_dequeue(self.now, &packet, &self.queue, self.draw);
            self.note(id, &packet, true, decision);
            if !matches!(decision.verdict, Verdict::Drop(_)) {
                return Some(id);
            }
        }
        self.aqm.on_empty(self.now);
        None
    }

    /// Packets that were dropped at dequeue, with times.
    pub(super) fn drops(&self) -> Vec<(Instant, u64)> {
        self.events
            .iter()
            .filter(|e| matches!(e.verdict, Verdict::Drop(_)))
            .map(|e| (e.at, e.id))
            .collect()
    }

    /// One state variable.
    pub(super) fn state(&self, name: &str) -> f64 {
        let mut found = f64::NAN;
        self.aqm.visit_state(&mut |n, value| {
            if n == name {
                found = value;
            }
        });
        found
    }
}

/// One step of a random load.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// After so many ns a packet of so many bytes arrives (ICN DATA or not, ECT or not).
    Arrive(u64, u64, bool, bool),
    /// After so many ns the link wants a packet.
    Serve(u64),
}

/// A random load: the queue builds up, drains and idles by turns.
pub(super) fn random_steps(seed: u64, n: usize) -> Vec<Step> {
    let mut random = Draws::new(seed);
    let mut steps = Vec::with_capacity(n);
    let mut arrivals_in_16 = 8;
    for _ in 0..n {
        if random.below(200) == 0 {
            arrivals_in_16 = 4 + random.below(9);
        }
        // About 0.6 ms per step: the 1.2 ms of a packet of 1500 bytes at 10 Mbps.
        let wait = if random.below(500) == 0 {
            random.below(400_000_000)
        } else {
            random.below(1_200_000)
        };
        steps.push(if random.below(16) < arrivals_in_16 {
            Step::Arrive(
                wait,
                40 + random.below(1461),
                random.below(2) == 0,
                random.below(2) == 0,
            )
        } else {
            Step::Serve(wait)
        });
    }
    steps
}

/// A random load through a queue disc.
pub(super) fn run_steps(aqm: Box<dyn Aqm>, limit: Limit, steps: &[Step]) -> Disc {
    let mut disc = Disc::new(aqm, limit);
    for step in steps {
        match *step {
            Step::Arrive(wait, size, icn_data, ect) => disc.arrive(wait, size, icn_data, ect),
            Step::Serve(wait) => {
                disc.now += Duration::from_nanos(wait);
                disc.serve();
            }
        }
    }
    disc
}

/// `n` random steps through a queue disc.
pub(super) fn run_random(aqm: Box<dyn Aqm>, limit: Limit, seed: u64, n: usize) -> Disc {
    run_steps(aqm, limit, &random_steps(seed, n))
}
