//! Bridge of the routers' engines: `ferrocc::router`.

#[cxx::bridge(namespace = "ferrocc::router")]
pub(crate) mod bridge {
    #[namespace = "ferrocc"]
    extern "C++" {
        include!("ferrocc-ffi/src/types.rs.h");
        type Eid = crate::types::Eid;
        type NodeAddress = crate::types::NodeAddress;
    }
    #[namespace = "ferrocc::icn"]
    extern "C++" {
        include!("ferrocc-ffi/src/icn.rs.h");
        type Piece = crate::icn::bridge::Piece;
    }
    #[namespace = "ferrocc::transport"]
    extern "C++" {
        include!("ferrocc-ffi/src/transport.rs.h");
        type Replica = crate::transport::Replica;
    }

    /// What a REQ is to a router's statistics.
    #[derive(Debug)]
    enum Sighting {
        /// The first one of a transfer that is served here.
        Hit,
        /// The first one of a transfer that is served elsewhere.
        Miss,
        /// Of a transfer that has been counted.
        Known,
    }

    /// Options of a router's cache.
    #[derive(Debug, Clone)]
    struct CacheConfig {
        /// Most NDCs; `u64::MAX` for no limit.
        capacity_ndcs: u64,
        /// Most bytes of complete NDCs; `u64::MAX` for no limit.
        capacity_bytes: u64,
        /// `lru`, `lfu`, `fifo` or `random`.
        policy: String,
        /// `lce`, `lcd` or `probabilistic`.
        placement: String,
        /// Probability of a copy under `probabilistic`.
        probability: f64,
        /// Most bytes of incomplete NDCs.
        assembly_memory_bytes: u64,
        /// Time without anything new after which an incomplete NDC is given up.
        assembly_timeout_ns: u64,
        /// Whether payload is real.
        verify: bool,
        /// Hop limit that sources send DATA with.
        source_hop_limit: u8,
        /// A router so many hops after the source, or fewer, is the first one.
        first_hops: u8,
    }

    /// What follows from an event at a cache. Counters are totals.
    #[derive(Debug)]
    struct CacheStep<'a> {
        /// Whether an NDC is complete now: `store` puts it into a replica.
        completed: bool,
        /// Which one.
        eid: Eid,
        /// NDCs that are here no longer, to be taken from the replica by `drop_evicted`.
        evicted: &'a [Eid],
        /// Whether the draw was used, so that the next call needs another one.
        draw_used: bool,
        /// When `expire` is due; `u64::MAX` for never.
        next_timer_ns: u64,
    }

    /// What a cache has counted.
    #[derive(Debug, Clone, Copy)]
    struct CacheStats {
        /// Transfers that this router served.
        hits: u64,
        /// Transfers that others served.
        misses: u64,
        /// NDCs that made room for others.
        evictions: u64,
        /// NDCs that became complete.
        assembled: u64,
        /// NDCs that were begun and given up.
        abandoned: u64,
        /// Transfers of an NDC larger than the store or the memory for incomplete ones.
        too_large: u64,
        /// NDCs whose hash was wrong.
        mismatched: u64,
        /// Packets that were not valid.
        malformed: u64,
        /// Complete NDCs that are here.
        ndcs: u64,
        /// Their bytes.
        bytes: u64,
        /// Incomplete NDCs.
        pending: u64,
    }

    /// Options of a binder.
    #[derive(Debug, Clone)]
    struct BindingConfig {
        /// `listed`, `nearest` or `random`.
        choice: String,
        /// Age at which a list is asked for again.
        lifetime_ns: u64,
        /// Time until a query is repeated; doubles.
        timeout_ns: u64,
        /// How often it is sent.
        tries: u32,
        /// Most REQs that wait.
        max_held: u32,
        /// Time without DATA after which a source may be suspected.
        silent_after_ns: u64,
        /// REQs without DATA until it may be.
        silent_requests: u32,
        /// For how long it is.
        suspect_ns: u64,
        /// For how long a refusal holds without another query.
        refusal_ns: u64,
        /// A draw in [0, 1).
        draw: f64,
    }

    /// What to do with a REQ.
    #[derive(Debug)]
    enum Action {
        /// It goes where it was going.
        Leave,
        /// It goes to the step's address.
        Forward,
        /// It waits until its NDC is settled.
        Hold,
        /// It is dropped.
        Drop,
        /// It is answered by the step's bytes at `refusal`.
        Refuse,
    }

    /// What follows from an event at a binder. Counters are totals.
    #[derive(Debug)]
    struct BindingStep<'a> {
        /// What to do with the REQ.
        action: Action,
        /// Where it goes.
        address: NodeAddress,
        /// Whether the transfer is bound to another source than before.
        bound: bool,
        /// The header of the answer.
        refusal: Piece,
        /// The name of the refusal's reason.
        reason: &'a str,
        /// Datagrams for the name server.
        datagrams: &'a [Piece],
        /// The bytes of both.
        bytes: &'a [u8],
        /// NDCs whose waiting REQs are to be given to `release`.
        settled: &'a [Eid],
        /// When `on_timeout` is due; `u64::MAX` for never.
        next_timer_ns: u64,
    }

    /// What a binder has counted.
    #[derive(Debug, Clone, Copy)]
    struct BindingStats {
        /// Bindings of a transfer to a source.
        bound: u64,
        /// Of these, to another source than before.
        rebound: u64,
        /// Queries.
        resolutions: u64,
        /// REQs that were refused.
        refused: u64,
        /// REQs that were dropped.
        dropped: u64,
    }

    /// Options of a subscriber.
    #[derive(Debug, Clone)]
    struct SubscriberConfig {
        /// This node.
        address: NodeAddress,
        /// `lce`, `lcd` or `probabilistic`.
        placement: String,
        /// Probability of a fetch under `probabilistic`.
        probability: f64,
        /// For how long to subscribe.
        lifetime_ns: u64,
        /// Time until a request is repeated; doubles.
        timeout_ns: u64,
        /// How often it is sent.
        tries: u32,
        /// Most fetches at once.
        max_fetches: u32,
        /// Most NDCs that wait.
        max_waiting: u32,
        /// A draw in [0, 1).
        draw: f64,
    }

    /// What follows from an event at a subscriber. Counters are totals.
    #[derive(Debug)]
    struct SubscriberStep<'a> {
        /// Datagrams for the name server.
        datagrams: &'a [Piece],
        /// Their bytes.
        bytes: &'a [u8],
        /// NDCs to fetch now.
        fetch: &'a [Eid],
        /// When `on_timeout` is due; `u64::MAX` for never.
        next_timer_ns: u64,
        /// Announcements that came.
        announced: u64,
        /// NDCs that were not fetched, because of the placement or because too many waited.
        declined: u64,
    }

    extern "Rust" {
        type Subscriber;

        /// A subscriber. Fails on unknown names and numbers out of range.
        fn new_subscriber(config: &SubscriberConfig) -> Result<Box<Subscriber>>;
        /// Subscribes. `draw` is in [0, 1), here and below.
        unsafe fn start<'a>(self: &'a mut Subscriber, now_ns: u64, draw: f64)
        -> SubscriberStep<'a>;
        /// A datagram came from the name server; `cache` is the node's.
        unsafe fn on_message<'a>(
            self: &'a mut Subscriber,
            now_ns: u64,
            bytes: &[u8],
            cache: &RouterCache,
            draw: f64,
        ) -> SubscriberStep<'a>;
        /// The time asked for by `next_timer_ns` has come.
        unsafe fn on_timeout<'a>(
            self: &'a mut Subscriber,
            now_ns: u64,
            draw: f64,
        ) -> SubscriberStep<'a>;
        /// A fetch has ended.
        unsafe fn on_fetched<'a>(self: &'a mut Subscriber, ndc: &Eid) -> SubscriberStep<'a>;
    }

    extern "Rust" {
        type Binder;

        /// A binder that knows nothing. Fails on unknown names.
        fn new_binder(config: &BindingConfig) -> Result<Box<Binder>>;
        /// Tells an address of the router itself, which is no source.
        fn add_own(self: &mut Binder, address: &NodeAddress);
        /// A REQ for an NDC that is not here came. `draw` is in [0, 1), here and below.
        unsafe fn on_request<'a>(
            self: &'a mut Binder,
            now_ns: u64,
            header: &[u8],
            draw: f64,
        ) -> BindingStep<'a>;
        /// A REQ that waited is decided on.
        unsafe fn release<'a>(
            self: &'a mut Binder,
            now_ns: u64,
            header: &[u8],
            draw: f64,
        ) -> BindingStep<'a>;
        /// A REQ passes by on its way to `destination`.
        unsafe fn on_passing<'a>(
            self: &'a mut Binder,
            now_ns: u64,
            header: &[u8],
            destination: &NodeAddress,
            draw: f64,
        ) -> BindingStep<'a>;
        /// DATA passes by; `empty_header` is its header if it has no payload, else empty.
        fn on_data(
            self: &mut Binder,
            now_ns: u64,
            device: &Eid,
            ndc: &Eid,
            source: &NodeAddress,
            empty_header: &[u8],
        );
        /// A datagram came from the name server.
        unsafe fn on_message<'a>(
            self: &'a mut Binder,
            now_ns: u64,
            bytes: &[u8],
        ) -> BindingStep<'a>;
        /// The time asked for by `next_timer_ns` has come.
        unsafe fn on_timeout<'a>(self: &'a mut Binder, now_ns: u64, draw: f64) -> BindingStep<'a>;
        /// Forgets everything.
        fn restart(self: &mut Binder, draw: f64);
        /// What has been counted.
        fn stats(self: &Binder) -> BindingStats;
    }

    extern "Rust" {
        type RouterCache;

        /// An empty cache. Fails on unknown names and numbers out of range.
        fn new_router_cache(config: &CacheConfig) -> Result<Box<RouterCache>>;
        /// A REQ of `device` for `ndc` came.
        fn on_request(self: &mut RouterCache, device: &Eid, ndc: &Eid) -> Sighting;
        /// The router forwards a DATA packet, which leaves with `hop_limit`. `draw` is in [0, 1).
        unsafe fn on_data<'a>(
            self: &'a mut RouterCache,
            now_ns: u64,
            header: &[u8],
            payload_len: u32,
            payload: &[u8],
            hop_limit: u8,
            draw: f64,
        ) -> CacheStep<'a>;
        /// Puts the NDC that is complete into a replica.
        fn store(self: &mut RouterCache, replica: &mut Replica);
        /// Notes an NDC whose content the replica has got otherwise; whether it is in the store now.
        fn preload(self: &mut RouterCache, ndc: &Eid, size_bytes: u64, draw: f64) -> bool;
        /// Evicts everything.
        fn evict_all(self: &mut RouterCache);
        /// Loses everything, complete or not; returns what was complete.
        fn restart(self: &mut RouterCache) -> &[Eid];
        /// NDCs that are here no longer since the last step.
        fn take_evicted(self: &mut RouterCache) -> &[Eid];
        /// Abandons what has been idle for too long; returns the next time to do so.
        fn expire(self: &mut RouterCache, now_ns: u64) -> u64;
        /// Whether an NDC is here, complete.
        fn contains(self: &RouterCache, ndc: &Eid) -> bool;
        /// What has been counted.
        fn stats(self: &RouterCache) -> CacheStats;
    }
}

use crate::convert;
use crate::convert::address;
use crate::icn::{Datagrams, NOBODY, at, node_address};
use crate::transport::Replica;
use crate::types::{Eid, NodeAddress};
use bridge::{
    Action, BindingConfig, BindingStats, BindingStep, CacheConfig, CacheStats, CacheStep, Piece,
    Sighting, SubscriberConfig, SubscriberStep,
};
use ferrocc::icn;
use ferrocc::transport::Content;
use ferrocc::units::{Bytes, Duration};
use ferrocc::wire::{Kind, Refusal, Repr};

/// A router's cache.
pub struct RouterCache {
    engine: icn::RouterCache,
    complete: Option<(ferrocc::wire::Eid, Content)>,
    evicted: Vec<Eid>,
}

/// `u64::MAX` is no limit.
fn limit(value: u64) -> Option<u64> {
    (value != u64::MAX).then_some(value)
}

fn new_router_cache(config: &CacheConfig) -> Result<Box<RouterCache>, String> {
    let options = icn::CacheOptions {
        store: icn::StoreOptions {
            capacity_ndcs: limit(config.capacity_ndcs),
            capacity_bytes: limit(config.capacity_bytes).map(Bytes::new),
            policy: icn::EvictionPolicy::from_name(&config.policy)?,
        },
        placement: icn::PlacementRule {
            placement: icn::Placement::from_name(&config.placement)?,
            probability: config.probability,
        },
        assembly: icn::AssemblerOptions {
            memory: Bytes::new(config.assembly_memory_bytes),
            timeout: Duration::from_nanos(config.assembly_timeout_ns),
        },
        verify: config.verify,
        source_hop_limit: config.source_hop_limit,
        first_hops: config.first_hops,
    };
    Ok(Box::new(RouterCache {
        engine: icn::RouterCache::new(options)?,
        complete: None,
        evicted: Vec::new(),
    }))
}

impl RouterCache {
    fn on_request(&mut self, device: &Eid, ndc: &Eid) -> Sighting {
        let sighting = self
            .engine
            .on_request(convert::eid(device), convert::eid(ndc));
        match sighting {
            icn::Sighting::Hit => Sighting::Hit,
            icn::Sighting::Miss => Sighting::Miss,
            icn::Sighting::Known => Sighting::Known,
        }
    }

    fn on_data(
        &mut self,
        now_ns: u64,
        header: &[u8],
        payload_len: u32,
        payload: &[u8],
        hop_limit: u8,
        draw: f64,
    ) -> CacheStep<'_> {
        self.complete =
            self.engine
                .on_data(at(now_ns), header, payload_len, payload, hop_limit, draw);
        let eid = self.complete.as_ref().map(|(eid, _)| *eid);
        let draw_used = self.engine.draw_used();
        let next_timer_ns = self.engine.next_timer().as_nanos();
        CacheStep {
            completed: eid.is_some(),
            eid: convert::bridge_eid(eid.unwrap_or_default()),
            evicted: self.take_evicted(),
            draw_used,
            next_timer_ns,
        }
    }

    fn store(&mut self, replica: &mut Replica) {
        if let Some((eid, content)) = self.complete.take() {
            replica.engine_mut().add(eid, content);
        }
    }

    fn preload(&mut self, ndc: &Eid, size_bytes: u64, draw: f64) -> bool {
        self.engine
            .preload(convert::eid(ndc), Bytes::new(size_bytes), draw)
    }

    fn evict_all(&mut self) {
        self.engine.evict_all();
    }

    fn restart(&mut self) -> &[Eid] {
        self.complete = None;
        self.evicted.clear();
        self.evicted
            .extend(self.engine.restart().into_iter().map(convert::bridge_eid));
        &self.evicted
    }

    fn take_evicted(&mut self) -> &[Eid] {
        self.evicted.clear();
        self.evicted
            .extend(self.engine.take_evicted().map(convert::bridge_eid));
        &self.evicted
    }

    fn expire(&mut self, now_ns: u64) -> u64 {
        self.engine.expire(at(now_ns));
        self.engine.next_timer().as_nanos()
    }

    fn contains(&self, ndc: &Eid) -> bool {
        self.engine.store().contains(&convert::eid(ndc))
    }

    fn stats(&self) -> CacheStats {
        let stats = self.engine.stats();
        CacheStats {
            hits: stats.hits,
            misses: stats.misses,
            evictions: stats.evictions,
            assembled: stats.assembled,
            abandoned: stats.abandoned,
            too_large: stats.too_large,
            mismatched: stats.mismatched,
            malformed: stats.malformed,
            ndcs: self.engine.store().len() as u64,
            bytes: self.engine.store().bytes().get(),
            pending: self.engine.pending() as u64,
        }
    }
}

/// A router's binder, with its output in the bridge's form.
pub struct Binder {
    engine: icn::Binder,
    out: Datagrams,
    settled: Vec<Eid>,
    header: Vec<u8>,
}

fn new_binder(config: &BindingConfig) -> Result<Box<Binder>, String> {
    let choice = icn::ReplicaChoice::from_name(&config.choice)?;
    if choice == icn::ReplicaChoice::LowestRtt {
        return Err(
            "binding choice: lowest-rtt needs probes, which routers do not send \
                    (accepted: listed, nearest, random)"
                .to_owned(),
        );
    }
    let options = icn::BindingOptions {
        client: icn::ClientOptions {
            timeout: Duration::from_nanos(config.timeout_ns),
            tries: config.tries,
            ..icn::ClientOptions::default()
        },
        choice,
        lifetime: Duration::from_nanos(config.lifetime_ns),
        max_held: config.max_held,
        silent_after: Duration::from_nanos(config.silent_after_ns),
        silent_requests: config.silent_requests,
        suspect_time: Duration::from_nanos(config.suspect_ns),
        refusal_lifetime: Duration::from_nanos(config.refusal_ns),
    };
    Ok(Box::new(Binder {
        engine: icn::Binder::new(options, config.draw),
        out: Datagrams::default(),
        settled: Vec::new(),
        header: Vec::new(),
    }))
}

/// Who asks for what; none if `header` is no REQ.
fn request(header: &[u8]) -> Option<(ferrocc::wire::Eid, ferrocc::wire::Eid)> {
    let repr = Repr::parse(header).ok()?;
    matches!(repr.kind, Kind::Request { .. }).then_some((repr.source, repr.destination))
}

const fn reason(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::NameUnknown => icn::Failure::NameUnknown.as_str(),
        Refusal::NameServerUnreachable => icn::Failure::NameServerUnreachable.as_str(),
        Refusal::NoReplica => icn::Failure::NoReplica.as_str(),
    }
}

impl Binder {
    fn answer(&mut self, verdict: icn::Verdict, header: &[u8], bound: u64) -> BindingStep<'_> {
        self.out.clear();
        for bytes in self.engine.take_datagrams() {
            let piece = self.out.push(&bytes);
            self.out.pieces.push(piece);
        }
        self.settled.clear();
        let settled = self.engine.take_settled();
        self.settled
            .extend(settled.into_iter().map(convert::bridge_eid));
        let mut refusal = Piece {
            offset: 0,
            length: 0,
        };
        let (action, to, why) = match verdict {
            icn::Verdict::Forward(to) => (Action::Forward, Some(to), ""),
            icn::Verdict::Hold => (Action::Hold, None, ""),
            icn::Verdict::Drop => (Action::Drop, None, ""),
            icn::Verdict::Refuse(r) => {
                self.header.clear();
                // It was read before, so that it can be answered.
                let _ = icn::binding::refusal(header, r, &mut self.header);
                refusal = self.out.push(&self.header);
                (Action::Refuse, None, reason(r))
            }
        };
        BindingStep {
            action,
            address: node_address(to),
            bound: self.engine.stats().bound > bound,
            refusal,
            reason: why,
            datagrams: &self.out.pieces,
            bytes: &self.out.bytes,
            settled: &self.settled,
            next_timer_ns: self.engine.next_timer().as_nanos(),
        }
    }

    fn add_own(&mut self, own: &NodeAddress) {
        if let Some(own) = address(own) {
            self.engine.add_own(own);
        }
    }

    fn on_request(&mut self, now_ns: u64, header: &[u8], draw: f64) -> BindingStep<'_> {
        let bound = self.engine.stats().bound;
        let verdict = match request(header) {
            Some((device, ndc)) => self.engine.on_request(at(now_ns), device, ndc, draw),
            None => icn::Verdict::Drop,
        };
        self.answer(verdict, header, bound)
    }

    fn release(&mut self, now_ns: u64, header: &[u8], draw: f64) -> BindingStep<'_> {
        let bound = self.engine.stats().bound;
        let verdict = match request(header) {
            Some((device, ndc)) => self.engine.release(at(now_ns), device, ndc, draw),
            None => icn::Verdict::Drop,
        };
        self.answer(verdict, header, bound)
    }

    fn on_passing(
        &mut self,
        now_ns: u64,
        header: &[u8],
        destination: &NodeAddress,
        draw: f64,
    ) -> BindingStep<'_> {
        let bound = self.engine.stats().bound;
        let to = request(header).and_then(|(device, ndc)| {
            let destination = address(destination).unwrap_or(NOBODY);
            self.engine
                .on_passing(at(now_ns), device, ndc, destination, draw)
        });
        let verdict = to.map_or(icn::Verdict::Drop, icn::Verdict::Forward);
        let mut step = self.answer(verdict, header, bound);
        if to.is_none() {
            step.action = Action::Leave;
        }
        step
    }

    fn on_data(
        &mut self,
        now_ns: u64,
        device: &Eid,
        ndc: &Eid,
        source: &NodeAddress,
        empty_header: &[u8],
    ) {
        let not_here = match Repr::parse(empty_header).map(|r| r.kind) {
            Ok(Kind::Data {
                ndc_size, refusal, ..
            }) => ndc_size.is_none() && refusal.is_none(),
            _ => false,
        };
        let source = address(source).unwrap_or(NOBODY);
        let (device, ndc) = (convert::eid(device), convert::eid(ndc));
        self.engine
            .on_data(at(now_ns), device, ndc, source, not_here);
    }

    fn on_message(&mut self, now_ns: u64, bytes: &[u8]) -> BindingStep<'_> {
        self.engine.on_message(at(now_ns), bytes);
        self.answer(icn::Verdict::Drop, &[], u64::MAX)
    }

    fn on_timeout(&mut self, now_ns: u64, draw: f64) -> BindingStep<'_> {
        self.engine.on_timeout(at(now_ns), draw);
        self.answer(icn::Verdict::Drop, &[], u64::MAX)
    }

    fn restart(&mut self, draw: f64) {
        self.engine.restart(draw);
    }

    fn stats(&self) -> BindingStats {
        let stats = self.engine.stats();
        BindingStats {
            bound: stats.bound,
            rebound: stats.rebound,
            resolutions: stats.resolutions,
            refused: stats.refused,
            dropped: stats.dropped,
        }
    }
}

/// What listens to announcements, with its output in the bridge's form.
pub struct Subscriber {
    engine: icn::Subscriber,
    out: Datagrams,
    fetch: Vec<Eid>,
}

fn new_subscriber(config: &SubscriberConfig) -> Result<Box<Subscriber>, String> {
    let options = icn::SubscriberOptions {
        client: icn::ClientOptions {
            timeout: Duration::from_nanos(config.timeout_ns),
            tries: config.tries,
            ..icn::ClientOptions::default()
        },
        lifetime: Duration::from_nanos(config.lifetime_ns),
        placement: icn::PlacementRule {
            placement: icn::Placement::from_name(&config.placement)?,
            probability: config.probability,
        },
        max_fetches: config.max_fetches as usize,
        max_waiting: config.max_waiting as usize,
    };
    let here = address(&config.address).unwrap_or(NOBODY);
    Ok(Box::new(Subscriber {
        engine: icn::Subscriber::new(options, here, config.draw)?,
        out: Datagrams::default(),
        fetch: Vec::new(),
    }))
}

impl Subscriber {
    fn answer(&mut self) -> SubscriberStep<'_> {
        self.out.clear();
        for bytes in self.engine.take_datagrams() {
            let piece = self.out.push(&bytes);
            self.out.pieces.push(piece);
        }
        self.fetch.clear();
        while let Some(ndc) = self.engine.take_fetch() {
            self.fetch.push(convert::bridge_eid(ndc));
        }
        SubscriberStep {
            datagrams: &self.out.pieces,
            bytes: &self.out.bytes,
            fetch: &self.fetch,
            next_timer_ns: self.engine.next_timer().as_nanos(),
            announced: self.engine.announced(),
            declined: self.engine.declined(),
        }
    }

    fn start(&mut self, now_ns: u64, draw: f64) -> SubscriberStep<'_> {
        self.engine.start(at(now_ns), draw);
        self.answer()
    }

    fn on_message(
        &mut self,
        now_ns: u64,
        bytes: &[u8],
        cache: &RouterCache,
        draw: f64,
    ) -> SubscriberStep<'_> {
        let held = |ndc: &ferrocc::wire::Eid| cache.engine.store().contains(ndc);
        self.engine.on_message(at(now_ns), bytes, held, draw);
        self.answer()
    }

    fn on_timeout(&mut self, now_ns: u64, draw: f64) -> SubscriberStep<'_> {
        self.engine.on_timeout(at(now_ns), draw);
        self.answer()
    }

    fn on_fetched(&mut self, ndc: &Eid) -> SubscriberStep<'_> {
        self.engine.on_fetched(&convert::eid(ndc));
        self.answer()
    }
}
