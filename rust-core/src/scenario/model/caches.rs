//! What routers keep of the NDCs that they forward.

use super::Algorithm;
use crate::scenario::quantity::{Capacity, Fraction, SizeText, TimeText};
use crate::units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Routers that assemble the NDCs they forward and become replicas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Caches {
    /// Whether there are any.
    pub enabled: bool,
    /// Which routers: `IR1`, `IR2`; `R1`, `R2`, `R3` of the line. Default: IR1; in the line all that
    /// are not `topology.ip_routers`.
    pub at: Option<Vec<String>>,
    /// Most complete content of each: a size or a number of NDCs.
    pub capacity: Capacity,
    /// Which complete NDC goes when there is no room: `lru` (least recently used), `lfu` (least
    /// frequently used), `fifo` (oldest) or `random`.
    pub policy: String,
    /// Which of the NDCs that pass a router keeps: `lce` (leave copy everywhere: all), `lcd` (leave
    /// copy down: those that come from a replica node or a cache one router away) or
    /// `probabilistic`.
    pub placement: String,
    /// For `probabilistic`: the probability that an NDC is kept.
    pub placement_probability: Option<Fraction>,
    /// Time without anything new after which an incomplete NDC is given up.
    pub timeout: TimeText,
    /// Most bytes of incomplete NDCs in each.
    pub assembly_memory: SizeText,
    /// Whether a cache R4, linked to R2 of the line and off the path, fetches the NDCs that are
    /// announced.
    pub off_path: bool,
    /// The controller of its fetches, which have the payload and the other options of `transport`.
    /// Default: that of the first flow over icn, with its parameters.
    pub off_path_controller: Option<Algorithm>,
}

impl Default for Caches {
    fn default() -> Caches {
        Caches {
            enabled: false,
            at: None,
            // 100 NDCs of 2 MB (the early-congestion-detection paper).
            capacity: Capacity::Bytes(Bytes::new(200_000_000)),
            policy: "lru".to_owned(),
            placement: "lce".to_owned(),
            placement_probability: None,
            timeout: TimeText(Duration::from_secs(10)),
            assembly_memory: SizeText(Bytes::new(200_000_000)),
            off_path: false,
            off_path_controller: None,
        }
    }
}
