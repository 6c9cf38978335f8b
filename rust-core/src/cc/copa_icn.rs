//! Copa-ICN: Copa with the one-way queueing delay of DATA, priority probes and a delta that follows
//! the rate.
//!
//! Source: "Copa-ICN: Improving Copa as a Congestion Control Algorithm in Information-Centric
//! Networking", section 4.2. It differs from Copa (see that module) in three points:
//!
//! 1. Queueing delay (section 4.2.2, equations (4)-(6)): `T_q = Tdat_standing - Tdat_min`, where
//!    `Tdat` is a DATA unit's arrival time minus the replica's timestamp. The clocks' offset
//!    cancels; a queue on the way of the requests does not lower the target. The present rate
//!    stays `cwnd / RTTstanding`.
//! 2. Priority probes (section 4.2.3): the first two requests of a transfer, and of each restart,
//!    are flagged; their DATA overtakes queues and so measures the path without a queue.
//! 3. Delta (section 4.2.4, equation (7)): `min(0.5, a * rate^2 + b)` with the rate in Mbps,
//!    evaluated on every DATA. A slow flow is the more aggressive one, which speeds convergence up.
//!
//! The paper's Algorithms 1 and 2 follow from its text and Copa's; what the text leaves open is a
//! parameter of [`Config`], with the default that is closest to its wording:
//!
//! - The rate in equation (7) is that of equation (3) ([`RateSource::Window`]) and counts packets
//!   with all headers ([`RateSize::Packet`]): Table 1 speaks of MTU-sized packets.
//! - A probe's sample enters `Tdat_min` but neither standing minimum, for it did not queue; else
//!   `T_q` would be zero for SRTT/2 after it (`probe_in_standing`).
//! - `Tdat_min` is "within 10 s", so that a probe is forgotten after 10 s ([`ProbeMemory::Paper`]).
//!
//! Until DATA that can queue has been measured, the window grows by one packet per packet. Where
//! DATA carries no timestamps at all, the RTT stands in for `Tdat` and the second and third point
//! remain. Losses, timeouts and application-limited rounds are treated as in Copa.
//!
//! `mode: auto` adds Copa's TCP-competitive mode, which the paper's Copa-ICN does not have. It looks
//! at T_q instead of d_q. Delta is then `min(delta(rate), 1/x)`: equation (7) is the ceiling, as the
//! constant is in Copa; x starts at `1/delta(rate)`, grows by one per round trip, is halved by losses
//! and never falls below `1/delta(rate)`.

mod parameters;

pub use parameters::{Config, Delta, DeltaUpdate, ProbeMemory, QueueDelay, RateSize, RateSource};

use super::competition::{Competition, Delays};
use super::copa_window::{CopaWindow, How};
use super::standing::StandingDelay;
use super::velocity::Rules;
use super::{Allowance, Controller, Data, Loss, Restart, Sent, Setup, Snapshot, Timeout};
use crate::units::{Bytes, Duration, Instant, OneWay};

/// What is known about the path; a restart forgets it.
#[derive(Debug, Clone)]
struct Path {
    rtt: StandingDelay<Duration>,
    one_way: StandingDelay<OneWay>,
    /// The smallest probe sample ([`ProbeMemory::Keep`]).
    probe_min: Option<OneWay>,
    /// Whether DATA carries timestamps.
    stamped: bool,
    /// The last delivery-rate sample, packets/s of payload.
    delivered_pps: Option<f64>,
    /// The present arrival's sample of a delay that can queue, if it gave one.
    sample: Option<OneWay>,
    probes_left: u32,
    last_probe: Option<Instant>,
}

impl Path {
    fn new(config: &Config) -> Path {
        let window = Duration::from_secs_f64(config.min_delay_window_s);
        Path {
            rtt: StandingDelay::new(window),
            one_way: StandingDelay::new(window),
            probe_min: None,
            stamped: false,
            delivered_pps: None,
            sample: None,
            probes_left: config.probes,
            last_probe: None,
        }
    }

    /// Takes in one arrival's samples.
    fn on_data(&mut self, data: &Data, config: &Config, mss: Bytes) {
        let queued = !data.probe || config.probe_in_standing;
        if let Some(rtt) = data.rtt {
            if queued {
                self.rtt.insert(data.now, rtt);
            } else {
                self.rtt.insert_base(data.now, rtt);
            }
        }
        let sample = self.delay_sample(data, config.queue_delay);
        self.sample = sample.filter(|_| queued);
        if let Some(sample) = sample {
            if queued {
                self.one_way.insert(data.now, sample);
            } else {
                self.one_way.insert_base(data.now, sample);
            }
            if data.probe {
                self.probe_min = Some(self.probe_min.map_or(sample, |min| min.min(sample)));
            }
        }
        let standing = data.srtt.map(|srtt| srtt / 2);
        self.rtt.advance(data.now, standing);
        self.one_way.advance(data.now, standing);
        if let Some(sample) = data.rate.filter(|r| !r.app_limited) {
            self.delivered_pps = Some(sample.rate.as_packets_per_sec(mss));
        }
    }

    /// Tdat; the RTT if that is wanted, or as long as no DATA carried a timestamp.
    fn delay_sample(&mut self, data: &Data, wanted: QueueDelay) -> Option<OneWay> {
        if data.one_way.is_some() && wanted == QueueDelay::OneWay {
            if !self.stamped {
                self.stamped = true;
                self.one_way.clear();
                self.probe_min = None;
            }
            return data.one_way;
        }
        let rtt = data.rtt.filter(|_| !self.stamped)?;
        Some(OneWay::from_nanos(
            i64::try_from(rtt.as_nanos()).unwrap_or(i64::MAX),
        ))
    }

    /// Tdat_min.
    fn base(&self, memory: ProbeMemory) -> Option<OneWay> {
        let base = self.one_way.base()?;
        let probe = self.probe_min.filter(|_| memory == ProbeMemory::Keep);
        Some(probe.map_or(base, |probe| base.min(probe)))
    }

    /// T_q (equation (5)); none before DATA that can queue was measured.
    fn queue_delay(&self, memory: ProbeMemory) -> Option<Duration> {
        let base = self.base(memory)?;
        Some(self.one_way.standing()?.saturating_above(base))
    }

    /// The same for the detector of buffer-filling flows.
    fn delays(&self, memory: ProbeMemory, cwnd: f64) -> Option<Delays> {
        Some(Delays {
            sample: self.sample.map(OneWay::as_nanos),
            standing: self.one_way.standing()?.as_nanos(),
            base: self.base(memory)?.as_nanos(),
            packet: self.rtt.standing()?.mul_f64(1.0 / cwnd),
        })
    }
}

/// Copa-ICN.
#[derive(Debug, Clone)]
pub struct CopaIcn {
    config: Config,
    setup: Setup,
    /// The delta in force.
    delta: f64,
    /// Equation (7)'s delta (or the constant), which the competitive mode lowers.
    ceiling: f64,
    window: CopaWindow,
    path: Path,
    competition: Option<Competition>,
}

impl CopaIcn {
    /// Copa-ICN with `config`, or what is wrong with it.
    pub fn new(setup: &Setup, config: &Config) -> Result<CopaIcn, String> {
        config.validate()?;
        Ok(CopaIcn {
            config: *config,
            setup: *setup,
            delta: config.delta_at(0.0),
            ceiling: config.delta_at(0.0),
            window: CopaWindow::new(
                setup,
                config.initial_window_packets,
                config.loss_brake,
                Rules::default(),
            ),
            path: Path::new(config),
            competition: Competition::new(config.mode, config.detector),
        })
    }

    /// Delta follows its ceiling, or stays below it in the competitive mode.
    fn apply_ceiling(&mut self) {
        self.delta = match &mut self.competition {
            Some(competition) => competition.delta(self.ceiling),
            None => self.ceiling,
        };
    }

    /// The rate of equation (7) in Mbps, given RTTstanding.
    fn rate_mbps(&self, standing_rtt: Duration) -> f64 {
        let window_pps = self.window.cwnd() / standing_rtt.as_secs_f64().max(1e-9);
        let pps = match self.config.rate_source {
            RateSource::Window => window_pps,
            RateSource::Delivered => self.path.delivered_pps.unwrap_or(window_pps),
        };
        let bytes = match self.config.rate_size {
            RateSize::Packet => self.setup.packet_size,
            RateSize::Payload => self.setup.mss,
        };
        pps * bytes.get() as f64 * 8.0 / 1e6
    }
}

impl Controller for CopaIcn {
    fn on_sent(&mut self, sent: &Sent) {
        if let Some(competition) = &mut self.competition
            && sent.prior_in_flight.is_zero()
        {
            competition.on_idle_restart(sent.now);
        }
        if sent.probe {
            self.path.probes_left = self.path.probes_left.saturating_sub(1);
            self.path.last_probe = Some(sent.now);
        }
    }

    fn on_data(&mut self, data: &Data) {
        self.path.on_data(data, &self.config, self.setup.mss);
        let memory = self.config.probe_memory;
        if let Some(competition) = &mut self.competition
            && !self.window.in_slow_start()
            && let (Some(srtt), Some(delays)) =
                (data.srtt, self.path.delays(memory, self.window.cwnd()))
        {
            competition.on_data(data.now, srtt, &delays, self.ceiling);
        }
        if !self.window.admit(data) {
            if let Some(competition) = &mut self.competition {
                competition.on_app_limited(data.now);
            }
            return;
        }
        let measured = self.path.rtt.standing().zip(self.path.queue_delay(memory));
        let aim = measured.map(|(rtt, queue)| {
            if self.config.delta_update == DeltaUpdate::EveryData || data.round_start {
                self.ceiling = self.config.delta_at(self.rate_mbps(rtt));
            }
            self.apply_ceiling();
            self.window.compare(rtt, self.delta, queue)
        });
        let how = How {
            delta: self.delta,
            srtt: data.srtt,
            latest_rtt: data.rtt,
            increase_at_target: true,
        };
        let moved = self.window.step(data, &how, aim);
        if let Some(competition) = &mut self.competition
            && !self.window.in_slow_start()
            && moved
            && let Some(srtt) = data.srtt
        {
            competition.on_step(data.now, srtt, self.window.cwnd());
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.window.on_loss(loss);
        if let Some(competition) = &mut self.competition {
            competition.on_loss(loss.now, loss.largest_pn(), loss.next_pn);
            self.apply_ceiling();
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout<'_>) {
        self.window.on_timeout(timeout);
        if let Some(competition) = &mut self.competition {
            competition.on_loss(timeout.now, timeout.largest_pn(), timeout.next_pn);
            self.apply_ceiling();
        }
    }

    fn on_restart(&mut self, _restart: &Restart) {
        self.window.restart();
        self.path = Path::new(&self.config);
        self.ceiling = self.config.delta_at(0.0);
        self.delta = self.ceiling;
        if let Some(competition) = &mut self.competition {
            competition.restart();
        }
    }

    fn wants_probe(&self, now: Instant) -> bool {
        let due =
            |last: Instant| now - last >= Duration::from_secs_f64(self.config.reprobe_interval_s);
        self.path.probes_left > 0
            || self.config.probe_memory == ProbeMemory::Reprobe
                && self.path.last_probe.is_none_or(due)
    }

    fn allowance(&self) -> Allowance {
        self.window.allowance(self.path.rtt.standing())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.window.phase(self.competition.as_ref()),
            delta: Some(self.delta),
            velocity: Some(self.window.velocity()),
            queue_delay: self.path.queue_delay(self.config.probe_memory),
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
