//! The time series of a run as CSV: `flows.csv`, `queue.csv`, `events.csv`.
//!
//! Units are in the column names. Totals count from the start of the run; what is "over the
//! interval" counts from the row before. A quantity that is not known (yet) is an empty cell.

use crate::cc::Phase;
use crate::units::{Bytes, Duration, Instant, Rate};
use std::fmt::Display;
use std::io::{self, Write};

/// One flow at one moment.
#[derive(Debug, Clone, Copy)]
pub struct FlowRow {
    /// When.
    pub now: Instant,
    /// The flow's id, from 1.
    pub flow: usize,
    /// Bytes that may be outstanding.
    pub window: Bytes,
    /// Bytes that are outstanding.
    pub in_flight: Bytes,
    /// The smallest and the largest of them over the interval.
    pub in_flight_extremes: (Bytes, Bytes),
    /// Pacing rate, if the controller paces.
    pub pacing: Option<Rate>,
    /// The last valid RTT sample.
    pub rtt: Option<Duration>,
    /// Smoothed RTT of RFC 6298.
    pub srtt: Option<Duration>,
    /// Smoothed RTT of the Copa-ICN paper's plots.
    pub srtt_plot: Option<Duration>,
    /// The last one-way delay of DATA, nanoseconds, without the clocks' offset.
    pub one_way_ns: Option<i64>,
    /// Bytes that arrived exactly once, total.
    pub delivered: Bytes,
    /// Delivered bytes per time over the interval; none in a flow's first row.
    pub goodput: Option<Rate>,
    /// Units declared lost, total.
    pub losses: u64,
    /// The queueing delay that the controller sees.
    pub queue_delay: Option<Duration>,
    /// Copa's delta.
    pub delta: Option<f64>,
    /// What the controller is doing.
    pub phase: Phase,
}

impl FlowRow {
    /// The first line of `flows.csv`.
    pub const HEADER: &'static str = "time_s,flow,window_bytes,in_flight_bytes,in_flight_min_bytes,\
        in_flight_max_bytes,pacing_mbps,rtt_ms,srtt_ms,srtt_plot_ms,owd_ms,delivered_bytes,\
        goodput_mbps,losses,queue_delay_ms,delta,phase";

    /// Writes the row.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            seconds(self.now),
            self.flow,
            self.window.get(),
            self.in_flight.get(),
            self.in_flight_extremes.0.get(),
            self.in_flight_extremes.1.get(),
            Cell(self.pacing.map(Rate::as_mbps)),
            Cell(self.rtt.map(Duration::as_millis_f64)),
            Cell(self.srtt.map(Duration::as_millis_f64)),
            Cell(self.srtt_plot.map(Duration::as_millis_f64)),
            Cell(self.one_way_ns.map(|ns| ns as f64 / 1e6)),
            self.delivered.get(),
            Cell(self.goodput.map(Rate::as_mbps)),
            self.losses,
            Cell(self.queue_delay.map(Duration::as_millis_f64)),
            Cell(self.delta),
            self.phase.as_str(),
        )
    }
}

/// One direction of a link at one moment.
#[derive(Debug, Clone, Copy)]
pub struct QueueRow<'a> {
    /// When.
    pub now: Instant,
    /// The link's name.
    pub link: &'a str,
    /// Packets in the queue.
    pub packets: u32,
    /// Bytes in the queue.
    pub bytes: Bytes,
    /// The largest number of packets over the interval.
    pub max_packets: u32,
    /// Packets that came to the queue, total.
    pub arrivals: u64,
    /// Packets that it dropped, total.
    pub dropped: u64,
    /// Bytes sent including the link header, total.
    pub sent: Bytes,
}

impl QueueRow<'_> {
    /// The first line of `queue.csv`.
    pub const HEADER: &'static str =
        "time_s,link,packets,bytes,max_packets,arrivals,dropped,sent_bytes";

    /// Writes the row.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{},{},{},{},{},{},{},{}",
            seconds(self.now),
            Quoted(self.link),
            self.packets,
            self.bytes.get(),
            self.max_packets,
            self.arrivals,
            self.dropped,
            self.sent.get(),
        )
    }
}

/// What an AQM decided about a packet.
#[derive(Debug, Clone, Copy)]
pub struct AqmRow<'a> {
    /// When.
    pub now: Instant,
    /// The link's name.
    pub link: &'a str,
    /// `enqueue` or `dequeue`. A packet that may enter has no row of its enqueue unless it was
    /// marked.
    pub at: &'a str,
    /// `data`, `req` or `other`.
    pub packet: &'a str,
    /// Size in the queue, IP header included.
    pub size: Bytes,
    /// How long it waited.
    pub sojourn: Duration,
    /// `pass`, `mark` or `drop`.
    pub verdict: &'a str,
    /// Why it was marked or dropped.
    pub reason: &'a str,
    /// The state variables after the decision.
    pub state: &'a [f64],
}

impl AqmRow<'_> {
    /// The first line of `aqm.csv`, before the names of the state variables.
    pub const HEADER: &'static str = "time_s,link,at,packet,size_bytes,sojourn_ms,verdict,reason";

    /// Writes the row.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(
            out,
            "{},{},{},{},{},{},{},{}",
            seconds(self.now),
            Quoted(self.link),
            self.at,
            self.packet,
            self.size.get(),
            self.sojourn.as_millis_f64(),
            self.verdict,
            Quoted(self.reason),
        )?;
        for &value in self.state {
            write!(out, ",{}", Cell(Some(value)))?;
        }
        writeln!(out)
    }
}

/// Something that happened to a flow.
#[derive(Debug, Clone, Copy)]
pub struct EventRow<'a> {
    /// When.
    pub now: Instant,
    /// The flow's id, from 1.
    pub flow: usize,
    /// `start`, `loss`, `timeout`, `cut`, `phase`, `restart` or `end`.
    pub kind: &'a str,
    /// A number that belongs to it, such as the units lost.
    pub value: f64,
    /// A name that belongs to it, such as the new phase.
    pub text: &'a str,
}

impl EventRow<'_> {
    /// The first line of `events.csv`.
    pub const HEADER: &'static str = "time_s,flow,kind,value,text";

    /// Writes the row.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{},{},{},{},{}",
            seconds(self.now),
            self.flow,
            Quoted(self.kind),
            self.value,
            Quoted(self.text),
        )
    }
}

/// Seconds with all nine digits, so that equal times are equal text.
fn seconds(now: Instant) -> impl Display {
    struct Seconds(u64);
    impl Display for Seconds {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            const NANOS: u64 = 1_000_000_000;
            write!(f, "{}.{:09}", self.0 / NANOS, self.0 % NANOS)
        }
    }
    Seconds(now.as_nanos())
}

/// A number in the shortest form that reads back the same, or nothing.
struct Cell(Option<f64>);

impl Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(x) if x.is_finite() => Display::fmt(&x, f),
            _ => Ok(()),
        }
    }
}

/// Text in quotes where CSV needs them.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.contains([',', '"', '\n', '\r']) {
            write!(
                f,
                "\"{}\"",
                self.0.replace('"', "\"\"").replace(['\n', '\r'], " ")
            )
        } else {
            f.write_str(self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl Fn(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows_have_the_columns_of_their_headers() {
        let mut row = FlowRow {
            now: Instant::from_millis(1500),
            flow: 2,
            window: Bytes::new(12500),
            in_flight: Bytes::new(10000),
            in_flight_extremes: (Bytes::new(1), Bytes::new(12500)),
            pacing: Some(Rate::from_mbps(20.5)),
            rtt: Some(Duration::from_micros(30_250)),
            srtt: Some(Duration::from_millis(31)),
            srtt_plot: Some(Duration::from_millis(32)),
            one_way_ns: Some(-1_500_000),
            delivered: Bytes::new(99),
            goodput: Some(Rate::from_mbps(18.4)),
            losses: 3,
            queue_delay: Some(Duration::from_micros(250)),
            delta: Some(0.05),
            phase: Phase::SlowStart,
        };
        assert_eq!(
            text(|out| row.write(out)),
            "1.500000000,2,12500,10000,1,12500,20.5,30.25,31,32,-1.5,99,18.4,3,0.25,0.05,slow-start\n"
        );
        row.rtt = None;
        row.delta = None;
        let columns = |line: &str| line.matches(',').count();
        assert_eq!(
            columns(&text(|out| row.write(out))),
            columns(FlowRow::HEADER)
        );
        let queue = QueueRow {
            now: Instant::ZERO,
            link: "IR2, IR1",
            packets: 1,
            bytes: Bytes::new(2),
            max_packets: 3,
            arrivals: 4,
            dropped: 5,
            sent: Bytes::new(6),
        };
        assert_eq!(
            text(|out| queue.write(out)),
            "0.000000000,\"IR2, IR1\",1,2,3,4,5,6\n"
        );
        let aqm = AqmRow {
            now: Instant::ZERO,
            link: "bottleneck",
            at: "dequeue",
            packet: "data",
            size: Bytes::new(1358),
            sojourn: Duration::from_micros(5250),
            verdict: "mark",
            reason: "early-congestion",
            state: &[1.0, 0.05],
        };
        assert_eq!(
            text(|out| aqm.write(out)),
            "0.000000000,bottleneck,dequeue,data,1358,5.25,mark,early-congestion,1,0.05\n"
        );
        let event = EventRow {
            now: Instant::ZERO,
            flow: 1,
            kind: "loss",
            value: 2.0,
            text: "a\"b",
        };
        assert_eq!(
            text(|out| event.write(out)),
            "0.000000000,1,loss,2,\"a\"\"b\"\n"
        );
    }
}
