//! After its buffers have grown, a transfer allocates nothing, whatever the controller.

use ferrocc::cc::{Setup, registry};
use ferrocc::transport::{Datagram, Receiver, ReceiverConfig, ReceiverOptions, Replica, TxPacket};
use ferrocc::units::{Duration, Instant};
use ferrocc::wire::{Eid, MAX_HEADER_LEN, UNBOUNDED};
use serde_json::json;
use std::collections::VecDeque;

/// A DATA packet on its way.
struct OnTheWay {
    due: Instant,
    header: [u8; MAX_HEADER_LEN],
    header_len: usize,
    payload_len: u32,
}

/// A link of 20 Mbps and 30 ms between both engines, with a short drop-tail queue, in buffers of
/// constant size.
struct Pipe {
    receiver: Receiver,
    replica: Replica,
    data: VecDeque<OnTheWay>,
    now: Instant,
    timer: Instant,
    link_free: Instant,
}

impl Pipe {
    const RTT: Duration = Duration::from_millis(30);
    /// 1360 B at 20 Mbps.
    const SERIALISATION: Duration = Duration::from_micros(544);
    /// Packets that fit between both ends: a quarter more than the bandwidth-delay product.
    const CAPACITY: usize = 70;

    fn new(controller: &str) -> Pipe {
        let mut replica = Replica::new();
        let ndc = replica.add_virtual("endless", UNBOUNDED);
        let controller =
            registry::build(controller, &Setup::default(), &json!({})).expect("defaults are valid");
        let config = ReceiverConfig {
            device: Eid::of_device("device"),
            ndc,
            verify: false,
            replica_clock_offset_ns: 0,
            options: ReceiverOptions::default(),
        };
        let mut pipe = Pipe {
            receiver: Receiver::new(config, controller).expect("defaults are valid"),
            replica,
            data: VecDeque::with_capacity(Pipe::CAPACITY),
            now: Instant::ZERO,
            timer: Instant::MAX,
            link_free: Instant::ZERO,
        };
        pipe.timer = pipe.receiver.open(Instant::ZERO).next_timer;
        pipe.answer();
        pipe
    }

    /// Hands the receiver's requests to the replica and puts its answers on the link.
    fn answer(&mut self) {
        let requests = self.receiver.output();
        for request in &requests.packets {
            let answers = self
                .replica
                .on_request(self.now.as_nanos() as i64, requests.header(request));
            for TxPacket {
                header,
                payload_len,
                ..
            } in answers.packets.iter().cloned()
            {
                if self.data.len() == Pipe::CAPACITY {
                    continue; // Drop tail.
                }
                self.link_free = self.link_free.max(self.now + Pipe::RTT) + Pipe::SERIALISATION;
                let bytes = &answers.headers[header.start as usize..header.end as usize];
                let mut copy = [0; MAX_HEADER_LEN];
                copy[..bytes.len()].copy_from_slice(bytes);
                self.data.push_back(OnTheWay {
                    due: self.link_free,
                    header: copy,
                    header_len: bytes.len(),
                    payload_len,
                });
            }
        }
    }

    fn step(&mut self) {
        let arrival = self.data.front().map_or(Instant::MAX, |d| d.due);
        self.now = arrival.min(self.timer);
        let step = if arrival <= self.timer {
            let d = self.data.pop_front().expect("it is due");
            let header = &d.header[..d.header_len];
            let datagram = Datagram {
                header,
                payload_len: d.payload_len,
                payload: &[],
            };
            self.receiver.on_datagram(self.now, datagram)
        } else {
            self.receiver.on_timeout(self.now)
        };
        self.timer = step.next_timer;
        self.answer();
    }
}

#[test]
fn no_allocation_per_packet_after_warm_up() {
    for entry in registry::CONTROLLERS {
        let mut pipe = Pipe::new(entry.name);
        // 15 s: past the first loss, the filters' windows of 10 s and a PROBE_RTT.
        while pipe.now < Instant::from_millis(15_000) {
            pipe.step();
        }
        let before = pipe.receiver.step().delivered;
        let counted = allocation_counter::measure(|| (0..20_000).for_each(|_| pipe.step()));
        let delivered = pipe.receiver.step().delivered.saturating_sub(before);
        assert!(
            delivered.get() > 1000 * 1250,
            "{}: only {delivered} went through",
            entry.name
        );
        assert_eq!(counted.count_total, 0, "{}: {counted:?}", entry.name);
    }
}
