//! What was requested and is neither received nor lost.

use crate::feedback::SendState;
use crate::units::Instant;
use std::collections::VecDeque;

/// What has become of a requested unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outstanding,
    /// Received, lost or given up.
    Done,
}

#[derive(Debug, Clone, Copy)]
struct Unit {
    offset: u64,
    length: u32,
    state: State,
    retransmission: bool,
}

#[derive(Debug, Clone, Copy)]
struct Request {
    send: SendState,
    /// Order of its first unit.
    first: u64,
    units: u32,
    probe: bool,
}

/// A unit that has just left the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    /// Number of its request.
    pub(super) pn: u64,
    /// Its place among all units in order of request: the order key.
    pub(super) order: u64,
    /// Its place in its request.
    pub(super) index: u32,
    /// Where it starts in the NDC.
    pub(super) offset: u64,
    /// Its length.
    pub(super) length: u32,
    /// Whether it had been requested before.
    pub(super) retransmission: bool,
    /// Whether its request bore the priority-probe flag.
    pub(super) probe: bool,
    /// What was remembered when the request left.
    pub(super) send: SendState,
}

/// Requests and their units in order of request.
///
/// Everything is amortised constant time per unit: requests are found by their consecutive numbers,
/// units by their offset in the request, and what is done leaves at the front.
#[derive(Debug, Clone, Default)]
pub(super) struct Outstanding {
    requests: VecDeque<Request>,
    /// Number of the first remembered request.
    front_pn: u64,
    units: VecDeque<Unit>,
    /// Order of the first remembered unit.
    front_order: u64,
    /// Units of a lower order have been examined for loss.
    examined: u64,
}

impl Outstanding {
    /// Number that the next request will bear.
    pub(super) fn next_pn(&self) -> u64 {
        self.front_pn + self.requests.len() as u64
    }

    /// Adds a request; its units follow by [`Outstanding::push_unit`].
    pub(super) fn push_request(&mut self, send: SendState, probe: bool) {
        let first = self.front_order + self.units.len() as u64;
        self.requests.push_back(Request {
            send,
            first,
            units: 0,
            probe,
        });
    }

    /// Adds a unit to the last request.
    pub(super) fn push_unit(&mut self, offset: u64, length: u32, retransmission: bool) {
        if let Some(request) = self.requests.back_mut() {
            request.units += 1;
            self.units.push_back(Unit {
                offset,
                length,
                state: State::Outstanding,
                retransmission,
            });
        }
    }

    /// Takes off the unit of request `pn` that starts at `offset`, if it is outstanding.
    pub(super) fn take(&mut self, pn: u64, offset: u64, mss: u32) -> Option<Taken> {
        let index = usize::try_from(pn.checked_sub(self.front_pn)?).ok()?;
        let request = *self.requests.get(index)?;
        // Units at the front may have left already.
        let skipped = self.front_order.saturating_sub(request.first);
        let start = (request.first + skipped - self.front_order) as usize;
        let count = u64::from(request.units).saturating_sub(skipped) as usize;
        let is_it = |u: &Unit| u.offset == offset && u.state == State::Outstanding;
        // Mostly a request asks for one contiguous range, so that the place can be computed.
        let guess = self
            .units
            .get(start)
            .filter(|_| count > 0)
            .and_then(|first| {
                let at = start
                    + usize::try_from(offset.checked_sub(first.offset)? / u64::from(mss)).ok()?;
                (at < start + count && is_it(&self.units[at])).then_some(at)
            });
        let at = guess.or_else(|| (start..start + count).find(|&at| is_it(&self.units[at])))?;
        let taken = self.taken(index, at);
        self.units[at].state = State::Done;
        self.drop_done();
        Some(taken)
    }

    /// Takes off the outstanding units of an order below `order`, in order, and hands them to
    /// `lost`.
    pub(super) fn take_below(&mut self, order: u64, mut lost: impl FnMut(Taken)) {
        let from = self.examined.max(self.front_order);
        if order <= from {
            return;
        }
        self.take_range(from, order, &mut lost);
        self.examined = order;
        self.drop_done();
    }

    /// Takes off the outstanding units requested at `time` or before, in order, and hands them to
    /// `lost`.
    pub(super) fn take_sent_until(&mut self, time: Instant, mut lost: impl FnMut(Taken)) {
        let until = self.requests.partition_point(|r| r.send.sent_at <= time);
        let end = match self.requests.get(until) {
            Some(request) => request.first,
            None => self.front_order + self.units.len() as u64,
        };
        self.take_range(self.front_order, end, &mut lost);
        self.drop_done();
    }

    /// Takes off the outstanding units that start at `offset` or later.
    pub(super) fn take_from_offset(&mut self, offset: u64, mut gone: impl FnMut(Taken)) {
        for at in 0..self.units.len() {
            let unit = self.units[at];
            if unit.state == State::Outstanding && unit.offset >= offset {
                let request = self.request_of(self.front_order + at as u64);
                gone(self.taken(request, at));
                self.units[at].state = State::Done;
            }
        }
        self.drop_done();
    }

    /// Shortens the outstanding unit that starts at `offset` to `length` and returns by how much in
    /// total (a unit may be outstanding more than once).
    pub(super) fn shorten(&mut self, offset: u64, length: u32) -> u64 {
        let matching = |u: &&mut Unit| {
            u.state == State::Outstanding && u.offset == offset && u.length > length
        };
        self.units.iter_mut().filter(matching).fold(0, |cut, unit| {
            let by = u64::from(unit.length - length);
            unit.length = length;
            cut + by
        })
    }

    /// The last `n` outstanding units, latest first: where they start and how long they are.
    pub(super) fn latest(&self, n: usize) -> impl Iterator<Item = (u64, u32)> + '_ {
        let outstanding = self.units.iter().rev();
        outstanding
            .filter(|u| u.state == State::Outstanding)
            .map(|u| (u.offset, u.length))
            .take(n)
    }

    /// When the oldest outstanding unit was requested.
    pub(super) fn oldest_sent_at(&self) -> Option<Instant> {
        // The front unit is outstanding by `drop_done`, and belongs to the front request.
        self.units
            .front()
            .and(self.requests.front())
            .map(|r| r.send.sent_at)
    }

    /// Forgets all units and gives their memory back; numbers go on.
    pub(super) fn release(&mut self) {
        *self = Outstanding {
            front_pn: self.next_pn(),
            front_order: self.front_order + self.units.len() as u64,
            examined: self.examined,
            ..Outstanding::default()
        };
    }

    /// The sum of all outstanding units, for tests.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> u64 {
        let outstanding = self.units.iter().filter(|u| u.state == State::Outstanding);
        outstanding.map(|u| u64::from(u.length)).sum()
    }

    /// Whether no memory is held, for tests.
    #[cfg(test)]
    pub(super) fn is_released(&self) -> bool {
        self.units.capacity() == 0 && self.requests.capacity() == 0
    }

    /// Units that are remembered, for tests of memory.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.units.len()
    }

    fn take_range(&mut self, from: u64, to: u64, lost: &mut impl FnMut(Taken)) {
        let end = to.min(self.front_order + self.units.len() as u64);
        if from >= end {
            return;
        }
        let mut request = self.request_of(from);
        for order in from..end {
            while self.requests[request].first + u64::from(self.requests[request].units) <= order {
                request += 1;
            }
            let at = (order - self.front_order) as usize;
            if self.units[at].state == State::Outstanding {
                lost(self.taken(request, at));
                self.units[at].state = State::Done;
            }
        }
    }

    /// Index of the request to which the unit of this order belongs.
    fn request_of(&self, order: u64) -> usize {
        self.requests
            .partition_point(|r| r.first + u64::from(r.units) <= order)
    }

    fn taken(&self, request: usize, at: usize) -> Taken {
        let (r, unit) = (&self.requests[request], &self.units[at]);
        let order = self.front_order + at as u64;
        Taken {
            pn: self.front_pn + request as u64,
            order,
            index: (order - r.first) as u32,
            offset: unit.offset,
            length: unit.length,
            retransmission: unit.retransmission,
            probe: r.probe,
            send: r.send,
        }
    }

    /// Forgets what is done at the front: units, then requests without remembered units.
    fn drop_done(&mut self) {
        while self.units.front().is_some_and(|u| u.state == State::Done) {
            self.units.pop_front();
            self.front_order += 1;
        }
        while self
            .requests
            .front()
            .is_some_and(|r| r.first + u64::from(r.units) <= self.front_order)
        {
            self.requests.pop_front();
            self.front_pn += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::DeliveryRate;
    use crate::units::Bytes;

    const MSS: u32 = 1000;

    fn state(ms: u64) -> SendState {
        DeliveryRate::new(Instant::ZERO).on_sent(Instant::from_millis(ms), Bytes::ZERO)
    }

    /// Three requests, of units 0 1 | 2 3 4 | 9 7 (a list of discrete segments).
    fn sample() -> Outstanding {
        let mut o = Outstanding::default();
        for (ms, units) in [(0, &[0, 1][..]), (10, &[2, 3, 4]), (20, &[9, 7])] {
            o.push_request(state(ms), false);
            for &u in units {
                o.push_unit(u * u64::from(MSS), MSS, u > 6);
            }
        }
        o
    }

    #[test]
    fn units_are_found_by_request_and_offset_once() {
        let mut o = sample();
        assert_eq!(o.next_pn(), 3);
        let t = o.take(1, 3000, MSS).unwrap();
        assert_eq!((t.pn, t.order, t.index, t.retransmission), (1, 3, 1, false));
        assert_eq!(o.take(1, 3000, MSS), None, "already taken");
        assert_eq!(o.take(0, 3000, MSS), None, "another request's");
        let t = o.take(2, 7000, MSS).unwrap();
        assert_eq!((t.order, t.index, t.retransmission), (6, 1, true));
        assert_eq!(o.take(7, 0, MSS), None);
        // With the first unit gone, the rest of its request is still found.
        assert!(o.take(0, 0, MSS).is_some());
        assert_eq!(o.take(0, 1000, MSS).unwrap().index, 1);
    }

    #[test]
    fn what_is_done_leaves_at_the_front() {
        let mut o = sample();
        for (pn, unit) in [(0, 1), (0, 0), (1, 2), (1, 3)] {
            assert!(o.take(pn, unit * u64::from(MSS), MSS).is_some());
        }
        assert_eq!(o.remembered(), 3);
        assert_eq!(o.oldest_sent_at(), Some(Instant::from_millis(10)));
        assert_eq!(o.next_pn(), 3);
        assert!(o.take(1, 4000, MSS).is_some());
        assert_eq!(o.oldest_sent_at(), Some(Instant::from_millis(20)));
    }

    #[test]
    fn losses_are_handed_out_once_and_in_order() {
        let mut o = sample();
        o.take(1, 3000, MSS);
        let mut lost = Vec::new();
        o.take_below(4, |t| lost.push((t.pn, t.offset)));
        o.take_below(4, |_| panic!("again"));
        assert_eq!(lost, [(0, 0), (0, 1000), (1, 2000)]);
        lost.clear();
        o.take_sent_until(Instant::from_millis(15), |t| lost.push((t.pn, t.offset)));
        assert_eq!(lost, [(1, 4000)]);
    }

    #[test]
    fn the_end_of_the_content_cuts_off_what_lies_beyond() {
        let mut o = sample();
        let mut gone = 0;
        o.take_from_offset(4000, |_| gone += 1);
        assert_eq!(gone, 3);
        assert_eq!(o.shorten(3000, 400), 600);
        assert_eq!(o.take(1, 3000, MSS).unwrap().length, 400);
    }
}
