//! A small path model that turns arbitrary operations into consistent controller events: packet
//! numbers grow, outstanding bytes are conserved, what is lost was outstanding.

use ferrocc::cc::registry::Entry;
use ferrocc::cc::{
    Allowance, Controller, Data, Loss, LossCause, LostUnit, RateSample, Restart, RestartCause,
    Sent, Setup, SpuriousLoss, Timeout,
};
use ferrocc::units::{Bytes, Duration, Instant, OneWay, Rate};
use proptest::prelude::*;

/// Most packets that an operation requests at once.
const BURST: u64 = 64;

/// Something that may happen. Indices are taken modulo what is there.
#[derive(Debug, Clone, Copy)]
pub enum Op {
    /// Requests leave, as far as the window allows (at least one).
    Send { packets: u8, app_limited: bool },
    /// An outstanding unit arrives.
    Data {
        index: u16,
        sample: bool,
        marked: bool,
        app_limited: bool,
    },
    /// A window leaves, a round trip with some queueing passes, its DATA arrives in order.
    Round { rtt_us: u32, app_limited: bool },
    /// The oldest outstanding units are declared lost.
    Loss { units: u8 },
    /// The timer expires for the oldest outstanding units.
    Timeout { units: u8 },
    /// A unit that had been declared lost arrives.
    Spurious { index: u16 },
    /// The path changes.
    Restart { replica: bool },
    /// Time passes.
    Wait { ns: u64 },
}

/// Any operation; waits reach from nanoseconds over a minute to a century.
pub fn any_op() -> impl Strategy<Value = Op> {
    let wait = prop_oneof![
        6 => 0u64..1_000_000,
        6 => 0u64..100_000_000,
        1 => Just(60_000_000_000u64),
        1 => 0u64..3_000_000_000_000_000_000,
    ];
    prop_oneof![
        6 => (any::<u8>(), any::<bool>())
            .prop_map(|(packets, app_limited)| Op::Send { packets, app_limited }),
        12 => (any::<u16>(), prop::bool::weighted(0.8), prop::bool::weighted(0.1),
               prop::bool::weighted(0.2))
            .prop_map(|(index, sample, marked, app_limited)|
                Op::Data { index, sample, marked, app_limited }),
        6 => (0u32..500_000, prop::bool::weighted(0.1))
            .prop_map(|(rtt_us, app_limited)| Op::Round { rtt_us, app_limited }),
        3 => (1u8..20).prop_map(|units| Op::Loss { units }),
        1 => (1u8..20).prop_map(|units| Op::Timeout { units }),
        1 => any::<u16>().prop_map(|index| Op::Spurious { index }),
        1 => any::<bool>().prop_map(|replica| Op::Restart { replica }),
        4 => wait.prop_map(|ns| Op::Wait { ns }),
    ]
}

/// Where the model's counters and clocks start. A controller must not care.
#[derive(Debug, Clone, Copy, Default)]
pub struct Origin {
    pub now: Instant,
    pub pn: u64,
    pub delivered: Bytes,
    /// The replica's clock minus the receiver's, ns.
    pub clock_offset_ns: i64,
}

#[derive(Debug, Clone, Copy)]
struct Unit {
    lost: LostUnit,
    probe: bool,
    app_limited: bool,
    delivered_before: Bytes,
    delivered_at: Instant,
}

/// The model with the controller under test.
#[derive(Debug)]
pub struct Model {
    pub controller: Box<dyn Controller>,
    pub setup: Setup,
    pub now: Instant,
    pub next_pn: u64,
    origin: Origin,
    outstanding: Vec<Unit>,
    declared_lost: Vec<LostUnit>,
    delivered: Bytes,
    delivered_at: Instant,
    round_ends: Bytes,
    srtt: Option<Duration>,
}

/// What an operation did, for the checks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    Nothing,
    Grew,
    /// Loss or mark of requests up to `largest_pn`.
    Congestion {
        largest_pn: u64,
    },
    Timeout {
        largest_pn: u64,
    },
    /// A loss turned out to be none.
    Spurious,
    Restart,
}

impl Model {
    pub fn new(entry: &Entry, setup: Setup, origin: Origin) -> Model {
        let controller = (entry.build)(&setup, &(entry.defaults)()).expect("defaults are valid");
        Model {
            controller,
            setup,
            now: origin.now,
            next_pn: origin.pn,
            origin,
            outstanding: Vec::new(),
            declared_lost: Vec::new(),
            delivered: origin.delivered,
            delivered_at: origin.now,
            round_ends: origin.delivered,
            srtt: None,
        }
    }

    /// The same moment of the same path with a copy of the controller.
    pub fn fork(&self) -> Model {
        Model {
            controller: self.controller.boxed_clone(),
            outstanding: self.outstanding.clone(),
            declared_lost: self.declared_lost.clone(),
            ..*self
        }
    }

    pub fn allowance(&self) -> Allowance {
        self.controller.allowance()
    }

    fn in_flight(&self) -> Bytes {
        self.outstanding.iter().map(|u| u.lost.bytes).sum()
    }

    /// Does `op` and reports each event's effect to `check`, with the model after the event.
    pub fn apply(&mut self, op: Op, check: &mut dyn FnMut(&Model, Effect)) {
        match op {
            Op::Send {
                packets,
                app_limited,
            } => {
                self.send(u64::from(packets), app_limited);
                check(self, Effect::Nothing);
            }
            Op::Data {
                index,
                sample,
                marked,
                app_limited,
            } => {
                if !self.outstanding.is_empty() {
                    let index = usize::from(index) % self.outstanding.len();
                    let effect = self.data(index, sample, marked, app_limited);
                    check(self, effect);
                }
            }
            Op::Round {
                rtt_us,
                app_limited,
            } => {
                self.send(BURST, app_limited);
                let n = self.outstanding.len();
                let step = Duration::from_micros(u64::from(rtt_us)) / n as u64;
                for k in 0..n {
                    self.now += step;
                    let effect = self.data(0, k % 2 == 0, false, app_limited);
                    check(self, effect);
                }
            }
            Op::Loss { units } => {
                if let Some(units) = self.take_oldest(units) {
                    let largest_pn = units[units.len() - 1].pn;
                    self.controller.on_loss(&Loss {
                        now: self.now,
                        cause: LossCause::LaterData,
                        units: &units,
                        next_pn: self.next_pn,
                        in_flight: self.in_flight(),
                        newly_delivered: self.setup.mss,
                    });
                    check(self, Effect::Congestion { largest_pn });
                }
            }
            Op::Timeout { units } => {
                if let Some(units) = self.take_oldest(units) {
                    let largest_pn = units[units.len() - 1].pn;
                    self.controller.on_timeout(&Timeout {
                        now: self.now,
                        units: &units,
                        next_pn: self.next_pn,
                        in_flight: self.in_flight(),
                    });
                    check(self, Effect::Timeout { largest_pn });
                }
            }
            Op::Spurious { index } => {
                if !self.declared_lost.is_empty() {
                    let index = usize::from(index) % self.declared_lost.len();
                    let unit = self.declared_lost.remove(index);
                    let spurious = SpuriousLoss {
                        now: self.now,
                        pn: unit.pn,
                        bytes: unit.bytes,
                    };
                    self.controller.on_spurious_loss(&spurious);
                    check(self, Effect::Spurious);
                }
            }
            Op::Restart { replica } => {
                let cause = if replica {
                    RestartCause::ReplicaChanged
                } else {
                    RestartCause::PathChanged
                };
                self.srtt = None;
                self.controller.on_restart(&Restart {
                    now: self.now,
                    cause,
                    next_pn: self.next_pn,
                });
                check(self, Effect::Restart);
            }
            Op::Wait { ns } => self.now += Duration::from_nanos(ns),
        }
    }

    fn send(&mut self, packets: u64, app_limited: bool) {
        let window = self.allowance().window.get() / self.setup.mss.get();
        let room = window.saturating_sub(self.outstanding.len() as u64);
        for _ in 0..packets.min(room).clamp(1, BURST) {
            let prior_in_flight = self.in_flight();
            if prior_in_flight.is_zero() {
                self.delivered_at = self.now;
            }
            let unit = Unit {
                lost: LostUnit {
                    pn: self.next_pn,
                    bytes: self.setup.mss,
                    sent_at: self.now,
                },
                probe: self.controller.wants_probe(self.now),
                app_limited,
                delivered_before: self.delivered,
                delivered_at: self.delivered_at,
            };
            self.next_pn += 1;
            self.controller.on_sent(&Sent {
                now: self.now,
                pn: unit.lost.pn,
                bytes: unit.lost.bytes,
                prior_in_flight,
                app_limited,
                probe: unit.probe,
            });
            self.outstanding.push(unit);
        }
    }

    fn data(&mut self, index: usize, sample: bool, marked: bool, app_limited: bool) -> Effect {
        let prior_in_flight = self.in_flight();
        let unit = self.outstanding.remove(index);
        let LostUnit { pn, bytes, sent_at } = unit.lost;
        self.delivered += bytes;
        let interval = self.now - unit.delivered_at;
        self.delivered_at = self.now;
        let rtt = sample.then(|| self.now - sent_at);
        if let Some(rtt) = rtt {
            self.srtt = Some(self.srtt.map_or(rtt, |s| (s * 7 + rtt) / 8));
        }
        let round_start = unit.delivered_before >= self.round_ends;
        if round_start {
            self.round_ends = self.delivered;
        }
        let rate = (self.delivered - unit.delivered_before) / interval;
        // Half of the round trip each way; the clocks differ by a constant.
        let one_way = (self.now - sent_at).as_nanos() / 2;
        self.controller.on_data(&Data {
            now: self.now,
            pn,
            next_pn: self.next_pn,
            bytes,
            rtt,
            srtt: self.srtt,
            one_way: sample.then(|| {
                OneWay::from_nanos((one_way as i64).wrapping_sub(self.origin.clock_offset_ns))
            }),
            probe: unit.probe,
            marked,
            prior_in_flight,
            in_flight: self.in_flight(),
            delivered: self.delivered,
            rate: (rate > Rate::ZERO).then_some(RateSample {
                rate,
                prior_delivered: unit.delivered_before,
                app_limited: unit.app_limited,
            }),
            round_start,
            app_limited,
        });
        if marked {
            Effect::Congestion { largest_pn: pn }
        } else {
            Effect::Grew
        }
    }

    fn take_oldest(&mut self, units: u8) -> Option<Vec<LostUnit>> {
        let n = usize::from(units).min(self.outstanding.len());
        let units: Vec<LostUnit> = self.outstanding.drain(..n).map(|u| u.lost).collect();
        self.declared_lost.extend(&units);
        (!units.is_empty()).then_some(units)
    }
}
