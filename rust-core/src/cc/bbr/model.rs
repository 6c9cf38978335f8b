//! BBR's model of the path: bottleneck bandwidth, propagation round trip, and whether the pipe has
//! been filled.

use crate::cc::{Data, RateSample};
use crate::filter::WindowedMax;
use crate::units::{Bytes, Duration, Instant, Rate};

/// STARTUP goes on while the bandwidth grows by this factor (draft, section 4.3.2.2).
const GROWTH: f64 = 1.25;
/// Rounds without such growth that end it.
const FULL_ROUNDS: u32 = 3;

/// Bottleneck bandwidth and propagation round trip.
#[derive(Debug, Clone)]
pub(super) struct PathModel {
    /// All round trips.
    rounds: u64,
    /// Round trips that held at least one usable bandwidth sample: the filter's clock.
    sampled_rounds: u64,
    /// Whether the present round trip holds one.
    sampled: bool,
    bandwidth: WindowedMax<Rate>,
    /// Samples of requests below this number are too low for certain.
    limited_below: u64,
    rtprop: Option<Duration>,
    rtprop_at: Instant,
    rtprop_window: Duration,
}

impl PathModel {
    pub(super) fn new(bandwidth_rounds: u64, rtprop_window: Duration) -> PathModel {
        PathModel {
            rounds: 0,
            sampled_rounds: 0,
            sampled: false,
            bandwidth: WindowedMax::new(bandwidth_rounds),
            limited_below: 0,
            rtprop: None,
            rtprop_at: Instant::ZERO,
            rtprop_window,
        }
    }

    /// Takes in an arrival's bandwidth sample. True if a round trip ended whose samples can tell
    /// whether the bandwidth still grows.
    pub(super) fn update_bandwidth(&mut self, data: &Data) -> bool {
        let sample = data.rate.filter(|s| s.rate > Rate::ZERO);
        let limited = |app_limited| app_limited || data.pn < self.limited_below;
        let usable = sample.is_some_and(|s| !limited(s.app_limited));
        let mut usable_round = false;
        if data.round_start {
            self.rounds = self.rounds.saturating_add(1);
            if self.sampled {
                self.sampled_rounds = self.sampled_rounds.saturating_add(1);
            }
            usable_round = self.sampled || usable;
            self.sampled = false;
        }
        self.sampled |= usable;
        if let Some(RateSample { rate, .. }) = sample {
            // A limited sample is too low at most: one above the estimate is as good as any.
            if usable || self.bandwidth.best().is_none_or(|best| rate >= best) {
                self.bandwidth.insert(self.sampled_rounds, rate);
            }
        }
        usable_round
    }

    /// From now on samples of requests below `pn`, and only these, are too low for certain.
    pub(super) fn set_limited_below(&mut self, pn: u64) {
        self.limited_below = pn;
    }

    /// Takes in a round-trip time. True if RTprop had expired before.
    pub(super) fn update_rtprop(&mut self, now: Instant, rtt: Option<Duration>) -> bool {
        let expired = self.rtprop.is_some() && now > self.rtprop_at + self.rtprop_window;
        if let Some(rtt) = rtt
            && (expired || self.rtprop.is_none_or(|r| rtt <= r))
        {
            self.rtprop = Some(rtt);
            self.rtprop_at = now;
        }
        expired
    }

    /// RTprop has been looked at closely: it is good for another window.
    pub(super) fn refresh_rtprop(&mut self, now: Instant) {
        self.rtprop_at = now;
    }

    /// BtlBw.
    pub(super) fn bandwidth(&self) -> Option<Rate> {
        self.bandwidth.best()
    }

    /// RTprop.
    pub(super) const fn rtprop(&self) -> Option<Duration> {
        self.rtprop
    }

    /// Round trips so far.
    pub(super) const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// BtlBw x RTprop in packets, if both are known.
    pub(super) fn bdp(&self, mss: Bytes) -> Option<f64> {
        Some(self.bandwidth()?.as_packets_per_sec(mss) * self.rtprop?.as_secs_f64())
    }
}

/// Tells when the bandwidth no longer grows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FullPipe {
    level: Rate,
    flat_rounds: u32,
    reached: bool,
}

impl FullPipe {
    /// A round trip with usable samples has ended.
    pub(super) fn on_round(&mut self, bandwidth: Option<Rate>) {
        let Some(bandwidth) = bandwidth.filter(|_| !self.reached) else {
            return;
        };
        if bandwidth >= self.level.mul_f64(GROWTH) {
            self.level = bandwidth;
            self.flat_rounds = 0;
        } else {
            self.flat_rounds += 1;
            self.reached = self.flat_rounds >= FULL_ROUNDS;
        }
    }

    /// Whether the pipe has been full.
    pub(super) const fn reached(&self) -> bool {
        self.reached
    }

    /// Looks for a plateau anew, if none has been found.
    pub(super) fn forget_level(&mut self) {
        self.level = Rate::ZERO;
        self.flat_rounds = 0;
    }
}
