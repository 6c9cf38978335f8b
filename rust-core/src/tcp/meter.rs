//! What a run reports of a TCP transfer, from the segments that its two ends send and receive.

use super::Sequence;
use crate::cc::{Phase, Snapshot};
use crate::feedback::RttEstimator;
use crate::trace::FlowMeter;
use crate::transport::{Content, Stats, Step};
use crate::units::{Bytes, Instant, OneWay, Rate};
use std::collections::{BTreeMap, VecDeque};

/// A segment that is not acknowledged yet.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// Position of its first byte.
    start: u64,
    /// Position behind its last byte.
    end: u64,
    /// When it left for the first time.
    sent_at: Instant,
    /// Whether it was sent again.
    repeated: bool,
}

/// What the sending socket says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeterState {
    /// Congestion window.
    pub window: Bytes,
    /// Outstanding bytes as the socket counts them.
    pub in_flight: Bytes,
    /// Slow-start threshold, once there is one.
    pub ssthresh: Option<Bytes>,
    /// Pacing rate, if the socket paces.
    pub pacing: Option<Rate>,
    /// Whether it repairs losses after duplicate ACKs, or reduces after an ECN echo.
    pub recovering: bool,
}

/// Watches one transfer from a sender to a receiver.
///
/// RTT samples are taken as RFC 6298 and Karn's algorithm say: from ACKs of new data that do not
/// cover a segment sent twice, of the newest segment that the ACK covers, so that the wait of a
/// delayed ACK is no part of it. One-way delays are those of segments sent once.
#[derive(Debug, Clone)]
pub struct Meter {
    /// What the sender's numbers mean.
    sent: Sequence,
    /// What the receiver's ACKs mean.
    acked: Sequence,
    /// What the numbers of arriving segments mean.
    arrived: Sequence,
    segments: VecDeque<Segment>,
    /// Position behind the last byte that was sent.
    high: u64,
    /// Position up to which everything is acknowledged.
    una: u64,
    /// Ranges that arrived behind the first gap, start -> end.
    islands: BTreeMap<u64, u64>,
    /// Position of the first gap at the receiver.
    next: u64,
    /// Bytes that the application has read.
    read: u64,
    content: Option<Content>,
    mismatch: bool,
    size: Option<u64>,
    rtt: RttEstimator,
    one_way: Option<OneWay>,
    state: MeterState,
    stats: Stats,
    flow: FlowMeter,
}

impl Meter {
    /// Watches a transfer of `size` bytes, or of one without an end.
    pub fn new(size: Option<u64>) -> Meter {
        Meter {
            sent: Sequence::default(),
            acked: Sequence::default(),
            arrived: Sequence::default(),
            segments: VecDeque::new(),
            high: 0,
            una: 0,
            islands: BTreeMap::new(),
            next: 0,
            read: 0,
            content: None,
            mismatch: false,
            size,
            rtt: RttEstimator::new(
                RttEstimator::MIN_RTO,
                RttEstimator::MAX_RTO,
                RttEstimator::INITIAL_RTO,
            ),
            one_way: None,
            state: MeterState::default(),
            stats: Stats::default(),
            flow: FlowMeter::default(),
        }
    }

    /// The stream carries pseudo-random bytes made from `seed`, which are then checked. Only for a
    /// transfer with a size.
    pub fn with_content(mut self, seed: u64) -> Meter {
        if let Some(size) = self.size {
            self.content = Some(Content::synthetic(seed, size as usize));
        }
        self
    }

    /// The stream's bytes from `offset` on, as many as there are; none without real content.
    pub fn content(&self, offset: u64, length: usize) -> &[u8] {
        match &self.content {
            Some(Content::Real(bytes)) => {
                let from = (offset as usize).min(bytes.len());
                &bytes[from..from.saturating_add(length).min(bytes.len())]
            }
            _ => &[],
        }
    }

    /// The connection begins: the sender's first byte of data has the number `first`.
    pub fn on_open(&mut self, first: u32) {
        self.sent = Sequence::new(first);
        self.acked = self.sent;
        self.arrived = self.sent;
    }

    /// The sender sends `length` bytes from number `seq` on; true if it has sent any of them before.
    pub fn on_sent(&mut self, now: Instant, seq: u32, length: u32, state: &MeterState) -> bool {
        let start = self.sent.position(seq);
        let end = start + u64::from(length);
        let repeated = start < self.high;
        if repeated {
            self.stats.retransmissions += 1;
            self.stats.losses += 1;
            let first = self.segments.partition_point(|s| s.end <= start);
            let again = self.segments.iter_mut().skip(first);
            for segment in again.take_while(|s| s.start < end) {
                segment.repeated = true;
            }
        }
        if end > self.high {
            self.segments.push_back(Segment {
                start: start.max(self.high),
                end,
                sent_at: now,
                repeated,
            });
            self.high = end;
        }
        self.stats.requests += 1;
        self.step(state);
        repeated
    }

    /// The sender receives an ACK of everything before number `ack`.
    pub fn on_ack(&mut self, now: Instant, ack: u32, state: &MeterState) {
        // A FIN has a number of its own, but is no data.
        let una = self.acked.position(ack).min(self.high);
        let mut newest = None;
        let mut clean = true;
        while let Some(segment) = self.segments.front().copied()
            && segment.end <= una
        {
            clean &= !segment.repeated;
            newest = Some(segment.sent_at);
            self.segments.pop_front();
        }
        self.una = self.una.max(una);
        let sample = newest.filter(|_| clean).map(|sent_at| now - sent_at);
        if let Some(rtt) = sample {
            self.rtt.update(rtt);
            self.stats.rtt.record(rtt);
            if let Some(srtt) = self.rtt.smoothed() {
                self.stats.srtt.record(srtt);
            }
        }
        self.step(state);
    }

    /// A segment of `length` bytes from number `seq` on reaches the receiver.
    pub fn on_arrival(&mut self, now: Instant, seq: u32, length: u32) {
        let start = self.arrived.position(seq);
        let end = start + u64::from(length);
        self.stats.data += 1;
        if let Some(segment) = self.segment(start)
            && !segment.repeated
        {
            let delay = now - segment.sent_at;
            self.stats.one_way.record(delay);
            self.one_way = Some(OneWay::from_nanos(
                i64::try_from(delay.as_nanos()).unwrap_or(i64::MAX),
            ));
        }
        if !self.insert(start, end) {
            self.stats.duplicates += 1;
        }
    }

    /// The application reads `length` bytes, which are `bytes` if the content is real.
    pub fn on_read(&mut self, length: u64, bytes: &[u8]) {
        if self.content.is_some() {
            let equal = self.content(self.read, bytes.len()) == bytes;
            self.mismatch |= !equal || bytes.len() as u64 != length;
        }
        self.read += length;
    }

    /// The retransmission timer expires.
    pub fn on_timeout(&mut self) {
        self.stats.timeouts += 1;
    }

    /// The window is reduced.
    pub fn on_window_cut(&mut self) {
        self.stats.window_cuts += 1;
    }

    /// Bytes that the application has read.
    pub fn delivered(&self) -> u64 {
        self.read
    }

    /// Whether the application has read everything.
    pub fn is_completed(&self) -> bool {
        self.size.is_some_and(|size| self.read >= size)
    }

    /// Whether everything was read and is what was sent.
    pub fn is_verified(&self) -> bool {
        self.is_completed() && self.content.is_some() && !self.mismatch
    }

    /// What was counted.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// What was watched at each step.
    pub fn flow_mut(&mut self) -> &mut FlowMeter {
        &mut self.flow
    }

    /// What was watched at each step.
    pub fn flow(&self) -> &FlowMeter {
        &self.flow
    }

    /// The present state in the form of a receiver's step: delivered is what the application has
    /// read, "in order" what the sender knows to have arrived.
    pub fn snapshot(&self) -> Step {
        let in_slow_start = (self.state.ssthresh).is_none_or(|s| self.state.window < s);
        Step {
            next_timer: Instant::MAX,
            delivered: Bytes::new(self.read),
            in_order: Bytes::new(self.una),
            window: self.state.window,
            in_flight: self.state.in_flight,
            pacing: self.state.pacing,
            rtt: self.rtt.latest(),
            srtt: self.rtt.smoothed(),
            one_way: self.one_way,
            one_way_zero: OneWay::default(),
            snapshot: Snapshot {
                phase: if self.state.recovering {
                    Phase::Recovery
                } else if in_slow_start {
                    Phase::SlowStart
                } else {
                    Phase::CongestionAvoidance
                },
                ssthresh: self.state.ssthresh,
                ..Snapshot::default()
            },
            completed: self.is_completed(),
            verified: self.is_verified(),
        }
    }

    /// Takes over what the socket says about itself.
    pub fn set_state(&mut self, state: &MeterState) {
        self.state = *state;
    }

    fn step(&mut self, state: &MeterState) {
        self.state = *state;
        let step = self.snapshot();
        self.flow.on_step(&step, &self.stats);
    }

    /// The unacknowledged segment that holds `position`.
    fn segment(&self, position: u64) -> Option<&Segment> {
        let at = self.segments.partition_point(|s| s.end <= position);
        self.segments.get(at).filter(|s| s.start <= position)
    }

    /// Notes that a range has arrived; false if all of it had before.
    fn insert(&mut self, start: u64, end: u64) -> bool {
        let before = self.islands.range(..=start).next_back();
        let known = end <= self.next || before.is_some_and(|(_, &e)| end <= e);
        let (mut start, mut end) = (start, end);
        if let Some((&s, &e)) = before
            && e >= start
        {
            start = s;
            end = end.max(e);
        }
        while let Some((&s, &e)) = self.islands.range(start..=end).next() {
            self.islands.remove(&s);
            end = end.max(e);
        }
        if start <= self.next {
            self.next = self.next.max(end);
        } else {
            self.islands.insert(start, end);
        }
        !known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    const MSS: u32 = 1000;

    fn ms(n: u64) -> Instant {
        Instant::from_millis(n)
    }

    fn sent(m: &mut Meter, at: u64, segment: u32) -> bool {
        let first = 1u32.wrapping_add(segment * MSS);
        m.on_sent(ms(at), first, MSS, &MeterState::default())
    }

    fn ack(m: &mut Meter, at: u64, segments: u32) {
        m.on_ack(ms(at), 1 + segments * MSS, &MeterState::default());
    }

    fn meter() -> Meter {
        let mut m = Meter::new(Some(10 * u64::from(MSS)));
        m.on_open(1);
        m
    }

    #[test]
    fn a_delayed_ack_is_timed_by_its_newest_segment() {
        let mut m = meter();
        sent(&mut m, 0, 0);
        sent(&mut m, 30, 1);
        ack(&mut m, 100, 2);
        assert_eq!(m.stats().rtt.max(), Some(Duration::from_millis(70)));
        assert_eq!(m.snapshot().in_order, Bytes::new(2000));
    }

    #[test]
    fn segments_sent_twice_give_no_sample_and_count_as_losses() {
        let mut m = meter();
        for n in 0..4 {
            assert!(!sent(&mut m, u64::from(n), n));
        }
        assert!(sent(&mut m, 50, 0));
        ack(&mut m, 100, 4);
        let stats = m.stats();
        assert_eq!((stats.rtt.count(), stats.losses), (0, 1));
        assert_eq!(stats.retransmissions, 1);
        // What follows gives samples again.
        sent(&mut m, 110, 4);
        ack(&mut m, 140, 5);
        assert_eq!(m.stats().rtt.mean(), Some(Duration::from_millis(30)));
    }

    #[test]
    fn arrivals_give_one_way_delays_and_tell_duplicates() {
        let mut m = meter();
        for n in 0..5 {
            sent(&mut m, u64::from(n), n);
        }
        let arrive = |m: &mut Meter, at, n: u32| m.on_arrival(ms(at), 1 + n * MSS, MSS);
        arrive(&mut m, 20, 0);
        arrive(&mut m, 22, 2);
        arrive(&mut m, 24, 4);
        arrive(&mut m, 25, 2);
        assert_eq!(m.stats().duplicates, 1);
        sent(&mut m, 30, 1);
        arrive(&mut m, 50, 1);
        arrive(&mut m, 51, 3);
        arrive(&mut m, 52, 3);
        arrive(&mut m, 53, 0);
        assert_eq!((m.stats().duplicates, m.next), (3, 5000));
        assert!(m.islands.is_empty());
        assert_eq!(m.stats().one_way.min(), Some(Duration::from_millis(20)));
    }

    #[test]
    fn content_is_compared_byte_by_byte() {
        for flip in [false, true] {
            let mut m = Meter::new(Some(3000)).with_content(7);
            let mut at = 0;
            for length in [1, 999, 1500, 500] {
                let mut bytes = m.content(at, length).to_vec();
                assert_eq!(bytes.len(), length);
                if flip && at == 1000 {
                    bytes[3] ^= 1;
                }
                m.on_read(length as u64, &bytes);
                at += length as u64;
            }
            assert!(m.is_completed());
            assert_eq!(m.is_verified(), !flip);
        }
    }

    #[test]
    fn a_fin_is_no_data() {
        let mut m = meter();
        sent(&mut m, 0, 0);
        m.on_ack(ms(10), 1 + MSS + 1, &MeterState::default());
        assert_eq!(m.snapshot().in_order, Bytes::new(1000));
    }
}
