//! A small seeded generator for the network's random draws.

/// SplitMix64 (Steele, Lea and Flood, 2014): enough for losses and jitter, and the same everywhere.
#[derive(Debug, Clone)]
pub struct Prng(u64);

impl Prng {
    pub fn new(seed: u64) -> Prng {
        Prng(seed)
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability `p`. Draws nothing if `p` is zero, so that a network without losses
    /// has the same draws elsewhere as one with them.
    pub fn chance(&mut self, p: f64) -> bool {
        p > 0.0 && self.uniform() < p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_uniform_and_repeat() {
        let (mut a, mut b) = (Prng::new(7), Prng::new(7));
        let draws: Vec<f64> = (0..10_000).map(|_| a.uniform()).collect();
        assert!(
            draws
                .iter()
                .all(|d| (0.0..1.0).contains(d) && *d == b.uniform())
        );
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }
}
