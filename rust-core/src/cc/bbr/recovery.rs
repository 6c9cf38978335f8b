//! BBR's window around losses: packet conservation for a round trip, then growth, then the window
//! from before.
//!
//! An episode begins with a loss of something that was requested after the previous one began, and
//! ends with the first arrival that was requested after its last loss: as with TCP, when what was
//! lost has been asked for again and answered. A loss meanwhile prolongs the episode. Only its first
//! round trip conserves packets: if steady random loss began a new one each round trip, the
//! outstanding bytes would shrink by the loss rate every time, until little is left (measured at
//! 10 % loss: 55 % of the bottleneck's rate, against 85 %).

use crate::feedback::RecoveryGuard;

/// The state of a loss episode.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Recovery {
    /// Covers what left before the episode began; active for the round trip after.
    first_round: RecoveryGuard,
    /// An arrival for this or a later request ends the episode; none outside of one.
    until: Option<u64>,
    /// Whether the first round trip conserves packets (after a loss, not after a timeout).
    conserve: bool,
    prior_cwnd: f64,
    lost_now: bool,
}

impl Recovery {
    /// Takes note of a loss, the largest of whose requests is `pn`, while `next_pn` is the number
    /// of the next one. True if it is to begin an episode, by [`Recovery::begin`].
    pub(super) fn note_loss(&mut self, pn: u64, next_pn: u64) -> bool {
        self.lost_now = true;
        if self.until.is_some() {
            self.until = Some(next_pn);
            return false;
        }
        self.first_round.is_new_episode(pn)
    }

    /// Begins an episode while `next_pn` is the number of the next request.
    pub(super) fn begin(&mut self, next_pn: u64, conserve: bool) {
        self.first_round.begin(next_pn);
        self.until = Some(next_pn);
        self.conserve = conserve;
    }

    /// Remembers `cwnd` as the one to return to. While it is `small` on purpose or reduced by an
    /// episode, a larger one from before is kept.
    pub(super) fn save(&mut self, cwnd: f64, small: bool) {
        let keep = small || self.until.is_some();
        self.prior_cwnd = if keep {
            cwnd.max(self.prior_cwnd)
        } else {
            cwnd
        };
    }

    /// Takes note of DATA for request `pn`; true if it ends the episode.
    pub(super) fn ends_with(&mut self, pn: u64) -> bool {
        self.first_round.on_data(pn);
        let ends = self.until.is_some_and(|until| pn >= until);
        if ends {
            self.until = None;
        }
        ends
    }

    /// Ends the episode early, as one that was for nothing; whether there was one.
    pub(super) fn cancel(&mut self) -> bool {
        self.conserve = false;
        self.until.take().is_some()
    }

    /// Whether in an episode.
    pub(super) const fn is_active(&self) -> bool {
        self.until.is_some()
    }

    /// Whether the window is to follow arrivals.
    pub(super) const fn conserves_packets(&self) -> bool {
        self.conserve && self.first_round.is_active()
    }

    /// The window to return to, packets.
    pub(super) const fn prior_cwnd(&self) -> f64 {
        self.prior_cwnd
    }

    /// Whether the event that is being handled proved a loss.
    pub(super) const fn lost_now(&self) -> bool {
        self.lost_now
    }

    /// The event has been handled.
    pub(super) fn end_event(&mut self) {
        self.lost_now = false;
    }
}
