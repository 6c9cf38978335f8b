//! `cargo xtask bench`: what the simulator costs, beside what it may cost.
//!
//! Costs are instructions, counted by callgrind, because wall time of identical runs varies by a
//! quarter; wall time is shown beside. Start-up is taken out by measuring two lengths: a cost is the
//! difference between a long and a short run, divided by what the long one delivered more.

mod aqm;
mod icn;
mod measure;
mod results;
mod transfers;

use crate::apt::Need;
use crate::cli::BenchOptions;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::runner::{self, SCENARIOS};

use measure::Bench;
use results::Results;
use transfers::Lengths;

/// Rates of the bottleneck, Mbps.
const RATES_MBPS: [u32; 2] = [50, 100];

/// Runs the benchmarks, prints the table, keeps and compares the figures.
pub fn run(options: &BenchOptions) -> Result<()> {
    for name in [&options.save, &options.baseline].into_iter().flatten() {
        check_name(name)?;
    }
    let context = Context::new()?;
    let folder = context.repo.join("target/bench");
    // Before minutes of measuring.
    let baseline = match &options.baseline {
        Some(name) => Some(Results::read(&folder, name)?),
        None => None,
    };
    let targets = [SCENARIOS, transfers::UDP_FLOOR, transfers::TCP, aqm::AQM];
    let programs = runner::ensure(&context, &targets, &[Need::Valgrind])?;
    let mut results = Results::new(programs.ns3());
    let bench = Bench {
        context: &context,
        programs,
        folder: folder.clone(),
    };
    results.rows.extend(aqm::measure(&bench)?);
    results.write(&folder, "latest")?;
    for rate_mbps in RATES_MBPS {
        results.rows.extend(transfers::measure(
            &bench,
            rate_mbps,
            Lengths::new(options.full),
        )?);
        results.write(&folder, "latest")?;
    }
    if let Some(name) = &options.save {
        results.write(&folder, name)?;
    }
    print!("{}", results.table(baseline.as_ref()));
    println!("figures: {}", folder.join("latest.json").display());
    Ok(())
}

/// A name becomes a file's name.
fn check_name(name: &str) -> Result<()> {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.is_empty() && !name.starts_with('.') && name.chars().all(good) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "bench: \"{name}\" is no name for a set of figures (accepted: letters, digits, - _ .)"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_file_names() {
        assert!(check_name("before-2.1").is_ok());
        for bad in ["", "../x", ".hidden", "a b", "a/b"] {
            assert_eq!(check_name(bad).unwrap_err().code, 2, "{bad}");
        }
    }
}
