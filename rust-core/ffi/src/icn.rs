//! Bridge of names and replicas: `ferrocc::icn`.

#[cxx::bridge(namespace = "ferrocc::icn")]
pub(crate) mod bridge {
    #[namespace = "ferrocc"]
    extern "C++" {
        include!("ferrocc-ffi/src/types.rs.h");
        type Eid = crate::types::Eid;
        type NodeAddress = crate::types::NodeAddress;
    }
    #[namespace = "ferrocc::transport"]
    extern "C++" {
        include!("ferrocc-ffi/src/transport.rs.h");
        type Receiver = crate::transport::Receiver;
    }

    /// Where an NDC is.
    #[derive(Debug, Clone, Copy)]
    struct NodeLocator {
        /// A node that holds it.
        address: NodeAddress,
        /// What it costs; less is better.
        cost: u16,
    }

    /// A piece of a step's bytes.
    #[derive(Debug, Clone, Copy)]
    struct Piece {
        /// Where it starts.
        offset: u32,
        /// How long it is.
        length: u32,
    }

    /// A REQ for nothing.
    #[derive(Debug, Clone, Copy)]
    struct Probe {
        /// The replica.
        address: NodeAddress,
        /// The REQ.
        header: Piece,
    }

    /// A datagram for a subscriber.
    #[derive(Debug, Clone, Copy)]
    struct Announcement {
        /// The subscriber.
        to: NodeAddress,
        /// The datagram.
        bytes: Piece,
    }

    /// What follows from a datagram at a name server. Counters are totals.
    #[derive(Debug)]
    struct ServerStep<'a> {
        /// The reply; empty if there is none.
        reply: &'a [u8],
        /// Datagrams for subscribers.
        announcements: &'a [Announcement],
        /// Their bytes.
        bytes: &'a [u8],
        /// Whether the datagram was a SUBSCRIBE that was taken.
        subscribed: bool,
        /// Queries, answered or not.
        queries: u64,
        /// Queries for an unknown name.
        unknown: u64,
        /// Registrations that were taken, refreshes among them.
        registrations: u64,
        /// Deregistrations that removed something.
        removals: u64,
        /// Registrations that were refused.
        refused: u64,
        /// Datagrams that were no valid request.
        malformed: u64,
    }

    /// Options of a registrar.
    #[derive(Debug, Clone, Copy)]
    struct RegistrarConfig {
        /// This node.
        address: NodeAddress,
        /// The cost to register.
        cost: u16,
        /// The lifetime to ask for.
        lifetime_ns: u64,
        /// Time until a request is repeated; doubles.
        timeout_ns: u64,
        /// How often a request is sent.
        tries: u32,
        /// A draw in [0, 1).
        draw: f64,
    }

    /// What follows from an event at a registrar.
    #[derive(Debug)]
    struct RegistrarStep<'a> {
        /// Datagrams for the name server.
        datagrams: &'a [Piece],
        /// Their bytes.
        bytes: &'a [u8],
        /// When `on_timeout` is due; `u64::MAX` for never.
        next_timer_ns: u64,
        /// Registrations that the server confirmed.
        registered: u64,
        /// Registrations that were refused or not answered.
        failures: u64,
    }

    /// Options of a session.
    #[derive(Debug, Clone)]
    struct SessionConfig {
        /// `server`, `table`, `address` or `edge`.
        resolution: String,
        /// `listed`, `nearest`, `lowest-rtt` or `random`.
        choice: String,
        /// Time until a request to the name server is repeated; doubles.
        timeout_ns: u64,
        /// How often it is sent.
        tries: u32,
        /// Expiries of the retransmission timer in a row after which a replica is left.
        switch_after_timeouts: u32,
        /// Fraction of the best goodput below which it is left; zero for never.
        switch_below: f64,
        /// Time without a new byte after which the transfer has failed.
        give_up_ns: u64,
        /// Whether the node reaches IPv4 addresses.
        ipv4: bool,
        /// Whether the node reaches IPv6 addresses.
        ipv6: bool,
        /// A draw in [0, 1).
        draw: f64,
    }

    /// What follows from an event at a session.
    #[derive(Debug)]
    struct SessionStep<'a> {
        /// Datagrams for the name server.
        datagrams: &'a [Piece],
        /// REQs for replicas.
        probes: &'a [Probe],
        /// The bytes of both.
        bytes: &'a [u8],
        /// REQs go there from now on; family 0 if nothing changes.
        replica: NodeAddress,
        /// Whether `on_list` is to be called now with the table's list.
        look_up: bool,
        /// Name of the failure; empty if there is none.
        failure: &'a str,
        /// When `on_timeout` is due; `u64::MAX` for never.
        next_timer_ns: u64,
    }

    extern "Rust" {
        type NameServer;
        type Registrar;
        type Session;

        /// UDP port of a name server.
        fn name_port() -> u16;

        /// A name server that knows nothing.
        fn new_name_server(
            max_lifetime_ns: u64,
            max_replicas: u32,
            max_names: u32,
        ) -> Box<NameServer>;
        /// A datagram came.
        unsafe fn on_message<'a>(
            self: &'a mut NameServer,
            now_ns: u64,
            from: &NodeAddress,
            bytes: &[u8],
        ) -> ServerStep<'a>;
        /// Enters a registration that has been there all along and never expires.
        fn provision(self: &mut NameServer, eid: &Eid, address: &NodeAddress, cost: u16);
        /// How many nodes hold an NDC.
        fn replicas(self: &NameServer, now_ns: u64, eid: &Eid) -> u32;

        /// A registrar of nothing.
        fn new_registrar(config: &RegistrarConfig) -> Box<Registrar>;
        /// Registers an NDC and keeps it registered. `draw` is in [0, 1), here and below.
        unsafe fn add<'a>(
            self: &'a mut Registrar,
            now_ns: u64,
            eid: &Eid,
            draw: f64,
        ) -> RegistrarStep<'a>;
        /// Takes an NDC from the name server.
        unsafe fn remove<'a>(
            self: &'a mut Registrar,
            now_ns: u64,
            eid: &Eid,
            draw: f64,
        ) -> RegistrarStep<'a>;
        /// A datagram came from the name server.
        unsafe fn on_message<'a>(
            self: &'a mut Registrar,
            now_ns: u64,
            bytes: &[u8],
        ) -> RegistrarStep<'a>;
        /// The time asked for by `next_timer_ns` has come.
        unsafe fn on_timeout<'a>(
            self: &'a mut Registrar,
            now_ns: u64,
            draw: f64,
        ) -> RegistrarStep<'a>;
        /// The node has another address: registers everything from there.
        unsafe fn relocate<'a>(
            self: &'a mut Registrar,
            now_ns: u64,
            address: &NodeAddress,
            draw: f64,
        ) -> RegistrarStep<'a>;
        /// Forgets an NDC without a word to the name server.
        fn forget(self: &mut Registrar, eid: &Eid);
        /// Forgets everything without a word to the name server.
        fn stop(self: &mut Registrar);

        /// A session of `device` for `ndc`. Fails on unknown names and numbers out of range.
        fn new_session(config: &SessionConfig, device: &Eid, ndc: &Eid) -> Result<Box<Session>>;
        /// Starts.
        unsafe fn start<'a>(self: &'a mut Session, now_ns: u64, draw: f64) -> SessionStep<'a>;
        /// The table's list.
        unsafe fn on_list<'a>(
            self: &'a mut Session,
            now_ns: u64,
            list: &[NodeLocator],
            draw: f64,
        ) -> SessionStep<'a>;
        /// A datagram came from the name server.
        unsafe fn on_message<'a>(
            self: &'a mut Session,
            now_ns: u64,
            bytes: &[u8],
            draw: f64,
        ) -> SessionStep<'a>;
        /// DATA without payload came, the answer to a probe or a replica's "not here".
        unsafe fn on_empty_data<'a>(
            self: &'a mut Session,
            now_ns: u64,
            header: &[u8],
            receiver: &Receiver,
            draw: f64,
        ) -> SessionStep<'a>;
        /// The receiver's retransmission timer expired.
        unsafe fn on_rto<'a>(
            self: &'a mut Session,
            now_ns: u64,
            delivered_bytes: u64,
            draw: f64,
        ) -> SessionStep<'a>;
        /// The time asked for by `next_timer_ns` has come.
        unsafe fn on_timeout<'a>(
            self: &'a mut Session,
            now_ns: u64,
            delivered_bytes: u64,
            draw: f64,
        ) -> SessionStep<'a>;
        /// Another replica, as the user wants it; family 0 for the next one.
        unsafe fn switch_to<'a>(
            self: &'a mut Session,
            now_ns: u64,
            address: &NodeAddress,
            draw: f64,
        ) -> SessionStep<'a>;
        /// The node has moved: its edge router is another one.
        fn relocate(self: &mut Session, edge: &NodeAddress);
        /// The receiver has ended.
        fn end(self: &mut Session);
        /// How often the replica has been changed.
        fn switches(self: &Session) -> u64;
        /// How long the first list took; `u64::MAX` if there is none.
        fn resolve_ns(self: &Session) -> u64;
    }
}

use crate::convert::{self, address};
use crate::transport::Receiver;
use crate::types::Eid;
use crate::types::NodeAddress;
use bridge::{
    Announcement, NodeLocator, Piece, Probe, RegistrarConfig, RegistrarStep, ServerStep,
    SessionConfig, SessionStep,
};
use ferrocc::icn;
use ferrocc::units::{Bytes, Duration, Instant};
use std::net::IpAddr;

const NO_ADDRESS: NodeAddress = NodeAddress {
    family: 0,
    bytes: [0; 16],
};

pub(crate) fn at(now_ns: u64) -> Instant {
    Instant::from_nanos(now_ns)
}

pub(crate) fn node_address(a: Option<IpAddr>) -> NodeAddress {
    match a {
        Some(IpAddr::V4(a)) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&a.octets());
            NodeAddress { family: 4, bytes }
        }
        Some(IpAddr::V6(a)) => NodeAddress {
            family: 6,
            bytes: a.octets(),
        },
        None => NO_ADDRESS,
    }
}

/// Where a datagram without a readable sender comes from: nobody's address.
pub(crate) const NOBODY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);

fn name_port() -> u16 {
    icn::message::PORT
}

/// Datagrams in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Datagrams {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) bytes: Vec<u8>,
}

impl Datagrams {
    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
        self.bytes.clear();
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> Piece {
        let piece = Piece {
            offset: self.bytes.len() as u32,
            length: bytes.len() as u32,
        };
        self.bytes.extend_from_slice(bytes);
        piece
    }
}

/// A name server, with its output in the bridge's form.
pub struct NameServer {
    engine: icn::NameServer,
    out: Datagrams,
    announcements: Vec<Announcement>,
}

fn new_name_server(max_lifetime_ns: u64, max_replicas: u32, max_names: u32) -> Box<NameServer> {
    Box::new(NameServer {
        engine: icn::NameServer::new(icn::ServerOptions {
            max_lifetime: Duration::from_nanos(max_lifetime_ns),
            max_replicas: max_replicas as usize,
            max_names: max_names as usize,
        }),
        out: Datagrams::default(),
        announcements: Vec::new(),
    })
}

impl NameServer {
    fn on_message(&mut self, now_ns: u64, from: &NodeAddress, bytes: &[u8]) -> ServerStep<'_> {
        let from = address(from).unwrap_or(NOBODY);
        let before = self.engine.stats().subscriptions;
        self.engine.on_message(at(now_ns), from, bytes);
        let stats = *self.engine.stats();
        self.out.clear();
        self.announcements.clear();
        for (to, bytes) in self.engine.announcements() {
            self.announcements.push(Announcement {
                to: node_address(Some(*to)),
                bytes: self.out.push(bytes),
            });
        }
        ServerStep {
            reply: self.engine.reply(),
            announcements: &self.announcements,
            bytes: &self.out.bytes,
            subscribed: stats.subscriptions > before,
            queries: stats.queries,
            unknown: stats.unknown,
            registrations: stats.registrations,
            removals: stats.removals,
            refused: stats.refused,
            malformed: stats.malformed,
        }
    }

    fn provision(&mut self, eid: &Eid, node: &NodeAddress, cost: u16) {
        let node = address(node).unwrap_or(NOBODY);
        self.engine.provision(convert::eid(eid), node, cost);
    }

    fn replicas(&self, now_ns: u64, eid: &Eid) -> u32 {
        self.engine.locators(at(now_ns), &convert::eid(eid)).len() as u32
    }
}

/// What keeps a replica registered.
pub struct Registrar {
    engine: icn::Registrar,
    out: Datagrams,
}

fn new_registrar(config: &RegistrarConfig) -> Box<Registrar> {
    let options = icn::ClientOptions {
        timeout: Duration::from_nanos(config.timeout_ns),
        tries: config.tries,
        ..icn::ClientOptions::default()
    };
    Box::new(Registrar {
        engine: icn::Registrar::new(
            options,
            address(&config.address).unwrap_or(NOBODY),
            config.cost,
            Duration::from_nanos(config.lifetime_ns),
            config.draw,
        ),
        out: Datagrams::default(),
    })
}

impl Registrar {
    fn answer(&mut self) -> RegistrarStep<'_> {
        self.out.clear();
        for bytes in self.engine.take_sent() {
            let piece = self.out.push(&bytes);
            self.out.pieces.push(piece);
        }
        RegistrarStep {
            datagrams: &self.out.pieces,
            bytes: &self.out.bytes,
            next_timer_ns: self.engine.next_timer().as_nanos(),
            registered: self.engine.registered(),
            failures: self.engine.failures(),
        }
    }

    fn add(&mut self, now_ns: u64, eid: &Eid, draw: f64) -> RegistrarStep<'_> {
        self.engine.add(at(now_ns), convert::eid(eid), draw);
        self.answer()
    }

    fn relocate(&mut self, now_ns: u64, to: &NodeAddress, draw: f64) -> RegistrarStep<'_> {
        let to = address(to).unwrap_or(NOBODY);
        self.engine.relocate(at(now_ns), to, draw);
        self.answer()
    }

    fn remove(&mut self, now_ns: u64, eid: &Eid, draw: f64) -> RegistrarStep<'_> {
        self.engine.remove(at(now_ns), convert::eid(eid), draw);
        self.answer()
    }

    fn on_message(&mut self, now_ns: u64, bytes: &[u8]) -> RegistrarStep<'_> {
        self.engine.on_message(at(now_ns), bytes);
        self.answer()
    }

    fn on_timeout(&mut self, now_ns: u64, draw: f64) -> RegistrarStep<'_> {
        self.engine.on_timeout(at(now_ns), draw);
        self.answer()
    }

    fn forget(&mut self, eid: &Eid) {
        self.engine.forget(&convert::eid(eid));
    }

    fn stop(&mut self) {
        self.engine.stop();
    }
}

/// A session, with its output in the bridge's form.
pub struct Session {
    engine: icn::Session,
    out: Datagrams,
    probes: Vec<Probe>,
}

fn new_session(config: &SessionConfig, device: &Eid, ndc: &Eid) -> Result<Box<Session>, String> {
    let options = icn::SessionOptions {
        resolution: icn::Resolution::from_name(&config.resolution)?,
        client: icn::ClientOptions {
            timeout: Duration::from_nanos(config.timeout_ns),
            tries: config.tries,
            ..icn::ClientOptions::default()
        },
        choice: icn::ReplicaChoice::from_name(&config.choice)?,
        switch_after_timeouts: config.switch_after_timeouts,
        switch_below: (config.switch_below > 0.0).then_some(config.switch_below),
        give_up: Duration::from_nanos(config.give_up_ns),
        ipv4: config.ipv4,
        ipv6: config.ipv6,
    };
    options.validate()?;
    let (device, ndc) = (convert::eid(device), convert::eid(ndc));
    Ok(Box::new(Session {
        engine: icn::Session::new(options, device, ndc, config.draw),
        out: Datagrams::default(),
        probes: Vec::new(),
    }))
}

fn progress(delivered_bytes: u64) -> icn::Progress {
    icn::Progress {
        delivered: Bytes::new(delivered_bytes),
    }
}

impl Session {
    fn answer(&mut self, step: icn::session::Step) -> SessionStep<'_> {
        self.out.clear();
        for bytes in self.engine.take_datagrams() {
            let piece = self.out.push(&bytes);
            self.out.pieces.push(piece);
        }
        self.probes.clear();
        for probe in self.engine.take_probes() {
            let header = self.out.push(&probe.header);
            self.probes.push(Probe {
                address: node_address(Some(probe.address)),
                header,
            });
        }
        SessionStep {
            datagrams: &self.out.pieces,
            probes: &self.probes,
            bytes: &self.out.bytes,
            replica: node_address(step.replica),
            look_up: step.look_up,
            failure: step.failure.map_or("", icn::Failure::as_str),
            next_timer_ns: step.next_timer.as_nanos(),
        }
    }

    fn start(&mut self, now_ns: u64, draw: f64) -> SessionStep<'_> {
        let step = self.engine.start(at(now_ns), draw);
        self.answer(step)
    }

    fn on_list(&mut self, now_ns: u64, list: &[NodeLocator], draw: f64) -> SessionStep<'_> {
        let list: Vec<icn::Locator> = list
            .iter()
            .filter_map(|l| {
                Some(icn::Locator {
                    address: address(&l.address)?,
                    cost: l.cost,
                    lifetime_ms: u32::MAX,
                })
            })
            .collect();
        let step = self.engine.on_list(at(now_ns), &list, draw);
        self.answer(step)
    }

    fn on_message(&mut self, now_ns: u64, bytes: &[u8], draw: f64) -> SessionStep<'_> {
        let step = self.engine.on_message(at(now_ns), bytes, draw);
        self.answer(step)
    }

    fn on_empty_data(
        &mut self,
        now_ns: u64,
        header: &[u8],
        receiver: &Receiver,
        draw: f64,
    ) -> SessionStep<'_> {
        let current_pn = receiver.engine().path_pn();
        let step = self
            .engine
            .on_empty_data(at(now_ns), header, current_pn, draw);
        self.answer(step)
    }

    fn on_rto(&mut self, now_ns: u64, delivered_bytes: u64, draw: f64) -> SessionStep<'_> {
        let step = self
            .engine
            .on_rto(at(now_ns), progress(delivered_bytes), draw);
        self.answer(step)
    }

    fn on_timeout(&mut self, now_ns: u64, delivered_bytes: u64, draw: f64) -> SessionStep<'_> {
        let step = self
            .engine
            .on_timeout(at(now_ns), progress(delivered_bytes), draw);
        self.answer(step)
    }

    fn switch_to(&mut self, now_ns: u64, to: &NodeAddress, draw: f64) -> SessionStep<'_> {
        let step = self.engine.switch_to(at(now_ns), address(to), draw);
        self.answer(step)
    }

    fn relocate(&mut self, edge: &NodeAddress) {
        if let Some(edge) = address(edge) {
            self.engine.relocate(edge);
        }
    }

    fn end(&mut self) {
        self.engine.end();
    }

    fn switches(&self) -> u64 {
        self.engine.switches()
    }

    fn resolve_ns(&self) -> u64 {
        self.engine
            .resolve_time()
            .map_or(u64::MAX, Duration::as_nanos)
    }
}
