//! The name server: which nodes hold an NDC.

use super::message::{self, Body, ErrorCode, FIXED_LEN, Holder, Locator, Message, VERSION};
use crate::units::{Duration, Instant};
use crate::wire::Eid;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Options of a name server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerOptions {
    /// Longest lifetime that is granted; a longer one is cut.
    pub max_lifetime: Duration,
    /// Most replicas of one NDC. One more is refused.
    pub max_replicas: usize,
    /// Most NDCs. One more is refused.
    pub max_names: usize,
}

impl Default for ServerOptions {
    fn default() -> ServerOptions {
        ServerOptions {
            max_lifetime: Duration::from_secs(3600),
            max_replicas: 256,
            max_names: 1_000_000,
        }
    }
}

/// What a name server has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerStats {
    /// RESOLVEs, answered or not.
    pub queries: u64,
    /// Of these, those for a name that is not known.
    pub unknown: u64,
    /// REGISTERs that were taken, refreshes among them.
    pub registrations: u64,
    /// DEREGISTERs that removed something.
    pub removals: u64,
    /// Registrations that were refused.
    pub refused: u64,
    /// Datagrams that were no valid request.
    pub malformed: u64,
    /// SUBSCRIBEs that were taken.
    pub subscriptions: u64,
    /// ANNOUNCEs that were sent.
    pub announcements: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    address: IpAddr,
    holder: Holder,
    cost: u16,
    expires: Instant,
}

impl Entry {
    /// Whether it is a registration of `holder`.
    fn is_of(&self, holder: Holder) -> bool {
        holder.id != 0 && self.holder.id == holder.id
    }

    /// Whether it goes when `holder` registers `address`: it is the same address, or one that the
    /// holder has left.
    fn is_replaced_by(&self, address: &IpAddr, holder: Holder) -> bool {
        self.address == *address || self.is_of(holder)
    }
}

/// A name server: a table, and an answer to each message.
#[derive(Debug, Clone, Default)]
pub struct NameServer {
    options: ServerOptions,
    /// Per NDC in the order of first registration.
    table: BTreeMap<Eid, Vec<Entry>>,
    /// Who wants announcements, and until when.
    subscribers: BTreeMap<IpAddr, Instant>,
    /// NDCs that have been asked for since they were registered: they are not announced again.
    announced: BTreeSet<Eid>,
    /// What is to be sent to subscribers after the last datagram.
    announcements: Vec<(IpAddr, Vec<u8>)>,
    stats: ServerStats,
    reply: Vec<u8>,
}

impl NameServer {
    /// A server that knows nothing.
    pub fn new(options: ServerOptions) -> NameServer {
        NameServer {
            options,
            ..NameServer::default()
        }
    }

    /// What has been counted.
    pub const fn stats(&self) -> &ServerStats {
        &self.stats
    }

    /// Enters a registration that has been there all along and never expires, without a message: the
    /// content that a server was set up with.
    pub fn provision(&mut self, eid: Eid, address: IpAddr, cost: u16) {
        self.table.entry(eid).or_default().push(Entry {
            address,
            holder: Holder::default(),
            cost,
            expires: Instant::MAX,
        });
    }

    /// The nodes that hold `eid` at `now`, in the order of their first registration.
    pub fn locators(&self, now: Instant, eid: &Eid) -> Vec<Locator> {
        let entries = self.table.get(eid).map_or(&[][..], Vec::as_slice);
        entries
            .iter()
            .filter(|e| e.expires > now)
            .map(|e| Locator {
                address: e.address,
                cost: e.cost,
                lifetime_ms: millis(e.expires - now),
            })
            .collect()
    }

    /// The reply to the last datagram; empty if there is none.
    pub fn reply(&self) -> &[u8] {
        &self.reply
    }

    /// A datagram came from `from`. Returns the reply, which is empty if there is none: what is no
    /// request is not answered, so that two servers cannot keep each other busy.
    pub fn on_message(&mut self, now: Instant, from: IpAddr, bytes: &[u8]) -> &[u8] {
        self.reply.clear();
        self.announcements.clear();
        let body = match Message::parse(bytes) {
            Ok(Message { eid, body, .. }) => match body {
                Body::Register { holder, locators } => {
                    self.register(now, from, eid, holder, &locators)
                }
                Body::Deregister(addresses) => self.deregister(from, eid, &addresses),
                Body::Resolve => self.resolve(now, from, eid),
                Body::Subscribe(locator) => self.subscribe(now, from, locator),
                Body::Registered(_) | Body::Answer { .. } | Body::Error(_) | Body::Announce(_) => {
                    self.stats.malformed += 1;
                    return &self.reply;
                }
            },
            Err(error) => {
                self.stats.malformed += 1;
                // Only a request whose sender can tell what the reply belongs to.
                let readable = error != message::Error::Version
                    && bytes.len() >= FIXED_LEN
                    && bytes[0] == VERSION
                    && matches!(bytes[1], 1 | 3 | 4 | 7);
                if !readable {
                    return &self.reply;
                }
                Body::Error(ErrorCode::Malformed)
            }
        };
        // Where the fixed part was read: transaction and EID are repeated as they came.
        let mut transaction = [0; 4];
        transaction.copy_from_slice(&bytes[4..8]);
        let mut eid = Eid::default();
        eid.0.copy_from_slice(&bytes[8..28]);
        let reply = Message {
            transaction: u32::from_be_bytes(transaction),
            eid,
            body,
        };
        reply.emit(&mut self.reply);
        &self.reply
    }

    fn register(
        &mut self,
        now: Instant,
        from: IpAddr,
        eid: Eid,
        holder: Holder,
        locators: &[Locator],
    ) -> Body {
        // A node speaks for itself only: else anyone could send all receivers anywhere.
        let foreign = locators.iter().any(|l| l.address != from);
        let overtaken = self.is_overtaken(now, eid, holder);
        if foreign || overtaken || !self.has_room(now, eid, holder, locators) {
            self.stats.refused += 1;
            return Body::Error(ErrorCode::Refused);
        }
        self.stats.registrations += 1;
        let longest = millis(self.options.max_lifetime);
        let entries = self.table.entry(eid).or_default();
        let granted: Vec<Locator> = locators
            .iter()
            .map(|&l| Locator {
                lifetime_ms: l.lifetime_ms.min(longest),
                ..l
            })
            .collect();
        for l in &granted {
            let new = Entry {
                address: l.address,
                holder,
                cost: l.cost,
                expires: now + l.lifetime(),
            };
            // The first of those that it replaces gives it its place; an expired one has lost its.
            let place = entries
                .iter()
                .filter(|e| e.expires > now)
                .position(|e| e.is_replaced_by(&l.address, holder));
            entries.retain(|e| e.expires > now && !e.is_replaced_by(&l.address, holder));
            entries.insert(place.unwrap_or(entries.len()), new);
        }
        Body::Registered(granted)
    }

    /// Whether `holder` has registered `eid` from a later address.
    fn is_overtaken(&self, now: Instant, eid: Eid, holder: Holder) -> bool {
        let entries = self.table.get(&eid).map_or(&[][..], Vec::as_slice);
        let mut own = entries
            .iter()
            .filter(|e| e.expires > now && e.is_of(holder));
        own.any(|e| e.holder.moves > holder.moves)
    }

    /// Whether there is room for `locators` of `eid`, after what has expired was removed.
    fn has_room(&mut self, now: Instant, eid: Eid, holder: Holder, locators: &[Locator]) -> bool {
        if let Some(entries) = self.table.get_mut(&eid) {
            entries.retain(|e| e.expires > now);
            let new = locators
                .iter()
                .filter(|l| {
                    entries
                        .iter()
                        .all(|e| !e.is_replaced_by(&l.address, holder))
                })
                .count();
            return new == 0 || entries.len() + new <= self.options.max_replicas;
        }
        if self.table.len() >= self.options.max_names {
            self.expire(now);
        }
        self.table.len() < self.options.max_names && locators.len() <= self.options.max_replicas
    }

    fn deregister(&mut self, from: IpAddr, eid: Eid, addresses: &[IpAddr]) -> Body {
        if addresses.iter().any(|&a| a != from) {
            self.stats.refused += 1;
            return Body::Error(ErrorCode::Refused);
        }
        if let Some(entries) = self.table.get_mut(&eid) {
            let before = entries.len();
            entries.retain(|e| !addresses.contains(&e.address));
            self.stats.removals += u64::from(entries.len() < before);
            if entries.is_empty() {
                self.table.remove(&eid);
                self.announced.remove(&eid);
            }
        }
        // Also if it was not there: the request may be a repetition of one whose reply was lost.
        Body::Registered(
            addresses
                .iter()
                .map(|&address| Locator {
                    address,
                    cost: 0,
                    lifetime_ms: 0,
                })
                .collect(),
        )
    }

    /// What is to be sent to subscribers after the last datagram: their addresses and datagrams.
    pub fn announcements(&self) -> &[(IpAddr, Vec<u8>)] {
        &self.announcements
    }

    fn subscribe(&mut self, now: Instant, from: IpAddr, locator: Locator) -> Body {
        let new = !self.subscribers.contains_key(&from);
        self.subscribers.retain(|_, until| *until > now);
        if locator.address != from || new && self.subscribers.len() >= self.options.max_replicas {
            self.stats.refused += 1;
            return Body::Error(ErrorCode::Refused);
        }
        self.stats.subscriptions += 1;
        let granted = Locator {
            lifetime_ms: locator.lifetime_ms.min(millis(self.options.max_lifetime)),
            ..locator
        };
        self.subscribers.insert(from, now + granted.lifetime());
        Body::Registered(vec![granted])
    }

    /// `from` asks for `eid`, which is there: if it is the first, subscribers are told.
    fn announce(&mut self, now: Instant, from: IpAddr, eid: Eid, locators: &[Locator]) {
        if self.subscribers.is_empty() || !self.announced.insert(eid) {
            return;
        }
        let mut bytes = Vec::new();
        let message = Message {
            transaction: 0,
            eid,
            body: Body::Announce(locators.to_vec()),
        };
        message.emit(&mut bytes);
        let awake = self
            .subscribers
            .iter()
            .filter(|&(&to, until)| *until > now && to != from);
        self.announcements
            .extend(awake.map(|(&to, _)| (to, bytes.clone())));
        self.stats.announcements += self.announcements.len() as u64;
    }

    fn resolve(&mut self, now: Instant, from: IpAddr, eid: Eid) -> Body {
        self.stats.queries += 1;
        let locators = self.locators(now, &eid);
        if locators.is_empty() {
            self.stats.unknown += 1;
            self.table.remove(&eid);
            self.announced.remove(&eid);
            return Body::Error(ErrorCode::UnknownName);
        }
        self.announce(now, from, eid, &locators);
        // Emitting cuts what does not fit and says so.
        Body::Answer {
            locators,
            truncated: false,
        }
    }

    /// Forgets everything that has expired.
    pub fn expire(&mut self, now: Instant) {
        self.table.retain(|_, entries| {
            entries.retain(|e| e.expires > now);
            !entries.is_empty()
        });
    }
}

/// Whole milliseconds, rounded up: what is left is never told as nothing.
fn millis(d: Duration) -> u32 {
    u32::try_from(d.as_nanos().div_ceil(1_000_000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
