//! The receiver: requests an NDC under a congestion controller until every byte has arrived.

use super::outstanding::{Outstanding, Taken};
use super::pacer::Pacer;
use super::received::ReceivedUnits;
use super::{Datagram, Output, ReceiverConfig, RtoUpdate, RttSamples, Stats, TxPacket};
use crate::cc::{
    Controller, Data, Loss, LossCause, LostUnit, Restart, RestartCause, Sent, Snapshot,
    SpuriousLoss, Timeout,
};
use crate::feedback::{DeliveryRate, LaterArrivals, RttEstimator};
use crate::units::{Bytes, Duration, Instant, OneWay, Rate};
use crate::wire::{
    self, Eid, Kind, MAX_LOST_SEGMENTS, Repr, Segment, Segments, Sum, UNBOUNDED, verify_checksum,
};
use std::collections::VecDeque;

/// Everything that follows from one input besides the packets in [`Receiver::output`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// When [`Receiver::on_timeout`] is due; [`Instant::MAX`] for never.
    pub next_timer: Instant,
    /// Payload bytes that arrived exactly once.
    pub delivered: Bytes,
    /// Bytes from the start of the NDC without a gap.
    pub in_order: Bytes,
    /// Bytes that may be outstanding.
    pub window: Bytes,
    /// Bytes that are outstanding.
    pub in_flight: Bytes,
    /// Pacing rate, if the controller paces.
    pub pacing: Option<Rate>,
    /// The last valid RTT sample.
    pub rtt: Option<Duration>,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// The last valid one-way sample, including the clocks' offset.
    pub one_way: Option<OneWay>,
    /// The controller's inner state.
    pub snapshot: Snapshot,
    /// Whether every byte has arrived.
    pub completed: bool,
    /// Whether the content's hash is the NDC's EID; only ever true with `verify`.
    pub verified: bool,
}

/// Where a transfer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fresh,
    Open,
    Completed,
    Cancelled,
}

/// Why no further request left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// The window, or the pacer, or waiting until a whole quantum may be asked for.
    Window,
    /// Nothing is left to ask for, or the receive buffer is full.
    Application,
}

/// Losses of the last reduction, to tell whether it was necessary.
#[derive(Debug, Clone, Copy, Default)]
struct LastCut {
    /// Requests below this had left when it happened.
    below_pn: u64,
    /// Units lost then that have not arrived late.
    missing: u64,
}

/// A transfer's receiving end.
#[derive(Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    mss: Bytes,
    controller: Box<dyn Controller>,
    phase: Phase,
    verified: bool,

    /// Size of the NDC, once a DATA packet has told it.
    size: Option<u64>,
    /// Where the next new request starts.
    next_offset: u64,
    received: ReceivedUnits,
    /// Lost units in order of their loss; those that arrive late meanwhile are skipped.
    to_repeat: VecDeque<Segment>,
    content: Vec<u8>,

    outstanding: Outstanding,
    in_flight: Bytes,
    later: LaterArrivals,
    /// Requests below this went to another replica or path.
    path_pn: u64,
    /// Requests below this left before the last timeout.
    timeout_pn: u64,
    last_cut: LastCut,

    rtt: RttEstimator,
    rate: DeliveryRate,
    one_way: Option<OneWay>,
    pacer: Pacer,
    /// When new data last arrived.
    progress_at: Instant,
    /// Whether the window was the limit in this round and in the one before.
    window_limited: [bool; 2],
    next_timer: Instant,

    stats: Stats,
    output: Output,
    lost: Vec<LostUnit>,
    segments: Vec<Segment>,
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

    /// A receiver that will fetch `config.ndc` under `controller`.
    pub fn new(
        config: ReceiverConfig,
        controller: Box<dyn Controller>,
    ) -> Result<Receiver, String> {
        config.options.validate()?;
        Ok(Receiver {
            mss: config.options.mss(),
            later: LaterArrivals::new(usize::from(config.options.loss_threshold)),
            rtt: config.options.rtt_estimator(),
            config,
            controller,
            phase: Phase::Fresh,
            verified: false,
            size: None,
            next_offset: 0,
            received: ReceivedUnits::default(),
            to_repeat: VecDeque::new(),
            content: Vec::new(),
            outstanding: Outstanding::default(),
            in_flight: Bytes::ZERO,
            path_pn: 0,
            timeout_pn: 0,
            last_cut: LastCut::default(),
            rate: DeliveryRate::new(Instant::ZERO),
            one_way: None,
            pacer: Pacer::default(),
            progress_at: Instant::ZERO,
            window_limited: [true; 2],
            next_timer: Instant::MAX,
            stats: Stats::default(),
            output: Output::default(),
            lost: Vec::new(),
            segments: Vec::new(),
        })
    }

    /// Starts the transfer. A second call changes nothing.
    pub fn open(&mut self, now: Instant) -> Step {
        self.output.clear();
        if self.phase == Phase::Fresh {
            self.phase = Phase::Open;
            self.progress_at = now;
            self.rate = DeliveryRate::new(now);
            self.request(now);
        }
        self.finish(now)
    }

    /// A packet arrived.
    pub fn on_datagram(&mut self, now: Instant, datagram: Datagram<'_>) -> Step {
        self.output.clear();
        if self.phase == Phase::Open {
            if self.on_packet(now, datagram).is_none() {
                self.stats.malformed += 1;
            }
            self.request(now);
        }
        self.finish(now)
    }

    /// The time that [`Step::next_timer`] asked for has come. Calling earlier does no harm.
    pub fn on_timeout(&mut self, now: Instant) -> Step {
        self.output.clear();
        if self.phase == Phase::Open {
            if self.rto_deadline().is_some_and(|deadline| deadline <= now) {
                self.on_rto(now);
            }
            self.request(now);
        }
        self.finish(now)
    }

    /// Another replica or another path serves the rest: what arrived is kept, what is outstanding
    /// is asked for again, the controller starts over.
    pub fn on_path_change(&mut self, now: Instant, cause: RestartCause) -> Step {
        self.output.clear();
        if self.phase == Phase::Open {
            let to_repeat = &mut self.to_repeat;
            self.outstanding
                .take_sent_until(Instant::MAX, |t| to_repeat.push_back(segment(&t)));
            self.in_flight = Bytes::ZERO;
            self.later.clear();
            self.rtt.restart();
            self.one_way = None;
            self.rate.restart(now);
            self.pacer = Pacer::default();
            self.progress_at = now;
            self.window_limited = [true; 2];
            self.path_pn = self.outstanding.next_pn();
            self.timeout_pn = self.path_pn;
            self.controller.on_restart(&Restart {
                now,
                cause,
                next_pn: self.path_pn,
            });
            self.request(now);
        }
        self.finish(now)
    }

    /// Gives the transfer up: nothing more is requested, what still arrives is ignored.
    pub fn cancel(&mut self, now: Instant) -> Step {
        self.output.clear();
        if matches!(self.phase, Phase::Fresh | Phase::Open) {
            self.phase = Phase::Cancelled;
            self.outstanding.take_sent_until(Instant::MAX, |_| {});
            self.in_flight = Bytes::ZERO;
        }
        self.finish(now)
    }

    /// What to send after the last input.
    pub const fn output(&self) -> &Output {
        &self.output
    }

    /// What has been counted so far.
    pub const fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The controller's inner state.
    pub fn snapshot(&self) -> Snapshot {
        self.controller.snapshot()
    }

    /// The state after the last input.
    pub fn step(&self) -> Step {
        let allowance = self.controller.allowance();
        Step {
            next_timer: self.next_timer,
            delivered: self.rate.delivered(),
            in_order: self.in_order(),
            window: allowance.window,
            in_flight: self.in_flight,
            pacing: allowance.pacing,
            rtt: self.rtt.latest(),
            srtt: self.rtt.smoothed(),
            one_way: self.one_way,
            snapshot: self.controller.snapshot(),
            completed: self.phase == Phase::Completed,
            verified: self.verified,
        }
    }

    /// The NDC's size, once known; none for content without an end.
    pub fn ndc_size(&self) -> Option<Bytes> {
        self.size.filter(|&s| s != UNBOUNDED).map(Bytes::new)
    }

    /// Takes in a packet; none if it is not valid or not for this transfer.
    fn on_packet(&mut self, now: Instant, datagram: Datagram<'_>) -> Option<()> {
        let repr = Repr::parse(datagram.header).ok()?;
        let Kind::Data {
            mark,
            probe,
            timestamp_ns,
            ndc_size,
        } = repr.kind
        else {
            return None;
        };
        let sum = if datagram.payload.is_empty() {
            Sum::ZERO
        } else {
            Sum::of(datagram.payload)
        };
        let ours = repr.source == self.config.ndc
            && repr.destination == self.config.device
            && repr.length == datagram.payload_len
            && (!self.config.verify || datagram.payload.len() == repr.length as usize)
            && repr.packet_number < self.outstanding.next_pn();
        if !ours || !verify_checksum(datagram.header, sum) {
            return None;
        }
        if let Some(size) = ndc_size {
            self.learn_size(size);
        }
        if repr.length == 0 {
            self.stats.data += 1;
            self.complete_if_done();
            return Some(());
        }
        let unit = self.unit_at(repr.offset, repr.length)?;
        self.stats.data += 1;
        self.stats.marks += u64::from(mark);

        let pn = repr.packet_number;
        let prior_in_flight = self.in_flight;
        let taken = self
            .outstanding
            .take(pn, repr.offset, self.mss.get() as u32);
        if let Some(t) = &taken {
            self.in_flight -= length(t);
            if pn >= self.timeout_pn {
                self.rtt.on_answer(now - t.send.sent_at);
            }
            if !t.probe {
                // Prioritised units overtake others: they prove nothing about those.
                self.later.insert(t.order);
            }
        }
        let in_order = unit == self.received.first_missing();
        let is_new = self.received.insert(unit);
        if is_new {
            self.progress_at = now;
            self.keep(repr.offset, datagram.payload);
        } else {
            self.stats.duplicates += 1;
        }
        self.detect_losses(
            now,
            if is_new {
                Bytes::new(repr.length.into())
            } else {
                Bytes::ZERO
            },
        );
        match taken {
            Some(t) if is_new => {
                let arrival = Arrival {
                    mark,
                    probe,
                    timestamp_ns,
                    in_order,
                    prior_in_flight,
                };
                self.on_new_data(now, &t, &arrival);
            }
            None if is_new => self.on_late_data(now, pn, Bytes::new(repr.length.into())),
            _ => {}
        }
        self.complete_if_done();
        Some(())
    }

    /// A unit that was outstanding arrived for the first time.
    fn on_new_data(&mut self, now: Instant, t: &Taken, arrival: &Arrival) {
        let valid = t.index == 0
            && (!t.retransmission || self.config.options.rtt_samples == RttSamples::All);
        let rtt = valid.then(|| now - t.send.sent_at);
        if let Some(rtt) = rtt {
            self.stats.rtt.record(rtt);
            if self.config.options.rto_update == RtoUpdate::All || arrival.in_order {
                self.rtt.update(rtt);
            }
            if let Some(srtt) = self.rtt.smoothed() {
                self.stats.srtt.record(srtt);
            }
        }
        let one_way = arrival
            .timestamp_ns
            .filter(|_| valid)
            .map(|sent| OneWay::between(sent, now.as_nanos() as i64));
        if let Some(one_way) = one_way {
            self.one_way = Some(one_way);
            let zero = OneWay::from_nanos(self.config.replica_clock_offset_ns.saturating_neg());
            self.stats.one_way.record(one_way.saturating_above(zero));
        }
        let bytes = length(t);
        let (rate, round_start) = self.rate.on_data(now, bytes, &t.send, self.rtt.min());
        let app_limited = !self.window_limited.contains(&true);
        if round_start {
            self.window_limited = [false, self.window_limited[0]];
        }
        let window = self.controller.allowance().window;
        self.controller.on_data(&Data {
            now,
            pn: t.pn,
            next_pn: self.outstanding.next_pn(),
            bytes,
            rtt,
            srtt: self.rtt.smoothed(),
            one_way,
            probe: arrival.probe,
            marked: arrival.mark,
            prior_in_flight: arrival.prior_in_flight,
            in_flight: self.in_flight,
            delivered: self.rate.delivered(),
            rate,
            round_start,
            app_limited,
        });
        if arrival.mark && self.controller.allowance().window < window {
            self.stats.window_cuts += 1;
        }
    }

    /// A unit that is no longer outstanding arrived for the first time.
    fn on_late_data(&mut self, now: Instant, pn: u64, bytes: Bytes) {
        self.rate.on_late_data(now, bytes);
        if pn < self.path_pn {
            return; // It was not lost: its replica was left.
        }
        self.stats.spurious_losses += 1;
        if pn < self.last_cut.below_pn && self.last_cut.missing > 0 {
            self.last_cut.missing -= 1;
            if self.last_cut.missing == 0 {
                self.stats.unnecessary_window_cuts += 1;
            }
        }
        self.controller
            .on_spurious_loss(&SpuriousLoss { now, pn, bytes });
    }

    fn detect_losses(&mut self, now: Instant, newly_delivered: Bytes) {
        let below = self.later.lost_below();
        self.lost.clear();
        let (lost, to_repeat, received) = (&mut self.lost, &mut self.to_repeat, &self.received);
        let mss = self.mss.get();
        self.outstanding.take_below(below, |t| {
            lost.push(lost_unit(&t));
            // A repeated unit may be lost while its first copy arrived late.
            if !received.contains(t.offset / mss) {
                to_repeat.push_back(segment(&t));
            }
        });
        if self.lost.is_empty() {
            return;
        }
        let lost_bytes = self.lost.iter().map(|u| u.bytes).sum();
        self.in_flight -= lost_bytes;
        self.rate.on_lost(lost_bytes);
        self.stats.losses += self.lost.len() as u64;
        let window = self.controller.allowance().window;
        self.controller.on_loss(&Loss {
            now,
            cause: LossCause::LaterData,
            units: &self.lost,
            next_pn: self.outstanding.next_pn(),
            in_flight: self.in_flight,
            newly_delivered,
        });
        self.count_cut(window);
    }

    fn on_rto(&mut self, now: Instant) {
        self.stats.timeouts += 1;
        self.lost.clear();
        let (lost, to_repeat, received) = (&mut self.lost, &mut self.to_repeat, &self.received);
        let mss = self.mss.get();
        self.outstanding
            .take_sent_until(now.saturating_sub(self.rtt.rto()), |t| {
                lost.push(lost_unit(&t));
                if !received.contains(t.offset / mss) {
                    to_repeat.push_back(segment(&t));
                }
            });
        let lost_bytes = self.lost.iter().map(|u| u.bytes).sum();
        self.in_flight -= lost_bytes;
        self.rate.on_lost(lost_bytes);
        self.stats.losses += self.lost.len() as u64;
        self.rtt.back_off();
        self.progress_at = now;
        self.timeout_pn = self.outstanding.next_pn();
        let window = self.controller.allowance().window;
        self.controller.on_timeout(&Timeout {
            now,
            units: &self.lost,
            next_pn: self.timeout_pn,
            in_flight: self.in_flight,
        });
        self.count_cut(window);
    }

    /// Counts a reduction from `window`, if there was one, on the losses in `self.lost`.
    fn count_cut(&mut self, window: Bytes) {
        if self.controller.allowance().window < window {
            self.stats.window_cuts += 1;
            let below_pn = self.outstanding.next_pn();
            self.last_cut = LastCut {
                below_pn,
                missing: self.lost.len() as u64,
            };
        }
    }

    /// The number of the unit at `offset`, if a unit of `length` bytes stands there.
    fn unit_at(&self, offset: u64, length: u32) -> Option<u64> {
        let mss = self.mss.get();
        let end = self.size.unwrap_or(UNBOUNDED);
        let whole = mss.min(end.saturating_sub(offset));
        // Only what was requested: an offset out of nowhere must not stretch the bitmap.
        let requested = offset < self.next_offset;
        (requested && offset.is_multiple_of(mss) && u64::from(length) == whole)
            .then_some(offset / mss)
    }

    fn learn_size(&mut self, size: u64) {
        if self.size.is_some() {
            return;
        }
        self.size = Some(size);
        if size == UNBOUNDED {
            return;
        }
        // The first window was requested without knowing where the NDC ends.
        let gone = &mut self.in_flight;
        self.outstanding
            .take_from_offset(size, |t| *gone -= length(&t));
        self.to_repeat.retain(|s| s.offset < size);
        let mss = self.mss.get();
        if !size.is_multiple_of(mss) {
            let last = size - size % mss;
            let rest = (size % mss) as u32;
            self.in_flight -= Bytes::new(self.outstanding.shorten(last, rest));
            self.to_repeat
                .iter_mut()
                .filter(|s| s.offset == last)
                .for_each(|s| s.length = rest);
        }
        self.next_offset = self.next_offset.min(size);
    }

    fn keep(&mut self, offset: u64, payload: &[u8]) {
        if self.config.verify {
            let end = offset as usize + payload.len();
            if self.content.len() < end {
                self.content.resize(end, 0);
            }
            self.content[offset as usize..end].copy_from_slice(payload);
        }
    }

    fn complete_if_done(&mut self) {
        let Some(size) = self.size else { return };
        if size == UNBOUNDED || self.received.first_missing() < size.div_ceil(self.mss.get()) {
            return;
        }
        self.phase = Phase::Completed;
        self.outstanding.take_sent_until(Instant::MAX, |_| {});
        self.in_flight = Bytes::ZERO;
        self.verified = self.config.verify && Eid::of_content(&self.content) == self.config.ndc;
    }

    fn in_order(&self) -> Bytes {
        let units = self.received.first_missing().saturating_mul(self.mss.get());
        Bytes::new(units.min(self.size.unwrap_or(UNBOUNDED)))
    }

    /// Sends as many requests as are allowed now.
    fn request(&mut self, now: Instant) {
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
    fn send_request(&mut self, now: Instant, retransmission: bool, pacing: Option<Rate>) {
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
        repr.emit(wire::Sum::ZERO, &mut self.output.headers);
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

    fn rto_deadline(&self) -> Option<Instant> {
        let oldest = self.outstanding.oldest_sent_at()?;
        Some(oldest.max(self.progress_at) + self.rtt.rto())
    }

    /// The common end of every input.
    fn finish(&mut self, now: Instant) -> Step {
        self.next_timer = match self.phase {
            Phase::Open => {
                let rto = self.rto_deadline().unwrap_or(Instant::MAX);
                let paced = self.pacer.next();
                let wants_to_send = paced > now && self.may_send_when_paced();
                if wants_to_send { rto.min(paced) } else { rto }
            }
            _ => Instant::MAX,
        };
        self.step()
    }

    /// Whether only the pacer holds back the next request.
    fn may_send_when_paced(&self) -> bool {
        let window = self.controller.allowance().window;
        let something_left = !self.to_repeat.is_empty()
            || self.next_offset < self.size.unwrap_or(UNBOUNDED) && !self.free_buffer().is_zero();
        something_left
            && (window.saturating_sub(self.in_flight) >= self.mss || self.in_flight.is_zero())
    }
}

/// What a DATA packet says besides its range.
struct Arrival {
    mark: bool,
    probe: bool,
    timestamp_ns: Option<i64>,
    in_order: bool,
    prior_in_flight: Bytes,
}

fn length(t: &Taken) -> Bytes {
    Bytes::new(t.length.into())
}

fn segment(t: &Taken) -> Segment {
    Segment {
        offset: t.offset,
        length: t.length,
    }
}

fn lost_unit(t: &Taken) -> LostUnit {
    LostUnit {
        pn: t.pn,
        bytes: length(t),
        sent_at: t.send.sent_at,
    }
}
