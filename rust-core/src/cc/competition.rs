//! Copa's TCP-competitive mode: a smaller delta where buffer-filling flows share the queue.
//!
//! Source: Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the
//! Internet", NSDI 2018, section 2.2. Copa alone empties the queue every five round trips. Where that
//! does not happen, another flow fills it, and a fixed delta would yield to it without end. Then
//! `1/delta` follows additive increase (one packet per round trip) and multiplicative decrease (half,
//! at most once per round trip with losses), never below the default mode's value, to which it
//! returns as soon as the queue is nearly empty again.
//!
//! Choices beyond the paper:
//! - The five round trips begin with the first sign that the flow's own start is over: after a round
//!   trip over which the window shrank, a nearly empty queue or a round trip over which it grew. What
//!   slow start left in the queue may take longer than five round trips to drain, with nobody else
//!   there, and when it ends the queue is only about to be seen.
//! - After idleness neither the largest delay nor the five round trips reach back before it.
//! - A queue that was never seen (RTTmax = RTTmin) is nearly empty. So is one of less than two packets
//!   at the flow's own rate and less than half of the largest: at delta 0.5 the largest queue of a
//!   flow alone is some five packets, a tenth of which cannot be seen.
//! - A timeout counts as a loss. Application-limited round trips do not raise `1/delta`.

use crate::feedback::RecoveryGuard;
use crate::filter::{WindowedMax, WindowedMin};
use crate::units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether delta stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Delta is what the other parameters say.
    Fixed,
    /// As `fixed`, but smaller while buffer-filling flows are there.
    Auto,
}

/// How buffer-filling flows are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Detector {
    /// No standing delay within the last 5 RTT was nearly the smallest.
    Paper,
    /// No single delay within the last 4 RTT was nearly the smallest: the authors' implementation.
    Genericcc,
}

/// NSDI 2018, section 2.2: a queueing delay below this share of the largest is a nearly empty queue.
const NEARLY_EMPTY: f64 = 0.1;
/// NSDI 2018, section 2.2: the largest delay is that of the last four round trips.
const LARGEST_RTTS: u64 = 4;
/// NSDI 2018, section 2.2: the queue is nearly empty once in five round trips if Copa is alone.
const LOOK_BACK_RTTS: u64 = 5;
/// A queue of fewer packets is nearly empty, unless it is half of the largest: one request may ask for
/// two packets, which arrive together.
const RESOLVED_PACKETS: f64 = 2.0;
/// The largest `1/delta`, packets: a bound on arithmetic.
const MAX_INVERSE: f64 = 1e5;

/// A delay that was measured, with what is known of the path. All in ns and of one kind (RTT, or the
/// one-way delay with any offset).
#[derive(Debug, Clone, Copy)]
pub(super) struct Delays {
    /// The sample, if this arrival gave one.
    pub(super) sample: Option<i64>,
    /// The standing minimum.
    pub(super) standing: i64,
    /// The smallest.
    pub(super) base: i64,
    /// Time per packet at the flow's present rate.
    pub(super) packet: Duration,
}

/// The detector and its `1/delta`.
#[derive(Debug, Clone)]
pub(super) struct Competition {
    detector: Detector,
    largest: WindowedMax<i64>,
    smallest: WindowedMin<i64>,
    /// The last arrival and SRTT then.
    heard: Option<(Instant, Duration)>,
    /// When the queue was last nearly empty; none until the start is over.
    empty_at: Option<Instant>,
    /// When the present round trip began, and the window then.
    round: Option<(Instant, f64)>,
    /// Whether the window has shrunk over a round trip since slow start.
    shrank: bool,
    /// `1/delta` while competing.
    inverse: Option<f64>,
    /// When `1/delta` was last changed or a round trip without a change began.
    since: Instant,
    losses: RecoveryGuard,
}

impl Competition {
    /// Nothing seen yet; none in the fixed mode.
    pub(super) fn new(mode: Mode, detector: Detector) -> Option<Competition> {
        (mode == Mode::Auto).then(|| Competition {
            detector,
            largest: WindowedMax::new(0),
            smallest: WindowedMin::new(0),
            heard: None,
            empty_at: None,
            round: None,
            shrank: false,
            inverse: None,
            since: Instant::ZERO,
            losses: RecoveryGuard::default(),
        })
    }

    /// Another path: nothing seen yet.
    pub(super) fn restart(&mut self) {
        self.largest.clear();
        self.smallest.clear();
        (self.heard, self.empty_at) = (None, None);
        (self.round, self.shrank, self.inverse) = (None, false, None);
    }

    /// A request leaves while nothing is outstanding. After a pause of more than a round trip, in
    /// which the queue said nothing, the past counts for nothing.
    pub(super) fn on_idle_restart(&mut self, now: Instant) {
        if self.heard.is_some_and(|(at, srtt)| now - at > srtt) {
            self.largest.clear();
            self.smallest.clear();
            self.empty_at = self.empty_at.map(|_| now);
        }
    }

    /// Takes in an arrival outside of slow start, before the window moves: which mode is it now?
    /// `ceiling` is the default mode's delta.
    pub(super) fn on_data(&mut self, now: Instant, srtt: Duration, delays: &Delays, ceiling: f64) {
        self.heard = Some((now, srtt));
        let window = srtt * LARGEST_RTTS;
        self.largest.set_duration(window);
        self.smallest.set_duration(window);
        if let Some(sample) = delays.sample {
            self.largest.insert_at(now, sample);
            self.smallest.insert_at(now, sample);
        }
        self.largest.expire_at(now);
        self.smallest.expire_at(now);
        let (Some(largest), Some(smallest)) = (self.largest.best(), self.smallest.best()) else {
            return;
        };
        let least = match self.detector {
            Detector::Paper => delays.standing,
            Detector::Genericcc => smallest,
        };
        let above_base = |delay: i64| delay.saturating_sub(delays.base) as f64;
        let range = above_base(largest);
        let resolved = RESOLVED_PACKETS * delays.packet.as_nanos() as f64;
        let empty = resolved.min(range / 2.0).max(NEARLY_EMPTY * range);
        if self.shrank && (range <= 0.0 || above_base(least) < empty) {
            self.empty_at = Some(now);
        }
        let Some(empty_at) = self.empty_at else {
            return;
        };
        let alone = match self.detector {
            Detector::Paper => now - empty_at <= srtt * LOOK_BACK_RTTS,
            // The authors' sender keeps a delta that a loss has changed for a round trip.
            Detector::Genericcc => {
                empty_at == now && (self.inverse.is_none() || now - self.since > srtt)
            }
        };
        match (&self.inverse, alone) {
            (None, false) => {
                self.inverse = Some(1.0 / ceiling);
                self.since = now;
            }
            (Some(_), true) => self.inverse = None,
            _ => {}
        }
    }

    /// The window was moved to `cwnd` outside of slow start, by an arrival that counts: additive
    /// increase.
    pub(super) fn on_step(&mut self, now: Instant, srtt: Duration, cwnd: f64) {
        let (began, before) = *self.round.get_or_insert((now, cwnd));
        if now - began >= srtt {
            self.shrank |= cwnd < before;
            if cwnd > before && self.shrank {
                self.empty_at.get_or_insert(now);
            }
            self.round = Some((now, cwnd));
        }
        if let Some(inverse) = &mut self.inverse
            && now - self.since >= srtt
        {
            *inverse = (*inverse + 1.0).min(MAX_INVERSE);
            self.since = now;
        }
    }

    /// Requests up to `largest_pn` were lost: multiplicative decrease, once for what left before the
    /// last one.
    pub(super) fn on_loss(&mut self, now: Instant, largest_pn: u64, next_pn: u64) {
        if let Some(inverse) = &mut self.inverse
            && self.losses.is_new_episode(largest_pn)
        {
            *inverse /= 2.0;
            self.losses.begin(next_pn);
            self.since = now;
        }
    }

    /// An application-limited arrival: the round trip starts anew.
    pub(super) fn on_app_limited(&mut self, now: Instant) {
        self.since = self.since.max(now);
    }

    /// Delta now, given that of the default mode, which is the largest.
    pub(super) fn delta(&mut self, ceiling: f64) -> f64 {
        match &mut self.inverse {
            Some(inverse) => {
                *inverse = inverse.max(1.0 / ceiling);
                ceiling.min(1.0 / *inverse)
            }
            None => ceiling,
        }
    }

    /// Whether in the competitive mode.
    pub(super) const fn is_active(&self) -> bool {
        self.inverse.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    /// A detector whose flow has started already.
    fn auto(detector: Detector) -> Competition {
        Competition {
            shrank: true,
            ..Competition::new(Mode::Auto, detector).expect("auto")
        }
    }

    /// An arrival `ms` after the start whose delay is `queue_ms` above the base of 50 ms; the window
    /// grows or shrinks with time.
    fn arrival(c: &mut Competition, ms: u64, queue_ms: i64, up: bool) -> f64 {
        let now = Instant::from_millis(ms);
        let delay = (50 + queue_ms) * 1_000_000;
        let delays = Delays {
            sample: Some(delay),
            standing: delay,
            base: 50_000_000,
            packet: Duration::from_millis(1),
        };
        c.on_data(now, RTT, &delays, 0.5);
        let delta = c.delta(0.5);
        c.on_step(
            now,
            RTT,
            if up {
                10.0 + ms as f64
            } else {
                1e6 - ms as f64
            },
        );
        delta
    }

    #[test]
    fn there_is_none_in_the_fixed_mode() {
        assert!(Competition::new(Mode::Fixed, Detector::Paper).is_none());
    }

    #[test]
    fn five_round_trips_without_an_empty_queue() {
        let mut c = auto(Detector::Paper);
        arrival(&mut c, 0, 0, true);
        for ms in (10..=500).step_by(10) {
            arrival(&mut c, ms, 40, false);
            assert!(!c.is_active(), "{ms}");
        }
        assert_eq!(
            arrival(&mut c, 510, 40, false),
            0.5,
            "it starts where it was"
        );
        assert!(c.is_active());
        // A tenth of the largest delay is not nearly empty, less is.
        arrival(&mut c, 520, 4, false);
        assert!(c.is_active());
        assert_eq!(arrival(&mut c, 530, 3, false), 0.5);
        assert!(!c.is_active());
    }

    #[test]
    fn the_authors_look_back_four_round_trips() {
        let mut c = auto(Detector::Genericcc);
        arrival(&mut c, 0, 0, true);
        for ms in (10..=400).step_by(10) {
            arrival(&mut c, ms, 40, false);
            assert!(!c.is_active(), "{ms}");
        }
        arrival(&mut c, 410, 40, false);
        assert!(c.is_active());
    }

    #[test]
    fn one_over_delta_is_aimd() {
        let mut c = auto(Detector::Paper);
        arrival(&mut c, 0, 0, true);
        let mut trace = Vec::new();
        for ms in (10..2000).step_by(10) {
            if ms == 1200 {
                c.on_loss(Instant::from_millis(ms), 100, 110);
                c.on_loss(Instant::from_millis(ms), 109, 115); // the same window
            }
            if ms == 1400 {
                c.on_loss(Instant::from_millis(ms), 110, 130);
            }
            let inverse = (1e6 / arrival(&mut c, ms, 40, true)).round() / 1e6;
            if trace.last() != Some(&inverse) {
                trace.push(inverse);
            }
        }
        let up = [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let after_losses = [4.0, 5.0, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5];
        assert_eq!(trace, [&up[..], &after_losses].concat());
    }

    #[test]
    fn delta_is_never_above_the_default_modes() {
        let mut c = auto(Detector::Paper);
        arrival(&mut c, 0, 0, true);
        arrival(&mut c, 600, 40, true);
        c.on_loss(Instant::from_millis(601), 5, 9);
        assert_eq!(c.delta(0.5), 0.5);
        // Another ceiling, as a delta that follows the rate.
        assert_eq!(c.delta(0.1), 0.1);
        assert_eq!(c.delta(0.5), 0.1, "1/delta has grown to the ceiling's");
    }

    #[test]
    fn the_clock_starts_after_the_flows_own_start() {
        let mut c = Competition::new(Mode::Auto, Detector::Paper).expect("auto");
        arrival(&mut c, 0, 1, false); // where slow start ends
        for ms in (10..3000).step_by(10) {
            arrival(&mut c, ms, 40, false);
        }
        assert!(!c.is_active(), "it still drains what slow start left");
        for ms in (3000..3800).step_by(10) {
            arrival(&mut c, ms, 40, true);
        }
        assert!(c.is_active());
    }

    #[test]
    fn idleness_and_restarts_forget() {
        let mut c = auto(Detector::Paper);
        arrival(&mut c, 0, 100, true);
        c.on_idle_restart(Instant::from_millis(90)); // no pause: the window is small
        c.on_idle_restart(Instant::from_millis(60_000));
        arrival(&mut c, 60_010, 8, true);
        assert!(!c.is_active());
        arrival(&mut c, 60_600, 8, true);
        assert!(c.is_active(), "8 of 8 ms, not of 100");
        c.restart();
        assert!(!c.is_active());
        arrival(&mut c, 61_700, 8, false);
        assert!(!c.is_active(), "another path has its own start");
    }
}
