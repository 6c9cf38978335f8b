//! NDCs put together from the DATA that a router forwards.

use crate::transport::Content;
use crate::units::{Bytes, Duration, Instant};
use crate::wire::{Eid, Kind, Repr, Sum, UNBOUNDED, verify_checksum};
use std::collections::{BTreeMap, BTreeSet};

/// Options of an assembler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssemblerOptions {
    /// Most bytes of content, complete or not. Virtual content counts as if it were kept.
    pub capacity: Bytes,
    /// An NDC of which nothing new has been seen for so long is abandoned.
    pub timeout: Duration,
}

impl Default for AssemblerOptions {
    fn default() -> AssemblerOptions {
        AssemblerOptions {
            // 100 NDCs of 2 MB (the early-congestion-detection paper's cache).
            capacity: Bytes::new(200_000_000),
            timeout: Duration::from_secs(10),
        }
    }
}

/// What an assembler has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AssemblyStats {
    /// DATA packets that added something.
    pub segments: u64,
    /// NDCs that became complete.
    pub assembled: u64,
    /// NDCs that were given up: idle for too long, or no room.
    pub abandoned: u64,
    /// NDCs whose hash was wrong.
    pub mismatched: u64,
    /// Packets that were not valid DATA.
    pub malformed: u64,
}

#[derive(Debug, Clone)]
struct Partial {
    size: u64,
    /// Disjoint ranges that have been seen and do not touch: start -> end.
    ranges: BTreeMap<u64, u64>,
    seen: u64,
    /// Empty for virtual content.
    bytes: Vec<u8>,
    touched: Instant,
}

impl Partial {
    /// Adds `start..end`; how many bytes of it were missing.
    fn insert(&mut self, start: u64, end: u64) -> u64 {
        let (mut low, mut high, mut had) = (start, end, 0);
        let touching: Vec<(u64, u64)> = self
            .ranges
            .range(..=end)
            .rev()
            .map(|(&s, &e)| (s, e))
            .take_while(|&(_, e)| e >= start)
            .collect();
        for (s, e) in touching {
            self.ranges.remove(&s);
            had += e.min(end).saturating_sub(s.max(start));
            low = low.min(s);
            high = high.max(e);
        }
        self.ranges.insert(low, high);
        let new = end - start - had;
        self.seen += new;
        new
    }
}

/// Puts NDCs together from segments in any order, from any number of receivers.
#[derive(Debug, Clone)]
pub struct Assembler {
    options: AssemblerOptions,
    /// Whether payload is real: an NDC then counts as complete only if its hash is its EID.
    verify: bool,
    partial: BTreeMap<Eid, Partial>,
    /// What is complete; it has a place of its own and is not assembled again.
    held: BTreeSet<Eid>,
    held_bytes: u64,
    stats: AssemblyStats,
}

impl Assembler {
    /// An assembler of real (`verify`) or virtual content.
    pub fn new(options: AssemblerOptions, verify: bool) -> Assembler {
        Assembler {
            options,
            verify,
            partial: BTreeMap::new(),
            held: BTreeSet::new(),
            held_bytes: 0,
            stats: AssemblyStats::default(),
        }
    }

    /// What has been counted.
    pub const fn stats(&self) -> &AssemblyStats {
        &self.stats
    }

    /// NDCs that are incomplete.
    pub fn pending(&self) -> usize {
        self.partial.len()
    }

    /// Says that `eid` is on this node anyway and need not be assembled.
    pub fn hold(&mut self, eid: Eid) {
        self.partial.remove(&eid);
        self.held.insert(eid);
    }

    /// A packet passes by. Returns an NDC that it completes.
    pub fn on_packet(
        &mut self,
        now: Instant,
        header: &[u8],
        payload_len: u32,
        payload: &[u8],
    ) -> Option<(Eid, Content)> {
        let Ok(repr) = Repr::parse(header) else {
            self.stats.malformed += 1;
            return None;
        };
        let Kind::Data { ndc_size, .. } = repr.kind else {
            return None;
        };
        let eid = repr.source;
        // Without a size nothing tells when it is complete.
        let size = ndc_size.filter(|&s| s != UNBOUNDED && s > 0)?;
        if self.held.contains(&eid) || repr.length == 0 {
            return None;
        }
        let end = repr.offset.checked_add(u64::from(repr.length));
        let whole = repr.length == payload_len
            && (!self.verify || payload.len() == repr.length as usize)
            && end.is_some_and(|e| e <= size);
        let sum = if payload.is_empty() {
            Sum::ZERO
        } else {
            Sum::of(payload)
        };
        if !whole || !verify_checksum(header, sum) {
            self.stats.malformed += 1;
            return None;
        }
        if !self.open(now, eid, size) {
            return None;
        }
        let partial = self.partial.get_mut(&eid)?;
        if partial.size != size {
            self.stats.malformed += 1;
            return None;
        }
        let end = repr.offset + u64::from(repr.length);
        if partial.insert(repr.offset, end) > 0 {
            partial.touched = now;
            self.stats.segments += 1;
            if self.verify {
                partial.bytes[repr.offset as usize..end as usize].copy_from_slice(payload);
            }
        }
        if partial.seen < size {
            return None;
        }
        self.complete(eid)
    }

    /// Abandons what has been idle for too long.
    pub fn expire(&mut self, now: Instant) {
        let timeout = self.options.timeout;
        let before = self.partial.len();
        self.partial.retain(|_, p| now - p.touched < timeout);
        self.stats.abandoned += (before - self.partial.len()) as u64;
    }

    /// When [`Assembler::expire`] has something to do; [`Instant::MAX`] for never.
    pub fn next_timer(&self) -> Instant {
        let oldest = self.partial.values().map(|p| p.touched).min();
        oldest.map_or(Instant::MAX, |t| t + self.options.timeout)
    }

    /// Bytes that count against the capacity.
    pub fn used(&self) -> Bytes {
        Bytes::new(self.held_bytes + self.partial.values().map(|p| p.size).sum::<u64>())
    }

    /// Makes room for `eid`, if it is new; false if there is none.
    fn open(&mut self, now: Instant, eid: Eid, size: u64) -> bool {
        if self.partial.contains_key(&eid) {
            return true;
        }
        let capacity = self.options.capacity.get();
        if self.held_bytes.saturating_add(size) > capacity {
            return false;
        }
        self.expire(now);
        while self.used().get().saturating_add(size) > capacity {
            // What has been idle for longest is least likely to become complete.
            let oldest = self
                .partial
                .iter()
                .min_by_key(|(_, p)| p.touched)
                .map(|(&eid, _)| eid);
            let Some(oldest) = oldest else { return false };
            self.partial.remove(&oldest);
            self.stats.abandoned += 1;
        }
        let partial = Partial {
            size,
            ranges: BTreeMap::new(),
            seen: 0,
            bytes: if self.verify {
                vec![0; size as usize]
            } else {
                Vec::new()
            },
            touched: now,
        };
        self.partial.insert(eid, partial);
        true
    }

    fn complete(&mut self, eid: Eid) -> Option<(Eid, Content)> {
        let partial = self.partial.remove(&eid)?;
        let content = if self.verify {
            Content::Real(partial.bytes)
        } else {
            Content::Virtual { size: partial.size }
        };
        if content.eid().is_some_and(|real| real != eid) {
            self.stats.mismatched += 1;
            return None;
        }
        self.stats.assembled += 1;
        self.held.insert(eid);
        self.held_bytes += partial.size;
        Some((eid, content))
    }
}

#[cfg(test)]
mod tests;
