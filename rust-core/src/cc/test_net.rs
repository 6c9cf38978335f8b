//! A small closed loop for the controllers' own tests: flows without end share one bottleneck.
//!
//! Requests of one packet each travel `req_delay`, their DATA queues at the bottleneck (flagged
//! units before all others, without interrupting a transmission) and travels `data_delay` on.
//! Everything is counted in packets of 1250 B payload.

use super::{
    Allowance, Controller, Data, Loss, LossCause, LostUnit, RateSample, Sent, Setup, Timeout,
};
use crate::units::{Bytes, Duration, Instant, OneWay};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

const MSS: Bytes = Setup::PAPER_MSS;
/// Later arrivals that prove a loss.
const LATER: u32 = 3;

/// The network's description.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path {
    /// Bottleneck, packets/s.
    pub rate_pps: f64,
    /// One way, towards the replica.
    pub req_delay: Duration,
    /// One way, from the bottleneck to the receiver.
    pub data_delay: Duration,
    /// Packets that the bottleneck holds.
    pub buffer: usize,
    /// Chance of each DATA unit to be lost after the bottleneck.
    pub loss: f64,
    /// Added to the request's way during the given interval.
    pub req_queue: Option<(Instant, Instant, Duration)>,
    /// Replica clock minus receiver clock, nanoseconds.
    pub clock_offset_ns: i64,
    /// Whether the bottleneck honours priority.
    pub priority: bool,
}

impl Path {
    /// `rate_pps` packets/s, a round trip of `rtt_ms`, half in each direction, a deep buffer.
    pub(super) fn new(rate_pps: f64, rtt_ms: u64) -> Path {
        Path {
            rate_pps,
            req_delay: Duration::from_micros(rtt_ms * 500),
            data_delay: Duration::from_micros(rtt_ms * 500),
            buffer: 100_000,
            loss: 0.0,
            req_queue: None,
            clock_offset_ns: 0,
            priority: true,
        }
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Start(usize),
    AtBottleneck(usize, u64, bool),
    Transmitted,
    Arrive(usize, u64),
    Paced(usize),
    Timer(usize),
}

#[derive(Debug)]
struct Record {
    sent_at: Instant,
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    probe: bool,
    later: u32,
}

/// A receiver with its controller.
#[derive(Debug)]
pub(super) struct Flow {
    pub controller: Box<dyn Controller>,
    records: BTreeMap<u64, Record>,
    next_pn: u64,
    next_send: Instant,
    delivered_at: Instant,
    first_sent: Instant,
    round_end: u64,
    srtt: Option<Duration>,
    deadline: Instant,
    started: bool,
    /// Packets that arrived.
    pub delivered: u64,
    /// Packets that were lost.
    pub lost: u64,
}

/// The bottleneck and its flows.
pub(super) struct Net {
    path: Path,
    pub now: Instant,
    events: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    seq: u64,
    queues: [VecDeque<(usize, u64)>; 2],
    busy: Option<(usize, u64)>,
    random: u64,
    pub flows: Vec<Flow>,
    busy_ns: u64,
    queue_ns: u128,
    queue_since: Instant,
    measured_since: Instant,
    /// Longest and shortest queue since the last [`Net::measure`].
    pub queue_max: usize,
    pub queue_min: usize,
}

impl Net {
    /// An empty network.
    pub(super) fn new(path: Path) -> Net {
        Net {
            path,
            now: Instant::ZERO,
            events: BinaryHeap::new(),
            seq: 0,
            queues: Default::default(),
            busy: None,
            random: 0x9e37_79b9_7f4a_7c15,
            flows: Vec::new(),
            busy_ns: 0,
            queue_ns: 0,
            queue_since: Instant::ZERO,
            measured_since: Instant::ZERO,
            queue_max: 0,
            queue_min: usize::MAX,
        }
    }

    /// Adds a flow that starts at `at_ms`.
    pub(super) fn flow(mut self, at_ms: u64, controller: impl Controller + 'static) -> Net {
        let flow = Flow {
            controller: Box::new(controller),
            records: BTreeMap::new(),
            next_pn: 0,
            next_send: Instant::ZERO,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            round_end: 0,
            srtt: None,
            deadline: Instant::MAX,
            started: false,
            delivered: 0,
            lost: 0,
        };
        self.flows.push(flow);
        self.at(
            Instant::from_millis(at_ms),
            Event::Start(self.flows.len() - 1),
        );
        self
    }

    /// Runs until `ms`.
    pub(super) fn run_to(&mut self, ms: u64) {
        let end = Instant::from_millis(ms);
        while self
            .events
            .peek()
            .is_some_and(|Reverse((t, _, _))| *t <= end)
        {
            if let Some(Reverse((now, _, event))) = self.events.pop() {
                self.now = now;
                self.handle(event);
            }
        }
        self.now = end;
    }

    /// Starts a new measurement of the queue and the utilisation.
    pub(super) fn measure(&mut self) {
        self.note_queue();
        (self.busy_ns, self.queue_ns, self.measured_since) = (0, 0, self.now);
        (self.queue_max, self.queue_min) = (self.queue_len(), self.queue_len());
    }

    /// Mean queue in packets since [`Net::measure`], the one in transmission included.
    pub(super) fn queue_mean(&mut self) -> f64 {
        self.note_queue();
        self.queue_ns as f64 / (self.now - self.measured_since).as_nanos() as f64
    }

    /// Share of the time in which the bottleneck was busy since [`Net::measure`].
    pub(super) fn utilisation(&self) -> f64 {
        self.busy_ns as f64 / (self.now - self.measured_since).as_nanos() as f64
    }

    /// Packets in the bottleneck, the one in transmission included.
    pub(super) fn queue_len(&self) -> usize {
        self.queues[0].len() + self.queues[1].len() + usize::from(self.busy.is_some())
    }

    fn note_queue(&mut self) {
        let len = self.queue_len();
        self.queue_ns += len as u128 * u128::from((self.now - self.queue_since).as_nanos());
        self.queue_since = self.now;
        self.queue_max = self.queue_max.max(len);
        self.queue_min = self.queue_min.min(len);
    }

    fn at(&mut self, when: Instant, event: Event) {
        self.seq += 1;
        self.events.push(Reverse((when, self.seq, event)));
    }

    fn draw(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1u64 << 53) as f64
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Start(f) => {
                self.flows[f].started = true;
                self.send(f);
            }
            Event::Paced(f) => self.send(f),
            Event::AtBottleneck(f, pn, probe) => {
                if self.queue_len() <= self.path.buffer {
                    self.note_queue();
                    self.queues[usize::from(!(probe && self.path.priority))].push_back((f, pn));
                    self.transmit();
                }
            }
            Event::Transmitted => {
                self.note_queue();
                if let Some((f, pn)) = self.busy.take()
                    && self.draw() >= self.path.loss
                {
                    self.at(self.now + self.path.data_delay, Event::Arrive(f, pn));
                }
                self.transmit();
            }
            Event::Arrive(f, pn) => self.arrive(f, pn),
            Event::Timer(f) => self.timer(f),
        }
    }

    fn transmit(&mut self) {
        if self.busy.is_none()
            && let Some(next) = self.queues[0]
                .pop_front()
                .or_else(|| self.queues[1].pop_front())
        {
            let time = Duration::from_secs_f64(1.0 / self.path.rate_pps);
            self.busy = Some(next);
            self.busy_ns += time.as_nanos();
            self.at(self.now + time, Event::Transmitted);
        }
    }

    /// How long a request that leaves at `sent` travels to the replica.
    fn req_time(&self, sent: Instant) -> Duration {
        match self.path.req_queue {
            Some((from, to, extra)) if from <= sent && sent < to => self.path.req_delay + extra,
            _ => self.path.req_delay,
        }
    }

    fn send(&mut self, f: usize) {
        loop {
            let now = self.now;
            let flow = &mut self.flows[f];
            let in_flight = MSS * flow.records.len() as u64;
            let Allowance { window, pacing } = flow.controller.allowance();
            assert!(
                window >= MSS && pacing.is_none_or(|r| r.as_bps() > 0),
                "{window} {pacing:?}"
            );
            if !flow.started || in_flight + MSS > window || now < flow.next_send {
                return;
            }
            if flow.records.is_empty() {
                (flow.first_sent, flow.delivered_at) = (now, now);
            }
            let (pn, probe) = (flow.next_pn, flow.controller.wants_probe(now));
            flow.next_pn += 1;
            flow.controller.on_sent(&Sent {
                now,
                pn,
                bytes: MSS,
                prior_in_flight: in_flight,
                app_limited: false,
                probe,
            });
            let record = Record {
                sent_at: now,
                delivered: flow.delivered,
                delivered_at: flow.delivered_at,
                first_sent: flow.first_sent,
                probe,
                later: 0,
            };
            flow.records.insert(pn, record);
            if flow.deadline == Instant::MAX {
                flow.deadline = now + Duration::from_secs(1);
                self.at(now + Duration::from_secs(1), Event::Timer(f));
            }
            if let Some(rate) = pacing {
                let next = now + MSS / rate;
                self.flows[f].next_send = next;
                self.at(next, Event::Paced(f));
            }
            let there = now + self.req_time(now);
            self.at(there, Event::AtBottleneck(f, pn, probe));
        }
    }

    fn arrive(&mut self, f: usize, pn: u64) {
        let now = self.now;
        let Some(record) = self.flows[f].records.remove(&pn) else {
            return;
        };
        let stamp = (record.sent_at + self.req_time(record.sent_at)).as_nanos() as i64;
        let one_way = OneWay::between(
            stamp.wrapping_add(self.path.clock_offset_ns),
            now.as_nanos() as i64,
        );
        let flow = &mut self.flows[f];
        let prior_in_flight = MSS * (flow.records.len() as u64 + 1);
        let mut lost = Vec::new();
        for (p, r) in flow.records.range_mut(..pn) {
            r.later += 1;
            if r.later >= LATER {
                lost.push(LostUnit {
                    pn: *p,
                    bytes: MSS,
                    sent_at: r.sent_at,
                });
            }
        }
        for unit in &lost {
            flow.records.remove(&unit.pn);
        }
        flow.lost += lost.len() as u64;
        let in_flight = MSS * flow.records.len() as u64;
        if !lost.is_empty() {
            flow.controller.on_loss(&Loss {
                now,
                cause: LossCause::LaterData,
                units: &lost,
                next_pn: flow.next_pn,
                in_flight,
                newly_delivered: MSS,
            });
        }
        let rtt = now - record.sent_at;
        flow.srtt = Some(flow.srtt.map_or(rtt, |s| (s * 7 + rtt) / 8));
        flow.delivered += 1;
        let interval = (now - record.delivered_at).max(record.sent_at - record.first_sent);
        (flow.delivered_at, flow.first_sent) = (now, record.sent_at);
        let round_start = record.delivered >= flow.round_end;
        if round_start {
            flow.round_end = flow.delivered;
        }
        let base = self.path.req_delay + self.path.data_delay;
        let rate = (interval >= base).then(|| RateSample {
            rate: MSS * (flow.delivered - record.delivered) / interval,
            prior_delivered: MSS * record.delivered,
            app_limited: false,
        });
        flow.controller.on_data(&Data {
            now,
            pn,
            next_pn: flow.next_pn,
            bytes: MSS,
            rtt: Some(rtt),
            srtt: flow.srtt,
            one_way: Some(one_way),
            probe: record.probe,
            marked: false,
            prior_in_flight,
            in_flight,
            delivered: MSS * flow.delivered,
            rate,
            round_start,
            app_limited: false,
        });
        flow.deadline = now + Duration::from_secs(1).max(rtt * 3);
        self.send(f);
    }

    fn timer(&mut self, f: usize) {
        let now = self.now;
        let flow = &mut self.flows[f];
        if now >= flow.deadline && !flow.records.is_empty() {
            let units: Vec<_> = std::mem::take(&mut flow.records)
                .into_iter()
                .map(|(pn, r)| LostUnit {
                    pn,
                    bytes: MSS,
                    sent_at: r.sent_at,
                })
                .collect();
            flow.lost += units.len() as u64;
            let next_pn = flow.next_pn;
            let in_flight = Bytes::ZERO;
            flow.controller.on_timeout(&Timeout {
                now,
                units: &units,
                next_pn,
                in_flight,
            });
            flow.deadline = now + Duration::from_secs(1);
        }
        let at = flow.deadline.max(now + Duration::from_millis(10));
        self.at(at, Event::Timer(f));
        self.send(f);
    }
}
