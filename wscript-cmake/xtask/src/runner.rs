//! The program that runs scenarios, from the wheel or from an ns-3 tree.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::apt;
use crate::context::Context;
use crate::failure::{Failure, IoContext, Result};
use crate::ns3_fetch;
use crate::ns3_tree::{Link, Tree};
use crate::standalone::{self, Profile};
use crate::wheel;

/// The target and program that runs scenarios.
pub const SCENARIOS: &str = "scenarios";

/// Where an ns-3 comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The wheel of the cache.
    Wheel,
    /// A tree: NS3_DIR's, or the one that `cargo xtask ns3 --fetch` made.
    Tree(Tree),
}

/// The folder that is linked into trees.
pub fn module(context: &Context) -> Result<PathBuf> {
    let module = context.repo.join("ns3-module");
    module
        .canonicalize()
        .context(format!("cannot find {}", module.display()))
}

/// NS3_DIR's tree; else the cache's, if this clone is linked into it; else the wheel.
pub fn source(context: &Context) -> Result<Source> {
    if let Some(path) = std::env::var_os("NS3_DIR").filter(|path| !path.is_empty()) {
        let tree = Tree::open(Path::new(&path))
            .map_err(|failure| Failure::usage(format!("NS3_DIR: {failure}")))?;
        return Ok(Source::Tree(tree));
    }
    let module = module(context)?;
    let tree = ns3_fetch::cached(context)
        .filter(|tree| tree.link_state(&module) == Link::Ours && tree.program(SCENARIOS).is_some());
    Ok(tree.map_or(Source::Wheel, Source::Tree))
}

/// Builds the runner, if it is not built.
pub fn ensure(context: &Context) -> Result<PathBuf> {
    let source = source(context)?;
    if source == Source::Wheel {
        // Before anything is installed.
        wheel::supported()?;
    }
    apt::ensure(context, &apt::BUILD)?;
    match source {
        Source::Wheel => {
            let wheel = wheel::ensure(context)?;
            let build = standalone::ensure(context, &wheel, Profile::Release, &[SCENARIOS])?;
            Ok(build.program(SCENARIOS))
        }
        Source::Tree(tree) => {
            tree.link(&module(context)?, false)?;
            tree.build(context, &[SCENARIOS])?;
            tree.program(SCENARIOS).ok_or_else(|| {
                Failure::step(format!(
                    "{} has no program {SCENARIOS}",
                    tree.root.display()
                ))
            })
        }
    }
}

/// A command that runs scenarios with paths relative to the current folder.
pub fn command(runner: &Path) -> Result<Command> {
    let here = std::env::current_dir().context("cannot find the current folder")?;
    let mut command = Command::new(runner);
    command.arg(format!("--cwd={}", here.display()));
    Ok(command)
}
