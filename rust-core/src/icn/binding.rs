//! Late binding: a router asks the name server where an NDC is and decides which source each REQ
//! goes to.
//!
//! There is one list of sources per NDC, as old as [`BindingOptions::lifetime`] at most when a
//! transfer (a receiver's device and an NDC) chooses from it. A transfer stays with its source as
//! long as that is listed, so that its controller is not disturbed; what ends a binding is
//!
//! - the source's empty DATA "not here", which passes this router on its way to the receiver;
//! - a list without the source, when the old one has expired;
//! - silence: [`BindingOptions::silent_requests`] REQs of the transfer have gone to the source, the
//!   first of them [`BindingOptions::silent_after`] ago, and no DATA of the transfer has passed
//!   since. A receiver whose source has died repeats its REQs when its retransmission timer
//!   expires, so that this needs nothing new on the wire. The source is then suspected, for all
//!   NDCs, and chosen only if there is no other. The transfer itself does not come back to it until
//!   DATA has arrived or all others have been tried, and since its receiver's timer has grown, it
//!   gives each further source until the next REQ only.
//!
//! While there is no list, REQs wait with the caller ([`Verdict::Hold`]), at most
//! [`BindingOptions::max_held`] of them.

use super::choice::{Candidate, ReplicaChoice};
use super::client::{ClientOptions, NameClient, Outcome};
use super::eid_map::EidMap;
use super::message::{ErrorCode, Locator};
use crate::units::{Duration, Instant};
use crate::wire::{Eid, Kind, Refusal, Repr, Sum};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// Options of a binder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BindingOptions {
    /// How the name server is asked.
    pub client: ClientOptions,
    /// Which source is taken.
    pub choice: ReplicaChoice,
    /// Age at which a list is asked for again.
    pub lifetime: Duration,
    /// Most REQs that wait for a list, of all NDCs.
    pub max_held: u32,
    /// Time from a transfer's first REQ without DATA until its source may be suspected.
    pub silent_after: Duration,
    /// REQs without DATA until it may be.
    pub silent_requests: u32,
    /// For how long a source is suspected, or a "not here" is believed.
    pub suspect_time: Duration,
    /// For how long a refusal is repeated without another query.
    pub refusal_lifetime: Duration,
}

impl Default for BindingOptions {
    fn default() -> BindingOptions {
        BindingOptions {
            client: ClientOptions::default(),
            choice: ReplicaChoice::Nearest,
            lifetime: Duration::from_secs(1),
            max_held: 1000,
            // RFC 6298's first timeout; three REQs are two expiries of a receiver's timer at least.
            silent_after: Duration::from_secs(1),
            silent_requests: 3,
            suspect_time: Duration::from_secs(10),
            refusal_lifetime: Duration::from_secs(1),
        }
    }
}

/// What to do with a REQ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It goes there.
    Forward(IpAddr),
    /// It waits until its NDC is in [`Binder::take_settled`], and then [`Binder::release`] decides.
    Hold,
    /// It is dropped: too many are waiting.
    Drop,
    /// It is answered by [`refusal`].
    Refuse(Refusal),
}

/// What a binder has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BindingStats {
    /// Bindings of a transfer to a source.
    pub bound: u64,
    /// Of these, bindings to another source than before.
    pub rebound: u64,
    /// Queries.
    pub resolutions: u64,
    /// REQs that were refused.
    pub refused: u64,
    /// REQs that were dropped.
    pub dropped: u64,
    /// Sources that were suspected.
    pub suspected: u64,
}

/// What is known of an NDC.
#[derive(Debug, Clone, Default)]
struct Entry {
    /// The sources that the name server listed last; empty before the first list.
    list: Vec<Locator>,
    /// Whether there has been a list.
    known: bool,
    /// The list is asked for again then.
    expires: Instant,
    /// The query under way.
    transaction: Option<u32>,
    /// Why REQs are refused, and until when.
    refusal: Option<(Refusal, Instant)>,
    /// Sources that said "not here", until when that is believed.
    absent: Vec<(IpAddr, Instant)>,
    /// REQs that wait.
    held: u32,
}

/// What is known of a transfer.
#[derive(Debug, Clone, Default)]
struct Transfer {
    source: Option<IpAddr>,
    /// The source before, if it was left.
    left: Option<IpAddr>,
    /// REQs since the last DATA, and when the first of them came.
    unanswered: u32,
    since: Instant,
    /// Sources that were silent since the last DATA.
    silent: Vec<IpAddr>,
}

/// Decides where REQs go. After each call, everything in [`Binder::take_datagrams`] is to be sent,
/// [`Binder::take_settled`] to be worked off and [`Binder::next_timer`] to be set.
#[derive(Debug, Clone)]
pub struct Binder {
    options: BindingOptions,
    client: NameClient,
    /// This router's own addresses, which are no source.
    own: Vec<IpAddr>,
    entries: EidMap<Eid, Entry>,
    entry_order: VecDeque<Eid>,
    transfers: EidMap<(Eid, Eid), Transfer>,
    transfer_order: VecDeque<(Eid, Eid)>,
    /// Sources that were silent, and until when that is believed.
    suspects: BTreeMap<IpAddr, Instant>,
    held: u32,
    settled: Vec<Eid>,
    candidates: Vec<Candidate>,
    stats: BindingStats,
}

impl Binder {
    /// Most NDCs and most transfers that are remembered; the oldest is forgotten for a new one, and
    /// then bound anew.
    const MAX_REMEMBERED: usize = 1 << 16;

    /// A binder that knows nothing. `draw` is in [0, 1), as in all functions below.
    pub fn new(options: BindingOptions, draw: f64) -> Binder {
        Binder {
            client: NameClient::new(options.client, draw),
            options,
            own: Vec::new(),
            entries: EidMap::default(),
            entry_order: VecDeque::new(),
            transfers: EidMap::default(),
            transfer_order: VecDeque::new(),
            suspects: BTreeMap::new(),
            held: 0,
            settled: Vec::new(),
            candidates: Vec::new(),
            stats: BindingStats::default(),
        }
    }

    /// Tells an address of this router itself, which is never chosen as a source.
    pub fn add_own(&mut self, own: IpAddr) {
        self.own.push(own);
    }

    /// A REQ of `device` for `ndc` came to this router, which does not hold it.
    pub fn on_request(&mut self, now: Instant, device: Eid, ndc: Eid, draw: f64) -> Verdict {
        self.note_request(now, device, ndc);
        let verdict = self.decide(now, device, ndc, draw);
        match verdict {
            Verdict::Hold => {
                if self.held >= self.options.max_held {
                    self.stats.dropped += 1;
                    return Verdict::Drop;
                }
                self.held += 1;
                self.entry(ndc).held += 1;
            }
            Verdict::Refuse(_) => self.stats.refused += 1,
            _ => {}
        }
        verdict
    }

    /// A REQ that was held is decided on: never [`Verdict::Hold`].
    pub fn release(&mut self, now: Instant, device: Eid, ndc: Eid, draw: f64) -> Verdict {
        let entry = self.entry(ndc);
        entry.held = entry.held.saturating_sub(1);
        self.held = self.held.saturating_sub(1);
        match self.decide(now, device, ndc, draw) {
            // A lifetime of nothing: the list is good for those who waited for it.
            Verdict::Hold => {
                self.stats.dropped += 1;
                Verdict::Drop
            }
            Verdict::Refuse(refusal) => {
                self.stats.refused += 1;
                Verdict::Refuse(refusal)
            }
            verdict => verdict,
        }
    }

    /// A REQ of `device` for `ndc` passes by on its way to `destination`. Returns where it goes
    /// instead: if the destination is known to be no source, or if a nearer one is listed. Nothing
    /// waits for that.
    pub fn on_passing(
        &mut self,
        now: Instant,
        device: Eid,
        ndc: Eid,
        destination: IpAddr,
        draw: f64,
    ) -> Option<IpAddr> {
        self.note_request(now, device, ndc);
        let entry = self.entry(ndc);
        if entry.expires <= now && entry.transaction.is_none() && entry.is_askable(now) {
            self.ask(now, ndc, draw);
        }
        let transfer = self.transfers.get(&(device, ndc))?;
        if let Some(source) = transfer.source
            && self.is_usable(now, &ndc, source)
        {
            return (source != destination).then_some(source);
        }
        if self.entries.get(&ndc).is_none_or(|e| e.expires <= now) {
            return None; // A new list is on its way.
        }
        let best = self.choose(now, device, &ndc, draw)?;
        let cost = |address| {
            let list = &self.entries.get(&ndc)?.list;
            list.iter().find(|l| l.address == address).map(|l| l.cost)
        };
        let good = self.is_usable(now, &ndc, destination);
        let source = if good && cost(best) >= cost(destination) {
            destination
        } else {
            best
        };
        self.bind(device, ndc, source);
        (source != destination).then_some(source)
    }

    /// DATA of `ndc` for `device` passes by. An empty one without a size (`not_here`) says that
    /// `source` does not hold the NDC.
    pub fn on_data(&mut self, now: Instant, device: Eid, ndc: Eid, source: IpAddr, not_here: bool) {
        let Some(transfer) = self.transfers.get_mut(&(device, ndc)) else {
            return;
        };
        transfer.unanswered = 0;
        if !transfer.silent.is_empty() {
            transfer.silent.clear();
        }
        if !not_here {
            if !self.suspects.is_empty() {
                self.suspects.remove(&source);
            }
            return;
        }
        if transfer.source == Some(source) {
            transfer.left = transfer.source.take();
        }
        let until = now + self.options.suspect_time;
        if let Some(entry) = self.entries.get_mut(&ndc) {
            entry.absent.retain(|a| a.0 != source);
            entry.absent.push((source, until));
        }
        self.renew_if_used_up(now, ndc);
    }

    /// A datagram came from the name server.
    pub fn on_message(&mut self, now: Instant, bytes: &[u8]) {
        if let Some(ended) = self.client.on_message(now, bytes) {
            self.on_resolved(now, ended.transaction, ended.eid, ended.outcome);
        }
    }

    /// The time that [`Binder::next_timer`] told has come.
    pub fn on_timeout(&mut self, now: Instant, draw: f64) {
        while let Some(ended) = self.client.on_timeout(now, draw) {
            self.on_resolved(now, ended.transaction, ended.eid, ended.outcome);
        }
    }

    /// When [`Binder::on_timeout`] is due; [`Instant::MAX`] for never.
    pub fn next_timer(&self) -> Instant {
        self.client.next_timer()
    }

    /// The datagrams to send to the name server.
    pub fn take_datagrams(&mut self) -> impl Iterator<Item = Vec<u8>> {
        self.client.take_sent()
    }

    /// NDCs whose waiting REQs are to be given to [`Binder::release`].
    pub fn take_settled(&mut self) -> Vec<Eid> {
        std::mem::take(&mut self.settled)
    }

    /// Everything is forgotten; the caller drops what it holds. What has been counted stays.
    pub fn restart(&mut self, draw: f64) {
        self.client = NameClient::new(self.options.client, draw);
        self.entries.clear();
        self.entry_order.clear();
        self.transfers.clear();
        self.transfer_order.clear();
        self.suspects.clear();
        self.settled.clear();
        self.held = 0;
    }

    /// What has been counted.
    pub const fn stats(&self) -> &BindingStats {
        &self.stats
    }

    /// REQs that wait.
    pub const fn held(&self) -> u32 {
        self.held
    }

    /// The source that a transfer is bound to.
    pub fn source(&self, device: Eid, ndc: Eid) -> Option<IpAddr> {
        self.transfers.get(&(device, ndc))?.source
    }

    /// Counts a REQ, and leaves the source if it has been silent for too long.
    fn note_request(&mut self, now: Instant, device: Eid, ndc: Eid) {
        let options = self.options;
        let transfer = self.transfer(device, ndc);
        if transfer.unanswered == 0 {
            transfer.since = now;
        }
        transfer.unanswered += 1;
        let patience = if transfer.silent.is_empty() {
            options.silent_requests
        } else {
            1
        };
        let silent = transfer.unanswered > patience && now - transfer.since >= options.silent_after;
        if let Some(source) = transfer.source.filter(|_| silent) {
            transfer.left = transfer.source.take();
            transfer.silent.push(source);
            transfer.unanswered = 1;
            transfer.since = now;
            self.stats.suspected += 1;
            self.suspects.insert(source, now + options.suspect_time);
            self.renew_if_used_up(now, ndc);
        }
    }

    /// If no source of the list is left, the list is asked for again, however new it is: it may be
    /// older than what happened to its sources.
    fn renew_if_used_up(&mut self, now: Instant, ndc: Eid) {
        let list = self.entries.get(&ndc).map_or(&[][..], |e| &e.list);
        let mut left = list.iter().map(|l| l.address);
        if !left.any(|a| self.is_usable(now, &ndc, a) && !self.own.contains(&a))
            && let Some(entry) = self.entries.get_mut(&ndc)
        {
            entry.expires = now;
        }
    }

    fn decide(&mut self, now: Instant, device: Eid, ndc: Eid, draw: f64) -> Verdict {
        let bound = self
            .source(device, ndc)
            .filter(|&s| !self.is_absent(now, &ndc, s));
        let entry = self.entry(ndc);
        let fresh = now < entry.expires;
        if let Some(source) = bound {
            // A transfer does not wait while its old list is renewed.
            if fresh && !entry.list.iter().any(|l| l.address == source) && !entry.list.is_empty() {
                return match self.choose(now, device, &ndc, draw) {
                    Some(better) => self.bind(device, ndc, better),
                    None => Verdict::Forward(source),
                };
            }
            if !fresh && entry.transaction.is_none() && entry.is_askable(now) {
                self.ask(now, ndc, draw);
            }
            return Verdict::Forward(source);
        }
        if entry.transaction.is_some() {
            return Verdict::Hold;
        }
        if let Some((refusal, until)) = entry.refusal
            && now < until
        {
            return Verdict::Refuse(refusal);
        }
        if !fresh {
            self.ask(now, ndc, draw);
            return Verdict::Hold;
        }
        match self.choose(now, device, &ndc, draw) {
            Some(source) => self.bind(device, ndc, source),
            // All that are listed have said that they do not hold it.
            None => self.refuse(now, ndc, Refusal::NoReplica),
        }
    }

    fn bind(&mut self, device: Eid, ndc: Eid, source: IpAddr) -> Verdict {
        let transfer = self.transfer(device, ndc);
        let before = transfer.source.replace(source).or(transfer.left.take());
        transfer.unanswered = transfer.unanswered.min(1);
        if before != Some(source) {
            self.stats.rebound += u64::from(before.is_some());
            self.stats.bound += 1;
        }
        Verdict::Forward(source)
    }

    fn refuse(&mut self, now: Instant, ndc: Eid, refusal: Refusal) -> Verdict {
        let until = now + self.options.refusal_lifetime;
        self.entry(ndc).refusal = Some((refusal, until));
        Verdict::Refuse(refusal)
    }

    /// The best source of the list for a transfer. Suspects, and those that were silent to it, are
    /// taken only if there are no others.
    fn choose(&mut self, now: Instant, device: Eid, ndc: &Eid, draw: f64) -> Option<IpAddr> {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let list = self.entries.get(ndc).map_or(&[][..], |e| &e.list);
        let present = list
            .iter()
            .filter(|l| !self.own.contains(&l.address) && !self.is_absent(now, ndc, l.address));
        let key = (device, *ndc);
        let silent = self.transfers.get(&key).map_or(&[][..], |t| &t.silent);
        candidates.extend(present.map(|&locator| Candidate {
            locator,
            failed: self.is_suspect(now, locator.address) || silent.contains(&locator.address),
            rtt: None,
        }));
        if candidates.iter().all(|c| c.failed) {
            // Once more round.
            if let Some(transfer) = self.transfers.get_mut(&key) {
                transfer.silent.clear();
            }
            candidates.iter_mut().for_each(|c| c.failed = false);
        }
        let chosen = self.options.choice.choose(&candidates, None, draw);
        let address = chosen.map(|i| candidates[i].locator.address);
        self.candidates = candidates;
        address
    }

    /// Whether `address` is listed and has not failed.
    fn is_usable(&self, now: Instant, ndc: &Eid, address: IpAddr) -> bool {
        let list = self.entries.get(ndc).map_or(&[][..], |e| &e.list);
        list.iter().any(|l| l.address == address)
            && !self.is_absent(now, ndc, address)
            && !self.is_suspect(now, address)
    }

    fn is_absent(&self, now: Instant, ndc: &Eid, address: IpAddr) -> bool {
        let absent = self.entries.get(ndc).map_or(&[][..], |e| &e.absent);
        absent.iter().any(|&(a, until)| a == address && now < until)
    }

    fn is_suspect(&self, now: Instant, address: IpAddr) -> bool {
        self.suspects
            .get(&address)
            .is_some_and(|&until| now < until)
    }

    fn ask(&mut self, now: Instant, ndc: Eid, draw: f64) {
        self.stats.resolutions += 1;
        let known = self.entry(ndc).known;
        let transaction = self.client.resolve(now, ndc, known, draw);
        self.entry(ndc).transaction = Some(transaction);
    }

    fn on_resolved(&mut self, now: Instant, transaction: u32, ndc: Eid, outcome: Outcome) {
        let options = self.options;
        let Some(entry) = self.entries.get_mut(&ndc) else {
            return;
        };
        if entry.transaction != Some(transaction) {
            return;
        }
        entry.transaction = None;
        entry.absent.retain(|&(_, until)| now < until);
        let refusal = match outcome {
            Outcome::Answer { locators, .. } => {
                entry.list = locators;
                entry.known = true;
                // Those who waited for the list get it, however short its life.
                entry.expires = now + options.lifetime.max(Duration::from_nanos(1));
                None
            }
            Outcome::Error(ErrorCode::UnknownName) => {
                entry.list.clear();
                Some(if entry.known {
                    Refusal::NoReplica
                } else {
                    Refusal::NameUnknown
                })
            }
            // What was listed before is better than nothing.
            _ if !entry.list.is_empty() => {
                entry.expires = now + options.lifetime.max(options.refusal_lifetime);
                None
            }
            _ => Some(Refusal::NameServerUnreachable),
        };
        entry.refusal = refusal.map(|r| (r, now + options.refusal_lifetime));
        if entry.held > 0 {
            self.settled.push(ndc);
        }
    }

    fn entry(&mut self, ndc: Eid) -> &mut Entry {
        if !self.entries.contains_key(&ndc) {
            if self.entry_order.len() >= Binder::MAX_REMEMBERED
                && let Some(oldest) = self.entry_order.pop_front()
                && let Some(gone) = self.entries.remove(&oldest)
            {
                if let Some(transaction) = gone.transaction {
                    self.client.cancel(transaction);
                }
                // Those who wait are decided on as if they came now.
                if gone.held > 0 {
                    self.settled.push(oldest);
                }
            }
            self.entry_order.push_back(ndc);
        }
        self.entries.entry(ndc).or_default()
    }

    fn transfer(&mut self, device: Eid, ndc: Eid) -> &mut Transfer {
        let key = (device, ndc);
        if !self.transfers.contains_key(&key) {
            if self.transfer_order.len() >= Binder::MAX_REMEMBERED
                && let Some(oldest) = self.transfer_order.pop_front()
            {
                self.transfers.remove(&oldest);
            }
            self.transfer_order.push_back(key);
        }
        self.transfers.entry(key).or_default()
    }
}

impl Entry {
    /// Whether another query makes sense: not while a refusal holds.
    fn is_askable(&self, now: Instant) -> bool {
        self.refusal.is_none_or(|(_, until)| until <= now)
    }
}

/// Appends the header of the empty DATA packet that answers a REQ by a refusal; none if `request` is
/// no REQ.
pub fn refusal(request: &[u8], refusal: Refusal, out: &mut Vec<u8>) -> Option<()> {
    let req = Repr::parse(request).ok()?;
    let Kind::Request { probe, .. } = req.kind else {
        return None;
    };
    Repr {
        source: req.destination,
        destination: req.source,
        packet_number: req.packet_number,
        offset: req.offset,
        length: 0,
        kind: Kind::Data {
            mark: false,
            probe,
            timestamp_ns: None,
            ndc_size: None,
            refusal: Some(refusal),
        },
    }
    .emit(Sum::ZERO, out);
    Some(())
}

#[cfg(test)]
mod tests;
