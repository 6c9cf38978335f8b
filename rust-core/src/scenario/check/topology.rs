//! The network.

use super::{DEFAULT_RECEIVERS, MAX_FLOWS, filled, inside, micros, secs, within};
use crate::aqm::{Limit, Setup, red};
use crate::cc::registry::parse;
use crate::scenario::error::Error;
use crate::scenario::model::{Algorithm, Bottleneck, Links, Scenario, Topology};
use crate::scenario::quantity::{Buffer, RateText};
use crate::scenario::registry;
use crate::units::{Bytes, Duration, Rate};
use serde_json::Value;

/// Makes the names canonical that other sections depend on.
pub(super) fn names(t: &mut Topology) -> Result<(), Error> {
    let kind = registry::select("topology.kind", "topology", registry::TOPOLOGIES, &t.kind)?;
    t.kind = kind.name.to_owned();
    let ip = registry::select("topology.ip", "IP version", registry::IP_VERSIONS, &t.ip)?;
    t.ip = ip.name.to_owned();
    Ok(())
}

/// Checks the network and fills it in; returns what follows for its links.
pub(super) fn check(s: &mut Scenario, packet: Bytes) -> Result<Links, Error> {
    let opposite = s.flows.iter().filter(|f| f.direction == "opposite").count();
    // On the side where more are.
    let most = opposite.max(s.flows.len() - opposite);
    let count = u32::try_from(most).unwrap_or(MAX_FLOWS);
    let t = &mut s.topology;
    if t.kind != "topo-2"
        && let Some(i) = s.flows.iter().position(|f| f.direction == "opposite")
    {
        let problem = format!(
            "\"opposite\" needs topo-2 (accepted in {}: forward)",
            t.kind
        );
        return Err(Error::new(format!("flows[{i}].direction"), problem));
    }
    let receivers = t.receivers.unwrap_or(count.min(DEFAULT_RECEIVERS));
    within(
        "topology.receivers",
        receivers,
        receivers,
        1,
        10_000,
        "1..10000",
    )?;
    t.receivers = Some(receivers);
    within(
        "topology.rtprop",
        t.rtprop,
        t.rtprop.0,
        micros(1),
        secs(60),
        "1 us..60 s",
    )?;
    within(
        "topology.priority_dscp",
        t.priority_dscp,
        t.priority_dscp,
        0,
        63,
        "0..63",
    )?;

    let b = &t.bottleneck;
    let rates = (Rate::from_bps(1_000), Rate::from_bps(1_000_000_000_000));
    within(
        "topology.bottleneck.rate",
        b.rate,
        b.rate.0,
        rates.0,
        rates.1,
        "1 kbps..1 Tbps",
    )?;
    within(
        "topology.bottleneck.reorder_delay",
        b.reorder_delay,
        b.reorder_delay.0,
        micros(1),
        secs(60),
        "1 us..60 s",
    )?;
    within(
        "topology.bottleneck.extra_delay_reverse",
        b.extra_delay_reverse,
        b.extra_delay_reverse.0,
        Duration::ZERO,
        secs(60),
        "0 s..60 s",
    )?;
    within(
        "topology.bottleneck.device_queue",
        b.device_queue,
        b.device_queue,
        1,
        1_000,
        "1..1000 packets",
    )?;
    if let Some(rate) = t.access.rate
        && !(b.rate.0..=Rate::from_bps(10_000_000_000_000)).contains(&rate.0)
    {
        let problem = format!(
            "{rate} is out of range (accepted: the bottleneck's {}..10 Tbps)",
            b.rate
        );
        return Err(Error::new("topology.access.rate", problem));
    }
    let shares = t.access.receiver_delay_share.0 + t.access.replica_delay_share.0;
    if shares > 1.0 {
        let problem = format!("the delay shares add up to {shares} (accepted: 0..1)");
        return Err(Error::new("topology.access", problem));
    }

    let field = "topology.bottleneck.buffer";
    // ns-3 keeps a queue's size in 32 bits.
    let most = u64::from(u32::MAX);
    match b.buffer {
        Buffer::Packets(n) => within(field, b.buffer, n, 1, 1_000_000, "1p..1000000p")?,
        Buffer::Bytes(n) => {
            let range = format!("one DATA packet of {packet}..{most}B");
            within(field, b.buffer, n, packet, Bytes::new(most), &range)?;
        }
        Buffer::Bdp(n) => {
            if !(n > 0.0 && n <= 1000.0) {
                let problem = format!("{} is out of range (accepted: above 0..1000 bdp)", b.buffer);
                return Err(Error::new(field, problem));
            }
        }
    }
    let links = t.links(packet);
    if let Buffer::Bytes(n) = links.buffer
        && n.get() > most
    {
        let problem = format!("{} are {n} (accepted: at most {most}B)", b.buffer);
        return Err(Error::new(field, problem));
    }
    t.bottleneck.buffer = links.buffer;
    t.bottleneck.aqm = aqm(&t.bottleneck, &links)?;
    t.access.rate = Some(RateText(links.access_rate));
    Ok(links)
}

/// Checks the AQM by making one, and fills in its parameters.
fn aqm(b: &Bottleneck, links: &Links) -> Result<Algorithm, Error> {
    const FIELD: &str = "topology.bottleneck.aqm";
    let entry = registry::aqm(FIELD, &b.aqm.name)?;
    let setup = Setup {
        limit: match links.buffer {
            Buffer::Packets(n) => Limit::Packets(n),
            Buffer::Bytes(n) => Limit::Bytes(n),
            Buffer::Bdp(_) => unreachable!("a resolved buffer is in packets or bytes"),
        },
        link_rate: b.rate.0,
        link_delay: links.bottleneck_delay,
    };
    let params = Value::Object(b.aqm.params.clone());
    (entry.build)(&setup, &params).map_err(|message| inside(FIELD, &message))?;
    // The defaults may be above a short queue; what is given may not.
    if entry.name == "red" && b.aqm.params.contains_key("min_threshold") {
        let checked = parse::<red::Config>(&params).and_then(|c| c.check_limit(&setup));
        checked.map_err(|message| inside(FIELD, &message))?;
    }
    Ok(filled(entry.name, (entry.defaults)(), &b.aqm))
}
