use super::*;
use crate::cc::{LossCause, LostUnit, RateSample, RestartCause};
use std::fmt::Write;

const MSS: Bytes = Setup::PAPER_MSS;

fn bbr_with(draw: f64) -> Bbr {
    Bbr::new(
        &Setup {
            draw,
            ..Setup::default()
        },
        &Config::default(),
    )
    .expect("valid")
}

fn bbr() -> Bbr {
    bbr_with(0.0)
}

/// An arrival at `ms` after 50 ms that ends a round and shows `pps` packets/s.
fn data(ms: u64, pps: f64) -> Data {
    Data {
        now: Instant::from_millis(ms),
        pn: ms,
        next_pn: ms + 1,
        bytes: MSS,
        rtt: Some(Duration::from_millis(50)),
        srtt: Some(Duration::from_millis(50)),
        one_way: None,
        probe: false,
        marked: false,
        prior_in_flight: MSS * 50,
        in_flight: MSS * 49,
        delivered: MSS * ms,
        rate: Some(RateSample {
            rate: Rate::from_packets_per_sec(pps, MSS),
            prior_delivered: Bytes::ZERO,
            app_limited: false,
        }),
        round_start: true,
        app_limited: false,
    }
}

fn limited(mut data: Data) -> Data {
    data.rate = data.rate.map(|r| RateSample {
        app_limited: true,
        ..r
    });
    data
}

fn window(b: &Bbr) -> f64 {
    b.allowance().window.as_packets(MSS)
}

fn pacing(b: &Bbr) -> f64 {
    b.pacing.as_packets_per_sec(MSS)
}

/// One that has reached PROBE_BW at 1000 packets/s and 50 ms.
fn cruising(draw: f64) -> (Bbr, u64) {
    let mut b = bbr_with(draw);
    let mut ms = 0;
    while b.snapshot().phase != Phase::ProbeBw {
        ms += 50;
        b.on_data(&data(ms, 1000.0));
        assert!(ms < 1000, "{b:?}");
    }
    // Fill the window.
    for _ in 0..150 {
        b.on_data(&Data {
            round_start: false,
            ..data(ms, 1000.0)
        });
    }
    (b, ms)
}

fn lost(pn: u64) -> [LostUnit; 1] {
    [LostUnit {
        pn,
        bytes: MSS,
        sent_at: Instant::ZERO,
    }]
}

fn lose(b: &mut Bbr, pn: u64, next_pn: u64, in_flight: u64) {
    b.on_loss(&Loss {
        now: Instant::from_millis(next_pn),
        cause: LossCause::LaterData,
        units: &lost(pn),
        next_pn,
        in_flight: MSS * in_flight,
        newly_delivered: MSS,
    });
}

#[test]
fn the_first_rtt_corrects_the_pacing_rate_downwards() {
    let gain = 2.0 / std::f64::consts::LN_2;
    let mut b = bbr();
    approx::assert_relative_eq!(pacing(&b), gain * 10.0 / 0.001, max_relative = 1e-6);
    b.on_data(&Data {
        rate: None,
        ..data(50, 0.0)
    });
    approx::assert_relative_eq!(pacing(&b), gain * 10.0 / 0.05, max_relative = 1e-6);
    // Later ones do not.
    let rtt = Some(Duration::from_millis(500));
    b.on_data(&Data {
        rate: None,
        rtt,
        ..data(51, 0.0)
    });
    approx::assert_relative_eq!(pacing(&b), gain * 10.0 / 0.05, max_relative = 1e-6);
}

#[test]
fn startup_ends_after_three_flat_rounds() {
    let mut b = bbr();
    let mut phases = String::new();
    for (round, pps) in [200.0, 400.0, 800.0, 990.0, 990.0, 990.0, 990.0]
        .into_iter()
        .enumerate()
    {
        b.on_data(&Data {
            in_flight: MSS * 200,
            ..data(50 + 50 * round as u64, pps)
        });
        write!(phases, "{} ", b.snapshot().phase.as_str()).expect("a string");
    }
    // 990 is less than a quarter above 800, three rounds in succession.
    insta::assert_snapshot!(phases.trim_end(), @"startup startup startup startup startup drain drain");
}

#[test]
fn limited_samples_neither_end_startup_nor_lower_the_bandwidth() {
    let mut b = bbr();
    b.on_data(&data(50, 1000.0));
    for round in 2..40 {
        b.on_data(&limited(data(50 * round, 100.0)));
    }
    assert_eq!(b.snapshot().phase, Phase::Startup);
    assert_eq!(
        b.snapshot().bandwidth,
        Some(Rate::from_packets_per_sec(1000.0, MSS))
    );
    // A limited sample above the estimate counts.
    b.on_data(&limited(data(2050, 1500.0)));
    assert_eq!(
        b.snapshot().bandwidth,
        Some(Rate::from_packets_per_sec(1500.0, MSS))
    );
}

#[test]
fn a_lower_bandwidth_is_believed_after_ten_rounds() {
    let (mut b, ms) = cruising(0.5);
    let mut rounds = 0;
    while b.snapshot().bandwidth > Some(Rate::from_packets_per_sec(500.0, MSS)) {
        rounds += 1;
        b.on_data(&data(ms + 50 * rounds, 500.0));
    }
    assert_eq!(rounds, 11);
}

#[test]
fn drain_ends_even_if_the_queue_stays() {
    let mut b = bbr();
    let at = |round: u64| Data {
        in_flight: MSS * 500,
        ..data(50 * round, 1000.0)
    };
    let mut drained = 0;
    for round in 1..60 {
        b.on_data(&at(round));
        drained += u64::from(b.snapshot().phase == Phase::Drain);
    }
    // From its first arrival to the one 500 ms later, which ends it.
    assert_eq!(drained, 10);
}

#[test]
fn losses_conserve_packets_for_a_round_trip() {
    let (mut b, ms) = cruising(0.5);
    let before = window(&b);
    lose(&mut b, ms + 1, 1000, 40);
    assert_eq!(window(&b), 41.0);
    lose(&mut b, ms + 2, 1001, 39);
    assert_eq!(window(&b), 40.0);
    let arrival = |pn, in_flight| Data {
        pn,
        prior_in_flight: MSS * in_flight,
        in_flight: MSS * (in_flight - 1),
        round_start: false,
        ..data(ms + 60, 1000.0)
    };
    b.on_data(&arrival(ms + 3, 39));
    assert_eq!(window(&b), 40.0);
    // A round trip later the window grows again,
    b.on_data(&arrival(1000, 40));
    assert_eq!(window(&b), 41.0);
    // and is the old one once the second loss, too, must have been made good.
    b.on_data(&arrival(1001, 40));
    assert!(window(&b) >= before, "{} {before}", window(&b));
    // A window that a loss reduced is not what a second one returns to.
    lose(&mut b, 1001, 1100, 10);
    b.on_timeout(&Timeout {
        now: Instant::from_millis(ms + 500),
        units: &lost(1050),
        next_pn: 1200,
        in_flight: Bytes::ZERO,
    });
    assert_eq!(window(&b), 4.0);
    b.on_data(&arrival(1200, 2));
    assert!(window(&b) >= before, "{} {before}", window(&b));
}

#[test]
fn a_timeout_keeps_the_model() {
    let (mut b, ms) = cruising(0.5);
    let (bandwidth, phase) = (b.snapshot().bandwidth, b.snapshot().phase);
    b.on_timeout(&Timeout {
        now: Instant::from_millis(ms + 1000),
        units: &lost(ms),
        next_pn: ms + 60,
        in_flight: MSS * 9,
    });
    assert_eq!(window(&b), 10.0);
    assert_eq!(
        (b.snapshot().bandwidth, b.snapshot().phase),
        (bandwidth, phase)
    );
}

#[test]
fn after_a_pause_pacing_starts_at_the_bandwidth() {
    // Phase 0 (gain 1.25) at the draw 0.
    let (mut b, ms) = cruising(0.0);
    assert_eq!(b.snapshot().pacing_gain, Some(1.25));
    approx::assert_relative_eq!(pacing(&b), 1237.5, max_relative = 1e-6);
    let sent = Sent {
        now: Instant::from_millis(ms + 20_000),
        pn: ms + 20_000,
        bytes: MSS,
        prior_in_flight: Bytes::ZERO,
        app_limited: true,
        probe: false,
    };
    // Not if something is outstanding.
    b.on_sent(&Sent {
        prior_in_flight: MSS,
        ..sent
    });
    approx::assert_relative_eq!(pacing(&b), 1237.5, max_relative = 1e-6);
    b.on_sent(&sent);
    approx::assert_relative_eq!(pacing(&b), 990.0, max_relative = 1e-6);
    // RTprop is 20 s old: the pause itself refreshed it, no PROBE_RTT.
    b.on_data(&data(ms + 20_050, 1000.0));
    assert_eq!(b.snapshot().phase, Phase::ProbeBw);
}

#[test]
fn a_restart_forgets_the_path() {
    let (mut b, ms) = cruising(0.5);
    b.on_restart(&Restart {
        now: Instant::from_millis(ms),
        cause: RestartCause::PathChanged,
        next_pn: ms,
    });
    assert_eq!(b.allowance(), bbr().allowance());
    assert_eq!(b.snapshot(), bbr().snapshot());
}

#[test]
fn parameters_are_checked() {
    let try_new = |config: Config| Bbr::new(&Setup::default(), &config).map(|_| ());
    let e = try_new(Config {
        high_gain: 1.0,
        ..Config::default()
    });
    assert_eq!(e, Err("high_gain: 1 is not in 1.1..10".into()));
    let e = try_new(Config {
        bandwidth_window_rounds: 0,
        ..Config::default()
    });
    assert_eq!(
        e,
        Err("bandwidth_window_rounds: 0 is not in 1..1000".into())
    );
    assert!(
        try_new(Config {
            pacing_margin: f64::NAN,
            ..Config::default()
        })
        .is_err()
    );
}

#[test]
fn counters_do_not_wrap() {
    // A round of 3 GB each: 32-bit counters would stop the rounds and the estimate at the second.
    let mut b = bbr();
    for round in 1..=30u64 {
        let bytes = Bytes::new(3_000_000_000);
        let rate = 100.0 * round as f64;
        b.on_data(&Data {
            bytes,
            delivered: bytes * round,
            ..data(50 * round, rate)
        });
        assert_eq!(
            b.snapshot().bandwidth,
            Some(Rate::from_packets_per_sec(rate, MSS))
        );
    }
    assert_eq!(b.model.rounds(), 30);
}

#[test]
fn a_timeout_in_startup_looks_for_the_plateau_anew() {
    let mut b = bbr();
    let mut round = 0;
    let mut arrive = |b: &mut Bbr| {
        round += 1;
        b.on_data(&Data {
            in_flight: MSS * 200,
            ..data(50 * round, 1000.0)
        });
        b.snapshot().phase
    };
    for _ in 0..3 {
        assert_eq!(arrive(&mut b), Phase::Startup);
    }
    b.on_timeout(&Timeout {
        now: Instant::from_millis(160),
        units: &lost(140),
        next_pn: 151,
        in_flight: Bytes::ZERO,
    });
    for _ in 0..3 {
        assert_eq!(arrive(&mut b), Phase::Startup);
    }
    assert_eq!(arrive(&mut b), Phase::Drain);
}

mod cycle;

/// A loss of requests `pns` at `ms`.
fn lose_at(b: &mut Bbr, ms: u64, pns: std::ops::Range<u64>) {
    let units: Vec<LostUnit> = pns
        .map(|pn| LostUnit {
            pn,
            bytes: MSS,
            sent_at: Instant::ZERO,
        })
        .collect();
    b.on_loss(&Loss {
        now: Instant::from_millis(ms),
        cause: LossCause::LaterData,
        units: &units,
        next_pn: ms + 1,
        in_flight: MSS * 20,
        newly_delivered: MSS,
    });
}

fn late(b: &mut Bbr, ms: u64, pn: u64) {
    b.on_spurious_loss(&SpuriousLoss {
        now: Instant::from_millis(ms),
        pn,
        bytes: MSS,
    });
}

#[test]
fn a_needless_recovery_is_left_at_once() {
    let (mut b, ms) = cruising(0.3);
    let before = window(&b);
    lose_at(&mut b, ms, ms - 5..ms - 3);
    lose_at(&mut b, ms, ms - 2..ms - 1);
    let reduced = window(&b);
    assert!(reduced <= 21.0 && before > 90.0, "{before}, then {reduced}");
    for pn in [ms - 5, ms - 2] {
        late(&mut b, ms + 1, pn);
        assert_eq!(window(&b), reduced);
    }
    late(&mut b, ms + 1, ms - 4);
    assert_eq!(window(&b), before);
    assert!(!b.recovery.is_active() && !b.recovery.conserves_packets());
    // A later episode is one again; its units that stay missing keep it.
    lose_at(&mut b, ms + 60, ms + 50..ms + 52);
    let reduced = window(&b);
    late(&mut b, ms + 61, ms + 50);
    assert_eq!(window(&b), reduced);
    // Once the episode is over, nothing is left to take back.
    b.on_data(&data(ms + 100, 1000.0));
    let after = b.clone();
    late(&mut b, ms + 101, ms + 51);
    assert_eq!(format!("{b:?}"), format!("{after:?}"));
}

#[test]
fn a_needless_timeout_is_taken_back_and_undo_is_an_option() {
    for undo in [true, false] {
        let (mut b, ms) = cruising(0.3);
        b.config.undo = undo;
        let before = window(&b);
        let unit = LostUnit {
            pn: ms,
            bytes: MSS,
            sent_at: Instant::ZERO,
        };
        b.on_timeout(&Timeout {
            now: Instant::from_millis(ms + 200),
            units: &[unit],
            next_pn: ms + 1,
            in_flight: Bytes::ZERO,
        });
        assert_eq!(window(&b), 4.0);
        late(&mut b, ms + 210, ms);
        assert_eq!(window(&b), if undo { before } else { 4.0 });
    }
}
