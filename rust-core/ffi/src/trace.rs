//! Bridge of the output: `ferrocc::trace`.

#[cxx::bridge(namespace = "ferrocc::trace")]
pub(crate) mod bridge {
    #[namespace = "ferrocc::scenario"]
    extern "C++" {
        include!("ferrocc-ffi/src/scenario.rs.h");
        type Cell = crate::scenario::Cell;
    }
    #[namespace = "ferrocc::transport"]
    extern "C++" {
        include!("ferrocc-ffi/src/transport.rs.h");
        type Receiver = crate::transport::Receiver;
    }

    #[namespace = "ferrocc::tcp"]
    extern "C++" {
        include!("ferrocc-ffi/src/tcp.rs.h");
        type Meter = crate::tcp::Meter;
    }

    /// What one direction of a link has counted so far.
    #[derive(Debug, Clone, Copy)]
    struct LinkCounters {
        /// Packets that came to the queue.
        arrivals: u64,
        /// Packets that the queue dropped.
        dropped: u64,
        /// Packets that the queue marked.
        marked: u64,
        /// Packets that the error model took.
        error_losses: u64,
        /// Bytes sent including the link header.
        sent_bytes: u64,
    }

    /// How many packets a queue dropped or marked for one reason.
    #[derive(Debug, Clone)]
    struct ReasonCount {
        /// The reason in words, as the queue disc counts it.
        reason: String,
        /// How many packets.
        packets: u64,
    }

    /// What an AQM decided about a packet.
    #[derive(Debug, Clone)]
    struct PacketDecision<'a> {
        /// When.
        now_ns: u64,
        /// `enqueue` or `dequeue`.
        at: &'a str,
        /// `data`, `req` or `other`.
        packet: &'a str,
        /// Its size in the queue.
        size_bytes: u32,
        /// How long it waited.
        sojourn_ns: u64,
        /// `pass`, `mark` or `drop`.
        verdict: &'a str,
        /// Why it was marked or dropped, in words.
        reason: &'a str,
        /// The state variables.
        state: &'a [f64],
    }

    /// A direction of a link, declared before the run.
    #[derive(Debug, Clone)]
    struct LinkInfo {
        /// As in `queue.csv`.
        name: String,
        /// Node that sends.
        from: String,
        /// Node that receives.
        to: String,
        /// Its rate.
        rate_bps: u64,
    }

    /// A request of a workload that has ended.
    #[derive(Debug, Clone)]
    struct RequestInfo {
        /// When the client asked for the NDC.
        begin_ns: u64,
        /// When the first REQ left; `u64::MAX` if none did.
        first_request_ns: u64,
        /// Whether a cache served it.
        from_cache: bool,
        /// Why it failed; empty if it did not.
        failure: String,
    }

    /// What a router's cache has counted.
    #[derive(Debug, Clone)]
    struct CacheCounters {
        /// The router.
        name: String,
        /// Transfers that it served.
        hits: u64,
        /// Transfers that passed it or were bound by it, and that others served.
        misses: u64,
        /// NDCs that made room for others.
        evictions: u64,
        /// NDCs that it put together.
        assembled: u64,
        /// NDCs that it began and gave up.
        abandoned: u64,
    }

    extern "Rust" {
        type RunWriter;

        /// Opens the run's output in a staging folder beside the final one.
        fn new_writer(cell: &Cell, ns3_version: &str) -> Result<Box<RunWriter>>;
        /// Declares a direction of a link and returns its index; the bottleneck in DATA direction
        /// comes first.
        fn add_link(self: &mut RunWriter, link: &LinkInfo) -> u32;
        /// Where other files of the run (pcap) go while it is being made.
        fn folder(self: &RunWriter) -> String;

        /// The link's queue (queue disc and device) changed to this length.
        fn on_queue(self: &mut RunWriter, link: u32, now_ns: u64, packets: u32, bytes: u32);
        /// Flow `flow` (from 0) started. Then ask `next_bin_ns` again.
        fn on_start(self: &mut RunWriter, flow: u32, now_ns: u64);
        /// When `on_bin` is due: `u64::MAX` for never, a time that has passed for now. It changes
        /// with `on_start`, with the event "end" and with `on_bin`.
        fn next_bin_ns(self: &RunWriter) -> u64;
        /// The flows' delivered bytes now, by flow (zero before its start, its total after its
        /// end); works with and without trace. Returns when it is due next, as `next_bin_ns`.
        fn on_bin(self: &mut RunWriter, now_ns: u64, delivered_bytes: &[u64]) -> u64;
        /// One row of `flows.csv`, called every `trace_interval_ns` for each started flow if the
        /// run is traced.
        fn sample_flow(self: &mut RunWriter, flow: u32, now_ns: u64, receiver: &Receiver);
        /// The same for a flow over TCP.
        fn sample_tcp(self: &mut RunWriter, flow: u32, now_ns: u64, meter: &mut Meter);
        /// One row of `queue.csv`, called every `trace_interval_ns` if the run is traced.
        fn sample_link(self: &mut RunWriter, link: u32, now_ns: u64, counters: &LinkCounters);
        /// A row of `aqm.csv`; nothing if the run does not trace packets.
        fn on_decision(self: &mut RunWriter, link: u32, decision: &PacketDecision);
        /// Something happened to a flow: a row of `events.csv` if the run is traced. Kinds: loss,
        /// timeout, cut, phase, ndc, replica, end. "end" must be told in any case, when the
        /// transfer completes (without text) or is given up (the text is the failure's name); then
        /// ask `next_bin_ns` again. (`on_start` writes "start".)
        fn on_event(
            self: &mut RunWriter,
            flow: u32,
            now_ns: u64,
            kind: &str,
            value: f64,
            text: &str,
        );
        /// A flow that repeats has completed an NDC, in this last state, and begins the next one.
        fn on_ndc(self: &mut RunWriter, flow: u32, now_ns: u64, receiver: &Receiver);
        /// A request of a flow's workload has ended, with its receiver in this last state.
        fn on_request(
            self: &mut RunWriter,
            flow: u32,
            now_ns: u64,
            request: &RequestInfo,
            receiver: &Receiver,
        );
        /// Requests of a flow's workload were made without packets, before the start: so many, so
        /// many of them were served by caches.
        fn on_replay(self: &mut RunWriter, flow: u32, requests: u64, hits: u64);
        /// What a flow's sessions came to: how long the first list of replicas took (`u64::MAX`
        /// without one), changes of the replica, the last replica ("" without one).
        fn finish_names(
            self: &mut RunWriter,
            flow: u32,
            resolve_ns: u64,
            switches: u64,
            replica: &str,
        );
        /// A router's cache at the end.
        fn finish_cache(self: &mut RunWriter, cache: &CacheCounters);
        /// The flow's last state, whether it ended or not.
        fn finish_flow(self: &mut RunWriter, flow: u32, end_ns: u64, receiver: &Receiver);
        /// The same for a flow over TCP.
        fn finish_tcp(self: &mut RunWriter, flow: u32, end_ns: u64, meter: &Meter);
        /// The link's last counters, and why packets were dropped and marked.
        fn finish_link(
            self: &mut RunWriter,
            link: u32,
            counters: &LinkCounters,
            dropped_by: &Vec<ReasonCount>,
            marked_by: &Vec<ReasonCount>,
        );
        /// Writes `summary.json` and `run.json` and puts the folder in its place. `events` is the
        /// number of simulator events, `wall_s` how long the run took.
        fn finish(self: &mut RunWriter, events: u64, wall_s: f64) -> Result<()>;
        /// The summary as a table for the terminal (after `finish`).
        fn table(self: &RunWriter) -> String;
    }
}

use crate::scenario::Cell;
use crate::tcp::Meter;
use crate::transport::Receiver;
use bridge::{CacheCounters, LinkCounters, LinkInfo, PacketDecision, ReasonCount, RequestInfo};
use ferrocc::trace;
use ferrocc::units::{Bytes, Duration, Instant, Rate};
use std::sync::Arc;

/// The output of a run.
pub struct RunWriter(ferrocc_cli::RunWriter);

fn new_writer(cell: &Cell, ns3_version: &str) -> Result<Box<RunWriter>, String> {
    ferrocc_cli::RunWriter::new(Arc::clone(cell.plan()), cell.index(), ns3_version)
        .map(|writer| Box::new(RunWriter(writer)))
        .map_err(|e| e.to_string())
}

fn at(now_ns: u64) -> Instant {
    Instant::from_nanos(now_ns)
}

fn counters(c: &LinkCounters) -> trace::LinkCounters {
    trace::LinkCounters {
        arrivals: c.arrivals,
        dropped: c.dropped,
        marked: c.marked,
        error_losses: c.error_losses,
        sent: Bytes::new(c.sent_bytes),
    }
}

/// Counts by the short names of their reasons.
fn reasons(counts: &[ReasonCount]) -> trace::Reasons {
    let mut reasons = trace::Reasons::new();
    for count in counts {
        *reasons
            .entry(ferrocc::aqm::reason_key(&count.reason))
            .or_default() += count.packets;
    }
    reasons
}

impl RunWriter {
    fn add_link(&mut self, link: &LinkInfo) -> u32 {
        let rate = Rate::from_bps(link.rate_bps);
        let index = self.0.add_link(&link.name, &link.from, &link.to, rate);
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    fn folder(&self) -> String {
        self.0
            .folder()
            .map_or(String::new(), |f| f.display().to_string())
    }

    fn on_queue(&mut self, link: u32, now_ns: u64, packets: u32, bytes: u32) {
        self.0
            .on_queue(link as usize, at(now_ns), packets, Bytes::new(bytes.into()));
    }

    fn on_start(&mut self, flow: u32, now_ns: u64) {
        self.0.on_start(flow as usize, at(now_ns));
    }

    fn next_bin_ns(&self) -> u64 {
        self.0.next_bin().as_nanos()
    }

    fn on_bin(&mut self, now_ns: u64, delivered_bytes: &[u64]) -> u64 {
        self.0.on_bin(at(now_ns), delivered_bytes);
        self.next_bin_ns()
    }

    fn sample_flow(&mut self, flow: u32, now_ns: u64, receiver: &Receiver) {
        let engine = receiver.engine();
        let mut meter = receiver.meter();
        let (step, stats) = (engine.step(), engine.stats());
        self.0
            .sample_flow(flow as usize, at(now_ns), &step, stats, &mut meter);
        receiver.set_meter(meter);
    }

    fn sample_tcp(&mut self, flow: u32, now_ns: u64, meter: &mut Meter) {
        let step = meter.0.snapshot();
        let stats = meter.0.stats().clone();
        self.0
            .sample_flow(flow as usize, at(now_ns), &step, &stats, meter.0.flow_mut());
    }

    fn sample_link(&mut self, link: u32, now_ns: u64, c: &LinkCounters) {
        self.0.sample_link(link as usize, at(now_ns), &counters(c));
    }

    fn on_decision(&mut self, link: u32, d: &PacketDecision<'_>) {
        let row = trace::AqmRow {
            now: at(d.now_ns),
            link: "",
            at: d.at,
            packet: d.packet,
            size: Bytes::new(d.size_bytes.into()),
            sojourn: Duration::from_nanos(d.sojourn_ns),
            verdict: d.verdict,
            reason: &ferrocc::aqm::reason_key(d.reason),
            state: d.state,
        };
        self.0.on_decision(link as usize, row);
    }

    fn on_event(&mut self, flow: u32, now_ns: u64, kind: &str, value: f64, text: &str) {
        self.0
            .on_event(flow as usize, at(now_ns), kind, value, text);
    }

    fn on_ndc(&mut self, flow: u32, now_ns: u64, receiver: &Receiver) {
        let engine = receiver.engine();
        let (step, stats) = (engine.step(), engine.stats());
        self.0
            .on_ndc(flow as usize, at(now_ns), &step, stats, &receiver.meter());
    }

    fn on_request(&mut self, flow: u32, now_ns: u64, request: &RequestInfo, receiver: &Receiver) {
        let engine = receiver.engine();
        let (step, stats) = (engine.step(), engine.stats());
        let first = request.first_request_ns;
        let request = trace::workload::Request {
            begin: at(request.begin_ns),
            first_request: (first != u64::MAX).then(|| at(first)),
            end: at(now_ns),
            from_cache: request.from_cache,
            failure: &request.failure,
            packet_delays: &stats.rtt,
        };
        self.0
            .on_request(flow as usize, &request, &step, stats, &receiver.meter());
    }

    fn on_replay(&mut self, flow: u32, requests: u64, hits: u64) {
        self.0.on_replay(flow as usize, requests, hits);
    }

    fn finish_names(&mut self, flow: u32, resolve_ns: u64, switches: u64, replica: &str) {
        let names = trace::FlowNames {
            resolve_time: (resolve_ns != u64::MAX).then(|| Duration::from_nanos(resolve_ns)),
            switches,
            replica: (!replica.is_empty()).then(|| replica.to_owned()),
        };
        self.0.finish_names(flow as usize, names);
    }

    fn finish_cache(&mut self, c: &CacheCounters) {
        let counters = trace::CacheCounters {
            hits: c.hits,
            misses: c.misses,
            evictions: c.evictions,
            assembled: c.assembled,
            abandoned: c.abandoned,
        };
        self.0.finish_cache(&c.name, &counters);
    }

    fn finish_flow(&mut self, flow: u32, end_ns: u64, receiver: &Receiver) {
        let engine = receiver.engine();
        let (step, stats) = (engine.step(), engine.stats());
        self.0
            .finish_flow(flow as usize, at(end_ns), &step, stats, &receiver.meter());
    }

    fn finish_tcp(&mut self, flow: u32, end_ns: u64, meter: &Meter) {
        let (step, stats) = (meter.0.snapshot(), meter.0.stats());
        self.0
            .finish_flow(flow as usize, at(end_ns), &step, stats, meter.0.flow());
        self.0.finish_tcp(flow as usize, meter.0.counts());
    }

    #[expect(clippy::ptr_arg, reason = "C++ passes a rust::Vec")]
    fn finish_link(
        &mut self,
        link: u32,
        c: &LinkCounters,
        dropped_by: &Vec<ReasonCount>,
        marked_by: &Vec<ReasonCount>,
    ) {
        let (dropped, marked) = (reasons(dropped_by), reasons(marked_by));
        self.0
            .finish_link(link as usize, &counters(c), dropped, marked);
    }

    fn finish(&mut self, events: u64, wall_s: f64) -> Result<(), String> {
        self.0.finish(events, wall_s).map_err(|e| e.to_string())
    }

    fn table(&self) -> String {
        self.0.table().to_owned()
    }
}
