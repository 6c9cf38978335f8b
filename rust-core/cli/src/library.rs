//! The scenarios that are part of the program.

use ferrocc::scenario::{Error, Library, read};

/// Name and text of every scenario file, by name.
const SCENARIOS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// The embedded scenarios.
#[derive(Debug, Clone, Copy, Default)]
pub struct Embedded;

impl Library for Embedded {
    fn find(&self, name: &str) -> Option<&str> {
        SCENARIOS
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, text)| *text)
    }

    fn names(&self) -> Vec<&str> {
        SCENARIOS.iter().map(|(name, _)| *name).collect()
    }
}

/// The names of the embedded scenarios and their descriptions.
pub fn scenarios() -> Result<Vec<(&'static str, String)>, Error> {
    SCENARIOS
        .iter()
        .map(|&(name, text)| {
            let file = read(text.as_bytes(), name)?;
            Ok((
                name,
                file["description"].as_str().unwrap_or_default().to_owned(),
            ))
        })
        .collect()
}
