//! The only place where bridge PODs and core types meet.

use crate::transport::bridge::Step;
use crate::types::{Eid, NodeAddress, TxPacket};
use ferrocc::transport::{self, Output, Stats};
use ferrocc::wire;
use std::net::IpAddr;

/// `next_timer_ns` and `ssthresh_bytes` for "none".
const NONE: u64 = u64::MAX;

pub(crate) fn eid(eid: &Eid) -> wire::Eid {
    wire::Eid(eid.bytes)
}

pub(crate) fn bridge_eid(eid: wire::Eid) -> Eid {
    Eid { bytes: eid.0 }
}

/// None for family 0, which is no address.
pub(crate) fn address(a: &NodeAddress) -> Option<IpAddr> {
    match a.family {
        4 => a.bytes.first_chunk::<4>().map(|&b| b.into()),
        6 => Some(a.bytes.into()),
        _ => None,
    }
}

/// Replaces the contents of `packets` by those of `output`.
pub(crate) fn packets(output: &Output, packets: &mut Vec<TxPacket>) {
    packets.clear();
    packets.extend(output.packets.iter().map(|p| TxPacket {
        header_offset: p.header.start,
        header_len: p.header.end - p.header.start,
        payload_len: p.payload_len,
        payload_offset: p.payload_offset,
        expedited: p.expedited,
    }));
}

pub(crate) fn step<'a>(
    step: &transport::Step,
    stats: &Stats,
    packets: &'a [TxPacket],
    output: &'a Output,
) -> Step<'a> {
    let inner = &step.snapshot;
    Step {
        packets,
        headers: &output.headers,
        next_timer_ns: step.next_timer.as_nanos(),
        delivered_bytes: step.delivered.get(),
        in_order_bytes: step.in_order.get(),
        window_bytes: step.window.get(),
        in_flight_bytes: step.in_flight.get(),
        pacing_bps: step.pacing.map_or(0, |r| r.as_bps()),
        rtt_ns: step.rtt.map_or(0, |d| d.as_nanos()),
        srtt_ns: step.srtt.map_or(0, |d| d.as_nanos()),
        one_way_ns: step.one_way.map_or(0, |d| d.as_nanos()),
        has_one_way: step.one_way.is_some(),
        ssthresh_bytes: inner.ssthresh.map_or(NONE, |b| b.get()),
        queue_delay_ns: inner.queue_delay.map_or(0, |d| d.as_nanos()),
        delta: inner.delta.unwrap_or(0.0),
        phase: inner.phase as u8,
        losses: stats.losses,
        retransmissions: stats.retransmissions,
        duplicates: stats.duplicates,
        timeouts: stats.timeouts,
        marks: stats.marks,
        window_cuts: stats.window_cuts,
        malformed: stats.malformed + stats.misdirected,
        source_changes: stats.source_changes,
        completed: step.completed,
        verified: step.verified,
    }
}
