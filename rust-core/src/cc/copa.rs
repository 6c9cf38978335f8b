//! Copa: the window follows the target rate `1 / (delta * d_q)`, where `d_q` is the queueing delay.
//!
//! Source: Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the
//! Internet", NSDI 2018, section 2, as told by the Copa-ICN paper, section 4.2.1, equations (1)-(3).
//! On every arrival:
//!
//! 1. `d_q = RTTstanding - RTTmin`: minimum over SRTT/2 minus minimum over 10 s.
//! 2. The target is `1 / (delta * d_q)` packets/s (without limit if `d_q` is zero), the present
//!    rate `cwnd / RTTstanding`.
//! 3. The window moves towards the target by `v / (delta * cwnd)` per packet, in slow start by one
//!    packet per packet; slow start ends for good when the target first falls below the rate. The
//!    `velocity` module holds this part and its choices.
//! 4. Requests are paced at `2 * cwnd / RTTstanding`. Before the first RTT sample there is no
//!    pacing: nothing is known to pace by, and the initial window is ten packets.
//!
//! Equilibrium of N flows at a bottleneck of rate mu: `d_q = sum(1/delta_i) / mu`; the queue swings
//! between 0 and about 2.5 packets per `1/delta` with a period of five round trips.
//!
//! Losses do not move the window (default mode). After a timeout the window is 2 packets, slow
//! start is over, the velocity 1; the delay filters are kept. The TCP-competitive mode (section
//! 2.2 there) is not part of this controller yet: `delta` is what the parameters say.

use super::loss_brake::{self, LossBrake};
use super::range::check;
use super::standing::StandingDelay;
use super::velocity::{MAX_WINDOW, MIN_WINDOW, Move, VelocityWindow};
use super::{
    Allowance, Controller, Data, Loss, MAX_PACING, Phase, Restart, Setup, Snapshot, Timeout,
};
use crate::feedback::RecoveryGuard;
use crate::units::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of Copa.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How much delay weighs against rate, 1/packets: 1/delta packets queue on average (times
    /// 1.25). 0.001 to 10.
    pub delta: f64,
    /// First window in packets, 2 to 10000; 0 takes the transport's.
    pub initial_window_packets: f64,
    /// Over how many seconds RTTmin is the minimum, 1 to 3600.
    pub min_rtt_window_s: f64,
    /// Whether the window shrinks by 0.7 when more than 30 % of all packets are lost over two
    /// round trips. The papers have no such rule.
    pub loss_brake: bool,
}

impl Default for Config {
    /// The Copa-ICN paper, section 4.2.1: delta 0.5, RTTmin "within 10 s".
    fn default() -> Config {
        Config {
            delta: 0.5,
            initial_window_packets: 0.0,
            min_rtt_window_s: 10.0,
            loss_brake: false,
        }
    }
}

impl Config {
    fn validate(&self) -> Result<(), String> {
        check("delta", self.delta, 0.001..=10.0)?;
        check_initial_window(self.initial_window_packets)?;
        check("min_rtt_window_s", self.min_rtt_window_s, 1.0..=3600.0)
    }
}

/// Zero (the transport's) or a possible window.
pub(super) fn check_initial_window(packets: f64) -> Result<(), String> {
    if packets == 0.0 {
        return Ok(());
    }
    check("initial_window_packets", packets, MIN_WINDOW..=10_000.0)
}

/// The first window: the parameter's or else the transport's.
pub(super) fn initial_window(setup: &Setup, packets: f64) -> f64 {
    if packets == 0.0 {
        setup.initial_window
    } else {
        packets
    }
}

/// Copa.
#[derive(Debug, Clone)]
pub struct Copa {
    config: Config,
    setup: Setup,
    /// The delta in force. The parameter's in default mode; the competitive mode will move it.
    delta: f64,
    window: VelocityWindow,
    rtt: StandingDelay<Duration>,
    brake: Option<LossBrake>,
    timeouts: RecoveryGuard,
}

impl Copa {
    /// Copa with `config`, or what is wrong with it.
    pub fn new(setup: &Setup, config: &Config) -> Result<Copa, String> {
        config.validate()?;
        Ok(Copa {
            config: *config,
            setup: *setup,
            delta: config.delta,
            window: VelocityWindow::new(initial_window(setup, config.initial_window_packets)),
            rtt: StandingDelay::new(Duration::from_secs_f64(config.min_rtt_window_s)),
            brake: config.loss_brake.then(LossBrake::default),
            timeouts: RecoveryGuard::default(),
        })
    }

    /// d_q = RTTstanding - RTTmin (equation (1)), none before the first sample.
    fn queue_delay(&self) -> Option<Duration> {
        Some(self.rtt.standing()?.saturating_sub(self.rtt.base()?))
    }
}

/// Whether the rate of `cwnd` packets per `standing_rtt` is not above the target
/// `1 / (delta * queue_delay)` (equations (2) and (3)).
pub(super) fn is_below_target(
    cwnd: f64,
    standing_rtt: Duration,
    delta: f64,
    queue_delay: Duration,
) -> bool {
    // Both sides multiplied by delta * d_q * RTTstanding: nothing is divided, zero needs no case.
    standing_rtt.as_secs_f64() >= delta * queue_delay.as_secs_f64() * cwnd
}

/// Copa's allowance: `cwnd`, paced at twice `cwnd / RTTstanding` once that is known.
pub(super) fn allowance(cwnd: f64, standing_rtt: Option<Duration>, mss: Bytes) -> Allowance {
    let cwnd = cwnd.clamp(MIN_WINDOW, MAX_WINDOW);
    let pacing = standing_rtt.map(|rtt| {
        let packets_per_sec = 2.0 * cwnd / rtt.as_secs_f64().max(1e-9);
        Rate::from_packets_per_sec(packets_per_sec, mss).clamp(Rate::from_bps(1), MAX_PACING)
    });
    Allowance {
        window: Bytes::from_packets(cwnd, mss),
        pacing,
    }
}

impl Controller for Copa {
    fn on_data(&mut self, data: &Data) {
        let packets = data.bytes.as_packets(self.setup.mss);
        if let Some(rtt) = data.rtt {
            self.rtt.insert(data.now, rtt);
        }
        self.rtt.advance(data.now, data.srtt);
        if let Some(brake) = &mut self.brake
            && brake.on_data(data.now, data.pn, data.next_pn, packets, data.srtt)
        {
            self.window.scale(loss_brake::FACTOR);
        }
        if data.app_limited {
            self.window.on_app_limited(data.now);
            return;
        }
        let increase = match (self.rtt.standing(), self.queue_delay()) {
            (Some(rtt), Some(queue)) => is_below_target(self.window.cwnd(), rtt, self.delta, queue),
            _ if self.window.in_slow_start() => true,
            // Cut before anything was measured: there is nothing to go by yet.
            _ => return,
        };
        self.window.on_packets(&Move {
            now: data.now,
            srtt: data.srtt,
            packets,
            delta: self.delta,
            increase,
        });
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if let Some(brake) = &mut self.brake {
            for unit in loss.units {
                brake.on_loss(unit.pn, unit.bytes.as_packets(self.setup.mss));
            }
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout<'_>) {
        if timeout
            .units
            .iter()
            .any(|u| self.timeouts.is_new_episode(u.pn))
        {
            self.timeouts.begin(timeout.next_pn);
            self.window.on_timeout();
        }
    }

    fn on_restart(&mut self, _restart: &Restart) {
        self.window = VelocityWindow::new(initial_window(
            &self.setup,
            self.config.initial_window_packets,
        ));
        self.rtt.clear();
        self.brake = self.config.loss_brake.then(LossBrake::default);
        self.delta = self.config.delta;
    }

    fn allowance(&self) -> Allowance {
        allowance(self.window.cwnd(), self.rtt.standing(), self.setup.mss)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: phase(&self.window),
            delta: Some(self.delta),
            velocity: Some(self.window.velocity()),
            queue_delay: self.queue_delay(),
            min_rtt: self.rtt.base(),
            ..Snapshot::default()
        }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// The phase in default mode.
pub(super) fn phase(window: &VelocityWindow) -> Phase {
    if window.in_slow_start() {
        Phase::SlowStart
    } else {
        Phase::CongestionAvoidance
    }
}

#[cfg(test)]
mod tests;
