//! CoDel's estimator and control law (RFC 8289, section 5), one packet at a time.
//!
//! The RFC writes a dequeue as one function with a loop. Here every packet taken out is one call
//! of [`ControlLaw::step`], and what the RFC's function knows from its position in the text is in
//! [`Previous`]: the packet before was dropped in the same dequeue, at entry or in the loop.

use crate::units::{Bytes, Duration, Instant};

/// How long a count stays good for the next entry, in intervals (RFC 8289, section 5.5).
const COUNT_MEMORY_INTERVALS: u64 = 16;

/// What the dequeue that is under way has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Previous {
    /// Nothing: this is its first packet.
    None,
    /// It entered the dropping state with a drop. The next packet goes.
    EntryDrop,
    /// It dropped in the dropping state.
    Drop,
}

/// What to do with a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Drop it.
    Drop,
    /// Let it go. It was seen outside the dropping state: no drop in this dequeue, no state before.
    Forward,
    /// Let it go while packets are being dropped: between two drops, or right after one.
    ForwardInDropping,
}

/// The state of the control law.
#[derive(Debug, Clone)]
pub(super) struct ControlLaw {
    target: Duration,
    interval: Duration,
    mtu: Bytes,
    /// Drop every packet in the dropping state, whatever the time.
    drop_all: bool,
    /// When the sojourn time will have been above the target for an interval.
    first_above: Option<Instant>,
    dropping: bool,
    count: u32,
    last_count: u32,
    drop_next: Instant,
    previous: Previous,
}

impl ControlLaw {
    pub(super) fn new(target: Duration, interval: Duration, mtu: Bytes, drop_all: bool) -> Self {
        ControlLaw {
            target,
            interval,
            mtu,
            drop_all,
            first_above: None,
            dropping: false,
            count: 0,
            last_count: 0,
            drop_next: Instant::ZERO,
            previous: Previous::None,
        }
    }

    /// Whether a packet counts as below the target: by its sojourn time, or because not more than
    /// one packet's worth is left behind it.
    pub(super) fn below(&self, sojourn: Duration, backlog: Bytes) -> bool {
        sojourn < self.target || backlog <= self.mtu
    }

    /// Judges the packet just taken out, which waited `sojourn` and leaves `backlog` behind.
    pub(super) fn step(&mut self, now: Instant, sojourn: Duration, backlog: Bytes) -> Step {
        let ok_to_drop = self.ok_to_drop(now, sojourn, backlog);
        match std::mem::replace(&mut self.previous, Previous::None) {
            Previous::EntryDrop => Step::ForwardInDropping,
            Previous::Drop => {
                if !ok_to_drop {
                    self.dropping = false;
                    return Step::ForwardInDropping;
                }
                if !self.drop_all {
                    self.drop_next += self.spacing();
                }
                self.drop_if_due(now)
            }
            Previous::None if self.dropping => {
                if !ok_to_drop {
                    self.dropping = false;
                    return Step::Forward;
                }
                self.drop_if_due(now)
            }
            Previous::None if ok_to_drop => {
                self.enter(now);
                Step::Drop
            }
            Previous::None => Step::Forward,
        }
    }

    /// No packet was left to take out.
    pub(super) fn on_empty(&mut self) {
        self.first_above = None;
        // Right after entry the state stays, as in the RFC; the next packet ends it.
        if self.previous != Previous::EntryDrop {
            self.dropping = false;
        }
        self.previous = Previous::None;
    }

    fn ok_to_drop(&mut self, now: Instant, sojourn: Duration, backlog: Bytes) -> bool {
        if self.below(sojourn, backlog) {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + self.interval);
                false
            }
            Some(at) => now >= at,
        }
    }

    fn drop_if_due(&mut self, now: Instant) -> Step {
        if self.drop_all || now >= self.drop_next {
            self.count = self.count.saturating_add(1);
            self.previous = Previous::Drop;
            Step::Drop
        } else {
            Step::ForwardInDropping
        }
    }

    fn enter(&mut self, now: Instant) {
        self.dropping = true;
        let drops = self.count - self.last_count;
        // A next drop that still lies ahead is "less than 16 intervals ago" too.
        let recent = now.saturating_since(self.drop_next) < self.interval * COUNT_MEMORY_INTERVALS;
        self.count = if drops > 1 && recent { drops } else { 1 };
        self.last_count = self.count;
        self.drop_next = now + self.spacing();
        self.previous = Previous::EntryDrop;
    }

    /// Time to the next drop: interval / sqrt(count).
    fn spacing(&self) -> Duration {
        self.interval.mul_f64(1.0 / f64::from(self.count).sqrt())
    }

    pub(super) fn visit_state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("count", f64::from(self.count));
        visit("last_count", f64::from(self.last_count));
        visit("dropping", f64::from(u8::from(self.dropping)));
        visit("drop_next", self.drop_next.as_secs_f64());
    }
}
