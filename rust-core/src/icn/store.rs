//! A router's content store: which complete NDCs it keeps, and which one goes when there is no room.
//!
//! The store decides; the bytes are kept by whoever serves them. All operations take constant time
//! (random eviction) or the logarithm of the number of NDCs (the others).

use super::eid_map::EidMap;
use crate::units::Bytes;
use crate::wire::Eid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Which NDC makes room for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "kebab-case")]
pub enum EvictionPolicy {
    /// The one that was asked for least recently.
    #[default]
    Lru,
    /// The one that was asked for least often since it came; of equals the least recent one. An NDC
    /// that is evicted and comes back counts from one again.
    Lfu,
    /// The one that came first.
    Fifo,
    /// Any, with equal chances.
    Random,
}

impl EvictionPolicy {
    /// All of them.
    pub const ALL: [EvictionPolicy; 4] = [
        EvictionPolicy::Lru,
        EvictionPolicy::Lfu,
        EvictionPolicy::Fifo,
        EvictionPolicy::Random,
    ];

    /// Its name in scenarios.
    pub const fn as_str(self) -> &'static str {
        match self {
            EvictionPolicy::Lru => "lru",
            EvictionPolicy::Lfu => "lfu",
            EvictionPolicy::Fifo => "fifo",
            EvictionPolicy::Random => "random",
        }
    }

    /// The policy of this name.
    pub fn from_name(name: &str) -> Result<EvictionPolicy, String> {
        let all = EvictionPolicy::ALL;
        all.into_iter().find(|p| p.as_str() == name).ok_or_else(|| {
            format!("eviction policy: unknown {name:?} (accepted: lru, lfu, fifo, random)")
        })
    }
}

impl fmt::Display for EvictionPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How much a store holds, and what goes when it is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreOptions {
    /// Most NDCs; none for no limit.
    pub capacity_ndcs: Option<u64>,
    /// Most bytes of content; none for no limit. Virtual content counts as if it were kept.
    pub capacity_bytes: Option<Bytes>,
    /// What makes room.
    pub policy: EvictionPolicy,
}

/// What a store has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreStats {
    /// Requests for an NDC that was here.
    pub hits: u64,
    /// Requests for one that was not.
    pub misses: u64,
    /// NDCs that came.
    pub insertions: u64,
    /// NDCs that made room for others.
    pub evictions: u64,
    /// NDCs larger than the whole store.
    pub too_large: u64,
}

/// What became of an NDC that was to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Insertion {
    /// It is here now.
    Stored,
    /// It was here.
    Present,
    /// It is larger than the whole store.
    TooLarge,
}

#[derive(Debug, Clone, Copy)]
struct Item {
    size: u64,
    /// Its place in the order of eviction.
    rank: (u64, u64),
    /// Its place among all, for random eviction.
    slot: usize,
}

/// A content store.
#[derive(Debug, Clone)]
pub struct ContentStore {
    options: StoreOptions,
    items: EidMap<Eid, Item>,
    /// By (requests, time), the first one goes first; empty under random eviction.
    order: BTreeMap<(u64, u64), Eid>,
    /// In no order; empty but under random eviction.
    slots: Vec<Eid>,
    bytes: u64,
    /// Counts operations, as a time.
    tick: u64,
    stats: StoreStats,
}

impl ContentStore {
    /// An empty store.
    pub fn new(options: StoreOptions) -> ContentStore {
        ContentStore {
            options,
            items: EidMap::default(),
            order: BTreeMap::new(),
            slots: Vec::new(),
            bytes: 0,
            tick: 0,
            stats: StoreStats::default(),
        }
    }

    /// What has been counted.
    pub const fn stats(&self) -> &StoreStats {
        &self.stats
    }

    /// How many NDCs are here.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether none is here.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many bytes are here.
    pub const fn bytes(&self) -> Bytes {
        Bytes::new(self.bytes)
    }

    /// Whether `ndc` is here; counts nothing.
    pub fn contains(&self, ndc: &Eid) -> bool {
        self.items.contains_key(ndc)
    }

    /// Whether the empty store would have room for `size` bytes.
    pub fn could_hold(&self, size: Bytes) -> bool {
        self.options.capacity_ndcs != Some(0)
            && self.options.capacity_bytes.is_none_or(|most| size <= most)
    }

    /// Someone asks for `ndc`: whether it is here.
    pub fn request(&mut self, ndc: &Eid) -> bool {
        self.tick += 1;
        let Some(item) = self.items.get_mut(ndc) else {
            self.stats.misses += 1;
            return false;
        };
        self.stats.hits += 1;
        let rank = match self.options.policy {
            EvictionPolicy::Lru => (0, self.tick),
            EvictionPolicy::Lfu => (item.rank.0 + 1, self.tick),
            EvictionPolicy::Fifo | EvictionPolicy::Random => return true,
        };
        self.order.remove(&item.rank);
        item.rank = rank;
        self.order.insert(rank, *ndc);
        true
    }

    /// Stores `ndc`; what makes room for it is appended to `evicted`. `draw` in [0, 1) chooses under
    /// random eviction.
    pub fn insert(
        &mut self,
        ndc: Eid,
        size: Bytes,
        draw: f64,
        evicted: &mut Vec<Eid>,
    ) -> Insertion {
        if self.contains(&ndc) {
            return Insertion::Present;
        }
        if !self.could_hold(size) {
            self.stats.too_large += 1;
            return Insertion::TooLarge;
        }
        let mut draw = draw;
        while !self.has_room(size.get()) {
            let Some(victim) = self.victim(&mut draw) else {
                break;
            };
            self.remove(&victim);
            self.stats.evictions += 1;
            evicted.push(victim);
        }
        self.tick += 1;
        let requests = u64::from(self.options.policy == EvictionPolicy::Lfu);
        let item = Item {
            size: size.get(),
            rank: (requests, self.tick),
            slot: self.slots.len(),
        };
        match self.options.policy {
            EvictionPolicy::Random => self.slots.push(ndc),
            _ => {
                self.order.insert(item.rank, ndc);
            }
        }
        self.items.insert(ndc, item);
        self.bytes += size.get();
        self.stats.insertions += 1;
        Insertion::Stored
    }

    /// Takes `ndc` out, without counting an eviction; whether it was here.
    pub fn remove(&mut self, ndc: &Eid) -> bool {
        let Some(item) = self.items.remove(ndc) else {
            return false;
        };
        self.bytes -= item.size;
        if self.options.policy == EvictionPolicy::Random {
            self.slots.swap_remove(item.slot);
            if let Some(moved) = self.slots.get(item.slot)
                && let Some(other) = self.items.get_mut(moved)
            {
                other.slot = item.slot;
            }
        } else {
            self.order.remove(&item.rank);
        }
        true
    }

    /// Evicts everything, in the order of eviction.
    pub fn evict_all(&mut self, evicted: &mut Vec<Eid>) {
        evicted.extend(self.order.values());
        evicted.extend(&self.slots);
        self.stats.evictions += self.items.len() as u64;
        self.forget();
    }

    /// Everything is lost; what has been counted stays.
    pub fn forget(&mut self) {
        self.items.clear();
        self.order.clear();
        self.slots.clear();
        self.bytes = 0;
    }

    /// The NDCs, in the order of eviction (under random eviction: in any order).
    pub fn ndcs(&self) -> impl Iterator<Item = &Eid> {
        self.order.values().chain(&self.slots)
    }

    fn has_room(&self, size: u64) -> bool {
        let count = self.items.len() as u64;
        self.options.capacity_ndcs.is_none_or(|most| count < most)
            && self
                .options
                .capacity_bytes
                .is_none_or(|most| self.bytes.saturating_add(size) <= most.get())
    }

    /// Who goes next. What is left of `draw` after a choice is a draw again.
    fn victim(&self, draw: &mut f64) -> Option<Eid> {
        if self.options.policy != EvictionPolicy::Random {
            return self.order.values().next().copied();
        }
        let scaled = draw.clamp(0.0, 1.0) * self.slots.len() as f64;
        let at = (scaled as usize).min(self.slots.len().checked_sub(1)?);
        *draw = scaled.fract();
        Some(self.slots[at])
    }
}

#[cfg(test)]
mod tests;
