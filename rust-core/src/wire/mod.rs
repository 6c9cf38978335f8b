//! The packet formats of the ICN transport.
//!
//! Everything travels in IP protocol 0x99. The IP header is followed by the ID header and the
//! transport header, together "the ICN header", and in a DATA packet by the payload. All numbers
//! are big-endian.
//!
//! ```text
//! ID header, 41 B            transport header, 26 B + options
//!  0  next header (u8)        0  message type (u8): 1 REQ, 2 DATA
//!  1  source EID (20 B)       1  flags (u8): 1 mark, 2 priority-probe, 4 timestamp-request
//! 21  destination EID (20 B)  2  header length with options (u16)
//!                             4  checksum (u16)
//!                             6  packet number (u64)
//!                            14  offset in the NDC (u64)
//!                            22  length asked for or carried (u32)
//! ```
//!
//! Options are TLVs: type (u8), length of the value (u8), value. Type 0 is a single byte of padding
//! without a length. Unknown types are skipped. The header is padded with one PadN (or Pad1) to
//! [`REQ_LEN`] or [`DATA_LEN`] where its options are shorter, so that a plain REQ takes 106 B and a
//! full DATA packet has 108 B of headers, both with the 20 B of IPv4 (the Copa-ICN paper, section
//! 5.1).
//!
//! | type | option | value | in |
//! |---|---|---|---|
//! | 0 | Pad1 | none, no length byte | both |
//! | 1 | PadN | zeros | both |
//! | 2 | lost segments | up to 21 x (offset u64, length u32) asked for besides the main range | REQ |
//! | 3 | timestamp | the replica's clock when the DATA left, i64 ns | DATA |
//! | 4 | NDC size | u64 bytes; all ones if it has no end | DATA |
//! | 5 | MSS | u16, the largest payload that the receiver wants | REQ |
//! | 6 | refusal | u8, why a router could not bind the REQ: 1 name unknown, 2 name server unreachable, 3 no replica; other values are skipped | DATA without payload |
//!
//! The checksum is the internet checksum (RFC 1071) over the ID header, the transport header with
//! the checksum itself and the mark bit taken as zero, and the payload, each padded to 16 bits.
//! Addresses are outside: routers may rebind them. The mark is outside: routers set it.

mod checksum;
mod eid;
mod repr;

pub use checksum::{Sum, verify_checksum};
pub use eid::Eid;
pub use repr::{Kind, Refusal, Repr, Segment, Segments, header_len, set_mark};

use std::fmt;

/// IP protocol number of the ICN transport (the early-congestion-detection paper, section 3).
pub const IP_PROTOCOL: u8 = 0x99;
/// `next header` value of the transport header.
pub const NEXT_HEADER_TRANSPORT: u8 = 1;
/// Length of the ID header, bytes.
pub const ID_LEN: usize = 41;
/// Length of the transport header without options, bytes.
pub const TRANSPORT_FIXED_LEN: usize = 26;
/// The part of a packet that tells how long its ICN header is, bytes.
pub const MIN_PREFIX_LEN: usize = ID_LEN + 4;
/// ICN header of a plain REQ: 106 B less IPv4's 20 (the Copa-ICN paper, section 5.1).
pub const REQ_LEN: usize = 86;
/// ICN header of a DATA packet: 108 B less IPv4's 20 (the Copa-ICN paper, section 5.1).
pub const DATA_LEN: usize = 88;
/// Most lost segments that one option holds: 255 / 12.
pub const MAX_LOST_SEGMENTS: usize = 21;
/// The longest ICN header that [`Repr::emit`] makes, bytes.
pub const MAX_HEADER_LEN: usize = ID_LEN + TRANSPORT_FIXED_LEN + 2 + 12 * MAX_LOST_SEGMENTS + 4;
/// NDC size of content without an end.
pub const UNBOUNDED: u64 = u64::MAX;

/// Why bytes are no valid ICN header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Fewer bytes than the header says or needs.
    #[error("truncated header")]
    Truncated,
    /// The ID header is followed by something else than the transport header.
    #[error("unknown next header")]
    NextHeader,
    /// Neither REQ nor DATA.
    #[error("unknown message type")]
    MessageType,
    /// The header length is shorter than the fixed part.
    #[error("bad header length")]
    HeaderLength,
    /// An option runs past the header's end or has a length that its type does not allow.
    #[error("bad option length")]
    OptionLength,
    /// An option that may occur once occurs again.
    #[error("repeated option")]
    RepeatedOption,
}

impl fmt::Display for Repr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.offset.saturating_add(u64::from(self.length));
        match self.kind {
            Kind::Request {
                probe,
                timestamp,
                mss,
                lost,
            } => {
                write!(f, "REQ pn={} [{}..{end})", self.packet_number, self.offset)?;
                for s in lost.iter() {
                    write!(
                        f,
                        " +[{}..{})",
                        s.offset,
                        s.offset.saturating_add(u64::from(s.length))
                    )?;
                }
                if let Some(mss) = mss {
                    write!(f, " mss={mss}")?;
                }
                flags(f, &[(probe, "probe"), (timestamp, "timestamp")])?;
            }
            Kind::Data {
                mark,
                probe,
                timestamp_ns,
                ndc_size,
                refusal,
            } => {
                write!(f, "DATA pn={} [{}..{end})", self.packet_number, self.offset)?;
                match ndc_size {
                    Some(UNBOUNDED) => write!(f, " size=unbounded")?,
                    Some(size) => write!(f, " size={size}")?,
                    None => {}
                }
                if let Some(t) = timestamp_ns {
                    write!(f, " ts={t}ns")?;
                }
                if let Some(refusal) = refusal {
                    write!(f, " refused={refusal:?}")?;
                }
                flags(f, &[(mark, "marked"), (probe, "probe")])?;
            }
        }
        write!(f, " {} > {}", self.source, self.destination)
    }
}

fn flags(f: &mut fmt::Formatter<'_>, flags: &[(bool, &str)]) -> fmt::Result {
    flags
        .iter()
        .filter(|(set, _)| *set)
        .try_for_each(|(_, name)| write!(f, " {name}"))
}

#[cfg(test)]
mod tests;
