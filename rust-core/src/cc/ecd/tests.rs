use super::super::newreno::{self, NewReno};
use super::super::testing::{MSS, Script};
use super::super::{Phase, RestartCause};
use super::*;
use proptest::prelude::*;
use serde_json::json;

fn script(config: &Config) -> Script<Ecd> {
    Script::new(Ecd::new(&Setup::default(), config).unwrap())
}

fn ecd() -> Script<Ecd> {
    script(&Config::default())
}

/// Beyond slow start with a window of `packets`, before the first mark.
fn avoiding(packets: f64, config: &Config) -> Script<Ecd> {
    let mut s = script(&Config {
        initial_window: 2.0 * packets,
        ..*config
    });
    s.lose(1);
    s.drain();
    assert_eq!(s.cwnd(), packets);
    s
}

fn alpha(s: &Script<Ecd>) -> f64 {
    s.controller.snapshot().alpha.unwrap()
}

/// A window leaves; of its DATA the first `marked` units are marked.
fn round_with(s: &mut Script<Ecd>, marked: usize) {
    s.send(s.cwnd() as usize);
    s.wait(s.rtt);
    for k in 0..s.outstanding() {
        s.marked = k < marked;
        s.data();
    }
    s.marked = false;
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a}, expected {b}");
}

#[test]
fn equations_2_and_3() {
    let mut s = ecd();
    for expected in [4.0, 8.0, 16.0] {
        s.round();
        assert_eq!(s.cwnd(), expected);
    }
    assert_eq!(s.controller.snapshot().ssthresh, None);
    let mut s = avoiding(10.0, &Config::default());
    for expected in [11.0, 12.0, 13.0] {
        s.round();
        assert_eq!(s.cwnd(), expected);
    }
    let mut s = avoiding(
        10.0,
        &Config {
            congestion_avoidance: Some(CongestionAvoidance::PerPacket),
            ..Config::default()
        },
    );
    let expected = (0..10).fold(10.0, |cwnd, _| cwnd + 1.0 / cwnd);
    s.round();
    assert!(
        (s.cwnd() - expected).abs() < 0.001,
        "{}, expected {expected}",
        s.cwnd()
    );
}

/// F = 1 from alpha 0: alpha_k = 1 - (15/16)^k, and the cut tends to a half.
#[test]
fn everything_marked() {
    let mut s = avoiding(
        1000.0,
        &Config {
            alpha: 0.0,
            ..Config::default()
        },
    );
    round_with(&mut s, usize::MAX);
    assert_eq!(s.cwnd(), 1000.0, "the first window has not ended");
    let mut expected = 1000.0;
    for k in 1..=60 {
        round_with(&mut s, usize::MAX);
        let share = 1.0 - (15.0_f64 / 16.0).powi(k);
        close(alpha(&s), share);
        expected = f64::max(2.0, expected * (1.0 - share / 2.0));
        assert!(
            (s.cwnd() - expected).abs() < 0.01,
            "window {k}: {}",
            s.cwnd()
        );
    }
    assert_eq!(s.cwnd(), 2.0, "the floor");
}

/// F = 0: alpha falls by 15/16 per window, to 0.356 after 16; nothing is cut.
#[test]
fn nothing_marked() {
    let mut s = avoiding(100.0, &Config::default());
    let before = (s.cwnd(), alpha(&s));
    for _ in 0..16 {
        s.round();
    }
    assert_eq!(s.cwnd(), before.0 + 16.0);
    close(alpha(&s), before.1 * (15.0_f64 / 16.0).powi(16));
    close((15.0_f64 / 16.0).powi(16), 0.356_074_130_765_186_34);
}

/// A constant share of marks is alpha's fixed point, from above and from below.
#[test]
fn alpha_tends_to_the_share_of_marks() {
    for first in [0.0, 1.0] {
        let mut s = avoiding(
            200.0,
            &Config {
                alpha: first,
                min_window: Some(100.0),
                ..Config::default()
            },
        );
        for _ in 0..150 {
            let marked = s.cwnd() as usize / 4;
            round_with(&mut s, marked);
        }
        assert!((alpha(&s) - 0.25).abs() < 0.005, "{}", alpha(&s));
    }
}

/// Ten marks in a window of 100 are one cut, by the new alpha.
#[test]
fn one_cut_for_the_marks_of_a_window() {
    let mut s = avoiding(100.0, &Config::default());
    s.round(); // Ends the window before the marks.
    let (cwnd, before) = (s.cwnd(), alpha(&s));
    assert_eq!(cwnd, 101.0);
    round_with(&mut s, 10);
    close(alpha(&s), before * 15.0 / 16.0);
    // 91 unmarked of 101: the window has not grown, but counts them.
    assert_eq!(s.cwnd(), cwnd);
    s.send(1);
    s.data();
    let share = before * (15.0_f64 / 16.0).powi(2) + 10.0 / 101.0 / 16.0;
    close(alpha(&s), share);
    let cut = cwnd * (1.0 - share / 2.0);
    assert!(
        (s.cwnd() - cut).abs() < 0.001,
        "{}, expected {cut}",
        s.cwnd()
    );
    assert_eq!(
        s.controller.snapshot().ssthresh,
        Some(s.controller.allowance().window)
    );
    // Nothing follows in this window.
    let cut = s.cwnd();
    for _ in 0..50 {
        s.send(1);
        s.data();
    }
    assert_eq!(s.cwnd(), cut);
}

#[test]
fn marked_packets_do_not_grow_the_window_and_unmarked_ones_do() {
    // Slow start: four packets, one marked, so three more; the mark is answered when the window ends.
    let mut s = script(&Config {
        initial_window: 4.0,
        alpha: 0.0,
        ..Config::default()
    });
    s.send(4);
    s.marked = true;
    s.data();
    assert_eq!(s.cwnd(), 4.0);
    s.marked = false;
    s.drain();
    assert_eq!(s.cwnd(), 7.0);
    s.send(1);
    s.data();
    let cut = 7.0 * (1.0 - 0.25 / 16.0 / 2.0);
    assert!((s.cwnd() - cut).abs() < 0.001, "{}", s.cwnd());
    assert_eq!(s.controller.snapshot().phase, Phase::CongestionAvoidance);
}

#[test]
fn losses_halve_once_per_window_and_answer_its_marks() {
    let mut s = avoiding(100.0, &Config::default());
    s.send(100);
    s.wait(s.rtt);
    s.marked = true;
    for _ in 0..10 {
        s.data();
    }
    s.lose_outstanding(3);
    assert_eq!(s.cwnd(), 50.0);
    s.lose_outstanding(1);
    s.drain(); // Marked, but requested before the cut.
    assert_eq!(s.cwnd(), 50.0);
    s.marked = false;
    s.send(1);
    s.data();
    assert_eq!(
        s.cwnd(),
        50.0,
        "the window had been halved for a loss already"
    );
    let none = Config {
        variant: Variant::Printed,
        initial_window: 20.0,
        ..Config::default()
    };
    let mut s = script(&none);
    s.lose(3);
    assert_eq!(s.cwnd(), 20.0);
}

#[test]
fn a_timeout_halves_and_does_not_collapse() {
    let mut s = avoiding(40.0, &Config::default());
    let before = alpha(&s);
    s.timeout();
    assert_eq!(s.cwnd(), 20.0);
    assert_eq!(s.controller.snapshot().ssthresh, Some(MSS * 20));
    assert_eq!(alpha(&s), before);
    s.timeout();
    assert_eq!(s.cwnd(), 10.0, "what was requested again is lost again");
    for _ in 0..10 {
        s.timeout();
    }
    assert_eq!(s.cwnd(), 2.0);
    // As printed, ssthresh becomes alpha, which is below any window.
    let mut s = script(&Config {
        variant: Variant::Printed,
        initial_window: 40.0,
        ..Config::default()
    });
    s.timeout();
    assert_eq!(s.cwnd(), 1.0);
    assert_eq!(s.controller.snapshot().ssthresh, Some(MSS));
}

#[test]
fn first_mark_immediate_cuts_at_once_with_the_old_alpha() {
    let mut s = avoiding(
        100.0,
        &Config {
            first_mark_immediate: true,
            ..Config::default()
        },
    );
    s.round();
    let (cwnd, before) = (s.cwnd(), alpha(&s));
    s.send(cwnd as usize);
    s.wait(s.rtt);
    s.data(); // Ends the window before.
    let old = alpha(&s);
    close(old, before * 15.0 / 16.0);
    s.marked = true;
    s.data();
    let cut = cwnd * (1.0 - old / 2.0);
    assert!(
        (s.cwnd() - cut).abs() < 0.001,
        "{}, expected {cut}",
        s.cwnd()
    );
    let cut = s.cwnd();
    s.drain();
    assert_eq!(s.cwnd(), cut, "one cut for what had left before it");
    s.send(1);
    s.data();
    assert!(s.cwnd() < cut);
}

/// Algorithm 2: alpha and the window change when a mark arrives and a window has passed; slow start goes
/// on; alpha does not fall without marks.
#[test]
fn algorithm_2() {
    let mut s = script(&Config {
        variant: Variant::Algorithm2,
        ..Config::default()
    });
    for _ in 0..5 {
        s.round();
    }
    assert_eq!(s.cwnd(), 64.0);
    assert_eq!(alpha(&s), 1.0, "no mark, no update");
    round_with(&mut s, 2);
    // F of the window before was 0. The second mark is of the same window. 62 unmarked packets follow.
    close(alpha(&s), 15.0 / 16.0);
    let expected = 64.0 * (1.0 - 15.0 / 32.0) + 62.0;
    assert!((s.cwnd() - expected).abs() < 0.001, "{}", s.cwnd());
    assert_eq!(s.controller.snapshot().ssthresh, None);
    assert_eq!(s.controller.snapshot().phase, Phase::SlowStart);
    // The next window's first mark knows the share of the one before: 2 of 64.
    round_with(&mut s, 1);
    close(alpha(&s), (15.0_f64 / 16.0).powi(2) + 2.0 / 64.0 / 16.0);
}

#[test]
fn a_restart_forgets_the_old_path() {
    let mut s = avoiding(40.0, &Config::default());
    s.round();
    s.marked = true;
    s.send(5);
    s.restart(RestartCause::ReplicaChanged);
    let first = (s.cwnd(), alpha(&s));
    s.drain();
    s.marked = false;
    s.send(1);
    s.data();
    s.send(1);
    s.data();
    assert_eq!(first, (80.0, 1.0));
    assert_eq!(s.cwnd(), 82.0, "marks of the old path are not answered");
    close(alpha(&s), 15.0 / 16.0);
}

#[test]
fn without_marks_and_timeouts_it_is_newreno() {
    let setup = Setup {
        initial_window: 2.0,
        ..Setup::default()
    };
    let mut ours = Script::new(Ecd::new(&setup, &Config::default()).unwrap());
    let mut reno = Script::new(NewReno::new(&setup, &newreno::Config::default()).unwrap());
    for round in 0..200 {
        if round % 7 == 6 {
            ours.lose(1 + round % 3);
            reno.lose(1 + round % 3);
        }
        ours.round();
        reno.round();
        assert_eq!(ours.controller.allowance(), reno.controller.allowance());
        let traced = |s: Snapshot| (s.phase, s.ssthresh);
        assert_eq!(
            traced(ours.controller.snapshot()),
            traced(reno.controller.snapshot())
        );
    }
}

#[test]
fn bad_parameters_are_told_in_one_line() {
    for (params, field) in [
        (json!({ "alpha": 1.5 }), "alpha: 1.5 is not in 0..1"),
        (json!({ "gain": 0 }), "gain: 0 is not in"),
        (
            json!({ "min_window": 0.5 }),
            "min_window: 0.5 is not in 1..100",
        ),
        (
            json!({ "initial_window": 0.5 }),
            "initial_window: 0.5 is not in",
        ),
        (
            json!({ "variant": "algorithm-3" }),
            "variant: unknown variant",
        ),
        (
            json!({ "alpha_update": "never" }),
            "alpha_update: unknown variant",
        ),
    ] {
        let error = super::super::registry::build("ecd", &Setup::default(), &params).unwrap_err();
        assert!(
            error.starts_with(&format!("controller ecd: {field}")) && !error.contains('\n'),
            "{error}"
        );
    }
}

proptest! {
    /// At most one cut for marks and one for losses per window of data, whatever is marked and lost.
    #[test]
    fn cuts_per_window_are_bounded(
        fates in prop::collection::vec(0u8..12, 1..400), immediate: bool, by_mark: bool,
    ) {
        let mut s = avoiding(50.0, &Config {
            first_mark_immediate: immediate,
            alpha_update: by_mark.then_some(AlphaUpdate::Mark),
            ..Config::default()
        });
        let mut fates = fates.into_iter();
        while fates.len() > 0 {
            s.send((s.cwnd() as usize).max(1));
            s.wait(s.rtt);
            let (mut for_marks, mut for_losses) = (0, 0);
            for _ in 0..s.outstanding() {
                let before = s.cwnd();
                match fates.next().unwrap_or(11) {
                    0 => {
                        s.lose_outstanding(1);
                        for_losses += u32::from(s.cwnd() < before);
                    }
                    fate => {
                        s.marked = fate < 4;
                        s.data();
                        for_marks += u32::from(s.cwnd() < before);
                    }
                }
            }
            prop_assert!(for_marks <= 1 && for_losses <= 1, "{for_marks}, {for_losses}");
        }
    }
}
