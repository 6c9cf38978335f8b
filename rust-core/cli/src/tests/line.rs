//! The topology line: what it resolves to, and what is refused of routers, caches and faults.

use super::*;
use ferrocc::scenario::Nodes;
use ferrocc::scenario::quantity::Capacity;

const LINE: &str = "--scenario=base/line";

#[test]
fn the_line_has_three_routers_and_splits_the_delay() {
    let cell = single(&[LINE, FIXED, "--flows=3"]);
    let nodes = Nodes::new(&cell.scenario);
    let receivers: Vec<(&str, usize)> = nodes
        .receivers
        .iter()
        .map(|r| (r.name.as_str(), r.router))
        .collect();
    assert_eq!(receivers, [("C1", 0), ("C2", 0), ("C3", 0)]);
    assert_eq!(nodes.replicas.len(), 1);
    assert_eq!(
        (nodes.replicas[0].name.as_str(), nodes.replicas[0].router),
        ("S", 2)
    );
    // 20 ms: a sixth, a third, a third, a sixth of the way there.
    let l = cell.links;
    let micros = |d: Duration| d.as_nanos() / 1000;
    assert_eq!(micros(l.receiver_delay), 1666);
    assert_eq!(micros(l.edge_delay), 3333);
    assert_eq!(micros(l.bottleneck_delay), 3333);
    assert_eq!(
        (l.receiver_delay + l.edge_delay + l.bottleneck_delay + l.replica_delay) * 2,
        Duration::from_millis(20)
    );
    assert_eq!(l.buffer, Buffer::Packets(200));
    assert_eq!(cell.payload, Bytes::new(1392));
    assert_eq!(single(&[BASE, FIXED]).links.edge_delay, Duration::ZERO);
    let replicas = r#"--set=replicas=[{}, {"name": "origin"}]"#;
    let named = Nodes::new(&single(&[LINE, FIXED, replicas]).scenario).replicas;
    assert_eq!(
        (named[0].name.as_str(), named[1].name.as_str()),
        ("S1", "origin")
    );
}

#[test]
fn caches_are_at_all_icn_routers_unless_it_is_said() {
    let at = |args: &[&str]| {
        single(&[&[FIXED], args].concat())
            .scenario
            .caches
            .at
            .unwrap()
    };
    assert_eq!(at(&[LINE]), ["R1", "R2", "R3"]);
    assert_eq!(
        at(&[LINE, "--set=topology.ip_routers=[\"r2\"]"]),
        ["R1", "R3"]
    );
    assert_eq!(at(&[LINE, "--set=caches.at=[\"r2\"]"]), ["R2"]);
    assert_eq!(at(&[BASE]), ["IR1"]);
    assert_eq!(at(&[BASE, "--set=caches.at=[\"IR2\"]"]), ["IR2"]);
}

#[test]
fn a_capacity_is_a_size_or_a_number() {
    let capacity = |text: &str| {
        let set = format!("--set=caches.capacity={text}");
        single(&[LINE, FIXED, &set]).scenario.caches.capacity
    };
    assert_eq!(capacity("100 NDCs"), Capacity::Ndcs(100));
    assert_eq!(capacity("0.2 GB"), Capacity::Bytes(Bytes::new(200_000_000)));
    assert_eq!(capacity("0.2 GB").to_string(), "200 MB");
    assert_eq!(capacity("7NDCs").to_string(), "7 NDCs");
    let refused = |text: &str| error(&[LINE, FIXED, &format!("--set=caches.capacity={text}")]);
    assert!(refused("1.5 NDCs").contains("not a whole number of NDCs"));
    assert!(refused("0 NDCs").contains("0 NDCs is out of range (accepted: 1..1000000000 NDCs)"));
    assert!(refused("100 ndc").contains("did you mean NDCs?"));
    assert!(refused("100").contains("has no unit"));
}

#[test]
fn the_probability_belongs_to_its_placement() {
    let probability = |args: &[&str]| {
        let scenario = single(&[&[LINE, FIXED], args].concat()).scenario;
        scenario.caches.placement_probability.map(|p| p.0)
    };
    let probabilistic = "--set=caches.placement=Probabilistic";
    assert_eq!(probability(&[]), None);
    assert_eq!(probability(&[probabilistic]), Some(0.5));
    let own = "--set=caches.placement_probability=0.25";
    assert_eq!(probability(&[probabilistic, own]), Some(0.25));
    assert_eq!(
        error(&[LINE, FIXED, own]),
        "caches.placement_probability (--set): has no place with placement \"lce\" (accepted: null, \
         or placement probabilistic)"
    );
    let zero = "--set=caches.placement_probability=0";
    assert!(error(&[LINE, FIXED, probabilistic, zero]).contains("accepted: above 0..1"));
}

/// Each line says which field, what was given, and what is accepted.
#[test]
fn what_routers_cannot_do_is_refused_by_name() {
    let receiver = "--set=names.binding=receiver";
    let edge = "--set=names.binding=edge";
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["--set=topology.ip_routers=[\"R4\"]"],
            &[
                "topology.ip_routers[0] (--set): unknown router \"R4\"",
                "(accepted: R1, R2, R3)",
            ],
        ),
        (
            &["--set=topology.ip_routers=[\"R2\", \"r2\"]"],
            &["topology.ip_routers[1]", "R2 is there twice"],
        ),
        (
            &[edge, "--set=topology.ip_routers=[\"R1\"]"],
            &[
                "topology.ip_routers",
                "R1 is an edge router",
                "names.binding is edge",
            ],
        ),
        (
            &["--set=names.binding=edges"],
            &[
                "names.binding (--set): unknown binding \"edges\"",
                "did you mean edge?",
            ],
        ),
        (
            &[edge, "--set=names.mode=table"],
            &[
                "names.binding",
                "needs a name server",
                "names.mode is table",
                "accepted: receiver",
            ],
        ),
        (
            &[edge, "--set=flows[0].replica_choice=random"],
            &[
                "flows[0].replica_choice",
                "random",
                "names.binding edge: listed",
            ],
        ),
        (
            &[edge, "--set=flows[0].switches=[{\"at\": \"1 s\"}]"],
            &["flows[0].switches", "names.binding edge: no switches"],
        ),
        (
            &["--set=caches.policy=lrv"],
            &[
                "caches.policy (--set): unknown cache policy \"lrv\"",
                "did you mean lru?",
            ],
        ),
        (
            &["--set=caches.placement=lcf"],
            &[
                "caches.placement (--set): unknown placement \"lcf\"",
                "lce, lcd, probabilistic",
            ],
        ),
        (
            &[
                "--set=topology.ip_routers=[\"R2\"]",
                "--set=caches.at=[\"R1\", \"R2\"]",
            ],
            &[
                "caches.at[1]",
                "R2 is a plain IP router",
                "accepted: R1, R3",
            ],
        ),
        (
            &["--set=caches.at=[\"R2\", \"R2\"]"],
            &["caches.at[1]", "R2 is there twice"],
        ),
        (
            &["--set=caches.enabled=true", "--set=caches.at=[]"],
            &[
                "caches.at",
                "the list is empty (accepted: some of R1, R2, R3",
            ],
        ),
        (
            &[
                receiver,
                "--set=names.mode=address",
                "--set=caches.enabled=true",
            ],
            &["caches.enabled", "has no effect", "names.mode is address"],
        ),
        (
            &[
                "--set=topology.bottleneck.aqm.name=red",
                "--set=topology.bottleneck.aqm.min_threshold=300",
                "--set=topology.bottleneck.aqm.max_threshold=400",
            ],
            &[
                "topology.bottleneck.aqm.min_threshold",
                "300 is more than the queue holds (accepted: at most its limit, 200 packets)",
            ],
        ),
        (
            &["--aqm=edc"],
            &["unknown AQM \"edc\"", "did you mean ecd?"],
        ),
        (
            &["--set=flows[0].controller=TcpCubic"],
            &["unknown controller", "did you mean ns3::TcpCubic?"],
        ),
        (
            &["--set=caches.assembly_memory=0 B"],
            &[
                "caches.assembly_memory",
                "0 B is out of range (accepted: 1 B..1 TB)",
            ],
        ),
        (
            &[
                receiver,
                "--set=names.mode=table",
                "--set=caches.off_path=true",
            ],
            &["caches.off_path", "names.mode is table", "accepted: false"],
        ),
        (
            &["--set=caches.off_path_controller=newreno"],
            &[
                "caches.off_path_controller",
                "without an off-path cache (accepted: null",
            ],
        ),
        (
            &[
                "--set=caches.enabled=true",
                "--set=caches.off_path=true",
                "--set=caches.off_path_controller=ns3::TcpCubic",
            ],
            &["caches.off_path_controller", "is for the tcp transport"],
        ),
        (
            &[
                "--set=caches.enabled=true",
                "--set=caches.off_path=true",
                "--set=caches.off_path_controller=newrenoo",
            ],
            &["caches.off_path_controller", "did you mean newreno?"],
        ),
        (
            &["--set=flows[0].direction=opposite"],
            &[
                "flows[0].direction",
                "needs topo-2 (accepted in line: forward)",
            ],
        ),
    ];
    for (args, parts) in cases {
        let line = error(&[&[LINE, FIXED], *args].concat());
        for part in *parts {
            assert!(line.contains(part), "{args:?}: {line}, not {part}");
        }
        assert!(!line.contains('\n'));
    }
    let line = error(&[BASE, FIXED, "--set=caches.off_path=true"]);
    assert!(line.contains("caches.off_path") && line.contains("accepted in topo-1: false"));
}

#[test]
fn faults_have_what_they_need_and_nothing_else() {
    let cases: &[(&str, &[&str])] = &[
        (
            r#""kind": "router-restart", "target": "R1""#,
            &["faults[0].outage (--set): router-restart needs an outage"],
        ),
        (
            r#""kind": "router-restart", "outage": "1 s""#,
            &[
                "faults[0].target",
                "needs the name of a router (accepted: R1, R2, R3)",
            ],
        ),
        (
            r#""kind": "router-restart", "target": "R9", "outage": "1 s""#,
            &["faults[0].target", "unknown router \"R9\""],
        ),
        (
            r#""kind": "router-restrat", "target": "R1", "outage": "1 s""#,
            &["faults[0].kind", "did you mean router-restart?"],
        ),
        (
            r#""kind": "cache-evict", "target": "R1""#,
            &["faults[0].kind", "needs caches.enabled=true"],
        ),
        (
            r#""kind": "receiver-move", "target": "C1""#,
            &["faults[0].to", "receiver-move needs a router"],
        ),
        (
            r#""kind": "receiver-move", "target": "S", "to": "R2""#,
            &[
                "faults[0].target",
                "unknown receiver node \"S\" (accepted: C1",
            ],
        ),
        (
            r#""kind": "receiver-move", "target": "C1", "to": "R4""#,
            &["faults[0].to", "unknown router \"R4\""],
        ),
        (
            r#""kind": "receiver-move", "target": "C1", "to": "R1""#,
            &["faults[0].to", "C1 is at R1 then (accepted: R2, R3)"],
        ),
        (
            r#""kind": "replica-move", "target": "S", "to": "R3""#,
            &["faults[0].to", "S is at R3 then (accepted: R1, R2)"],
        ),
        (
            r#""kind": "replica-move", "target": "C1", "to": "R1""#,
            &["faults[0].target", "unknown replica \"C1\" (accepted: S"],
        ),
        (
            r#""kind": "replica-fail", "target": "S", "outage": "1 s""#,
            &["faults[0].outage", "has no place in replica-fail"],
        ),
    ];
    for (fault, parts) in cases {
        let set = format!("--set=faults=[{{\"at\": \"1 s\", {fault}}}]");
        let line = error(&[LINE, FIXED, &set]);
        for part in *parts {
            assert!(line.contains(part), "{fault}: {line}, not {part}");
        }
    }
    // Where a host is follows from the moves before, whatever their order in the list.
    let moves = r#"--set=faults=[
        {"at": "2 s", "kind": "receiver-move", "target": "C1", "to": "r1"},
        {"at": "1 s", "kind": "receiver-move", "target": "C1", "to": "R3"}]"#;
    let faults = single(&[LINE, FIXED, moves]).scenario.faults;
    assert_eq!(faults[0].to.as_deref(), Some("R1"));
    let late = [
        LINE,
        FIXED,
        "--set=names.binding=path",
        "--set=topology.ip_routers=[\"R2\"]",
        r#"--set=faults=[{"at": "1 s", "kind": "receiver-move", "target": "C1", "to": "R2"}]"#,
    ];
    assert!(error(&late).contains("R2 is a plain IP router, which cannot bind names"));
    let provided = [
        LINE,
        "--set=names.mode=server",
        "--set=flows[*].size=null",
        r#"--set=workload={"catalogue": 5, "ndc_size": "20 kB", "measured": 3}"#,
        r#"--set=faults=[{"at": "1 s", "kind": "replica-move", "target": "S", "to": "R2"}]"#,
    ];
    let line = error(&provided);
    assert!(
        line.contains("faults[0].kind") && line.contains("names.mode table"),
        "{line}"
    );
    let elsewhere =
        r#"--set=faults=[{"at": "1 s", "kind": "receiver-move", "target": "RE1", "to": "IR2"}]"#;
    assert!(error(&[BASE, FIXED, elsewhere]).contains("needs the topology line"));
}

#[test]
fn the_resolved_line_resolves_to_itself() {
    let args = [
        LINE,
        FIXED,
        "--set=caches.enabled=true",
        "--set=caches.placement=probabilistic",
        "--set=caches.capacity=5 NDCs",
        "--set=topology.ip_routers=[\"R3\"]",
        r#"--set=faults=[{"at": "1 s", "kind": "router-restart", "target": "R2", "outage": "1 s"}]"#,
    ];
    let scenario = single(&args).scenario;
    let text = serde_json::to_value(&scenario).unwrap();
    let again: ferrocc::scenario::Scenario = serde_json::from_value(text.clone()).unwrap();
    assert_eq!(serde_json::to_value(&again).unwrap(), text);
    assert_eq!(text["topology"]["ip_routers"], serde_json::json!(["R3"]));
    assert_eq!(text["caches"]["at"], serde_json::json!(["R1", "R2"]));
}
