//! Bridge of the scenario model: `ferrocc::scenario`.

#[cxx::bridge(namespace = "ferrocc::scenario")]
pub(crate) mod bridge {
    /// A router that hosts are linked to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum RouterSide {
        /// IR1.
        Left,
        /// IR2.
        Right,
    }

    /// What `parse` found the command line to ask for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Action {
        /// Print `text()` and exit 0 (`--list`, `--describe`, `--help`).
        Print,
        /// Run the cells.
        Run,
    }

    /// One run, resolved: all numbers, no units left to read.
    #[derive(Debug, Clone)]
    struct RunSpec {
        /// For messages and `summary.json`.
        scenario: String,
        /// The sweep's cell ("" if this is a single run), also the folder below `out`.
        cell: String,
        /// ns-3's RngSeed and RngRun.
        seed: u32,
        /// See `seed`.
        run: u64,
        /// Length of the simulation.
        duration_ns: u64,
        /// Whether IPv6 is used instead of IPv4.
        ipv6: bool,
        /// Bottleneck link, both directions.
        bottleneck_rate_bps: u64,
        /// One-way propagation delay of the bottleneck link.
        bottleneck_delay_ns: u64,
        /// Added to it from IR1 to IR2.
        extra_delay_reverse_ns: u64,
        /// Every other link.
        access_rate_bps: u64,
        /// Limit of the bottleneck's best-effort band; a `QueueSize` string of ns-3, "37p" or "75000B".
        bottleneck_buffer: String,
        /// Limit of the device queue below the queue disc, packets.
        device_queue_packets: u32,
        /// AQM of the best-effort band.
        aqm: String,
        /// DSCP of expedited DATA (46 = EF).
        priority_dscp: u8,
        /// Loss probability per packet in DATA direction on the bottleneck.
        loss: f64,
        /// The same in REQ direction.
        loss_reverse: f64,
        /// Probability that a DATA packet is held back.
        reorder: f64,
        /// Mean extra delay of a packet that is held back (exponential).
        reorder_delay_ns: u64,
        /// Payload of a full DATA packet.
        payload_bytes: u32,
        /// Largest IP packet on all links: a full DATA packet is never fragmented.
        mtu_bytes: u32,
        /// Real payload, checked against the NDC's EID.
        verify: bool,
        /// pcap on every device.
        pcap: bool,
        /// NetAnim file, "" for none.
        anim: String,
        /// Write flows.csv, queue.csv and events.csv.
        trace: bool,
        /// Interval of their rows.
        trace_interval_ns: u64,
    }

    /// A host that fetches NDCs.
    #[derive(Debug, Clone)]
    struct ReceiverSpec {
        /// Its name.
        name: String,
        /// Where it is.
        side: RouterSide,
        /// One-way propagation delay of its link.
        delay_ns: u64,
        /// How far its clock is ahead of the simulator's at the start.
        clock_offset_ns: i64,
        /// How much faster its clock runs, parts per billion.
        clock_skew_ppb: i64,
    }

    /// A host that holds NDCs.
    #[derive(Debug, Clone)]
    struct ReplicaSpec {
        /// Its name.
        name: String,
        /// Where it is.
        side: RouterSide,
        /// One-way propagation delay of its link.
        delay_ns: u64,
    }

    /// One transfer.
    #[derive(Debug, Clone)]
    struct FlowSpec {
        /// 1, 2, ...
        id: u32,
        /// For tables and figures.
        name: String,
        /// "icn" or "tcp".
        transport: String,
        /// Which receiver node, from 0.
        receiver: u32,
        /// Which replica node, from 0.
        replica: u32,
        /// First request.
        start_ns: u64,
        /// Added to `start_ns`: uniform in [0, jitter), drawn from ns-3's stream.
        start_jitter_ns: u64,
        /// When the transfer is given up; `u64::MAX` for never.
        stop_ns: u64,
        /// Size of its NDC; zero for unlimited.
        size_bytes: u64,
        /// Whether the next NDC follows when one is complete.
        repeat: bool,
        /// Whether the run ends without waiting for it.
        background: bool,
        /// Registry name of the controller.
        controller: String,
        /// Its parameters, resolved, a JSON object.
        controller_params: String,
        /// Options of the receiver engine, resolved, a JSON object.
        transport_options: String,
    }

    extern "Rust" {
        #[derive(ExternType)]
        type Plan;
        #[derive(ExternType)]
        type Cell;

        /// Reads the command line (without the program's name) and resolves the scenario.
        /// The error is one line that says which field, what was given and what is accepted.
        fn parse(args: &Vec<String>) -> Result<Box<Plan>>;
        /// What to do.
        fn action(self: &Plan) -> Action;
        /// What to print.
        fn text(self: &Plan) -> String;
        /// Number of runs: 1, or one per cell of the sweep.
        fn cell_count(self: &Plan) -> usize;
        /// The cell of the given index.
        fn cell(self: &Plan, index: usize) -> Result<Box<Cell>>;
        /// How many cells may run at once.
        fn jobs(self: &Plan) -> usize;
        /// Whether progress is wanted (the caller still checks for a terminal).
        fn progress(self: &Plan) -> bool;
        /// The folder of the results, for messages.
        fn out(self: &Plan) -> String;
        /// After all cells of a sweep: writes `sweep.csv`. Does nothing for a single run.
        fn finish(self: &Plan) -> Result<()>;

        /// The run.
        fn spec(self: &Cell) -> RunSpec;
        /// The folder of its results, for messages.
        fn folder(self: &Cell) -> String;
        /// The hosts that fetch NDCs.
        fn receivers(self: &Cell) -> Vec<ReceiverSpec>;
        /// The hosts that hold NDCs.
        fn replicas(self: &Cell) -> Vec<ReplicaSpec>;
        /// Its transfers, by id.
        fn flows(self: &Cell) -> Vec<FlowSpec>;
    }
}

use bridge::{Action, FlowSpec, ReceiverSpec, ReplicaSpec, RouterSide, RunSpec};
use ferrocc::scenario::quantity::{Buffer, Jitter};
use ferrocc::scenario::{Nodes, Side};
use ferrocc::transport::ReceiverOptions;
use ferrocc_cli as cli;
use std::sync::Arc;

/// MTU of the links where packets are no longer, bytes: Ethernet's.
const LEAST_MTU_BYTES: u32 = 1500;

/// What the IPv6 header (RFC 8200) is longer than the IPv4 one (RFC 791), bytes.
const IPV6_EXTRA_BYTES: u32 = 40 - 20;

/// A command line, read and checked.
pub struct Plan(Arc<cli::Plan>);

/// One run of a plan.
pub struct Cell {
    plan: Arc<cli::Plan>,
    index: usize,
}

#[expect(clippy::ptr_arg, reason = "C++ passes a rust::Vec")]
fn parse(args: &Vec<String>) -> Result<Box<Plan>, String> {
    let plan = cli::parse(args).map_err(|e| e.to_string())?;
    Ok(Box::new(Plan(Arc::new(plan))))
}

impl Plan {
    fn action(&self) -> Action {
        match self.0.action {
            cli::Action::Print => Action::Print,
            cli::Action::Run => Action::Run,
        }
    }

    fn text(&self) -> String {
        self.0.text.clone()
    }

    fn cell_count(&self) -> usize {
        self.0.cells.len()
    }

    fn cell(&self, index: usize) -> Result<Box<Cell>, String> {
        match self.0.cells.get(index) {
            Some(_) => Ok(Box::new(Cell {
                plan: Arc::clone(&self.0),
                index,
            })),
            None => Err(format!(
                "there is no run {index}, only {}",
                self.0.cells.len()
            )),
        }
    }

    fn jobs(&self) -> usize {
        self.0.jobs
    }

    fn progress(&self) -> bool {
        self.0.progress
    }

    fn out(&self) -> String {
        self.0.out.display().to_string()
    }

    fn finish(&self) -> Result<(), String> {
        self.0.finish().map_err(|e| e.to_string())
    }
}

impl Cell {
    pub(crate) fn plan(&self) -> &Arc<cli::Plan> {
        &self.plan
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    fn resolved(&self) -> &ferrocc::scenario::Cell {
        &self.plan.cells[self.index]
    }

    fn folder(&self) -> String {
        self.plan.folder(self.index).display().to_string()
    }

    fn spec(&self) -> RunSpec {
        let cell = self.resolved();
        let (s, links) = (&cell.scenario, &cell.links);
        let (topology, bottleneck) = (&s.topology, &s.topology.bottleneck);
        RunSpec {
            scenario: self.plan.scenario.clone(),
            cell: cell.name.clone(),
            seed: s.seed,
            run: s.run,
            duration_ns: s.duration.0.as_nanos(),
            ipv6: topology.ip == "ipv6",
            bottleneck_rate_bps: bottleneck.rate.0.as_bps(),
            bottleneck_delay_ns: links.bottleneck_delay.as_nanos(),
            extra_delay_reverse_ns: bottleneck.extra_delay_reverse.0.as_nanos(),
            access_rate_bps: links.access_rate.as_bps(),
            bottleneck_buffer: queue_size(links.buffer),
            device_queue_packets: bottleneck.device_queue,
            aqm: bottleneck.aqm.name.clone(),
            priority_dscp: topology.priority_dscp,
            loss: bottleneck.loss.0,
            loss_reverse: bottleneck.loss_reverse.0,
            reorder: bottleneck.reorder.0,
            reorder_delay_ns: bottleneck.reorder_delay.0.as_nanos(),
            payload_bytes: s.transport.mss_bytes.into(),
            mtu_bytes: u32::from(s.transport.mss_bytes)
                .saturating_add(ReceiverOptions::HEADER_BYTES as u32)
                .saturating_add(if topology.ip == "ipv6" {
                    IPV6_EXTRA_BYTES
                } else {
                    0
                })
                .max(LEAST_MTU_BYTES),
            verify: s.verify,
            pcap: self.plan.pcap,
            anim: self
                .plan
                .anim
                .as_ref()
                .map_or(String::new(), |f| f.display().to_string()),
            trace: s.trace.enabled == Some(true),
            trace_interval_ns: s.trace.interval.0.as_nanos(),
        }
    }

    fn receivers(&self) -> Vec<ReceiverSpec> {
        let cell = self.resolved();
        let nodes = Nodes::new(&cell.scenario).receivers.into_iter();
        nodes
            .map(|node| ReceiverSpec {
                name: node.name,
                side: side(node.side),
                delay_ns: (cell.links.receiver_delay + node.extra_delay).as_nanos(),
                clock_offset_ns: node.clock.offset.nanos,
                clock_skew_ppb: node.clock.skew.ppb,
            })
            .collect()
    }

    fn replicas(&self) -> Vec<ReplicaSpec> {
        let cell = self.resolved();
        let nodes = Nodes::new(&cell.scenario).replicas.into_iter();
        nodes
            .map(|node| ReplicaSpec {
                name: node.name,
                side: side(node.side),
                delay_ns: cell.links.replica_delay.as_nanos(),
            })
            .collect()
    }

    fn flows(&self) -> Vec<FlowSpec> {
        let s = &self.resolved().scenario;
        let nodes = Nodes::new(s);
        let options = serde_json::to_string(&s.transport).unwrap_or_default();
        (0u32..)
            .zip(&s.flows)
            .map(|(i, flow)| FlowSpec {
                id: i + 1,
                name: flow.name.clone().unwrap_or_default(),
                transport: flow.transport.clone(),
                receiver: index(nodes.receiver_of[i as usize]),
                replica: index(nodes.replica_of[i as usize]),
                start_ns: flow.start.0.as_nanos(),
                start_jitter_ns: match flow.start_jitter {
                    Jitter::Time(d) => d.as_nanos(),
                    Jitter::Rtprop(n) => s.topology.rtprop.0.mul_f64(n).as_nanos(),
                },
                stop_ns: flow.stop.map_or(u64::MAX, |stop| stop.0.as_nanos()),
                size_bytes: flow.size.map_or(0, |size| size.0.get()),
                repeat: flow.repeat,
                background: flow.background,
                controller: flow.controller.name.clone(),
                controller_params: serde_json::to_string(&flow.controller.params)
                    .unwrap_or_default(),
                transport_options: options.clone(),
            })
            .collect()
    }
}

fn side(side: Side) -> RouterSide {
    match side {
        Side::Left => RouterSide::Left,
        Side::Right => RouterSide::Right,
    }
}

fn index(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}

/// A limit as ns-3 writes it.
fn queue_size(buffer: Buffer) -> String {
    match buffer {
        Buffer::Packets(n) => format!("{n}p"),
        Buffer::Bytes(n) => format!("{}B", n.get()),
        Buffer::Bdp(_) => unreachable!("a resolved buffer is in packets or bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(args: &[&str]) -> Result<Box<Plan>, String> {
        parse(&args.iter().map(|a| (*a).to_owned()).collect())
    }

    #[test]
    fn the_base_scenario_resolves_to_numbers() {
        let plan = plan(&[
            "--scenario=base/topo-1",
            "--flows=70",
            "--set=flows[0].size=1 MB",
        ])
        .unwrap();
        assert_eq!((plan.action(), plan.cell_count()), (Action::Run, 1));
        let cell = plan.cell(0).unwrap();
        let spec = cell.spec();
        let (receivers, replicas) = (cell.receivers(), cell.replicas());
        assert_eq!((spec.seed, spec.run, receivers.len()), (1, 1, 64));
        assert_eq!((replicas.len(), replicas[0].name.as_str()), (1, "RN"));
        assert_eq!(spec.bottleneck_rate_bps, 20_000_000);
        let one_way = receivers[0].delay_ns + spec.bottleneck_delay_ns + replicas[0].delay_ns;
        assert_eq!(2 * one_way, 30_000_000);
        assert_eq!(
            (spec.bottleneck_buffer.as_str(), spec.aqm.as_str()),
            ("75000B", "drop-tail")
        );
        assert_eq!((spec.payload_bytes, spec.priority_dscp), (1250, 46));
        let flows = cell.flows();
        assert_eq!(flows.len(), 70);
        assert_eq!((flows[0].size_bytes, flows[1].size_bytes), (1_000_000, 0));
        assert_eq!((flows[69].id, flows[69].receiver), (70, 5));
        assert_eq!(
            (flows[0].start_ns, flows[0].start_jitter_ns),
            (100_000_000, 0)
        );
        assert!(plan.cell(1).is_err());
    }

    #[test]
    fn what_a_flow_hands_on_makes_a_receiver() {
        let plan = plan(&["--scenario=base/topo-1", "--controller=newreno"]).unwrap();
        let flow = &plan.cell(0).unwrap().flows()[0];
        let options: ferrocc::transport::ReceiverOptions =
            serde_json::from_str(&flow.transport_options).unwrap();
        assert_eq!(options.mss_bytes, 1250);
        let params = serde_json::from_str(&flow.controller_params).unwrap();
        let setup = ferrocc::cc::Setup::default();
        assert!(ferrocc::cc::registry::build(&flow.controller, &setup, &params).is_ok());
    }

    #[test]
    fn errors_are_one_line() {
        let error = plan(&["--scenario=base/topo-3"]).err().unwrap();
        assert!(error.starts_with("--scenario: unknown scenario") && !error.contains('\n'));
    }
}
