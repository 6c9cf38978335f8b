//! The transfers.

use super::{clock, filled, inside, secs, tcp, within};
use crate::cc::Setup;
use crate::scenario::error::{Error, shown};
use crate::scenario::model::{Algorithm, Flow, FlowClock, Scenario};
use crate::scenario::nodes::Nodes;
use crate::scenario::quantity::{Jitter, TimeText};
use crate::scenario::registry;
use crate::units::{Bytes, Duration};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// What a controller of a transfer over icn is told at its start.
pub(super) fn setup(s: &Scenario, payload: Bytes) -> Setup {
    Setup {
        mss: payload,
        packet_size: payload + s.topology.header_bytes(),
        initial_window: s.transport.initial_window,
        ..Setup::default()
    }
}

/// Checks the transfers and fills them in.
pub(super) fn check(s: &mut Scenario, payload: Bytes) -> Result<(), Error> {
    let setup = setup(s, payload);
    let mss = s.tcp.and_then(|tcp| tcp.mss).map_or(payload, |mss| mss.0);
    let over_tcp = Setup {
        mss,
        packet_size: mss + Bytes::new(tcp::headers(s)),
        initial_window: s.tcp.map_or(0.0, |tcp| tcp.initial_window.into()),
        ..Setup::default()
    };
    let rtprop = s.topology.rtprop.0;
    let path = tcp::path(s, over_tcp.packet_size);
    // Thousands of flows with one controller need one check.
    let mut known: BTreeMap<String, Algorithm> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for (i, flow) in s.flows.iter_mut().enumerate() {
        let at = |field: &str| format!("flows[{i}].{field}");
        let name = flow.name.get_or_insert_with(|| format!("flow-{}", i + 1));
        self::name(&at("name"), name)?;
        if !names.insert(name.clone()) {
            let problem = format!("{} is the name of an earlier flow", shown(name));
            return Err(Error::new(at("name"), problem));
        }
        let is_tcp = flow.transport == "tcp";
        if is_tcp {
            tcp::flow(i, flow, &path)?;
        } else if let Some(recovery) = &flow.recovery {
            let problem = format!(
                "{} has no place in a flow with the icn transport (accepted: none; recoveries are \
                 for tcp)",
                shown(&recovery.name)
            );
            return Err(Error::new(at("recovery"), problem));
        }
        let key = format!(
            "{} {}",
            flow.transport,
            serde_json::to_string(&flow.controller).unwrap_or_default()
        );
        flow.controller = match known.get(&key) {
            Some(resolved) => resolved.clone(),
            None => {
                let field = at("controller");
                let setup = if is_tcp { &over_tcp } else { &setup };
                let resolved = match tcp::ns3_controller(&field, &flow.transport, &flow.controller)?
                {
                    Some(resolved) => resolved,
                    None => controller(&field, &flow.controller, setup)?,
                };
                known.insert(key, resolved.clone());
                resolved
            }
        };
        within(
            &at("extra_delay"),
            flow.extra_delay,
            flow.extra_delay.0,
            Duration::ZERO,
            secs(60),
            "0 s..60 s",
        )?;
        let clock = flow.clock.or(&s.clock);
        clock::check(&at("clock"), &clock)?;
        flow.clock = FlowClock {
            offset: Some(clock.offset),
            skew: Some(clock.skew),
        };
        let start = flow.start;
        within(
            &at("start"),
            start,
            start.0,
            Duration::ZERO,
            secs(1_000_000),
            "0 s..1000000 s",
        )?;
        let jitter = match flow.start_jitter {
            Jitter::Time(d) => d,
            Jitter::Rtprop(n) => rtprop.mul_f64(n),
        };
        within(
            &at("start_jitter"),
            flow.start_jitter,
            jitter,
            Duration::ZERO,
            secs(1_000_000),
            "0 s..1000000 s",
        )?;
        flow.start_jitter = Jitter::Time(jitter);
        if let Some(stop) = flow.stop {
            let range = format!("after its start of {start}, with jitter, to 1000000 s");
            let latest = start.0 + jitter + Duration::from_nanos(1);
            within(&at("stop"), stop, stop.0, latest, secs(1_000_000), &range)?;
        }
        if let Some(size) = flow.size {
            // A petabyte; real content is made and kept in memory.
            let (most, range) = if s.verify {
                (1_000_000_000, "1 B..1 GB with verify")
            } else {
                (1_000_000_000_000_000, "1 B..1000 TB")
            };
            within(
                &at("size"),
                size,
                size.0,
                Bytes::new(1),
                Bytes::new(most),
                range,
            )?;
        } else if s.verify && s.workload.is_none() {
            let problem = "real content needs a size (accepted: verify=false, or a size as in \
                           --set=\"flows[*].size=10 MB\")";
            return Err(Error::new(at("size"), problem));
        }
        if flow.repeat && flow.size.is_none() {
            let problem = "an NDC that never ends cannot be repeated (accepted: repeat=false, or a \
                           size as in --set=\"flows[*].size=10 MB\")";
            return Err(Error::new(at("repeat"), problem));
        }
    }
    if s.flows.iter().all(|f| f.background) {
        let problem = "all flows are in the background (accepted: false for at least one flow, \
                       whose end the run waits for)";
        return Err(Error::new("flows[*].background", problem));
    }
    sharing(s)
}

/// Fails unless `name` can be one: it stands in tables.
pub(super) fn name(field: &str, name: &str) -> Result<(), Error> {
    let odd = |c: char| c.is_control() || matches!(c, ',' | '"');
    if name.is_empty() || name.chars().count() > 64 || name.contains(odd) {
        let problem = format!(
            "{} is not a name (accepted: 1..64 characters without commas and quotes)",
            shown(name)
        );
        return Err(Error::new(field, problem));
    }
    Ok(())
}

/// Flows that share a receiver node must agree on what belongs to the node.
fn sharing(s: &Scenario) -> Result<(), Error> {
    let nodes = Nodes::new(s);
    for (i, flow) in s.flows.iter().enumerate() {
        let node = &nodes.receivers[nodes.receiver_of[i]];
        let first = node.first_flow.map_or(i, |first| first);
        let name = s.flows[first].name.as_deref().unwrap_or_default();
        let differs = |field: &str, given: &dyn Display, other: &dyn Display| {
            let problem = format!(
                "{given} differs from the {other} of {}, which shares the receiver node {} \
                 (accepted: {other}, or more topology.receivers)",
                shown(name),
                node.name
            );
            Err(Error::new(format!("flows[{i}].{field}"), problem))
        };
        if flow.extra_delay.0 != node.extra_delay {
            return differs(
                "extra_delay",
                &flow.extra_delay,
                &TimeText(node.extra_delay),
            );
        }
        let clock = flow.clock.or(&s.clock);
        if clock.offset != node.clock.offset {
            return differs("clock.offset", &clock.offset, &node.clock.offset);
        }
        if clock.skew != node.clock.skew {
            return differs("clock.skew", &clock.skew, &node.clock.skew);
        }
    }
    Ok(())
}

/// Makes the transports canonical, because the options of TCP depend on them.
pub(super) fn transports(flows: &mut [Flow]) -> Result<(), Error> {
    for (i, flow) in flows.iter_mut().enumerate() {
        let field = format!("flows[{i}].transport");
        let transport =
            registry::select(&field, "transport", registry::TRANSPORTS, &flow.transport)?;
        flow.transport = transport.name.to_owned();
    }
    Ok(())
}

/// Makes the directions canonical, because the network depends on them.
pub(super) fn directions(flows: &mut [Flow]) -> Result<(), Error> {
    for (i, flow) in flows.iter_mut().enumerate() {
        let field = format!("flows[{i}].direction");
        let direction =
            registry::select(&field, "direction", registry::DIRECTIONS, &flow.direction)?;
        flow.direction = direction.name.to_owned();
    }
    Ok(())
}

/// Checks a controller by making one, and fills in its parameters.
pub(super) fn controller(
    field: &str,
    given: &Algorithm,
    setup: &Setup,
) -> Result<Algorithm, Error> {
    let entry = registry::controller(field, &given.name)?;
    let params = Value::Object(given.params.clone());
    (entry.build)(setup, &params).map_err(|message| inside(field, &message))?;
    Ok(filled(entry.name, (entry.defaults)(), given))
}
