//! Bridge of the transport engines: `ferrocc::transport`.

#[cxx::bridge(namespace = "ferrocc::transport")]
pub(crate) mod bridge {
    #[namespace = "ferrocc"]
    extern "C++" {
        include!("ferrocc-ffi/src/types.rs.h");
        type Eid = crate::types::Eid;
        type TxPacket = crate::types::TxPacket;
        type NodeAddress = crate::types::NodeAddress;
    }

    /// Options of a receiver (the ICN transport's half that is congestion-controlled).
    #[derive(Debug, Clone)]
    struct ReceiverConfig {
        /// Registry name of the controller.
        controller: String,
        /// Its parameters, a JSON object; empty means the defaults.
        controller_params: String,
        /// Options of the engine, a JSON object (`transport::ReceiverConfig`); empty means defaults.
        options: String,
        /// Whether the packets have IPv6 headers instead of IPv4 ones.
        ipv6: bool,
        /// A draw in [0, 1) from the simulation's random stream.
        draw: f64,
        /// The device's EID.
        device: Eid,
        /// The EID of the NDC to fetch.
        ndc: Eid,
        /// Whether payload is real: it is then checked against the NDC's EID.
        verify: bool,
    }

    /// All that follows from one event at a receiver. Counters are totals since `open`.
    #[derive(Debug)]
    struct Step<'a> {
        /// REQs to send, in order.
        packets: &'a [TxPacket],
        /// Their headers.
        headers: &'a [u8],
        /// When `on_timeout` is due; `u64::MAX` for never.
        next_timer_ns: u64,
        /// Payload bytes received exactly once.
        delivered_bytes: u64,
        /// Bytes received from the start of the NDC without a gap.
        in_order_bytes: u64,
        /// Bytes that may be outstanding.
        window_bytes: u64,
        /// Bytes that are outstanding.
        in_flight_bytes: u64,
        /// Pacing rate; zero where the controller does not pace.
        pacing_bps: u64,
        /// The last valid RTT sample; zero before the first.
        rtt_ns: u64,
        /// Smoothed RTT (RFC 6298); zero before the first sample.
        srtt_ns: u64,
        /// The last valid one-way sample including the clocks' offset.
        one_way_ns: i64,
        /// Whether there was a one-way sample.
        has_one_way: bool,
        /// Slow-start threshold; `u64::MAX` where there is none (yet).
        ssthresh_bytes: u64,
        /// The queueing delay that the controller sees; zero where it sees none.
        queue_delay_ns: u64,
        /// Copa's delta; zero where there is none.
        delta: f64,
        /// Number of the phase, `phase_name` tells its name.
        phase: u8,
        /// Units declared lost.
        losses: u64,
        /// Units requested again.
        retransmissions: u64,
        /// Units that arrived although they had arrived before.
        duplicates: u64,
        /// Retransmission timer expiries.
        timeouts: u64,
        /// Units that arrived with a mark.
        marks: u64,
        /// Reductions of the window on loss, timeout or mark.
        window_cuts: u64,
        /// Packets that were not valid or not for this transfer.
        malformed: u64,
        /// Changes of the address that DATA comes from.
        source_changes: u64,
        /// Whether every byte of the NDC has arrived.
        completed: bool,
        /// Whether the content's hash equals the NDC's EID (only with `verify`, once completed).
        verified: bool,
    }

    /// All that follows from one REQ at a replica.
    #[derive(Debug)]
    struct ReplicaStep<'a> {
        /// DATA packets to send, in order.
        packets: &'a [TxPacket],
        /// Their headers.
        headers: &'a [u8],
        /// Their payload if the content is real; empty if it is virtual (all zero).
        payload: &'a [u8],
        /// Packets that were not valid, since the start.
        malformed: u64,
        /// REQs for an NDC that is not here, since the start.
        unknown: u64,
    }

    extern "Rust" {
        #[derive(ExternType)]
        type Receiver;
        #[derive(ExternType)]
        type Replica;

        /// A receiver that will fetch one NDC. Fails on an unknown controller or bad parameters.
        fn new_receiver(config: &ReceiverConfig) -> Result<Box<Receiver>>;
        /// Starts the transfer; called once, before anything else.
        unsafe fn open<'a>(self: &'a mut Receiver, now_ns: u64) -> Step<'a>;
        /// A DATA packet arrived when this node's own clock was `clock_error_ns` ahead of `now_ns`:
        /// its ICN header, its payload's length and, with `verify`, the payload itself (else empty).
        /// `source` is who sent it.
        unsafe fn on_datagram<'a>(
            self: &'a mut Receiver,
            now_ns: u64,
            clock_error_ns: i64,
            header: &[u8],
            payload_len: u32,
            payload: &[u8],
            source: &NodeAddress,
        ) -> Step<'a>;
        /// The time asked for by `next_timer_ns` has come (calling earlier does no harm).
        unsafe fn on_timeout<'a>(self: &'a mut Receiver, now_ns: u64) -> Step<'a>;
        /// The replica or the path changed: start over with the controller, keep what arrived.
        unsafe fn on_path_change<'a>(
            self: &'a mut Receiver,
            now_ns: u64,
            replica: bool,
        ) -> Step<'a>;
        /// Gives the transfer up.
        unsafe fn cancel<'a>(self: &'a mut Receiver, now_ns: u64) -> Step<'a>;

        /// A replica without content.
        fn new_replica() -> Box<Replica>;
        /// Adds an NDC of `size_bytes` virtual bytes and returns its EID, made from `name`;
        /// `u64::MAX` for content without an end.
        fn add_virtual(self: &mut Replica, name: &str, size_bytes: u64) -> Eid;
        /// Adds an NDC of real pseudo-random bytes and returns its self-certifying EID.
        fn add_synthetic(self: &mut Replica, seed: u64, size_bytes: u64) -> Result<Eid>;
        /// Adds `size_bytes` virtual bytes as an NDC whose EID is known.
        fn add_known(self: &mut Replica, ndc: &Eid, size_bytes: u64);
        /// Removes an NDC.
        fn remove(self: &mut Replica, ndc: &Eid);
        /// Whether the replica says "not here" to every REQ.
        fn set_hidden(self: &mut Replica, hidden: bool);
        /// A REQ arrived. `clock_ns` is the replica's own clock, which stamps the DATA.
        unsafe fn on_request<'a>(
            self: &'a mut Replica,
            clock_ns: i64,
            header: &[u8],
        ) -> ReplicaStep<'a>;

        /// The EID of a device of this public name, in a domain apart from NDCs.
        fn device_eid(name: &str) -> Eid;
        /// The name of a phase number.
        fn phase_name(phase: u8) -> &'static str;
    }
}

use crate::convert;
use bridge::{ReceiverConfig, ReplicaStep, Step};
use ferrocc::cc::{Phase, RestartCause, Setup, registry};
use ferrocc::trace::FlowMeter;
use ferrocc::transport::{self, Datagram, ReceiverOptions};
use ferrocc::units::{Bytes, Instant};
use ferrocc::wire;
use std::cell::Cell;
use types::{Eid, NodeAddress, TxPacket};

use crate::types;

/// A receiving end, with its output in the bridge's form.
pub struct Receiver {
    engine: transport::Receiver,
    packets: Vec<TxPacket>,
    /// A cell, because reading a row of the trace starts a new interval.
    meter: Cell<FlowMeter>,
}

impl Receiver {
    /// The engine, for the bridges that report on it.
    pub(crate) fn engine(&self) -> &transport::Receiver {
        &self.engine
    }

    /// What was watched at each step.
    pub(crate) fn meter(&self) -> FlowMeter {
        self.meter.get()
    }

    /// Replaces what was watched.
    pub(crate) fn set_meter(&self, meter: FlowMeter) {
        self.meter.set(meter);
    }

    fn answer(&mut self, step: &transport::Step) -> Step<'_> {
        self.meter.get_mut().on_step(step, self.engine.stats());
        let output = self.engine.output();
        convert::packets(output, &mut self.packets);
        convert::step(step, self.engine.stats(), &self.packets, output)
    }

    fn open(&mut self, now_ns: u64) -> Step<'_> {
        let step = self.engine.open(Instant::from_nanos(now_ns));
        self.answer(&step)
    }

    fn on_datagram(
        &mut self,
        now_ns: u64,
        clock_error_ns: i64,
        header: &[u8],
        payload_len: u32,
        payload: &[u8],
        source: &NodeAddress,
    ) -> Step<'_> {
        let datagram = Datagram {
            header,
            payload_len,
            payload,
        };
        self.engine.set_clock_error(clock_error_ns);
        self.engine.set_data_source(convert::address(source));
        let step = self
            .engine
            .on_datagram(Instant::from_nanos(now_ns), datagram);
        self.answer(&step)
    }

    fn on_timeout(&mut self, now_ns: u64) -> Step<'_> {
        let step = self.engine.on_timeout(Instant::from_nanos(now_ns));
        self.answer(&step)
    }

    fn on_path_change(&mut self, now_ns: u64, replica: bool) -> Step<'_> {
        let cause = if replica {
            RestartCause::ReplicaChanged
        } else {
            RestartCause::PathChanged
        };
        let step = self
            .engine
            .on_path_change(Instant::from_nanos(now_ns), cause);
        self.answer(&step)
    }

    fn cancel(&mut self, now_ns: u64) -> Step<'_> {
        let step = self.engine.cancel(Instant::from_nanos(now_ns));
        self.answer(&step)
    }
}

fn new_receiver(config: &ReceiverConfig) -> Result<Box<Receiver>, String> {
    let options: ReceiverOptions = json(&config.options, "options")?;
    options.validate()?;
    let params: serde_json::Value = json(&config.controller_params, "controller_params")?;
    let headers = match config.ipv6 {
        false => ReceiverOptions::HEADER_BYTES,
        true => ReceiverOptions::HEADER_BYTES + ReceiverOptions::IPV6_EXTRA_BYTES,
    };
    let setup = Setup {
        mss: options.mss(),
        packet_size: options.mss() + Bytes::new(headers),
        initial_window: options.initial_window,
        draw: config.draw,
    };
    let controller = registry::build(&config.controller, &setup, &params)?;
    let config = transport::ReceiverConfig {
        device: convert::eid(&config.device),
        ndc: convert::eid(&config.ndc),
        verify: config.verify,
        // Replicas' clocks are the simulator's; what the receiver's is ahead is told with each DATA.
        replica_clock_offset_ns: 0,
        options,
    };
    let engine = transport::Receiver::new(config, controller)?;
    Ok(Box::new(Receiver {
        engine,
        packets: Vec::new(),
        meter: Cell::default(),
    }))
}

/// Reads a JSON object; empty text is the empty object.
fn json<T: serde::de::DeserializeOwned>(text: &str, field: &str) -> Result<T, String> {
    let text = if text.is_empty() { "{}" } else { text };
    serde_json::from_str(text).map_err(|e| format!("{field}: {e}"))
}

/// A replica node, with its output in the bridge's form.
pub struct Replica {
    engine: transport::Replica,
    packets: Vec<TxPacket>,
}

impl Replica {
    /// Real content is kept in memory; more than this is a mistake.
    const MAX_REAL_BYTES: u64 = 4 << 30;

    fn add_virtual(&mut self, name: &str, size_bytes: u64) -> Eid {
        convert::bridge_eid(self.engine.add_virtual(name, size_bytes))
    }

    fn add_synthetic(&mut self, seed: u64, size_bytes: u64) -> Result<Eid, String> {
        if size_bytes > Replica::MAX_REAL_BYTES {
            return Err(format!(
                "real content of {size_bytes} bytes is more than 4 GiB"
            ));
        }
        Ok(convert::bridge_eid(
            self.engine.add_synthetic(seed, size_bytes as usize),
        ))
    }

    /// The engine, for the bridge that adds content.
    pub(crate) fn engine_mut(&mut self) -> &mut transport::Replica {
        &mut self.engine
    }

    fn add_known(&mut self, ndc: &Eid, size_bytes: u64) {
        let content = transport::Content::Virtual { size: size_bytes };
        self.engine.add(convert::eid(ndc), content);
    }

    fn remove(&mut self, ndc: &Eid) {
        self.engine.remove(&convert::eid(ndc));
    }

    fn set_hidden(&mut self, hidden: bool) {
        self.engine.set_hidden(hidden);
    }

    fn on_request(&mut self, clock_ns: i64, header: &[u8]) -> ReplicaStep<'_> {
        self.engine.on_request(clock_ns, header);
        let output = self.engine.output();
        convert::packets(output, &mut self.packets);
        ReplicaStep {
            packets: &self.packets,
            headers: &output.headers,
            payload: &output.payload,
            malformed: self.engine.malformed(),
            unknown: self.engine.unknown(),
        }
    }
}

fn new_replica() -> Box<Replica> {
    Box::new(Replica {
        engine: transport::Replica::new(),
        packets: Vec::new(),
    })
}

fn device_eid(name: &str) -> Eid {
    convert::bridge_eid(wire::Eid::of_device(name))
}

fn phase_name(phase: u8) -> &'static str {
    Phase::ALL
        .get(usize::from(phase))
        .map_or("unknown", |p| p.as_str())
}
