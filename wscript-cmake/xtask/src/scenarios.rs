//! The scenario model, linked in so that bad input is refused before anything is set up or built.

use ferrocc_cli::{Action, Plan};

use crate::failure::{Failure, Result};

/// What the runner's arguments ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Text: a list, a description, help.
    Print(String),
    /// Runs.
    Run,
}

/// Reads the runner's arguments as the runner does.
pub fn parse(arguments: &[String]) -> Result<Request> {
    let plan: Plan =
        ferrocc_cli::parse(arguments).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(match plan.action {
        Action::Print => Request::Print(plan.text),
        Action::Run => Request::Run,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_runners_options_are_understood_without_a_runner() {
        assert_eq!(
            parse(&words("--scenario=base/topo-1 --flows=2")),
            Ok(Request::Run)
        );
        let Ok(Request::Print(text)) = parse(&words("--list")) else {
            panic!("not printed")
        };
        assert!(
            text.contains("base/topo-1") && text.contains("copa-icn"),
            "{text}"
        );
    }

    #[test]
    fn bad_input_is_one_line_and_exit_code_2() {
        for line in [
            "--scenario=base/topo-9",
            "--scenario=base/topo-1 --controller=cubicc",
            "--scenario=base/topo-1 --rate=20",
            "--scenario=base/topo-1 --flows=0",
            "--scenario=base/topo-1 --no-such-option=1",
        ] {
            let failure = parse(&words(line)).unwrap_err();
            assert_eq!(failure.code, 2, "{line}");
            assert!(!failure.message.contains('\n'), "{}", failure.message);
        }
    }
}
