//! The only place where bridge PODs and core types meet.
