//! Congestion controllers: one contract, one file per controller, one registry.
//!
//! A controller hears of every event as a struct ([`Sent`], [`Data`], [`Loss`], [`Timeout`],
//! [`Restart`], [`SpuriousLoss`]) and answers one question afterwards: how many bytes may be
//! outstanding and how fast may they be asked for ([`Allowance`]). It keeps no clock, draws no
//! random numbers and never sees the transport's state: what it may know is in the event.
//!
//! Controllers think in packets of [`Setup::mss`] payload bytes as `f64`, as the papers and RFCs
//! do; the contract speaks in bytes. In the ICN transport a DATA packet plays the ACK and the
//! receiver is the one that is controlled; over TCP the same events come from ACKs.
//!
//! To add a controller: write `cc/<name>.rs`, add a row to [`registry::CONTROLLERS`]. The scenario
//! schema, `--list`, what the ns-3 attribute `Controller` accepts and the conformance tests follow from the row.

pub mod bbr;
pub mod copa;
pub mod copa_icn;
pub mod cubic;
pub mod ecd;
pub mod fixed;
pub mod newreno;
pub mod registry;

mod competition;
mod copa_window;
mod hystart;
mod loss_brake;
pub(crate) mod range;
mod standing;
#[cfg(test)]
mod test_net;
#[cfg(test)]
mod testing;
mod undo;
mod velocity;
mod window;

use crate::units::{Bytes, Duration, Instant, OneWay, Rate};
use std::fmt;

/// What a controller is told when it is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setup {
    /// Payload of a full DATA packet (TCP: the segment size); the unit of "packet".
    pub mss: Bytes,
    /// Size of a full DATA packet with all headers up to IP, for controllers whose rate counts
    /// headers (Copa-ICN's delta(rate)).
    pub packet_size: Bytes,
    /// First window in packets, where the controller's own parameters do not say otherwise.
    pub initial_window: f64,
    /// A random draw in [0, 1) from the simulation's stream, for controllers with a random phase.
    pub draw: f64,
}

impl Setup {
    /// Payload of a full DATA packet in the Copa-ICN paper's experiments (section 5.1), bytes.
    pub const PAPER_MSS: Bytes = Bytes::new(1250);
    /// The same packet with its 108 B of headers.
    pub const PAPER_PACKET_SIZE: Bytes = Bytes::new(1358);
    /// RFC 6928: ten packets.
    pub const INITIAL_WINDOW: f64 = 10.0;

    /// The first window that a controller's parameter asks for; zero takes the transport's. Packets.
    fn initial_window_or(&self, packets: f64) -> f64 {
        if packets == 0.0 {
            self.initial_window
        } else {
            packets
        }
    }
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            mss: Setup::PAPER_MSS,
            packet_size: Setup::PAPER_PACKET_SIZE,
            initial_window: Setup::INITIAL_WINDOW,
            draw: 0.0,
        }
    }
}

/// A request left (TCP: a segment left).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sent {
    /// When.
    pub now: Instant,
    /// Its packet number; numbers only grow.
    pub pn: u64,
    /// How many bytes it asks for.
    pub bytes: Bytes,
    /// Outstanding bytes before it left.
    pub prior_in_flight: Bytes,
    /// Whether the receiver has less to request than it may (end of the NDC, full receive buffer,
    /// paused application).
    pub app_limited: bool,
    /// Whether it carries the priority-probe flag.
    pub probe: bool,
}

/// A delivery-rate sample: what arrived over an interval, taken from one delivered unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSample {
    /// Delivered bytes over the longer of the request and the arrival interval.
    pub rate: Rate,
    /// The total of delivered bytes when the unit was requested.
    pub prior_delivered: Bytes,
    /// Whether the unit was requested in an application-limited phase, so that the sample may be
    /// too low.
    pub app_limited: bool,
}

/// A new DATA unit arrived (TCP: new data was acknowledged).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Data {
    /// When.
    pub now: Instant,
    /// The number of the request it answers.
    pub pn: u64,
    /// The number that the next request will bear: all below are out or done.
    pub next_pn: u64,
    /// Bytes of the unit. (Where it was repeated for nothing, its content came earlier, by a
    /// [`SpuriousLoss`]; it crossed the path all the same.)
    pub bytes: Bytes,
    /// Round-trip time of this unit, if it is a valid sample (first unit of its request, not a
    /// retransmission).
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time after this sample (RFC 6298), once there was one.
    pub srtt: Option<Duration>,
    /// Arrival time minus the replica's timestamp, where the unit carries one and is a valid
    /// sample. It includes the unknown offset between both clocks.
    pub one_way: Option<OneWay>,
    /// Whether the unit travelled with high priority (it answers a flagged request).
    pub probe: bool,
    /// Whether a router marked the unit.
    pub marked: bool,
    /// Outstanding bytes before the unit arrived.
    pub prior_in_flight: Bytes,
    /// Outstanding bytes after it was taken off.
    pub in_flight: Bytes,
    /// Total of bytes that crossed the path, including this unit and those of spurious losses.
    pub delivered: Bytes,
    /// The unit's delivery-rate sample, if it is valid.
    pub rate: Option<RateSample>,
    /// Whether a packet-timed round trip ended with this unit.
    pub round_start: bool,
    /// Whether the window was *not* what limited the requests in the last round, so that its
    /// size was not put to the test and must not grow.
    pub app_limited: bool,
}

/// A unit that is considered lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostUnit {
    /// The number of its request.
    pub pn: u64,
    /// Its size.
    pub bytes: Bytes,
    /// When it was requested.
    pub sent_at: Instant,
}

/// How a loss was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LossCause {
    /// Enough later DATA units arrived (the Copa-ICN paper, section 3.3: three).
    LaterData,
    /// A TCP sender judged its duplicate acknowledgements or SACK blocks.
    DuplicateAcks,
}

/// Units were lost; one event for all that one arrival proves lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss<'a> {
    /// When it was noticed.
    pub now: Instant,
    /// How.
    pub cause: LossCause,
    /// The lost units in request order, at least one.
    pub units: &'a [LostUnit],
    /// The number that the next request will bear.
    pub next_pn: u64,
    /// Outstanding bytes after the lost ones were taken off.
    pub in_flight: Bytes,
    /// Bytes that arrived with the event which proved the loss.
    pub newly_delivered: Bytes,
}

impl Loss<'_> {
    /// The sum of the lost units' sizes.
    pub fn bytes(&self) -> Bytes {
        self.units.iter().map(|u| u.bytes).sum()
    }

    /// The highest packet number among the lost units.
    pub fn largest_pn(&self) -> u64 {
        self.units.last().map_or(0, |u| u.pn)
    }
}

/// The retransmission timer expired; everything requested longer than an RTO ago is lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timeout<'a> {
    /// When.
    pub now: Instant,
    /// The lost units in request order, at least one.
    pub units: &'a [LostUnit],
    /// The number that the next request will bear.
    pub next_pn: u64,
    /// Outstanding bytes after the lost ones were taken off.
    pub in_flight: Bytes,
}

impl Timeout<'_> {
    /// The highest packet number among the lost units.
    pub fn largest_pn(&self) -> u64 {
        self.units.last().map_or(0, |u| u.pn)
    }
}

/// Why a controller must start over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RestartCause {
    /// Another replica serves the rest of the NDC.
    ReplicaChanged,
    /// The path to the replica changed.
    PathChanged,
}

/// The path is another one: what was learnt about the old one no longer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restart {
    /// When.
    pub now: Instant,
    /// Why.
    pub cause: RestartCause,
    /// The number that the next request will bear.
    pub next_pn: u64,
}

/// A unit that had been declared lost, by later arrivals or by timeout, arrived after all: as the
/// answer to the very request that was given up, which its packet number tells. Told once per
/// declaration, also if the repeated request was answered first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpuriousLoss {
    /// When it arrived.
    pub now: Instant,
    /// The number of the request that was declared lost.
    pub pn: u64,
    /// Its size.
    pub bytes: Bytes,
}

/// The highest pacing rate a controller names: 1 Pbit/s, a bound on arithmetic.
const MAX_PACING: Rate = Rate::from_bps(1_000_000_000_000_000);

/// What a controller allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Bytes that may be outstanding.
    pub window: Bytes,
    /// The rate at which payload may be asked for; none means as fast as DATA arrives.
    pub pacing: Option<Rate>,
}

/// What a controller is doing, in the algorithm's own terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Phase {
    /// A constant window.
    #[default]
    Fixed,
    /// Exponential growth.
    SlowStart,
    /// Additive (Reno), cubic or delta-driven (Copa) operation.
    CongestionAvoidance,
    /// A reduction's round: what was sent before it is still arriving.
    Recovery,
    /// BBR STARTUP.
    Startup,
    /// BBR DRAIN.
    Drain,
    /// BBR PROBE_BW.
    ProbeBw,
    /// BBR PROBE_RTT.
    ProbeRtt,
    /// Copa's TCP-competitive mode.
    Competitive,
}

impl Phase {
    /// All phases, in the order of their numbers.
    pub const ALL: [Phase; 9] = [
        Phase::Fixed,
        Phase::SlowStart,
        Phase::CongestionAvoidance,
        Phase::Recovery,
        Phase::Startup,
        Phase::Drain,
        Phase::ProbeBw,
        Phase::ProbeRtt,
        Phase::Competitive,
    ];

    /// The name in traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Phase::Fixed => "fixed",
            Phase::SlowStart => "slow-start",
            Phase::CongestionAvoidance => "congestion-avoidance",
            Phase::Recovery => "recovery",
            Phase::Startup => "startup",
            Phase::Drain => "drain",
            Phase::ProbeBw => "probe-bw",
            Phase::ProbeRtt => "probe-rtt",
            Phase::Competitive => "competitive",
        }
    }
}

/// A controller's inner state for traces, never for control. A quantity is absent where the
/// algorithm has none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Snapshot {
    /// The current phase.
    pub phase: Phase,
    /// Slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// Copa's delta, 1/packets.
    pub delta: Option<f64>,
    /// Copa's velocity v, packets.
    pub velocity: Option<f64>,
    /// The queueing delay the controller sees: d_q of Copa, T_q of Copa-ICN.
    pub queue_delay: Option<Duration>,
    /// BBR's bottleneck bandwidth.
    pub bandwidth: Option<Rate>,
    /// The smallest round-trip time the controller knows.
    pub min_rtt: Option<Duration>,
    /// BBR's pacing gain.
    pub pacing_gain: Option<f64>,
    /// ECD's degree of congestion: the smoothed share of marked DATA, 0..1.
    pub alpha: Option<f64>,
}

/// A congestion controller.
///
/// Invariants that hold after any sequence of events (the conformance tests check them for every
/// row of the registry): the window is at least one packet and finite; a pacing rate, where there
/// is one, is positive; at most one multiplicative reduction follows from what was requested
/// before the previous reduction; equal events give equal state.
pub trait Controller: fmt::Debug + Send {
    /// A request left.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// A new unit arrived. Losses proved by the same arrival are told first, by
    /// [`Controller::on_loss`].
    fn on_data(&mut self, data: &Data);

    /// Units are lost; called once per event.
    fn on_loss(&mut self, loss: &Loss<'_>);

    /// The retransmission timer expired; called once per expiry, instead of `on_loss`.
    fn on_timeout(&mut self, timeout: &Timeout<'_>);

    /// The replica or the path changed: start over.
    fn on_restart(&mut self, restart: &Restart);

    /// A unit that had been declared lost arrived after all. A controller may take a reduction back
    /// when all losses of its episode have turned out to be none.
    fn on_spurious_loss(&mut self, _spurious: &SpuriousLoss) {}

    /// Whether the next request should carry the priority-probe flag (the Copa-ICN paper, section
    /// 4.2.3). The answer is confirmed by [`Sent::probe`].
    fn wants_probe(&self, _now: Instant) -> bool {
        false
    }

    /// What is allowed now.
    fn allowance(&self) -> Allowance;

    /// The inner state for traces.
    fn snapshot(&self) -> Snapshot;

    /// A copy of the controller with its whole state.
    fn boxed_clone(&self) -> Box<dyn Controller>;
}
