use super::*;
use proptest::prelude::*;

fn ndc(k: u8) -> Eid {
    Eid::of_name(&k.to_string())
}

/// The same store as a list that is searched: each entry's NDC, size, requests and the times of its
/// arrival and last request.
struct Naive {
    options: StoreOptions,
    entries: Vec<(u8, u64, u64, u64, u64)>,
    now: u64,
}

impl Naive {
    fn request(&mut self, k: u8) -> bool {
        self.now += 1;
        let now = self.now;
        let entry = self.entries.iter_mut().find(|e| e.0 == k);
        entry.is_some_and(|e| {
            e.2 += 1;
            e.4 = now;
            true
        })
    }

    fn full(&self, size: u64) -> bool {
        let bytes: u64 = self.entries.iter().map(|e| e.1).sum();
        self.options
            .capacity_ndcs
            .is_some_and(|m| self.entries.len() as u64 >= m)
            || self
                .options
                .capacity_bytes
                .is_some_and(|m| bytes + size > m.get())
    }

    /// Who is evicted; under random eviction the store's own choice is taken over.
    fn insert(&mut self, k: u8, size: u64, chosen: &[Eid]) -> Vec<Eid> {
        let too_large = self.options.capacity_bytes.is_some_and(|m| size > m.get());
        if self.entries.iter().any(|e| e.0 == k) || too_large {
            return Vec::new();
        }
        let mut gone = Vec::new();
        while self.full(size) {
            let all = self.entries.iter();
            let victim = match self.options.policy {
                EvictionPolicy::Lru => all.min_by_key(|e| e.4),
                EvictionPolicy::Lfu => all.min_by_key(|e| (e.2, e.4)),
                EvictionPolicy::Fifo => all.min_by_key(|e| e.3),
                EvictionPolicy::Random => {
                    let choice = chosen[gone.len()];
                    all.clone().find(|e| ndc(e.0) == choice)
                }
            };
            let victim = victim.expect("someone can go").0;
            self.entries.retain(|e| e.0 != victim);
            gone.push(ndc(victim));
        }
        self.now += 1;
        self.entries.push((k, size, 1, self.now, self.now));
        gone
    }
}

#[derive(Debug, Clone)]
enum Operation {
    Request(u8),
    Insert(u8, u64, f64),
    Remove(u8),
    EvictAll,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (0u8..12).prop_map(Operation::Request),
        6 => (0u8..12, 1u64..60, 0.0..1.0).prop_map(|(k, s, d)| Operation::Insert(k, s, d)),
        1 => (0u8..12).prop_map(Operation::Remove),
        1 => Just(Operation::EvictAll),
    ]
}

proptest! {
    #[test]
    fn equals_a_searched_list(
        policy in prop::sample::select(&EvictionPolicy::ALL[..]),
        capacity_ndcs in prop::option::of(1u64..6),
        capacity_bytes in prop::option::of((40u64..120).prop_map(Bytes::new)),
        operations in prop::collection::vec(operation(), 0..120),
    ) {
        let options = StoreOptions { capacity_ndcs, capacity_bytes, policy };
        let mut store = ContentStore::new(options);
        let mut naive = Naive { options, entries: Vec::new(), now: 0 };
        let mut evictions = 0;
        for operation in operations {
            match operation {
                Operation::Request(k) => {
                    prop_assert_eq!(store.request(&ndc(k)), naive.request(k));
                }
                Operation::Insert(k, size, draw) => {
                    let mut evicted = Vec::new();
                    store.insert(ndc(k), Bytes::new(size), draw, &mut evicted);
                    prop_assert_eq!(&naive.insert(k, size, &evicted), &evicted);
                    evictions += evicted.len();
                }
                Operation::Remove(k) => {
                    let before = naive.entries.len();
                    naive.entries.retain(|e| e.0 != k);
                    prop_assert_eq!(store.remove(&ndc(k)), naive.entries.len() < before);
                }
                Operation::EvictAll => {
                    let mut evicted = Vec::new();
                    store.evict_all(&mut evicted);
                    prop_assert_eq!(evicted.len(), naive.entries.len());
                    evictions += evicted.len();
                    naive.entries.clear();
                }
            }
            prop_assert_eq!(store.len(), naive.entries.len());
            prop_assert_eq!(store.bytes().get(), naive.entries.iter().map(|e| e.1).sum::<u64>());
            let same = |k| store.contains(&ndc(k)) == naive.entries.iter().any(|e| e.0 == k);
            prop_assert!((0..12).all(same));
            prop_assert_eq!(store.ndcs().count(), naive.entries.len());
        }
        prop_assert_eq!(store.stats().evictions as usize, evictions);
    }
}

#[test]
fn what_is_larger_than_the_store_evicts_nobody() {
    let mut store = ContentStore::new(StoreOptions {
        capacity_bytes: Some(Bytes::new(100)),
        ..StoreOptions::default()
    });
    let mut evicted = Vec::new();
    let mut insert = |k, size| store.insert(ndc(k), Bytes::new(size), 0.0, &mut evicted);
    assert_eq!(insert(1, 60), Insertion::Stored);
    assert_eq!(insert(1, 60), Insertion::Present);
    assert_eq!(insert(2, 101), Insertion::TooLarge);
    assert_eq!(insert(3, 100), Insertion::Stored);
    assert_eq!(evicted, [ndc(1)]);
    assert_eq!((store.stats().too_large, store.stats().evictions), (1, 1));
    let mut none = ContentStore::new(StoreOptions {
        capacity_ndcs: Some(0),
        ..StoreOptions::default()
    });
    let refused = none.insert(ndc(1), Bytes::new(1), 0.0, &mut evicted);
    assert_eq!(refused, Insertion::TooLarge);
}

#[test]
fn random_eviction_is_even_and_goes_on_with_what_is_left_of_a_draw() {
    let mut hits = [0; 5];
    let rounds = 5000;
    for round in 0..rounds {
        let mut store = ContentStore::new(StoreOptions {
            capacity_ndcs: None,
            capacity_bytes: Some(Bytes::new(5)),
            policy: EvictionPolicy::Random,
        });
        let mut evicted = Vec::new();
        for k in 0..5 {
            store.insert(ndc(k), Bytes::new(1), 0.0, &mut evicted);
        }
        // Two have to go.
        let draw = f64::from(round) / f64::from(rounds);
        store.insert(ndc(9), Bytes::new(2), draw, &mut evicted);
        assert_eq!(evicted.len(), 2);
        for k in 0..5 {
            hits[k as usize] += i32::from(evicted.contains(&ndc(k)));
        }
    }
    assert!(hits.iter().all(|&h| h.abs_diff(2000) <= 50), "{hits:?}");
}

#[test]
fn names() {
    for policy in EvictionPolicy::ALL {
        assert_eq!(EvictionPolicy::from_name(policy.as_str()), Ok(policy));
        assert_eq!(
            serde_json::to_string(&policy).unwrap(),
            format!("\"{policy}\"")
        );
    }
    let error = EvictionPolicy::from_name("LRU").unwrap_err();
    assert!(error.contains("lru, lfu, fifo, random"), "{error}");
}
