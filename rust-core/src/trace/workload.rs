//! What the requests of a workload come to.

use super::Distribution;
use super::summary::{millis, rounded};
use crate::icn::RequestPlan;
use crate::icn::catalogue::Phase;
use crate::units::Instant;
use serde::Serialize;
use std::collections::BTreeMap;

/// A request that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// When the client asked for the NDC, by its name.
    pub begin: Instant,
    /// When the first REQ left, if one did.
    pub first_request: Option<Instant>,
    /// When it ended: when the last byte arrived, or when it failed.
    pub end: Instant,
    /// Whether a cache served it.
    pub from_cache: bool,
    /// Why it failed; empty if it did not.
    pub failure: &'a str,
    /// Delays from a REQ to the DATA that answers it.
    pub packet_delays: &'a Distribution,
}

/// The requests of one client, or of all.
#[derive(Debug, Clone, Default)]
pub struct WorkloadMeter {
    plan: RequestPlan,
    /// Requests that have ended, of both phases.
    ended: u64,
    /// Of these, those that delivered their NDC.
    delivered: u64,
    warm_up: Served,
    measured: Served,
    failed: u64,
    failures: BTreeMap<String, u64>,
    completion_times: Distribution,
    download_delays: Distribution,
    packet_delays: Distribution,
}

/// Who served the delivered requests of a phase.
#[derive(Debug, Clone, Copy, Default)]
struct Served {
    requests: u64,
    hits: u64,
}

impl Served {
    fn ratio(self) -> Option<f64> {
        (self.requests > 0).then(|| rounded(self.hits as f64 / self.requests as f64))
    }

    fn add(&mut self, requests: u64, hits: u64) {
        self.requests += requests;
        self.hits += hits;
    }
}

impl WorkloadMeter {
    /// Before the first request of a client.
    pub fn new(plan: RequestPlan) -> WorkloadMeter {
        WorkloadMeter {
            plan,
            ..WorkloadMeter::default()
        }
    }

    /// The next request of the client has ended.
    pub fn on_request(&mut self, request: &Request<'_>) {
        let measured = self.plan.phase(self.ended) == Some(Phase::Measured);
        self.ended += 1;
        if !request.failure.is_empty() {
            if measured {
                self.failed += 1;
                *self.failures.entry(request.failure.to_owned()).or_default() += 1;
            }
            return;
        }
        self.delivered += 1;
        let hits = u64::from(request.from_cache);
        if !measured {
            self.warm_up.add(1, hits);
            return;
        }
        self.measured.add(1, hits);
        let first = request.first_request.unwrap_or(request.begin);
        self.completion_times.record(request.end - first);
        self.download_delays.record(request.end - request.begin);
        self.packet_delays.add(request.packet_delays);
    }

    /// Requests were made without packets, before the start.
    pub fn on_replay(&mut self, requests: u64, hits: u64) {
        self.warm_up.add(requests, hits);
    }

    /// Whether all requests have ended.
    pub const fn is_over(&self) -> bool {
        self.ended >= self.plan.total()
    }

    /// Whether every NDC was delivered.
    pub const fn is_complete(&self) -> bool {
        self.delivered == self.plan.total()
    }

    /// NDCs that were delivered, in both phases.
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Adds what another client's requests came to.
    pub fn add(&mut self, other: &WorkloadMeter) {
        // Without "..", so that a new field is not forgotten here.
        let WorkloadMeter {
            plan,
            ended,
            delivered,
            warm_up,
            measured,
            failed,
            failures,
            completion_times,
            download_delays,
            packet_delays,
        } = other;
        self.plan.warm_up += plan.warm_up;
        self.plan.measured += plan.measured;
        self.ended += ended;
        self.delivered += delivered;
        self.warm_up.add(warm_up.requests, warm_up.hits);
        self.measured.add(measured.requests, measured.hits);
        self.failed += failed;
        for (name, count) in failures {
            *self.failures.entry(name.clone()).or_default() += count;
        }
        self.completion_times.add(completion_times);
        self.download_delays.add(download_delays);
        self.packet_delays.add(packet_delays);
    }

    /// The part of `summary.json` about all clients.
    pub fn summary(&self, catalogue: u32, alpha: f64) -> WorkloadSummary {
        WorkloadSummary {
            catalogue,
            alpha,
            requests: self.ended,
            measured: self.measured.requests,
            failed: self.failed,
            failures: self.failures.clone(),
            unfinished: self.plan.measured - self.measured.requests - self.failed,
            fct_ms: DelayDistribution::from(&self.completion_times),
            download_delay_ms: DelayDistribution::from(&self.download_delays),
            packet_delay_ms: DelayDistribution::from(&self.packet_delays),
            hit_ratio: self.measured.ratio(),
            warmup_hit_ratio: self.warm_up.ratio(),
        }
    }

    /// The part about one client.
    pub fn flow_summary(&self) -> FlowWorkload {
        let mean = |d: &Distribution| d.mean().map(millis);
        FlowWorkload {
            requests: self.measured.requests,
            failed: self.failed,
            fct_ms_mean: mean(&self.completion_times),
            download_delay_ms_mean: mean(&self.download_delays),
            packet_delay_ms_mean: mean(&self.packet_delays),
            hit_ratio: self.measured.ratio(),
        }
    }
}

/// What the workload of a run came to. Delays and `hit_ratio` are of the measured requests that
/// delivered their NDC.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadSummary {
    /// NDCs that there are.
    pub catalogue: u32,
    /// Exponent of their popularity.
    pub alpha: f64,
    /// Requests that ended, of both phases.
    pub requests: u64,
    /// Measured requests that delivered their NDC.
    pub measured: u64,
    /// Measured requests that failed.
    pub failed: u64,
    /// How often by which failure.
    pub failures: BTreeMap<String, u64>,
    /// Measured requests that the run's end cut off.
    pub unfinished: u64,
    /// Flow completion time: from the first REQ to the last byte.
    pub fct_ms: DelayDistribution,
    /// From the request, before its name is resolved, to the last byte.
    pub download_delay_ms: DelayDistribution,
    /// From a REQ to its first DATA packet.
    pub packet_delay_ms: DelayDistribution,
    /// The share of the NDCs that a cache served.
    pub hit_ratio: Option<f64>,
    /// The same of the requests before.
    pub warmup_hit_ratio: Option<f64>,
}

impl WorkloadSummary {
    /// A line or two for a terminal.
    pub(super) fn table(&self) -> String {
        let number = |x: Option<f64>| x.map_or("-".to_owned(), |x| format!("{x:.1}"));
        let percent = |x: Option<f64>| x.map_or("-".to_owned(), |x| format!("{:.1} %", x * 100.0));
        let mut text = format!(
            "workload: {} requests measured, FCT mean {} p95 {} ms, download delay mean {} ms, packet \
             delay mean {} ms, {} from caches (warm-up {})\n",
            self.measured,
            number(self.fct_ms.mean),
            number(self.fct_ms.p95),
            number(self.download_delay_ms.mean),
            number(self.packet_delay_ms.mean),
            percent(self.hit_ratio),
            percent(self.warmup_hit_ratio),
        );
        if self.failed + self.unfinished > 0 {
            let names: Vec<String> = self
                .failures
                .iter()
                .map(|(name, count)| format!("{count} {name}"))
                .chain((self.unfinished > 0).then(|| format!("{} unfinished", self.unfinished)))
                .collect();
            text.push_str(&format!("not delivered: {}\n", names.join(", ")));
        }
        text
    }
}

/// Mean and quantiles of a delay, milliseconds; null without a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DelayDistribution {
    /// The arithmetic mean.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
}

impl From<&Distribution> for DelayDistribution {
    fn from(d: &Distribution) -> DelayDistribution {
        let quantile = |q| d.quantile(q).map(millis);
        DelayDistribution {
            mean: d.mean().map(millis),
            p50: quantile(0.5),
            p95: quantile(0.95),
        }
    }
}

/// What a client's measured requests came to; delays in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowWorkload {
    /// Measured requests that delivered their NDC.
    pub requests: u64,
    /// Measured requests that failed.
    pub failed: u64,
    /// Mean flow completion time.
    pub fct_ms_mean: Option<f64>,
    /// Mean time from the request to the last byte.
    pub download_delay_ms_mean: Option<f64>,
    /// Mean time from a REQ to its first DATA packet.
    pub packet_delay_ms_mean: Option<f64>,
    /// The share of the NDCs that a cache served.
    pub hit_ratio: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn meter(warm_up: u64, measured: u64) -> WorkloadMeter {
        WorkloadMeter::new(RequestPlan { warm_up, measured })
    }

    /// A request at 1 s whose first REQ leaves 2 ms later and which takes `ms` in all.
    fn request(meter: &mut WorkloadMeter, took: u64, from_cache: bool, failure: &str) {
        let begin = Instant::from_millis(1000);
        let mut packet_delays = Distribution::new();
        packet_delays.record(ms(took / 10));
        meter.on_request(&Request {
            begin,
            first_request: Some(begin + ms(2)),
            end: begin + ms(took),
            from_cache,
            failure,
            packet_delays: &packet_delays,
        });
    }

    #[test]
    fn only_measured_requests_that_delivered_count() {
        let mut m = meter(2, 4);
        request(&mut m, 5000, true, "");
        request(&mut m, 5000, false, "no-replica");
        request(&mut m, 100, true, "");
        request(&mut m, 200, false, "");
        request(&mut m, 9000, false, "no-replica");
        let s = m.summary(10, 0.8);
        assert_eq!(
            (s.requests, s.measured, s.failed, s.unfinished),
            (5, 2, 1, 1)
        );
        assert_eq!(s.failures, BTreeMap::from([("no-replica".to_owned(), 1)]));
        assert_eq!(s.fct_ms.mean, Some(148.0));
        assert_eq!(s.download_delay_ms.mean, Some(150.0));
        assert_eq!(s.packet_delay_ms.mean, Some(15.0));
        assert_eq!((s.hit_ratio, s.warmup_hit_ratio), (Some(0.5), Some(1.0)));
        assert_eq!(m.flow_summary().requests, 2);
        assert!(!m.is_over() && !m.is_complete());
        request(&mut m, 100, true, "");
        assert!(m.is_over() && !m.is_complete(), "two failed");
        assert_eq!(m.delivered(), 4);
    }

    #[test]
    fn clients_add_up_and_nothing_is_null() {
        let (mut all, mut other) = (meter(0, 1), meter(0, 1));
        request(&mut all, 100, false, "");
        request(&mut other, 300, true, "");
        other.on_replay(10, 3);
        all.add(&other);
        let s = all.summary(10, 0.8);
        assert_eq!(
            (s.requests, s.fct_ms.mean, s.hit_ratio),
            (2, Some(198.0), Some(0.5))
        );
        assert_eq!(s.warmup_hit_ratio, Some(0.3));
        assert!(all.is_complete());
        let none = meter(0, 3).summary(10, 0.8);
        assert_eq!(
            (none.fct_ms.p95, none.hit_ratio, none.unfinished),
            (None, None, 3)
        );
    }
}
