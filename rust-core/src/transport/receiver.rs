//! The receiver: requests an NDC under a congestion controller until every byte has arrived.

mod arrival;
mod request;
mod tail;

use super::declared_lost::DeclaredLost;
use super::outstanding::Outstanding;
use super::pacer::Pacer;
use super::received::ReceivedUnits;
use super::{Datagram, Output, ReceiverConfig, Stats};
use crate::cc::{Controller, LostUnit, Restart, RestartCause, Snapshot};
use crate::feedback::{DeliveryRate, LaterArrivals, RttEstimator};
use crate::units::{Bytes, Duration, Instant, OneWay, Rate};
use crate::wire::{Segment, UNBOUNDED};
use arrival::segment;
use std::collections::VecDeque;
use std::net::IpAddr;
use tail::TailProbe;

/// Everything that follows from one input besides the packets in [`Receiver::output`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// When [`Receiver::on_timeout`] is due; [`Instant::MAX`] for never.
    pub next_timer: Instant,
    /// Payload bytes that arrived exactly once.
    pub delivered: Bytes,
    /// Bytes from the start of the NDC without a gap.
    pub in_order: Bytes,
    /// Bytes that may be outstanding.
    pub window: Bytes,
    /// Bytes that are outstanding.
    pub in_flight: Bytes,
    /// Pacing rate, if the controller paces.
    pub pacing: Option<Rate>,
    /// The last valid RTT sample.
    pub rtt: Option<Duration>,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// The last valid one-way sample, including the clocks' offset.
    pub one_way: Option<OneWay>,
    /// What that sample would be without a delay: the clocks' difference, as far as it is known.
    pub one_way_zero: OneWay,
    /// The controller's inner state.
    pub snapshot: Snapshot,
    /// Whether every byte has arrived.
    pub completed: bool,
    /// Whether the content's hash is the NDC's EID; only ever true with `verify`.
    pub verified: bool,
}

/// Where a transfer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fresh,
    Open,
    Completed,
    Cancelled,
}

/// Losses of the last reduction, to tell whether it was necessary.
#[derive(Debug, Clone, Copy, Default)]
struct LastCut {
    /// Requests below this had left when it happened; zero once it has been judged.
    below_pn: u64,
    /// Units of these that are lost and have not arrived late.
    missing: u64,
}

/// A transfer's receiving end.
#[derive(Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    mss: Bytes,
    controller: Box<dyn Controller>,
    phase: Phase,
    verified: bool,

    /// Size of the NDC, once a DATA packet has told it.
    size: Option<u64>,
    /// Where the next new request starts.
    next_offset: u64,
    received: ReceivedUnits,
    /// Lost units in order of their loss; those that arrive late meanwhile are skipped.
    to_repeat: VecDeque<Segment>,
    content: Vec<u8>,
    /// Payload bytes that arrived exactly once, from whichever replica.
    delivered: Bytes,

    outstanding: Outstanding,
    in_flight: Bytes,
    later: LaterArrivals,
    /// Requests below this went to another replica or path.
    path_pn: u64,
    /// Requests below this left before the last timeout.
    timeout_pn: u64,
    /// Where the DATA that arrives comes from, if the caller tells.
    data_source: Option<IpAddr>,
    /// Who serves: where the DATA of the latest request came from.
    serving: Option<IpAddr>,
    /// The latest request that it has answered.
    serving_pn: u64,
    /// Who served before the caller told of a change.
    served_before: Option<IpAddr>,
    declared_lost: DeclaredLost,
    last_cut: LastCut,
    tail: TailProbe,

    rtt: RttEstimator,
    rate: DeliveryRate,
    one_way: Option<OneWay>,
    one_way_zero: OneWay,
    /// What this node's clock is ahead of the time that the inputs give, ns.
    clock_error_ns: i64,
    pacer: Pacer,
    /// When new data last arrived.
    progress_at: Instant,
    /// Whether the window was the limit in this round and in the one before.
    window_limited: [bool; 2],
    next_timer: Instant,

    stats: Stats,
    output: Output,
    lost: Vec<LostUnit>,
    segments: Vec<Segment>,
}

impl Receiver {
    /// A receiver that will fetch `config.ndc` under `controller`.
    pub fn new(
        config: ReceiverConfig,
        controller: Box<dyn Controller>,
    ) -> Result<Receiver, String> {
        config.options.validate()?;
        Ok(Receiver {
            mss: config.options.mss(),
            later: LaterArrivals::new(usize::from(config.options.loss_threshold)),
            rtt: config.options.rtt_estimator(),
            config,
            controller,
            phase: Phase::Fresh,
            verified: false,
            size: None,
            next_offset: 0,
            received: ReceivedUnits::default(),
            to_repeat: VecDeque::new(),
            content: Vec::new(),
            delivered: Bytes::ZERO,
            outstanding: Outstanding::default(),
            in_flight: Bytes::ZERO,
            path_pn: 0,
            timeout_pn: 0,
            data_source: None,
            serving: None,
            serving_pn: 0,
            served_before: None,
            declared_lost: DeclaredLost::default(),
            last_cut: LastCut::default(),
            tail: TailProbe::default(),
            rate: DeliveryRate::new(Instant::ZERO),
            one_way: None,
            one_way_zero: OneWay::default(),
            clock_error_ns: 0,
            pacer: Pacer::default(),
            progress_at: Instant::ZERO,
            window_limited: [true; 2],
            next_timer: Instant::MAX,
            stats: Stats::default(),
            output: Output::default(),
            lost: Vec::new(),
            segments: Vec::new(),
        })
    }

    /// Starts the transfer. A second call changes nothing.
    pub fn open(&mut self, now: Instant) -> Step {
        self.output.clear();
        if self.phase == Phase::Fresh {
            self.phase = Phase::Open;
            self.progress_at = now;
            self.rate = DeliveryRate::new(now);
            self.request(now);
        }
        self.finish(now)
    }

    /// From now on, this node's clock is `error_ns` ahead of the time that the inputs give. Only
    /// one-way samples are taken with that clock.
    pub const fn set_clock_error(&mut self, error_ns: i64) {
        self.clock_error_ns = error_ns;
    }

    /// The packets given from now on come from `source`. Where routers bind requests, the source may
    /// change without a word: see [`Receiver::on_datagram`].
    pub const fn set_data_source(&mut self, source: Option<IpAddr>) {
        self.data_source = source;
    }

    /// A packet arrived. DATA from another source than before, that answers a later request than any
    /// that the source before has answered, means that another replica serves: as
    /// [`Receiver::on_path_change`]. DATA that the old one still has on the way answers earlier
    /// requests and changes nothing.
    pub fn on_datagram(&mut self, now: Instant, datagram: Datagram<'_>) -> Step {
        self.output.clear();
        match self.phase {
            Phase::Open => {
                if self.on_packet(now, datagram).is_none() {
                    self.stats.malformed += 1;
                }
                self.request(now);
            }
            Phase::Completed | Phase::Cancelled => self.stats.after_end += 1,
            Phase::Fresh => self.stats.malformed += 1,
        }
        self.finish(now)
    }

    /// The time that [`Step::next_timer`] asked for has come. Calling earlier does no harm.
    pub fn on_timeout(&mut self, now: Instant) -> Step {
        self.output.clear();
        if self.phase == Phase::Open {
            if self.rto_deadline().is_some_and(|deadline| deadline <= now) {
                self.on_rto(now);
            } else if self.tail_deadline().is_some_and(|deadline| deadline <= now) {
                self.probe_tail(now);
            }
            self.request(now);
        }
        self.finish(now)
    }

    /// Another replica or another path serves the rest. What arrived is kept; what is outstanding is
    /// asked for again under new numbers; the controller and everything that was learnt of the path
    /// start over.
    ///
    /// Answers that the old replica has on the way are content like any other and kept where they are
    /// new. They tell nothing about the new path: they are no sample, prove no loss, postpone no
    /// timeout and are not outstanding.
    pub fn on_path_change(&mut self, now: Instant, cause: RestartCause) -> Step {
        self.output.clear();
        if self.phase == Phase::Open {
            // Who serves now is seen when it does.
            self.served_before = self.serving.take().or(self.served_before);
            self.restart(now, cause);
            self.request(now);
        }
        self.finish(now)
    }

    /// Forgets the path, and asks again for all that is outstanding.
    fn restart(&mut self, now: Instant, cause: RestartCause) {
        let to_repeat = &mut self.to_repeat;
        self.outstanding
            .take_sent_until(Instant::MAX, |t| to_repeat.push_back(segment(&t)));
        self.in_flight = Bytes::ZERO;
        self.later.clear();
        self.declared_lost.clear();
        self.last_cut = LastCut::default();
        self.tail = TailProbe::default();
        self.rtt.restart();
        self.one_way = None;
        self.rate.restart(now);
        self.pacer = Pacer::default();
        self.progress_at = now;
        self.window_limited = [true; 2];
        self.path_pn = self.outstanding.next_pn();
        self.timeout_pn = self.path_pn;
        self.controller.on_restart(&Restart {
            now,
            cause,
            next_pn: self.path_pn,
        });
    }

    /// Gives the transfer up, at any time: nothing more is requested, no timer is set, what still
    /// arrives is counted and ignored ([`Stats::after_end`]), what is held is given back.
    pub fn cancel(&mut self, now: Instant) -> Step {
        self.output.clear();
        if matches!(self.phase, Phase::Fresh | Phase::Open) {
            self.phase = Phase::Cancelled;
            self.release();
        }
        self.finish(now)
    }

    /// The transfer has ended: gives back what is only needed while it runs.
    fn release(&mut self) {
        self.outstanding.release();
        self.in_flight = Bytes::ZERO;
        self.received.release();
        self.declared_lost.clear();
        self.to_repeat = VecDeque::new();
        self.content = Vec::new();
        self.lost = Vec::new();
        self.segments = Vec::new();
        self.output = Output::default();
    }

    /// The sum of all outstanding units, which `in_flight` must be.
    #[cfg(test)]
    pub(super) fn outstanding_bytes(&self) -> Bytes {
        Bytes::new(self.outstanding.bytes())
    }

    /// Whether nothing is held that an ended transfer does not need, for tests.
    #[cfg(test)]
    pub(super) fn is_released(&self) -> bool {
        self.outstanding.is_released()
            && self.received.is_released()
            && self.declared_lost.is_empty()
            && self.to_repeat.capacity() == 0
            && self.content.capacity() == 0
            && self.lost.capacity() == 0
            && self.segments.capacity() == 0
    }

    /// What to send after the last input.
    pub const fn output(&self) -> &Output {
        &self.output
    }

    /// What has been counted so far.
    pub const fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The controller's inner state.
    pub fn snapshot(&self) -> Snapshot {
        self.controller.snapshot()
    }

    /// The state after the last input.
    pub fn step(&self) -> Step {
        let allowance = self.controller.allowance();
        Step {
            next_timer: self.next_timer,
            delivered: self.delivered,
            in_order: self.in_order(),
            window: allowance.window,
            in_flight: self.in_flight,
            pacing: allowance.pacing,
            rtt: self.rtt.latest(),
            srtt: self.rtt.smoothed(),
            one_way: self.one_way,
            one_way_zero: self.one_way_zero,
            snapshot: self.controller.snapshot(),
            completed: self.phase == Phase::Completed,
            verified: self.verified,
        }
    }

    /// The NDC's size, once known; none for content without an end.
    pub fn ndc_size(&self) -> Option<Bytes> {
        self.size.filter(|&s| s != UNBOUNDED).map(Bytes::new)
    }

    /// The first packet number that the current replica or path was asked with.
    pub const fn path_pn(&self) -> u64 {
        self.path_pn
    }

    fn in_order(&self) -> Bytes {
        let units = self.received.first_missing().saturating_mul(self.mss.get());
        Bytes::new(units.min(self.size.unwrap_or(UNBOUNDED)))
    }

    fn rto_deadline(&self) -> Option<Instant> {
        let oldest = self.outstanding.oldest_sent_at()?;
        Some(oldest.max(self.progress_at) + self.rtt.rto())
    }

    /// The common end of every input.
    fn finish(&mut self, now: Instant) -> Step {
        self.next_timer = match self.phase {
            Phase::Open => {
                let never = Instant::MAX;
                let rto = self.rto_deadline().unwrap_or(never);
                let rto = rto.min(self.tail_deadline().unwrap_or(never));
                let paced = self.pacer.next();
                let wants_to_send = paced > now && self.may_send_when_paced();
                if wants_to_send { rto.min(paced) } else { rto }
            }
            _ => Instant::MAX,
        };
        self.step()
    }
}
