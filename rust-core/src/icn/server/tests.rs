use super::*;
use proptest::prelude::*;

const NDC: Eid = Eid([7; 20]);

fn node(last: u8) -> IpAddr {
    [10, 0, 0, last].into()
}

fn locator(last: u8, cost: u16, lifetime_ms: u32) -> Locator {
    Locator {
        address: node(last),
        cost,
        lifetime_ms,
    }
}

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// Sends a request from node `from` and reads the reply.
fn ask(server: &mut NameServer, now: Instant, from: u8, eid: Eid, body: Body) -> Body {
    let request = Message {
        transaction: 42,
        eid,
        body,
    };
    let mut bytes = Vec::new();
    request.emit(&mut bytes);
    let reply = Message::parse(server.on_message(now, node(from), &bytes)).unwrap();
    assert_eq!((reply.transaction, reply.eid), (42, eid));
    reply.body
}

/// A REGISTER of nobody's.
fn register_body(locators: Vec<Locator>) -> Body {
    Body::Register {
        holder: Holder::default(),
        locators,
    }
}

/// Node `last` registers as `holder`, which has moved that often.
fn register_as(server: &mut NameServer, now: Instant, holder: (u64, u32), last: u8) -> Body {
    let body = Body::Register {
        holder: Holder {
            id: holder.0,
            moves: holder.1,
        },
        locators: vec![locator(last, 0, 1000)],
    };
    ask(server, now, last, NDC, body)
}

fn register(server: &mut NameServer, now: Instant, last: u8, lifetime_ms: u32) -> Body {
    let body = register_body(vec![locator(last, last.into(), lifetime_ms)]);
    ask(server, now, last, NDC, body)
}

fn resolve(server: &mut NameServer, now: Instant) -> Vec<u8> {
    match ask(server, now, 99, NDC, Body::Resolve) {
        Body::Answer { locators, .. } => locators
            .iter()
            .map(|l| match l.address {
                IpAddr::V4(a) => a.octets()[3],
                IpAddr::V6(_) => panic!("only IPv4 here"),
            })
            .collect(),
        Body::Error(ErrorCode::UnknownName) => Vec::new(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn replicas_are_listed_in_the_order_of_registration_until_they_expire() {
    let mut server = NameServer::default();
    assert_eq!(resolve(&mut server, at(0)), [0; 0]);
    for (last, lifetime) in [(3, 100), (1, 300), (2, 200)] {
        let granted = register(&mut server, at(0), last, lifetime);
        assert_eq!(
            granted,
            Body::Registered(vec![locator(last, last.into(), lifetime)])
        );
    }
    assert_eq!(resolve(&mut server, at(99)), [3, 1, 2]);
    assert_eq!(resolve(&mut server, at(100)), [1, 2]);
    // A refresh keeps the place, one that comes too late does not.
    register(&mut server, at(150), 1, 1000);
    register(&mut server, at(150), 3, 1000);
    assert_eq!(resolve(&mut server, at(199)), [1, 2, 3]);
    assert_eq!(resolve(&mut server, at(1149)), [1, 3]);
    assert_eq!(resolve(&mut server, at(1150)), [0; 0]);
    assert_eq!(server.stats().queries, 6);
    assert_eq!(server.stats().unknown, 2);
}

#[test]
fn answers_tell_what_is_left_of_the_lifetime() {
    let mut server = NameServer::default();
    register(&mut server, at(0), 1, 100);
    let left = |server: &NameServer, now| server.locators(now, &NDC)[0].lifetime_ms;
    assert_eq!(left(&server, at(30)), 70);
    assert_eq!(left(&server, Instant::from_nanos(99_999_999)), 1);
    let long = register(&mut server, at(0), 1, u32::MAX);
    assert_eq!(long, Body::Registered(vec![locator(1, 1, 3_600_000)]));
}

#[test]
fn deregistering_removes_at_once_and_may_be_repeated() {
    let mut server = NameServer::default();
    register(&mut server, at(0), 1, 1000);
    register(&mut server, at(0), 2, 1000);
    for _ in 0..2 {
        let body = Body::Deregister(vec![node(1)]);
        let gone = ask(&mut server, at(1), 1, NDC, body);
        assert_eq!(gone, Body::Registered(vec![locator(1, 0, 0)]));
        assert_eq!(resolve(&mut server, at(1)), [2]);
    }
    assert_eq!(server.stats().removals, 1);
}

#[test]
fn a_node_speaks_for_itself_only() {
    let mut server = NameServer::default();
    let refused = Body::Error(ErrorCode::Refused);
    register(&mut server, at(0), 1, 1000);
    let body = register_body(vec![locator(1, 0, 1000)]);
    assert_eq!(ask(&mut server, at(0), 2, NDC, body), refused);
    let body = Body::Deregister(vec![node(1)]);
    assert_eq!(ask(&mut server, at(0), 2, NDC, body), refused);
    assert_eq!(resolve(&mut server, at(0)), [1]);
    assert_eq!(server.stats().refused, 2);
}

#[test]
fn a_holder_that_moves_takes_its_old_addresses_along_and_nobody_else_can() {
    let mut server = NameServer::new(ServerOptions {
        max_replicas: 2,
        ..ServerOptions::default()
    });
    let refused = Body::Error(ErrorCode::Refused);
    register_as(&mut server, at(0), (7, 0), 1);
    register_as(&mut server, at(0), (8, 0), 2);
    // It keeps its place, and needs no room.
    for moves in 1..=3 {
        register_as(&mut server, at(1), (7, moves), 10 + moves as u8);
        assert_eq!(resolve(&mut server, at(1)), [10 + moves as u8, 2]);
    }
    // What was sent from an earlier address comes late.
    assert_eq!(register_as(&mut server, at(2), (7, 2), 12), refused);
    assert_eq!(resolve(&mut server, at(2)), [13, 2]);
    // Neither another holder nor nobody replaces what is not theirs.
    assert_eq!(register_as(&mut server, at(3), (9, 5), 3), refused);
    assert_eq!(register(&mut server, at(3), 3, 1000), refused);
    assert_eq!(resolve(&mut server, at(3)), [13, 2]);
    // The old address is another node's by now; the holder's next move leaves it alone.
    register_as(&mut server, at(4), (8, 1), 13);
    assert_eq!(resolve(&mut server, at(4)), [13]);
    register_as(&mut server, at(5), (7, 4), 14);
    assert_eq!(resolve(&mut server, at(5)), [13, 14]);
    // Two of nobody's have nothing to do with each other.
    let mut server = NameServer::default();
    register(&mut server, at(0), 1, 1000);
    register(&mut server, at(0), 2, 1000);
    assert_eq!(resolve(&mut server, at(0)), [1, 2]);
}

#[test]
fn the_table_has_limits_that_expiry_frees() {
    let mut server = NameServer::new(ServerOptions {
        max_replicas: 2,
        max_names: 2,
        ..ServerOptions::default()
    });
    let refused = Body::Error(ErrorCode::Refused);
    register(&mut server, at(0), 1, 100);
    register(&mut server, at(0), 2, 1000);
    assert_eq!(register(&mut server, at(99), 3, 1000), refused);
    assert_ne!(register(&mut server, at(100), 3, 1000), refused);
    let other = |n| Eid([n; 20]);
    let one = |server: &mut NameServer, now, n| {
        let body = register_body(vec![locator(1, 0, 100)]);
        ask(server, now, 1, other(n), body)
    };
    assert_ne!(one(&mut server, at(100), 1), refused);
    assert_eq!(one(&mut server, at(199), 2), refused);
    assert_ne!(one(&mut server, at(200), 2), refused);
}

#[test]
fn what_is_no_request_is_answered_only_if_it_looks_like_one() {
    let mut server = NameServer::default();
    let mut bytes = Vec::new();
    let message = |body| Message {
        transaction: 5,
        eid: NDC,
        body,
    };
    message(Body::Error(ErrorCode::Refused)).emit(&mut bytes);
    assert!(server.on_message(at(0), node(1), &bytes).is_empty());
    assert!(server.on_message(at(0), node(1), &[1, 4, 0]).is_empty());
    let mut bytes = Vec::new();
    message(Body::Resolve).emit(&mut bytes);
    bytes.push(0);
    let reply = Message::parse(server.on_message(at(0), node(1), &bytes));
    assert_eq!(reply, Ok(message(Body::Error(ErrorCode::Malformed))));
    assert_eq!(server.stats().malformed, 3);
}

#[test]
fn many_replicas_are_cut_to_a_datagram() {
    let mut server = NameServer::default();
    for last in 0..200 {
        register(&mut server, at(0), last, 1000);
    }
    let body = ask(&mut server, at(0), 99, NDC, Body::Resolve);
    let Body::Answer {
        locators,
        truncated,
    } = body
    else {
        panic!("no ANSWER")
    };
    assert!(truncated && locators.len() < 200);
}

proptest! {
    /// Whatever comes, the server does not panic, and its replies are valid.
    #[test]
    fn any_datagram_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..64), kind in 0u8..8) {
        let mut server = NameServer::default();
        let mut bytes = bytes;
        if bytes.len() > 1 {
            (bytes[0], bytes[1]) = (VERSION, kind);
        }
        let reply = server.on_message(at(0), node(1), &bytes);
        prop_assert!(reply.is_empty() || Message::parse(reply).is_ok());
    }

    /// The table equals a plain list of all registrations.
    #[test]
    fn the_table_is_what_was_registered(
        steps in prop::collection::vec((0u8..4, 0u64..50, 1u32..120, any::<bool>()), 1..60),
    ) {
        let mut server = NameServer::default();
        let mut model: Vec<(u8, u64)> = Vec::new();
        let mut now = 0;
        for (last, wait, lifetime, add) in steps {
            now += wait;
            model.retain(|&(_, expires)| expires > now);
            if add {
                register(&mut server, at(now), last, lifetime);
                let expires = now + u64::from(lifetime);
                match model.iter_mut().find(|(l, _)| *l == last) {
                    Some(old) => old.1 = expires,
                    None => model.push((last, expires)),
                }
            } else {
                ask(&mut server, at(now), last, NDC, Body::Deregister(vec![node(last)]));
                model.retain(|&(l, _)| l != last);
            }
            let expected: Vec<u8> = model.iter().map(|&(l, _)| l).collect();
            prop_assert_eq!(resolve(&mut server, at(now)), expected);
        }
    }
}

#[test]
fn subscribers_are_told_of_an_ndc_when_it_is_first_asked_for() {
    let mut server = NameServer::default();
    register(&mut server, at(0), 3, 10_000);
    let subscribe = |server: &mut NameServer, ms, from: u8, address: u8, lifetime| {
        let body = Body::Subscribe(locator(address, 0, lifetime));
        ask(server, at(ms), from, Eid::default(), body)
    };
    let granted = subscribe(&mut server, 0, 50, 50, 1000);
    assert_eq!(granted, Body::Registered(vec![locator(50, 0, 1000)]));
    subscribe(&mut server, 0, 99, 99, 1000);
    let foreign = subscribe(&mut server, 0, 51, 50, 1000);
    assert_eq!(foreign, Body::Error(ErrorCode::Refused));
    assert_eq!(server.announcements(), []);
    resolve(&mut server, at(10));
    // Node 99 asked itself.
    let [(to, bytes)] = server.announcements() else {
        panic!("{:?}", server.announcements());
    };
    let message = Message::parse(bytes).unwrap();
    assert_eq!((*to, message.transaction, message.eid), (node(50), 0, NDC));
    assert_eq!(message.body, Body::Announce(vec![locator(3, 3, 9990)]));
    resolve(&mut server, at(20));
    assert_eq!(server.announcements(), [], "once");
    // Gone and back again.
    ask(&mut server, at(30), 3, NDC, Body::Deregister(vec![node(3)]));
    register(&mut server, at(40), 3, 10_000);
    resolve(&mut server, at(50));
    assert_eq!(server.announcements().len(), 1);
    // The subscription has expired.
    ask(&mut server, at(60), 3, NDC, Body::Deregister(vec![node(3)]));
    register(&mut server, at(60), 3, 10_000);
    resolve(&mut server, at(1000));
    assert_eq!(server.announcements(), []);
    let stats = server.stats();
    assert_eq!((stats.subscriptions, stats.announcements), (2, 2));
}
