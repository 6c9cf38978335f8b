use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const UNIT: u64 = 1000;

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn options(memory: u64) -> AssemblerOptions {
    AssemblerOptions {
        memory: Bytes::new(memory),
        timeout: Duration::from_millis(1000),
    }
}

fn synthetic(seed: u64, size: usize) -> (Eid, Vec<u8>) {
    match Content::synthetic(seed, size) {
        Content::Real(bytes) => (Eid::of_content(&bytes), bytes),
        Content::Virtual { .. } => panic!("virtual content"),
    }
}

/// Feeds unit `unit` of real content.
fn feed(a: &mut Assembler, now: Instant, ndc: Eid, all: &[u8], unit: u64) -> Option<Content> {
    let start = unit * UNIT;
    let part = &all[start as usize..all.len().min((start + UNIT) as usize)];
    a.open(now, ndc, Bytes::new(all.len() as u64));
    a.add(now, &ndc, all.len() as u64, start, part.len() as u32, part)
}

#[test]
fn segments_in_any_order_make_the_ndc_once() {
    let (ndc, all) = synthetic(3, 4500);
    let mut a = Assembler::new(options(10_000), true);
    for unit in [4, 1, 1, 3, 0] {
        assert_eq!(feed(&mut a, at(0), ndc, &all, unit), None);
    }
    assert_eq!((a.pending(), a.used()), (1, Bytes::new(4500)));
    let done = feed(&mut a, at(0), ndc, &all, 2);
    assert_eq!(done, Some(Content::Real(all.clone())));
    assert_eq!((a.stats().segments, a.stats().assembled), (5, 1));
    assert_eq!((a.pending(), a.used()), (0, Bytes::ZERO));
    // What is not open is not added.
    assert_eq!(a.add(at(0), &ndc, 4500, 0, 1000, &all[..1000]), None);
}

#[test]
fn content_of_another_hash_is_no_copy() {
    let (_, all) = synthetic(3, 2000);
    let wrong = Eid([1; 20]);
    let mut a = Assembler::new(options(10_000), true);
    assert_eq!(feed(&mut a, at(0), wrong, &all, 0), None);
    assert_eq!(feed(&mut a, at(0), wrong, &all, 1), None);
    assert_eq!((a.stats().mismatched, a.stats().assembled), (1, 0));
    assert_eq!(a.used(), Bytes::ZERO);
}

#[test]
fn what_is_idle_or_does_not_fit_is_abandoned() {
    let all: Vec<(Eid, Vec<u8>)> = (0..4).map(|i| synthetic(i, 2000)).collect();
    let mut a = Assembler::new(options(5000), true);
    let feed = |a: &mut Assembler, ms, i: usize, unit| {
        feed(a, at(ms), all[i].0, &all[i].1, unit).is_some()
    };
    feed(&mut a, 0, 0, 0);
    feed(&mut a, 10, 1, 0);
    feed(&mut a, 20, 0, 0); // Nothing new.
    assert_eq!(a.pending(), 2);
    // No room for a third: the one that got nothing new for longest goes.
    feed(&mut a, 30, 2, 0);
    assert_eq!((a.pending(), a.stats().abandoned), (2, 1));
    assert!(!a.is_open(&all[0].0) && a.is_open(&all[1].0));
    assert!(feed(&mut a, 40, 1, 1));
    a.expire(at(1029));
    assert_eq!((a.pending(), a.next_timer()), (1, at(1030)));
    a.expire(at(1030));
    assert_eq!((a.pending(), a.stats().abandoned), (0, 2));
    assert_eq!(a.next_timer(), Instant::MAX);
    // What is larger than the memory is not begun, and nobody goes for it.
    feed(&mut a, 2000, 3, 0);
    assert!(!a.open(at(2000), Eid([5; 20]), Bytes::new(5001)));
    assert_eq!((a.pending(), a.used()), (1, Bytes::new(2000)));
    a.abandon_all();
    assert_eq!(
        (a.pending(), a.used(), a.stats().abandoned),
        (0, Bytes::ZERO, 3)
    );
}

#[test]
fn segments_that_contradict_the_ndc_add_nothing() {
    let ndc = Eid([1; 20]);
    let mut a = Assembler::new(options(10_000), true);
    a.open(at(0), ndc, Bytes::new(2000));
    let part = [5u8; 1000];
    let cases: [(u64, u64, u32, &[u8]); 4] = [
        (1999, 0, 1000, &part),
        (2000, 1500, 1000, &part),
        (2000, u64::MAX - 5, 1000, &part),
        (2000, 0, 1000, &part[..999]),
    ];
    for (size, offset, length, payload) in cases {
        assert_eq!(a.add(at(0), &ndc, size, offset, length, payload), None);
    }
    assert_eq!((a.stats().contradictory, a.stats().segments), (4, 0));
    a.add(at(0), &ndc, 2000, 0, 0, &[]);
    assert_eq!(a.stats().segments, 0);
}

#[test]
fn virtual_content_needs_no_bytes() {
    let ndc = Eid::of_name("x");
    let mut a = Assembler::new(options(1 << 40), false);
    let size = 1 << 30;
    let half = (size / 2) as u32;
    a.open(at(0), ndc, Bytes::new(size));
    assert_eq!(a.add(at(0), &ndc, size, size / 2, half, &[]), None);
    let done = a.add(at(0), &ndc, size, 0, half, &[]);
    assert_eq!(done, Some(Content::Virtual { size }));
}

proptest! {
    /// Ranges count each byte once, however they overlap.
    #[test]
    fn ranges_equal_a_set(list in prop::collection::vec((0u64..60, 1u64..20), 1..40)) {
        let mut ranges = Ranges::default();
        let mut set = BTreeSet::new();
        for (start, length) in list {
            let before = set.len();
            set.extend(start..start + length);
            let new = ranges.insert(start, start + length);
            prop_assert_eq!(new, set.len() > before);
            prop_assert_eq!(ranges.covered, set.len() as u64);
            prop_assert!(ranges.list.windows(2).all(|w| w[0].1 < w[1].0));
        }
    }
}
