//! The command line from end to end, without the simulator.

mod line;
mod network;
mod tcp;

use super::*;
use ferrocc::scenario::quantity::Buffer;
use ferrocc::units::{Bytes, Duration, Rate};
use proptest::prelude::*;

fn parse(args: &[&str]) -> Result<Plan, Error> {
    super::parse(&args.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>())
}

/// The only run of a command line.
fn single(args: &[&str]) -> Cell {
    let plan = parse(args).unwrap();
    assert_eq!(plan.cells.len(), 1);
    plan.cells[0].clone()
}

fn error(args: &[&str]) -> String {
    match parse(args) {
        Ok(_) => panic!("accepted {args:?}"),
        Err(e) => e.to_string(),
    }
}

const BASE: &str = "--scenario=base/topo-1";
/// Only this controller is sure to be there whatever else the registry has.
const FIXED: &str = "--controller=fixed";

#[test]
fn the_base_scenario_resolves_to_the_documented_defaults() {
    let cell = single(&[BASE, FIXED]);
    let s = &cell.scenario;
    assert_eq!((s.seed, s.run, s.flows.len()), (1, 1, 1));
    assert_eq!(s.duration.0, Duration::from_secs(20));
    assert_eq!(s.topology.rtprop.0, Duration::from_millis(30));
    assert_eq!(s.topology.bottleneck.rate.0, Rate::from_mbps(20.0));
    assert_eq!(s.topology.bottleneck.aqm.name, "drop-tail");
    assert_eq!(s.topology.receivers, Some(1));
    assert_eq!(s.flows[0].size, None);
    assert_eq!(s.flows[0].start.0, Duration::from_millis(100));
    // 20 Mbps x 30 ms.
    assert_eq!(cell.links.buffer, Buffer::Bytes(Bytes::new(75_000)));
    assert_eq!(cell.links.access_rate, Rate::from_mbps(1000.0));
    let l = cell.links;
    assert_eq!(
        (l.receiver_delay + l.bottleneck_delay + l.replica_delay) * 2,
        Duration::from_millis(30)
    );
    assert_eq!(cell.payload, Bytes::new(1250));
}

#[test]
fn every_option_reaches_its_field() {
    let cell = single(&[
        BASE,
        FIXED,
        "--seed=7",
        "--run=9",
        "--duration=3s",
        "--rate=5Mbps",
        "--rtprop=100ms",
        "--buffer=37p",
        "--loss=0.01",
        "--reorder=0.02",
        "--flows=3",
        "--aqm=Drop-Tail",
        "--transport=ICN",
        "--set=flows[*].size=1 MB",
        "--set=flows[2].size=2 MB",
        "--verify",
        "--set=clock.offset=-5ms",
    ]);
    let s = &cell.scenario;
    assert_eq!((s.seed, s.run, s.verify), (7, 9, true));
    assert_eq!(s.duration.0, Duration::from_secs(3));
    assert_eq!(s.topology.bottleneck.rate.0, Rate::from_mbps(5.0));
    assert_eq!(s.topology.rtprop.0, Duration::from_millis(100));
    assert_eq!(cell.links.buffer, Buffer::Packets(37));
    assert_eq!(
        (
            s.topology.bottleneck.loss.0,
            s.topology.bottleneck.reorder.0
        ),
        (0.01, 0.02)
    );
    let sizes: Vec<u64> = s.flows.iter().map(|f| f.size.unwrap().0.get()).collect();
    assert_eq!(sizes, [1_000_000, 1_000_000, 2_000_000]);
    assert_eq!(s.clock.offset.nanos, -5_000_000);
    assert!(s.flows.iter().all(|f| f.controller.name == "fixed"));
    assert_eq!(s.topology.bottleneck.aqm.name, "drop-tail");
    assert!(s.flows.iter().all(|f| f.transport == "icn"));
}

#[test]
fn flows_are_cut_or_repeated_and_share_receivers() {
    let fig10 = "--scenario=copa-icn/fig10";
    let starts = |n: &str| -> Vec<u64> {
        let cell = single(&[fig10, FIXED, n]);
        cell.scenario
            .flows
            .iter()
            .map(|f| f.start.0.as_nanos() / 1_000_000)
            .collect()
    };
    assert_eq!(starts("--flows=2"), [100, 2100]);
    assert_eq!(starts("--flows=6"), [100, 2100, 4100, 6100, 6100, 6100]);
    assert_eq!(
        single(&[BASE, FIXED, "--flows=70"])
            .scenario
            .topology
            .receivers,
        Some(64)
    );
    let many = single(&[BASE, FIXED, "--flows=100000"]);
    assert_eq!(
        many.scenario.flows[99_999].name.as_deref(),
        Some("flow-100000")
    );
    assert_eq!(many.scenario.trace.enabled, Some(false));
    // Jitter of one RTprop.
    let jitter = single(&[fig10, FIXED]).scenario.flows[1].start_jitter;
    assert_eq!(jitter.to_string(), "50 ms");
}

#[test]
fn an_option_takes_its_axis_out_of_the_sweep() {
    let sweep = "--scenario=smoke/all-controllers";
    assert_eq!(
        error(&[sweep, "--set=sweep=null"]),
        "sweep (--set): can only be given in a scenario file"
    );
    let plan = parse(&[sweep, FIXED]).unwrap();
    assert_eq!((plan.cells.len(), plan.is_sweep()), (1, false));
    assert_eq!(plan.cells[0].name, "");
    assert_eq!(plan.cells[0].scenario.trace.enabled, Some(true));
    assert_eq!(plan.folder(0), Path::new("out/smoke/all-controllers"));
    assert_eq!(
        parse(&[sweep, "--set=flows[*].controller=fixed"])
            .unwrap()
            .cells
            .len(),
        1
    );
}

#[test]
fn a_sweep_has_a_folder_for_each_run() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("s.json");
    let text = r#"{"extends": "base/topo-1", "flows": [{"controller": "fixed"}],
        "sweep": {"topology.bottleneck.rate": ["1 Mbps", "2 Mbps"], "runs": 2}}"#;
    std::fs::write(&file, text).unwrap();
    let cwd = format!("--cwd={}", root.path().display());
    let plan = parse(&["--scenario=s.json", &cwd, "--out=o"]).unwrap();
    assert_eq!(plan.scenario, "s");
    let folders: Vec<PathBuf> = (0..4).map(|i| plan.folder(i)).collect();
    let expected: Vec<PathBuf> = [
        "rate=1Mbps,run=1",
        "rate=1Mbps,run=2",
        "rate=2Mbps,run=1",
        "rate=2Mbps,run=2",
    ]
    .map(|cell| root.path().join("o").join(cell))
    .to_vec();
    assert_eq!(folders, expected);
    assert!(
        plan.cells
            .iter()
            .all(|c| c.scenario.trace.enabled == Some(false))
    );
    assert_eq!(
        parse(&["--scenario=s.json", &cwd, "--run=1"])
            .unwrap()
            .cells
            .len(),
        2
    );
}

#[test]
fn axes_on_the_command_line_replace_and_add() {
    let names = |args: &[&str]| -> Vec<String> {
        let plan = parse(args).unwrap();
        plan.cells.into_iter().map(|cell| cell.name).collect()
    };
    let sweep = "--scenario=smoke/all-controllers";
    assert_eq!(
        names(&[
            sweep,
            r#"--sweep=flows[*].controller=["copa"]"#,
            "--sweep=run=[2,3]"
        ]),
        ["controller=copa,run=2", "controller=copa,run=3"]
    );
    assert_eq!(
        names(&[BASE, r#"--sweep=topology.rtprop=["9 ms"]"#]),
        ["rtprop=9ms"]
    );
    let refused = |arg: &str| error(&[BASE, FIXED, arg]);
    assert_eq!(
        refused("--sweep=run"),
        "--sweep: \"run\" has no values (accepted: --sweep=path=[values])"
    );
    assert_eq!(
        refused("--sweep=run=3"),
        "sweep.run: a number is not a list of values"
    );
    assert!(refused("--sweep=run=[]").contains("the list is empty"));
    assert!(refused("--sweep=run=[1,2").contains("a string is not a list"));
    assert_eq!(
        names(&[BASE, "--sweep=topology.rtprop=9 ms, 10 ms"]),
        ["rtprop=9ms", "rtprop=10ms"]
    );
    // A part of what an option sets.
    assert_eq!(
        names(&[
            BASE,
            "--aqm=red",
            "--sweep=topology.bottleneck.aqm.max_p=[0.1,0.2]"
        ]),
        ["max_p=0.1", "max_p=0.2"]
    );
    assert_eq!(
        error(&[BASE, "--sweep=run=[1,2]", "--run=3"]),
        "run (--sweep): is set by --run, too (accepted: one of both)"
    );
    assert_eq!(
        error(&[BASE, "--sweep=run=[1]", "--sweep=run=[2]"]),
        "run (--sweep): is swept twice"
    );
    assert!(refused("--sweep=extends=[1]").contains("cannot be swept"));
}

#[test]
fn one_run_of_a_sweep_is_a_run_of_its_own() {
    let sweep = [BASE, FIXED, "--sweep=run=[4,5]"];
    let whole = parse(&sweep).unwrap();
    let one = parse(&[&sweep[..], &["--cell=run=5", "--out=o"]].concat()).unwrap();
    assert!(!one.is_sweep());
    assert_eq!(one.cells[0].name, "");
    assert_eq!(one.folder(0), Path::new("o"));
    assert_eq!(one.cells[0].scenario, whole.cells[1].scenario);
    assert_eq!(
        error(&[&sweep[..], &["--cell=run=6"]].concat()),
        "--cell: unknown run \"run=6\" (accepted: run=4, run=5; did you mean run=4?)"
    );
    assert!(error(&[BASE, "--cell=run=1"]).contains("there is no sweep"));
    let runs: Vec<String> = (1..40).map(|n| n.to_string()).collect();
    let many = format!("--sweep=run=[{}]", runs.join(","));
    assert!(error(&[BASE, &many, "--cell=run=0"]).contains("one of the 39 that --describe lists"));
}

#[test]
fn a_plan_tells_programs_every_run_in_full() {
    let sweep = [BASE, FIXED, r#"--sweep=topology.rtprop=["9 ms","10 ms"]"#];
    let plan = parse(&[&sweep[..], &["--plan"]].concat()).unwrap();
    assert!(matches!(plan.action, Action::Print) && plan.text.ends_with("}\n"));
    let shown: Value = serde_json::from_str(&plan.text).unwrap();
    assert_eq!(
        (&shown["schema"], &shown["scenario"]),
        (&1.into(), &"base/topo-1".into())
    );
    assert_eq!(shown["axes"], serde_json::json!(["topology.rtprop"]));
    let runs = parse(&sweep).unwrap().cells;
    assert_eq!(shown["cells"].as_array().unwrap().len(), runs.len());
    for (shown, run) in shown["cells"].as_array().unwrap().iter().zip(&runs) {
        assert_eq!(shown["name"], run.name.as_str());
        assert_eq!(
            shown["config"],
            serde_json::to_value(&run.scenario).unwrap()
        );
    }
    assert_eq!(shown["cells"][1]["settings"]["topology.rtprop"], "10 ms");
}

#[test]
fn bad_input_is_told_in_one_line() {
    let base = |arg: &str| error(&[BASE, FIXED, arg]);
    assert_eq!(
        base("--rate=-3Mbps"),
        "topology.bottleneck.rate (--rate): \"-3Mbps\" is negative"
    );
    assert_eq!(
        base("--rate=20"),
        "topology.bottleneck.rate (--rate): \"20\" has no unit (accepted: bps, kbps, Mbps, Gbps, \
         Tbps, as in \"20 Mbps\")"
    );
    assert_eq!(
        base("--rate=2Tbps"),
        "topology.bottleneck.rate (--rate): 2 Tbps is out of range (accepted: 1 kbps..1 Tbps)"
    );
    assert_eq!(
        base("--loss=1.5"),
        "topology.bottleneck.loss (--loss): 1.5 is out of range (accepted: 0..1)"
    );
    assert_eq!(
        base("--loss=NaN"),
        "topology.bottleneck.loss (--loss): \"NaN\" is not a fraction (accepted: 0..1)"
    );
    assert_eq!(
        base("--flows=0"),
        "flow_count (--flows): 0 is out of range (accepted: 1..100000)"
    );
    assert_eq!(
        base("--loss=1%"),
        "topology.bottleneck.loss (--loss): \"1%\" is not a fraction (accepted: 0..1, as in 0.01)"
    );
    assert!(base("--set=flow[*].size=1MB").ends_with("did you mean flows?)"));
    assert!(error(&["--scenario=fig6a"]).ends_with("did you mean copa-icn/fig6a?)"));
    assert_eq!(
        base("--duration=0s"),
        "duration (--duration): 0 ns is out of range (accepted: 1 ms..1000000 s)"
    );
    assert_eq!(
        base("--recovery=veno"),
        "flows[0].recovery (--recovery): \"veno\" has no place in a flow with the icn transport \
         (accepted: none; recoveries are for tcp)"
    );
    assert_eq!(
        base("--transport=udp"),
        "flows[0].transport (--transport): unknown transport \"udp\" (accepted: icn, tcp)"
    );
    assert_eq!(
        base("--aqm=code"),
        "topology.bottleneck.aqm (--aqm): unknown AQM \"code\" (accepted: codel, drop-tail, ecd, \
         red; did you mean codel?)"
    );
    assert_eq!(
        base("--set=topology.bottleneck.aqm={\"name\": \"ecd\", \"p_max\": 2}"),
        "topology.bottleneck.aqm.p_max (--set): 2 is not in 0..1"
    );
    assert_eq!(
        base("--set=topology.bottleneck.aqm={\"name\": \"codel\", \"target\": 5}"),
        "topology.bottleneck.aqm (--set): unknown field \"target\" (accepted: target_ms, \
         interval_ms, mtu_bytes, arithmetic; did you mean target_ms?)"
    );
    assert_eq!(
        base("--set=topology.bottleneck.rat=1"),
        "topology.bottleneck: unknown field \"rat\" (accepted: rate, \
         extra_delay_reverse, buffer, aqm, loss, loss_reverse, reorder, reorder_delay, device_queue; did you mean rate?)"
    );
    assert_eq!(
        base("--set=flows[0].controller.windw=3"),
        "flows[0].controller (--controller): unknown field \"windw\" (accepted: window, \
         pacing_mbps; did you mean window?)"
    );
    assert_eq!(
        base("--set=flows[0].controller.window=0"),
        "flows[0].controller.window (--set): 0 packets is not in 1..1e9"
    );
    assert!(base("--seed=0").starts_with("seed (--seed): 0 is out of range"));
    assert_eq!(
        base("--seed=x"),
        "seed (--seed): \"x\" is not a whole number in 0..4294967295"
    );
    assert!(base("--buffer=10B").contains("one DATA packet of 1358B"));
    assert!(base("--verify").starts_with("flows[0].size: real content needs a size"));
    assert!(base("--jobs=0").starts_with("--jobs: "));
    assert_eq!(
        error(&["--scenario=base/topo1"]).split(" (").next(),
        Some("--scenario: unknown scenario \"base/topo1\"")
    );
    assert!(error(&["--scenario=base/topo1"]).ends_with("did you mean base/topo-1?)"));
    assert_eq!(
        error(&["--scenario=no.json"]),
        "--scenario: there is no file \"no.json\""
    );
    assert!(error(&[BASE, "--controller=copa-ican"]).contains("unknown controller \"copa-ican\""));
    assert!(error(&["--cwd=/no/such"]).starts_with("--cwd: "));
}

#[test]
fn a_list_is_not_an_object() {
    for path in [
        "topology",
        "topology.bottleneck",
        "topology.access",
        "transport",
        "flows[0]",
        "flows[0].clock",
        "clock",
        "names",
        "caches",
        "trace",
    ] {
        for list in ["[]", "[1]"] {
            let told = error(&[BASE, &format!("--set={path}={list}")]);
            assert_eq!(told, format!("{path} (--set): a list is not an object"));
        }
    }
    for path in ["replicas", "faults", "flows[0].switches"] {
        let told = error(&[BASE, &format!("--set={path}=[[]]")]);
        assert_eq!(told, format!("{path}[0] (--set): a list is not an object"));
    }
}

#[test]
fn files_that_are_no_scenarios_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let run = |bytes: &[u8]| {
        let file = root.path().join("x.json");
        std::fs::write(&file, bytes).unwrap();
        let cwd = format!("--cwd={}", root.path().display());
        error(&["--scenario=x.json", &cwd, FIXED])
    };
    assert!(run(b"{\"flows\": [").starts_with("x.json: not a valid JSON file"));
    assert!(run(b"\xff\xfe").starts_with("x.json: not UTF-8"));
    assert_eq!(
        run(br#"{"flows": []}"#),
        "flows: 0 flows are out of range (accepted: 1..100000)"
    );
    assert_eq!(
        run(br#"{"flows": {"size": 1}}"#),
        "flows[*].controller (--controller): flows is an object, not a list"
    );
    assert!(run(br#"{"flow": []}"#).starts_with("unknown field \"flow\" (accepted: $schema"));
    assert!(run(br#"{"extends": "x"}"#).starts_with("extends: unknown scenario \"x\""));
    assert_eq!(
        run(br#"{"extends": 3}"#),
        "extends: a number is not the name of a scenario"
    );
    assert_eq!(
        run(br#"{"flows": [{"name": "a"}, {"name": "a"}]}"#),
        "flows[1].name: \"a\" is the name of an earlier flow"
    );
    assert_eq!(
        run(br#"{"duration": 20}"#).split(" (").next(),
        Some("duration: \"20\" has no unit")
    );
    assert_eq!(
        run(br#"{"seed": true}"#),
        "seed: true is not a whole number in 0..4294967295"
    );
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1);
}

#[test]
fn what_describe_prints_is_a_scenario_that_resolves_to_itself() {
    let plan = parse(&["--scenario=smoke/lossy-verify", FIXED, "--describe"]).unwrap();
    assert!(matches!(plan.action, Action::Print));
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("again.json"), &plan.text).unwrap();
    let cwd = format!("--cwd={}", root.path().display());
    let again = parse(&["--scenario=again.json", &cwd]).unwrap();
    let first = single(&["--scenario=smoke/lossy-verify", FIXED]);
    assert_eq!(again.cells, [first]);
}

#[test]
fn every_embedded_scenario_resolves() {
    for (name, description) in scenarios().unwrap() {
        assert!(!description.is_empty(), "{name} has no description");
        let plan = parse(&[&format!("--scenario={name}"), FIXED]).unwrap();
        assert!(!plan.cells.is_empty());
    }
}

#[test]
fn the_texts_name_everything() {
    let list = parse(&["--list"]).unwrap().text;
    for name in [
        "base/topo-1",
        "copa-icn/fig6a",
        "smoke/one-flow",
        "fixed",
        "drop-tail",
    ] {
        assert!(list.contains(&format!("  {name} ")), "{name} in\n{list}");
    }
    for entry in ferrocc::aqm::registry::AQMS {
        let line = format!("\n  {:<28} {}", entry.name, entry.summary);
        assert!(list.contains(&line), "{} in\n{list}", entry.name);
    }
    assert!(parse(&["--help"]).unwrap().text.contains("--rtprop"));
}

#[test]
fn the_committed_schema_is_the_models() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/schema.json");
    let mut text = serde_json::to_string_pretty(&scenario::schema()).unwrap();
    text.push('\n');
    if std::env::var_os("FERROCC_UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "scenarios/schema.json is not the model's: FERROCC_UPDATE_SCHEMA=1 cargo test -p ferrocc-cli \
         writes it anew"
    );
}

/// JSON made of the model's own words, so that it gets far into the resolver.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-2.0f64..1e3).prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
        (any::<f32>(), "(bps|Mbps|ms|s|MB|B|p|bdp|rtprop|)")
            .prop_map(|(n, unit)| format!("{n}{unit}").into()),
        prop::sample::select(vec![
            "base/topo-1",
            "demo",
            "fixed",
            "drop-tail",
            "icn",
            "topo-1"
        ])
        .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "description",
        "assumptions",
        "extends",
        "sweep",
        "duration",
        "seed",
        "run",
        "runs",
        "verify",
        "transport",
        "mss_bytes",
        "topology",
        "kind",
        "receivers",
        "rtprop",
        "bottleneck",
        "rate",
        "buffer",
        "aqm",
        "loss",
        "reorder",
        "reorder_delay",
        "access",
        "receiver_delay_share",
        "flow_count",
        "flows",
        "name",
        "controller",
        "start",
        "start_jitter",
        "size",
        "recovery",
        "clock",
        "offset",
        "trace",
        "enabled",
        "interval",
        "flows[*].controller",
        "flows[0].size",
        "x",
    ]);
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|fields| {
                fields
                    .into_iter()
                    .map(|(k, v)| (k.to_owned(), v))
                    .collect::<Value>()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_resolved_or_refused_in_one_line(
        file in any_json(),
        sets in prop::collection::vec(("(flows|topology|sweep|clock)(\\[[0-9*]\\])?(\\.[a-z]{1,5})?", any_json()), 0..3),
    ) {
        let assignments: Vec<scenario::Assignment> = sets
            .into_iter()
            .filter_map(|(path, value)| {
                let path = path.parse().ok()?;
                Some(scenario::Assignment { path, value, option: "--set".to_owned() })
            })
            .collect();
        if let Err(e) = scenario::resolve("x", file, &assignments, &Embedded) {
            prop_assert!(!e.to_string().contains('\n'));
        }
    }

    #[test]
    fn any_fields_of_a_topology_are_resolved_or_refused(
        rate in 1_000u64..=1_000_000_000_000, k in 0u32..30, rtprop in 1_000u64..=60_000_000_000, buffer in 0.0f64..30.0, shares in (0.0f64..0.6, 0.0f64..0.6),
    ) {
        let rate = (rate >> k).max(1_000);
        let file = serde_json::json!({
            "extends": "base/topo-1",
            "flows": [{ "controller": "fixed" }],
            "topology": {
                "rtprop": format!("{rtprop} ns"),
                "bottleneck": { "rate": format!("{rate} bps"), "buffer": format!("{buffer} bdp") },
                "access": { "receiver_delay_share": shares.0, "replica_delay_share": shares.1 },
            },
        });
        let resolved = scenario::resolve("x", file, &[], &Embedded);
        // What may be wrong: the shares together, or a buffer beyond ns-3's 32 bits.
        let bdp_bytes = rate as f64 * rtprop as f64 / 8e9;
        let fine = shares.0 + shares.1 <= 1.0 && buffer > 0.0 && buffer * bdp_bytes < 4.29e9;
        prop_assert!(resolved.is_ok() || !fine, "{resolved:?}");
        if let Ok(plan) = resolved {
            let cell = &plan.cells[0];
            let l = cell.links;
            let one_way = l.receiver_delay + l.bottleneck_delay + l.replica_delay;
            prop_assert_eq!(one_way, cell.scenario.topology.rtprop.0 / 2);
            let again = serde_json::to_value(&cell.scenario).unwrap();
            prop_assert_eq!(&scenario::resolve("x", again, &[], &Embedded).unwrap().cells, &plan.cells);
        }
    }

    #[test]
    fn any_text_as_a_value_is_accepted_or_told_in_one_line(
        option in prop::sample::select(vec![
            "seed", "run", "duration", "transport", "controller", "recovery", "aqm", "rate", "rtprop",
            "buffer", "loss", "reorder", "flows", "set", "verify", "jobs",
        ]),
        value in "\\PC{0,20}",
    ) {
        if let Err(e) = parse(&[BASE, "--describe", &format!("--{option}={value}")]) {
            prop_assert!(!e.to_string().contains('\n'));
        }
    }
}
