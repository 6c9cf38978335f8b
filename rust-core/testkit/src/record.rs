//! What a run leaves behind, and the quantities that tests ask of it.

use ferrocc::transport::{Stats, Step};
use ferrocc::units::{Bytes, Duration, Instant};

/// Width of a recording bin: divides the 200 ms of the convergence definition.
pub const BIN: Duration = Duration::from_millis(10);

/// Convergence: width of a bin, bins in a row, least ratio of the slowest flow to the fastest.
const CONVERGENCE: (Duration, usize, f64) = (Duration::from_millis(200), 5, 0.8);

/// Amounts per [`BIN`] of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bins(Vec<u64>);

impl Bins {
    /// Adds an amount at a moment.
    pub fn add(&mut self, at: Instant, amount: u64) {
        let bin = (at.as_nanos() / BIN.as_nanos()) as usize;
        if bin >= self.0.len() {
            self.0.resize(bin + 1, 0);
        }
        self.0[bin] += amount;
    }

    /// Adds the nanoseconds from `from` to `to`.
    pub fn add_span(&mut self, from: Instant, to: Instant) {
        let mut at = from;
        while at < to {
            let end = Instant::from_nanos((at.as_nanos() / BIN.as_nanos() + 1) * BIN.as_nanos());
            let end = end.min(to);
            self.add(at, (end - at).as_nanos());
            at = end;
        }
    }

    /// The sum over [from, to), both multiples of [`BIN`].
    pub fn sum(&self, from: Duration, to: Duration) -> u64 {
        let bin = |d: Duration| {
            assert!(
                d.as_nanos().is_multiple_of(BIN.as_nanos()),
                "{d} is no multiple of {BIN}"
            );
            ((d.as_nanos() / BIN.as_nanos()) as usize).min(self.0.len())
        };
        self.0[bin(from)..bin(to)].iter().sum()
    }
}

/// A quantity that holds its value from one moment to the next.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series(Vec<(Instant, f64)>);

impl Series {
    /// The quantity is `value` from `at` on.
    pub fn push(&mut self, at: Instant, value: f64) {
        match self.0.last_mut() {
            Some((t, v)) if *t == at => *v = value,
            Some((_, v)) if *v == value => {}
            _ => self.0.push((at, value)),
        }
    }

    /// All changes.
    pub fn points(&self) -> &[(Instant, f64)] {
        &self.0
    }

    /// The pieces within [from, to): value and how long it held.
    fn pieces(&self, from: Duration, to: Duration) -> impl Iterator<Item = (f64, Duration)> + '_ {
        let (from, to) = (Instant::ZERO + from, Instant::ZERO + to);
        let ends = self.0.iter().skip(1).map(|p| p.0).chain([Instant::MAX]);
        self.0
            .iter()
            .zip(ends)
            .filter_map(move |(&(start, value), end)| {
                let held = end.min(to) - start.max(from);
                (start < to && !held.is_zero()).then_some((value, held))
            })
    }

    /// Time-weighted mean over [from, to).
    pub fn mean(&self, from: Duration, to: Duration) -> f64 {
        let (mut sum, mut time) = (0.0, 0.0);
        for (value, held) in self.pieces(from, to) {
            sum += value * held.as_secs_f64();
            time += held.as_secs_f64();
        }
        if time > 0.0 { sum / time } else { 0.0 }
    }

    /// Largest value over [from, to).
    pub fn max(&self, from: Duration, to: Duration) -> f64 {
        self.pieces(from, to).map(|p| p.0).fold(0.0, f64::max)
    }

    /// Smallest value over [from, to).
    pub fn min(&self, from: Duration, to: Duration) -> f64 {
        self.pieces(from, to)
            .map(|p| p.0)
            .fold(f64::INFINITY, f64::min)
    }

    /// The value at a moment; zero before the first.
    pub fn at(&self, at: Duration) -> f64 {
        let n = self.0.partition_point(|p| p.0 <= Instant::ZERO + at);
        if n == 0 { 0.0 } else { self.0[n - 1].1 }
    }

    /// Mean time between upward passages: from at most `low` to at least `high`. None with fewer
    /// than two.
    pub fn period(&self, from: Duration, to: Duration, low: f64, high: f64) -> Option<Duration> {
        let (from, to) = (Instant::ZERO + from, Instant::ZERO + to);
        let (mut was_low, mut passages) = (false, Vec::new());
        for &(at, value) in self.0.iter().filter(|p| p.0 >= from && p.0 < to) {
            if value <= low {
                was_low = true;
            } else if value >= high && was_low {
                was_low = false;
                passages.push(at);
            }
        }
        let (first, last) = (*passages.first()?, *passages.last()?);
        (passages.len() > 1).then(|| (last - first) / (passages.len() as u64 - 1))
    }
}

/// What a link did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinkRun {
    /// Packets that wait, both bands.
    pub queue: Series,
    /// Nanoseconds of sending per bin.
    pub(crate) busy: Bins,
    /// Packets that came to the queue.
    pub arrivals: u64,
    /// Packets that found it full or were dropped by its AQM.
    pub drops: u64,
    /// Packets that its AQM marked.
    pub marks: u64,
    /// Packets whose sending began.
    pub sent: u64,
    /// Packets lost behind the transmitter.
    pub losses: u64,
    /// Packets held up.
    pub held_up: u64,
}

impl LinkRun {
    /// The share of [from, to) in which the transmitter was busy.
    pub fn utilisation(&self, from: Duration, to: Duration) -> f64 {
        self.busy.sum(from, to) as f64 / (to - from).as_nanos() as f64
    }
}

/// What a flow did.
#[derive(Debug)]
pub struct FlowRun {
    /// Registry name of the controller.
    pub controller: String,
    /// When it started.
    pub start: Duration,
    /// When its last byte arrived.
    pub completed: Option<Duration>,
    /// New payload bytes per bin.
    pub(crate) delivered: Bins,
    /// The window in packets.
    pub window: Series,
    /// Outstanding packets.
    pub in_flight: Series,
    /// Smoothed round-trip time in ms.
    pub srtt_ms: Series,
    /// The queueing delay that the controller sees, ms.
    pub queue_delay_ms: Series,
    /// Copa's delta, 1/packets.
    pub delta: Series,
    /// Number of the controller's phase.
    pub phase: Series,
    /// The bottleneck bandwidth that the controller assumes, payload Mbps.
    pub bandwidth_mbps: Series,
    /// The controller's pacing gain.
    pub pacing_gain: Series,
    /// ECD's degree of congestion.
    pub alpha: Series,
    /// The engine's last step.
    pub step: Step,
    /// The engine's counters.
    pub stats: Stats,
}

impl FlowRun {
    /// Delivered payload over [from, to) in Mbps.
    pub fn goodput_mbps(&self, from: Duration, to: Duration) -> f64 {
        (self.delivered.sum(from, to) * 8) as f64 / (to - from).as_secs_f64() / 1e6
    }

    /// Delivered payload over [from, to).
    pub fn delivered(&self, from: Duration, to: Duration) -> Bytes {
        Bytes::new(self.delivered.sum(from, to))
    }
}

/// What happened.
#[derive(Debug)]
pub struct Run {
    /// The flows in the order of the description.
    pub flows: Vec<FlowRun>,
    /// The bottleneck in DATA direction.
    pub bottleneck: LinkRun,
    /// The other direction.
    pub reverse: LinkRun,
    /// The run's length.
    pub duration: Duration,
    /// Events that were handled.
    pub events: u64,
}

impl Run {
    /// A flow by its position in the description.
    pub fn flow(&self, index: usize) -> &FlowRun {
        &self.flows[index]
    }

    /// Goodput of every flow over [from, to).
    pub fn goodputs_mbps(&self, from: Duration, to: Duration) -> Vec<f64> {
        self.flows
            .iter()
            .map(|f| f.goodput_mbps(from, to))
            .collect()
    }

    /// When the flows that have started shared evenly after `join`: see [`convergence_time`].
    pub fn convergence_after(&self, join: Duration) -> Option<Duration> {
        let active: Vec<&FlowRun> = self.flows.iter().filter(|f| f.start <= join).collect();
        convergence_time(&active, join, self.duration)
    }
}

/// Jain's fairness index: 1 if all are equal, 1/n if one has all.
pub fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|v| v * v).sum();
    if squares > 0.0 {
        sum * sum / (values.len() as f64 * squares)
    } else {
        1.0
    }
}

/// Time from `join` until the first of five 200-ms bins in a row, aligned to `join`, in which the
/// slowest of `flows` has at least 0.8 of the fastest; none if that does not happen before `end`.
pub fn convergence_time(flows: &[&FlowRun], join: Duration, end: Duration) -> Option<Duration> {
    let (width, in_a_row, least) = CONVERGENCE;
    let bins = (end - join).as_nanos() / width.as_nanos();
    let even = |k: u64| {
        let from = join + width * k;
        let rates = || flows.iter().map(|f| f.goodput_mbps(from, from + width));
        let (low, high) = (
            rates().fold(f64::INFINITY, f64::min),
            rates().fold(0.0, f64::max),
        );
        high > 0.0 && low >= least * high
    };
    let mut run = 0;
    for k in 0..bins {
        run = if even(k) { run + 1 } else { 0 };
        if run == in_a_row {
            return Some(width * (k + 1 - in_a_row as u64));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_series_is_weighted_by_time() {
        let mut s = Series::default();
        for (at, v) in [(0, 0.0), (10, 4.0), (20, 2.0), (40, 0.0)] {
            s.push(Instant::from_millis(at), v);
        }
        approx::assert_relative_eq!(s.mean(ms(10), ms(40)), 8.0 / 3.0);
        assert_eq!((s.max(ms(15), ms(100)), s.min(ms(15), ms(35))), (4.0, 2.0));
        assert_eq!(s.mean(ms(50), ms(60)), 0.0);
        assert_eq!((s.at(ms(25)), s.at(ms(500))), (2.0, 0.0));
    }

    #[test]
    fn the_period_counts_upward_passages() {
        let mut s = Series::default();
        for k in 0..100u64 {
            s.push(Instant::from_millis(10 * k), (k % 10) as f64);
        }
        assert_eq!(s.period(ms(0), ms(1000), 1.0, 8.0), Some(ms(100)));
        assert_eq!(s.period(ms(0), ms(1000), 1.0, 20.0), None);
    }

    #[test]
    fn spans_fall_into_their_bins() {
        let mut b = Bins::default();
        b.add_span(Instant::from_millis(5), Instant::from_millis(25));
        assert_eq!(b.sum(ms(0), ms(10)), 5_000_000);
        assert_eq!(b.sum(ms(10), ms(20)), 10_000_000);
        assert_eq!(b.sum(ms(0), ms(1000)), 20_000_000);
    }

    #[test]
    fn jain_of_the_extremes() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), 1.0);
        assert_eq!(jain(&[1.0, 0.0]), 0.5);
    }
}
