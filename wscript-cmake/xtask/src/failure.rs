//! How a command ends when it does not succeed.

use std::fmt;

/// A failure with the exit code it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The process's exit code.
    pub code: u8,
    /// What to print on stderr; empty if everything has been said already.
    pub message: String,
}

impl Failure {
    /// Bad input, or a set-up that only the user can go on with: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            code: 2,
            message: message.into(),
        }
    }

    /// A step that failed: exit code 1.
    pub fn step(message: impl Into<String>) -> Self {
        Self {
            code: 1,
            message: message.into(),
        }
    }

    /// Another exit code, everything having been said.
    pub fn silent(code: u8) -> Self {
        Self {
            code,
            message: String::new(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// The result of everything that can fail here.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Names the file or folder that an I/O error is about.
pub trait IoContext<T> {
    /// `what` reads like "cannot write out/x".
    fn context(self, what: impl fmt::Display) -> Result<T>;
}

impl<T> IoContext<T> for std::io::Result<T> {
    fn context(self, what: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Failure::step(format!("{what}: {error}")))
    }
}
