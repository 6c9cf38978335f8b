//! CoDel: drops at dequeue while the time that packets waited stays above a target.
//!
//! [`Arithmetic::Exact`] is RFC 8289 with times in nanoseconds and a square root in floating
//! point. [`Arithmetic::Ns3`] computes as ns-3's `CoDelQueueDisc` does, for comparison with it; the
//! `ticks` module lists what that changes.
//!
//! Departure from the RFC's pseudocode: the largest packet is a parameter, not the largest one seen
//! so far.

mod ticks;

use super::control_law::{ControlLaw, Step};
use super::drop_tail::admission;
use super::{Aqm, Decision, DropReason, Limit, Packet, Queue, Setup, Verdict};
use crate::cc::range::check;
use crate::units::{Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ticks::Ticks;

/// Target of the sojourn time in ms (RFC 8289, section 4.3: 5 % of the interval).
pub(super) const TARGET_MS: f64 = 5.0;
/// Interval in ms (RFC 8289, section 4.2: a typical round trip's worth).
pub(super) const INTERVAL_MS: f64 = 100.0;
/// Largest packet in bytes: Ethernet's payload.
pub(super) const MTU_BYTES: u32 = 1500;

/// A tick of the arithmetic `ns3`, in ms.
const TICK_MS: f64 = 0.001_024;

/// How times are kept and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// Nanoseconds and an exact square root (RFC 8289).
    Exact,
    /// Ticks of 1024 ns in 32 bits and a reciprocal square root in 16 bits, as in ns-3.
    Ns3,
}

/// Parameters of CoDel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Sojourn time that is good enough, in ms, 0.001..10000 (with the arithmetic
    /// `ns3` at least a tick).
    pub target_ms: f64,
    /// How long the sojourn time must stay above the target, in ms, 0.001..100000.
    pub interval_ms: f64,
    /// A backlog of not more than this many bytes is never a reason to drop (with the arithmetic
    /// `ns3`: of less than this).
    pub mtu_bytes: u32,
    /// How times are kept and compared.
    pub arithmetic: Arithmetic,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            target_ms: TARGET_MS,
            interval_ms: INTERVAL_MS,
            mtu_bytes: MTU_BYTES,
            arithmetic: Arithmetic::Exact,
        }
    }
}

impl Config {
    /// An error line if a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), String> {
        self.times().map(|_| ())
    }

    /// Target and interval as durations, checked.
    fn times(&self) -> Result<(Duration, Duration), String> {
        let times = times(self.target_ms, self.interval_ms)?;
        if self.arithmetic == Arithmetic::Ns3 {
            // Not less than a tick: none would be zero, and every packet above the target.
            check("target_ms", self.target_ms, TICK_MS..=10_000.0)?;
            check("interval_ms", self.interval_ms, TICK_MS..=100_000.0)?;
        }
        Ok(times)
    }
}

/// Target and interval as durations, checked.
pub(super) fn times(target_ms: f64, interval_ms: f64) -> Result<(Duration, Duration), String> {
    check("target_ms", target_ms, 0.001..=10_000.0)?;
    check("interval_ms", interval_ms, 0.001..=100_000.0)?;
    Ok((
        Duration::from_secs_f64(target_ms / 1e3),
        Duration::from_secs_f64(interval_ms / 1e3),
    ))
}

#[derive(Debug, Clone)]
enum Law {
    Exact(ControlLaw),
    Ns3(Ticks),
}

/// CoDel.
#[derive(Debug, Clone)]
pub struct CoDel {
    limit: Limit,
    law: Law,
}

impl CoDel {
    /// CoDel before the first packet.
    pub fn new(setup: &Setup, config: &Config) -> Result<CoDel, String> {
        setup.check()?;
        let (target, interval) = config.times()?;
        let mtu = Bytes::new(u64::from(config.mtu_bytes));
        Ok(CoDel {
            limit: setup.limit,
            law: match config.arithmetic {
                Arithmetic::Exact => Law::Exact(ControlLaw::new(target, interval, mtu, false)),
                Arithmetic::Ns3 => Law::Ns3(Ticks::new(target, interval, mtu)),
            },
        })
    }
}

impl Aqm for CoDel {
    fn on_enqueue(&mut self, _: Instant, packet: &Packet, queue: &Queue, _: f64) -> Decision {
        Decision::certain(admission(self.limit, queue, packet))
    }

    fn on_dequeue(&mut self, now: Instant, packet: &Packet, queue: &Queue, _: f64) -> Decision {
        let sojourn = now - packet.enqueued;
        let drop = match &mut self.law {
            Law::Exact(law) => law.step(now, sojourn, queue.bytes) == Step::Drop,
            Law::Ns3(law) => law.step(now, sojourn, queue.bytes),
        };
        Decision::certain(if drop {
            Verdict::Drop(DropReason::TargetExceeded)
        } else {
            Verdict::Pass
        })
    }

    fn on_empty(&mut self, _: Instant) {
        match &mut self.law {
            Law::Exact(law) => law.on_empty(),
            Law::Ns3(law) => law.on_empty(),
        }
    }

    fn visit_state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        match &self.law {
            Law::Exact(law) => law.visit_state(visit),
            Law::Ns3(law) => law.visit_state(visit),
        }
    }
}

#[cfg(test)]
mod tests;
