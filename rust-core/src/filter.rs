//! Exact windowed minimum and maximum, and exponentially weighted averages.

use crate::units::{Duration, Instant};
use std::collections::VecDeque;

/// What a [`Windowed`] filter keeps the best of.
pub trait Better<T> {
    /// Whether `a` dominates `b`: a newer `a` makes an older `b` irrelevant.
    fn dominates(a: &T, b: &T) -> bool;
}

/// Keeps the smallest value.
#[derive(Debug, Clone, Copy)]
pub struct Min;

/// Keeps the largest value.
#[derive(Debug, Clone, Copy)]
pub struct Max;

impl<T: PartialOrd> Better<T> for Min {
    fn dominates(a: &T, b: &T) -> bool {
        a <= b
    }
}

impl<T: PartialOrd> Better<T> for Max {
    fn dominates(a: &T, b: &T) -> bool {
        a >= b
    }
}

/// The exact best value of the samples in a sliding window, by a monotone deque.
///
/// The position of a sample is any non-decreasing number: nanoseconds ([`WindowedMin::insert_at`])
/// or a round count. A sample is in the window while its position is not before `newest - window`;
/// the newest sample is always kept, so that the filter is empty only before the first one. Cost:
/// amortised constant per sample, no allocation once warmed up.
#[derive(Debug, Clone)]
pub struct Windowed<T, B> {
    samples: VecDeque<(u64, T)>,
    window: u64,
    better: std::marker::PhantomData<B>,
}

/// Windowed minimum.
pub type WindowedMin<T> = Windowed<T, Min>;
/// Windowed maximum.
pub type WindowedMax<T> = Windowed<T, Max>;

impl<T: Copy, B: Better<T>> Windowed<T, B> {
    /// An empty filter over the last `window` (in the unit of the positions).
    pub fn new(window: u64) -> Self {
        Windowed {
            samples: VecDeque::new(),
            window,
            better: std::marker::PhantomData,
        }
    }

    /// An empty filter over the last `window` of time.
    pub fn over(window: Duration) -> Self {
        Self::new(window.as_nanos())
    }

    /// Changes the window's length; it takes effect at the next insertion or expiry.
    pub fn set_window(&mut self, window: u64) {
        self.window = window;
    }

    /// Changes the window's length to a time.
    pub fn set_duration(&mut self, window: Duration) {
        self.window = window.as_nanos();
    }

    /// Adds a sample taken at `position`, which must not be before the previous one.
    pub fn insert(&mut self, position: u64, value: T) {
        while self
            .samples
            .back()
            .is_some_and(|(_, v)| B::dominates(&value, v))
        {
            self.samples.pop_back();
        }
        self.samples.push_back((position, value));
        self.expire(position);
    }

    /// Adds a sample taken at `now`.
    pub fn insert_at(&mut self, now: Instant, value: T) {
        self.insert(now.as_nanos(), value);
    }

    /// Forgets samples older than the window as seen from `position`, except the newest.
    pub fn expire(&mut self, position: u64) {
        let oldest = position.saturating_sub(self.window);
        while self.samples.len() > 1 && self.samples[0].0 < oldest {
            self.samples.pop_front();
        }
    }

    /// Forgets samples older than the window as seen from `now`, except the newest.
    pub fn expire_at(&mut self, now: Instant) {
        self.expire(now.as_nanos());
    }

    /// The best value in the window, or none before the first sample.
    pub fn best(&self) -> Option<T> {
        self.samples.front().map(|(_, v)| *v)
    }

    /// The position of the best value.
    pub fn best_position(&self) -> Option<u64> {
        self.samples.front().map(|(p, _)| *p)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.samples.clear();
    }
}

/// An exponentially weighted moving average: `avg += gain * (sample - avg)`, the first sample taken
/// as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ewma {
    gain: f64,
    value: Option<f64>,
}

impl Ewma {
    /// An empty average; `gain` is the weight of a new sample, in (0, 1].
    pub const fn new(gain: f64) -> Ewma {
        Ewma { gain, value: None }
    }

    /// Takes in a sample and returns the new average.
    pub fn update(&mut self, sample: f64) -> f64 {
        let v = self.value.map_or(sample, |v| v + self.gain * (sample - v));
        self.value = Some(v);
        v
    }

    /// The average, or none before the first sample.
    pub const fn value(&self) -> Option<f64> {
        self.value
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.value = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The deque agrees with a scan over all samples still in the window.
        #[test]
        fn equals_a_scan(steps in prop::collection::vec((0u64..50, 0u32..100), 1..200), window in 0u64..200) {
            let mut min = WindowedMin::new(window);
            let mut max = WindowedMax::new(window);
            let (mut all, mut t) = (Vec::new(), 0);
            for (dt, v) in steps {
                t += dt;
                all.push((t, v));
                min.insert(t, v);
                max.insert(t, v);
                let live = all.iter().filter(|(p, _)| *p >= t.saturating_sub(window)).map(|(_, v)| *v);
                prop_assert_eq!(min.best(), live.clone().min());
                prop_assert_eq!(max.best(), live.max());
            }
        }
    }

    #[test]
    fn the_newest_sample_outlives_the_window() {
        let mut f = WindowedMin::over(Duration::from_millis(10));
        f.insert_at(Instant::from_millis(0), 5);
        f.expire_at(Instant::from_millis(1000));
        assert_eq!(f.best(), Some(5));
    }

    #[test]
    fn ewma_starts_at_its_first_sample() {
        let mut e = Ewma::new(0.25);
        assert_eq!(e.value(), None);
        assert_eq!(e.update(8.0), 8.0);
        assert_eq!(e.update(4.0), 7.0);
    }
}
