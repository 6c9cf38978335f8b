//! BBR version 1: a model of the path (bottleneck bandwidth, propagation round trip) sets the
//! pacing rate and the window.
//!
//! Source: Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016, and
//! draft-cardwell-iccrg-bbr-congestion-control-00. On every arrival: model, phase of the gain cycle,
//! "is the pipe full", DRAIN's end, PROBE_RTT, then pacing rate and window.
//!
//! | mode | pacing gain | window gain | ends |
//! |---|---|---|---|
//! | STARTUP | 2/ln 2 | 2/ln 2 | bandwidth grew by less than 25 % in three rounds |
//! | DRAIN | ln 2/2 | 2/ln 2 | outstanding <= BDP |
//! | PROBE_BW | 1.25, 0.75, 1 x 6 | 2 | when RTprop was not seen for 10 s |
//! | PROBE_RTT | 1 | 4 packets | 200 ms and a round trip after outstanding <= 4 packets |
//!
//! Departures from the draft, all small:
//! - The window is never below 4 packets, not even in recovery or after a timeout (the draft: 1):
//!   with fewer outstanding, later arrivals cannot prove a loss. Nor does a loss or timeout raise it.
//! - Recovery is told by packet numbers, see the `recovery` module; in-order delivery, by which
//!   TCP tells it, means nothing to a receiver that counts units as they arrive.
//! - DRAIN ends after max(3 rounds, 500 ms) even if the outstanding bytes did not come down, as
//!   they cannot when the bandwidth was overestimated.
//! - Rounds without a usable sample (application-limited, PROBE_RTT) do not age the bandwidth
//!   filter: a pause must not wipe out the estimate.
//! - PROBE_BW is entered at a phase chosen from [`Setup::draw`]; later entries take the next member
//!   of the sequence `draw + n * 0.618... mod 1`, so that one draw serves the whole transfer.
//! - [`Data::app_limited`] is not looked at: BBR is limited by pacing, not by its window, most of
//!   the time; the mark on the rate sample is what counts.
//! - There is no long-term (policer) sampling and no compensation of aggregated acknowledgements.
//!
//! A timeout forgets the plateau's level, not that the pipe was full. Losses alone change the
//! window for a round trip and nothing in the model. When all losses of an episode turn out to be
//! none, it ends and the window from before it returns at once (`undo`); the plateau is not looked
//! for anew, since on steady reordering that would keep STARTUP going for ever.

mod model;
mod recovery;

use super::range::{check, check_initial_window};
use super::undo::Undo;
use super::{
    Allowance, Controller, Data, Loss, LostUnit, Phase, Restart, Sent, Setup, Snapshot,
    SpuriousLoss, Timeout,
};
use crate::units::{Bytes, Duration, Instant, Rate};
use model::{FullPipe, PathModel};
use recovery::Recovery;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The smallest window, packets (draft, section 4.2.3.1: BBRMinPipeCwnd).
const MIN_WINDOW: f64 = 4.0;
/// The largest window, packets: a bound on arithmetic.
const MAX_WINDOW: f64 = 1e7;
/// The gains of PROBE_BW's cycle (draft, section 4.3.4.2).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The phases in which PROBE_BW may begin: all but the one of gain 0.75.
const FIRST_PHASES: [usize; 7] = [0, 2, 3, 4, 5, 6, 7];
/// Packets beyond the BDP while PROBE_BW probes for more.
const PROBE_EXTRA: f64 = 2.0;
/// Send quanta that the window holds beyond the BDP (draft, section 4.2.3.2).
const QUANTA: f64 = 3.0;
/// DRAIN's longest time, whichever of the two is longer.
const DRAIN_MAX: (u64, Duration) = (3, Duration::from_millis(500));
/// The round trip that the first pacing rate assumes (draft, section 4.2.1.1: 1 ms).
const ASSUMED_RTT: Duration = Duration::from_millis(1);
/// The fractional part of the golden ratio: spreads the entries into PROBE_BW evenly.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Parameters of BBR.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Pacing and window gain of STARTUP, 1.1 to 10; DRAIN paces with its inverse.
    pub high_gain: f64,
    /// Window gain of PROBE_BW, 1 to 10.
    pub cwnd_gain: f64,
    /// Round trips over which the bandwidth is the maximum, 1 to 1000.
    pub bandwidth_window_rounds: u32,
    /// Seconds over which RTprop is the minimum and after which PROBE_RTT looks anew, 1 to 3600.
    pub rtprop_window_s: f64,
    /// How long PROBE_RTT holds the small window, milliseconds, 1 to 10000.
    pub probe_rtt_duration_ms: f64,
    /// By which share pacing stays below the estimated bandwidth, 0 to 0.5.
    pub pacing_margin: f64,
    /// First window in packets, 2 to 10000; 0 takes the transport's.
    pub initial_window_packets: f64,
    /// Whether the window from before a loss episode returns when all its losses turn out to be
    /// none, instead of when the episode ends.
    pub undo: bool,
}

impl Default for Config {
    /// The draft's constants; the margin of 1 % is that of the Linux implementation.
    fn default() -> Config {
        Config {
            high_gain: 2.0 / std::f64::consts::LN_2,
            cwnd_gain: 2.0,
            bandwidth_window_rounds: 10,
            rtprop_window_s: 10.0,
            probe_rtt_duration_ms: 200.0,
            pacing_margin: 0.01,
            initial_window_packets: 0.0,
            undo: true,
        }
    }
}

impl Config {
    fn validate(&self) -> Result<(), String> {
        check("high_gain", self.high_gain, 1.1..=10.0)?;
        check("cwnd_gain", self.cwnd_gain, 1.0..=10.0)?;
        let rounds = f64::from(self.bandwidth_window_rounds);
        check("bandwidth_window_rounds", rounds, 1.0..=1000.0)?;
        check("rtprop_window_s", self.rtprop_window_s, 1.0..=3600.0)?;
        check(
            "probe_rtt_duration_ms",
            self.probe_rtt_duration_ms,
            1.0..=10_000.0,
        )?;
        check("pacing_margin", self.pacing_margin, 0.0..=0.5)?;
        check_initial_window(self.initial_window_packets)
    }
}

/// What BBR is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    Startup,
    Drain {
        since: Instant,
        since_round: u64,
    },
    ProbeBw {
        phase: usize,
        since: Instant,
    },
    /// `hold` is set once few enough packets are outstanding.
    ProbeRtt {
        hold: Option<Hold>,
    },
}

/// PROBE_RTT's stay with few packets outstanding.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hold {
    until: Instant,
    /// A request with this or a later number left after the stay began.
    round_pn: u64,
    round_done: bool,
}

/// BBR version 1.
#[derive(Debug, Clone)]
pub struct Bbr {
    config: Config,
    setup: Setup,
    mode: Mode,
    model: PathModel,
    full_pipe: FullPipe,
    recovery: Recovery,
    undo: Option<Undo<()>>,
    cwnd: f64,
    pacing: Rate,
    /// Whether `pacing` was derived from a measured RTT.
    has_seen_rtt: bool,
    /// Bytes delivered since the start or the last restart.
    delivered: Bytes,
    /// Whether requests began again after a pause and nothing has arrived since.
    idle_restart: bool,
    /// Whether the transport said it was application-limited at the last arrival.
    was_app_limited: bool,
    /// Entries into PROBE_BW so far.
    entries: u32,
}

impl Bbr {
    /// BBR with `config`, or what is wrong with it.
    pub fn new(setup: &Setup, config: &Config) -> Result<Bbr, String> {
        config.validate()?;
        Ok(Bbr::start(setup, config))
    }

    /// BBR before the first request, with a valid `config`.
    fn start(setup: &Setup, config: &Config) -> Bbr {
        let mut bbr = Bbr {
            config: *config,
            setup: *setup,
            mode: Mode::Startup,
            model: PathModel::new(
                u64::from(config.bandwidth_window_rounds),
                Duration::from_secs_f64(config.rtprop_window_s),
            ),
            full_pipe: FullPipe::default(),
            recovery: Recovery::default(),
            undo: None,
            cwnd: 0.0,
            pacing: Rate::ZERO,
            has_seen_rtt: false,
            delivered: Bytes::ZERO,
            idle_restart: false,
            was_app_limited: false,
            entries: 0,
        };
        bbr.cwnd = bbr.initial_window();
        bbr.pacing = bbr.first_pacing(ASSUMED_RTT);
        bbr
    }

    fn initial_window(&self) -> f64 {
        self.setup
            .initial_window_or(self.config.initial_window_packets)
            .max(MIN_WINDOW)
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => self.config.high_gain,
            Mode::Drain { .. } => 1.0 / self.config.high_gain,
            Mode::ProbeBw { phase, .. } => CYCLE[phase % CYCLE.len()],
            Mode::ProbeRtt { .. } => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain { .. } => self.config.high_gain,
            Mode::ProbeBw { .. } => self.config.cwnd_gain,
            Mode::ProbeRtt { .. } => 1.0,
        }
    }

    /// The send quantum in packets (draft, section 4.2.2).
    fn quantum(&self) -> f64 {
        let mss = self.setup.mss.get().max(1) as f64;
        if self.pacing < Rate::from_mbps(1.2) {
            1.0
        } else if self.pacing < Rate::from_mbps(24.0) {
            2.0
        } else {
            let bytes = (self.pacing * Duration::from_millis(1)).get().min(64_000);
            (bytes as f64 / mss).max(2.0)
        }
    }

    /// `gain` times the bandwidth-delay product plus what the ends hold, in packets; the initial
    /// window as long as the path is unknown.
    fn inflight(&self, gain: f64) -> f64 {
        let Some(bdp) = self.model.bdp(self.setup.mss) else {
            return self.initial_window();
        };
        let probing = matches!(self.mode, Mode::ProbeBw { phase: 0, .. });
        gain * bdp + QUANTA * self.quantum() + if probing { PROBE_EXTRA } else { 0.0 }
    }

    fn packets(&self, bytes: Bytes) -> f64 {
        bytes.as_packets(self.setup.mss)
    }

    fn enter_probe_bw(&mut self, now: Instant) {
        let draw = (self.setup.draw + f64::from(self.entries) * GOLDEN).fract();
        let index = (draw * FIRST_PHASES.len() as f64) as usize;
        self.entries = self.entries.wrapping_add(1);
        let phase = FIRST_PHASES[index.min(FIRST_PHASES.len() - 1)];
        self.mode = Mode::ProbeBw { phase, since: now };
    }

    /// Moves on in PROBE_BW's cycle when the phase has done its work (draft, section 4.3.4.3).
    fn advance_cycle(&mut self, data: &Data) {
        let Mode::ProbeBw { phase, since } = self.mode else {
            return;
        };
        let Some(rtprop) = self.model.rtprop() else {
            return;
        };
        let elapsed = data.now - since > rtprop;
        let gain = CYCLE[phase % CYCLE.len()];
        let prior = self.packets(data.prior_in_flight);
        let done = if gain > 1.0 {
            elapsed && (self.recovery.lost_now() || prior >= self.inflight(gain))
        } else if gain < 1.0 {
            elapsed || prior <= self.inflight(1.0)
        } else {
            elapsed
        };
        if done {
            self.mode = Mode::ProbeBw {
                phase: (phase + 1) % CYCLE.len(),
                since: data.now,
            };
        }
    }

    /// STARTUP ends on a plateau of the bandwidth, DRAIN when the queue that it left is gone.
    fn leave_startup(&mut self, data: &Data) {
        if self.mode == Mode::Startup && self.full_pipe.reached() {
            self.mode = Mode::Drain {
                since: data.now,
                since_round: self.model.rounds(),
            };
        }
        if let Mode::Drain { since, since_round } = self.mode {
            let overdue = data.now - since >= DRAIN_MAX.1
                && self.model.rounds().saturating_sub(since_round) >= DRAIN_MAX.0;
            if overdue || self.packets(data.in_flight) <= self.inflight(1.0) {
                self.enter_probe_bw(data.now);
            }
        }
    }

    /// Updates RTprop and runs PROBE_RTT (draft, section 4.3.5).
    fn update_rtprop(&mut self, data: &Data) {
        let expired = self.model.update_rtprop(data.now, data.rtt);
        if expired && !self.idle_restart && !matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.save_cwnd();
            // With so few requests the samples say nothing about the bandwidth.
            self.model.set_limited_below(u64::MAX);
            self.mode = Mode::ProbeRtt { hold: None };
        }
        let Mode::ProbeRtt { hold } = &mut self.mode else {
            return;
        };
        match hold {
            None => {
                if data.in_flight.as_packets(self.setup.mss) <= MIN_WINDOW {
                    let time = Duration::from_secs_f64(self.config.probe_rtt_duration_ms / 1e3);
                    *hold = Some(Hold {
                        until: data.now + time,
                        round_pn: data.next_pn,
                        round_done: false,
                    });
                }
            }
            Some(stay) => {
                stay.round_done |= data.pn >= stay.round_pn;
                if stay.round_done && data.now >= stay.until {
                    self.leave_probe_rtt(data.now, data.next_pn);
                }
            }
        }
    }

    fn leave_probe_rtt(&mut self, now: Instant, next_pn: u64) {
        self.model.set_limited_below(next_pn);
        self.model.refresh_rtprop(now);
        self.cwnd = self.cwnd.max(self.recovery.prior_cwnd());
        if self.full_pipe.reached() {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// Remembers the window that recovery and PROBE_RTT return to.
    fn save_cwnd(&mut self) {
        let small = matches!(self.mode, Mode::ProbeRtt { .. });
        self.recovery.save(self.cwnd, small);
    }

    /// A reduction that may have to be taken back, for the oldest of `units`; not a timeout's in the
    /// middle of an episode.
    fn note_reduction(&mut self, units: &[LostUnit], next_pn: u64) {
        let first_pn = units.first().map_or(next_pn, |u| u.pn);
        self.undo = (self.config.undo && !self.recovery.is_active())
            .then(|| Undo::new((), first_pn, u64::MAX));
    }

    fn note_missing(&mut self, units: &[LostUnit]) {
        if let Some(undo) = &mut self.undo {
            undo.on_loss(units);
        }
    }

    fn first_pacing(&self, rtt: Duration) -> Rate {
        let pps = self.config.high_gain * self.initial_window() / rtt.as_secs_f64().max(1e-9);
        self.bounded(Rate::from_packets_per_sec(pps, self.setup.mss))
    }

    /// A pacing rate that always moves something, and finite.
    fn bounded(&self, rate: Rate) -> Rate {
        rate.clamp(
            Rate::from_packets_per_sec(1.0, self.setup.mss),
            super::MAX_PACING,
        )
    }

    fn paced_at(&self, gain: f64) -> Option<Rate> {
        let bandwidth = self.model.bandwidth()?;
        Some(self.bounded(bandwidth.mul_f64(gain * (1.0 - self.config.pacing_margin))))
    }

    fn set_pacing(&mut self, data: &Data) {
        if let Some(rtt) = data.rtt
            && !self.has_seen_rtt
        {
            self.has_seen_rtt = true;
            self.pacing = self.first_pacing(rtt);
        }
        if let Some(rate) = self.paced_at(self.pacing_gain())
            && (self.full_pipe.reached() || rate > self.pacing)
        {
            self.pacing = rate;
        }
    }

    fn set_cwnd(&mut self, data: &Data) {
        let acked = self.packets(data.bytes);
        if self.recovery.ends_with(data.pn) {
            self.undo = None;
            self.cwnd = self.cwnd.max(self.recovery.prior_cwnd());
        }
        if self.recovery.conserves_packets() {
            self.cwnd = self.cwnd.max(self.packets(data.in_flight) + acked);
        } else {
            let target = self.inflight(self.cwnd_gain());
            if self.full_pipe.reached() {
                self.cwnd = (self.cwnd + acked).min(target);
            } else if self.cwnd < target || self.packets(self.delivered) < self.initial_window() {
                self.cwnd += acked;
            }
        }
        self.cwnd = self.cwnd.clamp(MIN_WINDOW, MAX_WINDOW);
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.cwnd = MIN_WINDOW;
        }
    }
}

impl Controller for Bbr {
    fn on_sent(&mut self, sent: &Sent) {
        let limited = sent.app_limited || self.was_app_limited;
        if sent.prior_in_flight.is_zero() && limited && !self.delivered.is_zero() {
            self.idle_restart = true;
            if matches!(self.mode, Mode::ProbeBw { .. })
                && let Some(rate) = self.paced_at(1.0)
            {
                self.pacing = rate;
            }
        }
    }

    fn on_data(&mut self, data: &Data) {
        self.delivered += data.bytes;
        self.was_app_limited = data.app_limited;
        let round_ended = self.model.update_bandwidth(data);
        self.advance_cycle(data);
        if round_ended {
            self.full_pipe.on_round(self.model.bandwidth());
        }
        self.leave_startup(data);
        self.update_rtprop(data);
        self.idle_restart = false;
        self.set_pacing(data);
        self.set_cwnd(data);
        self.recovery.end_event();
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if self.recovery.note_loss(loss.largest_pn(), loss.next_pn) {
            self.save_cwnd();
            self.note_reduction(loss.units, loss.next_pn);
            self.recovery.begin(loss.next_pn, true);
            let conserved =
                self.packets(loss.in_flight) + self.packets(loss.newly_delivered).max(1.0);
            self.cwnd = self.cwnd.min(conserved).max(MIN_WINDOW);
        } else {
            self.cwnd = (self.cwnd - self.packets(loss.bytes())).max(MIN_WINDOW);
        }
        self.note_missing(loss.units);
    }

    fn on_timeout(&mut self, timeout: &Timeout<'_>) {
        self.save_cwnd();
        self.note_reduction(timeout.units, timeout.next_pn);
        self.note_missing(timeout.units);
        self.recovery.begin(timeout.next_pn, false);
        self.full_pipe.forget_level();
        let conserved = self.packets(timeout.in_flight) + 1.0;
        self.cwnd = self.cwnd.min(conserved).max(MIN_WINDOW);
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        let needless = Undo::on_spurious_loss(&mut self.undo, spurious.pn).is_some();
        if needless && self.recovery.cancel() && !matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.cwnd = self.cwnd.max(self.recovery.prior_cwnd());
        }
    }

    fn on_restart(&mut self, _restart: &Restart) {
        *self = Bbr {
            entries: self.entries,
            ..Bbr::start(&self.setup, &self.config)
        };
    }

    fn allowance(&self) -> Allowance {
        Allowance {
            window: Bytes::from_packets(self.cwnd, self.setup.mss),
            pacing: Some(self.pacing),
        }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: match self.mode {
                Mode::Startup => Phase::Startup,
                Mode::Drain { .. } => Phase::Drain,
                Mode::ProbeBw { .. } => Phase::ProbeBw,
                Mode::ProbeRtt { .. } => Phase::ProbeRtt,
            },
            bandwidth: self.model.bandwidth(),
            min_rtt: self.model.rtprop(),
            pacing_gain: Some(self.pacing_gain()),
            ..Snapshot::default()
        }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod closed_loop;
#[cfg(test)]
mod tests;
