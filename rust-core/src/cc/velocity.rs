//! Copa's window: which way it moves, how fast (the velocity `v`), and slow start. Copa and
//! Copa-ICN share all of it; they differ in the queueing delay and the `delta` that they put in.
//!
//! Source: Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the
//! Internet", NSDI 2018, section 2.1; the Copa-ICN paper, section 4.2.1 and Algorithm 2.
//!
//! Choices beyond the papers:
//! - The step of one packet is `v / (delta * cwnd)`. The Copa-ICN paper prints `v / (delta * d_q)`,
//!   which is a rate, not a number of packets.
//! - The velocity is at most `max(1, delta * cwnd)`, so that doubling it never moves the window by
//!   more than one packet per packet. Without a bound it overflows after 64 round trips of
//!   growth in one direction.
//! - A step against the present direction takes `v` back to 1 at once, not only at the end of the
//!   round trip.
//! - A round in which the window did not limit the requests (application-limited) neither moves
//!   the window nor counts for the velocity: its rate says nothing about the window.

use super::copa::{SlowStart, Velocity};
use crate::units::{Duration, Instant};

/// The smallest window of Copa, packets.
pub(super) const MIN_WINDOW: f64 = 2.0;
/// The largest window, packets: a bound on arithmetic, far beyond any path (100 Gbps for 1 s).
pub(super) const MAX_WINDOW: f64 = 1e7;
/// The largest velocity where it is not bounded by the window: that of a 64-bit integer.
const MAX_VELOCITY: f64 = 9.2e18;
/// NSDI 2018, section 2.1: the velocity starts doubling "only after the direction has remained the
/// same for three RTTs".
pub(super) const SAME_DIRECTION_RTTS: u32 = 3;

/// What Copa's descriptions and implementations do differently with the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rules {
    pub(super) slow_start: SlowStart,
    /// Packets at the start that leave the window as it is.
    pub(super) patience: f64,
    pub(super) velocity: Velocity,
    /// Round trips in one direction after which the velocity doubles.
    pub(super) threshold: u32,
    /// Whether the velocity is at most `max(1, delta * cwnd)`.
    pub(super) bounded: bool,
    pub(super) timeout_ends_slow_start: bool,
}

impl Default for Rules {
    /// The paper's, with the choices above.
    fn default() -> Rules {
        Rules {
            slow_start: SlowStart::PerPacket,
            patience: 0.0,
            velocity: Velocity::SameDirection,
            threshold: SAME_DIRECTION_RTTS,
            bounded: true,
            timeout_ends_slow_start: true,
        }
    }
}

/// Which way the window moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// It grows.
    Up,
    /// It shrinks (or stays).
    Down,
}

/// What one arrival means for the window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Move {
    /// When.
    pub(super) now: Instant,
    /// Smoothed round-trip time; none before the first sample.
    pub(super) srtt: Option<Duration>,
    /// What arrived, in packets.
    pub(super) packets: f64,
    /// 1/packets.
    pub(super) delta: f64,
    /// Whether the present rate is not above the target.
    pub(super) increase: bool,
    /// The target rate times RTTstanding, packets; infinite without a queue.
    pub(super) target: f64,
    /// The latest round-trip time; none before the first sample.
    pub(super) latest_rtt: Option<Duration>,
}

/// The window, its direction and velocity.
#[derive(Debug, Clone)]
pub(super) struct VelocityWindow {
    cwnd: f64,
    slow_start: bool,
    velocity: f64,
    direction: Option<Direction>,
    /// Round trips for which `direction` has not changed.
    same_direction: u32,
    /// When the present round trip began, and the window then.
    round: Option<(Instant, f64)>,
    rules: Rules,
    /// Packets still to be let pass at the start.
    patience: f64,
    /// When slow start last doubled the window, or began ([`SlowStart::PerRoundTrip`]).
    doubled: Option<Instant>,
    /// Packets that moved the window up less those that moved it down in this round trip
    /// ([`Velocity::NetDirection`]).
    net: f64,
}

impl VelocityWindow {
    /// Starts in slow start with `initial` packets.
    pub(super) fn new(initial: f64, rules: Rules) -> VelocityWindow {
        VelocityWindow {
            rules,
            patience: rules.patience,
            doubled: None,
            net: 0.0,
            cwnd: initial.clamp(MIN_WINDOW, MAX_WINDOW),
            slow_start: true,
            velocity: 1.0,
            direction: None,
            same_direction: 0,
            round: None,
        }
    }

    /// Packets.
    pub(super) const fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// v, packets.
    pub(super) const fn velocity(&self) -> f64 {
        self.velocity
    }

    /// Whether slow start has not ended yet.
    pub(super) const fn in_slow_start(&self) -> bool {
        self.slow_start
    }

    /// Moves the window by what `m` says.
    pub(super) fn on_packets(&mut self, m: &Move) {
        if self.patience > 0.0 {
            self.patience -= m.packets;
            return;
        }
        if self.slow_start && self.grow_in_slow_start(m) {
            return;
        }
        match self.rules.velocity {
            Velocity::SameDirection => {
                self.end_round(m);
                let direction = direction(m.increase);
                if self.velocity > 1.0 && self.direction != Some(direction) {
                    self.velocity = 1.0;
                    self.same_direction = 0;
                    self.direction = Some(direction);
                    self.round = Some((m.now, self.cwnd));
                }
            }
            Velocity::NetDirection => self.end_net_round(m),
        }
        let velocity = self.velocity.min(self.velocity_limit(m.delta));
        let step = m.packets * velocity / (m.delta * self.cwnd);
        self.cwnd = if m.increase {
            self.cwnd + step
        } else {
            self.slow_start = false;
            self.cwnd - step
        }
        .clamp(MIN_WINDOW, MAX_WINDOW);
    }

    /// Slow start; whether that is all that the arrival does.
    fn grow_in_slow_start(&mut self, m: &Move) -> bool {
        match self.rules.slow_start {
            SlowStart::PerPacket => {
                if m.increase {
                    // One packet per packet: the window doubles in a round trip.
                    self.cwnd = (self.cwnd + m.packets).min(MAX_WINDOW);
                }
                m.increase
            }
            SlowStart::PerRoundTrip => {
                let since = *self.doubled.get_or_insert(m.now);
                if m.increase && m.srtt.is_some_and(|srtt| m.now - since > srtt) {
                    self.cwnd = (2.0 * self.cwnd).min(MAX_WINDOW);
                    self.doubled = Some(m.now);
                }
                m.increase
            }
            SlowStart::TargetWindow => {
                self.cwnd = (self.cwnd + m.packets).min(MAX_WINDOW);
                self.slow_start = self.cwnd < m.target;
                true
            }
        }
    }

    /// Once per latest round trip: did most of its packets move the window as those before did?
    fn end_net_round(&mut self, m: &Move) {
        let (began, _) = *self.round.get_or_insert((m.now, self.cwnd));
        let before = *self.direction.get_or_insert(Direction::Up);
        if m.latest_rtt.is_some_and(|rtt| m.now - began > rtt) {
            let goes_on = match before {
                Direction::Up => self.net > 0.0,
                Direction::Down => self.net < 0.0,
            };
            if goes_on {
                self.velocity = 2.0 * self.velocity.floor();
            } else {
                self.velocity = 1.0;
                self.direction = Some(match before {
                    Direction::Up => Direction::Down,
                    Direction::Down => Direction::Up,
                });
            }
            self.round = Some((m.now, self.cwnd));
            self.net = 0.0;
        }
        if self.velocity > self.cwnd * m.delta {
            self.velocity = (self.velocity / 2.0).max(1.0);
        }
        self.net += if m.increase { m.packets } else { -m.packets };
    }

    /// Once per smoothed round trip: compares the window with the one at its begin.
    fn end_round(&mut self, m: &Move) {
        let Some(srtt) = m.srtt else { return };
        let Some((began, cwnd_then)) = self.round else {
            self.round = Some((m.now, self.cwnd));
            return;
        };
        if m.now - began < srtt {
            return;
        }
        let direction = direction(self.cwnd > cwnd_then);
        if self.direction == Some(direction) {
            self.same_direction = self.same_direction.saturating_add(1);
            if self.same_direction >= self.rules.threshold {
                self.velocity = (2.0 * self.velocity).min(self.velocity_limit(m.delta));
            }
        } else {
            self.velocity = 1.0;
            self.same_direction = 0;
        }
        self.direction = Some(direction);
        self.round = Some((m.now, self.cwnd));
    }

    fn velocity_limit(&self, delta: f64) -> f64 {
        if self.rules.bounded {
            (delta * self.cwnd).max(1.0)
        } else {
            MAX_VELOCITY
        }
    }

    /// An application-limited arrival: the window stays, the round trip starts anew.
    pub(super) fn on_app_limited(&mut self, now: Instant) {
        if self.round.is_some() {
            self.round = Some((now, self.cwnd));
        }
    }

    /// Multiplies the window (see `LossBrake`) and forgets the direction.
    pub(super) fn scale(&mut self, factor: f64) {
        self.cwnd = (self.cwnd * factor).clamp(MIN_WINDOW, MAX_WINDOW);
        self.forget_direction();
    }

    /// Persistent congestion: the smallest window, no slow start (by most rules), direction unknown.
    pub(super) fn on_timeout(&mut self) {
        self.cwnd = MIN_WINDOW;
        self.slow_start &= !self.rules.timeout_ends_slow_start;
        self.forget_direction();
    }

    fn forget_direction(&mut self) {
        self.velocity = 1.0;
        self.direction = None;
        self.same_direction = 0;
        self.round = None;
        self.net = 0.0;
    }
}

/// The direction of a window that grows or does not; one that stays as it is counts as down.
fn direction(up: bool) -> Direction {
    if up { Direction::Up } else { Direction::Down }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn arrival(now: Instant, increase: bool, delta: f64) -> Move {
        Move {
            now,
            srtt: Some(RTT),
            packets: 1.0,
            delta,
            increase,
            target: f64::INFINITY,
            latest_rtt: Some(RTT),
        }
    }

    /// A window of `cwnd` packets outside slow start.
    fn steady(cwnd: f64) -> VelocityWindow {
        VelocityWindow {
            slow_start: false,
            ..VelocityWindow::new(cwnd, Rules::default())
        }
    }

    #[test]
    fn one_packet_moves_ten_by_a_fifth() {
        // cwnd 10, delta 0.5, v 1: step 0.2.
        let mut w = steady(10.0);
        w.on_packets(&arrival(Instant::ZERO, true, 0.5));
        assert_eq!(w.cwnd(), 10.2);
        let mut w = VelocityWindow::new(10.0, Rules::default());
        w.on_packets(&arrival(Instant::ZERO, false, 0.5));
        assert_eq!((w.cwnd(), w.in_slow_start()), (9.8, false));
    }

    #[test]
    fn slow_start_doubles_and_ends_for_good() {
        let mut w = VelocityWindow::new(10.0, Rules::default());
        for _ in 0..10 {
            w.on_packets(&arrival(Instant::ZERO, true, 0.5));
        }
        assert_eq!(w.cwnd(), 20.0);
        w.on_packets(&arrival(Instant::ZERO, false, 0.5));
        w.on_packets(&arrival(Instant::ZERO, true, 0.5));
        assert!(!w.in_slow_start() && w.cwnd() < 20.1, "{w:?}");
    }

    #[test]
    fn velocity_doubles_first_in_the_fourth_window_of_one_direction() {
        let mut w = steady(1000.0);
        let mut seen = Vec::new();
        for rtt in 0..9u64 {
            w.on_packets(&arrival(Instant::from_millis(100 * rtt), true, 0.5));
            seen.push(w.velocity());
        }
        // The first arrival only begins a round trip; its end sets the direction.
        assert_eq!(seen, [1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        // A single step the other way takes it back at once.
        let before = w.cwnd();
        w.on_packets(&arrival(Instant::from_millis(801), false, 0.5));
        assert_eq!(w.velocity(), 1.0);
        assert_eq!(w.cwnd(), before - 1.0 / (0.5 * before));
        assert_eq!(w.direction, Some(Direction::Down));
    }

    #[test]
    fn a_window_that_did_not_grow_counts_as_down() {
        let mut w = steady(2.0);
        for rtt in 0..3u64 {
            w.on_packets(&arrival(Instant::from_millis(100 * rtt), false, 0.5));
        }
        assert_eq!((w.cwnd(), w.direction), (2.0, Some(Direction::Down)));
    }

    #[test]
    fn velocity_is_bounded_by_delta_times_window() {
        let mut w = steady(20.0);
        for rtt in 0..100u64 {
            let before = w.cwnd();
            w.on_packets(&arrival(Instant::from_millis(100 * rtt), true, 0.5));
            assert!(w.cwnd() - before <= 1.0 + 1e-12);
            assert!(w.velocity() <= 0.5 * w.cwnd());
        }
        // Also when a smaller delta makes the present velocity too large.
        let before = w.cwnd();
        w.on_packets(&arrival(Instant::from_millis(9950), true, 0.1));
        assert!(w.cwnd() - before <= 1.0 + 1e-12);
    }

    #[test]
    fn application_limited_rounds_count_for_nothing() {
        let mut w = steady(100.0);
        w.on_packets(&arrival(Instant::ZERO, true, 0.5));
        let before = w.cwnd();
        for rtt in 1..50u64 {
            w.on_app_limited(Instant::from_millis(100 * rtt));
        }
        assert_eq!((w.cwnd(), w.velocity(), w.direction), (before, 1.0, None));
        w.on_packets(&arrival(Instant::from_millis(4950), true, 0.5));
        assert_eq!(w.direction, None);
    }

    #[test]
    fn a_timeout_leaves_the_smallest_window() {
        let mut w = VelocityWindow::new(50.0, Rules::default());
        w.on_timeout();
        assert_eq!(
            (w.cwnd(), w.velocity(), w.in_slow_start()),
            (2.0, 1.0, false)
        );
    }

    /// A window of `cwnd` packets outside slow start, under `rules`.
    fn under(cwnd: f64, rules: Rules) -> VelocityWindow {
        VelocityWindow {
            slow_start: false,
            ..VelocityWindow::new(cwnd, rules)
        }
    }

    /// mvfst with its standing RTT: threshold 4. Five steps at 1, then 2, 4, 8.
    #[test]
    fn a_threshold_of_four_and_no_bound() {
        let mut w = under(
            20.0,
            Rules {
                threshold: 4,
                bounded: false,
                ..Rules::default()
            },
        );
        let mut seen = Vec::new();
        for rtt in 0..9u64 {
            let before = w.cwnd();
            w.on_packets(&arrival(Instant::from_millis(100 * rtt), true, 0.05));
            assert!((w.cwnd() - before - w.velocity() / (0.05 * before)).abs() < 1e-9);
            seen.push(w.velocity());
        }
        // delta * cwnd is 1 at first: only without the bound it goes on.
        assert_eq!(seen, [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0]);
        let before = w.cwnd();
        w.on_packets(&arrival(Instant::from_millis(801), false, 0.05));
        assert_eq!(
            (w.velocity(), w.cwnd()),
            (1.0, before - 1.0 / (0.05 * before))
        );
    }

    #[test]
    fn mvfst_doubles_in_jumps() {
        let mut w = VelocityWindow::new(
            10.0,
            Rules {
                slow_start: SlowStart::PerRoundTrip,
                ..Rules::default()
            },
        );
        let mut seen = Vec::new();
        for ms in [0, 50, 100, 101, 150, 202, 303] {
            w.on_packets(&arrival(Instant::from_millis(ms), true, 0.5));
            seen.push(w.cwnd());
        }
        assert_eq!(seen, [10.0, 10.0, 10.0, 20.0, 20.0, 40.0, 80.0]);
        w.on_packets(&arrival(Instant::from_millis(304), false, 0.5));
        assert_eq!((w.cwnd(), w.in_slow_start()), (80.0 - 1.0 / 40.0, false));
    }

    /// genericCC's own rules.
    fn generic(cwnd: f64) -> VelocityWindow {
        VelocityWindow::new(
            cwnd,
            Rules {
                slow_start: SlowStart::TargetWindow,
                patience: 19.0,
                velocity: Velocity::NetDirection,
                ..Rules::default()
            },
        )
    }

    #[test]
    fn genericcc_waits_for_19_packets_and_stops_at_the_target() {
        let mut w = generic(10.0);
        let at = |w: &mut VelocityWindow, target| {
            w.on_packets(&Move {
                target,
                ..arrival(Instant::ZERO, true, 0.5)
            });
            w.cwnd()
        };
        for _ in 0..19 {
            assert_eq!(at(&mut w, f64::INFINITY), 10.0);
        }
        assert_eq!(at(&mut w, f64::INFINITY), 11.0);
        assert_eq!(at(&mut w, 12.5), 12.0);
        assert!(w.in_slow_start());
        assert_eq!(at(&mut w, 12.5), 13.0, "no step down where it ends");
        assert!(!w.in_slow_start());
    }

    #[test]
    fn genericcc_doubles_at_once_and_halves_above_delta_times_window() {
        let mut w = VelocityWindow {
            slow_start: false,
            patience: 0.0,
            ..generic(100.0)
        };
        let mut seen = Vec::new();
        for k in 0..7u64 {
            w.on_packets(&arrival(Instant::from_millis(101 * k), true, 0.1));
            seen.push(w.velocity());
        }
        // The first round trip begins with the first packet; delta * cwnd is a little above 10.
        assert_eq!(seen, [1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0]);
        // A round trip of one down and two up still goes up, one of two down turns.
        for (ms, up) in [
            (610, false),
            (620, true),
            (708, true),
            (720, false),
            (730, false),
        ] {
            w.on_packets(&arrival(Instant::from_millis(ms), up, 0.1));
        }
        assert_eq!(w.velocity(), 8.0);
        w.on_packets(&arrival(Instant::from_millis(810), false, 0.1));
        assert_eq!((w.velocity(), w.direction), (1.0, Some(Direction::Down)));
        w.on_packets(&arrival(Instant::from_millis(911), false, 0.1));
        assert_eq!(w.velocity(), 2.0, "no patience on the way down either");
    }
}
