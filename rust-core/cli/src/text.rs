//! What the runner prints about itself.

use crate::library;
use ferrocc::aqm::registry::AQMS;
use ferrocc::cc::registry::CONTROLLERS;
use ferrocc::scenario::registry::{Entry, RECOVERIES, missing_controllers};
use ferrocc::scenario::{Error, Plan};
use serde_json::json;
use std::fmt::Write as _;

/// Version of what [`plan`] prints.
const PLAN_SCHEMA: u32 = 1;

/// Scenarios, controllers, recoveries and AQMs, a line each.
pub fn list() -> Result<String, Error> {
    let mut text = String::new();
    section(&mut text, "scenarios", library::scenarios()?.into_iter());
    let controllers = CONTROLLERS
        .iter()
        .map(|e| (e.name, with_reference(e.summary, e.reference)));
    section(&mut text, "controllers", controllers);
    missing(&mut text, missing_controllers());
    section(&mut text, "recoveries", entries(RECOVERIES));
    let lacking = RECOVERIES.iter().filter(|e| !e.available);
    missing(&mut text, lacking.map(|e| e.name));
    let aqms = AQMS
        .iter()
        .map(|e| (e.name, with_reference(e.summary, e.reference)));
    section(&mut text, "AQMs", aqms);
    Ok(text)
}

/// The names of a section that this version does not have, in one line.
fn missing(text: &mut String, names: impl Iterator<Item = &'static str>) {
    let names = names.collect::<Vec<_>>().join(", ");
    if !names.is_empty() {
        writeln!(text, "  not in this version: {names}").expect("writing to a string");
    }
}

fn entries(table: &'static [Entry]) -> impl Iterator<Item = (&'static str, String)> {
    let here = table.iter().filter(|e| e.available);
    here.map(|e| (e.name, with_reference(e.summary, e.reference)))
}

fn with_reference(summary: &str, reference: &str) -> String {
    if reference == "-" {
        summary.to_owned()
    } else {
        format!("{summary} ({reference})")
    }
}

fn section(text: &mut String, title: &str, rows: impl Iterator<Item = (&'static str, String)>) {
    if !text.is_empty() {
        text.push('\n');
    }
    writeln!(text, "{title}:").expect("writing to a string");
    for (name, line) in rows {
        writeln!(text, "  {name:<28} {line}").expect("writing to a string");
    }
}

/// The resolved scenario as JSON, which is itself a scenario file. Of a sweep: the first run, after
/// a list of all.
pub(crate) fn describe(plan: &Plan) -> Result<String, Error> {
    let json = |value| {
        serde_json::to_string_pretty(value).map_err(|e| Error::new("--describe", e.to_string()))
    };
    let first = &plan.cells[0];
    if first.name.is_empty() {
        return Ok(json(&first.scenario)? + "\n");
    }
    let mut text = format!("{} runs:\n", plan.cells.len());
    for cell in &plan.cells {
        writeln!(text, "  {}", cell.name).expect("writing to a string");
    }
    writeln!(text, "\nthe first of them:\n{}", json(&first.scenario)?)
        .expect("writing to a string");
    Ok(text)
}

/// All runs with their values on the axes and their resolved scenarios, for programs.
pub(crate) fn plan(plan: &Plan) -> String {
    let cells: Vec<_> = plan
        .cells
        .iter()
        .map(|cell| {
            let settings: serde_json::Map<_, _> = cell.settings.iter().cloned().collect();
            json!({ "name": cell.name, "settings": settings, "config": cell.scenario })
        })
        .collect();
    let all = json!({
        "schema": PLAN_SCHEMA,
        "scenario": plan.name,
        "description": plan.description,
        "axes": plan.axes,
        "cells": cells,
    });
    format!("{all}\n")
}
