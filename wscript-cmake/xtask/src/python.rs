//! Python: the interpreter that is there, and virtual environments in the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::cache::{self, Identity};
use crate::context::Context;
use crate::failure::{Failure, IoContext, Result};
use crate::process::{Log, find_program, output};
use crate::progress::Step;

/// The oldest Python that the analysis package takes; Snakemake wants it.
const OLDEST: (u32, u32) = (3, 11);

/// An interpreter that can make virtual environments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// What to start.
    pub program: PathBuf,
    /// "3.11.2".
    pub version: String,
}

/// The first interpreter in PATH, or in the system's folder, that is new enough and has venv.
pub fn find() -> Option<Interpreter> {
    const NAMES: [&str; 5] = [
        "python3",
        "python3.14",
        "python3.13",
        "python3.12",
        "python3.11",
    ];
    NAMES
        .iter()
        .filter_map(|name| find_program(&[name]))
        .chain([PathBuf::from("/usr/bin/python3")])
        .find_map(|program| {
            // `ensurepip` is what Debian leaves out without python3-venv.
            let script = "import ensurepip, sys, venv; print(sys.executable); \
                          print('.'.join(map(str, sys.version_info[:3])))";
            let text = output(Command::new(&program).args(["-c", script]))?;
            let (program, version) = text.split_once('\n')?;
            is_new_enough(version).then(|| Interpreter {
                program: program.into(),
                version: version.to_owned(),
            })
        })
}

fn is_new_enough(version: &str) -> bool {
    let mut parts = version
        .split('.')
        .map(|part| part.parse::<u32>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= OLDEST
}

/// The interpreter, or a failure that says what is wanted.
pub fn require() -> Result<Interpreter> {
    find().ok_or_else(|| {
        Failure::usage(format!(
            "no Python >= {}.{} with the venv module",
            OLDEST.0, OLDEST.1
        ))
    })
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A virtual environment of the cache.
#[derive(Debug, Clone)]
pub struct Venv {
    folder: PathBuf,
}

impl Venv {
    /// Its interpreter. Programs of packages are started as `python -m NAME`.
    pub fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// A program that a package installed.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    /// `python -m MODULE`.
    pub fn module(&self, module: &str) -> Command {
        let mut command = Command::new(self.python());
        command.args(["-m", module]);
        command
    }
}

/// The bare environment whose pip downloads wheels: Debian's own Python has no pip.
pub fn ensure_pip(context: &Context) -> Result<Venv> {
    ensure(context, "pip", None)
}

/// The environment of the analysis package: everything in its lock file.
pub fn ensure_analysis(context: &Context) -> Result<Venv> {
    ensure(
        context,
        "analysis",
        Some(&context.repo.join("analysis/requirements.lock")),
    )
}

/// The environment of the checkers of `cargo xtask test` (ruff, clang-format).
pub fn ensure_checkers(context: &Context) -> Result<Venv> {
    ensure(
        context,
        "checkers",
        Some(&context.repo.join("wscript-cmake/xtask/checkers.lock")),
    )
}

/// An environment's folder is named after what is in it (interpreter and lock file), so that clones
/// with different locks share the cache without disturbing each other.
fn ensure(context: &Context, name: &str, lock: Option<&Path>) -> Result<Venv> {
    let python = require()?;
    let requirements = match lock {
        Some(path) => fs::read(path).context(format!("cannot read {}", path.display()))?,
        None => Vec::new(),
    };
    let identity = identity(name, &python, &requirements);
    let folder = context.cache.path(&folder_name(name, &identity));
    let what = match lock {
        Some(_) => format!("Python {} with the locked {name} packages", python.version),
        None => format!("Python {} with pip", python.version),
    };
    let venv = Venv {
        folder: folder.clone(),
    };
    context
        .progress
        .step(&format!("venv {name}"), &what, |step| {
            let log = context.logs.begin(&format!("venv {name}"))?;
            let made = cache::ensure_in_place(&folder, &identity, |folder| {
                fill(&log, step, &python, folder, lock)
            })?;
            Ok(made.note())
        })?;
    Ok(venv)
}

fn identity(name: &str, python: &Interpreter, requirements: &[u8]) -> Identity {
    let version = format!("{} {}", python.program.display(), python.version);
    Identity {
        name: format!("venv-{name}"),
        version,
        sha256: sha256(requirements),
    }
}

fn folder_name(name: &str, identity: &Identity) -> String {
    let key = sha256(format!("{}\n{}", identity.version, identity.sha256).as_bytes());
    format!("venv-{name}-{}", &key[..12])
}

fn fill(
    log: &Log,
    step: &Step<'_>,
    python: &Interpreter,
    folder: &Path,
    lock: Option<&Path>,
) -> Result<()> {
    step.note("create");
    log.run(
        step,
        Command::new(&python.program)
            .args(["-m", "venv"])
            .arg(folder),
    )?;
    let Some(lock) = lock else { return Ok(()) };
    step.note("install");
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
    ]);
    // Nothing is built from source but the few pure Python packages that the lock file names: a
    // wheel is missing only where this Python is not served.
    pip.args(["--only-binary=:all:", "-r"]).arg(lock);
    log.run(step, &mut pip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(is_new_enough("3.11.0"));
        assert!(is_new_enough("3.14.1"));
        assert!(is_new_enough("4.0.0"));
        assert!(!is_new_enough("3.9.18"));
        assert!(!is_new_enough("3.10.14"));
        assert!(!is_new_enough(""));
    }

    #[test]
    fn another_lock_or_interpreter_is_another_folder() {
        let python = |version: &str| Interpreter {
            program: "/usr/bin/python3".into(),
            version: version.into(),
        };
        let name = |version: &str, lock: &[u8]| {
            folder_name("analysis", &identity("analysis", &python(version), lock))
        };
        assert_eq!(name("3.11.2", b"a==1"), name("3.11.2", b"a==1"));
        assert_ne!(name("3.11.2", b"a==1"), name("3.11.2", b"a==2"));
        assert_ne!(name("3.11.2", b"a==1"), name("3.12.0", b"a==1"));
    }

    #[test]
    fn sha256_is_the_standards() {
        // FIPS 180-4, the one-block example.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), expected);
    }
}
