//! The distribution of a delay over a run.

use crate::units::Duration;
use hdrhistogram::Histogram;

/// Mean and smallest value exactly, quantiles to within half a percent, in a few kilobytes.
///
/// Values are taken in as nanoseconds relative to an origin that the caller subtracts (a one-way
/// delay has no absolute zero) and stored in microseconds.
#[derive(Debug, Clone)]
pub struct Distribution {
    count: u64,
    sum_ns: u128,
    min: Duration,
    max: Duration,
    histogram: Histogram<u32>,
}

impl Distribution {
    /// Two significant figures: quantiles are the middle of a bucket that is 1 % wide.
    const SIGNIFICANT_FIGURES: u8 = 2;

    /// Without values.
    pub fn new() -> Distribution {
        Distribution {
            count: 0,
            sum_ns: 0,
            min: Duration::MAX,
            max: Duration::ZERO,
            histogram: Histogram::new(Distribution::SIGNIFICANT_FIGURES)
                .expect("two figures are supported"),
        }
    }

    /// Takes in a value.
    pub fn record(&mut self, value: Duration) {
        self.count += 1;
        self.sum_ns += u128::from(value.as_nanos());
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        // The histogram grows by itself; only values of centuries are refused.
        let _ = self.histogram.record(value.as_nanos() / 1000);
    }

    /// Takes in all values of `other`.
    pub fn add(&mut self, other: &Distribution) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        // Both grow by themselves, so that nothing is refused.
        let _ = self.histogram.add(&other.histogram);
    }

    /// How many values there were.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The arithmetic mean, or none without values.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum_ns.checked_div(u128::from(self.count))?;
        Some(Duration::from_nanos(
            u64::try_from(mean).unwrap_or(u64::MAX),
        ))
    }

    /// The smallest value, or none without values.
    pub fn min(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest value, or none without values.
    pub fn max(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.max)
    }

    /// The value below which a fraction `q` (0..=1) lies, or none without values.
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let micros = (self.count > 0).then(|| {
            self.histogram
                .median_equivalent(self.histogram.value_at_quantile(q))
        })?;
        Some(Duration::from_micros(micros).clamp(self.min, self.max))
    }
}

impl Default for Distribution {
    fn default() -> Distribution {
        Distribution::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_percent_and_the_mean_is_exact() {
        let mut d = Distribution::new();
        assert_eq!((d.mean(), d.quantile(0.5), d.min()), (None, None, None));
        for ms in 1..=1000 {
            d.record(Duration::from_millis(ms));
        }
        assert_eq!(d.mean(), Some(Duration::from_micros(500_500)));
        assert_eq!(d.min(), Some(Duration::from_millis(1)));
        assert_eq!(d.max(), Some(Duration::from_millis(1000)));
        for (q, ms) in [(0.5, 500.0), (0.95, 950.0)] {
            let got = d.quantile(q).expect("there are values").as_millis_f64();
            assert!((got / ms - 1.0).abs() < 0.01, "{q}: {got} ms");
        }
    }
}
