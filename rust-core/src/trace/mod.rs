//! What a run writes.

mod distribution;

pub use distribution::Distribution;
