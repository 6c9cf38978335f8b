//! What is asked for next: windows, quanta, pacing.

use super::super::TxPacket;
use super::Phase;
use super::Receiver;
use crate::cc::Sent;
use crate::units::{Bytes, Duration, Instant, Rate};
use crate::wire::{Kind, MAX_LOST_SEGMENTS, Repr, Segment, Segments, Sum, UNBOUNDED};

/// Why no further request left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// The window, or the pacer, or waiting until a whole quantum may be asked for.
    Window,
    /// Nothing is left to ask for, or the receive buffer is full.
    Application,
}

impl Receiver {
    /// BBR's send quantum: one unit per REQ below this rate, two below [`Self::TWO_UNITS_BELOW`].
    const ONE_UNIT_BELOW: Rate = Rate::from_bps(1_200_000);
    const TWO_UNITS_BELOW: Rate = Rate::from_bps(24_000_000);
    /// Above, a REQ asks for this much time's worth of DATA...
    const QUANTUM: Duration = Duration::from_millis(1);
    /// ... up to this.
    const MAX_QUANTUM: Bytes = Bytes::new(64_000);
    /// A REQ asks for at most this part of the window, so that the window is not one burst.
    const WINDOW_PARTS: u64 = 4;

    /// Sends as many requests as are allowed now.
    pub(super) fn request(&mut self, now: Instant) {
        while self.phase == Phase::Open {
            match self.request_one(now) {
                None => {}
                Some(Limit::Window) => {
                    self.window_limited[0] = true;
                    break;
                }
                Some(Limit::Application) => {
                    self.rate.mark_app_limited(self.in_flight);
                    break;
                }
            }
        }
    }

    /// Sends one request, or says why not.
    fn request_one(&mut self, now: Instant) -> Option<Limit> {
        let mss = self.mss;
        while let Some(s) = self.to_repeat.front() {
            if !self.received.contains(s.offset / mss.get()) {
                break;
            }
            self.to_repeat.pop_front();
        }
        let repeat = !self.to_repeat.is_empty();
        let left = match self.size {
            Some(size) => size - self.next_offset,
            None => UNBOUNDED - self.next_offset,
        };
        if !repeat && left == 0 {
            return Some(Limit::Application);
        }
        let allowance = self.controller.allowance();
        let room = allowance.window.saturating_sub(self.in_flight);
        if room < mss && !self.in_flight.is_zero() {
            return Some(Limit::Window);
        }
        // Missing units are what drains a full buffer, so that they are not subject to it.
        let allowed = if repeat {
            room
        } else {
            room.min(self.free_buffer())
        };
        if allowed < mss && !repeat && allowance.window >= mss {
            return Some(Limit::Application);
        }
        let quantum = self.quantum(allowance.window, allowance.pacing);
        // Rather than asking for each unit by itself as the window opens, wait for a quantum.
        let wanted = if repeat {
            mss
        } else {
            quantum.min(Bytes::new(left))
        };
        if allowed < wanted && !self.in_flight.is_zero() {
            let by_window = room < wanted;
            return Some(if by_window {
                Limit::Window
            } else {
                Limit::Application
            });
        }
        // Last: a request that the buffer would not take is not held back by its pace.
        if self.pacer.next() > now {
            return Some(Limit::Window);
        }
        let budget = allowed.min(quantum).max(mss);
        self.segments.clear();
        if repeat {
            self.collect_repeated(budget);
        } else {
            let units = budget.get() / mss.get();
            self.segments.push(Segment {
                offset: self.next_offset,
                length: (units * mss.get()).min(left) as u32,
            });
            self.next_offset += u64::from(self.segments[0].length);
        }
        self.send_request(now, repeat, allowance.pacing);
        None
    }

    /// Moves lost units worth `budget` from the queue to `self.segments`, adjacent ones joined.
    fn collect_repeated(&mut self, mut budget: Bytes) {
        let mss = self.mss.get();
        while let Some(&s) = self.to_repeat.front() {
            if !self.received.contains(s.offset / mss) {
                let length = Bytes::new(s.length.into());
                let joins = self
                    .segments
                    .last()
                    .is_some_and(|last| last.offset + u64::from(last.length) == s.offset);
                // The main range and as many others as the option holds.
                let fits = joins || self.segments.len() <= MAX_LOST_SEGMENTS;
                if budget < length || !fits {
                    break;
                }
                budget -= length;
                match self.segments.last_mut() {
                    Some(last) if joins => last.length += s.length,
                    _ => self.segments.push(s),
                }
            }
            self.to_repeat.pop_front();
        }
    }

    /// Sends a request for `self.segments`.
    pub(super) fn send_request(
        &mut self,
        now: Instant,
        retransmission: bool,
        pacing: Option<Rate>,
    ) {
        let pn = self.outstanding.next_pn();
        let prior_in_flight = self.in_flight;
        let probe = self.controller.wants_probe(now);
        let nothing_left = self.size.is_some_and(|s| self.next_offset >= s);
        let bytes: Bytes = self
            .segments
            .iter()
            .map(|s| Bytes::new(s.length.into()))
            .sum();
        if nothing_left && self.to_repeat.is_empty() {
            self.rate.mark_app_limited(prior_in_flight + bytes);
        }
        let send = self.rate.on_sent(now, prior_in_flight);
        if prior_in_flight.is_zero() {
            self.progress_at = now;
        }
        self.outstanding.push_request(send, probe);
        let mss = self.mss.get() as u32;
        for s in &self.segments {
            let mut at = 0;
            while at < s.length {
                let n = mss.min(s.length - at);
                self.outstanding
                    .push_unit(s.offset + u64::from(at), n, retransmission);
                self.stats.retransmissions += u64::from(retransmission);
                at += n;
            }
        }
        self.in_flight += bytes;
        self.tail.sent_at = now;
        self.stats.requests += 1;
        self.pacer.on_sent(now, bytes, pacing);
        self.emit(pn, probe);
        self.controller.on_sent(&Sent {
            now,
            pn,
            bytes,
            prior_in_flight,
            app_limited: send.app_limited,
            probe,
        });
    }

    fn emit(&mut self, pn: u64, probe: bool) {
        let (main, others) = self
            .segments
            .split_first()
            .expect("a request asks for something");
        let repr = Repr {
            source: self.config.device,
            destination: self.config.ndc,
            packet_number: pn,
            offset: main.offset,
            length: main.length,
            kind: Kind::Request {
                probe,
                timestamp: self.config.options.timestamps,
                mss: Some(self.config.options.mss_bytes),
                lost: Segments::Slice(others),
            },
        };
        let start = self.output.headers.len() as u32;
        repr.emit(Sum::ZERO, &mut self.output.headers);
        self.output.packets.push(TxPacket {
            header: start..self.output.headers.len() as u32,
            payload_len: 0,
            payload_offset: 0,
            expedited: false,
        });
    }

    /// How much one REQ asks for: whole units, worth a millisecond at the flow's rate. That is what
    /// the window allows per round trip; the pacing rate, where it is lower. (Copa paces at twice
    /// its rate: a quantum by that would be a queue of its own.)
    fn quantum(&self, window: Bytes, pacing: Option<Rate>) -> Bytes {
        let mss = self.mss;
        let most = match self.config.options.quantum_units {
            0 => match (self.rtt.smoothed(), pacing) {
                (None, _) => mss * 2,
                (Some(srtt), pacing) => {
                    let rate = (window / srtt).min(pacing.unwrap_or(Rate::MAX));
                    if rate < Receiver::ONE_UNIT_BELOW {
                        mss
                    } else if rate < Receiver::TWO_UNITS_BELOW {
                        mss * 2
                    } else {
                        (rate * Receiver::QUANTUM).min(Receiver::MAX_QUANTUM)
                    }
                }
            },
            units => mss * u64::from(units),
        };
        let part = Bytes::new(window.get() / Receiver::WINDOW_PARTS);
        mss * (most.min(part).get() / mss.get()).max(1)
    }

    /// Room in the receive buffer for data that has not been requested: the buffer holds what
    /// arrived out of order and must have room for what is outstanding.
    fn free_buffer(&self) -> Bytes {
        match self.config.options.receive_buffer_bytes {
            0 => Bytes::MAX,
            buffer => {
                let taken = Bytes::new(self.next_offset).saturating_sub(self.in_order());
                Bytes::new(buffer).saturating_sub(taken)
            }
        }
    }

    /// Whether only the pacer holds back the next request.
    pub(super) fn may_send_when_paced(&self) -> bool {
        let window = self.controller.allowance().window;
        let something_left = !self.to_repeat.is_empty()
            || self.next_offset < self.size.unwrap_or(UNBOUNDED) && !self.free_buffer().is_zero();
        something_left
            && (window.saturating_sub(self.in_flight) >= self.mss || self.in_flight.is_zero())
    }
}
