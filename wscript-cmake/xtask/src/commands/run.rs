//! `cargo xtask run NAME [options]`.

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::process;
use crate::runner::{self, SCENARIOS};
use crate::scenarios::{self, Request};

/// Validates, builds what is missing and becomes the runner, whose signals and exit code are then
/// this program's.
pub fn run(scenario: &str, options: &[String]) -> Result<()> {
    let arguments = arguments(scenario, options)?;
    match scenarios::parse(&arguments)? {
        Request::Print(text) => {
            println!("{}", text.trim_end());
            return Ok(());
        }
        Request::Run => {}
    }
    let program = {
        // Let go of the cache before the run: others may build meanwhile.
        let context = Context::new()?;
        runner::ensure(&context, &[SCENARIOS], &[])?.path(SCENARIOS)?
    };
    let mut command = if arguments
        .iter()
        .any(|argument| argument.starts_with("--cwd"))
    {
        std::process::Command::new(&program)
    } else {
        runner::command(&program)?
    };
    command.args(arguments);
    Err(process::replace(&mut command))
}

/// The runner's arguments. Its default folder for results is `out/NAME`.
fn arguments(scenario: &str, options: &[String]) -> Result<Vec<String>> {
    if matches!(scenario, "--help" | "-h") {
        return Ok(vec!["--help".into()]);
    }
    if scenario.starts_with('-') {
        return Err(Failure::usage(format!(
            "run: {scenario} comes before the scenario's name (cargo xtask run NAME [options])"
        )));
    }
    if let Some(second) = options
        .iter()
        .find(|option| option.starts_with("--scenario"))
    {
        return Err(Failure::usage(format!(
            "run: {second} given besides the scenario {scenario}"
        )));
    }
    Ok([vec![format!("--scenario={scenario}")], options.to_vec()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn the_name_becomes_the_runners_option() {
        assert_eq!(
            arguments("copa-icn/fig6a", &strings(&["--seed=2"])).unwrap(),
            ["--scenario=copa-icn/fig6a", "--seed=2"]
        );
        assert_eq!(arguments("--help", &[]).unwrap(), ["--help"]);
    }

    #[test]
    fn options_before_the_name_and_a_second_scenario_are_refused() {
        assert_eq!(
            arguments("--seed=2", &strings(&["demo"])).unwrap_err().code,
            2
        );
        assert_eq!(
            arguments("demo", &strings(&["--scenario=x"]))
                .unwrap_err()
                .code,
            2
        );
    }
}
