//! Copa's TCP-competitive mode beside a real CUBIC on one bottleneck.

use ferrocc::cc::Phase;
use ferrocc::units::Duration;
use ferrocc_testkit::{Buffer, Flow, Net, Run, ms, secs};
use serde_json::{Value, json};

const COMPETITIVE: f64 = Phase::Competitive as u8 as f64;

/// 20 Mbps, 50 ms, a buffer of `bdp` bandwidth-delay products.
fn path(bdp: f64) -> Net {
    Net::topo1().rtprop(ms(50)).buffer(Buffer::Bdp(bdp))
}

fn auto(controller: &str, more: Value) -> Flow {
    let mut params = json!({ "mode": "auto" });
    if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
        params.extend(more);
    }
    Flow::new(controller).params(params)
}

/// When the mode of flow 0 changed: (time, competitive) from `from` on.
fn changes(run: &Run, from: Duration) -> Vec<(Duration, bool)> {
    let mut was = false;
    let mut all = Vec::new();
    for &(at, phase) in run.flow(0).phase.points() {
        let is = phase == COMPETITIVE;
        if is != was {
            all.push((at - ferrocc::units::Instant::ZERO, is));
            was = is;
        }
    }
    all.retain(|c| c.0 >= from);
    all
}

/// The share of [from, to) that flow 0 spends in the competitive mode.
fn share_competitive(run: &Run, from: Duration, to: Duration) -> f64 {
    let steps = (to - from).as_nanos() / 10_000_000;
    let n = (0..steps)
        .filter(|k| run.flow(0).phase.at(from + ms(10 * k)) == COMPETITIVE)
        .count();
    n as f64 / steps as f64
}

/// CUBIC fills a buffer of 2 or 4 BDP: the mode is entered within about five round trips of the
/// queue standing, kept, and left within five round trips of CUBIC's end and the queue's draining.
#[test]
fn entered_beside_cubic_and_left_after_it() {
    for controller in ["copa", "copa-icn"] {
        for (detector, kept) in [("paper", 0.75), ("genericcc", 0.7)] {
            for bdp in [2.0, 4.0] {
                let (start, stop) = (secs(4), secs(24));
                let net = path(bdp)
                    .flow(auto(controller, json!({ "detector": detector })))
                    .flow(Flow::new("cubic").start(start).stop(stop));
                let run = net.run(secs(28));
                let what = format!("{controller}, {detector}, {bdp} BDP");
                // CUBIC's slow start takes some six round trips until it shows in the queue.
                let entered = changes(&run, start);
                let entered = entered.iter().find(|c| c.1).expect("entered").0;
                let standing = standing_queue(&run, start);
                let round_trips = (entered - standing).as_secs_f64() / full_rtt(bdp);
                assert!(
                    round_trips <= 5.0,
                    "{what}: entered after {round_trips} RTT"
                );
                let share = share_competitive(&run, entered, stop);
                assert!(share >= kept, "{what}: kept for {share} of the time");
                // A full queue of `bdp` drains within `bdp` round trips, if nobody sends.
                let default = |at: &Duration| run.flow(0).phase.at(*at) != COMPETITIVE;
                let left = (0..400).map(|k| stop + ms(10 * k)).find(default);
                let left = left.expect("left");
                let round_trips = (left - stop).as_secs_f64() / 0.05;
                assert!(
                    round_trips <= bdp + 5.0,
                    "{what}: left after {round_trips} RTprop"
                );
            }
        }
    }
}

/// A round trip through the full buffer of [`path`], seconds.
fn full_rtt(bdp: f64) -> f64 {
    0.05 * (1.0 + bdp)
}

/// When after `from` the queue first held half a bandwidth-delay product.
fn standing_queue(run: &Run, from: Duration) -> Duration {
    let from = ferrocc::units::Instant::ZERO + from;
    let queue = run.bottleneck.queue.points();
    let at = queue.iter().find(|(at, n)| *at >= from && *n >= 46.0);
    at.expect("a queue").0 - ferrocc::units::Instant::ZERO
}

/// The mode is what keeps Copa alive beside CUBIC.
#[test]
fn beside_cubic_the_mode_is_worth_a_share() {
    for (controller, fixed_most, auto_least) in [("copa", 2.0, 4.0), ("copa-icn", 8.0, 5.0)] {
        let share = |mode: &str| {
            let net = path(2.0)
                .flow(auto(controller, json!({ "mode": mode })))
                .flow(Flow::new("cubic").start(secs(4)));
            net.run(secs(40)).flow(0).goodput_mbps(secs(10), secs(40))
        };
        let (fixed, auto) = (share("fixed"), share("auto"));
        assert!(
            fixed <= fixed_most,
            "{controller}: {fixed} Mbps without the mode"
        );
        assert!(
            auto >= auto_least,
            "{controller}: {auto} Mbps with the mode"
        );
    }
}

/// `1/delta` beside CUBIC: up by one per round trip, down to a half on losses, never else.
#[test]
fn one_over_delta_is_additive_and_multiplicative() {
    let net = path(2.0)
        .flow(auto("copa", json!({})))
        .flow(Flow::new("cubic").start(secs(4)));
    let run = net.run(secs(24));
    let (mut ups, mut downs) = (0, 0);
    let trace: Vec<f64> = run
        .flow(0)
        .delta
        .points()
        .iter()
        .map(|p| 1.0 / p.1)
        .collect();
    for pair in trace.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        if after > before {
            assert!((after - before - 1.0).abs() < 1e-6, "{before} -> {after}");
            ups += 1;
        } else {
            let halved = (after - (before / 2.0).max(2.0)).abs() < 1e-6;
            let back = (after - 2.0).abs() < 1e-6;
            assert!(halved || back, "{before} -> {after}");
            downs += u32::from(halved && !back);
        }
    }
    assert!(ups >= 30 && downs >= 3, "{ups} up, {downs} down: {trace:?}");
}

/// Alone and beside its like Copa empties the queue often enough. Random loss changes little.
#[test]
fn never_entered_alone() {
    for controller in ["copa", "copa-icn"] {
        for (rate, rtprop, n) in [(20.0, 50, 1), (50.0, 30, 1), (20.0, 80, 2)] {
            for (loss, most) in [(0.0, 0.02), (0.01, 0.03)] {
                let net = path(4.0).rate_mbps(rate).rtprop(ms(rtprop)).loss(loss);
                let run = net.flows(n, &auto(controller, json!({}))).run(secs(20));
                let share = share_competitive(&run, secs(0), secs(20));
                assert!(
                    share <= most,
                    "{controller}, {rate} Mbps, {rtprop} ms, {n} flows, loss {loss}: {share}"
                );
            }
        }
    }
}
