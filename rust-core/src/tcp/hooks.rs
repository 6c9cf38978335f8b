//! A controller behind the congestion control hooks of a simulator's TCP socket (ns-3's
//! `TcpCongestionOps`).
//!
//! Who owns the window follows from the controller's row in the registry. A controller that reduces
//! by a factor once per loss episode (NewReno, CUBIC) only *assists*: it grows the window while the
//! socket is not in recovery and names the threshold when the socket reduces; in between the
//! socket's recovery algorithm (by default proportional rate reduction, RFC 6937) owns the window,
//! and the socket returns to the threshold afterwards. All others take *full control*: they set the
//! window with every ACK, in recovery too, and see delivery-rate samples.
//!
//! A controller's packet numbers (`pn`) are order keys: what is sent later has a larger one. Here
//! they are positions in the stream. After a retransmission timeout everything outstanding is sent
//! again, so from then on positions are shifted by what was outstanding: the repeated bytes have
//! larger keys than all that left before the timeout. A fast retransmission keeps its key, so that
//! its ACK belongs to the episode.

use super::Sequence;
use crate::cc::{
    Controller, Data, Loss, LossCause, LostUnit, RateSample, Sent, Setup, Timeout, registry,
};
use crate::units::{Bytes, Duration, Instant, Rate};
use serde_json::Value;

/// The name of a controller in type names: `newreno` -> `NewReno`, `copa-icn` -> `CopaIcn`. Word
/// borders are taken from the alias that shows them.
pub fn type_name(entry: &registry::Entry) -> String {
    let plain = |name: &str| name.replace('-', "");
    let words = entry
        .aliases
        .iter()
        .chain([&entry.name])
        .filter(|alias| plain(alias) == plain(entry.name))
        .max_by_key(|alias| alias.len())
        .unwrap_or(&entry.name);
    let mut name = String::new();
    for word in words.split('-') {
        let mut letters = word.chars();
        name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

/// The socket's state at a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketState {
    /// When.
    pub now: Instant,
    /// Number of the first byte that is not acknowledged.
    pub una: u32,
    /// Number behind the last byte that was sent.
    pub high: u32,
    /// Outstanding bytes.
    pub in_flight: Bytes,
    /// The last RTT sample, smoothed where the socket tells nothing else.
    pub rtt: Option<Duration>,
    /// The smoothed RTT.
    pub srtt: Option<Duration>,
}

/// A delivery report of the socket, for controllers with full control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateReport {
    /// Bytes that this ACK delivers, cumulatively or selectively.
    pub acked: Bytes,
    /// All bytes delivered so far.
    pub delivered: Bytes,
    /// Outstanding bytes before the ACK.
    pub prior_in_flight: Bytes,
    /// The delivery rate, if it is valid.
    pub rate: Option<Rate>,
    /// The lower 32 bits of the bytes delivered when the sampled segment left.
    pub prior_delivered: u32,
    /// Whether the sample is application-limited.
    pub app_limited: bool,
}

/// What the controller wants of the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Congestion window.
    pub window: Bytes,
    /// Slow-start threshold, where the controller has one.
    pub ssthresh: Option<Bytes>,
    /// Pacing rate, where the controller paces.
    pub pacing: Option<Rate>,
}

/// Why the socket asks for a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Reduction {
    /// No state was announced: the retransmission timer expired.
    #[default]
    Timeout,
    /// It has announced recovery from a loss.
    Loss,
}

/// A controller and what it is told next.
#[derive(Debug)]
pub struct Hooks {
    controller: Box<dyn Controller>,
    mss: Bytes,
    numbers: Sequence,
    /// Whether the position of the stream's start is known.
    started: bool,
    /// Added to positions to make order keys.
    shift: u64,
    /// Position up to which ACKs have been told.
    acked: u64,
    delivered: Bytes,
    next_round_delivered: Bytes,
    /// Position behind the last byte that was sent when the round started.
    round_end: u64,
    reduction: Reduction,
    timeout_told: bool,
}

impl Clone for Hooks {
    fn clone(&self) -> Hooks {
        Hooks {
            controller: self.controller.boxed_clone(),
            ..*self
        }
    }
}

impl Hooks {
    /// The controller called `name` with the parameters `params`, a JSON object.
    pub fn new(name: &str, setup: &Setup, params: &Value) -> Result<Hooks, String> {
        let controller = registry::build(name, setup, params)?;
        Ok(Hooks {
            controller,
            mss: setup.mss,
            numbers: Sequence::default(),
            started: false,
            shift: 0,
            acked: 0,
            delivered: Bytes::ZERO,
            next_round_delivered: Bytes::ZERO,
            round_end: 0,
            reduction: Reduction::default(),
            timeout_told: false,
        })
    }

    /// Whether this controller sets the window at all times.
    pub fn takes_full_control(entry: &registry::Entry) -> bool {
        !entry.multiplicative_decrease
    }

    /// What the controller wants now.
    pub fn verdict(&self) -> Verdict {
        let allowance = self.controller.allowance();
        Verdict {
            window: allowance.window,
            ssthresh: self.controller.snapshot().ssthresh,
            pacing: allowance.pacing,
        }
    }

    /// Nothing is outstanding, and a segment is about to leave (`CA_EVENT_TX_START`).
    pub fn on_transmit_start(&mut self, socket: &SocketState) -> Verdict {
        let (_, high) = self.positions(socket);
        self.controller.on_sent(&Sent {
            now: socket.now,
            pn: high + self.shift,
            bytes: self.mss,
            prior_in_flight: Bytes::ZERO,
            app_limited: false,
            probe: false,
        });
        self.verdict()
    }

    /// An ACK of `segments` segments outside of recovery (`IncreaseWindow`).
    pub fn on_increase(&mut self, socket: &SocketState, segments: u32) -> Verdict {
        let bytes = self.mss * u64::from(segments);
        self.delivered += bytes;
        let report = RateReport {
            acked: bytes,
            delivered: self.delivered,
            prior_in_flight: socket.in_flight + bytes,
            rate: None,
            prior_delivered: self.delivered.get() as u32,
            app_limited: !self.is_limited(socket.in_flight + bytes),
        };
        self.on_data(socket, &report, false);
        self.verdict()
    }

    /// Whether the window limits a sender with `outstanding` bytes (RFC 7661's question, with
    /// Linux's answer): it is filled up to a segment, in slow start to one half.
    fn is_limited(&self, outstanding: Bytes) -> bool {
        let verdict = self.verdict();
        let in_slow_start = verdict.ssthresh.is_none_or(|s| verdict.window < s);
        if in_slow_start {
            verdict.window < outstanding * 2
        } else {
            verdict.window <= outstanding + self.mss
        }
    }

    /// An ACK, whatever the socket's state (`CongControl`); for controllers with full control.
    pub fn on_report(&mut self, socket: &SocketState, report: &RateReport) -> Verdict {
        self.delivered = report.delivered;
        if !report.acked.is_zero() {
            self.on_data(socket, report, false);
        }
        self.verdict()
    }

    /// The socket is about to recover from a loss (`CongestionStateSet`); it asks for the threshold
    /// next.
    pub fn on_recovery(&mut self) {
        self.reduction = Reduction::Loss;
    }

    /// The socket reduces (`GetSsThresh`): the threshold. `echo` tells whether it may do so because
    /// the receiver has echoed an ECN mark.
    pub fn threshold(&mut self, socket: &SocketState, echo: bool) -> Bytes {
        let (una, high) = self.positions(socket);
        let next_pn = high + self.shift;
        match std::mem::take(&mut self.reduction) {
            Reduction::Loss => {
                let unit = self.unit(socket, una, self.mss);
                self.controller.on_loss(&Loss {
                    now: socket.now,
                    cause: LossCause::DuplicateAcks,
                    units: &[unit],
                    next_pn,
                    in_flight: socket.in_flight,
                    newly_delivered: Bytes::ZERO,
                });
            }
            // Should the timer have expired in spite of an echo, `on_timeout` will tell.
            Reduction::Timeout if echo => {
                let report = RateReport {
                    acked: Bytes::ZERO,
                    delivered: self.delivered,
                    prior_in_flight: socket.in_flight,
                    rate: None,
                    prior_delivered: self.delivered.get() as u32,
                    app_limited: false,
                };
                self.on_data(socket, &report, true);
            }
            Reduction::Timeout => self.tell_timeout(socket),
        }
        let verdict = self.verdict();
        verdict.ssthresh.unwrap_or(verdict.window)
    }

    /// The retransmission timer expired (`CA_EVENT_LOSS`); the socket has asked for a threshold
    /// before, unless the timer backs off.
    pub fn on_timeout(&mut self, socket: &SocketState) {
        if !std::mem::take(&mut self.timeout_told) {
            self.tell_timeout(socket);
            self.timeout_told = false;
        }
    }

    fn tell_timeout(&mut self, socket: &SocketState) {
        self.timeout_told = true;
        let (una, high) = self.positions(socket);
        let next_pn = high + self.shift;
        let outstanding = Bytes::new(high - una);
        let head = self.unit(socket, una, self.mss.min(outstanding));
        let rest = outstanding.saturating_sub(self.mss);
        let last = self.unit(socket, high.saturating_sub(1).max(una), rest);
        let units = [head, last];
        self.controller.on_timeout(&Timeout {
            now: socket.now,
            units: if rest.is_zero() { &units[..1] } else { &units },
            next_pn,
            in_flight: Bytes::ZERO,
        });
        // What is outstanding is sent again, after all that has left.
        self.shift += high - una;
    }

    fn on_data(&mut self, socket: &SocketState, report: &RateReport, marked: bool) {
        let (una, high) = self.positions(socket);
        let advanced = una > self.acked;
        self.acked = self.acked.max(una);
        let delivered = report.delivered;
        let age = (delivered.get() as u32).wrapping_sub(report.prior_delivered);
        let prior_delivered = delivered.saturating_sub(Bytes::new(age.into()));
        let rate = report.rate.map(|rate| RateSample {
            rate,
            prior_delivered,
            app_limited: report.app_limited,
        });
        let round_start = match rate {
            Some(rate) => rate.prior_delivered >= self.next_round_delivered,
            // RFC 9406, section 4.2: a round ends when what had been sent at its start is
            // acknowledged.
            None => advanced && una >= self.round_end,
        };
        if round_start {
            self.next_round_delivered = delivered;
            self.round_end = high;
        }
        self.controller.on_data(&Data {
            now: socket.now,
            pn: una.saturating_sub(1) + self.shift,
            next_pn: high + self.shift,
            bytes: report.acked,
            rtt: socket.rtt.filter(|_| advanced),
            srtt: socket.srtt,
            one_way: None,
            probe: false,
            marked,
            prior_in_flight: report.prior_in_flight,
            in_flight: socket.in_flight,
            delivered,
            rate,
            round_start,
            app_limited: report.app_limited,
        });
    }

    /// The positions of the first unacknowledged byte and behind the last that was sent.
    fn positions(&mut self, socket: &SocketState) -> (u64, u64) {
        if !self.started {
            self.started = true;
            self.numbers = Sequence::new(socket.una);
        }
        let una = self.numbers.position(socket.una);
        (una, self.numbers.position(socket.high).max(una))
    }

    fn unit(&self, socket: &SocketState, position: u64, bytes: Bytes) -> LostUnit {
        LostUnit {
            pn: position + self.shift,
            bytes,
            sent_at: socket
                .now
                .saturating_sub(socket.srtt.unwrap_or(Duration::ZERO)),
        }
    }
}

#[cfg(test)]
mod tests;
