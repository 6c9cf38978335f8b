//! Another replica in the middle of a transfer.

use super::*;
use crate::cc::{
    Allowance, Controller, Data, Loss, Restart, Sent, Snapshot, SpuriousLoss, Timeout,
};
use std::sync::{Arc, Mutex};

#[test]
fn a_path_change_keeps_what_arrived_and_repeats_the_rest() {
    let mut replica = Replica::new();
    let ndc = replica.add_synthetic(7, 20 * MSS as usize);
    let mut r = receiver(ndc, 6.0, ReceiverOptions::default(), true);
    r.open(Instant::ZERO);
    let old = answers(&mut replica, r.output(), Instant::ZERO);
    deliver(&mut r, Instant::ZERO + RTT, &old[0]);
    let step = r.on_path_change(Instant::from_millis(30), RestartCause::ReplicaChanged);
    assert_eq!(step.in_flight, Bytes::new(6 * MSS));
    assert_eq!(step.srtt, None, "the old path's samples are forgotten");
    let mut new = VecDeque::from(answers(&mut replica, r.output(), Instant::from_millis(30)));
    // The old replica's late answers do no harm.
    let step = deliver(&mut r, Instant::from_millis(31), &old[1]);
    assert_eq!(
        (step.delivered, r.stats().spurious_losses),
        (Bytes::new(2 * MSS), 0)
    );
    new.extend(answers(&mut replica, r.output(), Instant::from_millis(31)));
    let mut now = Instant::from_millis(50);
    while let Some(d) = new.pop_front() {
        deliver(&mut r, now, &d);
        new.extend(answers(&mut replica, r.output(), now));
        now += Duration::from_millis(1);
    }
    assert!(r.step().completed && r.step().verified);
    assert_eq!((r.stats().losses, r.stats().timeouts), (0, 0));
}

/// What a [`Spy`] has seen.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// Requests below this were made on an earlier path.
    path_pn: u64,
    restarts: usize,
    data: u64,
    samples: u64,
    probes_since_restart: u32,
    probe_answers_since_restart: u32,
    /// Bytes that the controller was told of, which must be the total that it is told.
    bytes: Bytes,
    delivered: Bytes,
}

/// A controller of the registry that checks what it is told against what a new path may tell.
#[derive(Debug)]
struct Spy {
    inner: Box<dyn Controller>,
    seen: Arc<Mutex<Seen>>,
}

impl Controller for Spy {
    fn on_sent(&mut self, sent: &Sent) {
        let mut seen = self.seen.lock().unwrap();
        seen.probes_since_restart += u32::from(sent.probe);
        self.inner.on_sent(sent);
    }

    fn on_data(&mut self, data: &Data) {
        let mut seen = self.seen.lock().unwrap();
        assert!(data.pn >= seen.path_pn, "an answer of the old path");
        seen.data += 1;
        seen.samples += u64::from(data.rtt.is_some());
        seen.probe_answers_since_restart += u32::from(data.probe);
        seen.bytes += data.bytes;
        seen.delivered = data.delivered;
        assert_eq!(data.delivered, seen.bytes, "bytes that no event told of");
        self.inner.on_data(data);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        let path_pn = self.seen.lock().unwrap().path_pn;
        assert!(loss.units.iter().all(|u| u.pn >= path_pn));
        self.inner.on_loss(loss);
    }

    fn on_timeout(&mut self, timeout: &Timeout<'_>) {
        let path_pn = self.seen.lock().unwrap().path_pn;
        assert!(timeout.units.iter().all(|u| u.pn >= path_pn));
        self.inner.on_timeout(timeout);
    }

    fn on_restart(&mut self, restart: &Restart) {
        let mut seen = self.seen.lock().unwrap();
        seen.path_pn = restart.next_pn;
        seen.restarts += 1;
        (seen.probes_since_restart, seen.probe_answers_since_restart) = (0, 0);
        self.inner.on_restart(restart);
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        let mut seen = self.seen.lock().unwrap();
        assert!(spurious.pn >= seen.path_pn);
        seen.bytes += spurious.bytes;
        self.inner.on_spurious_loss(spurious);
    }

    fn wants_probe(&self, now: Instant) -> bool {
        self.inner.wants_probe(now)
    }

    fn allowance(&self) -> Allowance {
        self.inner.allowance()
    }

    fn snapshot(&self) -> Snapshot {
        self.inner.snapshot()
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(Spy {
            inner: self.inner.boxed_clone(),
            seen: Arc::clone(&self.seen),
        })
    }
}

/// A receiver under a watched controller, and replicas that hold the same content.
struct World {
    receiver: Receiver,
    seen: Arc<Mutex<Seen>>,
    replicas: Vec<Replica>,
    /// The one that answers now.
    replica: usize,
    now: Instant,
    on_the_way: VecDeque<Packet>,
    size: u64,
    last: Step,
}

impl World {
    fn new(controller: &str, size: u64, options: ReceiverOptions) -> World {
        let mut replicas = vec![Replica::new(); 3];
        let ndcs: Vec<Eid> = replicas
            .iter_mut()
            .map(|r| r.add_synthetic(9, size as usize))
            .collect();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let inner = registry::build(controller, &Setup::default(), &json!({})).unwrap();
        let config = ReceiverConfig {
            device: device(),
            ndc: ndcs[0],
            verify: true,
            replica_clock_offset_ns: 0,
            options,
        };
        let spy = Spy {
            inner,
            seen: seen.clone(),
        };
        let receiver = Receiver::new(config, Box::new(spy)).unwrap();
        World {
            last: receiver.step(),
            receiver,
            seen,
            replicas,
            replica: 0,
            now: Instant::ZERO,
            on_the_way: VecDeque::new(),
            size,
        }
    }

    /// What holds after every input; the answers to what is asked set out.
    fn after(&mut self, step: Step) {
        assert_eq!(step.in_flight, self.receiver.outstanding_bytes());
        assert!(step.delivered >= self.last.delivered && step.delivered.get() <= self.size);
        assert!(step.in_order >= self.last.in_order && step.in_order <= step.delivered);
        assert_eq!(step.completed, step.delivered.get() == self.size);
        assert_eq!(step.completed, step.verified);
        self.last = step;
        // Each replica has its own clock.
        let clock = Instant::from_nanos(self.now.as_nanos() + 7_000_000 * self.replica as u64);
        let replica = &mut self.replicas[self.replica];
        self.on_the_way
            .extend(answers(replica, self.receiver.output(), clock));
    }

    fn open(&mut self) {
        let step = self.receiver.open(self.now);
        self.after(step);
    }

    fn deliver(&mut self, packet: &Packet) {
        let step = deliver(&mut self.receiver, self.now, packet);
        self.after(step);
    }

    /// The next packet arrives, or if there is none, the timer expires.
    fn go_on(&mut self) {
        self.now += Duration::from_micros(200);
        match self.on_the_way.pop_front() {
            Some(packet) => self.deliver(&packet),
            None => {
                assert!(
                    self.last.next_timer < Instant::MAX,
                    "stalled: {:?}",
                    self.last
                );
                self.now = self.now.max(self.last.next_timer);
                let step = self.receiver.on_timeout(self.now);
                self.after(step);
            }
        }
    }

    fn switch(&mut self, to: usize) {
        self.replica = to % self.replicas.len();
        let step = self
            .receiver
            .on_path_change(self.now, RestartCause::ReplicaChanged);
        self.after(step);
    }

    fn seen(&self) -> Seen {
        *self.seen.lock().unwrap()
    }
}

#[test]
fn a_switch_starts_over_and_late_answers_only_deliver() {
    let mut w = World::new("copa-icn", 200 * MSS, ReceiverOptions::default());
    w.open();
    for _ in 0..4 {
        w.go_on();
    }
    let old: Vec<Packet> = w.on_the_way.drain(..).collect();
    assert!(old.len() >= 6, "{} packets, {:?}", old.len(), w.last);
    assert_ne!(w.last.window, Bytes::new(10 * MSS));
    w.now += Duration::from_millis(30);
    w.switch(1);
    let (first_pn, at_switch) = (w.seen().path_pn, w.last);
    assert_eq!(
        w.last.window,
        Bytes::new(10 * MSS),
        "the first window again"
    );
    assert_eq!(
        (w.last.srtt, w.last.rtt, w.last.one_way),
        (None, None, None)
    );
    assert_eq!(w.last.snapshot.phase, crate::cc::Phase::SlowStart);
    assert_eq!(
        w.last.next_timer,
        w.now + Duration::from_secs(1),
        "a fresh timeout"
    );
    assert_eq!(w.seen().probes_since_restart, 2);
    // What was outstanding is asked for again, under new numbers, before anything else.
    let asked = requests(w.receiver.output());
    assert!(asked.iter().all(|(pn, ..)| *pn >= first_pn));
    let lowest = asked.iter().flat_map(|(_, s, _)| s).map(|s| s.offset).min();
    assert_eq!(lowest, Some(at_switch.in_order.get()));

    let (data, samples) = (w.seen().data, w.seen().samples);
    for packet in &old {
        w.now += Duration::from_micros(100);
        w.deliver(packet);
        w.deliver(packet); // and a copy
    }
    assert_eq!((w.seen().data, w.seen().samples), (data, samples));
    assert_eq!((w.last.srtt, w.last.one_way), (None, None));
    assert_eq!(
        w.last.next_timer, at_switch.next_timer,
        "the timer is not postponed"
    );
    assert_eq!(w.last.in_flight, at_switch.in_flight);
    assert_eq!(w.last.snapshot, at_switch.snapshot);
    let new = old.len() as u64 * MSS;
    assert_eq!(w.last.delivered, at_switch.delivered + Bytes::new(new));
    let stats = w.receiver.stats().clone();
    assert_eq!(stats.old_path, 2 * old.len() as u64);
    assert_eq!((stats.losses, stats.spurious_losses), (0, 0));
    for _ in 0..2000 {
        if w.last.completed {
            break;
        }
        w.go_on();
    }
    assert!(w.last.completed);
    // The content had come before, but the answers to the probes were measured.
    assert!(w.seen().probe_answers_since_restart >= 2);
    assert_eq!(w.receiver.stats().timeouts, 0);
}

#[test]
fn a_switch_before_the_first_data_and_one_with_everything_requested() {
    for controller in ["newreno", "cubic", "copa-icn"] {
        let mut w = World::new(controller, 8 * MSS, ReceiverOptions::default());
        w.open();
        w.switch(1);
        assert!(w.last.in_flight >= Bytes::new(8 * MSS));
        assert_eq!(w.receiver.ndc_size(), None);
        // Only the old replica's answers arrive, for seven of the eight units.
        for _ in 0..7 {
            w.go_on();
        }
        assert_eq!(w.last.delivered, Bytes::new(7 * MSS));
        // The tail: nothing is left to ask for but what is outstanding.
        w.on_the_way.clear();
        w.switch(2);
        assert_eq!(
            w.last.in_flight,
            Bytes::new(MSS),
            "{controller}: only what is missing"
        );
        w.go_on();
        assert!(w.last.completed, "{controller}");
        assert_eq!(w.seen().restarts, 2);
        // And after the end.
        let step = w
            .receiver
            .on_path_change(w.now, RestartCause::ReplicaChanged);
        assert!(step.completed && w.receiver.output().packets.is_empty());
    }
}

#[test]
fn the_old_replicas_data_is_no_part_of_a_rate() {
    let mut w = World::new("fixed", 400 * MSS, ReceiverOptions::default());
    w.open();
    for _ in 0..40 {
        w.go_on();
    }
    let before = w.seen().delivered;
    let old: Vec<Packet> = w.on_the_way.drain(..).collect();
    w.switch(1);
    let total = w.last.delivered;
    for packet in &old {
        w.deliver(packet);
    }
    assert!(w.last.delivered > total);
    w.go_on();
    assert_eq!(w.seen().delivered, before + Bytes::new(MSS));
}

/// Something that may happen to the world.
#[derive(Debug, Clone, Copy)]
enum Op {
    Deliver { index: usize },
    Copy { index: usize },
    Drop { index: usize },
    Hold,
    Switch { to: usize },
    Timer,
    Wait { us: u64 },
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        20 => Just(Op::Deliver { index: 0 }),
        6 => (0usize..100).prop_map(|index| Op::Deliver { index }),
        2 => (0usize..100).prop_map(|index| Op::Copy { index }),
        3 => (0usize..100).prop_map(|index| Op::Drop { index }),
        2 => Just(Op::Hold),
        1 => (0usize..3).prop_map(|to| Op::Switch { to }),
        2 => Just(Op::Timer),
        3 => (0u64..50_000).prop_map(|us| Op::Wait { us }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// DATA of several replicas in any order, with losses, copies, timers and switches in between:
    /// every byte is delivered exactly once, what is outstanding is what was asked for, controllers
    /// hear of the present path only, and the transfer ends.
    #[test]
    fn any_interleaving_of_replicas_delivers_each_byte_once(
        controller in prop::sample::select(vec!["fixed", "newreno", "cubic", "bbr", "copa", "copa-icn", "ecd"]),
        size in 1u64..120_000,
        quantum_units in 0u16..6,
        buffer_units in prop::option::of(2u64..20),
        ops in prop::collection::vec(any_op(), 0..400),
        cancel in prop::bool::weighted(0.2),
        tail_probe in any::<bool>(),
    ) {
        let options = ReceiverOptions {
            quantum_units,
            tail_probe,
            receive_buffer_bytes: buffer_units.map_or(0, |n| n * MSS),
            ..Default::default()
        };
        let mut w = World::new(controller, size, options);
        w.open();
        for op in ops {
            let index = |i: usize| i % w.on_the_way.len().max(1);
            match op {
                Op::Deliver { index: i } => {
                    if let Some(packet) = w.on_the_way.remove(index(i)) {
                        w.deliver(&packet);
                    }
                }
                Op::Copy { index: i } => {
                    if let Some(packet) = w.on_the_way.get(index(i)).cloned() {
                        w.on_the_way.push_back(packet.clone());
                        w.deliver(&packet);
                    }
                }
                Op::Drop { index: i } => {
                    w.on_the_way.remove(index(i));
                }
                Op::Hold => {
                    if let Some(packet) = w.on_the_way.pop_front() {
                        w.on_the_way.push_back(packet);
                    }
                }
                Op::Switch { to } => w.switch(to),
                Op::Timer => {
                    if w.last.next_timer < Instant::MAX {
                        w.now = w.now.max(w.last.next_timer);
                    }
                    let step = w.receiver.on_timeout(w.now);
                    w.after(step);
                }
                Op::Wait { us } => w.now += Duration::from_micros(us),
            }
        }
        if cancel && !w.last.completed {
            let delivered = w.last.delivered;
            let step = w.receiver.cancel(w.now);
            w.after(step);
            for packet in std::mem::take(&mut w.on_the_way) {
                w.deliver(&packet);
                prop_assert!(w.on_the_way.is_empty());
            }
            prop_assert_eq!(w.last.delivered, delivered);
            prop_assert_eq!(w.last.next_timer, Instant::MAX);
            prop_assert!(w.receiver.is_released());
        } else {
            for _ in 0..20_000 {
                if w.last.completed {
                    break;
                }
                w.go_on();
            }
            prop_assert!(w.last.completed && w.last.verified);
            prop_assert_eq!(w.last.next_timer, Instant::MAX);
        }
    }
}

/// Routers send requests to another source without a word: that is seen once, although DATA of both
/// arrives in turn, and not taken back.
#[test]
fn another_source_is_seen_once_by_its_data() {
    let source = |k: usize| Some(std::net::IpAddr::from([10, 0, 0, k as u8]));
    let mut w = World::new("newreno", 300 * MSS, ReceiverOptions::default());
    w.receiver.set_data_source(source(0));
    w.open();
    for _ in 0..20 {
        w.go_on();
    }
    let mut old: VecDeque<Packet> = w.on_the_way.drain(..).collect();
    assert!(old.len() > 4);
    // Requests go to the other one from now on; the old one's DATA makes the receiver ask.
    w.replica = 1;
    for _ in 0..2 {
        let packet = old.pop_front().unwrap();
        w.deliver(&packet);
    }
    assert_eq!(
        (w.seen().restarts, w.receiver.stats().source_changes),
        (0, 0)
    );
    while !w.last.completed {
        for (k, packet) in [(1, w.on_the_way.pop_front()), (0, old.pop_front())] {
            if let Some(packet) = packet {
                w.now += Duration::from_micros(100);
                w.receiver.set_data_source(source(k));
                w.deliver(&packet);
            }
        }
        if w.on_the_way.is_empty() && old.is_empty() && !w.last.completed {
            w.now = w.now.max(w.last.next_timer);
            let step = w.receiver.on_timeout(w.now);
            w.after(step);
        }
    }
    assert_eq!(
        (w.seen().restarts, w.receiver.stats().source_changes),
        (1, 1)
    );
    assert_eq!(w.receiver.stats().losses, 0);
}

/// A change that the caller tells of is no second one when its DATA comes, but is counted.
#[test]
fn a_told_change_is_not_seen_again() {
    let mut w = World::new("cubic", 100 * MSS, ReceiverOptions::default());
    w.receiver.set_data_source(Some([10, 0, 0, 1].into()));
    w.open();
    w.go_on();
    w.on_the_way.clear();
    w.switch(1);
    w.receiver.set_data_source(Some([10, 0, 0, 2].into()));
    while !w.last.completed {
        w.go_on();
    }
    assert_eq!(
        (w.seen().restarts, w.receiver.stats().source_changes),
        (1, 1)
    );
}
