//! Options of a receiver.

use crate::feedback::RttEstimator;
use crate::units::{Bytes, Duration};
use crate::wire::Eid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which arrivals give round-trip samples. Either way only the first unit of a request does: the
/// later ones carry the serialisation of those before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "kebab-case")]
pub enum RttSamples {
    /// All: DATA echoes the packet number, so that even a repeated request's answer is unambiguous.
    #[default]
    All,
    /// Units that are requested for the first time (Karn's rule). On crowded slow paths a flow may
    /// then be without a sample for long.
    FirstTransmission,
}

/// Which samples update the retransmission timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "kebab-case")]
pub enum RtoUpdate {
    /// All samples.
    #[default]
    All,
    /// Samples of units that are the next one in order (the early-congestion-detection paper,
    /// section 4.3).
    InOrder,
}

/// Options of a receiver, as in a scenario's `transport`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReceiverOptions {
    /// Payload of a full DATA packet, bytes (1250: the Copa-ICN paper, section 5.1).
    pub mss_bytes: u16,
    /// Smallest retransmission timeout, ms.
    pub min_rto_ms: f64,
    /// Largest retransmission timeout, ms.
    pub max_rto_ms: f64,
    /// Retransmission timeout before the first sample, ms (RFC 6298: one second).
    pub initial_rto_ms: f64,
    /// Which samples update the timeout.
    pub rto_update: RtoUpdate,
    /// Which arrivals give samples.
    pub rtt_samples: RttSamples,
    /// How many later units must arrive until a missing one is lost (the Copa-ICN paper, section
    /// 3.3: three), 1 to 64.
    pub loss_threshold: u8,
    /// Whether the last units are asked for once more when nothing has come for two smoothed round
    /// trips, long before the timeout (after RFC 8985, section 7). The papers know no such probe.
    pub tail_probe: bool,
    /// Units per REQ; 0 chooses by rate: 1 below 1.2 Mbps, 2 below 24 Mbps, then 1 ms of DATA up to
    /// 64 kB (BBR's send quantum).
    pub quantum_units: u16,
    /// Receive buffer, bytes; 0 is unlimited.
    pub receive_buffer_bytes: u64,
    /// First window in packets, where the controller does not say otherwise.
    pub initial_window: f64,
    /// Ask the replica to stamp its DATA.
    pub timestamps: bool,
}

impl Default for ReceiverOptions {
    fn default() -> ReceiverOptions {
        ReceiverOptions {
            mss_bytes: 1250,
            min_rto_ms: RttEstimator::MIN_RTO.as_millis_f64(),
            max_rto_ms: RttEstimator::MAX_RTO.as_millis_f64(),
            initial_rto_ms: RttEstimator::INITIAL_RTO.as_millis_f64(),
            rto_update: RtoUpdate::default(),
            rtt_samples: RttSamples::default(),
            loss_threshold: 3,
            tail_probe: false,
            quantum_units: 0,
            receive_buffer_bytes: 0,
            initial_window: 10.0,
            timestamps: true,
        }
    }
}

impl ReceiverOptions {
    /// Header bytes of a full DATA packet up to IPv4 (the Copa-ICN paper, section 5.1).
    pub const HEADER_BYTES: u64 = 108;
    /// What the IPv6 header (RFC 8200) is longer than the IPv4 one (RFC 791), bytes.
    pub const IPV6_EXTRA_BYTES: u64 = 40 - 20;

    /// Says which field is out of range, if any.
    pub fn validate(&self) -> Result<(), String> {
        let in_range = |field: &str, value: f64, low: f64, high: f64| {
            if value >= low && value <= high {
                Ok(())
            } else {
                Err(format!("{field}: {value} is not in {low}..{high}"))
            }
        };
        in_range("mss_bytes", f64::from(self.mss_bytes), 64.0, 9000.0)?;
        in_range("min_rto_ms", self.min_rto_ms, 1.0, 60_000.0)?;
        in_range("max_rto_ms", self.max_rto_ms, self.min_rto_ms, 3_600_000.0)?;
        in_range("initial_rto_ms", self.initial_rto_ms, 1.0, 3_600_000.0)?;
        in_range("loss_threshold", f64::from(self.loss_threshold), 1.0, 64.0)?;
        in_range("quantum_units", f64::from(self.quantum_units), 0.0, 1000.0)?;
        in_range("initial_window", self.initial_window, 1.0, 1e6)?;
        let buffer = self.receive_buffer_bytes;
        if buffer != 0 && buffer < 2 * u64::from(self.mss_bytes) {
            return Err(format!(
                "receive_buffer_bytes: {buffer} is below two packets (0: no limit)"
            ));
        }
        Ok(())
    }

    pub(super) fn rtt_estimator(&self) -> RttEstimator {
        let ms = |ms: f64| Duration::from_secs_f64(ms / 1e3);
        RttEstimator::new(
            ms(self.min_rto_ms),
            ms(self.max_rto_ms),
            ms(self.initial_rto_ms),
        )
    }

    /// Payload of a full DATA packet.
    pub fn mss(&self) -> Bytes {
        Bytes::new(u64::from(self.mss_bytes))
    }
}

/// What a receiver is made from.
#[derive(Debug, Clone)]
pub struct ReceiverConfig {
    /// This device.
    pub device: Eid,
    /// The NDC to fetch.
    pub ndc: Eid,
    /// Whether payload is real; it is then kept and checked against `ndc`.
    pub verify: bool,
    /// The replica's clock minus the inputs' time, ns. It is taken out of the reported one-way
    /// delays and used for nothing else.
    pub replica_clock_offset_ns: i64,
    /// The rest.
    pub options: ReceiverOptions,
}
