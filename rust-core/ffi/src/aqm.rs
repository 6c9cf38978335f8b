//! Bridge of active queue management: `ferrocc::aqm`.

#[cxx::bridge(namespace = "ferrocc::aqm")]
mod bridge {
    /// An AQM of the registry.
    #[derive(Debug, Clone)]
    struct AqmInfo {
        /// Its name in scenarios.
        name: String,
        /// The middle of its ns-3 type's name.
        type_name: String,
        /// One line: what it is.
        summary: String,
        /// Its parameters.
        parameters: Vec<ParameterInfo>,
        /// Names of the state variables, in the order of `state`.
        state: Vec<String>,
    }

    /// What values a parameter has.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum ParameterKind {
        /// A floating-point number.
        Number,
        /// A whole number that is not negative.
        Integer,
        /// True or false.
        Flag,
        /// One of `choices`.
        Choice,
    }

    /// A parameter of an AQM.
    #[derive(Debug, Clone)]
    struct ParameterInfo {
        /// Its name in scenarios.
        name: String,
        /// What it is, with its unit and range.
        help: String,
        /// What values it has.
        kind: ParameterKind,
        /// Its default, as JSON.
        default_value: String,
        /// The names to choose from.
        choices: Vec<String>,
    }

    /// The place of an AQM.
    #[derive(Debug, Clone, Copy)]
    struct Setup {
        /// How much the queue may hold.
        limit: u64,
        /// Whether `limit` counts bytes, not packets.
        limit_in_bytes: bool,
        /// Rate of the link behind the queue.
        link_rate_bps: u64,
        /// Its propagation delay.
        link_delay_ns: u64,
    }

    /// What has to be known of a packet.
    #[derive(Debug, Clone, Copy)]
    struct Marks {
        /// `icn_data`, at dequeue.
        transport: bool,
        /// `ect`.
        ecn: bool,
    }

    /// A packet.
    #[derive(Debug, Clone, Copy)]
    struct PacketView {
        /// Size in the queue, IP header included.
        size_bytes: u32,
        /// When it entered the queue.
        enqueued_ns: u64,
        /// Whether it is DATA of the ICN transport that may be marked.
        icn_data: bool,
        /// Whether IP's ECN field allows a mark.
        ect: bool,
    }

    /// What a queue holds beside the packet in question.
    #[derive(Debug, Clone, Copy)]
    struct QueueView {
        /// Number of packets.
        packets: u32,
        /// Their sizes together.
        bytes: u32,
    }

    /// What happens to a packet.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Verdict {
        /// It goes on as it is.
        Pass,
        /// It goes on with a mark in the transport header.
        MarkTransport,
        /// It goes on with a mark in IP's ECN field.
        MarkEcn,
        /// It is dropped.
        Drop,
    }

    /// A verdict.
    #[derive(Debug, Clone, Copy)]
    struct Decision {
        /// What happens to the packet.
        verdict: Verdict,
        /// Why it is marked (a number in `mark_reasons`) or dropped (in `drop_reasons`).
        reason: u8,
        /// Whether the draw was used; if not, it serves the next question.
        draw_used: bool,
    }

    extern "Rust" {
        type Aqm;

        /// All AQMs.
        fn registry() -> Vec<AqmInfo>;
        /// Why packets are dropped, in words.
        fn drop_reasons() -> Vec<String>;
        /// Why packets are marked, in words.
        fn mark_reasons() -> Vec<String>;
        /// Checks the value (JSON) of one parameter by itself.
        fn check_parameter(aqm: &str, parameter: &str, value: &str) -> Result<()>;
        /// Makes an AQM of a JSON object of parameters; those of `overrides`, another one, go
        /// before them.
        fn new_aqm(
            name: &str,
            parameters: &str,
            overrides: &str,
            setup: &Setup,
        ) -> Result<Box<Aqm>>;

        /// What has to be known of packets.
        fn marks(self: &Aqm) -> Marks;
        /// A packet arrives.
        fn on_enqueue(
            self: &mut Aqm,
            now_ns: u64,
            packet: &PacketView,
            queue: &QueueView,
            draw: f64,
        ) -> Decision;
        /// A packet was taken out.
        fn on_dequeue(
            self: &mut Aqm,
            now_ns: u64,
            packet: &PacketView,
            queue: &QueueView,
            draw: f64,
        ) -> Decision;
        /// A packet was wanted and none is there.
        fn on_empty(self: &mut Aqm, now_ns: u64);
        /// Writes the state variables; `values` has as many places as there are names.
        fn state(self: &Aqm, values: &mut [f64]);
    }
}

use bridge::{
    AqmInfo, Decision, Marks, PacketView, ParameterInfo, ParameterKind, QueueView, Setup, Verdict,
};
use ferrocc::aqm::registry::{AQMS, Entry, build, find};
use ferrocc::aqm::{self, DropReason, Limit, MarkField, MarkReason};
use ferrocc::scenario::parameters::{self, Kind};
use ferrocc::units::{Bytes, Duration, Instant, Rate};
use serde_json::{Map, Value};

/// An AQM at work.
pub struct Aqm(Box<dyn aqm::Aqm>);

fn registry() -> Vec<AqmInfo> {
    AQMS.iter().map(info).collect()
}

fn info(entry: &Entry) -> AqmInfo {
    let parameters = parameters::describe(entry.schema, &(entry.defaults)());
    AqmInfo {
        name: entry.name.to_owned(),
        type_name: entry.type_name.to_owned(),
        summary: entry.summary.to_owned(),
        parameters: parameters
            .into_iter()
            .map(|p| {
                let (kind, choices) = match p.kind {
                    Kind::Number => (ParameterKind::Number, Vec::new()),
                    Kind::Integer => (ParameterKind::Integer, Vec::new()),
                    Kind::Flag => (ParameterKind::Flag, Vec::new()),
                    Kind::Choice(names) => (ParameterKind::Choice, names),
                    Kind::Text => (ParameterKind::Choice, Vec::new()),
                };
                ParameterInfo {
                    name: p.name,
                    help: p.help,
                    kind,
                    default_value: p.default.to_string(),
                    choices,
                }
            })
            .collect(),
        state: entry.state_names().into_iter().map(str::to_owned).collect(),
    }
}

fn drop_reasons() -> Vec<String> {
    DropReason::ALL.iter().map(ToString::to_string).collect()
}

fn mark_reasons() -> Vec<String> {
    MarkReason::ALL.iter().map(ToString::to_string).collect()
}

fn check_parameter(aqm: &str, parameter: &str, value: &str) -> Result<(), String> {
    let entry = find(aqm).ok_or_else(|| format!("unknown AQM '{aqm}'"))?;
    let value: Value = serde_json::from_str(value).map_err(|e| e.to_string())?;
    (entry.check)(&Map::from_iter([(parameter.to_owned(), value)]).into())
}

fn new_aqm(
    name: &str,
    parameters: &str,
    overrides: &str,
    setup: &Setup,
) -> Result<Box<Aqm>, String> {
    let read = |json: &str| -> Result<Map<String, Value>, String> {
        // As of a controller: nothing given is no parameter given.
        if json.is_empty() {
            return Ok(Map::new());
        }
        serde_json::from_str(json).map_err(|e| format!("parameters of {name}: {e}"))
    };
    let mut parameters = read(parameters)?;
    parameters.extend(read(overrides)?);
    let setup = aqm::Setup {
        limit: if setup.limit_in_bytes {
            Limit::Bytes(Bytes::new(setup.limit))
        } else {
            Limit::Packets(setup.limit)
        },
        link_rate: Rate::from_bps(setup.link_rate_bps),
        link_delay: Duration::from_nanos(setup.link_delay_ns),
    };
    Ok(Box::new(Aqm(build(name, &setup, &parameters.into())?)))
}

fn packet(p: &PacketView) -> aqm::Packet {
    aqm::Packet {
        size: Bytes::new(p.size_bytes.into()),
        enqueued: Instant::from_nanos(p.enqueued_ns),
        icn_data: p.icn_data,
        ect: p.ect,
    }
}

fn queue(q: &QueueView) -> aqm::Queue {
    aqm::Queue {
        packets: q.packets.into(),
        bytes: Bytes::new(q.bytes.into()),
    }
}

fn decision(d: aqm::Decision) -> Decision {
    let (verdict, reason) = match d.verdict {
        aqm::Verdict::Pass => (Verdict::Pass, 0),
        aqm::Verdict::Mark(MarkField::Transport, reason) => (Verdict::MarkTransport, reason as u8),
        aqm::Verdict::Mark(MarkField::Ecn, reason) => (Verdict::MarkEcn, reason as u8),
        aqm::Verdict::Drop(reason) => (Verdict::Drop, reason as u8),
    };
    Decision {
        verdict,
        reason,
        draw_used: d.draw_used,
    }
}

impl Aqm {
    fn marks(&self) -> Marks {
        let marks = self.0.marks();
        Marks {
            transport: marks.transport,
            ecn: marks.ecn,
        }
    }

    fn on_enqueue(&mut self, now_ns: u64, p: &PacketView, q: &QueueView, draw: f64) -> Decision {
        let now = Instant::from_nanos(now_ns);
        decision(self.0.on_enqueue(now, &packet(p), &queue(q), draw))
    }

    fn on_dequeue(&mut self, now_ns: u64, p: &PacketView, q: &QueueView, draw: f64) -> Decision {
        let now = Instant::from_nanos(now_ns);
        decision(self.0.on_dequeue(now, &packet(p), &queue(q), draw))
    }

    fn on_empty(&mut self, now_ns: u64) {
        self.0.on_empty(Instant::from_nanos(now_ns));
    }

    fn state(&self, values: &mut [f64]) {
        let mut places = values.iter_mut();
        self.0.visit_state(&mut |_, value| {
            if let Some(place) = places.next() {
                *place = value;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_aqm_has_its_parameters_with_kinds_and_help() {
        let aqms = registry();
        let codel = aqms.iter().find(|a| a.name == "codel").unwrap();
        assert_eq!(codel.type_name, "CoDel");
        let names: Vec<&str> = codel.parameters.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(
            names,
            ["target_ms", "interval_ms", "mtu_bytes", "arithmetic"]
        );
        assert_eq!(
            codel.state,
            ["count", "last_count", "dropping", "drop_next"]
        );
        let kinds: Vec<ParameterKind> = codel.parameters.iter().map(|p| p.kind).collect();
        let (number, integer, choice) = (
            ParameterKind::Number,
            ParameterKind::Integer,
            ParameterKind::Choice,
        );
        assert_eq!(kinds, [number, number, integer, choice]);
        assert_eq!(codel.parameters[3].choices, ["exact", "ns3"]);
        assert_eq!(codel.parameters[3].default_value, "\"exact\"");
        for parameter in aqms.iter().flat_map(|a| &a.parameters) {
            assert!(!parameter.help.is_empty(), "{}", parameter.name);
        }
    }

    #[test]
    fn parameters_are_checked_by_themselves() {
        assert!(check_parameter("red", "min_threshold", "20").is_ok());
        assert!(check_parameter("red", "min_threshold", "-1").is_err());
        assert!(check_parameter("red", "gentle", "1").is_err());
        assert!(check_parameter("codel", "arithmetic", "\"ns3\"").is_ok());
        assert!(check_parameter("codel", "arithmetic", "\"ns2\"").is_err());
        assert!(check_parameter("codel", "target", "5").is_err());
        assert!(check_parameter("pie", "target", "5").is_err());
    }

    #[test]
    fn a_full_queue_drops() {
        let setup = Setup {
            limit: 3,
            limit_in_bytes: false,
            link_rate_bps: 1_000_000,
            link_delay_ns: 0,
        };
        let mut aqm = new_aqm("drop-tail", "{}", "{}", &setup).unwrap();
        let packet = PacketView {
            size_bytes: 1500,
            enqueued_ns: 0,
            icn_data: false,
            ect: false,
        };
        let ask = |aqm: &mut Aqm, packets| {
            let queue = QueueView { packets, bytes: 0 };
            let decision = aqm.on_enqueue(0, &packet, &queue, 0.5);
            (decision.verdict, decision.reason, decision.draw_used)
        };
        assert_eq!(ask(&mut aqm, 2), (Verdict::Pass, 0, false));
        assert_eq!(ask(&mut aqm, 3), (Verdict::Drop, 0, false));
        assert!(new_aqm("drop-tail", "{\"limit\": 3}", "{}", &setup).is_err());
        let (wrong, right) = ("{\"target_ms\": -1}", "{\"target_ms\": 1}");
        assert!(new_aqm("codel", wrong, right, &setup).is_ok());
        assert!(new_aqm("codel", right, wrong, &setup).is_err());
    }
}
