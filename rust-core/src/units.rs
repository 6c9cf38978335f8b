//! Instants, durations, byte counts and rates as types, and the only place where they are
//! converted into each other.
//!
//! All are 64-bit integers: nanoseconds, bytes, bits per second. Arithmetic that could leave the
//! range saturates where a saturated value is meaningful (durations, rates) and otherwise checks.
//! Two edge cases are fixed here once: bytes over an empty interval are [`Rate::ZERO`] (no rate
//! can be told), and sending anything at a zero rate takes [`Duration::MAX`].

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// Nanoseconds in a second.
const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A moment of simulated time, in nanoseconds since the simulation's start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The start of the simulation.
    pub const ZERO: Instant = Instant(0);
    /// The last representable moment (584 years in).
    pub const MAX: Instant = Instant(u64::MAX);

    /// The moment `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Instant {
        Instant(nanos)
    }

    /// The moment `millis` milliseconds after the start.
    pub const fn from_millis(millis: u64) -> Instant {
        Instant(millis * 1_000_000)
    }

    /// The moment `secs` seconds after the start, rounded to a nanosecond.
    pub fn from_secs_f64(secs: f64) -> Instant {
        Instant(Duration::from_secs_f64(secs).0)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// The time since `earlier`; zero if `earlier` is later than `self`.
    pub const fn saturating_since(self, earlier: Instant) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// The moment `d` before `self`, not earlier than the simulation's start.
    pub const fn saturating_sub(self, d: Duration) -> Instant {
        Instant(self.0.saturating_sub(d.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, d: Duration) -> Instant {
        Instant(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Sub for Instant {
    type Output = Duration;
    /// The time since `earlier`; zero if `earlier` is later.
    fn sub(self, earlier: Instant) -> Duration {
        self.saturating_since(earlier)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9}s", self.as_secs_f64())
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A length of time in nanoseconds, never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Duration {
    /// No time.
    pub const ZERO: Duration = Duration(0);
    /// The longest representable duration; stands for "never".
    pub const MAX: Duration = Duration(u64::MAX);

    /// `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Duration {
        Duration(nanos)
    }

    /// `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Duration {
        Duration(micros * 1_000)
    }

    /// `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Duration {
        Duration(millis * 1_000_000)
    }

    /// `secs` seconds.
    pub const fn from_secs(secs: u64) -> Duration {
        Duration(secs * NANOS_PER_SEC)
    }

    /// `secs` seconds, rounded to a nanosecond; NaN and negative values give zero, values beyond
    /// the range give [`Duration::MAX`].
    pub fn from_secs_f64(secs: f64) -> Duration {
        // A float-to-integer cast saturates and maps NaN to zero.
        Duration((secs * NANOS_PER_SEC as f64).round() as u64)
    }

    /// In nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// In milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// Whether no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `self - other`, zero if `other` is longer.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }

    /// `self * factor`, rounded to a nanosecond, saturating; NaN and negative factors give zero.
    pub fn mul_f64(self, factor: f64) -> Duration {
        Duration((self.0 as f64 * factor).round() as u64)
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Duration;
    /// Saturates at zero.
    fn sub(self, other: Duration) -> Duration {
        self.saturating_sub(other)
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, factor: u64) -> Duration {
        Duration(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Duration {
    type Output = Duration;
    fn div(self, divisor: u64) -> Duration {
        Duration(self.0 / divisor)
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            u64::MAX => write!(f, "never"),
            n if n >= NANOS_PER_SEC => write!(f, "{}s", n as f64 / 1e9),
            n if n >= 1_000_000 => write!(f, "{}ms", n as f64 / 1e6),
            n if n >= 1_000 => write!(f, "{}us", n as f64 / 1e3),
            n => write!(f, "{n}ns"),
        }
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The difference between two clocks' readings in nanoseconds: a one-way delay plus the unknown
/// offset between the sender's and the receiver's clock, so it may be negative.
///
/// Only differences of two such values from the same pair of clocks mean anything.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct OneWay(i64);

impl OneWay {
    /// From nanoseconds, possibly negative.
    pub const fn from_nanos(nanos: i64) -> OneWay {
        OneWay(nanos)
    }

    /// Arrival on the receiver's clock minus departure on the sender's.
    pub const fn between(sender_clock_ns: i64, receiver_clock_ns: i64) -> OneWay {
        OneWay(receiver_clock_ns.wrapping_sub(sender_clock_ns))
    }

    /// In nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// How much longer than `base` this is; zero if it is shorter.
    pub const fn saturating_above(self, base: OneWay) -> Duration {
        let d = self.0.saturating_sub(base.0);
        Duration(if d > 0 { d as u64 } else { 0 })
    }
}

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);
    /// The largest count; stands for "unlimited".
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// `n` bytes.
    pub const fn new(n: u64) -> Bytes {
        Bytes(n)
    }

    /// `packets` packets of `mss`, rounded down to a byte; NaN and negative give zero.
    pub fn from_packets(packets: f64, mss: Bytes) -> Bytes {
        Bytes((packets * mss.0 as f64) as u64)
    }

    /// As a plain number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// In units of `mss`, a fraction.
    pub fn as_packets(self, mss: Bytes) -> f64 {
        self.0 as f64 / mss.0 as f64
    }

    /// Whether there are none.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `self - other`, zero if `other` is larger.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    /// Panics if `other` is larger: a byte count below zero is a bookkeeping error.
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(
            self.0
                .checked_sub(other.0)
                .expect("a byte count went below zero"),
        )
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        *self = *self - other;
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, factor: u64) -> Bytes {
        Bytes(self.0.saturating_mul(factor))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(iter: I) -> Bytes {
        iter.fold(Bytes::ZERO, Add::add)
    }
}

impl Div<Duration> for Bytes {
    type Output = Rate;
    /// The rate that moves `self` in `d`; [`Rate::ZERO`] if `d` is zero.
    fn div(self, d: Duration) -> Rate {
        if d.is_zero() {
            return Rate::ZERO;
        }
        let bps = u128::from(self.0) * 8 * u128::from(NANOS_PER_SEC) / u128::from(d.0);
        Rate(u64::try_from(bps).unwrap_or(u64::MAX))
    }
}

impl Div<Rate> for Bytes {
    type Output = Duration;
    /// The time that `self` takes at `rate`, rounded up to a nanosecond; [`Duration::MAX`] at a
    /// zero rate.
    fn div(self, rate: Rate) -> Duration {
        if rate.0 == 0 {
            return Duration::MAX;
        }
        let nanos =
            (u128::from(self.0) * 8 * u128::from(NANOS_PER_SEC)).div_ceil(u128::from(rate.0));
        Duration(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A rate in bits per second. `1 Mbps` is 10^6 bit/s, never 2^20.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

impl Rate {
    /// Nothing moves.
    pub const ZERO: Rate = Rate(0);
    /// The largest rate.
    pub const MAX: Rate = Rate(u64::MAX);

    /// `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }

    /// `mbps` megabits (10^6 bits) per second, rounded to a bit per second; NaN and negative
    /// values give zero.
    pub fn from_mbps(mbps: f64) -> Rate {
        Rate((mbps * 1e6).round() as u64)
    }

    /// Packets of `mss` bytes per second; NaN and negative values give zero.
    pub fn from_packets_per_sec(pps: f64, mss: Bytes) -> Rate {
        Rate((pps * mss.0 as f64 * 8.0).round() as u64)
    }

    /// In bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// In megabits per second.
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// In packets of `mss` bytes per second.
    pub fn as_packets_per_sec(self, mss: Bytes) -> f64 {
        self.0 as f64 / (8.0 * mss.0 as f64)
    }

    /// `self * gain`, rounded; NaN and negative gains give zero.
    pub fn mul_f64(self, gain: f64) -> Rate {
        Rate((self.0 as f64 * gain).round() as u64)
    }
}

impl Mul<Duration> for Rate {
    type Output = Bytes;
    /// What moves at this rate in `d`, rounded down to a byte.
    fn mul(self, d: Duration) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(d.0) / (8 * u128::from(NANOS_PER_SEC));
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n >= 1_000_000_000 => write!(f, "{}Gbps", n as f64 / 1e9),
            n if n >= 1_000_000 => write!(f, "{}Mbps", n as f64 / 1e6),
            n if n >= 1_000 => write!(f, "{}kbps", n as f64 / 1e3),
            n => write!(f, "{n}bps"),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rates_bytes_and_durations_convert_into_each_other() {
        assert_eq!(
            Bytes::new(1250) / Duration::from_millis(1),
            Rate::from_mbps(10.0)
        );
        assert_eq!(
            Bytes::new(1250) / Rate::from_mbps(10.0),
            Duration::from_millis(1)
        );
        assert_eq!(
            Rate::from_mbps(10.0) * Duration::from_millis(1),
            Bytes::new(1250)
        );
    }

    #[test]
    fn edges_are_the_documented_ones() {
        assert_eq!(Bytes::new(5) / Duration::ZERO, Rate::ZERO);
        assert_eq!(Bytes::new(5) / Rate::ZERO, Duration::MAX);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(1e300), Duration::MAX);
        assert_eq!(Instant::MAX + Duration::from_secs(1), Instant::MAX);
        assert_eq!(Instant::ZERO - Instant::from_millis(1), Duration::ZERO);
    }

    #[test]
    fn one_way_differences_ignore_the_offset() {
        let base = OneWay::between(1_000_000_000, 5);
        let later = OneWay::between(2_000_000_000, 1_000_000_005 + 7);
        assert_eq!(later.saturating_above(base), Duration::from_nanos(7));
        assert_eq!(base.saturating_above(later), Duration::ZERO);
    }

    proptest! {
        #[test]
        fn sending_time_is_enough_and_tight(bytes in 1u64..1 << 40, bps in 1u64..1 << 40) {
            let (bytes, rate) = (Bytes::new(bytes), Rate::from_bps(bps));
            let time = bytes / rate;
            prop_assert!(rate * time >= bytes);
            prop_assert!(rate * (time - Duration::from_nanos(1)) <= bytes);
        }
    }
}
