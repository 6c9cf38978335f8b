//! The maximum probability of RED, fixed or adapted to the load.

use super::Config;
use crate::units::{Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the maximum probability follows the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Adaptation {
    /// Not at all.
    None,
    /// Additive increase, multiplicative decrease, so that the average stays half way between the
    /// thresholds (Floyd, Gummadi and Shenker 2001).
    MaxP,
    /// The same, with thresholds and weight set from the link's rate and the target delay.
    Ared,
    /// A factor up or down at each crossing of a threshold (Feng et al. 1999).
    Feng,
}

/// Where Feng's rule last saw the average.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Region {
    Below,
    Between,
    Above,
}

/// The maximum probability and what changes it.
#[derive(Debug, Clone)]
pub(super) struct MaxP {
    config: Config,
    interval: Duration,
    bottom: f64,
    min: f64,
    max: f64,
    value: f64,
    last_set: Instant,
    region: Region,
}

impl MaxP {
    pub(super) fn new(config: &Config, link_rate: Rate, min: f64, max: f64) -> MaxP {
        let bottom = if config.bottom == 0.0 {
            // One packet per round trip (Floyd, Gummadi and Shenker 2001).
            let per_rtt = 8.0 * f64::from(config.mean_packet_bytes) * (config.rtt_ms / 1e3)
                / link_rate.as_bps() as f64;
            per_rtt.min(0.01)
        } else {
            config.bottom
        };
        MaxP {
            config: *config,
            interval: Duration::from_secs_f64(config.adapt_interval_ms / 1e3),
            bottom,
            min,
            max,
            value: config.max_p,
            last_set: Instant::ZERO,
            region: Region::Above,
        }
    }

    pub(super) fn get(&self) -> f64 {
        self.value
    }

    /// Sees a new average.
    pub(super) fn adapt(&mut self, now: Instant, average: f64) {
        match self.config.adaptation {
            Adaptation::None => {}
            Adaptation::MaxP | Adaptation::Ared => {
                if now > self.last_set + self.interval {
                    self.towards_the_middle(now, average);
                }
            }
            Adaptation::Feng => self.by_region(average),
        }
    }

    fn towards_the_middle(&mut self, now: Instant, average: f64) {
        // The middle fifth is good enough.
        let margin = 0.4 * (self.max - self.min);
        if average < self.min + margin && self.value > self.bottom {
            self.value *= self.config.beta;
            self.last_set = now;
        } else if average > self.max - margin && self.value < self.config.top {
            self.value += self.config.alpha.min(0.25 * self.value);
            self.last_set = now;
        }
    }

    fn by_region(&mut self, average: f64) {
        if self.min < average && average < self.max {
            self.region = Region::Between;
        } else if average < self.min && self.region != Region::Below {
            self.region = Region::Below;
            self.value /= self.config.feng_alpha;
        } else if average > self.max && self.region != Region::Above {
            self.region = Region::Above;
            self.value *= self.config.feng_beta;
        }
    }
}
