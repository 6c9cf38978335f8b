//! Paths into the scenario model: `topology.bottleneck.rate`, `flows[0].size`,
//! `flows[*].controller.delta`.

use super::error::{Error, shown};
use super::json::{kind, merge};
use serde_json::{Map, Value};
use std::fmt;
use std::str::FromStr;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// `.name`
    Field(String),
    /// `[3]`
    Index(usize),
    /// `[*]`
    Every,
}

/// Where a value is in the scenario model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(Vec<Step>);

impl Path {
    /// Lays `value` over what is at the path. Objects on the way are made; list elements must be
    /// there.
    pub(crate) fn set(&self, root: &mut Value, value: &Value) -> Result<(), Error> {
        self.set_from(0, root, value)
    }

    fn set_from(&self, at: usize, target: &mut Value, value: &Value) -> Result<(), Error> {
        let Some(step) = self.0.get(at) else {
            merge(target, value.clone());
            return Ok(());
        };
        let here = || Path(self.0[..at].to_vec()).to_string();
        match step {
            Step::Field(name) => {
                // "copa" and {"name": "copa"} are the same controller.
                if let Value::String(algorithm) = target {
                    *target = serde_json::json!({ "name": algorithm });
                }
                if target.is_null() {
                    *target = Value::Object(Map::new());
                }
                let Value::Object(object) = target else {
                    return Err(Error::new(
                        self.to_string(),
                        format!("{} is {}, not an object", here(), kind(target)),
                    ));
                };
                if at + 1 == self.0.len() && value.is_null() {
                    object.shift_remove(name);
                    return Ok(());
                }
                self.set_from(
                    at + 1,
                    object.entry(name.clone()).or_insert(Value::Null),
                    value,
                )
            }
            Step::Index(_) | Step::Every => {
                let Value::Array(list) = target else {
                    if let (1, true, [Step::Field(name), ..]) = (at, target.is_null(), &self.0[..])
                        && let Value::Object(known) = &super::schema()["properties"]
                        && !known.contains_key(name)
                    {
                        let known = known.keys().map(String::as_str);
                        return Err(Error::unknown("", "field", name, known));
                    }
                    return Err(Error::new(
                        self.to_string(),
                        format!("{} is {}, not a list", here(), kind(target)),
                    ));
                };
                let len = list.len();
                match step {
                    Step::Index(i) if *i >= len => Err(Error::new(
                        self.to_string(),
                        format!(
                            "there is no element {i} (accepted: 0..{})",
                            len.saturating_sub(1)
                        ),
                    )),
                    Step::Index(i) => self.set_from(at + 1, &mut list[*i], value),
                    _ => list
                        .iter_mut()
                        .try_for_each(|e| self.set_from(at + 1, e, value)),
                }
            }
        }
    }

    /// Whether setting `self` settles all that setting `other` settles.
    pub(crate) fn covers(&self, other: &Path) -> bool {
        self.0.len() <= other.0.len()
            && self.0.iter().zip(&other.0).all(|(a, b)| {
                a == b || (*a == Step::Every && matches!(b, Step::Index(_) | Step::Every))
            })
    }

    /// Whether setting `self` settles what `other` is a part of.
    pub(crate) fn is_above(&self, other: &Path) -> bool {
        self.0.len() < other.0.len() && self.covers(other)
    }

    /// The first field's name: "flows" of `flows[*].controller.delta`.
    pub(crate) fn root(&self) -> &str {
        match self.0.first() {
            Some(Step::Field(name)) => name,
            _ => "",
        }
    }

    /// The last field's name: "delta" of `flows[*].controller.delta`.
    pub(crate) fn label(&self) -> &str {
        self.0
            .iter()
            .rev()
            .find_map(|s| match s {
                Step::Field(name) => Some(name.as_str()),
                _ => None,
            })
            .unwrap_or("value")
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if i == 0 => f.write_str(name)?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Index(n) => write!(f, "[{n}]")?,
                Step::Every => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Path {
    type Err = String;

    fn from_str(text: &str) -> Result<Path, String> {
        let bad = || {
            format!(
                "{} is not a path (accepted: fields as in topology.bottleneck.rate, flows[0].size, \
                 flows[*].controller.delta)",
                shown(text)
            )
        };
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if name.is_empty() || !name.chars().all(plain) {
                return Err(bad());
            }
            steps.push(Step::Field(name.to_owned()));
            while !rest.is_empty() {
                let (index, after) = rest
                    .strip_prefix('[')
                    .and_then(|r| r.split_once(']'))
                    .ok_or_else(bad)?;
                steps.push(match index {
                    "*" => Step::Every,
                    digits if digits.chars().all(|c| c.is_ascii_digit()) => {
                        Step::Index(digits.parse().map_err(|_| bad())?)
                    }
                    _ => return Err(bad()),
                });
                rest = after;
            }
        }
        Ok(Path(steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn path(text: &str) -> Path {
        text.parse().unwrap()
    }

    #[test]
    fn sets_fields_elements_and_all_elements() {
        let mut v = json!({ "flows": [{ "controller": "copa" }, { "size": "1 MB" }] });
        path("flows[*].controller.delta")
            .set(&mut v, &json!(0.1))
            .unwrap();
        path("flows[0].size").set(&mut v, &json!("2 MB")).unwrap();
        path("flows[1].size").set(&mut v, &Value::Null).unwrap();
        path("topology.rtprop").set(&mut v, &json!("1 ms")).unwrap();
        let expected = json!({
            "flows": [
                { "controller": { "name": "copa", "delta": 0.1 }, "size": "2 MB" },
                { "controller": { "delta": 0.1 } },
            ],
            "topology": { "rtprop": "1 ms" },
        });
        assert_eq!(v, expected);
        let error = path("flows[2].size")
            .set(&mut v, &json!(1))
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "flows[2].size: there is no element 2 (accepted: 0..1)"
        );
        let error = path("topology[0]")
            .set(&mut v, &json!(1))
            .unwrap_err()
            .to_string();
        assert_eq!(error, "topology[0]: topology is an object, not a list");
    }

    #[test]
    fn covers_what_it_overrides() {
        assert!(path("flows[*].controller").covers(&path("flows[*].controller")));
        assert!(path("flows[*].controller").covers(&path("flows[1].controller.delta")));
        assert!(!path("flows[*].controller.delta").covers(&path("flows[*].controller")));
        assert!(!path("flows[0].controller").covers(&path("flows[*].controller")));
        assert!(path("flows[*].controller").is_above(&path("flows[1].controller.delta")));
        assert!(!path("flows[*].controller").is_above(&path("flows[1].controller")));
    }

    #[test]
    fn rejects_what_is_no_path() {
        for text in [
            "",
            ".",
            "a..b",
            "a[",
            "a[]",
            "a[-1]",
            "a[1]b",
            "[0]",
            "a b",
            "a[99999999999999999999]",
        ] {
            assert!(
                text.parse::<Path>().unwrap_err().contains("is not a path"),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn printing_gives_the_text_back(text in "[a-z_]{1,4}(\\[([0-9]{1,3}|\\*)\\])?(\\.[a-z]{1,3}){0,3}") {
            let parsed: Path = text.parse().unwrap();
            prop_assert_eq!(parsed.to_string().parse::<Path>(), Ok(parsed));
        }

        #[test]
        fn never_panics(text in "[a-z.\\[\\]*0-9]{0,12}") {
            let _ = text.parse::<Path>();
        }
    }
}
