//! A receiver's way from a name to a completed NDC: resolve, choose a replica, watch the transfer,
//! leave a replica that fails, give up by name.
//!
//! A session decides *where* REQs go; the `transport::Receiver` beside it decides what they ask
//! for. The caller tells the session what the receiver saw ([`Progress`], empty DATA, timeouts) and
//! opens or redirects the receiver as [`Step::replica`] says: the first one opens it, each further
//! one is a [`crate::cc::RestartCause::ReplicaChanged`], which keeps what has arrived.

mod lists;
mod options;
mod probing;
mod slowness;

pub use options::{Failure, Resolution, SessionOptions};

use super::choice::Candidate;
use super::client::NameClient;
use super::message::Locator;
use crate::units::{Bytes, Duration, Instant};
use crate::wire::{Eid, Kind, Refusal, Repr, Sum, verify_checksum};
use slowness::Slowness;
use std::net::IpAddr;

/// What the receiver has achieved so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Bytes that arrived exactly once.
    pub delivered: Bytes,
}

/// A REQ for nothing, to be sent to a replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The replica.
    pub address: IpAddr,
    /// The REQ's ICN header, which is all of it.
    pub header: Vec<u8>,
}

/// What to do after an input, besides sending [`Session::take_datagrams`] and
/// [`Session::take_probes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// REQs go there from now on.
    pub replica: Option<IpAddr>,
    /// The table is to be looked up, and its list given to [`Session::on_list`].
    pub look_up: bool,
    /// The transfer has failed: the receiver is to be cancelled.
    pub failure: Option<Failure>,
    /// When [`Session::on_timeout`] is due; [`Instant::MAX`] for never.
    pub next_timer: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// Waits for a list.
    Resolving {
        transaction: u32,
    },
    /// Waits before it asks for another list.
    Pausing {
        until: Instant,
    },
    /// Waits for the answers to probes.
    Probing {
        since: Instant,
        tries: u32,
        due: Instant,
    },
    /// A replica serves.
    Fetching,
    Ended,
}

/// A session.
#[derive(Debug, Clone)]
pub struct Session {
    options: SessionOptions,
    device: Eid,
    ndc: Eid,
    client: NameClient,
    state: State,
    candidates: Vec<Candidate>,
    /// The one that REQs go to.
    current: Option<IpAddr>,
    /// Switches so far.
    switches: u64,
    started: Instant,
    resolve_time: Option<Duration>,

    failure: Option<Failure>,

    delivered: Bytes,
    /// When the receiver was last looked at.
    observed: Instant,
    /// No new byte has arrived since some time after this, at most one interval of looks after.
    idle_since: Instant,
    next_look: Instant,
    /// Expiries of the retransmission timer since the last new byte.
    timeouts: u32,
    /// Whether the current replica was left although REQs still go there.
    left: bool,
    /// Lists asked for since the last new byte.
    lists: u32,
    /// Replicas that failed since the last new byte.
    failures: u32,
    /// Whether the last list could not be had.
    unreachable: bool,
    slowness: Option<Slowness>,
    /// The first packet number of the latest probes.
    probe_base: u64,

    step: Step,
    probes: Vec<Probe>,
}

impl Session {
    /// How often it looks for progress.
    const LOOK: Duration = Duration::from_secs(1);

    /// How often everything is asked for again at once when a source behind an edge router says that
    /// it does not hold the NDC; after that there are pauses.
    const EDGE_RETRIES: u32 = 3;

    /// A session of `device` for `ndc`; `draw` in [0, 1), as in all functions below.
    pub fn new(options: SessionOptions, device: Eid, ndc: Eid, draw: f64) -> Session {
        Session {
            client: NameClient::new(options.client, draw),
            slowness: options.switch_below.map(Slowness::new),
            options,
            device,
            ndc,
            state: State::Idle,
            candidates: Vec::new(),
            current: None,
            switches: 0,
            started: Instant::ZERO,
            resolve_time: None,
            failure: None,
            delivered: Bytes::ZERO,
            observed: Instant::ZERO,
            idle_since: Instant::ZERO,
            next_look: Instant::MAX,
            timeouts: 0,
            left: false,
            lists: 0,
            failures: 0,
            unreachable: false,
            probe_base: Session::PROBE_PN,
            step: Step {
                replica: None,
                look_up: false,
                failure: None,
                next_timer: Instant::MAX,
            },
            probes: Vec::new(),
        }
    }

    /// Starts. A second call changes nothing.
    pub fn start(&mut self, now: Instant, draw: f64) -> Step {
        self.begin();
        if self.state == State::Idle {
            self.started = now;
            self.observed = now;
            self.idle_since = now;
            self.next_look = now + self.look_interval();
            self.ask(now, draw);
        }
        self.finish()
    }

    /// The table's list, which [`Step::look_up`] asked for.
    pub fn on_list(&mut self, now: Instant, list: &[Locator], draw: f64) -> Step {
        self.begin();
        if let State::Resolving { .. } = self.state {
            self.take_list(now, list, draw);
        }
        self.finish()
    }

    /// A datagram came from the name server.
    pub fn on_message(&mut self, now: Instant, bytes: &[u8], draw: f64) -> Step {
        self.begin();
        if self.is_active()
            && let Some(ended) = self.client.on_message(now, bytes)
        {
            self.on_resolved(now, ended, draw);
        }
        self.finish()
    }

    /// DATA without payload came. It answers a probe, or tells that a replica does not hold the NDC
    /// ([`crate::transport::Replica`] then leaves the size out). `current_pn` is the first packet
    /// number that the current replica was asked with.
    pub fn on_empty_data(
        &mut self,
        now: Instant,
        header: &[u8],
        current_pn: u64,
        draw: f64,
    ) -> Step {
        self.begin();
        if self.is_active() && verify_checksum(header, Sum::ZERO) {
            self.on_empty(now, header, current_pn, draw);
        }
        self.finish()
    }

    /// The receiver's retransmission timer expired.
    pub fn on_rto(&mut self, now: Instant, progress: Progress, draw: f64) -> Step {
        self.begin();
        self.observe(now, progress);
        if self.state == State::Fetching {
            self.timeouts += 1;
            if self.timeouts >= self.options.switch_after_timeouts {
                self.leave(now, draw);
            }
        }
        self.finish()
    }

    /// The time that [`Step::next_timer`] asked for has come.
    pub fn on_timeout(&mut self, now: Instant, progress: Progress, draw: f64) -> Step {
        self.begin();
        if self.is_active() {
            self.observe(now, progress);
            self.look(now, draw);
        }
        if self.is_active() {
            while let Some(ended) = self.client.on_timeout(now, draw) {
                self.on_resolved(now, ended, draw);
            }
        }
        match self.state {
            State::Pausing { until } if until <= now => self.ask(now, draw),
            State::Probing { due, .. } if due <= now => self.on_probe_timeout(now, draw),
            _ => {}
        }
        self.finish()
    }

    /// Leaves the current replica for the one at `address`, or for the next one if none is given,
    /// because the user wants it. Nothing happens before the first replica serves, or if it is the
    /// same.
    pub fn switch_to(&mut self, now: Instant, address: Option<IpAddr>, draw: f64) -> Step {
        self.begin();
        if self.current.is_some() && self.is_active() {
            let next = match address {
                Some(address) => Some(address),
                None => {
                    let except = self.position(self.current);
                    let next = self.options.choice.choose(&self.candidates, except, draw);
                    next.map(|i| self.candidates[i].locator.address)
                }
            };
            if let Some(next) = next.filter(|&n| Some(n) != self.current) {
                self.go_to(now, next);
            }
        }
        self.finish()
    }

    /// The node has moved, and `edge` is the router that REQs go to from now on, where
    /// [`Resolution::Edge`] says so. The caller tells the receiver that its path has changed.
    pub fn relocate(&mut self, edge: IpAddr) {
        if self.is_active() && self.current.is_some() {
            self.current = Some(edge);
            self.candidates = vec![Candidate {
                locator: Locator {
                    address: edge,
                    cost: 0,
                    lifetime_ms: 0,
                },
                failed: false,
                rtt: None,
            }];
            self.timeouts = 0;
        }
    }

    /// The receiver has ended, by itself or by its user.
    pub fn end(&mut self) -> Step {
        self.begin();
        self.state = State::Ended;
        self.finish()
    }

    /// Datagrams for the name server.
    pub fn take_datagrams(&mut self) -> impl Iterator<Item = Vec<u8>> {
        self.client.take_sent()
    }

    /// REQs for replicas.
    pub fn take_probes(&mut self) -> impl Iterator<Item = Probe> {
        self.probes.drain(..)
    }

    /// The replica that REQs go to.
    pub const fn replica(&self) -> Option<IpAddr> {
        self.current
    }

    /// How often the replica has been changed.
    pub const fn switches(&self) -> u64 {
        self.switches
    }

    /// How long the first list took.
    pub const fn resolve_time(&self) -> Option<Duration> {
        self.resolve_time
    }

    /// Why it failed, if it did.
    pub const fn failure(&self) -> Option<Failure> {
        self.failure
    }

    fn begin(&mut self) {
        self.step.replica = None;
        self.step.look_up = false;
        self.step.failure = None;
        self.probes.clear();
    }

    fn is_active(&self) -> bool {
        !matches!(self.state, State::Idle | State::Ended)
    }

    fn finish(&mut self) -> Step {
        self.step.next_timer = if self.is_active() {
            let own = match self.state {
                State::Pausing { until } => until,
                State::Probing { due, .. } => due,
                _ => Instant::MAX,
            };
            own.min(self.client.next_timer()).min(self.next_look)
        } else {
            Instant::MAX
        };
        self.step
    }

    fn look_interval(&self) -> Duration {
        match self.slowness {
            Some(_) => Slowness::INTERVAL,
            None => Session::LOOK.min(self.options.give_up),
        }
    }

    /// Takes note of new bytes.
    fn observe(&mut self, now: Instant, progress: Progress) {
        let before = std::mem::replace(&mut self.observed, now);
        if progress.delivered <= self.delivered {
            return;
        }
        self.delivered = progress.delivered;
        // The bytes may have come right after the last look: nobody shall wait too long.
        self.idle_since = before;
        self.timeouts = 0;
        self.lists = 0;
        self.failures = 0;
        self.unreachable = false;
        if self.left {
            // The replica that seemed dead delivers while another one is looked for.
            self.left = false;
            if let State::Resolving { transaction } = self.state {
                self.client.cancel(transaction);
            }
            self.state = State::Fetching;
            if let Some(i) = self.position(self.current) {
                self.candidates[i].failed = false;
            }
        }
    }

    /// The regular look at the transfer.
    fn look(&mut self, now: Instant, draw: f64) {
        if now < self.next_look {
            return;
        }
        let idle = now - self.idle_since;
        if idle >= self.options.give_up {
            return self.fail(self.last_reason());
        }
        let fetching = self.state == State::Fetching;
        let slow = match &mut self.slowness {
            Some(slowness) if fetching => slowness.on_sample(now, self.delivered),
            _ => false,
        };
        if slow {
            self.leave_slow(now, draw);
        }
        // Not later than the time of giving up.
        let give_up = self.idle_since + self.options.give_up;
        self.next_look = (now + self.look_interval()).min(give_up);
    }

    /// The current replica is slow: to another one, if there is one that has not been slow.
    fn leave_slow(&mut self, now: Instant, draw: f64) {
        let current = self.position(self.current);
        match self.options.choice.choose(&self.candidates, current, draw) {
            Some(next) => {
                if let Some(i) = current {
                    self.candidates[i].failed = true;
                }
                self.go_to(now, self.candidates[next].locator.address);
            }
            // All have been slow: what there is counts as the best.
            None => {
                if let Some(slowness) = &mut self.slowness {
                    slowness.forget_best();
                }
            }
        }
    }

    fn last_reason(&self) -> Failure {
        if self.unreachable || self.candidates.is_empty() {
            Failure::NameServerUnreachable
        } else if self.failures > 0 {
            Failure::NoReplica
        } else {
            Failure::Stalled
        }
    }

    fn fail(&mut self, failure: Failure) {
        self.state = State::Ended;
        self.failure = Some(failure);
        self.step.failure = Some(failure);
        self.step.look_up = false;
    }

    /// The current replica does not serve: to the next one.
    fn leave(&mut self, now: Instant, draw: f64) {
        self.failures += 1;
        if let Some(i) = self.position(self.current) {
            self.candidates[i].failed = true;
        }
        match self.options.choice.choose(&self.candidates, None, draw) {
            Some(i) => self.go_to(now, self.candidates[i].locator.address),
            None => {
                self.left = true;
                self.use_up(now, draw);
            }
        }
    }

    fn go_to(&mut self, now: Instant, address: IpAddr) {
        if self.position(Some(address)).is_none() {
            let locator = Locator {
                address,
                cost: 0,
                lifetime_ms: 0,
            };
            self.candidates.push(Candidate {
                locator,
                failed: false,
                rtt: None,
            });
        }
        if let State::Resolving { transaction } = self.state {
            self.client.cancel(transaction);
        }
        self.state = State::Fetching;
        self.timeouts = 0;
        self.left = false;
        // The same one again is another attempt, not another replica.
        self.switches += u64::from(self.current.is_some_and(|c| c != address));
        self.current = Some(address);
        self.step.replica = Some(address);
        self.step.look_up = false;
        if let Some(slowness) = &mut self.slowness {
            slowness.restart(now, self.delivered);
        }
    }

    fn position(&self, address: Option<IpAddr>) -> Option<usize> {
        let address = address?;
        self.candidates
            .iter()
            .position(|c| c.locator.address == address)
    }

    fn on_empty(&mut self, now: Instant, header: &[u8], current_pn: u64, draw: f64) {
        let Ok(repr) = Repr::parse(header) else {
            return;
        };
        let Kind::Data {
            ndc_size, refusal, ..
        } = repr.kind
        else {
            return;
        };
        if repr.length != 0 || repr.source != self.ndc || repr.destination != self.device {
            return;
        }
        let pn = repr.packet_number;
        if let Some(refusal) = refusal {
            self.fail(match refusal {
                Refusal::NameUnknown => Failure::NameUnknown,
                Refusal::NameServerUnreachable => Failure::NameServerUnreachable,
                Refusal::NoReplica => Failure::NoReplica,
            });
        } else if pn >= Session::PROBE_PN {
            self.on_probe_answer(now, pn, ndc_size.is_some(), draw);
        } else if ndc_size.is_none() && pn >= current_pn && self.state == State::Fetching {
            self.not_here(now, draw);
        }
    }

    /// The current replica says that it does not hold the NDC.
    fn not_here(&mut self, now: Instant, draw: f64) {
        let alone = self.candidates.len() == 1;
        if self.options.resolution == Resolution::Address && alone {
            return self.fail(Failure::NoReplica);
        }
        if let (Resolution::Edge, Some(edge)) = (self.options.resolution, self.current) {
            // The edge router has seen it, too, and knows another source or will say that there is
            // none. If it has not, asking on and on would be of no use.
            self.failures += 1;
            match self.failures.checked_sub(Session::EDGE_RETRIES) {
                None | Some(0) => self.go_to(now, edge),
                Some(more) => self.pause(now, more - 1),
            }
            return;
        }
        self.leave(now, draw);
    }
}

#[cfg(test)]
mod tests;
