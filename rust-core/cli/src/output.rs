//! The folder of a run: time series while it goes on, summary and protocol at its end.

use crate::folder::Staging;
use crate::{GIT, Plan};
use ferrocc::scenario::{Cell, Error};
use ferrocc::tcp::Counts;
use ferrocc::trace::workload::Request;
use ferrocc::trace::{
    AqmRow, CacheCounters, EventRow, FlowMeter, FlowNames, FlowRow, LinkCounters, QueueRow,
    Reasons, Recorder, Summary, Versions,
};
use ferrocc::transport::{Stats, Step};
use ferrocc::units::{Bytes, Instant, Rate};
use serde_json::json;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Buffer of a time series' file, bytes.
const BUFFER: usize = 1 << 16;

/// The files of the time series.
#[derive(Debug)]
struct Series {
    flows: BufWriter<File>,
    queue: BufWriter<File>,
    events: BufWriter<File>,
}

/// The file of the AQM's decisions.
type Decisions = BufWriter<File>;

/// Writes one run.
///
/// Writing a row cannot fail from the caller's point of view: the first error is kept and told by
/// [`RunWriter::finish`], and then nothing is put in place.
#[derive(Debug)]
pub struct RunWriter {
    plan: Arc<Plan>,
    index: usize,
    staging: Option<Staging>,
    series: Option<Series>,
    decisions: Option<Decisions>,
    recorder: Recorder,
    ns3_version: String,
    started_s: u64,
    failure: Option<io::Error>,
    table: String,
}

impl RunWriter {
    /// Opens the output of the run at `index` of `plan`.
    pub fn new(plan: Arc<Plan>, index: usize, ns3_version: &str) -> Result<RunWriter, Error> {
        let place = plan.folder(index);
        let fail = |e: io::Error| cannot_write(&place, &e);
        let staging = Staging::new(&place).map_err(fail)?;
        let cell = &plan.cells[index];
        let series = match cell.scenario.trace.enabled {
            Some(true) => Some(open_series(&staging).map_err(fail)?),
            _ => None,
        };
        let decisions = match cell.scenario.trace.packets {
            true => Some(open_decisions(&staging, cell).map_err(fail)?),
            false => None,
        };
        Ok(RunWriter {
            index,
            staging: Some(staging),
            series,
            decisions,
            recorder: Recorder::new(cell),
            ns3_version: ns3_version.to_owned(),
            started_s: unix_time(),
            failure: None,
            table: String::new(),
            plan,
        })
    }

    fn cell(&self) -> &Cell {
        &self.plan.cells[self.index]
    }

    /// Where other files of the run (pcap) go; it moves to its place with the rest.
    pub fn folder(&self) -> Option<&Path> {
        self.staging.as_ref().map(Staging::folder)
    }

    /// Declares a direction of a link.
    pub fn add_link(&mut self, name: &str, from: &str, to: &str, rate: Rate) -> usize {
        self.recorder.add_link(name, from, to, rate)
    }

    /// The queue of a link changed to this length.
    pub fn on_queue(&mut self, link: usize, now: Instant, packets: u32, bytes: Bytes) {
        self.recorder.on_queue(link, now, packets, bytes);
    }

    /// A flow (from 0) started.
    pub fn on_start(&mut self, flow: usize, now: Instant) {
        self.recorder.on_start(flow, now);
        self.event(flow, now, "start", 0.0, "");
    }

    /// When [`RunWriter::on_bin`] is due; [`Instant::MAX`] for never, a past time for now.
    pub fn next_bin(&self) -> Instant {
        self.recorder.next_bin()
    }

    /// All flows' delivered bytes.
    pub fn on_bin(&mut self, now: Instant, delivered: &[u64]) {
        self.recorder.on_bin(now, delivered);
    }

    /// A row of `flows.csv`.
    pub fn sample_flow(
        &mut self,
        flow: usize,
        now: Instant,
        step: &Step,
        stats: &Stats,
        meter: &mut FlowMeter,
    ) {
        if let Some(series) = &mut self.series {
            let row = self.recorder.flow_row(flow, now, step, stats, meter);
            keep(&mut self.failure, row.write(&mut series.flows));
        }
    }

    /// A row of `queue.csv`.
    pub fn sample_link(&mut self, link: usize, now: Instant, counters: &LinkCounters) {
        if let Some(series) = &mut self.series
            && let Some(row) = self.recorder.queue_row(link, now, counters)
        {
            keep(&mut self.failure, row.write(&mut series.queue));
        }
    }

    /// A row of `aqm.csv`; the row's link name is that of `link`.
    pub fn on_decision(&mut self, link: usize, row: AqmRow<'_>) {
        if let Some(file) = &mut self.decisions {
            let link = self.recorder.link_name(link).unwrap_or_default();
            keep(&mut self.failure, AqmRow { link, ..row }.write(file));
        }
    }

    /// A row of `events.csv`; "end" also ends the flow, with `text` as the reason if it is not
    /// complete.
    pub fn on_event(&mut self, flow: usize, now: Instant, kind: &str, value: f64, text: &str) {
        if kind == "end" {
            self.recorder.on_end(flow, now, text);
        }
        self.event(flow, now, kind, value, text);
    }

    fn event(&mut self, flow: usize, now: Instant, kind: &str, value: f64, text: &str) {
        if let Some(series) = &mut self.series {
            let flow = flow + 1;
            let row = EventRow {
                now,
                flow,
                kind,
                value,
                text,
            };
            keep(&mut self.failure, row.write(&mut series.events));
        }
    }

    /// A flow that repeats has completed an NDC and begins the next one.
    pub fn on_ndc(
        &mut self,
        flow: usize,
        now: Instant,
        step: &Step,
        stats: &Stats,
        meter: &FlowMeter,
    ) {
        self.recorder.on_ndc(flow, now, step, stats, meter);
    }

    /// A request of a flow's workload has ended.
    pub fn on_request(
        &mut self,
        flow: usize,
        request: &Request<'_>,
        step: &Step,
        stats: &Stats,
        meter: &FlowMeter,
    ) {
        self.recorder.on_request(flow, request, step, stats, meter);
    }

    /// Requests of a flow's workload were made without packets.
    pub fn on_replay(&mut self, flow: usize, requests: u64, hits: u64) {
        self.recorder.on_replay(flow, requests, hits);
    }

    /// What a flow's sessions came to.
    pub fn finish_names(&mut self, flow: usize, names: FlowNames) {
        self.recorder.finish_names(flow, names);
    }

    /// A router's cache at the end: REQs it answered, REQs for what it does not hold, NDCs it put
    /// together, NDCs it gave up.
    pub fn finish_cache(&mut self, name: &str, counters: &CacheCounters) {
        self.recorder.finish_cache(name, counters);
    }

    /// A flow's last state.
    pub fn finish_flow(
        &mut self,
        flow: usize,
        end: Instant,
        step: &Step,
        stats: &Stats,
        meter: &FlowMeter,
    ) {
        self.recorder.finish_flow(flow, end, step, stats, meter);
    }

    /// What a flow over TCP has beside.
    pub fn finish_tcp(&mut self, flow: usize, counts: Counts) {
        self.recorder.finish_tcp(flow, counts);
    }

    /// A link's last counters, and why packets were dropped and marked.
    pub fn finish_link(
        &mut self,
        link: usize,
        counters: &LinkCounters,
        dropped_by: Reasons,
        marked_by: Reasons,
    ) {
        let recorder = &mut self.recorder;
        recorder.finish_link(link, counters, dropped_by, marked_by);
    }

    /// Writes the summary and puts the folder in its place.
    pub fn finish(&mut self, events: u64, wall_s: f64) -> Result<(), Error> {
        let place = self.plan.folder(self.index);
        let fail = |e: io::Error| cannot_write(&place, &e);
        let Some(staging) = self.staging.take() else {
            return Err(fail(io::Error::other("the run is finished already")));
        };
        if let Some(e) = self.failure.take() {
            return Err(fail(e));
        }
        if let Some(mut series) = self.series.take() {
            for file in [&mut series.flows, &mut series.queue, &mut series.events] {
                file.flush().map_err(fail)?;
            }
        }
        if let Some(mut file) = self.decisions.take() {
            file.flush().map_err(fail)?;
        }
        let plan = Arc::clone(&self.plan);
        let versions = Versions {
            ns3: &self.ns3_version,
            git: GIT,
        };
        let summary = self
            .recorder
            .summary(&plan.scenario, self.cell_of(&plan), versions, events)
            .map_err(|e| fail(e.into()))?;
        let write = |name: &str, text: String| staging.create(name)?.write_all(text.as_bytes());
        write(
            "summary.json",
            summary.to_json().map_err(|e| fail(e.into()))?,
        )
        .map_err(fail)?;
        write("run.json", self.protocol(wall_s)).map_err(fail)?;
        self.table = summary.table();
        if plan.is_sweep() {
            self.table = format!("{}: {}\n", self.cell().name, in_one_line(&summary));
            crate::folder::begin_sweep(&plan.out).map_err(fail)?;
        }
        staging.commit().map_err(fail)
    }

    fn cell_of<'a>(&self, plan: &'a Plan) -> &'a Cell {
        &plan.cells[self.index]
    }

    /// What may differ between two runs of one seed.
    fn protocol(&self, wall_s: f64) -> String {
        let protocol = json!({
            "wall_s": wall_s,
            "host": host(),
            "started": iso_8601(self.started_s),
            "command": self.plan.command,
            "cell": self.cell().name,
        });
        format!("{protocol:#}\n")
    }

    /// The summary as a table for a terminal, of a run of a sweep as one line; empty before
    /// [`RunWriter::finish`].
    pub fn table(&self) -> &str {
        &self.table
    }
}

/// Opens a table of a run and writes its first line.
fn open_table(staging: &Staging, name: &str, header: &str) -> io::Result<BufWriter<File>> {
    let mut file = BufWriter::with_capacity(BUFFER, staging.create(name)?);
    writeln!(file, "{header}")?;
    Ok(file)
}

/// Opens the table of the AQM's decisions, with a column for each of its state variables.
fn open_decisions(staging: &Staging, cell: &Cell) -> io::Result<Decisions> {
    let aqm = ferrocc::aqm::registry::find(&cell.scenario.topology.bottleneck.aqm.name);
    let mut columns = vec![AqmRow::HEADER];
    columns.extend(aqm.map(|entry| entry.state_names()).unwrap_or_default());
    open_table(staging, "aqm.csv", &columns.join(","))
}

fn open_series(staging: &Staging) -> io::Result<Series> {
    let open = |name: &str, header: &str| open_table(staging, name, header);
    Ok(Series {
        flows: open("flows.csv", FlowRow::HEADER)?,
        queue: open("queue.csv", QueueRow::HEADER)?,
        events: open("events.csv", EventRow::HEADER)?,
    })
}

/// The numbers that a run of a sweep is judged by at a glance.
fn in_one_line(summary: &Summary) -> String {
    let goodput = total_goodput_mbps(
        summary.duration_s,
        summary.flows.iter().map(|f| (f.start_s, f.bytes)),
    );
    let mut text = format!("goodput {goodput:.3} Mbps");
    let rtts: Vec<f64> = summary.flows.iter().filter_map(|f| f.rtt_ms.mean).collect();
    if !rtts.is_empty() {
        let mean = rtts.iter().sum::<f64>() / rtts.len() as f64;
        text += &format!(", mean RTT {mean:.3} ms");
    }
    let losses: u64 = summary.flows.iter().map(|f| f.losses).sum();
    text + &format!(", losses {losses}")
}

/// The delivered bits of all flows (start and bytes of each) by the time from the first start to
/// the end of the run, `end_s`.
pub(crate) fn total_goodput_mbps(
    end_s: f64,
    flows: impl Iterator<Item = (Option<f64>, u64)>,
) -> f64 {
    let started = flows.filter_map(|(start, bytes)| Some((start?, bytes)));
    let (first, bytes) = started.fold((f64::INFINITY, 0u64), |(first, sum), (start, bytes)| {
        (first.min(start), sum.saturating_add(bytes))
    });
    if end_s > first {
        bytes as f64 * 8.0 / (end_s - first) / 1e6
    } else {
        0.0
    }
}

/// Keeps the first error.
fn keep(failure: &mut Option<io::Error>, result: io::Result<()>) {
    if let Err(e) = result {
        failure.get_or_insert(e);
    }
}

pub(crate) fn cannot_write(place: &Path, e: &io::Error) -> Error {
    Error::new(
        "--out",
        format!("cannot write \"{}\": {e}", place.display()),
    )
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name
        .or_else(|| std::env::var("HOSTNAME").ok())
        .unwrap_or_default();
    match name.trim() {
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    }
}

/// Seconds since 1970. For `run.json` only.
fn unix_time() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "when the run was made, outside the simulation"
    )]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

/// A UTC time like 2026-01-31T12:00:00Z.
fn iso_8601(unix_s: u64) -> String {
    let (days, rest) = (unix_s / 86_400, unix_s % 86_400);
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let (mut year, mut day) = (1970, days);
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [
        31,
        28 + u64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let mut month = 0;
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!(
        "{year}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z",
        month + 1,
        day + 1
    )
}

/// `summary.json` of a run, for the tables of a sweep.
pub(crate) fn read_summary(place: &Path) -> Result<serde_json::Value, Error> {
    let path = place.join("summary.json");
    let text = std::fs::read_to_string(&path).map_err(|e| {
        Error::new(
            "",
            format!("the run in \"{}\" did not finish: {e}", place.display()),
        )
    })?;
    serde_json::from_str(&text)
        .map_err(|e| Error::new("", format!("\"{}\" is no summary: {e}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right() {
        assert_eq!(iso_8601(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso_8601(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(iso_8601(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(iso_8601(1_735_689_600), "2025-01-01T00:00:00Z");
    }
}
