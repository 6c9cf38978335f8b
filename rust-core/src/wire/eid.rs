//! Entity identifiers: who speaks and about what.
//!
//! An EID names an NDC or a device. Both are 160 bits and travel in the same fields, so that they
//! must not be mistaken for each other:
//!
//! | names | made from | by |
//! |---|---|---|
//! | an NDC with content | its bytes | [`Eid::of_content`], SHA-256 cut to 160 bits: self-certifying |
//! | an NDC whose bytes are not simulated | its name | [`Eid::of_name`], SHA-256 of a tagged name |
//! | a device | its public name or key | [`Eid::of_device`], SHA-512/256 cut to 160 bits |
//!
//! Devices have a hash function of their own, since any prefix that could set them apart might be the
//! beginning of some content: no content that can be written down has a device's EID (but by a chance
//! of 2^-160).
//!
//! A REQ carries the receiver's device EID as source and the NDC as destination; DATA the other way
//! round. Addresses are the IP layer's and appear in neither.

use sha2::{Digest, Sha256, Sha512_256};
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

    /// The identifier of an NDC whose bytes are not simulated, made from its name.
    pub fn of_name(name: &str) -> Eid {
        Eid::truncated(
            &Sha256::new()
                .chain_update(b"ferrocc name\0")
                .chain_update(name)
                .finalize(),
        )
    }

    /// The identifier of a device, made from its public name or key.
    pub fn of_device(public: impl AsRef<[u8]>) -> Eid {
        Eid::truncated(&Sha512_256::digest(public))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4's examples for the message "abc", cut to 160 bits.
    #[test]
    fn the_hash_functions_are_the_documented_ones() {
        let ndc = format!("{:?}", Eid::of_content(b"abc"));
        assert_eq!(ndc, "ba7816bf8f01cfea414140de5dae2223b00361a3");
        let device = format!("{:?}", Eid::of_device("abc"));
        assert_eq!(device, "53048e2681941ef99b2e29b76b4c7dabe4c2d0c6");
    }

    /// The same text in every role, and content made to imitate the input of another role's hash.
    #[test]
    fn roles_do_not_collide() {
        let text = "receiver 1";
        let eids = [
            Eid::of_content(text.as_bytes()),
            Eid::of_name(text),
            Eid::of_device(text),
        ];
        for (i, a) in eids.iter().enumerate() {
            for b in &eids[..i] {
                assert_ne!(a, b);
            }
        }
        let imitation = Eid::of_content(b"ferrocc name\0receiver 1");
        assert_eq!(
            imitation,
            Eid::of_name(text),
            "names share the NDCs' domain"
        );
        assert_ne!(imitation, Eid::of_device(text));
    }
}
