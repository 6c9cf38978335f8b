//! `cargo xtask list`: needs no build of ns-3.

use crate::commands::reproduce::NAMES;
use crate::failure::Result;
use crate::scenarios;

/// Letters of a line of names at most.
const WIDTH: usize = 100;

/// Prints scenarios, controllers, recoveries and AQMs, and what `reproduce` takes.
pub fn run() -> Result<()> {
    match scenarios::parse(&["--list".to_owned()])? {
        scenarios::Request::Print(text) => println!("{}\n\n{}", text.trim_end(), claims(NAMES)),
        scenarios::Request::Run => unreachable!("--list is a request to print"),
    }
    Ok(())
}

/// The papers, their claims and the studies among `names` (a line each: papers and groups, then
/// short and full names of claims).
fn claims(names: &str) -> String {
    let is_claim = |name: &&str| name.starts_with(|c: char| c.is_ascii_uppercase());
    let full = |study: bool| {
        let all = names.lines().filter(is_claim).filter(|n| n.contains('-'));
        all.filter(move |n| n.starts_with('A') == study)
    };
    let papers = names.lines().filter(|n| !is_claim(n));
    let mut text = "for cargo xtask reproduce:\n".to_owned();
    text.push_str(&lines("papers", papers));
    text.push_str(&lines("claims", full(false)));
    text.push_str(&lines("studies", full(true)));
    text.trim_end().to_owned()
}

/// `names` with commas between, in lines of readable length behind `heading`.
fn lines<'a>(heading: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    let mut line = format!("  {heading:<28} ");
    let mut names = names.peekable();
    while let Some(name) = names.next() {
        line.push_str(name);
        if names.peek().is_some() {
            line.push_str(", ");
        }
        if line.len() > WIDTH {
            text.push_str(line.trim_end());
            text.push('\n');
            line = " ".repeat(31);
        }
    }
    text.push_str(line.trim_end());
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_grouped() {
        let text = claims("one\ntwo\nC1\nA1\nC1-fig\nC2-eq\nA1-study\n");
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[1].ends_with("one, two"));
        assert!(lines[2].ends_with("C1-fig, C2-eq"));
        assert!(lines[3].starts_with("studies") && lines[3].ends_with("A1-study"));
    }
}
