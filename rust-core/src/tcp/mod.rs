//! The controllers on a simulator's TCP, and what is watched of a TCP transfer.
//!
//! A TCP socket numbers bytes, not packets, and a simulator's socket has hooks of its own for
//! congestion control. [`Hooks`] turns these hooks into the events of [`crate::cc`];
//! [`Meter`] turns the packets of a transfer into what a run reports of it.

mod hooks;
mod meter;
mod sequence;
mod truth;

pub use hooks::{Hooks, RateReport, SocketState, Verdict, type_name};
pub use meter::{Counts, Meter, MeterState};
pub use sequence::Sequence;
pub use truth::{Needless, Tallies, Tally};
