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
    /// The bytes of [`Content::synthetic`], made whenever they are read: no memory, however many
    /// there are.
    Generated(Generator),
}

/// What makes the bytes of synthetic content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generator {
    /// State of the first word.
    start: u64,
    size: u64,
    eid: Eid,
}

impl Generator {
    /// Appends the bytes `from..to`, which exist.
    fn read(&self, from: u64, to: u64, out: &mut Vec<u8>) {
        let mut at = from;
        while at < to {
            let word = split_mix(self.start.wrapping_add(at / WORD)).to_be_bytes();
            let end = (at / WORD + 1) * WORD;
            let end = end.min(to);
            let first = (at % WORD) as usize;
            out.extend_from_slice(&word[first..first + (end - at) as usize]);
            at = end;
        }
    }
}

/// Bytes of a generated word.
const WORD: u64 = 8;

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

    /// As [`Content::synthetic`], but made when it is read. Making it reads all of it once, for its
    /// identifier.
    pub fn generated(seed: u64, size: usize) -> Content {
        Content::Generated(Generator {
            start: split_mix(seed),
            size: size as u64,
            eid: Content::synthetic(seed, size).eid().unwrap_or_default(),
        })
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Content::Virtual { size } => *size,
            Content::Real(bytes) => bytes.len() as u64,
            Content::Generated(generator) => generator.size,
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
            Content::Generated(generator) => {
                let start = out.len();
                generator.read(offset, offset + u64::from(length), out);
                Sum::of(&out[start..])
            }
        }
    }

    /// The self-certifying identifier of real content; none of virtual content.
    pub fn eid(&self) -> Option<Eid> {
        match self {
            Content::Virtual { .. } => None,
            Content::Real(bytes) => Some(Eid::of_content(bytes)),
            Content::Generated(generator) => Some(generator.eid),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is made on demand is what would have been kept, in any piece.
        #[test]
        fn generated_content_is_synthetic_content(
            seed: u64, size in 1usize..5000, from in 0u64..5000, length in 0u32..3000,
        ) {
            let (kept, made) = (Content::synthetic(seed, size), Content::generated(seed, size));
            prop_assert_eq!(kept.eid(), made.eid());
            prop_assert_eq!(kept.size(), made.size());
            let n = kept.available(from, length);
            prop_assert_eq!(n, made.available(from, length));
            let (mut a, mut b) = (vec![1], vec![1]);
            if n > 0 {
                let sums = (kept.read(from, n, &mut a), made.read(from, n, &mut b));
                prop_assert_eq!(sums.0, sums.1);
            }
            prop_assert_eq!(a, b);
        }
    }
}
