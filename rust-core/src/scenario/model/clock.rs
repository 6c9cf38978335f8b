//! The nodes' clocks.

use crate::scenario::quantity::{OffsetText, SkewText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The receivers' clocks, compared with the replicas'.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Clock {
    /// How far they are ahead at the start of the run.
    pub offset: OffsetText,
    /// How much faster they run.
    pub skew: SkewText,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock {
            offset: OffsetText { nanos: 0 },
            skew: SkewText { ppb: 0 },
        }
    }
}

/// The clock of one flow's receiver node, where it differs from [`Clock`].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlowClock {
    /// How far it is ahead at the start of the run. Default: the scenario's `clock.offset`.
    pub offset: Option<OffsetText>,
    /// How much faster it runs. Default: the scenario's `clock.skew`.
    pub skew: Option<SkewText>,
}

impl FlowClock {
    /// With what it leaves open taken from the scenario's clock.
    pub fn or(&self, clock: &Clock) -> Clock {
        Clock {
            offset: self.offset.unwrap_or(clock.offset),
            skew: self.skew.unwrap_or(clock.skew),
        }
    }
}
