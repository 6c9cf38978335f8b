//! A router's cache: what is put together from the DATA that passes by, whether it is kept, what
//! goes for it, and how many transfers were served.
//!
//! A *transfer* is a receiver's device and an NDC. Each counts once, when this router first sees a
//! REQ of it: as a hit if the NDC is in the store, else as a miss. In the same way the placement
//! decides once per transfer, when this router first sees DATA of it.
//!
//! Whether a router is the first one after the source is told by the DATA's hop limit: sources send
//! with [`CacheOptions::source_hop_limit`] (ns-3's default, and the value that RFC 1700 recommends),
//! and each router takes one off. That needs nothing new on the wire, holds for copies as for
//! servers, and where plain IP routers stand between it can be told how many hops count as the
//! first ([`CacheOptions::first_hops`]).

use super::assembly::{Assembler, AssemblerOptions, AssemblyStats};
use super::eid_map::EidMap;
use super::placement::PlacementRule;
use super::store::{ContentStore, Insertion, StoreOptions};
use crate::transport::Content;
use crate::units::{Bytes, Instant};
use crate::wire::{Eid, Kind, Repr, Sum, UNBOUNDED, verify_checksum};
use std::collections::VecDeque;

/// Options of a router's cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheOptions {
    /// What is kept.
    pub store: StoreOptions,
    /// Whether a copy is kept.
    pub placement: PlacementRule,
    /// How NDCs are put together.
    pub assembly: AssemblerOptions,
    /// Whether payload is real, and an NDC's hash is compared with its EID.
    pub verify: bool,
    /// The hop limit that sources send DATA with.
    pub source_hop_limit: u8,
    /// A router so many hops after the source, or fewer, is the first one.
    pub first_hops: u8,
}

impl Default for CacheOptions {
    fn default() -> CacheOptions {
        CacheOptions {
            store: StoreOptions::default(),
            placement: PlacementRule::default(),
            assembly: AssemblerOptions::default(),
            verify: false,
            source_hop_limit: 64,
            first_hops: 1,
        }
    }
}

/// What a cache has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheStats {
    /// Transfers that this router served.
    pub hits: u64,
    /// Transfers that others served.
    pub misses: u64,
    /// NDCs that made room for others.
    pub evictions: u64,
    /// NDCs that became complete and were stored.
    pub assembled: u64,
    /// NDCs that were begun and given up.
    pub abandoned: u64,
    /// Transfers of an NDC larger than the store or the memory for incomplete ones.
    pub too_large: u64,
    /// NDCs whose hash was wrong.
    pub mismatched: u64,
    /// Packets that were not valid.
    pub malformed: u64,
}

/// What a REQ is to a router's statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sighting {
    /// The first one of a transfer whose NDC is here.
    Hit,
    /// The first one of a transfer whose NDC is not here.
    Miss,
    /// Of a transfer that has been counted.
    Known,
}

/// What a router remembers of a transfer.
#[derive(Debug, Clone, Copy, Default)]
struct Transfer {
    /// Whether it has been counted.
    counted: bool,
    /// Whether the placement has decided on it.
    decided: bool,
}

/// A router's cache.
#[derive(Debug, Clone)]
pub struct RouterCache {
    options: CacheOptions,
    store: ContentStore,
    assembler: Assembler,
    transfers: EidMap<(Eid, Eid), Transfer>,
    /// Their order, the oldest first.
    remembered: VecDeque<(Eid, Eid)>,
    evicted: Vec<Eid>,
    draw_used: bool,
    stats: CacheStats,
}

impl RouterCache {
    /// Most transfers that are remembered; the oldest one is forgotten for a new one. As many as
    /// have their first packet on a 10 Gbit/s link within a second of 20-kB transfers.
    const MAX_TRANSFERS: usize = 1 << 16;

    /// An empty cache.
    pub fn new(options: CacheOptions) -> Result<RouterCache, String> {
        options.placement.validate()?;
        Ok(RouterCache {
            options,
            store: ContentStore::new(options.store),
            assembler: Assembler::new(options.assembly, options.verify),
            transfers: EidMap::default(),
            remembered: VecDeque::new(),
            evicted: Vec::new(),
            draw_used: false,
            stats: CacheStats::default(),
        })
    }

    /// A REQ came to this router, for itself or to be forwarded.
    pub fn on_request(&mut self, device: Eid, ndc: Eid) -> Sighting {
        let transfer = self.transfer(device, ndc);
        if std::mem::replace(&mut transfer.counted, true) {
            return Sighting::Known;
        }
        if self.store.request(&ndc) {
            self.stats.hits += 1;
            Sighting::Hit
        } else {
            self.stats.misses += 1;
            Sighting::Miss
        }
    }

    /// The router forwards a packet, whose hop limit is `hop_limit` when it leaves. Returns the NDC
    /// that it completes and that is kept; [`RouterCache::take_evicted`] tells what had to go.
    /// `draw` in [0, 1) may be given again as long as [`RouterCache::draw_used`] is false.
    pub fn on_data(
        &mut self,
        now: Instant,
        header: &[u8],
        payload_len: u32,
        payload: &[u8],
        hop_limit: u8,
        draw: f64,
    ) -> Option<(Eid, Content)> {
        self.draw_used = false;
        let Ok(repr) = Repr::parse(header) else {
            self.stats.malformed += 1;
            return None;
        };
        let Kind::Data { ndc_size, .. } = repr.kind else {
            return None;
        };
        // Without a size nothing tells when it is complete.
        let size = ndc_size.filter(|&s| s != UNBOUNDED && s > 0)?;
        let ndc = repr.source;
        if repr.length == 0 || self.store.contains(&ndc) {
            return None;
        }
        let open = self.assembler.is_open(&ndc);
        if !open && self.transfer(repr.destination, ndc).decided {
            return None;
        }
        let sum = if payload.is_empty() {
            Sum::ZERO
        } else {
            Sum::of(payload)
        };
        if repr.length != payload_len || !verify_checksum(header, sum) {
            self.stats.malformed += 1;
            return None;
        }
        if !open
            && !self.begin(
                now,
                repr.destination,
                ndc,
                Bytes::new(size),
                hop_limit,
                draw,
            )
        {
            return None;
        }
        let content = self
            .assembler
            .add(now, &ndc, size, repr.offset, repr.length, payload)?;
        let stored = self
            .store
            .insert(ndc, Bytes::new(size), draw, &mut self.evicted);
        self.draw_used = true;
        (stored == Insertion::Stored).then_some((ndc, content))
    }

    /// Puts `ndc` into the store as if it had been put together before; whether it is there now.
    /// The caller has its content.
    pub fn preload(&mut self, ndc: Eid, size: Bytes, draw: f64) -> bool {
        self.assembler.abandon(&ndc);
        let stored = self.store.insert(ndc, size, draw, &mut self.evicted);
        stored != Insertion::TooLarge
    }

    /// Abandons what has been incomplete for too long.
    pub fn expire(&mut self, now: Instant) {
        self.assembler.expire(now);
    }

    /// When [`RouterCache::expire`] may have something to do; [`Instant::MAX`] for never.
    pub const fn next_timer(&self) -> Instant {
        self.assembler.next_timer()
    }

    /// Evicts everything that is complete.
    pub fn evict_all(&mut self) {
        self.store.evict_all(&mut self.evicted);
    }

    /// The router's memory is lost: what is complete, what is not, what was decided on transfers
    /// (each still counts once). Returns what was complete.
    pub fn restart(&mut self) -> Vec<Eid> {
        let lost = self.store.ndcs().copied().collect();
        self.store.forget();
        self.assembler.abandon_all();
        self.transfers.values_mut().for_each(|t| t.decided = false);
        self.evicted.clear();
        lost
    }

    /// What has been evicted since the last call, in order.
    pub fn take_evicted(&mut self) -> impl Iterator<Item = Eid> {
        self.evicted.drain(..)
    }

    /// Whether the last [`RouterCache::on_data`] used its draw.
    pub const fn draw_used(&self) -> bool {
        self.draw_used
    }

    /// What has been counted.
    pub fn stats(&self) -> CacheStats {
        let AssemblyStats {
            assembled,
            abandoned,
            mismatched,
            contradictory,
            ..
        } = *self.assembler.stats();
        CacheStats {
            evictions: self.store.stats().evictions,
            assembled,
            abandoned,
            mismatched,
            malformed: self.stats.malformed + contradictory,
            ..self.stats
        }
    }

    /// What is complete.
    pub const fn store(&self) -> &ContentStore {
        &self.store
    }

    /// NDCs that are incomplete.
    pub fn pending(&self) -> usize {
        self.assembler.pending()
    }

    /// Decides on a transfer: whether its NDC is put together from now on.
    fn begin(
        &mut self,
        now: Instant,
        device: Eid,
        ndc: Eid,
        size: Bytes,
        hop_limit: u8,
        draw: f64,
    ) -> bool {
        self.transfer(device, ndc).decided = true;
        if !self.store.could_hold(size) || !self.assembler.could_hold(size) {
            self.stats.too_large += 1;
            return false;
        }
        let hops = self.options.source_hop_limit.saturating_sub(hop_limit);
        let first = hops <= self.options.first_hops;
        self.draw_used = self.options.placement.is_random();
        self.options.placement.keeps(first, draw) && self.assembler.open(now, ndc, size)
    }

    fn transfer(&mut self, device: Eid, ndc: Eid) -> &mut Transfer {
        let key = (device, ndc);
        if !self.transfers.contains_key(&key) {
            if self.remembered.len() >= RouterCache::MAX_TRANSFERS
                && let Some(oldest) = self.remembered.pop_front()
            {
                self.transfers.remove(&oldest);
            }
            self.remembered.push_back(key);
        }
        self.transfers.entry(key).or_default()
    }
}

#[cfg(test)]
mod tests;
