//! NewReno and CUBIC on one bottleneck.

use approx::assert_relative_eq;
use ferrocc_testkit::{Buffer, Flow, FlowRun, Net, ms, secs};

/// The controllers with their factor on a loss.
const LOSS_BASED: [(&str, f64); 2] = [("newreno", 0.5), ("cubic", 0.7)];

/// 20 Mbps, 50 ms, two bandwidth-delay products of buffer: the family's common setting.
fn common() -> Net {
    Net::topo1().rtprop(ms(50)).buffer(Buffer::Bdp(2.0))
}

/// The window before and after each decrease.
fn decreases(flow: &FlowRun) -> Vec<(f64, f64)> {
    let steps = flow.window.points().windows(2);
    steps
        .map(|w| (w[0].1, w[1].1))
        .filter(|(before, after)| after < before)
        .collect()
}

#[test]
fn one_flow_fills_the_link_and_the_buffer() {
    for (name, _) in LOSS_BASED {
        let run = common().flow(Flow::new(name)).run(secs(40));
        let (from, to) = (secs(5), secs(39));
        assert!(run.bottleneck.utilisation(from, to) >= 0.99, "{name}");
        let best = 20.0 * 1250.0 / 1358.0;
        assert!(run.flow(0).goodput_mbps(from, to) >= 0.99 * best, "{name}");
        // 250,000 B are 184 packets of 1358 B.
        assert_eq!(run.bottleneck.queue.max(from, to), 184.0, "{name}");
        let mean = run.bottleneck.queue.mean(from, to);
        assert!((100.0..184.0).contains(&mean), "{name}: mean queue {mean}");
    }
}

#[test]
fn every_decrease_is_one_multiplication_per_episode() {
    for (name, beta) in LOSS_BASED {
        let run = common().flow(Flow::new(name)).run(secs(40));
        let flow = run.flow(0);
        let decreases = decreases(flow);
        assert!(decreases.len() >= 3, "{name}: {decreases:?}");
        assert_eq!(decreases.len() as u64, flow.stats.window_cuts, "{name}");
        assert_eq!(flow.stats.timeouts, 0, "{name}");
        // The slow start alone overshoots by dozens of packets: many losses, one decrease.
        assert!(
            flow.stats.losses >= 20 * flow.stats.window_cuts,
            "{name}: {:?}",
            flow.stats
        );
        for (before, after) in decreases {
            // The trace's windows are whole bytes, and the arrival that proves the loss counts.
            assert_relative_eq!(after / before, beta, max_relative = 0.001);
        }
    }
}

/// Random loss without a queue: the mean window follows the responses of RFC 9438, section 5.2,
/// where Reno's 1.22 / sqrt(p) is the larger one at these round-trip times.
#[test]
fn random_loss_of_one_percent() {
    let expected = 1.22 / 0.01_f64.sqrt();
    for (name, low, high) in [("newreno", 0.9, 1.0), ("cubic", 0.9, 1.2)] {
        for rtprop in [50, 100] {
            let net = Net::topo1().rtprop(ms(rtprop)).loss(0.01);
            let run = net.flow(Flow::new(name)).run(secs(100));
            let mean = run.flow(0).window.mean(secs(5), secs(100));
            let ratio = mean / expected;
            assert!(
                (low..=high).contains(&ratio),
                "{name}, {rtprop} ms: {mean:.2} packets"
            );
            let packets = run.flow(0).delivered(secs(5), secs(100)).get() as f64 / 1250.0;
            let per_rtt = packets / 95.0 * ms(rtprop).as_secs_f64();
            assert!(
                per_rtt <= mean,
                "{name}: {per_rtt:.2} delivered per RTT, window {mean:.2}"
            );
        }
    }
}

/// Reordering within the loss threshold and late arrivals beyond it.
#[test]
fn reordering() {
    for (name, _) in LOSS_BASED {
        // A packet takes 0.54 ms on the link: two overtake, no loss is told.
        let run = common()
            .reorder(0.05, ms(1))
            .flow(Flow::new(name))
            .run(secs(5));
        assert_eq!(run.flow(0).stats.spurious_losses, 0, "{name}");
        // Held up for 5 ms: told lost though nothing is lost.
        // (The buffer is never full, although undo lets slow start go on.)
        let late = common().buffer(Buffer::Bdp(500.0)).reorder(0.001, ms(5));
        let run = late.flow(Flow::new(name)).run(secs(10));
        let stats = &run.flow(0).stats;
        assert!(
            stats.spurious_losses > 0 && stats.window_cuts > 0,
            "{name}: {stats:?}"
        );
        assert_eq!(stats.losses, stats.spurious_losses, "{name}");
    }
}

/// RFC 9438, section 4.9: CUBIC takes back what late arrivals show to have been needless.
#[test]
fn cubic_takes_spurious_reductions_back() {
    let goodput = |name: &str| {
        let net = common().reorder(0.001, ms(5)).flow(Flow::new(name));
        net.run(secs(40)).flow(0).goodput_mbps(secs(2), secs(40))
    };
    let best = 20.0 * 1250.0 / 1358.0;
    let (cubic, newreno) = (goodput("cubic"), goodput("newreno"));
    assert!(cubic >= 0.98 * best, "{cubic} Mbps");
    assert!(
        newreno <= 0.9 * cubic,
        "without undo the link should suffer: {newreno} Mbps"
    );
}

/// The same for NewReno, where it is an option (RFC 4015), and CUBIC without it.
#[test]
fn undo_is_what_makes_the_difference() {
    for name in ["newreno", "cubic"] {
        let run = |undo: bool| {
            let params = serde_json::json!({ "undo": undo });
            let flow = Flow::new(name).params(params);
            let run = common().reorder(0.001, ms(5)).flow(flow).run(secs(40));
            let stats = run.flow(0).stats.clone();
            assert!(stats.spurious_losses > 20, "{name}: {stats:?}");
            (run.flow(0).goodput_mbps(secs(2), secs(40)), stats)
        };
        let (with, stats) = run(true);
        assert!(stats.unnecessary_window_cuts > 20, "{name}: {stats:?}");
        let (without, _) = run(false);
        assert!(
            without <= 0.9 * with,
            "{name}: {with} Mbps with, {without} without undo"
        );
    }
}

/// A path that becomes slower than the timeout: nothing is lost, the timer only fires too early.
#[test]
fn spurious_timeouts() {
    for (name, _) in LOSS_BASED {
        let net = common().at(secs(3), ferrocc_testkit::Change::Rtprop(ms(600)));
        let params = serde_json::json!({ "undo": true });
        let run = net.flow(Flow::new(name).params(params)).run(secs(6));
        let stats = &run.flow(0).stats;
        assert!(stats.timeouts >= 1, "{name}: {stats:?}");
        assert!(stats.spurious_timeouts >= 1, "{name}: {stats:?}");
        assert!(stats.spurious_timeouts <= stats.timeouts);
        // The window from before is back, and the timer has learnt.
        let before = run.flow(0).window.at(ms(2990));
        let after = run.flow(0).window.max(secs(4), secs(6));
        assert!(
            after >= 0.9 * before,
            "{name}: {before}, then {after} packets"
        );
        assert!(stats.timeouts <= 3, "{name}: {stats:?}");
    }
}

/// Equal flows get equal shares in the long run; a later one needs many congestion epochs.
#[test]
fn two_flows_share_in_the_long_run_only() {
    for (name, _) in LOSS_BASED {
        let net = common()
            .flow(Flow::new(name))
            .flow(Flow::new(name).start(ms(2100)));
        let run = net.run(secs(90));
        let even = run.convergence_after(ms(2100));
        assert!(
            even.is_none_or(|d| d > secs(5)),
            "{name}: converged after {even:?}"
        );
        let shares = run.goodputs_mbps(secs(50), secs(90));
        assert!(
            ferrocc_testkit::jain(&shares) >= 0.9,
            "{name}: {shares:?} Mbps"
        );
        assert!(
            run.bottleneck.utilisation(secs(5), secs(90)) >= 0.95,
            "{name}"
        );
    }
}

/// RFC 9406: the growing round-trip time ends slow start. The conservative phase still grows
/// threefold in five rounds (here from 330 to 1000 packets, on a path of 92), so the buffer has to
/// be deep for that to be without loss.
#[test]
fn hystart_ends_slow_start_before_losses_do() {
    let drops = |hystart: bool| {
        let params = serde_json::json!({ "hystart": hystart });
        let net = common().buffer(Buffer::Bdp(12.0));
        net.flow(Flow::new("cubic").params(params))
            .run(secs(4))
            .bottleneck
            .drops
    };
    assert_eq!(drops(true), 0);
    assert!(drops(false) > 100, "{}", drops(false));
}
