//! PROBE_BW's gain cycle and PROBE_RTT.

use super::*;

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
    // What was requested after PROBE_RTT counts again.
    for round in 1..=12 {
        b.on_data(&data(t + 10_050 + 50 * round, 500.0));
    }
    assert_eq!(
        b.snapshot().bandwidth,
        Some(Rate::from_packets_per_sec(500.0, MSS))
    );
}
