//! Tests of the meter.

use super::*;
use crate::units::Duration;

const MSS: u32 = 1000;

fn ms(n: u64) -> Instant {
    Instant::from_millis(n)
}

fn sent(m: &mut Meter, at: u64, segment: u32) -> bool {
    let first = 1u32.wrapping_add(segment * MSS);
    m.on_sent(ms(at), first, MSS, &MeterState::default())
}

fn ack(m: &mut Meter, at: u64, segments: u32) {
    m.on_ack(ms(at), 1 + segments * MSS, &MeterState::default());
}

fn meter() -> Meter {
    let mut m = Meter::new(Some(10 * u64::from(MSS)));
    m.on_open(1);
    m
}

#[test]
fn a_delayed_ack_is_timed_by_its_newest_segment() {
    let mut m = meter();
    sent(&mut m, 0, 0);
    sent(&mut m, 30, 1);
    ack(&mut m, 100, 2);
    assert_eq!(m.stats().rtt.max(), Some(Duration::from_millis(70)));
    assert_eq!(m.snapshot().in_order, Bytes::new(2000));
}

#[test]
fn segments_sent_twice_give_no_sample_and_count_as_losses() {
    let mut m = meter();
    for n in 0..4 {
        assert!(!sent(&mut m, u64::from(n), n));
    }
    assert!(sent(&mut m, 50, 0));
    ack(&mut m, 100, 4);
    let stats = m.stats();
    assert_eq!((stats.rtt.count(), stats.losses), (0, 1));
    assert_eq!(stats.retransmissions, 1);
    // What follows gives samples again.
    sent(&mut m, 110, 4);
    ack(&mut m, 140, 5);
    assert_eq!(m.stats().rtt.mean(), Some(Duration::from_millis(30)));
}

#[test]
fn arrivals_give_one_way_delays_and_tell_duplicates() {
    let mut m = meter();
    for n in 0..5 {
        sent(&mut m, u64::from(n), n);
    }
    let arrive = |m: &mut Meter, at, n: u32| m.on_arrival(ms(at), 1 + n * MSS, MSS, 0);
    arrive(&mut m, 20, 0);
    arrive(&mut m, 22, 2);
    arrive(&mut m, 24, 4);
    arrive(&mut m, 25, 2);
    assert_eq!(m.stats().duplicates, 1);
    sent(&mut m, 30, 1);
    arrive(&mut m, 50, 1);
    arrive(&mut m, 51, 3);
    arrive(&mut m, 52, 3);
    arrive(&mut m, 53, 0);
    assert_eq!((m.stats().duplicates, m.next), (3, 5000));
    assert!(m.islands.is_empty());
    assert_eq!(m.stats().one_way.min(), Some(Duration::from_millis(20)));
}

#[test]
fn content_is_compared_byte_by_byte() {
    for flip in [false, true] {
        let mut m = Meter::new(Some(3000)).with_content(7);
        let mut at = 0;
        for length in [1, 999, 1500, 500] {
            let mut bytes = m.content(at, length).to_vec();
            assert_eq!(bytes.len(), length);
            if flip && at == 1000 {
                bytes[3] ^= 1;
            }
            m.on_read(length as u64, &bytes);
            at += length as u64;
        }
        assert!(m.is_completed());
        assert_eq!(m.is_verified(), !flip);
    }
}

#[test]
fn a_fin_is_no_data() {
    let mut m = meter();
    sent(&mut m, 0, 0);
    m.on_ack(ms(10), 1 + MSS + 1, &MeterState::default());
    assert_eq!(m.snapshot().in_order, Bytes::new(1000));
}

fn arrive(m: &mut Meter, at: u64, n: u32, number: u64) {
    m.on_arrival(ms(at), 1 + n * MSS, MSS, number);
}

fn state(window: u64, ssthresh: u64) -> MeterState {
    MeterState {
        window: Bytes::new(window),
        ssthresh: Some(Bytes::new(ssthresh)),
        ..MeterState::default()
    }
}

fn send(m: &mut Meter, at: u64, n: u32, state: &MeterState) -> u64 {
    m.on_sent(ms(at), 1 + n * MSS, MSS, state);
    m.transmission()
}

/// Eight segments leave, 1 and 3 are lost to errors, and what duplicate ACKs begin repairs both.
fn two_losses(mut m: Meter) -> Meter {
    let open = state(8000, 9000);
    for n in 0..8 {
        let number = send(&mut m, 0, n, &open);
        if n == 1 || n == 3 {
            m.on_lost(number, false);
        } else {
            arrive(&mut m, 10, n, number);
        }
    }
    m.on_ack(ms(20), 1 + MSS, &open);
    let repair = MeterState {
        recovering: true,
        ..open
    };
    m.on_phase(&repair);
    let number = send(&mut m, 30, 1, &repair);
    arrive(&mut m, 40, 1, number);
    m
}

#[test]
fn all_repairs_of_a_recovery_share_the_verdict_of_the_first() {
    for (verdict, exact) in [(Verdict::Congestion, 0), (Verdict::RandomLoss, 2)] {
        let mut m = two_losses(meter());
        m.on_verdict(ms(30), 1 + MSS, verdict);
        let repair = MeterState {
            recovering: true,
            ..state(4000, 4000)
        };
        assert!(m.on_ack(ms(50), 1 + 3 * MSS, &repair), "the window was cut");
        let number = send(&mut m, 50, 3, &repair);
        arrive(&mut m, 60, 3, number);
        let counts = m.counts();
        assert_eq!(counts.tallies.random.total, 2);
        assert_eq!(counts.tallies.random.exact, exact, "{verdict:?}");
        assert_eq!(counts.tallies.random.missed, 0);
        assert_eq!((counts.sent, counts.fast_retransmits), (10, 1));
        assert_eq!(counts.needless, Needless::default());
    }
}

#[test]
fn what_a_timeout_repairs_was_not_judged() {
    let mut m = meter();
    let open = state(4000, 9000);
    for n in 0..3 {
        send(&mut m, 0, n, &open);
    }
    m.on_lost(1, false);
    m.on_lost(2, true);
    let late = MeterState {
        timed_out: true,
        ..open
    };
    m.on_phase(&late);
    let after = MeterState {
        window: Bytes::new(1000),
        ..late
    };
    for n in 0..3 {
        send(&mut m, 1000, n, &after);
    }
    arrive(&mut m, 1005, 2, 3);
    assert!(m.on_ack(ms(1010), 1, &after));
    let counts = m.counts();
    assert_eq!(counts.tallies.random.missed, 1);
    assert_eq!(counts.tallies.congestion.missed, 1);
    assert_eq!(counts.fast_retransmits, 0);
    // The third segment was only slow.
    assert_eq!(counts.needless, Needless { all: 1, fast: 0 });
    assert_eq!(m.stats().window_cuts, 1);
    assert_eq!(m.stats().unnecessary_window_cuts, 0);
}

#[test]
fn a_cut_without_a_drop_is_unnecessary_and_a_kept_window_is_no_cut() {
    for (window, cuts) in [(4000, 1), (8000, 0)] {
        let mut m = two_losses(meter());
        let kept = MeterState {
            recovering: true,
            ..state(window, window)
        };
        assert_eq!(m.on_ack(ms(50), 1 + 3 * MSS, &kept), cuts == 1);
        assert_eq!(m.stats().window_cuts, cuts);
        assert_eq!(m.stats().unnecessary_window_cuts, cuts);
    }
}

#[test]
fn a_standard_sender_takes_every_loss_for_congestion() {
    let mut m = two_losses(meter().with_standard_sender());
    assert_eq!(m.counts().tallies.random.missed, 1);
    let repair = MeterState {
        recovering: true,
        ..state(4000, 4000)
    };
    send(&mut m, 50, 3, &repair);
    let random = m.counts().tallies.random;
    assert_eq!((random.total, random.exact, random.missed), (2, 0, 0));
}

#[test]
fn a_late_segment_is_told_by_the_ack_that_fills_the_hole() {
    let mut m = meter();
    let open = state(8000, 9000);
    for n in 0..6 {
        send(&mut m, 0, n, &open);
    }
    for n in [0, 2, 3, 4] {
        arrive(&mut m, 10, n, u64::from(n) + 1);
    }
    assert_eq!(m.truth(1 + MSS), Some(Verdict::Reordering));
    for n in 0..4 {
        m.on_ack(ms(16), 1 + MSS, &open);
        assert_eq!((m.duplicates(), m.outstanding()), (n, 5));
    }
    arrive(&mut m, 15, 1, 2);
    m.on_ack(ms(20), 1 + 5 * MSS, &open);
    m.on_verdict(ms(20), 1 + MSS, Verdict::Reordering);
    assert_eq!((m.duplicates(), m.outstanding()), (0, 1));
    assert_eq!(m.duplicates_for(Verdict::Reordering), 3);
    assert_eq!(m.duplicates_for(Verdict::RandomLoss), 0);
    let late = m.counts().tallies.reordering;
    assert_eq!((late.total, late.exact, late.missed), (1, 1, 0));
    assert_eq!(m.truth(1 + 5 * MSS), Some(Verdict::Reordering), "travels");
    m.on_lost(6, true);
    assert_eq!(m.truth(1 + 5 * MSS), Some(Verdict::Congestion));
    assert_eq!(m.truth(1 + 6 * MSS), None, "was not sent");
}

#[test]
fn a_needless_repair_judged_as_congestion_is_a_misjudged_reordering() {
    let mut m = meter();
    let open = state(8000, 9000);
    for n in 0..6 {
        send(&mut m, 0, n, &open);
    }
    for n in 1..5 {
        arrive(&mut m, 10, n, u64::from(n) + 1);
    }
    let repair = MeterState {
        recovering: true,
        ..open
    };
    m.on_phase(&repair);
    send(&mut m, 20, 0, &repair);
    m.on_verdict(ms(20), 1, Verdict::Congestion);
    arrive(&mut m, 25, 0, 1);
    arrive(&mut m, 30, 0, 7);
    let counts = m.counts();
    assert_eq!(counts.needless, Needless { all: 1, fast: 1 });
    let late = counts.tallies.reordering;
    assert_eq!((late.total, late.exact, late.missed), (1, 0, 0));
}

#[test]
fn a_resent_segment_without_a_recovery_counts_with_its_cut() {
    let mut m = meter();
    for n in 0..4 {
        send(&mut m, 0, n, &state(8000, 9000));
    }
    m.on_lost(1, false);
    send(&mut m, 300, 0, &state(4000, 4000));
    m.on_verdict(ms(300), 1, Verdict::RandomLoss);
    assert_eq!(m.counts().fast_retransmits, 1);
    assert_eq!(m.stats().unnecessary_window_cuts, 1);
    assert_eq!(m.counts().tallies.random.exact, 1);
}
