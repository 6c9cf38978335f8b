//! Whether a router keeps a copy of an NDC that passes by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where copies are left on the way from a source to a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Default)]
pub enum Placement {
    /// In every router.
    #[default]
    #[serde(rename = "lce")]
    LeaveCopyEverywhere,
    /// In the first router after the source only: each request brings an NDC one router nearer.
    #[serde(rename = "lcd")]
    LeaveCopyDown,
    /// In each router with the same probability.
    #[serde(rename = "probabilistic")]
    Probabilistic,
}

impl Placement {
    /// All of them.
    pub const ALL: [Placement; 3] = [
        Placement::LeaveCopyEverywhere,
        Placement::LeaveCopyDown,
        Placement::Probabilistic,
    ];

    /// Its name in scenarios.
    pub const fn as_str(self) -> &'static str {
        match self {
            Placement::LeaveCopyEverywhere => "lce",
            Placement::LeaveCopyDown => "lcd",
            Placement::Probabilistic => "probabilistic",
        }
    }

    /// The placement of this name.
    pub fn from_name(name: &str) -> Result<Placement, String> {
        let all = Placement::ALL;
        all.into_iter().find(|p| p.as_str() == name).ok_or_else(|| {
            format!("placement: unknown {name:?} (accepted: lce, lcd, probabilistic)")
        })
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A placement with its parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacementRule {
    /// The placement.
    pub placement: Placement,
    /// Probability of a copy, 0 to 1; of [`Placement::Probabilistic`] only.
    pub probability: f64,
}

impl Default for PlacementRule {
    fn default() -> PlacementRule {
        PlacementRule {
            placement: Placement::default(),
            probability: 0.5,
        }
    }
}

impl PlacementRule {
    /// What is wrong with it, if anything.
    pub fn validate(&self) -> Result<(), String> {
        if (0.0..=1.0).contains(&self.probability) {
            Ok(())
        } else {
            Err(format!(
                "placement_probability: {} is not in 0..1",
                self.probability
            ))
        }
    }

    /// Whether to keep a copy; `first` says whether this router is the first one after the source.
    /// `draw` is in [0, 1).
    pub fn keeps(&self, first: bool, draw: f64) -> bool {
        match self.placement {
            Placement::LeaveCopyEverywhere => true,
            Placement::LeaveCopyDown => first,
            Placement::Probabilistic => draw < self.probability,
        }
    }

    /// Whether [`PlacementRule::keeps`] looks at the draw.
    pub fn is_random(&self) -> bool {
        self.placement == Placement::Probabilistic
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_placement_looks_at_its_own_argument() {
        let rule = |placement| PlacementRule {
            placement,
            probability: 0.25,
        };
        for first in [false, true] {
            for draw in [0.0, 0.25, 0.99] {
                assert!(rule(Placement::LeaveCopyEverywhere).keeps(first, draw));
                assert_eq!(rule(Placement::LeaveCopyDown).keeps(first, draw), first);
                let kept = rule(Placement::Probabilistic).keeps(first, draw);
                assert_eq!(kept, draw == 0.0);
            }
        }
    }

    #[test]
    fn names_and_ranges() {
        for placement in Placement::ALL {
            assert_eq!(Placement::from_name(placement.as_str()), Ok(placement));
            let json = serde_json::to_string(&placement).unwrap();
            assert_eq!(json, format!("\"{placement}\""));
        }
        assert!(Placement::from_name("LCE").unwrap_err().contains("lcd"));
        for (probability, good) in [(0.0, true), (1.0, true), (1.1, false), (f64::NAN, false)] {
            let rule = PlacementRule {
                placement: Placement::Probabilistic,
                probability,
            };
            assert_eq!(rule.validate().is_ok(), good);
        }
    }
}
