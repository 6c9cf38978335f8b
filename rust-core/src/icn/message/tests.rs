use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::net::Ipv6Addr;
use std::path::PathBuf;

/// Vectors that Rust and Python both check.
fn vectors_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/names.json")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn v4(last: u8, cost: u16, lifetime_ms: u32) -> Locator {
    Locator {
        address: [10, 0, 0, last].into(),
        cost,
        lifetime_ms,
    }
}

fn v6(last: u16, cost: u16, lifetime_ms: u32) -> Locator {
    Locator {
        address: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last).into(),
        cost,
        lifetime_ms,
    }
}

fn message(transaction: u32, body: Body) -> Message {
    Message {
        transaction,
        eid: Eid(std::array::from_fn(|i| 0xa0 + i as u8)),
        body,
    }
}

fn samples() -> Vec<(&'static str, Message)> {
    let both = vec![v4(1, 300, 60_000), v6(7, 0, u32::MAX)];
    vec![
        (
            "REGISTER",
            message(
                1,
                Body::Register {
                    holder: Holder {
                        id: 0x0102_0304_0506_0708,
                        moves: 3,
                    },
                    locators: vec![v4(1, 25, 60_000)],
                },
            ),
        ),
        (
            "REGISTERED of both families",
            message(1, Body::Registered(both.clone())),
        ),
        (
            "DEREGISTER",
            message(2, Body::Deregister(vec![v6(7, 0, 0).address])),
        ),
        ("RESOLVE", message(u32::MAX, Body::Resolve)),
        (
            "ANSWER",
            message(
                u32::MAX,
                Body::Answer {
                    locators: both.clone(),
                    truncated: false,
                },
            ),
        ),
        (
            "truncated ANSWER",
            message(
                3,
                Body::Answer {
                    locators: both[..1].to_vec(),
                    truncated: true,
                },
            ),
        ),
        (
            "unknown name",
            message(4, Body::Error(ErrorCode::UnknownName)),
        ),
        ("malformed", message(5, Body::Error(ErrorCode::Malformed))),
        ("refused", message(6, Body::Error(ErrorCode::Refused))),
        (
            "SUBSCRIBE",
            Message {
                transaction: 7,
                eid: Eid::default(),
                body: Body::Subscribe(v4(4, 0, 60_000)),
            },
        ),
        ("ANNOUNCE", message(0, Body::Announce(vec![v4(1, 25, 1)]))),
    ]
}

fn emitted(message: &Message) -> Vec<u8> {
    let mut out = Vec::new();
    message.emit(&mut out);
    out
}

fn vector(name: &str, m: &Message) -> Value {
    let list = |l: &[Locator]| -> Value {
        l.iter()
            .map(|l| json!([l.address.to_string(), l.cost, l.lifetime_ms]))
            .collect()
    };
    let holder = match m.body {
        Body::Register { holder, .. } => json!([format!("{:016x}", holder.id), holder.moves]),
        _ => Value::Null,
    };
    let (kind, locators, truncated, error) = match &m.body {
        Body::Register { locators: l, .. } => ("REGISTER", list(l), false, None),
        Body::Registered(l) => ("REGISTERED", list(l), false, None),
        Body::Deregister(a) => {
            let gone: Value = a.iter().map(|a| json!([a.to_string(), 0, 0])).collect();
            ("DEREGISTER", gone, false, None)
        }
        Body::Resolve => ("RESOLVE", json!([]), false, None),
        Body::Answer {
            locators,
            truncated,
        } => ("ANSWER", list(locators), *truncated, None),
        Body::Error(e) => {
            let name = match e {
                ErrorCode::UnknownName => "unknown name",
                ErrorCode::Malformed => "malformed",
                ErrorCode::Refused => "refused",
            };
            ("ERROR", json!([]), false, Some(name))
        }
        Body::Subscribe(l) => ("SUBSCRIBE", list(std::slice::from_ref(l)), false, None),
        Body::Announce(l) => ("ANNOUNCE", list(l), false, None),
    };
    json!({
        "name": name,
        "type": kind,
        "transaction": m.transaction,
        "eid": hex(&m.eid.0),
        "holder": holder,
        "locators": locators,
        "truncated": truncated,
        "error_code": error,
        "bytes": hex(&emitted(m)),
    })
}

/// Bytes that are no message, by reason.
fn invalid() -> Vec<(&'static str, Error, Vec<u8>)> {
    let all = samples();
    let with = |sample: usize, at: usize, value: u8| {
        let mut bytes = emitted(&all[sample].1);
        bytes[at] = value;
        bytes
    };
    let register = emitted(&all[0].1);
    vec![
        ("empty", Error::Truncated, vec![]),
        (
            "one byte short",
            Error::Truncated,
            register[..register.len() - 1].to_vec(),
        ),
        (
            "no locator count",
            Error::Truncated,
            register[..FIXED_LEN - 1].to_vec(),
        ),
        (
            "one byte more",
            Error::TooLong,
            [&register[..], &[0]].concat(),
        ),
        (
            "longer than any message",
            Error::TooLong,
            vec![1; MAX_LEN + 1],
        ),
        ("other version", Error::Version, with(0, 0, 2)),
        ("type 0", Error::MessageType, with(0, 1, 0)),
        ("type 9", Error::MessageType, with(0, 1, 9)),
        ("truncated REGISTER", Error::Flag, with(0, 2, 1)),
        ("unknown flag", Error::Flag, with(4, 2, 2)),
        ("error code in a RESOLVE", Error::ErrorCode, with(3, 3, 1)),
        ("ERROR without a code", Error::ErrorCode, with(6, 3, 0)),
        ("unknown error code", Error::ErrorCode, with(6, 3, 4)),
        ("REGISTER of nothing", Error::LocatorCount, {
            let mut bytes = register[..FIXED_LEN].to_vec();
            bytes[FIXED_LEN - 1] = 0;
            bytes
        }),
        (
            "half a holder",
            Error::Truncated,
            register[..FIXED_LEN + 6].to_vec(),
        ),
        ("RESOLVE with a locator", Error::LocatorCount, with(0, 1, 4)),
        ("address family 5", Error::Family, with(1, FIXED_LEN, 5)),
        ("DEREGISTER with a cost", Error::Locator, with(1, 1, 3)),
        ("SUBSCRIBE for one NDC", Error::Subject, with(9, 20, 1)),
        (
            "SUBSCRIBE with a cost",
            Error::Locator,
            with(9, FIXED_LEN + 6, 1),
        ),
        ("ANNOUNCE as a reply", Error::Subject, with(10, 7, 1)),
        ("SUBSCRIBE of two nodes", Error::LocatorCount, {
            let mut bytes = emitted(&all[1].1);
            (bytes[1], bytes[7]) = (7, 0);
            bytes[8..28].fill(0);
            bytes
        }),
    ]
}

#[test]
fn shared_vectors_are_ours() {
    let ours = json!({
        "format": "messages of name servers; hexadecimal; see rust-core/src/icn/message.rs",
        "valid": samples().iter().map(|(n, m)| vector(n, m)).collect::<Vec<_>>(),
        "invalid": invalid().iter().map(|(n, e, b)| {
            json!({ "name": n, "error": e.to_string(), "bytes": hex(b) })
        }).collect::<Vec<_>>(),
    });
    let text = serde_json::to_string_pretty(&ours).unwrap() + "\n";
    if std::env::var_os("FERROCC_WRITE_VECTORS").is_some() {
        std::fs::write(vectors_path(), &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(vectors_path()).unwrap(), text);
}

#[test]
fn each_fault_has_its_error() {
    for (name, error, bytes) in invalid() {
        assert_eq!(Message::parse(&bytes), Err(error), "{name}");
    }
}

#[test]
fn an_answer_fits_one_datagram() {
    let many: Vec<Locator> = (0..255).map(|i| v6(i, i, 1000)).collect();
    let bytes = emitted(&message(
        1,
        Body::Answer {
            locators: many.clone(),
            truncated: false,
        },
    ));
    assert!(bytes.len() <= MAX_LEN && bytes.len() + v6(0, 0, 0).len() > MAX_LEN);
    let Body::Answer {
        locators,
        truncated,
    } = Message::parse(&bytes).unwrap().body
    else {
        panic!("no ANSWER")
    };
    assert!(truncated);
    assert_eq!(locators, many[..locators.len()]);
}

fn any_address() -> impl Strategy<Value = IpAddr> {
    prop_oneof![
        any::<[u8; 4]>().prop_map(IpAddr::from),
        any::<[u8; 16]>().prop_map(IpAddr::from)
    ]
}

fn any_locator() -> impl Strategy<Value = Locator> {
    (any_address(), any::<u16>(), any::<u32>()).prop_map(|(address, cost, lifetime_ms)| Locator {
        address,
        cost,
        lifetime_ms,
    })
}

fn any_message() -> impl Strategy<Value = Message> {
    // As many as fit into a message in any mixture.
    let locators = || prop::collection::vec(any_locator(), 1..=52);
    let body = prop_oneof![
        (
            any::<u64>(),
            any::<u32>(),
            prop::collection::vec(any_locator(), 1..=51)
        )
            .prop_map(|(id, moves, locators)| Body::Register {
                holder: Holder { id, moves },
                locators,
            }),
        locators().prop_map(Body::Registered),
        prop::collection::vec(any_address(), 1..=52).prop_map(Body::Deregister),
        Just(Body::Resolve),
        (locators(), any::<bool>()).prop_map(|(locators, truncated)| Body::Answer {
            locators,
            truncated
        }),
        prop::sample::select(&ErrorCode::ALL[..]).prop_map(Body::Error),
        any_locator().prop_map(|l| Body::Subscribe(Locator { cost: 0, ..l })),
        locators().prop_map(Body::Announce),
    ];
    (any::<u32>(), any::<[u8; 20]>(), body).prop_map(|(transaction, eid, body)| Message {
        transaction: match body {
            Body::Announce(_) => 0,
            _ => transaction,
        },
        eid: match body {
            Body::Subscribe(_) => Eid::default(),
            _ => Eid(eid),
        },
        body,
    })
}

proptest! {
    #[test]
    fn what_is_emitted_is_parsed(m in any_message()) {
        let bytes = emitted(&m);
        prop_assert!(bytes.len() <= MAX_LEN);
        prop_assert_eq!(Message::parse(&bytes), Ok(m));
    }

    /// Whatever is accepted has one encoding.
    #[test]
    fn what_is_parsed_is_emitted(
        m in any_message(),
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in 0usize..3,
    ) {
        let mut bytes = emitted(&m);
        for (at, value) in hits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(bytes.len() - cut);
        if let Ok(parsed) = Message::parse(&bytes) {
            prop_assert_eq!(emitted(&parsed), bytes);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..1400)) {
        if let Ok(parsed) = Message::parse(&bytes) {
            prop_assert_eq!(emitted(&parsed), bytes);
        }
    }
}
