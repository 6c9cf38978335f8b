//! The simulation: engines at the ends, two links between them, one queue of events.

use crate::events::Events;
use crate::link::{Carried, Link};
use crate::prng::Prng;
use crate::record::{Bins, FlowRun, Run, Series};
use crate::spec::{Change, Flow, Net, ReplicaSpec};
use ferrocc::cc::{Setup, registry};
use ferrocc::transport::{
    Datagram, Output, Receiver, ReceiverConfig, ReceiverOptions, Replica, Step, TxPacket,
};
use ferrocc::units::{Bytes, Duration, Instant, Rate};
use ferrocc::wire::{Eid, UNBOUNDED, set_mark};

/// Length of an IPv4 header without options.
const IPV4_LEN: usize = 20;

/// Timer events of one flow at one instant before the engine counts as stuck.
const MAX_TIMERS_AT_ONCE: u32 = 1000;

/// A packet on its way.
#[derive(Debug, Clone)]
struct Packet {
    flow: usize,
    header: Vec<u8>,
    payload_len: u32,
    payload: Vec<u8>,
    expedited: bool,
    is_data: bool,
}

impl Packet {
    fn new(flow: usize, output: &Output, tx: &TxPacket, is_data: bool) -> Packet {
        Packet {
            flow,
            header: output.header(tx).to_vec(),
            payload_len: tx.payload_len,
            payload: output.payload(tx).to_vec(),
            expedited: tx.expedited,
            is_data,
        }
    }
}

impl Carried for Packet {
    fn size(&self) -> Bytes {
        Bytes::new((IPV4_LEN + self.header.len()) as u64 + u64::from(self.payload_len))
    }

    fn expedited(&self) -> bool {
        self.expedited
    }

    fn is_data(&self) -> bool {
        self.is_data
    }

    fn mark(&mut self) {
        assert!(set_mark(&mut self.header), "only DATA can be marked");
    }
}

/// The two directions of the bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// DATA of ordinary flows, REQs of opposite ones.
    Down,
    /// REQs of ordinary flows, DATA of opposite ones.
    Up,
}

#[derive(Debug)]
enum Event {
    Open(usize),
    Cancel(usize),
    Timer(usize),
    /// At the queue of a link.
    Enqueue(Way, Packet),
    /// A transmitter is done.
    Sent(Way),
    /// At the far end of a link.
    AtReplica(Packet, usize),
    AtReceiver(Packet),
    Change(Change),
}

/// A receiver with what is recorded of it.
struct Endpoint {
    receiver: Receiver,
    flow: Flow,
    replica: usize,
    /// When its timer is set to.
    timer: Instant,
    /// When it last fired, and how often then.
    fired: (Instant, u32),
    run: FlowRun,
    mss: Bytes,
}

struct Simulation {
    now: Instant,
    events: Events<Event>,
    prng: Prng,
    links: [Link<Packet>; 2],
    endpoints: Vec<Endpoint>,
    specs: Vec<ReplicaSpec>,
    replicas: Vec<Replica>,
    handled: u64,
}

impl Net {
    /// Runs the network for `duration`.
    ///
    /// # Panics
    /// If the description is not valid (unknown controller, bad parameters), or if an engine breaks
    /// its contract: counters that go back, a window below one packet, more delivered than there is,
    /// a timer that never moves on.
    pub fn run(&self, duration: Duration) -> Run {
        let mut simulation = Simulation::new(self);
        let end = Instant::ZERO + duration;
        while let Some((at, event)) = simulation.events.pop(end) {
            simulation.now = at;
            simulation.handled += 1;
            simulation.handle(event);
        }
        simulation.finish(duration)
    }
}

impl Simulation {
    fn new(net: &Net) -> Simulation {
        let mut events = Events::new();
        let mut replicas = vec![Replica::new(); net.replicas.len()];
        let mut endpoints = Vec::new();
        for (index, flow) in net.flows.iter().enumerate() {
            let ndc = offer(&mut replicas, index, flow);
            let offset_ns = net.replicas[0].clock_offset_ns;
            endpoints.push(Endpoint::new(index, flow, ndc, offset_ns));
            events.add(Instant::ZERO + flow.start, Event::Open(index));
            if let Some(stop) = flow.stop {
                events.add(Instant::ZERO + stop, Event::Cancel(index));
            }
        }
        for (at, change) in &net.changes {
            events.add(Instant::ZERO + *at, Event::Change(*change));
        }
        let link = |spec: &crate::LinkSpec| Link::new(spec.clone(), net.limit(spec.buffer));
        Simulation {
            now: Instant::ZERO,
            events,
            prng: Prng::new(net.seed),
            links: [link(&net.data), link(&net.req)],
            endpoints,
            specs: net.replicas.clone(),
            replicas,
            handled: 0,
        }
    }

    fn handle(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Open(flow) => {
                self.endpoints[flow].receiver.open(now);
                self.after_input(flow);
            }
            Event::Cancel(flow) => {
                self.endpoints[flow].receiver.cancel(now);
                self.after_input(flow);
            }
            Event::Timer(flow) => {
                let endpoint = &mut self.endpoints[flow];
                if endpoint.timer == now {
                    endpoint.note_timer(now);
                    endpoint.timer = Instant::MAX;
                    endpoint.receiver.on_timeout(now);
                    self.after_input(flow);
                }
            }
            Event::Enqueue(way, packet) => {
                if let Some(done) = self.links[way as usize].enqueue(now, packet) {
                    self.events.add(done, Event::Sent(way));
                }
            }
            Event::Sent(way) => self.sent(way),
            Event::AtReplica(packet, replica) => self.answer(&packet, replica),
            Event::AtReceiver(packet) => {
                self.endpoints[packet.flow].receiver.on_datagram(
                    now,
                    Datagram {
                        header: &packet.header,
                        payload_len: packet.payload_len,
                        payload: &packet.payload,
                    },
                );
                self.after_input(packet.flow);
            }
            Event::Change(change) => self.change(change),
        }
    }

    /// A link's transmitter is done: the next packet's turn, and this one's way on.
    fn sent(&mut self, way: Way) {
        let link = &mut self.links[way as usize];
        let (packet, done) = link.sent(self.now);
        if let Some(done) = done {
            self.events.add(done, Event::Sent(way));
        }
        let fate = link.fate(self.now, &mut self.prng);
        let endpoint = &self.endpoints[packet.flow];
        let is_data = (way == Way::Down) != endpoint.flow.opposite;
        for at in [fate.second_arrival, fate.arrival].into_iter().flatten() {
            if is_data {
                let at = at + endpoint.flow.extra_delay;
                self.events.add(at, Event::AtReceiver(packet.clone()));
            } else {
                let at = at + self.specs[endpoint.replica].extra_delay;
                self.events
                    .add(at, Event::AtReplica(packet.clone(), endpoint.replica));
            }
        }
    }

    fn answer(&mut self, req: &Packet, replica: usize) {
        let spec = self.specs[replica];
        let way = if self.endpoints[req.flow].flow.opposite {
            Way::Up
        } else {
            Way::Down
        };
        let clock_ns = spec.clock_ns(self.now);
        let output = self.replicas[replica].on_request(clock_ns, &req.header);
        for tx in &output.packets {
            let packet = Packet::new(req.flow, output, tx, true);
            self.events
                .add(self.now + spec.extra_delay, Event::Enqueue(way, packet));
        }
    }

    /// Sends what a receiver wants to be sent, sets its timer, records.
    fn after_input(&mut self, flow: usize) {
        let endpoint = &mut self.endpoints[flow];
        let step = endpoint.receiver.step();
        endpoint.record(self.now, &step);
        if step.next_timer != Instant::MAX && step.next_timer != endpoint.timer {
            self.events
                .add(step.next_timer.max(self.now), Event::Timer(flow));
        }
        endpoint.timer = if step.next_timer == Instant::MAX {
            Instant::MAX
        } else {
            step.next_timer.max(self.now)
        };
        let way = if endpoint.flow.opposite {
            Way::Down
        } else {
            Way::Up
        };
        let at = self.now + endpoint.flow.extra_delay;
        let output = endpoint.receiver.output();
        for tx in &output.packets {
            self.events.add(
                at,
                Event::Enqueue(way, Packet::new(flow, output, tx, false)),
            );
        }
    }

    fn change(&mut self, change: Change) {
        let [data, req] = &mut self.links;
        match change {
            Change::RateMbps(mbps) => {
                let rate = Rate::from_mbps(mbps);
                (data.spec.rate, req.spec.rate) = (rate, rate);
            }
            Change::Rtprop(rtprop) => {
                data.set_delay(rtprop / 2);
                req.set_delay(rtprop / 2);
            }
            Change::Loss(p) => data.spec.loss = p,
            Change::ReqLoss(p) => req.spec.loss = p,
            Change::Replica { flow, replica } => {
                let endpoint = &mut self.endpoints[flow];
                let cause = Change::restart_cause(endpoint.replica == replica);
                endpoint.replica = replica;
                endpoint.receiver.on_path_change(self.now, cause);
                self.after_input(flow);
            }
        }
    }

    fn finish(self, duration: Duration) -> Run {
        let [bottleneck, reverse] = self.links.map(|link| {
            let taken = link.run.sent + link.run.drops + link.waiting();
            assert_eq!(link.run.arrivals, taken, "a link lost count of its packets");
            link.run
        });
        Run {
            flows: self.endpoints.into_iter().map(Endpoint::finish).collect(),
            bottleneck,
            reverse,
            duration,
            events: self.handled,
        }
    }
}

/// Puts a flow's content on every replica.
fn offer(replicas: &mut [Replica], index: usize, flow: &Flow) -> Eid {
    let size = flow.size.unwrap_or(UNBOUNDED);
    let mut ndc = Eid::default();
    for replica in replicas {
        ndc = if flow.verify {
            replica.add_synthetic(index as u64, size as usize)
        } else {
            replica.add_virtual(&format!("content {index}"), size)
        };
    }
    ndc
}

impl ReplicaSpec {
    fn clock_ns(&self, now: Instant) -> i64 {
        let skew = (now.as_nanos() as f64 * self.skew_ppm * 1e-6).round() as i64;
        (now.as_nanos() as i64)
            .wrapping_add(skew)
            .wrapping_add(self.clock_offset_ns)
    }
}

impl Endpoint {
    fn new(index: usize, flow: &Flow, ndc: Eid, replica_clock_offset_ns: i64) -> Endpoint {
        let options = flow.options;
        let setup = Setup {
            mss: options.mss(),
            packet_size: Bytes::new(options.mss().get() + ReceiverOptions::HEADER_BYTES),
            initial_window: options.initial_window,
            draw: flow.draw,
        };
        let controller = registry::build(&flow.controller, &setup, &flow.params)
            .unwrap_or_else(|e| panic!("controller of flow {index}: {e}"));
        let config = ReceiverConfig {
            device: Eid::of_device(format!("receiver {index}")),
            ndc,
            verify: flow.verify,
            replica_clock_offset_ns,
            options,
        };
        let receiver = Receiver::new(config, controller)
            .unwrap_or_else(|e| panic!("receiver of flow {index}: {e}"));
        let run = FlowRun {
            controller: flow.controller.clone(),
            start: flow.start,
            completed: None,
            delivered: Bins::default(),
            window: Series::default(),
            in_flight: Series::default(),
            srtt_ms: Series::default(),
            queue_delay_ms: Series::default(),
            delta: Series::default(),
            phase: Series::default(),
            bandwidth_mbps: Series::default(),
            pacing_gain: Series::default(),
            alpha: Series::default(),
            step: receiver.step(),
            stats: receiver.stats().clone(),
        };
        Endpoint {
            receiver,
            flow: flow.clone(),
            replica: 0,
            timer: Instant::MAX,
            fired: (Instant::ZERO, 0),
            run,
            mss: options.mss(),
        }
    }

    fn note_timer(&mut self, now: Instant) {
        self.fired = if self.fired.0 == now {
            (now, self.fired.1 + 1)
        } else {
            (now, 1)
        };
        assert!(
            self.fired.1 < MAX_TIMERS_AT_ONCE,
            "the timer of {:?} is stuck",
            self.run.controller
        );
    }

    fn record(&mut self, now: Instant, step: &Step) {
        let run = &mut self.run;
        let name = &run.controller;
        assert!(step.window >= self.mss, "{name}: window {:?}", step.window);
        assert!(
            step.pacing.is_none_or(|r| r > Rate::ZERO && r < Rate::MAX),
            "{name}: pacing {:?}",
            step.pacing
        );
        assert!(
            self.receiver.output().packets.is_empty()
                || step.in_flight <= step.window
                || self.flow.options.tail_probe,
            "{name}: {:?} are outstanding after a request, the window is {:?}",
            step.in_flight,
            step.window
        );
        assert!(
            !step.completed || step.in_flight.is_zero(),
            "{name}: {:?} are outstanding at the end",
            step.in_flight
        );
        assert!(
            step.delivered >= run.step.delivered,
            "{name}: delivered bytes went back"
        );
        assert!(
            step.in_order >= run.step.in_order,
            "{name}: bytes in order went back"
        );
        assert!(
            step.in_order <= step.delivered,
            "{name}: more in order than delivered"
        );
        assert!(
            self.flow
                .size
                .is_none_or(|size| step.delivered.get() <= size),
            "{name}: too much"
        );
        run.delivered
            .add(now, (step.delivered - run.step.delivered).get());
        run.window.push(now, step.window.as_packets(self.mss));
        run.in_flight.push(now, step.in_flight.as_packets(self.mss));
        run.phase.push(now, f64::from(step.snapshot.phase as u8));
        if let Some(srtt) = step.srtt {
            run.srtt_ms.push(now, srtt.as_millis_f64());
        }
        if let Some(delay) = step.snapshot.queue_delay {
            run.queue_delay_ms.push(now, delay.as_millis_f64());
        }
        if let Some(delta) = step.snapshot.delta {
            run.delta.push(now, delta);
        }
        if let Some(bandwidth) = step.snapshot.bandwidth {
            run.bandwidth_mbps.push(now, bandwidth.as_mbps());
        }
        if let Some(gain) = step.snapshot.pacing_gain {
            run.pacing_gain.push(now, gain);
        }
        if let Some(alpha) = step.snapshot.alpha {
            run.alpha.push(now, alpha);
        }
        if step.completed && run.completed.is_none() {
            run.completed = Some(now - Instant::ZERO);
        }
        run.step = *step;
    }

    fn finish(mut self) -> FlowRun {
        self.run.stats = self.receiver.stats().clone();
        self.run
    }
}
