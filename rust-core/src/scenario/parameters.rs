//! The parameters of an algorithm, as its JSON Schema and its defaults describe them.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// What values a parameter has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A floating-point number.
    Number,
    /// A whole number that is not negative.
    Integer,
    /// True or false.
    Flag,
    /// One of these names.
    Choice(Vec<String>),
    /// A name or a number, which the algorithm reads itself.
    Text,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it is, in one line.
    pub help: String,
    /// What values it has.
    pub kind: Kind,
    /// Its default value.
    pub default: Value,
}

/// The parameters of a registry's row: its `schema` and its `defaults`, a JSON object.
pub fn describe(schema: fn(&mut SchemaGenerator) -> Schema, defaults: &Value) -> Vec<Parameter> {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let root = schema(&mut generator).to_value();
    let defs: Map<String, Value> = generator.take_definitions(true);
    let resolve = |schema: &Value| -> Value {
        let name = schema["$ref"].as_str().and_then(|r| r.rsplit('/').next());
        name.and_then(|n| defs.get(n)).unwrap_or(schema).clone()
    };
    let object = resolve(&root);
    let Some(defaults) = defaults.as_object() else {
        return Vec::new();
    };
    let parameter = |(name, default): (&String, &Value)| {
        let schema = &object["properties"][name];
        Parameter {
            name: name.clone(),
            help: schema["description"]
                .as_str()
                .unwrap_or_default()
                .replace('\n', " "),
            kind: kind(default, schema, &resolve(schema)),
            default: default.clone(),
        }
    };
    defaults.iter().map(parameter).collect()
}

/// The kind of a parameter by its default and its schema, `resolved` if that is a reference.
fn kind(default: &Value, schema: &Value, resolved: &Value) -> Kind {
    match default {
        Value::Bool(_) => Kind::Flag,
        Value::String(_) => match choices(resolved) {
            names if names.is_empty() => Kind::Text,
            names => Kind::Choice(names),
        },
        _ if schema["type"] == "integer" => Kind::Integer,
        _ => Kind::Number,
    }
}

/// The names that a schema of an enumeration accepts.
fn choices(schema: &Value) -> Vec<String> {
    let listed = schema["enum"].as_array().into_iter().flatten();
    let described = schema["oneOf"].as_array().into_iter().flatten();
    let named = described.flat_map(|variant| {
        let several = variant["enum"].as_array().into_iter().flatten();
        several.chain(variant.get("const"))
    });
    let names = listed.chain(named).filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::registry::AQMS;
    use crate::cc::registry::CONTROLLERS;

    #[test]
    fn kinds_fit_the_defaults_of_all_algorithms() {
        let aqms = AQMS.iter().map(|e| (e.name, e.schema, e.defaults));
        let controllers = CONTROLLERS.iter().map(|e| (e.name, e.schema, e.defaults));
        for (name, schema, defaults) in aqms.chain(controllers) {
            for parameter in describe(schema, &defaults()) {
                let (p, value) = (&parameter.name, &parameter.default);
                // Without a value it is switched off.
                let fits = value.is_null()
                    || match &parameter.kind {
                        Kind::Number => value.is_number(),
                        Kind::Integer => value.is_u64(),
                        Kind::Flag => value.is_boolean(),
                        Kind::Choice(names) => {
                            names.iter().any(|n| Some(n.as_str()) == value.as_str())
                        }
                        Kind::Text => value.is_string(),
                    };
                assert!(fits, "{name}.{p}: {parameter:?}");
                assert!(!parameter.help.is_empty(), "{name}.{p}");
            }
        }
    }
}
