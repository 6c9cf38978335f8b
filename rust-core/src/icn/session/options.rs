//! What a session is told to do, and how it may fail.

use super::super::choice::ReplicaChoice;
use super::super::client::ClientOptions;
use crate::units::Duration;
use std::fmt;

/// Where the list of replicas comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Resolution {
    /// A name server.
    #[default]
    Server,
    /// A table that the caller looks up at once whenever [`Step::look_up`](super::Step::look_up) asks for it.
    Table,
    /// The same, but the table is the receiver's own configuration, which never changes.
    Address,
    /// The same, but the address is that of an edge router, which binds REQs to sources.
    Edge,
}

impl Resolution {
    /// The way of this name, as in scenarios.
    pub fn from_name(name: &str) -> Result<Resolution, String> {
        match name {
            "server" => Ok(Resolution::Server),
            "table" => Ok(Resolution::Table),
            "address" => Ok(Resolution::Address),
            "edge" => Ok(Resolution::Edge),
            _ => Err(format!(
                "resolution: unknown {name:?} (accepted: server, table, address, edge)"
            )),
        }
    }
}

/// Options of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionOptions {
    /// Where the list of replicas comes from.
    pub resolution: Resolution,
    /// How a name server is asked; also how long and how often replicas are probed.
    pub client: ClientOptions,
    /// Which replica is taken.
    pub choice: ReplicaChoice,
    /// So many expiries of the retransmission timer without a new byte between them, and the
    /// replica is left.
    pub switch_after_timeouts: u32,
    /// A goodput below this fraction of the best so far for 2 s, and the replica is left for
    /// another one.
    pub switch_below: Option<f64>,
    /// So long without a new byte, and the transfer has failed.
    pub give_up: Duration,
    /// Whether this node reaches IPv4 addresses.
    pub ipv4: bool,
    /// Whether this node reaches IPv6 addresses.
    pub ipv6: bool,
}

impl Default for SessionOptions {
    fn default() -> SessionOptions {
        SessionOptions {
            resolution: Resolution::Server,
            client: ClientOptions::default(),
            choice: ReplicaChoice::Listed,
            switch_after_timeouts: 3,
            switch_below: None,
            give_up: Duration::from_secs(60),
            ipv4: true,
            ipv6: true,
        }
    }
}

impl SessionOptions {
    /// Says which option is out of range, if any.
    pub fn validate(&self) -> Result<(), String> {
        let tries = self.client.tries;
        if tries == 0 || tries > ClientOptions::MAX_TRIES {
            return Err(format!(
                "tries: {tries} is not in 1..{}",
                ClientOptions::MAX_TRIES
            ));
        }
        if self.client.timeout.is_zero() || self.give_up.is_zero() {
            return Err("timeouts: zero is out of range".to_owned());
        }
        if self.switch_after_timeouts == 0 {
            return Err("switch_after_timeouts: 0 is not in 1..100".to_owned());
        }
        match self.switch_below {
            Some(f) if !(f > 0.0 && f < 1.0) => {
                Err(format!("switch_below: {f} is not between 0 and 1"))
            }
            _ => Ok(()),
        }
    }
}

/// Why an NDC was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The name server did not answer, and no replica at hand delivered.
    NameServerUnreachable,
    /// The name server does not know the name.
    NameUnknown,
    /// There is no replica (left) that delivers.
    NoReplica,
    /// The replica delivers nothing any more, and there is no reason to think that it is gone.
    Stalled,
}

impl Failure {
    /// All of them.
    pub const ALL: [Failure; 4] = [
        Failure::NameServerUnreachable,
        Failure::NameUnknown,
        Failure::NoReplica,
        Failure::Stalled,
    ];

    /// Its name in summaries.
    pub const fn as_str(self) -> &'static str {
        match self {
            Failure::NameServerUnreachable => "name-server-unreachable",
            Failure::NameUnknown => "name-unknown",
            Failure::NoReplica => "no-replica",
            Failure::Stalled => "stalled",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
