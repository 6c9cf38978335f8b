//! Bridge of the packet formats, for printing and tests: `ferrocc::wire`.

#[cxx::bridge(namespace = "ferrocc::wire")]
mod bridge {
    /// The fields of an ICN header, for tests and tools in C++.
    #[derive(Debug, Clone, Copy)]
    struct HeaderView {
        /// Whether the bytes are a valid header; nothing else holds if not.
        valid: bool,
        /// 1 REQ, 2 DATA.
        message_type: u8,
        /// Flag bits.
        flags: u8,
        /// Packet number.
        packet_number: u64,
        /// Offset in the NDC.
        offset_bytes: u64,
        /// Length that is asked for or carried.
        length_bytes: u32,
        /// Whole ICN header.
        header_len: u32,
        /// Source EID.
        source: [u8; 20],
        /// Destination EID.
        destination: [u8; 20],
    }

    extern "Rust" {
        /// Length of the ICN header (ID + transport) that starts with `prefix`, of which at least
        /// `MIN_PREFIX_LEN` bytes are given; zero if it is none.
        fn header_len(prefix: &[u8]) -> u32;
        /// A header in one line of text.
        fn describe(header: &[u8]) -> String;
        /// A header's fields.
        fn view(header: &[u8]) -> HeaderView;
        /// Sets the congestion mark in a DATA header, in place; false if it is no DATA header.
        fn set_mark(header: &mut [u8]) -> bool;
    }
}

use bridge::HeaderView;
use ferrocc::wire::{self, Kind, Repr};

fn header_len(prefix: &[u8]) -> u32 {
    wire::header_len(prefix).map_or(0, |n| n as u32)
}

fn describe(header: &[u8]) -> String {
    match Repr::parse(header) {
        Ok(repr) => repr.to_string(),
        Err(error) => format!("malformed ICN header: {error}"),
    }
}

fn view(header: &[u8]) -> HeaderView {
    let parsed = Repr::parse(header);
    let flags = header.get(wire::ID_LEN + 1).copied().unwrap_or(0);
    let Ok(repr) = parsed else {
        return HeaderView {
            valid: false,
            message_type: 0,
            flags: 0,
            packet_number: 0,
            offset_bytes: 0,
            length_bytes: 0,
            header_len: 0,
            source: [0; 20],
            destination: [0; 20],
        };
    };
    HeaderView {
        valid: true,
        message_type: match repr.kind {
            Kind::Request { .. } => 1,
            Kind::Data { .. } => 2,
        },
        flags,
        packet_number: repr.packet_number,
        offset_bytes: repr.offset,
        length_bytes: repr.length,
        header_len: header_len(header),
        source: repr.source.0,
        destination: repr.destination.0,
    }
}

fn set_mark(header: &mut [u8]) -> bool {
    wire::set_mark(header)
}
