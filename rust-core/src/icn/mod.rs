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
//! | [`binding`] | late binding in routers: which source a REQ goes to |
//! | [`assembly`] | NDCs put together from the DATA that a router forwards |
//! | [`cache`] | a router's cache: the three below and what passes by |
//! | [`store`] | which complete NDCs a router keeps |
//! | [`placement`] | whether a router keeps a copy of what passes by |
//! | [`subscriber`] | announcements of NDCs, for off-path caches |
//! | [`replay`] | requests replayed against caches without packets |
//!
//! As everywhere in this crate, time, random draws and bytes are arguments.

pub mod assembly;
pub mod binding;
pub mod cache;
pub mod catalogue;
pub mod choice;
pub mod client;
mod eid_map;
pub mod message;
pub mod placement;
pub mod registrar;
pub mod replay;
pub mod server;
pub mod session;
pub mod store;
pub mod subscriber;

pub use assembly::{Assembler, AssemblerOptions};
pub use binding::{Binder, BindingOptions, Verdict};
pub use cache::{CacheOptions, CacheStats, RouterCache, Sighting};
pub use catalogue::{RequestPlan, Zipf};
pub use choice::ReplicaChoice;
pub use client::{ClientOptions, NameClient, Outcome};
pub use message::{Body, ErrorCode, Holder, Locator, Message};
pub use placement::{Placement, PlacementRule};
pub use registrar::Registrar;
pub use replay::{CacheModel, PathModel};
pub use server::{NameServer, ServerOptions};
pub use session::{Failure, Progress, Resolution, Session, SessionOptions};
pub use store::{ContentStore, EvictionPolicy, Insertion, StoreOptions, StoreStats};
pub use subscriber::{Subscriber, SubscriberOptions};
