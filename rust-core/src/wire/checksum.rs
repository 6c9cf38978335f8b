//! The internet checksum (RFC 1071), over ID header, transport header and payload separately.

use super::{ID_LEN, header_len};

/// Offset of the flags byte in the ICN header.
pub(super) const FLAGS_AT: usize = ID_LEN + 1;
/// Offset of the checksum in the ICN header.
pub(super) const CHECKSUM_AT: usize = ID_LEN + 4;
/// Flag bit of the congestion mark.
pub(super) const FLAG_MARK: u8 = 1;

/// A ones' complement sum that is not folded yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum(u64);

impl Sum {
    /// The sum of a payload of zeros (virtual content), whatever its length.
    pub const ZERO: Sum = Sum(0);

    /// The sum of `bytes`, padded with a zero byte to 16 bits.
    pub fn of(bytes: &[u8]) -> Sum {
        let mut sum = 0u64;
        // 32-bit words add up to the same folded value as 16-bit words.
        let mut words = bytes.chunks_exact(4);
        for w in &mut words {
            sum += u64::from(u32::from_be_bytes([w[0], w[1], w[2], w[3]]));
        }
        let mut rest = [0u8; 4];
        rest[..words.remainder().len()].copy_from_slice(words.remainder());
        Sum(sum + u64::from(u32::from_be_bytes(rest)))
    }

    fn fold(self) -> u16 {
        let mut s = self.0;
        while s > 0xffff {
            s = (s & 0xffff) + (s >> 16);
        }
        s as u16
    }
}

/// Sum of an ICN header as if its mark were clear.
fn header_sum(header: &[u8]) -> u64 {
    let (id, transport) = header.split_at(ID_LEN);
    // The flags are the low byte of the transport header's first 16-bit word.
    let mark = u64::from(header[FLAGS_AT] & FLAG_MARK) << 16;
    Sum::of(id).0 + Sum::of(transport).0 - mark
}

/// The checksum of a header whose checksum field is zero, with a payload of sum `payload`.
pub(super) fn checksum(header: &[u8], payload: Sum) -> u16 {
    !Sum(header_sum(header) + payload.0).fold()
}

/// Whether the checksum of the packet that `header` and `payload` make is right; false also if
/// `header` is no whole ICN header.
pub fn verify_checksum(header: &[u8], payload: Sum) -> bool {
    header_len(header) == Some(header.len()) && Sum(header_sum(header) + payload.0).fold() == 0xffff
}
