//! Parsing and emitting the ICN header.

use super::checksum::{CHECKSUM_AT, FLAG_MARK, FLAGS_AT, Sum, checksum};
use super::{
    DATA_LEN, Eid, Error, ID_LEN, MAX_LOST_SEGMENTS, MIN_PREFIX_LEN, NEXT_HEADER_TRANSPORT,
    REQ_LEN, TRANSPORT_FIXED_LEN,
};

const TYPE_REQ: u8 = 1;
const TYPE_DATA: u8 = 2;

const FLAG_PROBE: u8 = 2;
const FLAG_TIMESTAMP: u8 = 4;

const OPT_PAD1: u8 = 0;
const OPT_PADN: u8 = 1;
const OPT_LOST: u8 = 2;
const OPT_TIMESTAMP: u8 = 3;
const OPT_NDC_SIZE: u8 = 4;
const OPT_MSS: u8 = 5;
const OPT_REFUSAL: u8 = 6;

/// Bytes of one lost segment.
const SEGMENT_LEN: usize = 12;

/// A range of an NDC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Where it starts, bytes.
    pub offset: u64,
    /// Its length, bytes.
    pub length: u32,
}

/// A list of segments: a slice of ours, or the value of an option in place.
#[derive(Debug, Clone, Copy)]
pub enum Segments<'a> {
    /// To be emitted.
    Slice(&'a [Segment]),
    /// As received; a multiple of 12 bytes.
    Wire(&'a [u8]),
}

impl<'a> Segments<'a> {
    /// No segments.
    pub const NONE: Segments<'static> = Segments::Slice(&[]);

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Segments::Slice(s) => s.len(),
            Segments::Wire(bytes) => bytes.len() / SEGMENT_LEN,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The segments in order.
    pub fn iter(&self) -> impl Iterator<Item = Segment> + 'a {
        let (slice, wire): (&'a [Segment], &'a [u8]) = match *self {
            Segments::Slice(s) => (s, &[]),
            Segments::Wire(bytes) => (&[], bytes),
        };
        slice
            .iter()
            .copied()
            .chain(wire.chunks_exact(SEGMENT_LEN).map(|c| Segment {
                offset: be_u64(&c[..8]),
                length: be_u32(&c[8..]),
            }))
    }
}

impl PartialEq for Segments<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

/// Why a router sends no DATA: it could not bind a REQ to any source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The name server does not know the name.
    NameUnknown,
    /// The name server did not answer.
    NameServerUnreachable,
    /// No source (is left) that has the NDC.
    NoReplica,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Refusal; 3] = [
        Refusal::NameUnknown,
        Refusal::NameServerUnreachable,
        Refusal::NoReplica,
    ];

    const fn code(self) -> u8 {
        match self {
            Refusal::NameUnknown => 1,
            Refusal::NameServerUnreachable => 2,
            Refusal::NoReplica => 3,
        }
    }

    fn from_code(code: u8) -> Option<Refusal> {
        Refusal::ALL.into_iter().find(|r| r.code() == code)
    }
}

/// What only one of the two messages has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind<'a> {
    /// REQ: a receiver asks a replica for ranges of an NDC.
    Request {
        /// The DATA that answers shall have high priority (the Copa-ICN paper, section 4.2.3).
        probe: bool,
        /// The DATA that answers shall bear a timestamp.
        timestamp: bool,
        /// Largest payload that is wanted.
        mss: Option<u16>,
        /// Ranges asked for besides the main one; at most [`MAX_LOST_SEGMENTS`] are emitted.
        lost: Segments<'a>,
    },
    /// DATA: one unit of an NDC.
    Data {
        /// A router detected congestion (the early-congestion-detection paper, section 4.2).
        mark: bool,
        /// Answers a REQ with the priority-probe flag.
        probe: bool,
        /// The replica's clock when it sent this, ns.
        timestamp_ns: Option<i64>,
        /// Size of the whole NDC; [`super::UNBOUNDED`] if it has no end.
        ndc_size: Option<u64>,
        /// Why there is no DATA; only in a packet without payload.
        refusal: Option<Refusal>,
    },
}

/// An ICN header, meaning for meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repr<'a> {
    /// Who sends: the receiver's device in a REQ, the NDC in DATA.
    pub source: Eid,
    /// Who is meant: the NDC in a REQ, the receiver's device in DATA.
    pub destination: Eid,
    /// The REQ's number; DATA repeats the number of the REQ that it answers.
    pub packet_number: u64,
    /// Where the range starts in the NDC, bytes.
    pub offset: u64,
    /// Bytes asked for, or carried.
    pub length: u32,
    /// The rest.
    pub kind: Kind<'a>,
}

/// The length of the ICN header that `bytes` start with, or none if that cannot be one. Looks at
/// the first [`MIN_PREFIX_LEN`] bytes only.
pub fn header_len(bytes: &[u8]) -> Option<usize> {
    let prefix = bytes.get(..MIN_PREFIX_LEN)?;
    let transport = usize::from(be_u16(&prefix[ID_LEN + 2..]));
    (prefix[0] == NEXT_HEADER_TRANSPORT && transport >= TRANSPORT_FIXED_LEN)
        .then_some(ID_LEN + transport)
}

/// Sets the congestion mark of a DATA header in place; the checksum stays right. False, and nothing
/// is changed, if `header` does not start a DATA header.
pub fn set_mark(header: &mut [u8]) -> bool {
    let is_data = header_len(header).is_some() && header[ID_LEN] == TYPE_DATA;
    if is_data {
        header[FLAGS_AT] |= FLAG_MARK;
    }
    is_data
}

impl<'a> Repr<'a> {
    /// Reads the ICN header that `bytes` start with. Looks at nothing behind it and leaves the
    /// checksum to [`super::verify_checksum`].
    pub fn parse(bytes: &'a [u8]) -> Result<Repr<'a>, Error> {
        if bytes.len() < MIN_PREFIX_LEN {
            return Err(Error::Truncated);
        }
        if bytes[0] != NEXT_HEADER_TRANSPORT {
            return Err(Error::NextHeader);
        }
        let header = bytes
            .get(..header_len(bytes).ok_or(Error::HeaderLength)?)
            .ok_or(Error::Truncated)?;
        let (id, t) = header.split_at(ID_LEN);
        let options = Options::parse(&t[TRANSPORT_FIXED_LEN..])?;
        let flag = |bit: u8| t[1] & bit != 0;
        let kind = match t[0] {
            TYPE_REQ => Kind::Request {
                probe: flag(FLAG_PROBE),
                timestamp: flag(FLAG_TIMESTAMP),
                mss: options.mss,
                lost: Segments::Wire(options.lost.unwrap_or(&[])),
            },
            TYPE_DATA => Kind::Data {
                mark: flag(FLAG_MARK),
                probe: flag(FLAG_PROBE),
                timestamp_ns: options.timestamp_ns,
                ndc_size: options.ndc_size,
                refusal: options.refusal.and_then(Refusal::from_code),
            },
            _ => return Err(Error::MessageType),
        };
        Ok(Repr {
            source: eid(&id[1..]),
            destination: eid(&id[1 + Eid::LEN..]),
            packet_number: be_u64(&t[6..]),
            offset: be_u64(&t[14..]),
            length: be_u32(&t[22..]),
            kind,
        })
    }

    /// Length of the emitted header, bytes.
    pub fn len(&self) -> usize {
        let (options, least) = match self.kind {
            Kind::Request { mss, lost, .. } => {
                let lost = match lost.len().min(MAX_LOST_SEGMENTS) {
                    0 => 0,
                    n => 2 + SEGMENT_LEN * n,
                };
                (lost + mss.map_or(0, |_| 4), REQ_LEN)
            }
            Kind::Data {
                timestamp_ns,
                ndc_size,
                refusal,
                ..
            } => (
                timestamp_ns.map_or(0, |_| 10)
                    + ndc_size.map_or(0, |_| 10)
                    + refusal.map_or(0, |_| 3),
                DATA_LEN,
            ),
        };
        (ID_LEN + TRANSPORT_FIXED_LEN + options).max(least)
    }

    /// Never: a header has a fixed part.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Appends the header to `out`, with the checksum of a packet whose payload has the sum
    /// `payload`.
    pub fn emit(&self, payload: Sum, out: &mut Vec<u8>) {
        let start = out.len();
        let len = self.len();
        out.push(NEXT_HEADER_TRANSPORT);
        out.extend_from_slice(&self.source.0);
        out.extend_from_slice(&self.destination.0);
        let (message_type, flags) = match self.kind {
            Kind::Request {
                probe, timestamp, ..
            } => (
                TYPE_REQ,
                bit(probe, FLAG_PROBE) | bit(timestamp, FLAG_TIMESTAMP),
            ),
            Kind::Data { mark, probe, .. } => {
                (TYPE_DATA, bit(mark, FLAG_MARK) | bit(probe, FLAG_PROBE))
            }
        };
        out.push(message_type);
        out.push(flags);
        out.extend_from_slice(&((len - ID_LEN) as u16).to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&self.packet_number.to_be_bytes());
        out.extend_from_slice(&self.offset.to_be_bytes());
        out.extend_from_slice(&self.length.to_be_bytes());
        match self.kind {
            Kind::Request { mss, lost, .. } => {
                let n = lost.len().min(MAX_LOST_SEGMENTS);
                if n > 0 {
                    out.extend_from_slice(&[OPT_LOST, (SEGMENT_LEN * n) as u8]);
                    for s in lost.iter().take(n) {
                        out.extend_from_slice(&s.offset.to_be_bytes());
                        out.extend_from_slice(&s.length.to_be_bytes());
                    }
                }
                if let Some(mss) = mss {
                    out.extend_from_slice(&[OPT_MSS, 2]);
                    out.extend_from_slice(&mss.to_be_bytes());
                }
            }
            Kind::Data {
                timestamp_ns,
                ndc_size,
                refusal,
                ..
            } => {
                if let Some(t) = timestamp_ns {
                    out.extend_from_slice(&[OPT_TIMESTAMP, 8]);
                    out.extend_from_slice(&t.to_be_bytes());
                }
                if let Some(size) = ndc_size {
                    out.extend_from_slice(&[OPT_NDC_SIZE, 8]);
                    out.extend_from_slice(&size.to_be_bytes());
                }
                if let Some(refusal) = refusal {
                    out.extend_from_slice(&[OPT_REFUSAL, 1, refusal.code()]);
                }
            }
        }
        match start + len - out.len() {
            0 => {}
            1 => out.push(OPT_PAD1),
            pad => {
                out.extend_from_slice(&[OPT_PADN, (pad - 2) as u8]);
                out.resize(start + len, 0);
            }
        }
        let sum = checksum(&out[start..], payload);
        out[start + CHECKSUM_AT..start + CHECKSUM_AT + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

#[derive(Default)]
struct Options<'a> {
    lost: Option<&'a [u8]>,
    timestamp_ns: Option<i64>,
    ndc_size: Option<u64>,
    mss: Option<u16>,
    refusal: Option<u8>,
}

impl<'a> Options<'a> {
    fn parse(mut bytes: &'a [u8]) -> Result<Options<'a>, Error> {
        let mut options = Options::default();
        while let Some((&kind, rest)) = bytes.split_first() {
            if kind == OPT_PAD1 {
                bytes = rest;
                continue;
            }
            let (&len, rest) = rest.split_first().ok_or(Error::OptionLength)?;
            let value = rest.get(..usize::from(len)).ok_or(Error::OptionLength)?;
            bytes = &rest[usize::from(len)..];
            let known = match kind {
                OPT_LOST => len > 0 && usize::from(len) % SEGMENT_LEN == 0,
                OPT_TIMESTAMP | OPT_NDC_SIZE => len == 8,
                OPT_MSS => len == 2,
                OPT_REFUSAL => len == 1,
                _ => continue,
            };
            if !known {
                return Err(Error::OptionLength);
            }
            let repeated = match kind {
                OPT_LOST => options.lost.replace(value).is_some(),
                OPT_TIMESTAMP => options.timestamp_ns.replace(be_u64(value) as i64).is_some(),
                OPT_NDC_SIZE => options.ndc_size.replace(be_u64(value)).is_some(),
                OPT_MSS => options.mss.replace(be_u16(value)).is_some(),
                _ => options.refusal.replace(value[0]).is_some(),
            };
            if repeated {
                return Err(Error::RepeatedOption);
            }
        }
        Ok(options)
    }
}

const fn bit(set: bool, bit: u8) -> u8 {
    if set { bit } else { 0 }
}

fn eid(bytes: &[u8]) -> Eid {
    let mut eid = Eid::default();
    eid.0.copy_from_slice(&bytes[..Eid::LEN]);
    eid
}

fn be_u16(bytes: &[u8]) -> u16 {
    u16::from_be_bytes([bytes[0], bytes[1]])
}

fn be_u32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn be_u64(bytes: &[u8]) -> u64 {
    (u64::from(be_u32(bytes)) << 32) | u64::from(be_u32(&bytes[4..]))
}
