//! The one list of AQMs.

use super::{Aqm, Limit, Setup, codel, drop_tail, ecd, red};
use crate::cc::registry::{defaults, parse, schema};
use crate::units::{Duration, Rate};
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

/// Makes an AQM; the error says which parameter is wrong.
pub type Build = fn(&Setup, &Value) -> Result<Box<dyn Aqm>, String>;

/// An AQM as users see it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name in scenarios and on the command line.
    pub name: &'static str,
    /// Other names that are accepted.
    pub aliases: &'static [&'static str],
    /// The middle of its ns-3 type's name: `CoDel` of `ns3::FerroccCoDelQueueDisc`.
    pub type_name: &'static str,
    /// One line: what it is.
    pub summary: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// All parameters with their default values, a JSON object.
    pub defaults: fn() -> Value,
    /// The JSON Schema of the parameters.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Checks each parameter of a JSON object by itself, not how they go together.
    pub check: fn(&Value) -> Result<(), String>,
    /// Makes one from a JSON object of parameters (those left out have their defaults).
    pub build: Build,
}

/// All AQMs, by name.
pub const AQMS: &[Entry] = &[
    Entry {
        name: "codel",
        aliases: &[],
        type_name: "CoDel",
        summary: "drops at dequeue while the sojourn time stays above a target",
        reference: "RFC 8289",
        defaults: defaults::<codel::Config>,
        schema: schema::<codel::Config>,
        check: |params| parse::<codel::Config>(params)?.check(),
        build: |setup, params| boxed(codel::CoDel::new(setup, &parse(params)?)),
    },
    Entry {
        name: "drop-tail",
        aliases: &["droptail", "fifo"],
        type_name: "DropTail",
        summary: "drops what finds the queue full",
        reference: "-",
        defaults: defaults::<drop_tail::Config>,
        schema: schema::<drop_tail::Config>,
        check: |params| parse::<drop_tail::Config>(params)?.check(),
        build: |setup, params| boxed(drop_tail::DropTail::new(setup, &parse(params)?)),
    },
    Entry {
        name: "ecd",
        aliases: &["improved-codel"],
        type_name: "Ecd",
        summary: "CoDel that marks ICN DATA by its sojourn time before it drops",
        reference: "early congestion detection in ICN, improved CoDel; RFC 8289",
        defaults: defaults::<ecd::Config>,
        schema: schema::<ecd::Config>,
        check: |params| parse::<ecd::Config>(params)?.check(),
        build: |setup, params| boxed(ecd::Ecd::new(setup, &parse(params)?)),
    },
    Entry {
        name: "red",
        aliases: &[],
        type_name: "Red",
        summary: "drops or marks arrivals by chance, by the average queue length",
        reference: "Floyd and Jacobson, Random Early Detection, 1993; Floyd et al., Adaptive RED, \
                    2001",
        defaults: defaults::<red::Config>,
        schema: schema::<red::Config>,
        check: |params| parse::<red::Config>(params)?.check(),
        build: |setup, params| boxed(red::Red::new(setup, &parse(params)?)),
    },
];

/// The entry called `name` (or by an alias), or none.
pub fn find(name: &str) -> Option<&'static Entry> {
    AQMS.iter()
        .find(|e| e.name == name || e.aliases.contains(&name))
}

/// Makes the AQM called `name`; the error names what is accepted.
pub fn build(name: &str, setup: &Setup, params: &Value) -> Result<Box<dyn Aqm>, String> {
    let entry = find(name).ok_or_else(|| {
        let known = AQMS.iter().map(|e| e.name).collect::<Vec<_>>().join(", ");
        format!("unknown AQM '{name}' (accepted: {known})")
    })?;
    (entry.build)(setup, params).map_err(|e| format!("AQM {}: {e}", entry.name))
}

impl Entry {
    /// The names of its state variables, in the order of [`Aqm::visit_state`].
    pub fn state_names(&self) -> Vec<&'static str> {
        // They do not depend on its place.
        let anywhere = Setup {
            limit: Limit::Packets(1),
            link_rate: Rate::from_bps(1),
            link_delay: Duration::ZERO,
        };
        let mut names = Vec::new();
        if let Ok(aqm) = (self.build)(&anywhere, &(self.defaults)()) {
            aqm.visit_state(&mut |name, _| names.push(name));
        }
        names
    }
}

fn boxed<A: Aqm + 'static>(made: Result<A, String>) -> Result<Box<dyn Aqm>, String> {
    made.map(|a| Box::new(a) as Box<dyn Aqm>)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SETUP, run_random};
    use super::*;
    use crate::aqm::Verdict;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn names_are_sorted_unique_and_build_with_their_defaults() {
        assert!(AQMS.is_sorted_by(|a, b| a.name < b.name));
        for entry in AQMS {
            for alias in entry.aliases {
                assert_eq!(find(alias).map(|e| e.name), Some(entry.name));
            }
            let made = build(entry.name, &SETUP, &(entry.defaults)());
            assert!(made.is_ok(), "{}: {made:?}", entry.name);
        }
    }

    #[test]
    fn errors_are_one_line_with_field_value_and_what_is_accepted() {
        let error = |name, params| build(name, &SETUP, &params).expect_err("must be refused");
        assert_eq!(
            error("pie", json!({})),
            "unknown AQM 'pie' (accepted: codel, drop-tail, ecd, red)"
        );
        assert!(error("codel", json!({"target": 5})).contains("unknown field `target`"));
        assert_eq!(
            error("codel", json!({"target_ms": 0})),
            "AQM codel: target_ms: 0 is not in 0.001..10000"
        );
        assert_eq!(
            error("codel", json!({"interval_ms": 0.001, "arithmetic": "ns3"})),
            "AQM codel: interval_ms: 0.001 is not in 0.001024..100000"
        );
        assert_eq!(
            error("ecd", json!({"p_max": 1.5})),
            "AQM ecd: p_max: 1.5 is not in 0..1"
        );
        assert_eq!(
            error("red", json!({"min_threshold": 20})),
            "AQM red: min_threshold: 20 is above max_threshold 15"
        );
    }

    #[test]
    fn a_queue_or_link_of_nothing_is_refused_by_every_aqm() {
        use crate::aqm::Limit;
        use crate::units::Rate;
        for entry in AQMS {
            for setup in [
                Setup {
                    limit: Limit::Packets(0),
                    ..SETUP
                },
                Setup {
                    link_rate: Rate::ZERO,
                    ..SETUP
                },
            ] {
                assert!(build(entry.name, &setup, &json!({})).is_err());
            }
        }
    }

    #[test]
    fn no_decision_allocates() {
        for entry in AQMS {
            let mut disc = super::super::testing::Disc::new(
                build(entry.name, &SETUP, &json!({})).expect("builds"),
                SETUP.limit,
            );
            disc.reserve(100_000);
            // 12 Mbps into 10 Mbps: every algorithm is at work.
            let run = |disc: &mut super::super::testing::Disc| {
                for n in 0..20_000u64 {
                    disc.arrive(1_000_000, 1500, n % 2 == 0, n % 3 == 0);
                    if n % 6 != 0 {
                        disc.serve();
                    }
                }
            };
            let counted = allocation_counter::measure(|| run(&mut disc));
            assert_eq!(counted.count_total, 0, "{}", entry.name);
            assert!(
                disc.events
                    .iter()
                    .any(|e| matches!(e.verdict, Verdict::Drop(_))),
                "{}: nothing was dropped",
                entry.name
            );
        }
    }

    proptest! {
        #[test]
        fn no_aqm_lets_a_queue_grow_above_its_limit(
            seed in any::<u64>(), index in 0..AQMS.len(), in_bytes in any::<bool>(),
        ) {
            use crate::{aqm::Limit, units::Bytes};
            let limit =
                if in_bytes { Limit::Bytes(Bytes::new(30_000)) } else { Limit::Packets(20) };
            let setup = Setup { limit, ..SETUP };
            let aqm = build(AQMS[index].name, &setup, &json!({})).expect("builds");
            let disc = run_random(aqm, limit, seed, 2_000);
            prop_assert!(disc.longest <= limit.get());
            prop_assert!(disc.longest > 0);
        }

        #[test]
        fn the_same_arrivals_and_draws_give_the_same_decisions(
            seed in any::<u64>(), index in 0..AQMS.len(),
        ) {
            let run = || {
                let aqm = build(AQMS[index].name, &SETUP, &json!({})).expect("builds");
                run_random(aqm, SETUP.limit, seed, 1_000).events
            };
            prop_assert_eq!(run(), run());
        }
    }
}
