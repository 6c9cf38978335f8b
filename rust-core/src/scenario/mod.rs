//! The scenario model: JSON in, a resolved and validated plan out.
//!
//! A scenario file changes a base that it `extends`; the command line changes the file; a `sweep`
//! makes several runs of one file. Objects merge, lists and everything else replace, null gives the
//! default back. Nothing here does I/O: named scenarios come from a [`Library`].
//!
//! ```text
//! base <- file <- axis of the sweep <- options <- --set, then defaults, then validation
//! ```

mod check;
mod error;
mod json;
mod model;
mod nodes;
pub mod parameters;
mod path;
pub mod quantity;
pub mod registry;
mod resolve;
mod schema;
mod sweep;

pub use check::{DEFAULT_RECEIVERS, MAX_FLOWS};
pub use error::{Error, unknown};
pub use json::{read, read_value};
pub use model::{
    Access, Algorithm, Bottleneck, Caches, Clock, Fault, Flow, FlowClock, Links, Names, Replica,
    Scenario, Switch, Tcp, Topology, Trace, Workload,
};
pub use nodes::{Nodes, ReceiverNode, ReplicaNode};
pub use path::Path;
pub use resolve::{Assignment, Cell, Library, Plan, resolve, resolve_sweep};
pub use schema::schema;
pub use sweep::MAX_CELLS;
