//! The programs that run scenarios and benchmarks, from the wheel or from an ns-3 tree.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::apt::{self, Need};
use crate::context::Context;
use crate::failure::{Failure, IoContext, Result};
use crate::ns3_fetch;
use crate::ns3_tree::{Link, Tree};
use crate::standalone::{self, Build, Profile};
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

/// Built programs.
#[derive(Debug, Clone)]
pub enum Programs {
    /// Against the wheel.
    Wheel(Build),
    /// In a tree.
    Tree(Tree),
}

impl Programs {
    /// A program that was asked for.
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        match self {
            Self::Wheel(build) => Ok(build.program(name)),
            Self::Tree(tree) => tree.program(name).ok_or_else(|| {
                Failure::step(format!("{} has no program {name}", tree.root.display()))
            }),
        }
    }

    /// Which ns-3 they are built with, for people.
    pub fn ns3(&self) -> String {
        match self {
            Self::Wheel(_) => format!("{} wheel (with logging and assertions)", wheel::VERSION),
            Self::Tree(tree) => format!("{} optimized", tree.version),
        }
    }
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
    if let Some(tree) = ns3_dir()? {
        return Ok(Source::Tree(tree));
    }
    let module = module(context)?;
    let tree = ns3_fetch::cached(context)
        .filter(|tree| tree.link_state(&module) == Link::Ours && tree.program(SCENARIOS).is_some());
    Ok(tree.map_or(Source::Wheel, Source::Tree))
}

/// NS3_DIR's tree, if it is set.
pub fn ns3_dir() -> Result<Option<Tree>> {
    match std::env::var_os("NS3_DIR").filter(|path| !path.is_empty()) {
        None => Ok(None),
        Some(path) => Tree::open(Path::new(&path))
            .map(Some)
            .map_err(|failure| Failure::usage(format!("NS3_DIR: {failure}"))),
    }
}

/// Builds programs, if they are not built.
pub fn ensure(context: &Context, targets: &[&str], needs: &[Need]) -> Result<Programs> {
    let source = source(context)?;
    if source == Source::Wheel {
        // Before anything is installed.
        wheel::supported()?;
    }
    apt::ensure(context, &[&apt::BUILD, needs].concat())?;
    match source {
        Source::Wheel => {
            let wheel = wheel::ensure(context)?;
            standalone::ensure(context, &wheel, Profile::Release, targets).map(Programs::Wheel)
        }
        Source::Tree(tree) => {
            tree.link(&module(context)?, false)?;
            tree.build(context, targets)?;
            Ok(Programs::Tree(tree))
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
