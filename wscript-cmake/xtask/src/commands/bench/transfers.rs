//! One transfer over topo-1: ICN beside UDP at constant rate (ns-3's floor) and beside ns-3's TCP.

use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::process::Log;
use crate::progress::Step;
use crate::runner::SCENARIOS;

use super::icn::Transfer;
use super::measure::{Bench, Call, value};
use super::results::Row;

/// The program with UDP in both directions.
pub const UDP_FLOOR: &str = "bench-udp-floor";

/// The program with TcpSocketBase and TcpCubic.
pub const TCP: &str = "bench-tcp";

/// Payload of a full packet, bytes, for ICN and TCP alike.
const PAYLOAD: u64 = 1250;

/// Propagation round trip, ms: base/topo-1's.
const RTPROP_MS: u32 = 30;

/// Bottleneck buffer, large enough that nothing is lost.
const BUFFER: &str = "100000p";

/// Most instructions per DATA packet over the UDP floor's.
const TARGET_UDP: f64 = 1.25;

/// Most instructions per delivered byte over TCP's at a rate.
fn target_tcp(rate_mbps: u32) -> f64 {
    if rate_mbps >= 100 { 0.6 } else { 0.7 }
}

/// DATA packets of the two runs whose difference counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    short: u64,
    long: u64,
}

impl Lengths {
    /// 5,000 DATA packets between the two, after slow start; five times as many in full.
    pub fn new(full: bool) -> Self {
        let short = 2_500;
        Self {
            short,
            long: short + if full { 25_000 } else { 5_000 },
        }
    }
}

/// The three transfers of one length.
struct Calls {
    icn: Call,
    udp: Call,
    tcp: Call,
    transfer: Transfer,
}

/// Measures both rows at one rate.
pub fn measure(bench: &Bench<'_>, rate_mbps: u32, lengths: Lengths) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let name = format!("bench {rate_mbps} Mbps");
    let mut calls = Vec::new();
    bench
        .context
        .progress
        .step(&name, "run the transfers once", |step| {
            let log = bench.context.logs.begin(&format!("{name} once"))?;
            for packets in [lengths.short, lengths.long] {
                calls.push(prepare(bench, &log, step, rate_mbps, packets)?);
            }
            let transfer = &calls[1].transfer;
            Ok(format!(
                "{:.3} REQ per DATA",
                transfer.reqs as f64 / transfer.data as f64
            ))
        })?;
    let [short, long] = &calls[..] else {
        unreachable!("two lengths")
    };
    let pairs = [
        (&short.icn, &long.icn),
        (&short.udp, &long.udp),
        (&short.tcp, &long.tcp),
    ];

    let mut instructions = Vec::new();
    bench
        .context
        .progress
        .step(&name, "count instructions of ICN, UDP, TCP", |step| {
            let log = bench.context.logs.begin(&format!("{name} callgrind"))?;
            for (short, long) in pairs {
                let from = bench.instructions(&log, step, short)?;
                let to = bench.instructions(&log, step, long)?;
                instructions.push(to.saturating_sub(from) as f64);
            }
            Ok("counted".into())
        })?;
    let mut wall = Vec::new();
    bench
        .context
        .progress
        .step(&name, "measure wall time", |step| {
            let log = bench.context.logs.begin(&format!("{name} wall"))?;
            let in_turn: Vec<Call> = pairs
                .iter()
                .flat_map(|(s, l)| [s, l])
                .copied()
                .cloned()
                .collect();
            let times = bench.wall(&log, step, &in_turn)?;
            wall = times
                .chunks(2)
                .map(|pair| difference(pair[0], pair[1]))
                .collect();
            Ok("measured".into())
        })?;
    let data = (long.transfer.data - short.transfer.data) as f64;
    let bytes = long.transfer.bytes - short.transfer.bytes;
    rows.push(Row {
        id: format!("icn-udp-{rate_mbps}"),
        figure: format!("instructions per DATA, ICN : UDP floor, {rate_mbps} Mbps"),
        target: TARGET_UDP,
        measured: instructions[0] / instructions[1],
        wall: wall[0] / wall[1],
        unit: "DATA".into(),
        numerator: instructions[0] / data,
        denominator: instructions[1] / data,
        reqs_per_data: long.transfer.reqs as f64 / long.transfer.data as f64,
    });
    rows.push(Row {
        id: format!("icn-tcp-{rate_mbps}"),
        figure: format!("instructions per byte, ICN : TcpSocketBase + TcpCubic, {rate_mbps} Mbps"),
        target: target_tcp(rate_mbps),
        measured: instructions[0] / instructions[2],
        wall: wall[0] / wall[2],
        unit: "byte".into(),
        numerator: instructions[0] / bytes,
        denominator: instructions[2] / bytes,
        reqs_per_data: long.transfer.reqs as f64 / long.transfer.data as f64,
    });
    Ok(rows)
}

/// The seconds that the longer of two runs took more.
pub fn difference(short: Duration, long: Duration) -> f64 {
    long.as_secs_f64() - short.as_secs_f64()
}

/// Runs the transfers of one length once, to check them and to know what the UDP floor has to repeat.
fn prepare(
    bench: &Bench<'_>,
    log: &Log,
    step: &Step<'_>,
    rate_mbps: u32,
    packets: u64,
) -> Result<Calls> {
    let out = bench.folder.join(format!("run-{rate_mbps}-{packets}"));
    let bytes = packets * PAYLOAD;
    // Twice what the link takes, and slow start.
    let duration_s = 2.0 + 2.0 * (packets * 1360 * 8) as f64 / (f64::from(rate_mbps) * 1e6);
    let icn = bench.call(
        SCENARIOS,
        vec![
            "--scenario=base/topo-1".into(),
            format!("--out={}", out.display()),
            format!("--rate={rate_mbps}Mbps"),
            format!("--rtprop={RTPROP_MS}ms"),
            format!("--buffer={BUFFER}"),
            format!("--duration={duration_s:.3}s"),
            format!("--set=flows[0].size={bytes}B"),
            "--set=trace.enabled=false".into(),
            "--no-progress".into(),
        ],
    )?;
    bench.values(log, step, &icn)?;
    let transfer = Transfer::read(&out)?;
    let network = [
        format!("--rate={rate_mbps}Mbps"),
        format!("--rtprop={RTPROP_MS}ms"),
        format!("--buffer={BUFFER}"),
    ];
    let udp_arguments = [
        format!("--data={}", transfer.data),
        format!("--data-size={}", transfer.data_size),
        format!("--reqs={}", transfer.reqs),
        format!("--req-size={}", transfer.req_size),
        format!("--length={}s", transfer.length_s),
    ];
    let udp = bench.call(UDP_FLOOR, [&network[..], &udp_arguments].concat())?;
    let arrived = bench.values(log, step, &udp)?;
    if value(&arrived, "data")? != transfer.data as f64
        || value(&arrived, "reqs")? != transfer.reqs as f64
    {
        return Err(Failure::step("the UDP floor lost packets"));
    }
    // Two bandwidth-delay products: full rate, and no loss in the buffer above.
    let window = u64::from(rate_mbps) * u64::from(RTPROP_MS) * 1000 / 8 * 2;
    let tcp_arguments = [
        format!("--bytes={bytes}"),
        format!("--segment={PAYLOAD}"),
        format!("--window={window}"),
    ];
    let tcp = bench.call(TCP, [&network[..], &tcp_arguments].concat())?;
    let result = bench.values(log, step, &tcp)?;
    if value(&result, "bytes")? != bytes as f64 || value(&result, "dropped")? != 0.0 {
        return Err(Failure::step(
            "the TCP transfer is not complete or not free of loss",
        ));
    }
    Ok(Calls {
        icn,
        udp,
        tcp,
        transfer,
    })
}
