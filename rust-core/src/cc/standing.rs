//! The pair of minimum filters that Copa takes its queueing delay from: the path without a queue
//! (the minimum over seconds) and the path now (the minimum over half a smoothed round trip, which
//! skips the jitter of single packets).

use crate::filter::WindowedMin;
use crate::units::{Duration, Instant};

/// A base and a standing minimum of one kind of delay.
#[derive(Debug, Clone)]
pub(super) struct StandingDelay<T> {
    base: WindowedMin<T>,
    base_window: Duration,
    standing: WindowedMin<T>,
}

impl<T: Copy + PartialOrd> StandingDelay<T> {
    /// Empty filters; the base minimum covers `base_window`.
    pub(super) fn new(base_window: Duration) -> Self {
        StandingDelay {
            base: WindowedMin::over(base_window),
            base_window,
            standing: WindowedMin::over(base_window),
        }
    }

    /// The base minimum covers `window` from now on.
    pub(super) fn set_base_window(&mut self, window: Duration) {
        self.base_window = window;
        self.base.set_duration(window);
    }

    /// Moves both windows to `now`; the standing one covers `standing` (SRTT/2 in the Copa-ICN
    /// paper, Table 1), never more than the base window, so that standing >= base.
    pub(super) fn advance(&mut self, now: Instant, standing: Option<Duration>) {
        if let Some(standing) = standing {
            self.standing.set_duration(standing.min(self.base_window));
        }
        self.base.expire_at(now);
        self.standing.expire_at(now);
    }

    /// Adds a sample to both.
    pub(super) fn insert(&mut self, now: Instant, sample: T) {
        self.base.insert_at(now, sample);
        self.standing.insert_at(now, sample);
    }

    /// Adds a sample that did not queue like the others: it tells about the path only.
    pub(super) fn insert_base(&mut self, now: Instant, sample: T) {
        self.base.insert_at(now, sample);
    }

    /// Minimum over the base window.
    pub(super) fn base(&self) -> Option<T> {
        self.base.best()
    }

    /// Minimum over the standing window.
    pub(super) fn standing(&self) -> Option<T> {
        self.standing.best()
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.base.clear();
        self.standing.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn standing_follows_within_half_a_round_trip() {
        let ms = Duration::from_millis;
        let mut d = StandingDelay::new(Duration::from_secs(10));
        d.insert(Instant::from_millis(0), ms(50));
        d.advance(Instant::from_millis(10), Some(ms(25)));
        d.insert(Instant::from_millis(10), ms(60));
        assert_eq!(d.standing(), Some(ms(50)));
        d.advance(Instant::from_millis(26), Some(ms(25)));
        assert_eq!((d.base(), d.standing()), (Some(ms(50)), Some(ms(60))));
        // A sample for the base alone leaves the standing minimum as it is.
        d.insert_base(Instant::from_millis(27), ms(40));
        assert_eq!((d.base(), d.standing()), (Some(ms(40)), Some(ms(60))));
    }

    proptest! {
        #[test]
        fn standing_is_never_below_base(
            steps in prop::collection::vec((0u64..3000, 1u64..500, 1u64..60_000), 1..100),
        ) {
            let mut d = StandingDelay::new(Duration::from_secs(10));
            let mut now = Instant::ZERO;
            for (dt, delay, srtt) in steps {
                now += Duration::from_millis(dt);
                d.advance(now, Some(Duration::from_millis(srtt)));
                d.insert(now, Duration::from_millis(delay));
                prop_assert!(d.standing() >= d.base());
            }
        }
    }
}
