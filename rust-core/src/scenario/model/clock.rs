//! The nodes' clocks.

use crate::scenario::quantity::OffsetText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The receivers' clocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Clock {
    /// How far they are ahead of the replica's clock.
    pub offset: OffsetText,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock {
            offset: OffsetText { nanos: 0 },
        }
    }
}
