//! Sweeps: all combinations of the values on some axes.

use super::error::{Error, shown};
use super::json::kind;
use super::path::Path;
use serde_json::Value;
use std::collections::BTreeMap;

/// Most runs of one sweep.
pub const MAX_CELLS: usize = 100_000;
/// Longest piece of a cell's name that one value makes, characters.
const MAX_SLUG: usize = 40;

/// A field and the values that it takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub(crate) path: Path,
    values: Vec<Value>,
}

/// A combination of values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Combination {
    pub(crate) name: String,
    pub(crate) settings: Vec<(Path, Value)>,
}

/// Whether the path is of a field that says how a scenario is put together, not what it is.
pub(crate) fn is_structure(path: &Path) -> bool {
    matches!(path.root(), "extends" | "sweep")
}

/// Reads a scenario's `sweep`.
pub(crate) fn axes(sweep: Value) -> Result<Vec<Axis>, Error> {
    let fields = match sweep {
        Value::Null => return Ok(Vec::new()),
        Value::Object(fields) => fields,
        other => {
            let problem = format!("{} is not an object of path: [values]", kind(&other));
            return Err(Error::new("sweep", problem));
        }
    };
    let mut axes = Vec::new();
    for (key, given) in fields {
        let field = format!("sweep.{key}");
        let name = match key.as_str() {
            "runs" => "run",
            "seeds" => "seed",
            other => other,
        };
        let path: Path = name.parse().map_err(|e: String| Error::new("sweep", e))?;
        let values = match given {
            Value::Array(values) => values,
            Value::Number(n) if name != key => match n.as_u64() {
                Some(n @ 1..) if n <= MAX_CELLS as u64 => (1..=n).map(Value::from).collect(),
                _ => {
                    let problem = format!("{n} is out of range (accepted: 1..{MAX_CELLS})");
                    return Err(Error::new(field, problem));
                }
            },
            other => {
                let problem = format!("{} is not a list of values", kind(&other));
                return Err(Error::new(field, problem));
            }
        };
        if values.is_empty() {
            return Err(Error::new(
                field,
                "the list is empty (accepted: at least one value)",
            ));
        }
        if is_structure(&path) {
            return Err(Error::new(field, "cannot be swept"));
        }
        if axes.iter().any(|a: &Axis| a.path == path) {
            return Err(Error::new(field, "is swept twice"));
        }
        axes.push(Axis { path, values });
    }
    Ok(axes)
}

/// Puts `axis` in the stead of the one of its path, or at the end.
pub(crate) fn put(axes: &mut Vec<Axis>, axis: Axis) {
    match axes.iter_mut().find(|a| a.path == axis.path) {
        Some(old) => *old = axis,
        None => axes.push(axis),
    }
}

/// All combinations, the last axis fastest. Without axes there is one, without a name.
pub(crate) fn cells(axes: &[Axis]) -> Result<Vec<Combination>, Error> {
    let count = axes
        .iter()
        .try_fold(1usize, |n, a| n.checked_mul(a.values.len()));
    if count.is_none_or(|n| n > MAX_CELLS) {
        let problem = format!("there are more than {MAX_CELLS} combinations");
        return Err(Error::new("sweep", problem));
    }
    let mut cells = vec![Combination {
        name: String::new(),
        settings: Vec::new(),
    }];
    for axis in axes {
        let unique = axes
            .iter()
            .filter(|a| a.path.label() == axis.path.label())
            .count()
            == 1;
        let label = if unique {
            axis.path.label().to_owned()
        } else {
            slug(&axis.path.to_string())
        };
        let mut next = Vec::with_capacity(cells.len() * axis.values.len());
        for cell in &cells {
            for value in &axis.values {
                let comma = if cell.name.is_empty() { "" } else { "," };
                let name = format!("{}{comma}{label}={}", cell.name, value_slug(value));
                let mut settings = cell.settings.clone();
                settings.push((axis.path.clone(), value.clone()));
                next.push(Combination { name, settings });
            }
        }
        cells = next;
    }
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for i in 0..cells.len() {
        let cut = cells[i].name.clone();
        let mut number = 1;
        while let Some(&twin) = names.get(&cells[i].name) {
            if cells[twin].settings == cells[i].settings {
                let problem = format!("two combinations are called {}", shown(&cut));
                return Err(Error::new("sweep", problem));
            }
            // Long values are cut, and may be equal then.
            number += 1;
            cells[i].name = format!("{cut}-{number}");
        }
        names.insert(cells[i].name.clone(), i);
    }
    Ok(cells)
}

/// A value as part of a folder's name: "20 Mbps" is "20Mbps", a controller is its name and the
/// parameters that are given.
fn value_slug(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| match (key.as_str(), value) {
                ("name", Value::String(name)) => name.clone(),
                _ => format!("{key}-{}", value_slug(value)),
            })
            .collect::<Vec<_>>()
            .join("_"),
        other => other.to_string(),
    };
    let mut slug = slug(&text);
    slug.truncate(MAX_SLUG);
    slug
}

/// `text` with what a folder's name should not contain left out.
fn slug(text: &str) -> String {
    let kept = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    let slug: String = text.chars().filter(kept).collect();
    if slug.is_empty() {
        "_".to_owned()
    } else {
        slug
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(sweep: Value) -> Vec<String> {
        cells(&axes(sweep).unwrap())
            .unwrap()
            .into_iter()
            .map(|c| c.name)
            .collect()
    }

    #[test]
    fn all_combinations_are_made_and_named() {
        assert_eq!(
            names(json!({
                "flows[*].controller": ["copa", { "name": "copa", "delta": 0.1 }],
                "topology.bottleneck.rate": ["20 Mbps"],
                "runs": 2,
            })),
            [
                "controller=copa,rate=20Mbps,run=1",
                "controller=copa,rate=20Mbps,run=2",
                "controller=copa_delta-0.1,rate=20Mbps,run=1",
                "controller=copa_delta-0.1,rate=20Mbps,run=2",
            ]
        );
        assert_eq!(names(Value::Null), [""]);
        assert_eq!(
            names(json!({ "flows[0].size": ["1 MB"], "flows[1].size": [null] })),
            ["flows0.size=1MB,flows1.size=null"]
        );
    }

    #[test]
    fn bad_sweeps_are_refused() {
        let error = |sweep| match axes(sweep).and_then(|a| cells(&a).map(|_| ())) {
            Ok(()) => panic!("accepted"),
            Err(e) => e.to_string(),
        };
        assert_eq!(
            error(json!([])),
            "sweep: a list is not an object of path: [values]"
        );
        assert!(error(json!({ "a b": [1] })).contains("is not a path"));
        assert!(error(json!({ "duration": "1 s" })).contains("is not a list"));
        assert!(error(json!({ "duration": [] })).contains("is empty"));
        assert!(error(json!({ "sweep.x": [1] })).contains("cannot be swept"));
        assert!(error(json!({ "runs": 0 })).contains("accepted: 1.."));
        assert!(error(json!({ "run": [1], "runs": 2 })).contains("swept twice"));
        assert!(error(json!({ "run": [1, 1] })).contains("two combinations"));
        // Not so if they are called the same only because long names are cut.
        let long = "x".repeat(MAX_SLUG);
        let axes = axes(json!({ "a": [format!("{long}y"), format!("{long}z")] })).unwrap();
        let names: Vec<_> = cells(&axes).unwrap().into_iter().map(|c| c.name).collect();
        assert_eq!(names[1], format!("{}-2", names[0]));
        assert!(error(json!({ "runs": 1000, "seeds": 1000 })).contains("more than"));
    }
}
