//! The hooks in the order in which a socket calls them.

use super::*;
use crate::cc::Snapshot;
use serde_json::json;

const MSS: u64 = 1000;

/// A socket with one end of a path of 100 ms: what ns-3's would call, in its order.
struct Socket {
    hooks: Hooks,
    now: Instant,
    una: u64,
    high: u64,
    window: Bytes,
}

impl Socket {
    fn new(name: &str, params: Value) -> Socket {
        let setup = Setup {
            mss: Bytes::new(MSS),
            ..Setup::default()
        };
        let mut socket = Socket {
            hooks: Hooks::new(name, &setup, &params).unwrap(),
            now: Instant::ZERO,
            una: 0,
            high: 0,
            window: Bytes::ZERO,
        };
        let state = socket.state();
        socket.window = socket.hooks.on_transmit_start(&state).window;
        socket.fill();
        socket
    }

    fn state(&self) -> SocketState {
        let rtt = (self.una > 0).then(|| Duration::from_millis(100));
        SocketState {
            now: self.now,
            // The numbers wrap on the way.
            una: (self.una as u32).wrapping_sub(20_000),
            high: (self.high as u32).wrapping_sub(20_000),
            in_flight: Bytes::new(self.high - self.una),
            rtt,
            srtt: rtt,
        }
    }

    fn fill(&mut self) {
        self.high = self.high.max(self.una + self.window.get() / MSS * MSS);
    }

    /// ACKs of everything outstanding, one for each segment.
    fn round(&mut self) {
        self.now += Duration::from_millis(100);
        let end = self.high;
        while self.una < end {
            self.una += MSS;
            let state = self.state();
            self.window = self.hooks.on_increase(&state, 1).window;
            self.fill();
        }
    }

    /// The first outstanding segment is lost and repaired by a fast retransmission.
    fn recover(&mut self) -> Bytes {
        self.hooks.on_recovery();
        let state = self.state();
        let threshold = self.hooks.threshold(&state, false);
        self.una = self.high;
        self.window = threshold;
        let state = self.state();
        // On leaving recovery ns-3 counts all of the jump.
        self.window = self.hooks.on_increase(&state, 10).window;
        assert_eq!(
            self.window, threshold,
            "what was sent before does not grow it"
        );
        self.fill();
        threshold
    }

    fn packets(&self) -> u64 {
        self.window.get() / MSS
    }

    fn snapshot(&self) -> Snapshot {
        self.hooks.controller.snapshot()
    }
}

#[test]
fn a_window_grows_and_is_cut_as_the_rfcs_say() {
    let mut s = Socket::new("newreno", json!({}));
    assert_eq!(s.packets(), 10);
    s.round();
    s.round();
    assert_eq!(s.packets(), 40, "slow start");
    assert_eq!(s.recover(), Bytes::new(20 * MSS));
    for expected in [21, 22, 23] {
        s.round();
        assert_eq!(s.packets(), expected, "congestion avoidance");
    }
}

/// After a timeout the same bytes are sent again: their ACKs must open the window.
#[test]
fn slow_start_after_a_timeout_grows_with_what_is_repeated() {
    let mut s = Socket::new("newreno", json!({}));
    s.round();
    s.round(); // 40
    let state = s.state();
    assert_eq!(s.hooks.threshold(&state, false), Bytes::new(20 * MSS));
    s.hooks.on_timeout(&state);
    assert_eq!(s.hooks.verdict().window, Bytes::new(MSS));
    let recover = s.high;
    s.window = Bytes::new(MSS);
    for expected in [2, 4, 8, 16, 20] {
        // All that the window admits from the first missing byte on is acknowledged.
        let end = s.una + s.window.get();
        s.now += Duration::from_millis(100);
        while s.una < end {
            s.una += MSS;
            let mut state = s.state();
            // What the window admits is out again.
            state.in_flight = s.window.saturating_sub(Bytes::new(MSS));
            s.window = s.hooks.on_increase(&state, 1).window;
        }
        assert_eq!(s.packets(), expected);
        assert!(s.una <= recover);
    }
}

#[test]
fn a_timer_that_backs_off_keeps_the_threshold() {
    let mut s = Socket::new("newreno", json!({}));
    s.round();
    let state = s.state();
    let threshold = s.hooks.threshold(&state, false);
    s.hooks.on_timeout(&state);
    for _ in 0..3 {
        // ns-3 asks for no threshold where the head was repeated before.
        s.hooks.on_timeout(&state);
        assert_eq!(s.snapshot().ssthresh, Some(threshold));
    }
}

#[test]
fn an_echoed_mark_cuts_once_per_window() {
    let mut s = Socket::new("newreno", json!({ "mark_beta": 0.8 }));
    s.round();
    s.recover(); // 10
    s.round(); // 11
    let state = s.state();
    assert_eq!(s.hooks.threshold(&state, true), Bytes::new(8800));
    assert_eq!(s.hooks.threshold(&state, true), Bytes::new(8800));
}

#[test]
fn a_sender_that_does_not_fill_its_window_does_not_grow_it() {
    let mut s = Socket::new("newreno", json!({}));
    s.recover(); // 5
    for _ in 0..50 {
        s.una += MSS;
        s.high = s.una + MSS;
        let state = s.state();
        assert_eq!(s.hooks.on_increase(&state, 1).window, Bytes::new(5 * MSS));
    }
}

#[test]
fn rounds_end_slow_start_of_cubic_before_a_loss() {
    let mut s = Socket::new("cubic", json!({ "hystart": true }));
    s.round();
    // The queue grows from here on, 10 ms with each round.
    let mut rtt = Duration::from_millis(100);
    for _ in 0..12 {
        let end = s.high;
        rtt += Duration::from_millis(20);
        s.now += rtt;
        while s.una < end {
            s.una += MSS;
            let mut state = s.state();
            state.rtt = Some(rtt);
            s.window = s.hooks.on_increase(&state, 1).window;
            s.fill();
        }
    }
    assert!(s.snapshot().ssthresh.is_some(), "{:?}", s.hooks);
    assert!(s.packets() < 300, "{}", s.packets());
}

#[test]
fn full_control_sees_rates_and_rounds_beyond_four_gigabytes() {
    let mut s = Socket::new("bbr", json!({}));
    let mut delivered = (1u64 << 32) - 5 * MSS;
    let mut verdict = s.hooks.verdict();
    for _ in 0..300 {
        s.now += Duration::from_millis(10);
        s.una += 10 * MSS;
        s.high = s.una + 100 * MSS;
        delivered += 10 * MSS;
        let report = RateReport {
            acked: Bytes::new(10 * MSS),
            delivered: Bytes::new(delivered),
            prior_in_flight: Bytes::new(100 * MSS),
            rate: Some(Rate::from_mbps(8.0)),
            prior_delivered: (delivered - 100 * MSS) as u32,
            app_limited: false,
        };
        let state = s.state();
        verdict = s.hooks.on_report(&state, &report);
    }
    // 8 Mbps, 100 ms: the model holds.
    let bandwidth = s.snapshot().bandwidth.unwrap();
    assert_eq!(bandwidth, Rate::from_mbps(8.0));
    let pacing = verdict.pacing.unwrap().as_mbps();
    assert!((5.9..=10.1).contains(&pacing), "{pacing}");
}

#[test]
fn a_clone_goes_on_alone() {
    let mut s = Socket::new("cubic", json!({}));
    s.round();
    let copy = s.hooks.clone();
    let before = copy.verdict();
    s.recover();
    assert_eq!(copy.verdict(), before);
    assert_ne!(s.hooks.verdict(), before);
}

#[test]
fn type_names_show_the_words_of_the_aliases() {
    for (name, expected) in [
        ("newreno", "NewReno"),
        ("copa-icn", "CopaIcn"),
        ("bbr", "Bbr"),
        ("cubic", "Cubic"),
    ] {
        assert_eq!(type_name(registry::find(name).unwrap()), expected);
    }
    let mut names: Vec<String> = registry::CONTROLLERS.iter().map(type_name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), registry::CONTROLLERS.len());
}
