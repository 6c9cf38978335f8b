//! Networks, directions, clocks: what they resolve to.

use super::*;
use ferrocc::scenario::Nodes;
use ferrocc::scenario::quantity::{OffsetText, SkewText};

const TOPO_2: &str = "--scenario=base/topo-2";

#[test]
fn both_sides_have_hosts_in_topo_2() {
    let nodes = Nodes::new(&single(&[TOPO_2, FIXED, "--flows=4"]).scenario);
    let names = |router| -> Vec<&str> {
        let receivers = nodes.receivers.iter().filter(|r| r.router == router);
        receivers.map(|r| r.name.as_str()).collect()
    };
    assert_eq!(names(0), ["RE1"]);
    assert_eq!(names(1), ["RE2", "RE3", "RE4"]);
    assert_eq!(nodes.receiver_of, [0, 1, 2, 3]);
    // Forward flows fetch from RN2 at IR2, opposite ones from RN1 at IR1.
    let replicas: Vec<usize> = nodes.replicas_of.iter().map(|list| list[0].0).collect();
    assert_eq!(replicas, [1, 0, 0, 0]);
    let routers: Vec<(&str, usize)> = nodes
        .replicas
        .iter()
        .map(|r| (r.name.as_str(), r.router))
        .collect();
    assert_eq!(routers, [("RN1", 0), ("RN2", 1)]);
}

#[test]
fn flows_of_one_side_share_its_receivers_in_turn() {
    let nodes = |args: &[&str]| Nodes::new(&single(args).scenario);
    let shared = nodes(&[
        TOPO_2,
        FIXED,
        "--flows=6",
        "--set=flows[2].direction=forward",
        "--set=flows[4].direction=forward",
        "--set=topology.receivers=2",
    ]);
    assert_eq!(shared.receivers.len(), 4);
    assert_eq!(shared.receiver_of, [0, 2, 1, 3, 0, 2]);
    // topo-1 has as many as it says, whether flows use them or not.
    let more = nodes(&[BASE, FIXED, "--flows=2", "--set=topology.receivers=5"]);
    assert_eq!((more.receivers.len(), more.replicas.len()), (5, 1));
    assert_eq!(more.receivers[4].first_flow, None);
    let many = nodes(&[BASE, FIXED, "--flows=70"]);
    assert_eq!(many.receiver_of[69], 5);
}

#[test]
fn a_flow_has_the_scenarios_clock_but_for_what_it_says_itself() {
    let s = single(&[
        BASE,
        FIXED,
        "--flows=3",
        "--set=clock.offset=-2 s",
        "--set=clock.skew=50 ppm",
        "--set=flows[1].clock.skew=-0.5 ppm",
        "--set=flows[2].clock.offset=3 ns",
    ])
    .scenario;
    let clocks: Vec<(i64, i64)> = Nodes::new(&s)
        .receivers
        .iter()
        .map(|r| (r.clock.offset.nanos, r.clock.skew.ppb))
        .collect();
    assert_eq!(
        clocks,
        [
            (-2_000_000_000, 50_000),
            (-2_000_000_000, -500),
            (3, 50_000)
        ]
    );
    // The resolved scenario says all of it.
    let clock = s.flows[1].clock;
    assert_eq!(
        (clock.offset, clock.skew),
        (
            Some(OffsetText {
                nanos: -2_000_000_000
            }),
            Some(SkewText { ppb: -500 })
        )
    );
}

#[test]
fn ipv6_has_larger_packets_and_else_the_same() {
    let cell = |ip| single(&[BASE, FIXED, "--buffer=1 bdp", "--rate=1 kbps", ip]);
    let (v4, v6) = (
        cell("--set=topology.ip=ipv4"),
        cell("--set=topology.ip=IPv6"),
    );
    assert_eq!(v6.scenario.topology.ip, "ipv6");
    assert_eq!(v4.scenario.topology.header_bytes(), Bytes::new(108));
    assert_eq!(v6.scenario.topology.header_bytes(), Bytes::new(128));
    assert_eq!(v4.payload, v6.payload);
    // Two full packets at least.
    assert_eq!(v4.links.buffer, Buffer::Bytes(Bytes::new(2 * 1358)));
    assert_eq!(v6.links.buffer, Buffer::Bytes(Bytes::new(2 * 1378)));
    assert!(
        error(&[BASE, FIXED, "--buffer=1370B", "--set=topology.ip=ipv6"])
            .contains("one DATA packet of 1378")
    );
}

#[test]
fn what_contradicts_itself_is_refused_by_name() {
    let flows = |options: &[&str]| error(&[&[BASE, FIXED, "--flows=2"], options].concat());
    assert_eq!(
        flows(&["--set=flows[1].direction=opposite"]),
        "flows[1].direction (--set): \"opposite\" needs topo-2 (accepted in topo-1: forward)"
    );
    assert_eq!(
        flows(&["--set=flows[*].background=true"]),
        "flows[*].background (--set): all flows are in the background (accepted: false for at \
         least one flow, whose end the run waits for)"
    );
    assert!(flows(&["--set=flows[0].repeat=true"]).starts_with("flows[0].repeat (--set): an NDC"));
    assert_eq!(
        flows(&[
            "--set=topology.receivers=1",
            "--set=flows[1].clock.skew=7 ppb"
        ]),
        "flows[1].clock.skew (--set): 7 ppb differs from the 0 ppb of \"flow-1\", which shares the \
         receiver node RE1 (accepted: 0 ppb, or more topology.receivers)"
    );
    assert_eq!(
        flows(&["--set=flows[0].start=1 s", "--set=flows[0].stop=1 s"]),
        "flows[0].stop (--set): 1 s is out of range (accepted: after its start of 1 s, with \
         jitter, to 1000000 s)"
    );
    let fault = |json: &str| flows(&[&format!("--set=faults=[{{\"at\": \"1 s\", {json}}}]")]);
    assert_eq!(
        fault(r#""kind": "clock-step", "target": "RN", "step": "1 ms""#),
        "faults[0].target (--set): unknown receiver node \"RN\" (accepted: RE1, RE2)"
    );
    assert!(fault(r#""kind": "clock-step", "target": "RE1""#).starts_with("faults[0].step"));
    assert!(fault(r#""kind": "clock-step", "step": "1 ms""#).starts_with("faults[0].target"));
    assert!(
        fault(r#""kind": "replica-fail", "target": "RN", "step": "1 ms""#)
            .starts_with("faults[0].step (--set): has no place in replica-fail")
    );
    // A jitter may take the start beyond the stop.
    assert!(
        flows(&["--set=flows[0].stop=1 s", "--set=flows[0].start_jitter=1 s"])
            .starts_with("flows[0].stop")
    );
}
