//! The scenario model, linked in so that bad input is refused before anything is set up or built.

use crate::failure::{Failure, Result};

/// What the runner's arguments ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Text: a list, a description, help.
    Print(String),
    /// Runs.
    Run,
}

/// Reads the runner's arguments.
pub fn parse(arguments: &[String]) -> Result<Request> {
    if arguments.iter().any(|argument| argument == "--list") {
        return Err(Failure::usage(
            "list: the scenario library is not part of this version",
        ));
    }
    Ok(Request::Run)
}
