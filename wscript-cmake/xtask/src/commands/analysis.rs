//! `cargo xtask analysis`: this clone's `ferrocc_analysis` in the managed environment.

use std::ffi::OsString;
use std::process::Command;

use crate::context::Context;
use crate::failure::Result;
use crate::process;
use crate::python::{self, Venv};

/// Sets the environment up, if need be, and becomes `ferrocc-analysis` with `arguments`.
pub fn run(arguments: &[OsString]) -> Result<()> {
    let context = Context::new()?;
    let venv = python::ensure_analysis(&context)?;
    Err(process::replace(command(&context, &venv).args(arguments)))
}

/// `python -m ferrocc_analysis` of this clone, in the managed environment.
pub fn command(context: &Context, venv: &Venv) -> Command {
    let mut command = venv.module("ferrocc_analysis");
    command.env("PYTHONPATH", context.repo.join("analysis/src"));
    command
}
