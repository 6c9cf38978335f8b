//! Where receivers get NDCs from.

use crate::scenario::quantity::{Fraction, TimeText};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name resolution, and when a receiver leaves a replica.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Names {
    /// `server`: receivers ask a name server at IR1 (R1 of the line), where replicas register; `table`: they know
    /// what is registered without a packet; `address`: they are configured with the addresses.
    pub mode: String,
    /// Who binds an NDC's name to an address: `receiver`: receivers themselves; `edge`: they send
    /// their REQs to their edge router, which resolves the name and changes only the destination
    /// address; `path`: so may every further ICN router on the way.
    pub binding: String,
    /// Propagation delay, one way, of the name server's link.
    pub delay: TimeText,
    /// The name server's service time per request; requests are served one after the other.
    pub processing: TimeText,
    /// Time until a request to the name server is repeated for the first time; doubles each time.
    /// Holds for probes of replicas (`replica_choice: lowest-rtt`), too.
    pub timeout: TimeText,
    /// How often a request to the name server is sent until it has failed.
    pub tries: u32,
    /// Loss probability per packet on the name server's link, each way.
    pub loss: Fraction,
    /// Expiries of the retransmission timer in a row after which a receiver leaves its replica.
    pub switch_after_timeouts: u32,
    /// Fraction of the best goodput below which, for 2 s, a receiver leaves its replica. Default:
    /// never.
    pub switch_below: Option<Fraction>,
    /// Time without a new byte after which a transfer has failed.
    pub give_up: TimeText,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            mode: "server".to_owned(),
            binding: "receiver".to_owned(),
            delay: TimeText(Duration::from_millis(1)),
            processing: TimeText(Duration::ZERO),
            timeout: TimeText(Duration::from_secs(1)),
            tries: 5,
            loss: Fraction(0.0),
            switch_after_timeouts: 3,
            switch_below: None,
            give_up: TimeText(Duration::from_secs(60)),
        }
    }
}

/// A replica node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Replica {
    /// Its name, unique.
    pub name: String,
    /// Propagation delay, one way, that its link has beyond the share of the path's.
    pub extra_delay: TimeText,
    /// Whether it registers its NDCs. One that does not is found by forced switches only.
    pub registered: bool,
    /// Names of the flows whose NDCs it holds. It registers the others', too: a replica that
    /// promises too much. Default: all flows.
    pub holds: Option<Vec<String>>,
}

impl Default for Replica {
    fn default() -> Replica {
        Replica {
            name: String::new(),
            extra_delay: TimeText(Duration::ZERO),
            registered: true,
            holds: None,
        }
    }
}

/// A forced change of a flow's replica.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// When.
    pub at: TimeText,
    /// Name of the replica. Default: the next one of the flow's list.
    #[serde(default)]
    pub to: Option<String>,
}
