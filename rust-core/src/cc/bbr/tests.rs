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
fn the_gain_cycle_is_balanced() {
    assert_eq!(CYCLE.iter().sum::<f64>() / CYCLE.len() as f64, 1.0);
}

#[test]
fn the_draw_chooses_any_phase_but_the_draining_one() {
    let phase_of = |draw| match cruising(draw).0.mode {
        Mode::ProbeBw { phase, .. } => phase,
        mode => panic!("{mode:?}"),
    };
    let mut phases: Vec<_> = (0..700).map(|i| phase_of(f64::from(i) / 700.0)).collect();
    assert!(phases.is_sorted());
    phases.dedup();
    assert_eq!(phases, FIRST_PHASES);
    assert_eq!(phase_of(1.0 - f64::EPSILON / 2.0), 7);
    // Later entries spread over all seven from a single draw.
    let (mut b, _) = cruising(0.3);
    let mut seen = [0; 8];
    for _ in 0..700 {
        b.enter_probe_bw(Instant::ZERO);
        if let Mode::ProbeBw { phase, .. } = b.mode {
            seen[phase] += 1;
        }
    }
    assert_eq!(seen[1], 0);
    assert!(
        FIRST_PHASES.iter().all(|&p| (98..=102).contains(&seen[p])),
        "{seen:?}"
    );
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
fn probe_rtt_comes_after_ten_seconds_and_ends() {
    let (mut b, ms) = cruising(0.5);
    let before = window(&b);
    let rtt = Some(Duration::from_millis(60));
    let mut t = ms;
    while b.snapshot().phase == Phase::ProbeBw {
        t += 50;
        b.on_data(&Data {
            rtt,
            ..data(t, 1000.0)
        });
        assert!(t < 20_000);
    }
    // RTprop was last seen at the end of STARTUP.
    assert!((10_000..=10_100).contains(&(t - ms)), "{t}");
    assert_eq!((b.snapshot().phase, window(&b)), (Phase::ProbeRtt, 4.0));
    // 50 outstanding: the stay has not begun.
    b.on_data(&Data {
        rtt,
        ..data(t + 500, 80.0)
    });
    assert_eq!(b.snapshot().phase, Phase::ProbeRtt);
    let few = |ms| Data {
        rtt,
        in_flight: MSS * 4,
        ..data(ms, 80.0)
    };
    let began = t + 1000;
    b.on_data(&few(began));
    // 200 ms later, but the arrival was requested before the stay began.
    b.on_data(&Data {
        pn: began,
        ..few(began + 250)
    });
    assert_eq!(b.snapshot().phase, Phase::ProbeRtt);
    b.on_data(&few(began + 260));
    assert_eq!(b.snapshot().phase, Phase::ProbeBw);
    // The window from before and the bandwidth estimate are back.
    assert!(
        (before - window(&b)).abs() < 20.0 && window(&b) >= before,
        "{before} {}",
        window(&b)
    );
    assert_eq!(
        b.snapshot().bandwidth,
        Some(Rate::from_packets_per_sec(1000.0, MSS))
    );
    // Not again before another ten seconds.
    b.on_data(&Data {
        rtt,
        ..data(began + 9_000, 1000.0)
    });
    assert_eq!(b.snapshot().phase, Phase::ProbeBw);
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
fn phases_end_when_they_have_done_their_work() {
    let (mut b, ms) = cruising(0.0);
    let at = |ms, prior| Data {
        prior_in_flight: MSS * prior,
        round_start: false,
        ..data(ms, 1000.0)
    };
    let gain = |b: &Bbr| b.snapshot().pacing_gain.expect("BBR paces");
    // BDP 50 packets, two packets a quantum; two packets more while probing.
    approx::assert_relative_eq!(b.inflight(1.25), 62.5 + 6.0 + 2.0, max_relative = 1e-3);
    // Probing goes on until so much is outstanding,
    b.on_data(&at(ms + 60, 70));
    assert_eq!(gain(&b), 1.25);
    // at least for a round trip,
    let mut early = b.clone();
    b.on_data(&at(ms + 61, 71));
    assert_eq!(gain(&b), 0.75);
    approx::assert_relative_eq!(b.inflight(1.25), 62.5 + 6.0, max_relative = 1e-3);
    // or until something is lost.
    lose(&mut early, ms + 62, ms + 100, 60);
    early.on_data(&at(ms + 62, 60));
    assert_eq!(gain(&early), 0.75);
    // Draining ends when the queue is gone,
    b.on_data(&at(ms + 62, 57));
    assert_eq!(gain(&b), 0.75);
    b.on_data(&at(ms + 63, 56));
    assert_eq!(gain(&b), 1.0);
    // or after a round trip.
    early.on_data(&at(ms + 113, 80));
    assert_eq!(gain(&early), 1.0);
    // Six round trips later the cycle begins anew.
    for i in 1..=6 {
        assert_eq!(gain(&b), 1.0, "{i}");
        b.on_data(&at(ms + 63 + 51 * i, 56));
    }
    assert_eq!(gain(&b), 1.25);
}

#[test]
fn probe_rtt_renews_rtprop_and_leaves_the_bandwidth_alone() {
    let (mut b, ms) = cruising(0.5);
    let rtt = |ms| Some(Duration::from_millis(ms));
    // Expired: the present round trip is taken even though it is longer.
    let t = ms + 10_050;
    b.on_data(&Data {
        rtt: rtt(60),
        ..data(t, 1000.0)
    });
    assert_eq!(b.snapshot().phase, Phase::ProbeRtt);
    assert_eq!(b.snapshot().min_rtt, rtt(60));
    // Twenty rounds, twice the filter's window, of ever fewer packets; the stay takes the last five.
    for round in 1..=20 {
        b.on_data(&Data {
            rtt: rtt(70),
            in_flight: MSS * if round <= 15 { 5 } else { 4 },
            next_pn: t + 60 * round + 60,
            ..data(t + 60 * round, 60.0)
        });
        assert_eq!(
            b.snapshot().bandwidth,
            Some(Rate::from_packets_per_sec(1000.0, MSS))
        );
    }
    assert_eq!(b.snapshot().phase, Phase::ProbeBw);
    // One round that counts has not made the old estimate ten rounds old.
    b.on_data(&Data {
        rtt: rtt(70),
        ..data(t + 2_000, 500.0)
    });
    assert_eq!(
        b.snapshot().bandwidth,
        Some(Rate::from_packets_per_sec(1000.0, MSS))
    );
    // RTprop is as old as PROBE_RTT's end, not as its beginning.
    b.on_data(&Data {
        rtt: rtt(70),
        ..data(t + 10_050, 1000.0)
    });
    assert_eq!(b.snapshot().phase, Phase::ProbeBw);
    assert_eq!(b.snapshot().min_rtt, rtt(60));
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
