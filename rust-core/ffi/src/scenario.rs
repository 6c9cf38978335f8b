//! Bridge of the scenario model: `ferrocc::scenario`.

#[cxx::bridge(namespace = "ferrocc::scenario")]
pub(crate) mod bridge {
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
        /// Links between routers, both directions.
        bottleneck_rate_bps: u64,
        /// Added to the bottleneck's propagation delay in REQ direction.
        extra_delay_reverse_ns: u64,
        /// Every other link.
        access_rate_bps: u64,
        /// Limit of the bottleneck's best-effort band; a `QueueSize` string of ns-3, "37p" or "75000B".
        bottleneck_buffer: String,
        /// Whether the queues from routers to receiver and replica nodes are like the bottleneck's.
        access_queues: bool,
        /// Limit of the device queue below the queue disc, packets.
        device_queue_packets: u32,
        /// AQM of the best-effort band.
        aqm: String,
        /// Its parameters, resolved, a JSON object.
        aqm_parameters: String,
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
        /// Write aqm.csv.
        trace_packets: bool,
        /// `server`, `table` or `address`.
        names_mode: String,
        /// Propagation delay, one way, of the name server's link.
        names_delay_ns: u64,
        /// The name server's service time.
        names_processing_ns: u64,
        /// Time until a request to it is repeated.
        names_timeout_ns: u64,
        /// How often a request is sent.
        names_tries: u32,
        /// Loss probability per packet on its link, each way.
        names_loss: f64,
        /// Retransmission timeouts in a row after which a replica is left.
        switch_after_timeouts: u32,
        /// Fraction of the best goodput below which it is left; zero for never.
        switch_below: f64,
        /// Time without a new byte after which a transfer has failed.
        give_up_ns: u64,
        /// `receiver`, `edge` or `path`.
        names_binding: String,
        /// Most bytes of complete NDCs in each cache; zero for no limit.
        cache_capacity_bytes: u64,
        /// Most complete NDCs in each cache; zero for no limit.
        cache_capacity_ndcs: u64,
        /// What a full cache evicts.
        cache_policy: String,
        /// Which NDCs a cache keeps.
        cache_placement: String,
        /// Probability that it keeps one.
        cache_probability: f64,
        /// Idle time until an incomplete NDC is given up.
        cache_timeout_ns: u64,
        /// Most bytes of incomplete NDCs in each cache.
        cache_assembly_bytes: u64,
        /// Router that an off-path cache is linked to; `u32::MAX` without one.
        off_path_router: u32,
        /// What all flows fetch; an empty catalogue for none.
        workload: WorkloadSpec,
    }

    /// A router.
    #[derive(Debug, Clone)]
    struct RouterSpec {
        /// Its name.
        name: String,
        /// Name of the link to the router before it; "" of the first one.
        link: String,
        /// One-way propagation delay of that link.
        delay_ns: u64,
        /// Whether it is an ICN router.
        icn: bool,
        /// Whether it becomes a replica.
        cache: bool,
    }

    /// NDCs that every flow fetches, one after the other.
    #[derive(Debug, Clone)]
    struct WorkloadSpec {
        /// How many NDCs there are; zero for no workload.
        catalogue: u32,
        /// Size of each.
        ndc_bytes: u64,
        /// Exponent of their popularity.
        alpha: f64,
        /// Requests of each flow that fill the caches.
        warmup: u32,
        /// Requests of each flow after these.
        measured: u32,
        /// Whether the first are made without packets.
        replay: bool,
    }

    /// A host that fetches NDCs.
    #[derive(Debug, Clone)]
    struct ReceiverSpec {
        /// Its name.
        name: String,
        /// Number of its router.
        router: u32,
        /// One-way propagation delay of its link.
        delay_ns: u64,
        /// How far its clock is ahead of the simulator's at the start.
        clock_offset_ns: i64,
        /// How much faster its clock runs, parts per billion.
        clock_skew_ppb: i64,
        /// When its clock is set.
        clock_steps: Vec<ClockStepSpec>,
    }

    /// A clock is set.
    #[derive(Debug, Clone, Copy)]
    struct ClockStepSpec {
        /// When.
        at_ns: u64,
        /// How far forward.
        step_ns: i64,
    }

    /// A host that holds NDCs.
    #[derive(Debug, Clone)]
    struct ReplicaSpec {
        /// Its name.
        name: String,
        /// Number of its router.
        router: u32,
        /// One-way propagation delay of its link.
        delay_ns: u64,
        /// Whether it registers its NDCs.
        registered: bool,
    }

    /// A replica of a flow's NDC.
    #[derive(Debug, Clone, Copy)]
    struct HolderSpec {
        /// Which replica node, from 0.
        replica: u32,
        /// Whether it holds the NDC; else it only says so to the name server.
        holds: bool,
    }

    /// A forced change of a flow's replica.
    #[derive(Debug, Clone, Copy)]
    struct SwitchSpec {
        /// When.
        at_ns: u64,
        /// Which replica node, from 0; `u32::MAX` for the next of the list.
        to: u32,
    }

    /// Something that goes wrong.
    #[derive(Debug, Clone)]
    struct FaultSpec {
        /// When.
        at_ns: u64,
        /// What, as in the scenario.
        kind: String,
        /// Which replica node, receiver node or router, from 0; one more than the last router for the
        /// off-path cache, `u32::MAX` for the name server.
        target: u32,
        /// How much later it answers.
        delay_ns: u64,
        /// Rate of its DATA; zero for no limit.
        rate_bps: u64,
        /// How long a router's links are down.
        outage_ns: u64,
        /// Which router it moves to, from 0.
        to: u32,
    }

    /// How an off-path cache fetches.
    #[derive(Debug, Clone)]
    struct OffPathSpec {
        /// Registry name of the controller; "" without such a cache.
        controller: String,
        /// The controller's parameters, JSON.
        controller_params: String,
        /// The transport's options, JSON.
        transport_options: String,
    }

    /// Options of the flows over TCP.
    #[derive(Debug, Clone, Copy)]
    struct TcpSpec {
        /// Payload of a full segment.
        mss_bytes: u32,
        /// Whether selective acknowledgements are used.
        sack: bool,
        /// Segments after which an ACK is sent at the latest.
        delayed_ack: u32,
        /// Send buffer and receive buffer.
        buffer_bytes: u32,
        /// First window in segments.
        initial_window: u32,
        /// Segments in flight at most; 0 for no limit.
        max_window: u32,
    }

    /// A type of ns-3 that a scenario names.
    #[derive(Debug, Clone)]
    struct NamedType {
        /// Where.
        field: String,
        /// Which, without "ns3::".
        name: String,
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
        /// Its replicas, by number.
        replicas: Vec<HolderSpec>,
        /// `listed`, `nearest`, `lowest-rtt` or `random`.
        replica_choice: String,
        /// Forced changes of the replica.
        switches: Vec<SwitchSpec>,
        /// Name of its NDC, the same for flows that fetch the same one.
        ndc: String,
        /// Number of the first flow that fetches it, from 1: it tells the content.
        ndc_id: u32,
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
        /// The type of ns-3's own congestion control, without "ns3::"; "" for a controller of ours.
        ns3_type: String,
        /// Its parameters, resolved, a JSON object.
        controller_params: String,
        /// How duplicate ACKs are judged; of a flow over TCP only.
        recovery: String,
        /// Its parameters, resolved, a JSON object.
        recovery_params: String,
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
        /// What to say of a name that is none of `accepted`, with the nearest of these.
        fn unknown_name(what: &str, given: &str, accepted: &Vec<String>) -> String;
        /// What to do.
        fn action(self: &Plan) -> Action;
        /// What to print.
        fn text(self: &Plan) -> String;
        /// Number of runs: 1, or one per cell of the sweep.
        fn cell_count(self: &Plan) -> usize;
        /// The cell of the given index.
        fn cell(self: &Plan, index: usize) -> Result<Box<Cell>>;
        /// The types of ns-3's congestion control that the runs name, each once.
        fn ns3_types(self: &Plan) -> Vec<NamedType>;
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
        /// The routers, from the receivers' to the replicas'.
        fn routers(self: &Cell) -> Vec<RouterSpec>;
        /// How its off-path cache fetches.
        fn off_path(self: &Cell) -> OffPathSpec;
        /// Options of its flows over TCP.
        fn tcp(self: &Cell) -> TcpSpec;
        /// The hosts that fetch NDCs.
        fn receivers(self: &Cell) -> Vec<ReceiverSpec>;
        /// The hosts that hold NDCs.
        fn replicas(self: &Cell) -> Vec<ReplicaSpec>;
        /// What goes wrong.
        fn faults(self: &Cell) -> Vec<FaultSpec>;
        /// Its transfers, by id.
        fn flows(self: &Cell) -> Vec<FlowSpec>;
    }
}

use bridge::{
    Action, ClockStepSpec, FaultSpec, FlowSpec, HolderSpec, NamedType, OffPathSpec, ReceiverSpec,
    ReplicaSpec, RouterSpec, RunSpec, SwitchSpec, TcpSpec, WorkloadSpec,
};
use ferrocc::scenario::quantity::{Buffer, Capacity, Jitter, SizeText};
use ferrocc::scenario::{Fault, Nodes, ReplicaNode, registry};
use ferrocc::units::Duration;
use ferrocc_cli as cli;
use std::collections::BTreeMap;
use std::sync::Arc;

/// MTU of the links where packets are no longer, bytes: Ethernet's.
const LEAST_MTU_BYTES: u32 = 1500;

/// The router that the off-path cache is linked to: R2.
const OFF_PATH_ROUTER: u32 = 1;

/// A command line, read and checked.
pub struct Plan(Arc<cli::Plan>);

/// One run of a plan.
pub struct Cell {
    plan: Arc<cli::Plan>,
    index: usize,
}

#[expect(clippy::ptr_arg, reason = "C++ passes a rust::Vec")]
fn unknown_name(what: &str, given: &str, accepted: &Vec<String>) -> String {
    ferrocc::scenario::unknown(what, given, accepted.iter().map(String::as_str))
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

    fn ns3_types(&self) -> Vec<NamedType> {
        let mut types: Vec<NamedType> = Vec::new();
        for cell in &self.0.cells {
            for (i, flow) in cell.scenario.flows.iter().enumerate() {
                if let Some(name) = flow.controller.ns3_type()
                    && types.iter().all(|t| t.name != name)
                {
                    types.push(NamedType {
                        field: format!("flows[{i}].controller.type"),
                        name: name.to_owned(),
                    });
                }
            }
        }
        types
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
            extra_delay_reverse_ns: bottleneck.extra_delay_reverse.0.as_nanos(),
            access_rate_bps: links.access_rate.as_bps(),
            bottleneck_buffer: queue_size(links.buffer),
            access_queues: topology.kind == "line",
            device_queue_packets: bottleneck.device_queue,
            aqm: bottleneck.aqm.name.clone(),
            aqm_parameters: serde_json::to_string(&bottleneck.aqm.params).unwrap_or_default(),
            priority_dscp: topology.priority_dscp,
            loss: bottleneck.loss.0,
            loss_reverse: bottleneck.loss_reverse.0,
            reorder: bottleneck.reorder.0,
            reorder_delay_ns: bottleneck.reorder_delay.0.as_nanos(),
            payload_bytes: s.transport.mss_bytes.into(),
            mtu_bytes: u32::from(s.transport.mss_bytes)
                .saturating_add(topology.header_bytes().get() as u32)
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
            trace_packets: s.trace.packets,
            names_mode: s.names.mode.clone(),
            names_delay_ns: s.names.delay.0.as_nanos(),
            names_processing_ns: s.names.processing.0.as_nanos(),
            names_timeout_ns: s.names.timeout.0.as_nanos(),
            names_tries: s.names.tries,
            names_loss: s.names.loss.0,
            switch_after_timeouts: s.names.switch_after_timeouts,
            switch_below: s.names.switch_below.map_or(0.0, |f| f.0),
            give_up_ns: s.names.give_up.0.as_nanos(),
            names_binding: s.names.binding.clone(),
            cache_capacity_bytes: match s.caches.capacity {
                Capacity::Bytes(n) => n.get(),
                Capacity::Ndcs(_) => 0,
            },
            cache_capacity_ndcs: match s.caches.capacity {
                Capacity::Bytes(_) => 0,
                Capacity::Ndcs(n) => n,
            },
            cache_policy: s.caches.policy.clone(),
            cache_placement: s.caches.placement.clone(),
            cache_probability: s.caches.placement_probability.map_or(1.0, |p| p.0),
            cache_timeout_ns: s.caches.timeout.0.as_nanos(),
            cache_assembly_bytes: s.caches.assembly_memory.0.get(),
            off_path_router: match s.caches.enabled && s.caches.off_path {
                true => OFF_PATH_ROUTER,
                false => u32::MAX,
            },
            workload: workload(s),
        }
    }

    fn routers(&self) -> Vec<RouterSpec> {
        let cell = self.resolved();
        let (topology, caches) = (&cell.scenario.topology, &cell.scenario.caches);
        let routers = registry::routers(&topology.kind);
        let is_in = |list: &[String], name: &str| list.iter().any(|given| given == name);
        let last = routers.len() - 1;
        let link = |i: usize| match i {
            0 => ("", Duration::ZERO),
            i if i == last => ("bottleneck", cell.links.bottleneck_delay),
            _ => ("edge", cell.links.edge_delay),
        };
        routers
            .iter()
            .enumerate()
            .map(|(i, router)| RouterSpec {
                name: router.name.to_owned(),
                link: link(i).0.to_owned(),
                delay_ns: link(i).1.as_nanos(),
                icn: !is_in(&topology.ip_routers, router.name),
                cache: caches.enabled && is_in(caches.at.as_deref().unwrap_or(&[]), router.name),
            })
            .collect()
    }

    fn off_path(&self) -> OffPathSpec {
        let s = &self.resolved().scenario;
        let controller = s.caches.off_path_controller.as_ref();
        let params = controller.map(|c| serde_json::to_string(&c.params).unwrap_or_default());
        OffPathSpec {
            controller: controller.map_or(String::new(), |c| c.name.clone()),
            controller_params: params.unwrap_or_default(),
            transport_options: serde_json::to_string(&s.transport).unwrap_or_default(),
        }
    }

    fn tcp(&self) -> TcpSpec {
        let tcp = self.resolved().scenario.tcp.unwrap_or_default();
        let bytes = |size: Option<SizeText>| {
            size.map_or(0, |s| u32::try_from(s.0.get()).unwrap_or(u32::MAX))
        };
        TcpSpec {
            mss_bytes: bytes(tcp.mss),
            sack: tcp.sack,
            delayed_ack: tcp.delayed_ack,
            buffer_bytes: bytes(tcp.buffer),
            initial_window: tcp.initial_window,
            max_window: tcp.max_window.unwrap_or(0),
        }
    }

    fn receivers(&self) -> Vec<ReceiverSpec> {
        let cell = self.resolved();
        let nodes = Nodes::new(&cell.scenario).receivers.into_iter();
        nodes
            .map(|node| ReceiverSpec {
                router: index(node.router),
                delay_ns: (cell.links.receiver_delay + node.extra_delay).as_nanos(),
                clock_offset_ns: node.clock.offset.nanos,
                clock_skew_ppb: node.clock.skew.ppb,
                clock_steps: clock_steps(&cell.scenario.faults, &node.name),
                name: node.name,
            })
            .collect()
    }

    fn replicas(&self) -> Vec<ReplicaSpec> {
        let cell = self.resolved();
        let nodes = Nodes::new(&cell.scenario).replicas.into_iter();
        nodes
            .map(|node| ReplicaSpec {
                name: node.name,
                router: index(node.router),
                delay_ns: (cell.links.replica_delay + node.extra_delay).as_nanos(),
                registered: node.registered,
            })
            .collect()
    }

    fn faults(&self) -> Vec<FaultSpec> {
        let s = &self.resolved().scenario;
        let nodes = Nodes::new(s);
        let routers = registry::routers(&s.topology.kind);
        let router = |name: &str| {
            let known = routers.iter().position(|r| r.name == name);
            index(known.unwrap_or(routers.len()))
        };
        let target = |fault: &Fault| {
            let name = fault.target.as_deref()?;
            Some(match fault.kind.as_str() {
                "router-restart" | "cache-evict" => router(name),
                "receiver-move" => index(nodes.receivers.iter().position(|n| n.name == name)?),
                _ => number(&nodes.replicas, Some(name)),
            })
        };
        s.faults
            .iter()
            .filter(|fault| fault.step.is_none())
            .map(|fault| FaultSpec {
                at_ns: fault.at.0.as_nanos(),
                kind: fault.kind.clone(),
                target: target(fault).unwrap_or(u32::MAX),
                delay_ns: fault.delay.map_or(0, |d| d.0.as_nanos()),
                rate_bps: fault.rate.map_or(0, |r| r.0.as_bps()),
                outage_ns: fault.outage.map_or(0, |o| o.0.as_nanos()),
                to: fault.to.as_deref().map_or(0, router),
            })
            .collect()
    }

    fn flows(&self) -> Vec<FlowSpec> {
        let s = &self.resolved().scenario;
        let nodes = Nodes::new(s);
        let mut first_of: BTreeMap<String, u32> = BTreeMap::new();
        let options = serde_json::to_string(&s.transport).unwrap_or_default();
        (0u32..)
            .zip(&s.flows)
            .map(|(i, flow)| FlowSpec {
                id: i + 1,
                name: flow.name.clone().unwrap_or_default(),
                transport: flow.transport.clone(),
                receiver: index(nodes.receiver_of[i as usize]),
                replicas: nodes.replicas_of[i as usize]
                    .iter()
                    .map(|&(replica, holds)| HolderSpec {
                        replica: index(replica),
                        holds,
                    })
                    .collect(),
                replica_choice: flow.replica_choice.clone(),
                switches: flow
                    .switches
                    .iter()
                    .map(|switch| SwitchSpec {
                        at_ns: switch.at.0.as_nanos(),
                        to: number(&nodes.replicas, switch.to.as_deref()),
                    })
                    .collect(),
                ndc: ndc(i, flow),
                ndc_id: *first_of.entry(ndc(i, flow)).or_insert(i + 1),
                start_ns: flow.start.0.as_nanos(),
                start_jitter_ns: match flow.start_jitter {
                    Jitter::Time(d) => d.as_nanos(),
                    Jitter::Rtprop(n) => s.topology.rtprop.0.mul_f64(n).as_nanos(),
                },
                stop_ns: flow.stop.map_or(u64::MAX, |stop| stop.0.as_nanos()),
                size_bytes: match &s.workload {
                    Some(workload) => workload.ndc_size.0.get(),
                    None => flow.size.map_or(0, |size| size.0.get()),
                },
                repeat: flow.repeat,
                background: flow.background,
                controller: flow.controller.name.clone(),
                ns3_type: flow.controller.ns3_type().unwrap_or_default().to_owned(),
                controller_params: serde_json::to_string(&flow.controller.params)
                    .unwrap_or_default(),
                recovery: flow
                    .recovery
                    .as_ref()
                    .map_or(String::new(), |r| r.name.clone()),
                recovery_params: flow.recovery.as_ref().map_or(String::new(), |r| {
                    serde_json::to_string(&r.params).unwrap_or_default()
                }),
                transport_options: options.clone(),
            })
            .collect()
    }
}

/// What all flows fetch.
fn workload(s: &ferrocc::scenario::Scenario) -> WorkloadSpec {
    let none = ferrocc::scenario::Workload {
        catalogue: 0,
        ..ferrocc::scenario::Workload::default()
    };
    let w = s.workload.as_ref().unwrap_or(&none);
    WorkloadSpec {
        catalogue: w.catalogue,
        ndc_bytes: w.ndc_size.0.get(),
        alpha: w.alpha,
        warmup: w.warmup,
        measured: w.measured,
        replay: w.warmup_mode == "replay",
    }
}

/// The steps of the clock of the node called `name`.
fn clock_steps(faults: &[Fault], name: &str) -> Vec<ClockStepSpec> {
    let ours = faults.iter().filter(|f| f.target.as_deref() == Some(name));
    ours.filter_map(|fault| {
        Some(ClockStepSpec {
            at_ns: fault.at.0.as_nanos(),
            step_ns: fault.step?.nanos,
        })
    })
    .collect()
}

/// The name of a flow's NDC.
fn ndc(i: u32, flow: &ferrocc::scenario::Flow) -> String {
    match &flow.ndc {
        // In topo-2 each direction has its own.
        Some(name) => format!("NDC {name} {}", flow.direction),
        None => format!("flow {}", i + 1),
    }
}

/// The number of the replica node of this name; `u32::MAX` without one.
fn number(nodes: &[ReplicaNode], name: Option<&str>) -> u32 {
    name.and_then(|name| nodes.iter().position(|n| n.name == name))
        .map_or(u32::MAX, index)
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
        let between: u64 = cell.routers().iter().map(|router| router.delay_ns).sum();
        let one_way = receivers[0].delay_ns + between + replicas[0].delay_ns;
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
    fn replicas_switches_and_faults_go_by_number() {
        let plan = plan(&[
            "--scenario=smoke/names-lossy",
            "--flows=2",
            "--set=flows[1].name=other",
            "--set=flows[1].ndc=shared",
            "--set=replicas[1].holds=[\"other\"]",
        ])
        .unwrap();
        let cell = plan.cell(0).unwrap();
        let replicas = cell.replicas();
        let names: Vec<&str> = replicas.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["A", "empty", "B"]);
        assert_eq!(replicas[2].delay_ns - replicas[0].delay_ns, 5_000_000);
        let flows = cell.flows();
        let held = |i: usize| -> Vec<(u32, bool)> {
            let list = flows[i].replicas.iter();
            list.map(|h| (h.replica, h.holds)).collect()
        };
        assert_eq!(held(0), [(0, true), (1, false), (2, true)]);
        assert_eq!(held(1), [(0, true), (1, true), (2, true)]);
        let switches: Vec<u32> = flows[0].switches.iter().map(|s| s.to).collect();
        assert_eq!(switches, [u32::MAX, 0, 2, 0]);
        assert_eq!(
            (flows[1].ndc_id, flows[1].ndc.as_str()),
            (2, "NDC shared forward")
        );
        let faults = cell.faults();
        assert_eq!(
            (faults[0].kind.as_str(), faults[0].target),
            ("replica-fail", 0)
        );
        let spec = cell.spec();
        assert_eq!((spec.names_mode.as_str(), spec.names_loss), ("server", 0.1));
        assert!(cell.routers().iter().all(|router| !router.cache));
    }

    #[test]
    fn an_off_path_cache_fetches_as_the_first_flow_does_unless_told_otherwise() {
        let base = [
            "--scenario=smoke/line-off-path",
            "--set=transport.mss_bytes=700",
        ];
        let given = r#"--set=flows[*].controller={"name":"copa","delta":0.25}"#;
        let plan = |more: &[&str]| plan(&[&base[..], &[given], more].concat()).unwrap();
        let first = plan(&[]);
        let cell = first.cell(0).unwrap();
        let (fetches, flow) = (cell.off_path(), &cell.flows()[0]);
        assert_eq!(fetches.controller, "copa");
        assert!(fetches.controller_params.contains("0.25"));
        assert_eq!(fetches.controller_params, flow.controller_params);
        assert_eq!(fetches.transport_options, flow.transport_options);
        assert!(fetches.transport_options.contains("700"));
        let other = plan(&["--set=caches.off_path_controller=newreno"]);
        assert_eq!(other.cell(0).unwrap().off_path().controller, "newreno");
        let none = super::tests::plan(&["--scenario=smoke/line"]).unwrap();
        assert_eq!(none.cell(0).unwrap().off_path().controller, "");
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
