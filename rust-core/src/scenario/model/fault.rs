//! What goes wrong in a run.

use crate::scenario::quantity::{OffsetText, RateText, TimeText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that goes wrong, or right again, or moves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// When.
    pub at: TimeText,
    /// `replica-fail` (falls silent), `replica-vanish` (deregisters and says that it holds nothing),
    /// `replica-slow`, `replica-restore`, `name-server-fail` (falls silent),
    /// `name-server-restore`, `clock-step` (a receiver node's clock is set), `router-restart` (loses
    /// content and bindings, its links are down for the outage), `cache-evict` (a router loses its
    /// content), `receiver-move` or `replica-move` (to another router, with another address).
    pub kind: String,
    /// Name of the replica, of the receiver node (RE1, RE2, ...; C1, C2, ... in the line) or of the
    /// router; none for the name server.
    #[serde(default)]
    pub target: Option<String>,
    /// For `replica-slow`: how much later it answers each REQ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<TimeText>,
    /// For `replica-slow`: rate of all its DATA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateText>,
    /// For `clock-step`: how far the clock is set forward; negative for back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<OffsetText>,
    /// For `router-restart`: how long its links are down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<TimeText>,
    /// For `receiver-move` and `replica-move`: the router that it moves to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}
