//! Bridge of the controllers on ns-3's TCP: `ferrocc::tcp`.

#[cxx::bridge(namespace = "ferrocc::tcp")]
pub(crate) mod bridge {
    /// A controller of the registry as a TypeId.
    #[derive(Debug, Clone)]
    struct Row {
        /// Its name in the registry.
        name: String,
        /// Its name in type names: "NewReno".
        type_name: String,
        /// One line: what it is.
        summary: String,
        /// Whether it sets the window at all times (`HasCongControl`).
        full_control: bool,
        /// Its parameters.
        parameters: Vec<Parameter>,
    }

    /// What a parameter holds.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum ParameterKind {
        /// A number.
        Number,
        /// True or false.
        Flag,
        /// Text, or anything else as JSON.
        Text,
    }

    /// A parameter of a controller.
    #[derive(Debug, Clone)]
    struct Parameter {
        /// Its name in scenarios: "timeout_window_packets".
        name: String,
        /// The same as an attribute: "TimeoutWindowPackets".
        attribute: String,
        /// What it holds.
        kind: ParameterKind,
        /// Its default as text.
        initial: String,
    }

    /// What a controller is made of.
    #[derive(Debug, Clone)]
    struct HooksConfig {
        /// Registry name of the controller.
        controller: String,
        /// Its parameters, a JSON object; empty for the defaults.
        params: String,
        /// Segment size.
        mss_bytes: u32,
        /// A full segment with its TCP and IP headers.
        packet_bytes: u32,
        /// First window in segments.
        initial_window: f64,
        /// A draw in [0, 1) from the simulation's random stream.
        draw: f64,
    }

    /// A socket's state at a hook. Times are zero where they are not known.
    #[derive(Debug, Clone, Copy)]
    struct SocketState {
        /// When.
        now_ns: u64,
        /// Number of the first byte that is not acknowledged.
        una: u32,
        /// Number behind the last byte that was sent.
        high: u32,
        /// Outstanding bytes.
        in_flight_bytes: u32,
        /// The last RTT, smoothed where ns-3 tells nothing else.
        rtt_ns: u64,
        /// The smoothed RTT.
        srtt_ns: u64,
    }

    /// A delivery report of a socket.
    #[derive(Debug, Clone, Copy)]
    struct RateReport {
        /// Bytes that this ACK delivers.
        acked_bytes: u32,
        /// All delivered bytes.
        delivered_bytes: u64,
        /// Outstanding bytes before the ACK.
        prior_in_flight_bytes: u32,
        /// The delivery rate; zero if there is none.
        rate_bps: u64,
        /// Bytes delivered when the sampled segment left, modulo 2^32.
        prior_delivered_bytes: u32,
        /// Whether the sample is application-limited.
        app_limited: bool,
    }

    /// What the controller wants.
    #[derive(Debug, Clone, Copy)]
    struct Verdict {
        /// Congestion window.
        window_bytes: u32,
        /// Slow-start threshold; `u32::MAX` for none.
        ssthresh_bytes: u32,
        /// Pacing rate; zero for none.
        pacing_bps: u64,
    }

    /// What a sending socket says about itself.
    #[derive(Debug, Clone, Copy)]
    struct MeterState {
        /// Congestion window.
        window_bytes: u32,
        /// Outstanding bytes.
        in_flight_bytes: u32,
        /// Slow-start threshold; `u32::MAX` for none.
        ssthresh_bytes: u32,
        /// Pacing rate; zero for none.
        pacing_bps: u64,
        /// Whether it is in recovery or reduces after an ECN echo.
        recovering: bool,
        /// Whether it repairs losses after its timer expired.
        timed_out: bool,
    }

    extern "Rust" {
        type Hooks;
        #[derive(ExternType)]
        type Meter;

        /// The controllers that run as congestion control of ns-3's TCP: the rows of the registry.
        fn rows() -> Vec<Row>;
        /// The parameters `params` with `name` set to `value`, which is text of that kind. Fails if the
        /// controller does not take it.
        fn with_parameter(
            controller: &str,
            params: &str,
            name: &str,
            kind: ParameterKind,
            value: &str,
        ) -> Result<String>;
        /// The value of a parameter as text, its default if it is not in `params`.
        fn parameter(controller: &str, params: &str, name: &str) -> String;

        /// A controller for one connection.
        fn new_hooks(config: &HooksConfig) -> Result<Box<Hooks>>;
        /// A copy with all state.
        fn duplicate(self: &Hooks) -> Box<Hooks>;
        /// What it wants now.
        fn verdict(self: &Hooks) -> Verdict;
        /// `CA_EVENT_TX_START`.
        fn on_transmit_start(self: &mut Hooks, socket: &SocketState) -> Verdict;
        /// `IncreaseWindow`.
        fn on_increase(self: &mut Hooks, socket: &SocketState, segments: u32) -> Verdict;
        /// `CongControl`.
        fn on_report(self: &mut Hooks, socket: &SocketState, report: &RateReport) -> Verdict;
        /// `CongestionStateSet` with `CA_RECOVERY`.
        fn on_recovery(self: &mut Hooks);
        /// `GetSsThresh`, which may be because of an ECN echo.
        fn threshold(self: &mut Hooks, socket: &SocketState, echo: bool) -> u32;
        /// `CA_EVENT_LOSS`.
        fn on_timeout(self: &mut Hooks, socket: &SocketState);

        /// Watches a transfer of `size_bytes` (zero: without an end). With `real` its content is made
        /// from `seed`, and checked. With `standard` the sender takes every loss for congestion and
        /// tells no verdicts.
        fn new_meter(size_bytes: u64, real: bool, seed: u64, standard: bool) -> Box<Meter>;
        /// The connection begins: the sender's first byte has this number.
        fn on_open(self: &mut Meter, first: u32);
        /// The sender sends a segment with data; true if it was sent before.
        fn on_sent(
            self: &mut Meter,
            now_ns: u64,
            seq: u32,
            length: u32,
            state: &MeterState,
        ) -> bool;
        /// Number of the last transmission, from 1.
        fn transmission(self: &Meter) -> u64;
        /// The sender receives an ACK; true if it shows that the window was reduced before.
        fn on_ack(self: &mut Meter, now_ns: u64, ack: u32, state: &MeterState) -> bool;
        /// A segment with data reaches the receiver; `transmission` is 0 if that is not known.
        fn on_arrival(self: &mut Meter, now_ns: u64, seq: u32, length: u32, transmission: u64);
        /// A transmission is lost, in a queue or to an error model.
        fn on_lost(self: &mut Meter, transmission: u64, in_queue: bool);
        /// The sender has judged the segment that begins with this number: `congestion`,
        /// `random-loss` or `reordering`. What it sends again for that has left. Returns how many
        /// duplicate ACKs had come for that.
        fn on_verdict(self: &mut Meter, now_ns: u64, seq: u32, verdict: &str) -> u32;
        /// Duplicate ACKs so far for the first missing byte.
        fn duplicates(self: &Meter) -> u32;
        /// Segments that are outstanding.
        fn outstanding(self: &Meter) -> u64;
        /// What has become by now of the segment that begins with this number, in the same words;
        /// empty if that is not known.
        fn truth(self: &Meter, seq: u32) -> &'static str;
        /// The application reads `length` bytes; `bytes` are these if the content is real.
        fn on_read(self: &mut Meter, length: u64, bytes: &[u8]);
        /// The content from `offset` on, at most `length` bytes; empty if it is not real.
        fn content(self: &Meter, offset: u64, length: u32) -> &[u8];
        /// The retransmission timer expires.
        fn on_timeout(self: &mut Meter);
        /// The socket's congestion state has changed; the window and the threshold are those from
        /// before.
        fn on_phase(self: &mut Meter, state: &MeterState);
        /// What the socket says about itself now.
        fn set_state(self: &mut Meter, state: &MeterState);
        /// Bytes that the application has read.
        fn delivered(self: &Meter) -> u64;
        /// Whether the application has read everything.
        fn completed(self: &Meter) -> bool;
        /// Whether everything was read and is what was sent.
        fn verified(self: &Meter) -> bool;
    }
}

use bridge::{
    HooksConfig, MeterState, Parameter, ParameterKind, RateReport, Row, SocketState, Verdict,
};
use ferrocc::cc::{Setup, registry};
use ferrocc::recovery;
use ferrocc::tcp;
use ferrocc::units::{Bytes, Duration, Instant, Rate};
use serde_json::{Map, Value};

/// `ssthresh_bytes` for "none", and the largest window.
const NONE: u32 = u32::MAX;

/// A controller behind a socket's hooks.
pub struct Hooks(tcp::Hooks);

/// What is watched of a transfer.
pub struct Meter(pub(crate) tcp::Meter);

fn rows() -> Vec<Row> {
    registry::CONTROLLERS
        .iter()
        .map(|entry| Row {
            name: entry.name.to_owned(),
            type_name: tcp::type_name(entry),
            summary: entry.summary.to_owned(),
            full_control: tcp::Hooks::takes_full_control(entry),
            parameters: match (entry.defaults)() {
                Value::Object(defaults) => defaults.iter().map(describe).collect(),
                _ => Vec::new(),
            },
        })
        .collect()
}

fn describe((name, value): (&String, &Value)) -> Parameter {
    Parameter {
        name: name.clone(),
        attribute: camel_case(name),
        kind: match value {
            Value::Number(_) => ParameterKind::Number,
            Value::Bool(_) => ParameterKind::Flag,
            _ => ParameterKind::Text,
        },
        initial: text(value),
    }
}

fn camel_case(name: &str) -> String {
    let mut out = String::new();
    for word in name.split('_') {
        let mut letters = word.chars();
        out.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

/// A value as an attribute shows it: strings without quotes.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn object(params: &str) -> Result<Map<String, Value>, String> {
    if params.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_str(params).map_err(|e| format!("the parameters are no JSON object: {e}"))
}

fn with_parameter(
    controller: &str,
    params: &str,
    name: &str,
    kind: ParameterKind,
    value: &str,
) -> Result<String, String> {
    let mut params = object(params)?;
    let plain = || Value::String(value.to_owned());
    let value = match kind {
        // Text may stand for anything: a string, null, a list.
        ParameterKind::Text => match serde_json::from_str::<Value>(value) {
            Ok(Value::Number(_)) | Err(_) => plain(),
            Ok(json) => json,
        },
        _ => serde_json::from_str(value).unwrap_or_else(|_| plain()),
    };
    params.insert(name.to_owned(), value);
    let params = Value::Object(params);
    registry::build(controller, &Setup::default(), &params)?;
    Ok(params.to_string())
}

fn parameter(controller: &str, params: &str, name: &str) -> String {
    let given = object(params).unwrap_or_default();
    let defaults = registry::find(controller).map_or(Value::Null, |e| (e.defaults)());
    text(given.get(name).unwrap_or(&defaults[name]))
}

fn new_hooks(config: &HooksConfig) -> Result<Box<Hooks>, String> {
    let setup = Setup {
        mss: Bytes::new(config.mss_bytes.into()),
        packet_size: Bytes::new(config.packet_bytes.into()),
        initial_window: config.initial_window,
        draw: config.draw,
    };
    let params = Value::Object(object(&config.params)?);
    tcp::Hooks::new(&config.controller, &setup, &params).map(|hooks| Box::new(Hooks(hooks)))
}

fn time(ns: u64) -> Option<Duration> {
    (ns != 0).then(|| Duration::from_nanos(ns))
}

fn socket(s: &SocketState) -> tcp::SocketState {
    tcp::SocketState {
        now: Instant::from_nanos(s.now_ns),
        una: s.una,
        high: s.high,
        in_flight: Bytes::new(s.in_flight_bytes.into()),
        rtt: time(s.rtt_ns),
        srtt: time(s.srtt_ns),
    }
}

fn clamp(bytes: Bytes) -> u32 {
    u32::try_from(bytes.get()).unwrap_or(NONE)
}

fn verdict(v: tcp::Verdict) -> Verdict {
    Verdict {
        window_bytes: clamp(v.window),
        ssthresh_bytes: v.ssthresh.map_or(NONE, clamp),
        pacing_bps: v.pacing.map_or(0, |r| r.as_bps()),
    }
}

impl Hooks {
    fn duplicate(&self) -> Box<Hooks> {
        Box::new(Hooks(self.0.clone()))
    }

    fn verdict(&self) -> Verdict {
        verdict(self.0.verdict())
    }

    fn on_transmit_start(&mut self, s: &SocketState) -> Verdict {
        verdict(self.0.on_transmit_start(&socket(s)))
    }

    fn on_increase(&mut self, s: &SocketState, segments: u32) -> Verdict {
        verdict(self.0.on_increase(&socket(s), segments))
    }

    fn on_report(&mut self, s: &SocketState, report: &RateReport) -> Verdict {
        let report = tcp::RateReport {
            acked: Bytes::new(report.acked_bytes.into()),
            delivered: Bytes::new(report.delivered_bytes),
            prior_in_flight: Bytes::new(report.prior_in_flight_bytes.into()),
            rate: (report.rate_bps > 0).then(|| Rate::from_bps(report.rate_bps)),
            prior_delivered: report.prior_delivered_bytes,
            app_limited: report.app_limited,
        };
        verdict(self.0.on_report(&socket(s), &report))
    }

    fn on_recovery(&mut self) {
        self.0.on_recovery();
    }

    fn threshold(&mut self, s: &SocketState, echo: bool) -> u32 {
        clamp(self.0.threshold(&socket(s), echo))
    }

    fn on_timeout(&mut self, s: &SocketState) {
        self.0.on_timeout(&socket(s));
    }
}

fn new_meter(size_bytes: u64, real: bool, seed: u64, standard: bool) -> Box<Meter> {
    let mut meter = tcp::Meter::new((size_bytes > 0).then_some(size_bytes));
    if standard {
        meter = meter.with_standard_sender();
    }
    Box::new(Meter(if real {
        meter.with_content(seed)
    } else {
        meter
    }))
}

fn state(s: &MeterState) -> tcp::MeterState {
    tcp::MeterState {
        window: Bytes::new(s.window_bytes.into()),
        in_flight: Bytes::new(s.in_flight_bytes.into()),
        ssthresh: (s.ssthresh_bytes != NONE).then(|| Bytes::new(s.ssthresh_bytes.into())),
        pacing: (s.pacing_bps > 0).then(|| Rate::from_bps(s.pacing_bps)),
        recovering: s.recovering,
        timed_out: s.timed_out,
    }
}

impl Meter {
    fn on_open(&mut self, first: u32) {
        self.0.on_open(first);
    }

    fn on_sent(&mut self, now_ns: u64, seq: u32, length: u32, s: &MeterState) -> bool {
        self.0
            .on_sent(Instant::from_nanos(now_ns), seq, length, &state(s))
    }

    fn transmission(&self) -> u64 {
        self.0.transmission()
    }

    fn on_ack(&mut self, now_ns: u64, ack: u32, s: &MeterState) -> bool {
        self.0.on_ack(Instant::from_nanos(now_ns), ack, &state(s))
    }

    fn on_arrival(&mut self, now_ns: u64, seq: u32, length: u32, transmission: u64) {
        self.0
            .on_arrival(Instant::from_nanos(now_ns), seq, length, transmission);
    }

    fn on_lost(&mut self, transmission: u64, in_queue: bool) {
        self.0.on_lost(transmission, in_queue);
    }

    fn duplicates(&self) -> u32 {
        self.0.duplicates()
    }

    fn outstanding(&self) -> u64 {
        self.0.outstanding() as u64
    }

    fn on_verdict(&mut self, now_ns: u64, seq: u32, verdict: &str) -> u32 {
        let known = [
            recovery::Verdict::Congestion,
            recovery::Verdict::RandomLoss,
            recovery::Verdict::Reordering,
        ];
        known
            .into_iter()
            .find(|v| v.as_str() == verdict)
            .map_or(0, |v| {
                self.0.on_verdict(Instant::from_nanos(now_ns), seq, v);
                self.0.duplicates_for(v)
            })
    }

    fn truth(&self, seq: u32) -> &'static str {
        self.0.truth(seq).map_or("", recovery::Verdict::as_str)
    }

    fn on_read(&mut self, length: u64, bytes: &[u8]) {
        self.0.on_read(length, bytes);
    }

    fn content(&self, offset: u64, length: u32) -> &[u8] {
        self.0.content(offset, length as usize)
    }

    fn on_timeout(&mut self) {
        self.0.on_timeout();
    }

    fn on_phase(&mut self, s: &MeterState) {
        self.0.on_phase(&state(s));
    }

    fn set_state(&mut self, s: &MeterState) {
        self.0.set_state(&state(s));
    }

    fn delivered(&self) -> u64 {
        self.0.delivered()
    }

    fn completed(&self) -> bool {
        self.0.is_completed()
    }

    fn verified(&self) -> bool {
        self.0.is_verified()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_controller_is_a_type_with_its_parameters() {
        let rows = rows();
        assert_eq!(rows.len(), registry::CONTROLLERS.len());
        let names: Vec<&str> = rows.iter().map(|r| r.type_name.as_str()).collect();
        for name in ["Bbr", "Copa", "CopaIcn", "Cubic", "NewReno"] {
            assert!(names.contains(&name), "{names:?}");
        }
        let reno = rows.iter().find(|r| r.name == "newreno").unwrap();
        assert!(!reno.full_control);
        let beta = reno.parameters.iter().find(|p| p.name == "beta").unwrap();
        assert_eq!(
            (beta.attribute.as_str(), beta.initial.as_str()),
            ("Beta", "0.5")
        );
        assert_eq!(beta.kind, ParameterKind::Number);
        for row in &rows {
            for p in &row.parameters {
                // A default can be set as it is shown.
                let params = with_parameter(&row.name, "", &p.name, p.kind, &p.initial).unwrap();
                assert_eq!(parameter(&row.name, &params, &p.name), p.initial, "{row:?}");
            }
        }
    }

    #[test]
    fn a_parameter_that_the_controller_refuses_is_refused() {
        let kind = ParameterKind::Number;
        let error = with_parameter("newreno", "", "beta", kind, "1.5").unwrap_err();
        assert!(error.contains("beta"), "{error}");
        let params = with_parameter("newreno", "", "beta", kind, "0.7").unwrap();
        assert_eq!(parameter("newreno", &params, "beta"), "0.7");
    }
}
