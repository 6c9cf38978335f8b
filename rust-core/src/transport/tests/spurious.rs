//! Losses and timeouts that were none.

use super::*;

/// A receiver under `controller` that has just opened, with the answers to its first window.
fn opened(controller: &str, params: serde_json::Value) -> (Receiver, Replica, Vec<Packet>) {
    let mut replica = Replica::new();
    let ndc = replica.add_virtual("a", 1000 * MSS);
    let config = ReceiverConfig {
        device: device(),
        ndc,
        verify: false,
        replica_clock_offset_ns: 0,
        options: ReceiverOptions::default(),
    };
    let controller = registry::build(controller, &Setup::default(), &params).unwrap();
    let mut r = Receiver::new(config, controller).unwrap();
    r.open(Instant::ZERO);
    let data = answers(&mut replica, r.output(), Instant::ZERO);
    (r, replica, data)
}

#[test]
fn a_late_answer_is_told_even_after_its_repetitions() {
    let (mut r, mut replica, data) = opened("fixed", json!({}));
    let now = Instant::ZERO + RTT;
    let mut repeated = Vec::new();
    for d in &data[1..4] {
        deliver(&mut r, now, d);
        repeated.extend(answers(&mut replica, r.output(), now));
    }
    assert_eq!(r.stats().losses, 1);
    let of_first = |d: &&Packet| Repr::parse(&d.0).unwrap().offset == 0;
    let repeated = repeated.iter().find(of_first).expect("repeated");
    deliver(&mut r, now + RTT, repeated);
    assert_eq!((r.stats().spurious_losses, r.stats().duplicates), (0, 0));
    // The first answer comes last; a copy of it says nothing more.
    deliver(&mut r, now + RTT, &data[0]);
    deliver(&mut r, now + RTT, &data[0]);
    assert_eq!((r.stats().spurious_losses, r.stats().duplicates), (1, 2));
    assert_eq!(r.step().delivered, Bytes::new(4 * MSS));
}

#[test]
fn a_timeout_is_spurious_if_the_unit_it_waited_for_was_only_late() {
    for (first_arrival, expected) in [(0, 1), (1, 0)] {
        let (mut r, mut replica, data) = opened("newreno", json!({}));
        r.on_timeout(Instant::from_millis(1000));
        assert_eq!((r.stats().timeouts, r.stats().losses), (1, 10));
        let _ = answers(&mut replica, r.output(), Instant::from_millis(1000));
        for d in &data[first_arrival..] {
            deliver(&mut r, Instant::from_millis(1200), d);
        }
        assert_eq!(r.stats().spurious_timeouts, expected);
        assert_eq!(r.stats().spurious_losses, 10 - first_arrival as u64);
        let srtt = (expected == 1).then(|| Duration::from_millis(1200));
        assert_eq!(r.step().srtt, srtt, "the timer learns from the late answer");
    }
}

#[test]
fn a_cut_is_unnecessary_only_if_all_its_losses_were_none() {
    for (late, unnecessary) in [(&[0][..], 0), (&[0, 1], 1)] {
        let (mut r, ..) = {
            let (mut r, replica, data) = opened("newreno", json!({}));
            let now = Instant::ZERO + RTT;
            // Unit 0 is told lost by 3, 4, 5 (a cut), unit 1 by the same: one cut, two losses.
            for at in [3, 4, 5] {
                deliver(&mut r, now, &data[at]);
            }
            assert_eq!(r.stats().window_cuts, 1);
            assert_eq!(r.stats().losses, 3);
            // Unit 2 was told lost too.
            for at in late.iter().chain(&[2]) {
                deliver(&mut r, now, &data[*at]);
                deliver(&mut r, now, &data[*at]);
            }
            (r, replica)
        };
        assert_eq!(r.stats().unnecessary_window_cuts, unnecessary);
        let _ = r.cancel(Instant::ZERO + RTT);
    }
}

/// A later loss of the same window belongs to the same cut.
#[test]
fn later_losses_of_a_window_count_for_its_cut() {
    let (mut r, _, data) = opened("newreno", json!({}));
    let now = Instant::ZERO + RTT;
    for at in [1, 2, 3] {
        deliver(&mut r, now, &data[at]); // 0 is lost: the cut
    }
    for at in [5, 6, 7] {
        deliver(&mut r, now, &data[at]); // 4 is lost: no further cut
    }
    assert_eq!((r.stats().losses, r.stats().window_cuts), (2, 1));
    deliver(&mut r, now, &data[0]);
    assert_eq!(r.stats().unnecessary_window_cuts, 0);
    deliver(&mut r, now, &data[4]);
    assert_eq!(r.stats().unnecessary_window_cuts, 1);
}
