//! The flows over TCP.

use super::{filled, inside, within};
use crate::recovery;
use crate::scenario::error::{Error, shown};
use crate::scenario::json;
use crate::scenario::model::{Algorithm, Flow, Links, Scenario};
use crate::scenario::quantity::{Buffer, SizeText};
use crate::scenario::registry;
use crate::units::{Bytes, Duration};

/// Bytes of a TCP header without options (RFC 9293, section 3.1).
const TCP_HEADER: u64 = 20;
/// Bytes of an IPv4 header without options (RFC 791) and of an IPv6 header (RFC 8200).
const IP_HEADER: [u64; 2] = [20, 40];
/// Smallest segment: RFC 9293's default for IPv4 is 536, ns-3 works with less.
const MIN_MSS: u64 = 100;
/// Largest window that window scaling can tell (RFC 7323, section 2.2): 2^30 bytes.
const MAX_BUFFER: u64 = 1 << 30;
/// How many windows (path and queue full) a buffer holds by default: during a recovery several are
/// between the first missing byte and the last that was sent.
const BUFFER_WINDOWS: u64 = 8;
/// Added to it, for paths that hold nearly nothing.
const LEAST_BUFFER: u64 = 1_000_000;
/// Each flow has a port of its own, of those that are not well known (RFC 6335).
pub(super) const MAX_FLOWS: usize = 60_000;

/// The controller name that stands for ns-3's own congestion control.
const NS3: &str = "ns3";
/// The parameter with its type.
const TYPE: &str = "type";
/// How types are written out.
const PREFIX: &str = "ns3::";

/// Checks the options of TCP and fills them in; without a flow over TCP there are none.
pub(super) fn check(s: &mut Scenario, packet: Bytes, links: &Links) -> Result<(), Error> {
    let count = s.flows.iter().filter(|f| is_tcp(f)).count();
    if count == 0 {
        s.tcp = None;
        return Ok(());
    }
    if count > MAX_FLOWS {
        let problem = format!("{count} flows over tcp are too many (accepted: 0..{MAX_FLOWS})");
        return Err(Error::new("flows", problem));
    }
    if s.workload.is_some() {
        let problem = "a workload is made of flows over icn (accepted with tcp: null)";
        return Err(Error::new("workload", problem));
    }
    if count == s.flows.len() {
        without_icn(s)?;
    }
    let mut tcp = s.tcp.unwrap_or_default();
    let headers = headers(s);
    let mss = tcp
        .mss
        .unwrap_or(SizeText(packet.saturating_sub(Bytes::new(headers))));
    let most = packet.get().max(1500) - headers;
    within(
        "tcp.mss",
        mss,
        mss.0.get(),
        MIN_MSS,
        most,
        &format!("{MIN_MSS} B..{most} B, what fits into the links' packets"),
    )?;
    within(
        "tcp.delayed_ack",
        tcp.delayed_ack,
        tcp.delayed_ack,
        1,
        100,
        "1..100 segments",
    )?;
    within(
        "tcp.initial_window",
        tcp.initial_window,
        tcp.initial_window,
        1,
        10_000,
        "1..10000 segments",
    )?;
    let buffer = tcp.buffer.unwrap_or(SizeText(enough(s, packet, links)));
    within(
        "tcp.buffer",
        buffer,
        buffer.0.get(),
        2 * mss.0.get(),
        MAX_BUFFER,
        &format!("two segments of {mss}..1 GiB"),
    )?;
    if let Some(most) = tcp.max_window {
        within(
            "tcp.max_window",
            most,
            most,
            2,
            1_000_000,
            "2..1000000 segments",
        )?;
    }
    tcp.mss = Some(mss);
    tcp.buffer = Some(buffer);
    s.tcp = Some(tcp);
    Ok(())
}

/// Bytes of headers of a segment without options.
pub(super) fn headers(s: &Scenario) -> u64 {
    TCP_HEADER + IP_HEADER[usize::from(s.topology.ip == "ipv6")]
}

fn is_tcp(flow: &Flow) -> bool {
    flow.transport == "tcp"
}

/// What speaks of replicas and names has no meaning without a flow over icn.
fn without_icn(s: &Scenario) -> Result<(), Error> {
    if let Some(fault) = s.faults.first() {
        let problem = format!(
            "{} has no place among flows over tcp (accepted: none without a flow over icn)",
            shown(&fault.kind)
        );
        return Err(Error::new("faults[0].kind", problem));
    }
    if s.replicas.as_ref().is_some_and(|r| r.len() > 1) {
        let problem = "flows over tcp have one server (accepted: one replica node without a flow \
                       over icn)";
        return Err(Error::new("replicas", problem));
    }
    Ok(())
}

/// A buffer that never limits: several times what path and queue hold.
fn enough(s: &Scenario, packet: Bytes, links: &Links) -> Bytes {
    let bottleneck = &s.topology.bottleneck;
    let extra = s.flows.iter().map(|f| f.extra_delay.0).max();
    let round_trip = s.topology.rtprop.0
        + bottleneck.extra_delay_reverse.0
        + extra.unwrap_or(Duration::ZERO) * 2
        + bottleneck.reorder_delay.0;
    let queue = match links.buffer {
        Buffer::Packets(n) => packet.get().saturating_mul(n),
        Buffer::Bytes(n) => n.get(),
        Buffer::Bdp(_) => 0,
    };
    let window = (bottleneck.rate.0 * round_trip).get().saturating_add(queue);
    let buffer = window
        .saturating_mul(BUFFER_WINDOWS)
        .saturating_add(LEAST_BUFFER);
    Bytes::new(buffer.min(MAX_BUFFER))
}

/// What a sender may be told of its path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path {
    segment: Bytes,
    bottleneck_mbps: f64,
    buffer_bytes: f64,
}

/// The path of all flows, of packets of `packet`.
pub(super) fn path(s: &Scenario, packet: Bytes) -> Path {
    let b = &s.topology.bottleneck;
    let buffer = match b.buffer {
        Buffer::Packets(n) => packet.get().saturating_mul(n),
        Buffer::Bytes(n) => n.get(),
        Buffer::Bdp(_) => 0,
    };
    Path {
        segment: packet.saturating_sub(Bytes::new(headers(s))),
        bottleneck_mbps: b.rate.0.as_mbps(),
        buffer_bytes: buffer as f64,
    }
}

/// Checks a recovery by making one, and fills in its parameters.
fn recovery(field: &str, given: &Algorithm, path: &Path) -> Result<Algorithm, Error> {
    let name = given.name.to_ascii_lowercase();
    let name = recovery::registry::find(&name).map_or(given.name.as_str(), |e| e.name);
    let entry = registry::select(field, "recovery", registry::RECOVERIES, name)?;
    let Some(policy) = recovery::registry::find(entry.name) else {
        // ns-3's own.
        if let Some(key) = given.params.keys().next() {
            return Err(Error::unknown(field, "parameter", key, std::iter::empty()));
        }
        return Ok(Algorithm::named(entry.name));
    };
    let mut filled = filled(policy.name, (policy.defaults)(), given);
    for (key, value) in [
        ("bottleneck_mbps", path.bottleneck_mbps),
        ("buffer_bytes", path.buffer_bytes),
    ] {
        let is_left = !given.params.contains_key(key);
        if let Some(own) = filled.params.get_mut(key)
            && is_left
        {
            *own = value.into();
        }
    }
    let setup = recovery::Setup {
        segment: path.segment,
    };
    let params = serde_json::Value::Object(filled.params.clone());
    (policy.build)(&setup, &params).map_err(|message| inside(field, &message))?;
    Ok(filled)
}

/// Fails on what a flow over TCP cannot have, and fills in its recovery.
pub(super) fn flow(i: usize, flow: &mut Flow, path: &Path) -> Result<(), Error> {
    let at = |field: &str| format!("flows[{i}].{field}");
    let given = flow.recovery.take();
    let given = given.unwrap_or_else(|| Algorithm::named("standard"));
    flow.recovery = Some(recovery(&at("recovery"), &given, path)?);
    let no = |field: &str, given: &str, accepted: &str| {
        let problem = format!(
            "{given} has no place in a flow with the tcp transport (accepted: {accepted}; it is for \
             icn)"
        );
        Err(Error::new(at(field), problem))
    };
    if let Some(ndc) = &flow.ndc {
        return no("ndc", &shown(ndc), "none");
    }
    if flow.replica_choice != "listed" {
        return no("replica_choice", &shown(&flow.replica_choice), "listed");
    }
    if !flow.switches.is_empty() {
        return no("switches", "a change of the replica", "none");
    }
    if flow.repeat {
        return no("repeat", "true", "false");
    }
    Ok(())
}

/// Whether `given` is ns-3's own congestion control, and if so in its canonical form:
/// `{"name": "ns3", "type": "TcpCubic"}`. The name may also be the type written out,
/// `ns3::TcpCubic`.
pub(super) fn ns3_controller(
    field: &str,
    transport: &str,
    given: &Algorithm,
) -> Result<Option<Algorithm>, Error> {
    let written_out = given.name.strip_prefix(PREFIX);
    if given.name != NS3 && written_out.is_none() {
        return Ok(None);
    }
    if transport != "tcp" {
        let problem = format!(
            "{} is for the tcp transport (accepted with icn: a controller of ferrocc)",
            shown(&given.name)
        );
        return Err(Error::new(field, problem));
    }
    let unknown = given
        .params
        .keys()
        .find(|key| written_out.is_some() || *key != TYPE);
    if let Some(key) = unknown {
        let known = written_out.is_none().then_some(TYPE);
        return Err(Error::unknown(field, "parameter", key, known.into_iter()));
    }
    let name = match (written_out, given.params.get(TYPE)) {
        (Some(name), _) => name,
        (None, Some(serde_json::Value::String(name))) => name.strip_prefix(PREFIX).unwrap_or(name),
        (None, Some(other)) => {
            let problem = format!("{} is not the name of a type", json::kind(other));
            return Err(Error::new(format!("{field}.{TYPE}"), problem));
        }
        _ => {
            let problem = "no type is given (accepted: {\"name\": \"ns3\", \"type\": \"TcpCubic\"}, \
                           or any other congestion control of ns-3)";
            return Err(Error::new(field, problem));
        }
    };
    let odd = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':');
    if name.is_empty() || name.len() > 64 || name.contains(odd) {
        let problem = format!("{} is not the name of a type", shown(name));
        return Err(Error::new(format!("{field}.{TYPE}"), problem));
    }
    let mut algorithm = Algorithm::named(NS3);
    algorithm.params.insert(TYPE.to_owned(), name.into());
    Ok(Some(algorithm))
}
