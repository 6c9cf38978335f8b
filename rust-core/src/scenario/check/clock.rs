//! The nodes' clocks.

use super::{secs, within};
use crate::scenario::error::Error;
use crate::scenario::model::Clock;
use crate::units::Duration;

/// Checks the clock at `field`.
pub(super) fn check(field: &str, clock: &Clock) -> Result<(), Error> {
    within(
        &format!("{field}.offset"),
        clock.offset,
        Duration::from_nanos(clock.offset.nanos.unsigned_abs()),
        Duration::ZERO,
        secs(1_000_000),
        "-1000000 s..1000000 s",
    )
}
