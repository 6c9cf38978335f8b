//! PODs that more than one bridge uses. Units are in the names; "absent" has a flag of its own.

pub(crate) use bridge::*;

#[cxx::bridge(namespace = "ferrocc")]
mod bridge {
    /// An entity identifier: an NDC's or a device's.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Eid {
        /// The 160 bits in network order.
        bytes: [u8; 20],
    }

    /// A packet to send. Offsets are into the buffers of the step that it came with.
    #[derive(Debug, Clone, Copy)]
    struct TxPacket {
        /// Where its ICN header (ID + transport) starts in `headers`.
        header_offset: u32,
        /// The header's length.
        header_len: u32,
        /// Payload length; zero in a REQ.
        payload_len: u32,
        /// Where the payload starts in `payload`, when the step carries real payload.
        payload_offset: u32,
        /// Whether it is to be sent with high priority (DATA answering a flagged REQ).
        expedited: bool,
    }

    /// An IP address.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct NodeAddress {
        /// 4 or 6; 0 for none.
        family: u8,
        /// Its bytes in network order, 4 of them or 16.
        bytes: [u8; 16],
    }

    // Makes cxx emit the glue for slices of the PODs in this bridge only.
    extern "Rust" {
        fn types_anchor(packets: &[TxPacket], eids: &[Eid]);
    }
}

fn types_anchor(_packets: &[TxPacket], _eids: &[Eid]) {}
