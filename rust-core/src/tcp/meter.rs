//! What a run reports of a TCP transfer, from the segments that its two ends send and receive.

use super::Sequence;
use super::truth::{Cause, Needless, Tallies, Truth};
use crate::cc::{Phase, Snapshot};
use crate::feedback::RttEstimator;
use crate::recovery::Verdict;
use crate::trace::FlowMeter;
use crate::transport::{Content, Stats, Step};
use crate::units::{Bytes, Instant, OneWay, Rate};
use std::collections::{BTreeMap, VecDeque};

/// A segment that is not acknowledged, or has been only lately.
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
    /// Number of its first transmission.
    first: u64,
    /// Number of the last one, and of the one before (the same if there was only one).
    last: u64,
    before: u64,
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
    /// Whether it repairs losses after its retransmission timer expired.
    pub timed_out: bool,
}

/// What a transfer over TCP comes to beside [`Stats`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Segments with data that were sent.
    pub sent: u64,
    /// Segments sent again by the sender's judgement: those that begin a recovery, and those
    /// outside of one.
    pub fast_retransmits: u64,
    /// What was sent again without need.
    pub needless: Needless,
    /// How losses and reordering were judged.
    pub tallies: Tallies,
}

/// A reduction of the window that has not shown yet.
#[derive(Debug, Clone, Copy)]
struct Cut {
    /// The window before.
    window: Bytes,
    /// Whether there was no drop by a queue among what was outstanding.
    unnecessary: bool,
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
    truth: Truth,
    /// Whether the sender takes every loss for one by congestion, without saying so.
    standard: bool,
    fast_retransmits: u64,
    /// Whether a segment has been sent again in this recovery.
    has_resent: bool,
    /// How the sender judged what began this recovery.
    episode: Option<Verdict>,
    cut: Option<Cut>,
    /// Duplicate ACKs since the last one for something new, and before that.
    duplicates: u32,
    duplicates_before: u32,
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
            truth: Truth::default(),
            standard: false,
            fast_retransmits: 0,
            has_resent: false,
            episode: None,
            cut: None,
            duplicates: 0,
            duplicates_before: 0,
        }
    }

    /// The sender takes every loss for one by congestion, and tells no verdicts.
    pub fn with_standard_sender(mut self) -> Meter {
        self.standard = true;
        self
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
    /// [`Meter::transmission`] is then the number of this transmission.
    pub fn on_sent(&mut self, now: Instant, seq: u32, length: u32, state: &MeterState) -> bool {
        let start = self.sent.position(seq);
        let end = start + u64::from(length);
        let repeated = start < self.high;
        let number = self.truth.on_sent(now, end, !repeated);
        if repeated {
            self.stats.retransmissions += 1;
            self.stats.losses += 1;
            let first = self.segments.partition_point(|s| s.end <= start);
            if let Some(segment) = self.segments.get(first) {
                let before = segment.last;
                self.on_repeated(start, end, before, state);
            }
            let again = self.segments.iter_mut().skip(first);
            for segment in again.take_while(|s| s.start < end) {
                segment.repeated = true;
                segment.before = segment.last;
                segment.last = number;
            }
        }
        if end > self.high {
            self.segments.push_back(Segment {
                start: start.max(self.high),
                end,
                sent_at: now,
                repeated,
                first: number,
                last: number,
                before: number,
            });
            self.high = end;
        }
        self.stats.requests += 1;
        self.step(state);
        repeated
    }

    /// Number of the last transmission, from 1.
    pub fn transmission(&self) -> u64 {
        self.stats.requests
    }

    /// What is from `start` to `end` is sent again; `before` is its transmission before.
    fn on_repeated(&mut self, start: u64, end: u64, before: u64, state: &MeterState) {
        let begins = state.recovering && !std::mem::replace(&mut self.has_resent, true);
        let cause = if state.timed_out {
            Cause::Timeout
        } else if begins || !state.recovering {
            self.fast_retransmits += 1;
            Cause::Fast
        } else {
            Cause::Recovery
        };
        if !state.recovering && !state.timed_out && state.window < self.state.window {
            // Sent again without a recovery, with a reduction that shows at once.
            self.stats.window_cuts += 1;
            self.stats.unnecessary_window_cuts += u64::from(self.truth.is_uncongested());
        }
        self.truth.on_resent(before, cause, self.has(start, end));
        if self.standard && !state.timed_out {
            self.truth.on_verdict(before, Verdict::Congestion);
        } else if cause == Cause::Recovery
            && let Some(verdict) = self.episode
        {
            self.truth.on_verdict(before, verdict);
        }
    }

    /// The sender receives an ACK of everything before number `ack`. True if it shows that the
    /// window was reduced before.
    pub fn on_ack(&mut self, now: Instant, ack: u32, state: &MeterState) -> bool {
        self.forget(now);
        // A FIN has a number of its own, but is no data.
        let una = self.acked.position(ack).min(self.high);
        let mut newest = None;
        let mut clean = true;
        let first = self.segments.partition_point(|s| s.end <= self.una);
        for segment in self.segments.iter().skip(first) {
            if segment.end > una {
                break;
            }
            clean &= !segment.repeated;
            newest = Some(segment.sent_at);
        }
        if una > self.una {
            self.duplicates_before = std::mem::take(&mut self.duplicates);
        } else if una == self.una && self.high > una {
            self.duplicates += 1;
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
        let cut = self.cut.take().filter(|cut| {
            // The reduction to one segment after a timeout, the threshold's after duplicate ACKs.
            state.window < cut.window || state.ssthresh.is_some_and(|s| s < cut.window)
        });
        if let Some(cut) = cut {
            self.stats.window_cuts += 1;
            self.stats.unnecessary_window_cuts += u64::from(cut.unnecessary);
        }
        self.step(state);
        cut.is_some()
    }

    /// Duplicate ACKs so far for the first missing byte.
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Duplicate ACKs that had come for the segment that a verdict of now speaks of.
    pub fn duplicates_for(&self, verdict: Verdict) -> u32 {
        // A hole that fills does so with an ACK of something new.
        if verdict == Verdict::Reordering && self.duplicates == 0 {
            self.duplicates_before
        } else {
            self.duplicates
        }
    }

    /// Segments that are outstanding.
    pub fn outstanding(&self) -> usize {
        let first = self.segments.partition_point(|s| s.end <= self.una);
        self.segments.len() - first
    }

    /// Lets go of what was acknowledged some time ago.
    fn forget(&mut self, now: Instant) {
        self.truth.on_acked(now, self.una);
        while let Some(segment) = self.segments.front()
            && segment.end <= self.una
            && now > segment.sent_at + Truth::MEMORY
        {
            self.segments.pop_front();
        }
    }

    /// A segment of `length` bytes from number `seq` on reaches the receiver: the transmission
    /// `number`, 0 if that is not known.
    pub fn on_arrival(&mut self, now: Instant, seq: u32, length: u32, number: u64) {
        let start = self.arrived.position(seq);
        let end = start + u64::from(length);
        self.stats.data += 1;
        self.truth.on_arrival(number);
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

    /// A transmission is lost, in a queue or to an error model.
    pub fn on_lost(&mut self, number: u64, in_queue: bool) {
        self.truth.on_lost(number, in_queue);
    }

    /// The sender says why the segment that begins with number `seq` was missing or late. What it
    /// sends again for that has left.
    pub fn on_verdict(&mut self, now: Instant, seq: u32, verdict: Verdict) {
        let Some(segment) = self.segment(self.looked_at(seq)).copied() else {
            return;
        };
        let number = if verdict == Verdict::Reordering {
            segment.first
        } else if self.truth.sent_at(segment.last) == Some(now) {
            segment.before
        } else {
            segment.last
        };
        self.truth.on_verdict(number, verdict);
        if self.state.recovering && verdict != Verdict::Reordering {
            self.episode = Some(verdict);
        }
    }

    /// What has become by now of the segment that begins with number `seq`, which is not
    /// acknowledged: lost by congestion or by chance, or late (if it travels or has arrived).
    pub fn truth(&self, seq: u32) -> Option<Verdict> {
        let segment = self.segment(self.looked_at(seq))?;
        self.truth.of(segment.last)
    }

    /// The position of a number of the sender.
    fn looked_at(&self, seq: u32) -> u64 {
        let mut sent = self.sent;
        sent.position(seq)
    }

    /// The sender's congestion state has changed to `state`; the window and the threshold are those
    /// from before. A reduction shows with the next ACK.
    pub fn on_phase(&mut self, state: &MeterState) {
        self.has_resent = false;
        self.episode = None;
        if state.recovering || state.timed_out {
            self.cut = Some(Cut {
                window: state.window.max(self.state.window),
                unnecessary: self.truth.is_uncongested(),
            });
        }
        self.state.recovering = state.recovering;
        self.state.timed_out = state.timed_out;
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

    /// What was counted beside.
    pub fn counts(&self) -> Counts {
        Counts {
            sent: self.stats.requests,
            fast_retransmits: self.fast_retransmits,
            needless: self.truth.needless(),
            tallies: *self.truth.tallies(),
        }
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

    /// The segment that holds `position`, unless it was acknowledged some time ago.
    fn segment(&self, position: u64) -> Option<&Segment> {
        let at = self.segments.partition_point(|s| s.end <= position);
        self.segments.get(at).filter(|s| s.start <= position)
    }

    /// Whether all of a range has arrived.
    fn has(&self, start: u64, end: u64) -> bool {
        let before = self.islands.range(..=start).next_back();
        end <= self.next || before.is_some_and(|(_, &e)| end <= e)
    }

    /// Notes that a range has arrived; false if all of it had before.
    fn insert(&mut self, start: u64, end: u64) -> bool {
        let known = self.has(start, end);
        let before = self.islands.range(..=start).next_back();
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
mod tests;
