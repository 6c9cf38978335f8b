//! A controller behind the congestion control hooks of a simulator's TCP socket (ns-3's
//! `TcpCongestionOps`).
//!
//! Who owns the window follows from the controller's row in the registry. A controller that reduces
//! by a factor once per loss episode (NewReno, CUBIC) only *assists*: it grows the window while the
//! socket is not in recovery and names the threshold when the socket reduces; in between the
//! socket's recovery algorithm (by default proportional rate reduction, RFC 6937) owns the window,
//! and the socket returns to the threshold afterwards. All others take *full control*: they set the
//! window with every ACK, in recovery too, and see delivery-rate samples.
//!
//! A controller's packet numbers (`pn`) are order keys: what is sent later has a larger one. Here
//! they are positions in the stream. After a retransmission timeout everything outstanding is sent
//! again, so from then on positions are shifted by what was outstanding: the repeated bytes have
//! larger keys than all that left before the timeout. A fast retransmission keeps its key, so that
//! its ACK belongs to the episode.

use super::Sequence;
use crate::cc::{
    Controller, Data, Loss, LossCause, LostUnit, RateSample, Sent, Setup, Timeout, registry,
};
use crate::units::{Bytes, Duration, Instant, Rate};
use serde_json::Value;

/// The name of a controller in type names: `newreno` -> `NewReno`, `copa-icn` -> `CopaIcn`. Word
/// borders are taken from the alias that shows them.
pub fn type_name(entry: &registry::Entry) -> String {
    let plain = |name: &str| name.replace('-', "");
    let words = entry
        .aliases
        .iter()
        .chain([&entry.name])
        .filter(|alias| plain(alias) == plain(entry.name))
        .max_by_key(|alias| alias.len())
        .unwrap_or(&entry.name);
    let mut name = String::new();
    for word in words.split('-') {
        let mut letters = word.chars();
        name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

/// The socket's state at a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketState {
    /// When.
    pub now: Instant,
    /// Number of the first byte that is not acknowledged.
    pub una: u32,
    /// Number behind the last byte that was sent.
    pub high: u32,
    /// Outstanding bytes.
    pub in_flight: Bytes,
    /// The last RTT sample, smoothed where the socket tells nothing else.
    pub rtt: Option<Duration>,
    /// The smoothed RTT.
    pub srtt: Option<Duration>,
}

/// A delivery report of the socket, for controllers with full control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateReport {
    /// Bytes that this ACK delivers, cumulatively or selectively.
    pub acked: Bytes,
    /// All bytes delivered so far.
    pub delivered: Bytes,
    /// Outstanding bytes before the ACK.
    pub prior_in_flight: Bytes,
    /// The delivery rate, if it is valid.
    pub rate: Option<Rate>,
    /// The lower 32 bits of the bytes delivered when the sampled segment left.
    pub prior_delivered: u32,
    /// Whether the sample is application-limited.
    pub app_limited: bool,
}

/// What the controller wants of the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Congestion window.
    pub window: Bytes,
    /// Slow-start threshold, where the controller has one.
    pub ssthresh: Option<Bytes>,
    /// Pacing rate, where the controller paces.
    pub pacing: Option<Rate>,
}

/// Why the socket asks for a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Reduction {
    /// No state was announced: the retransmission timer expired.
    #[default]
    Timeout,
    /// It has announced recovery from a loss.
    Loss,
}

/// A controller and what it is told next.
#[derive(Debug)]
pub struct Hooks {
    controller: Box<dyn Controller>,
    mss: Bytes,
    numbers: Sequence,
    /// Whether the position of the stream's start is known.
    started: bool,
    /// Added to positions to make order keys.
    shift: u64,
    /// Position up to which ACKs have been told.
    acked: u64,
    delivered: Bytes,
    next_round_delivered: Bytes,
    /// Position behind the last byte that was sent when the round started.
    round_end: u64,
    reduction: Reduction,
    timeout_told: bool,
}

impl Clone for Hooks {
    fn clone(&self) -> Hooks {
        Hooks {
            controller: self.controller.boxed_clone(),
            ..*self
        }
    }
}

impl Hooks {
    /// The controller called `name` with the parameters `params`, a JSON object.
    pub fn new(name: &str, setup: &Setup, params: &Value) -> Result<Hooks, String> {
        let controller = registry::build(name, setup, params)?;
        Ok(Hooks {
            controller,
            mss: setup.mss,
            numbers: Sequence::default(),
            started: false,
            shift: 0,
            acked: 0,
            delivered: Bytes::ZERO,
            next_round_delivered: Bytes::ZERO,
            round_end: 0,
            reduction: Reduction::default(),
            timeout_told: false,
        })
    }

    /// Whether this controller sets the window at all times.
    pub fn takes_full_control(entry: &registry::Entry) -> bool {
        !entry.multiplicative_decrease
    }

    /// What the controller wants now.
    pub fn verdict(&self) -> Verdict {
        let allowance = self.controller.allowance();
        Verdict {
            window: allowance.window,
            ssthresh: self.controller.snapshot().ssthresh,
            pacing: allowance.pacing,
        }
    }

    /// Nothing is outstanding, and a segment is about to leave (`CA_EVENT_TX_START`).
    pub fn on_transmit_start(&mut self, socket: &SocketState) -> Verdict {
        let (_, high) = self.positions(socket);
        self.controller.on_sent(&Sent {
            now: socket.now,
            pn: high + self.shift,
            bytes: self.mss,
            prior_in_flight: Bytes::ZERO,
            app_limited: false,
            probe: false,
        });
        self.verdict()
    }

    /// An ACK of `segments` segments outside of recovery (`IncreaseWindow`).
    pub fn on_increase(&mut self, socket: &SocketState, segments: u32) -> Verdict {
        let bytes = self.mss * u64::from(segments);
        self.delivered += bytes;
        let report = RateReport {
            acked: bytes,
            delivered: self.delivered,
            prior_in_flight: socket.in_flight + bytes,
            rate: None,
            prior_delivered: self.delivered.get() as u32,
            app_limited: !self.is_limited(socket.in_flight + bytes),
        };
        self.on_data(socket, &report, false);
        self.verdict()
    }

    /// Whether the window limits a sender with `outstanding` bytes (RFC 7661's question, with
    /// Linux's answer): it is filled up to a segment, in slow start to one half.
    fn is_limited(&self, outstanding: Bytes) -> bool {
        let verdict = self.verdict();
        let in_slow_start = verdict.ssthresh.is_none_or(|s| verdict.window < s);
        if in_slow_start {
            verdict.window < outstanding * 2
        } else {
            verdict.window <= outstanding + self.mss
        }
    }

    /// An ACK, whatever the socket's state (`CongControl`); for controllers with full control.
    pub fn on_report(&mut self, socket: &SocketState, report: &RateReport) -> Verdict {
        self.delivered = report.delivered;
        if !report.acked.is_zero() {
            self.on_data(socket, report, false);
        }
        self.verdict()
    }

    /// The socket is about to recover from a loss (`CongestionStateSet`); it asks for the threshold
    /// next.
    pub fn on_recovery(&mut self) {
        self.reduction = Reduction::Loss;
    }

    /// The socket reduces (`GetSsThresh`): the threshold. `echo` tells whether it may do so because
    /// the receiver has echoed an ECN mark.
    pub fn threshold(&mut self, socket: &SocketState, echo: bool) -> Bytes {
        let (una, high) = self.positions(socket);
        let next_pn = high + self.shift;
        match std::mem::take(&mut self.reduction) {
            Reduction::Loss => {
                let unit = self.unit(socket, una, self.mss);
                self.controller.on_loss(&Loss {
                    now: socket.now,
                    cause: LossCause::DuplicateAcks,
                    units: &[unit],
                    next_pn,
                    in_flight: socket.in_flight,
                    newly_delivered: Bytes::ZERO,
                });
            }
            // Should the timer have expired in spite of an echo, `on_timeout` will tell.
            Reduction::Timeout if echo => {
                let report = RateReport {
                    acked: Bytes::ZERO,
                    delivered: self.delivered,
                    prior_in_flight: socket.in_flight,
                    rate: None,
                    prior_delivered: self.delivered.get() as u32,
                    app_limited: false,
                };
                self.on_data(socket, &report, true);
            }
            Reduction::Timeout => self.tell_timeout(socket),
        }
        let verdict = self.verdict();
        verdict.ssthresh.unwrap_or(verdict.window)
    }

    /// The retransmission timer expired (`CA_EVENT_LOSS`); the socket has asked for a threshold
    /// before, unless the timer backs off.
    pub fn on_timeout(&mut self, socket: &SocketState) {
        if !std::mem::take(&mut self.timeout_told) {
            self.tell_timeout(socket);
            self.timeout_told = false;
        }
    }

    fn tell_timeout(&mut self, socket: &SocketState) {
        self.timeout_told = true;
        let (una, high) = self.positions(socket);
        let next_pn = high + self.shift;
        let outstanding = Bytes::new(high - una);
        let head = self.unit(socket, una, self.mss.min(outstanding));
        let rest = outstanding.saturating_sub(self.mss);
        let last = self.unit(socket, high.saturating_sub(1).max(una), rest);
        let units = [head, last];
        self.controller.on_timeout(&Timeout {
            now: socket.now,
            units: if rest.is_zero() { &units[..1] } else { &units },
            next_pn,
            in_flight: Bytes::ZERO,
        });
        // What is outstanding is sent again, after all that has left.
        self.shift += high - una;
    }

    fn on_data(&mut self, socket: &SocketState, report: &RateReport, marked: bool) {
        let (una, high) = self.positions(socket);
        let advanced = una > self.acked;
        self.acked = self.acked.max(una);
        let delivered = report.delivered;
        let age = (delivered.get() as u32).wrapping_sub(report.prior_delivered);
        let prior_delivered = delivered.saturating_sub(Bytes::new(age.into()));
        let rate = report.rate.map(|rate| RateSample {
            rate,
            prior_delivered,
            app_limited: report.app_limited,
        });
        let round_start = match rate {
            Some(rate) => rate.prior_delivered >= self.next_round_delivered,
            // RFC 9406, section 4.2: a round ends when what had been sent at its start is
            // acknowledged.
            None => advanced && una >= self.round_end,
        };
        if round_start {
            self.next_round_delivered = delivered;
            self.round_end = high;
        }
        self.controller.on_data(&Data {
            now: socket.now,
            pn: una.saturating_sub(1) + self.shift,
            next_pn: high + self.shift,
            bytes: report.acked,
            rtt: socket.rtt.filter(|_| advanced),
            srtt: socket.srtt,
            one_way: None,
            probe: false,
            marked,
            prior_in_flight: report.prior_in_flight,
            in_flight: socket.in_flight,
            delivered,
            rate,
            round_start,
            app_limited: report.app_limited,
        });
    }

    /// The positions of the first unacknowledged byte and behind the last that was sent.
    fn positions(&mut self, socket: &SocketState) -> (u64, u64) {
        if !self.started {
            self.started = true;
            self.numbers = Sequence::new(socket.una);
        }
        let una = self.numbers.position(socket.una);
        (una, self.numbers.position(socket.high).max(una))
    }

    fn unit(&self, socket: &SocketState, position: u64, bytes: Bytes) -> LostUnit {
        LostUnit {
            pn: position + self.shift,
            bytes,
            sent_at: socket
                .now
                .saturating_sub(socket.srtt.unwrap_or(Duration::ZERO)),
        }
    }
}

#[cfg(test)]
mod tests {
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
}
