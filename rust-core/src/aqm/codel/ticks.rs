//! CoDel in the arithmetic of ns-3's `CoDelQueueDisc` (3.37 to 3.44), without its ECN options.
//!
//! What differs from RFC 8289:
//!
//! - Time is a 32-bit number of ticks of 1024 ns and wraps after 4398 s. Comparisons are those of
//!   the numbers themselves, not modulo the wrap.
//! - A first time above the target of 0 ticks means "not above".
//! - Dropping starts when the time *after* the interval has come (`>`), not at it (`>=`).
//! - The backlog that is exempt is *less* than the MTU (`<`), not up to it (`<=`).
//! - 1/sqrt(count) is a 16-bit fraction that one Newton step carries from count to count, so that
//!   it lags after a count that jumps.
//! - The memory of the count is lost if the state is entered again before the next drop was due:
//!   the difference wraps to a large number.

use crate::units::{Bytes, Duration, Instant};

/// A tick is 2^10 ns (ns-3's `CODEL_SHIFT`).
const TICK_SHIFT: u32 = 10;
/// The largest 16-bit fraction: 1/sqrt(1), nearly.
const ONE: u16 = u16::MAX;
/// Bits from the 16-bit fraction to a 32-bit one.
const FRACTION_SHIFT: u32 = 16;
/// How long a count stays good for the next entry, in intervals.
const COUNT_MEMORY_INTERVALS: u32 = 16;

/// What the dequeue under way has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Previous {
    None,
    EntryDrop,
    Drop,
}

/// The state, in ticks.
#[derive(Debug, Clone)]
pub(super) struct Ticks {
    target: u32,
    interval: u32,
    min_bytes: Bytes,
    first_above: u32,
    drop_next: u32,
    dropping: bool,
    count: u32,
    last_count: u32,
    inverse_root: u16,
    previous: Previous,
}

/// Nanoseconds in ticks, the lower 32 bits.
fn ticks(nanos: u64) -> u32 {
    (nanos >> TICK_SHIFT) as u32
}

/// One Newton step for 1/sqrt(count) from an estimate of it: x (3 - count x^2) / 2, in fixed point
/// with ns-3's order of shifts and its wrap-around.
fn newton_step(estimate: u16, count: u32) -> u16 {
    let x = u64::from(u32::from(estimate) << FRACTION_SHIFT);
    let squared = (x * x) >> 32;
    let bracket = (3u64 << 32).wrapping_sub(u64::from(count) * squared) >> 2;
    let next = bracket.wrapping_mul(x) >> (32 - 2 + 1);
    (next >> FRACTION_SHIFT) as u16
}

impl Ticks {
    pub(super) fn new(target: Duration, interval: Duration, min_bytes: Bytes) -> Ticks {
        Ticks {
            target: ticks(target.as_nanos()),
            interval: ticks(interval.as_nanos()),
            min_bytes,
            first_above: 0,
            drop_next: 0,
            dropping: false,
            count: 0,
            last_count: 0,
            inverse_root: ONE,
            previous: Previous::None,
        }
    }

    /// Whether to drop the packet just taken out.
    pub(super) fn step(&mut self, now: Instant, sojourn: Duration, backlog: Bytes) -> bool {
        let now = ticks(now.as_nanos());
        let ok_to_drop = self.ok_to_drop(now, ticks(sojourn.as_nanos()), backlog);
        match std::mem::replace(&mut self.previous, Previous::None) {
            Previous::EntryDrop => false,
            Previous::Drop => {
                if ok_to_drop {
                    self.drop_next = self.after_spacing(self.drop_next);
                    self.drop_if_due(now)
                } else {
                    self.dropping = false;
                    false
                }
            }
            Previous::None if self.dropping => {
                if ok_to_drop {
                    self.drop_if_due(now)
                } else {
                    self.dropping = false;
                    false
                }
            }
            Previous::None => {
                if ok_to_drop {
                    self.enter(now);
                }
                ok_to_drop
            }
        }
    }

    /// No packet was left to take out.
    pub(super) fn on_empty(&mut self) {
        match std::mem::replace(&mut self.previous, Previous::None) {
            // Nothing was there from the start: the time above the target runs on.
            Previous::None => self.dropping = false,
            Previous::EntryDrop => self.first_above = 0,
            Previous::Drop => {
                self.first_above = 0;
                self.dropping = false;
            }
        }
    }

    fn ok_to_drop(&mut self, now: u32, sojourn: u32, backlog: Bytes) -> bool {
        if sojourn < self.target || backlog < self.min_bytes {
            self.first_above = 0;
            return false;
        }
        if self.first_above == 0 {
            self.first_above = now.wrapping_add(self.interval);
            return false;
        }
        now > self.first_above
    }

    fn drop_if_due(&mut self, now: u32) -> bool {
        let due = now >= self.drop_next;
        if due {
            self.count = self.count.wrapping_add(1);
            self.inverse_root = newton_step(self.inverse_root, self.count);
            self.previous = Previous::Drop;
        }
        due
    }

    fn enter(&mut self, now: u32) {
        self.dropping = true;
        // Signed, as there.
        let drops = self.count.wrapping_sub(self.last_count) as i32;
        let since = now.wrapping_sub(self.drop_next);
        if drops > 1 && since < self.interval.wrapping_mul(COUNT_MEMORY_INTERVALS) {
            self.count = drops as u32;
            self.inverse_root = newton_step(self.inverse_root, self.count);
        } else {
            self.count = 1;
            self.inverse_root = ONE;
        }
        self.last_count = self.count;
        self.drop_next = self.after_spacing(now);
        self.previous = Previous::EntryDrop;
    }

    /// `from` plus interval/sqrt(count).
    fn after_spacing(&self, from: u32) -> u32 {
        let fraction = u64::from(u32::from(self.inverse_root) << FRACTION_SHIFT);
        from.wrapping_add(((u64::from(self.interval) * fraction) >> 32) as u32)
    }

    pub(super) fn visit_state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let seconds = |ticks: u32| (u64::from(ticks) << TICK_SHIFT) as f64 / 1e9;
        visit("count", f64::from(self.count));
        visit("last_count", f64::from(self.last_count));
        visit("dropping", f64::from(u8::from(self.dropping)));
        visit("drop_next", seconds(self.drop_next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn newton_steps_find_the_reciprocal_square_root() {
        let mut estimate = ONE;
        for count in 1..2000u32 {
            estimate = newton_step(estimate, count);
            let (found, exact) = (
                f64::from(estimate) / 65_536.0,
                1.0 / f64::from(count).sqrt(),
            );
            // The step from 1 to 2 starts far off: 0.5 for 0.707.
            let tolerance = if count < 8 { 0.3 } else { 0.02 };
            assert!((found / exact - 1.0).abs() < tolerance, "{count}: {found}");
        }
    }

    #[test]
    fn known_values_of_the_newton_step() {
        // By hand for count 2 from x = 65535/65536: x (3 - 2 x^2)/2 = 0.500023, 32769.5 of 65536.
        assert_eq!(newton_step(ONE, 2), 32769);
        assert_eq!(newton_step(32768, 4), 32768);
    }

    proptest! {
        #[test]
        fn a_tick_is_1024_ns_and_wraps_at_32_bits(nanos in 0..u64::MAX) {
            prop_assert_eq!(u64::from(ticks(nanos)), nanos / 1024 % (1 << 32));
        }
    }
}
