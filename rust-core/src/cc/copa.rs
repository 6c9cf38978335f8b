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

use super::copa_window::CopaWindow;
use super::range::{check, check_initial_window};
use super::standing::StandingDelay;
use super::{Allowance, Controller, Data, Loss, Restart, Setup, Snapshot, Timeout};
use crate::units::Duration;
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

/// Copa.
#[derive(Debug, Clone)]
pub struct Copa {
    config: Config,
    /// The delta in force. The parameter's in default mode; the competitive mode will move it.
    delta: f64,
    window: CopaWindow,
    rtt: StandingDelay<Duration>,
}

impl Copa {
    /// Copa with `config`, or what is wrong with it.
    pub fn new(setup: &Setup, config: &Config) -> Result<Copa, String> {
        config.validate()?;
        Ok(Copa {
            config: *config,
            delta: config.delta,
            window: CopaWindow::new(setup, config.initial_window_packets, config.loss_brake),
            rtt: StandingDelay::new(Duration::from_secs_f64(config.min_rtt_window_s)),
        })
    }

    /// d_q = RTTstanding - RTTmin (equation (1)), none before the first sample.
    fn queue_delay(&self) -> Option<Duration> {
        Some(self.rtt.standing()?.saturating_sub(self.rtt.base()?))
    }
}

impl Controller for Copa {
    fn on_data(&mut self, data: &Data) {
        if let Some(rtt) = data.rtt {
            self.rtt.insert(data.now, rtt);
        }
        self.rtt.advance(data.now, data.srtt);
        if self.window.admit(data) {
            let measured = self.rtt.standing().zip(self.queue_delay());
            let increase =
                measured.map(|(rtt, queue)| self.window.is_below_target(rtt, self.delta, queue));
            self.window.step(data, self.delta, increase);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.window.on_loss(loss);
    }

    fn on_timeout(&mut self, timeout: &Timeout<'_>) {
        self.window.on_timeout(timeout);
    }

    fn on_restart(&mut self, _restart: &Restart) {
        self.window.restart();
        self.rtt.clear();
        self.delta = self.config.delta;
    }

    fn allowance(&self) -> Allowance {
        self.window.allowance(self.rtt.standing())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.window.phase(),
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

#[cfg(test)]
mod tests;
