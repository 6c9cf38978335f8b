//! What the receiver of a connection says beside its ACKs, for policies that need more than TCP's
//! header tells.
//!
//! Each segment bears the number of its transmission and when it left; each ACK bears a [`Report`].
//! That stands for DSACK (RFC 2883), TCP-DOOR's options TPSN and ADSN, and time stamps.

use super::Note;
use crate::units::Instant;
use std::collections::BTreeMap;

/// A segment that reaches the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub now: Instant,
    /// Its first byte.
    pub at: u64,
    /// The byte behind it.
    pub end: u64,
    /// The first byte that is missing, before it is handled.
    pub next: u64,
    /// Number of the transmission, counted by the sender over all its segments.
    pub transmission: u64,
    /// When it left.
    pub sent: Instant,
    /// Whether a router has marked it.
    pub marked: bool,
}

/// What an ACK bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Report {
    /// When the last segment that arrived had left.
    pub sent: Instant,
    /// When it arrived.
    pub received: Instant,
    /// Whether a segment has arrived after one that was sent later, since the last ACK.
    pub out_of_order: bool,
    /// The last segment since the last ACK that had arrived before: first byte, byte behind it.
    pub duplicate: Option<(u64, u64)>,
    /// Whether one of the segments since the last ACK was marked.
    pub marked: bool,
    /// How many ACKs have had the same number, with this one.
    pub repeat: u32,
}

/// The receiving end.
#[derive(Debug, Clone, Default)]
pub struct Receiver {
    /// What has arrived beyond the first missing byte: first byte -> byte behind.
    islands: BTreeMap<u64, u64>,
    /// The latest transmission that has arrived.
    latest: Option<u64>,
    report: Report,
    acknowledged: Option<u64>,
}

impl Receiver {
    /// A segment has arrived and has not been handled.
    pub fn on_segment(&mut self, a: &Arrival) {
        while let Some(first) = self.islands.first_entry()
            && *first.get() <= a.next
        {
            first.remove();
        }
        let overtaken = self.latest.is_some_and(|latest| a.transmission < latest);
        self.latest = self.latest.max(Some(a.transmission));
        if self.has(a.at.max(a.next), a.end) {
            self.report.duplicate = Some((a.at, a.end));
        } else if a.at > a.next {
            self.insert(a.at, a.end);
        }
        self.report.out_of_order |= overtaken;
        self.report.marked |= a.marked;
        self.report.sent = a.sent;
        self.report.received = a.now;
    }

    /// An ACK for everything before `ack` leaves; none before the first segment.
    pub fn report(&mut self, ack: u64) -> Option<Report> {
        self.latest?;
        if self.acknowledged == Some(ack) {
            self.report.repeat = self.report.repeat.saturating_add(1);
        } else {
            self.acknowledged = Some(ack);
            self.report.repeat = 1;
        }
        let report = self.report;
        self.report.out_of_order = false;
        self.report.duplicate = None;
        self.report.marked = false;
        Some(report)
    }

    fn has(&self, at: u64, end: u64) -> bool {
        let before = self.islands.range(..=at).next_back();
        at >= end || before.is_some_and(|(_, &behind)| behind >= end)
    }

    fn insert(&mut self, mut at: u64, mut end: u64) {
        if let Some((&first, &behind)) = self.islands.range(..=at).next_back()
            && behind >= at
        {
            at = first;
            end = end.max(behind);
        }
        while let Some((&first, &behind)) = self.islands.range(at..=end).next() {
            self.islands.remove(&first);
            end = end.max(behind);
        }
        self.islands.insert(at, end);
    }
}

/// Reads the reports at the sending end.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reader {
    ack: u64,
    repeat: u32,
}

impl Reader {
    /// The report that the ACK of everything before `ack` bore.
    pub fn read(&mut self, now: Instant, ack: u64, report: &Report) -> Note {
        let newest = (self.ack, self.repeat);
        let overtaken = (ack, report.repeat) < newest;
        if !overtaken {
            (self.ack, self.repeat) = (ack, report.repeat);
        }
        Note {
            echo: Some(now.saturating_since(report.sent)),
            received: Some(report.received),
            out_of_order: report.out_of_order || overtaken,
            duplicate: report.duplicate,
            marked: report.marked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    fn segment(transmission: u64, at: u64, next: u64) -> Arrival {
        Arrival {
            now: Instant::from_millis(100 + transmission),
            at,
            end: at + 10,
            next,
            transmission,
            sent: Instant::from_millis(transmission),
            marked: false,
        }
    }

    #[test]
    fn what_arrives_twice_is_reported_once_wherever_it_lies() {
        let mut r = Receiver::default();
        assert_eq!(r.report(0), None);
        r.on_segment(&segment(1, 0, 0));
        assert_eq!(r.report(10).unwrap().duplicate, None);
        for (n, at) in [(3, 20), (4, 30), (6, 50)] {
            r.on_segment(&segment(n, at, 10));
            let report = r.report(10).unwrap();
            assert_eq!((report.duplicate, report.out_of_order), (None, false));
        }
        // Beyond the gap, and before it.
        r.on_segment(&segment(7, 30, 10));
        assert_eq!(r.report(10).unwrap().duplicate, Some((30, 40)));
        r.on_segment(&segment(8, 0, 10));
        assert_eq!(r.report(10).unwrap().duplicate, Some((0, 10)));
        assert_eq!(r.report(10).unwrap().duplicate, None);
        // The gap between two pieces is none.
        r.on_segment(&segment(9, 40, 10));
        assert_eq!(r.report(10).unwrap().duplicate, None);
        let across = Arrival {
            end: 60,
            ..segment(10, 20, 10)
        };
        r.on_segment(&across);
        assert_eq!(r.report(10).unwrap().duplicate, Some((20, 60)));
    }

    #[test]
    fn order_is_that_of_transmissions_and_of_acks() {
        let mut r = Receiver::default();
        for n in [1, 3] {
            r.on_segment(&segment(n, n * 10 - 10, n * 10 - 10));
            assert!(!r.report(n * 10).unwrap().out_of_order);
        }
        r.on_segment(&segment(2, 10, 10));
        let report = r.report(30).unwrap();
        assert_eq!((report.out_of_order, report.repeat), (true, 2));
        let mut reader = Reader::default();
        let plain = Report {
            sent: Instant::from_millis(20),
            repeat: 1,
            ..Report::default()
        };
        let mut note =
            |ack, repeat| reader.read(Instant::from_millis(50), ack, &Report { repeat, ..plain });
        assert_eq!(note(10, 1).echo, Some(Duration::from_millis(30)));
        assert!(!note(10, 2).out_of_order);
        assert!(!note(20, 1).out_of_order);
        assert!(!note(20, 3).out_of_order, "a lost ACK is no disorder");
        assert!(note(20, 2).out_of_order);
        assert!(note(10, 3).out_of_order);
        assert!(!note(20, 4).out_of_order);
    }
}
