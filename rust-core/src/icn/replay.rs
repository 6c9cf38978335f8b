//! Requests replayed against caches on a path, without packets: a fast warm-up.
//!
//! A replay makes the decisions that the routers of a packet simulation make when transfers come one
//! after the other: the same store, the same placement, the nearest copy serves. What it leaves out
//! is time: NDCs under way at once, the moment at which a registration arrives, losses.

use super::placement::PlacementRule;
use super::store::{ContentStore, StoreOptions};
use crate::units::Bytes;
use crate::wire::Eid;

/// One router's cache.
#[derive(Debug, Clone)]
pub struct CacheModel {
    store: ContentStore,
    placement: PlacementRule,
    memory: Bytes,
    evicted: Vec<Eid>,
}

impl CacheModel {
    /// An empty cache.
    pub fn new(store: StoreOptions, placement: PlacementRule) -> CacheModel {
        CacheModel {
            store: ContentStore::new(store),
            placement,
            memory: Bytes::new(u64::MAX),
            evicted: Vec::new(),
        }
    }

    /// With room for incomplete NDCs of `memory` bytes: a larger one is never put together.
    #[must_use]
    pub const fn assembly_memory(mut self, memory: Bytes) -> CacheModel {
        self.memory = memory;
        self
    }

    /// A transfer of `ndc` asks here: whether this router serves it.
    pub fn request(&mut self, ndc: &Eid) -> bool {
        self.store.request(ndc)
    }

    /// A whole NDC passed by on its way to a receiver; `first` says whether this is the first router
    /// after the one that served it. Returns whether it is here now. `placement_draw` and
    /// `eviction_draw` are in [0, 1).
    pub fn pass(
        &mut self,
        ndc: Eid,
        size: Bytes,
        first: bool,
        placement_draw: f64,
        eviction_draw: f64,
    ) -> bool {
        let fits = size <= self.memory;
        if !self.store.contains(&ndc) && self.placement.keeps(first, placement_draw) && fits {
            self.evicted.clear();
            self.store
                .insert(ndc, size, eviction_draw, &mut self.evicted);
        }
        self.store.contains(&ndc)
    }

    /// The store, which tells what is in it and what was counted.
    pub const fn store(&self) -> &ContentStore {
        &self.store
    }
}

/// Caches between receivers and a source, the receivers' router first.
#[derive(Debug, Clone)]
pub struct PathModel {
    caches: Vec<CacheModel>,
}

impl PathModel {
    /// A path.
    pub const fn new(caches: Vec<CacheModel>) -> PathModel {
        PathModel { caches }
    }

    /// A receiver fetches `ndc`. Returns the index of the cache that serves it, or the number of
    /// caches if the source does. `draw` gives draws in [0, 1), two for each router passed.
    pub fn fetch(&mut self, ndc: Eid, size: Bytes, mut draw: impl FnMut() -> f64) -> usize {
        let served = self.caches.iter_mut().position(|c| c.request(&ndc));
        let served = served.unwrap_or(self.caches.len());
        for (i, cache) in self.caches[..served].iter_mut().enumerate().rev() {
            cache.pass(ndc, size, i + 1 == served, draw(), draw());
        }
        served
    }

    /// The caches.
    pub fn caches(&self) -> &[CacheModel] {
        &self.caches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::icn::placement::Placement;

    fn path(placement: Placement, capacity: u64) -> PathModel {
        let store = StoreOptions {
            capacity_ndcs: Some(capacity),
            ..StoreOptions::default()
        };
        let rule = PlacementRule {
            placement,
            probability: 0.5,
        };
        PathModel::new(vec![CacheModel::new(store, rule); 3])
    }

    fn ndc(k: u8) -> Eid {
        Eid::of_name(&k.to_string())
    }

    fn served(path: &mut PathModel, k: u8) -> usize {
        path.fetch(ndc(k), Bytes::new(10), || 0.7)
    }

    #[test]
    fn what_is_larger_than_the_memory_for_incomplete_ndcs_is_not_kept() {
        let rule = PlacementRule {
            placement: Placement::LeaveCopyEverywhere,
            probability: 1.0,
        };
        let cache = |memory| {
            CacheModel::new(StoreOptions::default(), rule).assembly_memory(Bytes::new(memory))
        };
        for (memory, kept) in [(9, false), (10, true)] {
            let kept_now = cache(memory).pass(ndc(1), Bytes::new(10), true, 0.0, 0.0);
            assert_eq!(kept_now, kept, "{memory}");
        }
    }

    #[test]
    fn copies_everywhere_serve_at_the_edge() {
        let mut path = path(Placement::LeaveCopyEverywhere, 2);
        assert_eq!([1, 1, 2, 1].map(|k| served(&mut path, k)), [3, 0, 3, 0]);
        // 2 was asked for least recently at the edge, but 1 further up.
        assert_eq!([3, 2, 1].map(|k| served(&mut path, k)), [3, 1, 3]);
        assert_eq!(path.caches()[0].store().stats().hits, 2);
    }

    #[test]
    fn copies_come_down_one_router_per_request() {
        let mut path = path(Placement::LeaveCopyDown, 2);
        assert_eq!([1; 5].map(|k| served(&mut path, k)), [3, 2, 1, 0, 0]);
    }

    #[test]
    fn no_copy_where_the_draw_says_no() {
        let mut path = path(Placement::Probabilistic, 2);
        assert_eq!([1; 3].map(|k| served(&mut path, k)), [3, 3, 3]);
        assert_eq!(path.fetch(ndc(1), Bytes::new(10), || 0.1), 3);
        assert_eq!(served(&mut path, 1), 0);
    }
}
