//! Builds of the module against the wheel: the standalone CMake project.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache;
use crate::context::Context;
use crate::failure::{IoContext, Result};
use crate::process::{Log, describe};
use crate::progress::Step;

/// The file in a build folder that says how it was configured.
const CONFIGURED: &str = ".ferrocc-configured";

/// Optimised or with every check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// -O2 and the ns-3 wheel's own checks.
    Release,
    /// -O0 with assertions.
    Debug,
}

impl Profile {
    fn cmake(self) -> &'static str {
        match self {
            Self::Release => "Release",
            Self::Debug => "Debug",
        }
    }

    /// "release" or "debug".
    pub fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Debug => "debug",
        }
    }
}

/// A build folder of the standalone project.
#[derive(Debug, Clone)]
pub struct Build {
    folder: PathBuf,
}

impl Build {
    /// A program that a target of the project made.
    pub fn program(&self, target: &str) -> PathBuf {
        self.folder.join("bin").join(target)
    }
}

/// Configures and builds `targets` against the wheel in `wheel`.
pub fn ensure(
    context: &Context,
    wheel: &Path,
    profile: Profile,
    targets: &[&str],
) -> Result<Build> {
    let folder = context
        .repo
        .join(format!("target/ns3-wheel-{}", profile.name()));
    let build = Build {
        folder: folder.clone(),
    };
    let name = format!("build {}", profile.name());
    let what = format!("compile {} against the ns-3 wheel", targets.join(" and "));
    context.progress.step(&name, &what, |step| {
        let log = context.logs.begin(&name)?;
        let source = context.repo.join("wscript-cmake/standalone");
        let mut configure = configure_command(&source, &folder, wheel, profile);
        configure_if_needed(&log, step, &folder, &mut configure)?;
        let mut ninja = Command::new("cmake");
        ninja
            .arg("--build")
            .arg(&folder)
            .arg("--parallel")
            .arg(context.jobs.to_string());
        ninja.arg("--target").args(targets);
        let before = log.text().len();
        log.run(step, &mut ninja)?;
        let nothing = log.text()[before..].contains("ninja: no work to do");
        Ok(if nothing { "up to date" } else { "built" }.into())
    })?;
    Ok(build)
}

fn configure_command(source: &Path, folder: &Path, wheel: &Path, profile: Profile) -> Command {
    let mut cmake = Command::new("cmake");
    cmake
        .arg("-S")
        .arg(source)
        .arg("-B")
        .arg(folder)
        .args(["-G", "Ninja"]);
    cmake.arg(format!("-DNS3_WHEEL={}", wheel.display()));
    cmake.arg(format!("-DCMAKE_BUILD_TYPE={}", profile.cmake()));
    cmake.arg(format!(
        "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY={}",
        folder.join("bin").display()
    ));
    cmake.arg("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache");
    cmake
}

/// Configures a build folder, if it is not configured in exactly this way. A folder configured for
/// other paths (a moved clone, another cache) or half configured is made anew. Ninja itself starts
/// CMake again when a CMake file changes.
fn configure_if_needed(
    log: &Log,
    step: &Step<'_>,
    folder: &Path,
    configure: &mut Command,
) -> Result<()> {
    let stamp = folder.join(CONFIGURED);
    let wanted = describe(configure) + "\n";
    let configured = fs::read_to_string(&stamp).is_ok_and(|found| found == wanted);
    if configured && folder.join("build.ninja").exists() {
        return Ok(());
    }
    step.note("configure");
    cache::remove(folder)?;
    fs::create_dir_all(folder).context(format!("cannot create {}", folder.display()))?;
    log.run(step, configure)?;
    fs::write(&stamp, wanted).context(format!("cannot write {}", stamp.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Logs;
    use crate::progress::Progress;

    /// Counts how often the "configuration" ran.
    fn configure(folder: &Path, ninja_file: bool) -> Command {
        let mut command = Command::new("sh");
        let make = if ninja_file {
            "; touch \"$0/build.ninja\""
        } else {
            ""
        };
        command
            .arg("-c")
            .arg(format!("echo x >> \"$0/../count\"{make}"))
            .arg(folder);
        command
    }

    #[test]
    fn a_build_folder_is_configured_once_and_again_when_it_is_broken_or_asked_otherwise() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("build");
        let log = Logs::new(root.path().join("logs"))
            .begin("configure")
            .unwrap();
        let count = || {
            fs::read_to_string(root.path().join("count"))
                .unwrap()
                .lines()
                .count()
        };
        let run = |mut command: Command| {
            Progress::new()
                .step("s", "w", |step| {
                    configure_if_needed(&log, step, &folder, &mut command).map(|()| String::new())
                })
                .unwrap();
        };
        run(configure(&folder, true));
        run(configure(&folder, true));
        assert_eq!(count(), 1);
        fs::remove_file(folder.join(CONFIGURED)).unwrap();
        fs::write(folder.join("rubbish"), "").unwrap();
        run(configure(&folder, true));
        assert_eq!(count(), 2);
        assert!(!folder.join("rubbish").exists());
        run(configure(&folder, false));
        assert_eq!(count(), 3, "other arguments");
        run(configure(&folder, false));
        assert_eq!(count(), 4, "no build.ninja");
    }

    #[test]
    fn the_two_profiles_differ_in_folder_and_build_type() {
        let command = |profile| {
            describe(&configure_command(
                Path::new("s"),
                Path::new("b"),
                Path::new("w"),
                profile,
            ))
        };
        assert!(command(Profile::Release).contains("-DCMAKE_BUILD_TYPE=Release"));
        assert!(command(Profile::Debug).contains("-DCMAKE_BUILD_TYPE=Debug"));
    }
}
