//! TCP NCE: a unified answer to events that are no congestion (the NCE paper, "TCP NCE").
//!
//! At the third duplicate ACK the length of the bottleneck's queue, (RTT - smallest RTT) * B (equation
//! (9)), tells congestion from the rest: above 90 % of the buffer NewReno follows. Else the
//! retransmission is delayed: as many further duplicate ACKs are awaited as packets are outstanding
//! less the three reported (equations (11) to (13)), while each of them lets a new packet go. If they
//! come, the packet was lost by chance and is sent again, without any cut; if the hole fills before,
//! packets were reordered.
//!
//! Where the paper is silent or contradicts itself, the options say what to do; see
//! `docs/decisions.md`.

use super::flip::Flip;
use super::{Ack, DUPLICATES, Expiry, Kept, Needs, Policy, Reduction, Setup, Step, Verdict};
use crate::cc::range::check;
use crate::feedback::RttEstimator;
use crate::units::{Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the queue's limit is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Threshold {
    /// The sender is told the bottleneck's rate and buffer.
    #[default]
    Oracle,
    /// The longest queueing delay so far stands for the full buffer.
    Estimated,
}

/// The window after an event that was no congestion. k is the number of duplicate ACKs from the third
/// on, W and T are the window and the slow start threshold at the third.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// W + k packets: the paper by the letter.
    #[default]
    Keep,
    /// W + k packets, but not beyond the larger of W and T.
    Capped,
    /// W.
    Deflate,
}

/// Where RTTs are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttSource {
    /// ACKs of something new, of segments that were sent once: a duplicate ACK's time stamp would be
    /// that of the last segment in order (RFC 7323), and tell how long the hole has been there.
    #[default]
    Advancing,
    /// Every ACK, as if it echoed the time stamp of the segment whose arrival it answers.
    Echo,
}

/// Parameters of NCE.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How the queue's limit is known.
    pub threshold: Threshold,
    /// Share of the buffer above which the queue means congestion, 0..1.
    pub share: f64,
    /// Rate of the bottleneck in Mbps, for `oracle`; a scenario fills in its own.
    pub bottleneck_mbps: Option<f64>,
    /// Buffer of the bottleneck in bytes, for `oracle`; a scenario fills in its own.
    pub buffer_bytes: Option<f64>,
    /// The window after an event that was no congestion.
    pub exit: Exit,
    /// Whether a packet also counts as lost if no new one could be sent and one duplicate ACK less
    /// has come, or if twice the RTT has passed.
    pub fallback: bool,
    /// Where RTTs are taken from.
    pub rtt: RttSource,
    /// Verdicts of a given accuracy instead of NCE's own about the queue: what is known of the
    /// segment, turned round with this probability. Null for its own.
    pub verdict_flip: Option<f64>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            threshold: Threshold::Oracle,
            // The paper, "Determination of threshold value": 90 %.
            share: 0.9,
            bottleneck_mbps: None,
            buffer_bytes: None,
            exit: Exit::Keep,
            fallback: true,
            rtt: RttSource::Advancing,
            verdict_flip: None,
        }
    }
}

/// Where NCE is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Open,
    /// The retransmission is delayed.
    Delay {
        kept: Kept,
        /// Duplicate ACKs since the third, which are awaited, and have come.
        awaited: u32,
        added: u32,
        /// What had been sent at the third.
        high: u64,
        deadline: Instant,
    },
    /// A packet was lost by chance.
    Recovery { kept: Kept, added: u32 },
}

/// TCP NCE.
#[derive(Debug, Clone)]
pub struct Nce {
    config: Config,
    segment: Bytes,
    /// The queueing delay above which there is congestion, for `oracle`.
    limit: Duration,
    flip: Flip,
    rtt: RttEstimator,
    longest: Duration,
    state: State,
}

impl Nce {
    /// What is left of the retransmission timer when the fallback fires at the latest.
    const BEFORE_TIMER: Duration = Duration::from_millis(1);

    /// NCE at the begin of a connection.
    pub fn new(setup: &Setup, config: &Config) -> Result<Nce, String> {
        check("share", config.share, 0.0..=1.0)?;
        let mut limit = Duration::ZERO;
        if config.threshold == Threshold::Oracle {
            let given = |field, value: Option<f64>, range| match value {
                None => Err(format!(
                    "{field}: null is for threshold estimated (accepted: a number)"
                )),
                Some(value) => check(field, value, range).map(|()| value),
            };
            let mbps = given("bottleneck_mbps", config.bottleneck_mbps, 1e-3..=1e6)?;
            let buffer = given("buffer_bytes", config.buffer_bytes, 1.0..=1e12)?;
            limit = Duration::from_secs_f64(config.share * buffer * 8.0 / (mbps * 1e6));
        }
        Ok(Nce {
            config: *config,
            segment: setup.segment,
            limit,
            flip: Flip::new(config.verdict_flip)?,
            // Without the least timeout: SRTT + 4 RTTVAR is what is wanted.
            rtt: RttEstimator::new(
                Duration::from_nanos(1),
                RttEstimator::MAX_RTO,
                RttEstimator::INITIAL_RTO,
            ),
            longest: Duration::ZERO,
            state: State::Open,
        })
    }

    /// Equation (9) against the threshold. Equality is no congestion.
    fn is_congested(&self) -> bool {
        let (Some(now), Some(least)) = (self.rtt.latest(), self.rtt.min()) else {
            return false;
        };
        let queue = now.saturating_sub(least);
        match self.config.threshold {
            Threshold::Oracle => queue > self.limit,
            Threshold::Estimated => {
                let most = self.longest.saturating_sub(least);
                queue > most.mul_f64(self.config.share)
            }
        }
    }

    fn exit(&self, kept: Kept, added: u32) -> Bytes {
        // The third duplicate ACK counts as well.
        let grown = kept.window + self.segment * (u64::from(added) + 1);
        match self.config.exit {
            Exit::Keep => grown,
            Exit::Capped => grown.min(kept.window.max(kept.threshold)),
            Exit::Deflate => kept.window,
        }
    }

    /// When the fallback fires: longer than a round trip, before the retransmission timer.
    fn deadline(&self, ack: &Ack) -> Instant {
        match self.rtt.smoothed() {
            Some(srtt) if self.config.fallback => {
                let wait = (srtt * 2).max(self.rtt.rto());
                ack.now + wait.min(ack.timer.saturating_sub(Nce::BEFORE_TIMER))
            }
            _ => Instant::MAX,
        }
    }

    fn lost(&mut self, kept: Kept, added: u32) -> Step {
        self.state = State::Recovery { kept, added };
        Step {
            retransmit: true,
            reduction: Reduction::Keep,
            restart_timer: true,
            verdict: Some(Verdict::RandomLoss),
            ..Step::default()
        }
    }

    fn on_call(&mut self, ack: &Ack) -> Step {
        if self.flip.congested(ack, self.is_congested()) {
            return Step {
                retransmit: true,
                verdict: Some(Verdict::Congestion),
                ..Step::default()
            };
        }
        let deadline = self.deadline(ack);
        self.state = State::Delay {
            kept: Kept::new(ack),
            // Equations (11) to (13); never none.
            awaited: ack
                .outstanding(self.segment)
                .saturating_sub(DUPLICATES)
                .max(1),
            added: 0,
            high: ack.high,
            deadline,
        };
        Step {
            deadline,
            ..Step::default()
        }
    }
}

impl Policy for Nce {
    fn needs(&self) -> Needs {
        Needs {
            notes: self.config.rtt == RttSource::Echo,
            ..self.flip.needs()
        }
    }

    fn on_ack(&mut self, ack: &Ack) -> Step {
        let sample = match self.config.rtt {
            RttSource::Advancing => ack.rtt,
            RttSource::Echo => ack.note.echo,
        };
        if let Some(rtt) = sample {
            self.rtt.update(rtt);
            self.longest = self.longest.max(rtt);
        }
        match self.state {
            State::Open if ack.calls() => self.on_call(ack),
            State::Open => Step::default(),
            State::Delay { kept, added, .. } if ack.is_new() => {
                self.state = State::Open;
                Step {
                    window: Some(self.exit(kept, added)),
                    verdict: Some(Verdict::Reordering),
                    ..Step::default()
                }
            }
            State::Delay {
                kept,
                awaited,
                added,
                high,
                deadline,
            } => {
                let added = added + u32::from(ack.duplicates > 0);
                // Without a new packet the last duplicate ACK never comes.
                let short = self.config.fallback && ack.high == high;
                let enough = awaited.saturating_sub(u32::from(short)).max(1);
                if added >= enough && ack.duplicates > 0 {
                    return self.lost(kept, added);
                }
                self.state = State::Delay {
                    kept,
                    awaited,
                    added,
                    high,
                    deadline,
                };
                Step {
                    deadline,
                    ..Step::default()
                }
            }
            State::Recovery { kept, added } => {
                let mut step = Step::default();
                if ack.ends_recovery() {
                    step.exit = Some(self.exit(kept, added));
                    self.state = State::Open;
                } else if ack.duplicates > 0 {
                    let added = added.saturating_add(1);
                    self.state = State::Recovery { kept, added };
                }
                step
            }
        }
    }

    fn on_deadline(&mut self, _: &Ack) -> Step {
        match self.state {
            State::Delay { kept, added, .. } => self.lost(kept, added),
            _ => Step::default(),
        }
    }

    fn on_timeout(&mut self, _: &Ack) -> Expiry {
        self.state = State::Open;
        Expiry::default()
    }

    fn duplicate(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests;
