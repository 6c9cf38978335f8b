//! Maps keyed by EIDs.

use std::hash::{BuildHasherDefault, Hasher};

/// A map keyed by EIDs, or by tuples of them. Users must not depend on its order.
#[expect(
    clippy::disallowed_types,
    reason = "one lookup per packet; the hasher has no entropy, and what is iterated is summed, \
              or ordered by its keys"
)]
pub(crate) type EidMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<EidHasher>>;

/// Takes 64 bits of each EID as they are: EIDs are cryptographic hashes, so that they are spread
/// evenly already.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EidHasher(u64);

impl Hasher for EidHasher {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(&word) = bytes.first_chunk() {
            self.0 = self.0.rotate_left(1) ^ u64::from_le_bytes(word);
        }
    }

    /// The length of a slice tells nothing about an EID.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}
