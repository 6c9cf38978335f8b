//! `cargo xtask test`: every test, a table, and one closing line.

use std::path::Path;
use std::process::Command;

use crate::apt;
use crate::cli::TestOptions;
use crate::commands::ns3;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::process::{find_program, output};
use crate::progress::{StepRecord, human, table};
use crate::python::{self, Venv};
use crate::runner::SCENARIOS;
use crate::standalone::{self, Profile};
use crate::{runner, wheel};

/// The program with the module's C++ test suites, built against the wheel.
const WHEEL_TESTS: &str = "ferrocc-tests";

/// Runs the checks; a failed one does not keep the others from running.
pub fn run(options: TestOptions) -> Result<()> {
    let context = Context::new()?;
    // Nothing can be tested without these.
    apt::ensure(&context, &apt::BUILD)?;
    let checks = Checks { context: &context };
    checks.rust();
    let venv = checks.found("venv analysis", python::ensure_analysis(&context));
    checks.style(venv.as_ref());
    let wheel_runner = checks.wheel();
    let tree_runner = if options.quick { None } else { checks.tree() };
    if let Some(venv) = &venv {
        checks.python(venv, wheel_runner.as_deref(), tree_runner.as_deref());
    }
    report(&context)
}

fn report(context: &Context) -> Result<()> {
    let records = context.progress.records();
    println!("\n{}", table(&records));
    for StepRecord { name, failure, .. } in &records {
        if let Some(failure) = failure {
            println!("{name}: {failure}\n");
        }
    }
    let failed = records
        .iter()
        .filter(|record| record.failure.is_some())
        .count();
    println!("total {}", human(context.progress.elapsed()));
    println!("{} passed, {failed} failed", records.len() - failed);
    if failed == 0 {
        Ok(())
    } else {
        Err(Failure::silent(1))
    }
}

struct Checks<'a> {
    context: &'a Context,
}

impl Checks<'_> {
    /// One check that is one child process. Failures are in the records.
    fn command(&self, name: &str, what: &str, command: &mut Command) -> bool {
        let run = |step: &crate::progress::Step<'_>| {
            let log = self.context.logs.begin(name)?;
            log.run(step, command)?;
            Ok(count_note(&log.text()))
        };
        self.context.progress.step(name, what, run).is_ok()
    }

    /// A set-up that did not succeed is a failed check, even where no step has said so.
    fn found<T>(&self, name: &str, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(failure) => {
                let said = Some(failure.to_string());
                if self
                    .context
                    .progress
                    .records()
                    .last()
                    .is_none_or(|r| r.failure != said)
                {
                    let _ = self.context.progress.step(name, "set up", |_| Err(failure));
                }
                None
            }
        }
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command.current_dir(&self.context.repo).args(arguments);
        command
    }

    fn rust(&self) {
        self.command(
            "rustfmt",
            "check the format",
            &mut self.cargo(&["fmt", "--all", "--check"]),
        );
        let mut clippy = self.cargo(&["clippy", "--workspace", "--all-targets", "--locked"]);
        self.command("clippy", "lint", clippy.args(["--", "-D", "warnings"]));
        let nextest = output(&mut self.cargo(&["nextest", "--version"])).is_some();
        let tests: &[&str] = if nextest {
            &[
                "nextest",
                "run",
                "--workspace",
                "--locked",
                "--no-fail-fast",
            ]
        } else {
            &[
                "test",
                "--workspace",
                "--locked",
                "--no-fail-fast",
                "--lib",
                "--bins",
                "--tests",
            ]
        };
        self.command(
            "rust tests",
            "run the workspace's tests",
            &mut self.cargo(tests),
        );
        let mut doc_tests = self.cargo(&["test", "--workspace", "--locked", "--doc"]);
        self.command(
            "rust doc tests",
            "run the examples in the docs",
            &mut doc_tests,
        );
        let mut rustdoc = self.cargo(&["doc", "--workspace", "--locked", "--no-deps"]);
        rustdoc.env("RUSTDOCFLAGS", "-D warnings");
        self.command("rustdoc", "build the docs, warnings denied", &mut rustdoc);
    }

    fn style(&self, venv: Option<&Venv>) {
        let repo = &self.context.repo;
        if let Some(venv) = venv {
            let mut check = venv.module("ruff");
            check.current_dir(repo).arg("check");
            self.command(
                "ruff",
                "lint the Python code",
                check.args(["analysis", "tests"]),
            );
            let mut format = venv.module("ruff");
            format.current_dir(repo).args([
                "format",
                "--check",
                "--config=analysis/pyproject.toml",
            ]);
            self.command(
                "ruff format",
                "check the format",
                format.args(["analysis", "tests"]),
            );
            let mut mypy = venv.module("mypy");
            mypy.current_dir(repo.join("analysis"))
                .env("MYPYPATH", "src");
            self.command("mypy", "check the Python types", &mut mypy);
        }
        if let Some(checkers) = self.found("venv checkers", python::ensure_checkers(self.context)) {
            let files = cpp_files(repo);
            let what = format!("check the format of {} C++ files", files.len());
            let mut format = Command::new(checkers.program("clang-format"));
            format
                .current_dir(repo)
                .args(["--dry-run", "--Werror"])
                .args(files);
            self.command("clang-format", &what, &mut format);
        }
    }

    /// Builds and C++ suites on the wheel; the release runner.
    fn wheel(&self) -> Option<std::path::PathBuf> {
        let wheel = self.found("ns-3 wheel", wheel::ensure(self.context))?;
        let mut release = None;
        for profile in [Profile::Release, Profile::Debug] {
            let targets = [SCENARIOS, WHEEL_TESTS];
            let Ok(build) = standalone::ensure(self.context, &wheel, profile, &targets) else {
                continue;
            };
            let name = format!("c++ tests {}", profile.name());
            let what = "run the module's suites on the ns-3 wheel";
            let _ = self.context.progress.step(&name, what, |step| {
                let log = self.context.logs.begin(&name)?;
                let program = build.program(WHEEL_TESTS);
                let suites = suites(&program)?;
                for suite in &suites {
                    step.note(suite);
                    let mut test = Command::new(&program);
                    test.arg(format!("--suite={suite}"));
                    log.run(step, test.current_dir(&self.context.repo))?;
                }
                Ok(format!("{} suites passed", suites.len()))
            });
            if profile == Profile::Release {
                release = Some(build.program(SCENARIOS));
            }
        }
        release
    }

    /// Build and C++ suites in a tree; its runner.
    fn tree(&self) -> Option<std::path::PathBuf> {
        let tree = match runner::ns3_dir() {
            Ok(None) => ns3::fetch_and_build(self.context),
            Ok(Some(tree)) => runner::module(self.context)
                .and_then(|module| tree.link(&module, false))
                .and_then(|_| tree.build(self.context, &[]))
                .map(|()| tree),
            Err(failure) => Err(failure),
        };
        let tree = self.found("ns-3 tree", tree)?;
        let name = format!("c++ tests {}", tree.version);
        let what = "run the module's suites in the ns-3 tree";
        let _ = self.context.progress.step(&name, what, |step| {
            let log = self.context.logs.begin(&name)?;
            let program = tree.program("test-runner").ok_or_else(|| {
                Failure::step(format!("{} has no test-runner", tree.root.display()))
            })?;
            let suites = suites(&program)?;
            for suite in &suites {
                step.note(suite);
                let mut test = Command::new("./test.py");
                log.run(step, test.current_dir(&tree.root).args(["-n", "-s", suite]))?;
            }
            Ok(format!("{} suites passed", suites.len()))
        });
        tree.program(SCENARIOS)
    }

    fn python(&self, venv: &Venv, wheel: Option<&Path>, tree: Option<&Path>) {
        let repo = &self.context.repo;
        let mut analysis = venv.module("pytest");
        analysis
            .current_dir(repo.join("analysis"))
            .arg("-p")
            .arg("no:cacheprovider");
        self.command("analysis tests", "pytest analysis/tests", &mut analysis);
        let end_to_end = |name: &str, what: &str, runner: &Path| {
            let mut tests = venv.module("pytest");
            tests
                .current_dir(repo)
                .args(["tests", "-q", "-p", "no:cacheprovider"]);
            tests
                .env("PYTHONPATH", repo.join("analysis/src"))
                .env("FERROCC_RUNNER", runner);
            self.command(name, what, &mut tests);
        };
        if let Some(runner) = wheel {
            end_to_end(
                "end to end wheel",
                "pytest tests, runner on the ns-3 wheel",
                runner,
            );
        }
        if let Some(runner) = tree {
            end_to_end(
                "end to end tree",
                "pytest tests, runner in the ns-3 tree",
                runner,
            );
        }
    }
}

/// The names of the module's suites in a test runner. Each is run in a process of its own, as ns-3
/// asks for.
fn suites(runner: &Path) -> Result<Vec<String>> {
    let text = output(Command::new(runner).arg("--list")).unwrap_or_default();
    let ours: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|name| name.contains("ferrocc"))
        .map(str::to_owned)
        .collect();
    if ours.is_empty() {
        let runner = runner.display();
        Err(Failure::step(format!("{runner} has no ferrocc test suite")))
    } else {
        Ok(ours)
    }
}

/// The C++ files that Git knows.
fn cpp_files(repo: &Path) -> Vec<String> {
    let git = find_program(&["git"]).unwrap_or("git".into());
    let patterns = ["*.cc", "*.h"];
    let mut list = Command::new(git);
    list.current_dir(repo).args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "--",
    ]);
    let text = output(list.args(patterns)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The runner's own count, if its last lines have one.
fn count_note(log: &str) -> String {
    let line = log
        .lines()
        .rev()
        .take(8)
        .find(|line| line.contains(" passed") && line.chars().any(|c| c.is_ascii_digit()));
    line.map_or("passed".into(), |line| {
        line.trim().trim_matches('=').trim().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_a_test_runner_is_shown() {
        assert_eq!(
            count_note("x\n== 12 passed in 0.31s ==\n"),
            "12 passed in 0.31s"
        );
        let nextest = "     Summary [   1.2s] 40 tests run: 40 passed, 0 skipped\n";
        assert_eq!(
            count_note(nextest),
            "Summary [   1.2s] 40 tests run: 40 passed, 0 skipped"
        );
        assert_eq!(count_note("All checks passed!\n"), "passed");
        assert_eq!(count_note(""), "passed");
    }
}
