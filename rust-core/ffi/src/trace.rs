//! Bridge of the output: `ferrocc::trace`.

#[cxx::bridge(namespace = "ferrocc::trace")]
mod bridge {
    #[namespace = "ferrocc::scenario"]
    extern "Rust" {
        type Cell = crate::scenario::Cell;
    }
    #[namespace = "ferrocc::transport"]
    extern "Rust" {
        type Receiver = crate::transport::Receiver;
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

    extern "Rust" {
        type RunWriter;

        /// Opens the run's output in a staging folder beside the final one.
        fn new_writer(cell: &Cell, ns3_version: &str) -> Result<Box<RunWriter>>;
        /// Declares a direction of a link and returns its index; the bottleneck in DATA direction
        /// comes first.
        fn add_link(self: &mut RunWriter, link: &LinkInfo) -> u32;

        /// The link's queue (queue disc and device) changed to this length.
        fn on_queue(self: &mut RunWriter, link: u32, now_ns: u64, packets: u32, bytes: u32);
        /// Flow `flow` (from 0) started.
        fn on_start(self: &mut RunWriter, flow: u32, now_ns: u64);
        /// One row of `flows.csv` and the flow's share of the fairness bins. Called every
        /// `trace_interval_ns` for each started flow.
        fn sample_flow(self: &mut RunWriter, flow: u32, now_ns: u64, receiver: &Receiver);
        /// One row of `queue.csv`, called every `trace_interval_ns`.
        fn sample_link(self: &mut RunWriter, link: u32, now_ns: u64, counters: &LinkCounters);
        /// Something happened to a flow: a row of `events.csv`. Kinds: loss, timeout, cut, phase,
        /// restart, end.
        fn on_event(
            self: &mut RunWriter,
            flow: u32,
            now_ns: u64,
            kind: &str,
            value: f64,
            text: &str,
        );
        /// The flow's last state, whether it ended or not.
        fn finish_flow(self: &mut RunWriter, flow: u32, end_ns: u64, receiver: &Receiver);
        /// The link's last counters.
        fn finish_link(self: &mut RunWriter, link: u32, counters: &LinkCounters);
        /// Writes `summary.json` and `run.json` and puts the folder in its place. `events` is the
        /// number of simulator events, `wall_s` how long the run took.
        fn finish(self: &mut RunWriter, events: u64, wall_s: f64) -> Result<()>;
        /// The summary as a table for the terminal (after `finish`).
        fn table(self: &RunWriter) -> String;
    }
}
