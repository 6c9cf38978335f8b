//! The JSON Schema of scenario files, made from the model and the registries.

use super::model::Scenario;
use super::registry::{
    AQMS, DIRECTIONS, Entry, IP_VERSIONS, RECOVERIES, TOPOLOGIES, TRANSPORTS, WARMUP_MODES,
};
use crate::cc::registry::CONTROLLERS;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of scenario files.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let params: Vec<Value> = CONTROLLERS
        .iter()
        .map(|c| (c.schema)(&mut generator).to_value())
        .collect();
    let mut root = generator.into_root_schema_for::<Scenario>().to_value();
    root["title"] = json!("ferrocc scenario");
    let defs = root["$defs"]
        .as_object_mut()
        .expect("the model has named types");

    let mut variants = Vec::new();
    for (entry, params) in CONTROLLERS.iter().zip(params) {
        let mut object = params
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|r| defs.get(r.trim_start_matches("#/$defs/")).cloned())
            .unwrap_or(params);
        let names: Vec<&str> = entry.aliases.iter().copied().chain([entry.name]).collect();
        let properties = object["properties"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        let mut all = Map::new();
        all.insert("name".to_owned(), json!({ "enum": names }));
        all.extend(properties);
        object["properties"] = all.into();
        object["required"] = json!(["name"]);
        object["title"] = json!(entry.name);
        object["description"] = json!(entry.summary);
        variants.push(object);
    }
    let names: Vec<&str> = CONTROLLERS
        .iter()
        .flat_map(|c| c.aliases.iter().copied().chain([c.name]))
        .collect();
    variants.insert(0, json!({ "enum": names }));
    variants.push(json!({
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
    }));
    defs.insert(
        "Controller".to_owned(),
        json!({ "description": "a congestion controller", "anyOf": variants }),
    );
    defs["Flow"]["properties"]["controller"] = json!({ "$ref": "#/$defs/Controller" });
    defs["Flow"]["properties"]["transport"]["enum"] = names_of(TRANSPORTS);
    let mut recoveries = names_of(RECOVERIES);
    if let Some(list) = recoveries.as_array_mut() {
        list.push(Value::Null);
    }
    defs["Flow"]["properties"]["recovery"]["enum"] = recoveries;
    defs["Flow"]["properties"]["direction"]["enum"] = names_of(DIRECTIONS);
    defs["Topology"]["properties"]["kind"]["enum"] = names_of(TOPOLOGIES);
    defs["Topology"]["properties"]["ip"]["enum"] = names_of(IP_VERSIONS);
    defs["Workload"]["properties"]["warmup_mode"]["enum"] = names_of(WARMUP_MODES);
    let aqms = names_of(AQMS);
    defs["Bottleneck"]["properties"]["aqm"] = json!({
        "description": "Active queue management.",
        "anyOf": [
            { "enum": aqms },
            {
                "type": "object",
                "required": ["name"],
                "properties": { "name": { "enum": aqms } },
            },
        ],
        "default": "drop-tail",
    });
    defs.remove("Algorithm");
    // Only the controllers' own types are left without a reference; they are copied above.
    let text = root.to_string();
    if let Some(defs) = root["$defs"].as_object_mut() {
        defs.retain(|name, _| text.contains(&format!("\"#/$defs/{name}\"")));
    }
    root
}

fn names_of(table: &[Entry]) -> Value {
    table.iter().map(|e| e.name).collect::<Vec<_>>().into()
}
