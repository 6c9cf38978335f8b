//! Messages between a name server and its clients, one per UDP datagram. All numbers are
//! big-endian; integrity is left to UDP's checksum.
//!
//! ```text
//!  0  version (u8): 1
//!  1  message type (u8): 1 REGISTER, 2 REGISTERED, 3 DEREGISTER, 4 RESOLVE, 5 ANSWER, 6 ERROR,
//!     7 SUBSCRIBE, 8 ANNOUNCE
//!  2  flags (u8): 1 truncated, in ANSWER only
//!  3  error code (u8): 1 unknown name, 2 malformed, 3 refused; in ERROR only, else 0
//!  4  transaction (u32), chosen by the client and repeated in the reply
//!  8  EID (20 B)
//! 28  number of locators (u8)
//! 29  in REGISTER only: holder (u64) and its moves (u32), see [`Holder`]
//! 29  locators (41 in REGISTER): family (u8: 4 or 6), address (4 or 16 B), cost (u16),
//!     lifetime (u32, ms)
//! ```
//!
//! | message | direction | locators |
//! |---|---|---|
//! | REGISTER | replica to server | one or more: where the NDC is, for how long the entry shall last |
//! | DEREGISTER | replica to server | one or more, cost and lifetime zero: where it is no longer |
//! | REGISTERED | server to replica | the same, with the lifetimes that the server grants; zero for what it has removed |
//! | RESOLVE | receiver to server | none |
//! | ANSWER | server to receiver | one or more with what is left of their lifetimes; *truncated* if there are others that did not fit |
//! | ERROR | server to all | none |
//! | SUBSCRIBE | off-path cache to server | one, cost zero: who wants announcements and for how long; the EID is zero. Answered by REGISTERED |
//! | ANNOUNCE | server to off-path cache | one or more: where an NDC is that was asked for the first time; transaction zero, not answered |
//!
//! There is one encoding of each message: unknown types, flags and codes, and bytes behind the last
//! locator, are malformed. No message is longer than [`MAX_LEN`].

use crate::units::Duration;
use crate::wire::Eid;
use std::net::IpAddr;

/// The only version of the format.
pub const VERSION: u8 = 1;
/// UDP port of a name server, of the range for private use (RFC 6335, section 6).
pub const PORT: u16 = 50_153;
/// Length without locators, bytes.
pub const FIXED_LEN: usize = 29;
/// Longest message: what IPv6 carries everywhere without fragments (RFC 8200: 1280 B) less the
/// headers of IPv6 and UDP, bytes.
pub const MAX_LEN: usize = 1280 - 40 - 8;

const FLAG_TRUNCATED: u8 = 1;
/// Holder and moves of a REGISTER.
const HOLDER_LEN: usize = 8 + 4;
/// Family, cost and lifetime of a locator.
const LOCATOR_FIXED_LEN: usize = 1 + 2 + 4;

/// Why bytes are no valid message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Fewer bytes than the message says or needs.
    #[error("truncated message")]
    Truncated,
    /// More bytes than the message says, or than any message may have.
    #[error("message too long")]
    TooLong,
    /// Another version.
    #[error("unknown version")]
    Version,
    /// None of the eight types.
    #[error("unknown message type")]
    MessageType,
    /// A flag that the message does not have.
    #[error("unknown flag")]
    Flag,
    /// An error code that does not exist, or one in a message that is no ERROR.
    #[error("bad error code")]
    ErrorCode,
    /// An address that is neither IPv4 nor IPv6.
    #[error("unknown address family")]
    Family,
    /// Locators in a message that has none, or none in one that needs some.
    #[error("bad number of locators")]
    LocatorCount,
    /// A DEREGISTER with a cost or a lifetime, or a SUBSCRIBE with a cost.
    #[error("bad locator")]
    Locator,
    /// A SUBSCRIBE for one NDC, or an ANNOUNCE in reply to something.
    #[error("bad EID or transaction")]
    Subject,
}

/// Why a server does not do what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// No replica of the name is registered.
    UnknownName,
    /// The request is no valid message.
    Malformed,
    /// The server does not take the registration.
    Refused,
}

impl ErrorCode {
    const ALL: [ErrorCode; 3] = [
        ErrorCode::UnknownName,
        ErrorCode::Malformed,
        ErrorCode::Refused,
    ];

    const fn code(self) -> u8 {
        match self {
            ErrorCode::UnknownName => 1,
            ErrorCode::Malformed => 2,
            ErrorCode::Refused => 3,
        }
    }
}

/// Where an NDC is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Locator {
    /// A node that holds it.
    pub address: IpAddr,
    /// What it costs to fetch it there, as the replica registered it: less is better.
    pub cost: u16,
    /// For how long this holds, ms.
    pub lifetime_ms: u32,
}

impl Locator {
    /// Its lifetime.
    pub const fn lifetime(&self) -> Duration {
        Duration::from_millis(self.lifetime_ms as u64)
    }

    /// Its length in a message, bytes.
    pub const fn len(&self) -> usize {
        LOCATOR_FIXED_LEN + if self.address.is_ipv4() { 4 } else { 16 }
    }

    /// Never: it has a fixed part.
    pub const fn is_empty(&self) -> bool {
        false
    }
}

/// Who registers: what ties the registrations of a node together when it changes its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Holder {
    /// A number that the node keeps for itself and its name server; no answer tells it. Who knows it
    /// has made the earlier registrations, and may replace them. Zero for nobody.
    pub id: u64,
    /// How often the node has changed its address: a REGISTER that was overtaken by that of a later
    /// address does not bring the earlier one back.
    pub moves: u32,
}

/// What is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// The NDC is there.
    Register {
        /// Whose registration it is.
        holder: Holder,
        /// Where the NDC is.
        locators: Vec<Locator>,
    },
    /// That has been noted.
    Registered(Vec<Locator>),
    /// The NDC is no longer there.
    Deregister(Vec<IpAddr>),
    /// Where is the NDC?
    Resolve,
    /// There.
    Answer {
        /// In the order of their first registration.
        locators: Vec<Locator>,
        /// Whether there are more than fit.
        truncated: bool,
    },
    /// It cannot be done.
    Error(ErrorCode),
    /// Tell this node of NDCs that are asked for; the locator's cost is zero.
    Subscribe(Locator),
    /// The NDC was asked for the first time, and is there.
    Announce(Vec<Locator>),
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Tells replies apart; chosen by the client.
    pub transaction: u32,
    /// What the message is about.
    pub eid: Eid,
    /// The rest.
    pub body: Body,
}

impl Message {
    const fn message_type(&self) -> u8 {
        match self.body {
            Body::Register { .. } => 1,
            Body::Registered(_) => 2,
            Body::Deregister(_) => 3,
            Body::Resolve => 4,
            Body::Answer { .. } => 5,
            Body::Error(_) => 6,
            Body::Subscribe(_) => 7,
            Body::Announce(_) => 8,
        }
    }

    /// Reads the message that `bytes` are.
    pub fn parse(bytes: &[u8]) -> Result<Message, Error> {
        if bytes.len() > MAX_LEN {
            return Err(Error::TooLong);
        }
        let (&[version, kind, flags, code], rest) =
            bytes.split_first_chunk().ok_or(Error::Truncated)?;
        let (&transaction, rest) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        let (&eid, rest) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        let (&count, rest) = rest.split_first().ok_or(Error::Truncated)?;
        if version != VERSION {
            return Err(Error::Version);
        }
        if !(1..=8).contains(&kind) {
            return Err(Error::MessageType);
        }
        let truncated = flags == FLAG_TRUNCATED && kind == 5;
        if flags != 0 && !truncated {
            return Err(Error::Flag);
        }
        let error = ErrorCode::ALL.into_iter().find(|e| e.code() == code);
        if error.is_some() != (kind == 6) || error.is_none() && code != 0 {
            return Err(Error::ErrorCode);
        }
        let has_locators = !matches!(kind, 4 | 6);
        if (count > 0) != has_locators {
            return Err(Error::LocatorCount);
        }
        if kind == 7 && count != 1 {
            return Err(Error::LocatorCount);
        }
        let (holder, rest) = match kind {
            1 => holder(rest)?,
            _ => (Holder::default(), rest),
        };
        let locators = locators(rest, count.into())?;
        let general = kind == 7 && eid != [0; Eid::LEN];
        let reply = kind == 8 && transaction != [0; 4];
        if general || reply {
            return Err(Error::Subject);
        }
        let body = match kind {
            1 => Body::Register { holder, locators },
            2 => Body::Registered(locators),
            3 => Body::Deregister(
                locators
                    .iter()
                    .map(|l| match (l.cost, l.lifetime_ms) {
                        (0, 0) => Ok(l.address),
                        _ => Err(Error::Locator),
                    })
                    .collect::<Result<_, _>>()?,
            ),
            4 => Body::Resolve,
            5 => Body::Answer {
                locators,
                truncated,
            },
            6 => Body::Error(error.ok_or(Error::ErrorCode)?),
            7 => match locators[..] {
                [l] if l.cost == 0 => Body::Subscribe(l),
                _ => return Err(Error::Locator),
            },
            _ => Body::Announce(locators),
        };
        Ok(Message {
            transaction: u32::from_be_bytes(transaction),
            eid: Eid(eid),
            body,
        })
    }

    /// Appends the message to `out`. Locators that do not fit into [`MAX_LEN`] are left out; an
    /// ANSWER is then marked as truncated.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut gone = Vec::new();
        let (given, flagged): (&[Locator], bool) = match &self.body {
            Body::Register { locators, .. } => (locators, false),
            Body::Registered(l) | Body::Announce(l) => (l, false),
            Body::Subscribe(l) => (std::slice::from_ref(l), false),
            Body::Answer {
                locators,
                truncated,
            } => (locators, *truncated),
            Body::Deregister(addresses) => {
                gone.extend(addresses.iter().map(|&address| Locator {
                    address,
                    cost: 0,
                    lifetime_ms: 0,
                }));
                (&gone, false)
            }
            Body::Resolve | Body::Error(_) => (&[], false),
        };
        let holder = match self.body {
            Body::Register { holder, .. } => Some(holder),
            _ => None,
        };
        let mut len = FIXED_LEN + holder.map_or(0, |_| HOLDER_LEN);
        let fitting = given
            .iter()
            .take_while(|l| {
                len += l.len();
                len <= MAX_LEN
            })
            .count();
        let is_answer = matches!(self.body, Body::Answer { .. });
        let truncated = flagged || is_answer && fitting < given.len();
        out.extend_from_slice(&[
            VERSION,
            self.message_type(),
            if truncated { FLAG_TRUNCATED } else { 0 },
            match self.body {
                Body::Error(e) => e.code(),
                _ => 0,
            },
        ]);
        out.extend_from_slice(&self.transaction.to_be_bytes());
        out.extend_from_slice(&self.eid.0);
        out.push(fitting as u8);
        if let Some(holder) = holder {
            out.extend_from_slice(&holder.id.to_be_bytes());
            out.extend_from_slice(&holder.moves.to_be_bytes());
        }
        for l in &given[..fitting] {
            match l.address {
                IpAddr::V4(a) => {
                    out.push(4);
                    out.extend_from_slice(&a.octets());
                }
                IpAddr::V6(a) => {
                    out.push(6);
                    out.extend_from_slice(&a.octets());
                }
            }
            out.extend_from_slice(&l.cost.to_be_bytes());
            out.extend_from_slice(&l.lifetime_ms.to_be_bytes());
        }
    }
}

/// Reads the holder that `bytes` begin with; the rest is what follows.
fn holder(bytes: &[u8]) -> Result<(Holder, &[u8]), Error> {
    let (&id, rest) = bytes.split_first_chunk().ok_or(Error::Truncated)?;
    let (&moves, rest) = rest.split_first_chunk().ok_or(Error::Truncated)?;
    let holder = Holder {
        id: u64::from_be_bytes(id),
        moves: u32::from_be_bytes(moves),
    };
    Ok((holder, rest))
}

/// Reads `count` locators that are all of `bytes`.
fn locators(mut bytes: &[u8], count: usize) -> Result<Vec<Locator>, Error> {
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        let (&family, rest) = bytes.split_first().ok_or(Error::Truncated)?;
        let (address, rest): (IpAddr, &[u8]) = match family {
            4 => {
                let (&a, rest) = rest.split_first_chunk::<4>().ok_or(Error::Truncated)?;
                (a.into(), rest)
            }
            6 => {
                let (&a, rest) = rest.split_first_chunk::<16>().ok_or(Error::Truncated)?;
                (a.into(), rest)
            }
            _ => return Err(Error::Family),
        };
        let (&cost, rest) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        let (&lifetime, rest) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        found.push(Locator {
            address,
            cost: u16::from_be_bytes(cost),
            lifetime_ms: u32::from_be_bytes(lifetime),
        });
        bytes = rest;
    }
    if bytes.is_empty() {
        Ok(found)
    } else {
        Err(Error::TooLong)
    }
}

#[cfg(test)]
mod tests;
