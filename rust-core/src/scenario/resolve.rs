//! From a scenario file and a command line to runs: base <- file <- axis of a sweep <- options <-
//! `--set`, then defaults, then validation.

use super::error::{Error, from_serde, shown, unknown};
use super::json::{self, merge};
use super::model::{Algorithm, Links, Scenario};
use super::path::Path;
use super::quantity::{Buffer, Jitter, RateText};
use super::registry;
use super::sweep::{self, Axis};
use crate::cc::Setup;
use crate::transport::ReceiverOptions;
use crate::units::{Bytes, Duration, Rate};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// Largest number of flows in a scenario.
pub const MAX_FLOWS: u32 = 100_000;
/// Receiver nodes where a scenario does not say, if there are at least as many flows.
pub const DEFAULT_RECEIVERS: u32 = 64;
/// Longest chain of `extends`.
const MAX_EXTENDS: usize = 8;
/// Scenarios that can be named.
pub trait Library {
    /// The file of the scenario called `name`.
    fn find(&self, name: &str) -> Option<&str>;
    /// All names.
    fn names(&self) -> Vec<&str>;
}

/// A change that the command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// What.
    pub path: Path,
    /// Its new value, null for its default.
    pub value: Value,
    /// The option as the user knows it: `--rate`.
    pub option: String,
}

/// One run, resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Name of its folder below the sweep's; empty for a single run.
    pub name: String,
    /// Its values on the axes of the sweep.
    pub settings: Vec<(String, Value)>,
    /// Everything, filled in.
    pub scenario: Scenario,
    /// What follows for the links.
    pub links: Links,
    /// Payload of a full DATA packet.
    pub payload: Bytes,
}

/// What a scenario and a command line ask for.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The scenario's name.
    pub name: String,
    /// One line about it.
    pub description: String,
    /// The axes of the sweep, none for a single run.
    pub axes: Vec<String>,
    /// The runs, at least one.
    pub cells: Vec<Cell>,
}

/// Resolves `file`, the scenario called `name`.
pub fn resolve(
    name: &str,
    file: Value,
    assignments: &[Assignment],
    library: &dyn Library,
) -> Result<Plan, Error> {
    resolve_sweep(name, file, Map::new(), assignments, library)
}

/// [`resolve`] with axes (path: list of values) that replace those of the scenario's sweep or are
/// added to them.
pub fn resolve_sweep(
    name: &str,
    file: Value,
    sweep: Map<String, Value>,
    assignments: &[Assignment],
    library: &dyn Library,
) -> Result<Plan, Error> {
    if let Some(a) = assignments.iter().find(|a| sweep::is_structure(&a.path)) {
        let field = format!("{} ({})", a.path, a.option);
        return Err(Error::new(field, "can only be given in a scenario file"));
    }
    let mut merged = extend(file, library, MAX_EXTENDS)?;
    let given = sweep::axes(sweep.into())?;
    let sweep = match &mut merged {
        Value::Object(fields) => fields.shift_remove("sweep"),
        _ => return Err(Error::new(name, "a scenario is a JSON object")),
    };
    let setting = |axis: &Axis| assignments.iter().find(|a| a.path.covers(&axis.path));
    let mut axes = sweep::axes(sweep.unwrap_or(Value::Null))?;
    axes.retain(|axis| setting(axis).is_none());
    for axis in given {
        if let Some(a) = setting(&axis) {
            let problem = format!("is set by {}, too (accepted: one of both)", a.option);
            return Err(Error::new(format!("{} (--sweep)", axis.path), problem));
        }
        sweep::put(&mut axes, axis);
    }
    let cells = sweep::cells(&axes)?;
    let single = axes.is_empty();
    let mut done = Vec::with_capacity(cells.len());
    for cell in cells {
        let (scenario, links, payload) = one(&merged, &cell.settings, assignments, single)?;
        done.push(Cell {
            name: cell.name,
            settings: cell
                .settings
                .into_iter()
                .map(|(a, v)| (a.to_string(), v))
                .collect(),
            scenario,
            links,
            payload,
        });
    }
    Ok(Plan {
        name: name.to_owned(),
        description: done[0].scenario.description.clone(),
        axes: axes.iter().map(|a: &Axis| a.path.to_string()).collect(),
        cells: done,
    })
}

/// Lays `file` over what it extends.
fn extend(file: Value, library: &dyn Library, left: usize) -> Result<Value, Error> {
    let base = match file.get("extends") {
        None | Some(Value::Null) => return Ok(file),
        Some(Value::String(base)) => base.clone(),
        Some(other) => {
            let problem = format!("{} is not the name of a scenario", json::kind(other));
            return Err(Error::new("extends", problem));
        }
    };
    let Some(text) = library.find(&base) else {
        let problem = unknown("scenario", &base, library.names().into_iter());
        return Err(Error::new("extends", problem));
    };
    if left == 0 {
        let problem = format!("{} extends itself, or the chain is too long", shown(&base));
        return Err(Error::new("extends", problem));
    }
    let mut merged = extend(json::read(text.as_bytes(), &base)?, library, left - 1)?;
    // Assumptions add up: a figure's stand beside its base's.
    let mut assumptions = merged["assumptions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let own = file.get("assumptions").and_then(Value::as_array).cloned();
    merge(&mut merged, file);
    if let Some(own) = own {
        assumptions.extend(own);
        merged["assumptions"] = assumptions.into();
    }
    Ok(merged)
}

/// Resolves one run.
fn one(
    merged: &Value,
    settings: &[(Path, Value)],
    assignments: &[Assignment],
    single: bool,
) -> Result<(Scenario, Links, Bytes), Error> {
    let blame = |error: Error| blame(error, settings, assignments);
    let mut value = merged.clone();
    let changes = || {
        let axes = settings.iter().map(|(path, value)| (path, value));
        axes.chain(assignments.iter().map(|a| (&a.path, &a.value)))
    };
    // The number of flows comes first: the other paths speak of the flows that there are then.
    for first in [true, false] {
        for (path, new) in changes() {
            if (path.label() == "flow_count") == first {
                path.set(&mut value, new).map_err(blame)?;
            }
        }
        if first {
            expand_flows(&mut value).map_err(blame)?;
        }
    }
    let scenario: Scenario = decode(value).map_err(blame)?;
    fill_in(scenario, single).map_err(blame)
}

/// Reads a value of the model, with the path in the message.
fn decode(value: Value) -> Result<Scenario, Error> {
    serde_path_to_error::deserialize(value).map_err(|e| {
        let path = match e.path().to_string() {
            root if root == "." => String::new(),
            path => path,
        };
        let message = e.inner().to_string();
        // An unknown field is told where it is looked for.
        let path = match message.strip_prefix("unknown field `") {
            Some(_) => path
                .rsplit_once('.')
                .map_or(String::new(), |(parent, _)| parent.to_owned()),
            None => path,
        };
        Error::new(path, from_serde(&message))
    })
}

/// Adds the option that set the field to the message.
fn blame(error: Error, settings: &[(Path, Value)], assignments: &[Assignment]) -> Error {
    let Ok(field) = error.field.parse::<Path>() else {
        return error;
    };
    let option = assignments.iter().rev().find(|a| a.path.covers(&field));
    let source = match option {
        Some(a) => a.option.as_str(),
        None if settings.iter().any(|(path, _)| path.covers(&field)) => "sweep",
        None => return error,
    };
    Error::new(format!("{} ({source})", error.field), error.problem)
}

/// Makes `flows` as long as `flow_count` says: the last one is repeated, without its name. Without
/// `flows` there is one.
fn expand_flows(value: &mut Value) -> Result<(), Error> {
    let Value::Object(fields) = value else {
        return Ok(());
    };
    let count = fields.shift_remove("flow_count");
    let flows = fields
        .entry("flows")
        .or_insert_with(|| Value::Array(vec![Map::new().into()]));
    let Some(count) = count else {
        return Ok(());
    };
    let number = match count.as_u64() {
        Some(n @ 1..) if n <= u64::from(MAX_FLOWS) => n as usize,
        _ => {
            let problem = format!("{count} is out of range (accepted: 1..{MAX_FLOWS})");
            return Err(Error::new("flow_count", problem));
        }
    };
    // Anything else is told by the typed reading.
    if let Value::Array(flows) = flows
        && let Some(mut last) = flows.last().cloned()
    {
        if let Value::Object(last) = &mut last {
            last.shift_remove("name");
        }
        flows.resize(number, last);
    }
    Ok(())
}

/// Checks `scenario` and fills in what it leaves open.
fn fill_in(mut s: Scenario, single: bool) -> Result<(Scenario, Links, Bytes), Error> {
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
    let offset = Duration::from_nanos(s.clock.offset.nanos.unsigned_abs());
    within(
        "clock.offset",
        s.clock.offset,
        offset,
        Duration::ZERO,
        secs(1_000_000),
        "-1000000 s..1000000 s",
    )?;
    s.transport
        .validate()
        .map_err(|message| inside("transport", &message))?;
    let payload = s.transport.mss();
    let packet = payload + Bytes::new(ReceiverOptions::HEADER_BYTES);
    let links = topology(&mut s, packet)?;
    flows(&mut s, payload)?;
    let few = count <= DEFAULT_RECEIVERS as usize;
    s.trace.enabled = Some(s.trace.enabled.unwrap_or(single && few));
    Ok((s, links, payload))
}

fn topology(s: &mut Scenario, packet: Bytes) -> Result<Links, Error> {
    let count = u32::try_from(s.flows.len()).unwrap_or(MAX_FLOWS);
    let t = &mut s.topology;
    let kind = registry::select("topology.kind", "topology", registry::TOPOLOGIES, &t.kind)?;
    t.kind = kind.name.to_owned();
    let receivers = t.receivers.unwrap_or(count.min(DEFAULT_RECEIVERS));
    within(
        "topology.receivers",
        receivers,
        receivers,
        1,
        10_000,
        "1..10000",
    )?;
    t.receivers = Some(receivers);
    within(
        "topology.rtprop",
        t.rtprop,
        t.rtprop.0,
        micros(1),
        secs(60),
        "1 us..60 s",
    )?;
    within(
        "topology.priority_dscp",
        t.priority_dscp,
        t.priority_dscp,
        0,
        63,
        "0..63",
    )?;

    let b = &t.bottleneck;
    let rates = (Rate::from_bps(1_000), Rate::from_bps(1_000_000_000_000));
    within(
        "topology.bottleneck.rate",
        b.rate,
        b.rate.0,
        rates.0,
        rates.1,
        "1 kbps..1 Tbps",
    )?;
    within(
        "topology.bottleneck.reorder_delay",
        b.reorder_delay,
        b.reorder_delay.0,
        micros(1),
        secs(60),
        "1 us..60 s",
    )?;
    within(
        "topology.bottleneck.device_queue",
        b.device_queue,
        b.device_queue,
        1,
        1_000,
        "1..1000 packets",
    )?;
    let field = "topology.bottleneck.aqm";
    let aqm = registry::select(field, "AQM", registry::AQMS, &b.aqm.name)?;
    if let Some(key) = b.aqm.params.keys().next() {
        return Err(Error::unknown(field, "parameter", key, std::iter::empty()));
    }
    if let Some(rate) = t.access.rate
        && !(b.rate.0..=Rate::from_bps(10_000_000_000_000)).contains(&rate.0)
    {
        let problem = format!(
            "{rate} is out of range (accepted: the bottleneck's {}..10 Tbps)",
            b.rate
        );
        return Err(Error::new("topology.access.rate", problem));
    }
    let shares = t.access.receiver_delay_share.0 + t.access.replica_delay_share.0;
    if shares > 1.0 {
        let problem = format!("the delay shares add up to {shares} (accepted: 0..1)");
        return Err(Error::new("topology.access", problem));
    }

    let field = "topology.bottleneck.buffer";
    // ns-3 keeps a queue's size in 32 bits.
    let most = u64::from(u32::MAX);
    match b.buffer {
        Buffer::Packets(n) => within(field, b.buffer, n, 1, 1_000_000, "1p..1000000p")?,
        Buffer::Bytes(n) => {
            let range = format!("one DATA packet of {packet}..{most}B");
            within(field, b.buffer, n, packet, Bytes::new(most), &range)?;
        }
        Buffer::Bdp(n) => {
            if !(n > 0.0 && n <= 1000.0) {
                let problem = format!("{} is out of range (accepted: above 0..1000 bdp)", b.buffer);
                return Err(Error::new(field, problem));
            }
        }
    }
    let links = t.links(packet);
    if let Buffer::Bytes(n) = links.buffer
        && n.get() > most
    {
        let problem = format!("{} are {n} (accepted: at most {most}B)", b.buffer);
        return Err(Error::new(field, problem));
    }
    t.bottleneck.buffer = links.buffer;
    t.bottleneck.aqm.name = aqm.name.to_owned();
    t.access.rate = Some(RateText(links.access_rate));
    Ok(links)
}

fn flows(s: &mut Scenario, payload: Bytes) -> Result<(), Error> {
    let setup = Setup {
        mss: payload,
        packet_size: payload + Bytes::new(ReceiverOptions::HEADER_BYTES),
        initial_window: s.transport.initial_window,
        ..Setup::default()
    };
    let rtprop = s.topology.rtprop.0;
    // Thousands of flows with one controller need one check.
    let mut known: BTreeMap<String, Algorithm> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for (i, flow) in s.flows.iter_mut().enumerate() {
        let at = |field: &str| format!("flows[{i}].{field}");
        let name = flow.name.get_or_insert_with(|| format!("flow-{}", i + 1));
        let odd = |c: char| c.is_control() || matches!(c, ',' | '"');
        if name.is_empty() || name.chars().count() > 64 || name.contains(odd) {
            let problem = format!(
                "{} is not a name (accepted: 1..64 characters without commas and quotes)",
                shown(name)
            );
            return Err(Error::new(at("name"), problem));
        }
        if !names.insert(name.clone()) {
            let problem = format!("{} is the name of an earlier flow", shown(name));
            return Err(Error::new(at("name"), problem));
        }
        let field = at("transport");
        let transport =
            registry::select(&field, "transport", registry::TRANSPORTS, &flow.transport)?;
        flow.transport = transport.name.to_owned();
        if let Some(recovery) = &flow.recovery {
            let problem = format!(
                "{} has no place in a flow with the icn transport (accepted: none; recoveries are \
                 for tcp)",
                shown(recovery)
            );
            return Err(Error::new(at("recovery"), problem));
        }
        let key = serde_json::to_string(&flow.controller).unwrap_or_default();
        flow.controller = match known.get(&key) {
            Some(resolved) => resolved.clone(),
            None => {
                let resolved = controller(&at("controller"), &flow.controller, &setup)?;
                known.insert(key, resolved.clone());
                resolved
            }
        };
        let start = flow.start;
        within(
            &at("start"),
            start,
            start.0,
            Duration::ZERO,
            secs(1_000_000),
            "0 s..1000000 s",
        )?;
        let jitter = match flow.start_jitter {
            Jitter::Time(d) => d,
            Jitter::Rtprop(n) => rtprop.mul_f64(n),
        };
        within(
            &at("start_jitter"),
            flow.start_jitter,
            jitter,
            Duration::ZERO,
            secs(1_000_000),
            "0 s..1000000 s",
        )?;
        flow.start_jitter = Jitter::Time(jitter);
        if let Some(size) = flow.size {
            // A petabyte; real content is made and kept in memory.
            let (most, range) = if s.verify {
                (1_000_000_000, "1 B..1 GB with verify")
            } else {
                (1_000_000_000_000_000, "1 B..1000 TB")
            };
            within(
                &at("size"),
                size,
                size.0,
                Bytes::new(1),
                Bytes::new(most),
                range,
            )?;
        } else if s.verify {
            let problem = "real content needs a size (accepted: verify=false, or a size as in \
                           --set=\"flows[*].size=10 MB\")";
            return Err(Error::new(at("size"), problem));
        }
    }
    Ok(())
}

/// Checks a controller by making one, and fills in its parameters.
fn controller(field: &str, given: &Algorithm, setup: &Setup) -> Result<Algorithm, Error> {
    let entry = registry::controller(field, &given.name)?;
    let params = Value::Object(given.params.clone());
    (entry.build)(setup, &params).map_err(|message| inside(field, &message))?;
    let mut params = match (entry.defaults)() {
        Value::Object(defaults) => defaults,
        _ => Map::new(),
    };
    for (key, value) in &given.params {
        params.insert(key.clone(), value.clone());
    }
    Ok(Algorithm {
        name: entry.name.to_owned(),
        params,
    })
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
