//! Tail probes: a lost end of a transfer is noticed before the retransmission timeout.
//!
//! Later arrivals prove a loss, and nothing comes after the last units. Source: RFC 8985, section 7
//! (TLP), in spirit. When nothing has arrived for two smoothed round trips and nothing was requested
//! meanwhile, the latest outstanding units, as many as prove a loss, are asked for once more, once
//! until something arrives. An answer to that request proves every earlier unit lost that is still
//! outstanding, whose own answers have had more than three round trips. The controller learns of
//! these losses as of any other; if they were none, their late answers tell it.

use super::Receiver;
use crate::units::Instant;
use crate::wire::Segment;

/// RFC 8985, section 7.2: the probe timeout in smoothed round trips.
const PROBE_TIMEOUT_RTTS: u64 = 2;

/// The state of tail probing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TailProbe {
    /// When the last request left.
    pub(super) sent_at: Instant,
    /// The last probe's number.
    pub(super) pn: Option<u64>,
    /// Nothing has arrived since the probe was due.
    pub(super) waiting: bool,
}

impl Receiver {
    /// When to probe for the tail; never unless that is wanted and something is outstanding.
    pub(super) fn tail_deadline(&self) -> Option<Instant> {
        if !self.config.options.tail_probe || self.tail.waiting || self.in_flight.is_zero() {
            return None;
        }
        let srtt = self.rtt.smoothed()?;
        Some(self.tail.sent_at.max(self.progress_at) + srtt * PROBE_TIMEOUT_RTTS)
    }

    /// Asks for the latest outstanding units once more, whatever the window says.
    pub(super) fn probe_tail(&mut self, now: Instant) {
        let units = usize::from(self.config.options.loss_threshold);
        self.segments.clear();
        let (segments, received) = (&mut self.segments, &self.received);
        let mss = self.mss.get();
        let missing = self.outstanding.latest(units);
        segments.extend(
            missing
                .filter(|(offset, _)| !received.contains(offset / mss))
                .map(|(offset, length)| Segment { offset, length }),
        );
        segments.sort_unstable_by_key(|s| s.offset);
        segments.dedup_by_key(|s| s.offset);
        segments.truncate(crate::wire::MAX_LOST_SEGMENTS);
        self.tail.waiting = true;
        if !segments.is_empty() {
            self.stats.tail_probes += 1;
            self.tail.pn = Some(self.outstanding.next_pn());
            self.send_request(now, true, self.controller.allowance().pacing);
        }
    }
}
