//! Tests of both engines against each other, without a network: packets are handed over by hand.

use super::*;
use crate::cc::{RestartCause, Setup, registry};
use crate::units::{Bytes, Duration, Instant};
use crate::wire::{Eid, Kind, Repr, Segment};
use proptest::prelude::*;
use serde_json::json;
use std::collections::VecDeque;

mod ending;
mod spurious;
mod switching;

const MSS: u64 = 1250;
const RTT: Duration = Duration::from_millis(20);

fn device() -> Eid {
    Eid::of_device("device")
}

fn receiver(ndc: Eid, window: f64, options: ReceiverOptions, verify: bool) -> Receiver {
    let build = registry::find("fixed").unwrap().build;
    let controller = build(&Setup::default(), &json!({ "window": window })).unwrap();
    let config = ReceiverConfig {
        device: device(),
        ndc,
        verify,
        replica_clock_offset_ns: 0,
        options,
    };
    Receiver::new(config, controller).unwrap()
}

/// A packet on its way: header, payload, length.
type Packet = (Vec<u8>, Vec<u8>, u32);

fn packets(output: &Output) -> Vec<Packet> {
    let copy = |p| {
        (
            output.header(p).to_vec(),
            output.payload(p).to_vec(),
            p.payload_len,
        )
    };
    output.packets.iter().map(copy).collect()
}

fn requests(output: &Output) -> Vec<(u64, Vec<Segment>, bool)> {
    output
        .packets
        .iter()
        .map(|p| {
            let repr = Repr::parse(output.header(p)).unwrap();
            let Kind::Request { probe, lost, .. } = repr.kind else {
                panic!("{repr}")
            };
            let main = Segment {
                offset: repr.offset,
                length: repr.length,
            };
            (
                repr.packet_number,
                std::iter::once(main).chain(lost.iter()).collect(),
                probe,
            )
        })
        .collect()
}

fn deliver(r: &mut Receiver, now: Instant, (header, payload, payload_len): &Packet) -> Step {
    r.on_datagram(
        now,
        Datagram {
            header,
            payload_len: *payload_len,
            payload,
        },
    )
}

/// Answers of `replica` to everything in the receiver's output.
fn answers(replica: &mut Replica, output: &Output, now: Instant) -> Vec<Packet> {
    let reqs = packets(output);
    reqs.iter()
        .flat_map(|(header, ..)| packets(replica.on_request(now.as_nanos() as i64, header)))
        .collect()
}

#[test]
fn a_window_is_requested_in_quanta_and_slides() {
    let mut replica = Replica::new();
    let ndc = replica.add_virtual("a", 100 * MSS);
    let mut r = receiver(ndc, 8.0, ReceiverOptions::default(), false);
    let step = r.open(Instant::ZERO);
    assert_eq!(step.in_flight, Bytes::new(8 * MSS));
    let asked: Vec<_> = requests(r.output())
        .into_iter()
        .map(|(pn, s, _)| (pn, s[0]))
        .collect();
    let two_units = |pn: u64| {
        (
            pn,
            Segment {
                offset: pn * 2 * MSS,
                length: 2 * MSS as u32,
            },
        )
    };
    assert_eq!(asked, (0..4).map(two_units).collect::<Vec<_>>());

    let data = answers(&mut replica, r.output(), Instant::ZERO);
    assert_eq!(data.len(), 8);
    let now = Instant::ZERO + RTT;
    let step = deliver(&mut r, now, &data[0]);
    assert_eq!(step.rtt, Some(RTT));
    assert!(
        r.output().packets.is_empty(),
        "waits until a whole quantum may be asked for"
    );
    deliver(&mut r, now, &data[1]);
    assert_eq!(requests(r.output()), [(4, vec![two_units(4).1], false)]);
    assert_eq!(
        r.stats().rtt.count(),
        1,
        "only the first unit of a request is a sample"
    );
}

#[test]
fn the_size_is_learnt_and_what_lies_beyond_is_given_up() {
    let mut replica = Replica::new();
    let ndc = replica.add_virtual("small", 3 * MSS + 10);
    let mut r = receiver(ndc, 10.0, ReceiverOptions::default(), false);
    r.open(Instant::ZERO);
    let data = answers(&mut replica, r.output(), Instant::ZERO);
    let now = Instant::ZERO + RTT;
    let step = deliver(&mut r, now, &data[0]);
    assert_eq!(step.in_flight, Bytes::new(2 * MSS + 10));
    assert_eq!(r.ndc_size(), Some(Bytes::new(3 * MSS + 10)));
    let step = data[1..4]
        .iter()
        .map(|d| deliver(&mut r, now, d))
        .last()
        .unwrap();
    assert!(step.completed);
    assert_eq!(step.delivered, Bytes::new(3 * MSS + 10));
    assert_eq!(
        (step.next_timer, step.in_flight),
        (Instant::MAX, Bytes::ZERO)
    );
}

#[test]
fn content_without_bytes_completes() {
    let mut replica = Replica::new();
    let ndc = replica.add_synthetic(1, 0);
    let mut r = receiver(ndc, 4.0, ReceiverOptions::default(), true);
    r.open(Instant::ZERO);
    let data = answers(&mut replica, r.output(), Instant::ZERO);
    let step = deliver(&mut r, Instant::ZERO + RTT, &data[0]);
    assert!(step.completed && step.verified);
}

#[test]
fn three_later_units_prove_a_loss() {
    let mut replica = Replica::new();
    let ndc = replica.add_virtual("a", 1000 * MSS);
    let options = ReceiverOptions {
        quantum_units: 4,
        ..Default::default()
    };
    let mut r = receiver(ndc, 16.0, options, false);
    r.open(Instant::ZERO);
    let data = answers(&mut replica, r.output(), Instant::ZERO);
    assert_eq!(data.len(), 16);
    let now = Instant::ZERO + RTT;
    // Units 1 and 3 are lost; 4 and 5 and 6 arrive after both.
    for unit in [0, 2, 4, 5] {
        deliver(&mut r, now, &data[unit]);
    }
    assert_eq!(
        r.stats().losses,
        1,
        "unit 1 has three later arrivals, unit 3 has two"
    );
    deliver(&mut r, now, &data[6]);
    assert_eq!(r.stats().losses, 2);
    let repeated: Vec<_> = requests(r.output())
        .into_iter()
        .flat_map(|(_, s, _)| s)
        .collect();
    let unit = |n: u64| Segment {
        offset: n * MSS,
        length: MSS as u32,
    };
    assert_eq!(repeated, [unit(3)], "unit 1 had been asked for at once");
}

#[test]
fn discrete_losses_share_a_request() {
    let mut replica = Replica::new();
    let ndc = replica.add_virtual("a", 1000 * MSS);
    let options = ReceiverOptions {
        quantum_units: 4,
        loss_threshold: 64,
        ..Default::default()
    };
    let mut r = receiver(ndc, 16.0, options, false);
    r.open(Instant::ZERO);
    let data = answers(&mut replica, r.output(), Instant::ZERO);
    let now = Instant::ZERO + RTT;
    let missing = [1, 3, 4, 8];
    for unit in (0..16).filter(|u| !missing.contains(u)) {
        deliver(&mut r, now, &data[unit]);
    }
    // What was requested meanwhile is answered too; then only the timer can tell.
    let rto = r.step().next_timer;
    r.on_timeout(rto);
    let unit = |n: u64, units: u32| Segment {
        offset: n * MSS,
        length: units * MSS as u32,
    };
    assert_eq!(
        requests(r.output())[0].1,
        [unit(1, 1), unit(3, 2), unit(8, 1)]
    );
    let data = answers(&mut replica, r.output(), rto);
    let offsets: Vec<_> = data
        .iter()
        .map(|(h, ..)| Repr::parse(h).unwrap().offset / MSS)
        .collect();
    assert_eq!(
        offsets[..4],
        missing.map(|u| u as u64),
        "one unit each, in order"
    );
    let step = data[..4]
        .iter()
        .map(|d| deliver(&mut r, rto + RTT, d))
        .last()
        .unwrap();
    assert_eq!(step.in_order, Bytes::new(16 * MSS));
}

#[test]
fn a_late_unit_is_delivered_once_and_reported() {
    let mut replica = Replica::new();
    let ndc = replica.add_virtual("a", 1000 * MSS);
    let mut r = receiver(ndc, 10.0, ReceiverOptions::default(), false);
    r.open(Instant::ZERO);
    let data = answers(&mut replica, r.output(), Instant::ZERO);
    let now = Instant::ZERO + RTT;
    for d in &data[1..4] {
        deliver(&mut r, now, d);
    }
    assert_eq!((r.stats().losses, r.stats().retransmissions), (1, 1));
    let again = answers(&mut replica, r.output(), now);
    let in_flight = r.step().in_flight;
    let step = deliver(&mut r, now, &data[0]);
    assert_eq!(step.delivered, Bytes::new(4 * MSS));
    assert_eq!(step.in_order, Bytes::new(4 * MSS));
    assert!(step.in_flight >= in_flight, "a lost unit is taken off once");
    assert_eq!(r.stats().spurious_losses, 1);
    let repeated = again
        .iter()
        .find(|(h, ..)| Repr::parse(h).unwrap().offset == 0)
        .unwrap();
    let step = deliver(&mut r, now, repeated);
    assert_eq!(step.delivered, Bytes::new(4 * MSS));
    assert_eq!(r.stats().duplicates, 1);
}

#[test]
fn the_timer_repeats_everything_once_and_backs_off() {
    let mut replica = Replica::new();
    let ndc = replica.add_virtual("a", 1000 * MSS);
    let mut r = receiver(ndc, 4.0, ReceiverOptions::default(), false);
    let step = r.open(Instant::ZERO);
    assert_eq!(
        step.next_timer,
        Instant::from_millis(1000),
        "RFC 6298: one second at first"
    );
    let early = r.on_timeout(Instant::from_millis(999));
    assert_eq!(
        (early.next_timer, r.stats().timeouts),
        (Instant::from_millis(1000), 0)
    );
    let step = r.on_timeout(Instant::from_millis(1000));
    assert_eq!((r.stats().timeouts, r.stats().losses), (1, 4));
    assert_eq!(
        step.next_timer,
        Instant::from_millis(3000),
        "the timeout has doubled"
    );
    assert_eq!(step.in_flight, Bytes::new(4 * MSS));
    let data = answers(&mut replica, r.output(), Instant::from_millis(1000));
    let step = deliver(&mut r, Instant::from_millis(1020), &data[0]);
    assert_eq!(
        step.rtt,
        Some(RTT),
        "the packet number tells which request is answered"
    );
    assert_eq!(
        step.next_timer,
        Instant::from_millis(1220),
        "the sample ends the back-off"
    );
}

#[test]
fn karns_rule_is_an_option() {
    let mut replica = Replica::new();
    let ndc = replica.add_virtual("a", 1000 * MSS);
    let options = ReceiverOptions {
        rtt_samples: RttSamples::FirstTransmission,
        ..Default::default()
    };
    let mut r = receiver(ndc, 4.0, options, false);
    r.open(Instant::ZERO);
    r.on_timeout(Instant::from_millis(1000));
    let data = answers(&mut replica, r.output(), Instant::from_millis(1000));
    let step = deliver(&mut r, Instant::from_millis(1020), &data[0]);
    assert_eq!(step.rtt, None, "the request is a repetition");
    assert_eq!(
        step.next_timer,
        Instant::from_millis(2020),
        "an answer within the timeout ends the back-off all the same"
    );
}

#[test]
fn a_full_receive_buffer_stops_new_requests_but_not_repeats() {
    let mut replica = Replica::new();
    let ndc = replica.add_virtual("a", 1000 * MSS);
    let options = ReceiverOptions {
        receive_buffer_bytes: 6 * MSS,
        ..Default::default()
    };
    let mut r = receiver(ndc, 20.0, options, false);
    let step = r.open(Instant::ZERO);
    assert_eq!(step.in_flight, Bytes::new(6 * MSS));
    let data = answers(&mut replica, r.output(), Instant::ZERO);
    let now = Instant::ZERO + RTT;
    let mut asked = Vec::new();
    for d in &data[1..6] {
        deliver(&mut r, now, d);
        asked.extend(requests(r.output()));
    }
    let only_the_hole = vec![Segment {
        offset: 0,
        length: MSS as u32,
    }];
    assert_eq!(
        asked.into_iter().map(|(_, s, _)| s).collect::<Vec<_>>(),
        [only_the_hole]
    );
    // The hole is filled: the buffer drains and requests go on.
    deliver(&mut r, now, &data[0]);
    assert!(!r.output().packets.is_empty());
}

#[test]
fn what_is_not_ours_is_counted_and_ignored() {
    let mut replica = Replica::new();
    let ndc = replica.add_synthetic(3, 100 * MSS as usize);
    let other = replica.add_synthetic(4, 100 * MSS as usize);
    let mut r = receiver(ndc, 4.0, ReceiverOptions::default(), true);
    r.open(Instant::ZERO);
    let mut good = answers(&mut replica, r.output(), Instant::ZERO);
    let mut stranger = receiver(other, 4.0, ReceiverOptions::default(), true);
    stranger.open(Instant::ZERO);
    let foreign = answers(&mut replica, stranger.output(), Instant::ZERO);
    let mut flipped = good[1].clone();
    flipped.1[5] ^= 1;
    let now = Instant::ZERO + RTT;
    let short = (good[0].0.clone(), good[0].1.clone(), 3);
    for bad in [&foreign[0], &flipped, &short, &(vec![1, 2, 3], vec![], 0)] {
        deliver(&mut r, now, bad);
    }
    assert_eq!((r.stats().malformed, r.stats().misdirected), (3, 1));
    assert_eq!(r.step().delivered, Bytes::ZERO);
    // A unit that nobody asked for, with a right checksum.
    let header = good.remove(0).0;
    let mut repr = Repr::parse(&header).unwrap();
    repr.offset = 99 * MSS;
    let payload = vec![0; MSS as usize];
    let mut forged = Vec::new();
    repr.emit(crate::wire::Sum::of(&payload), &mut forged);
    deliver(&mut r, now, &(forged, payload, MSS as u32));
    assert_eq!(r.stats().malformed, 4);
}

#[test]
fn requests_name_the_device_and_only_its_data_is_taken() {
    let mut replica = Replica::new();
    let ndc = replica.add_virtual("a", 100 * MSS);
    let mut r = receiver(ndc, 4.0, ReceiverOptions::default(), false);
    r.open(Instant::ZERO);
    let req = Repr::parse(r.output().header(&r.output().packets[0])).unwrap();
    let device = Eid::of_device("device");
    assert_eq!((req.source, req.destination), (device, ndc));
    let data = answers(&mut replica, r.output(), Instant::ZERO);
    let mut repr = Repr::parse(&data[0].0).unwrap();
    assert_eq!((repr.source, repr.destination), (ndc, device));
    // The same DATA for a neighbour, and for an NDC of the device's own name.
    for stranger in [Eid::of_device("neighbour"), Eid::of_name("device")] {
        repr.destination = stranger;
        let mut header = Vec::new();
        repr.emit(crate::wire::Sum::ZERO, &mut header);
        deliver(
            &mut r,
            Instant::ZERO + RTT,
            &(header, Vec::new(), data[0].2),
        );
    }
    assert_eq!((r.stats().misdirected, r.stats().malformed), (2, 0));
    assert_eq!(r.step().delivered, Bytes::ZERO);
    let step = deliver(&mut r, Instant::ZERO + RTT, &data[0]);
    assert_eq!(step.delivered, Bytes::new(MSS));
}

#[test]
fn a_replica_counts_what_it_cannot_answer() {
    let mut replica = Replica::new();
    let ndc = replica.add_virtual("a", 10 * MSS);
    let mut r = receiver(
        Eid::of_name("elsewhere"),
        4.0,
        ReceiverOptions::default(),
        false,
    );
    r.open(Instant::ZERO);
    // "Not here": an empty DATA packet without a size, which is no answer to the receiver.
    let words = answers(&mut replica, r.output(), Instant::ZERO);
    assert_eq!(words.len(), r.output().packets.len());
    assert_eq!(replica.unknown(), words.len() as u64);
    for (header, payload, length) in &words {
        assert!((payload.len(), *length) == (0, 0));
        let size = match Repr::parse(header).unwrap().kind {
            crate::wire::Kind::Data { ndc_size, .. } => ndc_size,
            crate::wire::Kind::Request { .. } => panic!("a REQ"),
        };
        assert_eq!(size, None);
        deliver(
            &mut r,
            Instant::from_millis(1),
            &(header.clone(), vec![], 0),
        );
    }
    assert_eq!((r.ndc_size(), r.step().delivered), (None, Bytes::ZERO));
    replica.on_request(0, &[1, 2, 3]);
    assert_eq!(replica.malformed(), 1);
    let mut r = receiver(ndc, 4.0, ReceiverOptions::default(), false);
    r.open(Instant::ZERO);
    let mut header = r.output().header(&r.output().packets[0]).to_vec();
    header[60] ^= 1;
    replica.on_request(0, &header);
    assert_eq!(replica.malformed(), 2, "the checksum of a REQ is checked");
}

#[test]
fn options_out_of_range_are_named() {
    let bad = ReceiverOptions {
        mss_bytes: 10,
        ..Default::default()
    };
    assert_eq!(
        bad.validate(),
        Err("mss_bytes: 10 is not in 64..9000".to_string())
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever a network does to packets short of forging them: every byte arrives exactly once,
    /// in-flight never goes below zero (it would panic), and the transfer ends.
    #[test]
    fn every_byte_arrives(
        size in 0usize..60_000,
        window in 1.0f64..40.0,
        quantum_units in 0u16..8,
        buffer_units in prop::option::of(2u64..20),
        fates in prop::collection::vec(0u8..12, 1..300),
    ) {
        let mut replica = Replica::new();
        let ndc = replica.add_synthetic(size as u64, size);
        let options = ReceiverOptions {
            quantum_units,
            receive_buffer_bytes: buffer_units.map_or(0, |n| n * MSS),
            ..Default::default()
        };
        let mut r = receiver(ndc, window, options, true);
        let mut fates = fates.into_iter();
        let mut now = Instant::ZERO;
        let mut on_the_way: VecDeque<Packet> = VecDeque::new();
        let mut step = r.open(now);
        on_the_way.extend(answers(&mut replica, r.output(), now));
        for _ in 0..20_000 {
            if step.completed {
                break;
            }
            now += Duration::from_micros(100);
            match on_the_way.pop_front() {
                Some(packet) => match fates.next().unwrap_or(11) {
                    0 => {}
                    1 => on_the_way.push_back(packet),
                    2 => {
                        on_the_way.push_front(packet.clone());
                        on_the_way.push_back(packet);
                    }
                    _ => step = deliver(&mut r, now, &packet),
                },
                None => {
                    prop_assert!(step.next_timer < Instant::MAX, "stalled");
                    now = now.max(step.next_timer);
                    step = r.on_timeout(now);
                }
            }
            on_the_way.extend(answers(&mut replica, r.output(), now));
        }
        prop_assert!(step.completed && step.verified);
        prop_assert_eq!(step.delivered, Bytes::new(size as u64));
        prop_assert_eq!(step.in_flight, Bytes::ZERO);
    }
}

#[test]
fn the_clocks_error_is_in_one_way_samples_and_not_in_their_report() {
    let mut replica = Replica::new();
    let ndc = replica.add_virtual("clock", 40 * MSS);
    let mut r = receiver(ndc, 4.0, ReceiverOptions::default(), false);
    let mut now = Instant::from_millis(5);
    r.open(now);
    let mut queue: VecDeque<Packet> = packets(r.output()).into();
    // Any error, also one that changes from packet to packet.
    for error in [0, 7, -1_234_567_890_123, i64::MAX / 2, 0, 50, -50] {
        let (request, ..) = queue.pop_front().unwrap();
        replica.on_request(now.as_nanos() as i64, &request);
        let data = packets(replica.output());
        now += RTT;
        r.set_clock_error(error);
        let step = deliver(&mut r, now, &data[0]);
        let sample = step.one_way.unwrap().as_nanos();
        assert_eq!(sample, RTT.as_nanos() as i64 + error);
        assert_eq!(step.one_way_zero.as_nanos(), error);
        queue.extend(packets(r.output()));
    }
    let reported = &r.stats().one_way;
    assert_eq!((reported.min(), reported.max()), (Some(RTT), Some(RTT)));
}
