//! The description of a network, its flows and what changes on the way.

use crate::link::{Limit, LinkSpec};
use crate::ms;
use ferrocc::cc::RestartCause;
use ferrocc::transport::ReceiverOptions;
use ferrocc::units::{Bytes, Duration, Rate};
use serde_json::Value;

/// Bytes of a full DATA packet on the wire with the options' default payload.
const DATA_PACKET: Bytes = Bytes::new(1358);

/// How much may wait at a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Buffer {
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Bytes(u64),
    /// So many bandwidth-delay products (rate times round-trip propagation).
    Bdp(f64),
}

/// Active queue management of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Manager {
    pub(crate) name: String,
    pub(crate) params: Value,
}

impl Manager {
    /// The algorithm of this name with its default parameters.
    pub fn new(name: &str) -> Manager {
        Manager {
            name: name.to_string(),
            params: Value::Object(serde_json::Map::new()),
        }
    }

    /// Parameters of the algorithm, a JSON object.
    pub fn params(mut self, params: Value) -> Manager {
        self.params = params;
        self
    }
}

/// A place that serves content.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReplicaSpec {
    /// Its clock minus the network's at the start, ns.
    pub clock_offset_ns: i64,
    /// How much faster its clock runs, parts per million.
    pub skew_ppm: f64,
    /// Further propagation delay on each way, behind the bottleneck.
    pub extra_delay: Duration,
}

/// A transfer.
#[derive(Debug, Clone)]
pub struct Flow {
    pub(crate) controller: String,
    pub(crate) params: Value,
    pub(crate) options: ReceiverOptions,
    pub(crate) start: Duration,
    pub(crate) stop: Option<Duration>,
    pub(crate) size: Option<u64>,
    pub(crate) verify: bool,
    pub(crate) opposite: bool,
    pub(crate) draw: f64,
    pub(crate) extra_delay: Duration,
}

impl Flow {
    /// An endless transfer under the controller of this name with its default parameters, from the
    /// start on.
    pub fn new(controller: &str) -> Flow {
        Flow {
            controller: controller.to_string(),
            params: Value::Object(serde_json::Map::new()),
            options: ReceiverOptions::default(),
            start: Duration::ZERO,
            stop: None,
            size: None,
            verify: false,
            opposite: false,
            draw: 0.5,
            extra_delay: Duration::ZERO,
        }
    }

    /// Parameters of the controller, a JSON object.
    pub fn params(mut self, params: Value) -> Flow {
        self.params = params;
        self
    }

    /// Options of the receiver.
    pub fn options(mut self, options: ReceiverOptions) -> Flow {
        self.options = options;
        self
    }

    /// When it starts.
    pub fn start(mut self, at: Duration) -> Flow {
        self.start = at;
        self
    }

    /// When it is given up.
    pub fn stop(mut self, at: Duration) -> Flow {
        self.stop = Some(at);
        self
    }

    /// Bytes of its NDC.
    pub fn size(mut self, bytes: u64) -> Flow {
        self.size = Some(bytes);
        self
    }

    /// Real content of `bytes` bytes, checked against its self-certifying identifier.
    pub fn verified(mut self, bytes: u64) -> Flow {
        self.verify = true;
        self.size(bytes)
    }

    /// The receiver sits where the others' replicas are and the other way round (topo-2).
    pub fn opposite(mut self) -> Flow {
        self.opposite = true;
        self
    }

    /// The controller's random draw, in [0, 1).
    pub fn draw(mut self, draw: f64) -> Flow {
        self.draw = draw;
        self
    }

    /// Further propagation delay on each way, before the bottleneck.
    pub fn extra_delay(mut self, delay: Duration) -> Flow {
        self.extra_delay = delay;
        self
    }
}

/// What may change while the network runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// Both directions' rate.
    RateMbps(f64),
    /// The round-trip propagation delay.
    Rtprop(Duration),
    /// Loss probability in DATA direction.
    Loss(f64),
    /// Loss probability in REQ direction.
    ReqLoss(f64),
    /// Another replica (by its position) answers a flow (by its position) from now on, and its
    /// receiver is told. With the same replica only the path is said to have changed.
    Replica {
        /// The flow.
        flow: usize,
        /// The replica.
        replica: usize,
    },
}

impl Change {
    pub(crate) fn restart_cause(same_replica: bool) -> RestartCause {
        if same_replica {
            RestartCause::PathChanged
        } else {
            RestartCause::ReplicaChanged
        }
    }
}

/// Receivers that share one bottleneck to a replica, as topo-1 of the Copa-ICN paper.
#[derive(Debug, Clone)]
pub struct Net {
    pub(crate) seed: u64,
    pub(crate) data: LinkSpec,
    pub(crate) req: LinkSpec,
    pub(crate) rtprop: Duration,
    pub(crate) replicas: Vec<ReplicaSpec>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) changes: Vec<(Duration, Change)>,
}

impl Net {
    /// 20 Mbps, 30 ms round-trip propagation, a buffer of one bandwidth-delay product, a replica
    /// with a perfect clock, no flow.
    pub fn topo1() -> Net {
        let link = LinkSpec::new(Rate::from_mbps(20.0), ms(15), Buffer::Bdp(1.0));
        Net {
            seed: 1,
            data: link.clone(),
            req: link,
            rtprop: ms(30),
            replicas: vec![ReplicaSpec::default()],
            flows: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// The seed of losses, jitter and reordering.
    pub fn seed(mut self, seed: u64) -> Net {
        self.seed = seed;
        self
    }

    /// Rate of the bottleneck, both ways.
    pub fn rate_mbps(mut self, mbps: f64) -> Net {
        (self.data.rate, self.req.rate) = (Rate::from_mbps(mbps), Rate::from_mbps(mbps));
        self
    }

    /// Round-trip propagation delay, half of it each way.
    pub fn rtprop(mut self, rtprop: Duration) -> Net {
        self.rtprop = rtprop;
        (self.data.delay, self.req.delay) = (rtprop / 2, rtprop / 2);
        self
    }

    /// Buffer of the bottleneck, both ways.
    pub fn buffer(mut self, buffer: Buffer) -> Net {
        (self.data.buffer, self.req.buffer) = (buffer, buffer);
        self
    }

    /// Active queue management at the bottleneck, both ways.
    pub fn aqm(mut self, manager: Manager) -> Net {
        (self.data.aqm, self.req.aqm) = (Some(manager.clone()), Some(manager));
        self
    }

    /// Loss probability in DATA direction.
    pub fn loss(mut self, p: f64) -> Net {
        self.data.loss = p;
        self
    }

    /// Loss probability in REQ direction.
    pub fn req_loss(mut self, p: f64) -> Net {
        self.req.loss = p;
        self
    }

    /// Probability that DATA arrives twice.
    pub fn duplicate(mut self, p: f64) -> Net {
        self.data.duplicate = p;
        self
    }

    /// Probability that DATA is held up, and for how long.
    pub fn reorder(mut self, p: f64, delay: Duration) -> Net {
        (self.data.reorder, self.data.reorder_delay) = (p, delay);
        self
    }

    /// DATA is delayed by a uniform draw up to this, in order.
    pub fn jitter(mut self, jitter: Duration) -> Net {
        self.data.jitter = jitter;
        self
    }

    /// Whether the bottleneck serves expedited packets first (it does unless told otherwise).
    pub fn priority(mut self, priority: bool) -> Net {
        (self.data.priority, self.req.priority) = (priority, priority);
        self
    }

    /// Further delay of REQs only.
    pub fn req_delay(mut self, extra: Duration) -> Net {
        self.req.delay = self.rtprop / 2 + extra;
        self
    }

    /// The clock of the first replica: offset in ns and skew in parts per million.
    pub fn clock(mut self, offset_ns: i64, skew_ppm: f64) -> Net {
        self.replicas[0].clock_offset_ns = offset_ns;
        self.replicas[0].skew_ppm = skew_ppm;
        self
    }

    /// Adds another replica, see [`Change::Replica`].
    pub fn replica(mut self, replica: ReplicaSpec) -> Net {
        self.replicas.push(replica);
        self
    }

    /// Adds a flow.
    pub fn flow(mut self, flow: Flow) -> Net {
        self.flows.push(flow);
        self
    }

    /// Adds `n` equal flows.
    pub fn flows(mut self, n: usize, flow: &Flow) -> Net {
        self.flows.extend(std::iter::repeat_n(flow.clone(), n));
        self
    }

    /// Something changes at a time.
    pub fn at(mut self, at: Duration, change: Change) -> Net {
        self.changes.push((at, change));
        self
    }

    /// Bandwidth-delay product in full DATA packets.
    pub fn bdp_packets(&self) -> f64 {
        (self.data.rate * self.rtprop).as_packets(DATA_PACKET)
    }

    pub(crate) fn limit(&self, buffer: Buffer) -> Limit {
        match buffer {
            Buffer::Packets(n) => Limit::Packets(n),
            Buffer::Bytes(n) => Limit::Bytes(Bytes::new(n)),
            Buffer::Bdp(n) => Limit::Bytes(Bytes::from_packets(n, self.data.rate * self.rtprop)),
        }
    }
}
