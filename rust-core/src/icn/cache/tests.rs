use super::*;
use crate::icn::placement::Placement;
use crate::icn::store::EvictionPolicy;
use crate::units::Duration;
use proptest::prelude::*;

const SIZE: u64 = 2000;
const UNIT: u64 = 1000;

fn device(k: u8) -> Eid {
    Eid::of_device([k])
}

fn content(k: u8) -> Vec<u8> {
    match Content::synthetic(k.into(), SIZE as usize) {
        Content::Real(bytes) => bytes,
        Content::Virtual { .. } => panic!("virtual content"),
    }
}

fn ndc(k: u8) -> Eid {
    Eid::of_content(&content(k))
}

/// DATA of unit `unit` of NDC `k` for a device.
fn data(to: u8, k: u8, unit: u64, mark: bool) -> (Vec<u8>, Vec<u8>) {
    let all = content(k);
    let payload = all[(unit * UNIT) as usize..((unit + 1) * UNIT) as usize].to_vec();
    let mut header = Vec::new();
    Repr {
        source: ndc(k),
        destination: device(to),
        packet_number: 1,
        offset: unit * UNIT,
        length: UNIT as u32,
        kind: Kind::Data {
            mark,
            probe: false,
            timestamp_ns: None,
            ndc_size: Some(SIZE),
            refusal: None,
        },
    }
    .emit(Sum::of(&payload), &mut header);
    (header, payload)
}

struct World {
    cache: RouterCache,
    now: u64,
    draw: f64,
    hop_limit: u8,
}

impl World {
    fn new(placement: Placement, change: impl FnOnce(&mut CacheOptions)) -> World {
        let mut options = CacheOptions {
            verify: true,
            placement: PlacementRule {
                placement,
                probability: 0.5,
            },
            ..CacheOptions::default()
        };
        options.store.capacity_ndcs = Some(2);
        change(&mut options);
        World {
            cache: RouterCache::new(options).unwrap(),
            now: 0,
            draw: 0.0,
            hop_limit: 63,
        }
    }

    fn pass(&mut self, to: u8, k: u8, unit: u64) -> Option<(Eid, Content)> {
        let (header, payload) = data(to, k, unit, false);
        self.now += 1;
        let now = Instant::from_millis(self.now);
        let len = payload.len() as u32;
        let (hop_limit, draw) = (self.hop_limit, self.draw);
        self.cache
            .on_data(now, &header, len, &payload, hop_limit, draw)
    }

    /// A whole transfer passes; whether its NDC is stored then.
    fn transfer(&mut self, to: u8, k: u8) -> bool {
        self.cache.on_request(device(to), ndc(k));
        for unit in 0..SIZE / UNIT {
            if let Some((eid, whole)) = self.pass(to, k, unit) {
                assert_eq!((eid, whole), (ndc(k), Content::Real(content(k))));
            }
        }
        self.cache.store().contains(&ndc(k))
    }

    fn evicted(&mut self) -> Vec<Eid> {
        self.cache.take_evicted().collect()
    }
}

#[test]
fn transfers_count_once_and_what_passed_is_a_hit_for_the_next() {
    let mut w = World::new(Placement::LeaveCopyEverywhere, |_| {});
    assert_eq!(w.cache.on_request(device(1), ndc(1)), Sighting::Miss);
    assert_eq!(w.cache.on_request(device(1), ndc(1)), Sighting::Known);
    assert!(w.transfer(1, 1));
    assert_eq!(w.cache.on_request(device(1), ndc(1)), Sighting::Known);
    assert_eq!(w.cache.on_request(device(2), ndc(1)), Sighting::Hit);
    assert_eq!(w.cache.on_request(device(1), ndc(2)), Sighting::Miss);
    let stats = w.cache.stats();
    assert_eq!((stats.hits, stats.misses, stats.assembled), (1, 2, 1));
}

#[test]
fn two_transfers_at_once_make_one_copy_together() {
    let mut w = World::new(Placement::LeaveCopyEverywhere, |_| {});
    assert!(w.pass(1, 1, 0).is_none());
    assert!(w.pass(2, 1, 0).is_none());
    assert!(w.pass(2, 1, 1).is_some());
    assert!(w.pass(1, 1, 1).is_none());
    let stats = w.cache.stats();
    assert_eq!(
        (stats.assembled, stats.abandoned, w.cache.pending()),
        (1, 0, 0)
    );
}

#[test]
fn what_is_evicted_is_told() {
    let mut w = World::new(Placement::LeaveCopyEverywhere, |_| {});
    assert!([1, 2].map(|k| w.transfer(k, k)) == [true; 2]);
    // LRU: 1 is asked for again.
    w.cache.on_request(device(7), ndc(1));
    assert!(w.transfer(3, 3));
    assert_eq!(w.evicted(), [ndc(2)]);
    w.cache.evict_all();
    assert_eq!(w.evicted(), [ndc(1), ndc(3)]);
    assert_eq!(w.cache.stats().evictions, 3);
}

#[test]
fn an_ndc_larger_than_the_store_is_not_begun() {
    for memory in [false, true] {
        let mut w = World::new(Placement::LeaveCopyEverywhere, |o| {
            if memory {
                o.assembly.memory = Bytes::new(SIZE - 1);
            } else {
                o.store.capacity_bytes = Some(Bytes::new(SIZE - 1));
            }
        });
        assert!(!w.transfer(1, 1) && !w.transfer(2, 1));
        let stats = w.cache.stats();
        assert_eq!((stats.too_large, stats.abandoned, stats.misses), (2, 0, 2));
        assert!(!w.cache.preload(ndc(1), Bytes::new(SIZE), 0.0) || memory);
    }
}

#[test]
fn leave_copy_down_looks_at_the_hop_limit() {
    let mut w = World::new(Placement::LeaveCopyDown, |_| {});
    w.hop_limit = 62;
    assert!(!w.transfer(1, 1));
    w.hop_limit = 63;
    // The transfer has been decided on, whatever its later packets say.
    assert!(!w.transfer(1, 1));
    assert!(w.transfer(2, 1));
    let mut behind_ip_router = World::new(Placement::LeaveCopyDown, |o| o.first_hops = 2);
    behind_ip_router.hop_limit = 62;
    assert!(behind_ip_router.transfer(1, 1));
}

#[test]
fn probabilistic_placement_draws_once_per_transfer() {
    let mut w = World::new(Placement::Probabilistic, |_| {});
    w.draw = 0.6;
    assert!(w.pass(1, 1, 0).is_none());
    assert!(w.cache.draw_used());
    w.draw = 0.4;
    assert!(w.pass(1, 1, 1).is_none());
    assert!(!w.cache.draw_used());
    assert_eq!(w.cache.pending(), 0);
    assert!(w.transfer(2, 1));
}

#[test]
fn a_restart_loses_all_and_the_rest_of_a_transfer_makes_no_copy() {
    let mut w = World::new(Placement::LeaveCopyEverywhere, |_| {});
    w.transfer(1, 1);
    w.pass(1, 2, 0);
    assert_eq!(w.cache.restart(), [ndc(1)]);
    let stats = w.cache.stats();
    assert_eq!(
        (stats.assembled, stats.abandoned, stats.evictions),
        (1, 1, 0)
    );
    assert!(w.pass(1, 2, 1).is_none());
    assert_eq!(w.cache.pending(), 1);
    let timer = w.cache.next_timer();
    w.cache.expire(timer);
    assert_eq!((w.cache.pending(), w.cache.stats().abandoned), (0, 2));
    assert_eq!(w.cache.on_request(device(9), ndc(1)), Sighting::Miss);
}

#[test]
fn marks_are_not_cached_and_bad_packets_add_nothing() {
    let mut w = World::new(Placement::LeaveCopyEverywhere, |_| {});
    let (header, payload) = data(1, 1, 0, true);
    let now = Instant::ZERO;
    w.cache.on_data(now, &header, 1000, &payload, 63, 0.0);
    let mut flipped = header.clone();
    flipped[70] ^= 1;
    w.cache.on_data(now, &flipped, 1000, &payload, 63, 0.0);
    w.cache.on_data(now, &header, 999, &payload[..999], 63, 0.0);
    w.cache.on_data(now, &header[..60], 1000, &payload, 63, 0.0);
    assert_eq!(w.cache.stats().malformed, 3);
    let whole = w.pass(1, 1, 1).expect("complete");
    // A copy is made of payload alone; the replica writes new headers.
    assert_eq!(whole.1, Content::Real(content(1)));
}

#[test]
fn remembered_transfers_are_bounded() {
    let mut w = World::new(Placement::LeaveCopyEverywhere, |_| {});
    for k in 0..RouterCache::MAX_TRANSFERS + 10 {
        w.cache.on_request(Eid::of_device(k.to_be_bytes()), ndc(1));
    }
    assert_eq!(w.cache.transfers.len(), RouterCache::MAX_TRANSFERS);
    assert_eq!(w.cache.remembered.len(), RouterCache::MAX_TRANSFERS);
}

proptest! {
    /// Whatever passes in whatever order, a copy has the right bytes and the store keeps its limit.
    #[test]
    fn copies_are_right_in_any_order(
        policy in prop::sample::select(&EvictionPolicy::ALL[..]),
        placement in prop::sample::select(&Placement::ALL[..]),
        packets in prop::collection::vec((0u8..3, 0u8..5, 0u64..2, 61u8..64, 0.0..1.0), 0..80),
    ) {
        let mut w = World::new(placement, |o| {
            o.store.policy = policy;
            o.assembly.memory = Bytes::new(2 * SIZE);
            o.assembly.timeout = Duration::from_millis(20);
        });
        let mut held = std::collections::BTreeSet::new();
        for (to, k, unit, hop_limit, draw) in packets {
            (w.hop_limit, w.draw) = (hop_limit, draw);
            if let Some((eid, whole)) = w.pass(to, k, unit) {
                prop_assert_eq!(whole, Content::Real(content(k)));
                prop_assert_eq!(eid, ndc(k));
                prop_assert!(held.insert(eid));
            }
            for gone in w.evicted() {
                prop_assert!(held.remove(&gone));
            }
            prop_assert!(held.len() <= 2 && w.cache.pending() <= 2);
            prop_assert_eq!(held.len(), w.cache.store().len());
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in any::<Vec<u8>>(), length in any::<u32>()) {
        let mut cache = RouterCache::new(CacheOptions::default()).unwrap();
        cache.on_data(Instant::ZERO, &bytes, length, &bytes, 64, 0.5);
    }
}
