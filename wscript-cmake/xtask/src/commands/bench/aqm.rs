//! Our queue discs beside ns-3's: an enqueue and a dequeue of a packet.

use std::time::Duration;

use crate::failure::Result;

use super::measure::{Bench, Call};
use super::results::Row;
use super::transfers::difference;

/// The program with one queue disc.
pub const AQM: &str = "bench-aqm";

/// Most instructions per packet over those of ns-3's queue disc.
const TARGET: f64 = 1.3;

/// Packets of the two runs whose difference counts.
const PACKETS: [u64; 2] = [5_000, 55_000];

/// Nothing, ns-3's CoDel, and ours.
const DISCS: [&str; 4] = [
    "none",
    "ns3::CoDelQueueDisc",
    "ns3::FerroccCoDelQueueDisc",
    "ns3::FerroccEcdQueueDisc",
];

/// Measures CoDel and early congestion detection beside ns-3's CoDel.
pub fn measure(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let mut calls: Vec<Call> = Vec::new();
    for disc in DISCS {
        for packets in PACKETS {
            let arguments = vec![format!("--disc={disc}"), format!("--packets={packets}")];
            calls.push(bench.call(AQM, arguments)?);
        }
    }
    let progress = &bench.context.progress;
    let mut instructions = Vec::new();
    progress.step("bench AQM", "count instructions of queue discs", |step| {
        let log = bench.context.logs.begin("bench AQM callgrind")?;
        for pair in calls.chunks(2) {
            let from = bench.instructions(&log, step, &pair[0])?;
            let to = bench.instructions(&log, step, &pair[1])?;
            instructions.push(to.saturating_sub(from) as f64);
        }
        Ok("counted".into())
    })?;
    let mut wall = Vec::new();
    progress.step("bench AQM", "measure wall time", |step| {
        let log = bench.context.logs.begin("bench AQM wall")?;
        let times: Vec<Duration> = bench.wall(&log, step, &calls)?;
        wall = times
            .chunks(2)
            .map(|pair| difference(pair[0], pair[1]))
            .collect();
        Ok("measured".into())
    })?;
    let packets = (PACKETS[1] - PACKETS[0]) as f64;
    let rows = [("codel", "CoDel", 2), ("ecd", "ECD", 3)];
    Ok(rows
        .map(|(id, name, i)| {
            // What making the packets costs is no part of it.
            let cost = |i: usize| (instructions[i] - instructions[0]) / packets;
            Row {
                id: format!("aqm-{id}"),
                figure: format!("instructions per packet, our {name} : ns-3's CoDelQueueDisc"),
                target: TARGET,
                measured: cost(i) / cost(1),
                wall: (wall[i] - wall[0]) / (wall[1] - wall[0]),
                unit: "packet".into(),
                numerator: cost(i),
                denominator: cost(1),
                reqs_per_data: 0.0,
            }
        })
        .into())
}
