use super::*;
use proptest::prelude::*;

const MSS: u64 = 1000;

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn options(capacity: u64) -> AssemblerOptions {
    AssemblerOptions {
        capacity: Bytes::new(capacity),
        timeout: Duration::from_millis(1000),
    }
}

/// The DATA header of a segment.
fn data(ndc: Eid, size: Option<u64>, offset: u64, payload: &[u8], length: u32) -> Vec<u8> {
    let repr = Repr {
        source: ndc,
        destination: Eid([9; 20]),
        packet_number: 1,
        offset,
        length,
        kind: Kind::Data {
            mark: false,
            probe: false,
            timestamp_ns: None,
            ndc_size: size,
        },
    };
    let mut out = Vec::new();
    repr.emit(Sum::of(payload), &mut out);
    out
}

/// Feeds unit `unit` of real content.
fn feed(
    a: &mut Assembler,
    now: Instant,
    ndc: Eid,
    all: &[u8],
    unit: u64,
) -> Option<(Eid, Content)> {
    let start = (unit * MSS) as usize;
    let part = &all[start..all.len().min(start + MSS as usize)];
    let size = Some(all.len() as u64);
    let header = data(ndc, size, unit * MSS, part, part.len() as u32);
    a.on_packet(now, &header, part.len() as u32, part)
}

fn bytes_of(content: Content) -> Vec<u8> {
    match content {
        Content::Real(bytes) => bytes,
        other => panic!("{other:?} is not real"),
    }
}

#[test]
fn segments_in_any_order_make_the_ndc_once() {
    let all = bytes_of(Content::synthetic(3, 4500));
    let ndc = Eid::of_content(&all);
    let mut a = Assembler::new(options(10_000), true);
    for unit in [4, 1, 1, 3, 0] {
        assert_eq!(feed(&mut a, at(0), ndc, &all, unit), None);
    }
    let done = feed(&mut a, at(0), ndc, &all, 2);
    assert_eq!(done, Some((ndc, Content::Real(all.clone()))));
    assert_eq!((a.stats().segments, a.stats().assembled), (5, 1));
    // It is there now.
    assert_eq!(feed(&mut a, at(0), ndc, &all, 0), None);
    assert_eq!((a.pending(), a.used()), (0, Bytes::new(4500)));
}

#[test]
fn content_of_another_hash_is_no_replica() {
    let all = bytes_of(Content::synthetic(3, 2000));
    let wrong = Eid([1; 20]);
    let mut a = Assembler::new(options(10_000), true);
    assert_eq!(feed(&mut a, at(0), wrong, &all, 0), None);
    assert_eq!(feed(&mut a, at(0), wrong, &all, 1), None);
    assert_eq!((a.stats().mismatched, a.stats().assembled), (1, 0));
    assert_eq!(a.used(), Bytes::ZERO);
}

#[test]
fn what_is_idle_or_does_not_fit_is_abandoned() {
    let contents: Vec<Vec<u8>> = (0..4)
        .map(|i| bytes_of(Content::synthetic(i, 2000)))
        .collect();
    let ndc = |i: usize| Eid::of_content(&contents[i]);
    let mut a = Assembler::new(options(5000), true);
    feed(&mut a, at(0), ndc(0), &contents[0], 0);
    feed(&mut a, at(10), ndc(1), &contents[1], 0);
    feed(&mut a, at(20), ndc(0), &contents[0], 0); // Nothing new.
    assert_eq!(a.pending(), 2);
    // No room for a third: the one that got nothing new for longest goes.
    feed(&mut a, at(30), ndc(2), &contents[2], 0);
    assert_eq!((a.pending(), a.stats().abandoned), (2, 1));
    assert!(feed(&mut a, at(40), ndc(1), &contents[1], 1).is_some());
    assert_eq!(a.next_timer(), at(1030));
    a.expire(at(1029));
    assert_eq!(a.pending(), 1);
    a.expire(at(1030));
    assert_eq!((a.pending(), a.stats().abandoned), (0, 2));
    // What is held stays, and what is larger than the rest is not begun.
    let large = bytes_of(Content::synthetic(9, 3500));
    feed(&mut a, at(2000), Eid::of_content(&large), &large, 0);
    assert_eq!((a.pending(), a.used()), (0, Bytes::new(2000)));
}

#[test]
fn bad_packets_add_nothing() {
    let ndc = Eid([1; 20]);
    let mut a = Assembler::new(options(10_000), true);
    let part = [5u8; 1000];
    let good = data(ndc, Some(2000), 0, &part, 1000);
    let mut flipped = good.clone();
    flipped[70] ^= 1;
    let cases: [(Vec<u8>, u32, &[u8]); 5] = [
        (flipped, 1000, &part),
        (good.clone(), 1000, &[6u8; 1000]),
        (good.clone(), 999, &part[..999]),
        (data(ndc, Some(2000), 1500, &part, 1000), 1000, &part),
        (
            data(ndc, Some(2000), u64::MAX - 5, &part, 1000),
            1000,
            &part,
        ),
    ];
    for (header, length, payload) in &cases {
        assert_eq!(a.on_packet(at(0), header, *length, payload), None);
    }
    assert_eq!(a.stats().malformed, 5);
    // No size, no end, nothing in it: not bad, but of no use.
    for (size, length) in [(None, 1000), (Some(UNBOUNDED), 1000), (Some(2000), 0)] {
        let payload = &part[..length as usize];
        let header = data(ndc, size, 0, payload, length);
        assert_eq!(a.on_packet(at(0), &header, length, payload), None);
    }
    assert_eq!((a.stats().malformed, a.pending()), (5, 0));
    // Another size than the first one.
    assert_eq!(a.on_packet(at(0), &good, 1000, &part), None);
    let other = data(ndc, Some(1000), 0, &part, 1000);
    assert_eq!(a.on_packet(at(0), &other, 1000, &part), None);
    assert_eq!((a.stats().malformed, a.pending()), (6, 1));
}

#[test]
fn virtual_content_needs_no_bytes() {
    let ndc = Eid::of_name("x");
    let mut a = Assembler::new(options(1 << 40), false);
    let size = 1 << 30;
    let half = (size / 2) as u32;
    for offset in [size / 2, 0] {
        let header = data(ndc, Some(size), offset, &[], half);
        if let Some(done) = a.on_packet(at(0), &header, half, &[]) {
            assert_eq!(done, (ndc, Content::Virtual { size }));
        }
    }
    assert_eq!(a.stats().assembled, 1);
}

proptest! {
    /// Ranges count each byte once, however they overlap.
    #[test]
    fn ranges_equal_a_set(ranges in prop::collection::vec((0u64..60, 1u64..20), 1..40)) {
        let mut partial = Partial {
            size: 100,
            ranges: BTreeMap::new(),
            seen: 0,
            bytes: Vec::new(),
            touched: Instant::ZERO,
        };
        let mut set = BTreeSet::new();
        for (start, length) in ranges {
            let before = set.len() as u64;
            set.extend(start..start + length);
            let new = partial.insert(start, start + length);
            prop_assert_eq!(new, set.len() as u64 - before);
            prop_assert_eq!(partial.seen, set.len() as u64);
        }
        let ranges: Vec<_> = partial.ranges.iter().collect();
        prop_assert!(ranges.windows(2).all(|w| w[0].1 < w[1].0));
    }

    #[test]
    fn any_bytes_are_survived(bytes in any::<Vec<u8>>(), length in any::<u32>()) {
        let mut a = Assembler::new(options(1000), true);
        a.on_packet(Instant::ZERO, &bytes, length, &bytes);
    }
}
