//! Bridge of the scenario model: `ferrocc::scenario`.

#[cxx::bridge(namespace = "ferrocc::scenario")]
mod bridge {
    /// Which topology helper builds the network.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum TopologyKind {
        /// RE1..REn - IR1 = IR2 - RN.
        Topo1,
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
        /// The topology.
        topology: TopologyKind,
        /// Receiver nodes.
        receivers: u32,
        /// Bottleneck link, both directions.
        bottleneck_rate_bps: u64,
        /// One-way propagation delay of the bottleneck link.
        bottleneck_delay_ns: u64,
        /// Every other link.
        access_rate_bps: u64,
        /// One-way propagation delay of the links between receivers and the first router.
        receiver_delay_ns: u64,
        /// One-way propagation delay of the link between the last router and the replica.
        replica_delay_ns: u64,
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
        /// Offset of the receivers' clocks against the replica's.
        clock_offset_ns: i64,
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
        /// First request.
        start_ns: u64,
        /// Added to `start_ns`: uniform in [0, jitter), drawn from ns-3's stream.
        start_jitter_ns: u64,
        /// Size of its NDC; zero for unlimited.
        size_bytes: u64,
        /// Registry name of the controller.
        controller: String,
        /// Its parameters, resolved, a JSON object.
        controller_params: String,
        /// Options of the receiver engine, resolved, a JSON object.
        transport_options: String,
    }

    extern "Rust" {
        type Plan;
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
        fn cell(self: &Plan, index: usize) -> Box<Cell>;
        /// How many cells may run at once.
        fn jobs(self: &Plan) -> usize;
        /// Whether progress is wanted (the caller still checks for a terminal).
        fn progress(self: &Plan) -> bool;
        /// After all cells of a sweep: writes `sweep.csv`. Does nothing for a single run.
        fn finish(self: &Plan) -> Result<()>;

        /// The run.
        fn spec(self: &Cell) -> RunSpec;
        /// Its transfers, by id.
        fn flows(self: &Cell) -> Vec<FlowSpec>;
    }
}
