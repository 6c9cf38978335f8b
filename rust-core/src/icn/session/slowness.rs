//! Whether a transfer has become slow.

use crate::units::{Bytes, Duration, Instant, Rate};
use std::collections::VecDeque;

/// Compares the goodput of the last second with the best second so far.
#[derive(Debug, Clone)]
pub(super) struct Slowness {
    fraction: f64,
    /// Samples of the last second, the oldest first.
    samples: VecDeque<(Instant, Bytes)>,
    best: Rate,
    below_since: Option<Instant>,
}

impl Slowness {
    /// Time between two samples.
    pub(super) const INTERVAL: Duration = Duration::from_millis(200);
    /// Samples that goodput is measured over: a second, longer than most round trips.
    const SPAN: usize = 5;
    /// How long goodput must be low. Together with the span this outlasts a controller's slow start
    /// and BBR's PROBE_RTT.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Slow is what is below `fraction` of the best.
    pub(super) fn new(fraction: f64) -> Slowness {
        Slowness {
            fraction,
            samples: VecDeque::with_capacity(Slowness::SPAN + 1),
            best: Rate::ZERO,
            below_since: None,
        }
    }

    /// Another replica starts to serve; the best so far stays.
    pub(super) fn restart(&mut self, now: Instant, delivered: Bytes) {
        self.samples.clear();
        self.samples.push_back((now, delivered));
        self.below_since = None;
    }

    /// No replica is as good as the best was.
    pub(super) fn forget_best(&mut self) {
        self.best = Rate::ZERO;
        self.below_since = None;
    }

    /// So many bytes have been delivered by now; whether that is too slow for too long.
    pub(super) fn on_sample(&mut self, now: Instant, delivered: Bytes) -> bool {
        self.samples.push_back((now, delivered));
        if self.samples.len() <= Slowness::SPAN {
            return false;
        }
        let (then, before) = self.samples[self.samples.len() - 1 - Slowness::SPAN];
        self.samples.pop_front();
        let rate = (delivered - before) / (now - then);
        self.best = self.best.max(rate);
        if rate >= self.best.mul_f64(self.fraction) {
            self.below_since = None;
            return false;
        }
        let since = *self.below_since.get_or_insert(now);
        now - since >= Slowness::PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `rates` in bytes per sample, and tells after how many samples it was slow.
    fn slow_after(slowness: &mut Slowness, rates: &[u64]) -> Option<usize> {
        let mut now = Instant::ZERO;
        let mut delivered = Bytes::ZERO;
        slowness.restart(now, delivered);
        for (i, &bytes) in rates.iter().enumerate() {
            now += Slowness::INTERVAL;
            delivered += Bytes::new(bytes);
            if slowness.on_sample(now, delivered) {
                return Some(i + 1);
            }
        }
        None
    }

    #[test]
    fn a_lasting_drop_is_slow_and_a_dip_is_not() {
        let good = [1000; 20];
        let drop = [&good[..], &[300; 40]].concat();
        // The mean of five falls below half with the fourth low sample; 2 s are ten more.
        assert_eq!(slow_after(&mut Slowness::new(0.5), &drop), Some(34));
        let dip = [&good[..], &[0; 9], &good[..], &[0; 9], &good[..]].concat();
        assert_eq!(slow_after(&mut Slowness::new(0.5), &dip), None);
        assert_eq!(slow_after(&mut Slowness::new(0.25), &drop), None);
    }

    #[test]
    fn the_best_outlives_a_restart_until_it_is_forgotten() {
        let mut slowness = Slowness::new(0.5);
        assert_eq!(slow_after(&mut slowness, &[1000; 20]), None);
        assert_eq!(slow_after(&mut slowness, &[300; 40]), Some(15));
        slowness.forget_best();
        assert_eq!(slow_after(&mut slowness, &[300; 40]), None);
    }
}
