//! When segments were sent, for RTT samples in nanoseconds.

use crate::units::{Duration, Instant};
use std::collections::VecDeque;

/// A segment that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    /// The byte behind it.
    end: u64,
    sent: Instant,
    again: bool,
}

/// When the segments that are outstanding were sent, in the order of the stream.
#[derive(Debug, Clone, Default)]
pub struct History {
    segments: VecDeque<Segment>,
}

impl History {
    /// The bytes from `at` to before `end` are sent.
    pub fn on_sent(&mut self, now: Instant, at: u64, end: u64) {
        let known = self.segments.back().map_or(0, |s| s.end);
        if end > known {
            self.segments.push_back(Segment {
                end,
                sent: now,
                again: at < known,
            });
            return;
        }
        // Sent before: whatever covers these bytes has no sample (Karn's rule, RFC 6298, section 3).
        let first = self.segments.partition_point(|s| s.end <= at);
        for segment in self.segments.range_mut(first..) {
            segment.again = true;
            if segment.end >= end {
                break;
            }
        }
    }

    /// Everything before `ack` has arrived: the time since the last segment of these left, if it was
    /// sent once.
    pub fn on_ack(&mut self, now: Instant, ack: u64) -> Option<Duration> {
        let mut sample = None;
        while let Some(segment) = self.segments.front()
            && segment.end <= ack
        {
            sample = (!segment.again).then(|| now - segment.sent);
            self.segments.pop_front();
        }
        sample
    }

    /// The retransmission timer has expired: everything outstanding will be sent again.
    pub fn on_timeout(&mut self) {
        self.segments.iter_mut().for_each(|s| s.again = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    #[test]
    fn samples_are_of_the_last_segment_acknowledged_unless_it_was_sent_twice() {
        let mut h = History::default();
        for i in 0..5 {
            h.on_sent(at(i), i * 100, i * 100 + 100);
        }
        assert_eq!(h.on_ack(at(10), 200), Some(Duration::from_millis(9)));
        assert_eq!(h.on_ack(at(11), 200), None, "a duplicate");
        assert_eq!(h.on_ack(at(11), 250), None, "half a segment");
        h.on_sent(at(12), 200, 300);
        assert_eq!(h.on_ack(at(20), 300), None);
        assert_eq!(h.on_ack(at(20), 400), Some(Duration::from_millis(17)));
        h.on_timeout();
        h.on_sent(at(30), 500, 600);
        assert_eq!(h.on_ack(at(40), 500), None);
        assert_eq!(h.on_ack(at(40), 600), Some(Duration::from_millis(10)));
    }
}
