//! The scenario model: what a scenario file may say.
//!
//! A resolved scenario ([`super::Cell::scenario`]) is of the same type with every field filled in,
//! and resolves to itself when it is read as a file.

mod algorithm;
mod caches;
mod clock;
mod fault;
mod flow;
mod names;
mod topology;

pub use algorithm::Algorithm;
pub use caches::Caches;
pub use clock::{Clock, FlowClock};
pub use fault::Fault;
pub use flow::Flow;
pub use names::{Names, Replica, Switch};
pub use topology::{Access, Bottleneck, Links, Topology};

use super::quantity::TimeText;
use crate::transport::ReceiverOptions;
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A scenario file. A field that is left out has the value of the scenario it `extends`, or its
/// default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// Where the JSON Schema is, for editors.
    #[serde(rename = "$schema", skip_serializing)]
    pub schema: Option<String>,
    /// One line: what the scenario shows.
    pub description: String,
    /// Paper and figure that it belongs to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reference: String,
    /// Choices that the reference leaves open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Name of the scenario that this one changes.
    #[serde(skip_serializing)]
    pub extends: Option<String>,
    /// Runs to make of this scenario: path of a field -> list of values, all combinations. `runs`
    /// and `seeds` may be a number n, meaning 1 to n.
    #[serde(skip_serializing)]
    pub sweep: Option<Map<String, Value>>,
    /// Length of the simulation.
    pub duration: TimeText,
    /// ns-3's RngSeed, at least 1.
    pub seed: u32,
    /// ns-3's RngRun.
    pub run: u64,
    /// Real payload, checked against the NDC's self-certifying name; every flow then needs a size.
    pub verify: bool,
    /// Options of the receiver engine.
    pub transport: ReceiverOptions,
    /// The network.
    pub topology: Topology,
    /// How many flows there are; more than `flows` lists are copies of its last one.
    #[serde(skip_serializing)]
    pub flow_count: Option<u32>,
    /// The transfers.
    pub flows: Vec<Flow>,
    /// The receivers' clocks, compared with the replicas'.
    pub clock: Clock,
    /// How receivers learn where an NDC is, and when they leave a replica.
    pub names: Names,
    /// The replica nodes, all at IR2 (R3 of the line), each with a link of its own; null in topo-2.
    /// Default: one, RN (S in the line).
    pub replicas: Option<Vec<Replica>>,
    /// What goes wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// Routers that become replicas.
    pub caches: Caches,
    /// The time series that a run writes.
    pub trace: Trace,
}

impl Default for Scenario {
    fn default() -> Scenario {
        Scenario {
            schema: None,
            description: String::new(),
            reference: String::new(),
            assumptions: Vec::new(),
            extends: None,
            sweep: None,
            duration: TimeText(Duration::from_secs(20)),
            seed: 1,
            run: 1,
            verify: false,
            transport: ReceiverOptions::default(),
            topology: Topology::default(),
            flow_count: None,
            flows: vec![Flow::default()],
            clock: Clock::default(),
            names: Names::default(),
            replicas: None,
            faults: Vec::new(),
            caches: Caches::default(),
            trace: Trace::default(),
        }
    }
}

/// The time series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Trace {
    /// Whether flows.csv, queue.csv and events.csv are written. Default: for a single run of at
    /// most 64 flows, not for a sweep.
    pub enabled: Option<bool>,
    /// Time between two rows.
    pub interval: TimeText,
    /// Whether aqm.csv is written: a row for what the bottleneck's AQM decides about each packet.
    pub packets: bool,
}

impl Default for Trace {
    fn default() -> Trace {
        Trace {
            enabled: None,
            interval: TimeText(Duration::from_millis(20)),
            packets: false,
        }
    }
}
