//! Algorithms that a scenario selects by name.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// An algorithm and its parameters: `"copa"` or `{"name": "copa", "delta": 0.1}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Algorithm {
    /// Its name in its registry.
    pub name: String,
    /// Its parameters.
    #[serde(flatten)]
    pub params: Map<String, Value>,
}

impl Algorithm {
    /// The algorithm called `name` with its default parameters.
    pub fn named(name: &str) -> Algorithm {
        Algorithm {
            name: name.to_owned(),
            params: Map::new(),
        }
    }

    /// The name in tables: of ns-3's own congestion control the type, `ns3::TcpCubic`.
    pub fn label(&self) -> String {
        match self.ns3_type() {
            Some(name) => format!("ns3::{name}"),
            None => self.name.clone(),
        }
    }

    /// The type of ns-3's own congestion control, without `ns3::`; none for a controller of ours.
    pub fn ns3_type(&self) -> Option<&str> {
        match self.params.get("type") {
            Some(Value::String(name)) if self.name == "ns3" => Some(name),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Algorithm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Algorithm, D::Error> {
        struct NameOrObject;
        impl<'de> Visitor<'de> for NameOrObject {
            type Value = Algorithm;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or an object with a name and parameters")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Algorithm, E> {
                Ok(Algorithm::named(name))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Algorithm, A::Error> {
                let mut params = Map::new();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    params.insert(key, value);
                }
                match params.shift_remove("name") {
                    Some(Value::String(name)) => Ok(Algorithm { name, params }),
                    Some(other) => Err(de::Error::custom(format!(
                        "the name is {}, not a string",
                        crate::scenario::json::kind(&other)
                    ))),
                    None => Err(de::Error::custom(
                        "there is no name (accepted: a name or an object with a name and parameters)",
                    )),
                }
            }
        }
        deserializer.deserialize_any(NameOrObject)
    }
}

impl JsonSchema for Algorithm {
    fn schema_name() -> Cow<'static, str> {
        "Algorithm".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "oneOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "required": ["name"],
                    "properties": { "name": { "type": "string" } },
                },
            ],
            "description": "a name, or an object with a name and parameters",
        })
    }
}
