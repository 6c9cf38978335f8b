//! Checks of the workload.

use super::within;
use crate::icn::Zipf;
use crate::scenario::error::Error;
use crate::scenario::model::{Flow, Scenario};
use crate::scenario::registry;
use crate::units::Bytes;

/// Most requests of a flow.
const MAX_REQUESTS: u32 = 1_000_000;

/// Most real content in all, bytes: each byte is made and hashed once before the run.
const MOST_REAL_BYTES: u64 = 100_000_000_000;

/// Checks the workload, and that no flow says what the workload decides.
pub(super) fn check(s: &mut Scenario) -> Result<(), Error> {
    let Some(w) = &mut s.workload else {
        return Ok(());
    };
    let most = Zipf::MAX_RANKS as u32;
    let counts = [
        ("catalogue", w.catalogue, 1, most, "1..1000000"),
        ("warmup", w.warmup, 0, MAX_REQUESTS, "0..1000000"),
        ("measured", w.measured, 1, MAX_REQUESTS, "1..1000000"),
    ];
    for (field, given, least, most, accepted) in counts {
        let field = format!("workload.{field}");
        within(&field, given, given, least, most, accepted)?;
    }
    within(
        "workload.alpha",
        w.alpha,
        w.alpha,
        0.0,
        Zipf::MAX_ALPHA,
        "0..10",
    )?;
    within(
        "workload.ndc_size",
        w.ndc_size,
        w.ndc_size.0,
        Bytes::new(1),
        Bytes::new(1_000_000_000),
        "1 B..1 GB",
    )?;
    let total = u64::from(w.catalogue).saturating_mul(w.ndc_size.0.get());
    if s.verify && total > MOST_REAL_BYTES {
        let problem = format!(
            "{} NDCs of {} are too much real content (accepted: verify=false, or 100 GB in all)",
            w.catalogue, w.ndc_size
        );
        return Err(Error::new("workload.catalogue", problem));
    }
    let mode = registry::select(
        "workload.warmup_mode",
        "warm-up mode",
        registry::WARMUP_MODES,
        &w.warmup_mode,
    )?;
    w.warmup_mode = mode.name.to_owned();
    let replayed = w.warmup_mode == "replay";
    if replayed && !s.caches.enabled {
        let problem =
            "replay fills caches, and there are none (caches.enabled is false; accepted: packets)";
        return Err(Error::new("workload.warmup_mode", problem));
    }
    for (i, flow) in s.flows.iter().enumerate() {
        refuse(i, flow)?;
    }
    if replayed {
        replayable(s)?;
    }
    let replicas = s.replicas.iter().flatten().enumerate();
    match replicas
        .map(|(i, r)| (i, &r.holds))
        .find(|(_, holds)| holds.is_some())
    {
        None => Ok(()),
        Some((i, _)) => Err(Error::new(
            format!("replicas[{i}].holds"),
            "with a workload each replica holds the whole catalogue (accepted: null)",
        )),
    }
}

/// Fails unless a model without packets can tell what the caches would hold.
fn replayable(s: &Scenario) -> Result<(), Error> {
    let refuse = |problem: &str| {
        let problem = format!("a replay cannot tell {problem}");
        Err(Error::new("workload.warmup_mode", problem))
    };
    let nearest = |flow: &Flow| flow.replica_choice == "nearest";
    if s.caches.off_path {
        return refuse("what an off-path cache fetches (accepted: packets)");
    }
    if s.caches.policy == "lfu" {
        return refuse(
            "lfu's counts to the caches (accepted: packets, or caches.policy=lru, fifo, random)",
        );
    }
    if s.names.binding != "receiver" {
        return Ok(());
    }
    if s.names.mode == "address" {
        return refuse(
            "caches that no client asks (accepted: packets, or names.mode=server, table)",
        );
    }
    if !s.flows.iter().all(nearest) {
        return refuse(
            "which source is not the nearest (accepted: packets, or flows[*].replica_choice=nearest)",
        );
    }
    Ok(())
}

/// Fails if the flow has what only a flow with an NDC of its own can have.
fn refuse(i: usize, flow: &Flow) -> Result<(), Error> {
    let Flow {
        transport,
        direction,
        size,
        ndc,
        repeat,
        background,
        switches,
        stop,
        ..
    } = flow;
    let has = [
        ("size", size.is_some(), "null; workload.ndc_size says it"),
        ("ndc", ndc.is_some(), "null"),
        ("repeat", *repeat, "false"),
        ("background", *background, "false"),
        ("switches", !switches.is_empty(), "none"),
        ("stop", stop.is_some(), "null"),
        ("direction", direction != "forward", "forward"),
        ("transport", transport != "icn", "icn"),
    ];
    match has.iter().find(|(_, has, _)| *has) {
        None => Ok(()),
        Some((field, _, accepted)) => Err(Error::new(
            format!("flows[{i}].{field}"),
            format!("has no place beside a workload (accepted: {accepted})"),
        )),
    }
}
