//! Keeps a replica's NDCs registered with a name server.

use super::client::{ClientOptions, NameClient, Outcome};
use super::message::{Holder, Locator};
use crate::units::{Duration, Instant};
use crate::wire::Eid;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Where an NDC's registration stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A REGISTER or DEREGISTER is on its way.
    Asking(u32),
    /// To be registered (again) then.
    Next(Instant),
}

/// A replica's registrations. After each call, everything in [`Registrar::take_sent`] is to be sent
/// and [`Registrar::next_timer`] to be set.
#[derive(Debug, Clone)]
pub struct Registrar {
    client: NameClient,
    address: IpAddr,
    holder: Holder,
    cost: u16,
    lifetime: Duration,
    names: BTreeMap<Eid, State>,
    registered: u64,
    failures: u64,
}

impl Registrar {
    /// After a refusal, or when the server did not answer, the next attempt is this much later.
    const RETRY: Duration = Duration::from_secs(5);

    /// Registers the node at `address` with `cost`, each time for `lifetime`. `draw` in [0, 1) gives
    /// the node its number, see [`Holder`]; it is for the jitter below.
    pub fn new(
        options: ClientOptions,
        address: IpAddr,
        cost: u16,
        lifetime: Duration,
        draw: f64,
    ) -> Registrar {
        Registrar {
            client: NameClient::new(options, draw),
            address,
            holder: Holder {
                id: holder_id(draw),
                moves: 0,
            },
            cost,
            lifetime,
            names: BTreeMap::new(),
            registered: 0,
            failures: 0,
        }
    }

    /// The node has another address. What it keeps registered is registered from there at once,
    /// which takes the old address from the server.
    pub fn relocate(&mut self, now: Instant, address: IpAddr, draw: f64) {
        if address == self.address {
            return;
        }
        self.address = address;
        self.holder.moves = self.holder.moves.saturating_add(1);
        for eid in self.names.keys().copied().collect::<Vec<_>>() {
            self.add(now, eid, draw);
        }
    }

    /// Registers `eid` and keeps it registered.
    pub fn add(&mut self, now: Instant, eid: Eid, draw: f64) {
        self.remove_pending(&eid);
        self.register(now, eid, draw);
    }

    /// Removes `eid` from the server.
    pub fn remove(&mut self, now: Instant, eid: Eid, draw: f64) {
        if self.names.contains_key(&eid) {
            self.remove_pending(&eid);
            self.client.deregister(now, eid, self.address, draw);
        }
    }

    /// Forgets `eid` without a word to the server, whose entry will expire.
    pub fn forget(&mut self, eid: &Eid) {
        self.remove_pending(eid);
    }

    /// The NDCs that are kept registered.
    pub fn names(&self) -> impl Iterator<Item = &Eid> {
        self.names.keys()
    }

    /// Forgets everything without a word to the server, whose entries will expire.
    pub fn stop(&mut self) {
        for eid in self.names.keys().copied().collect::<Vec<_>>() {
            self.remove_pending(&eid);
        }
    }

    /// A datagram came from the server.
    pub fn on_message(&mut self, now: Instant, bytes: &[u8]) {
        if let Some(ended) = self.client.on_message(now, bytes) {
            self.on_ended(now, ended.transaction, &ended.eid, &ended.outcome);
        }
    }

    /// The time that [`Registrar::next_timer`] told has come.
    pub fn on_timeout(&mut self, now: Instant, draw: f64) {
        while let Some(ended) = self.client.on_timeout(now, draw) {
            self.on_ended(now, ended.transaction, &ended.eid, &ended.outcome);
        }
        let due = self.names.iter().filter_map(|(&eid, state)| match state {
            State::Next(at) if *at <= now => Some(eid),
            _ => None,
        });
        for eid in due.collect::<Vec<_>>() {
            self.register(now, eid, draw);
        }
    }

    /// When [`Registrar::on_timeout`] is due; [`Instant::MAX`] for never.
    pub fn next_timer(&self) -> Instant {
        let refresh = self.names.values().filter_map(|state| match state {
            State::Next(at) => Some(*at),
            State::Asking(_) => None,
        });
        refresh
            .min()
            .unwrap_or(Instant::MAX)
            .min(self.client.next_timer())
    }

    /// The datagrams to send to the server.
    pub fn take_sent(&mut self) -> impl Iterator<Item = Vec<u8>> {
        self.client.take_sent()
    }

    /// How often the server confirmed a registration.
    pub const fn registered(&self) -> u64 {
        self.registered
    }

    /// How often a registration was refused or not answered.
    pub const fn failures(&self) -> u64 {
        self.failures
    }

    fn register(&mut self, now: Instant, eid: Eid, draw: f64) {
        let locator = Locator {
            address: self.address,
            cost: self.cost,
            lifetime_ms: u32::try_from(self.lifetime.as_nanos() / 1_000_000).unwrap_or(u32::MAX),
        };
        let transaction = self.client.register(now, eid, self.holder, locator, draw);
        self.names.insert(eid, State::Asking(transaction));
    }

    fn remove_pending(&mut self, eid: &Eid) {
        if let Some(State::Asking(transaction)) = self.names.remove(eid) {
            self.client.cancel(transaction);
        }
    }

    fn on_ended(&mut self, now: Instant, transaction: u32, eid: &Eid, outcome: &Outcome) {
        // A DEREGISTER's name is no longer here.
        let Some(state) = self.names.get_mut(eid) else {
            return;
        };
        if *state != State::Asking(transaction) {
            return;
        }
        let granted = match outcome {
            Outcome::Registered(locators) => locators.iter().find(|l| l.address == self.address),
            _ => None,
        };
        *state = match granted {
            Some(l) => {
                self.registered += 1;
                // Half of it is left for repetitions.
                State::Next(now + (l.lifetime() / 2).max(Duration::from_millis(1)))
            }
            None => {
                self.failures += 1;
                State::Next(now + Registrar::RETRY)
            }
        };
    }
}

/// A holder's number from a draw in [0, 1): the draw's bits, mixed by the finalizer of SplitMix64 so
/// that it does not begin with those of the client's transactions. Never zero, which is nobody's.
fn holder_id(draw: f64) -> u64 {
    let mut z = draw.to_bits().wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)).max(1)
}

#[cfg(test)]
mod tests;
