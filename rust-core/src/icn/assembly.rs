//! NDCs put together from the DATA that a router forwards.
//!
//! The assembler holds what is incomplete only. Who uses it decides which NDCs to begin
//! ([`Assembler::open`]) and keeps what is complete.

use super::eid_map::EidMap;
use crate::transport::Content;
use crate::units::{Bytes, Duration, Instant};
use crate::wire::Eid;

/// Options of an assembler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssemblerOptions {
    /// Most bytes of incomplete NDCs, each counted with its full size. Virtual content counts as if
    /// it were kept.
    pub memory: Bytes,
    /// An NDC of which nothing new has been seen for so long is abandoned.
    pub timeout: Duration,
}

impl Default for AssemblerOptions {
    fn default() -> AssemblerOptions {
        AssemblerOptions {
            // As many NDCs of 2 MB at once as the early-congestion-detection paper's cache holds.
            memory: Bytes::new(200_000_000),
            timeout: Duration::from_secs(10),
        }
    }
}

/// What an assembler has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AssemblyStats {
    /// Segments that added something.
    pub segments: u64,
    /// NDCs that became complete.
    pub assembled: u64,
    /// NDCs that were given up: idle for too long, no room, or lost with the router's memory.
    pub abandoned: u64,
    /// NDCs whose hash was wrong.
    pub mismatched: u64,
    /// Segments that contradict what is known of the NDC.
    pub contradictory: u64,
}

/// Disjoint ranges that do not touch, in order.
#[derive(Debug, Clone, Default)]
struct Ranges {
    list: Vec<(u64, u64)>,
    /// The one that was extended last.
    last: usize,
    /// Bytes in all of them.
    covered: u64,
}

impl Ranges {
    /// Adds `start..end`; whether anything of it was missing.
    fn insert(&mut self, start: u64, end: u64) -> bool {
        let next = self.list.get(self.last + 1).map_or(u64::MAX, |r| r.0);
        if let Some(last) = self.list.get_mut(self.last)
            && last.1 == start
            && end < next
        {
            // In order, as nearly all of it.
            last.1 = end;
            self.covered += end - start;
            return true;
        }
        let first = self.list.partition_point(|r| r.1 < start);
        let behind = self.list.partition_point(|r| r.0 <= end);
        let touching = &self.list[first..behind];
        let had: u64 = touching
            .iter()
            .map(|&(s, e)| e.min(end).saturating_sub(s.max(start)))
            .sum();
        let low = touching.first().map_or(start, |r| r.0.min(start));
        let high = touching.last().map_or(end, |r| r.1.max(end));
        self.list.splice(first..behind, [(low, high)]);
        self.last = first;
        self.covered += end - start - had;
        end - start > had
    }
}

#[derive(Debug, Clone)]
struct Partial {
    size: u64,
    ranges: Ranges,
    /// Empty for virtual content.
    bytes: Vec<u8>,
    touched: Instant,
}

/// Puts NDCs together from segments in any order, from any number of transfers.
#[derive(Debug, Clone)]
pub struct Assembler {
    options: AssemblerOptions,
    /// Whether payload is real: an NDC then counts as complete only if its hash is its EID.
    verify: bool,
    partial: EidMap<Eid, Partial>,
    used: u64,
    /// When [`Assembler::expire`] is due; earlier than needed where something was touched since.
    next_check: Instant,
    stats: AssemblyStats,
}

impl Assembler {
    /// An assembler of real (`verify`) or virtual content.
    pub fn new(options: AssemblerOptions, verify: bool) -> Assembler {
        Assembler {
            options,
            verify,
            partial: EidMap::default(),
            used: 0,
            next_check: Instant::MAX,
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

    /// Whether `ndc` is being put together.
    pub fn is_open(&self, ndc: &Eid) -> bool {
        self.partial.contains_key(ndc)
    }

    /// Bytes that count against the memory limit.
    pub const fn used(&self) -> Bytes {
        Bytes::new(self.used)
    }

    /// Whether an NDC of `size` could ever be put together.
    pub fn could_hold(&self, size: Bytes) -> bool {
        size <= self.options.memory
    }

    /// Begins with `ndc`. Others make room for it, those that have been idle for longest first, for
    /// they are least likely to become complete. False if it is larger than all the memory.
    pub fn open(&mut self, now: Instant, ndc: Eid, size: Bytes) -> bool {
        if self.is_open(&ndc) {
            return true;
        }
        if !self.could_hold(size) {
            return false;
        }
        self.expire(now);
        while self.used.saturating_add(size.get()) > self.options.memory.get() {
            // Equals are told apart by their names, so that it does not depend on the map's order.
            let idle = self.partial.iter().map(|(ndc, p)| (p.touched, *ndc)).min();
            let Some((_, idle)) = idle else { return false };
            self.abandon(&idle);
        }
        self.used += size.get();
        let partial = Partial {
            size: size.get(),
            ranges: Ranges::default(),
            bytes: if self.verify {
                vec![0; size.get() as usize]
            } else {
                Vec::new()
            },
            touched: now,
        };
        self.partial.insert(ndc, partial);
        self.next_check = self.next_check.min(now + self.options.timeout);
        true
    }

    /// Adds a segment of an NDC that is open; returns the NDC if it is complete now. `payload` is
    /// the whole segment where content is real.
    pub fn add(
        &mut self,
        now: Instant,
        ndc: &Eid,
        size: u64,
        offset: u64,
        length: u32,
        payload: &[u8],
    ) -> Option<Content> {
        let partial = self.partial.get_mut(ndc)?;
        let end = offset.checked_add(length.into()).filter(|&e| e <= size);
        let whole = !self.verify || payload.len() == length as usize;
        let Some(end) = end.filter(|_| partial.size == size && whole) else {
            self.stats.contradictory += 1;
            return None;
        };
        if length > 0 && partial.ranges.insert(offset, end) {
            partial.touched = now;
            self.stats.segments += 1;
            if self.verify {
                partial.bytes[offset as usize..end as usize].copy_from_slice(payload);
            }
        }
        if partial.ranges.covered < size {
            return None;
        }
        self.complete(ndc)
    }

    /// Abandons what has been idle for too long.
    pub fn expire(&mut self, now: Instant) {
        if now < self.next_check {
            return;
        }
        let timeout = self.options.timeout;
        let (before, mut freed, mut next) = (self.partial.len(), 0, Instant::MAX);
        self.partial.retain(|_, p| {
            let keep = now - p.touched < timeout;
            if keep {
                next = next.min(p.touched + timeout);
            } else {
                freed += p.size;
            }
            keep
        });
        self.used -= freed;
        self.next_check = next;
        self.stats.abandoned += (before - self.partial.len()) as u64;
    }

    /// When [`Assembler::expire`] may have something to do; [`Instant::MAX`] for never.
    pub const fn next_timer(&self) -> Instant {
        self.next_check
    }

    /// Gives `ndc` up, if it is incomplete.
    pub fn abandon(&mut self, ndc: &Eid) {
        if let Some(partial) = self.partial.remove(ndc) {
            self.used -= partial.size;
            self.stats.abandoned += 1;
        }
    }

    /// Gives everything up.
    pub fn abandon_all(&mut self) {
        self.stats.abandoned += self.partial.len() as u64;
        self.partial.clear();
        self.used = 0;
        self.next_check = Instant::MAX;
    }

    fn complete(&mut self, ndc: &Eid) -> Option<Content> {
        let partial = self.partial.remove(ndc)?;
        self.used -= partial.size;
        let content = if self.verify {
            Content::Real(partial.bytes)
        } else {
            Content::Virtual { size: partial.size }
        };
        if content.eid().is_some_and(|real| real != *ndc) {
            self.stats.mismatched += 1;
            return None;
        }
        self.stats.assembled += 1;
        Some(content)
    }
}

#[cfg(test)]
mod tests;
