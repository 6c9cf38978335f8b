//! Loss by later arrivals: a unit is lost once enough units that were requested after it arrived.

/// The default number of later arrivals (the Copa-ICN paper, section 3.3: "a fixed value of three").
pub const THRESHOLD: usize = 3;
/// The largest number that can be asked for.
pub const MAX_THRESHOLD: usize = 64;

/// The latest arrivals by order of request, as many as the threshold.
///
/// Units have an order (the order in which they were requested). A unit is lost when `threshold`
/// distinct units with a larger order have arrived, which holds exactly when its order is below the
/// `threshold`-th largest order that has arrived. So only that many orders are kept.
#[derive(Debug, Clone)]
pub struct LaterArrivals {
    /// Largest orders that arrived, descending; at most `threshold`.
    largest: Vec<u64>,
    threshold: usize,
}

impl LaterArrivals {
    /// A detector; `threshold` is clamped to 1..=64.
    pub fn new(threshold: usize) -> LaterArrivals {
        let threshold = threshold.clamp(1, MAX_THRESHOLD);
        LaterArrivals {
            largest: Vec::with_capacity(threshold + 1),
            threshold,
        }
    }

    /// Notes the first arrival of the unit of this order.
    pub fn insert(&mut self, order: u64) {
        let at = self.largest.partition_point(|&o| o > order);
        if at < self.threshold && self.largest.get(at) != Some(&order) {
            self.largest.insert(at, order);
            self.largest.truncate(self.threshold);
        }
    }

    /// Units of an order below this are lost if they have not arrived.
    pub fn lost_below(&self) -> u64 {
        if self.largest.len() < self.threshold {
            0
        } else {
            self.largest[self.threshold - 1]
        }
    }

    /// Forgets all arrivals.
    pub fn clear(&mut self) {
        self.largest.clear();
    }
}

impl Default for LaterArrivals {
    fn default() -> LaterArrivals {
        LaterArrivals::new(THRESHOLD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn three_distinct_later_units_are_needed() {
        let mut later = LaterArrivals::default();
        for order in [1, 2, 2, 2] {
            later.insert(order);
        }
        assert_eq!(later.lost_below(), 0, "the same unit counts once");
        later.insert(5);
        assert_eq!(
            later.lost_below(),
            1,
            "unit 0 has three later arrivals, unit 1 has arrived"
        );
        later.insert(6);
        assert_eq!(later.lost_below(), 2);
    }

    proptest! {
        #[test]
        fn equals_counting(arrivals in prop::collection::vec(0u64..40, 0..60), threshold in 1usize..6) {
            let mut later = LaterArrivals::new(threshold);
            let mut seen = std::collections::BTreeSet::new();
            for a in arrivals {
                later.insert(a);
                seen.insert(a);
                for unit in (0..40).filter(|u| !seen.contains(u)) {
                    let counted = seen.iter().filter(|&&o| o > unit).count() >= threshold;
                    prop_assert_eq!(counted, unit < later.lost_below());
                }
            }
        }
    }
}
