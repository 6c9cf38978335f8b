//! `cargo xtask bench`.

use crate::cli::BenchOptions;
use crate::failure::{Failure, Result};

/// Not there before the module it measures.
pub fn run(options: &BenchOptions) -> Result<()> {
    let BenchOptions {
        full: _,
        save: _,
        baseline: _,
    } = options;
    Err(Failure::usage(
        "bench: the module to measure is not part of this version",
    ))
}
