//! Entity identifiers.

use sha2::{Digest, Sha256};
use std::fmt;

/// A flat 160-bit identifier of an NDC or a device (the Copa-ICN paper, section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Eid(pub [u8; 20]);

impl Eid {
    /// Length in bytes.
    pub const LEN: usize = 20;

    /// The self-certifying identifier of `content`: its SHA-256, cut to 160 bits.
    pub fn of_content(content: &[u8]) -> Eid {
        Eid::truncated(&Sha256::digest(content))
    }

    /// An identifier made from a name: for devices, and for NDCs whose bytes are not simulated.
    pub fn of_name(name: &str) -> Eid {
        Eid::truncated(
            &Sha256::new()
                .chain_update(b"ferrocc name\0")
                .chain_update(name)
                .finalize(),
        )
    }

    fn truncated(hash: &[u8]) -> Eid {
        let mut eid = Eid::default();
        eid.0.copy_from_slice(&hash[..Eid::LEN]);
        eid
    }
}

impl fmt::Display for Eid {
    /// The first 32 bits in hexadecimal, enough to tell identifiers apart in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for Eid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}
