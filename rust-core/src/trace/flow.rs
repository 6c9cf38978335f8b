//! What is watched of a flow at each of its events.

use crate::transport::{Stats, Step};
use crate::units::{Bytes, Duration};

/// Extremes of in-flight data between two rows of a trace, and the smoothed round-trip time that
/// the Copa-ICN paper plots. Fed with every step of a receiver.
#[derive(Debug, Clone, Copy, Default)]
pub struct FlowMeter {
    in_flight: Bytes,
    least: Bytes,
    most: Bytes,
    samples: u64,
    srtt_plot: Option<f64>,
    srtt_plot_sum: f64,
}

impl FlowMeter {
    /// The Copa-ICN paper, section 5.2.1: SRTT = 0.8 SRTT + 0.2 RTT.
    const OLD_WEIGHT: f64 = 0.8;

    /// A receiver made this step.
    pub fn on_step(&mut self, step: &Step, stats: &Stats) {
        self.in_flight = step.in_flight;
        self.least = self.least.min(step.in_flight);
        self.most = self.most.max(step.in_flight);
        let samples = stats.rtt.count();
        if samples != self.samples
            && let Some(rtt) = step.rtt
        {
            let rtt = rtt.as_nanos() as f64;
            let srtt = self.srtt_plot.map_or(rtt, |old| {
                FlowMeter::OLD_WEIGHT * old + (1.0 - FlowMeter::OLD_WEIGHT) * rtt
            });
            self.samples = samples;
            self.srtt_plot = Some(srtt);
            self.srtt_plot_sum += srtt;
        }
    }

    /// The extremes of in-flight data since the last call.
    pub fn take_extremes(&mut self) -> (Bytes, Bytes) {
        let extremes = (self.least, self.most);
        (self.least, self.most) = (self.in_flight, self.in_flight);
        extremes
    }

    /// The smoothed round-trip time of the paper's plots, once there was a sample.
    pub fn srtt_plot(&self) -> Option<Duration> {
        self.srtt_plot
            .map(|ns| Duration::from_nanos(ns.round() as u64))
    }

    /// Adds the samples of an earlier transfer, for the mean.
    pub fn add(&mut self, other: &FlowMeter) {
        self.samples += other.samples;
        self.srtt_plot_sum += other.srtt_plot_sum;
    }

    /// Its mean over all samples.
    pub fn srtt_plot_mean(&self) -> Option<Duration> {
        let mean = self.srtt_plot_sum / self.samples as f64;
        (self.samples > 0).then(|| Duration::from_nanos(mean.round() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Snapshot;
    use crate::units::Instant;

    fn step(in_flight: u64, rtt_ms: Option<u64>) -> Step {
        Step {
            next_timer: Instant::MAX,
            delivered: Bytes::ZERO,
            in_order: Bytes::ZERO,
            window: Bytes::ZERO,
            in_flight: Bytes::new(in_flight),
            pacing: None,
            rtt: rtt_ms.map(Duration::from_millis),
            srtt: None,
            one_way: None,
            one_way_zero: crate::units::OneWay::default(),
            snapshot: Snapshot::default(),
            completed: false,
            verified: false,
        }
    }

    #[test]
    fn extremes_are_per_interval_and_smoothing_is_per_sample() {
        let mut meter = FlowMeter::default();
        let mut stats = Stats::default();
        meter.on_step(&step(500, None), &stats);
        assert_eq!(meter.take_extremes(), (Bytes::ZERO, Bytes::new(500)));
        stats.rtt.record(Duration::from_millis(100));
        meter.on_step(&step(900, Some(100)), &stats);
        // No new sample: the last one is not smoothed in twice.
        meter.on_step(&step(300, Some(100)), &stats);
        stats.rtt.record(Duration::from_millis(200));
        meter.on_step(&step(400, Some(200)), &stats);
        assert_eq!(meter.take_extremes(), (Bytes::new(300), Bytes::new(900)));
        assert_eq!(meter.take_extremes(), (Bytes::new(400), Bytes::new(400)));
        assert_eq!(meter.srtt_plot(), Some(Duration::from_millis(120)));
        assert_eq!(meter.srtt_plot_mean(), Some(Duration::from_millis(110)));
    }
}
