//! The commands of `cargo xtask`, one file each.

pub mod analysis;
pub mod bench;
pub mod demo;
pub mod list;
pub mod ns3;
pub mod reproduce;
pub mod run;
pub mod test;
