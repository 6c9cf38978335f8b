//! The core of ferrocc: congestion controllers, packet formats and the sans-I/O transport engines
//! of a receiver-driven ICN transport.
//!
//! Everything here is deterministic. The time, random draws and received bytes are arguments;
//! nothing reads a clock, draws entropy or does I/O. An ns-3 module drives the engines through
//! `ferrocc-ffi`; tests drive them through `ferrocc-testkit`'s virtual network.
//!
//! | module | holds |
//! |---|---|
//! | [`units`] | instants, durations, byte counts and rates, with every conversion |
//! | [`filter`] | exact windowed minimum and maximum, exponentially weighted averages |
//! | [`feedback`] | RTT estimation, loss by later arrivals, delivery-rate samples, rounds |
//! | [`wire`] | the REQ and DATA packet formats |
//! | [`cc`] | the controllers and their registry |
//! | [`aqm`] | what a queue does with a packet: pass it, mark it or drop it |
//! | [`recovery`] | how a TCP sender judges duplicate ACKs |
//! | [`tcp`] | the controllers on a simulator's TCP, and what is watched of a TCP transfer |
//! | [`transport`] | the `Receiver` and `Replica` engines |
//! | [`icn`] | names and replicas: the name server, its clients, sessions, assembly |
//! | [`scenario`] | the scenario model: JSON in, a resolved and validated plan out |
//! | [`trace`] | what a run writes: trace rows and the summary |
#![forbid(unsafe_code)]

pub mod aqm;
pub mod cc;
pub mod feedback;
pub mod filter;
pub mod icn;
pub mod recovery;
pub mod scenario;
pub mod tcp;
pub mod trace;
pub mod transport;
pub mod units;
pub mod wire;
