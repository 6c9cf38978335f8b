//! The figures: as a table, and as JSON to compare with later.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::failure::{Failure, IoContext, Result};

/// Version of the JSON.
const SCHEMA: u32 = 1;

/// One figure: a ratio of two costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Stable name.
    pub id: String,
    /// What it is.
    pub figure: String,
    /// The ratio must not be above this.
    pub target: f64,
    /// The ratio of instructions.
    pub measured: f64,
    /// The ratio of wall times, shortest of several runs.
    pub wall: f64,
    /// What the two costs are per.
    pub unit: String,
    /// Instructions per unit of what is measured.
    pub numerator: f64,
    /// Instructions per unit of what it is compared with.
    pub denominator: f64,
    /// REQ packets per DATA packet of the ICN run.
    pub reqs_per_data: f64,
}

/// All figures of one `cargo xtask bench`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    schema: u32,
    /// Which ns-3.
    pub ns3: String,
    /// The figures.
    pub rows: Vec<Row>,
}

impl Results {
    /// None yet.
    pub fn new(ns3: String) -> Self {
        Self {
            schema: SCHEMA,
            ns3,
            rows: Vec::new(),
        }
    }

    fn path(folder: &Path, name: &str) -> PathBuf {
        folder.join(format!("{name}.json"))
    }

    /// Reads figures that were kept.
    pub fn read(folder: &Path, name: &str) -> Result<Self> {
        let path = Self::path(folder, name);
        let text = fs::read_to_string(&path).map_err(|_| {
            let kept = kept(folder).join(", ");
            Failure::usage(format!(
                "bench: no figures are kept as \"{name}\" (kept: {kept})"
            ))
        })?;
        let results: Self = serde_json::from_str(&text)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
        if results.schema == SCHEMA {
            return Ok(results);
        }
        Err(Failure::usage(format!(
            "{}: schema {}, not {SCHEMA}",
            path.display(),
            results.schema
        )))
    }

    /// Keeps the figures.
    pub fn write(&self, folder: &Path, name: &str) -> Result<()> {
        let path = Self::path(folder, name);
        let cannot = format!("cannot write {}", path.display());
        fs::create_dir_all(folder).context(&cannot)?;
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Failure::step(format!("{cannot}: {error}")))?;
        fs::write(&path, text + "\n").context(cannot)
    }

    /// Targets, figures and, with a baseline, the change.
    pub fn table(&self, baseline: Option<&Self>) -> String {
        let width = self
            .rows
            .iter()
            .map(|row| row.figure.len())
            .max()
            .unwrap_or(0);
        let change_title = if baseline.is_some() { "  change" } else { "" };
        let mut text = format!(
            "ns-3 {}\n{:<width$}  target  measured  wall   instructions each{change_title}\n",
            self.ns3, "figure"
        );
        for row in &self.rows {
            let verdict = if row.measured <= row.target {
                "  "
            } else {
                " !"
            };
            text += &format!(
                "{:<width$}  {:>6.2}  {:>6.2}{verdict}  {:>5.2}  {:>8.0} : {:<8.0}",
                row.figure, row.target, row.measured, row.wall, row.numerator, row.denominator
            );
            if let Some(old) = baseline.and_then(|b| b.rows.iter().find(|old| old.id == row.id)) {
                text += &format!("  {:+.1} %", (row.numerator / old.numerator - 1.0) * 100.0);
            }
            text += "\n";
        }
        if let Some(old) = baseline.filter(|old| old.ns3 != self.ns3) {
            text += &format!("the baseline was measured with another ns-3: {}\n", old.ns3);
        }
        text + "! above the target; wall: ratio of the shortest wall times of 5 runs in turn\n"
    }
}

/// Names of figures that are kept.
fn kept(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .map(|entries| {
            entries
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
                .collect()
        })
        .unwrap_or_default();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(numerator: f64) -> Results {
        let mut results = Results::new("3.37 optimized".into());
        results.rows.push(Row {
            id: "a".into(),
            figure: "a figure".into(),
            target: 1.25,
            measured: numerator / 100.0,
            wall: 1.1,
            unit: "DATA".into(),
            numerator,
            denominator: 100.0,
            reqs_per_data: 1.0,
        });
        results
    }

    #[test]
    fn figures_are_kept_and_compared() {
        let folder = tempfile::tempdir().unwrap();
        results(120.0).write(folder.path(), "before").unwrap();
        let before = Results::read(folder.path(), "before").unwrap();
        assert_eq!(before, results(120.0));
        let table = results(132.0).table(Some(&before));
        assert!(
            table.contains("1.32 !") && table.contains("+10.0 %"),
            "{table}"
        );
        assert!(!results(120.0).table(None).contains(" !  "), "{table}");
    }

    #[test]
    fn a_baseline_that_is_not_there_is_bad_input_and_the_others_are_named() {
        let folder = tempfile::tempdir().unwrap();
        results(1.0).write(folder.path(), "before").unwrap();
        let failure = Results::read(folder.path(), "befor").unwrap_err();
        assert_eq!(failure.code, 2);
        assert!(
            failure.message.contains("(kept: before)"),
            "{}",
            failure.message
        );
    }
}
