use super::super::Phase;
use super::super::test_net::{Net, Path};
use super::*;
use crate::cc::{Data, LossCause, LostUnit, RestartCause};
use crate::units::{Bytes, Instant, OneWay, Rate};
use std::fmt::Write;

const MSS: Bytes = Setup::PAPER_MSS;

fn copa(delta: f64) -> Copa {
    Copa::new(
        &Setup::default(),
        &Config {
            delta,
            ..Config::default()
        },
    )
    .expect("valid")
}

/// A packet that arrives at `ms` after `rtt_ms`.
fn data(ms: u64, rtt_ms: u64) -> Data {
    let rtt = Duration::from_millis(rtt_ms);
    Data {
        now: Instant::from_millis(ms),
        pn: ms,
        next_pn: ms + 1,
        bytes: MSS,
        rtt: Some(rtt),
        srtt: Some(rtt),
        one_way: Some(OneWay::from_nanos(0)),
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

fn window(c: &Copa) -> f64 {
    c.allowance().window.as_packets(MSS)
}

#[test]
fn slow_start_ends_with_the_first_rate_above_target() {
    // RTTmin 50 ms, standing 150 ms, cwnd 10: the target 1/(0.5 * 0.1 s) = 20 packets/s is below
    // 10/0.15 = 66.7.
    let mut c = copa(0.5);
    c.path
        .rtt
        .insert(Instant::from_millis(50), Duration::from_millis(50));
    c.on_data(&data(500, 150));
    assert_eq!(c.queue_delay(), Some(Duration::from_millis(100)));
    assert!(!c.window.in_slow_start());
    assert_eq!(c.window.cwnd(), 9.8);
    assert_eq!(window(&c), 9.8);
    // 2 * 9.8 packets per 150 ms.
    let pps = c.allowance().pacing.map(|r| r.as_packets_per_sec(MSS));
    assert!((pps.expect("paced") - 130.666).abs() < 0.01);
}

#[test]
fn without_a_queue_the_window_doubles_in_a_round_trip() {
    let mut c = copa(0.5);
    assert_eq!(c.allowance().pacing, None);
    for i in 0..10 {
        c.on_data(&data(50 + i, 50));
    }
    assert_eq!(window(&c), 20.0);
    assert_eq!(c.snapshot().phase, Phase::SlowStart);
    assert_eq!(
        c.allowance().pacing,
        Some(Rate::from_packets_per_sec(800.0, MSS))
    );
}

#[test]
fn losses_change_nothing_and_a_timeout_leaves_two_packets() {
    let mut c = copa(0.5);
    c.on_data(&data(50, 50));
    let before = c.allowance();
    let unit = LostUnit {
        pn: 50,
        bytes: MSS,
        sent_at: Instant::ZERO,
    };
    for pn in 0..100 {
        c.on_loss(&Loss {
            now: Instant::from_millis(51),
            cause: LossCause::LaterData,
            units: &[LostUnit { pn, ..unit }],
            next_pn: 200,
            in_flight: MSS,
            newly_delivered: MSS,
        });
    }
    assert_eq!(c.allowance(), before);
    let timeout = |now, pn, next_pn| {
        (
            Instant::from_millis(now),
            [LostUnit { pn, ..unit }],
            next_pn,
        )
    };
    let (now, units, next_pn) = timeout(1000, 50, 200);
    c.on_timeout(&Timeout {
        now,
        units: &units,
        next_pn,
        in_flight: Bytes::ZERO,
    });
    assert_eq!(
        (window(&c), c.snapshot().phase),
        (2.0, Phase::CongestionAvoidance)
    );
    assert_eq!(c.snapshot().min_rtt, Some(Duration::from_millis(50)));
    // What left before the timeout cannot cause another.
    c.on_data(&Data {
        pn: 200,
        ..data(1050, 50)
    });
    let grown = window(&c);
    assert!(grown > 2.0);
    let (now, units, next_pn) = timeout(1060, 199, 210);
    c.on_timeout(&Timeout {
        now,
        units: &units,
        next_pn,
        in_flight: Bytes::ZERO,
    });
    assert_eq!(window(&c), grown);
}

#[test]
fn application_limited_data_measures_but_does_not_move() {
    let mut c = copa(0.5);
    for i in 0..100 {
        c.on_data(&Data {
            app_limited: true,
            ..data(50 + i, 50)
        });
    }
    // A queue, and still limited by the application.
    for i in 0..100 {
        c.on_data(&Data {
            app_limited: true,
            ..data(1000 + i, 500)
        });
    }
    assert_eq!((window(&c), c.snapshot().phase), (10.0, Phase::SlowStart));
    assert_eq!(c.snapshot().min_rtt, Some(Duration::from_millis(50)));
}

#[test]
fn data_without_samples_uses_what_the_filters_hold() {
    let mut c = copa(0.5);
    c.on_data(&data(50, 50));
    c.on_data(&Data {
        rtt: None,
        ..data(51, 50)
    });
    assert_eq!(window(&c), 12.0);
    // Nothing measured yet: as without a queue.
    let mut c = copa(0.5);
    c.on_data(&Data {
        rtt: None,
        srtt: None,
        ..data(51, 50)
    });
    assert_eq!(window(&c), 11.0);
}

#[test]
fn a_restart_forgets_the_path() {
    let mut c = copa(0.5);
    c.path
        .rtt
        .insert(Instant::from_millis(50), Duration::from_millis(50));
    c.on_data(&data(500, 150));
    let restart = Restart {
        now: Instant::from_millis(600),
        cause: RestartCause::ReplicaChanged,
        next_pn: 601,
    };
    c.on_restart(&restart);
    assert_eq!(c.allowance(), copa(0.5).allowance());
    assert_eq!(c.snapshot(), copa(0.5).snapshot());
}

#[test]
fn the_loss_brake_is_an_option() {
    for (loss_brake, expected) in [(false, false), (true, true)] {
        let config = Config {
            loss_brake: Some(loss_brake),
            ..Config::default()
        };
        let mut c = Copa::new(&Setup::default(), &config).expect("valid");
        let mut braked = false;
        for ms in 0..400u64 {
            let unit = LostUnit {
                pn: ms,
                bytes: MSS,
                sent_at: Instant::ZERO,
            };
            let now = Instant::from_millis(ms);
            c.on_loss(&Loss {
                now,
                cause: LossCause::LaterData,
                units: &[unit],
                next_pn: ms + 1,
                in_flight: MSS,
                newly_delivered: MSS,
            });
            let before = c.window.cwnd();
            c.on_data(&data(ms, 50));
            braked |= c.window.cwnd() < 0.8 * before;
        }
        assert_eq!(braked, expected);
    }
}

#[test]
fn parameters_are_checked() {
    let try_new = |config: Config| Copa::new(&Setup::default(), &config).map(|_| ());
    let e = try_new(Config {
        delta: 0.0,
        ..Config::default()
    });
    assert_eq!(e, Err("delta: 0 is not in 0.001..10".into()));
    let e = try_new(Config {
        initial_window_packets: 1.0,
        ..Config::default()
    });
    assert_eq!(
        e,
        Err("initial_window_packets: 1 is not in 2..10000".into())
    );
    assert!(
        try_new(Config {
            min_rtt_window_s: f64::NAN,
            ..Config::default()
        })
        .is_err()
    );
}

/// Steady state at 1000 packets/s and 100 ms: (mean, max) queue in units of 1/Dhat, period in round
/// trips, utilisation, measured over 4..9 s (within the first RTTmin window).
fn steady(flows: usize, delta: f64) -> (f64, f64, f64, f64) {
    let mut net = Net::new(Path::new(1000.0, 100));
    for f in 0..flows {
        net = net.flow(20 * f as u64, copa(delta));
    }
    net.run_to(4000);
    net.measure();
    let unit = flows as f64 / delta;
    let (mut above, mut rises) = (true, 0);
    for ms in 4001..=9000 {
        net.run_to(ms);
        // Two thresholds, so that packets coming and going do not count as swings.
        let len = net.queue_len() as f64 / unit;
        if above && len < 0.7 {
            above = false;
        } else if !above && len > 1.6 {
            above = true;
            rises += 1;
        }
    }
    let period = 5.0 / f64::from(rises.max(1)) / 0.1;
    (
        net.queue_mean() / unit,
        net.queue_max as f64 / unit,
        period,
        net.utilisation(),
    )
}

#[test]
fn the_queue_swings_as_the_paper_says() {
    for (flows, delta) in [(1, 0.1), (4, 0.5)] {
        let (mean, max, period, utilisation) = steady(flows, delta);
        let seen = format!("{flows} x {delta}: {mean:.2} {max:.2} {period:.2} {utilisation:.4}");
        assert!((1.0..=1.7).contains(&mean), "{seen}");
        assert!(max <= 3.0, "{seen}");
        assert!((4.0..=6.0).contains(&period), "{seen}");
        assert!(utilisation >= 0.99, "{seen}");
    }
}

#[test]
fn rates_are_shared_in_inverse_proportion_to_delta() {
    // Fixed point: rate_i * delta_i is equal over the flows.
    let mut net = Net::new(Path::new(2000.0, 50))
        .flow(0, copa(0.25))
        .flow(10, copa(0.5));
    net.run_to(3000);
    let before: Vec<_> = net.flows.iter().map(|f| f.delivered).collect();
    net.run_to(9000);
    let got: Vec<_> = net
        .flows
        .iter()
        .zip(before)
        .map(|(f, b)| f.delivered - b)
        .collect();
    let ratio = got[0] as f64 / got[1] as f64;
    assert!((1.7..=2.3).contains(&ratio), "{got:?}");
}

#[test]
fn random_loss_costs_only_what_is_lost() {
    for loss in [0.01, 0.05] {
        let path = Path {
            loss,
            ..Path::new(1000.0, 50)
        };
        let mut net = Net::new(path).flow(0, copa(0.5));
        net.run_to(2000);
        net.measure();
        net.run_to(9000);
        assert!(net.utilisation() > 0.97, "{loss}: {}", net.utilisation());
    }
}

#[test]
fn first_round_trips() {
    let mut net = Net::new(Path::new(1000.0, 50)).flow(0, copa(0.5));
    let mut table = String::from("  ms phase                 cwnd     v  d_q\n");
    for ms in (50..=800).step_by(50) {
        net.run_to(ms);
        let c = &net.flows[0].controller;
        let s = c.snapshot();
        writeln!(
            table,
            "{ms:4} {:20} {:6.2} {:5.1} {:>4}",
            s.phase.as_str(),
            c.allowance().window.as_packets(MSS),
            s.velocity.unwrap_or(0.0),
            s.queue_delay
                .map_or("-".into(), |d| format!("{:.1}", d.as_millis_f64())),
        )
        .expect("a string");
    }
    insta::assert_snapshot!(table, @r"
     ms phase                 cwnd     v  d_q
     50 slow-start            10.00   1.0    -
    100 slow-start            20.00   1.0  0.0
    150 slow-start            40.00   1.0  0.0
    200 slow-start            80.00   1.0  0.1
    250 congestion-avoidance 113.77   1.0  5.0
    300 congestion-avoidance 112.89   1.0 26.0
    350 congestion-avoidance 112.00   1.0 35.0
    400 congestion-avoidance 111.10   1.0 59.0
    450 congestion-avoidance 110.20   1.0 61.0
    500 congestion-avoidance 109.29   1.0 60.0
    550 congestion-avoidance 108.37   1.0 59.0
    600 congestion-avoidance 107.44   1.0 58.0
    650 congestion-avoidance 106.51   1.0 57.0
    700 congestion-avoidance 105.15   2.0 56.0
    750 congestion-avoidance 103.23   2.0 55.0
    800 congestion-avoidance 100.64   4.0 54.0
    ");
}

fn variant(variant: Variant) -> Config {
    Config {
        variant,
        ..Config::default()
    }
}

fn with(config: Config) -> Copa {
    Copa::new(&Setup::default(), &config).expect("valid")
}

/// mvfst's own case: 50 ms, then 150 ms, at a window of ten packets.
#[test]
fn every_variant_but_genericcc_leaves_slow_start_with_a_step_down() {
    for (which, expected) in [
        (Variant::Paper, 9.8),
        (Variant::Mvfst, 9.8),
        (Variant::Genericcc, 11.0),
    ] {
        let mut c = with(Config {
            start_patience_packets: Some(0),
            ..variant(which)
        });
        c.path
            .rtt
            .insert(Instant::from_millis(50), Duration::from_millis(50));
        c.on_data(&data(500, 150));
        assert_eq!(c.window.cwnd(), expected, "{which:?}");
        assert!(!c.window.in_slow_start());
    }
}

#[test]
fn mvfst_looks_at_the_latest_rtt_and_paces_by_the_smoothed() {
    let at = |config: Config| {
        let mut c = with(config);
        c.on_data(&data(100, 50));
        c.on_data(&Data {
            srtt: Some(Duration::from_millis(55)),
            ..data(110, 90)
        });
        let pps = c.allowance().pacing.expect("paced").as_packets_per_sec(MSS);
        (c.snapshot().queue_delay, window(&c) / pps)
    };
    let (queue, spread) = at(variant(Variant::Mvfst));
    assert_eq!(queue, Some(Duration::from_millis(40)));
    assert!((spread - 0.055 / 2.0).abs() < 1e-4);
    let (queue, spread) = at(variant(Variant::Paper));
    assert_eq!(queue, Some(Duration::ZERO), "the standing minimum is 50 ms");
    assert!((spread - 0.050 / 2.0).abs() < 1e-4);
    // Single parameters override the variant's.
    let (queue, spread) = at(Config {
        queue_delay: Some(QueueDelay::StandingRtt),
        pacing_rtt: Some(PacingRtt::Standing),
        ..variant(Variant::Mvfst)
    });
    assert_eq!(queue, Some(Duration::ZERO));
    assert!((spread - 0.050 / 2.0).abs() < 1e-4);
}

#[test]
fn the_standing_window_may_be_a_whole_round_trip() {
    for (standing_window, expected) in [
        (None, Duration::from_millis(20)),
        (Some(StandingWindow::Srtt), Duration::ZERO),
    ] {
        let mut c = with(Config {
            standing_window,
            ..Config::default()
        });
        c.on_data(&data(100, 50));
        c.on_data(&Data {
            srtt: Some(Duration::from_millis(50)),
            ..data(140, 70)
        });
        assert_eq!(c.snapshot().queue_delay, Some(expected));
    }
}

#[test]
fn genericcc_waits_smooths_and_remembers_by_round_trips() {
    let mut c = with(variant(Variant::Genericcc));
    for k in 0..19 {
        c.on_data(&data(50 + k, 50));
    }
    assert_eq!(window(&c), 10.0);
    c.on_data(&data(70, 50));
    assert_eq!(window(&c), 11.0);
    c.on_data(&data(71, 66));
    assert_eq!(
        c.path.srtt,
        Some(Duration::from_millis(51)),
        "a sixteenth of 16 ms"
    );
    // RTTmin counts for 20 s at a round trip of one second.
    let mut c = with(variant(Variant::Genericcc));
    c.on_data(&data(1000, 1000));
    for ms in (1100..20_000).step_by(100) {
        c.on_data(&data(ms, 1500));
    }
    assert_eq!(c.snapshot().min_rtt, Some(Duration::from_secs(1)));
}

#[test]
fn mvfst_stays_in_slow_start_after_a_timeout() {
    for (which, expected) in [
        (Variant::Mvfst, Phase::SlowStart),
        (Variant::Paper, Phase::CongestionAvoidance),
    ] {
        let mut c = with(variant(which));
        c.on_data(&data(50, 50));
        let unit = LostUnit {
            pn: 51,
            bytes: MSS,
            sent_at: Instant::ZERO,
        };
        c.on_timeout(&Timeout {
            now: Instant::from_millis(1000),
            units: &[unit],
            next_pn: 60,
            in_flight: Bytes::ZERO,
        });
        assert_eq!((window(&c), c.snapshot().phase), (2.0, expected));
    }
}

#[test]
fn variants_parameters_are_checked() {
    for (params, message) in [
        (
            serde_json::json!({ "srtt_gain": 0.0 }),
            "srtt_gain: 0 is not in 0.001..1",
        ),
        (
            serde_json::json!({ "velocity_threshold": 0 }),
            "velocity_threshold: 0 is not in 1..100",
        ),
        (
            serde_json::json!({ "variant": "mvfts" }),
            "variant: unknown variant `mvfts`, expected one of `paper`, `mvfst`, `genericcc`",
        ),
        (
            serde_json::json!({ "mode": "automatic" }),
            "mode: unknown variant `automatic`, expected `fixed` or `auto`",
        ),
    ] {
        let error = crate::cc::registry::build("copa", &Setup::default(), &params)
            .expect_err("it is wrong");
        assert_eq!(error, format!("controller copa: {message}"));
    }
}
