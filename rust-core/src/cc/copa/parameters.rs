//! Parameters of Copa: what its descriptions and its two public implementations do differently.

use super::super::competition;
use super::super::range::{check, check_initial_window};
use super::super::velocity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose Copa it is: a set of defaults for the parameters that are not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// The NSDI 2018 paper as the Copa-ICN paper, section 4.2.1, tells it.
    Paper,
    /// The QUIC library mvfst.
    Mvfst,
    /// The Copa authors' user-space sender genericCC.
    Genericcc,
}

/// Which queueing delay d_q is compared with the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueDelay {
    /// RTTstanding - RTTmin, equation (1).
    StandingRtt,
    /// The latest RTT - RTTmin.
    LatestRtt,
}

/// Over which time RTTstanding is the minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StandingWindow {
    /// SRTT/2.
    HalfSrtt,
    /// SRTT.
    Srtt,
}

/// By which round-trip time the window is spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PacingRtt {
    /// RTTstanding.
    Standing,
    /// SRTT.
    Smoothed,
}

/// How slow start goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStart {
    /// One packet more per packet, until the target rate is below the present one; then down.
    PerPacket,
    /// The window doubles in one jump per SRTT, until the target rate is below the present one.
    PerRoundTrip,
    /// One packet more per packet, until the window reaches the target rate times RTTstanding.
    TargetWindow,
}

/// What makes the velocity double.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Velocity {
    /// The window has grown (or shrunk) over each of `velocity_threshold` round trips and one more.
    SameDirection,
    /// Most packets of the last round trip moved the window the way those of the one before did.
    NetDirection,
}

/// Parameters of Copa. Those that are null are the variant's:
///
/// | | `paper` | `mvfst` | `genericcc` |
/// |---|---|---|---|
/// | `queue_delay` | standing-rtt | latest-rtt | standing-rtt |
/// | `standing_window` | half-srtt | half-srtt | half-srtt |
/// | `velocity` | same-direction | same-direction | net-direction |
/// | `velocity_threshold` | 3 | 3 | - |
/// | `velocity_bound` | true | false | true |
/// | `slow_start` | per-packet | per-round-trip | target-window |
/// | `start_patience_packets` | 0 | 0 | 19 |
/// | `increase_at_target` | true | true | false |
/// | `timeout_ends_slow_start` | true | false | true |
/// | `pacing_rtt` | standing | smoothed | standing |
/// | `srtt_gain` | the transport's | the transport's | 1/16 |
/// | `min_rtt_window_rtts` | 0 | 0 | 20 |
/// | `loss_brake` | false | false | true |
///
/// mvfst with its option useRttStanding is `mvfst` with `queue_delay: standing-rtt`,
/// `standing_window: srtt`, `velocity_threshold: 4`. `delta` is no part of a variant: mvfst's own
/// default is 0.05.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Whose Copa it is: what the parameters that are null mean.
    pub variant: Variant,
    /// How much delay weighs against rate, 1/packets: 1/delta packets queue on average (times
    /// 1.25). 0.001 to 10.
    pub delta: f64,
    /// Whether delta stays as it is or gives way to buffer-filling flows.
    pub mode: competition::Mode,
    /// How `auto` tells that there are such flows.
    pub detector: competition::Detector,
    /// First window in packets, 2 to 10000; 0 takes the transport's.
    pub initial_window_packets: f64,
    /// Over how many seconds RTTmin is the minimum, 1 to 3600.
    pub min_rtt_window_s: f64,
    /// Over how many RTTmin it is the minimum if that is longer, 0 to 1000.
    pub min_rtt_window_rtts: Option<f64>,
    /// Which queueing delay d_q is compared with the target.
    pub queue_delay: Option<QueueDelay>,
    /// Over which time RTTstanding is the minimum.
    pub standing_window: Option<StandingWindow>,
    /// What makes the velocity double.
    pub velocity: Option<Velocity>,
    /// Round trips in one direction after which the velocity doubles, 1 to 100.
    pub velocity_threshold: Option<u32>,
    /// Whether the velocity is at most delta times the window, so that a packet moves the window by
    /// no more than one.
    pub velocity_bound: Option<bool>,
    /// How slow start goes.
    pub slow_start: Option<SlowStart>,
    /// Packets at the start that leave the window as it is, 0 to 1000.
    pub start_patience_packets: Option<u32>,
    /// Whether the window grows when the rate is exactly the target.
    pub increase_at_target: Option<bool>,
    /// Whether a timeout ends slow start.
    pub timeout_ends_slow_start: Option<bool>,
    /// By which round-trip time the window is spread.
    pub pacing_rtt: Option<PacingRtt>,
    /// Weight of a new sample in the SRTT that Copa uses, above 0 and at most 1.
    pub srtt_gain: Option<f64>,
    /// Whether the window shrinks by 0.7 when more than 30 % of all packets are lost over two
    /// round trips. The papers have no such rule.
    pub loss_brake: Option<bool>,
}

impl Default for Config {
    /// The Copa-ICN paper, section 4.2.1: delta 0.5, RTTmin "within 10 s".
    fn default() -> Config {
        Config {
            variant: Variant::Paper,
            delta: 0.5,
            mode: competition::Mode::Fixed,
            detector: competition::Detector::Paper,
            initial_window_packets: 0.0,
            min_rtt_window_s: 10.0,
            min_rtt_window_rtts: None,
            queue_delay: None,
            standing_window: None,
            velocity: None,
            velocity_threshold: None,
            velocity_bound: None,
            slow_start: None,
            start_patience_packets: None,
            increase_at_target: None,
            timeout_ends_slow_start: None,
            pacing_rtt: None,
            srtt_gain: None,
            loss_brake: None,
        }
    }
}

impl Config {
    pub(super) fn validate(&self) -> Result<(), String> {
        check("delta", self.delta, 0.001..=10.0)?;
        check_initial_window(self.initial_window_packets)?;
        check("min_rtt_window_s", self.min_rtt_window_s, 1.0..=3600.0)?;
        let rtts = self.min_rtt_window_rtts.unwrap_or_default();
        check("min_rtt_window_rtts", rtts, 0.0..=1000.0)?;
        let threshold = f64::from(self.velocity_threshold.unwrap_or(1));
        check("velocity_threshold", threshold, 1.0..=100.0)?;
        let patience = f64::from(self.start_patience_packets.unwrap_or_default());
        check("start_patience_packets", patience, 0.0..=1000.0)?;
        check("srtt_gain", self.srtt_gain.unwrap_or(1.0), 0.001..=1.0)
    }

    /// What the variant and the parameters come to.
    pub(super) fn choices(&self) -> Choices {
        let (mvfst, genericcc) = (
            self.variant == Variant::Mvfst,
            self.variant == Variant::Genericcc,
        );
        let pick = |yes, a, b| if yes { a } else { b };
        let slow_start = match self.variant {
            Variant::Paper => SlowStart::PerPacket,
            Variant::Mvfst => SlowStart::PerRoundTrip,
            Variant::Genericcc => SlowStart::TargetWindow,
        };
        Choices {
            min_rtt_window_rtts: self
                .min_rtt_window_rtts
                .unwrap_or(pick(genericcc, 20.0, 0.0)),
            latest_rtt: self
                .queue_delay
                .map_or(mvfst, |q| q == QueueDelay::LatestRtt),
            whole_srtt: self.standing_window == Some(StandingWindow::Srtt),
            increase_at_target: self.increase_at_target.unwrap_or(!genericcc),
            pacing_by_srtt: self.pacing_rtt.map_or(mvfst, |p| p == PacingRtt::Smoothed),
            srtt_gain: self.srtt_gain.or(genericcc.then_some(1.0 / 16.0)),
            loss_brake: self.loss_brake.unwrap_or(genericcc),
            rules: velocity::Rules {
                slow_start: self.slow_start.unwrap_or(slow_start),
                patience: f64::from(self.start_patience_packets.unwrap_or(if genericcc {
                    19
                } else {
                    0
                })),
                velocity: self.velocity.unwrap_or(pick_velocity(genericcc)),
                threshold: self
                    .velocity_threshold
                    .unwrap_or(velocity::SAME_DIRECTION_RTTS),
                bounded: self.velocity_bound.unwrap_or(!mvfst),
                timeout_ends_slow_start: self.timeout_ends_slow_start.unwrap_or(!mvfst),
            },
        }
    }
}

fn pick_velocity(genericcc: bool) -> Velocity {
    if genericcc {
        Velocity::NetDirection
    } else {
        Velocity::SameDirection
    }
}

/// Parameters without gaps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choices {
    pub(super) min_rtt_window_rtts: f64,
    /// d_q from the latest RTT.
    pub(super) latest_rtt: bool,
    /// RTTstanding over SRTT instead of half of it.
    pub(super) whole_srtt: bool,
    pub(super) increase_at_target: bool,
    pub(super) pacing_by_srtt: bool,
    /// None takes the transport's SRTT.
    pub(super) srtt_gain: Option<f64>,
    pub(super) loss_brake: bool,
    pub(super) rules: velocity::Rules,
}
