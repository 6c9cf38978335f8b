//! Early congestion detection: CoDel that marks ICN DATA before it has to drop.
//!
//! A packet that waited longer than the target is marked with a probability that grows with its
//! sojourn time, from 0 at the target to `p_max` at `c` times the target. If the sojourn time stays
//! above the target for an interval, packets are dropped as CoDel does. Source: the improved CoDel
//! of early congestion detection in ICN (Algorithm 1 and equation (1)) on RFC 8289.
//!
//! Where the source is silent or contradicts itself:
//!
//! - Its Algorithm 1 drops every packet in the dropping state, its text speaks of CoDel's control
//!   law. The control law is the default; [`Dropping::DropAll`] is the algorithm as printed. In
//!   both the packet right after the drop that enters the state goes, as in CoDel.
//! - Packets that go between two drops are not marked, unless `mark_in_dropping`.
//! - A sojourn time equal to the target is above it; an interval that has just passed has passed;
//!   a backlog of one MTU is exempt. These are CoDel's equalities.
//! - The time above the target counts from the first packet above it, and any packet below resets it.
//! - The dropping state is left as in CoDel, also in the corner where the packet right after entry
//!   is below the target and the next one above it again: so the drops are exactly CoDel's.
//! - Packets that cannot carry a mark are treated as by CoDel. Marks never influence drops.
//!
//! A mark, once set, stays over later queues; only a queue disc can keep that, not this decision.

use super::codel::{INTERVAL_MS, MTU_BYTES, TARGET_MS, times};
use super::control_law::{ControlLaw, Step};
use super::drop_tail::admission;
use super::{
    Aqm, Decision, DropReason, Limit, MarkField, MarkReason, Marks, Packet, Queue, Setup, Verdict,
};
use crate::cc::range::check;
use crate::units::{Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is dropped in the dropping state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dropping {
    /// One packet whenever interval/sqrt(count) has passed, as in CoDel.
    ControlLaw,
    /// Every packet until one is below the target.
    DropAll,
}

/// Parameters of early congestion detection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Sojourn time from which packets are marked, in ms, 0.001..10000.
    pub target_ms: f64,
    /// How long the sojourn time must stay above the target before packets are dropped, in ms,
    /// 0.001..100000.
    pub interval_ms: f64,
    /// The sojourn time at which the marking probability is `p_max`, in targets, 1.001..1000.
    pub c: f64,
    /// The largest marking probability, 0..1.
    pub p_max: f64,
    /// A backlog of not more than this many bytes is never a reason to mark or drop.
    pub mtu_bytes: u32,
    /// What is dropped in the dropping state.
    pub dropping: Dropping,
    /// Whether packets that go in the dropping state are marked as well.
    pub mark_in_dropping: bool,
    /// Whether packets that are not ICN DATA are marked in IP's ECN field if that allows it.
    pub mark_ecn: bool,
}

impl Default for Config {
    /// CoDel's values; c and `p_max` are those of the source, section 4.2.
    fn default() -> Config {
        Config {
            target_ms: TARGET_MS,
            interval_ms: INTERVAL_MS,
            c: 2.5,
            p_max: 1.0,
            mtu_bytes: MTU_BYTES,
            dropping: Dropping::ControlLaw,
            mark_in_dropping: false,
            mark_ecn: false,
        }
    }
}

impl Config {
    /// An error line if a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), String> {
        times(self.target_ms, self.interval_ms)?;
        check("c", self.c, 1.001..=1000.0)?;
        check("p_max", self.p_max, 0.0..=1.0)
    }
}

/// Early congestion detection.
#[derive(Debug, Clone)]
pub struct Ecd {
    config: Config,
    limit: Limit,
    target: Duration,
    law: ControlLaw,
    /// Marking probability of the last packet that could go.
    probability: f64,
}

impl Ecd {
    /// Early congestion detection before the first packet.
    pub fn new(setup: &Setup, config: &Config) -> Result<Ecd, String> {
        setup.check()?;
        config.check()?;
        let (target, interval) = times(config.target_ms, config.interval_ms)?;
        let mtu = Bytes::new(u64::from(config.mtu_bytes));
        let drop_all = config.dropping == Dropping::DropAll;
        Ok(Ecd {
            config: *config,
            limit: setup.limit,
            target,
            law: ControlLaw::new(target, interval, mtu, drop_all),
            probability: 0.0,
        })
    }

    /// Equation (1): the probability of a mark after a sojourn time.
    fn probability(&self, sojourn: Duration) -> f64 {
        let target = self.target.as_nanos() as f64;
        let above = sojourn.as_nanos() as f64 - target;
        (above / ((self.config.c - 1.0) * target)).clamp(0.0, 1.0) * self.config.p_max
    }

    /// Where a mark can be written, if anywhere.
    fn field(&self, packet: &Packet) -> Option<MarkField> {
        if packet.icn_data {
            Some(MarkField::Transport)
        } else if self.config.mark_ecn && packet.ect {
            Some(MarkField::Ecn)
        } else {
            None
        }
    }

    /// Lets a packet go, marked with probability `p`. Certainty needs no draw.
    fn forward(&mut self, packet: &Packet, p: f64, draw: f64) -> Decision {
        self.probability = p;
        match self.field(packet) {
            Some(field) if p > 0.0 => {
                let mark = Verdict::Mark(field, MarkReason::EarlyCongestion);
                match p {
                    1.0.. => Decision::certain(mark),
                    _ if draw < p => Decision::drawn(mark),
                    _ => Decision::drawn(Verdict::Pass),
                }
            }
            _ => Decision::certain(Verdict::Pass),
        }
    }
}

impl Aqm for Ecd {
    fn on_enqueue(&mut self, _: Instant, packet: &Packet, queue: &Queue, _: f64) -> Decision {
        Decision::certain(admission(self.limit, queue, packet))
    }

    fn on_dequeue(&mut self, now: Instant, packet: &Packet, queue: &Queue, draw: f64) -> Decision {
        let sojourn = now - packet.enqueued;
        let may_mark = match self.law.step(now, sojourn, queue.bytes) {
            Step::Drop => return Decision::certain(Verdict::Drop(DropReason::TargetExceeded)),
            Step::Forward => true,
            Step::ForwardInDropping => self.config.mark_in_dropping,
        };
        let p = if may_mark && !self.law.below(sojourn, queue.bytes) {
            self.probability(sojourn)
        } else {
            0.0
        };
        self.forward(packet, p, draw)
    }

    fn on_empty(&mut self, _: Instant) {
        self.law.on_empty();
    }

    fn marks(&self) -> Marks {
        Marks {
            transport: true,
            ecn: self.config.mark_ecn,
        }
    }

    fn visit_state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.law.visit_state(visit);
        visit("mark_probability", self.probability);
    }
}

#[cfg(test)]
mod tests;
