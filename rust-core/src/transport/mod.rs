//! The sans-I/O engines of the ICN transport: a [`Receiver`] that requests an NDC under a
//! congestion controller, and a stateless [`Replica`] that answers.
//!
//! The contract: give an engine exactly one input, then send what its output holds and set one
//! timer, then give it the next input. Time is an argument of every input and never goes back.

mod content;
mod declared_lost;
mod options;
mod outstanding;
mod pacer;
mod received;
mod receiver;
mod replica;
mod stats;

pub use content::Content;
pub use options::{ReceiverConfig, ReceiverOptions, RtoUpdate, RttSamples};
pub use receiver::{Receiver, Step};
pub use replica::Replica;
pub use stats::Stats;

use std::ops::Range;

/// A packet to send; ranges are into the [`Output`] that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TxPacket {
    /// Its ICN header in [`Output::headers`].
    pub header: Range<u32>,
    /// Payload bytes; zero in a REQ.
    pub payload_len: u32,
    /// Where the payload starts in [`Output::payload`]; meaningless where content is virtual.
    pub payload_offset: u32,
    /// Whether to send it with high priority.
    pub expedited: bool,
}

/// What to send after one input. Its buffers are reused, so nothing is allocated once they have
/// grown.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// The packets, in order.
    pub packets: Vec<TxPacket>,
    /// Their ICN headers.
    pub headers: Vec<u8>,
    /// Their payload where content is real; empty where it is virtual, that is all zeros.
    pub payload: Vec<u8>,
}

impl Output {
    fn clear(&mut self) {
        self.packets.clear();
        self.headers.clear();
        self.payload.clear();
    }

    /// The header of `packet`.
    pub fn header(&self, packet: &TxPacket) -> &[u8] {
        &self.headers[packet.header.start as usize..packet.header.end as usize]
    }

    /// The payload of `packet`; empty where content is virtual.
    pub fn payload(&self, packet: &TxPacket) -> &[u8] {
        let start = packet.payload_offset as usize;
        self.payload
            .get(start..start + packet.payload_len as usize)
            .unwrap_or(&[])
    }
}

/// A packet that arrived.
#[derive(Debug, Clone, Copy)]
pub struct Datagram<'a> {
    /// Its ICN header.
    pub header: &'a [u8],
    /// Length of the payload.
    pub payload_len: u32,
    /// The payload where content is real; empty where it is virtual.
    pub payload: &'a [u8],
}

#[cfg(test)]
mod tests;
