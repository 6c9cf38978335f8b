//! The JSON Schema of scenario files, made from the model and the registries.

use super::model::Scenario;
use super::registry::{DIRECTIONS, Entry, IP_VERSIONS, TOPOLOGIES, TRANSPORTS, WARMUP_MODES};
use crate::aqm::registry::AQMS;
use crate::cc::registry::CONTROLLERS;
use crate::recovery::registry::POLICIES;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of scenario files.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let controllers: Vec<Row> = CONTROLLERS
        .iter()
        .map(|e| Row {
            names: e.aliases.iter().copied().chain([e.name]).collect(),
            summary: e.summary,
            params: (e.schema)(&mut generator).to_value(),
        })
        .collect();
    let aqms: Vec<Row> = AQMS
        .iter()
        .map(|e| Row {
            names: e.aliases.iter().copied().chain([e.name]).collect(),
            summary: e.summary,
            params: (e.schema)(&mut generator).to_value(),
        })
        .collect();
    let policies: Vec<Row> = POLICIES
        .iter()
        .map(|e| Row {
            names: e.aliases.iter().copied().chain([e.name]).collect(),
            summary: e.summary,
            params: (e.schema)(&mut generator).to_value(),
        })
        .collect();
    let mut root = generator.into_root_schema_for::<Scenario>().to_value();
    root["title"] = json!("ferrocc scenario");
    let defs = root["$defs"]
        .as_object_mut()
        .expect("the model has named types");

    let mut controller = algorithm("a congestion controller", controllers, defs);
    let ns3 = json!({
        "title": "ns3",
        "description": "ns-3's own TCP congestion control, for the tcp transport",
        "anyOf": [
            { "type": "string", "pattern": "^ns3::[A-Za-z0-9_:]+$" },
            {
                "type": "object",
                "properties": {
                    "name": { "const": "ns3" },
                    "type": { "type": "string", "description": "a TypeId, such as TcpCubic" },
                },
                "required": ["name", "type"],
                "additionalProperties": false,
            },
        ],
    });
    if let Some(variants) = controller["anyOf"].as_array_mut() {
        variants.push(ns3);
    }
    defs.insert("Controller".to_owned(), controller);
    let mut aqm = algorithm("Active queue management.", aqms, defs);
    aqm["default"] = json!("drop-tail");
    defs["Bottleneck"]["properties"]["aqm"] = aqm;
    defs["Flow"]["properties"]["controller"] = json!({ "$ref": "#/$defs/Controller" });
    defs["Flow"]["properties"]["transport"]["enum"] = names_of(TRANSPORTS);
    let mut recovery = algorithm("how a TCP sender judges duplicate ACKs", policies, defs);
    if let Some(variants) = recovery["anyOf"].as_array_mut() {
        variants.push(json!({ "enum": ["standard", Value::Null] }));
    }
    defs["Flow"]["properties"]["recovery"] = recovery;
    defs["Flow"]["properties"]["direction"]["enum"] = names_of(DIRECTIONS);
    defs["Topology"]["properties"]["kind"]["enum"] = names_of(TOPOLOGIES);
    defs["Topology"]["properties"]["ip"]["enum"] = names_of(IP_VERSIONS);
    defs["Workload"]["properties"]["warmup_mode"]["enum"] = names_of(WARMUP_MODES);
    defs.remove("Algorithm");
    // Only the algorithms' own types are left without a reference; they are copied above.
    let text = root.to_string();
    if let Some(defs) = root["$defs"].as_object_mut() {
        defs.retain(|name, _| text.contains(&format!("\"#/$defs/{name}\"")));
    }
    root
}

/// An algorithm of a registry.
struct Row {
    /// Its aliases, and its name at the end.
    names: Vec<&'static str>,
    summary: &'static str,
    /// The schema of its parameters.
    params: Value,
}

/// The schema of an algorithm that is selected by its name, or by an object with its name and
/// parameters.
fn algorithm(description: &str, rows: Vec<Row>, defs: &Map<String, Value>) -> Value {
    let all: Vec<&str> = rows.iter().flat_map(|row| row.names.clone()).collect();
    let mut variants = vec![json!({ "enum": all })];
    for row in rows {
        let mut object = row
            .params
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|r| defs.get(r.trim_start_matches("#/$defs/")).cloned())
            .unwrap_or(row.params);
        let properties = object["properties"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        let mut all = Map::new();
        all.insert("name".to_owned(), json!({ "enum": row.names }));
        all.extend(properties);
        object["properties"] = all.into();
        object["required"] = json!(["name"]);
        object["title"] = json!(row.names.last());
        object["description"] = json!(row.summary);
        variants.push(object);
    }
    json!({ "description": description, "anyOf": variants })
}

fn names_of(table: &[Entry]) -> Value {
    table.iter().map(|e| e.name).collect::<Vec<_>>().into()
}
