//! NewReno's judgement, and the same without cuts.

use super::{Ack, Expiry, Kept, Policy, Reduction, Step, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nothing can be set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {}

/// Three duplicate ACKs are a loss by congestion (RFC 6582).
#[derive(Debug, Clone, Default)]
pub struct NewReno;

impl Policy for NewReno {
    fn on_ack(&mut self, ack: &Ack) -> Step {
        let retransmit = ack.calls();
        Step {
            retransmit,
            verdict: retransmit.then_some(Verdict::Congestion),
            ..Step::default()
        }
    }

    fn duplicate(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

/// Three duplicate ACKs are a loss, and the window stays: what a sender that never cuts for them
/// would reach, to hold other policies against.
#[derive(Debug, Clone, Default)]
pub struct NoCut {
    kept: Option<Kept>,
}

impl Policy for NoCut {
    fn on_ack(&mut self, ack: &Ack) -> Step {
        if ack.calls() {
            self.kept = Some(Kept::new(ack));
            return Step {
                retransmit: true,
                reduction: Reduction::Keep,
                verdict: Some(Verdict::RandomLoss),
                ..Step::default()
            };
        }
        Step {
            exit: Kept::end(&mut self.kept, ack),
            ..Step::default()
        }
    }

    fn on_timeout(&mut self, _: &Ack) -> Expiry {
        self.kept = None;
        Expiry::default()
    }

    fn duplicate(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}
