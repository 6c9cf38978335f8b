//! What a scenario must hold, section by section of the model, and what it leaves open filled in.

mod clock;
mod faults;
mod flows;
mod names;
mod routers;
mod tcp;
mod topology;
mod workload;

use super::error::{Error, from_serde};
use super::model::{Algorithm, Links, Scenario};
use crate::units::{Bytes, Duration};
use serde_json::{Map, Value};
use std::fmt::Display;

/// Largest number of flows in a scenario.
pub const MAX_FLOWS: u32 = 100_000;
/// Receiver nodes where a scenario does not say, if there are at least as many flows.
pub const DEFAULT_RECEIVERS: u32 = 64;

/// Checks `scenario` and fills in what it leaves open.
pub(super) fn fill_in(mut s: Scenario, single: bool) -> Result<(Scenario, Links, Bytes), Error> {
    s.schema = None;
    s.extends = None;
    s.sweep = None;
    s.flow_count = None;
    within(
        "duration",
        s.duration,
        s.duration.0,
        millis(1),
        secs(1_000_000),
        "1 ms..1000000 s",
    )?;
    if s.seed == 0 {
        return Err(Error::new(
            "seed",
            "0 is out of range (accepted: 1..4294967295)",
        ));
    }
    let count = s.flows.len();
    if count == 0 || count > MAX_FLOWS as usize {
        let problem = format!("{count} flows are out of range (accepted: 1..{MAX_FLOWS})");
        return Err(Error::new("flows", problem));
    }
    within(
        "trace.interval",
        s.trace.interval,
        s.trace.interval.0,
        micros(10),
        secs(1_000_000),
        "10 us..1000000 s",
    )?;
    clock::check("clock", &s.clock)?;
    s.transport
        .validate()
        .map_err(|message| inside("transport", &message))?;
    let payload = s.transport.mss();
    topology::names(&mut s.topology)?;
    let packet = payload + s.topology.header_bytes();
    flows::directions(&mut s.flows)?;
    flows::transports(&mut s.flows)?;
    let links = topology::check(&mut s, packet)?;
    tcp::check(&mut s, packet, &links)?;
    flows::check(&mut s, payload)?;
    names::check(&mut s)?;
    workload::check(&mut s)?;
    routers::check(&mut s, payload)?;
    faults::check(&mut s)?;
    let few = count <= DEFAULT_RECEIVERS as usize;
    s.trace.enabled = Some(s.trace.enabled.unwrap_or(single && few));
    Ok((s, links, payload))
}

/// An algorithm by its canonical name, with the parameters that are not `given` at their defaults.
fn filled(name: &str, defaults: Value, given: &Algorithm) -> Algorithm {
    let mut params = match defaults {
        Value::Object(defaults) => defaults,
        _ => Map::new(),
    };
    for (key, value) in &given.params {
        params.insert(key.clone(), value.clone());
    }
    Algorithm {
        name: name.to_owned(),
        params,
    }
}

/// An error of a part that speaks of its own fields: "window: 0 is not in ..." in `field`.
fn inside(field: &str, message: &str) -> Error {
    match message.split_once(": ") {
        Some((own, rest)) if own.chars().all(|c| c.is_ascii_lowercase() || c == '_') => {
            Error::new(format!("{field}.{own}"), from_serde(rest))
        }
        _ => Error::new(field, from_serde(message)),
    }
}

/// Fails unless `value`, which the user wrote as `given`, is in `least..=most`.
fn within<T: PartialOrd>(
    field: &str,
    given: impl Display,
    value: T,
    least: T,
    most: T,
    accepted: &str,
) -> Result<(), Error> {
    if value >= least && value <= most {
        return Ok(());
    }
    Err(Error::new(
        field,
        format!("{given} is out of range (accepted: {accepted})"),
    ))
}

const fn micros(n: u64) -> Duration {
    Duration::from_micros(n)
}

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}
