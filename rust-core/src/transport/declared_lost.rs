//! What was declared lost and may arrive after all.

use super::outstanding::Taken;
use crate::units::Instant;
use std::collections::VecDeque;

/// A unit that was declared lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LostRecord {
    pn: u64,
    offset: u64,
    /// When it was requested.
    pub(super) sent_at: Instant,
    /// Whether its answer would have been a round-trip sample.
    pub(super) is_sample: bool,
    /// Whether it is the unit whose timer expired.
    pub(super) expired: bool,
    /// The number of the window's reduction to whose losses it belongs.
    pub(super) cut: u64,
}

/// The latest units declared lost, so that a late answer tells which declaration was wrong: DATA
/// echoes its request's number, which makes this as exact as the timestamps of Eifel detection (RFC
/// 3522).
///
/// Units are declared lost in order of request, so that the list is sorted. It is bounded; what is
/// forgotten is old by many windows.
#[derive(Debug, Clone, Default)]
pub(super) struct DeclaredLost(VecDeque<LostRecord>);

impl DeclaredLost {
    /// Units remembered at most.
    const CAPACITY: usize = 1024;

    /// Notes that `unit` was declared lost.
    pub(super) fn push(&mut self, unit: &Taken, is_sample: bool) {
        if self.0.len() == DeclaredLost::CAPACITY {
            self.0.pop_front();
        }
        self.0.push_back(LostRecord {
            pn: unit.pn,
            offset: unit.offset,
            sent_at: unit.send.sent_at,
            is_sample,
            expired: false,
            cut: 0,
        });
    }

    /// Says of the last `n` units to which reduction they belong, and whether the first of them is
    /// the one whose timer expired.
    pub(super) fn describe_last(&mut self, n: usize, cut: u64, expired: bool) {
        let first = self.0.len().saturating_sub(n);
        for (at, record) in self.0.range_mut(first..).enumerate() {
            record.cut = cut;
            record.expired = expired && at == 0;
        }
    }

    /// Takes out the unit of request `pn` at `offset`, if it was declared lost and has not arrived
    /// since.
    pub(super) fn take(&mut self, pn: u64, offset: u64) -> Option<LostRecord> {
        let from = self.0.partition_point(|r| r.pn < pn);
        let of_request = self.0.range(from..).take_while(|r| r.pn == pn);
        let at = from + of_request.take_while(|r| r.offset != offset).count();
        let record = *self.0.get(at)?;
        (record.pn == pn && record.offset == offset).then(|| {
            self.0.remove(at);
            record
        })
    }

    /// Forgets everything and gives its memory back.
    pub(super) fn clear(&mut self) {
        self.0 = VecDeque::new();
    }

    /// Whether nothing is remembered, for tests of memory.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.capacity() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::DeliveryRate;
    use crate::units::Bytes;

    fn unit(pn: u64, offset: u64) -> Taken {
        Taken {
            pn,
            order: 10 * pn + offset,
            index: 0,
            offset,
            length: 1000,
            retransmission: false,
            probe: false,
            send: DeliveryRate::new(Instant::ZERO).on_sent(Instant::ZERO, Bytes::ZERO),
        }
    }

    #[test]
    fn units_are_found_once_by_request_and_offset() {
        let mut d = DeclaredLost::default();
        for (pn, offset) in [(1, 5), (3, 9), (3, 2), (7, 1)] {
            d.push(&unit(pn, offset), true);
        }
        d.describe_last(2, 4, true);
        assert_eq!(d.take(2, 5), None);
        assert_eq!(d.take(3, 5), None);
        let r = d.take(3, 2).expect("declared");
        assert_eq!((r.cut, r.expired), (4, true));
        assert_eq!(d.take(3, 2), None);
        let r = d.take(3, 9).expect("declared");
        assert_eq!((r.cut, r.expired), (0, false));
        assert_eq!(d.take(7, 1).map(|r| (r.cut, r.expired)), Some((4, false)));
        assert!(d.take(1, 5).is_some() && d.take(1, 5).is_none());
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut d = DeclaredLost::default();
        for pn in 0..5000 {
            d.push(&unit(pn, 0), true);
        }
        assert_eq!(d.take(3000, 0), None);
        assert!(d.take(4999, 0).is_some());
        assert!(d.0.capacity() <= 2 * DeclaredLost::CAPACITY);
    }
}
