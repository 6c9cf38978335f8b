//! What every controller of the registry must hold, whatever happens to it. A new controller is
//! tested by being registered.

mod model;

use ferrocc::cc::registry::{CONTROLLERS, Entry, find};
use ferrocc::cc::{Setup, Snapshot};
use ferrocc::units::{Bytes, Duration, Instant, Rate};
use model::{Effect, Model, Op, Origin, any_op};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Every row of the registry, and rows with parameters that change how a controller works.
fn cases() -> Vec<Entry> {
    let with = |name: &str, defaults: fn() -> Value| Entry {
        defaults,
        ..*find(name).expect("registered")
    };
    let mut cases = CONTROLLERS.to_vec();
    cases.extend([
        with("newreno", || json!({ "undo": true })),
        with("cubic", || json!({ "undo": false, "hystart": true })),
        with("bbr", || json!({ "undo": false })),
        with("copa", || json!({ "variant": "mvfst", "mode": "auto" })),
        with(
            "copa",
            || json!({ "variant": "genericcc", "mode": "auto", "detector": "genericcc" }),
        ),
        with("ecd", || json!({ "variant": "algorithm-2" })),
        with("ecd", || json!({ "variant": "printed" })),
        with(
            "ecd",
            || json!({ "first_mark_immediate": true, "alpha": 0.0 }),
        ),
        with("copa-icn", || json!({ "mode": "auto" })),
        with(
            "copa-icn",
            || json!({ "delta": 0.5, "queue_delay": "round-trip", "probes": 0 }),
        ),
    ]);
    cases
}

fn any_setup() -> impl Strategy<Value = Setup> {
    let mss = prop_oneof![Just(1u64), Just(100), Just(1250), Just(1392), Just(65_000)];
    (mss, 0.0f64..1.0).prop_map(|(mss, draw)| Setup {
        mss: Bytes::new(mss),
        packet_size: Bytes::new(mss + 108),
        draw,
        ..Setup::default()
    })
}

fn any_start() -> impl Strategy<Value = Instant> {
    prop_oneof![
        Just(Instant::ZERO),
        (0u64..1 << 62).prop_map(Instant::from_nanos)
    ]
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(any_op(), 1..120)
}

/// Window and pacing are usable and all traced numbers are numbers.
fn check_outputs(entry: &Entry, model: &Model) {
    let allowance = model.allowance();
    let name = entry.name;
    assert!(
        allowance.window >= model.setup.mss,
        "{name}: window {:?}",
        allowance.window
    );
    assert!(
        allowance.window < Bytes::MAX,
        "{name}: the window is not finite"
    );
    if let Some(pacing) = allowance.pacing {
        assert!(
            pacing > Rate::ZERO && pacing < Rate::MAX,
            "{name}: pacing {pacing:?}"
        );
    }
    let Snapshot {
        delta,
        velocity,
        pacing_gain,
        alpha,
        ..
    } = model.controller.snapshot();
    assert!(
        alpha.is_none_or(|a| (0.0..=1.0).contains(&a)),
        "{name}: alpha {alpha:?}"
    );
    for (what, value) in [
        ("delta", delta),
        ("velocity", velocity),
        ("pacing gain", pacing_gain),
    ] {
        assert!(
            value.is_none_or(|v| v.is_finite() && v > 0.0),
            "{name}: {what} {value:?}"
        );
    }
}

/// At most one reduction for what was requested before the previous one.
#[derive(Default)]
struct Episodes {
    window: Bytes,
    ssthresh: Option<Bytes>,
    /// Requests below this left before the last reduction.
    covered: u64,
}

impl Episodes {
    fn check(&mut self, entry: &Entry, model: &Model, effect: Effect) {
        let window = model.allowance().window;
        let ssthresh = model.controller.snapshot().ssthresh;
        match effect {
            Effect::Congestion { largest_pn } => {
                if window < self.window {
                    assert!(
                        largest_pn >= self.covered,
                        "{}: reduced again for request {largest_pn}, all below {} were covered",
                        entry.name,
                        self.covered
                    );
                    self.covered = model.next_pn;
                }
            }
            Effect::Timeout { largest_pn } => {
                // The window may collapse further; the threshold must not follow twice.
                if ssthresh != self.ssthresh {
                    assert!(
                        largest_pn >= self.covered,
                        "{}: threshold cut twice",
                        entry.name
                    );
                }
                // Nothing follows from what was lost on a path that is no longer used.
                if (window, ssthresh) != (self.window, self.ssthresh) {
                    self.covered = model.next_pn;
                }
            }
            Effect::Restart => self.covered = model.next_pn,
            Effect::Spurious => {
                assert!(window >= self.window, "{}: reduced for no loss", entry.name);
                // A reduction that is taken back covers nothing any more.
                if (window, ssthresh) != (self.window, self.ssthresh) {
                    self.covered = 0;
                }
            }
            Effect::Grew => {
                assert!(
                    window >= self.window,
                    "{}: reduced without a loss",
                    entry.name
                );
            }
            Effect::Nothing => {}
        }
        (self.window, self.ssthresh) = (window, ssthresh);
    }
}

/// The operation without a mark where marks are not answered like losses: ECD cuts for them at the end
/// of a window and may be told of a loss in it afterwards. Its own tests say how often.
fn without_marks(entry: &Entry, op: Op) -> Op {
    match op {
        Op::Data {
            index,
            sample,
            app_limited,
            ..
        } if entry.name == "ecd" => Op::Data {
            index,
            sample,
            marked: false,
            app_limited,
        },
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn outputs_are_usable_after_any_event(
        setup in any_setup(), now in any_start(), ops in ops(),
    ) {
        for entry in &cases() {
            let mut model = Model::new(entry, setup, Origin { now, ..Origin::default() });
            check_outputs(entry, &model);
            for op in &ops {
                model.apply(*op, &mut |model, _| check_outputs(entry, model));
            }
        }
    }

    #[test]
    fn one_reduction_per_loss_episode(setup in any_setup(), ops in ops()) {
        for entry in cases().iter().filter(|e| e.multiplicative_decrease) {
            let mut model = Model::new(entry, setup, Origin::default());
            let mut episodes =
                Episodes { window: model.allowance().window, ..Episodes::default() };
            for op in &ops {
                model.apply(without_marks(entry, *op), &mut |model, effect| episodes.check(entry, model, effect));
            }
        }
    }

    #[test]
    fn equal_events_give_equal_state(
        setup in any_setup(), before in ops(), after in ops(),
    ) {
        for entry in &cases() {
            let mut original = Model::new(entry, setup, Origin::default());
            let mut again = Model::new(entry, setup, Origin::default());
            for op in &before {
                original.apply(*op, &mut |_, _| ());
                again.apply(*op, &mut |_, _| ());
            }
            let mut copy = original.fork();
            for op in &after {
                original.apply(*op, &mut |_, _| ());
                again.apply(*op, &mut |_, _| ());
                copy.apply(*op, &mut |_, _| ());
            }
            let state = format!("{:?}", original.controller);
            prop_assert_eq!(&state, &format!("{:?}", again.controller));
            prop_assert_eq!(&state, &format!("{:?}", copy.controller));
        }
    }

    /// Counters that start behind 2^32 and a later start of the clock change nothing.
    #[test]
    fn the_origin_of_counters_and_clocks_does_not_matter(
        setup in any_setup(), ops in ops(), offset in any::<i32>(),
    ) {
        let shifted = Origin {
            now: Instant::from_millis(7_200_123),
            pn: (1 << 32) - 5,
            delivered: Bytes::new((1 << 32) - 5000),
            clock_offset_ns: i64::from(offset) * 1_000_000,
        };
        for entry in &cases() {
            let mut plain = Model::new(entry, setup, Origin::default());
            let mut other = Model::new(entry, setup, shifted);
            for op in ops.iter().filter(|op| !matches!(op, Op::Wait { ns } if *ns > 1 << 60)) {
                plain.apply(*op, &mut |_, _| ());
                other.apply(*op, &mut |_, _| ());
                prop_assert_eq!(plain.allowance(), other.allowance(), "{}", entry.name);
                prop_assert_eq!(
                    plain.controller.snapshot(), other.controller.snapshot(), "{}", entry.name
                );
            }
        }
    }

    #[test]
    fn a_restart_returns_to_the_first_window(setup in any_setup(), ops in ops()) {
        for entry in &cases() {
            let mut model = Model::new(entry, setup, Origin::default());
            let first = model.allowance().window;
            for op in ops.iter().chain(&[Op::Restart { replica: true }]) {
                model.apply(*op, &mut |_, _| ());
            }
            prop_assert_eq!(model.allowance().window, first, "{}", entry.name);
        }
    }
}

/// A minute without requests neither grows the window nor is made up for afterwards: a round later
/// the window is no larger than without the pause, but for two packets.
#[test]
fn a_minute_of_idleness_gives_no_credit() {
    let round = Op::Round {
        rtt_us: 50_000,
        app_limited: false,
    };
    for entry in &cases() {
        let mut model = Model::new(entry, Setup::default(), Origin::default());
        let mut check = |model: &Model, _: Effect| check_outputs(entry, model);
        for _ in 0..3 {
            model.apply(round, &mut check);
        }
        let lost_packets = [
            Op::Send {
                packets: 8,
                app_limited: false,
            },
            Op::Loss { units: 1 },
        ];
        for op in lost_packets.into_iter().chain([round; 20]) {
            model.apply(op, &mut check);
        }
        let mut idle = model.fork();
        idle.now += Duration::from_secs(60);
        idle.apply(round, &mut check);
        model.apply(round, &mut check);
        let (with, without) = (idle.allowance().window, model.allowance().window);
        assert!(
            with <= without + Bytes::new(2500),
            "{}: {with:?} after the pause, {without:?} without",
            entry.name
        );
        for _ in 0..20 {
            idle.apply(round, &mut check);
        }
    }
}

#[test]
fn rows_are_sorted_unambiguous_and_complete() {
    let names: Vec<&str> = CONTROLLERS.iter().map(|e| e.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    let mut all: Vec<&str> = names.clone();
    all.extend(CONTROLLERS.iter().flat_map(|e| e.aliases));
    for name in &all {
        assert_eq!(
            all.iter().filter(|n| *n == name).count(),
            1,
            "{name} names two rows"
        );
        assert!(
            name.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        );
    }
    for entry in CONTROLLERS {
        assert!(
            !entry.summary.is_empty() && !entry.summary.contains('\n'),
            "{}",
            entry.name
        );
        assert!(!entry.reference.is_empty(), "{}", entry.name);
        let error = (entry.build)(&Setup::default(), &serde_json::json!({"no_such_field": 1}))
            .expect_err("unknown parameters are rejected");
        assert!(
            error.contains("no_such_field") && !error.contains('\n'),
            "{error}"
        );
    }
}
