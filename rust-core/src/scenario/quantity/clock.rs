//! What is wrong with a clock: its offset and its skew.

use super::*;

/// A time that may be negative, such as `"-5 ms"`: the offset between two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffsetText {
    /// In nanoseconds.
    pub nanos: i64,
}

impl OffsetText {
    fn pattern() -> String {
        pattern(&[TIMES])
    }
}

impl FromStr for OffsetText {
    type Err = String;
    fn from_str(text: &str) -> Result<OffsetText, String> {
        let (number, size, _) = read(text, "time", TIMES, "-5 ms")?;
        let nanos = whole(text, number.abs(), size)? as i64;
        Ok(OffsetText {
            nanos: if number < 0.0 { -nanos } else { nanos },
        })
    }
}

impl fmt::Display for OffsetText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos < 0 {
            f.write_str("-")?;
        }
        print(self.nanos.unsigned_abs(), &TIMES[..4], f)
    }
}

textual!(OffsetText, "time (negative ones too)", "-5 ms");

/// How much faster a clock runs than another one, such as `"50 ppm"`; negative if it runs slower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkewText {
    /// In parts per billion: nanoseconds gained per second.
    pub ppb: i64,
}

impl SkewText {
    fn pattern() -> String {
        pattern(&[SKEWS])
    }
}

impl FromStr for SkewText {
    type Err = String;
    fn from_str(text: &str) -> Result<SkewText, String> {
        let (number, size, _) = read(text, "skew", SKEWS, "50 ppm")?;
        let ppb = whole(text, number.abs(), size)? as i64;
        Ok(SkewText {
            ppb: if number < 0.0 { -ppb } else { ppb },
        })
    }
}

impl fmt::Display for SkewText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ppb < 0 {
            f.write_str("-")?;
        }
        print(self.ppb.unsigned_abs(), SKEWS, f)
    }
}

textual!(SkewText, "skew of a clock (negative ones too)", "50 ppm");
