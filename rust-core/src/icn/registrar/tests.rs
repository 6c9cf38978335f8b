use super::super::message::{Body, Message};
use super::super::server::{NameServer, ServerOptions};
use super::*;

const A: Eid = Eid([1; 20]);
const B: Eid = Eid([2; 20]);

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn registrar() -> Registrar {
    let options = ClientOptions {
        timeout: Duration::from_millis(100),
        tries: 2,
        jitter: 0.0,
        ..ClientOptions::default()
    };
    let lifetime = Duration::from_millis(1000);
    Registrar::new(options, [10, 0, 0, 1].into(), 7, lifetime, 0.0)
}

/// Hands everything to the server and its replies back.
fn exchange(registrar: &mut Registrar, server: &mut NameServer, now: Instant) -> usize {
    let sent: Vec<_> = registrar.take_sent().collect();
    for bytes in &sent {
        let reply = server.on_message(now, [10, 0, 0, 1].into(), bytes).to_vec();
        registrar.on_message(now, &reply);
    }
    sent.len()
}

#[test]
fn registrations_are_refreshed_at_half_their_lifetime() {
    let mut server = NameServer::new(ServerOptions {
        max_lifetime: Duration::from_millis(600),
        ..ServerOptions::default()
    });
    let mut registrar = registrar();
    registrar.add(at(0), A, 0.0);
    registrar.add(at(0), B, 0.0);
    assert_eq!(exchange(&mut registrar, &mut server, at(0)), 2);
    for step in 1..=20 {
        // Half of what the server granted, not of what was asked for.
        assert_eq!(registrar.next_timer(), at(300 * step));
        registrar.on_timeout(at(300 * step), 0.0);
        assert_eq!(exchange(&mut registrar, &mut server, at(300 * step)), 2);
    }
    assert_eq!(registrar.registered(), 42);
    assert_eq!(server.locators(at(6500), &A)[0].cost, 7);

    registrar.remove(at(6001), A, 0.0);
    assert_eq!(exchange(&mut registrar, &mut server, at(6001)), 1);
    assert!(server.locators(at(6001), &A).is_empty());
    assert!(!server.locators(at(6001), &B).is_empty());
    registrar.stop();
    assert_eq!(registrar.next_timer(), Instant::MAX);
    assert_eq!(registrar.names().count(), 0);
}

#[test]
fn a_dead_server_is_tried_again_later() {
    let mut registrar = registrar();
    registrar.add(at(0), A, 0.0);
    let mut sent = registrar.take_sent().count();
    let mut now = Instant::ZERO;
    while now < Instant::from_millis(12_000) {
        now = registrar.next_timer();
        registrar.on_timeout(now, 0.0);
        sent += registrar.take_sent().count();
    }
    // Two tries, a pause of 5 s, and so on: the fourth attempt has begun.
    assert_eq!((registrar.failures(), registrar.registered()), (3, 0));
    assert_eq!(sent, 7);
    let mut server = NameServer::default();
    while registrar.registered() == 0 {
        now = registrar.next_timer();
        registrar.on_timeout(now, 0.0);
        exchange(&mut registrar, &mut server, now);
    }
    assert_eq!(server.locators(now, &A).len(), 1);
}

#[test]
fn a_late_confirmation_of_what_was_removed_does_no_harm() {
    let mut registrar = registrar();
    registrar.add(at(0), A, 0.0);
    let request = registrar.take_sent().next().unwrap();
    registrar.remove(at(1), A, 0.0);
    let mut server = NameServer::default();
    let reply = server
        .on_message(at(1), [10, 0, 0, 1].into(), &request)
        .to_vec();
    assert!(matches!(
        Message::parse(&reply).unwrap().body,
        Body::Registered(_)
    ));
    registrar.on_message(at(2), &reply);
    assert_eq!(registrar.names().count(), 0);
    assert_eq!(registrar.registered(), 0);
    exchange(&mut registrar, &mut server, at(3));
    assert!(server.locators(at(3), &A).is_empty());
}

#[test]
fn after_a_move_the_server_lists_the_new_address_only() {
    let mut server = NameServer::default();
    let mut registrar = registrar();
    registrar.add(at(0), A, 0.0);
    assert_eq!(exchange(&mut registrar, &mut server, at(0)), 1);
    // The REGISTER of the second address is on its way, still, when the node moves on.
    registrar.relocate(at(10), [10, 0, 0, 2].into(), 0.0);
    let late: Vec<_> = registrar.take_sent().collect();
    assert_eq!(late.len(), 1);
    registrar.relocate(at(20), [10, 0, 0, 3].into(), 0.0);
    let third: IpAddr = [10, 0, 0, 3].into();
    for bytes in registrar.take_sent().collect::<Vec<_>>() {
        let reply = server.on_message(at(21), third, &bytes).to_vec();
        registrar.on_message(at(22), &reply);
    }
    let listed = |server: &NameServer| -> Vec<IpAddr> {
        let list = server.locators(at(30), &A);
        list.iter().map(|l| l.address).collect()
    };
    assert_eq!(listed(&server), [third]);
    server.on_message(at(25), [10, 0, 0, 2].into(), &late[0]);
    assert_eq!(listed(&server), [third]);
    assert_eq!((registrar.registered(), registrar.failures()), (2, 0));
    // To where it is already.
    registrar.relocate(at(40), third, 0.0);
    assert_eq!(registrar.take_sent().count(), 0);
}

#[test]
fn two_nodes_are_two_holders() {
    let ids: Vec<u64> = (0..1000)
        .map(|i| holder_id(f64::from(i) / 1000.0))
        .collect();
    let mut different = ids.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), ids.len());
    assert!(!ids.contains(&0));
}
