//! The one list of controllers.

use super::{Controller, Setup, bbr, copa, copa_icn, cubic, ecd, fixed, newreno};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Makes a controller; the error says which parameter is wrong.
pub type Build = fn(&Setup, &Value) -> Result<Box<dyn Controller>, String>;

/// A controller as users see it.
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
    /// Whether it reduces its window by a factor, once per loss episode. The conformance tests then
    /// hold it to that.
    pub multiplicative_decrease: bool,
    /// Makes one from a JSON object of parameters (those left out have their defaults).
    pub build: Build,
}

/// All controllers, by name.
pub const CONTROLLERS: &[Entry] = &[
    Entry {
        name: "bbr",
        aliases: &["bbr1", "bbrv1"],
        summary: "model-based: paces at the estimated bottleneck bandwidth",
        reference: "draft-cardwell-iccrg-bbr-congestion-control-00",
        defaults: defaults::<bbr::Config>,
        schema: schema::<bbr::Config>,
        multiplicative_decrease: false,
        build: |setup, params| boxed(bbr::Bbr::new(setup, &parse(params)?)),
    },
    Entry {
        name: "copa",
        aliases: &[],
        summary: "delay-based: follows the rate 1/(delta * queueing delay)",
        reference: "Arun and Balakrishnan, Copa, NSDI 2018",
        defaults: defaults::<copa::Config>,
        schema: schema::<copa::Config>,
        multiplicative_decrease: false,
        build: |setup, params| boxed(copa::Copa::new(setup, &parse(params)?)),
    },
    Entry {
        name: "copa-icn",
        aliases: &["copaicn"],
        summary: "Copa on the one-way delay of DATA, with priority probes and delta by rate",
        reference: "Copa-ICN: Improving Copa as a Congestion Control Algorithm in \
                    Information-Centric Networking, section 4.2",
        defaults: defaults::<copa_icn::Config>,
        schema: schema::<copa_icn::Config>,
        multiplicative_decrease: false,
        build: |setup, params| boxed(copa_icn::CopaIcn::new(setup, &parse(params)?)),
    },
    Entry {
        name: "cubic",
        aliases: &[],
        summary: "window along a cubic function of the time since the last loss",
        reference: "RFC 9438; slow start exit: RFC 9406",
        defaults: defaults::<cubic::Config>,
        schema: schema::<cubic::Config>,
        multiplicative_decrease: true,
        build: |setup, params| boxed(cubic::Cubic::new(setup, &parse(params)?)),
    },
    Entry {
        name: "ecd",
        aliases: &["ecd-icn"],
        summary: "as NewReno, and a cut in proportion to the share of marked DATA",
        reference: "the ECD paper, section 4.3; RFC 8257 section 3.3",
        defaults: defaults::<ecd::Config>,
        schema: schema::<ecd::Config>,
        // On losses; a marked window is cut at its end, which unmarked DATA may bring.
        multiplicative_decrease: true,
        build: |setup, params| boxed(ecd::Ecd::new(setup, &parse(params)?)),
    },
    Entry {
        name: "fixed",
        aliases: &[],
        summary: "constant window, no congestion control",
        reference: "-",
        defaults: defaults::<fixed::Config>,
        schema: schema::<fixed::Config>,
        multiplicative_decrease: false,
        build: |setup, params| boxed(fixed::Fixed::new(setup, &parse(params)?)),
    },
    Entry {
        name: "newreno",
        aliases: &["reno", "new-reno"],
        summary: "additive increase, halving once per window with losses",
        reference: "RFC 5681, RFC 6582, RFC 9002 section 7",
        defaults: defaults::<newreno::Config>,
        schema: schema::<newreno::Config>,
        multiplicative_decrease: true,
        build: |setup, params| boxed(newreno::NewReno::new(setup, &parse(params)?)),
    },
];

/// The entry called `name` (or by an alias), or none.
pub fn find(name: &str) -> Option<&'static Entry> {
    CONTROLLERS
        .iter()
        .find(|e| e.name == name || e.aliases.contains(&name))
}

/// Makes the controller called `name`; the error names what is accepted.
pub fn build(name: &str, setup: &Setup, params: &Value) -> Result<Box<dyn Controller>, String> {
    let entry = find(name).ok_or_else(|| {
        let known = CONTROLLERS
            .iter()
            .map(|e| e.name)
            .collect::<Vec<_>>()
            .join(", ");
        format!("unknown controller '{name}' (accepted: {known})")
    })?;
    (entry.build)(setup, params).map_err(|e| format!("controller {}: {e}", entry.name))
}

pub(crate) fn defaults<C: Default + Serialize>() -> Value {
    serde_json::to_value(C::default()).expect("parameters are plain data")
}

pub(crate) fn schema<C: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<C>()
}

pub(crate) fn parse<C: DeserializeOwned>(params: &Value) -> Result<C, String> {
    serde_path_to_error::deserialize(params).map_err(|e| match e.path().to_string() {
        // An unknown field's name is in the message.
        path if path == "." || e.inner().to_string().starts_with("unknown field") => {
            e.into_inner().to_string()
        }
        path => format!("{path}: {}", e.into_inner()),
    })
}

fn boxed<C: Controller + 'static>(made: Result<C, String>) -> Result<Box<dyn Controller>, String> {
    made.map(|c| Box::new(c) as Box<dyn Controller>)
}
