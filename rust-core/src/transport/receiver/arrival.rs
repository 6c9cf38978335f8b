//! What arrives, and what does not: DATA, losses, timeouts.

use super::super::outstanding::{Outstanding, Taken};
use super::super::{Datagram, RtoUpdate, RttSamples};
use super::{LastCut, Phase, Receiver};
use crate::cc::{Data, Loss, LossCause, LostUnit, RestartCause, SpuriousLoss, Timeout};
use crate::units::{Bytes, Instant, OneWay};
use crate::wire::{Eid, Kind, Repr, Segment, Sum, UNBOUNDED, verify_checksum};

/// What a DATA packet says besides its range.
struct Arrival {
    mark: bool,
    probe: bool,
    timestamp_ns: Option<i64>,
    in_order: bool,
    prior_in_flight: Bytes,
}

impl Receiver {
    /// Takes in a packet; none if it is not valid or not for this transfer.
    pub(super) fn on_packet(&mut self, now: Instant, datagram: Datagram<'_>) -> Option<()> {
        let repr = Repr::parse(datagram.header).ok()?;
        let Kind::Data {
            mark,
            probe,
            timestamp_ns,
            ndc_size,
            ..
        } = repr.kind
        else {
            return None;
        };
        let sum = if datagram.payload.is_empty() {
            Sum::ZERO
        } else {
            Sum::of(datagram.payload)
        };
        let whole = repr.length == datagram.payload_len
            && (!self.config.verify || datagram.payload.len() == repr.length as usize);
        if !whole || !verify_checksum(datagram.header, sum) {
            return None;
        }
        if repr.source != self.config.ndc || repr.destination != self.config.device {
            self.stats.misdirected += 1;
            return Some(());
        }
        if repr.packet_number >= self.outstanding.next_pn() {
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
        self.note_source(now, pn);
        let bytes = Bytes::new(repr.length.into());
        let in_order = unit == self.received.first_missing();
        let is_new = self.received.insert(unit);
        if is_new {
            self.delivered += bytes;
            self.keep(repr.offset, datagram.payload);
        } else {
            self.stats.duplicates += 1;
        }
        let prior_in_flight = self.in_flight;
        let taken = self
            .outstanding
            .take(pn, repr.offset, self.mss.get() as u32);
        match taken {
            Some(t) => {
                self.in_flight -= length(&t);
                let arrival = Arrival {
                    mark,
                    probe,
                    timestamp_ns,
                    in_order,
                    prior_in_flight,
                };
                self.on_answer(now, &t, &arrival);
            }
            // What its replica still sends after it was left is content, and nothing else.
            None if pn < self.path_pn => self.stats.old_path += 1,
            None => self.on_late_data(now, pn, repr.offset, bytes, is_new),
        }
        self.complete_if_done();
        Some(())
    }

    /// DATA for request `pn` came: finds out whether another source serves.
    fn note_source(&mut self, now: Instant, pn: u64) {
        let Some(source) = self.data_source else {
            return;
        };
        match self.serving {
            Some(serving) if serving == source => self.serving_pn = self.serving_pn.max(pn),
            Some(_) if pn > self.serving_pn => {
                self.serving = Some(source);
                self.serving_pn = pn;
                self.stats.source_changes += 1;
                self.restart(now, RestartCause::ReplicaChanged);
            }
            None if pn >= self.path_pn => {
                let before = self.served_before.take();
                self.stats.source_changes += u64::from(before.is_some_and(|b| b != source));
                self.serving = Some(source);
                self.serving_pn = pn;
            }
            _ => {}
        }
    }

    /// A unit that was outstanding arrived. (Its content may have arrived before, when a unit was
    /// repeated and the first answer was only late; this answer crossed the path all the same.)
    fn on_answer(&mut self, now: Instant, t: &Taken, arrival: &Arrival) {
        self.progress_at = now;
        if t.pn >= self.timeout_pn {
            self.rtt.on_answer(now - t.send.sent_at);
        }
        if !t.probe {
            // Prioritised units overtake others: they prove nothing about those.
            self.later.insert(t.order);
        }
        self.tail.waiting = false;
        let mut below = self.later.lost_below();
        if self.tail.pn == Some(t.pn) {
            // What was outstanding before the tail probe has had more than three round trips.
            below = below.max(t.order - u64::from(t.index));
        }
        self.detect_losses(now, below, length(t));
        self.take_samples(now, t, arrival);
    }

    /// Measures by an answer and tells the controller.
    fn take_samples(&mut self, now: Instant, t: &Taken, arrival: &Arrival) {
        let valid = is_sample(t, self.config.options.rtt_samples);
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
        let one_way = arrival.timestamp_ns.filter(|_| valid).map(|sent| {
            let clock_ns = (now.as_nanos() as i64).wrapping_add(self.clock_error_ns);
            OneWay::between(sent, clock_ns)
        });
        if let Some(one_way) = one_way {
            self.one_way = Some(one_way);
            let error = self.clock_error_ns;
            self.one_way_zero =
                OneWay::from_nanos(error.wrapping_sub(self.config.replica_clock_offset_ns));
            let delay = one_way.saturating_above(self.one_way_zero);
            self.stats.one_way.record(delay);
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

    /// DATA for a request of this path whose unit is no longer outstanding: it had been declared
    /// lost, or it is a copy.
    fn on_late_data(&mut self, now: Instant, pn: u64, offset: u64, bytes: Bytes, is_new: bool) {
        let record = self.declared_lost.take(pn, offset);
        if record.is_none() && !is_new {
            return; // Duplicated on the way.
        }
        self.rate.on_late_data(now, bytes);
        if is_new {
            self.progress_at = now;
        }
        self.stats.spurious_losses += 1;
        if let Some(record) = record {
            if record.expired {
                self.stats.spurious_timeouts += 1;
                // RFC 4015, section 3.2, step 8: the timer learns how slow the path has become.
                if record.is_sample {
                    self.rtt.update(now - record.sent_at);
                }
            }
            let cut = &mut self.last_cut;
            if record.cut == self.stats.window_cuts && pn < cut.below_pn {
                cut.missing -= 1;
                if cut.missing == 0 {
                    self.stats.unnecessary_window_cuts += 1;
                    *cut = LastCut::default();
                }
            }
        }
        self.controller
            .on_spurious_loss(&SpuriousLoss { now, pn, bytes });
    }

    /// Units of an order `below` this are lost, if they are still outstanding.
    fn detect_losses(&mut self, now: Instant, below: u64, newly_delivered: Bytes) {
        self.take_lost(|outstanding, lost| outstanding.take_below(below, lost));
        if self.lost.is_empty() {
            return;
        }
        let window = self.controller.allowance().window;
        self.controller.on_loss(&Loss {
            now,
            cause: LossCause::LaterData,
            units: &self.lost,
            next_pn: self.outstanding.next_pn(),
            in_flight: self.in_flight,
            newly_delivered,
        });
        self.count_cut(window, false);
    }

    /// Takes the units that `take` hands over off as lost: they are to be repeated, and stand in
    /// `self.lost` for the controller.
    fn take_lost(&mut self, take: impl FnOnce(&mut Outstanding, &mut dyn FnMut(Taken))) {
        self.lost.clear();
        let (lost, to_repeat, received) = (&mut self.lost, &mut self.to_repeat, &self.received);
        let (declared, samples) = (&mut self.declared_lost, self.config.options.rtt_samples);
        let mss = self.mss.get();
        take(&mut self.outstanding, &mut |t| {
            lost.push(lost_unit(&t));
            declared.push(&t, is_sample(&t, samples));
            // A repeated unit may be lost while its first copy arrived late.
            if !received.contains(t.offset / mss) {
                to_repeat.push_back(segment(&t));
            }
        });
        let lost_bytes = self.lost.iter().map(|u| u.bytes).sum();
        self.in_flight -= lost_bytes;
        self.rate.on_lost(lost_bytes);
        self.stats.losses += self.lost.len() as u64;
    }

    pub(super) fn on_rto(&mut self, now: Instant) {
        self.stats.timeouts += 1;
        let until = now.saturating_sub(self.rtt.rto());
        self.take_lost(|outstanding, lost| outstanding.take_sent_until(until, lost));
        self.rtt.back_off();
        self.tail.waiting = false;
        self.progress_at = now;
        self.timeout_pn = self.outstanding.next_pn();
        let window = self.controller.allowance().window;
        self.controller.on_timeout(&Timeout {
            now,
            units: &self.lost,
            next_pn: self.timeout_pn,
            in_flight: self.in_flight,
        });
        self.count_cut(window, true);
    }

    /// Counts a reduction from `window`, if there was one, on the losses in `self.lost`; notes of
    /// these to which reduction they belong.
    fn count_cut(&mut self, window: Bytes, timeout: bool) {
        let lost = self.lost.len();
        if self.controller.allowance().window < window {
            self.stats.window_cuts += 1;
            self.last_cut = LastCut {
                below_pn: self.outstanding.next_pn(),
                missing: lost as u64,
            };
        } else {
            let below_pn = self.last_cut.below_pn;
            let covered = self.lost.iter().filter(|u| u.pn < below_pn);
            self.last_cut.missing += covered.count() as u64;
        }
        let cut = self.stats.window_cuts;
        self.declared_lost.describe_last(lost, cut, timeout);
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
        self.verified = self.config.verify && Eid::of_content(&self.content) == self.config.ndc;
        self.release();
    }
}

fn length(t: &Taken) -> Bytes {
    Bytes::new(t.length.into())
}

/// Whether the answer to `t` is a round-trip sample.
fn is_sample(t: &Taken, samples: RttSamples) -> bool {
    t.index == 0 && (!t.retransmission || samples == RttSamples::All)
}

pub(super) fn segment(t: &Taken) -> Segment {
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
