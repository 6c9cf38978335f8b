//! A unidirectional link: a queue of two bands in front of a transmitter, then a delay line with
//! its troubles.

use crate::prng::Prng;
use crate::record::LinkRun;
use crate::spec::{Buffer, Manager};
use ferrocc::aqm::{self, Aqm, Verdict};
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
    /// What manages the second band; none drops what finds it full.
    pub aqm: Option<Manager>,
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
            aqm: None,
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
    /// Whether it is DATA, which can carry a mark.
    fn is_data(&self) -> bool;
    /// Sets the congestion mark of DATA.
    fn mark(&mut self);
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
    aqm: Option<Managed>,
    sending: Option<P>,
    last_arrival: Instant,
    pub run: LinkRun,
}

#[derive(Debug)]
struct Band<P> {
    /// Packets with their time of arrival.
    queue: VecDeque<(Instant, P)>,
    bytes: Bytes,
}

impl<P: Carried> Band<P> {
    fn pop(&mut self) -> Option<(Instant, P)> {
        let (since, packet) = self.queue.pop_front()?;
        self.bytes -= packet.size();
        Some((since, packet))
    }

    fn view(&self) -> aqm::Queue {
        aqm::Queue {
            packets: self.queue.len() as u64,
            bytes: self.bytes,
        }
    }
}

/// An AQM with its draws: those that it does not use are kept.
#[derive(Debug)]
struct Managed {
    aqm: Box<dyn Aqm>,
    prng: Prng,
    draw: f64,
}

/// Keeps an AQM's draws apart from those of losses and jitter, which must not move with it.
const AQM_SEED: u64 = 0x41_51_4d;

impl Managed {
    fn new(manager: &Manager, spec: &LinkSpec, limit: Limit) -> Managed {
        let setup = aqm::Setup {
            limit: match limit {
                Limit::Packets(n) => aqm::Limit::Packets(n),
                Limit::Bytes(n) => aqm::Limit::Bytes(n),
            },
            link_rate: spec.rate,
            link_delay: spec.delay,
        };
        let aqm = aqm::registry::build(&manager.name, &setup, &manager.params)
            .unwrap_or_else(|e| panic!("{e}"));
        let mut prng = Prng::new(AQM_SEED);
        let draw = prng.uniform();
        Managed { aqm, prng, draw }
    }

    fn decide(&mut self, ask: impl FnOnce(&mut dyn Aqm, f64) -> aqm::Decision) -> Verdict {
        let decision = ask(self.aqm.as_mut(), self.draw);
        if decision.draw_used {
            self.draw = self.prng.uniform();
        }
        decision.verdict
    }
}

fn view<P: Carried>(packet: &P, enqueued: Instant) -> aqm::Packet {
    aqm::Packet {
        size: packet.size(),
        enqueued,
        icn_data: packet.is_data(),
        ect: false,
    }
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
        let aqm = spec.aqm.as_ref().map(|m| Managed::new(m, &spec, limit));
        Link {
            spec,
            limit,
            bands: [band(), band()],
            aqm,
            sending: None,
            last_arrival: Instant::ZERO,
            run: LinkRun::default(),
        }
    }

    /// A packet arrives at the queue. If the transmitter was idle, when it will have sent it.
    #[must_use]
    pub fn enqueue(&mut self, now: Instant, packet: P) -> Option<Instant> {
        self.run.arrivals += 1;
        let expedited = packet.expedited() && self.spec.priority;
        let managed = self.aqm.is_some() && !expedited;
        if self.sending.is_none() && !managed {
            return Some(self.send(now, packet));
        }
        let band = &mut self.bands[usize::from(!expedited)];
        let packet = match &mut self.aqm {
            Some(managed) if !expedited => {
                let (seen, queue) = (view(&packet, now), band.view());
                let verdict = managed.decide(|aqm, u| aqm.on_enqueue(now, &seen, &queue, u));
                carry_out(verdict, packet, &mut self.run)
            }
            _ => {
                let full = match self.limit {
                    Limit::Packets(n) => band.queue.len() as u64 >= n,
                    Limit::Bytes(n) => band.bytes + packet.size() > n,
                };
                self.run.drops += u64::from(full);
                (!full).then_some(packet)
            }
        };
        let packet = packet?;
        band.bytes += packet.size();
        band.queue.push_back((now, packet));
        let done = match self.sending {
            Some(_) => None,
            None => self.send_next(now),
        };
        self.note_queue(now);
        done
    }

    /// The transmitter has sent its packet: that packet, and when the next one will have been sent.
    #[must_use]
    pub fn sent(&mut self, now: Instant) -> (P, Option<Instant>) {
        let sent = self.sending.take().expect("the transmitter was busy");
        let done = self.send_next(now);
        self.note_queue(now);
        (sent, done)
    }

    /// Sends the next packet that waits and may go, if there is one.
    fn send_next(&mut self, now: Instant) -> Option<Instant> {
        let [first, second] = &mut self.bands;
        let mut next = first.pop().map(|(_, packet)| packet);
        while next.is_none() {
            let Some((since, packet)) = second.pop() else {
                if let Some(managed) = &mut self.aqm {
                    managed.aqm.on_empty(now);
                }
                return None;
            };
            next = match &mut self.aqm {
                Some(managed) => {
                    let (seen, queue) = (view(&packet, since), second.view());
                    let verdict = managed.decide(|aqm, u| aqm.on_dequeue(now, &seen, &queue, u));
                    carry_out(verdict, packet, &mut self.run)
                }
                None => Some(packet),
            };
        }
        next.map(|packet| self.send(now, packet))
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

/// Drops or marks a packet, or leaves it as it is.
fn carry_out<P: Carried>(verdict: Verdict, mut packet: P, run: &mut LinkRun) -> Option<P> {
    match verdict {
        Verdict::Pass => Some(packet),
        Verdict::Mark(..) => {
            run.marks += 1;
            packet.mark();
            Some(packet)
        }
        Verdict::Drop(_) => {
            run.drops += 1;
            None
        }
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
        fn is_data(&self) -> bool {
            true
        }
        fn mark(&mut self) {
            self.0 = "marked";
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

    /// CoDel that marks: a queue that lasts is marked by its sojourn time, then loses a packet.
    #[test]
    fn an_aqm_marks_and_drops() {
        let mut spec = link(Limit::Packets(2)).spec;
        spec.aqm = Some(Manager::new("ecd"));
        let mut link = Link::new(spec, Limit::Packets(50));
        let t = Instant::from_millis;
        let mut sent = Vec::new();
        assert_eq!(link.enqueue(t(0), P("x", false)), Some(t(1)));
        // 20 packets of a millisecond each wait all the time: 20 ms, beyond certainty at 12.5 ms.
        for _ in 0..20 {
            assert_eq!(link.enqueue(t(0), P("x", false)), None);
        }
        for ms in 1..=150 {
            sent.push(link.sent(t(ms)).0.0);
            let _ = link.enqueue(t(ms), P("x", false));
        }
        let marks = sent.iter().filter(|name| **name == "marked").count() as u64;
        assert_eq!(sent[..5], ["x"; 5]);
        assert!(sent[14..100].iter().all(|name| *name == "marked"));
        assert!(
            (link.run.marks - marks) <= 1,
            "{} and {marks}",
            link.run.marks
        );
        assert_eq!(link.run.drops, 1, "after 100 ms above the target");
        // On an idle link with nothing waiting nothing happens.
        let mut spec = link.spec.clone();
        spec.aqm = Some(Manager::new("codel"));
        let mut link = Link::new(spec, Limit::Packets(1));
        assert_eq!(link.enqueue(t(7), P("x", false)), Some(t(8)));
        assert_eq!(link.sent(t(8)), (P("x", false), None));
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
