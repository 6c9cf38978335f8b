use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Vectors that Rust, C++ and Python all check.
fn vectors_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/wire.json")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
        .collect()
}

fn numbered_eid(first: u8) -> Eid {
    Eid(std::array::from_fn(|i| first.wrapping_add(i as u8)))
}

const LOST: &[Segment] = &[
    Segment {
        offset: 3750,
        length: 1250,
    },
    Segment {
        offset: 0x1_0000_0000,
        length: 2500,
    },
    Segment {
        offset: 62_500,
        length: 625,
    },
];

/// Named packets: header and payload.
fn samples() -> Vec<(&'static str, Repr<'static>, Vec<u8>)> {
    let (device, ndc) = (numbered_eid(0x10), numbered_eid(0xa0));
    let request = |packet_number, offset, length, kind| Repr {
        source: device,
        destination: ndc,
        packet_number,
        offset,
        length,
        kind,
    };
    let data = |packet_number, offset, length, kind| Repr {
        source: ndc,
        destination: device,
        ..request(packet_number, offset, length, kind)
    };
    let plain = Kind::Request {
        probe: false,
        timestamp: true,
        mss: Some(1250),
        lost: Segments::NONE,
    };
    let full = Kind::Data {
        mark: false,
        probe: false,
        timestamp_ns: Some(-1_500_000_000),
        ndc_size: Some(10_000_000),
        refusal: None,
    };
    let payload: Vec<u8> = (0..1250u32).map(|i| (i * 7 + 3) as u8).collect();
    vec![
        ("plain REQ", request(7, 12_500, 2500, plain), vec![]),
        (
            "probe REQ without options",
            request(
                0,
                0,
                1250,
                Kind::Request {
                    probe: true,
                    timestamp: false,
                    mss: None,
                    lost: Segments::NONE,
                },
            ),
            vec![],
        ),
        (
            "REQ with lost segments",
            request(
                u64::MAX - 1,
                1250,
                1250,
                Kind::Request {
                    probe: false,
                    timestamp: true,
                    mss: Some(1392),
                    lost: Segments::Slice(LOST),
                },
            ),
            vec![],
        ),
        ("full DATA", data(7, 12_500, 1250, full), payload.clone()),
        (
            "marked probe DATA, odd payload",
            data(
                8,
                13_750,
                11,
                Kind::Data {
                    mark: true,
                    probe: true,
                    timestamp_ns: Some(2_000_000_001),
                    ndc_size: Some(UNBOUNDED),
                    refusal: None,
                },
            ),
            payload[..11].to_vec(),
        ),
        (
            "DATA without options or payload",
            data(
                9,
                10_000_000,
                0,
                Kind::Data {
                    mark: false,
                    probe: false,
                    timestamp_ns: None,
                    ndc_size: None,
                    refusal: None,
                },
            ),
            vec![],
        ),
        (
            "refusal",
            data(
                10,
                0,
                0,
                Kind::Data {
                    mark: false,
                    probe: false,
                    timestamp_ns: None,
                    ndc_size: None,
                    refusal: Some(Refusal::NoReplica),
                },
            ),
            vec![],
        ),
    ]
}

fn emitted(repr: &Repr<'_>, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    repr.emit(Sum::of(payload), &mut out);
    out
}

fn vector(name: &str, repr: &Repr<'_>, payload: &[u8]) -> Value {
    let fields = match repr.kind {
        Kind::Request {
            probe,
            timestamp,
            mss,
            lost,
        } => json!({
            "type": "REQ", "probe": probe, "timestamp_request": timestamp, "mss": mss,
            "lost": lost.iter().map(|s| json!([s.offset, s.length])).collect::<Vec<_>>(),
        }),
        Kind::Data {
            mark,
            probe,
            timestamp_ns,
            ndc_size,
            refusal,
        } => json!({
            "type": "DATA", "mark": mark, "probe": probe, "timestamp_ns": timestamp_ns,
            "ndc_size": ndc_size, "refusal": refusal.map(|r| r as u8 + 1),
        }),
    };
    json!({
        "name": name,
        "source": hex(&repr.source.0),
        "destination": hex(&repr.destination.0),
        "packet_number": repr.packet_number,
        "offset": repr.offset,
        "length": repr.length,
        "fields": fields,
        "payload": hex(payload),
        "header": hex(&emitted(repr, payload)),
    })
}

/// Bytes that are no valid header, by reason.
fn invalid() -> Vec<(&'static str, Error, Vec<u8>)> {
    let good = emitted(&samples()[0].1, &[]);
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    let options = ID_LEN + TRANSPORT_FIXED_LEN;
    vec![
        ("empty", Error::Truncated, vec![]),
        (
            "one byte short",
            Error::Truncated,
            good[..good.len() - 1].to_vec(),
        ),
        ("other next header", Error::NextHeader, with(0, 6)),
        ("unknown message type", Error::MessageType, with(ID_LEN, 3)),
        (
            "header length below the fixed part",
            Error::HeaderLength,
            with(ID_LEN + 3, 25),
        ),
        (
            "MSS of three bytes",
            Error::OptionLength,
            with(options + 1, 3),
        ),
        (
            "option past the end",
            Error::OptionLength,
            with(options + 5, 200),
        ),
        (
            "lost segments of odd length",
            Error::OptionLength,
            with(options + 4, 2),
        ),
        ("MSS twice", Error::RepeatedOption, {
            let mut bytes = good.clone();
            bytes[options + 4..options + 8].copy_from_slice(&[5, 2, 0, 1]);
            bytes[options + 8..].fill(0);
            bytes
        }),
    ]
}

#[test]
fn shared_vectors_are_ours() {
    let ours = json!({
        "format": "ICN header (ID + transport); hexadecimal; see rust-core/src/wire",
        "valid": samples().iter().map(|(n, r, p)| vector(n, r, p)).collect::<Vec<_>>(),
        "invalid": invalid().iter().map(|(n, e, b)| {
            json!({ "name": n, "error": e.to_string(), "header": hex(b) })
        }).collect::<Vec<_>>(),
    });
    let text = serde_json::to_string_pretty(&ours).unwrap() + "\n";
    if std::env::var_os("FERROCC_WRITE_VECTORS").is_some() {
        std::fs::write(vectors_path(), &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(vectors_path()).unwrap(), text);
}

#[test]
fn shared_vectors_parse() {
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(vectors_path()).unwrap()).unwrap();
    for (v, (name, repr, payload)) in file["valid"].as_array().unwrap().iter().zip(samples()) {
        let bytes = unhex(v["header"].as_str().unwrap());
        assert_eq!(Repr::parse(&bytes), Ok(repr), "{name}");
        assert!(verify_checksum(&bytes, Sum::of(&payload)), "{name}");
    }
    for (v, (name, error, _)) in file["invalid"].as_array().unwrap().iter().zip(invalid()) {
        assert_eq!(
            Repr::parse(&unhex(v["header"].as_str().unwrap())),
            Err(error),
            "{name}"
        );
    }
}

#[test]
fn sizes_are_the_papers() {
    const IPV4: usize = 20;
    let all = samples();
    assert_eq!(IPV4 + all[0].1.len(), 106);
    assert_eq!(IPV4 + all[1].1.len(), 106);
    for (name, repr, _) in &all[3..] {
        assert_eq!(IPV4 + repr.len(), 108, "{name}");
    }
}

#[test]
fn the_mark_is_outside_the_checksum() {
    let (_, repr, payload) = &samples()[3];
    let mut bytes = emitted(repr, payload);
    assert!(set_mark(&mut bytes));
    assert!(verify_checksum(&bytes, Sum::of(payload)));
    assert!(matches!(
        Repr::parse(&bytes).unwrap().kind,
        Kind::Data { mark: true, .. }
    ));
    let mut request = emitted(&samples()[0].1, &[]);
    assert!(!set_mark(&mut request));
}

#[test]
fn a_flipped_bit_anywhere_but_the_mark_is_noticed() {
    let (_, repr, payload) = &samples()[3];
    let good = emitted(repr, payload);
    for bit in 0..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let is_mark = bit == (ID_LEN + 1) * 8;
        assert_eq!(
            verify_checksum(&bytes, Sum::of(payload)),
            is_mark,
            "bit {bit}"
        );
    }
    let mut other = payload.clone();
    other[77] ^= 4;
    assert!(!verify_checksum(&good, Sum::of(&other)));
}

#[test]
fn more_lost_segments_than_an_option_holds_are_cut() {
    let many = vec![LOST[0]; MAX_LOST_SEGMENTS + 5];
    let repr = Repr {
        kind: Kind::Request {
            probe: false,
            timestamp: false,
            mss: Some(1),
            lost: Segments::Slice(&many),
        },
        ..samples()[0].1
    };
    let bytes = emitted(&repr, &[]);
    assert_eq!(bytes.len(), MAX_HEADER_LEN);
    let Kind::Request { lost, .. } = Repr::parse(&bytes).unwrap().kind else {
        panic!()
    };
    assert_eq!(lost.len(), MAX_LOST_SEGMENTS);
}

#[test]
fn headers_print_in_one_line() {
    let text = samples()
        .iter()
        .map(|(_, r, _)| format!("{r}\n"))
        .collect::<String>();
    insta::assert_snapshot!(text, @r"
    REQ pn=7 [12500..15000) mss=1250 timestamp 10111213 > a0a1a2a3
    REQ pn=0 [0..1250) probe 10111213 > a0a1a2a3
    REQ pn=18446744073709551614 [1250..2500) +[3750..5000) +[4294967296..4294969796) +[62500..63125) mss=1392 timestamp 10111213 > a0a1a2a3
    DATA pn=7 [12500..13750) size=10000000 ts=-1500000000ns a0a1a2a3 > 10111213
    DATA pn=8 [13750..13761) size=unbounded ts=2000000001ns marked probe a0a1a2a3 > 10111213
    DATA pn=9 [10000000..10000000) a0a1a2a3 > 10111213
    DATA pn=10 [0..0) refused=NoReplica a0a1a2a3 > 10111213
    ");
}

fn any_repr() -> impl Strategy<Value = (Repr<'static>, Vec<Segment>)> {
    let segment =
        (any::<u64>(), any::<u32>()).prop_map(|(offset, length)| Segment { offset, length });
    let request = (
        any::<(bool, bool, Option<u16>)>(),
        prop::collection::vec(segment, 0..=MAX_LOST_SEGMENTS),
    )
        .prop_map(|((probe, timestamp, mss), lost)| {
            (
                Kind::Request {
                    probe,
                    timestamp,
                    mss,
                    lost: Segments::NONE,
                },
                lost,
            )
        });
    let data = (
        any::<(bool, bool, Option<i64>, Option<u64>)>(),
        prop::option::of(prop::sample::select(&Refusal::ALL[..])),
    )
        .prop_map(|((mark, probe, t, size), refusal)| {
            (
                Kind::Data {
                    mark,
                    probe,
                    timestamp_ns: t,
                    ndc_size: size,
                    refusal,
                },
                vec![],
            )
        });
    (
        any::<([u8; 20], [u8; 20], u64, u64, u32)>(),
        prop_oneof![request, data],
    )
        .prop_map(
            |((source, destination, packet_number, offset, length), (kind, lost))| {
                let repr = Repr {
                    source: Eid(source),
                    destination: Eid(destination),
                    packet_number,
                    offset,
                    length,
                    kind,
                };
                (repr, lost)
            },
        )
}

proptest! {
    #[test]
    fn what_is_emitted_is_parsed((mut repr, segments) in any_repr(), payload in any::<Vec<u8>>()) {
        if let Kind::Request { lost, .. } = &mut repr.kind {
            *lost = Segments::Wire(&[]);
        }
        let mut repr: Repr<'_> = repr;
        if let Kind::Request { lost, .. } = &mut repr.kind {
            *lost = Segments::Slice(&segments);
        }
        let bytes = emitted(&repr, &payload);
        prop_assert_eq!(bytes.len(), repr.len());
        prop_assert!(bytes.len() <= MAX_HEADER_LEN);
        prop_assert_eq!(header_len(&bytes), Some(bytes.len()));
        prop_assert!(verify_checksum(&bytes, Sum::of(&payload)));
        prop_assert_eq!(Repr::parse(&bytes), Ok(repr));
    }

    #[test]
    fn canonical_bytes_survive_parsing((repr, _) in any_repr(), payload in any::<Vec<u8>>()) {
        let bytes = emitted(&repr, &payload);
        prop_assert_eq!(emitted(&Repr::parse(&bytes).unwrap(), &payload), bytes);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in any::<Vec<u8>>()) {
        let _ = Repr::parse(&bytes).map(|r| r.to_string());
        verify_checksum(&bytes, Sum::ZERO);
        let _ = set_mark(&mut bytes.clone());
    }

    /// Arbitrary damage to a valid header.
    #[test]
    fn damaged_headers_never_panic((repr, _) in any_repr(), hits in any::<Vec<(prop::sample::Index, u8)>>()) {
        let mut bytes = emitted(&repr, &[]);
        for (at, value) in hits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = Repr::parse(&bytes).map(|r| (r.to_string(), emitted(&r, &[])));
        verify_checksum(&bytes, Sum::ZERO);
    }

    #[test]
    fn sums_equal_sixteen_bit_sums(bytes in any::<Vec<u8>>()) {
        let mut slow = 0u32;
        for c in bytes.chunks(2) {
            slow += u32::from(c[0]) << 8 | u32::from(*c.get(1).unwrap_or(&0));
            slow = (slow & 0xffff) + (slow >> 16);
        }
        let mut out = samples()[0].1;
        out.length = 0;
        let header = emitted(&out, &bytes);
        prop_assert!(verify_checksum(&header, Sum::of(&bytes)));
        // A payload of the same 16-bit sum, in two bytes.
        prop_assert!(verify_checksum(&header, Sum::of(&(slow as u16).to_be_bytes())));
    }
}
