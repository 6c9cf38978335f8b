//! What every controller of the registry must do on a network: a controller is tested by being
//! registered.

use ferrocc::cc::registry::CONTROLLERS;
use ferrocc::transport::ReceiverOptions;
use ferrocc_testkit::{Buffer, Change, Flow, FlowRun, Net, ReplicaSpec, ms, secs};

/// Runs one flow of every controller and hands it to `check`.
fn each(net: &Net, flow: impl Fn(Flow) -> Flow, until: u64, check: impl Fn(&FlowRun)) {
    for entry in CONTROLLERS {
        let run = net
            .clone()
            .flow(flow(Flow::new(entry.name)))
            .run(secs(until));
        check(run.flow(0));
    }
}

fn assert_verified(flow: &FlowRun) {
    let name = &flow.controller;
    assert!(
        flow.completed.is_some(),
        "{name}: not completed, {:?}",
        flow.step
    );
    assert!(
        flow.step.verified,
        "{name}: the content's hash is not its identifier"
    );
}

#[test]
fn every_byte_arrives_despite_loss_and_reordering() {
    for (seed, (loss, req_loss)) in (1..).zip([(0.0, 0.0), (0.01, 0.01), (0.05, 0.0), (0.1, 0.1)]) {
        let net = Net::topo1()
            .seed(seed)
            .loss(loss)
            .req_loss(req_loss)
            .reorder(0.05, ms(4))
            .jitter(ms(1));
        each(&net, |f| f.verified(400_000), 120, assert_verified);
    }
}

#[test]
fn sizes_that_are_no_multiple_of_a_packet() {
    for size in [1, 1249, 1250, 1251, 33_333] {
        each(
            &Net::topo1().loss(0.05),
            |f| f.verified(size),
            120,
            assert_verified,
        );
    }
}

#[test]
fn duplicate_and_late_data_is_counted_once() {
    // Held up beyond the loss detection, but back before the repeated request is answered.
    let net = Net::topo1().reorder(0.02, ms(20));
    each(
        &net,
        |f| f.verified(1_000_000),
        60,
        |flow| {
            assert_verified(flow);
            assert!(flow.stats.spurious_losses > 0, "{}", flow.controller);
        },
    );
    // Held up for three round trips: the repeated request is answered first.
    let net = Net::topo1().duplicate(0.05).reorder(0.02, ms(90));
    each(
        &net,
        |f| f.verified(1_000_000),
        60,
        |flow| {
            assert_verified(flow);
            assert!(flow.stats.duplicates > 0, "{}", flow.controller);
        },
    );
}

#[test]
fn lost_requests_are_repeated() {
    let net = Net::topo1().req_loss(0.05);
    each(
        &net,
        |f| f.verified(1_000_000),
        60,
        |flow| {
            assert_verified(flow);
            assert!(flow.stats.retransmissions > 0, "{}", flow.controller);
        },
    );
}

#[test]
fn a_tail_that_is_lost_is_repeated_by_timeout() {
    // The last packets of 20 arrive at about 47 ms; nothing comes after them.
    let net = Net::topo1()
        .at(ms(40), Change::Loss(1.0))
        .at(ms(100), Change::Loss(0.0));
    each(
        &net,
        |f| f.verified(25_000),
        30,
        |flow| {
            assert_verified(flow);
            assert!(
                flow.stats.timeouts > 0,
                "{}: {:?}",
                flow.controller,
                flow.stats
            );
        },
    );
}

/// The same with tail probes: repaired without a timeout.
#[test]
fn a_tail_that_is_lost_is_found_by_probes() {
    let net = Net::topo1()
        .at(ms(40), Change::Loss(1.0))
        .at(ms(100), Change::Loss(0.0));
    let options = ReceiverOptions {
        tail_probe: true,
        ..ReceiverOptions::default()
    };
    each(
        &net,
        |f| f.verified(25_000).options(options),
        30,
        |flow| {
            assert_verified(flow);
            let (name, stats) = (&flow.controller, &flow.stats);
            assert!(stats.tail_probes > 0, "{name}: {stats:?}");
            assert_eq!(stats.timeouts, 0, "{name}");
            let end = flow.completed.expect("completed");
            // A first window of 2 packets (ecd) needs two round trips more than one of 10.
            let late = if flow.window.at(ms(1)) < 10.0 {
                300
            } else {
                200
            };
            assert!(end < ms(late), "{name}: at {end}");
        },
    );
}

/// What tail probes are worth: 60 transfers of 50 kB at 5 % loss, mean time to completion.
#[test]
fn tail_probes_shorten_short_transfers() {
    let mean_ms = |tail_probe: bool| {
        let options = ReceiverOptions {
            tail_probe,
            ..ReceiverOptions::default()
        };
        let runs = (1..=60).map(|seed| {
            let flow = Flow::new("copa-icn").verified(50_000).options(options);
            let run = Net::topo1().seed(seed).loss(0.05).flow(flow).run(secs(30));
            assert_verified(run.flow(0));
            run.flow(0).completed.expect("completed").as_millis_f64()
        });
        runs.sum::<f64>() / 60.0
    };
    let (without, with) = (mean_ms(false), mean_ms(true));
    println!("{without} ms without, {with} ms with tail probes");
    assert!(
        with <= 0.8 * without,
        "{without} ms without, {with} ms with"
    );
}

#[test]
fn an_outage_is_survived() {
    for outage in [3, 60] {
        let back = secs(2 + outage);
        let net = Net::topo1()
            .at(secs(2), Change::Loss(1.0))
            .at(back, Change::Loss(0.0));
        each(
            &net,
            |f| f,
            2 + 2 * outage + 12,
            |flow| {
                let name = &flow.controller;
                let before = flow.goodput_mbps(secs(1), secs(2));
                // The timer backs off to at most twice the outage.
                let end = secs(2 + 2 * outage + 12);
                let after = flow.goodput_mbps(end - secs(3), end);
                assert!(
                    after >= 0.5 * before,
                    "{name}: {before} before, {after} Mbps after {outage} s"
                );
            },
        );
    }
}

#[test]
fn another_replica_means_starting_over() {
    let other = ReplicaSpec {
        clock_offset_ns: -5_000_000_000_000,
        skew_ppm: 20.0,
        extra_delay: ms(20),
    };
    let net = Net::topo1().replica(other).at(
        ms(1500),
        Change::Replica {
            flow: 0,
            replica: 1,
        },
    );
    each(
        &net,
        |f| f.verified(4_000_000),
        60,
        |flow| {
            assert_verified(flow);
            let name = &flow.controller;
            assert_eq!(
                flow.window.at(ms(1500)),
                flow.window.at(ms(1)),
                "{name}: window after the restart"
            );
            let end = flow.completed.expect("completed");
            assert!(
                end > ms(1600),
                "{name} was through before the change: {end}"
            );
        },
    );
}

#[test]
fn a_path_that_changes_is_followed() {
    for (rate, rtprop) in [
        (20.0, ms(90)),
        (20.0, ms(10)),
        (5.0, ms(30)),
        (60.0, ms(30)),
    ] {
        let net = Net::topo1()
            .buffer(Buffer::Packets(100))
            .at(secs(3), Change::RateMbps(rate))
            .at(secs(3), Change::Rtprop(rtprop))
            .at(
                secs(3),
                Change::Replica {
                    flow: 0,
                    replica: 0,
                },
            );
        each(
            &net,
            |f| f,
            10,
            |flow| {
                // Only the fixed window is bound to something else than the link.
                let fixed = 10.0 * 1250.0 * 8.0 / rtprop.as_secs_f64() / 1e6;
                let possible = rate * 1250.0 / 1358.0;
                let expected = if flow.controller == "fixed" {
                    possible.min(fixed)
                } else {
                    possible
                };
                let got = flow.goodput_mbps(secs(7), secs(10));
                assert!(
                    got >= 0.8 * expected,
                    "{}: {got} of {expected} Mbps",
                    flow.controller
                );
            },
        );
    }
}

/// Byte counters beyond 2^32: rates and rounds go on as before.
#[test]
fn transfers_of_more_than_four_gigabytes() {
    let options = ReceiverOptions {
        mss_bytes: 9000,
        ..ReceiverOptions::default()
    };
    let size = (1 << 32) + 20_000_000;
    let net = Net::topo1().rate_mbps(10_000.0).rtprop(ms(2));
    let flow = |f: Flow| f.options(options).size(size);
    each(&net, flow, 200, |flow| {
        let name = &flow.controller;
        let end = flow
            .completed
            .unwrap_or_else(|| panic!("{name}: {:?}", flow.step));
        let third = ms(end.as_nanos() / 3_000_000 / 10 * 10);
        let (early, late) = (
            flow.goodput_mbps(third, third * 2),
            flow.goodput_mbps(third * 2, third * 3),
        );
        assert!(late >= 0.9 * early, "{name}: {early} then {late} Mbps");
    });
}

#[test]
fn equal_descriptions_give_equal_runs() {
    for entry in CONTROLLERS {
        let run = |seed| {
            Net::topo1()
                .seed(seed)
                .loss(0.01)
                .jitter(ms(1))
                .flows(2, &Flow::new(entry.name))
                .run(secs(2))
        };
        let (a, b, c) = (run(3), run(3), run(4));
        assert_eq!(a.flow(1).window, b.flow(1).window, "{}", entry.name);
        assert_eq!(a.flow(1).in_flight, b.flow(1).in_flight, "{}", entry.name);
        assert_eq!(a.bottleneck, b.bottleneck, "{}", entry.name);
        assert_ne!(
            a.bottleneck, c.bottleneck,
            "{}: the seed does nothing",
            entry.name
        );
    }
}

/// Equation (6) of the Copa-ICN paper: the offset of the replica's clock cancels out.
#[test]
fn the_offset_of_the_replicas_clock_changes_nothing() {
    for entry in CONTROLLERS {
        let run = |offset_ns| {
            Net::topo1()
                .clock(offset_ns, 0.0)
                .jitter(ms(1))
                .flows(2, &Flow::new(entry.name))
                .run(secs(3))
        };
        let plain = run(0);
        for offset_ns in [-86_400_000_000_000, 1, 4_000_000_000_000_000] {
            let shifted = run(offset_ns);
            assert_eq!(plain.bottleneck, shifted.bottleneck, "{}", entry.name);
            for k in 0..2 {
                assert_eq!(
                    plain.flow(k).window,
                    shifted.flow(k).window,
                    "{}",
                    entry.name
                );
                assert_eq!(plain.flow(k).queue_delay_ms, shifted.flow(k).queue_delay_ms);
            }
        }
    }
}

/// The round trip grows beyond the timeout at once. Until a sample is taken the timer must keep its
/// backoff (Karn's algorithm, RFC 6298, section 5): else every new request would time out, be
/// repeated, and never give a sample.
#[test]
fn a_round_trip_beyond_the_timeout_is_learnt() {
    let net = Net::topo1().at(secs(1), Change::Rtprop(ms(600)));
    each(
        &net,
        |f| f,
        21,
        |flow| {
            let name = &flow.controller;
            let srtt = flow.srtt_ms.at(secs(20));
            assert!(srtt >= 500.0, "{name}: SRTT {srtt} ms");
            assert!(flow.stats.timeouts <= 12, "{name}: {:?}", flow.stats);
        },
    );
}

/// A window that the receive buffer keeps from being used must not grow.
#[test]
fn a_window_beyond_the_receive_buffer_does_not_grow() {
    let options = ReceiverOptions {
        receive_buffer_bytes: 20 * 1250,
        ..Default::default()
    };
    // 20 packets per 30 ms are below the link's rate: nothing queues, nothing is lost.
    for (name, params) in [
        ("newreno", serde_json::json!({})),
        ("newreno", serde_json::json!({ "pacing": true })),
        ("cubic", serde_json::json!({})),
        ("copa", serde_json::json!({})),
        ("copa-icn", serde_json::json!({})),
    ] {
        let flow = Flow::new(name).params(params).options(options);
        let run = Net::topo1().flow(flow).run(secs(10));
        let packets = run.flow(0).step.window.get() / 1250;
        assert!(packets <= 80, "{name}: window {packets} packets");
    }
}
