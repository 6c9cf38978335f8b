//! What both transports need to turn arrivals into a controller's events: RTT estimation, loss by
//! later arrivals, delivery-rate samples, packet-timed rounds, the recovery guard.

mod recovery;

pub use recovery::RecoveryGuard;
