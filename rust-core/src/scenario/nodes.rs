//! The hosts of a scenario's network, and which flows use them.

use super::model::{Clock, Scenario};
use crate::units::Duration;

/// A router that hosts are linked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// IR1: receivers of forward flows.
    Left,
    /// IR2: replica nodes of forward flows.
    Right,
}

/// A host that fetches NDCs.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiverNode {
    /// Its name in the figures: RE1, RE2, ...
    pub name: String,
    /// Where it is.
    pub side: Side,
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
    /// Where it is.
    pub side: Side,
}

/// The hosts of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Nodes {
    /// The receivers: those at IR1, then those at IR2.
    pub receivers: Vec<ReceiverNode>,
    /// The replica nodes.
    pub replicas: Vec<ReplicaNode>,
    /// By flow: the index of its receiver.
    pub receiver_of: Vec<usize>,
    /// By flow: the index of its replica node.
    pub replica_of: Vec<usize>,
}

impl Nodes {
    /// The hosts of `s`, whose topology and flows are filled in. What flows on one node disagree
    /// about is as the first of them says.
    pub fn new(s: &Scenario) -> Nodes {
        let both_ways = s.topology.kind == "topo-2";
        let most = s.topology.receivers.unwrap_or(1).max(1) as usize;
        let is_left = |i: usize| s.flows[i].direction != "opposite";
        let lefts = (0..s.flows.len()).filter(|&i| is_left(i)).count();
        // In topo-2, nodes that nobody uses would only be a riddle in the figure.
        let left = if both_ways { most.min(lefts) } else { most };
        let right = most.min(s.flows.len() - lefts);
        let mut receivers: Vec<ReceiverNode> = (0..left + right)
            .map(|i| ReceiverNode {
                name: format!("RE{}", i + 1),
                side: if i < left { Side::Left } else { Side::Right },
                extra_delay: Duration::ZERO,
                clock: s.clock,
                first_flow: None,
            })
            .collect();
        let (mut on_left, mut on_right) = (0, 0);
        let mut receiver_of = Vec::with_capacity(s.flows.len());
        for (i, flow) in s.flows.iter().enumerate() {
            let (first, nodes, before) = if is_left(i) {
                (0, left, &mut on_left)
            } else {
                (left, right, &mut on_right)
            };
            let index = first + *before % nodes;
            *before += 1;
            let node = &mut receivers[index];
            if node.first_flow.is_none() {
                node.first_flow = Some(i);
                node.extra_delay = flow.extra_delay.0;
                node.clock = flow.clock.or(&s.clock);
            }
            receiver_of.push(index);
        }
        let replica = |name: &str, side| ReplicaNode {
            name: name.to_owned(),
            side,
        };
        let replicas = if both_ways {
            vec![replica("RN1", Side::Left), replica("RN2", Side::Right)]
        } else {
            vec![replica("RN", Side::Right)]
        };
        let replica_of = (0..s.flows.len())
            .map(|i| usize::from(both_ways && is_left(i)))
            .collect();
        Nodes {
            receivers,
            replicas,
            receiver_of,
            replica_of,
        }
    }
}
