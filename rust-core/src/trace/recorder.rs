//! Takes in what happens in a run and makes its rows and its summary.

use super::fairness::Fairness;
use super::flow::FlowMeter;
use super::queue::QueueMeter;
use super::rows::{FlowRow, QueueRow};
use super::summary::{
    CacheSummary, Classification, DelaySummary, FairnessSummary, FlowSummary, JoinSummary,
    LinkSummary, QueueDelay, QueuePackets, Summary, TcpSummary, mbps, millis, rounded,
};
use super::workload::{Request, WorkloadMeter};
use crate::icn::RequestPlan;
use crate::scenario::Cell;
use crate::tcp::{Counts, Tallies};
use crate::transport::{Stats, Step};
use crate::units::{Bytes, Duration, Instant, Rate};
use std::collections::BTreeMap;

/// What one direction of a link has counted since the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets that came to the queue.
    pub arrivals: u64,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Packets that the queue marked.
    pub marked: u64,
    /// Packets that the error model took.
    pub error_losses: u64,
    /// Bytes sent including the link header.
    pub sent: Bytes,
}

/// What a router's cache has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheCounters {
    /// Transfers that it served.
    pub hits: u64,
    /// Transfers that passed it or were bound by it, and that others served.
    pub misses: u64,
    /// NDCs that made room for others.
    pub evictions: u64,
    /// NDCs that it put together.
    pub assembled: u64,
    /// NDCs that it began and gave up.
    pub abandoned: u64,
}

/// How many packets a queue dropped or marked, for each reason ([`crate::aqm::reason_key`]).
pub type Reasons = BTreeMap<String, u64>;

/// One direction of a link.
#[derive(Debug, Clone)]
struct Link {
    name: String,
    from: String,
    to: String,
    rate: Rate,
    queue: QueueMeter,
    counters: LinkCounters,
    dropped_by: Reasons,
    marked_by: Reasons,
}

/// A flow's state, as far as the summary needs it.
#[derive(Debug, Clone, Default)]
struct Flow {
    start: Option<Instant>,
    end: Option<Instant>,
    /// Whether the run ends without waiting for it.
    background: bool,
    /// Why it ended without being complete.
    failure: Option<String>,
    /// Completion times of its NDCs, with `repeat`.
    completion_times: Vec<Duration>,
    /// When its present NDC was begun.
    begin: Option<Instant>,
    /// What its earlier NDCs came to.
    earlier: Option<Box<Earlier>>,
    /// What its requests came to, with a workload.
    workload: Option<Box<WorkloadMeter>>,
    /// What its sessions came to.
    names: FlowNames,
    /// Time and delivered bytes of its last row.
    last_row: Option<(Instant, Bytes)>,
    result: Option<FlowResult>,
    /// What it has beside over TCP.
    tcp: Option<Counts>,
}

/// What a flow's sessions came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FlowNames {
    /// How long the first list of replicas took.
    pub resolve_time: Option<Duration>,
    /// How often the replica was changed.
    pub switches: u64,
    /// Name of the last replica.
    pub replica: Option<String>,
}

/// What the earlier NDCs of a flow that repeats, or has a workload, come to.
#[derive(Debug, Clone, Default)]
struct Earlier {
    delivered: Bytes,
    in_order: Bytes,
    stats: Stats,
    meter: FlowMeter,
    /// One of them was not what its name says.
    unverified: bool,
}

impl Earlier {
    fn add(&mut self, step: &Step, stats: &Stats, meter: &FlowMeter) {
        self.delivered += step.delivered;
        self.in_order += step.in_order;
        self.stats.add(stats);
        self.meter.add(meter);
        self.unverified |= step.completed && !step.verified;
    }
}

/// A flow's last state, as far as the summary needs it.
#[derive(Debug, Clone)]
struct FlowResult {
    completed: bool,
    verified: bool,
    delivered: Bytes,
    in_order: Bytes,
    rtt: DelaySummary,
    one_way: DelaySummary,
    srtt_mean: Option<Duration>,
    losses: u64,
    retransmissions: u64,
    duplicates: u64,
    timeouts: u64,
    marks: u64,
    window_cuts: u64,
    unnecessary_window_cuts: u64,
}

/// What the summary says about the programs that made it.
#[derive(Debug, Clone, Copy)]
pub struct Versions<'a> {
    /// Of ns-3.
    pub ns3: &'a str,
    /// Commit of ferrocc.
    pub git: &'a str,
}

/// A run while it goes on.
#[derive(Debug, Clone)]
pub struct Recorder {
    links: Vec<Link>,
    flows: Vec<Flow>,
    fairness: Fairness,
    caches: Vec<CacheSummary>,
    duration: Instant,
    first_start: Option<Instant>,
}

impl Recorder {
    /// Before the run of `cell`.
    pub fn new(cell: &Cell) -> Recorder {
        let flows = &cell.scenario.flows;
        let plan = cell.scenario.workload.as_ref().map(|w| RequestPlan {
            // A replay makes its requests before the run.
            warm_up: match w.warmup_mode.as_str() {
                "replay" => 0,
                _ => u64::from(w.warmup),
            },
            measured: u64::from(w.measured),
        });
        Recorder {
            links: Vec::new(),
            flows: flows
                .iter()
                .map(|flow| Flow {
                    background: flow.background,
                    workload: plan.map(|plan| Box::new(WorkloadMeter::new(plan))),
                    ..Flow::default()
                })
                .collect(),
            // Opposite flows do not share the bottleneck's DATA direction.
            fairness: Fairness::new(flows.iter().map(|f| f.direction == "forward").collect()),
            caches: Vec::new(),
            duration: Instant::ZERO + cell.scenario.duration.0,
            first_start: None,
        }
    }

    /// Declares a direction of a link; returns its index. The bottleneck in DATA direction is the
    /// first.
    pub fn add_link(&mut self, name: &str, from: &str, to: &str, rate: Rate) -> usize {
        self.links.push(Link {
            name: name.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            rate,
            queue: QueueMeter::new(rate),
            counters: LinkCounters::default(),
            dropped_by: Reasons::new(),
            marked_by: Reasons::new(),
        });
        self.links.len() - 1
    }

    /// The queue of `link` changed to this length.
    pub fn on_queue(&mut self, link: usize, now: Instant, packets: u32, bytes: Bytes) {
        if let Some(link) = self.links.get_mut(link) {
            link.queue.on_change(now, packets, bytes);
        }
    }

    /// Flow `flow` (from 0) started.
    pub fn on_start(&mut self, flow: usize, now: Instant) {
        let Some(state) = self.flows.get_mut(flow) else {
            return;
        };
        if state.start.is_some() {
            return;
        }
        state.start = Some(now);
        state.begin = Some(now);
        if self.first_start.is_none() {
            self.first_start = Some(now);
            self.links.iter_mut().for_each(|link| link.queue.start(now));
        }
        self.fairness.on_start(flow, now);
    }

    /// Flow `flow` ended: completed, or given up because of `failure` (empty if it is complete).
    pub fn on_end(&mut self, flow: usize, now: Instant, failure: &str) {
        let Some(state) = self.flows.get_mut(flow) else {
            return;
        };
        if state.start.is_none() || state.end.is_some() {
            return;
        }
        state.end = Some(now);
        state.failure = (!failure.is_empty()).then(|| failure.to_owned());
        self.fairness.on_end(flow, now);
        // What happens after the last transfer is not part of the run.
        if self.all_ended() {
            self.links.iter_mut().for_each(|link| link.queue.stop(now));
        }
    }

    /// A flow that repeats has completed an NDC, in this last state, and begins the next one.
    pub fn on_ndc(
        &mut self,
        flow: usize,
        now: Instant,
        step: &Step,
        stats: &Stats,
        meter: &FlowMeter,
    ) {
        let Some(state) = self.flows.get_mut(flow) else {
            return;
        };
        if let Some(begin) = state.begin.replace(now) {
            state.completion_times.push(now - begin);
        }
        let earlier = state.earlier.get_or_insert_default();
        earlier.add(step, stats, meter);
    }

    /// A request of a flow's workload has ended, with its receiver in this last state.
    pub fn on_request(
        &mut self,
        flow: usize,
        request: &Request<'_>,
        step: &Step,
        stats: &Stats,
        meter: &FlowMeter,
    ) {
        if let Some(state) = self.flows.get_mut(flow)
            && let Some(workload) = &mut state.workload
        {
            workload.on_request(request);
            let earlier = state.earlier.get_or_insert_default();
            earlier.add(step, stats, meter);
        }
    }

    /// Requests of a flow's workload were made without packets: so many, so many of them hits.
    pub fn on_replay(&mut self, flow: usize, requests: u64, hits: u64) {
        if let Some(state) = self.flows.get_mut(flow)
            && let Some(workload) = &mut state.workload
        {
            workload.on_replay(requests, hits);
        }
    }

    /// Whether every flow that the run waits for has ended.
    fn all_ended(&self) -> bool {
        self.flows.iter().all(|f| f.background || f.end.is_some())
    }

    /// When [`Recorder::on_bin`] is due: [`Instant::MAX`] for never, a past time for now.
    pub fn next_bin(&self) -> Instant {
        self.fairness.next_bin()
    }

    /// All flows' delivered bytes at `now`.
    pub fn on_bin(&mut self, now: Instant, delivered: &[u64]) {
        self.fairness.on_bin(now, delivered);
    }

    /// A row of `flows.csv`.
    pub fn flow_row(
        &mut self,
        flow: usize,
        now: Instant,
        step: &Step,
        stats: &Stats,
        meter: &mut FlowMeter,
    ) -> FlowRow {
        let state = self.flows.get_mut(flow);
        let earlier = state.as_ref().and_then(|f| f.earlier.as_deref());
        let delivered = step.delivered + earlier.map_or(Bytes::ZERO, |e| e.delivered);
        let losses = stats.losses + earlier.map_or(0, |e| e.stats.losses);
        let last = state.and_then(|f| f.last_row.replace((now, delivered)));
        FlowRow {
            now,
            flow: flow + 1,
            window: step.window,
            in_flight: step.in_flight,
            in_flight_extremes: meter.take_extremes(),
            pacing: step.pacing,
            rtt: step.rtt,
            srtt: step.srtt,
            srtt_plot: meter.srtt_plot(),
            one_way_ns: step
                .one_way
                .map(|d| d.as_nanos().wrapping_sub(step.one_way_zero.as_nanos())),
            delivered,
            goodput: last
                .filter(|(then, _)| now > *then)
                .map(|(then, before)| delivered.saturating_sub(before) / (now - then)),
            losses,
            queue_delay: step.snapshot.queue_delay,
            delta: step.snapshot.delta,
            phase: step.snapshot.phase,
            alpha: step.snapshot.alpha,
        }
    }

    /// A row of `queue.csv`; none for a link that was not declared.
    pub fn queue_row(
        &mut self,
        link: usize,
        now: Instant,
        counters: &LinkCounters,
    ) -> Option<QueueRow<'_>> {
        let link = self.links.get_mut(link)?;
        Some(QueueRow {
            now,
            packets: link.queue.packets(),
            bytes: link.queue.bytes(),
            max_packets: link.queue.take_interval_max(),
            arrivals: counters.arrivals,
            dropped: counters.dropped,
            sent: counters.sent,
            link: &link.name,
        })
    }

    /// A flow's last state. A flow that is completed and was not said to have ended did so at `end`.
    pub fn finish_flow(
        &mut self,
        flow: usize,
        end: Instant,
        step: &Step,
        stats: &Stats,
        meter: &FlowMeter,
    ) {
        let Some(state) = self.flows.get_mut(flow) else {
            return;
        };
        let workload = state.workload.as_deref();
        // The last receiver of a workload that is over is among the earlier ones.
        let counted = workload.is_some_and(WorkloadMeter::is_over);
        let completed = workload.map_or(step.completed, WorkloadMeter::is_complete);
        if completed {
            self.on_end(flow, end, "");
        }
        let Some(state) = self.flows.get_mut(flow) else {
            return;
        };
        let mut total;
        let mut meter = *meter;
        let (mut delivered, mut in_order) = (step.delivered, step.in_order);
        let mut verified = step.verified;
        let stats = match state.earlier.take() {
            None => stats,
            Some(earlier) => {
                // An NDC that was not completed cannot be judged.
                verified = !earlier.unverified;
                if counted {
                    (delivered, in_order) = (Bytes::ZERO, Bytes::ZERO);
                    meter = FlowMeter::default();
                }
                delivered += earlier.delivered;
                in_order += earlier.in_order;
                meter.add(&earlier.meter);
                total = earlier.stats;
                if !counted {
                    total.add(stats);
                }
                &total
            }
        };
        state.result = Some(FlowResult {
            completed,
            verified,
            delivered,
            in_order,
            rtt: DelaySummary::from(&stats.rtt),
            one_way: DelaySummary::from(&stats.one_way),
            srtt_mean: meter.srtt_plot_mean(),
            losses: stats.losses,
            retransmissions: stats.retransmissions,
            duplicates: stats.duplicates,
            timeouts: stats.timeouts,
            marks: stats.marks,
            window_cuts: stats.window_cuts,
            unnecessary_window_cuts: stats.unnecessary_window_cuts,
        });
    }

    /// What a flow over TCP has beside.
    pub fn finish_tcp(&mut self, flow: usize, counts: Counts) {
        if let Some(state) = self.flows.get_mut(flow) {
            state.tcp = Some(counts);
        }
    }

    /// What a flow's sessions came to.
    pub fn finish_names(&mut self, flow: usize, names: FlowNames) {
        if let Some(state) = self.flows.get_mut(flow) {
            state.names = names;
        }
    }

    /// A router's cache at the end.
    pub fn finish_cache(&mut self, name: &str, counters: &CacheCounters) {
        let all = counters.hits + counters.misses;
        self.caches.push(CacheSummary {
            name: name.to_owned(),
            hits: counters.hits,
            misses: counters.misses,
            hit_ratio: (all > 0).then(|| rounded(counters.hits as f64 / all as f64)),
            evictions: counters.evictions,
            assembled: counters.assembled,
            abandoned: counters.abandoned,
        });
    }

    /// The name of a link.
    pub fn link_name(&self, link: usize) -> Option<&str> {
        self.links.get(link).map(|l| l.name.as_str())
    }

    /// A link's last counters, and why packets were dropped and marked.
    pub fn finish_link(
        &mut self,
        link: usize,
        counters: &LinkCounters,
        dropped_by: Reasons,
        marked_by: Reasons,
    ) {
        if let Some(link) = self.links.get_mut(link) {
            link.counters = *counters;
            link.dropped_by = dropped_by;
            link.marked_by = marked_by;
        }
    }

    /// The run is over.
    pub fn summary(
        &mut self,
        scenario: &str,
        cell: &Cell,
        versions: Versions<'_>,
        events: u64,
    ) -> serde_json::Result<Summary> {
        let waited = self.flows.iter().filter(|f| !f.background);
        let last_end = waited.filter_map(|f| f.end).max();
        let end = match last_end {
            Some(last) if self.all_ended() => last.min(self.duration),
            _ => self.duration,
        };
        for link in &mut self.links {
            link.queue.stop(end);
        }
        let delivered: Vec<u64> = self
            .flows
            .iter()
            .map(|f| f.result.as_ref().map_or(0, |r| r.delivered.get()))
            .collect();
        let span = self.first_start.map_or(Duration::ZERO, |first| end - first);
        Ok(Summary {
            schema: Summary::SCHEMA,
            scenario: scenario.to_owned(),
            seed: cell.scenario.seed,
            run: cell.scenario.run,
            ns3_version: versions.ns3.to_owned(),
            ferrocc_version: env!("CARGO_PKG_VERSION").to_owned(),
            git: versions.git.to_owned(),
            config: serde_json::to_value(&cell.scenario)?,
            duration_s: end.as_secs_f64(),
            events,
            flows: (0..self.flows.len())
                .map(|i| self.flow_summary(i, cell, end))
                .collect(),
            links: self
                .links
                .iter()
                .map(|link| link_summary(link, span))
                .collect(),
            caches: self.caches.clone(),
            fairness: FairnessSummary {
                jain: self.fairness.jain(end, &delivered).map(rounded),
                joins: self
                    .fairness
                    .joins()
                    .iter()
                    .map(|join| JoinSummary {
                        t_s: join.at.as_secs_f64(),
                        converged_s: join.converged.map(Instant::as_secs_f64),
                    })
                    .collect(),
            },
            classification: self.classification(),
            workload: cell.scenario.workload.as_ref().map(|given| {
                let mut all = WorkloadMeter::default();
                for meter in self.flows.iter().filter_map(|f| f.workload.as_deref()) {
                    all.add(meter);
                }
                all.summary(given.catalogue, given.alpha)
            }),
        })
    }

    /// Over all flows over TCP.
    fn classification(&self) -> Option<Classification> {
        let mut all: Option<Tallies> = None;
        for counts in self.flows.iter().filter_map(|f| f.tcp.as_ref()) {
            all.get_or_insert_default().add(&counts.tallies);
        }
        all.as_ref().map(Classification::from)
    }

    fn flow_summary(&self, i: usize, cell: &Cell, run_end: Instant) -> FlowSummary {
        let (flow, given) = (&self.flows[i], &cell.scenario.flows[i]);
        let result = flow.result.as_ref();
        let count = |f: fn(&FlowResult) -> u64| result.map_or(0, f);
        let bytes = count(|r| r.delivered.get());
        let until = flow.end.unwrap_or(run_end).min(run_end);
        let active = flow.start.map_or(Duration::ZERO, |start| until - start);
        let completed = result.is_some_and(|r| r.completed) && !given.repeat;
        let times = &flow.completion_times;
        let is_icn = given.transport == "icn";
        let seconds = |t: Instant| t.as_secs_f64();
        FlowSummary {
            id: i + 1,
            name: given.name.clone().unwrap_or_default(),
            transport: given.transport.clone(),
            controller: given.controller.label(),
            recovery: given.recovery.as_ref().map(|r| r.name.clone()),
            start_s: flow.start.map(seconds),
            end_s: flow.end.map(seconds),
            completed,
            bytes,
            goodput_mbps: mbps(bytes, active),
            acked_mbps: mbps(count(|r| r.in_order.get()), run_end - Instant::ZERO),
            fct_s: match (flow.start, flow.end) {
                _ if flow.workload.is_some() => None,
                (Some(start), Some(end)) if completed => Some((end - start).as_secs_f64()),
                _ if !times.is_empty() => {
                    let sum: f64 = times.iter().map(|t| t.as_secs_f64()).sum();
                    Some(rounded(sum / times.len() as f64))
                }
                _ => None,
            },
            rtt_ms: result.map_or(DelaySummary::default(), |r| r.rtt),
            srtt_ms_mean: result.and_then(|r| r.srtt_mean).map(millis),
            owd_ms: result.map_or(DelaySummary::default(), |r| r.one_way),
            losses: count(|r| r.losses),
            retransmissions: count(|r| r.retransmissions),
            unnecessary_retransmissions: flow
                .tcp
                .map_or(count(|r| r.duplicates), |tcp| tcp.needless.all),
            timeouts: count(|r| r.timeouts),
            marks: is_icn.then(|| count(|r| r.marks)),
            window_cuts: count(|r| r.window_cuts),
            unnecessary_window_cuts: count(|r| r.unnecessary_window_cuts),
            tcp: flow.tcp.as_ref().map(|tcp| TcpSummary {
                segments_sent: tcp.sent,
                fast_retransmits: tcp.fast_retransmits,
                unnecessary_fast_retransmits: tcp.needless.fast,
                classification: Classification::from(&tcp.tallies),
            }),
            verified: cell
                .scenario
                .verify
                .then(|| result.is_some_and(|r| r.verified)),
            failure: flow.failure.clone(),
            ndcs: match &flow.workload {
                Some(workload) => workload.delivered(),
                None => times.len() as u64 + u64::from(completed),
            },
            fcts_s: given
                .repeat
                .then(|| times.iter().map(|t| rounded(t.as_secs_f64())).collect()),
            resolve_ms: flow.names.resolve_time.map(millis),
            replica_switches: flow.names.switches,
            replica: flow.names.replica.clone(),
            workload: flow.workload.as_deref().map(WorkloadMeter::flow_summary),
        }
    }
}

fn link_summary(link: &Link, span: Duration) -> LinkSummary {
    let c = &link.counters;
    let ratio = |part: f64, whole: f64| {
        if whole > 0.0 {
            rounded(part / whole)
        } else {
            0.0
        }
    };
    let capacity = link.rate.as_bps() as f64 * span.as_secs_f64();
    LinkSummary {
        name: link.name.clone(),
        from: link.from.clone(),
        to: link.to.clone(),
        rate_mbps: rounded(link.rate.as_mbps()),
        utilisation: ratio(c.sent.get() as f64 * 8.0, capacity),
        queue_pkts: QueuePackets {
            mean: rounded(link.queue.mean_packets()),
            p95: rounded(link.queue.packets_quantile(0.95)),
            max: link.queue.max_packets(),
        },
        queue_ms: QueueDelay {
            mean: millis(link.queue.mean_delay()),
            p95: millis(link.queue.delay_quantile(0.95)),
        },
        arrivals: c.arrivals,
        dropped: c.dropped,
        dropped_by: link.dropped_by.clone(),
        marked: c.marked,
        marked_by: link.marked_by.clone(),
        loss_rate: ratio(c.dropped as f64, c.arrivals as f64),
        error_losses: c.error_losses,
    }
}
