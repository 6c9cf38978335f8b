//! The network.

use super::Algorithm;
use crate::scenario::quantity::{Buffer, Fraction, RateText, TimeText};
use crate::transport::ReceiverOptions;
use crate::units::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The network. `topo-1`, `topo-2`: hosts - IR1 = IR2 - hosts, with the bottleneck in the middle;
/// receivers are at IR1 and replica nodes at IR2, in topo-2 the other way round, too. `line`: clients
/// - R1 = R2 = R3 - server, where both links between routers are like the bottleneck.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Topology {
    /// Which network.
    pub kind: String,
    /// IP version: `ipv4` or `ipv6`.
    pub ip: String,
    /// Receiver nodes at IR1 (R1 of the line), and as many at IR2 in topo-2; flows share those of
    /// their side in turn.
    /// Default: one per flow, at most 64.
    pub receivers: Option<u32>,
    /// Routers that are plain IP routers: they never keep content, bind names or mark DATA. Default:
    /// none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ip_routers: Vec<String>,
    /// Propagation round trip of the whole path, without queues and transmission times.
    pub rtprop: TimeText,
    /// The link between the routers; in the line both of them.
    pub bottleneck: Bottleneck,
    /// The links between routers and hosts.
    pub access: Access,
    /// DSCP of DATA that answers a flagged request (46 = EF, RFC 3246).
    pub priority_dscp: u8,
}

impl Default for Topology {
    fn default() -> Topology {
        Topology {
            kind: "topo-1".to_owned(),
            ip: "ipv4".to_owned(),
            receivers: None,
            ip_routers: Vec::new(),
            rtprop: TimeText(Duration::from_millis(30)),
            bottleneck: Bottleneck::default(),
            access: Access::default(),
            priority_dscp: 46,
        }
    }
}

/// The bottleneck link. Its propagation delay is what `access` leaves of the path's; in the line,
/// half of that is R3 - R2's and half R2 - R1's, and losses and reordering are on R3 - R2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bottleneck {
    /// Rate of each direction.
    pub rate: RateText,
    /// Propagation delay added to the direction from IR1 to IR2, that of REQs of forward flows.
    pub extra_delay_reverse: TimeText,
    /// Limit of the queue of each direction. In bandwidth-delay products it is not less than two
    /// full DATA packets.
    pub buffer: Buffer,
    /// Active queue management.
    pub aqm: Algorithm,
    /// Loss probability per packet in DATA direction.
    pub loss: Fraction,
    /// Loss probability per packet in REQ direction.
    pub loss_reverse: Fraction,
    /// Probability that a DATA packet is held back so that later ones overtake it.
    pub reorder: Fraction,
    /// Mean of the exponential extra delay of a packet that is held back.
    pub reorder_delay: TimeText,
    /// Packets in the device below the queue discipline. Short, so that the AQM sees the queue.
    pub device_queue: u32,
}

impl Default for Bottleneck {
    fn default() -> Bottleneck {
        Bottleneck {
            rate: RateText(Rate::from_bps(20_000_000)),
            extra_delay_reverse: TimeText(Duration::ZERO),
            buffer: Buffer::Bdp(1.0),
            aqm: Algorithm::named("drop-tail"),
            loss: Fraction(0.0),
            loss_reverse: Fraction(0.0),
            reorder: Fraction(0.0),
            reorder_delay: TimeText(Duration::from_millis(10)),
            device_queue: 2,
        }
    }
}

/// The links between routers and hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Access {
    /// Their rate, not below the bottleneck's. Default: ten times the bottleneck's, at least
    /// 1 Gbps.
    pub rate: Option<RateText>,
    /// Share of the path's one-way propagation delay on the link of a receiver.
    pub receiver_delay_share: Fraction,
    /// Share of the path's one-way propagation delay on the link of the replica node.
    pub replica_delay_share: Fraction,
}

impl Default for Access {
    fn default() -> Access {
        Access {
            rate: None,
            receiver_delay_share: Fraction(0.1),
            replica_delay_share: Fraction(0.1),
        }
    }
}

/// What follows from a resolved topology for its links.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Links {
    /// Rate of all links but the bottleneck.
    pub access_rate: Rate,
    /// One-way propagation delay of a receiver's link.
    pub receiver_delay: Duration,
    /// One-way propagation delay of the bottleneck.
    pub bottleneck_delay: Duration,
    /// One-way propagation delay of the link between the bottleneck and the receivers' router; zero
    /// where there is none.
    pub edge_delay: Duration,
    /// One-way propagation delay of the replica node's link.
    pub replica_delay: Duration,
    /// Limit of the bottleneck's queue, packets or bytes.
    pub buffer: Buffer,
}

impl Topology {
    /// Headers of a full DATA packet at the IP layer.
    pub fn header_bytes(&self) -> Bytes {
        let extra = match self.ip.as_str() {
            "ipv6" => ReceiverOptions::IPV6_EXTRA_BYTES,
            _ => 0,
        };
        Bytes::new(ReceiverOptions::HEADER_BYTES + extra)
    }

    /// Splits the propagation delay over the links, fills in the access rate and turns the buffer
    /// into packets or bytes. The delays make exactly half of `rtprop` (rounded down to a
    /// nanosecond).
    pub fn links(&self, packet_size: Bytes) -> Links {
        let one_way = self.rtprop.0 / 2;
        let receiver_delay = one_way.mul_f64(self.access.receiver_delay_share.0);
        let replica_delay = one_way.mul_f64(self.access.replica_delay_share.0);
        let rate = self.bottleneck.rate.0;
        let least = Rate::from_bps(1_000_000_000);
        let ten_fold = Rate::from_bps(rate.as_bps().saturating_mul(10));
        let bdp = rate * self.rtprop.0;
        let between = one_way - receiver_delay - replica_delay;
        let edge_delay = match self.kind.as_str() {
            "line" => between / 2,
            _ => Duration::ZERO,
        };
        Links {
            access_rate: self.access.rate.map_or(ten_fold.max(least), |r| r.0),
            receiver_delay,
            bottleneck_delay: between - edge_delay,
            edge_delay,
            replica_delay,
            buffer: match self.bottleneck.buffer {
                Buffer::Bdp(n) => {
                    let bytes = Bytes::new((bdp.get() as f64 * n).round() as u64);
                    Buffer::Bytes(bytes.max(packet_size * 2))
                }
                other => other,
            },
        }
    }
}
