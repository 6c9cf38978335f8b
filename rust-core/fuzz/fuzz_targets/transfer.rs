//! An arbitrary network between a receiver and a replica: packets are delivered, lost, duplicated,
//! delayed, damaged, the path changes. Nothing panics, and a transfer never counts a byte twice.
#![no_main]

use arbitrary::Arbitrary;
use ferrocc::cc::{RestartCause, Setup, registry};
use ferrocc::transport::{Datagram, Output, Receiver, ReceiverConfig, ReceiverOptions, Replica};
use ferrocc::units::{Bytes, Duration, Instant};
use ferrocc::wire::Eid;
use libfuzzer_sys::fuzz_target;
use std::collections::VecDeque;

#[derive(Arbitrary, Debug)]
enum Action {
    Deliver { after_us: u16 },
    Lose,
    Duplicate,
    Delay,
    Damage { at: u16, xor: u8 },
    Timer,
    ChangePath { replica: bool },
}

#[derive(Arbitrary, Debug)]
struct Input {
    controller: u8,
    size: u16,
    quantum_units: u8,
    actions: Vec<Action>,
}

type Packet = (Vec<u8>, Vec<u8>, u32);

fn answers(replica: &mut Replica, output: &Output, now: Instant, queue: &mut VecDeque<Packet>) {
    for request in &output.packets {
        let answer = replica.on_request(now.as_nanos() as i64, output.header(request));
        for p in &answer.packets {
            queue.push_back((answer.header(p).to_vec(), answer.payload(p).to_vec(), p.payload_len));
        }
    }
}

fuzz_target!(|input: Input| {
    let size = usize::from(input.size);
    let mut replica = Replica::new();
    let ndc = replica.add_synthetic(1, size);
    let entry = &registry::CONTROLLERS[usize::from(input.controller) % registry::CONTROLLERS.len()];
    let controller = (entry.build)(&Setup::default(), &serde_json::json!({})).expect("defaults");
    let options = ReceiverOptions {
        quantum_units: u16::from(input.quantum_units),
        ..ReceiverOptions::default()
    };
    let config = ReceiverConfig {
        device: Eid::of_device("device"),
        ndc,
        verify: true,
        replica_clock_offset_ns: 0,
        options,
    };
    let mut receiver = Receiver::new(config, controller).expect("options are in range");
    let mut now = Instant::ZERO;
    let mut queue = VecDeque::new();
    receiver.open(now);
    answers(&mut replica, receiver.output(), now, &mut queue);
    for action in input.actions {
        match action {
            Action::Deliver { after_us } => {
                now += Duration::from_micros(u64::from(after_us));
                let Some((header, payload, payload_len)) = queue.pop_front() else { continue };
                let datagram = Datagram { header: &header, payload_len, payload: &payload };
                receiver.on_datagram(now, datagram);
            }
            Action::Lose => drop(queue.pop_front()),
            Action::Duplicate => queue.extend(queue.front().cloned()),
            Action::Delay => {
                if let Some(packet) = queue.pop_front() {
                    queue.push_back(packet);
                }
            }
            Action::Damage { at, xor } => {
                if let Some((header, ..)) = queue.front_mut() {
                    let at = usize::from(at) % header.len();
                    header[at] ^= xor;
                }
            }
            Action::Timer => {
                let due = receiver.step().next_timer;
                if due < Instant::MAX {
                    now = now.max(due);
                    receiver.on_timeout(now);
                }
            }
            Action::ChangePath { replica } => {
                let cause =
                    if replica { RestartCause::ReplicaChanged } else { RestartCause::PathChanged };
                receiver.on_path_change(now, cause);
            }
        }
        answers(&mut replica, receiver.output(), now, &mut queue);
        // A network holds so many packets.
        queue.truncate(2000);
        let step = receiver.step();
        assert!(step.delivered <= Bytes::new(size as u64));
        assert!(step.in_order <= step.delivered);
        assert_eq!(step.completed, step.delivered == Bytes::new(size as u64) && receiver.ndc_size().is_some());
        assert!(!step.completed || step.verified);
    }
});
