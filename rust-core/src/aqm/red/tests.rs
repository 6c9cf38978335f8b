use super::*;
use crate::aqm::testing::{Disc, Draws, SETUP, Step, random_steps, run_steps};
use crate::units::Duration;
use proptest::prelude::*;
use std::collections::VecDeque;

/// A configuration that drops a lot at the loads of these tests.
fn busy() -> Config {
    Config {
        min_threshold: 20.0,
        max_threshold: 40.0,
        threshold_unit: ThresholdUnit::Percent,
        max_p: 0.1,
        queue_weight: 0.02,
        mean_packet_bytes: 1000,
        ..Config::default()
    }
}

fn red(setup: &Setup, config: &Config) -> Box<dyn Aqm> {
    Box::new(Red::new(setup, config).expect("builds"))
}

/// RED as published, over a queue and draws of its own: figure 2 of the 1993 paper in packets or
/// bytes, with the rules that the module lists (two queued, first crossing, waiting).
struct Oracle {
    config: Config,
    setup: Setup,
    min: f64,
    max: f64,
    avg: f64,
    max_p: f64,
    last_change: u64,
    region: i32,
    /// Packets and bytes since the last drop; none while the average is below the threshold.
    count: Option<(u64, u64)>,
    idle: Option<u64>,
    queue: VecDeque<(u64, u64)>,
    draws: Draws,
    dropped: Vec<u64>,
    marked: Vec<u64>,
    full: Vec<u64>,
}

impl Oracle {
    fn run(setup: Setup, config: Config, steps: &[Step]) -> Oracle {
        let limit = setup.limit.get() as f64;
        let mut o = Oracle {
            config,
            setup,
            min: limit * config.min_threshold / 100.0,
            max: limit * config.max_threshold / 100.0,
            avg: 0.0,
            max_p: config.max_p,
            last_change: 0,
            region: 1,
            count: None,
            idle: Some(0),
            queue: VecDeque::new(),
            draws: Draws::new(1),
            dropped: Vec::new(),
            marked: Vec::new(),
            full: Vec::new(),
        };
        let (mut now, mut id) = (0u64, 0);
        for step in steps {
            match *step {
                Step::Arrive(wait, size, _, ect) => {
                    now += wait;
                    o.arrive(now, id, size, ect);
                    id += 1;
                }
                Step::Serve(wait) => {
                    now += wait;
                    if o.queue.pop_front().is_none() {
                        o.idle = Some(now);
                    }
                }
            }
        }
        o
    }

    fn bytes(&self) -> bool {
        matches!(self.setup.limit, Limit::Bytes(_))
    }

    fn arrive(&mut self, now: u64, id: u64, size: u64, ect: bool) {
        let held: u64 = self.queue.iter().map(|&(_, size)| size).sum();
        let length = if self.bytes() {
            held
        } else {
            self.queue.len() as u64
        };
        let mean = f64::from(self.config.mean_packet_bytes);
        if let Some(since) = self.idle.take() {
            // Packets of the mean size that the link could have sent.
            let time = mean * 8.0 / self.setup.link_rate.as_bps() as f64;
            let m = ((now - since) as f64 / 1e9 / time).floor();
            self.avg *= (1.0 - self.config.queue_weight).powf(m);
        }
        let w = self.config.queue_weight;
        self.avg = (1.0 - w) * self.avg + w * length as f64;
        self.adapt(now);

        let count = self.count.map(|(n, b)| (n + 1, b + size));
        let mut hit = None;
        if self.avg < self.min || length <= 1 {
            self.count = None;
        } else if self.avg
            >= if self.config.gentle {
                2.0 * self.max
            } else {
                self.max
            }
        {
            self.count = count;
            hit = Some(true);
        } else {
            match count {
                None => self.count = Some((1, size)),
                Some((n, b)) => {
                    self.count = count;
                    if self.draws.uniform() <= self.probability(n, b, size) {
                        self.count = Some((0, 0));
                        hit = Some(false);
                    }
                }
            }
        }
        let mark = self.config.use_ecn && ect;
        match hit {
            Some(forced) if !mark || (forced && self.config.use_hard_drop) => {
                self.dropped.push(id);
                return;
            }
            _ => {}
        }
        let fits = match self.setup.limit {
            Limit::Packets(most) => (self.queue.len() as u64) < most,
            Limit::Bytes(most) => held + size <= most.get(),
        };
        if !fits {
            self.full.push(id);
            return;
        }
        if hit.is_some() {
            self.marked.push(id);
        }
        self.queue.push_back((id, size));
    }

    fn probability(&self, packets: u64, bytes: u64, size: u64) -> f64 {
        let mean = u64::from(self.config.mean_packet_bytes);
        let pb = if self.avg < self.max {
            self.max_p * (self.avg - self.min) / (self.max - self.min)
        } else {
            let start = self.config.max_p;
            start + (1.0 - start) * (self.avg - self.max) / self.max
        };
        let count = if self.bytes() { bytes / mean } else { packets } as f64;
        let pa = if self.config.wait {
            if count * pb < 1.0 {
                0.0
            } else if count * pb < 2.0 {
                pb / (2.0 - count * pb)
            } else {
                1.0
            }
        } else if count * pb < 1.0 {
            pb / (1.0 - count * pb)
        } else {
            1.0
        };
        if self.bytes() && pa < 1.0 {
            (pa * size as f64 / mean as f64).min(1.0)
        } else {
            pa.min(1.0)
        }
    }

    fn adapt(&mut self, now: u64) {
        let (low, high) = (
            self.min + 0.4 * (self.max - self.min),
            self.max - 0.4 * (self.max - self.min),
        );
        match self.config.adaptation {
            Adaptation::MaxP if now > self.last_change + 500_000_000 => {
                let rtt_packets = self.setup.link_rate.as_bps() as f64 * 0.1
                    / (8.0 * f64::from(self.config.mean_packet_bytes));
                let bottom = (1.0 / rtt_packets).min(0.01);
                if self.avg < low && self.max_p > bottom {
                    self.max_p *= 0.9;
                    self.last_change = now;
                } else if self.avg > high && self.max_p < 0.5 {
                    self.max_p += (self.max_p / 4.0).min(0.01);
                    self.last_change = now;
                }
            }
            Adaptation::Feng => {
                if self.avg > self.min && self.avg < self.max {
                    self.region = 0;
                } else if self.avg < self.min && self.region >= 0 {
                    self.region = -1;
                    self.max_p /= 3.0;
                } else if self.avg > self.max && self.region <= 0 {
                    self.region = 1;
                    self.max_p *= 2.0;
                }
            }
            _ => {}
        }
    }
}

fn ids(disc: &Disc, wanted: impl Fn(Verdict) -> bool) -> Vec<u64> {
    disc.events
        .iter()
        .filter(|e| wanted(e.verdict))
        .map(|e| e.id)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn red_is_the_published_algorithm_event_for_event(
        seed in any::<u64>(),
        (gentle, wait, use_ecn, use_hard_drop) in any::<(bool, bool, bool, bool)>(),
        in_bytes in any::<bool>(),
        adaptation in prop::sample::select(
            vec![Adaptation::None, Adaptation::MaxP, Adaptation::Feng]),
    ) {
        let limit = if in_bytes { Limit::Bytes(Bytes::new(80_000)) } else { Limit::Packets(100) };
        let setup = Setup { limit, ..SETUP };
        let config = Config { gentle, wait, use_ecn, use_hard_drop, adaptation, ..busy() };
        let steps = random_steps(seed, 10_000);
        let oracle = Oracle::run(setup, config, &steps);
        let disc = run_steps(red(&setup, &config), limit, &steps);
        let dropped = ids(&disc, |v| {
            matches!(v, Verdict::Drop(DropReason::Forced | DropReason::Unforced))
        });
        prop_assert_eq!(dropped, oracle.dropped);
        prop_assert_eq!(ids(&disc, |v| matches!(v, Verdict::Mark(..))), oracle.marked);
        prop_assert_eq!(
            ids(&disc, |v| v == Verdict::Drop(DropReason::Overlimit)), oracle.full);
    }

    #[test]
    fn a_packet_that_does_not_allow_it_is_never_marked(seed in any::<u64>()) {
        let config = Config { use_ecn: true, use_hard_drop: false, ..busy() };
        let steps: Vec<_> = random_steps(seed, 5_000)
            .into_iter()
            .map(|step| match step {
                Step::Arrive(wait, size, icn, _) => Step::Arrive(wait, size, icn, false),
                serve => serve,
            })
            .collect();
        let disc = run_steps(red(&SETUP, &config), SETUP.limit, &steps);
        prop_assert_eq!(ids(&disc, |v| matches!(v, Verdict::Mark(..))), Vec::<u64>::new());
    }
}

#[test]
fn the_loads_reach_every_verdict() {
    let config = Config {
        use_ecn: true,
        ..busy()
    };
    let disc = run_steps(red(&SETUP, &config), SETUP.limit, &random_steps(3, 40_000));
    for verdict in [
        Verdict::Drop(DropReason::Unforced),
        Verdict::Drop(DropReason::Forced),
        Verdict::Mark(MarkField::Ecn, MarkReason::Unforced),
    ] {
        assert!(!ids(&disc, |v| v == verdict).is_empty(), "{verdict:?}");
    }
}

#[test]
fn the_average_follows_arrivals_and_decays_over_idle_time() {
    let config = Config {
        queue_weight: 0.5,
        mean_packet_bytes: 1250,
        ..Config::default()
    };
    // A packet of 1250 bytes takes 1 ms.
    let mut disc = Disc::new(red(&SETUP, &config), SETUP.limit);
    for expected in [0.0, 0.5, 1.25] {
        disc.arrive(0, 1250, false, false);
        assert_eq!(disc.state("average"), expected);
    }
    for _ in 0..4 {
        disc.serve();
    }
    // Three packets could have been sent since: 1.25 / 2^4.
    disc.arrive(3_500_000, 1250, false, false);
    assert_eq!(disc.state("average"), 0.078125);
}

#[test]
fn thresholds_convert_to_the_limits_unit() {
    let thresholds = |unit, limit| {
        let config = Config {
            threshold_unit: unit,
            ..Config::default()
        };
        let red = Red::new(&Setup { limit, ..SETUP }, &config).expect("builds");
        (red.min, red.max)
    };
    let (packets, bytes) = (Limit::Packets(200), Limit::Bytes(Bytes::new(300_000)));
    assert_eq!(thresholds(ThresholdUnit::Packets, packets), (5.0, 15.0));
    assert_eq!(thresholds(ThresholdUnit::Packets, bytes), (2500.0, 7500.0));
    assert_eq!(thresholds(ThresholdUnit::Bytes, bytes), (5.0, 15.0));
    assert_eq!(thresholds(ThresholdUnit::Bytes, packets), (0.01, 0.03));
    assert_eq!(thresholds(ThresholdUnit::Percent, packets), (10.0, 30.0));
    assert_eq!(
        thresholds(ThresholdUnit::Percent, bytes),
        (15_000.0, 45_000.0)
    );
}

#[test]
fn adaptive_red_sets_thresholds_and_weight_from_the_link() {
    let config = Config {
        adaptation: Adaptation::Ared,
        ..Config::default()
    };
    let setup = Setup {
        link_rate: crate::units::Rate::from_mbps(100.0),
        ..SETUP
    };
    // 25000 packets of 500 bytes per second: 125 in 5 ms.
    let red = Red::new(&setup, &config).expect("builds");
    assert_eq!((red.min, red.max), (62.5, 187.5));
    assert_eq!(red.weight, 1.0 - (-1.0f64 / 25_000.0).exp());
    // A slow link: 5 packets at least.
    let setup = Setup {
        link_rate: crate::units::Rate::from_mbps(1.0),
        ..SETUP
    };
    let red = Red::new(&setup, &config).expect("builds");
    assert_eq!((red.min, red.max), (5.0, 15.0));
}

#[test]
fn with_wait_drops_are_spread_over_one_to_two_distances() {
    // The average stays at 10 of 5..15 packets: p is max_p / 2 = 1/100.
    let config = Config {
        queue_weight: 1.0,
        ..Config::default()
    };
    let mut red = Red::new(&SETUP, &config).expect("builds");
    let mut draws = Draws::new(5);
    let packet = Packet {
        size: Bytes::new(500),
        enqueued: Instant::ZERO,
        icn_data: false,
        ect: false,
    };
    let queue = Queue {
        packets: 10,
        bytes: Bytes::new(5000),
    };
    let mut drops = Vec::new();
    for n in 0..200_000u64 {
        let now = Instant::ZERO + Duration::from_micros(n);
        let decision = red.on_enqueue(now, &packet, &queue, draws.uniform());
        if decision.verdict == Verdict::Drop(DropReason::Unforced) {
            drops.push(n);
        }
    }
    let gaps: Vec<_> = drops.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(gaps.len() > 1000);
    // 1/p to 2/p packets, evenly: 150 on average, standard error 29 / sqrt(1300) = 0.8.
    assert!(gaps.iter().all(|g| (100..=200).contains(g)));
    let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
    assert!((146.0..=154.0).contains(&mean), "{mean}");
}

#[test]
fn ecn_spares_a_packet_from_chance_but_not_from_the_hard_drop() {
    let verdict = |use_hard_drop, length: u64| {
        let config = Config {
            queue_weight: 1.0,
            use_ecn: true,
            use_hard_drop,
            wait: false,
            max_p: 1.0,
            ..Config::default()
        };
        let mut red = Red::new(&SETUP, &config).expect("builds");
        let packet = Packet {
            size: Bytes::new(500),
            enqueued: Instant::ZERO,
            icn_data: true,
            ect: true,
        };
        let queue = Queue {
            packets: length,
            bytes: Bytes::new(500 * length),
        };
        // The first packet above the threshold goes.
        red.on_enqueue(Instant::ZERO, &packet, &queue, 0.0);
        red.on_enqueue(Instant::ZERO, &packet, &queue, 0.0).verdict
    };
    let mark = |reason| Verdict::Mark(MarkField::Ecn, reason);
    assert_eq!(verdict(true, 10), mark(MarkReason::Unforced));
    assert_eq!(verdict(true, 31), Verdict::Drop(DropReason::Forced));
    assert_eq!(verdict(false, 31), mark(MarkReason::Forced));
    assert_eq!(verdict(false, 100), Verdict::Drop(DropReason::Overlimit));
}
