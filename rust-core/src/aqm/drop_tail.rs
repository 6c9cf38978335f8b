//! Drop-tail: a packet that finds the queue full is dropped.

use super::{Aqm, Decision, DropReason, Limit, Packet, Queue, Setup, Verdict};
use crate::units::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Drop-tail has no parameters; the limit is the queue's.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {}

impl Config {
    /// There is nothing that could be wrong.
    pub(super) fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Drop-tail.
#[derive(Debug, Clone)]
pub struct DropTail {
    limit: Limit,
}

impl DropTail {
    /// An empty queue's decisions.
    pub fn new(setup: &Setup, _: &Config) -> Result<DropTail, String> {
        setup.check()?;
        Ok(DropTail { limit: setup.limit })
    }
}

/// The verdict of a mere limit.
pub(super) fn admission(limit: Limit, queue: &Queue, packet: &Packet) -> Verdict {
    if limit.admits(queue, packet.size) {
        Verdict::Pass
    } else {
        Verdict::Drop(DropReason::Overlimit)
    }
}

impl Aqm for DropTail {
    fn on_enqueue(&mut self, _: Instant, packet: &Packet, queue: &Queue, _: f64) -> Decision {
        Decision::certain(admission(self.limit, queue, packet))
    }

    fn on_dequeue(&mut self, _: Instant, _: &Packet, _: &Queue, _: f64) -> Decision {
        Decision::certain(Verdict::Pass)
    }

    fn on_empty(&mut self, _: Instant) {}

    fn visit_state(&self, _: &mut dyn FnMut(&'static str, f64)) {}
}
