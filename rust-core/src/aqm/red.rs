//! Random early detection, with the steps of ns-3's `RedQueueDisc` (3.37 to 3.44).
//!
//! An arriving packet moves an exponentially weighted average of the queue length. Between the
//! thresholds it is dropped (or marked) with a probability that grows with the average and with
//! the packets since the last drop; above the upper threshold always, or with `gentle` from twice
//! that. Sources: Floyd and Jacobson 1993; gentle: Floyd 2000; adaptive: Floyd, Gummadi and Shenker
//! 2001, and Feng et al. 1999.
//!
//! What the queue disc of ns-3 does beside or instead of the 1993 paper, and this with it:
//!
//! - Nothing is dropped while at most one packet (byte) waits.
//! - The first packet that finds the average above the lower threshold goes, without a draw, and the
//!   count starts with it at 1.
//! - With `wait` (its default), drops are at least 1/p packets apart: p / (2 - count p) from there on,
//!   in place of p / (1 - count p).
//! - The average decays over idle time by the packets that the link could have sent, counted from
//!   the moment the link asked and nothing was there.
//! - Adapting the maximum probability leaves the slope of `gentle` as it was at the start.
//! - An arrival that is marked can still find the queue full and be dropped. ns-3 then counts both; here
//!   the verdict is the drop alone.
//!
//! Its experimental options (nonlinear, cautious, the count of ns-1) are left out.

mod adapt;

use super::drop_tail::admission;
use super::{
    Aqm, Decision, DropReason, Limit, MarkField, MarkReason, Marks, Packet, Queue, Setup, Verdict,
};
use crate::cc::range::check;
use crate::units::{Bytes, Instant};
pub use adapt::Adaptation;
use adapt::MaxP;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the thresholds are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdUnit {
    /// Packets (of the mean size, if the limit is in bytes).
    Packets,
    /// Bytes (packets of the mean size, if the limit is in packets).
    Bytes,
    /// Percent of the queue's limit.
    Percent,
}

/// Parameters of RED. The defaults are those of ns-3.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Average queue from which packets are dropped by chance; both thresholds 0: set from the
    /// link rate and the target delay.
    pub min_threshold: f64,
    /// Average queue at which the probability is `max_p`.
    pub max_threshold: f64,
    /// What the thresholds are counted in.
    pub threshold_unit: ThresholdUnit,
    /// Probability at the upper threshold, above 0, up to 1.
    pub max_p: f64,
    /// Weight of a new queue length in the average, above 0, up to 1. As in ns-3: 0 takes
    /// 1 - exp(-1/C) for a link of C packets per second, -2 takes 1 - exp(-10/C), -1 sets it by the
    /// link's rate and delay.
    pub queue_weight: f64,
    /// Mean packet size in bytes, 1..65535.
    pub mean_packet_bytes: u32,
    /// Whether the probability grows to 1 between the upper threshold and twice that.
    pub gentle: bool,
    /// Whether drops keep a distance of 1/p packets.
    pub wait: bool,
    /// Whether packets that allow it are marked in IP's ECN field instead of dropped.
    pub use_ecn: bool,
    /// Whether packets above the upper threshold are dropped even so.
    pub use_hard_drop: bool,
    /// How the maximum probability adapts.
    pub adaptation: Adaptation,
    /// Average queueing delay that sets the thresholds where they are automatic, in ms, 0..10000.
    pub target_delay_ms: f64,
    /// Time between two changes of the maximum probability in ms, 0..100000.
    pub adapt_interval_ms: f64,
    /// The maximum probability is increased only below this, 0..1.
    pub top: f64,
    /// The maximum probability is decreased only above this, 0..1; 0: the smaller of 0.01 and one
    /// packet per `rtt_ms` at the link's rate.
    pub bottom: f64,
    /// Increment of the maximum probability, at most a quarter of it, 0..1.
    pub alpha: f64,
    /// Factor that decreases the maximum probability, 0..1.
    pub beta: f64,
    /// Round trip that an automatic `bottom` assumes, in ms, above 0, up to 100000.
    pub rtt_ms: f64,
    /// Feng's divisor of the maximum probability below the lower threshold, 1..1000.
    pub feng_alpha: f64,
    /// Feng's factor on the maximum probability above the upper threshold, 1..1000.
    pub feng_beta: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            min_threshold: 5.0,
            max_threshold: 15.0,
            threshold_unit: ThresholdUnit::Packets,
            max_p: 0.02,
            queue_weight: 0.002,
            mean_packet_bytes: 500,
            gentle: true,
            wait: true,
            use_ecn: false,
            use_hard_drop: true,
            adaptation: Adaptation::None,
            target_delay_ms: 5.0,
            adapt_interval_ms: 500.0,
            top: 0.5,
            bottom: 0.0,
            alpha: 0.01,
            beta: 0.9,
            rtt_ms: 100.0,
            feng_alpha: 3.0,
            feng_beta: 2.0,
        }
    }
}

impl Config {
    /// An error line if the thresholds do not go together.
    fn check_thresholds(&self) -> Result<(), String> {
        if self.min_threshold > self.max_threshold {
            return Err(format!(
                "min_threshold: {} is above max_threshold {}",
                self.min_threshold, self.max_threshold
            ));
        }
        if self.threshold_unit == ThresholdUnit::Percent {
            check("max_threshold", self.max_threshold, 0.0..=100.0)?;
        }
        Ok(())
    }

    /// An error line if a parameter is out of range by itself.
    pub(super) fn check(&self) -> Result<(), String> {
        check("min_threshold", self.min_threshold, 0.0..=1e9)?;
        check("max_threshold", self.max_threshold, 0.0..=1e9)?;
        check("max_p", self.max_p, 1e-9..=1.0)?;
        if ![0.0, -1.0, -2.0].contains(&self.queue_weight)
            && !(1e-9..=1.0).contains(&self.queue_weight)
        {
            return Err(format!(
                "queue_weight: {} is not in 0.000000001..1, nor 0, -1 or -2",
                self.queue_weight
            ));
        }
        check(
            "mean_packet_bytes",
            f64::from(self.mean_packet_bytes),
            1.0..=65_535.0,
        )?;
        check("target_delay_ms", self.target_delay_ms, 0.0..=10_000.0)?;
        check("adapt_interval_ms", self.adapt_interval_ms, 0.0..=100_000.0)?;
        check("top", self.top, 0.0..=1.0)?;
        check("bottom", self.bottom, 0.0..=1.0)?;
        check("alpha", self.alpha, 0.0..=1.0)?;
        check("beta", self.beta, 0.0..=1.0)?;
        check("rtt_ms", self.rtt_ms, 0.001..=100_000.0)?;
        check("feng_alpha", self.feng_alpha, 1.0..=1000.0)?;
        check("feng_beta", self.feng_beta, 1.0..=1000.0)
    }

    /// An error line if the queue of `setup` cannot become as long as the lower threshold: then
    /// nothing would ever be dropped early.
    pub fn check_limit(&self, setup: &Setup) -> Result<(), String> {
        let packets_per_sec =
            setup.link_rate.as_bps() as f64 / (8.0 * f64::from(self.mean_packet_bytes));
        let (min, _) = self.thresholds(setup.limit, packets_per_sec);
        if min <= setup.limit.get() as f64 {
            return Ok(());
        }
        let limit = match setup.limit {
            Limit::Packets(n) => format!("{n} packets"),
            Limit::Bytes(n) => format!("{n} bytes"),
        };
        Err(format!(
            "min_threshold: {} is more than the queue holds (accepted: at most its limit, {limit})",
            self.min_threshold
        ))
    }

    /// Both thresholds in the limit's unit.
    fn thresholds(&self, limit: Limit, packets_per_sec: f64) -> (f64, f64) {
        let mean = f64::from(self.mean_packet_bytes);
        let automatic = self.adaptation == Adaptation::Ared
            || (self.min_threshold == 0.0 && self.max_threshold == 0.0);
        if automatic {
            // Floyd, Gummadi and Shenker 2001: half of the target queue, not below 5
            // packets, and three times that.
            let min = (self.target_delay_ms / 1e3 * packets_per_sec / 2.0).max(5.0);
            let min = match limit {
                Limit::Packets(_) => min,
                Limit::Bytes(_) => min * mean,
            };
            return (min, 3.0 * min);
        }
        let convert = |threshold: f64| match (self.threshold_unit, limit) {
            (ThresholdUnit::Percent, _) => threshold / 100.0 * limit.get() as f64,
            (ThresholdUnit::Packets, Limit::Bytes(_)) => threshold * mean,
            (ThresholdUnit::Bytes, Limit::Packets(_)) => threshold / mean,
            (ThresholdUnit::Packets, Limit::Packets(_))
            | (ThresholdUnit::Bytes, Limit::Bytes(_)) => threshold,
        };
        (convert(self.min_threshold), convert(self.max_threshold))
    }

    /// The weight of a new length in the average.
    fn weight(&self, setup: &Setup, packets_per_sec: f64) -> f64 {
        let automatic = self.adaptation == Adaptation::Ared;
        match self.queue_weight {
            w if automatic || w == 0.0 => 1.0 - (-1.0 / packets_per_sec).exp(),
            // Ten round trips of three link delays, not below 100 ms.
            -1.0 => {
                let rtt = (3.0 * (setup.link_delay.as_secs_f64() + 1.0 / packets_per_sec)).max(0.1);
                1.0 - (-1.0 / (10.0 * rtt * packets_per_sec)).exp()
            }
            -2.0 => 1.0 - (-10.0 / packets_per_sec).exp(),
            w => w,
        }
    }
}

/// What the average says about an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judgement {
    Admit,
    Unforced,
    Forced,
}

/// Random early detection.
#[derive(Debug, Clone)]
pub struct Red {
    config: Config,
    limit: Limit,
    /// Packets of the mean size that the link sends in a second.
    packets_per_sec: f64,
    weight: f64,
    min: f64,
    max: f64,
    /// Probability per unit of length between the thresholds, before `max_p`.
    slope: f64,
    /// The same line at length 0.
    offset: f64,
    /// Probability per unit of length above the upper threshold.
    gentle_slope: f64,
    gentle_offset: f64,
    max_p: MaxP,
    average: f64,
    /// Packets, and their bytes, since the last drop or the average's crossing.
    count: u64,
    count_bytes: u64,
    /// Whether the packet before found the average above the lower threshold.
    above: bool,
    /// Since when the link has had nothing to send.
    idle_since: Option<Instant>,
    /// Probability at the last arrival, after the count's correction.
    probability: f64,
}

impl Red {
    /// RED before the first packet.
    pub fn new(setup: &Setup, config: &Config) -> Result<Red, String> {
        setup.check()?;
        config.check()?;
        config.check_thresholds()?;
        let packets_per_sec =
            setup.link_rate.as_bps() as f64 / (8.0 * f64::from(config.mean_packet_bytes));
        let (min, max) = config.thresholds(setup.limit, packets_per_sec);
        // Equal thresholds make a step of one unit.
        let width = if max == min { 1.0 } else { max - min };
        Ok(Red {
            config: *config,
            limit: setup.limit,
            packets_per_sec,
            weight: config.weight(setup, packets_per_sec),
            min,
            max,
            slope: 1.0 / width,
            offset: -min / width,
            gentle_slope: (1.0 - config.max_p) / max,
            gentle_offset: 2.0 * config.max_p - 1.0,
            max_p: MaxP::new(config, setup.link_rate, min, max),
            average: 0.0,
            count: 0,
            count_bytes: 0,
            above: false,
            idle_since: Some(Instant::ZERO),
            probability: 0.0,
        })
    }

    /// Moves the average by an arrival that finds `length` queued.
    fn update_average(&mut self, now: Instant, length: f64) {
        let missed = match self.idle_since.take() {
            Some(since) => (self.packets_per_sec * (now - since).as_secs_f64()).floor(),
            None => 0.0,
        };
        self.average = self.average * (1.0 - self.weight).powf(missed + 1.0) + self.weight * length;
        self.max_p.adapt(now, self.average);
    }

    /// What the average and chance say, and whether chance was asked.
    fn judge(&mut self, size: Bytes, queued: u64, draw: f64) -> (Judgement, bool) {
        if self.average < self.min || queued <= 1 {
            self.probability = 0.0;
            self.above = false;
            return (Judgement::Admit, false);
        }
        let certain_from = if self.config.gentle {
            2.0 * self.max
        } else {
            self.max
        };
        if self.average >= certain_from {
            return (Judgement::Forced, false);
        }
        if !self.above {
            self.above = true;
            self.count = 1;
            self.count_bytes = size.get();
            return (Judgement::Admit, false);
        }
        self.probability = self.corrected(self.base_probability(), size);
        if draw <= self.probability {
            self.count = 0;
            self.count_bytes = 0;
            (Judgement::Unforced, true)
        } else {
            (Judgement::Admit, true)
        }
    }

    /// Probability by the average alone (p_b in the 1993 paper).
    fn base_probability(&self) -> f64 {
        let p = if self.average >= self.max {
            // Only with `gentle`; without, this average is a forced drop.
            self.gentle_slope * self.average + self.gentle_offset
        } else {
            (self.slope * self.average + self.offset) * self.max_p.get()
        };
        p.min(1.0)
    }

    /// Probability that spreads the drops evenly over packets (p_a in the 1993 paper).
    fn corrected(&self, p: f64, size: Bytes) -> f64 {
        let mean = u64::from(self.config.mean_packet_bytes);
        let in_bytes = matches!(self.limit, Limit::Bytes(_));
        let count = if in_bytes {
            self.count_bytes / mean
        } else {
            self.count
        };
        let progress = count as f64 * p;
        let p = match (self.config.wait, progress) {
            (true, ..1.0) => 0.0,
            (true, ..2.0) => p / (2.0 - progress),
            (false, ..1.0) => p / (1.0 - progress),
            _ => 1.0,
        };
        let p = if in_bytes && p < 1.0 {
            p * size.get() as f64 / mean as f64
        } else {
            p
        };
        p.min(1.0)
    }

    /// A mark instead of a drop, if allowed.
    fn mark(&self, packet: &Packet, reason: MarkReason) -> Option<Verdict> {
        (self.config.use_ecn && packet.ect).then_some(Verdict::Mark(MarkField::Ecn, reason))
    }
}

impl Aqm for Red {
    fn on_enqueue(&mut self, now: Instant, packet: &Packet, queue: &Queue, draw: f64) -> Decision {
        let queued = self.limit.measure(queue);
        self.update_average(now, queued as f64);
        self.count += 1;
        self.count_bytes += packet.size.get();
        let (said, draw_used) = self.judge(packet.size, queued, draw);
        let verdict = match said {
            Judgement::Admit => Verdict::Pass,
            Judgement::Unforced => self
                .mark(packet, MarkReason::Unforced)
                .unwrap_or(Verdict::Drop(DropReason::Unforced)),
            Judgement::Forced if self.config.use_hard_drop => Verdict::Drop(DropReason::Forced),
            Judgement::Forced => self
                .mark(packet, MarkReason::Forced)
                .unwrap_or(Verdict::Drop(DropReason::Forced)),
        };
        let verdict = match (verdict, admission(self.limit, queue, packet)) {
            (Verdict::Drop(reason), _) => Verdict::Drop(reason),
            (_, full @ Verdict::Drop(_)) => full,
            (verdict, _) => verdict,
        };
        Decision { verdict, draw_used }
    }

    fn on_dequeue(&mut self, _: Instant, _: &Packet, _: &Queue, _: f64) -> Decision {
        self.idle_since = None;
        Decision::certain(Verdict::Pass)
    }

    fn on_empty(&mut self, now: Instant) {
        self.idle_since = Some(now);
    }

    fn marks(&self) -> Marks {
        Marks {
            transport: false,
            ecn: self.config.use_ecn,
        }
    }

    fn visit_state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("average", self.average);
        visit("probability", self.probability);
        visit("max_p", self.max_p.get());
        visit("min_threshold", self.min);
        visit("max_threshold", self.max);
    }
}

#[cfg(test)]
mod tests;
