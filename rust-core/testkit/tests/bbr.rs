//! BBR on one bottleneck: the model's estimates, the modes and the queue they leave.

use ferrocc::cc::Phase;
use ferrocc::units::{Duration, Instant};
use ferrocc_testkit::{Buffer, Flow, FlowRun, Net, jain, ms, secs};

/// STARTUP's gain, 2 / ln 2.
const HIGH_GAIN: f64 = 2.0 / std::f64::consts::LN_2;

fn path(mbps: f64, buffer: f64) -> Net {
    Net::topo1()
        .rate_mbps(mbps)
        .rtprop(ms(50))
        .buffer(Buffer::Bdp(buffer))
}

fn best(mbps: f64) -> f64 {
    mbps * 1250.0 / 1358.0
}

/// The phases in order, with the time of entry.
fn phases(flow: &FlowRun) -> Vec<(Phase, Duration)> {
    let name = |n: f64| Phase::ALL[n as usize];
    flow.phase
        .points()
        .iter()
        .map(|p| (name(p.1), p.0 - Instant::ZERO))
        .collect()
}

fn entry(flow: &FlowRun, phase: Phase) -> Duration {
    let found = phases(flow).into_iter().find(|p| p.0 == phase);
    found
        .unwrap_or_else(|| panic!("never in {phase:?}: {:?}", phases(flow)))
        .1
}

#[test]
fn half_a_minute_on_one_link() {
    for (mbps, least) in [(20.0, 0.93), (100.0, 0.97)] {
        let net = path(mbps, 2.0);
        let bdp = net.bdp_packets();
        let run = net.flow(Flow::new("bbr")).run(secs(31));
        let utilisation = run.bottleneck.utilisation(secs(1), secs(31));
        assert!(utilisation >= least, "{mbps} Mbps: {utilisation}");
        let queue = run.bottleneck.queue.mean(secs(1), secs(31)) / bdp;
        assert!(queue <= 0.3, "{mbps} Mbps: mean queue {queue} BDP");
        let bandwidth = &run.flow(0).bandwidth_mbps;
        for estimate in [
            bandwidth.min(secs(1), secs(31)),
            bandwidth.max(secs(1), secs(31)),
        ] {
            let share = estimate / best(mbps);
            assert!(
                (0.95..=1.05).contains(&share),
                "{mbps} Mbps: bandwidth {share}"
            );
        }
    }
}

#[test]
fn startup_drain_and_the_queue_they_leave() {
    let net = path(20.0, 10.0);
    let bdp = net.bdp_packets();
    let run = net.flow(Flow::new("bbr")).run(secs(4));
    let flow = run.flow(0);
    let order: Vec<Phase> = phases(flow).iter().map(|p| p.0).collect();
    assert_eq!(order, [Phase::Startup, Phase::Drain, Phase::ProbeBw]);

    // Within log2(BDP / first window) + 4 rounds, none longer than the gain allows.
    let drain = entry(flow, Phase::Drain);
    let rounds = (bdp / 10.0).log2() + 4.0;
    assert!(
        drain <= ms(50).mul_f64(HIGH_GAIN * rounds),
        "STARTUP lasts {drain}"
    );
    // The window is HIGH_GAIN BDP and three send quanta of a millisecond at HIGH_GAIN times the rate.
    let quanta = 3.0 * HIGH_GAIN * ms(1).as_secs_f64() / ms(50).as_secs_f64();
    let largest = run.bottleneck.queue.max(secs(0), secs(1)) / bdp;
    assert!(
        (1.0..=HIGH_GAIN - 1.0 + quanta + 0.05).contains(&largest),
        "queue {largest} BDP"
    );
    // A cycle after DRAIN the queue is gone but for the probing phase's.
    let from = secs(2);
    let queue = &run.bottleneck.queue;
    assert!(entry(flow, Phase::ProbeBw) + ms(500) < from);
    assert!(
        queue.mean(from, secs(4)) <= 0.1 * bdp,
        "{}",
        queue.mean(from, secs(4)) / bdp
    );
    assert!(
        queue.max(from, secs(4)) <= 0.4 * bdp,
        "{}",
        queue.max(from, secs(4)) / bdp
    );
}

#[test]
fn the_gain_cycle() {
    let run = path(20.0, 2.0).flow(Flow::new("bbr")).run(secs(9));
    let gain = &run.flow(0).pacing_gain;
    let period = gain.period(secs(2), secs(9), 1.0, 1.2).expect("it cycles");
    let round_trips = period.as_secs_f64() / ms(50).as_secs_f64();
    assert!((7.5..=9.0).contains(&round_trips), "{round_trips} RTprop");
    let mean = gain.mean(secs(2), secs(9));
    assert!((mean - 1.0).abs() <= 0.02, "mean gain {mean}");
}

/// RTprop is looked for anew every 10 s: four packets for 200 ms and a round trip.
#[test]
fn probe_rtt() {
    let run = path(20.0, 2.0).flow(Flow::new("bbr")).run(secs(25));
    let flow = run.flow(0);
    let phases = phases(flow);
    let visits: Vec<(Duration, Duration)> = phases
        .windows(2)
        .filter(|w| w[0].0 == Phase::ProbeRtt)
        .map(|w| (w[0].1, w[1].1))
        .collect();
    assert_eq!(visits.len(), 2, "{phases:?}");
    for (from, to) in &visits {
        let length = *to - *from;
        assert!((ms(200)..=ms(350)).contains(&length), "{length}");
        assert!(flow.window.min(*from, *to) <= 4.0);
        assert_eq!(run.bottleneck.queue.min(*from, *to), 0.0);
    }
    let apart = visits[1].0 - visits[0].0;
    assert!((secs(10)..=secs(11)).contains(&apart), "{apart}");
}

#[test]
fn random_loss_up_to_ten_percent() {
    for p in [0.01, 0.03, 0.1] {
        let run = path(20.0, 2.0).loss(p).flow(Flow::new("bbr")).run(secs(12));
        let share = run.flow(0).goodput_mbps(secs(2), secs(12)) / best(20.0) / (1.0 - p);
        assert!(share >= 0.9, "{p}: {share}");
    }
}

/// Equal flows converge over a few PROBE_RTT periods; of unequal ones the longer path wins.
#[test]
fn two_flows() {
    let net = path(20.0, 2.0).flow(Flow::new("bbr"));
    let shares = net.flow(Flow::new("bbr").start(ms(2100))).run(secs(60));
    let shares = shares.goodputs_mbps(secs(35), secs(60));
    assert!(jain(&shares) >= 0.95, "{shares:?} Mbps");

    let net = path(20.0, 2.0).flow(Flow::new("bbr"));
    let run = net.flow(Flow::new("bbr").extra_delay(ms(25))).run(secs(40));
    let shares = run.goodputs_mbps(secs(15), secs(40));
    assert!(shares[1] > 1.5 * shares[0], "{shares:?} Mbps");
}

/// The bandwidth doubles and halves: the estimate follows.
#[test]
fn the_rate_changes() {
    use ferrocc_testkit::Change::RateMbps;
    let net = path(20.0, 2.0)
        .at(secs(5), RateMbps(40.0))
        .at(secs(10), RateMbps(10.0));
    let run = net.flow(Flow::new("bbr")).run(secs(15));
    for (at, mbps) in [(secs(9), 40.0), (secs(14), 10.0)] {
        let share = run.flow(0).bandwidth_mbps.at(at) / best(mbps);
        assert!((0.95..=1.05).contains(&share), "{mbps} Mbps: {share}");
    }
}

/// Late arrivals of what was declared lost must not keep STARTUP going for ever.
#[test]
fn steady_reordering_does_not_keep_startup_going() {
    for p in [0.01, 0.05] {
        let run = path(20.0, 4.0)
            .reorder(p, ms(10))
            .flow(Flow::new("bbr"))
            .run(secs(6));
        assert!(run.flow(0).stats.spurious_losses > 20);
        let utilisation = run.bottleneck.utilisation(secs(1), secs(6));
        assert!(utilisation >= 0.9, "{p}: {utilisation}");
        let drain = entry(run.flow(0), Phase::Drain);
        assert!(drain <= secs(2), "{p}: STARTUP lasts {drain}");
    }
}
