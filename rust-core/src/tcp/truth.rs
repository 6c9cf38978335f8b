//! What became of each segment that a TCP sender sent, and how the sender judged it.
//!
//! Each transmission has a number. What happens to it is told from outside: a queue or an error
//! model takes it, or it arrives. A transmission that was lost, and the first transmission of a
//! segment that arrives after one that left later, is an *event*, which the sender has or has not
//! judged rightly (the NCE paper, equation (10) and "Accuracy of TCP NCE").

use crate::recovery::Verdict;
use crate::units::{Duration, Instant};
use std::collections::VecDeque;

/// How events of one kind were judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Events of this kind.
    pub total: u64,
    /// Of these, events that were judged as what they were.
    pub exact: u64,
    /// Of these, events without any judgement.
    pub missed: u64,
}

impl Tally {
    /// Adds those of another flow.
    pub fn add(&mut self, other: &Tally) {
        self.total += other.total;
        self.exact += other.exact;
        self.missed += other.missed;
    }
}

/// How the events of a flow were judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tallies {
    /// Segments that a queue dropped.
    pub congestion: Tally,
    /// Segments that an error model took.
    pub random: Tally,
    /// Segments that arrived late at their first transmission.
    pub reordering: Tally,
    /// The last two together; exact is here whatever was called no congestion (equation (10)).
    pub non_congestion: Tally,
}

impl Tallies {
    /// Adds those of another flow.
    pub fn add(&mut self, other: &Tallies) {
        self.congestion.add(&other.congestion);
        self.random.add(&other.random);
        self.reordering.add(&other.reordering);
        self.non_congestion.add(&other.non_congestion);
    }

    /// Calls `change` with each tally that counts events of that kind, and with whether `verdict` is
    /// right there.
    fn each(
        &mut self,
        kind: Verdict,
        verdict: Option<Verdict>,
        change: impl Fn(&mut Tally, Option<bool>),
    ) {
        let own = match kind {
            Verdict::Congestion => &mut self.congestion,
            Verdict::RandomLoss => &mut self.random,
            Verdict::Reordering => &mut self.reordering,
        };
        change(own, verdict.map(|v| v == kind));
        if kind != Verdict::Congestion {
            let right = verdict.map(|v| v != Verdict::Congestion);
            change(&mut self.non_congestion, right);
        }
    }

    fn count(&mut self, kind: Verdict, verdict: Option<Verdict>) {
        self.each(kind, verdict, |tally, right| {
            tally.total += 1;
            tally.exact += u64::from(right == Some(true));
            tally.missed += u64::from(right.is_none());
        });
    }

    fn uncount(&mut self, kind: Verdict, verdict: Option<Verdict>) {
        self.each(kind, verdict, |tally, right| {
            tally.total -= 1;
            tally.exact -= u64::from(right == Some(true));
            tally.missed -= u64::from(right.is_none());
        });
    }
}

/// Why a segment was sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// By the sender's judgement, as duplicate ACKs or its own timer had it.
    Fast,
    /// In a recovery, after the segment that began it.
    Recovery,
    /// After the retransmission timer had expired.
    Timeout,
}

/// Segments that were sent again though that was not needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needless {
    /// All of them.
    pub all: u64,
    /// Those with fast retransmissions as their cause.
    pub fast: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It travels.
    Pending,
    /// It has arrived.
    Arrived,
    /// It has come to something that counts.
    Event(Verdict),
}

#[derive(Debug, Clone, Copy)]
struct Transmission {
    end: u64,
    sent_at: Instant,
    /// Whether nothing of it had been sent before.
    first: bool,
    fate: Fate,
    verdict: Option<Verdict>,
    /// Why the segment was sent again while this transmission travelled.
    resent: Option<Cause>,
}

/// The transmissions of one flow.
#[derive(Debug, Clone, Default)]
pub struct Truth {
    /// Those that may still matter, by number.
    live: VecDeque<Transmission>,
    /// How many are no longer among them.
    forgotten: u64,
    /// The latest that has arrived.
    latest: u64,
    /// What is acknowledged.
    una: u64,
    /// The last end of a segment that a queue has dropped.
    dropped: u64,
    tallies: Tallies,
    needless: Needless,
}

impl Truth {
    /// How long a transmission is remembered after it left, acknowledged or not: a receiver's notice
    /// of a duplicate comes a round trip after the segment was acknowledged.
    pub const MEMORY: Duration = Duration::from_secs(4);
    /// When one that neither arrived nor was lost is given up (RFC 9293: the maximum segment
    /// lifetime).
    const LIFETIME: Duration = Duration::from_secs(120);

    /// A segment that ends at `end` leaves, `first` if nothing of it was sent before. Returns the
    /// transmission's number, from 1.
    pub fn on_sent(&mut self, now: Instant, end: u64, first: bool) -> u64 {
        self.live.push_back(Transmission {
            end,
            sent_at: now,
            first,
            fate: Fate::Pending,
            verdict: None,
            resent: None,
        });
        self.forgotten + self.live.len() as u64
    }

    /// The segment of transmission `before` is sent again. `arrived`: all of it had arrived.
    pub fn on_resent(&mut self, before: u64, cause: Cause, arrived: bool) {
        if arrived {
            self.needless.add(cause);
        } else if let Some(t) = self.get_mut(before)
            && t.fate == Fate::Pending
        {
            t.resent = Some(cause);
        }
    }

    /// A transmission is lost: in a queue, or to an error model.
    pub fn on_lost(&mut self, number: u64, in_queue: bool) {
        let kind = if in_queue {
            Verdict::Congestion
        } else {
            Verdict::RandomLoss
        };
        let Some(t) = self.get_mut(number).filter(|t| t.fate == Fate::Pending) else {
            return;
        };
        t.fate = Fate::Event(kind);
        let (end, verdict) = (t.end, t.verdict);
        self.tallies.count(kind, verdict);
        if in_queue {
            self.dropped = self.dropped.max(end);
        }
    }

    /// A transmission arrives.
    pub fn on_arrival(&mut self, number: u64) {
        let late = number < self.latest;
        self.latest = self.latest.max(number);
        let Some(t) = self.get_mut(number).filter(|t| t.fate == Fate::Pending) else {
            return;
        };
        let verdict = t.verdict;
        let resent = t.resent;
        let is_event = late && t.first;
        t.fate = if is_event {
            Fate::Event(Verdict::Reordering)
        } else {
            Fate::Arrived
        };
        if is_event {
            self.tallies.count(Verdict::Reordering, verdict);
        }
        if let Some(cause) = resent {
            self.needless.add(cause);
        }
    }

    /// The sender judges a transmission; what it says last counts.
    pub fn on_verdict(&mut self, number: u64, verdict: Verdict) {
        let Some(t) = self.get_mut(number) else {
            return;
        };
        let before = t.verdict.replace(verdict);
        if let Fate::Event(kind) = t.fate {
            self.tallies.uncount(kind, before);
            self.tallies.count(kind, Some(verdict));
        }
    }

    /// Everything before `una` is acknowledged.
    pub fn on_acked(&mut self, now: Instant, una: u64) {
        self.una = una;
        while let Some(t) = self.live.front()
            && now > t.sent_at + Truth::MEMORY
            && t.end <= una
            && (t.fate != Fate::Pending || now > t.sent_at + Truth::LIFETIME)
        {
            self.live.pop_front();
            self.forgotten += 1;
        }
    }

    /// What a sender that lacks an ACK of this transmission would have to say of it by now: late, if
    /// it travels or has arrived.
    pub fn of(&self, number: u64) -> Option<Verdict> {
        self.get(number).map(|t| match t.fate {
            Fate::Pending | Fate::Arrived => Verdict::Reordering,
            Fate::Event(kind) => kind,
        })
    }

    /// When a transmission left, if it is remembered.
    pub fn sent_at(&self, number: u64) -> Option<Instant> {
        self.get(number).map(|t| t.sent_at)
    }

    /// Whether nothing that is not acknowledged was dropped by a queue.
    pub fn is_uncongested(&self) -> bool {
        self.dropped <= self.una
    }

    /// How the events were judged so far.
    pub fn tallies(&self) -> &Tallies {
        &self.tallies
    }

    /// What was sent again without need so far.
    pub fn needless(&self) -> Needless {
        self.needless
    }

    fn get(&self, number: u64) -> Option<&Transmission> {
        let at = number.checked_sub(self.forgotten + 1)?;
        self.live.get(usize::try_from(at).ok()?)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Transmission> {
        let at = number.checked_sub(self.forgotten + 1)?;
        self.live.get_mut(usize::try_from(at).ok()?)
    }
}

impl Needless {
    fn add(&mut self, cause: Cause) {
        self.all += 1;
        self.fast += u64::from(cause == Cause::Fast);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_millis(n)
    }

    /// Segments of 100 bytes, all sent at once.
    fn sent(n: u64) -> Truth {
        let mut t = Truth::default();
        for i in 1..=n {
            assert_eq!(t.on_sent(ms(0), 100 * i, true), i);
        }
        t
    }

    fn tally(total: u64, exact: u64, missed: u64) -> Tally {
        Tally {
            total,
            exact,
            missed,
        }
    }

    #[test]
    fn each_loss_counts_as_what_it_was_and_whether_that_was_seen() {
        let mut t = sent(6);
        t.on_lost(1, true);
        t.on_lost(2, false);
        t.on_lost(3, false);
        t.on_lost(4, true);
        t.on_verdict(1, Verdict::Congestion);
        t.on_verdict(2, Verdict::RandomLoss);
        t.on_verdict(3, Verdict::Congestion);
        let all = t.tallies();
        assert_eq!(all.congestion, tally(2, 1, 1));
        assert_eq!(all.random, tally(2, 1, 0));
        assert_eq!(all.reordering, tally(0, 0, 0));
        assert_eq!(all.non_congestion, tally(2, 1, 0));
        // What is lost is lost once.
        t.on_lost(1, false);
        t.on_arrival(1);
        assert_eq!(t.tallies().random.total, 2);
    }

    #[test]
    fn a_verdict_may_come_before_the_event_and_be_taken_back() {
        let mut t = sent(4);
        t.on_verdict(1, Verdict::Congestion);
        for n in [2, 3, 4, 1] {
            t.on_arrival(n);
        }
        assert_eq!(t.tallies().reordering, tally(1, 0, 0));
        assert_eq!(t.tallies().non_congestion, tally(1, 0, 0));
        t.on_verdict(1, Verdict::RandomLoss);
        assert_eq!(t.tallies().reordering, tally(1, 0, 0));
        assert_eq!(t.tallies().non_congestion, tally(1, 1, 0));
        t.on_verdict(1, Verdict::Reordering);
        assert_eq!(t.tallies().reordering, tally(1, 1, 0));
    }

    #[test]
    fn only_what_leaves_for_the_first_time_can_be_reordered() {
        let mut t = sent(3);
        assert_eq!(t.on_sent(ms(1), 100, false), 4);
        assert_eq!(t.on_sent(ms(2), 400, true), 5);
        for n in [2, 5, 3, 4, 1] {
            t.on_arrival(n);
        }
        // 3 and 1; 4 is a retransmission.
        assert_eq!(t.tallies().reordering, tally(2, 0, 2));
    }

    #[test]
    fn a_retransmission_is_needless_if_what_it_repeats_was_not_lost() {
        let mut t = sent(4);
        t.on_lost(1, false);
        t.on_resent(1, Cause::Fast, false); // Needed.
        t.on_resent(2, Cause::Fast, false); // Its original still comes.
        t.on_resent(3, Cause::Timeout, true); // Everything was there.
        t.on_resent(4, Cause::Recovery, false); // The original is lost afterwards.
        t.on_lost(4, true);
        t.on_arrival(2);
        assert_eq!(t.needless(), Needless { all: 2, fast: 1 });
    }

    #[test]
    fn the_truth_is_known_by_transmission() {
        let mut t = sent(4);
        t.on_lost(1, true);
        t.on_lost(2, false);
        t.on_arrival(3);
        assert_eq!(t.of(1), Some(Verdict::Congestion));
        assert_eq!(t.of(2), Some(Verdict::RandomLoss));
        assert_eq!(t.of(3), Some(Verdict::Reordering));
        assert_eq!(t.of(4), Some(Verdict::Reordering));
        assert_eq!((t.of(0), t.of(5)), (None, None));
    }

    #[test]
    fn a_drop_is_congestion_until_it_is_acknowledged() {
        let mut t = sent(4);
        assert!(t.is_uncongested());
        t.on_lost(2, true);
        t.on_acked(ms(1), 100);
        assert!(!t.is_uncongested());
        t.on_acked(ms(1), 200);
        assert!(t.is_uncongested());
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let mut t = sent(3);
        t.on_arrival(1);
        t.on_arrival(3);
        t.on_acked(ms(100), 300);
        assert_eq!(t.live.len(), 3, "a notice may still come");
        t.on_acked(ms(4001), 300);
        assert_eq!((t.live.len(), t.of(1), t.of(3).is_some()), (2, None, true));
        // Nothing was heard of 2.
        t.on_acked(ms(120_001), 300);
        assert!(t.live.is_empty());
        assert_eq!(t.on_sent(ms(120_002), 400, true), 4);
        t.on_lost(4, false);
        assert_eq!(t.tallies().random.total, 1);
    }
}
