use super::super::test_tcp::{SEGMENT, Tcp, duplicate};
use super::*;
use crate::recovery::{NewReno, Phase};

/// A bottleneck of 8 Mbps (a byte per microsecond) and 50 kB: the limit is 45 ms of queue.
fn config() -> Config {
    Config {
        bottleneck_mbps: Some(8.0),
        buffer_bytes: Some(50_000.0),
        ..Config::default()
    }
}

fn nce(config: &Config) -> Nce {
    let setup = Setup {
        segment: Bytes::new(SEGMENT),
    };
    Nce::new(&setup, config).unwrap()
}

fn tcp(config: &Config, first: u64, window: u64, rtts_ms: &[u64]) -> Tcp {
    Tcp::new(Box::new(nce(config)), first, window, rtts_ms)
}

#[test]
fn figure_11() {
    // Packets 5 to 11 are outstanding, 5 is lost.
    let mut t = tcp(&config(), 5, 7, &[100, 100]);
    let (window, threshold) = (t.window, t.threshold);
    assert_eq!(t.sent, [5, 6, 7, 8, 9, 10, 11]);
    t.lose(5);
    for number in [6, 7, 8] {
        t.arrive(number);
    }
    // The third duplicate ACK lets 12 go, each further one the next.
    assert_eq!(t.sent.last(), Some(&12));
    for (number, new) in [(9, 13), (10, 14), (11, 15)] {
        t.arrive(number);
        assert_eq!(t.sent.last(), Some(&new));
        assert_eq!(t.times(5), 1);
    }
    t.arrive(12);
    assert_eq!(t.times(5), 2, "exactly at the duplicate ACK of 12");
    assert!(t.window >= window && t.threshold >= threshold);
    assert_eq!(t.verdicts, [Verdict::RandomLoss]);
    while t.times(5) == 2 && t.una <= 5 {
        t.next();
    }
    assert!(t.window >= window && t.threshold >= threshold);
}

#[test]
fn a_late_packet_is_reordering_and_is_not_sent_again() {
    for (exit, expected) in [
        // The third and one more, then growth by one ACK.
        (Exit::Keep, 9_000),
        (Exit::Capped, 7_000),
        (Exit::Deflate, 7_000),
    ] {
        let mut t = tcp(&Config { exit, ..config() }, 5, 7, &[100, 100]);
        for number in [6, 7, 8, 9, 5] {
            t.arrive(number);
        }
        assert_eq!(t.times(5), 1);
        assert_eq!((t.una, t.phase), (10, Phase::Open));
        assert_eq!(t.verdicts, [Verdict::Reordering]);
        assert_eq!(
            t.window,
            expected + SEGMENT * SEGMENT / expected,
            "{exit:?}"
        );
    }
}

#[test]
fn above_nine_tenths_of_the_buffer_it_is_newreno() {
    // 45 ms of queue are the limit; equality is none.
    for (queue_ms, congested) in [(44, false), (45, false), (46, true)] {
        let rtts = [100, 100 + queue_ms];
        let mut t = tcp(&config(), 5, 20, &rtts);
        let mut reno = Tcp::new(Box::new(NewReno), 5, 20, &rtts);
        for t in [&mut t, &mut reno] {
            t.lose(5);
            t.lose(8);
            for _ in 0..60 {
                t.next();
            }
        }
        assert_eq!(t.sent == reno.sent, congested, "{queue_ms} ms");
        assert_eq!(t.verdicts[0] == Verdict::Congestion, congested);
        if congested {
            assert_eq!((t.window, t.threshold), (reno.window, reno.threshold));
        }
    }
}

#[test]
fn an_estimated_threshold_is_a_share_of_the_longest_delay() {
    let estimated = Config {
        threshold: Threshold::Estimated,
        bottleneck_mbps: None,
        buffer_bytes: None,
        ..config()
    };
    for (last, congested) in [(190, false), (191, true)] {
        let mut t = tcp(&estimated, 5, 10, &[100, 200, last]);
        t.lose(5);
        for _ in 0..3 {
            t.next();
        }
        assert_eq!(t.times(5) == 2, congested, "{last} ms");
    }
}

#[test]
fn two_losses_in_a_window_are_filled_without_a_cut() {
    let mut t = tcp(&config(), 5, 10, &[100, 100]);
    let window = t.window;
    t.lose(5);
    t.lose(7);
    // 10 are outstanding: 7 more than the first three are awaited.
    for number in [6, 8, 9, 10, 11, 12, 13, 14, 15] {
        t.arrive(number);
        assert_eq!(t.times(5), 1, "at {number}");
    }
    t.arrive(16);
    assert_eq!(t.times(5), 2);
    while t.una == 5 {
        t.next();
    }
    // The partial ACK of 7.
    assert_eq!((t.una, t.times(7)), (7, 2));
    while t.una == 7 {
        t.next();
    }
    assert_eq!(t.phase, Phase::Open);
    assert!(t.window >= window);
    assert_eq!(t.verdicts, [Verdict::RandomLoss]);
}

#[test]
fn without_new_packets_one_duplicate_less_is_enough() {
    let mut t = tcp(&config(), 5, 32, &[100, 100]);
    t.receiver_limit = t.high;
    t.lose(5);
    for _ in 0..30 {
        t.next();
        assert_eq!(t.times(5), 1);
    }
    // 32 - 3 are awaited; the 28th beyond the third is the last there is.
    t.next();
    assert_eq!(t.times(5), 2);
    let none = Config {
        fallback: false,
        ..config()
    };
    let mut t = tcp(&none, 5, 32, &[100, 100]);
    t.receiver_limit = t.high;
    t.lose(5);
    for _ in 0..31 {
        t.next();
    }
    assert_eq!((t.times(5), t.network.len()), (1, 0), "a timeout is left");
    assert_eq!(t.deadline, Instant::MAX);
}

#[test]
fn the_fallback_waits_two_round_trips_but_not_for_the_timer() {
    let mut t = tcp(&config(), 5, 10, &[100, 100, 100, 100]);
    t.lose(5);
    for _ in 0..3 {
        t.next();
    }
    let third = t.now;
    assert_eq!(t.deadline, third + Duration::from_millis(200).max(t_rto(4)));
    t.run_out();
    assert_eq!(t.times(5), 2);
    assert_eq!(t.verdicts, [Verdict::RandomLoss]);
    let mut n = nce(&config());
    n.rtt.update(Duration::from_millis(100));
    let soon = Ack {
        timer: Duration::from_millis(50),
        ..duplicate(3)
    };
    assert_eq!(
        n.on_ack(&soon).deadline,
        soon.now + Duration::from_millis(49)
    );
}

/// SRTT + 4 RTTVAR after so many samples of 100 ms.
fn t_rto(samples: i32) -> Duration {
    Duration::from_secs_f64(0.1 + 4.0 * 0.05 * 0.75f64.powi(samples - 1))
}

#[test]
fn a_timeout_ends_the_delay() {
    let mut t = tcp(&config(), 5, 10, &[100]);
    t.lose(5);
    for _ in 0..3 {
        t.next();
    }
    t.policy.on_timeout(&duplicate(0));
    let step = t.policy.on_ack(&Ack {
        duplicates: 4,
        ..duplicate(4)
    });
    assert_eq!(step, Step::default());
}

#[test]
fn what_the_oracle_does_not_know_is_asked_for() {
    let setup = Setup {
        segment: Bytes::new(SEGMENT),
    };
    let error = Nce::new(&setup, &Config::default()).unwrap_err();
    assert_eq!(
        error,
        "bottleneck_mbps: null is for threshold estimated (accepted: a number)"
    );
    assert!(
        Nce::new(
            &setup,
            &Config {
                share: 1.1,
                ..config()
            }
        )
        .unwrap_err()
        .starts_with("share: 1.1 is not in")
    );
}
