//! `cargo xtask list`: needs no build of ns-3.

use crate::failure::Result;
use crate::scenarios;

/// Prints scenarios, controllers, recoveries and AQMs.
pub fn run() -> Result<()> {
    match scenarios::parse(&["--list".to_owned()])? {
        scenarios::Request::Print(text) => println!("{}", text.trim_end()),
        scenarios::Request::Run => unreachable!("--list is a request to print"),
    }
    Ok(())
}
