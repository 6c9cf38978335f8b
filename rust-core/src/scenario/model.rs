//! The scenario model: what a scenario file may say.
//!
//! A resolved scenario ([`super::Cell::scenario`]) is of the same type with every field filled in,
//! and resolves to itself when it is read as a file.

use super::quantity::{Buffer, Fraction, Jitter, OffsetText, RateText, SizeText, TimeText};
use crate::transport::ReceiverOptions;
use crate::units::{Bytes, Duration, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// A scenario file. A field that is left out has the value of the scenario it `extends`, or its
/// default.
#[derive(Debug, Clone, PartialEq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// Where the JSON Schema is, for editors.
    #[serde(rename = "$schema", skip_serializing)]
    pub schema: Option<String>,
    /// One line: what the scenario shows.
    pub description: String,
    /// Paper and figure that it belongs to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reference: String,
    /// Choices that the reference leaves open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Name of the scenario that this one changes.
    #[serde(skip_serializing)]
    pub extends: Option<String>,
    /// Runs to make of this scenario: path of a field -> list of values, all combinations. `runs`
    /// and `seeds` may be a number n, meaning 1 to n.
    #[serde(skip_serializing)]
    pub sweep: Option<Map<String, Value>>,
    /// Length of the simulation.
    pub duration: TimeText,
    /// ns-3's RngSeed, at least 1.
    pub seed: u32,
    /// ns-3's RngRun.
    pub run: u64,
    /// Real payload, checked against the NDC's self-certifying name; every flow then needs a size.
    pub verify: bool,
    /// Options of the receiver engine.
    pub transport: ReceiverOptions,
    /// The network.
    pub topology: Topology,
    /// How many flows there are; more than `flows` lists are copies of its last one.
    #[serde(skip_serializing)]
    pub flow_count: Option<u32>,
    /// The transfers.
    pub flows: Vec<Flow>,
    /// The receivers' clocks.
    pub clock: Clock,
    /// The time series that a run writes.
    pub trace: Trace,
}

impl Default for Scenario {
    fn default() -> Scenario {
        Scenario {
            schema: None,
            description: String::new(),
            reference: String::new(),
            assumptions: Vec::new(),
            extends: None,
            sweep: None,
            duration: TimeText(Duration::from_secs(20)),
            seed: 1,
            run: 1,
            verify: false,
            transport: ReceiverOptions::default(),
            topology: Topology::default(),
            flow_count: None,
            flows: vec![Flow::default()],
            clock: Clock::default(),
            trace: Trace::default(),
        }
    }
}

/// The network: receivers - IR1 = IR2 - replica node, with the bottleneck in the middle.
#[derive(Debug, Clone, PartialEq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Topology {
    /// Which network.
    pub kind: String,
    /// Receiver nodes; flows share them in turn. Default: one per flow, at most 64.
    pub receivers: Option<u32>,
    /// Propagation round trip of the whole path, without queues and transmission times.
    pub rtprop: TimeText,
    /// The link between the routers.
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
            receivers: None,
            rtprop: TimeText(Duration::from_millis(30)),
            bottleneck: Bottleneck::default(),
            access: Access::default(),
            priority_dscp: 46,
        }
    }
}

/// The bottleneck link. Its propagation delay is what `access` leaves of the path's.
#[derive(Debug, Clone, PartialEq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bottleneck {
    /// Rate of each direction.
    pub rate: RateText,
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
#[derive(Debug, Clone, PartialEq, Serialize, DeriveDeserialize, JsonSchema)]
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

/// One transfer of one NDC.
#[derive(Debug, Clone, PartialEq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Flow {
    /// Name in tables and figures, unique. Default: `flow-1`, `flow-2`, ...
    pub name: Option<String>,
    /// `icn` or `tcp`.
    pub transport: String,
    /// The congestion controller.
    pub controller: Algorithm,
    /// How a TCP sender judges duplicate ACKs; not for `icn`.
    pub recovery: Option<String>,
    /// First request.
    pub start: TimeText,
    /// Added to `start`: a random delay, uniform from zero to this.
    pub start_jitter: Jitter,
    /// Size of its NDC. Default: unlimited.
    pub size: Option<SizeText>,
}

impl Default for Flow {
    fn default() -> Flow {
        Flow {
            name: None,
            transport: "icn".to_owned(),
            controller: Algorithm::named("copa-icn"),
            recovery: None,
            start: TimeText(Duration::from_millis(100)),
            start_jitter: Jitter::Time(Duration::ZERO),
            size: None,
        }
    }
}

/// The receivers' clocks.
#[derive(Debug, Clone, PartialEq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Clock {
    /// How far they are ahead of the replica's clock.
    pub offset: OffsetText,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock {
            offset: OffsetText { nanos: 0 },
        }
    }
}

/// The time series.
#[derive(Debug, Clone, PartialEq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Trace {
    /// Whether flows.csv, queue.csv and events.csv are written. Default: for a single run of at
    /// most 64 flows, not for a sweep.
    pub enabled: Option<bool>,
    /// Time between two rows.
    pub interval: TimeText,
}

impl Default for Trace {
    fn default() -> Trace {
        Trace {
            enabled: None,
            interval: TimeText(Duration::from_millis(20)),
        }
    }
}

/// An algorithm and its parameters: `"copa"` or `{"name": "copa", "delta": 0.1}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Algorithm {
    /// Its name in its registry.
    pub name: String,
    /// Its parameters.
    #[serde(flatten)]
    pub params: Map<String, Value>,
}

impl Algorithm {
    /// The algorithm called `name` with its default parameters.
    pub fn named(name: &str) -> Algorithm {
        Algorithm {
            name: name.to_owned(),
            params: Map::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Algorithm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Algorithm, D::Error> {
        struct NameOrObject;
        impl<'de> Visitor<'de> for NameOrObject {
            type Value = Algorithm;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or an object with a name and parameters")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Algorithm, E> {
                Ok(Algorithm::named(name))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Algorithm, A::Error> {
                let mut params = Map::new();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    params.insert(key, value);
                }
                match params.shift_remove("name") {
                    Some(Value::String(name)) => Ok(Algorithm { name, params }),
                    Some(other) => Err(de::Error::custom(format!(
                        "the name is {}, not a string",
                        super::json::kind(&other)
                    ))),
                    None => Err(de::Error::custom(
                        "there is no name (accepted: a name or an object with a name and parameters)",
                    )),
                }
            }
        }
        deserializer.deserialize_any(NameOrObject)
    }
}

impl JsonSchema for Algorithm {
    fn schema_name() -> Cow<'static, str> {
        "Algorithm".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "oneOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "required": ["name"],
                    "properties": { "name": { "type": "string" } },
                },
            ],
            "description": "a name, or an object with a name and parameters",
        })
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
    /// One-way propagation delay of the replica node's link.
    pub replica_delay: Duration,
    /// Limit of the bottleneck's queue, packets or bytes.
    pub buffer: Buffer,
}

impl Topology {
    /// Splits the propagation delay over the links, fills in the access rate and turns the buffer
    /// into packets or bytes. The three delays make exactly half of `rtprop` (rounded down to a
    /// nanosecond).
    pub fn links(&self, packet_size: Bytes) -> Links {
        let one_way = self.rtprop.0 / 2;
        let receiver_delay = one_way.mul_f64(self.access.receiver_delay_share.0);
        let replica_delay = one_way.mul_f64(self.access.replica_delay_share.0);
        let rate = self.bottleneck.rate.0;
        let least = Rate::from_bps(1_000_000_000);
        let ten_fold = Rate::from_bps(rate.as_bps().saturating_mul(10));
        let bdp = rate * self.rtprop.0;
        Links {
            access_rate: self.access.rate.map_or(ten_fold.max(least), |r| r.0),
            receiver_delay,
            bottleneck_delay: one_way - receiver_delay - replica_delay,
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
