use super::super::test_tcp::{SEGMENT, Tcp, duplicate};
use super::super::{Ack, Phase, Policy, Reduction};
use super::*;
use crate::units::{Bytes, Duration, Instant};
use proptest::prelude::*;
use serde_json::json;

const SETUP: Setup = Setup {
    segment: Bytes::new(SEGMENT),
};

/// Each with parameters that it can be made with.
fn all() -> Vec<(&'static str, Box<dyn Policy>)> {
    let make = |e: &Entry| {
        let params = match e.name {
            "nce" => json!({ "bottleneck_mbps": 8, "buffer_bytes": 50_000 }),
            _ => json!({}),
        };
        (e.name, build(e.name, &SETUP, &params).unwrap())
    };
    POLICIES.iter().map(make).collect()
}

#[test]
fn names_are_sorted_and_unknown_ones_are_told() {
    assert!(POLICIES.is_sorted_by_key(|e| e.name));
    assert_eq!(find("reno").unwrap().name, "newreno");
    let error = build("ncr", &SETUP, &json!({})).unwrap_err();
    assert!(error.contains("did you mean nce?"), "{error}");
    let error = build("cerl", &SETUP, &json!({ "share": 2 })).unwrap_err();
    assert_eq!(error, "recovery cerl: share: 2 is not in 0..1");
    assert!(build("veno", &SETUP, &json!({ "betta": 2 })).is_err());
}

#[test]
fn without_loss_and_reordering_all_send_the_same_but_veno_with_a_backlog() {
    let run = |policy| {
        let mut t = Tcp::new(policy, 5, 10, &[100]);
        t.rtt = Some(Duration::from_millis(100));
        for _ in 0..500 {
            t.next();
        }
        (t.sent, t.window, t.verdicts)
    };
    let mut runs = all().into_iter().map(|(name, policy)| (name, run(policy)));
    let (_, first) = runs.next().unwrap();
    assert!(first.2.is_empty());
    for (name, other) in runs {
        assert_eq!(other, first, "{name}");
    }
}

#[test]
fn every_hole_is_filled_whatever_is_lost() {
    for (name, policy) in all() {
        let mut t = Tcp::new(policy, 5, 20, &[100, 110]);
        for round in 0..40 {
            // Every seventh is lost once, as long as there is a full window behind it.
            let at = t.high - 15;
            if round % 4 == 0 && t.network.contains(&at) && t.times(at) == 1 {
                t.lose(at);
            }
            for _ in 0..10 {
                if !t.network.is_empty() {
                    t.next();
                }
            }
            if t.network.is_empty() && t.deadline != Instant::MAX {
                t.run_out();
            }
        }
        assert!(t.una > 100, "{name}: {} of {}", t.una, t.high);
    }
}

proptest! {
    #[test]
    fn any_sequence_of_acks_leaves_windows_in_bounds(
        events in prop::collection::vec((0u32..8, 0u64..50, 1u64..100_000, 0u64..400, any::<bool>()), 1..200)
    ) {
        for (name, mut policy) in all() {
            let (mut una, mut now, mut duplicates) = (0u64, Instant::from_millis(1), 0);
            let mut phase = Phase::Open;
            for &(kind, step, window, ms, may) in &events {
                now += Duration::from_millis(ms);
                let new = kind < 4 && step > 0;
                duplicates = if new { 0 } else { duplicates + 1 };
                let high = una + 60 * SEGMENT + step;
                let ack = Ack {
                    now,
                    ack: una + if new { step * 100 } else { 0 },
                    una,
                    high,
                    recover: una + step * SEGMENT,
                    window: Bytes::new(window),
                    threshold: Bytes::new(window / 2 + 1),
                    duplicates,
                    may_retransmit: may,
                    phase,
                    rtt: (kind % 2 == 0).then(|| Duration::from_millis(ms)),
                    timer: Duration::from_millis(ms),
                    ..duplicate(duplicates)
                };
                let step = match kind {
                    7 => {
                        policy.on_timeout(&ack);
                        phase = Phase::Loss;
                        continue;
                    }
                    6 => policy.on_deadline(&Ack { duplicates: 0, ack: una, ..ack }),
                    _ => policy.on_ack(&ack),
                };
                prop_assert!(!step.retransmit || step.reduction == Reduction::Keep || ack.calls(), "{}", name);
                if let Reduction::Share(share) = step.reduction {
                    prop_assert!((0.5..=1.0).contains(&share));
                }
                for w in [step.window, step.exit].into_iter().flatten() {
                    prop_assert!(w >= Bytes::new(1), "{}", name);
                }
                phase = if step.retransmit { Phase::Recovery } else if new { Phase::Open } else { phase };
                una = ack.ack.max(una);
                let _ = policy.duplicate();
            }
        }
    }
}
