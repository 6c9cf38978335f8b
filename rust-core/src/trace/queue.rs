//! The length of a queue over time.

use crate::units::{Bytes, Duration, Instant, Rate};
use hdrhistogram::Histogram;

/// Time-weighted statistics of a queue: packets, and the time that its backlog takes at the link's
/// rate.
///
/// Time counts from [`QueueMeter::start`] to [`QueueMeter::stop`]. Means and the maximum are exact,
/// quantiles are within half a percent.
#[derive(Debug, Clone)]
pub struct QueueMeter {
    rate: Rate,
    /// When the length last changed, while time counts.
    since: Option<Instant>,
    packets: u32,
    bytes: Bytes,
    /// Packets x nanoseconds.
    packet_time: u128,
    /// Bytes x nanoseconds.
    byte_time: u128,
    counted: Duration,
    max: u32,
    interval_max: u32,
    /// Nanoseconds spent at each length.
    lengths: Histogram<u64>,
    /// Nanoseconds spent at each queueing time in microseconds.
    delays: Histogram<u64>,
}

impl QueueMeter {
    /// Two significant figures; lengths up to 255 packets are exact.
    const SIGNIFICANT_FIGURES: u8 = 2;

    /// An empty queue before a link of `rate`.
    pub fn new(rate: Rate) -> QueueMeter {
        let histogram =
            || Histogram::new(QueueMeter::SIGNIFICANT_FIGURES).expect("two figures are supported");
        QueueMeter {
            rate,
            since: None,
            packets: 0,
            bytes: Bytes::ZERO,
            packet_time: 0,
            byte_time: 0,
            counted: Duration::ZERO,
            max: 0,
            interval_max: 0,
            lengths: histogram(),
            delays: histogram(),
        }
    }

    /// Time counts from now on.
    pub fn start(&mut self, now: Instant) {
        self.since = self.since.or(Some(now));
    }

    /// Time no longer counts.
    pub fn stop(&mut self, now: Instant) {
        self.pass(now);
        self.since = None;
    }

    /// The queue now holds `packets` of together `bytes`.
    pub fn on_change(&mut self, now: Instant, packets: u32, bytes: Bytes) {
        self.pass(now);
        self.packets = packets;
        self.bytes = bytes;
        if self.since.is_some() {
            self.max = self.max.max(packets);
        }
        self.interval_max = self.interval_max.max(packets);
    }

    fn pass(&mut self, now: Instant) {
        let Some(since) = &mut self.since else { return };
        let dt = now - *since;
        if dt.is_zero() {
            return;
        }
        *since = now;
        let ns = dt.as_nanos();
        self.counted += dt;
        self.packet_time += u128::from(self.packets) * u128::from(ns);
        self.byte_time += u128::from(self.bytes.get()) * u128::from(ns);
        let delay = (self.bytes / self.rate).as_nanos() / 1000;
        // They grow by themselves; only values of centuries are refused.
        let _ = self.lengths.record_n(u64::from(self.packets), ns);
        let _ = self.delays.record_n(delay, ns);
    }

    /// Packets in the queue now.
    pub const fn packets(&self) -> u32 {
        self.packets
    }

    /// Bytes in the queue now.
    pub const fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// The largest number of packets since the last call of this function.
    pub fn take_interval_max(&mut self) -> u32 {
        std::mem::replace(&mut self.interval_max, self.packets)
    }

    /// The largest number of packets while time counted.
    pub const fn max_packets(&self) -> u32 {
        self.max
    }

    /// Mean number of packets; zero if no time counted.
    pub fn mean_packets(&self) -> f64 {
        self.mean(self.packet_time)
    }

    /// Mean queueing time: mean backlog over rate.
    pub fn mean_delay(&self) -> Duration {
        Duration::from_secs_f64(self.mean(self.byte_time) * 8.0 / self.rate.as_bps().max(1) as f64)
    }

    /// The number of packets that is not exceeded for a fraction `q` of the time.
    pub fn packets_quantile(&self, q: f64) -> f64 {
        if self.counted.is_zero() {
            return 0.0;
        }
        let value = self.lengths.value_at_quantile(q);
        self.lengths
            .median_equivalent(value)
            .min(u64::from(self.max)) as f64
    }

    /// The queueing time that is not exceeded for a fraction `q` of the time.
    pub fn delay_quantile(&self, q: f64) -> Duration {
        if self.counted.is_zero() {
            return Duration::ZERO;
        }
        Duration::from_micros(
            self.delays
                .median_equivalent(self.delays.value_at_quantile(q)),
        )
    }

    fn mean(&self, integral: u128) -> f64 {
        if self.counted.is_zero() {
            return 0.0;
        }
        integral as f64 / self.counted.as_nanos() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_quantiles_are_weighted_by_time() {
        let mut q = QueueMeter::new(Rate::from_mbps(8.0));
        let at = Instant::from_millis;
        q.on_change(at(0), 100, Bytes::new(100_000));
        q.on_change(at(5), 0, Bytes::ZERO);
        q.start(at(10));
        // 90 ms empty, 9 ms of 10 packets (1 ms of backlog each), 1 ms of 50 packets.
        q.on_change(at(100), 10, Bytes::new(10_000));
        q.on_change(at(109), 50, Bytes::new(50_000));
        q.on_change(at(110), 0, Bytes::ZERO);
        q.stop(at(110));
        q.on_change(at(200), 99, Bytes::new(99_000));
        assert!((q.mean_packets() - 1.4).abs() < 1e-12);
        assert_eq!(q.mean_delay(), Duration::from_micros(1400));
        assert_eq!(
            (q.packets_quantile(0.5), q.packets_quantile(0.95)),
            (0.0, 10.0)
        );
        assert_eq!(q.packets_quantile(1.0), 50.0);
        let p95 = q.delay_quantile(0.95).as_millis_f64();
        assert!((p95 / 10.0 - 1.0).abs() < 0.01, "{p95} ms");
        assert_eq!(q.max_packets(), 50);
    }

    #[test]
    fn a_queue_without_time_is_empty() {
        let q = QueueMeter::new(Rate::from_mbps(8.0));
        assert_eq!((q.mean_packets(), q.packets_quantile(0.95)), (0.0, 0.0));
        assert_eq!(
            (q.mean_delay(), q.delay_quantile(0.95)),
            (Duration::ZERO, Duration::ZERO)
        );
    }

    #[test]
    fn the_interval_maximum_starts_from_the_present_length() {
        let mut q = QueueMeter::new(Rate::from_mbps(8.0));
        q.on_change(Instant::ZERO, 7, Bytes::new(7000));
        q.on_change(Instant::ZERO, 3, Bytes::new(3000));
        assert_eq!(q.take_interval_max(), 7);
        assert_eq!(q.take_interval_max(), 3);
    }
}
