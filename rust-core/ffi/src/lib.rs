//! The cxx bridges between ferrocc's core and its ns-3 module: one bridge and one C++ namespace
//! per domain, shared PODs in `types`, conversions in `convert`.
//!
//! Calls that configure may fail and become a `rust::Error` in C++. Calls on the data path cannot:
//! one call per simulator event, and everything that C++ has to do or to trace afterwards is in the
//! returned POD. Rust never calls into ns-3.

mod aqm;
mod convert;
mod icn;
mod recovery;
mod router;
mod scenario;
mod tcp;
mod trace;
mod transport;
mod types;
mod wire;
mod workload;
