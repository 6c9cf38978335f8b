//! A client of a name server: requests that are repeated until they are answered.

use super::message::{Body, ErrorCode, Holder, Locator, Message};
use crate::units::{Duration, Instant};
use crate::wire::Eid;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Options of a name server's client.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClientOptions {
    /// Time until a request is repeated for the first time; doubles with each repetition.
    pub timeout: Duration,
    /// How often a request is sent until it has failed, 1 to [`ClientOptions::MAX_TRIES`].
    pub tries: u32,
    /// How often a new name is asked for until "unknown name" is believed, 1 to `tries`: the
    /// registration may still be on its way, or lost and soon repeated.
    pub unknown_tries: u32,
    /// Each timeout is longer by a random part of itself up to this, so that clients that began
    /// together do not go on together.
    pub jitter: f64,
}

impl ClientOptions {
    /// Most tries: with doubling, more would outlast any simulation.
    pub const MAX_TRIES: u32 = 16;
}

impl Default for ClientOptions {
    fn default() -> ClientOptions {
        ClientOptions {
            // RFC 8085, section 3.1.1: 1 s where nothing is known about the path. Five tries take
            // 31 s, half the minute after which a transfer has failed.
            timeout: Duration::from_secs(1),
            tries: 5,
            // 0, 1, 3 and 7 s: a registration that was lost three times has come by then.
            unknown_tries: 4,
            jitter: 0.1,
        }
    }
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The NDC is registered there, or (lifetime zero) no longer.
    Registered(Vec<Locator>),
    /// The NDC is there.
    Answer {
        /// Where.
        locators: Vec<Locator>,
        /// Whether there are more.
        truncated: bool,
    },
    /// The server said no.
    Error(ErrorCode),
    /// No reply to any try.
    Unreachable,
}

/// A request that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// What [`NameClient::resolve`] and the others returned.
    pub transaction: u32,
    /// What it was about.
    pub eid: Eid,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took.
    pub took: Duration,
}

#[derive(Debug, Clone)]
struct Pending {
    eid: Eid,
    bytes: Vec<u8>,
    is_resolve: bool,
    /// How many tries must be answered by "unknown name" until it is believed.
    unknown_tries: u32,
    /// Whether the server has said so to one of them.
    unknown: bool,
    tries: u32,
    began: Instant,
    due: Instant,
}

/// A client's requests. After each call, everything in [`NameClient::take_sent`] is to be sent and
/// [`NameClient::next_timer`] to be set.
#[derive(Debug, Clone)]
pub struct NameClient {
    options: ClientOptions,
    next: u32,
    pending: BTreeMap<u32, Pending>,
    to_send: Vec<Vec<u8>>,
    ignored: u64,
}

impl NameClient {
    /// A client; `draw` in [0, 1) makes its transaction numbers differ from others'.
    pub fn new(options: ClientOptions, draw: f64) -> NameClient {
        NameClient {
            options,
            next: (draw.clamp(0.0, 1.0) * f64::from(u32::MAX)) as u32,
            pending: BTreeMap::new(),
            to_send: Vec::new(),
            ignored: 0,
        }
    }

    /// Asks where `eid` is. That the name is unknown is believed at once if it was `known` before,
    /// else when all of [`ClientOptions::unknown_tries`] were answered so. `draw` in [0, 1) is for
    /// the jitter, here and below.
    pub fn resolve(&mut self, now: Instant, eid: Eid, known: bool, draw: f64) -> u32 {
        let transaction = self.begin(now, eid, Body::Resolve, draw);
        if let Some(pending) = self.pending.get_mut(&transaction)
            && !known
        {
            pending.unknown_tries = self.options.unknown_tries.min(self.options.tries);
        }
        transaction
    }

    /// Tells that `eid` is at `locator`, where `holder` has it.
    pub fn register(
        &mut self,
        now: Instant,
        eid: Eid,
        holder: Holder,
        locator: Locator,
        draw: f64,
    ) -> u32 {
        let locators = vec![locator];
        self.begin(now, eid, Body::Register { holder, locators }, draw)
    }

    /// Tells that `eid` is no longer at `address`.
    pub fn deregister(&mut self, now: Instant, eid: Eid, address: IpAddr, draw: f64) -> u32 {
        self.begin(now, eid, Body::Deregister(vec![address]), draw)
    }

    /// Asks to be told of NDCs that are asked for, as [`Body::Subscribe`].
    pub fn subscribe(&mut self, now: Instant, locator: Locator, draw: f64) -> u32 {
        self.begin(now, Eid::default(), Body::Subscribe(locator), draw)
    }

    /// Gives up a request: its reply will be ignored.
    pub fn cancel(&mut self, transaction: u32) {
        self.pending.remove(&transaction);
    }

    /// A datagram came from the server. None if it belongs to no request that is waiting: a
    /// duplicate, a late reply, or nothing valid.
    pub fn on_message(&mut self, now: Instant, bytes: &[u8]) -> Option<Ended> {
        let ended = Message::parse(bytes).ok().and_then(|m| self.ended(now, m));
        self.ignored += u64::from(ended.is_none());
        ended
    }

    fn ended(&mut self, now: Instant, message: Message) -> Option<Ended> {
        let pending = self.pending.get_mut(&message.transaction)?;
        if pending.eid != message.eid {
            return None;
        }
        let outcome = match message.body {
            Body::Answer {
                locators,
                truncated,
            } if pending.is_resolve => Outcome::Answer {
                locators,
                truncated,
            },
            Body::Registered(locators) if !pending.is_resolve => Outcome::Registered(locators),
            Body::Error(ErrorCode::UnknownName) if pending.tries < pending.unknown_tries => {
                // The next try is on its timer.
                pending.unknown = true;
                return None;
            }
            Body::Error(code) => Outcome::Error(code),
            _ => return None,
        };
        let pending = self.pending.remove(&message.transaction)?;
        Some(Ended {
            transaction: message.transaction,
            eid: pending.eid,
            outcome,
            took: now - pending.began,
        })
    }

    /// The time that [`NameClient::next_timer`] told has come: repeats what is due, and returns one
    /// request that has failed. To be called until it returns none.
    pub fn on_timeout(&mut self, now: Instant, draw: f64) -> Option<Ended> {
        for (&transaction, p) in &mut self.pending {
            if p.due > now {
                continue;
            }
            if p.tries >= self.options.tries {
                let ended = Ended {
                    transaction,
                    eid: p.eid,
                    outcome: if p.unknown {
                        Outcome::Error(ErrorCode::UnknownName)
                    } else {
                        Outcome::Unreachable
                    },
                    took: now - p.began,
                };
                self.pending.remove(&transaction);
                return Some(ended);
            }
            p.due = now + timeout(&self.options, p.tries, draw);
            p.tries += 1;
            self.to_send.push(p.bytes.clone());
        }
        None
    }

    /// When [`NameClient::on_timeout`] is due; [`Instant::MAX`] for never.
    pub fn next_timer(&self) -> Instant {
        self.pending
            .values()
            .map(|p| p.due)
            .min()
            .unwrap_or(Instant::MAX)
    }

    /// The datagrams to send to the server.
    pub fn take_sent(&mut self) -> impl Iterator<Item = Vec<u8>> {
        self.to_send.drain(..)
    }

    /// Datagrams that belonged to no request.
    pub const fn ignored(&self) -> u64 {
        self.ignored
    }

    fn begin(&mut self, now: Instant, eid: Eid, body: Body, draw: f64) -> u32 {
        let transaction = self.next;
        self.next = self.next.wrapping_add(1);
        let is_resolve = body == Body::Resolve;
        let mut bytes = Vec::new();
        let message = Message {
            transaction,
            eid,
            body,
        };
        message.emit(&mut bytes);
        self.to_send.push(bytes.clone());
        let pending = Pending {
            eid,
            bytes,
            is_resolve,
            unknown_tries: 1,
            unknown: false,
            tries: 1,
            began: now,
            due: now + timeout(&self.options, 0, draw),
        };
        self.pending.insert(transaction, pending);
        transaction
    }
}

/// How long to wait after `doublings` earlier tries.
fn timeout(options: &ClientOptions, doublings: u32, draw: f64) -> Duration {
    let factor = (1u64 << doublings.min(ClientOptions::MAX_TRIES)) as f64;
    options
        .timeout
        .mul_f64(factor * (1.0 + options.jitter * draw))
}

#[cfg(test)]
mod tests;
