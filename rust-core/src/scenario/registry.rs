//! Names that scenarios may use beside the controllers and AQMs, which have registries of their own:
//! topologies, transports, recoveries.
//! A name that is known but not available is refused with a message of its own.

use super::error::{Error, nearest, shown};
use crate::{aqm, cc};

/// Something that a scenario selects by name.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name in scenarios and on the command line.
    pub name: &'static str,
    /// One line: what it is.
    pub summary: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// Whether this version has it.
    pub available: bool,
}

const fn has(name: &'static str, summary: &'static str, reference: &'static str) -> Entry {
    Entry {
        name,
        summary,
        reference,
        available: true,
    }
}

const fn lacks(name: &'static str, summary: &'static str, reference: &'static str) -> Entry {
    Entry {
        name,
        summary,
        reference,
        available: false,
    }
}

/// Topologies.
pub const TOPOLOGIES: &[Entry] = &[
    has(
        "topo-1",
        "receivers - IR1 = IR2 - replica node",
        "Copa-ICN paper, figure 4",
    ),
    has(
        "topo-2",
        "topo-1 with transfers in both directions: RN1 at IR1 and receivers at IR2, too",
        "Copa-ICN paper, figure 5",
    ),
    has(
        "line",
        "clients - R1 = R2 = R3 - server",
        "ECD paper, figure 6",
    ),
];

/// How a workload fills the caches.
pub const WARMUP_MODES: &[Entry] = &[
    has("packets", "by transfers", "-"),
    has("replay", "the same requests without packets", "-"),
];

/// Versions of IP.
pub const IP_VERSIONS: &[Entry] = &[
    has("ipv4", "IPv4", "RFC 791"),
    has("ipv6", "IPv6", "RFC 8200"),
];

/// Which way a flow's DATA goes.
pub const DIRECTIONS: &[Entry] = &[
    has(
        "forward",
        "receiver at IR1, replica node at IR2",
        "Copa-ICN paper, figure 4",
    ),
    has(
        "opposite",
        "receiver at IR2, replica node at IR1",
        "Copa-ICN paper, figure 5",
    ),
];

/// How receivers learn where an NDC is.
pub const RESOLUTIONS: &[Entry] = &[
    has(
        "server",
        "a name server at IR1",
        "Copa-ICN paper, section 3.1",
    ),
    has("table", "what is registered is known without a packet", "-"),
    has("address", "receivers are configured with addresses", "-"),
];

/// Who binds names to addresses.
pub const BINDINGS: &[Entry] = &[
    has(
        "receiver",
        "receivers resolve names themselves",
        "Copa-ICN paper, section 3.1",
    ),
    has(
        "edge",
        "the edge router resolves, and changes the destination address",
        "ECD paper, section 2",
    ),
    has(
        "path",
        "so may every ICN router on the way",
        "ECD paper, section 2",
    ),
];

/// Which NDC a full cache removes.
pub const CACHE_POLICIES: &[Entry] = &[
    has("lru", "the least recently used", "-"),
    has("lfu", "the least frequently used", "-"),
    has("fifo", "the oldest", "-"),
    has("random", "any, with equal chances", "-"),
];

/// Which NDCs a router keeps of those that pass.
pub const PLACEMENTS: &[Entry] = &[
    has("lce", "leave copy everywhere: all", "ECD paper, section 4"),
    has(
        "lcd",
        "leave copy down: only one router further down",
        "Laoutaris, Syntila, Stavrakakis 2004",
    ),
    has("probabilistic", "each with a probability", "-"),
];

/// How a receiver chooses a replica.
pub const REPLICA_CHOICES: &[Entry] = &[
    has("listed", "the first of the list", "-"),
    has("nearest", "the lowest propagation delay", "-"),
    has("lowest-rtt", "the first to answer a probe", "-"),
    has("random", "any, with equal chances", "-"),
];

/// What may go wrong.
pub const FAULTS: &[Entry] = &[
    has("replica-fail", "falls silent", "-"),
    has(
        "replica-vanish",
        "deregisters and says that it holds nothing",
        "-",
    ),
    has("replica-slow", "answers later, or at a lower rate", "-"),
    has("replica-restore", "serves as at the start", "-"),
    has("name-server-fail", "falls silent", "-"),
    has("name-server-restore", "answers again", "-"),
    has("clock-step", "a receiver's clock is set, as by NTP", "-"),
    has(
        "router-restart",
        "loses content and bindings; its links are down for the outage",
        "-",
    ),
    has("cache-evict", "a router loses its content", "-"),
    has(
        "receiver-move",
        "to another router, with another address",
        "-",
    ),
    has(
        "replica-move",
        "to another router, with another address",
        "-",
    ),
];

/// Routers of topo-1 and topo-2, in the order of the line.
const TWO_ROUTERS: &[Entry] = &[
    has("IR1", "the receivers' router", "Copa-ICN paper, figure 4"),
    has("IR2", "the replicas' router", "Copa-ICN paper, figure 4"),
];

/// Routers of the line.
const THREE_ROUTERS: &[Entry] = &[
    has("R1", "the clients' router", "ECD paper, figure 6"),
    has("R2", "between the others", "ECD paper, figure 6"),
    has("R3", "the server's router", "ECD paper, figure 6"),
];

/// The routers of a topology, from the receivers' to the replicas'.
pub fn routers(topology: &str) -> &'static [Entry] {
    match topology {
        "line" => THREE_ROUTERS,
        _ => TWO_ROUTERS,
    }
}

/// Transports.
pub const TRANSPORTS: &[Entry] = &[
    has(
        "icn",
        "receiver-driven ICN transport over IP",
        "Copa-ICN paper, section 3",
    ),
    has(
        "tcp",
        "ns-3's TCP, bulk data from the replica node",
        "RFC 9293",
    ),
];

/// How a TCP sender judges duplicate ACKs.
pub const RECOVERIES: &[Entry] = &[
    has(
        "standard",
        "SACK with proportional rate reduction",
        "RFC 6675, RFC 6937",
    ),
    has(
        "newreno",
        "fast retransmit and fast recovery without SACK",
        "RFC 6582",
    ),
    has(
        "veno",
        "a loss with a short backlog costs a fifth of the window",
        "Fu and Liew 2003",
    ),
    has(
        "cerl",
        "tells random loss by the queue length that RTTs show",
        "El-Ocla 2010",
    ),
    lacks(
        "newjersey",
        "rate from ACK arrivals and congestion warnings",
        "Xu, Tian, Ansari 2005",
    ),
    lacks(
        "rr",
        "reordering-robust: adapts the number of duplicate ACKs",
        "Zhang, Karp, Floyd, Peterson 2003",
    ),
    lacks(
        "pr",
        "persistent reordering: timers instead of duplicate ACKs",
        "Bohacek et al. 2003",
    ),
    lacks(
        "door",
        "detection of out-of-order and response",
        "Wang and Zhang 2002",
    ),
    has(
        "nce",
        "delays a retransmission until reordering and random loss can be told apart",
        "the NCE paper",
    ),
    has("no-cut", "newreno without cuts for duplicate ACKs", "-"),
];

/// Controllers that are known but not in [`cc::registry::CONTROLLERS`] yet.
const PLANNED_CONTROLLERS: &[&str] = &[
    "newreno",
    "cubic",
    "bbr",
    "copa",
    "copa-icn",
    "ecd",
    "vivace",
    "switching",
];

/// Names of controllers that are known but not in this version.
pub fn missing_controllers() -> impl Iterator<Item = &'static str> {
    let missing = |name: &&str| cc::registry::find(name).is_none();
    PLANNED_CONTROLLERS.iter().copied().filter(missing)
}

/// The entry called `given`, in any letter case, in `table`, whose kind is `what`.
pub(crate) fn select(
    field: &str,
    what: &str,
    table: &'static [Entry],
    given: &str,
) -> Result<&'static Entry, Error> {
    let available = || table.iter().filter(|e| e.available).map(|e| e.name);
    match table.iter().find(|e| e.name.eq_ignore_ascii_case(given)) {
        Some(entry) if entry.available => Ok(entry),
        Some(_) => Err(unavailable(field, given, available())),
        None => Err(unknown_name(field, what, given, available(), available())),
    }
}

/// The controller called `given` (or by an alias), in any letter case.
pub(crate) fn controller(field: &str, given: &str) -> Result<&'static cc::registry::Entry, Error> {
    let name = given.to_ascii_lowercase();
    let entry = cc::registry::find(given).or_else(|| cc::registry::find(&name));
    if let Some(entry) = entry {
        return Ok(entry);
    }
    let available = || cc::registry::CONTROLLERS.iter().map(|e| e.name);
    if PLANNED_CONTROLLERS.contains(&name.as_str()) {
        return Err(unavailable(field, given, available()));
    }
    // ns-3's own, without the part that says so.
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric());
    if plain && name.len() > 3 && name.starts_with("tcp") {
        let names = available().collect::<Vec<_>>().join(", ");
        let problem = format!(
            "unknown controller {} (accepted: {names}; did you mean ns3::{given}?)",
            shown(given)
        );
        return Err(Error::new(field, problem));
    }
    let aliases = cc::registry::CONTROLLERS
        .iter()
        .flat_map(|e| e.aliases.iter().copied());
    Err(unknown_name(
        field,
        "controller",
        given,
        available(),
        available().chain(aliases),
    ))
}

/// The AQM called `given` (or by an alias), in any letter case.
pub(crate) fn aqm(field: &str, given: &str) -> Result<&'static aqm::registry::Entry, Error> {
    if let Some(entry) = aqm::registry::find(&given.to_ascii_lowercase()) {
        return Ok(entry);
    }
    let table = aqm::registry::AQMS;
    let names = || table.iter().map(|e| e.name);
    let aliases = table.iter().flat_map(|e| e.aliases.iter().copied());
    let known = names().chain(aliases);
    Err(unknown_name(field, "AQM", given, names(), known))
}

fn unavailable(field: &str, given: &str, available: impl Iterator<Item = &'static str>) -> Error {
    let names = match available.collect::<Vec<_>>().join(", ") {
        names if names.is_empty() => "none".to_owned(),
        names => names,
    };
    Error::new(
        field,
        format!(
            "{} is not available in this version (accepted: {names})",
            shown(given)
        ),
    )
}

/// Lists the names that are `available`, and suggests one of those and their aliases, `known`.
fn unknown_name(
    field: &str,
    what: &str,
    given: &str,
    available: impl Iterator<Item = &'static str>,
    known: impl Iterator<Item = &'static str>,
) -> Error {
    let names = available.collect::<Vec<_>>().join(", ");
    let hint = nearest(given, known)
        .map(|n| format!("; did you mean {n}?"))
        .unwrap_or_default();
    Error::new(
        field,
        format!("unknown {what} {} (accepted: {names}{hint})", shown(given)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown_names_are_told_apart() {
        const TABLE: &[Entry] = &[has("here", "-", "-"), lacks("later", "-", "-")];
        let error = |name| select("f", "thing", TABLE, name).unwrap_err().to_string();
        assert_eq!(
            error("later"),
            "f: \"later\" is not available in this version (accepted: here)"
        );
        assert_eq!(
            error("hera"),
            "f: unknown thing \"hera\" (accepted: here; did you mean here?)"
        );
        // What is not there is not suggested.
        assert_eq!(error("late"), "f: unknown thing \"late\" (accepted: here)");
        assert!(error("Later").contains("not available"));
        for name in ["here", "Here"] {
            assert_eq!(select("f", "thing", TABLE, name).unwrap().name, "here");
        }
    }

    #[test]
    fn every_aqm_of_the_registry_is_found_by_all_its_names() {
        for entry in aqm::registry::AQMS {
            for name in entry.aliases.iter().chain([&entry.name]) {
                assert_eq!(aqm("a", name).unwrap().name, entry.name);
                assert_eq!(aqm("a", &name.to_uppercase()).unwrap().name, entry.name);
            }
        }
        assert_eq!(
            aqm("a", "reed").unwrap_err().to_string(),
            "a: unknown AQM \"reed\" (accepted: codel, drop-tail, ecd, red; did you mean red?)"
        );
    }

    #[test]
    fn every_controller_of_the_registry_is_found_by_all_its_names() {
        for entry in cc::registry::CONTROLLERS {
            for name in entry.aliases.iter().chain([&entry.name]) {
                assert_eq!(controller("c", name).unwrap().name, entry.name);
                let upper = name.to_uppercase();
                assert_eq!(controller("c", &upper).unwrap().name, entry.name);
            }
        }
    }
}
