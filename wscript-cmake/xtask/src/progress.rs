//! One line per step: what it does, how it ended, how long it took.
//!
//! On a terminal the running step is a spinner with the elapsed time and, when the child counts its
//! work as `[12/345]`, an estimate of what is left. Elsewhere the line is begun when the step
//! begins and ended when it ends.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::Result;

/// Width of the column with the steps' names.
const NAME_WIDTH: usize = 22;

/// The machine's clock, for showing how long a step took. The only place here that reads it.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[expect(clippy::disallowed_methods, reason = "times builds, not simulations")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// How one step ended, for a table at the end.
#[derive(Debug, Clone)]
pub struct StepRecord {
    /// The step's name.
    pub name: String,
    /// `None` if it succeeded.
    pub failure: Option<String>,
    /// Wall time.
    pub elapsed: Duration,
}

/// Prints the steps of one command.
#[derive(Debug)]
pub struct Progress {
    terminal: bool,
    started: Stopwatch,
    records: std::cell::RefCell<Vec<StepRecord>>,
}

impl Progress {
    /// Progress on stderr.
    pub fn new() -> Self {
        Self {
            terminal: std::io::stderr().is_terminal(),
            started: Stopwatch::start(),
            records: std::cell::RefCell::default(),
        }
    }

    /// Runs one step. `body` returns a note of a few words on how it ended.
    pub fn step(
        &self,
        name: &str,
        what: &str,
        body: impl FnOnce(&Step<'_>) -> Result<String>,
    ) -> Result<()> {
        let watch = Stopwatch::start();
        let label = format!("{name:<NAME_WIDTH$} {what}");
        let bar = if self.terminal {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {prefix} [{elapsed}] {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            bar.set_style(style);
            bar.set_prefix(label.clone());
            bar.enable_steady_tick(Duration::from_millis(120));
            Some(bar)
        } else {
            eprint!("{label} ... ");
            let _ = std::io::stderr().flush();
            None
        };
        let result = body(&Step {
            bar: bar.as_ref(),
            watch,
        });
        if let Some(bar) = bar {
            bar.finish_and_clear();
            eprint!("{label} ... ");
        }
        let elapsed = watch.elapsed();
        let ending = match &result {
            Ok(note) => note.as_str(),
            Err(_) => "FAILED",
        };
        eprintln!("{ending} ({})", human(elapsed));
        self.records.borrow_mut().push(StepRecord {
            name: name.to_owned(),
            failure: result.as_ref().err().map(ToString::to_string),
            elapsed,
        });
        result.map(|_| ())
    }

    /// The steps so far.
    pub fn records(&self) -> Vec<StepRecord> {
        self.records.borrow().clone()
    }

    /// Time since the command began.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// The running step, for children that report how far they are.
#[derive(Debug)]
pub struct Step<'a> {
    bar: Option<&'a ProgressBar>,
    watch: Stopwatch,
}

impl Step<'_> {
    /// Looks for `[done/total]` at the start of a line of a child's output.
    pub fn child_line(&self, line: &str) {
        let Some(bar) = self.bar else { return };
        if let Some((done, total)) = parse_count(line) {
            let left = eta(self.watch.elapsed(), done, total).map_or(String::new(), |left| {
                format!(", about {} left", human(left))
            });
            bar.set_message(format!("{done}/{total}{left}"));
        }
    }

    /// Says what the step is at.
    pub fn note(&self, message: &str) {
        if let Some(bar) = self.bar {
            bar.set_message(message.to_owned());
        }
    }
}

/// Reads ninja's `[12/345] ...`.
fn parse_count(line: &str) -> Option<(u32, u32)> {
    let (count, _) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let (done, total) = count.split_once('/')?;
    let (done, total) = (done.trim().parse().ok()?, total.trim().parse().ok()?);
    (done <= total && total > 0).then_some((done, total))
}

/// What is left if the rest goes at the same pace; nothing before a tenth is done.
fn eta(elapsed: Duration, done: u32, total: u32) -> Option<Duration> {
    (done > 0 && done >= total.div_ceil(10)).then(|| elapsed * (total - done) / done)
}

/// "0.3 s", "12 s", "3 min 05 s".
pub fn human(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 9.95 {
        format!("{seconds:.1} s")
    } else if seconds < 59.5 {
        format!("{seconds:.0} s")
    } else {
        let whole = seconds.round() as u64;
        format!("{} min {:02} s", whole / 60, whole % 60)
    }
}

/// A table of the steps with their times.
pub fn table(records: &[StepRecord]) -> String {
    let width = records.iter().map(|r| r.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for record in records {
        let verdict = if record.failure.is_some() {
            "FAILED"
        } else {
            "ok"
        };
        text += &format!(
            "{:<width$}  {verdict:<6}  {:>12}\n",
            record.name,
            human(record.elapsed)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;

    #[test]
    fn ninja_counts_are_read_and_other_lines_are_not() {
        assert_eq!(parse_count("[12/345] Building CXX object"), Some((12, 345)));
        assert_eq!(parse_count("[  3/ 40] x"), Some((3, 40)));
        assert_eq!(parse_count("[9/3] x"), None);
        assert_eq!(parse_count("[0/0] x"), None);
        assert_eq!(parse_count("In file included from [a/b]"), None);
    }

    #[test]
    fn the_estimate_scales_with_the_pace() {
        assert_eq!(eta(Duration::from_secs(10), 1, 100), None);
        assert_eq!(
            eta(Duration::from_secs(10), 25, 100),
            Some(Duration::from_secs(30))
        );
        assert_eq!(eta(Duration::from_secs(10), 100, 100), Some(Duration::ZERO));
    }

    #[test]
    fn durations_read_well() {
        assert_eq!(human(Duration::from_millis(340)), "0.3 s");
        assert_eq!(human(Duration::from_millis(9960)), "10 s");
        assert_eq!(human(Duration::from_secs(125)), "2 min 05 s");
        assert_eq!(human(Duration::from_millis(59_700)), "1 min 00 s");
    }

    #[test]
    fn a_failed_step_is_recorded_with_its_message() {
        let progress = Progress::new();
        assert!(
            progress
                .step("one", "does one", |_| Ok("done".into()))
                .is_ok()
        );
        let result = progress.step("two", "does two", |_| Err(Failure::step("no disk")));
        assert_eq!(result, Err(Failure::step("no disk")));
        let records = progress.records();
        assert_eq!(records[0].failure, None);
        assert_eq!(records[1].failure.as_deref(), Some("no disk"));
        assert!(table(&records).contains("two  FAILED"));
    }
}
