//! What is wrong with a scenario, in one line.

use std::fmt;

/// Longest piece of user input that is repeated in a message, characters.
const SHOWN_CHARS: usize = 60;

/// A scenario cannot be used: which field, what was given and what is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Path of the field in the scenario model, such as `topology.bottleneck.rate`; empty where the
    /// fault is in no single field.
    pub field: String,
    /// What was given and what is accepted.
    pub problem: String,
}

impl Error {
    /// `problem` in `field`.
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Error {
        Error {
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// An unknown `given` in `field`, where `what` are accepted.
    pub fn unknown<'a>(
        field: impl Into<String>,
        what: &str,
        given: &str,
        accepted: impl Iterator<Item = &'a str> + Clone,
    ) -> Error {
        Error::new(field, unknown(what, given, accepted))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = if self.field.is_empty() {
            self.problem.clone()
        } else {
            format!("{}: {}", self.field, self.problem)
        };
        // One line, whatever was given.
        f.write_str(&line.replace(['\n', '\r'], " "))
    }
}

impl std::error::Error for Error {}

/// "unknown `what` `given` (accepted: ...; did you mean ...?)".
pub fn unknown<'a>(
    what: &str,
    given: &str,
    accepted: impl Iterator<Item = &'a str> + Clone,
) -> String {
    let hint = nearest(given, accepted.clone())
        .map(|n| format!("; did you mean {n}?"))
        .unwrap_or_default();
    let mut names = accepted.collect::<Vec<_>>().join(", ");
    if names.is_empty() {
        names.push_str("none");
    }
    format!("unknown {what} {} (accepted: {names}{hint})", shown(given))
}

/// `text` in quotes, without control characters and not longer than a line can bear.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::from("\"");
    for (i, c) in text.chars().enumerate() {
        if i == SHOWN_CHARS {
            out.push_str("...");
            break;
        }
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The candidate that looks most like `given`, if one does. The only one whose last part is
/// `given` ("fig6a" of "copa-icn/fig6a") looks most like it.
pub(crate) fn nearest<'a>(
    given: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = given.to_lowercase();
    let candidates: Vec<&str> = candidates.collect();
    let mut ends = candidates
        .iter()
        .filter(|c| c.rsplit_once('/').is_some_and(|(_, end)| end == wanted));
    if let (Some(end), None) = (ends.next(), ends.next()) {
        return Some(end);
    }
    candidates
        .iter()
        .map(|c| (strsim::jaro_winkler(&wanted, &c.to_lowercase()), *c))
        .filter(|(likeness, _)| *likeness > 0.75)
        // The first of equals: the order of the table decides, not chance.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, c)| c)
        // Short names: one letter wrong, missing or too many, or two that changed places.
        .or_else(|| {
            let slips = |c: &&&str| strsim::osa_distance(&wanted, &c.to_lowercase()) == 1;
            let mut near = candidates.iter().filter(slips);
            near.next().filter(|_| near.next().is_none()).copied()
        })
}

/// Turns a message of serde into ours: "unknown field `x`, expected one of `a`, `b`" becomes
/// "unknown field "x" (accepted: a, b; did you mean ...?)", "invalid type: X, expected Y" becomes
/// "X is not Y".
pub(crate) fn from_serde(message: &str) -> String {
    for what in ["field", "variant"] {
        let Some(rest) = message.strip_prefix(&format!("unknown {what} `")) else {
            continue;
        };
        // The accepted names are ours and contain no backquote; the given one may contain any.
        let (given, rest) = rest
            .rsplit_once("`, expected ")
            .or_else(|| rest.rsplit_once("`, there are no "))
            .unwrap_or((rest.trim_end_matches('`'), ""));
        let accepted: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        let what = if what == "variant" { "name" } else { what };
        return unknown(what, given, accepted.into_iter());
    }
    for kind in ["invalid type: ", "invalid value: "] {
        let Some((given, expected)) = message
            .strip_prefix(kind)
            .and_then(|rest| rest.rsplit_once(", expected "))
        else {
            continue;
        };
        let (given, expected) = (plain(given), expectation(expected));
        return format!("{given} is not {expected}");
    }
    message.to_owned()
}

/// serde's description of a value in fewer words.
fn plain(given: &str) -> String {
    for kind in ["string ", "integer ", "floating point ", "boolean "] {
        if let Some(value) = given.strip_prefix(kind) {
            return value.trim_matches('`').to_owned();
        }
    }
    match given {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        other => other.to_owned(),
    }
}

/// serde's name of what it wants in words that a user of JSON knows.
fn expectation(expected: &str) -> String {
    match expected {
        "u8" => "a whole number in 0..255".to_owned(),
        "u16" => "a whole number in 0..65535".to_owned(),
        "u32" => "a whole number in 0..4294967295".to_owned(),
        "u64" | "usize" => "a whole number >= 0".to_owned(),
        "f64" | "f32" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "an object".to_owned(),
        other if other.starts_with("struct ") => "an object".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serde_messages_become_ours() {
        assert_eq!(
            from_serde("unknown field `rat`, expected one of `rate`, `buffer`"),
            "unknown field \"rat\" (accepted: rate, buffer; did you mean rate?)"
        );
        assert_eq!(
            from_serde("unknown field `rat`, expected `rate` or `buffer`"),
            "unknown field \"rat\" (accepted: rate, buffer; did you mean rate?)"
        );
        assert_eq!(
            from_serde("unknown field `x`, there are no fields"),
            "unknown field \"x\" (accepted: none)"
        );
        assert_eq!(
            from_serde("invalid type: string \"a\", expected u32"),
            "\"a\" is not a whole number in 0..4294967295"
        );
        assert_eq!(
            from_serde("invalid value: integer `-1`, expected u64"),
            "-1 is not a whole number >= 0"
        );
    }

    #[test]
    fn a_last_part_suggests_the_only_name_with_it() {
        let names = ["base/topo-1", "copa-icn/fig6a", "a/x1", "b/x1"];
        let hint = |given| nearest(given, names.into_iter());
        assert_eq!(hint("fig6a"), Some("copa-icn/fig6a"));
        assert_eq!(hint("FIG6A"), Some("copa-icn/fig6a"));
        assert_eq!(hint("x1"), None);
    }

    #[test]
    fn a_message_is_one_short_line() {
        let error = Error::unknown("a", "field", &"x\n".repeat(100), ["y"].into_iter());
        assert!(!error.to_string().contains('\n'));
        assert!(error.to_string().len() < 200);
        assert_eq!(Error::new("", "a\nb").to_string(), "a b");
    }
}
