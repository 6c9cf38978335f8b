//! A safety net for delay-based controllers that do not react to single losses: when very much is
//! lost, the bottleneck's buffer is too short to show a queueing delay, and the window must shrink
//! all the same. The thresholds are those of the Copa authors' reference implementation.

use crate::feedback::RecoveryGuard;
use crate::units::{Duration, Instant};

/// Round trips that one judgement covers at least.
const ROUNDS: u64 = 2;
/// Packets that one judgement covers at least.
const MIN_PACKETS: f64 = 20.0;
/// The share of lost packets above which the window shrinks.
const LOSS_SHARE: f64 = 0.3;
/// What remains of the window.
pub(super) const FACTOR: f64 = 0.7;

/// Counts deliveries and losses.
#[derive(Debug, Clone, Default)]
pub(super) struct LossBrake {
    since: Option<Instant>,
    delivered: f64,
    lost: f64,
    guard: RecoveryGuard,
}

impl LossBrake {
    /// Takes note of a delivery for request `pn`, in packets. True if the window is to be
    /// multiplied by [`FACTOR`] now.
    pub(super) fn on_data(
        &mut self,
        now: Instant,
        pn: u64,
        next_pn: u64,
        packets: f64,
        srtt: Option<Duration>,
    ) -> bool {
        if !self.guard.covers(pn) {
            self.delivered += packets;
        }
        let (Some(since), Some(srtt)) = (self.since, srtt) else {
            self.since.get_or_insert(now);
            return false;
        };
        let total = self.delivered + self.lost;
        if now - since <= srtt * ROUNDS || total <= MIN_PACKETS {
            return false;
        }
        let brake = self.lost > LOSS_SHARE * total;
        (self.since, self.delivered, self.lost) = (Some(now), 0.0, 0.0);
        if brake {
            self.guard.begin(next_pn);
        }
        brake
    }

    /// Takes note of a loss, in packets; losses of what left before the last braking are old news.
    pub(super) fn on_loss(&mut self, pn: u64, packets: f64) {
        if !self.guard.covers(pn) {
            self.lost += packets;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delivers one packet per millisecond and loses `lost_per_10` of ten more; round trip 50 ms.
    /// Returns how often the brake acted within a second.
    fn brakes(lost_per_10: u64) -> usize {
        let mut b = LossBrake::default();
        (0..1000u64)
            .filter(|&ms| {
                if ms % 10 < lost_per_10 {
                    b.on_loss(ms, 1.0);
                }
                let now = Instant::from_millis(ms);
                b.on_data(now, ms, ms + 50, 1.0, Some(Duration::from_millis(50)))
            })
            .count()
    }

    #[test]
    fn acts_above_three_tenths_and_once_per_two_round_trips() {
        assert_eq!(brakes(0), 0);
        assert_eq!(brakes(4), 0); // 4 of 14
        assert!((6..=10).contains(&brakes(5)), "{}", brakes(5)); // 5 of 15
    }
}
