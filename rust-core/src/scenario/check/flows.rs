//! The transfers.

use super::{inside, secs, within};
use crate::cc::Setup;
use crate::scenario::error::{Error, shown};
use crate::scenario::model::{Algorithm, Scenario};
use crate::scenario::quantity::Jitter;
use crate::scenario::registry;
use crate::transport::ReceiverOptions;
use crate::units::{Bytes, Duration};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Checks the transfers and fills them in.
pub(super) fn check(s: &mut Scenario, payload: Bytes) -> Result<(), Error> {
    let setup = Setup {
        mss: payload,
        packet_size: payload + Bytes::new(ReceiverOptions::HEADER_BYTES),
        initial_window: s.transport.initial_window,
        ..Setup::default()
    };
    let rtprop = s.topology.rtprop.0;
    // Thousands of flows with one controller need one check.
    let mut known: BTreeMap<String, Algorithm> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for (i, flow) in s.flows.iter_mut().enumerate() {
        let at = |field: &str| format!("flows[{i}].{field}");
        let name = flow.name.get_or_insert_with(|| format!("flow-{}", i + 1));
        let odd = |c: char| c.is_control() || matches!(c, ',' | '"');
        if name.is_empty() || name.chars().count() > 64 || name.contains(odd) {
            let problem = format!(
                "{} is not a name (accepted: 1..64 characters without commas and quotes)",
                shown(name)
            );
            return Err(Error::new(at("name"), problem));
        }
        if !names.insert(name.clone()) {
            let problem = format!("{} is the name of an earlier flow", shown(name));
            return Err(Error::new(at("name"), problem));
        }
        let field = at("transport");
        let transport =
            registry::select(&field, "transport", registry::TRANSPORTS, &flow.transport)?;
        flow.transport = transport.name.to_owned();
        if let Some(recovery) = &flow.recovery {
            let problem = format!(
                "{} has no place in a flow with the icn transport (accepted: none; recoveries are \
                 for tcp)",
                shown(recovery)
            );
            return Err(Error::new(at("recovery"), problem));
        }
        let key = serde_json::to_string(&flow.controller).unwrap_or_default();
        flow.controller = match known.get(&key) {
            Some(resolved) => resolved.clone(),
            None => {
                let resolved = controller(&at("controller"), &flow.controller, &setup)?;
                known.insert(key, resolved.clone());
                resolved
            }
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
        } else if s.verify {
            let problem = "real content needs a size (accepted: verify=false, or a size as in \
                           --set=\"flows[*].size=10 MB\")";
            return Err(Error::new(at("size"), problem));
        }
    }
    Ok(())
}

/// Checks a controller by making one, and fills in its parameters.
fn controller(field: &str, given: &Algorithm, setup: &Setup) -> Result<Algorithm, Error> {
    let entry = registry::controller(field, &given.name)?;
    let params = Value::Object(given.params.clone());
    (entry.build)(setup, &params).map_err(|message| inside(field, &message))?;
    let mut params = match (entry.defaults)() {
        Value::Object(defaults) => defaults,
        _ => Map::new(),
    };
    for (key, value) in &given.params {
        params.insert(key.clone(), value.clone());
    }
    Ok(Algorithm {
        name: entry.name.to_owned(),
        params,
    })
}
