//! What every command needs: the repository, the cache, progress and logs.

use std::path::{Path, PathBuf};

use crate::cache::{self, Cache};
use crate::failure::{Failure, Result};
use crate::process::Logs;
use crate::progress::Progress;

/// The surroundings of one command.
#[derive(Debug)]
pub struct Context {
    /// The repository's root, symbolic links resolved.
    pub repo: PathBuf,
    /// The cache, held by this process.
    pub cache: Cache,
    /// The steps' lines.
    pub progress: Progress,
    /// The steps' logs.
    pub logs: Logs,
    /// Jobs of a parallel build.
    pub jobs: usize,
}

impl Context {
    /// Takes the cache; waits if another xtask has it.
    pub fn new() -> Result<Self> {
        let repo = repo()?;
        Ok(Self {
            cache: Cache::lock(cache::default_root()?)?,
            progress: Progress::new(),
            logs: Logs::new(repo.join("target/xtask/logs")),
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            repo,
        })
    }
}

/// The repository this program belongs to.
pub fn repo() -> Result<PathBuf> {
    // Cargo sets it when it starts the program, so that a moved clone is found, too.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .filter(|path| path.ends_with("wscript-cmake/xtask"))
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_owned());
    manifest
        .join("../..")
        .canonicalize()
        .ok()
        .filter(|repo| repo.join("ns3-module").exists() || repo.join("rust-core").exists())
        .ok_or_else(|| {
            Failure::usage("the repository is gone: start it as `cargo xtask` in a clone")
        })
}
