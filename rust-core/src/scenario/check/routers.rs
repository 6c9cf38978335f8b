//! Checks of what routers do beside forwarding: ICN or plain IP, caches.

use super::{millis, secs, within};
use crate::scenario::error::{Error, shown};
use crate::scenario::model::{Scenario, Topology};
use crate::scenario::quantity::{Capacity, Fraction};
use crate::scenario::registry::{self, Entry};
use crate::units::Bytes;
use std::collections::BTreeSet;

/// The off-path cache.
pub(super) const OFF_PATH: &str = "R4";
/// Probability of `probabilistic` where a scenario does not say.
const PLACEMENT_PROBABILITY: f64 = 0.5;

/// Checks the routers and fills them in; names and flows are filled in.
pub(super) fn check(s: &mut Scenario, payload: Bytes) -> Result<(), Error> {
    routers(
        "topology.ip_routers",
        &s.topology.kind,
        &mut s.topology.ip_routers,
    )?;
    edges(s)?;
    caches(s)?;
    off_path_controller(s, payload)
}

/// Fills in the controller of an off-path cache's fetches.
fn off_path_controller(s: &mut Scenario, payload: Bytes) -> Result<(), Error> {
    const FIELD: &str = "caches.off_path_controller";
    let is_used = s.caches.enabled && s.caches.off_path;
    let setup = super::flows::setup(s, payload);
    match &mut s.caches.off_path_controller {
        Some(given) if is_used => {
            // Refuses what is for tcp only.
            super::tcp::ns3_controller(FIELD, "icn", given)?;
            *given = super::flows::controller(FIELD, given, &setup)?;
        }
        Some(given) => {
            let problem = format!(
                "{} has no place without an off-path cache (accepted: null, or \
                 caches.enabled=true and caches.off_path=true)",
                shown(&given.name)
            );
            return Err(Error::new(FIELD, problem));
        }
        None if is_used => {
            let first = s.flows.iter().find(|f| f.transport == "icn");
            s.caches.off_path_controller = first.map(|f| f.controller.clone());
        }
        None => {}
    }
    Ok(())
}

/// The names of the routers that are no plain IP routers.
pub(super) fn icn_routers(t: &Topology) -> impl Iterator<Item = &'static str> + Clone {
    let all = registry::routers(&t.kind).iter().map(|r| r.name);
    all.filter(|name| !t.ip_routers.iter().any(|ip| ip == name))
}

/// Makes a list of routers canonical; each may be there once.
fn routers(field: &str, kind: &str, list: &mut [String]) -> Result<(), Error> {
    let known: &'static [Entry] = registry::routers(kind);
    let mut seen = BTreeSet::new();
    for (i, router) in list.iter_mut().enumerate() {
        let field = format!("{field}[{i}]");
        let entry = registry::select(&field, "router", known, router)?;
        *router = entry.name.to_owned();
        if !seen.insert(entry.name) {
            let problem = format!("{} is there twice (accepted: each router once)", entry.name);
            return Err(Error::new(field, problem));
        }
    }
    Ok(())
}

/// Fails if a router that receivers are at must bind names and cannot.
fn edges(s: &Scenario) -> Result<(), Error> {
    if s.names.binding == "receiver" {
        return Ok(());
    }
    let all = registry::routers(&s.topology.kind);
    let is_ip = |i: usize| s.topology.ip_routers.iter().any(|ip| ip == all[i].name);
    let opposite = s.flows.iter().any(|f| f.direction == "opposite");
    let edge = match (is_ip(0), opposite && is_ip(all.len() - 1)) {
        (true, _) => all[0],
        (_, true) => all[all.len() - 1],
        _ => return Ok(()),
    };
    let problem = format!(
        "{} is an edge router, which must bind names (names.binding is {})",
        edge.name, s.names.binding
    );
    Err(Error::new("topology.ip_routers", problem))
}

fn caches(s: &mut Scenario) -> Result<(), Error> {
    let (c, t) = (&mut s.caches, &s.topology);
    let policy = registry::select(
        "caches.policy",
        "cache policy",
        registry::CACHE_POLICIES,
        &c.policy,
    )?;
    c.policy = policy.name.to_owned();
    let placement = registry::select(
        "caches.placement",
        "placement",
        registry::PLACEMENTS,
        &c.placement,
    )?;
    c.placement = placement.name.to_owned();
    let most = if t.kind == "line" { usize::MAX } else { 1 };
    let default = || icn_routers(t).take(most).map(str::to_owned).collect();
    let at = c.at.get_or_insert_with(default);
    routers("caches.at", &t.kind, at)?;
    let is_ip = |router: &String| t.ip_routers.contains(router);
    if let Some(i) = at.iter().position(is_ip) {
        let problem = format!(
            "{} is a plain IP router (topology.ip_routers; accepted: {})",
            at[i],
            list(icn_routers(t))
        );
        return Err(Error::new(format!("caches.at[{i}]"), problem));
    }
    if c.enabled && at.is_empty() && !c.off_path {
        let problem = format!(
            "the list is empty (accepted: some of {}, or caches.enabled=false)",
            list(icn_routers(t))
        );
        return Err(Error::new("caches.at", problem));
    }
    let unasked = if s.names.mode == "address" {
        Some("receivers ask the addresses that they are given (names.mode is address")
    } else if s.flows.iter().all(|f| f.transport == "tcp") {
        Some("there is no flow over icn (flows[*].transport is tcp")
    } else {
        None
    };
    if c.enabled
        && let Some(why) = unasked
    {
        let problem = format!("true has no effect: {why}; accepted: false)");
        return Err(Error::new("caches.enabled", problem));
    }
    if c.off_path && t.kind != "line" {
        let problem = format!(
            "true needs the topology line, where R2 has a fourth router (accepted in {}: false)",
            t.kind
        );
        return Err(Error::new("caches.off_path", problem));
    }
    if c.off_path && s.names.mode != "server" {
        let problem = format!(
            "true needs a name server that announces NDCs (names.mode is {}; accepted: false)",
            s.names.mode
        );
        return Err(Error::new("caches.off_path", problem));
    }
    match (c.placement.as_str(), c.placement_probability) {
        ("probabilistic", given) => {
            let p = given.unwrap_or(Fraction(PLACEMENT_PROBABILITY));
            if p.0 <= 0.0 {
                let problem = "0 is out of range (accepted: above 0..1)";
                return Err(Error::new("caches.placement_probability", problem));
            }
            c.placement_probability = Some(p);
        }
        (_, None) => {}
        (placement, Some(_)) => {
            let problem = format!(
                "has no place with placement {} (accepted: null, or placement probabilistic)",
                shown(placement)
            );
            return Err(Error::new("caches.placement_probability", problem));
        }
    }
    let most = Bytes::new(1_000_000_000_000);
    let field = "caches.capacity";
    match c.capacity {
        Capacity::Bytes(n) => within(field, c.capacity, n, Bytes::new(1), most, "1 B..1 TB")?,
        Capacity::Ndcs(n) => {
            within(field, c.capacity, n, 1, 1_000_000_000, "1..1000000000 NDCs")?;
        }
    }
    within(
        "caches.assembly_memory",
        c.assembly_memory,
        c.assembly_memory.0,
        Bytes::new(1),
        most,
        "1 B..1 TB",
    )?;
    within(
        "caches.timeout",
        c.timeout,
        c.timeout.0,
        millis(1),
        secs(1_000_000),
        "1 ms..1000000 s",
    )
}

/// Names, as messages list them.
pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    match names.collect::<Vec<_>>().join(", ") {
        names if names.is_empty() => "none".to_owned(),
        names => names,
    }
}
