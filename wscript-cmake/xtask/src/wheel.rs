//! The ns-3 wheel: headers and libraries of a released ns-3, without a build of ns-3.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::{self, Contents, Identity};
use crate::context::Context;
use crate::failure::{Failure, IoContext, Result};
use crate::process::Log;
use crate::progress::Step;
use crate::python::{self, Venv, sha256};

/// The project on the Python package index.
const PROJECT: &str = "ns3";

/// The release that the module is built and tested against.
pub const VERSION: &str = "3.44.post0";

/// SHA-256 of `ns3-3.44.post0-cp311-cp311-manylinux_2_28_x86_64.whl`.
const SHA256: &str = "2a98479a4a3a1bb819b95ce061871a9d068268b42351b8f0ef598160939ba7ce";

/// The folder in the wheel that has `include` and `lib64`.
const INSIDE: &str = "ns3";

/// Whether there is a wheel for this system; otherwise what to do instead.
pub fn supported() -> Result<()> {
    check_host(std::env::consts::OS, std::env::consts::ARCH)
}

fn check_host(os: &str, arch: &str) -> Result<()> {
    if (os, arch) == ("linux", "x86_64") {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "there is no ns-3 wheel for {os} on {arch}: build in an ns-3 tree (cargo xtask ns3 --fetch, \
         or cargo xtask ns3 PATH) and set NS3_DIR=PATH"
    )))
}

/// Downloads, checks and unpacks the wheel; returns the folder with `include` and `lib64`.
pub fn ensure(context: &Context) -> Result<PathBuf> {
    supported()?;
    let folder = context.cache.path(&format!("ns3-wheel-{VERSION}"));
    let identity = Identity {
        name: "ns3-wheel".into(),
        version: VERSION.into(),
        sha256: SHA256.into(),
    };
    // pip is wanted only if something has to be downloaded.
    let pip = match cache::check(&folder, &identity, Contents::Frozen) {
        Ok(()) => None,
        Err(_) => Some(python::ensure_pip(context)?),
    };
    let what = format!("ns-3 {VERSION}: headers and libraries (69 MB)");
    context.progress.step("ns-3 wheel", &what, |step| {
        let log = context.logs.begin("ns-3 wheel")?;
        let made = cache::ensure(&folder, &identity, Contents::Frozen, |temporary| {
            let pip = pip
                .as_ref()
                .ok_or_else(|| Failure::step("the cache changed meanwhile"))?;
            fetch(&log, step, pip, temporary)
        })?;
        Ok(made.note())
    })?;
    Ok(folder.join(INSIDE))
}

fn fetch(log: &Log, step: &Step<'_>, venv: &Venv, folder: &Path) -> Result<()> {
    step.note("download");
    let download = folder.join("download");
    let mut pip = venv.module("pip");
    pip.args([
        "download",
        "--disable-pip-version-check",
        "--no-input",
        "--progress-bar=off",
    ]);
    pip.args([
        "--no-deps",
        "--only-binary=:all:",
        "--python-version=3.11",
        "--implementation=cp",
    ]);
    pip.args(["--platform=manylinux_2_28_x86_64", "--dest"])
        .arg(&download);
    pip.arg(format!("{PROJECT}=={VERSION}"));
    log.run(step, &mut pip)?;
    let wheel = fs::read_dir(&download)
        .context(format!("cannot read {}", download.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or_else(|| log.failure("pip downloaded no wheel"))?;
    step.note("check");
    verify(&wheel, SHA256)?;
    step.note("unpack");
    let mut unzip = venv.module("zipfile");
    unzip.arg("-e").arg(&wheel).arg(folder);
    log.run(step, &mut unzip)?;
    for wanted in ["include/ns3/core-module.h", "lib64"] {
        if !folder.join(INSIDE).join(wanted).exists() {
            return Err(log.failure(&format!("the wheel has no {INSIDE}/{wanted}")));
        }
    }
    cache::remove(&download)
}

/// Compares a file with its pinned checksum.
fn verify(file: &Path, expected: &str) -> Result<()> {
    let bytes = fs::read(file).context(format!("cannot read {}", file.display()))?;
    let found = sha256(&bytes);
    if found == expected {
        return Ok(());
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Err(Failure::step(format!(
        "{name}: SHA-256 is {found}, must be {expected}: not used"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_processor_or_system_is_pointed_to_the_tree() {
        assert!(check_host("linux", "x86_64").is_ok());
        for (os, arch) in [("linux", "aarch64"), ("macos", "x86_64")] {
            let failure = check_host(os, arch).unwrap_err();
            assert_eq!(failure.code, 2);
            assert!(failure.message.contains("xtask ns3") && failure.message.contains(arch));
        }
    }

    #[test]
    fn a_wheel_that_is_not_the_pinned_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ns3.whl");
        fs::write(&file, "abc").unwrap();
        assert!(verify(&file, &sha256(b"abc")).is_ok());
        let message = verify(&file, SHA256).unwrap_err().message;
        assert!(
            message.starts_with("ns3.whl: SHA-256 is ba7816bf"),
            "{message}"
        );
    }
}
