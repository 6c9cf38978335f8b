//! A run's folder from end to end: real transfers between the engines over a trivial link.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use ferrocc::cc::{Setup, registry};
use ferrocc::scenario::Cell;
use ferrocc::trace::{FlowMeter, LinkCounters, Reasons};
use ferrocc::transport::{Datagram, Receiver, ReceiverConfig, Replica};
use ferrocc::units::{Bytes, Duration, Instant, Rate};
use ferrocc::wire::Eid;
use ferrocc_cli::{Plan, RunWriter, parse};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// One way between receivers and replica.
const DELAY: Duration = Duration::from_millis(15);

/// A flow and the DATA packet (header, payload length) that reaches it; without one, its start or
/// its timer.
type Event = (usize, Option<(Vec<u8>, u32)>);

struct Flow {
    receiver: Receiver,
    meter: FlowMeter,
    started: bool,
    done: bool,
}

/// Runs `cell` at 8 Mbps without loss and writes it.
fn run(plan: &Arc<Plan>, index: usize) -> RunWriter {
    let cell: &Cell = &plan.cells[index];
    let mut writer = RunWriter::new(Arc::clone(plan), index, "3.44").unwrap();
    let rate = Rate::from_mbps(8.0);
    let link = writer.add_link("IR2-IR1", "IR2", "IR1", rate);
    let mut replica = Replica::new();
    let mut flows: Vec<Flow> = Vec::new();
    let mut events: BTreeMap<(Instant, u64), Event> = BTreeMap::new();
    let mut number = 0;
    for (i, spec) in cell.scenario.flows.iter().enumerate() {
        let ndc = replica.add_virtual(&format!("ndc-{i}"), spec.size.unwrap().0.get());
        let params = Value::Object(spec.controller.params.clone());
        let controller = registry::build(&spec.controller.name, &Setup::default(), &params);
        let config = ReceiverConfig {
            device: Eid::default(),
            ndc,
            verify: false,
            replica_clock_offset_ns: 0,
            options: cell.scenario.transport,
        };
        let receiver = Receiver::new(config, controller.unwrap()).unwrap();
        let meter = FlowMeter::default();
        flows.push(Flow {
            receiver,
            meter,
            started: false,
            done: false,
        });
        number += 1;
        events.insert((Instant::ZERO + spec.start.0, number), (i, None));
    }
    let mut free = Instant::ZERO;
    let mut sent = Bytes::ZERO;
    let mut last = Instant::ZERO;
    let mut next_row = Instant::ZERO;
    while let Some(((now, _), (i, packet))) = events.pop_first() {
        let bin = |writer: &mut RunWriter, flows: &[Flow], at: Instant| {
            let totals: Vec<u64> = flows
                .iter()
                .map(|f| f.receiver.step().delivered.get())
                .collect();
            writer.on_bin(at, &totals);
        };
        while writer.next_bin() <= now {
            let at = writer.next_bin().max(last);
            bin(&mut writer, &flows, at);
        }
        while next_row <= now {
            for (k, flow) in flows.iter_mut().enumerate().filter(|(_, f)| f.started) {
                let (step, stats) = (flow.receiver.step(), flow.receiver.stats().clone());
                writer.sample_flow(k, next_row, &step, &stats, &mut flow.meter);
            }
            let counters = LinkCounters {
                sent,
                ..LinkCounters::default()
            };
            writer.sample_link(link, next_row, &counters);
            next_row += cell.scenario.trace.interval.0;
        }
        last = now;
        let flow = &mut flows[i];
        if flow.done {
            continue;
        }
        let step = match &packet {
            None if !flow.started => {
                flow.started = true;
                writer.on_start(i, now);
                flow.receiver.open(now)
            }
            None => flow.receiver.on_timeout(now),
            Some((header, payload_len)) => flow.receiver.on_datagram(
                now,
                Datagram {
                    header,
                    payload_len: *payload_len,
                    payload: &[],
                },
            ),
        };
        flow.meter.on_step(&step, flow.receiver.stats());
        let output = flow.receiver.output();
        for request in &output.packets {
            let clock = (now + DELAY).as_nanos() as i64;
            let data = replica.on_request(clock, output.header(request));
            for packet in &data.packets {
                let size = Bytes::new(u64::from(packet.payload_len) + 110);
                free = free.max(now + DELAY) + size / rate;
                sent += size;
                number += 1;
                let packet = (data.header(packet).to_vec(), packet.payload_len);
                events.insert((free + DELAY, number), (i, Some(packet)));
            }
        }
        if step.completed {
            flow.done = true;
            writer.on_event(i, now, "end", 0.0, "");
            bin(&mut writer, &flows, now);
        } else if step.next_timer < Instant::MAX {
            number += 1;
            events.insert(
                (step.next_timer.max(now + Duration::from_nanos(1)), number),
                (i, None),
            );
        }
    }
    for (i, flow) in flows.iter().enumerate() {
        let (step, stats) = (flow.receiver.step(), flow.receiver.stats());
        writer.finish_flow(i, last, &step, stats, &flow.meter);
    }
    writer.finish_link(
        link,
        &LinkCounters {
            sent,
            ..LinkCounters::default()
        },
        Reasons::from([("overlimit".to_owned(), 3)]),
        Reasons::new(),
    );
    writer.finish(number, 0.5).unwrap();
    writer
}

fn plan(root: &Path, args: &[&str]) -> Arc<Plan> {
    let cwd = format!("--cwd={}", root.display());
    let args: Vec<String> = args
        .iter()
        .chain([&cwd.as_str()])
        .map(|a| (*a).to_owned())
        .collect();
    Arc::new(parse(&args).unwrap())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

const TWO: [&str; 4] = [
    "--scenario=smoke/two-flows",
    "--controller=newreno",
    "--out=run",
    "--duration=10s",
];

#[test]
fn a_run_writes_all_files_and_its_summary_adds_up() {
    let root = tempfile::tempdir().unwrap();
    let plan = plan(root.path(), &TWO);
    let writer = run(&plan, 0);
    let folder = root.path().join("run");
    assert_eq!(names(root.path()), ["run"]);
    let files = [
        "events.csv",
        "flows.csv",
        "queue.csv",
        "run.json",
        "summary.json",
    ];
    assert_eq!(names(&folder), files);

    let text = fs::read_to_string(folder.join("summary.json")).unwrap();
    assert!(!text.contains(root.path().to_str().unwrap()));
    let s: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&s["schema"], &s["scenario"]),
        (&1.into(), &"smoke/two-flows".into())
    );
    let flows = s["flows"].as_array().unwrap();
    assert_eq!(flows.len(), 2);
    for (flow, size, start) in [(&flows[0], 4e6, 0.1), (&flows[1], 1e6, 1.1)] {
        assert_eq!(flow["bytes"].as_f64(), Some(size));
        assert_eq!(flow["completed"], true);
        let number = |key: &str| flow[key].as_f64().unwrap();
        assert_eq!(number("start_s"), start);
        assert!((number("end_s") - start - number("fct_s")).abs() < 1e-9);
        let goodput = size * 8e-6 / number("fct_s");
        assert!((number("goodput_mbps") - goodput).abs() < 1e-5, "{flow:#}");
        assert!(flow["rtt_ms"]["min"].as_f64().unwrap() >= 30.0);
        assert!(flow["srtt_ms_mean"].as_f64().unwrap() >= 30.0);
        assert!(flow["owd_ms"]["min"].as_f64().unwrap() >= 15.0);
        assert!(flow["verified"].is_null() && flow["recovery"].is_null());
    }
    let used = s["links"][0]["utilisation"].as_f64().unwrap();
    assert!(used > 0.5 && used <= 1.0, "{used}");
    assert_eq!(s["fairness"]["joins"][0]["t_s"], 1.1);
    let jain = s["fairness"]["jain"].as_f64().unwrap();
    assert!((0.5..=1.0).contains(&jain), "{jain}");

    let table = writer.table();
    assert!(
        table.contains("newreno") && table.contains("IR2-IR1"),
        "{table}"
    );
    // The trace's goodputs over the intervals add up to what was delivered.
    let trace = fs::read_to_string(folder.join("flows.csv")).unwrap();
    let mut lines = trace
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = |name: &str| header.iter().position(|h| *h == name).unwrap();
    let (flow, goodput, total) = (
        column("flow"),
        column("goodput_mbps"),
        column("delivered_bytes"),
    );
    let rows: Vec<Vec<&str>> = lines.filter(|row| row[flow] == "1").collect();
    let interval = plan.cells[0].scenario.trace.interval.0.as_secs_f64();
    let sum: f64 = rows
        .iter()
        .filter_map(|row| row[goodput].parse::<f64>().ok())
        .sum();
    let last: f64 = rows.last().unwrap()[total].parse().unwrap();
    assert!(
        (sum * interval * 1e6 / 8.0 - last).abs() < 2000.0,
        "{sum} {last}"
    );
    assert!(rows.iter().all(|row| row.len() == header.len()));
}

#[test]
fn equal_runs_give_equal_bytes_with_and_without_trace() {
    let root = tempfile::tempdir().unwrap();
    let summary = |args: &[&str]| {
        run(&plan(root.path(), args), 0);
        let folder = root.path().join("run");
        (
            names(&folder),
            fs::read_to_string(folder.join("summary.json")).unwrap(),
        )
    };
    let (files, first) = summary(&TWO);
    assert_eq!(summary(&TWO), (files, first.clone()));
    let untraced: Vec<&str> = TWO
        .iter()
        .copied()
        .chain(["--set=trace.enabled=false"])
        .collect();
    let (files, other) = summary(&untraced);
    assert_eq!(files, ["run.json", "summary.json"]);
    assert_eq!(
        first.replace("\"enabled\": true", "\"enabled\": false"),
        other
    );
}

#[test]
fn a_sweep_has_a_table_once_all_its_runs_are_there() {
    let root = tempfile::tempdir().unwrap();
    let text = r#"{"extends": "base/topo-1", "flows": [{"size": "1 MB"}],
        "sweep": {"flows[*].controller": ["fixed", "newreno"]}}"#;
    fs::write(root.path().join("s.json"), text).unwrap();
    let plan = plan(root.path(), &["--scenario=s.json", "--out=o"]);
    run(&plan, 0);
    let error = plan.finish().unwrap_err().to_string();
    assert!(
        error.contains("controller=newreno") && error.contains("did not finish"),
        "{error}"
    );
    let table = run(&plan, 1).table().to_owned();
    assert!(table.starts_with("controller=newreno: goodput "), "{table}");
    assert_eq!(table.lines().count(), 1);
    plan.finish().unwrap();
    let out = root.path().join("o");
    assert_eq!(
        names(&out),
        ["controller=fixed", "controller=newreno", "sweep.csv"]
    );
    let table = fs::read_to_string(out.join("sweep.csv")).unwrap();
    let mut lines = table.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("cell,flows[*].controller,goodput_mbps,completed,")
    );
    let rows: Vec<&str> = lines.collect();
    assert!(rows[0].starts_with("controller=fixed,fixed,"), "{table}");
    assert!(
        rows[1].starts_with("controller=newreno,newreno,"),
        "{table}"
    );
    let columns = |line: &str| line.split(',').count();
    assert!(
        rows.iter()
            .all(|row| columns(row) == columns(&table[..table.find('\n').unwrap()]))
    );
    // A stale table never stands beside new runs; a single run may follow an interrupted sweep.
    run(&plan, 0);
    assert!(!out.join("sweep.csv").exists());
    let again = ["--scenario=s.json", "--out=o", "--controller=fixed"];
    run(&self::plan(root.path(), &again), 0);
    assert!(names(&out).contains(&"summary.json".to_owned()));
    assert!(!out.join("controller=newreno").exists());
}
