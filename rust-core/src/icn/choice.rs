//! Which of several replicas to ask.

use super::message::Locator;
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a receiver chooses among the replicas that the name server lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "kebab-case")]
pub enum ReplicaChoice {
    /// The first of the list.
    #[default]
    Listed,
    /// The one that registered the lowest cost.
    Nearest,
    /// The one whose answer to a REQ for nothing comes first.
    LowestRtt,
    /// Any, with equal chances.
    Random,
}

/// A replica that may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Where it is.
    pub locator: Locator,
    /// Whether it has failed since the list came.
    pub failed: bool,
    /// How long its answer to a probe took.
    pub rtt: Option<Duration>,
}

impl ReplicaChoice {
    /// The strategy of this name, as in scenarios.
    pub fn from_name(name: &str) -> Result<ReplicaChoice, String> {
        match name {
            "listed" => Ok(ReplicaChoice::Listed),
            "nearest" => Ok(ReplicaChoice::Nearest),
            "lowest-rtt" => Ok(ReplicaChoice::LowestRtt),
            "random" => Ok(ReplicaChoice::Random),
            _ => Err(format!(
                "replica choice: unknown {name:?} (accepted: listed, nearest, lowest-rtt, random)"
            )),
        }
    }

    /// The index of the chosen one of `candidates` that have not failed, `except` that one; none if
    /// there is none. The earlier of equals is chosen. `draw` is in [0, 1).
    pub fn choose(
        self,
        candidates: &[Candidate],
        except: Option<usize>,
        draw: f64,
    ) -> Option<usize> {
        let left = || (0..candidates.len()).filter(|&i| !candidates[i].failed && Some(i) != except);
        match self {
            ReplicaChoice::Listed => left().next(),
            ReplicaChoice::Nearest => left().min_by_key(|&i| candidates[i].locator.cost),
            ReplicaChoice::LowestRtt => {
                left().min_by_key(|&i| candidates[i].rtt.unwrap_or(Duration::MAX))
            }
            ReplicaChoice::Random => {
                let n = left().count();
                let at = (draw * n as f64) as usize;
                left().nth(at.min(n.saturating_sub(1)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(cost: u16, rtt_ms: Option<u64>) -> Candidate {
        Candidate {
            locator: Locator {
                address: [10, 0, 0, 1].into(),
                cost,
                lifetime_ms: 1,
            },
            failed: false,
            rtt: rtt_ms.map(Duration::from_millis),
        }
    }

    #[test]
    fn each_strategy_has_its_order() {
        let mut list = [
            candidate(9, Some(30)),
            candidate(3, None),
            candidate(3, Some(10)),
            candidate(5, Some(20)),
        ];
        let choose = |list: &[Candidate], c: ReplicaChoice, except| c.choose(list, except, 0.0);
        assert_eq!(choose(&list, ReplicaChoice::Listed, None), Some(0));
        assert_eq!(choose(&list, ReplicaChoice::Nearest, None), Some(1));
        assert_eq!(choose(&list, ReplicaChoice::Nearest, Some(1)), Some(2));
        assert_eq!(choose(&list, ReplicaChoice::LowestRtt, None), Some(2));
        list[0].failed = true;
        list[2].failed = true;
        assert_eq!(choose(&list, ReplicaChoice::Listed, None), Some(1));
        assert_eq!(choose(&list, ReplicaChoice::LowestRtt, None), Some(3));
        // Who has not answered comes last, but comes.
        assert_eq!(choose(&list, ReplicaChoice::LowestRtt, Some(3)), Some(1));
        list.iter_mut().for_each(|c| c.failed = true);
        for c in [
            ReplicaChoice::Listed,
            ReplicaChoice::Nearest,
            ReplicaChoice::LowestRtt,
            ReplicaChoice::Random,
        ] {
            assert_eq!(choose(&list, c, None), None);
        }
    }

    #[test]
    fn random_draws_reach_all_that_are_left_evenly() {
        let mut list = [candidate(0, None); 5];
        list[1].failed = true;
        let mut hits = [0; 5];
        for i in 0..300 {
            let draw = f64::from(i) / 300.0;
            hits[ReplicaChoice::Random.choose(&list, Some(4), draw).unwrap()] += 1;
        }
        assert_eq!(hits, [100, 0, 100, 100, 0]);
        assert!(ReplicaChoice::Random.choose(&list, None, 1.0).is_some());
    }
}
