//! `cargo xtask run NAME [options]`.

use std::path::Path;

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::process;
use crate::runner;
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
        runner::ensure(&context)?
    };
    let mut command = runner::command(&program)?;
    command.args(arguments);
    Err(process::replace(&mut command))
}

/// The runner's arguments: the scenario, a folder for the results unless one is given, the options.
fn arguments(scenario: &str, options: &[String]) -> Result<Vec<String>> {
    if scenario.starts_with('-') {
        return Err(match scenario {
            "--help" | "-h" => {
                return Ok(vec!["--help".into()]);
            }
            option => Failure::usage(format!("run: {option} comes before the scenario's name")),
        });
    }
    if let Some(second) = options
        .iter()
        .find(|option| option.starts_with("--scenario="))
    {
        return Err(Failure::usage(format!(
            "run: {second} given besides the scenario {scenario}"
        )));
    }
    let mut arguments = vec![format!("--scenario={scenario}")];
    if !options.iter().any(|option| option.starts_with("--out=")) {
        arguments.push(format!("--out={}", default_out(scenario)));
    }
    arguments.extend(options.iter().cloned());
    Ok(arguments)
}

/// `out/NAME`; for a file, NAME is its name without folders and ending.
fn default_out(scenario: &str) -> String {
    let name = match scenario.strip_suffix(".json") {
        Some(_) => Path::new(scenario)
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy(),
        None => scenario.into(),
    };
    format!("out/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn the_results_folder_defaults_to_the_scenarios_name() {
        assert_eq!(
            arguments("copa-icn/fig6a", &strings(&["--seed=2"])).unwrap(),
            [
                "--scenario=copa-icn/fig6a",
                "--out=out/copa-icn/fig6a",
                "--seed=2"
            ]
        );
        assert_eq!(
            arguments("../mine/x.json", &[]).unwrap(),
            ["--scenario=../mine/x.json", "--out=out/x"]
        );
        assert_eq!(
            arguments("demo", &strings(&["--out=here"])).unwrap(),
            ["--scenario=demo", "--out=here"]
        );
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
        assert_eq!(arguments("--help", &[]).unwrap(), ["--help"]);
    }
}
