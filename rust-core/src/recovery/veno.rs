//! TCP Veno: a loss with a short backlog costs a fifth of the window, and the window grows at half
//! the pace with a long one (Fu and Liew, "TCP Veno: TCP enhancement for transmission over wireless
//! access networks", 2003; equations (1) to (3) of the NCE paper).
//!
//! The RTT is the smallest sample of the last round trip, as Linux has it, since a single delayed ACK
//! must not pass for a queue.

use super::{Ack, Expiry, Phase, Policy, Reduction, Setup, Step, Verdict};
use crate::cc::range::check;
use crate::units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of Veno.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Backlog in packets from which a loss is by congestion, 0..1000.
    pub beta: f64,
    /// What a random loss leaves of the window, 0.5..1.
    pub random_factor: f64,
    /// Whether a timeout forgets the smallest RTT.
    pub reset_on_timeout: bool,
}

impl Default for Config {
    fn default() -> Config {
        // Fu and Liew 2003, section III; Linux keeps the smallest RTT over timeouts.
        Config {
            beta: 3.0,
            random_factor: 0.8,
            reset_on_timeout: false,
        }
    }
}

/// TCP Veno.
#[derive(Debug, Clone)]
pub struct Veno {
    config: Config,
    segment: Bytes,
    base: Option<Duration>,
    /// Smallest sample of the round before, and of this one.
    round: Option<Duration>,
    current: Option<Duration>,
    /// An ACK beyond this ends the round.
    round_end: u64,
    /// Whether the last ACK with a long backlog grew the window.
    grew: bool,
}

impl Veno {
    /// Veno at the begin of a connection.
    pub fn new(setup: &Setup, config: &Config) -> Result<Veno, String> {
        check("beta", config.beta, 0.0..=1000.0)?;
        check("random_factor", config.random_factor, 0.5..=1.0)?;
        Ok(Veno {
            config: *config,
            segment: setup.segment,
            base: None,
            round: None,
            current: None,
            round_end: 0,
            grew: false,
        })
    }

    /// Equations (1) to (3): packets that wait in the network; none before there is an RTT.
    fn backlog(&self, window: Bytes) -> Option<f64> {
        let base = self.base?.as_nanos() as f64;
        let rtt = self.round.or(self.current)?.as_nanos() as f64;
        (rtt > 0.0).then(|| window.as_packets(self.segment) * (rtt - base).max(0.0) / rtt)
    }

    fn is_congested(&self, window: Bytes) -> bool {
        self.backlog(window).is_none_or(|n| n >= self.config.beta)
    }

    fn on_new(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.base = Some(self.base.map_or(rtt, |least| least.min(rtt)));
            self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
        }
        if ack.ack >= self.round_end {
            self.round = self.current.take().or(self.round);
            self.round_end = ack.high;
        }
    }
}

impl Policy for Veno {
    fn on_ack(&mut self, ack: &Ack) -> Step {
        let mut step = Step::default();
        if ack.is_new() {
            self.on_new(ack);
            let avoids = ack.phase != Phase::Recovery && ack.window >= ack.threshold;
            if avoids && self.is_congested(ack.window) {
                self.grew = !self.grew;
                step.grow = self.grew;
            }
        }
        if ack.calls() {
            step.retransmit = true;
            if self.is_congested(ack.window) {
                step.verdict = Some(Verdict::Congestion);
            } else {
                step.verdict = Some(Verdict::RandomLoss);
                step.reduction = Reduction::Share(self.config.random_factor);
            }
        }
        step
    }

    fn on_timeout(&mut self, _: &Ack) -> Expiry {
        if self.config.reset_on_timeout {
            (self.base, self.round, self.current) = (None, None, None);
        }
        Expiry::default()
    }

    fn duplicate(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_tcp::{SEGMENT, duplicate};
    use super::*;

    /// Rounds with the given smallest RTTs; the window is 12 segments.
    fn after(rtts_ms: &[u64]) -> (Veno, Ack) {
        let setup = Setup {
            segment: Bytes::new(SEGMENT),
        };
        let mut v = Veno::new(&setup, &Config::default()).unwrap();
        let mut a = Ack {
            window: Bytes::new(12 * SEGMENT),
            threshold: Bytes::new(2 * SEGMENT),
            ..duplicate(0)
        };
        for &ms in rtts_ms {
            for more in [ms + 7, ms] {
                a.una = a.ack;
                a.ack += SEGMENT;
                a.high = a.ack;
                a.rtt = Some(Duration::from_millis(more));
                v.on_ack(&a);
            }
        }
        a.rtt = None;
        (v, a)
    }

    fn call(a: Ack) -> Ack {
        Ack {
            una: a.ack,
            high: a.ack + 12 * SEGMENT,
            duplicates: 3,
            ..a
        }
    }

    #[test]
    fn the_backlog_is_what_the_equations_say() {
        // 12 * (120 - 100) / 120 = 2.
        let (v, a) = after(&[100, 120]);
        assert!((v.backlog(a.window).unwrap() - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_loss_costs_a_fifth_or_half() {
        // 12 * 33 / 133 = 2.98, 12 * 34 / 134 = 3.04.
        for (rtt, reduction, verdict) in [
            (133, Reduction::Share(0.8), Verdict::RandomLoss),
            (134, Reduction::Controller, Verdict::Congestion),
        ] {
            let (mut v, a) = after(&[100, rtt]);
            let step = v.on_ack(&call(a));
            assert!(step.retransmit);
            assert_eq!((step.reduction, step.verdict), (reduction, Some(verdict)));
        }
    }

    #[test]
    fn growth_is_halved_with_a_long_backlog_only() {
        for (rtt, expected) in [(110, 10), (200, 5)] {
            let (mut v, mut a) = after(&[100, rtt]);
            let mut grown = 0;
            for _ in 0..10 {
                a.una = a.ack;
                a.ack += SEGMENT;
                a.high = a.ack + 12 * SEGMENT;
                a.rtt = Some(Duration::from_millis(rtt));
                grown += u32::from(v.on_ack(&a).grow);
            }
            assert_eq!(grown, expected, "{rtt} ms");
        }
    }
}
