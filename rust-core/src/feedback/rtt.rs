//! Round-trip time estimation and the retransmission timeout (RFC 6298).

use crate::units::Duration;

/// Smoothed RTT, its variation and the timeout.
#[derive(Debug, Clone)]
pub struct RttEstimator {
    smoothed: Option<Duration>,
    variation: Duration,
    latest: Option<Duration>,
    min: Option<Duration>,
    min_rto: Duration,
    max_rto: Duration,
    initial_rto: Duration,
    backoff: u32,
}

impl RttEstimator {
    /// RFC 6298, 2.1: the timeout before the first sample.
    pub const INITIAL_RTO: Duration = Duration::from_secs(1);
    /// The smallest timeout; Linux's choice, RFC 6298 says one second.
    pub const MIN_RTO: Duration = Duration::from_millis(200);
    /// RFC 6298, 2.5: an upper bound of at least 60 s may be set.
    pub const MAX_RTO: Duration = Duration::from_secs(60);

    /// An estimator without samples.
    pub fn new(min_rto: Duration, max_rto: Duration, initial_rto: Duration) -> RttEstimator {
        RttEstimator {
            smoothed: None,
            variation: Duration::ZERO,
            latest: None,
            min: None,
            min_rto,
            max_rto,
            initial_rto,
            backoff: 0,
        }
    }

    /// Takes in a sample, which ends the backoff (RFC 6298, section 5).
    pub fn update(&mut self, rtt: Duration) {
        self.backoff = 0;
        self.latest = Some(rtt);
        self.min = Some(self.min.map_or(rtt, |m| m.min(rtt)));
        match self.smoothed {
            None => {
                self.smoothed = Some(rtt);
                self.variation = rtt / 2;
            }
            Some(srtt) => {
                let deviation = srtt.saturating_sub(rtt) + rtt.saturating_sub(srtt);
                self.variation = (self.variation * 3 + deviation) / 4;
                self.smoothed = Some((srtt * 7 + rtt) / 8);
            }
        }
    }

    /// SRTT, once there was a sample.
    pub const fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// The last sample.
    pub const fn latest(&self) -> Option<Duration> {
        self.latest
    }

    /// The smallest sample.
    pub const fn min(&self) -> Option<Duration> {
        self.min
    }

    /// The timeout with its backoff.
    pub fn rto(&self) -> Duration {
        (self.base_rto() * (1u64 << self.backoff.min(30))).min(self.max_rto.max(self.min_rto))
    }

    /// The timeout without its backoff.
    fn base_rto(&self) -> Duration {
        let base = match self.smoothed {
            None => self.initial_rto,
            Some(srtt) => srtt + self.variation * 4,
        };
        base.max(self.min_rto)
    }

    /// The timer expired: doubles the timeout.
    pub fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
    }

    /// DATA for a request that left after the last expiry arrived `after` it, which need not be a
    /// valid sample. It ends the backoff unless the timeout would have expired without it: then the
    /// path has become that slow, and only a sample can tell how slow.
    pub fn on_answer(&mut self, after: Duration) {
        if after < self.base_rto() {
            self.backoff = 0;
        }
    }

    /// The path is another one: forgets its samples and the backoff.
    pub fn restart(&mut self) {
        *self = RttEstimator::new(self.min_rto, self.max_rto, self.initial_rto);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator() -> RttEstimator {
        RttEstimator::new(
            RttEstimator::MIN_RTO,
            RttEstimator::MAX_RTO,
            RttEstimator::INITIAL_RTO,
        )
    }

    #[test]
    fn follows_rfc_6298() {
        let mut e = estimator();
        assert_eq!(e.rto(), Duration::from_secs(1));
        e.update(Duration::from_millis(100));
        assert_eq!(e.smoothed(), Some(Duration::from_millis(100)));
        assert_eq!(e.rto(), Duration::from_millis(300), "R + 4 R/2");
        e.update(Duration::from_millis(180));
        assert_eq!(e.smoothed(), Some(Duration::from_millis(110)));
        // RTTVAR = 3/4 50 + 1/4 80 = 57.5 ms
        assert_eq!(e.rto(), Duration::from_millis(340));
    }

    #[test]
    fn backs_off_to_the_cap_and_comes_back() {
        let mut e = estimator();
        e.update(Duration::from_millis(10));
        assert_eq!(e.rto(), RttEstimator::MIN_RTO);
        e.back_off();
        assert_eq!(e.rto(), RttEstimator::MIN_RTO * 2);
        for _ in 0..100 {
            e.back_off();
        }
        assert_eq!(e.rto(), RttEstimator::MAX_RTO);
        e.on_answer(RttEstimator::MIN_RTO);
        assert_eq!(
            e.rto(),
            RttEstimator::MAX_RTO,
            "it came too late for the base"
        );
        e.on_answer(RttEstimator::MIN_RTO / 2);
        assert_eq!(e.rto(), RttEstimator::MIN_RTO);
        e.back_off();
        e.update(Duration::from_millis(10));
        assert_eq!(e.rto(), RttEstimator::MIN_RTO, "a sample ends it");
    }
}
