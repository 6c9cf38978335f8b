//! What an NDC consists of.

use crate::wire::{Eid, Sum, UNBOUNDED};

/// The bytes of an NDC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// So many bytes that are never looked at: zeros that are not copied. [`UNBOUNDED`] for content
    /// without an end.
    Virtual {
        /// Bytes.
        size: u64,
    },
    /// Real bytes.
    Real(Vec<u8>),
}

impl Content {
    /// Pseudo-random bytes, the same for the same seed (SplitMix64 of the 8-byte word's index,
    /// counted from a place that the seed scatters).
    pub fn synthetic(seed: u64, size: usize) -> Content {
        let seed = split_mix(seed);
        let words = (0..size.div_ceil(8) as u64).map(|i| split_mix(seed.wrapping_add(i)));
        let mut bytes: Vec<u8> = words.flat_map(u64::to_be_bytes).collect();
        bytes.truncate(size);
        Content::Real(bytes)
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Content::Virtual { size } => *size,
            Content::Real(bytes) => bytes.len() as u64,
        }
    }

    /// The part of `offset..offset + length` that exists, as its length; zero if none does.
    pub fn available(&self, offset: u64, length: u32) -> u32 {
        let left = match self.size() {
            UNBOUNDED => u64::MAX,
            size => size.saturating_sub(offset),
        };
        u64::from(length).min(left) as u32
    }

    /// Appends the bytes of a range that [`Content::available`] has confirmed, if they are real, and
    /// returns their checksum sum.
    pub(super) fn read(&self, offset: u64, length: u32, out: &mut Vec<u8>) -> Sum {
        match self {
            Content::Virtual { .. } => Sum::ZERO,
            Content::Real(bytes) => {
                let range = &bytes[offset as usize..offset as usize + length as usize];
                out.extend_from_slice(range);
                Sum::of(range)
            }
        }
    }

    /// The self-certifying identifier of real content; none of virtual content.
    pub fn eid(&self) -> Option<Eid> {
        match self {
            Content::Virtual { .. } => None,
            Content::Real(bytes) => Some(Eid::of_content(bytes)),
        }
    }
}

/// SplitMix64's output function of one state.
fn split_mix(index: u64) -> u64 {
    let mut z = index
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
