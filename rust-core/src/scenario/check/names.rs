//! Checks of replicas, name resolution, switches and faults.

use super::{millis, secs, within};
use crate::icn::ClientOptions;
use crate::scenario::error::{Error, shown};
use crate::scenario::model::{Fault, Replica, Scenario};
use crate::scenario::nodes::{Nodes, ReceiverNode, replica_name};
use crate::scenario::registry;
use crate::units::{Bytes, Duration, Rate};
use std::collections::{BTreeMap, BTreeSet};

/// Most replica nodes.
const MAX_REPLICAS: usize = 1_000;

/// Checks everything about names and replicas and fills it in; the flows are filled in.
pub(super) fn check(s: &mut Scenario) -> Result<(), Error> {
    resolution(s)?;
    replicas(s)?;
    caches(s)?;
    let nodes = Nodes::new(s);
    let names: Vec<String> = nodes.replicas.into_iter().map(|r| r.name).collect();
    flows(s, &names)?;
    for i in 0..s.faults.len() {
        fault(s, i, &names, &nodes.receivers)?;
    }
    Ok(())
}

fn resolution(s: &mut Scenario) -> Result<(), Error> {
    let n = &mut s.names;
    let mode = registry::select("names.mode", "mode", registry::RESOLUTIONS, &n.mode)?;
    n.mode = mode.name.to_owned();
    let times = [
        ("delay", n.delay, Duration::ZERO, secs(60), "0 s..60 s"),
        (
            "processing",
            n.processing,
            Duration::ZERO,
            secs(60),
            "0 s..60 s",
        ),
        ("timeout", n.timeout, millis(1), secs(60), "1 ms..60 s"),
        (
            "give_up",
            n.give_up,
            millis(1),
            secs(1_000_000),
            "1 ms..1000000 s",
        ),
    ];
    for (field, given, least, most, accepted) in times {
        within(
            &format!("names.{field}"),
            given,
            given.0,
            least,
            most,
            accepted,
        )?;
    }
    let most = ClientOptions::MAX_TRIES;
    within(
        "names.tries",
        n.tries,
        n.tries,
        1,
        most,
        &format!("1..{most}"),
    )?;
    within(
        "names.switch_after_timeouts",
        n.switch_after_timeouts,
        n.switch_after_timeouts,
        1,
        100,
        "1..100",
    )?;
    match n.switch_below {
        Some(f) if !(f.0 > 0.0 && f.0 < 1.0) => Err(Error::new(
            "names.switch_below",
            format!(
                "{} is out of range (accepted: above 0, below 1, or null)",
                f.0
            ),
        )),
        _ => Ok(()),
    }
}

fn replicas(s: &mut Scenario) -> Result<(), Error> {
    if s.topology.kind == "topo-2" {
        return match &s.replicas {
            None => Ok(()),
            Some(_) => Err(Error::new(
                "replicas",
                "topo-2 has the replica nodes RN1 and RN2 (accepted: null)",
            )),
        };
    }
    let flows: BTreeSet<&str> = s.flows.iter().filter_map(|f| f.name.as_deref()).collect();
    let only = replica_name(&s.topology.kind);
    let list = s.replicas.get_or_insert_with(|| {
        vec![Replica {
            name: only.to_owned(),
            ..Replica::default()
        }]
    });
    if list.is_empty() || list.len() > MAX_REPLICAS {
        let problem = format!(
            "{} replicas are out of range (accepted: 1..{MAX_REPLICAS})",
            list.len()
        );
        return Err(Error::new("replicas", problem));
    }
    let mut names = BTreeSet::new();
    for (i, replica) in list.iter_mut().enumerate() {
        let at = |field: &str| format!("replicas[{i}].{field}");
        if replica.name.is_empty() {
            replica.name = format!("{only}{}", i + 1);
        }
        super::flows::name(&at("name"), &replica.name)?;
        if !names.insert(replica.name.clone()) {
            let problem = format!("{} is the name of an earlier replica", shown(&replica.name));
            return Err(Error::new(at("name"), problem));
        }
        within(
            &at("extra_delay"),
            replica.extra_delay,
            replica.extra_delay.0,
            Duration::ZERO,
            secs(60),
            "0 s..60 s",
        )?;
        for flow in replica.holds.iter().flatten() {
            if !flows.contains(flow.as_str()) {
                let known = flows.iter().copied();
                return Err(Error::unknown(at("holds"), "flow", flow, known));
            }
        }
    }
    Ok(())
}

fn caches(s: &mut Scenario) -> Result<(), Error> {
    let c = &mut s.caches;
    let routers = registry::routers(&s.topology.kind);
    let all = || routers.iter().map(|r| r.name.to_owned());
    let at = c.at.get_or_insert_with(|| match s.topology.kind.as_str() {
        "line" => all().collect(),
        _ => all().take(1).collect(),
    });
    for (i, router) in at.iter_mut().enumerate() {
        let field = format!("caches.at[{i}]");
        let entry = registry::select(&field, "router", routers, router)?;
        *router = entry.name.to_owned();
    }
    let different: BTreeSet<&String> = at.iter().collect();
    if c.enabled && (at.is_empty() || different.len() != at.len()) {
        let list = all().collect::<Vec<_>>().join(", ");
        let problem = format!("each router at most once, and at least one (accepted: {list})");
        return Err(Error::new("caches.at", problem));
    }
    within(
        "caches.capacity",
        c.capacity,
        c.capacity.0,
        Bytes::new(1),
        Bytes::new(1_000_000_000_000),
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

fn flows(s: &mut Scenario, names: &[String]) -> Result<(), Error> {
    let two = s.topology.kind == "topo-2";
    let mut sizes: BTreeMap<String, Option<Bytes>> = BTreeMap::new();
    for (i, flow) in s.flows.iter_mut().enumerate() {
        let at = |field: &str| format!("flows[{i}].{field}");
        let field = at("replica_choice");
        let choice = registry::select(
            &field,
            "replica choice",
            registry::REPLICA_CHOICES,
            &flow.replica_choice,
        )?;
        flow.replica_choice = choice.name.to_owned();
        if let Some(ndc) = &flow.ndc {
            super::flows::name(&at("ndc"), ndc)?;
            if flow.repeat {
                let problem = "a flow that repeats fetches NDCs of its own (accepted: null)";
                return Err(Error::new(at("ndc"), problem));
            }
            let size = flow.size.map(|size| size.0);
            let key = format!("{} {ndc}", flow.direction);
            if *sizes.entry(key).or_insert(size) != size {
                let problem = format!(
                    "differs from the size of an earlier flow for the NDC {}",
                    shown(ndc)
                );
                return Err(Error::new(at("size"), problem));
            }
        }
        for (k, switch) in flow.switches.iter().enumerate() {
            let at = |field: &str| format!("flows[{i}].switches[{k}].{field}");
            let range = format!("from its start of {} to 1000000 s", flow.start);
            within(
                &at("at"),
                switch.at,
                switch.at.0,
                flow.start.0,
                secs(1_000_000),
                &range,
            )?;
            if two {
                let problem = "topo-2 has one replica for each direction (accepted: no switches)";
                return Err(Error::new(format!("flows[{i}].switches"), problem));
            }
            if let Some(to) = &switch.to {
                known(&at("to"), to, names)?;
            }
        }
    }
    Ok(())
}

fn known(field: &str, given: &str, names: &[String]) -> Result<(), Error> {
    if names.iter().any(|n| n == given) {
        return Ok(());
    }
    let names = names.iter().map(String::as_str);
    Err(Error::unknown(field, "replica", given, names))
}

/// Fails unless `given` is the name of a receiver node.
fn receiver_node(field: &str, given: Option<&str>, nodes: &[ReceiverNode]) -> Result<(), Error> {
    let known = || nodes.iter().map(|node| node.name.as_str());
    match given {
        Some(given) if known().any(|name| name == given) => Ok(()),
        Some(given) => Err(Error::unknown(field, "receiver node", given, known())),
        None => Err(Error::new(
            field,
            "clock-step needs the name of a receiver node, as in \"RE1\"",
        )),
    }
}

fn fault(
    s: &mut Scenario,
    i: usize,
    names: &[String],
    receivers: &[ReceiverNode],
) -> Result<(), Error> {
    let at = |field: &str| format!("faults[{i}].{field}");
    let mode = s.names.mode.clone();
    let Fault {
        at: when,
        kind,
        target,
        delay,
        rate,
        step,
    } = &mut s.faults[i];
    within(
        &at("at"),
        *when,
        when.0,
        Duration::ZERO,
        secs(1_000_000),
        "0 s..1000000 s",
    )?;
    let entry = registry::select(&at("kind"), "fault", registry::FAULTS, kind)?;
    *kind = entry.name.to_owned();
    let is_clock = kind == "clock-step";
    if step.is_some() != is_clock {
        let problem = match is_clock {
            true => "clock-step needs a step, as in \"step\": \"-5 ms\"".to_owned(),
            false => format!("has no place in {kind} (accepted: null)"),
        };
        return Err(Error::new(at("step"), problem));
    }
    let of_replica = kind.starts_with("replica-");
    match (of_replica, target) {
        (true, None) => {
            let list = names.join(", ");
            let problem = format!("{kind} needs the name of a replica (accepted: {list})");
            return Err(Error::new(at("target"), problem));
        }
        (true, Some(target)) => known(&at("target"), target, names)?,
        (false, target) if is_clock => receiver_node(&at("target"), target.as_deref(), receivers)?,
        (false, Some(target)) => {
            let problem = format!("{} has no place in {kind} (accepted: null)", shown(target));
            return Err(Error::new(at("target"), problem));
        }
        (false, None) if mode != "server" => {
            let problem = format!("{kind} needs a name server (names.mode is {mode})");
            return Err(Error::new(at("kind"), problem));
        }
        (false, None) => {}
    }
    let is_slow = kind == "replica-slow";
    if is_slow && delay.is_none() && rate.is_none() {
        let problem = "replica-slow needs a delay or a rate, as in \"delay\": \"100 ms\"";
        return Err(Error::new(at("delay"), problem));
    }
    if !is_slow && (delay.is_some() || rate.is_some()) {
        let field = if delay.is_some() { "delay" } else { "rate" };
        let problem = format!("has no place in {kind} (accepted: null)");
        return Err(Error::new(at(field), problem));
    }
    if let Some(delay) = delay {
        within(
            &at("delay"),
            *delay,
            delay.0,
            Duration::ZERO,
            secs(60),
            "0 s..60 s",
        )?;
    }
    if let Some(step) = step {
        within(
            &at("step"),
            *step,
            step.nanos.unsigned_abs(),
            0,
            1_000_000_000_000_000,
            "-1000000 s..1000000 s",
        )?;
    }
    if let Some(rate) = rate {
        let (least, most) = (Rate::from_bps(1_000), Rate::from_bps(1_000_000_000_000));
        within(&at("rate"), *rate, rate.0, least, most, "1 kbps..1 Tbps")?;
    }
    Ok(())
}
