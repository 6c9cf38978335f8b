//! From a scenario file and a command line to runs: base <- file <- axis of a sweep <- options <-
//! `--set`, then defaults, then validation.

use super::check::{MAX_FLOWS, fill_in};
use super::error::{Error, from_serde, shown, unknown};
use super::json::{self, merge};
use super::model::{Links, Scenario};
use super::path::Path;
use super::sweep::{self, Axis};
use crate::units::Bytes;
use serde_json::{Map, Value};

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
        if let Some(a) = setting(&axis)
            && !a.path.is_above(&axis.path)
        {
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
    // What an axis varies a part of is there before: `--aqm=red` before `aqm.max_p`.
    let is_first = |a: &Assignment| settings.iter().any(|(path, _)| a.path.is_above(path));
    let changes = || {
        let given = |first| assignments.iter().filter(move |a| is_first(a) == first);
        let axes = settings.iter().map(|(path, value)| (path, value));
        let before = given(true).map(|a| (&a.path, &a.value));
        before
            .chain(axes)
            .chain(given(false).map(|a| (&a.path, &a.value)))
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
    serde_path_to_error::deserialize(json::Objects(value)).map_err(|e| {
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
