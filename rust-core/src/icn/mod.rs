//! Names and replicas: where an NDC may be fetched from, and what a receiver does when a replica
//! fails it.
//!
//! | module | holds |
//! |---|---|
//! | [`message`] | the messages between a name server and its clients |
//! | [`server`] | the name server's table |
//! | [`client`] | requests to a name server, repeated until they are answered |
//! | [`registrar`] | keeps a replica's NDCs registered |
//! | [`choice`] | which of several replicas to ask |
//! | [`session`] | a receiver's way from a name to a completed NDC, over several replicas |
//! | [`catalogue`] | NDCs by popularity, and the requests of a client |
//! | [`assembly`] | NDCs put together from the DATA that a router forwards |
//!
//! As everywhere in this crate, time, random draws and bytes are arguments.

pub mod assembly;
pub mod catalogue;
pub mod choice;
pub mod client;
pub mod message;
pub mod registrar;
pub mod server;
pub mod session;

pub use assembly::{Assembler, AssemblerOptions};
pub use catalogue::{RequestPlan, Zipf};
pub use choice::ReplicaChoice;
pub use client::{ClientOptions, NameClient, Outcome};
pub use message::{Body, ErrorCode, Locator, Message};
pub use registrar::Registrar;
pub use server::{NameServer, ServerOptions};
pub use session::{Failure, Progress, Resolution, Session, SessionOptions};
