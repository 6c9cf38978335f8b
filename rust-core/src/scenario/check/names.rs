//! Checks of replicas, name resolution and switches.

use super::{millis, secs, within};
use crate::icn::ClientOptions;
use crate::scenario::error::{Error, shown};
use crate::scenario::model::{Replica, Scenario};
use crate::scenario::nodes::{Nodes, replica_name};
use crate::scenario::registry;
use crate::units::{Bytes, Duration};
use std::collections::{BTreeMap, BTreeSet};

/// Most replica nodes.
const MAX_REPLICAS: usize = 1_000;

/// Checks everything about names and replicas and fills it in; the flows are filled in.
pub(super) fn check(s: &mut Scenario) -> Result<(), Error> {
    resolution(s)?;
    replicas(s)?;
    let replicas = Nodes::new(s).replicas;
    let names: Vec<String> = replicas.into_iter().map(|r| r.name).collect();
    flows(s, &names)
}

fn resolution(s: &mut Scenario) -> Result<(), Error> {
    let n = &mut s.names;
    let mode = registry::select("names.mode", "mode", registry::RESOLUTIONS, &n.mode)?;
    n.mode = mode.name.to_owned();
    let binding = registry::select("names.binding", "binding", registry::BINDINGS, &n.binding)?;
    n.binding = binding.name.to_owned();
    if n.binding != "receiver" && n.mode != "server" {
        let problem = format!(
            "{} needs a name server for the routers to ask (names.mode is {}; accepted: receiver)",
            n.binding, n.mode
        );
        return Err(Error::new("names.binding", problem));
    }
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

fn flows(s: &mut Scenario, names: &[String]) -> Result<(), Error> {
    let two = s.topology.kind == "topo-2";
    let late = s.names.binding != "receiver";
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
        if late && flow.replica_choice != "listed" {
            let problem = format!(
                "{} has no place where routers choose the replica (accepted with names.binding {}: \
                 listed)",
                flow.replica_choice, s.names.binding
            );
            return Err(Error::new(field, problem));
        }
        if late && !flow.switches.is_empty() {
            let problem = format!(
                "routers choose the replica (accepted with names.binding {}: no switches)",
                s.names.binding
            );
            return Err(Error::new(at("switches"), problem));
        }
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

pub(super) fn known(field: &str, given: &str, names: &[String]) -> Result<(), Error> {
    if names.iter().any(|n| n == given) {
        return Ok(());
    }
    let names = names.iter().map(String::as_str);
    Err(Error::unknown(field, "replica", given, names))
}
