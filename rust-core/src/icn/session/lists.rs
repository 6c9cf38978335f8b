//! Lists of replicas: asking for one, taking it in, using it up.

use super::super::choice::{Candidate, ReplicaChoice};
use super::super::client::{Ended, Outcome};
use super::super::message::{ErrorCode, Locator};
use super::{Failure, Resolution, Session, State};
use crate::units::Instant;
use std::net::IpAddr;

impl Session {
    /// Longest pause between two lists is the first timeout times two to this.
    const MAX_PAUSE_DOUBLINGS: u32 = 4;

    /// Asks for a list.
    pub(super) fn ask(&mut self, now: Instant, draw: f64) {
        self.lists += 1;
        let known = !self.candidates.is_empty();
        let transaction = match self.options.resolution {
            Resolution::Server => self.client.resolve(now, self.ndc, known, draw),
            Resolution::Table | Resolution::Address | Resolution::Edge => {
                self.step.look_up = true;
                0
            }
        };
        self.state = State::Resolving { transaction };
    }

    pub(super) fn on_resolved(&mut self, now: Instant, ended: Ended, draw: f64) {
        if !matches!(self.state, State::Resolving { transaction } if transaction == ended.transaction)
        {
            return;
        }
        match ended.outcome {
            Outcome::Answer { locators, .. } => self.take_list(now, &locators, draw),
            Outcome::Error(ErrorCode::Malformed | ErrorCode::Refused) | Outcome::Unreachable => {
                self.unreachable = true;
                if self.candidates.is_empty() {
                    self.fail(Failure::NameServerUnreachable);
                } else {
                    // Perhaps one of the old list lives, after all.
                    self.candidates.iter_mut().for_each(|c| c.failed = false);
                    self.choose(now, draw);
                }
            }
            _ => self.take_list(now, &[], draw),
        }
    }

    pub(super) fn take_list(&mut self, now: Instant, list: &[Locator], draw: f64) {
        self.unreachable = false;
        if self.resolve_time.is_none() {
            self.resolve_time = Some(now - self.started);
        }
        let first = self.candidates.is_empty();
        self.candidates.clear();
        for &locator in list {
            let usable = match locator.address {
                IpAddr::V4(_) => self.options.ipv4,
                IpAddr::V6(_) => self.options.ipv6,
            };
            if usable && self.position(Some(locator.address)).is_none() {
                self.candidates.push(Candidate {
                    locator,
                    failed: false,
                    rtt: None,
                });
            }
        }
        if self.candidates.is_empty() {
            let unknown = first && list.is_empty();
            self.fail(if unknown {
                Failure::NameUnknown
            } else {
                Failure::NoReplica
            });
        } else {
            self.choose(now, draw);
        }
    }

    /// Goes to a replica of the list, after probes if the choice needs them.
    pub(super) fn choose(&mut self, now: Instant, draw: f64) {
        let left = self.candidates.iter().filter(|c| !c.failed);
        let unknown = left.clone().all(|c| c.rtt.is_none()) && left.count() > 1;
        if self.options.choice == ReplicaChoice::LowestRtt && unknown {
            self.probe(now, 0, draw);
            return;
        }
        match self.options.choice.choose(&self.candidates, None, draw) {
            Some(i) => self.go_to(now, self.candidates[i].locator.address),
            None => self.use_up(now, draw),
        }
    }

    /// No replica of the list is left.
    pub(super) fn use_up(&mut self, now: Instant, draw: f64) {
        let alone = self.candidates.len() == 1 && self.current.is_some();
        let fixed = matches!(
            self.options.resolution,
            Resolution::Address | Resolution::Edge
        );
        if fixed && alone {
            // There is no other, and never will be. The receiver goes on trying.
            self.candidates[0].failed = false;
            self.timeouts = 0;
            self.failures = 0;
            self.left = false;
            self.state = State::Fetching;
        } else if self.lists < 2 {
            self.ask(now, draw);
        } else {
            self.pause(now, self.lists - 2);
        }
    }

    /// Waits before it asks for another list, the longer the more often.
    pub(super) fn pause(&mut self, now: Instant, doublings: u32) {
        let doublings = doublings.min(Session::MAX_PAUSE_DOUBLINGS);
        let timeout = self.options.client.timeout;
        let pause = timeout.mul_f64((1u64 << doublings) as f64);
        self.state = State::Pausing { until: now + pause };
    }
}
