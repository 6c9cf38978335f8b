//! CUBIC (RFC 9438).
//!
//! Sizes are packets, times seconds, as in the RFC. Departures, where the RFC leaves room: the time
//! since the epoch's start leaves out application-limited and idle phases (section 5.8); a stage
//! that follows slow start without a loss, or a timeout, starts on its own plateau (K = 0); a cut is
//! taken back once, when every unit that its episode declared lost has arrived after all (section
//! 4.9), never on account of how few they were.

use super::hystart::{HyStart, Verdict};
use super::undo::Undo;
use super::window::{Saved, TimeoutKind, Window, check_beta, check_mark_beta};
use super::{
    Allowance, Controller, Data, Loss, LostUnit, Restart, Sent, Setup, Snapshot, SpuriousLoss,
    Timeout,
};
use crate::units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RFC 9438, section 4.2: the target is at most this multiple of the window, so that it grows by no
/// more than half in a round trip. Dimensionless.
const MAX_TARGET: f64 = 1.5;

/// Parameters of CUBIC.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// First window in packets, 1..1e6; 0 means the transport's.
    pub initial_window_packets: f64,
    /// Factor on the window at a loss, between 0 and 1 (RFC 9438, section 4.6: 0.7).
    pub beta: f64,
    /// Factor on the window at a mark, above 0 (RFC 9438: 0.7; RFC 8511: 0.85); 1 ignores marks.
    pub mark_beta: f64,
    /// The aggressiveness C in packets/s^3, above 0 and at most 100 (RFC 9438, section 5: 0.4).
    pub c: f64,
    /// Whether a flow whose windows shrink gives way faster (RFC 9438, section 4.7).
    pub fast_convergence: bool,
    /// Whether the window is at least what Reno would reach (RFC 9438, section 4.3).
    pub reno_friendly: bool,
    /// Whether slow start also ends on a growing round-trip time (RFC 9406).
    pub hystart: bool,
    /// Window after a retransmission timeout in packets, 1..10 (RFC 9438, section 4.8: 1).
    pub timeout_window_packets: f64,
    /// Whether a reduction is taken back when all its losses turn out to be none (RFC 9438, section
    /// 4.9).
    pub undo: bool,
    /// Whether requests are spread over the round trip.
    pub pacing: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            initial_window_packets: 0.0,
            beta: 0.7,
            mark_beta: 0.7,
            c: 0.4,
            fast_convergence: true,
            reno_friendly: true,
            hystart: false,
            timeout_window_packets: 1.0,
            undo: true,
            pacing: false,
        }
    }
}

/// CUBIC.
#[derive(Debug, Clone)]
pub struct Cubic {
    config: Config,
    window: Window,
    hystart: Option<HyStart>,
    curve: Curve,
    undo: Option<Undo<Before>>,
}

/// What the window grows along; saved and restored as a whole.
#[derive(Debug, Clone, Copy, Default)]
struct Curve {
    /// W_max: the window where the last reduction happened, after fast convergence.
    w_max: f64,
    /// cwnd_prior: the window at the last reduction.
    cwnd_prior: f64,
    /// The next stage starts on its own plateau instead of below `w_max`.
    own_plateau: bool,
    /// The present congestion-avoidance stage; none in slow start and recovery.
    epoch: Option<Epoch>,
}

/// A congestion-avoidance stage.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    /// K: seconds until the plateau.
    k: f64,
    /// W_est: the window of an equally careful Reno.
    w_est: f64,
    /// Growing time that counts, up to `accounted`.
    elapsed: Duration,
    /// Up to when time was counted in or left out.
    accounted: Instant,
}

/// What a needless reduction returns to.
#[derive(Debug, Clone, Copy)]
struct Before {
    window: Saved,
    curve: Curve,
}

/// RFC 9438, equation (2): K = cbrt((W_max - cwnd_epoch) / C), in seconds.
fn k(w_max: f64, cwnd_epoch: f64, c: f64) -> f64 {
    ((w_max - cwnd_epoch) / c).max(0.0).cbrt()
}

/// RFC 9438, equation (1): W_cubic(t) = C (t - K)^3 + W_max, in packets.
fn w_cubic(t: f64, k: f64, w_max: f64, c: f64) -> f64 {
    c * (t - k).powi(3) + w_max
}

/// RFC 9438, section 4.3: the additive increase with which a Reno that cuts by `beta` keeps the
/// average window of standard Reno, packets per round trip.
fn alpha(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

impl Cubic {
    /// A controller in slow start.
    pub fn new(setup: &Setup, config: &Config) -> Result<Cubic, String> {
        check_beta("beta", config.beta)?;
        check_mark_beta(config.mark_beta)?;
        if !(config.c > 0.0 && config.c <= 100.0) {
            return Err(format!(
                "c: {} packets/s^3 is not above 0 and at most 100",
                config.c
            ));
        }
        if !(1.0..=10.0).contains(&config.timeout_window_packets) {
            return Err(format!(
                "timeout_window_packets: {} is not in 1..10",
                config.timeout_window_packets
            ));
        }
        Ok(Cubic {
            config: *config,
            window: Window::new(setup, config.initial_window_packets, config.pacing)?,
            hystart: config.hystart.then(HyStart::default),
            curve: Curve::default(),
            undo: None,
        })
    }

    /// Slow start; the packets left over for congestion avoidance.
    fn slow_start(&mut self, data: &Data, packets: f64) -> f64 {
        // RFC 9406, section 4.2: only the first slow start, the one without a threshold.
        let first = self.window.ssthresh().is_infinite();
        let verdict = match &mut self.hystart {
            Some(hystart) if first => hystart.on_data(data),
            _ => Verdict::Grow(1.0),
        };
        match verdict {
            Verdict::Grow(gain) => self.window.slow_start(packets, gain),
            Verdict::Exit => {
                self.window.leave_slow_start();
                self.curve.own_plateau = true;
                packets
            }
        }
    }

    /// RFC 9438, sections 4.2 to 4.5, for `packets` that arrived.
    fn avoid_congestion(&mut self, data: &Data, packets: f64) {
        let Config {
            c,
            beta,
            reno_friendly,
            ..
        } = self.config;
        let cwnd = self.window.cwnd();
        let curve = &mut self.curve;
        let epoch = match &mut curve.epoch {
            Some(epoch) => epoch,
            none => {
                if curve.own_plateau || curve.w_max <= cwnd {
                    curve.w_max = cwnd;
                }
                curve.own_plateau = false;
                none.insert(Epoch {
                    k: k(curve.w_max, cwnd, c),
                    w_est: cwnd,
                    elapsed: Duration::ZERO,
                    accounted: data.now,
                })
            }
        };
        epoch.elapsed += data.now - epoch.accounted;
        epoch.accounted = epoch.accounted.max(data.now);

        let t = epoch.elapsed.as_secs_f64();
        let srtt = data.srtt.map_or(0.0, Duration::as_secs_f64);
        let increase = if epoch.w_est < curve.cwnd_prior {
            alpha(beta)
        } else {
            1.0
        };
        epoch.w_est += increase * packets / cwnd;
        let step = if reno_friendly && w_cubic(t, epoch.k, curve.w_max, c) < epoch.w_est {
            epoch.w_est - cwnd
        } else {
            let target = w_cubic(t + srtt, epoch.k, curve.w_max, c).clamp(cwnd, MAX_TARGET * cwnd);
            (target - cwnd) * (packets / cwnd).min(1.0)
        };
        self.window.grow(step.max(0.0));
    }

    /// Leaves the time since the last event out of the epoch's.
    fn leave_out_time(&mut self, now: Instant) {
        if let Some(epoch) = &mut self.curve.epoch {
            epoch.accounted = epoch.accounted.max(now);
        }
    }

    /// RFC 9438, sections 4.6 and 4.7: what a reduction leaves of the curve. The window itself is cut
    /// from its original size.
    fn note_reduction(&mut self, first_pn: u64, end_pn: u64) {
        let cwnd = self.window.cwnd();
        let before = Before {
            window: self.window.save(),
            curve: self.curve,
        };
        self.undo = (self.config.undo).then(|| Undo::new(before, first_pn, end_pn));
        let gives_way = self.config.fast_convergence && cwnd < self.curve.w_max;
        self.curve = Curve {
            w_max: if gives_way {
                cwnd * (1.0 + self.config.beta) / 2.0
            } else {
                cwnd
            },
            cwnd_prior: cwnd,
            own_plateau: false,
            epoch: None,
        };
    }
}

impl Controller for Cubic {
    fn on_sent(&mut self, sent: &Sent) {
        if sent.prior_in_flight.is_zero() {
            self.leave_out_time(sent.now);
        }
    }

    fn on_data(&mut self, data: &Data) {
        let admitted = self.window.admit(data);
        if data.marked && self.config.mark_beta < 1.0 && self.window.is_new_episode(data.pn) {
            self.note_reduction(data.pn, data.next_pn);
            self.undo = None; // A mark is never spurious.
            self.window.cut(self.config.mark_beta, data.next_pn);
            return;
        }
        let Some(mut packets) = admitted else {
            self.leave_out_time(data.now);
            return;
        };
        if self.window.in_slow_start() {
            packets = self.slow_start(data, packets);
        }
        if packets > 0.0 && !self.window.in_slow_start() {
            self.avoid_congestion(data, packets);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        let new = |u: &&LostUnit| self.window.is_new_episode(u.pn);
        if let Some(first_pn) = loss.units.iter().find(new).map(|u| u.pn) {
            self.note_reduction(first_pn, loss.next_pn);
            self.window.cut(self.config.beta, loss.next_pn);
        }
        if let Some(undo) = &mut self.undo {
            undo.on_loss(loss.units);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout<'_>) {
        let kind = self.window.judge_timeout(timeout.largest_pn());
        match kind {
            TimeoutKind::OldPath => return,
            TimeoutKind::NewEpisode => {
                let new = |u: &&LostUnit| self.window.is_new_episode(u.pn);
                let first_pn = timeout.units.iter().find(new).map_or(0, |u| u.pn);
                self.note_reduction(first_pn, timeout.next_pn);
            }
            TimeoutKind::SameEpisode => {}
            TimeoutKind::BackedOff => self.undo = None,
        }
        if let Some(undo) = &mut self.undo {
            undo.on_loss(timeout.units);
        }
        let Config {
            timeout_window_packets,
            beta,
            ..
        } = self.config;
        self.window
            .collapse(kind, timeout_window_packets, beta, timeout.next_pn);
        // RFC 9438, section 4.8: the first stage after a timeout starts with K = 0.
        self.curve.own_plateau = true;
        self.curve.epoch = None;
    }

    fn on_restart(&mut self, restart: &Restart) {
        self.window.restart(restart.next_pn);
        self.hystart = self.config.hystart.then(HyStart::default);
        self.curve = Curve::default();
        self.undo = None;
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        if let Some(before) = Undo::on_spurious_loss(&mut self.undo, spurious.pn) {
            self.window.restore(&before.window);
            self.curve = before.curve;
            self.leave_out_time(spurious.now);
        }
    }

    fn allowance(&self) -> Allowance {
        self.window.allowance()
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.window.phase(),
            ssthresh: self.window.traced_ssthresh(),
            ..Snapshot::default()
        }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests;
