use super::super::NameServer;
use super::super::message::{Body, Holder, Message};
use super::*;
use proptest::prelude::*;

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn node(last: u8) -> IpAddr {
    [10, 0, 0, last].into()
}

fn ndc() -> Eid {
    Eid::of_name("ndc")
}

fn device(k: u8) -> Eid {
    Eid::of_device([k])
}

/// A binder and a name server, which may be dead, with nothing between them.
struct World {
    binder: Binder,
    server: NameServer,
    alive: bool,
    now: u64,
}

impl World {
    fn new(change: impl FnOnce(&mut BindingOptions)) -> World {
        let mut options = BindingOptions::default();
        options.client.jitter = 0.0;
        change(&mut options);
        let mut binder = Binder::new(options, 0.3);
        binder.add_own(node(1));
        World {
            binder,
            server: NameServer::default(),
            alive: true,
            now: 0,
        }
    }

    fn tell(&mut self, last: u8, body: Body) {
        let mut bytes = Vec::new();
        let message = Message {
            transaction: 1,
            eid: ndc(),
            body,
        };
        message.emit(&mut bytes);
        let now = at(self.now);
        self.server.on_message(now, node(last), &bytes);
    }

    fn register(&mut self, last: u8) {
        let locator = Locator {
            address: node(last),
            cost: last.into(),
            lifetime_ms: 1_000_000,
        };
        let body = Body::Register {
            holder: Holder::default(),
            locators: vec![locator],
        };
        self.tell(last, body);
    }

    fn deregister(&mut self, last: u8) {
        self.tell(last, Body::Deregister(vec![node(last)]));
    }

    fn request(&mut self, k: u8) -> Verdict {
        let now = at(self.now);
        self.binder.on_request(now, device(k), ndc(), 0.0)
    }

    /// Lets the name server answer; what the waiting REQs of device `k` become.
    fn answer(&mut self, k: u8) -> Vec<Verdict> {
        let now = at(self.now);
        for bytes in self.binder.take_datagrams().collect::<Vec<_>>() {
            if self.alive {
                let reply = self.server.on_message(now, node(9), &bytes).to_vec();
                self.binder.on_message(now, &reply);
            }
        }
        let mut verdicts = Vec::new();
        for settled in self.binder.take_settled() {
            for _ in 0..self.binder.held() {
                verdicts.push(self.binder.release(now, device(k), settled, 0.0));
            }
        }
        verdicts
    }

    /// A REQ and, if need be, the name server's answer to what it makes the router ask.
    fn bind(&mut self, k: u8) -> Verdict {
        match self.request(k) {
            Verdict::Hold => self.answer(k)[0],
            verdict => {
                self.answer(k);
                verdict
            }
        }
    }

    fn data(&mut self, k: u8, source: u8, not_here: bool) {
        let now = at(self.now);
        self.binder
            .on_data(now, device(k), ndc(), node(source), not_here);
    }
}

#[test]
fn requests_wait_for_the_list_and_go_to_the_nearest() {
    let mut w = World::new(|o| o.max_held = 2);
    w.register(7);
    w.register(4);
    // This router itself is listed, but does not hold it.
    w.register(1);
    assert_eq!([w.request(1), w.request(1)], [Verdict::Hold; 2]);
    assert_eq!(w.request(1), Verdict::Drop);
    assert_eq!(w.answer(1), [Verdict::Forward(node(4)); 2]);
    assert_eq!(w.request(1), Verdict::Forward(node(4)));
    // The list is good for others, too.
    assert_eq!(w.request(2), Verdict::Forward(node(4)));
    let stats = *w.binder.stats();
    assert_eq!((stats.bound, stats.rebound, stats.resolutions), (2, 0, 1));
    assert_eq!((stats.dropped, w.binder.held()), (1, 0));
}

#[test]
fn a_transfer_stays_with_its_source_as_long_as_that_is_listed() {
    let mut w = World::new(|_| {});
    w.register(7);
    assert_eq!(w.bind(1), Verdict::Forward(node(7)));
    w.register(4);
    w.now = 2000;
    w.data(1, 7, false);
    // The old list has expired: it is renewed while the transfer goes on.
    assert_eq!(w.request(1), Verdict::Forward(node(7)));
    w.answer(1);
    assert_eq!(w.binder.stats().resolutions, 2);
    assert_eq!(w.request(1), Verdict::Forward(node(7)));
    assert_eq!(w.request(2), Verdict::Forward(node(4)));
    w.deregister(7);
    w.now = 4000;
    w.data(1, 7, false);
    assert_eq!(w.bind(1), Verdict::Forward(node(7)));
    assert_eq!(w.request(1), Verdict::Forward(node(4)), "no longer listed");
    assert_eq!(w.binder.stats().rebound, 1);
}

#[test]
fn not_here_ends_a_binding_at_once() {
    let mut w = World::new(|_| {});
    w.register(4);
    w.register(7);
    assert_eq!(w.bind(1), Verdict::Forward(node(4)));
    w.now = 10;
    w.data(1, 4, true);
    assert_eq!(w.request(1), Verdict::Forward(node(7)));
    // What 4 said about earlier REQs changes nothing more.
    w.data(1, 4, true);
    assert_eq!(w.request(1), Verdict::Forward(node(7)));
    // The last one says so, too: another list, in which nobody new is.
    w.data(1, 7, true);
    assert_eq!(w.request(1), Verdict::Hold);
    assert_eq!(w.answer(1), [Verdict::Refuse(Refusal::NoReplica)]);
    assert_eq!(w.request(1), Verdict::Refuse(Refusal::NoReplica));
    // A new one comes.
    w.register(9);
    w.now = 1100;
    assert_eq!(w.bind(1), Verdict::Forward(node(9)));
}

#[test]
fn a_transfer_finds_the_one_live_source_of_five() {
    let mut w = World::new(|_| {});
    for last in [3, 4, 5, 6, 7] {
        w.register(last);
    }
    // The receiver's timer expires after 1, 2, 4, ... s; nothing but the last source would answer.
    let mut tried = Vec::new();
    for ms in [0, 1000, 3000, 7000, 15_000, 31_000, 59_000] {
        w.now = ms;
        tried.push(w.bind(1));
    }
    let expected = [3, 3, 3, 4, 5, 6, 7].map(|last| Verdict::Forward(node(last)));
    assert_eq!(tried, expected);
    // DATA makes it patient again.
    w.data(1, 7, false);
    for ms in [59_200, 59_600, 60_300] {
        w.now = ms;
        assert_eq!(w.bind(1), Verdict::Forward(node(7)));
    }
}

#[test]
fn a_silent_source_is_left_and_taken_again_only_for_lack_of_others() {
    let mut w = World::new(|_| {});
    w.register(4);
    w.register(7);
    assert_eq!(w.bind(1), Verdict::Forward(node(4)));
    // The receiver's timer expires after 200, 400, 800 ms.
    for ms in [200, 600] {
        w.now = ms;
        assert_eq!(w.bind(1), Verdict::Forward(node(4)));
    }
    w.now = 1400;
    assert_eq!(w.bind(1), Verdict::Forward(node(7)));
    assert_eq!(
        (w.binder.stats().suspected, w.binder.stats().rebound),
        (1, 1)
    );
    // Another transfer learns from that.
    assert_eq!(w.bind(2), Verdict::Forward(node(7)));
    // DATA of the suspect clears it.
    w.data(2, 4, false);
    w.now = 1500;
    assert_eq!(w.bind(3), Verdict::Forward(node(4)));
    // Slow, but not silent: there is DATA now and then.
    for _ in 0..20 {
        w.now += 300;
        assert_eq!(w.bind(3), Verdict::Forward(node(4)));
        w.data(3, 4, false);
    }
    w.deregister(7);
    w.now += 2000;
    for _ in 0..8 {
        w.now += 1000;
        assert_eq!(w.bind(3), Verdict::Forward(node(4)), "there is no other");
    }
}

#[test]
fn failures_have_names_and_an_old_list_outlives_its_server() {
    let mut w = World::new(|o| o.client.tries = 2);
    assert_eq!(w.request(1), Verdict::Hold);
    assert!(w.answer(1).is_empty(), "the registration may be on its way");
    w.now = 1000;
    w.binder.on_timeout(at(w.now), 0.0);
    let unknown = Verdict::Refuse(Refusal::NameUnknown);
    assert_eq!(w.answer(1), [unknown]);
    let asked = w.binder.stats().resolutions;
    assert_eq!(w.bind(1), unknown);
    assert_eq!(w.binder.stats().resolutions, asked, "not again at once");
    w.now = 2000;
    w.alive = false;
    assert_eq!(w.request(1), Verdict::Hold);
    w.answer(1);
    while w.binder.stats().refused < 3 {
        w.now = w.binder.next_timer().as_nanos() / 1_000_000;
        assert!(w.now <= 5000, "bounded");
        w.binder.on_timeout(at(w.now), 0.0);
        let verdicts = w.answer(1);
        let unreachable = Verdict::Refuse(Refusal::NameServerUnreachable);
        assert!(verdicts.iter().all(|&v| v == unreachable), "{verdicts:?}");
    }
    w.alive = true;
    w.register(4);
    w.now = 10_000;
    assert_eq!(w.bind(1), Verdict::Forward(node(4)));
    w.alive = false;
    for _ in 0..30 {
        w.now += 700;
        w.data(1, 4, false);
        w.binder.on_timeout(at(w.now), 0.0);
        assert_eq!(w.bind(1), Verdict::Forward(node(4)));
    }
    w.alive = true;
    w.deregister(4);
    w.now += 5000;
    w.binder.on_timeout(at(w.now), 0.0);
    w.answer(1);
    w.data(1, 4, true);
    w.now += 5000;
    assert_eq!(w.bind(1), Verdict::Refuse(Refusal::NoReplica));
}

#[test]
fn passing_requests_change_their_destination_for_a_nearer_or_living_source() {
    let mut w = World::new(|_| {});
    w.register(7);
    w.register(4);
    let pass = |w: &mut World, k, to| {
        let now = at(w.now);
        let answer = w.binder.on_passing(now, device(k), ndc(), node(to), 0.0);
        w.answer(k);
        answer
    };
    assert_eq!(pass(&mut w, 1, 7), None, "nothing waits for the list");
    assert_eq!(pass(&mut w, 1, 7), Some(node(4)));
    assert_eq!(pass(&mut w, 1, 4), None);
    assert_eq!(pass(&mut w, 2, 4), None);
    w.data(1, 4, true);
    assert_eq!(pass(&mut w, 1, 4), Some(node(7)));
    assert_eq!(pass(&mut w, 3, 8), Some(node(7)), "8 is not listed");
    // Nobody knows better.
    w.data(1, 7, true);
    assert_eq!(pass(&mut w, 1, 7), None);
}

#[test]
fn a_restart_forgets_all_and_memory_is_bounded() {
    let mut w = World::new(|_| {});
    w.register(4);
    w.bind(1);
    assert_eq!(w.request(1), Verdict::Forward(node(4)));
    w.binder.restart(0.7);
    assert_eq!(w.binder.source(device(1), ndc()), None);
    assert_eq!(w.request(1), Verdict::Hold);
    assert_eq!(w.answer(1), [Verdict::Forward(node(4))]);
    for k in 0..Binder::MAX_REMEMBERED + 10 {
        let device = Eid::of_device(k.to_be_bytes());
        w.binder.on_request(at(w.now), device, ndc(), 0.0);
    }
    assert_eq!(w.binder.transfers.len(), Binder::MAX_REMEMBERED);
    assert_eq!(w.binder.transfer_order.len(), Binder::MAX_REMEMBERED);
}

#[test]
fn a_refusal_answers_its_request() {
    let mut request = Vec::new();
    let req = Repr {
        source: device(1),
        destination: ndc(),
        packet_number: 5,
        offset: 1000,
        length: 10,
        kind: Kind::Request {
            probe: false,
            timestamp: false,
            mss: None,
            lost: crate::wire::Segments::NONE,
        },
    };
    req.emit(Sum::ZERO, &mut request);
    for why in Refusal::ALL {
        let mut out = Vec::new();
        refusal(&request, why, &mut out).unwrap();
        let answer = Repr::parse(&out).unwrap();
        assert_eq!((answer.source, answer.destination), (ndc(), device(1)));
        assert_eq!((answer.packet_number, answer.length), (5, 0));
        assert!(matches!(answer.kind, Kind::Data { refusal: Some(r), .. } if r == why));
        assert_eq!(
            refusal(&out, why, &mut Vec::new()),
            None,
            "DATA is not answered"
        );
    }
    assert_eq!(
        refusal(&request[..50], Refusal::NoReplica, &mut Vec::new()),
        None
    );
}

/// A transfer over a router with lossy surroundings.
struct Lossy {
    w: World,
    /// Those that hold the NDC and live.
    holders: Vec<u8>,
    held: u32,
    served: u32,
    refused: u32,
}

impl Lossy {
    fn act(&mut self, verdict: Verdict, lost: bool) {
        match verdict {
            Verdict::Hold => self.held += 1,
            Verdict::Drop => {}
            Verdict::Refuse(_) => self.refused += 1,
            Verdict::Forward(to) if !lost => {
                for k in 2..6 {
                    if node(k) == to {
                        let holds = self.holders.contains(&k);
                        self.served += u32::from(holds);
                        self.w.data(1, k, !holds);
                    }
                }
            }
            Verdict::Forward(_) => {}
        }
    }
}

proptest! {
    /// Whatever is lost between router, sources and name server: no REQ waits for ever, the router
    /// itself is never chosen, and when losses stop and someone holds the NDC, it is served.
    #[test]
    fn random_losses_and_moves_end_in_service(
        events in prop::collection::vec((0u8..8, 2u8..6, 0u64..900, any::<bool>()), 1..60),
    ) {
        let mut t = Lossy {
            w: World::new(|o| o.client.tries = 3),
            holders: vec![3],
            held: 0,
            served: 0,
            refused: 0,
        };
        t.w.register(3);
        for (kind, k, ms, lost) in events {
            t.w.now += ms;
            match kind {
                0 => {
                    t.holders.push(k);
                    t.w.register(k);
                }
                // Some leave without a word.
                1 => t.holders.retain(|&h| h != k),
                2 => {
                    t.holders.retain(|&h| h != k);
                    t.w.deregister(k);
                }
                _ => {
                    let verdict = t.w.request(1);
                    t.act(verdict, lost);
                }
            }
            t.w.alive = !lost;
            let now = at(t.w.now);
            t.w.binder.on_timeout(now, 0.0);
            for verdict in t.w.answer(1) {
                t.held -= 1;
                prop_assert!(!matches!(verdict, Verdict::Hold));
                t.act(verdict, lost);
            }
            prop_assert_eq!(t.held, t.w.binder.held());
            prop_assert_ne!(t.w.binder.source(device(1), ndc()), Some(node(1)));
        }
        // All is well from now on.
        t.w.alive = true;
        t.holders.push(5);
        t.w.register(5);
        let before = t.served;
        for _ in 0..60 {
            t.w.now += 500;
            let now = at(t.w.now);
            t.w.binder.on_timeout(now, 0.0);
            for verdict in t.w.answer(1) {
                t.held -= 1;
                t.act(verdict, false);
            }
            let verdict = t.w.request(1);
            t.act(verdict, false);
            for verdict in t.w.answer(1) {
                t.held -= 1;
                t.act(verdict, false);
            }
        }
        prop_assert!(t.served > before, "served at last");
        prop_assert_eq!(t.w.binder.held(), t.held);
    }
}
