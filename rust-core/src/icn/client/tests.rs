use super::*;

const NDC: Eid = Eid([7; 20]);

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn options() -> ClientOptions {
    ClientOptions {
        timeout: Duration::from_millis(100),
        tries: 3,
        unknown_tries: 2,
        jitter: 0.1,
    }
}

fn locator() -> Locator {
    Locator {
        address: [10, 0, 0, 1].into(),
        cost: 3,
        lifetime_ms: 1000,
    }
}

fn reply(transaction: u32, eid: Eid, body: Body) -> Vec<u8> {
    let mut out = Vec::new();
    Message {
        transaction,
        eid,
        body,
    }
    .emit(&mut out);
    out
}

fn answer() -> Body {
    Body::Answer {
        locators: vec![locator()],
        truncated: false,
    }
}

#[test]
fn a_request_is_repeated_with_doubling_timeouts_until_it_fails() {
    let mut client = NameClient::new(options(), 0.0);
    let transaction = client.resolve(at(0), NDC, true, 0.0);
    let first: Vec<_> = client.take_sent().collect();
    assert_eq!(first.len(), 1);
    // The jitter lengthens each timeout by a tenth of itself times the draw.
    for (due, draw) in [(100, 0.5), (310, 1.0)] {
        assert_eq!(client.next_timer(), at(due));
        assert_eq!(client.on_timeout(at(due - 1), draw), None);
        assert_eq!(client.take_sent().count(), 0);
        assert_eq!(client.on_timeout(at(due), draw), None);
        assert_eq!(client.take_sent().collect::<Vec<_>>(), first);
    }
    assert_eq!(client.next_timer(), at(310 + 440));
    let ended = client.on_timeout(at(750), 0.0).unwrap();
    assert_eq!(ended.transaction, transaction);
    assert_eq!(ended.outcome, Outcome::Unreachable);
    assert_eq!(ended.took, Duration::from_millis(750));
    assert_eq!(client.next_timer(), Instant::MAX);
    assert_eq!(client.on_timeout(at(9999), 0.0), None);
}

#[test]
fn the_first_reply_counts_and_no_other() {
    let mut client = NameClient::new(options(), 0.7);
    let transaction = client.resolve(at(0), NDC, true, 0.0);
    let other = client.resolve(at(0), NDC, true, 0.0);
    assert_ne!(transaction, other);
    let good = reply(transaction, NDC, answer());
    let wrong = [
        reply(transaction.wrapping_add(2), NDC, answer()),
        reply(transaction, Eid([8; 20]), answer()),
        reply(transaction, NDC, Body::Registered(vec![locator()])),
        reply(transaction, NDC, Body::Resolve),
        vec![1, 2, 3],
    ];
    for bytes in &wrong {
        assert_eq!(client.on_message(at(10), bytes), None);
    }
    let ended = client.on_message(at(10), &good).unwrap();
    assert_eq!(ended.took, Duration::from_millis(10));
    let expected = Outcome::Answer {
        locators: vec![locator()],
        truncated: false,
    };
    assert_eq!(ended.outcome, expected);
    // A duplicate, and a reply to what was given up.
    assert_eq!(client.on_message(at(11), &good), None);
    client.cancel(other);
    let late = reply(other, NDC, answer());
    assert_eq!(client.on_message(at(12), &late), None);
    assert_eq!(client.ignored(), 7);
    assert_eq!(client.next_timer(), Instant::MAX);
}

#[test]
fn errors_and_confirmations_are_told() {
    let mut client = NameClient::new(options(), 0.0);
    let resolving = client.resolve(at(0), NDC, true, 0.0);
    let registering = client.register(at(0), NDC, Holder::default(), locator(), 0.0);
    let removing = client.deregister(at(0), NDC, locator().address, 0.0);
    let outcome = |client: &mut NameClient, t, body| {
        let ended = client.on_message(at(1), &reply(t, NDC, body));
        ended.map(|e| e.outcome)
    };
    let unknown = Body::Error(ErrorCode::UnknownName);
    assert_eq!(
        outcome(&mut client, resolving, unknown),
        Some(Outcome::Error(ErrorCode::UnknownName))
    );
    assert_eq!(outcome(&mut client, registering, answer()), None);
    let noted = Body::Registered(vec![locator()]);
    assert_eq!(
        outcome(&mut client, registering, noted.clone()),
        Some(Outcome::Registered(vec![locator()]))
    );
    assert!(outcome(&mut client, removing, noted).is_some());
}

#[test]
fn that_a_new_name_is_unknown_is_believed_at_the_last_of_its_tries() {
    let unknown = Body::Error(ErrorCode::UnknownName);
    let mut client = NameClient::new(options(), 0.0);
    let early = client.resolve(at(0), NDC, false, 0.0);
    assert_eq!(client.take_sent().count(), 1);
    assert_eq!(
        client.on_message(at(5), &reply(early, NDC, unknown.clone())),
        None
    );
    assert_eq!(client.on_timeout(at(100), 0.0), None);
    assert_eq!(client.take_sent().count(), 1);
    let ended = client.on_message(at(105), &reply(early, NDC, unknown.clone()));
    assert_eq!(
        ended.map(|e| e.outcome),
        Some(Outcome::Error(ErrorCode::UnknownName))
    );
    // A registration that came in between.
    let late = client.resolve(at(200), NDC, false, 0.0);
    assert_eq!(
        client.on_message(at(205), &reply(late, NDC, unknown.clone())),
        None
    );
    assert_eq!(client.on_timeout(at(300), 0.0), None);
    assert!(matches!(
        client.on_message(at(305), &reply(late, NDC, answer())),
        Some(Ended {
            outcome: Outcome::Answer { .. },
            ..
        })
    ));
    // The server said so once and then no more.
    let silent = client.resolve(at(400), NDC, false, 0.0);
    client.on_message(at(405), &reply(silent, NDC, unknown));
    for due in [500, 700] {
        assert_eq!(client.on_timeout(at(due), 0.0), None);
    }
    let ended = client.on_timeout(at(1100), 0.0);
    assert_eq!(
        ended.map(|e| e.outcome),
        Some(Outcome::Error(ErrorCode::UnknownName))
    );
}
