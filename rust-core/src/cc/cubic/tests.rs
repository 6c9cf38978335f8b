use super::super::testing::{MSS, Script};
use super::super::{Phase, RestartCause};
use super::*;
use approx::assert_relative_eq;

fn script(config: Config) -> Script<Cubic> {
    Script::new(Cubic::new(&Setup::default(), &config).unwrap())
}

/// A flow at the start of a loss episode: `cwnd` packets, a previous plateau of `w_max`.
fn at(cwnd: f64, w_max: f64) -> Script<Cubic> {
    let config = Config {
        initial_window_packets: cwnd,
        ..Config::default()
    };
    let mut s = script(config);
    s.controller.curve.w_max = w_max;
    s
}

#[test]
fn k_and_the_curve_at_their_marked_points() {
    // RFC 9438, equation (2): cbrt(30 / 0.4).
    assert_relative_eq!(k(100.0, 70.0, 0.4), 4.2172, epsilon = 5e-5);
    let k100 = k(100.0, 70.0, 0.4);
    assert_eq!(w_cubic(k100, k100, 100.0, 0.4), 100.0);
    assert_relative_eq!(w_cubic(0.0, k100, 100.0, 0.4), 70.0, epsilon = 1e-9);
    assert_eq!(k(70.0, 100.0, 0.4), 0.0);
    assert_relative_eq!(alpha(0.7), 0.5294, epsilon = 5e-5);
}

#[test]
fn a_loss_multiplies_the_original_window_by_beta() {
    let mut s = at(100.0, 0.0);
    s.lose(1);
    assert_eq!(s.cwnd(), 70.0);
    assert_eq!(s.controller.curve.w_max, 100.0);
    assert_eq!(s.controller.snapshot().ssthresh, Some(MSS * 70));
}

#[test]
fn fast_convergence_lowers_the_plateau_only() {
    let mut s = at(100.0, 120.0);
    s.lose(1);
    assert_relative_eq!(s.controller.curve.w_max, 85.0);
    assert_eq!(s.cwnd(), 70.0);
    s.drain();
    s.round();
    // cbrt(15 / 0.4)
    assert_relative_eq!(s.controller.curve.epoch.unwrap().k, 3.347, epsilon = 5e-4);

    let mut s = at(100.0, 120.0);
    s.controller.config.fast_convergence = false;
    s.lose(1);
    assert_eq!(s.controller.curve.w_max, 100.0);
}

#[test]
fn several_losses_of_a_window_reduce_once() {
    let mut s = at(100.0, 0.0);
    s.send(100);
    for _ in 0..3 {
        s.lose_outstanding(2);
    }
    assert_eq!((s.cwnd(), s.controller.curve.w_max), (70.0, 100.0));
}

#[test]
fn concave_up_to_k_then_convex() {
    let mut s = at(100.0, 0.0);
    s.controller.config.reno_friendly = false;
    s.lose(1);
    s.drain();
    let mut windows = Vec::new();
    let mut previous = s.cwnd();
    for _ in 0..80 {
        s.paced_round();
        windows.push(s.cwnd() - previous);
        previous = s.cwnd();
    }
    // K = 4.2 s is round 42: increments fall before it and rise after it.
    let slope = |from: usize, to: usize| windows[to] - windows[from];
    assert!(slope(5, 20) < 0.0 && slope(20, 35) < 0.0, "{windows:?}");
    assert!(slope(50, 60) > 0.0 && slope(60, 75) > 0.0, "{windows:?}");
    // The window passes the plateau within a round trip of K.
    let at_k: f64 = 70.0 + windows[..42].iter().sum::<f64>();
    assert_relative_eq!(at_k, 100.0, epsilon = 0.5);
}

#[test]
fn reno_friendly_on_short_paths() {
    // 20 packets, 10 ms: Reno's line is above the cubic one.
    let mut s = at(20.0, 0.0);
    s.rtt = Duration::from_millis(10);
    s.lose(1);
    s.drain();
    assert_eq!(s.cwnd(), 14.0);
    for _ in 0..5 {
        s.paced_round();
    }
    assert_relative_eq!(s.cwnd(), 14.0 + 5.0 * alpha(0.7), epsilon = 0.1);
    // Beyond the window before the cut the increase is one packet per round trip.
    while s.cwnd() < 20.5 {
        s.paced_round();
    }
    let before = s.cwnd();
    s.paced_round();
    assert_relative_eq!(s.cwnd() - before, 1.0, epsilon = 0.06);
}

#[test]
fn idle_and_application_limited_time_does_not_count() {
    let grown = |disturb: fn(&mut Script<Cubic>)| {
        let mut s = at(100.0, 0.0);
        s.lose(1);
        s.drain();
        s.paced_round();
        s.paced_round();
        disturb(&mut s);
        let before = s.cwnd();
        s.paced_round();
        s.cwnd() - before
    };
    let plain = grown(|_| {});
    let idle = grown(|s| s.wait(Duration::from_secs(60)));
    let limited = grown(|s| {
        s.app_limited = true;
        for _ in 0..600 {
            s.paced_round();
        }
        s.app_limited = false;
    });
    assert_relative_eq!(idle, plain, epsilon = 0.02);
    assert_relative_eq!(limited, plain, epsilon = 0.02);
}

#[test]
fn no_growth_while_application_limited() {
    let mut s = at(100.0, 0.0);
    s.lose(1);
    s.drain();
    s.app_limited = true;
    for _ in 0..20 {
        s.paced_round();
    }
    assert_eq!(s.cwnd(), 70.0);
}

#[test]
fn slow_start_without_a_loss_ends_on_its_own_plateau() {
    let mut s = script(Config {
        hystart: true,
        ..Config::default()
    });
    s.round();
    assert_eq!(s.cwnd(), 20.0);
    // The queue builds up: 30 ms more per round, above the threshold of 12.5 ms.
    let mut rounds = 0;
    while s.controller.snapshot().phase == Phase::SlowStart {
        s.rtt += Duration::from_millis(30);
        s.round();
        rounds += 1;
        assert!(rounds < 10, "slow start did not end");
    }
    assert!(
        rounds >= 5,
        "five rounds of conservative slow start come first, not {rounds}"
    );
    let plateau = s.controller.window.ssthresh();
    assert_eq!(s.controller.curve.w_max, plateau);
    assert_eq!(s.controller.curve.epoch.unwrap().k, 0.0);
    let mut previous = s.cwnd();
    for _ in 0..30 {
        s.paced_round();
        assert!(s.cwnd() >= previous);
        previous = s.cwnd();
    }
}

#[test]
fn hystart_resumes_when_the_rtt_falls_back() {
    let mut s = script(Config {
        hystart: true,
        ..Config::default()
    });
    s.round(); // 20
    s.rtt = Duration::from_millis(130);
    s.round();
    let conservative = s.cwnd();
    assert!(
        conservative < 40.0,
        "the growing RTT slowed it: {conservative}"
    );
    s.rtt = Duration::from_millis(100);
    s.round();
    s.round();
    let grown = s.cwnd();
    s.round();
    assert_relative_eq!(s.cwnd(), 2.0 * grown, epsilon = 1.0);
}

#[test]
fn a_timeout_keeps_the_plateau_rule_and_restarts_from_one() {
    let mut s = at(100.0, 120.0);
    s.timeout();
    assert_eq!(s.cwnd(), 1.0);
    assert_relative_eq!(s.controller.curve.w_max, 85.0);
    assert_eq!(s.controller.snapshot().ssthresh, Some(MSS * 70));
    while s.controller.window.in_slow_start() {
        s.round();
    }
    s.round();
    let epoch = s.controller.curve.epoch.unwrap();
    assert_eq!((epoch.k, s.controller.curve.w_max), (0.0, 70.0));
}

#[test]
fn a_timer_that_backs_off_reduces_the_threshold_once() {
    let mut s = at(100.0, 0.0);
    s.timeout();
    s.timeout();
    s.timeout();
    assert_eq!(s.controller.snapshot().ssthresh, Some(MSS * 70));
    assert_eq!(s.controller.curve.w_max, 100.0);
}

#[test]
fn a_wholly_spurious_episode_is_taken_back_once() {
    let mut s = at(100.0, 120.0);
    s.send(100);
    let mut lost = s.lose_outstanding(2);
    lost.extend(s.lose_outstanding(1));
    assert_eq!(s.cwnd(), 70.0);
    s.spurious(lost[0]);
    s.spurious(lost[1]);
    assert_eq!(s.cwnd(), 70.0, "one of the three is still missing");
    s.spurious(lost[2]);
    assert_eq!(s.cwnd(), 100.0);
    assert_eq!(s.controller.curve.w_max, 120.0);
    assert_eq!(s.controller.snapshot().ssthresh, None);
    // Nothing more to take back.
    s.spurious(lost[2]);
    assert_eq!(s.cwnd(), 100.0);
}

#[test]
fn a_genuine_loss_keeps_the_reduction() {
    let mut s = at(100.0, 0.0);
    s.send(100);
    let lost = s.lose_outstanding(2);
    s.spurious(lost[1]);
    s.drain();
    s.round();
    assert!(s.cwnd() < 75.0);
    // A late arrival of an older episode does not touch the newer one.
    s.lose(1);
    let cut = s.cwnd();
    s.spurious(lost[0]);
    assert_eq!(s.cwnd(), cut);
}

#[test]
fn a_spurious_timeout_is_taken_back() {
    let mut s = at(100.0, 0.0);
    let lost = s.timeout();
    for pn in lost {
        s.spurious(pn);
    }
    assert_eq!(s.cwnd(), 100.0);
}

#[test]
fn a_restart_forgets_the_old_path() {
    let mut s = at(10.0, 0.0);
    s.round();
    s.lose(1);
    s.drain();
    s.restart(RestartCause::ReplicaChanged);
    assert_eq!(s.cwnd(), 10.0);
    assert_eq!(s.controller.curve.w_max, 0.0);
    s.round();
    assert_eq!(s.cwnd(), 20.0);
}

/// RFC 9438, section 5.1: with one loss per 1/p packets the mean window is 1.054 RTT^0.75 / p^0.75
/// packets, or Reno's 1.22 / sqrt(p) where that is larger. The approach to it is slow: the window
/// hardly moves near the plateau.
#[test]
fn mean_window_under_periodic_loss() {
    for (p, rtt_ms) in [(1e-4, 100), (1e-4, 400), (1e-3, 20)] {
        let mut s = script(Config::default());
        s.rtt = Duration::from_millis(rtt_ms);
        let mean = s.mean_window_with_periodic_loss(p, 60);
        let rtt = rtt_ms as f64 / 1e3;
        let cubic = 1.054 * rtt.powf(0.75) / f64::powf(p, 0.75);
        let expected = cubic.max(1.22 / p.sqrt());
        assert!(
            (mean / expected - 1.0).abs() < 0.1,
            "p {p}, {rtt_ms} ms: {mean:.1}, expected {expected:.1}"
        );
    }
}

#[test]
fn bad_parameters_are_told_in_one_line() {
    for (config, field) in [
        (
            Config {
                beta: 0.0,
                ..Config::default()
            },
            "beta",
        ),
        (
            Config {
                mark_beta: 1.5,
                ..Config::default()
            },
            "mark_beta",
        ),
        (
            Config {
                c: 0.0,
                ..Config::default()
            },
            "c:",
        ),
        (
            Config {
                c: f64::INFINITY,
                ..Config::default()
            },
            "c:",
        ),
        (
            Config {
                timeout_window_packets: 11.0,
                ..Config::default()
            },
            "timeout_window_packets",
        ),
        (
            Config {
                initial_window_packets: 0.5,
                ..Config::default()
            },
            "initial_window_packets",
        ),
    ] {
        let error = Cubic::new(&Setup::default(), &config).unwrap_err();
        assert!(error.starts_with(field) && !error.contains('\n'), "{error}");
    }
}
