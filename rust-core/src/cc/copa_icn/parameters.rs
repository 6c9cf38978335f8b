//! Parameters of Copa-ICN: what the paper's text leaves open, and ablations of it.

use super::super::competition::{Detector, Mode};
use super::super::range::{check, check_initial_window};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// Which rate equation (7) takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateSource {
    /// `cwnd / RTTstanding`, the current rate of equation (3).
    Window,
    /// The last delivery-rate sample that was not application-limited (the window's before one).
    Delivered,
}

/// What counts as a packet's size in equation (7)'s rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateSize {
    /// A full DATA packet with all its headers (1358 B in the paper's experiments).
    Packet,
    /// Its payload only (1250 B).
    Payload,
}

/// How often delta is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeltaUpdate {
    /// "every time a DATA packet is received" (section 4.2.4).
    EveryData,
    /// Once per packet-timed round trip.
    EveryRound,
}

/// Which delay the queueing delay T_q is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueDelay {
    /// The one-way delay of DATA, equation (5).
    OneWay,
    /// The round-trip time, as in Copa; timestamps are not looked at.
    RoundTrip,
}

/// What delta is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delta {
    /// `min(delta_max, a rate^2 + b)`, equation (7).
    Rate,
    /// A constant, as in Copa, 1/packets.
    Fixed(f64),
}

impl Delta {
    /// The word for [`Delta::Rate`].
    const RATE: &str = "rate";
}

impl Serialize for Delta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Delta::Rate => serializer.serialize_str(Delta::RATE),
            Delta::Fixed(delta) => serializer.serialize_f64(*delta),
        }
    }
}

impl<'de> Deserialize<'de> for Delta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Delta, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(word) if word == Delta::RATE => Ok(Delta::Rate),
            serde_json::Value::Number(n) => Ok(Delta::Fixed(n.as_f64().unwrap_or(f64::NAN))),
            other => Err(serde::de::Error::custom(format!(
                "{other} is not accepted (accepted: rate, or a number)"
            ))),
        }
    }
}

impl JsonSchema for Delta {
    fn schema_name() -> Cow<'static, str> {
        "Delta".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": Delta::RATE }, { "type": "number" }] })
    }
}

/// How long a probe's sample counts in `Tdat_min`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeMemory {
    /// Like every sample: as long as the window of `Tdat_min`.
    Paper,
    /// Until the replica or the path changes. Clock skew then adds up.
    Keep,
    /// As `Paper`, but one more request is flagged every `reprobe_interval_s`.
    Reprobe,
}

/// Parameters of Copa-ICN.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Which delay T_q is taken from.
    pub queue_delay: QueueDelay,
    /// What delta is: `rate`, equation (7), or a constant in 1/packets, 0.001 to 10.
    pub delta: Delta,
    /// `a` of equation (7), 1/(packets Mbps^2), 0 to 1. Zero makes delta constant.
    pub a_per_mbps2: f64,
    /// `b` of equation (7): delta at rate zero, 1/packets, 0.001 to `delta_max`.
    pub b: f64,
    /// The largest delta, 1/packets, 0.001 to 10.
    pub delta_max: f64,
    /// Whether delta gives way to buffer-filling flows (Copa's competitive mode; the paper's Copa-ICN
    /// has none). What `delta` says is then the largest value.
    pub mode: Mode,
    /// How `auto` tells that there are such flows.
    pub detector: Detector,
    /// Which rate equation (7) takes.
    pub rate_source: RateSource,
    /// What counts as a packet's size in it.
    pub rate_size: RateSize,
    /// How often delta is evaluated.
    pub delta_update: DeltaUpdate,
    /// How many requests are flagged at the start and after each restart, 0 to 100.
    pub probes: u32,
    /// How long a probe's sample counts.
    pub probe_memory: ProbeMemory,
    /// Seconds between later probes with `reprobe`, 0.1 to 3600.
    pub reprobe_interval_s: f64,
    /// Whether probes' samples enter the standing minima too.
    pub probe_in_standing: bool,
    /// First window in packets, 2 to 10000; 0 takes the transport's.
    pub initial_window_packets: f64,
    /// Over how many seconds `Tdat_min` is the minimum, 1 to 3600.
    pub min_delay_window_s: f64,
    /// Whether the window shrinks by 0.7 when more than 30 % of all packets are lost over two
    /// round trips. The papers have no such rule.
    pub loss_brake: bool,
}

impl Default for Config {
    /// The Copa-ICN paper, section 4.2.
    fn default() -> Config {
        Config {
            queue_delay: QueueDelay::OneWay,
            delta: Delta::Rate,
            a_per_mbps2: 4.5e-5,
            b: 0.05,
            delta_max: 0.5,
            mode: Mode::Fixed,
            detector: Detector::Paper,
            rate_source: RateSource::Window,
            rate_size: RateSize::Packet,
            delta_update: DeltaUpdate::EveryData,
            probes: 2,
            probe_memory: ProbeMemory::Paper,
            reprobe_interval_s: 8.0,
            probe_in_standing: false,
            initial_window_packets: 0.0,
            min_delay_window_s: 10.0,
            loss_brake: false,
        }
    }
}

impl Config {
    pub(super) fn validate(&self) -> Result<(), String> {
        if let Delta::Fixed(delta) = self.delta {
            check("delta", delta, 0.001..=10.0)?;
        }
        check("a_per_mbps2", self.a_per_mbps2, 0.0..=1.0)?;
        check("delta_max", self.delta_max, 0.001..=10.0)?;
        check("b", self.b, 0.001..=self.delta_max)?;
        check("probes", f64::from(self.probes), 0.0..=100.0)?;
        check("reprobe_interval_s", self.reprobe_interval_s, 0.1..=3600.0)?;
        check("min_delay_window_s", self.min_delay_window_s, 1.0..=3600.0)?;
        check_initial_window(self.initial_window_packets)
    }

    /// Delta at a rate: equation (7) with its bound, unless it is constant.
    pub(super) fn delta_at(&self, rate_mbps: f64) -> f64 {
        match self.delta {
            Delta::Rate => (self.a_per_mbps2 * rate_mbps * rate_mbps + self.b).min(self.delta_max),
            Delta::Fixed(delta) => delta,
        }
    }
}
