//! A constant window: no congestion control at all. It shows what the transport does by itself and
//! is the smallest example of a controller.

use super::{Allowance, Controller, Data, Loss, Phase, Restart, Setup, Snapshot, Timeout};
use crate::units::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the fixed window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The window in packets, at least 1.
    pub window: f64,
    /// Requests are paced at this rate of payload in Mbps; 0 means not paced.
    pub pacing_mbps: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            window: Setup::INITIAL_WINDOW,
            pacing_mbps: 0.0,
        }
    }
}

/// The fixed window.
#[derive(Debug, Clone)]
pub struct Fixed {
    allowance: Allowance,
}

impl Fixed {
    /// A fixed window of `config.window` packets of `setup.mss`.
    pub fn new(setup: &Setup, config: &Config) -> Result<Fixed, String> {
        if !(config.window >= 1.0 && config.window <= 1e9) {
            return Err(format!(
                "window: {} packets is not in 1..1e9",
                config.window
            ));
        }
        if !(config.pacing_mbps >= 0.0 && config.pacing_mbps <= 1e6) {
            return Err(format!(
                "pacing_mbps: {} is not in 0..1e6",
                config.pacing_mbps
            ));
        }
        let pacing = Rate::from_mbps(config.pacing_mbps);
        Ok(Fixed {
            allowance: Allowance {
                window: Bytes::from_packets(config.window, setup.mss),
                pacing: (pacing > Rate::ZERO).then_some(pacing),
            },
        })
    }
}

impl Controller for Fixed {
    fn on_data(&mut self, _data: &Data) {}

    fn on_loss(&mut self, _loss: &Loss<'_>) {}

    fn on_timeout(&mut self, _timeout: &Timeout<'_>) {}

    fn on_restart(&mut self, _restart: &Restart) {}

    fn allowance(&self) -> Allowance {
        self.allowance
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: Phase::Fixed,
            ..Snapshot::default()
        }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}
