//! The transfers.

use super::{Algorithm, FlowClock, Switch};
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
    pub recovery: Option<Algorithm>,
    /// `forward`: from the replica nodes' router to the receivers'; `opposite`: the receiver is at
    /// IR2 and fetches from the replica node at IR1 (topo-2 only).
    pub direction: String,
    /// Propagation delay, one way, added to the link of the flow's receiver node.
    pub extra_delay: TimeText,
    /// The clock of the flow's receiver node.
    pub clock: FlowClock,
    /// First request.
    pub start: TimeText,
    /// Added to `start`: a random delay, uniform from zero to this.
    pub start_jitter: Jitter,
    /// When the transfer is given up. Default: never.
    pub stop: Option<TimeText>,
    /// Size of its NDC. Default: unlimited.
    pub size: Option<SizeText>,
    /// Name of its NDC; flows with the same one fetch the same NDC. Default: one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ndc: Option<String>,
    /// Which replica it takes: `listed` (the first of the list), `nearest` (the lowest propagation
    /// delay), `lowest-rtt` (the first to answer a probe) or `random`.
    pub replica_choice: String,
    /// Forced changes of its replica. One that comes before its first replica serves, after its end,
    /// or to the replica that it has changes nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<Switch>,
    /// Whether, when the NDC is complete, the next one of the same size is fetched, from the
    /// beginning of congestion control.
    pub repeat: bool,
    /// Whether the run ends without waiting for this flow. At least one flow is waited for.
    pub background: bool,
}

impl Default for Flow {
    fn default() -> Flow {
        Flow {
            name: None,
            transport: "icn".to_owned(),
            controller: Algorithm::named("copa-icn"),
            recovery: None,
            direction: "forward".to_owned(),
            extra_delay: TimeText(Duration::ZERO),
            clock: FlowClock::default(),
            start: TimeText(Duration::from_millis(100)),
            start_jitter: Jitter::Time(Duration::ZERO),
            stop: None,
            size: None,
            ndc: None,
            replica_choice: "listed".to_owned(),
            switches: Vec::new(),
            repeat: false,
            background: false,
        }
    }
}
