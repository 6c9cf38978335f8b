//! What clients ask for, one NDC after the other.

use crate::scenario::quantity::SizeText;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A catalogue of NDCs that every flow fetches from: one NDC after the other, each drawn by its
/// popularity and with a congestion controller of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Workload {
    /// How many NDCs there are.
    pub catalogue: u32,
    /// The size of each.
    pub ndc_size: SizeText,
    /// Exponent of Zipf's law: the k-th most popular NDC is asked for with a probability in
    /// proportion to 1/k^alpha.
    pub alpha: f64,
    /// Requests of each flow that fill the caches and are not measured.
    pub warmup: u32,
    /// Requests of each flow after these, which are measured.
    pub measured: u32,
    /// How the caches are filled: `packets` (by transfers) or `replay` (the same requests without
    /// packets, before the start).
    pub warmup_mode: String,
}

impl Default for Workload {
    /// The ECD paper, section 5.1.
    fn default() -> Workload {
        Workload {
            catalogue: 1000,
            ndc_size: SizeText(Bytes::new(2_000_000)),
            alpha: 0.8,
            warmup: 400,
            measured: 100,
            warmup_mode: "packets".to_owned(),
        }
    }
}
