//! Quantities as users write them: a number and a unit, `"20 Mbps"`, `"30ms"`, `"1.5 bdp"`.
//!
//! One parser serves scenario files and the command line. A unit is always needed. Space between
//! number and unit is optional. Units are decimal (1 MB = 10^6 B, 1 Mbps = 10^6 bit/s), except the
//! ones with an `i` (1 KiB = 1024 B). Letter case counts, since `Mb` and `MB` differ; the only
//! liberties are `K` for `k` and `BDP` for `bdp`.
//!
//! | kind | units |
//! |---|---|
//! | rate | `bps kbps Mbps Gbps Tbps` |
//! | time | `ns us ms s min` |
//! | size | `B kB MB GB TB KiB MiB GiB` |
//! | capacity | any size, `NDCs` (a number of them) |
//! | buffer | any size, `p` (packets), `bdp` (bandwidth-delay products of the bottleneck) |
//! | jitter | any time, `rtprop` (propagation round trips) |
//! | skew | `ppm ppb` (parts per million, per billion) |

use crate::units::{Bytes, Duration, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::error::{nearest, shown};

/// A unit and its size in the base unit of its kind.
type Unit = (&'static str, f64);

const RATES: &[Unit] = &[
    ("bps", 1.0),
    ("kbps", 1e3),
    ("Mbps", 1e6),
    ("Gbps", 1e9),
    ("Tbps", 1e12),
];
const TIMES: &[Unit] = &[
    ("ns", 1.0),
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
];
const SIZES: &[Unit] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1048576.0),
    ("GiB", 1073741824.0),
];
const SKEWS: &[Unit] = &[("ppb", 1.0), ("ppm", 1e3)];
const PACKETS: Unit = ("p", 1.0);
const BDP: Unit = ("bdp", 1.0);
const NDCS: Unit = ("NDCs", 1.0);
const RTPROP: Unit = ("rtprop", 1.0);

/// Splits `text` into a number and the rest; none if it starts with no finite number.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    // No unit starts with `e`, so an `e` after a digit belongs to the number.
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | 'e' | 'E')))
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    number
        .is_finite()
        .then_some((number, text[end..].trim_start()))
}

/// Reads `text` as a number of one of `units`, given as `kind` in messages. Returns the number, the
/// unit's size and the unit's name.
fn read(
    text: &str,
    kind: &str,
    units: &[Unit],
    example: &str,
) -> Result<(f64, f64, &'static str), String> {
    let accepted = || units.iter().map(|u| u.0).collect::<Vec<_>>().join(", ");
    let Some((number, unit)) = split(text) else {
        return Err(format!(
            "{} is not a {kind} (accepted: a number and one of {}, as in \"{example}\")",
            shown(text),
            accepted()
        ));
    };
    let same = |name: &str| {
        name == unit
            || (name == "bdp" && unit == "BDP")
            || (name.starts_with('k') && unit.strip_prefix('K') == Some(&name[1..]))
    };
    if let Some(&(name, size)) = units.iter().find(|(name, _)| same(name)) {
        return Ok((number, size, name));
    }
    if unit.is_empty() {
        return Err(format!(
            "{} has no unit (accepted: {}, as in \"{example}\")",
            shown(text),
            accepted()
        ));
    }
    let hint = units
        .iter()
        .map(|u| u.0)
        .find(|name| spellings(name).any(|s| s.eq_ignore_ascii_case(unit)))
        .or_else(|| nearest(unit, units.iter().map(|u| u.0)))
        .map(|n| format!("; did you mean {n}?"))
        .unwrap_or_default();
    Err(format!(
        "{} has an unknown unit of a {kind} (accepted: {}{hint})",
        shown(text),
        accepted()
    ))
}

/// How others write the unit of a rate: "Mbit", "Mb/s" of "Mbps". None of other units.
fn spellings(name: &str) -> impl Iterator<Item = String> {
    let prefix = name.strip_suffix("bps");
    ["bps", "bit", "bits", "bit/s", "bits/s", "b/s"]
        .into_iter()
        .filter_map(move |s| prefix.map(|prefix| format!("{prefix}{s}")))
}

/// `number * size` as a whole count of the base unit.
fn whole(text: &str, number: f64, size: f64) -> Result<u64, String> {
    let value = (number * size).round();
    if value < 0.0 {
        return Err(format!("{} is negative", shown(text)));
    }
    // 2^63: far beyond every accepted range, and exactly representable.
    if value >= 9_223_372_036_854_775_808.0 {
        return Err(format!("{} is too large", shown(text)));
    }
    Ok(value as u64)
}

/// `n` base units in the largest unit of `units` (ascending) that is not larger than `n`, exactly.
fn print(n: u64, units: &[Unit], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let decimal = units.iter().filter(|(name, _)| !name.contains('i'));
    let &(name, size) = decimal.rev().find(|u| u.1 as u64 <= n).unwrap_or(&units[0]);
    let size = size as u64;
    let (integer, mut rest) = (n / size, n % size);
    write!(f, "{integer}")?;
    if rest != 0 {
        f.write_str(".")?;
        let mut digit = size / 10;
        while rest != 0 {
            write!(f, "{}", rest / digit)?;
            rest %= digit;
            digit /= 10;
        }
    }
    write!(f, " {name}")
}

/// Implements text, serde and schema for a quantity that is read by `from_str`.
macro_rules! textual {
    ($name:ident, $kind:literal, $example:literal) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, concat!("a ", $kind, " with its unit, as in \"", $example, "\""))
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_u64<E: de::Error>(self, n: u64) -> Result<$name, E> {
                        self.visit_str(&n.to_string())
                    }
                    fn visit_i64<E: de::Error>(self, n: i64) -> Result<$name, E> {
                        self.visit_str(&n.to_string())
                    }
                    fn visit_f64<E: de::Error>(self, n: f64) -> Result<$name, E> {
                        self.visit_str(&n.to_string())
                    }
                }
                deserializer.deserialize_any(Text)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": concat!("a ", $kind, " with its unit, as in \"", $example, "\""),
                    "pattern": $name::pattern(),
                })
            }
        }
    };
}

/// A regular expression for what `read` accepts.
fn pattern(units: &[&[Unit]]) -> String {
    let mut names = Vec::new();
    for &(name, _) in units.iter().copied().flatten() {
        names.push(name.to_owned());
        if let Some(rest) = name.strip_prefix('k') {
            names.push(format!("K{rest}"));
        }
        if name == "bdp" {
            names.push("BDP".to_owned());
        }
    }
    format!(
        r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*({})\s*$",
        names.join("|")
    )
}

/// A rate such as `"20 Mbps"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateText(pub Rate);

impl RateText {
    fn pattern() -> String {
        pattern(&[RATES])
    }
}

impl FromStr for RateText {
    type Err = String;
    fn from_str(text: &str) -> Result<RateText, String> {
        let (number, size, _) = read(text, "rate", RATES, "20 Mbps")?;
        whole(text, number, size).map(|n| RateText(Rate::from_bps(n)))
    }
}

impl fmt::Display for RateText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(self.0.as_bps(), RATES, f)
    }
}

textual!(RateText, "rate", "20 Mbps");

/// A time span such as `"30 ms"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeText(pub Duration);

impl TimeText {
    fn pattern() -> String {
        pattern(&[TIMES])
    }
}

impl FromStr for TimeText {
    type Err = String;
    fn from_str(text: &str) -> Result<TimeText, String> {
        let (number, size, _) = read(text, "time", TIMES, "30 ms")?;
        whole(text, number, size).map(|n| TimeText(Duration::from_nanos(n)))
    }
}

impl fmt::Display for TimeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Minutes are read but not printed: 90 s is "90 s".
        print(self.0.as_nanos(), &TIMES[..4], f)
    }
}

textual!(TimeText, "time", "30 ms");

/// A number of bytes such as `"10 MB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeText(pub Bytes);

impl SizeText {
    fn pattern() -> String {
        pattern(&[SIZES])
    }
}

impl FromStr for SizeText {
    type Err = String;
    fn from_str(text: &str) -> Result<SizeText, String> {
        let (number, size, _) = read(text, "size", SIZES, "10 MB")?;
        whole(text, number, size).map(|n| SizeText(Bytes::new(n)))
    }
}

impl fmt::Display for SizeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(self.0.get(), SIZES, f)
    }
}

textual!(SizeText, "size", "10 MB");

/// The limit of a content store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    /// So many bytes of content: `"200 MB"`.
    Bytes(Bytes),
    /// So many NDCs of any size: `"100 NDCs"`.
    Ndcs(u64),
}

impl Capacity {
    fn pattern() -> String {
        pattern(&[SIZES, &[NDCS]])
    }
}

impl FromStr for Capacity {
    type Err = String;
    fn from_str(text: &str) -> Result<Capacity, String> {
        let units = [SIZES, &[NDCS]].concat();
        let (number, size, name) = read(text, "capacity", &units, "100 NDCs")?;
        match name {
            "NDCs" if number.fract() != 0.0 => Err(format!(
                "{} is not a whole number of NDCs (accepted: as in \"100 NDCs\")",
                shown(text)
            )),
            "NDCs" => whole(text, number, size).map(Capacity::Ndcs),
            _ => whole(text, number, size).map(|n| Capacity::Bytes(Bytes::new(n))),
        }
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Capacity::Bytes(n) => print(n.get(), SIZES, f),
            Capacity::Ndcs(n) => write!(f, "{n} NDCs"),
        }
    }
}

textual!(Capacity, "capacity", "100 NDCs");

/// The limit of a queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Buffer {
    /// So many packets of any size: `"200p"`.
    Packets(u64),
    /// So many bytes at the IP layer: `"50kB"`.
    Bytes(Bytes),
    /// So many bandwidth-delay products (bottleneck rate x RTprop): `"2bdp"`.
    Bdp(f64),
}

impl Buffer {
    fn pattern() -> String {
        pattern(&[SIZES, &[PACKETS, BDP]])
    }
}

impl FromStr for Buffer {
    type Err = String;
    fn from_str(text: &str) -> Result<Buffer, String> {
        let units = [SIZES, &[PACKETS, BDP]].concat();
        let (number, size, name) = read(text, "buffer", &units, "1bdp")?;
        match name {
            "bdp" if number < 0.0 => Err(format!("{} is negative", shown(text))),
            "bdp" => Ok(Buffer::Bdp(number)),
            "p" if number.fract() != 0.0 => Err(format!(
                "{} is not a whole number of packets (accepted: as in \"200p\")",
                shown(text)
            )),
            "p" => whole(text, number, size).map(Buffer::Packets),
            _ => whole(text, number, size).map(|n| Buffer::Bytes(Bytes::new(n))),
        }
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Buffer::Packets(n) => write!(f, "{n}p"),
            Buffer::Bytes(n) => print(n.get(), SIZES, f),
            Buffer::Bdp(n) => write!(f, "{n} bdp"),
        }
    }
}

textual!(Buffer, "buffer", "1 bdp");

/// The width of a uniform random delay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Jitter {
    /// So long.
    Time(Duration),
    /// So many propagation round trips: `"1 rtprop"`.
    Rtprop(f64),
}

impl Jitter {
    fn pattern() -> String {
        pattern(&[TIMES, &[RTPROP]])
    }
}

impl FromStr for Jitter {
    type Err = String;
    fn from_str(text: &str) -> Result<Jitter, String> {
        let units = [TIMES, &[RTPROP]].concat();
        let (number, size, name) = read(text, "jitter", &units, "1 rtprop")?;
        match name {
            "rtprop" if number < 0.0 => Err(format!("{} is negative", shown(text))),
            "rtprop" => Ok(Jitter::Rtprop(number)),
            _ => whole(text, number, size).map(|n| Jitter::Time(Duration::from_nanos(n))),
        }
    }
}

impl fmt::Display for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Jitter::Time(d) => print(d.as_nanos(), &TIMES[..4], f),
            Jitter::Rtprop(n) => write!(f, "{n} rtprop"),
        }
    }
}

textual!(Jitter, "jitter", "1 rtprop");

/// A probability: a number in 0..1, without unit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Fraction(pub f64);

impl Serialize for Fraction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fraction, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Fraction;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a fraction (accepted: 0..1)")
            }
            fn visit_f64<E: de::Error>(self, n: f64) -> Result<Fraction, E> {
                if (0.0..=1.0).contains(&n) {
                    Ok(Fraction(n))
                } else {
                    Err(E::custom(format!("{n} is out of range (accepted: 0..1)")))
                }
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<Fraction, E> {
                self.visit_f64(n as f64)
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<Fraction, E> {
                self.visit_f64(n as f64)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Fraction, E> {
                // A percentage is shown as the fraction that it is.
                let percent = text.trim().strip_suffix('%').map(str::trim_end);
                let example = percent
                    .and_then(|number| number.parse::<f64>().ok())
                    .filter(|number| (0.0..=100.0).contains(number))
                    .map(|number| format!(", as in {}", number / 100.0))
                    .unwrap_or_default();
                Err(E::custom(format!(
                    "{} is not a fraction (accepted: 0..1{example})",
                    shown(text)
                )))
            }
        }
        deserializer.deserialize_any(Number)
    }
}

impl JsonSchema for Fraction {
    fn schema_name() -> Cow<'static, str> {
        "Fraction".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1, "description": "a fraction" })
    }
}

mod clock;
#[cfg(test)]
mod tests;

pub use clock::{OffsetText, SkewText};
