//! TCP CERL: random loss is told by the queue that RTTs show (El-Ocla, "TCP CERL: congestion control
//! enhancement over wireless networks", 2010).
//!
//! The length of the bottleneck's queue is l = (RTT - T) * B with the smallest RTT T (equation (4) of
//! the NCE paper), the threshold N = A * l_max (equation (5)). A loss is by congestion if l >= N; B
//! is on both sides and not needed. Before there was any queue l = N = 0: congestion, by the letter.

use super::flip::Flip;
use super::{Ack, Expiry, Kept, Needs, Policy, Reduction, Step, Verdict};
use crate::cc::range::check;
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of CERL.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// A: the threshold as a share of the longest queue, 0..1.
    pub share: f64,
    /// Verdicts of a given accuracy instead of CERL's own: what is known of the segment, turned round
    /// with this probability. Null for its own.
    pub verdict_flip: Option<f64>,
}

impl Default for Config {
    fn default() -> Config {
        // El-Ocla 2010, and equation (5) of the NCE paper.
        Config {
            share: 0.55,
            verdict_flip: None,
        }
    }
}

/// TCP CERL.
#[derive(Debug, Clone)]
pub struct Cerl {
    share: f64,
    flip: Flip,
    shortest: Option<Duration>,
    longest: Duration,
    last: Duration,
    /// What had been sent at the last cut: a loss among that is answered already.
    cut: u64,
    kept: Option<Kept>,
}

impl Cerl {
    /// CERL at the begin of a connection.
    pub fn new(config: &Config) -> Result<Cerl, String> {
        check("share", config.share, 0.0..=1.0)?;
        Ok(Cerl {
            share: config.share,
            flip: Flip::new(config.verdict_flip)?,
            shortest: None,
            longest: Duration::ZERO,
            last: Duration::ZERO,
            cut: 0,
            kept: None,
        })
    }

    fn sample(&mut self, rtt: Duration) {
        self.shortest = Some(self.shortest.map_or(rtt, |least| least.min(rtt)));
        self.longest = self.longest.max(rtt);
        self.last = rtt;
    }

    fn is_congested(&self) -> bool {
        let shortest = self.shortest.unwrap_or(self.last);
        let most = self.longest.saturating_sub(shortest);
        self.last.saturating_sub(shortest) >= most.mul_f64(self.share)
    }
}

impl Policy for Cerl {
    fn needs(&self) -> Needs {
        self.flip.needs()
    }

    fn on_ack(&mut self, ack: &Ack) -> Step {
        if let Some(rtt) = ack.rtt {
            self.sample(rtt);
        }
        let mut step = Step::default();
        if ack.calls() {
            let congested = self.flip.congested(ack, self.is_congested());
            // Once per window (El-Ocla 2010): what was sent before the last cut calls for no other.
            let cut = congested && ack.una >= self.cut;
            step.retransmit = true;
            step.verdict = Some(if congested {
                Verdict::Congestion
            } else {
                Verdict::RandomLoss
            });
            if cut {
                self.cut = ack.high;
                self.kept = None;
            } else {
                step.reduction = Reduction::Keep;
                self.kept = Some(Kept::new(ack));
            }
        } else {
            step.exit = Kept::end(&mut self.kept, ack);
        }
        step
    }

    fn on_timeout(&mut self, _: &Ack) -> Expiry {
        self.kept = None;
        Expiry::default()
    }

    fn duplicate(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_tcp::duplicate;
    use super::*;
    use crate::recovery::Phase;
    use crate::units::Bytes;

    fn new_ack(rtt_ms: u64) -> Ack {
        Ack {
            ack: 100,
            una: 0,
            duplicates: 0,
            rtt: Some(Duration::from_millis(rtt_ms)),
            ..duplicate(0)
        }
    }

    #[test]
    fn the_threshold_is_a_share_of_the_longest_queue() {
        let mut c = Cerl::new(&Config::default()).unwrap();
        // No queue was ever there: congestion, by the letter.
        assert_eq!(c.on_ack(&duplicate(3)).verdict, Some(Verdict::Congestion));
        for rtt in [100, 200] {
            c.on_ack(&new_ack(rtt));
        }
        for (rtt, verdict) in [
            (154, Verdict::RandomLoss),
            (155, Verdict::Congestion),
            (156, Verdict::Congestion),
        ] {
            c.on_ack(&new_ack(rtt));
            assert_eq!(c.on_ack(&duplicate(3)).verdict, Some(verdict), "{rtt} ms");
        }
    }

    #[test]
    fn there_is_one_cut_for_a_window() {
        let mut c = Cerl::new(&Config::default()).unwrap();
        let first = duplicate(3);
        assert_eq!(c.on_ack(&first).reduction, Reduction::Controller);
        // Another hole in what had been sent by then.
        let again = Ack {
            una: first.una + 500,
            ack: first.una + 500,
            ..first
        };
        let step = c.on_ack(&again);
        assert_eq!((step.retransmit, step.reduction), (true, Reduction::Keep));
        let later = Ack {
            una: first.high,
            ack: first.high,
            high: first.high + 5000,
            ..first
        };
        assert_eq!(c.on_ack(&later).reduction, Reduction::Controller);
    }

    #[test]
    fn a_random_loss_gives_the_window_back() {
        let mut c = Cerl::new(&Config::default()).unwrap();
        for rtt in [100, 200, 101] {
            c.on_ack(&new_ack(rtt));
        }
        let call = duplicate(3);
        assert_eq!(c.on_ack(&call).reduction, Reduction::Keep);
        let full = Ack {
            ack: call.high,
            duplicates: 0,
            phase: Phase::Recovery,
            recover: call.high,
            window: Bytes::new(1),
            ..call
        };
        assert_eq!(c.on_ack(&full).exit, Some(call.window));
    }
}
