//! The nodes' clocks.

use super::{secs, within};
use crate::scenario::error::Error;
use crate::scenario::model::Clock;
use crate::units::Duration;

/// Largest rate error: ten times that of a bad quartz.
const MAX_SKEW_PPB: i64 = 1_000_000;

/// Checks the clock at `field`.
pub(super) fn check(field: &str, clock: &Clock) -> Result<(), Error> {
    within(
        &format!("{field}.offset"),
        clock.offset,
        Duration::from_nanos(clock.offset.nanos.unsigned_abs()),
        Duration::ZERO,
        secs(1_000_000),
        "-1000000 s..1000000 s",
    )?;
    within(
        &format!("{field}.skew"),
        clock.skew,
        clock.skew.ppb,
        -MAX_SKEW_PPB,
        MAX_SKEW_PPB,
        "-1000 ppm..1000 ppm",
    )
}
