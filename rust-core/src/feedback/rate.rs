//! Delivery-rate samples and packet-timed rounds (after draft-cheng-iccrg-delivery-rate-estimation,
//! for a receiver that requests).

use crate::cc::RateSample;
use crate::units::{Bytes, Duration, Instant};

/// What must be remembered of a request to take a sample from its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendState {
    /// When it left.
    pub sent_at: Instant,
    /// When the request left whose answer was the latest at that time: the start of the request
    /// interval.
    pub first_sent_at: Instant,
    /// Total of delivered bytes at that time.
    pub delivered: Bytes,
    /// When that total was reached.
    pub delivered_at: Instant,
    /// Whether it left in an application-limited phase.
    pub app_limited: bool,
}

/// The connection's delivery accounting.
#[derive(Debug, Clone)]
pub struct DeliveryRate {
    delivered: Bytes,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// The phase is application-limited until `delivered` has passed this; zero if it is not.
    app_limited_until: Bytes,
    next_round_delivered: Bytes,
    rounds: u64,
}

impl DeliveryRate {
    /// Nothing delivered yet.
    pub fn new(now: Instant) -> DeliveryRate {
        DeliveryRate {
            delivered: Bytes::ZERO,
            delivered_at: now,
            first_sent_at: now,
            app_limited_until: Bytes::ZERO,
            next_round_delivered: Bytes::ZERO,
            rounds: 0,
        }
    }

    /// Total of delivered bytes.
    pub const fn delivered(&self) -> Bytes {
        self.delivered
    }

    /// Rounds that have ended.
    pub const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// A request leaves: what to remember of it. `in_flight` is what was outstanding before.
    pub fn on_sent(&mut self, now: Instant, in_flight: Bytes) -> SendState {
        if in_flight.is_zero() {
            // An idle spell is no part of any interval.
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        SendState {
            sent_at: now,
            first_sent_at: self.first_sent_at,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            app_limited: !self.app_limited_until.is_zero(),
        }
    }

    /// The receiver has nothing more to request than what is out now.
    pub fn mark_app_limited(&mut self, in_flight: Bytes) {
        self.app_limited_until = (self.delivered + in_flight).max(Bytes::new(1));
    }

    /// A unit of `bytes`, requested in `state`, arrived. Returns its sample, unless its interval is
    /// shorter than `min_rtt` or empty, and whether a round ended with it.
    pub fn on_data(
        &mut self,
        now: Instant,
        bytes: Bytes,
        state: &SendState,
        min_rtt: Option<Duration>,
    ) -> (Option<RateSample>, bool) {
        self.delivered += bytes;
        if !self.app_limited_until.is_zero() && self.delivered > self.app_limited_until {
            self.app_limited_until = Bytes::ZERO;
        }
        let interval = (now - state.delivered_at).max(state.sent_at - state.first_sent_at);
        let valid = !interval.is_zero() && min_rtt.is_none_or(|m| interval >= m);
        let sample = valid.then(|| RateSample {
            rate: (self.delivered - state.delivered) / interval,
            prior_delivered: state.delivered,
            app_limited: state.app_limited,
        });
        self.delivered_at = now;
        self.first_sent_at = self.first_sent_at.max(state.sent_at);
        let round = state.delivered >= self.next_round_delivered;
        if round {
            self.next_round_delivered = self.delivered;
            self.rounds += 1;
        }
        (sample, round)
    }

    /// Outstanding bytes were declared lost: they will not come, so the limited phase ends earlier.
    pub fn on_lost(&mut self, bytes: Bytes) {
        if !self.app_limited_until.is_zero() {
            self.app_limited_until = self
                .app_limited_until
                .saturating_sub(bytes)
                .max(Bytes::new(1));
        }
    }

    /// Bytes arrived for which no request is remembered (a late unit that was declared lost).
    pub fn on_late_data(&mut self, now: Instant, bytes: Bytes) {
        self.delivered += bytes;
        self.delivered_at = now;
    }

    /// The path is another one: intervals and rounds start anew, totals go on.
    pub fn restart(&mut self, now: Instant) {
        self.delivered_at = now;
        self.first_sent_at = now;
        self.app_limited_until = Bytes::ZERO;
        self.next_round_delivered = self.delivered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    const UNIT: Bytes = Bytes::new(1250);

    /// Requests of one unit each millisecond, answered 20 ms later: 10 Mbps.
    #[test]
    fn a_steady_flow_is_measured_at_its_rate() {
        let mut rate = DeliveryRate::new(Instant::ZERO);
        let mut sent = Vec::new();
        let mut in_flight = Bytes::ZERO;
        for ms in 0..100u64 {
            let now = Instant::from_millis(ms);
            if ms >= 20 {
                in_flight -= UNIT;
                let min_rtt = Some(Duration::from_millis(20));
                let (sample, _) = rate.on_data(now, UNIT, &sent[ms as usize - 20], min_rtt);
                if ms >= 40 {
                    assert_eq!(sample.unwrap().rate, Rate::from_mbps(10.0), "at {now}");
                }
            }
            sent.push(rate.on_sent(now, in_flight));
            in_flight += UNIT;
        }
        // First round with the first answer, then one per round trip of 20 ms.
        assert_eq!(rate.rounds(), 4);
    }

    /// A burst of requests in one instant does not make the rate infinite: answers arrive spread.
    #[test]
    fn bursts_do_not_inflate_the_rate() {
        let mut rate = DeliveryRate::new(Instant::ZERO);
        let states: Vec<_> = (0..10u64)
            .map(|i| rate.on_sent(Instant::ZERO, UNIT * i))
            .collect();
        for (i, state) in states.iter().enumerate() {
            let now = Instant::from_millis(20 + i as u64);
            let (sample, _) = rate.on_data(now, UNIT, state, None);
            assert!(sample.unwrap().rate <= Rate::from_mbps(10.0));
        }
    }

    #[test]
    fn samples_of_a_limited_phase_are_marked_until_it_has_passed() {
        let mut rate = DeliveryRate::new(Instant::ZERO);
        let first = rate.on_sent(Instant::ZERO, Bytes::ZERO);
        rate.mark_app_limited(UNIT);
        let second = rate.on_sent(Instant::from_millis(1), UNIT);
        assert!(!first.app_limited && second.app_limited);
        let now = Instant::from_millis(10);
        assert!(!rate.on_data(now, UNIT, &first, None).0.unwrap().app_limited);
        assert!(
            rate.on_data(now, UNIT, &second, None)
                .0
                .unwrap()
                .app_limited
        );
        let third = rate.on_sent(now, UNIT);
        assert!(!third.app_limited);
    }

    #[test]
    fn too_short_intervals_give_no_sample() {
        let mut rate = DeliveryRate::new(Instant::ZERO);
        let state = rate.on_sent(Instant::ZERO, Bytes::ZERO);
        assert_eq!(rate.on_data(Instant::ZERO, UNIT, &state, None).0, None);
        let state = rate.on_sent(Instant::ZERO, Bytes::ZERO);
        let min_rtt = Some(Duration::from_millis(20));
        assert_eq!(
            rate.on_data(Instant::from_millis(5), UNIT, &state, min_rtt)
                .0,
            None
        );
    }

    /// More than 2^32 bytes: nothing wraps (the counters are 64-bit).
    #[test]
    fn rounds_go_on_beyond_four_gigabytes() {
        let mut rate = DeliveryRate::new(Instant::ZERO);
        let big = Bytes::new(1 << 30);
        for i in 0..10 {
            let now = Instant::from_millis(i * 10);
            let state = rate.on_sent(now, Bytes::ZERO);
            let (_, round) = rate.on_data(now + Duration::from_millis(10), big, &state, None);
            assert!(round);
        }
        assert_eq!(rate.rounds(), 10);
    }
}
