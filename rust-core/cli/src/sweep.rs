//! The table of a sweep: `sweep.csv`, one row per run.

use crate::output::{cannot_write, read_summary, total_goodput_mbps};
use crate::{Plan, folder};
use ferrocc::scenario::Error;
use serde_json::Value;
use std::collections::BTreeSet;

/// Columns after the cell's name and its settings, and where they are in the summary. Of lists of
/// flows `sum` or `mean` is taken over those that have a value; `goodput_mbps` is what all flows
/// together delivered, by the time from the first start to the end of the run.
const COLUMNS: &[(&str, Column)] = &[
    ("goodput_mbps", Column::Goodput),
    ("completed", Column::Count("/completed")),
    ("fct_s_mean", Column::Mean("/fct_s")),
    ("rtt_ms_mean", Column::Mean("/rtt_ms/mean")),
    ("srtt_ms_mean", Column::Mean("/srtt_ms_mean")),
    ("losses", Column::Sum("/losses")),
    ("retransmissions", Column::Sum("/retransmissions")),
    ("timeouts", Column::Sum("/timeouts")),
    ("utilisation", Column::At("/links/0/utilisation")),
    ("queue_pkts_mean", Column::At("/links/0/queue_pkts/mean")),
    ("queue_pkts_max", Column::At("/links/0/queue_pkts/max")),
    ("queue_ms_mean", Column::At("/links/0/queue_ms/mean")),
    ("queue_ms_p95", Column::At("/links/0/queue_ms/p95")),
    ("loss_rate", Column::At("/links/0/loss_rate")),
    ("jain", Column::At("/fairness/jain")),
    ("join_s", Column::At("/fairness/joins/0/t_s")),
    ("converged_s", Column::At("/fairness/joins/0/converged_s")),
    ("duration_s", Column::At("/duration_s")),
];

/// Where a column's value comes from; JSON pointers, of flows those into one flow.
#[derive(Debug, Clone, Copy)]
enum Column {
    Goodput,
    At(&'static str),
    Sum(&'static str),
    Mean(&'static str),
    Count(&'static str),
}

impl Column {
    fn text(self, summary: &Value) -> String {
        let flows = |pointer: &'static str| {
            let flows = summary["flows"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            flows.iter().filter_map(move |flow| flow.pointer(pointer))
        };
        let numbers = |pointer| flows(pointer).filter_map(Value::as_f64);
        match self {
            Column::Goodput => {
                let all = flows("").map(|f| (f["start_s"].as_f64(), f["bytes"].as_u64()));
                let end_s = summary["duration_s"].as_f64().unwrap_or_default();
                rounded(total_goodput_mbps(
                    end_s,
                    all.map(|(start, bytes)| (start, bytes.unwrap_or_default())),
                ))
            }
            Column::At(pointer) => match summary.pointer(pointer) {
                None | Some(Value::Null) => String::new(),
                Some(value) => value.to_string(),
            },
            Column::Sum(pointer) => rounded(numbers(pointer).sum()),
            Column::Mean(pointer) => match numbers(pointer).count() {
                0 => String::new(),
                n => rounded(numbers(pointer).sum::<f64>() / n as f64),
            },
            Column::Count(pointer) => flows(pointer)
                .filter(|v| **v == Value::Bool(true))
                .count()
                .to_string(),
        }
    }
}

/// To six decimals, as in the summary.
fn rounded(x: f64) -> String {
    ((x * 1e6).round() / 1e6).to_string()
}

/// A cell of CSV.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// The table, made from the summaries of all runs.
fn table(plan: &Plan) -> Result<String, Error> {
    let mut header = vec!["cell".to_owned()];
    header.extend(plan.axes.iter().map(|axis| quoted(axis)));
    header.extend(COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    let mut text = header.join(",") + "\n";
    for (i, cell) in plan.cells.iter().enumerate() {
        let summary = read_summary(&plan.folder(i))?;
        let mut row = vec![quoted(&cell.name)];
        row.extend(cell.settings.iter().map(|(_, value)| match value {
            Value::String(text) => quoted(text),
            other => quoted(&other.to_string()),
        }));
        row.extend(COLUMNS.iter().map(|(_, column)| column.text(&summary)));
        text.push_str(&row.join(","));
        text.push('\n');
    }
    Ok(text)
}

impl Plan {
    /// After all runs of a sweep: writes `sweep.csv` and removes what an earlier run or sweep left
    /// in the folder. Does nothing for a single run.
    pub fn finish(&self) -> Result<(), Error> {
        if !self.is_sweep() {
            return Ok(());
        }
        let table = table(self)?;
        let cells: BTreeSet<String> = self.cells.iter().map(|c| c.name.clone()).collect();
        folder::finish_sweep(&self.out, table.as_bytes(), &cells)
            .map_err(|e| cannot_write(&self.out, &e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_that_do_not_overlap_do_not_add_up_beyond_the_link() {
        let flow = |start: f64, bytes: u64, own: f64| serde_json::json!({ "start_s": start, "bytes": bytes, "goodput_mbps": own });
        // Each used a link of 20 Mbps alone for a second, with a second between them.
        let mut summary = serde_json::json!({
            "duration_s": 4.0,
            "flows": [flow(1.0, 2_500_000, 20.0), flow(3.0, 2_500_000, 20.0)],
        });
        assert_eq!(Column::Goodput.text(&summary), "13.333333");
        summary["flows"][1]["start_s"] = Value::Null;
        assert_eq!(Column::Goodput.text(&summary), "6.666667");
        summary["flows"] = Value::Null;
        assert_eq!(Column::Goodput.text(&summary), "0");
    }
}
