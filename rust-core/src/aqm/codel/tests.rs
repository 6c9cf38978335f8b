use super::*;
use crate::aqm::testing::{Disc, SETUP, Step as Load, random_steps, run_steps};
use proptest::prelude::*;
use std::collections::VecDeque;

fn codel(config: Config) -> Box<dyn Aqm> {
    Box::new(CoDel::new(&SETUP, &config).expect("builds"))
}

fn ns3() -> Config {
    Config {
        arithmetic: Arithmetic::Ns3,
        ..Config::default()
    }
}

/// What differs between the two arithmetics, for the oracle below. Times are in its own unit.
trait Numbers {
    const TARGET: i128;
    const INTERVAL: i128;
    fn time(nanos: u64) -> i128;
    fn small(bytes: u64) -> bool;
    fn reached(now: i128, first_above: i128) -> bool;
    fn recent(now: i128, drop_next: i128) -> bool;
    /// Interval over the root of the count; `root` is the state of an iteration.
    fn spacing(root: &mut u128, count: u32, restart: bool) -> i128;
}

struct Rfc;
impl Numbers for Rfc {
    const TARGET: i128 = 5_000_000;
    const INTERVAL: i128 = 100_000_000;
    fn time(nanos: u64) -> i128 {
        i128::from(nanos)
    }
    fn small(bytes: u64) -> bool {
        bytes <= 1500
    }
    fn reached(now: i128, first_above: i128) -> bool {
        now >= first_above
    }
    fn recent(now: i128, drop_next: i128) -> bool {
        now - drop_next < 16 * Self::INTERVAL
    }
    fn spacing(_: &mut u128, count: u32, _: bool) -> i128 {
        (1e8 * (1.0 / (count as f64).sqrt())).round() as i128
    }
}

/// Below the wrap of the 32-bit clock.
struct Ns3Numbers;
impl Numbers for Ns3Numbers {
    const TARGET: i128 = 5_000_000 / 1024;
    const INTERVAL: i128 = 100_000_000 / 1024;
    fn time(nanos: u64) -> i128 {
        i128::from(nanos) / 1024
    }
    fn small(bytes: u64) -> bool {
        bytes < 1500
    }
    fn reached(now: i128, first_above: i128) -> bool {
        now > first_above
    }
    fn recent(now: i128, drop_next: i128) -> bool {
        (now - drop_next).rem_euclid(1 << 32) < 16 * Self::INTERVAL
    }
    fn spacing(root: &mut u128, count: u32, restart: bool) -> i128 {
        if restart {
            *root = 0xFFFF;
        } else {
            let x = *root << 16;
            let square = (x * x) >> 32;
            // Negative where count x^2 > 3: 64 bits of two's complement from there on.
            let bracket = ((3i128 << 32) - i128::from(count) * square as i128)
                .rem_euclid(1 << 64)
                .unsigned_abs();
            *root = ((((bracket >> 2) * x) % (1 << 64)) >> 31 >> 16) & 0xFFFF;
        }
        ((Self::INTERVAL.unsigned_abs() * (*root << 16)) >> 32) as i128
    }
}

/// The dequeue of RFC 8289, section 5, in one piece, over a queue of its own.
struct Oracle<N: Numbers> {
    queue: VecDeque<(u64, u64, u64)>,
    bytes: u64,
    first_above: i128,
    dropping: bool,
    count: u32,
    lastcount: u32,
    drop_next: i128,
    root: u128,
    dropped: Vec<u64>,
    sent: Vec<u64>,
    numbers: std::marker::PhantomData<N>,
}

impl<N: Numbers> Oracle<N> {
    fn run(steps: &[Load]) -> Oracle<N> {
        let mut o = Oracle {
            queue: VecDeque::new(),
            bytes: 0,
            first_above: 0,
            dropping: false,
            count: 0,
            lastcount: 0,
            drop_next: 0,
            root: 0xFFFF,
            dropped: Vec::new(),
            sent: Vec::new(),
            numbers: std::marker::PhantomData::<N>,
        };
        let (mut now, mut id) = (0, 0);
        for step in steps {
            match *step {
                Load::Arrive(wait, size, ..) => {
                    now += wait;
                    if o.queue.len() < 100 {
                        o.queue.push_back((id, size, now));
                        o.bytes += size;
                    } else {
                        o.dropped.push(id);
                    }
                    id += 1;
                }
                Load::Serve(wait) => {
                    now += wait;
                    if let Some(sent) = o.dequeue(now) {
                        o.sent.push(sent);
                    }
                }
            }
        }
        o
    }

    fn take(&mut self, nanos: u64) -> (Option<u64>, bool) {
        let now = N::time(nanos);
        let Some((id, size, since)) = self.queue.pop_front() else {
            self.first_above = 0;
            return (None, false);
        };
        self.bytes -= size;
        let mut ok = false;
        if N::time(nanos - since) < N::TARGET || N::small(self.bytes) {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = now + N::INTERVAL;
        } else if N::reached(now, self.first_above) {
            ok = true;
        }
        (Some(id), ok)
    }

    fn dequeue(&mut self, nanos: u64) -> Option<u64> {
        let now = N::time(nanos);
        let (mut packet, mut ok) = self.take(nanos);
        if self.dropping {
            if !ok {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.dropped.extend(packet);
                self.count += 1;
                let spacing = N::spacing(&mut self.root, self.count, false);
                (packet, ok) = self.take(nanos);
                if ok {
                    self.drop_next += spacing;
                } else {
                    self.dropping = false;
                }
            }
        } else if ok {
            self.dropped.extend(packet);
            (packet, _) = self.take(nanos);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            let resume = delta > 1 && N::recent(now, self.drop_next);
            self.count = if resume { delta } else { 1 };
            self.drop_next = now + N::spacing(&mut self.root, self.count, !resume);
            self.lastcount = self.count;
        }
        packet
    }
}

/// Drops and departures of the disc under test.
fn outcome(disc: &Disc) -> (Vec<u64>, Vec<u64>) {
    let dropped = disc.drops().iter().map(|&(_, id)| id).collect();
    let sent = disc
        .events
        .iter()
        .filter(|e| e.dequeue && e.verdict == Verdict::Pass)
        .map(|e| e.id)
        .collect();
    (dropped, sent)
}

/// Enters the dropping state, leaves it and enters it again, many times.
fn heavy(seed: u64) -> Vec<Load> {
    random_steps(seed, 20_000)
}

#[test]
fn a_standing_queue_loses_packets_at_the_control_laws_distances() {
    // Every packet waits 20 ms; one is taken each 10 us.
    let mut codel = CoDel::new(&SETUP, &Config::default()).expect("builds");
    let queue = Queue {
        packets: 100,
        bytes: Bytes::new(150_000),
    };
    let mut drops = Vec::new();
    for n in 0..60_000u64 {
        let now = Instant::from_nanos(1_000_000_000 + n * 10_000);
        let packet = Packet {
            size: Bytes::new(1500),
            enqueued: now.saturating_sub(Duration::from_millis(20)),
            icn_data: true,
            ect: true,
        };
        if codel.on_dequeue(now, &packet, &queue, 0.5).verdict != Verdict::Pass {
            drops.push(n as f64 / 100.0);
        }
    }
    assert_eq!(drops[0], 100.0);
    // 100/sqrt(k) ms: 100, 70.7, 57.7, 50, ...
    for (k, pair) in drops.windows(2).enumerate() {
        let expected = 100.0 / ((k + 1) as f64).sqrt();
        assert!((pair[1] - pair[0] - expected).abs() < 0.02, "{drops:?}");
    }
    assert!(drops.len() >= 10, "{drops:?}");
}

#[test]
fn a_backlog_of_one_mtu_is_exempt_and_the_arithmetics_differ_there() {
    let drops = |config: Config, backlog: u64| {
        let mut codel = codel(config);
        let queue = Queue {
            packets: 2,
            bytes: Bytes::new(backlog),
        };
        (0..1000u64)
            .filter(|n| {
                let now = Instant::from_millis(1000 + n);
                let packet = Packet {
                    size: Bytes::new(1500),
                    enqueued: now.saturating_sub(Duration::from_millis(20)),
                    icn_data: false,
                    ect: false,
                };
                codel.on_dequeue(now, &packet, &queue, 0.5).verdict != Verdict::Pass
            })
            .count()
    };
    assert_eq!(drops(Config::default(), 1500), 0);
    assert!(drops(Config::default(), 1501) > 10);
    assert_eq!(drops(ns3(), 1499), 0);
    assert!(drops(ns3(), 1500) > 10);
}

#[test]
fn the_loads_reach_every_branch() {
    let disc = run_steps(codel(Config::default()), SETUP.limit, &heavy(1));
    let at_dequeue = disc
        .events
        .iter()
        .filter(|e| e.verdict == Verdict::Drop(DropReason::TargetExceeded));
    assert!(at_dequeue.count() > 50);
    let full = disc
        .events
        .iter()
        .filter(|e| e.verdict == Verdict::Drop(DropReason::Overlimit));
    assert!(full.count() > 50);
    assert!(disc.state("count") >= 1.0);
    // The two arithmetics are not the same algorithm.
    let other = run_steps(codel(ns3()), SETUP.limit, &heavy(1));
    assert_ne!(disc.drops(), other.drops());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn exact_codel_is_rfc_8289(seed in any::<u64>()) {
        let steps = heavy(seed);
        let oracle = Oracle::<Rfc>::run(&steps);
        let (dropped, sent) = outcome(&run_steps(codel(Config::default()), SETUP.limit, &steps));
        prop_assert_eq!(dropped, oracle.dropped);
        prop_assert_eq!(sent, oracle.sent);
    }

    #[test]
    fn codel_in_ticks_is_the_same_function_in_its_numbers(seed in any::<u64>()) {
        let steps = heavy(seed);
        let oracle = Oracle::<Ns3Numbers>::run(&steps);
        let (dropped, sent) = outcome(&run_steps(codel(ns3()), SETUP.limit, &steps));
        prop_assert_eq!(dropped, oracle.dropped);
        prop_assert_eq!(sent, oracle.sent);
    }
}
