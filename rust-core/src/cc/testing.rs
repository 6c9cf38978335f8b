//! A scripted path for unit tests of controllers: requests leave, their DATA comes back in order a
//! round trip later, or is lost.

use super::{
    Controller, Data, Loss, LossCause, LostUnit, Phase, Restart, RestartCause, Sent, Setup,
    SpuriousLoss, Timeout,
};
use crate::units::{Bytes, Duration, Instant};
use std::collections::VecDeque;

/// The size of a packet in these tests.
pub(super) const MSS: Bytes = Setup::PAPER_MSS;

/// Drives a controller; everything outstanding is one packet each.
pub(super) struct Script<C> {
    pub controller: C,
    pub now: Instant,
    pub rtt: Duration,
    pub app_limited: bool,
    pub marked: bool,
    next_pn: u64,
    delivered: Bytes,
    outstanding: VecDeque<LostUnit>,
    next_round: Bytes,
}

impl<C: Controller> Script<C> {
    pub fn new(controller: C) -> Script<C> {
        Script {
            controller,
            now: Instant::from_millis(1000),
            rtt: Duration::from_millis(100),
            app_limited: false,
            marked: false,
            next_pn: 0,
            delivered: Bytes::ZERO,
            outstanding: VecDeque::new(),
            next_round: Bytes::ZERO,
        }
    }

    pub fn cwnd(&self) -> f64 {
        self.controller.allowance().window.as_packets(MSS)
    }

    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    fn in_flight(&self) -> Bytes {
        MSS * self.outstanding.len() as u64
    }

    pub fn wait(&mut self, time: Duration) {
        self.now += time;
    }

    /// Requests `n` packets now.
    pub fn send(&mut self, n: usize) {
        for _ in 0..n {
            let sent = Sent {
                now: self.now,
                pn: self.next_pn,
                bytes: MSS,
                prior_in_flight: self.in_flight(),
                app_limited: self.app_limited,
                probe: false,
            };
            self.outstanding.push_back(LostUnit {
                pn: self.next_pn,
                bytes: MSS,
                sent_at: self.now,
            });
            self.next_pn += 1;
            self.controller.on_sent(&sent);
        }
    }

    /// The oldest outstanding packet arrives.
    pub fn data(&mut self) {
        let unit = self
            .outstanding
            .pop_front()
            .expect("something is outstanding");
        self.arrive(unit);
    }

    /// The newest outstanding packet arrives.
    pub fn data_of_newest(&mut self) {
        let unit = self
            .outstanding
            .pop_back()
            .expect("something is outstanding");
        self.arrive(unit);
    }

    /// `packets` packets arrive at once as the answer to one new request.
    pub fn data_of(&mut self, packets: f64) {
        let unit = LostUnit {
            pn: self.next_pn,
            bytes: Bytes::from_packets(packets, MSS),
            sent_at: self.now.saturating_sub(self.rtt),
        };
        self.next_pn += 1;
        self.arrive(unit);
    }

    fn arrive(&mut self, unit: LostUnit) {
        self.delivered += unit.bytes;
        let round_start = self.delivered > self.next_round;
        if round_start {
            self.next_round = self.delivered + self.in_flight();
        }
        self.controller.on_data(&Data {
            now: self.now,
            pn: unit.pn,
            next_pn: self.next_pn,
            bytes: unit.bytes,
            rtt: Some(self.rtt),
            srtt: Some(self.rtt),
            one_way: None,
            probe: false,
            marked: self.marked,
            prior_in_flight: self.in_flight() + unit.bytes,
            in_flight: self.in_flight(),
            delivered: self.delivered,
            rate: None,
            round_start,
            app_limited: self.app_limited,
        });
    }

    /// A window leaves at once, a round trip passes, its DATA arrives.
    pub fn round(&mut self) {
        self.send(self.cwnd() as usize);
        self.now += self.rtt;
        self.drain();
    }

    /// As [`Script::round`], the arrivals spread evenly over the round trip.
    pub fn paced_round(&mut self) {
        let n = self.cwnd() as usize;
        self.send(n);
        let start = self.now;
        for k in 1..=n {
            self.now = start + self.rtt.mul_f64(k as f64 / n as f64);
            self.data();
        }
    }

    /// All that is outstanding arrives now.
    pub fn drain(&mut self) {
        while !self.outstanding.is_empty() {
            self.data();
        }
    }

    /// Requests a window and loses its first `n` packets.
    pub fn lose(&mut self, n: usize) {
        self.send((self.cwnd() as usize).max(n));
        self.now += self.rtt;
        self.lose_outstanding(n);
    }

    /// The `n` oldest outstanding packets are told lost; their numbers.
    pub fn lose_outstanding(&mut self, n: usize) -> Vec<u64> {
        let units: Vec<LostUnit> = self.outstanding.drain(..n).collect();
        self.controller.on_loss(&Loss {
            now: self.now,
            cause: LossCause::LaterData,
            units: &units,
            next_pn: self.next_pn,
            in_flight: self.in_flight(),
            newly_delivered: MSS,
        });
        units.iter().map(|u| u.pn).collect()
    }

    /// A packet that was told lost arrives.
    pub fn spurious(&mut self, pn: u64) {
        self.controller.on_spurious_loss(&SpuriousLoss {
            now: self.now,
            pn,
            bytes: MSS,
        });
    }

    /// Requests a window, and its timer expires; the numbers of what it lost.
    pub fn timeout(&mut self) -> Vec<u64> {
        self.send(self.cwnd() as usize);
        self.now += Duration::from_secs(1);
        self.expire_outstanding()
    }

    /// The timer expires for all that is outstanding.
    pub fn expire_outstanding(&mut self) -> Vec<u64> {
        let units: Vec<LostUnit> = self.outstanding.drain(..).collect();
        self.controller.on_timeout(&Timeout {
            now: self.now,
            units: &units,
            next_pn: self.next_pn,
            in_flight: Bytes::ZERO,
        });
        units.iter().map(|u| u.pn).collect()
    }

    pub fn restart(&mut self, cause: RestartCause) {
        self.controller.on_restart(&Restart {
            now: self.now,
            cause,
            next_pn: self.next_pn,
        });
    }

    /// Runs `cycles` losses, exactly one per `1/p` packets sent, and returns the mean window per
    /// round trip over the second half of them. Rounds that begin in recovery are left out: the
    /// formulas that this is compared with know of none.
    pub fn mean_window_with_periodic_loss(&mut self, p: f64, cycles: usize) -> f64 {
        let period = (1.0 / p).round() as usize;
        let (mut sent, mut sum, mut rounds) = (0usize, 0.0, 0u64);
        let mut losses = 0;
        while losses < cycles {
            let window = self.cwnd();
            if losses >= cycles / 2 && self.controller.snapshot().phase != Phase::Recovery {
                sum += window;
                rounds += 1;
            }
            // The window's packets spread over the round trip, so that time passes as they arrive.
            let n = window as usize;
            self.send(n);
            let start = self.now;
            for k in 0..n {
                self.now = start + self.rtt.mul_f64((k + 1) as f64 / n as f64);
                sent += 1;
                if sent.is_multiple_of(period) {
                    self.lose_outstanding(1);
                    losses += 1;
                } else {
                    self.data();
                }
            }
        }
        sum / rounds as f64
    }
}
