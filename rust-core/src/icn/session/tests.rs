use super::super::message::{Body, ErrorCode, Holder, Message};
use super::super::{ClientOptions, NameServer, ReplicaChoice};
use super::*;
use crate::transport::Replica;
use proptest::prelude::*;

fn ndc() -> Eid {
    Eid::of_name("ndc")
}

fn device() -> Eid {
    Eid::of_name("device")
}

fn node(last: u8) -> IpAddr {
    [10, 0, 0, last].into()
}

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn locator(last: u8, cost: u16) -> Locator {
    Locator {
        address: node(last),
        cost,
        lifetime_ms: 60_000,
    }
}

fn options() -> SessionOptions {
    SessionOptions {
        client: ClientOptions {
            jitter: 0.0,
            ..ClientOptions::default()
        },
        ..SessionOptions::default()
    }
}

/// A session with its surroundings: a name server that may be dead, replicas that may be dead or
/// empty, each at a distance, and a receiver that gets a byte per ms from a live replica and has a
/// retransmission timeout of 200 ms, which doubles.
struct World {
    session: Session,
    server: Option<NameServer>,
    /// For lookups.
    table: Vec<Locator>,
    /// Distance of the live ones, ms; none of those that do not hold the NDC.
    replicas: Vec<(IpAddr, Option<u64>)>,
    now: u64,
    timer: Instant,
    delivered: u64,
    current: Option<IpAddr>,
    rto: u64,
    rto_at: u64,
    used: Vec<(u64, IpAddr)>,
    failure: Option<(u64, Failure)>,
    /// Answers to probes under way: when they arrive, and the header.
    answers: Vec<(u64, Vec<u8>)>,
}

impl World {
    fn new(options: SessionOptions, replicas: &[(u8, Option<u64>)]) -> World {
        let table: Vec<_> = replicas
            .iter()
            .map(|&(n, _)| locator(n, n.into()))
            .collect();
        let mut server = NameServer::default();
        for l in &table {
            let mut bytes = Vec::new();
            let body = Body::Register {
                holder: Holder::default(),
                locators: vec![Locator {
                    lifetime_ms: 3_600_000,
                    ..*l
                }],
            };
            Message {
                transaction: 1,
                eid: ndc(),
                body,
            }
            .emit(&mut bytes);
            server.on_message(Instant::ZERO, l.address, &bytes);
        }
        World {
            session: Session::new(options, device(), ndc(), 0.5),
            server: Some(server),
            table,
            replicas: replicas.iter().map(|&(n, d)| (node(n), d)).collect(),
            now: 0,
            timer: Instant::MAX,
            delivered: 0,
            current: None,
            rto: 200,
            rto_at: u64::MAX,
            used: Vec::new(),
            failure: None,
            answers: Vec::new(),
        }
    }

    fn set(&mut self, last: u8, state: Option<Option<u64>>) {
        self.replicas.retain(|r| r.0 != node(last));
        if let Some(distance) = state {
            self.replicas.push((node(last), distance));
        }
    }

    fn distance(&self, address: IpAddr) -> Option<Option<u64>> {
        let found = self.replicas.iter().find(|r| r.0 == address);
        found.map(|r| r.1)
    }

    fn progress(&self) -> Progress {
        Progress {
            delivered: Bytes::new(self.delivered),
        }
    }

    /// Does what a step says.
    fn apply(&mut self, step: Step) {
        self.timer = step.next_timer;
        if let Some(address) = step.replica {
            self.current = Some(address);
            self.used.push((self.now, address));
            self.rto = 200;
            self.rto_at = self.now + self.rto;
        }
        if let Some(failure) = step.failure {
            assert!(self.failure.is_none(), "fails once");
            self.failure = Some((self.now, failure));
            assert_eq!(step.next_timer, Instant::MAX);
        }
        for probe in self.session.take_probes().collect::<Vec<_>>() {
            let mut replica = Replica::new();
            match self.distance(probe.address) {
                Some(Some(_)) => {
                    replica.add_virtual("ndc", 1_000_000);
                }
                Some(None) => {}
                None => continue,
            }
            let out = replica.on_request(0, &probe.header);
            let header = out.header(&out.packets[0]).to_vec();
            let distance = self.distance(probe.address).flatten().unwrap_or(1);
            self.answers.push((self.now + 2 * distance, header));
        }
        for bytes in self.session.take_datagrams().collect::<Vec<_>>() {
            let now = at(self.now);
            let Some(server) = &mut self.server else {
                continue;
            };
            let reply = server.on_message(now, node(99), &bytes).to_vec();
            let step = self.session.on_message(now, &reply, 0.0);
            self.apply(step);
        }
        if step.look_up {
            let list = self.table.clone();
            let step = self.session.on_list(at(self.now), &list, 0.0);
            self.apply(step);
        }
    }

    fn start(&mut self) {
        let step = self.session.start(at(self.now), 0.0);
        self.apply(step);
    }

    /// An empty DATA packet of a replica without the NDC, or without the size a probe asks for.
    fn not_here(pn: u64) -> Vec<u8> {
        let mut out = Vec::new();
        Repr {
            source: ndc(),
            destination: device(),
            packet_number: pn,
            offset: 0,
            length: 0,
            kind: Kind::Data {
                mark: false,
                probe: false,
                timestamp_ns: None,
                ndc_size: None,
                refusal: None,
            },
        }
        .emit(Sum::ZERO, &mut out);
        out
    }

    /// Goes on until `end`, in ms.
    fn run(&mut self, end: u64) {
        while self.now < end && self.failure.is_none() {
            self.now += 1;
            let now = at(self.now);
            let serving = self.current.and_then(|c| self.distance(c));
            match serving {
                Some(Some(_)) => {
                    self.delivered += 1;
                    self.rto = 200;
                    self.rto_at = self.now + self.rto;
                }
                // Each REQ is answered at once: not here.
                Some(None) => {
                    let header = World::not_here(7);
                    let step = self.session.on_empty_data(now, &header, 7, 0.0);
                    self.apply(step);
                }
                None if self.rto_at == self.now => {
                    self.rto *= 2;
                    self.rto_at = self.now + self.rto;
                    let step = self.session.on_rto(now, self.progress(), 0.0);
                    self.apply(step);
                }
                None => {}
            }
            let due = self.answers.iter().position(|a| a.0 <= self.now);
            if let Some(i) = due {
                let (_, header) = self.answers.swap_remove(i);
                let step = self.session.on_empty_data(now, &header, 7, 0.0);
                self.apply(step);
            }
            if self.timer <= now {
                let step = self.session.on_timeout(now, self.progress(), 0.0);
                self.apply(step);
                assert!(step.next_timer > now);
            }
        }
    }

    fn replicas_used(&self) -> Vec<u8> {
        self.used
            .iter()
            .map(|(_, a)| match a {
                IpAddr::V4(a) => a.octets()[3],
                IpAddr::V6(_) => 0,
            })
            .collect()
    }
}

#[test]
fn a_live_replica_is_used_to_the_end() {
    let mut w = World::new(options(), &[(1, Some(5)), (2, Some(5))]);
    w.start();
    w.run(10_000);
    assert_eq!(w.replicas_used(), [1]);
    assert_eq!((w.session.switches(), w.failure), (0, None));
    assert_eq!(w.session.resolve_time(), Some(Duration::ZERO));
    let step = w.session.end();
    assert_eq!(step.next_timer, Instant::MAX);
}

#[test]
fn without_a_name_server_it_fails_by_name_and_opens_nothing() {
    let mut w = World::new(options(), &[(1, Some(5))]);
    w.server = None;
    w.start();
    w.run(100_000);
    // 1 + 2 + 4 + 8 + 16 s.
    assert_eq!(w.failure, Some((31_000, Failure::NameServerUnreachable)));
    assert_eq!((w.used.len(), w.delivered), (0, 0));
}

#[test]
fn unknown_names_fail_after_four_tries() {
    let mut w = World::new(options(), &[]);
    w.start();
    w.run(100_000);
    // 1 + 2 + 4 s.
    assert_eq!(w.failure, Some((7000, Failure::NameUnknown)));
    assert_eq!(w.session.failure(), Some(Failure::NameUnknown));
}

#[test]
fn a_silent_replica_is_left_after_three_timeouts() {
    let mut w = World::new(options(), &[(1, Some(5)), (2, Some(5))]);
    w.start();
    w.run(1000);
    w.set(1, None);
    w.run(10_000);
    // 200 + 400 + 800 ms after the last byte.
    assert_eq!(w.used[1], (2400, node(2)));
    assert_eq!((w.session.switches(), w.failure), (1, None));
    assert_eq!(w.session.replica(), Some(node(2)));
}

#[test]
fn the_list_at_hand_suffices_when_the_name_server_dies() {
    let mut w = World::new(options(), &[(1, Some(5)), (2, Some(5)), (3, Some(5))]);
    w.start();
    w.server = None;
    w.run(1000);
    w.set(1, None);
    w.set(2, None);
    w.run(20_000);
    assert_eq!(w.replicas_used(), [1, 2, 3]);
    assert_eq!(w.failure, None);
    let before = w.delivered;
    w.run(20_100);
    assert_eq!(w.delivered, before + 100);
}

#[test]
fn dead_replicas_and_a_dead_server_fail_within_a_minute_of_the_last_byte() {
    let mut w = World::new(options(), &[(1, Some(5)), (2, Some(5))]);
    w.start();
    w.run(1500);
    w.server = None;
    w.set(1, None);
    w.set(2, None);
    w.run(200_000);
    let (when, failure) = w.failure.unwrap();
    assert_eq!(failure, Failure::NameServerUnreachable);
    assert!((60_500..=61_500).contains(&when), "{when}");
}

#[test]
fn dead_replicas_that_stay_registered_fail_within_a_minute() {
    let mut w = World::new(options(), &[(1, None), (2, None)]);
    w.set(1, None);
    w.set(2, None);
    w.start();
    w.run(200_000);
    assert_eq!(w.failure, Some((60_000, Failure::NoReplica)));
    assert!(w.session.switches() > 2);
    assert_eq!(w.delivered, 0);
}

#[test]
fn a_replica_that_comes_back_is_used_again() {
    let mut w = World::new(options(), &[(1, Some(5))]);
    w.start();
    w.run(1000);
    w.set(1, None);
    w.run(20_000);
    w.set(1, Some(Some(5)));
    let before = w.delivered;
    w.run(21_000);
    assert_eq!(w.delivered, before + 1000);
    w.run(200_000);
    assert_eq!((w.failure, w.session.switches()), (None, 0));
}

#[test]
fn a_replica_without_the_ndc_is_left_at_once() {
    let mut w = World::new(options(), &[(1, Some(5)), (2, Some(5))]);
    w.start();
    w.run(1000);
    w.set(1, Some(None));
    w.run(2000);
    assert_eq!(w.used[1], (1001, node(2)));
    // Late words of the old replica mean nothing: they answer older requests.
    let header = World::not_here(6);
    let step = w.session.on_empty_data(at(2000), &header, 7, 0.0);
    assert_eq!(step.replica, None);
    // Nor do damaged ones.
    let mut damaged = World::not_here(7);
    damaged[60] ^= 1;
    let step = w.session.on_empty_data(at(2000), &damaged, 7, 0.0);
    assert_eq!(step.replica, None);
}

#[test]
fn vanished_replicas_fail_once_the_server_knows() {
    let mut w = World::new(options(), &[(1, Some(5)), (2, Some(5))]);
    w.start();
    w.run(1000);
    w.set(1, Some(None));
    w.set(2, Some(None));
    w.server = Some(NameServer::default());
    w.run(200_000);
    let (when, failure) = w.failure.unwrap();
    assert_eq!(failure, Failure::NoReplica);
    assert!(when < 1100, "{when}");
}

#[test]
fn replicas_that_only_claim_to_hold_it_do_not_keep_the_server_busy() {
    let mut w = World::new(options(), &[(1, None), (2, None)]);
    w.start();
    w.run(200_000);
    assert_eq!(w.failure, Some((60_000, Failure::NoReplica)));
    let queries = w.server.as_ref().unwrap().stats().queries;
    assert!((5..12).contains(&queries), "{queries}");
}

#[test]
fn forced_switches_keep_the_list() {
    let mut w = World::new(options(), &[(1, Some(5)), (2, Some(5)), (3, Some(5))]);
    w.start();
    for (t, to) in [
        (1000, Some(3)),
        (2000, None),
        (3000, Some(9)),
        (4000, Some(9)),
    ] {
        w.run(t);
        w.set(9, Some(Some(5)));
        let step = w.session.switch_to(at(t), to.map(node), 0.0);
        w.apply(step);
    }
    w.run(5000);
    // The next of the list is the first one; the same again is no switch.
    assert_eq!(w.replicas_used(), [1, 3, 1, 9]);
    assert_eq!((w.session.switches(), w.failure), (3, None));
}

#[test]
fn nothing_is_forced_before_there_is_a_replica_or_after_the_end() {
    let mut w = World::new(options(), &[(1, Some(5)), (2, Some(5))]);
    assert_eq!(w.session.switch_to(at(0), Some(node(2)), 0.0).replica, None);
    w.start();
    w.session.end();
    assert_eq!(w.session.switch_to(at(1), Some(node(2)), 0.0).replica, None);
    assert_eq!(w.session.switches(), 0);
}

#[test]
fn nearest_and_lowest_rtt_differ_where_costs_lie() {
    let replicas = [(1, Some(30)), (2, Some(10)), (3, Some(20))];
    let with = |choice| SessionOptions {
        choice,
        ..options()
    };
    let mut w = World::new(with(ReplicaChoice::Nearest), &replicas);
    w.start();
    assert_eq!(w.used, [(0, node(1))]);
    let mut w = World::new(with(ReplicaChoice::LowestRtt), &replicas);
    w.start();
    w.run(5000);
    assert_eq!(w.used, [(20, node(2))]);
    // The others' answers came too late to be measured: the next in the list.
    w.set(2, None);
    w.run(10_000);
    assert_eq!(w.used[1].1, node(1));
}

#[test]
fn probes_pass_over_the_dead_and_the_empty() {
    let choice = ReplicaChoice::LowestRtt;
    let with = SessionOptions {
        choice,
        ..options()
    };
    let mut w = World::new(with, &[(1, Some(5)), (2, None), (3, Some(40))]);
    w.set(1, None);
    w.start();
    w.run(1000);
    assert_eq!(w.used, [(80, node(3))]);
    // All dead: probes are repeated, then a list is asked for again, until the minute is over.
    let mut w = World::new(with, &[(1, Some(5)), (2, Some(5))]);
    w.set(1, None);
    w.set(2, None);
    w.start();
    w.run(100_000);
    assert_eq!(w.failure, Some((60_000, Failure::NoReplica)));
    assert!(w.used.is_empty());
}

#[test]
fn the_table_is_looked_up_again_when_it_is_used_up() {
    let with = SessionOptions {
        resolution: Resolution::Table,
        ..options()
    };
    let mut w = World::new(with, &[(1, Some(5))]);
    w.start();
    w.run(1000);
    w.set(1, None);
    w.set(4, Some(Some(5)));
    w.table = vec![locator(4, 0)];
    w.run(5000);
    assert_eq!(w.used, [(0, node(1)), (2400, node(4))]);
}

#[test]
fn the_only_configured_address_is_never_left() {
    let with = SessionOptions {
        resolution: Resolution::Address,
        ..options()
    };
    let mut w = World::new(with, &[(1, Some(5))]);
    w.start();
    w.run(1500);
    w.set(1, None);
    w.run(40_000);
    assert_eq!((w.used.len(), w.failure), (1, None));
    w.run(100_000);
    let (when, failure) = w.failure.unwrap();
    assert_eq!(failure, Failure::Stalled);
    assert!((60_500..=61_500).contains(&when), "{when}");

    let mut w = World::new(with, &[(1, None)]);
    w.start();
    w.run(1000);
    assert_eq!(w.failure, Some((1, Failure::NoReplica)));
}

#[test]
fn slow_replicas_are_left_for_others_but_not_for_ever() {
    let with = SessionOptions {
        switch_below: Some(0.5),
        ..options()
    };
    let mut s = Session::new(with, device(), ndc(), 0.0);
    s.start(at(0), 0.0);
    let list = [locator(1, 0), locator(2, 0)];
    s.state = State::Resolving { transaction: 0 };
    assert_eq!(s.on_list(at(0), &list, 0.0).replica, Some(node(1)));
    let mut delivered = 0;
    let mut switches = Vec::new();
    for t in 1..300u64 {
        // Bytes per 200 ms: good for 4 s, then slow everywhere.
        delivered += if t < 20 { 1000 } else { 200 };
        let progress = Progress {
            delivered: Bytes::new(delivered),
        };
        let step = s.on_timeout(at(200 * t), progress, 0.0);
        if let Some(replica) = step.replica {
            switches.push((t, replica));
        }
    }
    assert_eq!(switches.len(), 1, "{switches:?}");
    assert_eq!(switches[0].1, node(2));
    assert!((30..40).contains(&switches[0].0), "{switches:?}");
}

#[test]
fn families_that_are_out_of_reach_are_passed_over() {
    let with = SessionOptions {
        ipv4: false,
        resolution: Resolution::Table,
        ..options()
    };
    let six = IpAddr::V6(std::net::Ipv6Addr::LOCALHOST);
    let mut w = World::new(with, &[(1, Some(5))]);
    w.start();
    assert_eq!(w.failure, Some((0, Failure::NoReplica)));
    let mut w = World::new(with, &[(1, Some(5))]);
    w.table.push(Locator {
        address: six,
        ..locator(0, 0)
    });
    w.start();
    assert_eq!(w.used, [(0, six)]);
}

#[test]
fn errors_of_the_server_other_than_unknown_are_a_dead_server() {
    let mut s = Session::new(options(), device(), ndc(), 0.0);
    s.start(at(0), 0.0);
    let sent: Vec<_> = s.take_datagrams().collect();
    let Message { transaction, .. } = Message::parse(&sent[0]).unwrap();
    let mut reply = Vec::new();
    Message {
        transaction,
        eid: ndc(),
        body: Body::Error(ErrorCode::Refused),
    }
    .emit(&mut reply);
    let step = s.on_message(at(5), &reply, 0.0);
    assert_eq!(step.failure, Some(Failure::NameServerUnreachable));
    // The same again is late.
    assert_eq!(s.on_message(at(6), &reply, 0.0).failure, None);
}

proptest! {
    /// Whatever happens to replicas and server, a session ends: it fails within a minute of the last
    /// byte, or goes on getting bytes. It never waits without a timer.
    #[test]
    fn it_never_hangs(
        choice in prop::sample::select(&[
            ReplicaChoice::Listed, ReplicaChoice::Nearest, ReplicaChoice::LowestRtt,
            ReplicaChoice::Random,
        ][..]),
        below in prop::option::of(0.1f64..0.9),
        events in prop::collection::vec((1u64..4000, 1u8..4, 0u8..5), 0..12),
    ) {
        let with = SessionOptions { choice, switch_below: below, ..options() };
        let mut w = World::new(with, &[(1, Some(5)), (2, Some(9)), (3, Some(2))]);
        w.start();
        let server = w.server.clone();
        for (wait, last, what) in events {
            let end = w.now + wait;
            w.run(end);
            match what {
                0 => w.set(last, None),
                1 => w.set(last, Some(None)),
                2 => w.set(last, Some(Some(u64::from(last)))),
                3 => w.server = None,
                _ => w.server = server.clone(),
            }
            prop_assert!(w.failure.is_some() || w.timer > at(w.now));
        }
        let before = w.delivered;
        let end = w.now + 62_000;
        w.run(end);
        prop_assert!(w.failure.is_some() || w.delivered > before);
    }
}
