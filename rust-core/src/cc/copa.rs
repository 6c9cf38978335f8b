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
//! Losses do not move the window in the default mode. After a timeout the window is 2 packets, slow
//! start is over, the velocity 1; the delay filters are kept. `mode: auto` adds the TCP-competitive
//! mode (section 2.2 there, the `competition` module), in which `1/delta` grows by one per round trip
//! and is halved by losses.
//!
//! The public implementations, mvfst and genericCC, differ from that in what d_q is taken from, in
//! slow start and in the velocity. Every difference is a parameter, [`Variant`] a set of them. Not
//! taken over: mvfst's approximate filters and whole bytes, genericCC's loss detection without
//! tolerance of reordering, the random part of its pacing, and both's ignorance of
//! application-limited phases.

mod parameters;

pub use parameters::{Config, PacingRtt, QueueDelay, SlowStart, StandingWindow, Variant, Velocity};

pub use super::competition::{Detector, Mode};

use super::competition::{Competition, Delays};
use super::copa_window::{CopaWindow, How};
use super::standing::StandingDelay;
use super::{Allowance, Controller, Data, Loss, Restart, Sent, Setup, Snapshot, Timeout};
use crate::filter::Ewma;
use crate::units::Duration;
use parameters::Choices;

/// Copa.
#[derive(Debug, Clone)]
pub struct Copa {
    config: Config,
    choices: Choices,
    /// The delta in force: the parameter's, or less in the competitive mode.
    delta: f64,
    window: CopaWindow,
    path: Path,
    competition: Option<Competition>,
}

/// What is known of the path; a restart forgets it.
#[derive(Debug, Clone)]
struct Path {
    rtt: StandingDelay<Duration>,
    latest: Option<Duration>,
    srtt: Option<Duration>,
    /// The SRTT with a gain of its own, in seconds.
    own_srtt: Option<Ewma>,
}

impl Path {
    fn new(config: &Config, choices: &Choices) -> Path {
        Path {
            rtt: StandingDelay::new(Duration::from_secs_f64(config.min_rtt_window_s)),
            latest: None,
            srtt: None,
            own_srtt: choices.srtt_gain.map(Ewma::new),
        }
    }

    fn on_data(&mut self, data: &Data, config: &Config, choices: &Choices) {
        self.srtt = match (&mut self.own_srtt, data.rtt) {
            (None, _) => data.srtt,
            (Some(own), Some(rtt)) => Some(Duration::from_secs_f64(own.update(rtt.as_secs_f64()))),
            (Some(_), None) => self.srtt,
        };
        if let Some(rtt) = data.rtt {
            self.latest = Some(rtt);
            self.rtt.insert(data.now, rtt);
        }
        if choices.min_rtt_window_rtts > 0.0
            && let Some(min) = self.rtt.base()
        {
            let seconds = Duration::from_secs_f64(config.min_rtt_window_s);
            self.rtt
                .set_base_window(seconds.max(min.mul_f64(choices.min_rtt_window_rtts)));
        }
        let part = if choices.whole_srtt { 1 } else { 2 };
        self.rtt
            .advance(data.now, self.srtt.map(|srtt| srtt / part));
    }

    /// d_q, none before the first sample.
    fn queue_delay(&self, choices: &Choices) -> Option<Duration> {
        let now = if choices.latest_rtt {
            self.latest?
        } else {
            self.rtt.standing()?
        };
        Some(now.saturating_sub(self.rtt.base()?))
    }

    fn delays(&self, data: &Data, cwnd: f64) -> Option<Delays> {
        let nanos = |d: Duration| i64::try_from(d.as_nanos()).unwrap_or(i64::MAX);
        Some(Delays {
            sample: data.rtt.map(nanos),
            standing: nanos(self.rtt.standing()?),
            base: nanos(self.rtt.base()?),
            packet: self.rtt.standing()?.mul_f64(1.0 / cwnd),
        })
    }
}

impl Copa {
    /// Copa with `config`, or what is wrong with it.
    pub fn new(setup: &Setup, config: &Config) -> Result<Copa, String> {
        config.validate()?;
        let choices = config.choices();
        Ok(Copa {
            config: *config,
            choices,
            delta: config.delta,
            window: CopaWindow::new(
                setup,
                config.initial_window_packets,
                choices.loss_brake,
                choices.rules,
            ),
            path: Path::new(config, &choices),
            competition: Competition::new(config.mode, config.detector),
        })
    }

    fn queue_delay(&self) -> Option<Duration> {
        self.path.queue_delay(&self.choices)
    }
}

impl Controller for Copa {
    fn on_sent(&mut self, sent: &Sent) {
        if let Some(competition) = &mut self.competition
            && sent.prior_in_flight.is_zero()
        {
            competition.on_idle_restart(sent.now);
        }
    }

    fn on_data(&mut self, data: &Data) {
        self.path.on_data(data, &self.config, &self.choices);
        if let Some(competition) = &mut self.competition
            && !self.window.in_slow_start()
            && let (Some(srtt), Some(delays)) =
                (self.path.srtt, self.path.delays(data, self.window.cwnd()))
        {
            competition.on_data(data.now, srtt, &delays, self.config.delta);
            self.delta = competition.delta(self.config.delta);
        }
        if !self.window.admit(data) {
            if let Some(competition) = &mut self.competition {
                competition.on_app_limited(data.now);
            }
            return;
        }
        let measured = self.path.rtt.standing().zip(self.queue_delay());
        let aim = measured.map(|(rtt, queue)| self.window.compare(rtt, self.delta, queue));
        let how = How {
            delta: self.delta,
            srtt: self.path.srtt,
            latest_rtt: self.path.latest,
            increase_at_target: self.choices.increase_at_target,
        };
        let moved = self.window.step(data, &how, aim);
        if let Some(competition) = &mut self.competition
            && !self.window.in_slow_start()
            && moved
            && let Some(srtt) = self.path.srtt
        {
            competition.on_step(data.now, srtt, self.window.cwnd());
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.window.on_loss(loss);
        if let Some(competition) = &mut self.competition {
            competition.on_loss(loss.now, loss.largest_pn(), loss.next_pn);
            self.delta = competition.delta(self.config.delta);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout<'_>) {
        self.window.on_timeout(timeout);
        if let Some(competition) = &mut self.competition {
            competition.on_loss(timeout.now, timeout.largest_pn(), timeout.next_pn);
            self.delta = competition.delta(self.config.delta);
        }
    }

    fn on_restart(&mut self, _restart: &Restart) {
        self.window.restart();
        self.path = Path::new(&self.config, &self.choices);
        self.delta = self.config.delta;
        if let Some(competition) = &mut self.competition {
            competition.restart();
        }
    }

    fn allowance(&self) -> Allowance {
        self.window.allowance(if self.choices.pacing_by_srtt {
            self.path.srtt
        } else {
            self.path.rtt.standing()
        })
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.window.phase(self.competition.as_ref()),
            delta: Some(self.delta),
            velocity: Some(self.window.velocity()),
            queue_delay: self.queue_delay(),
            min_rtt: self.path.rtt.base(),
            ..Snapshot::default()
        }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests;
