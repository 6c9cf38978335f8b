//! Verdicts of a given accuracy: what is known of a segment, turned round at random (the NCE paper,
//! "Impact of accuracy on throughput").

use super::{Ack, Needs, Verdict};
use crate::cc::range::check;

/// Whether a policy judges by itself, or is told the truth and errs with a given probability.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Flip(Option<f64>);

impl Flip {
    /// Of the parameter `verdict_flip`.
    pub(super) fn new(probability: Option<f64>) -> Result<Flip, String> {
        if let Some(p) = probability {
            check("verdict_flip", p, 0.0..=1.0)?;
        }
        Ok(Flip(probability))
    }

    /// What a policy with it needs.
    pub(super) const fn needs(self) -> Needs {
        Needs {
            notes: false,
            truth: self.0.is_some(),
            parks_timer: false,
        }
    }

    /// Whether the loss that `ack` calls for is one by congestion: `own` is the policy's own opinion,
    /// which also holds where the truth is not known.
    pub(super) fn congested(self, ack: &Ack, own: bool) -> bool {
        match (self.0, ack.truth) {
            (Some(probability), Some(truth)) => {
                (truth == Verdict::Congestion) != (ack.draw < probability)
            }
            _ => own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_tcp::duplicate;
    use super::*;

    #[test]
    fn the_truth_is_turned_round_with_the_given_probability() {
        let flip = Flip::new(Some(0.25)).unwrap();
        let with = |truth, draw| Ack {
            truth,
            draw,
            ..duplicate(3)
        };
        for own in [false, true] {
            assert!(flip.congested(&with(Some(Verdict::Congestion), 0.25), own));
            assert!(!flip.congested(&with(Some(Verdict::Congestion), 0.24), own));
            assert!(!flip.congested(&with(Some(Verdict::RandomLoss), 0.25), own));
            assert!(flip.congested(&with(Some(Verdict::Reordering), 0.24), own));
            assert_eq!(flip.congested(&with(None, 0.1), own), own);
            assert_eq!(
                Flip::default().congested(&with(Some(Verdict::Congestion), 0.9), own),
                own
            );
        }
        assert!(flip.needs().truth && !Flip::default().needs().truth);
        assert_eq!(
            Flip::new(Some(1.5)).unwrap_err(),
            "verdict_flip: 1.5 is not in 0..1"
        );
    }
}
