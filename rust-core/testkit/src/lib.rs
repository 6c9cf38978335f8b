//! A virtual network on which ferrocc's transport engines and controllers are tested.
//!
//! [`Net`] describes a network like the Copa-ICN paper's topo-1 (receivers that share one bottleneck
//! to a replica), [`Net::run`] drives the real engines of [`ferrocc::transport`] over it on virtual
//! time, and [`Run`] tells what happened. Everything is deterministic: equal descriptions give equal
//! runs, to the bit.
//!
//! ```
//! use ferrocc_testkit::{Buffer, Flow, Net, ms, secs};
//!
//! let run = Net::topo1()
//!     .rate_mbps(20.0)
//!     .rtprop(ms(30))
//!     .buffer(Buffer::Bdp(1.0))
//!     .flow(Flow::new("newreno").start(ms(100)))
//!     .run(secs(3));
//! assert!(run.flow(0).goodput_mbps(secs(1), secs(3)) > 10.0);
//! ```
#![forbid(unsafe_code)]

mod events;
mod link;
mod net;
mod prng;
mod record;
mod spec;

pub use link::LinkSpec;
pub use record::{FlowRun, LinkRun, Run, Series, convergence_time, jain};
pub use spec::{Buffer, Change, Flow, Manager, Net, ReplicaSpec};

use ferrocc::units::Duration;

/// `n` milliseconds.
pub const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// `n` seconds.
pub const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}
