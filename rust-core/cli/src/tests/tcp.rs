//! Flows over TCP.

use super::*;

const TCP: &str = "--transport=tcp";

#[test]
fn options_are_filled_in_from_the_network() {
    let cell = single(&[
        BASE,
        TCP,
        "--controller=cubic",
        "--buffer=200p",
        "--rtprop=6ms",
    ]);
    let tcp = cell.scenario.tcp.unwrap();
    // The IP packet of 1250 B of DATA has 1358 B.
    assert_eq!(tcp.mss.unwrap().0, Bytes::new(1318));
    assert_eq!(
        (tcp.sack, tcp.delayed_ack, tcp.initial_window),
        (true, 2, 10)
    );
    // Path (the mean delay of reordered packets included) and queue eight times, and 1 MB.
    let window = 20_000_000 / 8 * 16 / 1000 + 200 * 1358;
    assert_eq!(tcp.buffer.unwrap().0, Bytes::new(8 * window + 1_000_000));
    assert_eq!(
        cell.scenario.flows[0]
            .recovery
            .as_ref()
            .map(|r| r.name.as_str()),
        Some("standard")
    );

    let ipv6 = single(&[BASE, TCP, FIXED, "--set=topology.ip=ipv6"]);
    // 20 B more in either header.
    assert_eq!(ipv6.scenario.tcp.unwrap().mss.unwrap().0, Bytes::new(1318));
    let full = single(&[BASE, TCP, FIXED, "--set=transport.mss_bytes=1392"]);
    assert_eq!(full.scenario.tcp.unwrap().mss.unwrap().0, Bytes::new(1460));
}

#[test]
fn a_scenario_without_tcp_has_no_options_of_it() {
    let cell = single(&[BASE, FIXED, "--set=tcp.sack=false"]);
    assert_eq!(cell.scenario.tcp, None);
    let text = serde_json::to_string(&cell.scenario).unwrap();
    assert!(!text.contains("\"tcp\""), "{text}");
}

#[test]
fn a_resolved_scenario_with_tcp_resolves_to_itself() {
    let args = [
        BASE,
        TCP,
        "--controller=ns3::TcpCubic",
        "--set=tcp.sack=false",
    ];
    let first = parse(&args).unwrap();
    let text = serde_json::to_value(&first.cells[0].scenario).unwrap();
    let again = ferrocc::scenario::resolve("again", text, &[], &library::Embedded).unwrap();
    assert_eq!(again.cells[0].scenario, first.cells[0].scenario);
    assert!(!again.cells[0].scenario.tcp.unwrap().sack);
}

#[test]
fn ns3s_own_congestion_control_has_one_canonical_form() {
    for given in [
        "--controller=ns3::TcpCubic",
        "--set=flows[0].controller={\"name\":\"ns3\",\"type\":\"TcpCubic\"}",
        "--set=flows[0].controller={\"name\":\"ns3\",\"type\":\"ns3::TcpCubic\"}",
    ] {
        let controller = &single(&[BASE, TCP, given]).scenario.flows[0].controller;
        assert_eq!(controller.name, "ns3", "{given}");
        assert_eq!(controller.ns3_type(), Some("TcpCubic"));
        assert_eq!(controller.label(), "ns3::TcpCubic");
    }
}

#[test]
fn what_tcp_cannot_do_is_told_in_one_line() {
    for (args, expected) in [
        (
            vec!["--recovery=pr"],
            "flows[0].recovery (--recovery): \"pr\" is not available in this version (accepted: \
             standard, newreno, veno, cerl, nce, no-cut)",
        ),
        (
            vec!["--recovery=sack"],
            "flows[0].recovery (--recovery): unknown recovery \"sack\" (accepted: standard, \
             newreno, veno, cerl, nce, no-cut)",
        ),
        (
            vec!["--set=flows[0].ndc=film"],
            "flows[0].ndc (--set): \"film\" has no place in a flow with the tcp transport (accepted: \
             none; it is for icn)",
        ),
        (
            vec!["--set=flows[0].repeat=true", "--set=flows[0].size=1MB"],
            "flows[0].repeat (--set): true has no place in a flow with the tcp transport (accepted: \
             false; it is for icn)",
        ),
        (
            vec!["--set=flows[0].replica_choice=random"],
            "flows[0].replica_choice (--set): \"random\" has no place in a flow with the tcp transport \
             (accepted: listed; it is for icn)",
        ),
        (
            vec!["--set=flows[0].controller={\"name\":\"ns3\"}"],
            "flows[0].controller (--set): no type is given (accepted: {\"name\": \"ns3\", \"type\": \
             \"TcpCubic\"}, or any other congestion control of ns-3)",
        ),
        (
            vec!["--controller=ns3::Tcp Cubic"],
            "flows[0].controller.type (--controller): \"Tcp Cubic\" is not the name of a type",
        ),
        (
            vec!["--set=tcp.mss=1461B"],
            "tcp.mss (--set): 1.461 kB is out of range (accepted: 100 B..1460 B, what fits into the \
             links' packets)",
        ),
        (
            vec!["--set=tcp.delayed_ack=0"],
            "tcp.delayed_ack (--set): 0 is out of range (accepted: 1..100 segments)",
        ),
        (
            vec!["--set=tcp.buffer=2GB"],
            "tcp.buffer (--set): 2 GB is out of range (accepted: two segments of 1.318 kB..1 GiB)",
        ),
        (
            vec!["--verify"],
            "flows[0].size (--verify): real content needs a size (accepted: verify=false, or a size as \
             in --set=\"flows[*].size=10 MB\")",
        ),
    ] {
        let mut all = vec![BASE, TCP, FIXED];
        if args[0].contains("controller") {
            all.pop();
        }
        all.extend(&args);
        let told = error(&all);
        let (field, problem) = expected.split_once(' ').unwrap();
        assert!(
            told.starts_with(field.trim_end_matches(':')),
            "{args:?}: {told}"
        );
        let problem = problem.split_once("): ").map_or(problem, |(_, p)| p);
        assert!(told.ends_with(problem), "{args:?}: {told}");
        assert!(!told.contains('\n'));
    }
    assert!(error(&[BASE, "--controller=ns3::TcpCubic"]).contains("is for the tcp transport"));
    let faults = error(&[
        "--scenario=smoke/names-dead-replica",
        TCP,
        "--set=flows[*].switches=null",
    ]);
    assert!(faults.contains("over tcp"), "{faults}");
}
