//! Probing replicas: a REQ for nothing, which each replica answers with one empty DATA packet.

use super::super::client::ClientOptions;
use super::{Probe, Session, State};
use crate::units::Instant;
use crate::wire::{Kind, Repr, Segments, Sum};

impl Session {
    /// Packet numbers of probes start here, where no transfer comes to.
    pub(super) const PROBE_PN: u64 = 1 << 63;

    /// Sends a probe to each replica that has not failed.
    pub(super) fn probe(&mut self, now: Instant, tries: u32, draw: f64) {
        let since = now;
        self.probe_base += self.candidates.len() as u64;
        for (i, c) in (0..).zip(&self.candidates) {
            if c.failed {
                continue;
            }
            let repr = Repr {
                source: self.device,
                destination: self.ndc,
                packet_number: self.probe_base + i,
                offset: 0,
                length: 0,
                kind: Kind::Request {
                    probe: false,
                    timestamp: false,
                    mss: None,
                    lost: Segments::NONE,
                },
            };
            let mut header = Vec::new();
            repr.emit(Sum::ZERO, &mut header);
            self.probes.push(Probe {
                address: c.locator.address,
                header,
            });
        }
        let factor = (1u64 << tries.min(ClientOptions::MAX_TRIES)) as f64;
        let jitter = 1.0 + self.options.client.jitter * draw;
        self.state = State::Probing {
            since,
            tries: tries + 1,
            due: now + self.options.client.timeout.mul_f64(factor * jitter),
        };
    }

    pub(super) fn on_probe_timeout(&mut self, now: Instant, draw: f64) {
        let State::Probing { tries, .. } = self.state else {
            return;
        };
        if tries < self.options.client.tries {
            return self.probe(now, tries, draw);
        }
        self.failures += 1;
        self.candidates.iter_mut().for_each(|c| c.failed = true);
        self.use_up(now, draw);
    }

    /// A replica answered a probe: `holds` the NDC or not.
    pub(super) fn on_probe_answer(&mut self, now: Instant, pn: u64, holds: bool, draw: f64) {
        // Answers to earlier probes say nothing about how long the later ones took.
        let Some(c) = pn
            .checked_sub(self.probe_base)
            .and_then(|i| self.candidates.get_mut(usize::try_from(i).ok()?))
        else {
            return;
        };
        let State::Probing { since, .. } = self.state else {
            // The first answer has decided; the others may be of use later.
            return;
        };
        if holds {
            c.rtt = Some(now - since);
            let address = c.locator.address;
            if Some(address) == self.current && !self.left {
                self.state = State::Fetching;
            } else {
                self.go_to(now, address);
            }
            return;
        }
        c.failed = true;
        if self.candidates.iter().all(|c| c.failed) {
            self.failures += 1;
            self.use_up(now, draw);
        }
    }
}
