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
