//! Trajectories of Copa, Copa-ICN and ECD with default parameters, pinned bit for bit: an option that
//! is added must not move what is measured without it. These controllers only add, multiply and
//! divide, so that the numbers are the same on every machine.
//!
//! A change of the behaviour itself changes these numbers on purpose: `-- --nocapture` prints the
//! new ones.

use ferrocc_testkit::{Buffer, Change, Flow, Manager, Net, ReplicaSpec, Run, ms, secs};

/// FNV-1a over every change of every flow's window and outstanding packets.
fn fingerprint(run: &Run) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |x: u64| {
        for byte in x.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for flow in &run.flows {
        for series in [&flow.window, &flow.in_flight] {
            for (at, value) in series.points() {
                add(at.as_nanos());
                add(value.to_bits());
            }
        }
    }
    hash
}

/// Situations that take a controller through all of its rules.
fn networks(controller: &str) -> Vec<(&'static str, Net, u64)> {
    let deep = || Net::topo1().rtprop(ms(50)).buffer(Buffer::Bdp(2.0));
    let mut networks = vec![
        ("plain", Net::topo1(), 12),
        ("deep", deep().rate_mbps(50.0), 12),
        (
            "loss",
            deep().seed(3).loss(0.02).req_loss(0.01).jitter(ms(1)),
            8,
        ),
        (
            "outage",
            deep()
                .at(secs(2), Change::Loss(1.0))
                .at(secs(4), Change::Loss(0.0)),
            8,
        ),
        (
            "switch",
            deep()
                .replica(ReplicaSpec {
                    extra_delay: ms(20),
                    ..ReplicaSpec::default()
                })
                .at(
                    ms(2500),
                    Change::Replica {
                        flow: 0,
                        replica: 1,
                    },
                ),
            6,
        ),
    ];
    if controller == "ecd" {
        networks.push(("marks", deep().aqm(Manager::new("ecd")), 8));
    }
    networks
}

/// Two flows, the second two seconds later.
fn run(controller: &str, net: Net, until: u64) -> Run {
    net.flow(Flow::new(controller))
        .flow(Flow::new(controller).start(ms(2100)))
        .run(secs(until))
}

#[test]
fn default_trajectories_do_not_move() {
    let expected: [(&str, &str, u64); 16] = [
        ("copa", "plain", 0xe2cf_a931_5b38_5bad),
        ("copa", "deep", 0x3bca_1fe2_649d_38e3),
        ("copa", "loss", 0x6ee3_2409_e139_9066),
        ("copa", "outage", 0x87bb_bf87_af25_7b16),
        ("copa", "switch", 0x76eb_6072_b96c_4da0),
        ("copa-icn", "plain", 0xd660_d76f_267a_f449),
        ("copa-icn", "deep", 0xe44b_ba2e_dcae_9aaf),
        ("copa-icn", "loss", 0x0203_289b_0fde_d3c4),
        ("copa-icn", "outage", 0x6653_a532_df29_8fca),
        ("copa-icn", "switch", 0x69e9_5822_ccb4_e05e),
        ("ecd", "plain", 0x14e5_6f8a_f713_af04),
        ("ecd", "deep", 0x6579_e8a2_d448_a6fc),
        ("ecd", "loss", 0xd103_f13e_8a6b_3b2f),
        ("ecd", "outage", 0xbec5_78c7_7d8c_dffe),
        ("ecd", "switch", 0x1f59_27b4_e3c2_7b62),
        ("ecd", "marks", 0x0f65_c9de_581f_6364),
    ];
    let seen: Vec<_> = ["copa", "copa-icn", "ecd"]
        .into_iter()
        .flat_map(|c| {
            networks(c)
                .into_iter()
                .map(move |(name, net, until)| (c, name, fingerprint(&run(c, net, until))))
        })
        .collect();
    for (controller, net, hash) in &seen {
        println!("        (\"{controller}\", \"{net}\", {hash:#018x}),");
    }
    assert_eq!(seen, expected);
}
