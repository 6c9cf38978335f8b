//! How transfers end: by their last byte or by being given up.

use super::*;

#[test]
fn a_cancelled_transfer_is_silent_at_any_moment() {
    // Before the start, before and after the first DATA, with losses, after a timeout, at the end.
    for moment in 0..7u64 {
        let mut replica = Replica::new();
        let ndc = replica.add_synthetic(moment, 30 * MSS as usize);
        let mut r = receiver(ndc, 6.0, ReceiverOptions::default(), true);
        let mut on_the_way = VecDeque::new();
        let mut now = Instant::ZERO;
        if moment > 0 {
            r.open(now);
            on_the_way.extend(answers(&mut replica, r.output(), now));
        }
        let arrivals = [0, 0, 1, 4, 4, 12, 29][moment as usize];
        for k in 0..arrivals {
            now += Duration::from_millis(1);
            let packet = on_the_way.pop_front().expect("outstanding");
            if moment != 3 || k > 0 {
                deliver(&mut r, now, &packet);
            }
            on_the_way.extend(answers(&mut replica, r.output(), now));
        }
        if moment == 4 {
            now = r.step().next_timer;
            r.on_timeout(now);
            on_the_way.extend(answers(&mut replica, r.output(), now));
        }
        let before = r.step();
        let step = r.cancel(now);
        let silent = |r: &Receiver, step: Step| {
            assert_eq!(step.next_timer, Instant::MAX, "moment {moment}");
            assert_eq!(step.in_flight, Bytes::ZERO);
            assert!(r.output().packets.is_empty() && r.is_released());
            assert_eq!(
                (step.delivered, step.in_order),
                (before.delivered, before.in_order)
            );
            assert!(!step.completed);
        };
        silent(&r, step);
        let data = r.stats().data;
        let late = on_the_way.len() as u64;
        for packet in on_the_way {
            now += Duration::from_millis(1);
            let step = deliver(&mut r, now, &packet);
            silent(&r, step);
        }
        assert_eq!((r.stats().after_end, r.stats().data), (late, data));
        // Nothing wakes it up again.
        for step in [
            r.on_timeout(now + Duration::from_secs(100)),
            r.on_path_change(now, RestartCause::ReplicaChanged),
            r.open(now),
            r.cancel(now),
        ] {
            silent(&r, step);
        }
    }
}

#[test]
fn a_completed_transfer_gives_its_memory_back_and_counts_what_is_late() {
    let mut replica = Replica::new();
    let ndc = replica.add_synthetic(1, 4 * MSS as usize);
    let mut r = receiver(ndc, 4.0, ReceiverOptions::default(), true);
    r.open(Instant::ZERO);
    let data = answers(&mut replica, r.output(), Instant::ZERO);
    for d in &data {
        deliver(&mut r, Instant::ZERO + RTT, d);
    }
    assert!(r.step().completed && r.step().verified && r.is_released());
    let step = deliver(&mut r, Instant::ZERO + RTT, &data[2]);
    assert_eq!(
        (step.delivered, step.in_order),
        (Bytes::new(4 * MSS), Bytes::new(4 * MSS))
    );
    assert_eq!((r.stats().after_end, r.stats().duplicates), (1, 0));
    // Cancelling what is complete does not undo it.
    assert!(r.cancel(Instant::ZERO + RTT).completed);
}
