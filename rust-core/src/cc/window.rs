//! What loss-based controllers share: a window in packets, its slow-start threshold, the loss
//! episode guard, slow start itself and optional pacing. The algorithms add how the window grows
//! in congestion avoidance and how far it is cut.

use super::{Allowance, Data, Phase, Setup};
use crate::feedback::RecoveryGuard;
use crate::units::{Bytes, Duration, Rate};

/// RFC 5681, equation (4): the slow-start threshold is at least two segments. Packets.
pub(super) const MIN_SSTHRESH: f64 = 2.0;

/// No window is larger, in packets. Far above any path (10^9 packets of 1250 B are 1.25 TB), small
/// enough that every sum of windows is exact in an `f64`.
const MAX_WINDOW: f64 = 1e9;

/// Pacing gain in slow start: the window doubles within a round trip (as in Linux). Dimensionless.
const SLOW_START_PACING_GAIN: f64 = 2.0;

/// Pacing gain otherwise: a fifth above the window's own rate (as in Linux), so that the window
/// stays what limits. Dimensionless.
const AVOIDANCE_PACING_GAIN: f64 = 1.2;

/// The window of a loss-based controller. Sizes are packets of [`Setup::mss`].
#[derive(Debug, Clone)]
pub(super) struct Window {
    mss: Bytes,
    initial: f64,
    paced: bool,
    srtt: Option<Duration>,
    /// Congestion window, at least one packet.
    cwnd: f64,
    /// Slow-start threshold; infinite before the first cut.
    ssthresh: f64,
    guard: RecoveryGuard,
    /// Requests below this number left before the last restart.
    restart_pn: u64,
    /// A timeout has not been followed by DATA of a later request yet (RFC 5681, section 3.1: the
    /// threshold is held constant while the timer backs off).
    backed_off: bool,
}

impl Window {
    /// A window of `initial` packets, or of `setup.initial_window` if `initial` is zero.
    pub(super) fn new(setup: &Setup, initial: f64, paced: bool) -> Result<Window, String> {
        if setup.mss.is_zero() {
            return Err("mss: a packet of 0 bytes carries nothing, give at least 1".to_string());
        }
        let initial = setup.initial_window_or(initial);
        if !(1.0..=1e6).contains(&initial) {
            return Err(format!(
                "initial_window_packets: {initial} is not in 1..1e6 (nor 0, the transport's own)"
            ));
        }
        Ok(Window {
            mss: setup.mss,
            initial,
            paced,
            srtt: None,
            cwnd: initial,
            ssthresh: f64::INFINITY,
            guard: RecoveryGuard::default(),
            restart_pn: 0,
            backed_off: false,
        })
    }

    pub(super) const fn cwnd(&self) -> f64 {
        self.cwnd
    }

    pub(super) const fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Takes note of DATA; the packets that may grow the window: none of those that were requested
    /// before the last cut or while the window was not put to the test.
    pub(super) fn admit(&mut self, data: &Data) -> Option<f64> {
        self.srtt = data.srtt.or(self.srtt);
        if self.guard.covers(data.pn) {
            return None;
        }
        self.guard.on_data(data.pn);
        self.backed_off = false;
        (!data.app_limited).then(|| data.bytes.as_packets(self.mss))
    }

    /// Slow start for `packets` that arrived, each adding `gain` packets (1: RFC 5681); the packets
    /// left over once the threshold is reached.
    pub(super) fn slow_start(&mut self, packets: f64, gain: f64) -> f64 {
        let room = (self.ssthresh - self.cwnd).max(0.0);
        let step = (packets * gain).min(room);
        self.grow(step);
        (packets - step / gain).max(0.0)
    }

    /// Adds `step` packets, not negative.
    pub(super) fn grow(&mut self, step: f64) {
        debug_assert!(step >= 0.0, "a window grows by {step} packets");
        self.cwnd = (self.cwnd + step).min(MAX_WINDOW);
    }

    /// Ends slow start without a cut.
    pub(super) fn leave_slow_start(&mut self) {
        self.ssthresh = self.cwnd;
    }

    /// The window becomes `factor` times itself, but not less than `floor` packets.
    pub(super) fn shrink(&mut self, factor: f64, floor: f64) {
        self.cwnd = self.cwnd.min((factor * self.cwnd).max(floor));
    }

    /// What leaves before `next_pn` belongs to the loss episode that was just answered.
    pub(super) fn begin_episode(&mut self, next_pn: u64) {
        self.guard.begin(next_pn);
    }

    /// Whether a loss of request `pn` is the first sign of a new loss episode.
    pub(super) fn is_new_episode(&self, pn: u64) -> bool {
        self.guard.is_new_episode(pn)
    }

    /// Multiplicative decrease for a new episode: both sizes become `beta` times the window.
    pub(super) fn cut(&mut self, beta: f64, next_pn: u64) {
        self.ssthresh = (beta * self.cwnd).max(MIN_SSTHRESH);
        self.cwnd = self.cwnd.min(self.ssthresh);
        self.guard.begin(next_pn);
    }

    /// What a retransmission timeout that lost requests up to `largest_pn` means.
    pub(super) fn judge_timeout(&self, largest_pn: u64) -> TimeoutKind {
        if largest_pn < self.restart_pn {
            TimeoutKind::OldPath
        } else if self.backed_off {
            TimeoutKind::BackedOff
        } else if self.guard.is_new_episode(largest_pn) {
            TimeoutKind::NewEpisode
        } else {
            TimeoutKind::SameEpisode
        }
    }

    /// Collapses to `cwnd` packets after a timeout. The threshold follows (`beta` times the window)
    /// only if the timeout is the first sign of an episode.
    pub(super) fn collapse(&mut self, kind: TimeoutKind, cwnd: f64, beta: f64, next_pn: u64) {
        if kind == TimeoutKind::OldPath {
            return;
        }
        if kind == TimeoutKind::NewEpisode {
            self.ssthresh = (beta * self.cwnd).max(MIN_SSTHRESH);
        }
        self.cwnd = self.cwnd.min(cwnd);
        self.guard.begin(next_pn);
        self.backed_off = true;
    }

    /// What a cut may have to be taken back to.
    pub(super) const fn save(&self) -> Saved {
        Saved {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            guard: self.guard,
        }
    }

    /// Takes back a cut that was made for nothing. What left before it counts again: if it is lost in
    /// earnest, the window is cut for it.
    pub(super) fn restore(&mut self, saved: &Saved) {
        self.cwnd = self.cwnd.max(saved.cwnd);
        self.ssthresh = saved.ssthresh;
        self.guard = saved.guard;
        self.backed_off = false;
    }

    /// Starts over on another path: what left before `next_pn` neither grows nor cuts the window.
    pub(super) fn restart(&mut self, next_pn: u64) {
        self.cwnd = self.initial;
        self.ssthresh = f64::INFINITY;
        self.srtt = None;
        self.guard.begin(next_pn);
        self.restart_pn = next_pn;
        self.backed_off = false;
    }

    pub(super) fn allowance(&self) -> Allowance {
        let pacing = self
            .srtt
            .filter(|srtt| self.paced && !srtt.is_zero())
            .map(|srtt| {
                let gain = if self.in_slow_start() {
                    SLOW_START_PACING_GAIN
                } else {
                    AVOIDANCE_PACING_GAIN
                };
                let rate =
                    Rate::from_packets_per_sec(gain * self.cwnd / srtt.as_secs_f64(), self.mss);
                rate.max(Rate::from_bps(1))
            });
        Allowance {
            window: Bytes::from_packets(self.cwnd, self.mss).max(self.mss),
            pacing,
        }
    }

    pub(super) fn phase(&self) -> Phase {
        if self.guard.is_active() && self.ssthresh.is_finite() {
            Phase::Recovery
        } else if self.in_slow_start() {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        }
    }

    /// The threshold for traces: none while it is infinite.
    pub(super) fn traced_ssthresh(&self) -> Option<Bytes> {
        self.ssthresh
            .is_finite()
            .then(|| Bytes::from_packets(self.ssthresh, self.mss))
    }
}

/// A window before a cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Saved {
    cwnd: f64,
    ssthresh: f64,
    guard: RecoveryGuard,
}

/// How a timeout relates to what was cut before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeoutKind {
    /// Everything lost was requested on a path that is no longer used.
    OldPath,
    /// The timer backs off: no DATA has come since the last timeout.
    BackedOff,
    /// Everything lost was requested before the last cut.
    SameEpisode,
    /// The first sign of congestion since the last cut.
    NewEpisode,
}

/// Checks a multiplicative decrease factor.
pub(super) fn check_beta(field: &str, beta: f64) -> Result<(), String> {
    if beta > 0.0 && beta < 1.0 {
        Ok(())
    } else {
        Err(format!(
            "{field}: {beta} is not between 0 and 1 (both excluded)"
        ))
    }
}

/// Checks the factor applied on a mark, where 1 means that marks are ignored.
pub(super) fn check_mark_beta(beta: f64) -> Result<(), String> {
    if beta > 0.0 && beta <= 1.0 {
        Ok(())
    } else {
        Err(format!(
            "mark_beta: {beta} is not above 0 and at most 1 (1 ignores marks)"
        ))
    }
}
