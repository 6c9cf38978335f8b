//! Bridge of the routers' engines: `ferrocc::router`.

#[cxx::bridge(namespace = "ferrocc::router")]
pub(crate) mod bridge {
    #[namespace = "ferrocc"]
    extern "C++" {
        include!("ferrocc-ffi/src/types.rs.h");
        type Eid = crate::types::Eid;
    }
    #[namespace = "ferrocc::transport"]
    extern "C++" {
        include!("ferrocc-ffi/src/transport.rs.h");
        type Replica = crate::transport::Replica;
    }

    /// Options of a router's cache.
    #[derive(Debug, Clone)]
    struct CacheConfig {
        /// Most NDCs; `u64::MAX` for no limit.
        capacity_ndcs: u64,
        /// Most bytes of complete NDCs; `u64::MAX` for no limit.
        capacity_bytes: u64,
        /// `lru`, `lfu`, `fifo` or `random`.
        policy: String,
        /// `lce`, `lcd` or `probabilistic`.
        placement: String,
        /// Probability of a copy under `probabilistic`.
        probability: f64,
        /// Most bytes of incomplete NDCs.
        assembly_memory_bytes: u64,
        /// Time without anything new after which an incomplete NDC is given up.
        assembly_timeout_ns: u64,
        /// Whether payload is real.
        verify: bool,
        /// Hop limit that sources send DATA with.
        source_hop_limit: u8,
        /// A router so many hops after the source, or fewer, is the first one.
        first_hops: u8,
    }

    /// What follows from an event at a cache. Counters are totals.
    #[derive(Debug)]
    struct CacheStep<'a> {
        /// Whether an NDC is complete now: `store` puts it into a replica.
        completed: bool,
        /// Which one.
        eid: Eid,
        /// NDCs that are here no longer, to be taken from the replica by `drop_evicted`.
        evicted: &'a [Eid],
        /// Whether the draw was used, so that the next call needs another one.
        draw_used: bool,
        /// When `expire` is due; `u64::MAX` for never.
        next_timer_ns: u64,
    }

    /// What a cache has counted.
    #[derive(Debug, Clone, Copy)]
    struct CacheStats {
        /// Transfers that this router served.
        hits: u64,
        /// Transfers that others served.
        misses: u64,
        /// NDCs that made room for others.
        evictions: u64,
        /// NDCs that became complete.
        assembled: u64,
        /// NDCs that were begun and given up.
        abandoned: u64,
        /// Transfers of an NDC larger than the store or the memory for incomplete ones.
        too_large: u64,
        /// NDCs whose hash was wrong.
        mismatched: u64,
        /// Packets that were not valid.
        malformed: u64,
        /// Complete NDCs that are here.
        ndcs: u64,
        /// Their bytes.
        bytes: u64,
        /// Incomplete NDCs.
        pending: u64,
    }

    extern "Rust" {
        type RouterCache;

        /// An empty cache. Fails on unknown names and numbers out of range.
        fn new_router_cache(config: &CacheConfig) -> Result<Box<RouterCache>>;
        /// A REQ of `device` for `ndc` came: whether the NDC is here.
        fn on_request(self: &mut RouterCache, device: &Eid, ndc: &Eid) -> bool;
        /// The router forwards a DATA packet, which leaves with `hop_limit`. `draw` is in [0, 1).
        unsafe fn on_data<'a>(
            self: &'a mut RouterCache,
            now_ns: u64,
            header: &[u8],
            payload_len: u32,
            payload: &[u8],
            hop_limit: u8,
            draw: f64,
        ) -> CacheStep<'a>;
        /// Puts the NDC that is complete into a replica.
        fn store(self: &mut RouterCache, replica: &mut Replica);
        /// Notes an NDC whose content the replica has got otherwise; whether it is in the store now.
        fn preload(self: &mut RouterCache, ndc: &Eid, size_bytes: u64, draw: f64) -> bool;
        /// Evicts everything.
        fn evict_all(self: &mut RouterCache);
        /// Loses everything, complete or not.
        fn restart(self: &mut RouterCache);
        /// NDCs that are here no longer since the last step.
        unsafe fn take_evicted<'a>(self: &'a mut RouterCache) -> &'a [Eid];
        /// Abandons what has been idle for too long; returns the next time to do so.
        fn expire(self: &mut RouterCache, now_ns: u64) -> u64;
        /// Whether an NDC is here, complete.
        fn contains(self: &RouterCache, ndc: &Eid) -> bool;
        /// What has been counted.
        fn stats(self: &RouterCache) -> CacheStats;
    }
}

use crate::convert;
use crate::icn::at;
use crate::transport::Replica;
use crate::types::Eid;
use bridge::{CacheConfig, CacheStats, CacheStep};
use ferrocc::icn;
use ferrocc::transport::Content;
use ferrocc::units::{Bytes, Duration};

/// A router's cache.
pub struct RouterCache {
    engine: icn::RouterCache,
    complete: Option<(ferrocc::wire::Eid, Content)>,
    evicted: Vec<Eid>,
}

/// `u64::MAX` is no limit.
fn limit(value: u64) -> Option<u64> {
    (value != u64::MAX).then_some(value)
}

fn new_router_cache(config: &CacheConfig) -> Result<Box<RouterCache>, String> {
    let options = icn::CacheOptions {
        store: icn::StoreOptions {
            capacity_ndcs: limit(config.capacity_ndcs),
            capacity_bytes: limit(config.capacity_bytes).map(Bytes::new),
            policy: icn::EvictionPolicy::from_name(&config.policy)?,
        },
        placement: icn::PlacementRule {
            placement: icn::Placement::from_name(&config.placement)?,
            probability: config.probability,
        },
        assembly: icn::AssemblerOptions {
            memory: Bytes::new(config.assembly_memory_bytes),
            timeout: Duration::from_nanos(config.assembly_timeout_ns),
        },
        verify: config.verify,
        source_hop_limit: config.source_hop_limit,
        first_hops: config.first_hops,
    };
    Ok(Box::new(RouterCache {
        engine: icn::RouterCache::new(options)?,
        complete: None,
        evicted: Vec::new(),
    }))
}

impl RouterCache {
    fn on_request(&mut self, device: &Eid, ndc: &Eid) -> bool {
        self.engine
            .on_request(convert::eid(device), convert::eid(ndc))
    }

    fn on_data(
        &mut self,
        now_ns: u64,
        header: &[u8],
        payload_len: u32,
        payload: &[u8],
        hop_limit: u8,
        draw: f64,
    ) -> CacheStep<'_> {
        self.complete =
            self.engine
                .on_data(at(now_ns), header, payload_len, payload, hop_limit, draw);
        let eid = self.complete.as_ref().map(|(eid, _)| *eid);
        let draw_used = self.engine.draw_used();
        let next_timer_ns = self.engine.next_timer().as_nanos();
        CacheStep {
            completed: eid.is_some(),
            eid: convert::bridge_eid(eid.unwrap_or_default()),
            evicted: self.take_evicted(),
            draw_used,
            next_timer_ns,
        }
    }

    fn store(&mut self, replica: &mut Replica) {
        if let Some((eid, content)) = self.complete.take() {
            replica.engine_mut().add(eid, content);
        }
    }

    fn preload(&mut self, ndc: &Eid, size_bytes: u64, draw: f64) -> bool {
        self.engine
            .preload(convert::eid(ndc), Bytes::new(size_bytes), draw)
    }

    fn evict_all(&mut self) {
        self.engine.evict_all();
    }

    fn restart(&mut self) {
        self.complete = None;
        self.engine.restart();
    }

    fn take_evicted(&mut self) -> &[Eid] {
        self.evicted.clear();
        self.evicted
            .extend(self.engine.take_evicted().map(convert::bridge_eid));
        &self.evicted
    }

    fn expire(&mut self, now_ns: u64) -> u64 {
        self.engine.expire(at(now_ns));
        self.engine.next_timer().as_nanos()
    }

    fn contains(&self, ndc: &Eid) -> bool {
        self.engine.store().contains(&convert::eid(ndc))
    }

    fn stats(&self) -> CacheStats {
        let stats = self.engine.stats();
        CacheStats {
            hits: stats.hits,
            misses: stats.misses,
            evictions: stats.evictions,
            assembled: stats.assembled,
            abandoned: stats.abandoned,
            too_large: stats.too_large,
            mismatched: stats.mismatched,
            malformed: stats.malformed,
            ndcs: self.engine.store().len() as u64,
            bytes: self.engine.store().bytes().get(),
            pending: self.engine.pending() as u64,
        }
    }
}
