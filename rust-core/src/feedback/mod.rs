//! What both transports need to turn arrivals into a controller's events: RTT estimation, loss by
//! later arrivals, delivery-rate samples, packet-timed rounds, the recovery guard.

mod later;
mod rate;
mod recovery;
mod rtt;

pub use later::LaterArrivals;
pub use rate::{DeliveryRate, SendState};
pub use recovery::RecoveryGuard;
pub use rtt::RttEstimator;
