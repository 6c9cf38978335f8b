//! The sender of DATA: answers each REQ by itself and keeps nothing of it.

use super::{Content, Output, TxPacket};
use crate::wire::{Eid, Kind, Repr};
use std::collections::BTreeMap;

/// A replica node's engine.
#[derive(Debug, Clone, Default)]
pub struct Replica {
    contents: BTreeMap<Eid, Content>,
    hidden: bool,
    output: Output,
    malformed: u64,
    unknown: u64,
}

impl Replica {
    /// Largest payload where a REQ does not say: what fits a 1500-B IPv4 packet with 108 B of
    /// headers.
    const DEFAULT_MSS: u16 = 1392;

    /// Most DATA packets that answer one REQ; what is asked for beyond is not answered.
    const MAX_UNITS: usize = 1024;

    /// A replica without content.
    pub fn new() -> Replica {
        Replica::default()
    }

    /// Adds `size` virtual bytes ([`crate::wire::UNBOUNDED`] for no end) as the NDC called `name`.
    pub fn add_virtual(&mut self, name: &str, size: u64) -> Eid {
        let eid = Eid::of_name(name);
        self.contents.insert(eid, Content::Virtual { size });
        eid
    }

    /// Adds `size` pseudo-random bytes; the NDC's EID is their hash.
    pub fn add_synthetic(&mut self, seed: u64, size: usize) -> Eid {
        let content = Content::synthetic(seed, size);
        let eid = content.eid().unwrap_or_default();
        self.contents.insert(eid, content);
        eid
    }

    /// Adds an NDC that was put together elsewhere.
    pub fn add(&mut self, eid: Eid, content: Content) {
        self.contents.insert(eid, content);
    }

    /// Removes an NDC; whether it was here.
    pub fn remove(&mut self, eid: &Eid) -> bool {
        self.contents.remove(eid).is_some()
    }

    /// Whether it answers as if it held nothing.
    pub fn set_hidden(&mut self, hidden: bool) {
        self.hidden = hidden;
    }

    /// Packets that were no valid REQ.
    pub const fn malformed(&self) -> u64 {
        self.malformed
    }

    /// REQs for an NDC that is not here.
    pub const fn unknown(&self) -> u64 {
        self.unknown
    }

    /// What to send after the last input.
    pub const fn output(&self) -> &Output {
        &self.output
    }

    /// A REQ arrived; `clock_ns` is this node's clock. The answer is one DATA packet per unit: the
    /// main range first, then the other segments in their order. A REQ wholly beyond the end is
    /// answered by one empty DATA packet that tells the size, a REQ for an NDC that is not here by
    /// one that does not.
    pub fn on_request(&mut self, clock_ns: i64, header: &[u8]) -> &Output {
        self.output.clear();
        let Ok(req) = Repr::parse(header) else {
            self.malformed += 1;
            return &self.output;
        };
        let Kind::Request {
            probe,
            timestamp,
            mss,
            lost,
        } = req.kind
        else {
            self.malformed += 1;
            return &self.output;
        };
        if !crate::wire::verify_checksum(header, crate::wire::Sum::ZERO) {
            self.malformed += 1;
            return &self.output;
        }
        let content = self.contents.get(&req.destination);
        let Some(content) = content.filter(|_| !self.hidden) else {
            self.unknown += 1;
            let not_here = Repr {
                source: req.destination,
                destination: req.source,
                packet_number: req.packet_number,
                offset: req.offset,
                length: 0,
                kind: Kind::Data {
                    mark: false,
                    probe,
                    timestamp_ns: None,
                    ndc_size: None,
                    refusal: None,
                },
            };
            push(
                &mut self.output,
                &Content::Virtual { size: 0 },
                not_here,
                probe,
            );
            return &self.output;
        };
        let mss = u32::from(mss.filter(|&m| m > 0).unwrap_or(Replica::DEFAULT_MSS));
        let data = |offset, length| Repr {
            source: req.destination,
            destination: req.source,
            packet_number: req.packet_number,
            offset,
            length,
            kind: Kind::Data {
                mark: false,
                probe,
                timestamp_ns: timestamp.then_some(clock_ns),
                ndc_size: Some(content.size()),
                refusal: None,
            },
        };
        let main = std::iter::once((req.offset, req.length));
        let segments = main.chain(lost.iter().map(|s| (s.offset, s.length)));
        for (offset, length) in segments {
            let end = offset.saturating_add(u64::from(content.available(offset, length)));
            let mut at = offset;
            while at < end && self.output.packets.len() < Replica::MAX_UNITS {
                let n = u64::from(mss).min(end - at) as u32;
                push(&mut self.output, content, data(at, n), probe);
                at += u64::from(n);
            }
        }
        if self.output.packets.is_empty() {
            push(&mut self.output, content, data(req.offset, 0), probe);
        }
        &self.output
    }
}

fn push(output: &mut Output, content: &Content, data: Repr<'_>, expedited: bool) {
    let payload_offset = output.payload.len() as u32;
    let sum = if data.length == 0 {
        crate::wire::Sum::ZERO
    } else {
        content.read(data.offset, data.length, &mut output.payload)
    };
    let start = output.headers.len() as u32;
    data.emit(sum, &mut output.headers);
    output.packets.push(TxPacket {
        header: start..output.headers.len() as u32,
        payload_len: data.length,
        payload_offset,
        expedited,
    });
}
