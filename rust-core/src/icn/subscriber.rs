//! An off-path cache's side of announcements: keeps it subscribed, and decides which of the NDCs
//! that are announced it fetches.

use super::client::{ClientOptions, NameClient, Outcome};
use super::eid_map::EidMap;
use super::message::{Body, Locator, Message};
use super::placement::PlacementRule;
use crate::units::{Duration, Instant};
use crate::wire::Eid;
use std::collections::VecDeque;
use std::net::IpAddr;

/// Options of a subscriber.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubscriberOptions {
    /// How the name server is asked.
    pub client: ClientOptions,
    /// For how long to subscribe; renewed at half of it.
    pub lifetime: Duration,
    /// Which of the announced NDCs are fetched. An off-path cache is nobody's first router:
    /// leave-copy-down fetches nothing.
    pub placement: PlacementRule,
    /// Most fetches at once; the others wait.
    pub max_fetches: usize,
    /// Most NDCs that wait; the oldest goes for a new one.
    pub max_waiting: usize,
}

impl Default for SubscriberOptions {
    fn default() -> SubscriberOptions {
        SubscriberOptions {
            client: ClientOptions::default(),
            lifetime: Duration::from_secs(300),
            placement: PlacementRule::default(),
            max_fetches: 1,
            max_waiting: 1000,
        }
    }
}

/// A subscriber. After each call, everything in [`Subscriber::take_datagrams`] is to be sent,
/// [`Subscriber::take_fetch`] to be called until it returns none, and [`Subscriber::next_timer`] to
/// be set.
#[derive(Debug, Clone)]
pub struct Subscriber {
    options: SubscriberOptions,
    address: IpAddr,
    client: NameClient,
    /// The SUBSCRIBE under way.
    transaction: Option<u32>,
    renew_at: Instant,
    /// NDCs that are fetched (true) or wait.
    wanted: EidMap<Eid, bool>,
    waiting: VecDeque<Eid>,
    fetching: usize,
    announced: u64,
    declined: u64,
}

impl Subscriber {
    /// After a refusal, or when the server did not answer, the next attempt is this much later.
    const RETRY: Duration = Duration::from_secs(5);

    /// A subscriber at `address`; `draw` in [0, 1), as in all functions below.
    pub fn new(options: SubscriberOptions, address: IpAddr, draw: f64) -> Result<Self, String> {
        options.placement.validate()?;
        Ok(Subscriber {
            client: NameClient::new(options.client, draw),
            options,
            address,
            transaction: None,
            renew_at: Instant::MAX,
            wanted: EidMap::default(),
            waiting: VecDeque::new(),
            fetching: 0,
            announced: 0,
            declined: 0,
        })
    }

    /// Subscribes.
    pub fn start(&mut self, now: Instant, draw: f64) {
        let lifetime = self.options.lifetime.as_nanos() / 1_000_000;
        let locator = Locator {
            address: self.address,
            cost: 0,
            lifetime_ms: u32::try_from(lifetime).unwrap_or(u32::MAX),
        };
        self.transaction = Some(self.client.subscribe(now, locator, draw));
        self.renew_at = Instant::MAX;
    }

    /// A datagram came from the name server. `held` tells whether an NDC is here already.
    pub fn on_message(
        &mut self,
        now: Instant,
        bytes: &[u8],
        held: impl FnOnce(&Eid) -> bool,
        draw: f64,
    ) {
        if let Ok(Message {
            eid,
            body: Body::Announce(_),
            ..
        }) = Message::parse(bytes)
        {
            self.announced += 1;
            if held(&eid) || self.wanted.contains_key(&eid) {
                return;
            }
            if !self.options.placement.keeps(false, draw) {
                self.declined += 1;
                return;
            }
            if self.waiting.len() >= self.options.max_waiting
                && let Some(oldest) = self.waiting.pop_front()
            {
                self.wanted.remove(&oldest);
                self.declined += 1;
            }
            self.wanted.insert(eid, false);
            self.waiting.push_back(eid);
            return;
        }
        if let Some(ended) = self.client.on_message(now, bytes) {
            self.on_ended(now, ended.transaction, &ended.outcome);
        }
    }

    /// The time that [`Subscriber::next_timer`] told has come.
    pub fn on_timeout(&mut self, now: Instant, draw: f64) {
        while let Some(ended) = self.client.on_timeout(now, draw) {
            self.on_ended(now, ended.transaction, &ended.outcome);
        }
        if self.renew_at <= now {
            self.start(now, draw);
        }
    }

    /// The next NDC to fetch, which counts as fetched until [`Subscriber::on_fetched`].
    pub fn take_fetch(&mut self) -> Option<Eid> {
        if self.fetching >= self.options.max_fetches {
            return None;
        }
        let eid = self.waiting.pop_front()?;
        self.wanted.insert(eid, true);
        self.fetching += 1;
        Some(eid)
    }

    /// A fetch has ended, well or not.
    pub fn on_fetched(&mut self, eid: &Eid) {
        if self.wanted.remove(eid) == Some(true) {
            self.fetching -= 1;
        }
    }

    /// When [`Subscriber::on_timeout`] is due; [`Instant::MAX`] for never.
    pub fn next_timer(&self) -> Instant {
        self.renew_at.min(self.client.next_timer())
    }

    /// The datagrams to send to the name server.
    pub fn take_datagrams(&mut self) -> impl Iterator<Item = Vec<u8>> {
        self.client.take_sent()
    }

    /// Announcements that came.
    pub const fn announced(&self) -> u64 {
        self.announced
    }

    /// NDCs that were not fetched, because of the placement or because too many waited.
    pub const fn declined(&self) -> u64 {
        self.declined
    }

    fn on_ended(&mut self, now: Instant, transaction: u32, outcome: &Outcome) {
        if self.transaction != Some(transaction) {
            return;
        }
        self.transaction = None;
        let granted = match outcome {
            Outcome::Registered(locators) => locators.iter().find(|l| l.address == self.address),
            _ => None,
        };
        self.renew_at = match granted {
            // Half of it is left for repetitions.
            Some(l) => now + (l.lifetime() / 2).max(Duration::from_millis(1)),
            None => now + Subscriber::RETRY,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::NameServer;
    use super::super::placement::Placement;
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn announce(k: u8) -> (Eid, Vec<u8>) {
        let eid = Eid::of_name(&k.to_string());
        let mut bytes = Vec::new();
        let locator = Locator {
            address: [10, 0, 0, 9].into(),
            cost: 1,
            lifetime_ms: 1000,
        };
        Message {
            transaction: 0,
            eid,
            body: Body::Announce(vec![locator]),
        }
        .emit(&mut bytes);
        (eid, bytes)
    }

    fn subscriber(change: impl FnOnce(&mut SubscriberOptions)) -> Subscriber {
        let mut options = SubscriberOptions::default();
        options.client.jitter = 0.0;
        change(&mut options);
        Subscriber::new(options, [10, 0, 0, 4].into(), 0.5).unwrap()
    }

    #[test]
    fn subscriptions_are_renewed_and_tried_again() {
        let mut s = subscriber(|o| o.lifetime = Duration::from_secs(10));
        let mut server = NameServer::default();
        s.start(at(0), 0.0);
        for renewals in 1..5 {
            for bytes in s.take_datagrams().collect::<Vec<_>>() {
                let now = at(5000 * (renewals - 1));
                let reply = server
                    .on_message(now, [10, 0, 0, 4].into(), &bytes)
                    .to_vec();
                s.on_message(now, &reply, |_| false, 0.0);
            }
            assert_eq!(s.next_timer(), at(5000 * renewals));
            assert_eq!(server.stats().subscriptions, renewals);
            s.on_timeout(at(5000 * renewals), 0.0);
        }
        // Nobody answers: five tries, a pause, and on it goes.
        let (mut sent, mut last) = (0, at(0));
        while sent < 8 {
            let now = s.next_timer();
            assert!(now > last && now < at(100_000));
            last = now;
            s.on_timeout(now, 0.0);
            sent += s.take_datagrams().count();
        }
    }

    #[test]
    fn one_fetch_after_the_other_and_nothing_twice() {
        let mut s = subscriber(|o| o.max_waiting = 2);
        let hear = |s: &mut Subscriber, k| {
            let (eid, bytes) = announce(k);
            s.on_message(at(0), &bytes, |e| *e == announce(9).0, 0.0);
            eid
        };
        let first = hear(&mut s, 1);
        hear(&mut s, 1);
        hear(&mut s, 9);
        assert_eq!(s.take_fetch(), Some(first));
        assert_eq!(s.take_fetch(), None);
        hear(&mut s, 1);
        // 2 makes room for 4.
        let [_, third, fourth] = [2, 3, 4].map(|k| hear(&mut s, k));
        assert_eq!(s.take_fetch(), None);
        s.on_fetched(&first);
        assert_eq!(s.take_fetch(), Some(third));
        s.on_fetched(&third);
        assert_eq!(s.take_fetch(), Some(fourth));
        assert_eq!((s.announced(), s.declined()), (7, 1));
    }

    #[test]
    fn the_placement_decides() {
        let placement = |placement| PlacementRule {
            placement,
            probability: 0.5,
        };
        for (rule, draw, fetched) in [
            (placement(Placement::Probabilistic), 0.4, true),
            (placement(Placement::Probabilistic), 0.6, false),
            (placement(Placement::LeaveCopyDown), 0.0, false),
        ] {
            let mut s = subscriber(|o| o.placement = rule);
            s.on_message(at(0), &announce(1).1, |_| false, draw);
            assert_eq!(s.take_fetch().is_some(), fetched);
            assert_eq!(s.declined(), u64::from(!fetched));
        }
    }
}
