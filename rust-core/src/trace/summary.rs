//! `summary.json`: what a run comes to, schema version 1.
//!
//! It holds no path and no wall-clock time: equal seeds give equal bytes. Numbers are rounded to
//! six decimals of their unit. Where a quantity does not exist it is null: delays without samples,
//! `end_s` and `fct_s` of a transfer that did not end, `recovery` of an `icn` flow, `verified`
//! without `verify`, `jain` unless two or more flows were active together, `classification` without
//! a flow over TCP. `caches` is empty where there are none.

use super::workload::{FlowWorkload, WorkloadSummary};
use super::{Distribution, Reasons};
use crate::tcp::{Tallies, Tally};
use crate::units::Duration;
use serde::Serialize;
use serde_json::Value;

/// A run's summary.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Version of this schema.
    pub schema: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// ns-3's RngSeed.
    pub seed: u32,
    /// ns-3's RngRun.
    pub run: u64,
    /// Version of ns-3.
    pub ns3_version: String,
    /// Version of this library.
    pub ferrocc_version: String,
    /// Commit of this library.
    pub git: String,
    /// The scenario, fully resolved.
    pub config: Value,
    /// When the run ended: after its last transfer, at the latest after the configured duration.
    pub duration_s: f64,
    /// Events that the simulator executed.
    pub events: u64,
    /// The transfers, by id.
    pub flows: Vec<FlowSummary>,
    /// The directions of links, the bottleneck in DATA direction first.
    pub links: Vec<LinkSummary>,
    /// The content stores.
    pub caches: Vec<CacheSummary>,
    /// How the flows shared.
    pub fairness: FairnessSummary,
    /// How well the senders over TCP told losses and reordering apart.
    pub classification: Option<Classification>,
    /// What the workload came to, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadSummary>,
}

/// A transfer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowSummary {
    /// From 1.
    pub id: usize,
    /// Its name.
    pub name: String,
    /// `icn` or `tcp`.
    pub transport: String,
    /// Its controller.
    pub controller: String,
    /// Its recovery.
    pub recovery: Option<String>,
    /// When it started; null if it did not.
    pub start_s: Option<f64>,
    /// When it ended.
    pub end_s: Option<f64>,
    /// Whether every byte arrived; never so with `repeat`, which has no last byte.
    pub completed: bool,
    /// Application bytes that arrived, each counted once.
    pub bytes: u64,
    /// Delivered bits / (end or run's end - start).
    pub goodput_mbps: f64,
    /// Bits up to the first gap / run's duration.
    pub acked_mbps: f64,
    /// Flow completion time: end - start; with `repeat` the mean over its NDCs.
    pub fct_s: Option<f64>,
    /// Round-trip times.
    pub rtt_ms: DelaySummary,
    /// Mean over all samples of the smoothed RTT 0.8 SRTT + 0.2 RTT.
    pub srtt_ms_mean: Option<f64>,
    /// One-way delays of DATA, without the clocks' offset.
    pub owd_ms: DelaySummary,
    /// Units declared lost.
    pub losses: u64,
    /// Units requested again.
    pub retransmissions: u64,
    /// Units that arrived although they had arrived before; over TCP, segments that were sent again
    /// although what they repeat was not lost.
    pub unnecessary_retransmissions: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Units that arrived with a mark; null over TCP, which runs without ECN.
    pub marks: Option<u64>,
    /// Reductions of the window on loss, timeout or mark.
    pub window_cuts: u64,
    /// Reductions on losses that all turned out to be none; over TCP, reductions while no queue had
    /// dropped any of the outstanding segments.
    pub unnecessary_window_cuts: u64,
    /// What only a flow over TCP has.
    #[serde(flatten)]
    pub tcp: Option<TcpSummary>,
    /// Whether the content is what its name says.
    pub verified: Option<bool>,
    /// Why the transfer ended without being complete.
    pub failure: Option<String>,
    /// NDCs that were completed: 0 or 1, more with `repeat`.
    pub ndcs: u64,
    /// With `repeat`: the completion time of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fcts_s: Option<Vec<f64>>,
    /// How long the first list of replicas took; null without one, or with configured addresses.
    pub resolve_ms: Option<f64>,
    /// How often the replica was changed.
    pub replica_switches: u64,
    /// Name of the last replica; null if there was none.
    pub replica: Option<String>,
    /// What its measured requests came to, with a workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<FlowWorkload>,
}

/// What only a flow over TCP has.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TcpSummary {
    /// Segments with data that were sent.
    pub segments_sent: u64,
    /// Segments sent again by the sender's judgement: those that begin a recovery, and those outside
    /// of one.
    pub fast_retransmits: u64,
    /// Of these, segments whose transmission before was not lost.
    pub unnecessary_fast_retransmits: u64,
    /// How well the sender told losses and reordering apart.
    pub classification: Classification,
}

/// How well a sender tells losses and reordering apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Classification {
    /// Segments that a queue dropped (ACL of the NCE paper).
    pub congestion: Accuracy,
    /// Segments that an error model took (ARL).
    pub random: Accuracy,
    /// Segments that arrived late at their first transmission (APR).
    pub reordering: Accuracy,
    /// The last two together, told from congestion (equation (10)).
    pub non_congestion: Accuracy,
}

impl From<&Tallies> for Classification {
    fn from(t: &Tallies) -> Classification {
        Classification {
            congestion: Accuracy::from(&t.congestion),
            random: Accuracy::from(&t.random),
            reordering: Accuracy::from(&t.reordering),
            non_congestion: Accuracy::from(&t.non_congestion),
        }
    }
}

/// How many events of a kind were judged rightly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Accuracy {
    /// All events.
    pub total: u64,
    /// Those judged as what they were.
    pub exact: u64,
    /// Those that were not judged.
    pub missed: u64,
    /// exact / total; null without any.
    pub accuracy: Option<f64>,
}

impl From<&Tally> for Accuracy {
    fn from(t: &Tally) -> Accuracy {
        Accuracy {
            total: t.total,
            exact: t.exact,
            missed: t.missed,
            accuracy: (t.total > 0).then(|| rounded(t.exact as f64 / t.total as f64)),
        }
    }
}

/// The distribution of a delay, milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct DelaySummary {
    /// The smallest.
    pub min: Option<f64>,
    /// The arithmetic mean.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
}

impl From<&Distribution> for DelaySummary {
    fn from(d: &Distribution) -> DelaySummary {
        DelaySummary {
            min: d.min().map(millis),
            mean: d.mean().map(millis),
            p50: d.quantile(0.5).map(millis),
            p95: d.quantile(0.95).map(millis),
        }
    }
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkSummary {
    /// Its name.
    pub name: String,
    /// Node that sends.
    pub from: String,
    /// Node that receives.
    pub to: String,
    /// Its rate.
    pub rate_mbps: f64,
    /// Bits sent, link headers included, / (rate x time from the first start to the run's end).
    pub utilisation: f64,
    /// Packets in its queue (queue discipline and device), weighted by time.
    pub queue_pkts: QueuePackets,
    /// Backlog / rate, weighted by time.
    pub queue_ms: QueueDelay,
    /// Packets that came to the queue.
    pub arrivals: u64,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// The same, for each reason.
    pub dropped_by: Reasons,
    /// Packets that the queue marked.
    pub marked: u64,
    /// The same, for each reason.
    pub marked_by: Reasons,
    /// dropped / arrivals.
    pub loss_rate: f64,
    /// Packets that the error model took.
    pub error_losses: u64,
}

/// The length of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QueuePackets {
    /// Mean over time.
    pub mean: f64,
    /// Not exceeded for 95 % of the time.
    pub p95: f64,
    /// Largest.
    pub max: u32,
}

/// The queueing time of a queue, milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QueueDelay {
    /// Mean over time.
    pub mean: f64,
    /// Not exceeded for 95 % of the time.
    pub p95: f64,
}

/// A router that became a replica.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CacheSummary {
    /// The router.
    pub name: String,
    /// Transfers that it served.
    pub hits: u64,
    /// Transfers that passed it or were bound by it, and that others served.
    pub misses: u64,
    /// hits / (hits + misses); null without transfers.
    pub hit_ratio: Option<f64>,
    /// NDCs that made room for others.
    pub evictions: u64,
    /// NDCs that it put together.
    pub assembled: u64,
    /// NDCs that it began and gave up.
    pub abandoned: u64,
}

/// How the flows shared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FairnessSummary {
    /// Jain's index of the goodputs while all flows were active.
    pub jain: Option<f64>,
    /// The starts of flows beside active ones.
    pub joins: Vec<JoinSummary>,
}

/// A join.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct JoinSummary {
    /// When.
    pub t_s: f64,
    /// Start of the first of five fair bins of 200 ms in a row; null if there were none.
    pub converged_s: Option<f64>,
}

/// `x` to six decimals; anything not finite is zero.
pub(super) fn rounded(x: f64) -> f64 {
    let rounded = (x * 1e6).round() / 1e6;
    // Adding zero turns -0 into 0.
    if rounded.is_finite() {
        rounded + 0.0
    } else {
        0.0
    }
}

pub(super) fn millis(d: Duration) -> f64 {
    rounded(d.as_millis_f64())
}

/// Bits over seconds in Mbps; zero where no time passed.
pub(super) fn mbps(bytes: u64, time: Duration) -> f64 {
    if time.is_zero() {
        return 0.0;
    }
    rounded(bytes as f64 * 8.0 / time.as_secs_f64() / 1e6)
}

impl Summary {
    /// The current version of the schema.
    pub const SCHEMA: u32 = 1;

    /// The text of `summary.json`.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// A line about what the caches did.
    fn tell_caches(&self, text: &mut String) {
        let told = |c: &CacheSummary| {
            let gone = match c.abandoned {
                0 => String::new(),
                n => format!(", {n} abandoned"),
            };
            format!(
                "{} {} hits {} misses, {} assembled{gone}, {} evicted",
                c.name, c.hits, c.misses, c.assembled, c.evictions
            )
        };
        if !self.caches.is_empty() {
            let all: Vec<String> = self.caches.iter().map(told).collect();
            text.push_str(&format!("caches: {}\n", all.join("; ")));
        }
    }

    /// The transfers as a table for a terminal, with a line about the transfers that failed, about
    /// each direction of the bottleneck that carries DATA, and about fairness. Long lists are cut.
    pub fn table(&self) -> String {
        let mut text = self.flow_table();
        self.tell_failures(&mut text);
        let directions = 1 + usize::from(self.has_opposite());
        for link in self.links.iter().take(directions) {
            text.push_str(&format!(
                "{}: {:.1} % used, queue mean {:.1} max {} packets, {:.2} ms mean, {:.3} % dropped",
                link.name,
                link.utilisation * 100.0,
                link.queue_pkts.mean,
                link.queue_pkts.max,
                link.queue_ms.mean,
                link.loss_rate * 100.0,
            ));
            if link.marked > 0 {
                let share = link.marked as f64 / link.arrivals.max(1) as f64;
                text.push_str(&format!(", {:.3} % marked", share * 100.0));
            }
            if link.error_losses > 0 {
                text.push_str(&format!(", {} lost on the link", link.error_losses));
            }
            text.push('\n');
        }
        if let Some(workload) = &self.workload {
            text.push_str(&workload.table());
        }
        self.tell_caches(&mut text);
        let verified = self
            .flows
            .iter()
            .filter(|f| f.verified == Some(true))
            .count();
        if verified > 0 {
            text.push_str(&format!(
                "content: verified byte for byte in {verified} of {} flows\n",
                self.flows.len()
            ));
        }
        if let Some(jain) = self.fairness.jain {
            text.push_str(&format!("Jain's fairness index {jain:.4}"));
            let first = self.flows.iter().filter_map(|f| f.start_s);
            let first = first.fold(f64::MAX, f64::min);
            for join in self.fairness.joins.iter().take(8) {
                // Flows that start together do not join anybody.
                let what = if join.t_s > first { "join" } else { "start" };
                text.push_str(&format!("; {what} at {:.3} s ", join.t_s));
                match join.converged_s {
                    Some(t) => text.push_str(&format!("fair after {:.1} s", t - join.t_s)),
                    None => text.push_str("not fair for 1 s on end"),
                }
            }
            text.push('\n');
        }
        text
    }

    /// Whether flow number `index` crosses the bottleneck against the others' direction.
    fn is_opposite(&self, index: usize) -> bool {
        self.config["flows"][index]["direction"] == "opposite"
    }

    /// Whether there is DATA in both directions of the bottleneck.
    fn has_opposite(&self) -> bool {
        (0..self.flows.len()).any(|i| self.is_opposite(i))
    }

    /// Adds a line about the transfers that have failed, if any has.
    fn tell_failures(&self, text: &mut String) {
        let failed = |f: &&FlowSummary| f.failure.as_deref().is_some_and(|why| why != "cancelled");
        let count = self.flows.iter().filter(failed).count();
        if count > 0 {
            text.push_str(&format!(
                "{count} of {} transfers failed\n",
                self.flows.len()
            ));
        }
    }

    /// A row for each transfer, its direction only where there are two.
    fn flow_table(&self) -> String {
        const MOST_ROWS: usize = 20;
        let directions = self.has_opposite();
        let mut head = vec!["flow", "controller"];
        head.extend(directions.then_some("direction"));
        let left = head.len();
        head.extend([
            "start s",
            "end s",
            "MB",
            "goodput Mbps",
            "RTT ms",
            "p95 RTT ms",
            "losses",
            "timeouts",
        ]);
        let number = |x: Option<f64>, digits: usize| match x {
            Some(x) => format!("{x:.digits$}"),
            None => "-".to_owned(),
        };
        let mut rows = vec![head.iter().map(|&h| h.to_owned()).collect::<Vec<_>>()];
        rows.extend(self.flows.iter().enumerate().take(MOST_ROWS).map(|(i, f)| {
            let mut row = vec![f.name.clone(), f.controller.clone()];
            row.extend(directions.then(|| {
                let way = if self.is_opposite(i) {
                    "opposite"
                } else {
                    "forward"
                };
                way.to_owned()
            }));
            let end = match &f.failure {
                Some(why) => format!("{} ({why})", number(f.end_s, 3)),
                None => number(f.end_s, 3),
            };
            row.extend([
                number(f.start_s, 3),
                end,
                number(Some(f.bytes as f64 / 1e6), 3),
                number(Some(f.goodput_mbps), 3),
                number(f.rtt_ms.mean, 2),
                number(f.rtt_ms.p95, 2),
                f.losses.to_string(),
                f.timeouts.to_string(),
            ]);
            row
        }));
        let width = |column: usize| {
            rows.iter()
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or_default()
        };
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        let mut text = String::new();
        for row in &rows {
            for (i, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let gap = if i == 0 { "" } else { "  " };
                if i < left {
                    text.push_str(&format!("{gap}{cell:<width$}"));
                } else {
                    text.push_str(&format!("{gap}{cell:>width$}"));
                }
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        if self.flows.len() > MOST_ROWS {
            text.push_str(&format!(
                "... and {} more flows\n",
                self.flows.len() - MOST_ROWS
            ));
        }
        text
    }
}
