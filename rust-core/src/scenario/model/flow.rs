//! The transfers.

use super::Algorithm;
use crate::scenario::quantity::{Jitter, SizeText, TimeText};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One transfer of one NDC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Flow {
    /// Name in tables and figures, unique. Default: `flow-1`, `flow-2`, ...
    pub name: Option<String>,
    /// `icn` or `tcp`.
    pub transport: String,
    /// The congestion controller.
    pub controller: Algorithm,
    /// How a TCP sender judges duplicate ACKs; not for `icn`.
    pub recovery: Option<String>,
    /// First request.
    pub start: TimeText,
    /// Added to `start`: a random delay, uniform from zero to this.
    pub start_jitter: Jitter,
    /// Size of its NDC. Default: unlimited.
    pub size: Option<SizeText>,
}

impl Default for Flow {
    fn default() -> Flow {
        Flow {
            name: None,
            transport: "icn".to_owned(),
            controller: Algorithm::named("copa-icn"),
            recovery: None,
            start: TimeText(Duration::from_millis(100)),
            start_jitter: Jitter::Time(Duration::ZERO),
            size: None,
        }
    }
}
