//! `cargo xtask demo`: from nothing to figures.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::commands::analysis;
use crate::context::Context;
use crate::failure::{Failure, IoContext, Result};
use crate::process;
use crate::python;
use crate::runner::{self, SCENARIOS};
use crate::scenarios;

/// The scenario that is run.
const SCENARIO: &str = "demo";

/// Sets up, builds, runs the demo scenario into `out`, draws the figures and prints the table.
pub fn run(out: &Path) -> Result<()> {
    let arguments = [
        format!("--scenario={SCENARIO}"),
        format!("--out={}", out.display()),
    ];
    scenarios::parse(&arguments)?;
    let context = Context::new()?;
    let program = runner::ensure(&context, &[SCENARIOS], &[])?.path(SCENARIOS)?;
    let venv = python::ensure_analysis(&context)?;
    context
        .progress
        .step("run", &format!("simulate {SCENARIO}"), |step| {
            let log = context.logs.begin("demo run")?;
            log.run(
                step,
                runner::command(&program)?
                    .args(&arguments)
                    .arg("--no-progress"),
            )?;
            Ok(format!("traces in {}", out.display()))
        })?;
    let figures = out.join("figures");
    context.progress.step("figures", "draw them", |step| {
        let log = context.logs.begin("demo figures")?;
        let mut plot = analysis::command(&context, &venv);
        plot.arg("plot").arg(out).arg("--out").arg(&figures);
        plot.args([
            "--kind",
            "overview,in-flight,goodput,srtt,queue",
            "--format",
            "png,pdf",
        ]);
        log.run(step, &mut plot)?;
        Ok("drawn".into())
    })?;
    let mut table = analysis::command(&context, &venv);
    let status = process::foreground(table.arg("table").arg(out).stdin(Stdio::null()))?;
    if !status.success() {
        return Err(Failure::step(format!(
            "{} ended with {status}",
            process::describe(&table)
        )));
    }
    println!("figures:");
    for file in figure_files(&figures)? {
        println!("  {}", file.display());
    }
    println!("traces:  {}", out.display());
    Ok(())
}

fn figure_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .context(format!("cannot read {}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    Ok(files)
}
