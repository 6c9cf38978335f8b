//! The flows over TCP.

use crate::scenario::quantity::SizeText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of all flows over TCP, at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tcp {
    /// Payload of a full segment. Default: what fills the IP packet of a full DATA packet.
    pub mss: Option<SizeText>,
    /// Whether selective acknowledgements are used (RFC 2018).
    pub sack: bool,
    /// Segments after which an ACK is sent at the latest (RFC 1122: 2); 1 acknowledges each.
    pub delayed_ack: u32,
    /// Send buffer and receive buffer. Default: so large that they never limit.
    pub buffer: Option<SizeText>,
    /// Segments in flight at most, whatever the congestion window. Default: no limit.
    pub max_window: Option<u32>,
    /// First congestion window in segments (RFC 6928: 10).
    pub initial_window: u32,
}

impl Default for Tcp {
    fn default() -> Tcp {
        Tcp {
            mss: None,
            sack: true,
            delayed_ack: 2,
            buffer: None,
            max_window: None,
            initial_window: 10,
        }
    }
}
