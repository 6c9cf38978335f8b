//! What a run writes: time series, a summary, and the meters behind them.
//!
//! Nothing here opens a file: rows are written to any [`std::io::Write`], the summary is text.

mod distribution;
pub mod fairness;
mod flow;
mod queue;
mod recorder;
mod rows;
pub mod summary;

pub use distribution::Distribution;
pub use flow::FlowMeter;
pub use queue::QueueMeter;
pub use recorder::{CacheCounters, FlowNames, LinkCounters, Reasons, Recorder, Versions};
pub use rows::{AqmRow, EventRow, FlowRow, QueueRow};
pub use summary::Summary;
