//! What arrives, and what does not: DATA, losses, timeouts.

use super::super::outstanding::Taken;
use super::super::{Datagram, RtoUpdate, RttSamples};
use super::{LastCut, Phase, Receiver};
use crate::cc::{Data, Loss, LossCause, LostUnit, SpuriousLoss, Timeout};
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

    pub(super) fn on_rto(&mut self, now: Instant) {
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
}

fn length(t: &Taken) -> Bytes {
    Bytes::new(t.length.into())
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
