//! A catalogue of NDCs and who asks for which: popularity by Zipf's law, and the requests of a client.
//!
//! Source: the ECD paper, section 5.1: a catalogue of 1000 NDCs whose popularity follows a Zipf
//! distribution, clients that ask for one NDC after the other, the first of them to fill the caches.
//! As everywhere in this crate, random draws are arguments.

/// A Zipf distribution over the ranks 0..n: rank k is drawn with a probability proportional to
/// 1/(k + 1)^alpha. Alpha 0 is the uniform distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct Zipf {
    /// The probability of a rank of at most k, by k; the last is 1.
    cumulative: Vec<f64>,
}

impl Zipf {
    /// Most ranks.
    pub const MAX_RANKS: usize = 1_000_000;
    /// Largest alpha. Beyond it a single NDC would be all that is ever asked for.
    pub const MAX_ALPHA: f64 = 10.0;

    /// A distribution over `n` ranks with exponent `alpha`; an error line if one of them is out of
    /// range.
    pub fn new(n: usize, alpha: f64) -> Result<Zipf, String> {
        if !(1..=Zipf::MAX_RANKS).contains(&n) {
            return Err(format!(
                "catalogue: {n} is not in 1..{most}",
                most = Zipf::MAX_RANKS
            ));
        }
        if !(0.0..=Zipf::MAX_ALPHA).contains(&alpha) {
            return Err(format!(
                "alpha: {alpha} is not in 0..{most}",
                most = Zipf::MAX_ALPHA
            ));
        }
        let weight = |k: usize| (k as f64 + 1.0).powf(-alpha);
        // From the smallest: the sum is then exact to the last digits.
        let total: f64 = (0..n).rev().map(weight).sum();
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = (0..n)
            .map(|k| {
                sum += weight(k);
                sum / total
            })
            .collect();
        cumulative[n - 1] = 1.0;
        Ok(Zipf { cumulative })
    }

    /// Number of ranks.
    pub fn len(&self) -> usize {
        self.cumulative.len()
    }

    /// Never: there is at least one rank.
    pub fn is_empty(&self) -> bool {
        self.cumulative.is_empty()
    }

    /// The rank that a uniform `draw` in [0, 1) stands for: the first one whose cumulative
    /// probability exceeds it.
    pub fn rank(&self, draw: f64) -> usize {
        self.cumulative
            .partition_point(|&p| p <= draw)
            .min(self.len() - 1)
    }

    /// The probability of rank `k`; zero beyond the last.
    pub fn probability(&self, k: usize) -> f64 {
        let up_to = |k: usize| self.cumulative.get(k).copied();
        match (up_to(k), k.checked_sub(1).and_then(up_to)) {
            (Some(p), Some(before)) => p - before,
            (Some(p), None) => p,
            (None, _) => 0.0,
        }
    }
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// To fill the caches.
    WarmUp,
    /// To be measured.
    Measured,
}

/// How many requests each client makes, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestPlan {
    /// Requests that fill the caches, first.
    pub warm_up: u64,
    /// Requests that are measured, then.
    pub measured: u64,
}

impl RequestPlan {
    /// The phase of request number `k`, from 0; none behind the last.
    pub const fn phase(&self, k: u64) -> Option<Phase> {
        if k < self.warm_up {
            Some(Phase::WarmUp)
        } else if k < self.total() {
            Some(Phase::Measured)
        } else {
            None
        }
    }

    /// All of them.
    pub const fn total(&self) -> u64 {
        self.warm_up + self.measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn probabilities_are_zipfs() {
        let zipf = Zipf::new(1000, 0.8).unwrap();
        let total: f64 = (0..1000).map(|k| zipf.probability(k)).sum();
        assert!((total - 1.0).abs() < 1e-12);
        for k in [0_usize, 1, 9, 99, 998] {
            let ratio = zipf.probability(k) / zipf.probability(2 * k.min(400) + 1);
            let expected = ((2 * k.min(400) + 2) as f64 / (k + 1) as f64).powf(0.8);
            assert!((ratio / expected - 1.0).abs() < 1e-9, "{k}: {ratio}");
        }
        assert_eq!(zipf.probability(1000), 0.0);
        let harmonic: f64 = (1..=1000).map(|k| f64::from(k).powf(-0.8)).sum();
        assert!((zipf.probability(0) - 1.0 / harmonic).abs() < 1e-12);
        let uniform = Zipf::new(4, 0.0).unwrap();
        assert_eq!(
            [0.0, 0.25, 0.49, 0.5, 0.99].map(|u| uniform.rank(u)),
            [0, 1, 1, 2, 3]
        );
    }

    #[test]
    fn the_whole_range_of_draws_is_covered() {
        for n in [1, 2, 1000, 100_000] {
            for alpha in [0.0, 0.6, 1.0, 1.3, 10.0] {
                let zipf = Zipf::new(n, alpha).unwrap();
                assert_eq!((zipf.rank(0.0), zipf.len()), (0, n));
                assert!(zipf.rank(1.0 - f64::EPSILON) < n);
                assert!(zipf.rank(1.0) < n, "a draw that should not be");
            }
        }
    }

    /// The share of requests in a middle stratum is that of its probability.
    #[test]
    fn evenly_spaced_draws_meet_every_rank_in_proportion() {
        let zipf = Zipf::new(50, 1.1).unwrap();
        let n = 1_000_000;
        let mut counts = [0_u32; 50];
        for i in 0..n {
            counts[zipf.rank((f64::from(i) + 0.5) / f64::from(n))] += 1;
        }
        for (k, &count) in counts.iter().enumerate() {
            let expected = zipf.probability(k) * f64::from(n);
            assert!(
                (f64::from(count) - expected).abs() <= 1.0,
                "rank {k}: {count}"
            );
        }
    }

    #[test]
    fn errors_are_one_line() {
        assert_eq!(
            Zipf::new(0, 0.8).unwrap_err(),
            "catalogue: 0 is not in 1..1000000"
        );
        assert_eq!(Zipf::new(5, -1.0).unwrap_err(), "alpha: -1 is not in 0..10");
        assert!(Zipf::new(5, f64::NAN).is_err());
    }

    #[test]
    fn phases_follow_each_other() {
        let plan = RequestPlan {
            warm_up: 2,
            measured: 1,
        };
        let phases: Vec<_> = (0..4).map(|k| plan.phase(k)).collect();
        let (w, m) = (Some(Phase::WarmUp), Some(Phase::Measured));
        assert_eq!((phases, plan.total()), (vec![w, w, m, None], 3));
    }

    proptest! {
        #[test]
        fn a_larger_draw_is_no_smaller_rank(n in 1usize..2000, alpha in 0.0..3.0, a in 0.0..1.0, b in 0.0..1.0) {
            let zipf = Zipf::new(n, alpha).unwrap();
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            prop_assert!(zipf.rank(low) <= zipf.rank(high));
        }
    }
}
