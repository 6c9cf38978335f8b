//! Early congestion detection: the receiver's window control and the queue that marks.

use approx::assert_relative_eq;
use ferrocc::transport::ReceiverOptions;
use ferrocc_testkit::{Buffer, Flow, Manager, Net, Run, jain, ms, secs};
use serde_json::json;

/// 20 Mbps, 50 ms, two bandwidth-delay products of buffer: the family's common setting.
fn common() -> Net {
    Net::topo1().rtprop(ms(50)).buffer(Buffer::Bdp(2.0))
}

/// The ECD paper's first window for both.
fn same_start(name: &str) -> Flow {
    Flow::new(name).options(ReceiverOptions {
        initial_window: 2.0,
        ..ReceiverOptions::default()
    })
}

/// Every change of the window and of the outstanding packets, with its time.
fn trajectory(run: &Run) -> Vec<Vec<(u64, u64)>> {
    run.flows
        .iter()
        .flat_map(|flow| [&flow.window, &flow.in_flight])
        .map(|series| {
            let points = series.points().iter();
            points.map(|(at, x)| (at.as_nanos(), x.to_bits())).collect()
        })
        .collect()
}

/// Without marks it is NewReno, packet for packet: drop-tail, RED and CoDel queues, random loss, several
/// flows. Both begin with two packets; no timer expires, whose rule is another one.
#[test]
fn without_marks_it_equals_newreno_packet_for_packet() {
    let deep = || common().buffer(Buffer::Packets(200));
    let nets = [
        ("drop-tail", common()),
        ("red", deep().aqm(Manager::new("red"))),
        ("codel", deep().aqm(Manager::new("codel"))),
        ("loss", common().seed(5).loss(0.002)),
        ("reordering", common().seed(6).reorder(0.01, ms(5))),
    ];
    for (what, net) in nets {
        let run = |name: &str| {
            let net = net
                .clone()
                .flow(same_start(name))
                .flow(same_start(name).start(ms(2100)));
            net.run(secs(20))
        };
        let (ours, reno) = (run("ecd"), run("newreno"));
        for flow in &reno.flows {
            assert_eq!(flow.stats.timeouts, 0, "{what}: the RTO rules differ");
            assert!(flow.stats.window_cuts >= 2, "{what}: {:?}", flow.stats);
        }
        assert_eq!(ours.bottleneck, reno.bottleneck, "{what}");
        assert!(trajectory(&ours) == trajectory(&reno), "{what}");
    }
}

/// With marks it is not NewReno: the comparison above can fail.
#[test]
fn with_marks_it_differs_from_newreno() {
    let run = |name: &str| {
        let net = common().aqm(Manager::new("ecd"));
        net.flow(same_start(name)).run(secs(10))
    };
    assert!(trajectory(&run("ecd")) != trajectory(&run("newreno")));
}

/// The family's acceptance: the link is full, the mean queue is below 12.5 ms of it, where every packet
/// would be marked. `rate * 12.5 ms` is 23 packets of 1358 B at 20 Mbps. On longer paths growth by a packet
/// per round trip is slow: the queue stays above the target for an interval, CoDel drops and the window
/// is halved, on a buffer that is shorter than the path.
#[test]
fn one_flow_fills_the_link_with_a_short_queue() {
    for (rtprop, least) in [(6, 0.98), (20, 0.96)] {
        let net = Net::topo1().rtprop(ms(rtprop)).buffer(Buffer::Packets(200));
        let net = net.aqm(Manager::new("ecd"));
        let run = net.flow(Flow::new("ecd")).run(secs(40));
        let (from, to) = (secs(5), secs(40));
        let utilisation = run.bottleneck.utilisation(from, to);
        let queue = run.bottleneck.queue.mean(from, to);
        let alpha = run.flow(0).alpha.mean(from, to);
        println!("{rtprop} ms: utilisation {utilisation:.4}, queue {queue:.1}, alpha {alpha:.3}");
        assert!(utilisation >= least, "{rtprop} ms: {utilisation}");
        assert!(queue < 23.0, "{rtprop} ms: {queue} packets");
        assert!(run.bottleneck.marks > 100, "{}", run.bottleneck.marks);
        // All marks arrive, but for those on their way at the end.
        let under_way = run.bottleneck.marks - run.flow(0).stats.marks;
        assert!(under_way < 30, "{under_way}");
        assert!((0.0..1.0).contains(&alpha), "{alpha}");
    }
}

/// The literal algorithm updates alpha on marks only: it stays high, and every cut is deeper.
#[test]
fn algorithm_2_keeps_a_higher_alpha() {
    let alpha = |variant: &str| {
        let net = common().buffer(Buffer::Packets(200));
        let flow = Flow::new("ecd").params(json!({ "variant": variant }));
        let run = net.aqm(Manager::new("ecd")).flow(flow).run(secs(20));
        run.flow(0).alpha.mean(secs(5), secs(20))
    };
    let (settled, literal) = (alpha("settled"), alpha("algorithm-2"));
    assert!(literal > 10.0 * settled, "{literal}, {settled}");
}

/// Equal flows share the link.
#[test]
fn flows_share() {
    let net = common().rtprop(ms(20)).buffer(Buffer::Packets(200));
    let net = net.aqm(Manager::new("ecd")).flow(Flow::new("ecd"));
    let run = net.flow(Flow::new("ecd").start(ms(2100))).run(secs(30));
    let shares = run.goodputs_mbps(secs(10), secs(30));
    assert!(jain(&shares) >= 0.98, "{shares:?}");
    let total: f64 = shares.iter().sum();
    assert_relative_eq!(total, 20.0 * 1250.0 / 1358.0, max_relative = 0.02);
}
