//! Measuring one program: instructions by callgrind, wall time by the clock.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::context::Context;
use crate::failure::{Failure, IoContext, Result};
use crate::process::Log;
use crate::progress::{Step, Stopwatch};
use crate::runner::Programs;

/// Runs whose shortest wall time counts.
pub const WALL_RUNS: u32 = 5;

/// What the benchmarks measure with.
#[derive(Debug)]
pub struct Bench<'a> {
    /// Progress and logs.
    pub context: &'a Context,
    /// The programs measured.
    pub programs: Programs,
    /// Where figures and runs' outputs go.
    pub folder: PathBuf,
}

/// A program with its arguments.
#[derive(Debug, Clone)]
pub struct Call {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Call {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }
}

impl Bench<'_> {
    /// A call of one of the programs.
    pub fn call(&self, program: &str, arguments: Vec<String>) -> Result<Call> {
        Ok(Call {
            program: self.programs.path(program)?,
            arguments,
        })
    }

    /// Instructions that a call executes, from start to end.
    pub fn instructions(&self, log: &Log, step: &Step<'_>, call: &Call) -> Result<u64> {
        let report = self.folder.join("callgrind.log");
        fs::create_dir_all(&self.folder)
            .context(format!("cannot create {}", self.folder.display()))?;
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        valgrind.arg(format!("--log-file={}", report.display()));
        valgrind.arg(&call.program).args(&call.arguments);
        log.run(step, &mut valgrind)?;
        let text =
            fs::read_to_string(&report).context(format!("cannot read {}", report.display()))?;
        collected(&text)
            .ok_or_else(|| Failure::step(format!("no count in callgrind's {}", report.display())))
    }

    /// What a call prints as `key=value` lines.
    pub fn values(&self, log: &Log, step: &Step<'_>, call: &Call) -> Result<Vec<(String, f64)>> {
        let before = log.text().len();
        log.run(step, &mut call.command())?;
        Ok(key_values(&log.text()[before..]))
    }

    /// Shortest wall time of each call; the calls take turns.
    pub fn wall(&self, log: &Log, step: &Step<'_>, calls: &[Call]) -> Result<Vec<Duration>> {
        let mut shortest = vec![Duration::MAX; calls.len()];
        for turn in 1..=WALL_RUNS {
            step.note(&format!("turn {turn} of {WALL_RUNS}"));
            for (call, shortest) in calls.iter().zip(&mut shortest) {
                let watch = Stopwatch::start();
                log.run(step, &mut call.command())?;
                *shortest = watch.elapsed().min(*shortest);
            }
        }
        Ok(shortest)
    }
}

/// The total in callgrind's report: `==12== Collected : 34567`.
fn collected(report: &str) -> Option<u64> {
    let line = report
        .lines()
        .rev()
        .find(|line| line.contains("Collected :"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

fn key_values(text: &str) -> Vec<(String, f64)> {
    text.lines()
        .filter_map(|line| line.split_once('='))
        .filter_map(|(key, value)| Some((key.to_owned(), value.parse().ok()?)))
        .collect()
}

/// The value of a key, or a failure that names it.
pub fn value(values: &[(String, f64)], key: &str) -> Result<f64> {
    values
        .iter()
        .find(|(name, _)| name == key)
        .map(|&(_, value)| value)
        .ok_or_else(|| Failure::step(format!("a benchmark program printed no {key}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callgrinds_total_is_read() {
        let report = "==7== Callgrind, a call-graph generating cache profiler\n\
                      ==7== Events    : Ir\n==7== Collected : 1234567890\n==7== \n";
        assert_eq!(collected(report), Some(1_234_567_890));
        assert_eq!(collected("==7== Process terminating\n"), None);
    }

    #[test]
    fn printed_values_are_read_and_missing_ones_named() {
        let values = key_values("$ prog --a=b\nbytes=6250000\ndropped=0\nend_s=1.25\n");
        assert_eq!(value(&values, "bytes"), Ok(6_250_000.0));
        assert_eq!(value(&values, "end_s"), Ok(1.25));
        assert!(value(&values, "reqs").unwrap_err().message.contains("reqs"));
    }
}
