use super::super::test_net::{Net, Path as NetPath};
use super::*;
use crate::cc::{Phase, RestartCause};
use crate::units::Rate;
use std::fmt::Write;

const MSS: Bytes = Setup::PAPER_MSS;

fn copa_icn(config: Config) -> CopaIcn {
    CopaIcn::new(&Setup::default(), &config).expect("valid")
}

fn paper() -> CopaIcn {
    copa_icn(Config::default())
}

/// Packets/s of a link of `mbps`, whose packets have the paper's 1358 B.
fn pps(mbps: f64) -> f64 {
    mbps * 1e6 / (8.0 * 1358.0)
}

/// A packet that arrives at `ms` after `rtt_ms`, of which `one_way_ms` on DATA's way.
fn data(ms: u64, rtt_ms: u64, one_way_ms: i64) -> Data {
    let rtt = Duration::from_millis(rtt_ms);
    Data {
        now: Instant::from_millis(ms),
        pn: ms,
        next_pn: ms + 1,
        bytes: MSS,
        rtt: Some(rtt),
        srtt: Some(rtt),
        one_way: Some(OneWay::from_nanos(one_way_ms * 1_000_000)),
        probe: false,
        marked: false,
        prior_in_flight: MSS * 10,
        in_flight: MSS * 9,
        delivered: MSS,
        rate: None,
        round_start: false,
        app_limited: false,
    }
}

fn sent(ms: u64, probe: bool) -> Sent {
    Sent {
        now: Instant::from_millis(ms),
        pn: ms,
        bytes: MSS,
        prior_in_flight: Bytes::ZERO,
        app_limited: false,
        probe,
    }
}

fn restart(ms: u64) -> Restart {
    Restart {
        now: Instant::from_millis(ms),
        cause: RestartCause::ReplicaChanged,
        next_pn: ms,
    }
}

#[test]
fn delta_follows_equation_7() {
    let delta = |mbps| Config::default().delta_at(mbps);
    for (mbps, expected) in [
        (0.0, 0.05),
        (10.0, 0.0545),
        (12.5, 0.057_031_25),
        (20.0, 0.068),
        (25.0, 0.078_125),
        (50.0, 0.1625),
        (100.0, 0.5),
        (200.0, 0.5),
    ] {
        approx::assert_abs_diff_eq!(delta(mbps), expected, epsilon = 1e-12);
    }
    // Continuous at the bound, and r * delta(r) strictly increasing: one fixed point.
    assert!((delta(99.999_999) - 0.5).abs() < 1e-6);
    let product: Vec<_> = (1..400)
        .map(|r| f64::from(r) * delta(f64::from(r)))
        .collect();
    assert!(product.is_sorted_by(|a, b| a < b));
}

#[test]
fn delta_takes_the_rate_that_is_asked_for() {
    // cwnd 11 after one packet, standing RTT 10 ms: 1000 packets/s before it is counted.
    let sample = |rate_mbps| crate::cc::RateSample {
        rate: Rate::from_mbps(rate_mbps),
        prior_delivered: Bytes::ZERO,
        app_limited: false,
    };
    let after_one = |config: Config| {
        let mut c = copa_icn(config);
        c.on_data(&Data {
            rate: Some(sample(20.0)),
            ..data(10, 10, 5)
        });
        c.delta
    };
    let d = Config::default();
    let at = |mbps: f64| d.delta_at(mbps);
    let close = |a: f64, b: f64| approx::assert_abs_diff_eq!(a, b, epsilon = 1e-9);
    close(after_one(d), at(10.864));
    close(
        after_one(Config {
            rate_size: RateSize::Payload,
            ..d
        }),
        at(10.0),
    );
    let delivered = Config {
        rate_source: RateSource::Delivered,
        ..d
    };
    close(after_one(delivered), at(20.0 * 1358.0 / 1250.0));
    close(
        after_one(Config {
            rate_size: RateSize::Payload,
            ..delivered
        }),
        at(20.0),
    );
    // Per round: not before one ended.
    close(
        after_one(Config {
            delta_update: DeltaUpdate::EveryRound,
            ..d
        }),
        0.05,
    );
    let mut c = copa_icn(Config {
        delta_update: DeltaUpdate::EveryRound,
        ..d
    });
    c.on_data(&Data {
        round_start: true,
        ..data(10, 10, 5)
    });
    close(c.delta, at(10.864));
}

#[test]
fn two_probes_at_the_start_and_after_each_restart() {
    let mut c = paper();
    let probes = |c: &mut CopaIcn, from: u64| {
        (from..from + 5)
            .filter(|&ms| {
                let probe = c.wants_probe(Instant::from_millis(ms));
                c.on_sent(&sent(ms, probe));
                probe
            })
            .count()
    };
    assert_eq!(probes(&mut c, 0), 2);
    assert_eq!(probes(&mut c, 60_000), 0);
    c.on_restart(&restart(70_000));
    assert_eq!(probes(&mut c, 70_000), 2);
    let mut none = copa_icn(Config {
        probes: 0,
        ..Config::default()
    });
    assert_eq!(probes(&mut none, 0), 0);
    let reprobe = Config {
        probe_memory: ProbeMemory::Reprobe,
        ..Config::default()
    };
    let mut c = copa_icn(reprobe);
    assert_eq!(probes(&mut c, 0), 2);
    assert_eq!(probes(&mut c, 7_900), 0);
    assert_eq!(probes(&mut c, 8_010), 1);
    assert_eq!(probes(&mut c, 16_000), 0);
}

#[test]
fn a_probe_lowers_the_base_only() {
    let mut c = paper();
    c.on_data(&Data {
        probe: true,
        ..data(30, 30, 15)
    });
    assert_eq!(c.path.queue_delay(ProbeMemory::Paper), None);
    assert_eq!(c.allowance().pacing, None);
    assert_eq!(c.window.cwnd(), 11.0);
    c.on_data(&data(31, 45, 30));
    assert_eq!(c.snapshot().queue_delay, Some(Duration::from_millis(15)));
    // The same with the option: T_q is zero for SRTT/2.
    let mut c = copa_icn(Config {
        probe_in_standing: true,
        ..Config::default()
    });
    c.on_data(&Data {
        probe: true,
        ..data(30, 30, 15)
    });
    c.on_data(&data(31, 45, 30));
    assert_eq!(c.snapshot().queue_delay, Some(Duration::ZERO));
}

#[test]
fn how_long_a_probe_counts() {
    let at_10_s = |probe_memory| {
        let mut c = copa_icn(Config {
            probe_memory,
            ..Config::default()
        });
        c.on_data(&Data {
            probe: true,
            ..data(30, 30, 15)
        });
        for ms in (100..10_500).step_by(100) {
            c.on_data(&data(ms, 45, 30));
        }
        c.snapshot().queue_delay
    };
    assert_eq!(at_10_s(ProbeMemory::Paper), Some(Duration::ZERO));
    assert_eq!(at_10_s(ProbeMemory::Keep), Some(Duration::from_millis(15)));
    let mut c = copa_icn(Config {
        probe_memory: ProbeMemory::Keep,
        ..Config::default()
    });
    c.on_data(&Data {
        probe: true,
        ..data(30, 30, 15)
    });
    c.on_restart(&restart(40));
    c.on_data(&data(100, 45, 30));
    assert_eq!(c.snapshot().queue_delay, Some(Duration::ZERO));
}

#[test]
fn a_queue_on_the_way_of_requests_is_no_queue() {
    let mut c = paper();
    c.on_data(&data(30, 30, 15));
    c.on_data(&data(500, 90, 15));
    assert_eq!(c.snapshot().queue_delay, Some(Duration::ZERO));
    assert_eq!(c.snapshot().phase, Phase::SlowStart);
}

#[test]
fn without_timestamps_the_rtt_stands_in() {
    let mut c = paper();
    c.on_data(&Data {
        one_way: None,
        ..data(30, 30, 0)
    });
    c.on_data(&Data {
        one_way: None,
        ..data(500, 90, 0)
    });
    assert_eq!(c.snapshot().queue_delay, Some(Duration::from_millis(60)));
    // The first timestamp ends it; RTTs no longer count, not even beside units without one.
    c.on_data(&data(501, 90, -700));
    c.on_data(&Data {
        one_way: None,
        ..data(502, 20, 0)
    });
    assert_eq!(c.snapshot().queue_delay, Some(Duration::ZERO));
}

#[test]
fn the_round_trip_is_an_option() {
    let mut c = copa_icn(Config {
        queue_delay: QueueDelay::RoundTrip,
        ..Config::default()
    });
    c.on_data(&data(30, 30, 15));
    // 60 ms more on the way of requests, which the one-way delay does not show.
    c.on_data(&data(500, 90, 15));
    assert_eq!(c.snapshot().queue_delay, Some(Duration::from_millis(60)));
}

#[test]
fn delta_may_be_constant() {
    let params = |delta: serde_json::Value| {
        let config = serde_json::from_value(serde_json::json!({ "delta": delta }));
        config.map(|c: Config| c.delta).map_err(|e| e.to_string())
    };
    assert_eq!(params("rate".into()), Ok(Delta::Rate));
    assert_eq!(params(0.25.into()), Ok(Delta::Fixed(0.25)));
    assert_eq!(
        params("often".into()),
        Err("\"often\" is not accepted (accepted: rate, or a number)".into())
    );
    let mut c = copa_icn(Config {
        delta: Delta::Fixed(0.25),
        ..Config::default()
    });
    for ms in 30..90 {
        c.on_data(&data(ms, 3, 1)); // up to 23,000 packets/s
        assert_eq!(c.snapshot().delta, Some(0.25));
    }
    let all = serde_json::to_value(Config::default()).expect("plain data");
    assert_eq!(
        (&all["delta"], &all["queue_delay"]),
        (&"rate".into(), &"one-way".into())
    );
}

#[test]
fn application_limited_data_measures_but_does_not_move() {
    let mut c = paper();
    for i in 0..100 {
        c.on_data(&Data {
            app_limited: true,
            ..data(30 + i, 30, 15)
        });
    }
    for i in 0..100 {
        c.on_data(&Data {
            app_limited: true,
            ..data(1000 + i, 500, 400)
        });
    }
    assert_eq!(c.window.cwnd(), 10.0);
    assert_eq!(c.snapshot().phase, Phase::SlowStart);
    assert_eq!(c.snapshot().queue_delay, Some(Duration::from_millis(385)));
}

#[test]
fn parameters_are_checked() {
    let try_new = |config: Config| CopaIcn::new(&Setup::default(), &config).map(|_| ());
    let d = Config::default();
    assert_eq!(
        try_new(Config { b: 0.6, ..d }),
        Err("b: 0.6 is not in 0.001..0.5".into())
    );
    assert_eq!(
        try_new(Config { probes: 101, ..d }),
        Err("probes: 101 is not in 0..100".into())
    );
    assert_eq!(
        try_new(Config {
            delta: Delta::Fixed(0.0),
            ..d
        }),
        Err("delta: 0 is not in 0.001..10".into())
    );
    assert!(
        try_new(Config {
            a_per_mbps2: f64::INFINITY,
            ..d
        })
        .is_err()
    );
    assert!(
        try_new(Config {
            reprobe_interval_s: 0.0,
            ..d
        })
        .is_err()
    );
}

/// The controller's trace every 10 ms, as exact text.
fn trace(path: NetPath, until_ms: u64) -> String {
    let mut net = Net::new(path).flow(100, paper());
    let mut text = String::new();
    for ms in (0..until_ms).step_by(10) {
        net.run_to(ms);
        let c = &net.flows[0].controller;
        writeln!(
            text,
            "{:?} {:?} {}",
            c.allowance(),
            c.snapshot(),
            net.queue_len()
        )
        .expect("a string");
    }
    text
}

#[test]
fn the_clock_offset_changes_nothing_at_all() {
    let path = NetPath::new(pps(20.0), 50);
    let reference = trace(path, 3000);
    for clock_offset_ns in [1, -1, 123_456_789_012, -987_654_321_098_765, 1 << 60] {
        assert_eq!(
            trace(
                NetPath {
                    clock_offset_ns,
                    ..path
                },
                3000
            ),
            reference
        );
    }
}

#[test]
fn more_delay_of_requests_raises_the_window_by_what_it_holds() {
    // From 3 s on requests wait 20 ms longer; rate 1000 packets/s: about 20 packets more.
    let path = NetPath {
        req_queue: Some((
            Instant::from_millis(3000),
            Instant::MAX,
            Duration::from_millis(20),
        )),
        ..NetPath::new(1000.0, 50)
    };
    let mut net = Net::new(path).flow(0, paper());
    let mean = |net: &mut Net, from: u64| {
        net.run_to(from);
        net.measure();
        let mut sum = 0.0;
        for ms in from..from + 1500 {
            net.run_to(ms);
            sum += net.flows[0].controller.allowance().window.as_packets(MSS);
        }
        (sum / 1500.0, net.queue_mean(), net.utilisation())
    };
    let before = mean(&mut net, 1500);
    let after = mean(&mut net, 4500);
    let seen = format!("{before:?} {after:?}");
    assert!((after.0 - before.0 - 20.0).abs() < 6.0, "{seen}");
    assert!((after.1 - before.1).abs() < 6.0, "{seen}");
    assert!(after.2 > 0.99, "{seen}");
}

/// Goodput shares of flows that start at 0.1, 2.1, ... s on 50 Mbps and 50 ms, from 1.5 s after the
/// last start for 2 s; and the mean queue in packets.
fn shares(flows: u64, config: Config) -> (Vec<f64>, f64) {
    let mut net = Net::new(NetPath::new(pps(50.0), 50));
    for f in 0..flows {
        net = net.flow(100 + 2000 * f, copa_icn(config));
    }
    let from = 100 + 2000 * (flows - 1) + 1500;
    net.run_to(from);
    net.measure();
    let before: Vec<_> = net.flows.iter().map(|f| f.delivered).collect();
    net.run_to(from + 2000);
    let rates = net
        .flows
        .iter()
        .zip(before)
        .map(|(f, b)| (f.delivered - b) as f64 / 2.0)
        .collect();
    (rates, net.queue_mean())
}

fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    sum * sum / (rates.len() as f64 * rates.iter().map(|r| r * r).sum::<f64>())
}

#[test]
fn late_flows_get_their_share_with_probes() {
    let (with, queue) = shares(4, Config::default());
    assert!(jain(&with) >= 0.99, "{with:?}");
    // 1.25 * 4 / delta(12.5 Mbps) = 87.7 packets.
    assert!((60.0..=110.0).contains(&queue), "{queue}");
    let (without, _) = shares(
        4,
        Config {
            probes: 0,
            ..Config::default()
        },
    );
    assert!(jain(&without) < jain(&with), "{with:?} {without:?}");
    assert!(without[3] > without[0], "{without:?}");
}

#[test]
fn first_round_trips() {
    let mut net = Net::new(NetPath::new(pps(20.0), 30)).flow(0, paper());
    let mut table = String::from("  ms phase                 cwnd     v  delta  T_q\n");
    for ms in (30..=480).step_by(30) {
        net.run_to(ms);
        let c = &net.flows[0].controller;
        let s = c.snapshot();
        writeln!(
            table,
            "{ms:4} {:20} {:6.2} {:5.1} {:6.4} {:>4}",
            s.phase.as_str(),
            c.allowance().window.as_packets(MSS),
            s.velocity.unwrap_or(0.0),
            s.delta.unwrap_or(0.0),
            s.queue_delay
                .map_or("-".into(), |d| format!("{:.1}", d.as_millis_f64())),
        )
        .expect("a string");
    }
    insta::assert_snapshot!(table, @r"
     ms phase                 cwnd     v  delta  T_q
     30 slow-start            10.00   1.0 0.0500    -
     60 slow-start            20.00   1.0 0.0519  1.1
     90 slow-start            40.00   1.0 0.0587  0.0
    120 slow-start            80.00   1.0 0.0855  0.0
    150 congestion-avoidance 126.69   1.0 0.1270  2.7
    180 congestion-avoidance 122.48   1.0 0.0923 12.9
    210 congestion-avoidance 117.23   1.0 0.0795 19.3
    240 congestion-avoidance 110.52   1.0 0.0659 33.4
    270 congestion-avoidance 102.33   1.0 0.0638 33.0
    300 congestion-avoidance  93.47   1.0 0.0630 29.2
    330 congestion-avoidance  83.58   1.0 0.0626 23.8
    360 congestion-avoidance  72.25   1.0 0.0617 18.3
    390 congestion-avoidance  60.74   1.0 0.0614 10.7
    420 congestion-avoidance  72.80   1.0 0.0792  0.4
    450 congestion-avoidance  81.62   1.0 0.0801  3.7
    480 congestion-avoidance  77.93   1.0 0.0712  8.6
    ");
}
