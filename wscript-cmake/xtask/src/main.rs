//! `cargo xtask`: set-up, builds, tests and runs of ferrocc.
fn main() {}
