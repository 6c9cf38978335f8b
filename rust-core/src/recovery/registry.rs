//! The one list of policies.

use super::{Policy, Setup, cerl, nce, newreno, veno};
use crate::cc::registry::{defaults, parse, schema};
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

/// Makes a policy; the error says which parameter is wrong.
pub type Build = fn(&Setup, &Value) -> Result<Box<dyn Policy>, String>;

/// A policy as users see it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name in scenarios and on the command line.
    pub name: &'static str,
    /// Other names that are accepted.
    pub aliases: &'static [&'static str],
    /// One line: what it is.
    pub summary: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// All parameters with their default values, a JSON object.
    pub defaults: fn() -> Value,
    /// The JSON Schema of the parameters.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Makes one from a JSON object of parameters (those left out have their defaults).
    pub build: Build,
}

/// All policies, by name.
pub const POLICIES: &[Entry] = &[
    Entry {
        name: "cerl",
        aliases: &["tcp-cerl"],
        summary: "random loss where RTTs show less than 55 % of the longest queue, without a cut",
        reference: "El-Ocla 2010; the NCE paper, equations (4) and (5)",
        defaults: defaults::<cerl::Config>,
        schema: schema::<cerl::Config>,
        build: |_, params| boxed(cerl::Cerl::new(&parse(params)?)),
    },
    Entry {
        name: "nce",
        aliases: &["tcp-nce"],
        summary: "delays the retransmission until reordering and random loss can be told apart",
        reference: "the NCE paper",
        defaults: defaults::<nce::Config>,
        schema: schema::<nce::Config>,
        build: |setup, params| boxed(nce::Nce::new(setup, &parse(params)?)),
    },
    Entry {
        name: "newreno",
        aliases: &["reno", "new-reno"],
        summary: "three duplicate ACKs are a loss by congestion, one hole is filled per round trip",
        reference: "RFC 6582",
        defaults: defaults::<newreno::Config>,
        schema: schema::<newreno::Config>,
        build: |_, params| {
            parse::<newreno::Config>(params).map(|_| Box::new(newreno::NewReno) as _)
        },
    },
    Entry {
        name: "no-cut",
        aliases: &["nocut"],
        summary: "newreno without cuts for duplicate ACKs, to hold the others against",
        reference: "-",
        defaults: defaults::<newreno::Config>,
        schema: schema::<newreno::Config>,
        build: |_, params| {
            parse::<newreno::Config>(params).map(|_| Box::<newreno::NoCut>::default() as _)
        },
    },
    Entry {
        name: "veno",
        aliases: &["tcp-veno"],
        summary: "random loss where less than 3 packets wait, which costs a fifth of the window",
        reference: "Fu and Liew 2003; the NCE paper, equations (1) to (3)",
        defaults: defaults::<veno::Config>,
        schema: schema::<veno::Config>,
        build: |setup, params| boxed(veno::Veno::new(setup, &parse(params)?)),
    },
];

/// The entry called `name` (or by an alias), or none.
pub fn find(name: &str) -> Option<&'static Entry> {
    POLICIES
        .iter()
        .find(|e| e.name == name || e.aliases.contains(&name))
}

/// Makes the policy called `name`; the error names what is accepted.
pub fn build(name: &str, setup: &Setup, params: &Value) -> Result<Box<dyn Policy>, String> {
    let entry = find(name).ok_or_else(|| {
        let known = POLICIES.iter().map(|e| e.name);
        crate::scenario::unknown("recovery", name, known)
    })?;
    (entry.build)(setup, params).map_err(|e| format!("recovery {}: {e}", entry.name))
}

fn boxed<P: Policy + 'static>(made: Result<P, String>) -> Result<Box<dyn Policy>, String> {
    made.map(|p| Box::new(p) as Box<dyn Policy>)
}

#[cfg(test)]
mod tests;
