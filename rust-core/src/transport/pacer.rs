//! Spacing of requests.

use crate::units::{Bytes, Instant, Rate};

/// After a request for L bytes the next may leave L / rate later.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pacer {
    next: Instant,
}

impl Pacer {
    /// When the next request may leave.
    pub(super) const fn next(&self) -> Instant {
        self.next
    }

    /// A request for `bytes` leaves at `now`. A pacer that fell behind does not catch up.
    pub(super) fn on_sent(&mut self, now: Instant, bytes: Bytes, rate: Option<Rate>) {
        self.next = match rate {
            Some(rate) => self.next.max(now) + bytes / rate,
            None => now,
        };
    }
}
