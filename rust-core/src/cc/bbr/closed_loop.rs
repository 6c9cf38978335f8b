//! BBR in a closed loop with one bottleneck.

use super::super::test_net::{Net, Path};
use super::*;
use std::fmt::Write;

const MSS: Bytes = Setup::PAPER_MSS;

fn bbr_with(draw: f64) -> Bbr {
    let setup = Setup {
        draw,
        ..Setup::default()
    };
    Bbr::new(&setup, &Config::default()).expect("valid")
}

#[test]
fn a_bottleneck_is_filled_and_its_queue_drained() {
    for (rate, rtt_ms) in [(1000.0, 50), (2000.0, 100), (200.0, 30)] {
        let bdp = rate * rtt_ms as f64 / 1e3;
        let mut net = Net::new(Path::new(rate, rtt_ms)).flow(0, bbr_with(0.5));
        let mut left = 0;
        for ms in (0..4000).step_by(5) {
            net.run_to(ms);
            if net.flows[0].controller.snapshot().phase == Phase::Startup {
                left = ms;
            }
        }
        let startup_queue = net.queue_max as f64;
        let seen = format!("{rate} {rtt_ms}: {startup_queue} of {bdp}, startup until {left} ms");
        // 2.885 BDP and three quanta of 1 ms outstanding, less what is under way.
        let quanta = 3.0 * (2.885 * rate / 1e3).max(2.0);
        let outstanding = 2.885 * (bdp + 1.0) + quanta;
        assert!(startup_queue <= outstanding - bdp + 2.0, "{seen}");
        // Doublings, then rounds on the plateau that the queue lengthens to the whole window.
        let doublings = (bdp / 10.0).log2().max(0.0) + 2.0;
        let plateau = 4.0 * (2.885 * bdp + 10.0) / rate * 1e3;
        assert!(
            (left as f64) <= doublings * rtt_ms as f64 + plateau,
            "{seen}"
        );
        net.measure();
        net.run_to(8000);
        let (mean, used) = (net.queue_mean(), net.utilisation());
        let s = net.flows[0].controller.snapshot();
        let seen = format!("{seen}; queue {mean:.2}, used {used:.4}, {s:?}");
        let estimate = s.bandwidth.map_or(0.0, |r| r.as_packets_per_sec(MSS)) / rate;
        assert!((0.95..=1.05).contains(&estimate), "{seen}");
        assert!(used >= 0.97, "{seen}");
        // The quanta that the window holds beyond the BDP stay in the queue.
        assert!(
            mean <= 0.1 * bdp + 3.0 * (rate / 1e3).max(2.0) + 2.0,
            "{seen}"
        );
    }
}

#[test]
fn two_flows_probe_the_round_trip_and_keep_the_link_busy() {
    let mut net = Net::new(Path::new(1000.0, 50))
        .flow(0, bbr_with(0.1))
        .flow(2000, bbr_with(0.6));
    net.run_to(5000);
    net.measure();
    let mut probing = [0u32; 2];
    for ms in 5001..=30_000 {
        net.run_to(ms);
        for (f, time) in net.flows.iter().zip(&mut probing) {
            *time += u32::from(f.controller.snapshot().phase == Phase::ProbeRtt);
        }
    }
    // Every stay is 200 ms at least; one flow's stay may refresh the other's RTprop.
    assert!(
        probing.iter().all(|&ms| (200..1500).contains(&ms)),
        "{probing:?}"
    );
    assert!(net.utilisation() >= 0.95, "{}", net.utilisation());
}

#[test]
fn random_loss_costs_little() {
    for loss in [0.01, 0.05, 0.1] {
        let path = Path {
            loss,
            ..Path::new(1000.0, 50)
        };
        let mut net = Net::new(path).flow(0, bbr_with(0.5));
        net.run_to(2000);
        let before = net.flows[0].delivered;
        net.run_to(30_000);
        let goodput = (net.flows[0].delivered - before) as f64 / 28.0;
        assert!(goodput >= 0.9 * 1000.0 * (1.0 - loss), "{loss}: {goodput}");
    }
}

#[test]
fn first_round_trips() {
    let mut net = Net::new(Path::new(1000.0, 50)).flow(0, bbr_with(0.5));
    let mut table = String::from("  ms phase      gain    cwnd pacing  bandwidth queue\n");
    for ms in (50..=1000).step_by(50) {
        net.run_to(ms);
        let c = &net.flows[0].controller;
        let s = c.snapshot();
        let pps = |r: Option<Rate>| r.map_or(0.0, |r| r.as_packets_per_sec(MSS));
        writeln!(
            table,
            "{ms:4} {:10} {:4.2} {:7.2} {:6.0} {:10.0} {:5}",
            s.phase.as_str(),
            s.pacing_gain.unwrap_or(0.0),
            c.allowance().window.as_packets(MSS),
            pps(c.allowance().pacing),
            pps(s.bandwidth),
            net.queue_len(),
        )
        .expect("a string");
    }
    insta::assert_snapshot!(table, @r"
      ms phase      gain    cwnd pacing  bandwidth queue
      50 startup    2.89   10.00  28854          0     0
     100 startup    2.89   20.00    566        167     0
     150 startup    2.89   40.00    678        237     1
     200 startup    2.89   69.00   1297        454     4
     250 startup    2.89  117.00   2643        925    28
     300 startup    2.89  156.00   2857       1000    92
     350 startup    2.89  156.00   2857       1000   106
     400 startup    2.89  156.00   2857       1000   106
     450 startup    2.89  156.00   2857       1000   106
     500 startup    2.89  156.00   2857       1000   106
     550 startup    2.89  156.00   2857       1000   106
     600 startup    2.89  156.00   2857       1000   106
     650 startup    2.89  156.00   2857       1000   106
     700 startup    2.89  156.00   2857       1000   106
     750 drain      0.35  153.15    343       1000    95
     800 drain      0.35  153.15    343       1000    62
     850 drain      0.35  153.15    343       1000    29
     900 probe-bw   1.00  108.00    990       1000     7
     950 probe-bw   1.00  108.00    990       1000     7
    1000 probe-bw   1.00  108.00    990       1000     6
    ");
}
