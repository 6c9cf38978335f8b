use super::*;
use crate::aqm::codel;
use crate::aqm::testing::{Draws, Event, SETUP, random_steps, run_steps};
use proptest::prelude::*;

fn ecd(config: Config) -> Ecd {
    Ecd::new(&SETUP, &config).expect("builds")
}

const EARLY: Verdict = Verdict::Mark(MarkField::Transport, MarkReason::EarlyCongestion);
const DROP: Verdict = Verdict::Drop(DropReason::TargetExceeded);

/// ICN DATA taken out of a long queue every `every`, each after the sojourn time that `sojourn`
/// gives for its number.
fn standing(
    config: Config,
    n: u64,
    every: Duration,
    sojourn: impl Fn(u64) -> Duration,
) -> Vec<Decision> {
    let (mut ecd, mut draws) = (ecd(config), Draws::new(7));
    let queue = Queue {
        packets: 100,
        bytes: Bytes::new(150_000),
    };
    (0..n)
        .map(|i| {
            let now = Instant::from_millis(1000) + every * i;
            let packet = Packet {
                size: Bytes::new(1500),
                enqueued: now.saturating_sub(sojourn(i)),
                icn_data: true,
                ect: false,
            };
            ecd.on_dequeue(now, &packet, &queue, draws.uniform())
        })
        .collect()
}

const US: fn(u64) -> Duration = Duration::from_micros;

#[test]
fn equation_1_has_the_known_values() {
    let ecd = ecd(Config::default());
    for (us, p) in [
        (0, 0.0),
        (5000, 0.0),
        (8750, 0.5),
        (12_500, 1.0),
        (12_600, 1.0),
    ] {
        assert_eq!(ecd.probability(US(us)), p, "{us} us");
    }
}

#[test]
fn half_way_up_half_are_marked_for_an_interval_and_then_one_is_dropped() {
    let decisions = standing(Config::default(), 1500, US(100), |_| US(8750));
    let first = decisions
        .iter()
        .position(|d| d.verdict == DROP)
        .expect("a drop");
    // 100 ms in packets of 0.1 ms, the equality included.
    assert_eq!(first, 1000);
    let marks = decisions[..first]
        .iter()
        .filter(|d| d.verdict == EARLY)
        .count();
    // Binomial(1000, 1/2): five standard deviations are 79.
    assert!((421..=579).contains(&marks), "{marks}");
    assert!(decisions[..first].iter().all(|d| d.draw_used));
    assert!(
        decisions[first + 1..]
            .iter()
            .all(|d| d.verdict == Verdict::Pass)
    );
}

#[test]
fn a_sojourn_time_that_keeps_falling_below_the_target_never_drops() {
    let decisions = standing(Config::default(), 10_000, US(100), |i| {
        US([4000, 20_000][i as usize % 2])
    });
    assert!(decisions.iter().all(|d| d.verdict != DROP));
    assert!(
        decisions
            .iter()
            .step_by(2)
            .all(|d| d.verdict == Verdict::Pass)
    );
    assert!(
        decisions
            .iter()
            .skip(1)
            .step_by(2)
            .all(|d| d.verdict == EARLY)
    );
}

#[test]
fn beyond_c_targets_all_are_marked_without_a_draw() {
    let decisions = standing(Config::default(), 1000, US(100), |_| US(12_600));
    assert!(decisions.iter().all(|d| d.verdict == EARLY && !d.draw_used));
}

#[test]
fn p_max_bounds_the_marks() {
    let config = Config {
        p_max: 0.1,
        ..Config::default()
    };
    let decisions = standing(config, 1000, US(100), |_| US(50_000));
    let marks = decisions.iter().filter(|d| d.verdict == EARLY).count();
    // Binomial(1000, 0.1): five standard deviations are 47.
    assert!((53..=147).contains(&marks), "{marks}");
}

#[test]
fn between_drops_packets_are_marked_only_on_request() {
    for (mark_in_dropping, expected) in [(false, Verdict::Pass), (true, EARLY)] {
        let config = Config {
            mark_in_dropping,
            ..Config::default()
        };
        let decisions = standing(config, 4000, US(100), |_| US(12_600));
        assert_eq!(decisions[1000].verdict, DROP);
        let (drops, others): (Vec<Decision>, Vec<Decision>) =
            decisions[1000..].iter().partition(|d| d.verdict == DROP);
        // At 0, 100, 170.7, 228.4 and 278.4 ms of 300.
        assert_eq!(drops.len(), 5);
        assert!(others.iter().all(|d| d.verdict == expected));
    }
}

#[test]
fn drop_all_drops_all_until_one_is_below() {
    let config = Config {
        dropping: Dropping::DropAll,
        ..Config::default()
    };
    let decisions = standing(config, 2000, US(100), |i| {
        US(if i < 1500 { 20_000 } else { 4999 })
    });
    assert!(decisions[..1000].iter().all(|d| d.verdict == EARLY));
    assert_eq!(decisions[1000].verdict, DROP);
    // The one after the drop that enters the state goes.
    assert_eq!(decisions[1001].verdict, Verdict::Pass);
    assert!(decisions[1002..1500].iter().all(|d| d.verdict == DROP));
    assert!(decisions[1500..].iter().all(|d| d.verdict == Verdict::Pass));
}

#[test]
fn the_target_itself_is_above_the_target() {
    let drops = |us| {
        standing(Config::default(), 1001, US(100), |_| US(us))
            .iter()
            .filter(|d| d.verdict == DROP)
            .count()
    };
    assert_eq!((drops(4999), drops(5000)), (0, 1));
}

#[test]
fn ecn_is_marked_only_on_request_and_only_where_allowed() {
    let verdict = |mark_ecn, icn_data, ect| {
        let mut ecd = ecd(Config {
            mark_ecn,
            ..Config::default()
        });
        let now = Instant::from_millis(1000);
        let packet = Packet {
            size: Bytes::new(1500),
            enqueued: now.saturating_sub(US(13_000)),
            icn_data,
            ect,
        };
        let queue = Queue {
            packets: 3,
            bytes: Bytes::new(4500),
        };
        ecd.on_dequeue(now, &packet, &queue, 0.0).verdict
    };
    let ce = Verdict::Mark(MarkField::Ecn, MarkReason::EarlyCongestion);
    assert_eq!(verdict(false, false, true), Verdict::Pass);
    assert_eq!(verdict(true, false, true), ce);
    assert_eq!(verdict(true, false, false), Verdict::Pass);
    assert_eq!(verdict(true, true, true), EARLY);
    assert_eq!(verdict(false, true, false), EARLY);
}

fn configs() -> impl Strategy<Value = Config> {
    (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        1.1..5.0f64,
        0.0..=1.0f64,
    )
        .prop_map(|(all, mark_in_dropping, mark_ecn, c, p_max)| Config {
            dropping: if all {
                Dropping::DropAll
            } else {
                Dropping::ControlLaw
            },
            mark_in_dropping,
            mark_ecn,
            c,
            p_max,
            ..Config::default()
        })
}

/// The load's packets without what could be marked.
fn unmarkable(steps: &[super::super::testing::Step]) -> Vec<super::super::testing::Step> {
    use super::super::testing::Step::{Arrive, Serve};
    steps
        .iter()
        .map(|step| match *step {
            Arrive(wait, size, ..) => Arrive(wait, size, false, false),
            Serve(wait) => Serve(wait),
        })
        .collect()
}

fn run_codel(steps: &[super::super::testing::Step]) -> super::super::testing::Disc {
    let codel = codel::CoDel::new(&SETUP, &codel::Config::default()).expect("builds");
    run_steps(Box::new(codel), SETUP.limit, steps)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn for_other_traffic_it_is_codel(seed in any::<u64>(), config in configs()) {
        let config = Config { dropping: Dropping::ControlLaw, ..config };
        let steps = unmarkable(&random_steps(seed, 10_000));
        let found = run_steps(Box::new(ecd(config)), SETUP.limit, &steps);
        let codel = run_codel(&steps);
        prop_assert!(codel.events.iter().any(|e| e.verdict == DROP));
        prop_assert_eq!(found.events, codel.events);
    }

    #[test]
    fn marks_change_no_drop(seed in any::<u64>(), config in configs()) {
        let config = Config { dropping: Dropping::ControlLaw, ..config };
        let steps = random_steps(seed, 10_000);
        let found = run_steps(Box::new(ecd(config)), SETUP.limit, &steps);
        prop_assert_eq!(found.drops(), run_codel(&steps).drops());
    }

    #[test]
    fn marks_need_a_sojourn_time_above_the_target_and_a_backlog(
        seed in any::<u64>(), config in configs(),
    ) {
        let disc = run_steps(Box::new(ecd(config)), SETUP.limit, &random_steps(seed, 10_000));
        let wrong = |e: &&Event| {
            matches!(e.verdict, Verdict::Mark(..))
                && (!e.dequeue
                    || e.sojourn <= Duration::from_millis(5)
                    || e.backlog <= Bytes::new(1500))
        };
        prop_assert_eq!(disc.events.iter().find(wrong), None);
        let marks = disc.events.iter().filter(|e| matches!(e.verdict, Verdict::Mark(..)));
        prop_assert!(config.p_max < 0.1 || marks.count() > 0);
    }
}
