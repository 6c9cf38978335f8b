//! JSON as scenarios need it: strict reading and merging.

use super::error::{Error, shown};
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    self, Deserialize, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};
use std::fmt;

/// Reads a scenario file's bytes. `origin` names it in messages. A key that occurs twice in an
/// object is an error: one of both would be ignored.
pub fn read(bytes: &[u8], origin: &str) -> Result<Value, Error> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        Error::new(
            origin,
            format!("not UTF-8 text (byte {} is invalid)", e.valid_up_to()),
        )
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Strict(value) = serde_json::from_str(text)
        .map_err(|e| Error::new(origin, format!("not a valid JSON file: {e}")))?;
    if !value.is_object() {
        return Err(Error::new(
            origin,
            format!(
                "a scenario is a JSON object, this file holds {}",
                kind(&value)
            ),
        ));
    }
    Ok(value)
}

/// A value of the command line: JSON if it is JSON, else a string. As in files, a key that occurs
/// twice is an error.
pub fn read_value(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(Strict(value)) => Ok(value),
        // JSON, but not for us.
        Err(e) if serde_json::from_str::<Value>(text).is_ok() => {
            let message = e.to_string();
            let place = message.rfind(" at line ").unwrap_or(message.len());
            Err(message[..place].to_owned())
        }
        Err(_) => Ok(text.into()),
    }
}

/// What `value` is, for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Lays `patch` over `base`: objects merge key by key, null removes a key, everything else
/// (lists too) replaces. An object with a `name` (a controller, an AQM) merges only with one of
/// the same name: parameters of one algorithm mean nothing to another.
pub(crate) fn merge(base: &mut Value, patch: Value) {
    let patch = match patch {
        Value::Object(patch) => patch,
        other => {
            // A plain string is the name of an algorithm; its parameters stay if it is the same.
            if let (Value::Object(old), Value::String(name)) = (&*base, &other)
                && (old.get("name").and_then(Value::as_str))
                    .is_some_and(|old| old.eq_ignore_ascii_case(name))
            {
                return;
            }
            *base = other;
            return;
        }
    };
    if let Value::String(name) = base
        && patch
            .get("name")
            .is_none_or(|n| same_name(n, &name.as_str().into()))
    {
        *base = serde_json::json!({ "name": name });
    }
    let replaces = match (base.get("name"), patch.get("name")) {
        (Some(old), Some(new)) => !same_name(old, new),
        _ => false,
    };
    if replaces || !base.is_object() {
        *base = Value::Object(Map::new());
    }
    let Value::Object(target) = base else {
        unreachable!("it was just made an object")
    };
    for (key, value) in patch {
        if value.is_null() {
            target.shift_remove(&key);
        } else {
            merge(target.entry(key).or_insert(Value::Null), value);
        }
    }
}

/// Whether two names are of one algorithm, whose letter case is free.
fn same_name(a: &Value, b: &Value) -> bool {
    match (a.as_str(), b.as_str()) {
        (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
        _ => a == b,
    }
}

/// A JSON value in which no object has a key twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Strict, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_bool<E: de::Error>(self, b: bool) -> Result<Value, E> {
                Ok(b.into())
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<Value, E> {
                Ok(n.into())
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<Value, E> {
                Ok(n.into())
            }
            fn visit_f64<E: de::Error>(self, n: f64) -> Result<Value, E> {
                Ok(n.into())
            }
            fn visit_str<E: de::Error>(self, s: &str) -> Result<Value, E> {
                Ok(s.into())
            }
            fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
                let mut list = Vec::new();
                while let Some(Strict(value)) = seq.next_element()? {
                    list.push(value);
                }
                Ok(list.into())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut object = Map::new();
                while let Some(key) = map.next_key::<String>()? {
                    let Strict(value) = map.next_value()?;
                    let again = shown(&key);
                    if object.insert(key, value).is_some() {
                        return Err(de::Error::custom(format!("the key {again} occurs twice")));
                    }
                }
                Ok(object.into())
            }
        }
        deserializer.deserialize_any(Any).map(Strict)
    }
}

/// Reads a value in which a list is never an object: serde's derived code takes the elements of a
/// list for an object's fields in order, so that `[]` would silently mean all defaults.
pub(crate) struct Objects(pub(crate) Value);

impl<'de> Deserializer<'de> for Objects {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            Value::Array(list) => {
                visitor.visit_seq(SeqDeserializer::new(list.into_iter().map(Objects)))
            }
            Value::Object(object) => visitor.visit_map(MapDeserializer::new(
                object.into_iter().map(|(key, value)| (key, Objects(value))),
            )),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match self.0 {
            Value::Array(_) => Err(de::Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

impl IntoDeserializer<'_, serde_json::Error> for Objects {
    type Deserializer = Objects;
    fn into_deserializer(self) -> Objects {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bad_files_are_told_apart() {
        let error = |bytes: &[u8]| read(bytes, "x.json").unwrap_err().to_string();
        assert_eq!(
            error(b"{\"a\": \xff}"),
            "x.json: not UTF-8 text (byte 6 is invalid)"
        );
        assert!(error(b"{\"a\": [1").contains("EOF while parsing a list at line 1 column 8"));
        assert!(error(br#"{"a": 1, "a": 2}"#).contains("the key \"a\" occurs twice"));
        assert!(error(b"[]").contains("this file holds a list"));
        assert!(error(b"{} x").contains("trailing characters"));
        assert!(error(b"{\"a\": NaN}").contains("not a valid JSON file"));
        assert!(error("[".repeat(100_000).as_bytes()).contains("recursion limit"));
    }

    #[test]
    fn parameters_stay_with_their_algorithm() {
        let merged = |mut base: Value, patch: Value| {
            merge(&mut base, patch);
            base
        };
        let copa = json!({ "c": { "name": "copa", "delta": 0.1 } });
        assert_eq!(
            merged(copa.clone(), json!({ "c": "bbr" })),
            json!({ "c": "bbr" })
        );
        assert_eq!(merged(copa.clone(), json!({ "c": "copa" })), copa);
        assert_eq!(
            merged(copa.clone(), json!({ "c": { "name": "bbr" } })),
            json!({ "c": { "name": "bbr" } })
        );
        assert_eq!(
            merged(copa.clone(), json!({ "c": { "gain": 2 } })),
            json!({ "c": { "name": "copa", "delta": 0.1, "gain": 2 } })
        );
        assert_eq!(
            merged(json!({ "c": "copa" }), json!({ "c": { "delta": 0.1 } })),
            copa
        );
        assert_eq!(merged(copa.clone(), json!({ "c": "COPA" })), copa);
        assert_eq!(merged(copa, json!({ "c": null })), json!({}));
        assert_eq!(
            merged(json!({ "l": [1, 2] }), json!({ "l": [3] })),
            json!({ "l": [3] })
        );
    }
}
