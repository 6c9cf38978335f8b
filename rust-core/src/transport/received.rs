//! Which units of an NDC have arrived.

use std::collections::VecDeque;

/// A bitmap over unit numbers that slides with the first missing unit: its size follows the spread
/// between the first missing and the last arrived unit.
#[derive(Debug, Clone, Default)]
pub(super) struct ReceivedUnits {
    /// Words of 64 units from `base` on.
    words: VecDeque<u64>,
    /// Number of the first unit of the first word, a multiple of 64. All before have arrived.
    base: u64,
    /// The first unit that is missing.
    first_missing: u64,
}

impl ReceivedUnits {
    /// The first unit that has not arrived.
    pub(super) const fn first_missing(&self) -> u64 {
        self.first_missing
    }

    /// Whether `unit` has arrived.
    pub(super) fn contains(&self, unit: u64) -> bool {
        unit < self.first_missing || {
            let at = unit - self.base;
            self.words
                .get((at / 64) as usize)
                .is_some_and(|w| w & (1 << (at % 64)) != 0)
        }
    }

    /// Notes that `unit` has arrived; false if it had before.
    pub(super) fn insert(&mut self, unit: u64) -> bool {
        if self.contains(unit) {
            return false;
        }
        let at = unit - self.base;
        let word = (at / 64) as usize;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (at % 64);
        if unit == self.first_missing {
            self.advance();
        }
        true
    }

    /// Gives the memory back: only the count of what arrived without a gap is kept.
    pub(super) fn release(&mut self) {
        self.words = VecDeque::new();
        self.base = self.first_missing - self.first_missing % 64;
    }

    /// Whether no memory is held, for tests.
    #[cfg(test)]
    pub(super) fn is_released(&self) -> bool {
        self.words.capacity() == 0
    }

    fn advance(&mut self) {
        while self.words.front() == Some(&u64::MAX) {
            self.words.pop_front();
            self.base += 64;
        }
        self.first_missing = self.base
            + self
                .words
                .front()
                .map_or(0, |w| u64::from(w.trailing_ones()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn equals_a_set(units in prop::collection::vec(0u64..400, 0..600)) {
            let (mut bitmap, mut set) = (ReceivedUnits::default(), BTreeSet::new());
            for unit in units {
                prop_assert_eq!(bitmap.insert(unit), set.insert(unit));
                let missing = (0..).find(|u| !set.contains(u)).unwrap();
                prop_assert_eq!(bitmap.first_missing(), missing);
                prop_assert!((0..420).all(|u| bitmap.contains(u) == set.contains(&u)));
            }
        }
    }

    #[test]
    fn memory_follows_the_gap() {
        let mut bitmap = ReceivedUnits::default();
        for unit in 0..1_000_000 {
            bitmap.insert(unit);
        }
        assert!(bitmap.words.len() <= 1 && bitmap.words.capacity() < 64);
    }
}
