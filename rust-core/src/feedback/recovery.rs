//! The loss-episode guard: at most one reduction for what one window lost.

/// Remembers up to which packet number requests had left at the last reduction.
///
/// A loss of a request that left before the reduction belongs to the same episode and must not
/// reduce again; DATA that answers such a request arrives "in recovery" and must not grow the
/// window. Recovery ends when a request that left afterwards is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecoveryGuard {
    /// Numbers below this left before the last reduction; zero before the first.
    end_pn: u64,
    /// Whether no later request has been answered yet.
    active: bool,
}

impl RecoveryGuard {
    /// Whether a loss of request `pn` starts a new episode.
    pub const fn is_new_episode(&self, pn: u64) -> bool {
        pn >= self.end_pn
    }

    /// Notes a reduction while `next_pn` is the number of the next request.
    pub fn begin(&mut self, next_pn: u64) {
        self.end_pn = next_pn;
        self.active = true;
    }

    /// Whether request `pn` left before the last reduction.
    pub const fn covers(&self, pn: u64) -> bool {
        pn < self.end_pn
    }

    /// Takes note of DATA for request `pn`; true if it ends the recovery.
    pub fn on_data(&mut self, pn: u64) -> bool {
        let ends = self.active && !self.covers(pn);
        if ends {
            self.active = false;
        }
        ends
    }

    /// Whether in recovery.
    pub const fn is_active(&self) -> bool {
        self.active
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reduction_for_what_left_before_it() {
        let mut g = RecoveryGuard::default();
        assert!(g.is_new_episode(0));
        g.begin(10);
        assert!(!g.is_new_episode(9));
        assert!(g.is_new_episode(10));
        assert!(g.covers(9) && !g.covers(10));
        assert!(!g.on_data(9) && g.is_active());
        assert!(g.on_data(10) && !g.is_active());
        // What left before the reduction stays covered after the recovery has ended.
        assert!(!g.is_new_episode(9));
    }
}
