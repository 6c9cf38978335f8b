//! A unidirectional link: a queue of two bands in front of a transmitter, then a delay line with
//! its troubles.

use crate::prng::Prng;
use crate::record::LinkRun;
use crate::spec::Buffer;
use ferrocc::units::{Bytes, Duration, Instant, Rate};
use std::collections::VecDeque;

/// What a link does. Troubles happen behind the transmitter, as on a radio link: what is lost has
/// taken its time on the link.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkSpec {
    /// The transmitter's rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Most that may wait in each band, the packet that is being sent not counted.
    pub buffer: Buffer,
    /// Whether expedited packets are served first.
    pub priority: bool,
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// Probability that a packet is held up, so that later ones overtake it.
    pub reorder: f64,
    /// For how long it is held up.
    pub reorder_delay: Duration,
    /// Every packet is delayed by a uniform draw up to this; the order is kept.
    pub jitter: Duration,
}

impl LinkSpec {
    /// A link without troubles.
    pub fn new(rate: Rate, delay: Duration, buffer: Buffer) -> LinkSpec {
        LinkSpec {
            rate,
            delay,
            buffer,
            priority: true,
            loss: 0.0,
            duplicate: 0.0,
            reorder: 0.0,
            reorder_delay: Duration::ZERO,
            jitter: Duration::ZERO,
        }
    }
}

/// What a link needs to know of what it carries.
pub trait Carried {
    /// Bytes on the wire.
    fn size(&self) -> Bytes;
    /// Whether it goes into the first band.
    fn expedited(&self) -> bool;
}

/// Where a packet goes from the transmitter: nowhere, or to the other end at these times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fate {
    pub arrival: Option<Instant>,
    pub second_arrival: Option<Instant>,
}

/// A link at work.
#[derive(Debug)]
pub struct Link<P> {
    pub spec: LinkSpec,
    /// Limits in bytes and packets, resolved from the buffer.
    limit: Limit,
    bands: [Band<P>; 2],
    sending: Option<P>,
    last_arrival: Instant,
    pub run: LinkRun,
}

#[derive(Debug)]
struct Band<P> {
    queue: VecDeque<P>,
    bytes: Bytes,
}

/// How much may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Packets(u64),
    Bytes(Bytes),
}

impl<P: Carried> Link<P> {
    pub fn new(spec: LinkSpec, limit: Limit) -> Link<P> {
        let band = || Band {
            queue: VecDeque::new(),
            bytes: Bytes::ZERO,
        };
        Link {
            spec,
            limit,
            bands: [band(), band()],
            sending: None,
            last_arrival: Instant::ZERO,
            run: LinkRun::default(),
        }
    }

    /// A packet arrives at the queue. If the transmitter was idle, when it will have sent it.
    #[must_use]
    pub fn enqueue(&mut self, now: Instant, packet: P) -> Option<Instant> {
        self.run.arrivals += 1;
        if self.sending.is_none() {
            return Some(self.send(now, packet));
        }
        let band = &mut self.bands[usize::from(!(packet.expedited() && self.spec.priority))];
        let full = match self.limit {
            Limit::Packets(n) => band.queue.len() as u64 >= n,
            Limit::Bytes(n) => band.bytes + packet.size() > n,
        };
        if full {
            self.run.drops += 1;
            return None;
        }
        band.bytes += packet.size();
        band.queue.push_back(packet);
        self.note_queue(now);
        None
    }

    /// The transmitter has sent its packet: that packet, and when the next one will have been sent.
    #[must_use]
    pub fn sent(&mut self, now: Instant) -> (P, Option<Instant>) {
        let sent = self.sending.take().expect("the transmitter was busy");
        let next = self.bands.iter_mut().find_map(|band| {
            let packet = band.queue.pop_front()?;
            band.bytes -= packet.size();
            Some(packet)
        });
        let done = next.map(|packet| self.send(now, packet));
        self.note_queue(now);
        (sent, done)
    }

    /// What becomes of a packet that has just been sent.
    pub fn fate(&mut self, now: Instant, prng: &mut Prng) -> Fate {
        let spec = &self.spec;
        if prng.chance(spec.loss) {
            self.run.losses += 1;
            return Fate {
                arrival: None,
                second_arrival: None,
            };
        }
        let mut arrival = now + spec.delay;
        if !spec.jitter.is_zero() {
            arrival += spec.jitter.mul_f64(prng.uniform());
        }
        if prng.chance(spec.reorder) {
            self.run.held_up += 1;
            arrival += spec.reorder_delay;
        } else {
            arrival = arrival.max(self.last_arrival);
            self.last_arrival = arrival;
        }
        let second_arrival = prng.chance(spec.duplicate).then_some(arrival);
        Fate {
            arrival: Some(arrival),
            second_arrival,
        }
    }

    /// The propagation delay changes; what is on its way may be overtaken.
    pub fn set_delay(&mut self, delay: Duration) {
        self.spec.delay = delay;
        self.last_arrival = Instant::ZERO;
    }

    fn send(&mut self, now: Instant, packet: P) -> Instant {
        let done = now + packet.size() / self.spec.rate;
        self.run.busy.add_span(now, done);
        self.run.sent += 1;
        self.sending = Some(packet);
        done
    }

    fn note_queue(&mut self, now: Instant) {
        self.run.queue.push(now, self.waiting() as f64);
    }

    /// Packets that wait.
    pub fn waiting(&self) -> u64 {
        self.bands.iter().map(|b| b.queue.len() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Clone)]
    struct P(&'static str, bool);

    impl Carried for P {
        fn size(&self) -> Bytes {
            Bytes::new(1250)
        }
        fn expedited(&self) -> bool {
            self.1
        }
    }

    fn link(limit: Limit) -> Link<P> {
        let spec = LinkSpec::new(
            Rate::from_mbps(10.0),
            Duration::from_millis(5),
            Buffer::Packets(2),
        );
        Link::new(spec, limit)
    }

    #[test]
    fn expedited_packets_are_served_first_and_a_full_band_drops() {
        let mut link = link(Limit::Packets(2));
        let t = Instant::from_millis;
        assert_eq!(link.enqueue(t(0), P("a", false)), Some(t(1)));
        for name in ["b", "c", "dropped"] {
            assert_eq!(link.enqueue(t(0), P(name, false)), None);
        }
        assert_eq!(link.enqueue(t(0), P("fast", true)), None);
        assert_eq!(link.run.drops, 1);
        let mut order = Vec::new();
        let mut now = Some(t(1));
        while let Some(at) = now {
            let (packet, next) = link.sent(at);
            order.push((packet.0, at));
            now = next;
        }
        let expected = ["a", "fast", "b", "c"].iter().zip(1..);
        assert_eq!(
            order,
            expected.map(|(n, at)| (*n, t(at))).collect::<Vec<_>>()
        );
        assert_eq!(
            link.run.queue.max(Duration::ZERO, Duration::from_millis(9)),
            3.0
        );
        // Four packets of a millisecond each.
        let busy = link
            .run
            .utilisation(Duration::ZERO, Duration::from_millis(10));
        assert_eq!(busy, 0.4);
    }

    #[test]
    fn a_byte_limit_counts_bytes() {
        let mut link = link(Limit::Bytes(Bytes::new(2500)));
        let mut done = 0;
        for _ in 0..5 {
            done += usize::from(link.enqueue(Instant::ZERO, P("x", false)).is_some());
        }
        assert_eq!((done, link.run.drops, link.waiting()), (1, 2, 2));
    }

    #[test]
    fn troubles_come_at_their_rates_and_jitter_keeps_the_order() {
        let mut link = link(Limit::Packets(2));
        link.spec.loss = 0.1;
        link.spec.duplicate = 0.05;
        link.spec.jitter = Duration::from_millis(3);
        let mut prng = Prng::new(1);
        let (mut lost, mut twice, mut last) = (0, 0, Instant::ZERO);
        for k in 0..20_000 {
            let fate = link.fate(Instant::from_millis(k), &mut prng);
            lost += u32::from(fate.arrival.is_none());
            twice += u32::from(fate.second_arrival.is_some());
            if let Some(at) = fate.arrival {
                assert!(at >= last);
                last = at;
            }
        }
        assert!((1800..2200).contains(&lost), "{lost}");
        assert!((800..1000).contains(&twice), "{twice}");
    }
}
