//! The hosts of a scenario's network, and which flows use them.

use super::model::{Clock, Scenario};
use super::registry;
use crate::units::Duration;

/// A host that fetches NDCs.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiverNode {
    /// Its name in the figures: RE1, RE2, ...; C1, C2, ... in the line.
    pub name: String,
    /// Number of its router, as in [`registry::routers`].
    pub router: usize,
    /// Propagation delay that its link has beyond the share of the path's.
    pub extra_delay: Duration,
    /// Its clock.
    pub clock: Clock,
    /// The index of the first flow that uses it, if there is one.
    pub first_flow: Option<usize>,
}

/// A host that holds NDCs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicaNode {
    /// Its name in the figures.
    pub name: String,
    /// Number of its router, as in [`registry::routers`].
    pub router: usize,
    /// Propagation delay that its link has beyond the share of the path's.
    pub extra_delay: Duration,
    /// Whether it registers its NDCs.
    pub registered: bool,
}

/// The hosts of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Nodes {
    /// The receivers: those at the first router, then those at the last.
    pub receivers: Vec<ReceiverNode>,
    /// The replica nodes.
    pub replicas: Vec<ReplicaNode>,
    /// By flow: the index of its receiver.
    pub receiver_of: Vec<usize>,
    /// By flow: the indices of its replica nodes, and whether they hold its NDC.
    pub replicas_of: Vec<Vec<(usize, bool)>>,
}

impl Nodes {
    /// The hosts of `s`, whose topology and flows are filled in. What flows on one node disagree
    /// about is as the first of them says.
    pub fn new(s: &Scenario) -> Nodes {
        let both_ways = s.topology.kind == "topo-2";
        let prefix = receiver_prefix(&s.topology.kind);
        let (first, last) = (0, registry::routers(&s.topology.kind).len() - 1);
        let most = s.topology.receivers.unwrap_or(1).max(1) as usize;
        let is_left = |i: usize| s.flows[i].direction != "opposite";
        let lefts = (0..s.flows.len()).filter(|&i| is_left(i)).count();
        // In topo-2, nodes that nobody uses would only be a riddle in the figure.
        let left = if both_ways { most.min(lefts) } else { most };
        let right = most.min(s.flows.len() - lefts);
        let mut receivers: Vec<ReceiverNode> = (0..left + right)
            .map(|i| ReceiverNode {
                name: format!("{prefix}{}", i + 1),
                router: if i < left { first } else { last },
                extra_delay: Duration::ZERO,
                clock: s.clock,
                first_flow: None,
            })
            .collect();
        let (mut on_left, mut on_right) = (0, 0);
        let mut receiver_of = Vec::with_capacity(s.flows.len());
        for (i, flow) in s.flows.iter().enumerate() {
            let (start, nodes, before) = if is_left(i) {
                (0, left, &mut on_left)
            } else {
                (left, right, &mut on_right)
            };
            let index = start + *before % nodes;
            *before += 1;
            let node = &mut receivers[index];
            if node.first_flow.is_none() {
                node.first_flow = Some(i);
                node.extra_delay = flow.extra_delay.0;
                node.clock = flow.clock.or(&s.clock);
            }
            receiver_of.push(index);
        }
        let replica = |name: &str, router| ReplicaNode {
            name: name.to_owned(),
            router,
            extra_delay: Duration::ZERO,
            registered: true,
        };
        let replicas = if both_ways {
            vec![replica("RN1", first), replica("RN2", last)]
        } else if let Some(list) = &s.replicas {
            list.iter()
                .map(|r| ReplicaNode {
                    extra_delay: r.extra_delay.0,
                    registered: r.registered,
                    ..replica(&r.name, last)
                })
                .collect()
        } else {
            vec![replica(replica_name(&s.topology.kind), last)]
        };
        let holds = |replica: usize, flow: usize| {
            let list = s
                .replicas
                .as_ref()
                .and_then(|l| l.get(replica)?.holds.as_ref());
            match (list, &s.flows[flow].name) {
                (Some(list), Some(name)) => list.contains(name),
                _ => true,
            }
        };
        let replicas_of = (0..s.flows.len())
            .map(|i| {
                if both_ways {
                    vec![(usize::from(is_left(i)), true)]
                } else {
                    (0..replicas.len()).map(|r| (r, holds(r, i))).collect()
                }
            })
            .collect();
        Nodes {
            receivers,
            replicas,
            receiver_of,
            replicas_of,
        }
    }
}

/// What the names of receiver nodes begin with.
fn receiver_prefix(topology: &str) -> &'static str {
    match topology {
        "line" => "C",
        _ => "RE",
    }
}

/// The name of the only replica node.
pub(super) fn replica_name(topology: &str) -> &'static str {
    match topology {
        "line" => "S",
        _ => "RN",
    }
}
