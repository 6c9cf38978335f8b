//! Checks of what goes wrong.

use super::routers::{OFF_PATH, icn_routers, list};
use super::{secs, within};
use crate::scenario::error::{Error, shown};
use crate::scenario::model::{Fault, Scenario};
use crate::scenario::nodes::Nodes;
use crate::scenario::registry;
use crate::units::{Duration, Rate};
use std::collections::BTreeMap;

/// What a kind of fault happens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Replica,
    Receiver,
    Router,
    Cache,
    NameServer,
}

/// What `kind` happens to.
fn subject(kind: &str) -> Subject {
    match kind {
        "name-server-fail" | "name-server-restore" => Subject::NameServer,
        "clock-step" | "receiver-move" => Subject::Receiver,
        "router-restart" => Subject::Router,
        "cache-evict" => Subject::Cache,
        _ => Subject::Replica,
    }
}

/// Checks all faults and makes them canonical; everything else is filled in.
pub(super) fn check(s: &mut Scenario) -> Result<(), Error> {
    let nodes = Nodes::new(s);
    for i in 0..s.faults.len() {
        kind(s, i)?;
        parameters(&s.faults[i], i)?;
        target(s, i, &nodes)?;
        ranges(&s.faults[i], i)?;
    }
    moves(s, &nodes)
}

fn at(i: usize, field: &str) -> String {
    format!("faults[{i}].{field}")
}

fn kind(s: &mut Scenario, i: usize) -> Result<(), Error> {
    let fault = &mut s.faults[i];
    let entry = registry::select(&at(i, "kind"), "fault", registry::FAULTS, &fault.kind)?;
    fault.kind = entry.name.to_owned();
    let needs = |problem: String| Err(Error::new(at(i, "kind"), problem));
    let mode = &s.names.mode;
    if subject(entry.name) == Subject::NameServer && mode != "server" {
        return needs(format!(
            "{} needs a name server (names.mode is {mode})",
            entry.name
        ));
    }
    if subject(entry.name) == Subject::Cache && !s.caches.enabled {
        return needs(format!("{} needs caches.enabled=true", entry.name));
    }
    if entry.name.ends_with("-move") && s.topology.kind != "line" {
        return needs(format!(
            "{} needs the topology line (topology.kind is {})",
            entry.name, s.topology.kind
        ));
    }
    Ok(())
}

/// Each kind has the parameters that it needs and no others.
fn parameters(fault: &Fault, i: usize) -> Result<(), Error> {
    let kind = fault.kind.as_str();
    let given = [
        ("step", fault.step.is_some()),
        ("delay", fault.delay.is_some()),
        ("rate", fault.rate.is_some()),
        ("outage", fault.outage.is_some()),
        ("to", fault.to.is_some()),
    ];
    let (of_kind, example): (&[&str], &str) = match kind {
        "clock-step" => (&["step"], "a step, as in \"step\": \"-5 ms\""),
        "replica-slow" => (
            &["delay", "rate"],
            "a delay or a rate, as in \"delay\": \"100 ms\"",
        ),
        "router-restart" => (&["outage"], "an outage, as in \"outage\": \"500 ms\""),
        "receiver-move" | "replica-move" => (&["to"], "a router, as in \"to\": \"R2\""),
        _ => (&[], ""),
    };
    if let Some(first) = of_kind.first()
        && !given
            .iter()
            .any(|(field, is)| *is && of_kind.contains(field))
    {
        return Err(Error::new(at(i, first), format!("{kind} needs {example}")));
    }
    match given
        .iter()
        .find(|(field, is)| *is && !of_kind.contains(field))
    {
        Some((field, _)) => {
            let problem = format!("has no place in {kind} (accepted: null)");
            Err(Error::new(at(i, field), problem))
        }
        None => Ok(()),
    }
}

/// The target is one that the kind can happen to.
fn target(s: &mut Scenario, i: usize, nodes: &Nodes) -> Result<(), Error> {
    let kind = s.faults[i].kind.clone();
    let field = at(i, "target");
    let Some(target) = s.faults[i].target.clone() else {
        let problem = match subject(&kind) {
            Subject::NameServer => return Ok(()),
            Subject::Replica => {
                let names = list(nodes.replicas.iter().map(|r| r.name.as_str()));
                format!("{kind} needs the name of a replica (accepted: {names})")
            }
            Subject::Receiver => {
                let first = &nodes.receivers[0].name;
                format!("{kind} needs the name of a receiver node, as in \"{first}\"")
            }
            Subject::Router => {
                let names = list(registry::routers(&s.topology.kind).iter().map(|r| r.name));
                format!("{kind} needs the name of a router (accepted: {names})")
            }
            Subject::Cache => {
                format!(
                    "{kind} needs the name of a cache (accepted: {})",
                    list(caches(s))
                )
            }
        };
        return Err(Error::new(field, problem));
    };
    let accept = |what: &str, names: Vec<&str>| match names.contains(&target.as_str()) {
        true => Ok(()),
        false => Err(Error::unknown(&field, what, &target, names.into_iter())),
    };
    match subject(&kind) {
        Subject::NameServer => {
            let problem = format!("{} has no place in {kind} (accepted: null)", shown(&target));
            Err(Error::new(field, problem))
        }
        Subject::Replica => {
            let names = nodes.replicas.iter().map(|r| r.name.as_str());
            accept("replica", names.collect())
        }
        Subject::Receiver => {
            let names = nodes.receivers.iter().map(|r| r.name.as_str());
            accept("receiver node", names.collect())
        }
        Subject::Router => {
            let names = registry::routers(&s.topology.kind).iter().map(|r| r.name);
            accept("router", names.collect())
        }
        Subject::Cache => accept("cache", caches(s).collect()),
    }
}

/// The names of the caches.
fn caches(s: &Scenario) -> impl Iterator<Item = &str> {
    let on_path = s.caches.at.iter().flatten().map(String::as_str);
    on_path.chain(s.caches.off_path.then_some(OFF_PATH))
}

fn ranges(fault: &Fault, i: usize) -> Result<(), Error> {
    let when = fault.at;
    let late = secs(1_000_000);
    within(
        &at(i, "at"),
        when,
        when.0,
        Duration::ZERO,
        late,
        "0 s..1000000 s",
    )?;
    if let Some(delay) = fault.delay {
        let most = secs(60);
        within(
            &at(i, "delay"),
            delay,
            delay.0,
            Duration::ZERO,
            most,
            "0 s..60 s",
        )?;
    }
    if let Some(step) = fault.step {
        within(
            &at(i, "step"),
            step,
            step.nanos.unsigned_abs(),
            0,
            1_000_000_000_000_000,
            "-1000000 s..1000000 s",
        )?;
    }
    if let Some(rate) = fault.rate {
        let (least, most) = (Rate::from_bps(1_000), Rate::from_bps(1_000_000_000_000));
        within(&at(i, "rate"), rate, rate.0, least, most, "1 kbps..1 Tbps")?;
    }
    if let Some(outage) = fault.outage {
        within(
            &at(i, "outage"),
            outage,
            outage.0,
            Duration::ZERO,
            late,
            "0 s..1000000 s",
        )?;
    }
    Ok(())
}

/// Hosts move to another router, one that can be their edge router.
fn moves(s: &mut Scenario, nodes: &Nodes) -> Result<(), Error> {
    let routers = registry::routers(&s.topology.kind);
    let receivers = nodes.receivers.iter().map(|r| (r.name.clone(), r.router));
    let replicas = nodes.replicas.iter().map(|r| (r.name.clone(), r.router));
    let mut places: BTreeMap<(bool, String), &str> = receivers
        .map(|(name, router)| ((true, name), routers[router].name))
        .chain(replicas.map(|(name, router)| ((false, name), routers[router].name)))
        .collect();
    let mut order: Vec<usize> = (0..s.faults.len()).collect();
    order.sort_by_key(|&i| s.faults[i].at.0);
    for i in order {
        let fault = &mut s.faults[i];
        let (Some(to), Some(target)) = (&mut fault.to, &fault.target) else {
            continue;
        };
        let entry = registry::select(&at(i, "to"), "router", routers, to)?;
        *to = entry.name.to_owned();
        let is_receiver = fault.kind == "receiver-move";
        if !is_receiver && s.workload.is_some() && s.names.mode == "server" {
            let problem = format!(
                "{} has no place in a workload with a name server, which is set up with the \
                 catalogue and would go on listing the old address (accepted: receiver-move, or \
                 names.mode table)",
                fault.kind
            );
            return Err(Error::new(at(i, "kind"), problem));
        }
        let place = places.insert((is_receiver, target.clone()), entry.name);
        if place == Some(entry.name) {
            let others = routers.iter().map(|r| r.name).filter(|&r| r != entry.name);
            let problem = format!(
                "{target} is at {} then (accepted: {})",
                entry.name,
                list(others)
            );
            return Err(Error::new(at(i, "to"), problem));
        }
        if is_receiver
            && s.names.binding != "receiver"
            && !icn_routers(&s.topology).any(|r| r == entry.name)
        {
            let problem = format!(
                "{} is a plain IP router, which cannot bind names (accepted with names.binding \
                 {}: {})",
                entry.name,
                s.names.binding,
                list(icn_routers(&s.topology))
            );
            return Err(Error::new(at(i, "to"), problem));
        }
    }
    Ok(())
}
