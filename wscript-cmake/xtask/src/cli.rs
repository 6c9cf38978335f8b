//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};

use crate::failure::Failure;

/// `cargo xtask`.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Sets up, builds, tests and runs ferrocc",
    after_help = "NS3_DIR=PATH makes run, demo, reproduce and bench use that ns-3 tree's optimized build.\n\
                  The cache is ${XDG_CACHE_HOME:-$HOME/.cache}/ferrocc; it can be removed at any time."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Task,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Copa-ICN against Copa, BBR, CUBIC and NewReno on topo-1: traces, figures and a table in out/demo
    Demo {
        /// Folder for the results
        #[arg(long, value_name = "DIR", default_value = "out/demo")]
        out: PathBuf,
    },
    /// Runs every test: Rust, C++ on both ns-3 versions, Python, end to end, style
    Test(TestOptions),
    /// Runs one scenario, or a sweep, with the runner's own options
    #[command(disable_help_flag = true)]
    Run {
        /// A scenario's name (see `cargo xtask list`) or a scenario file
        #[arg(value_name = "NAME", allow_hyphen_values = true)]
        scenario: String,
        /// The runner's options, --key=value
        #[arg(
            value_name = "OPTION",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        options: Vec<String>,
    },
    /// Figures, tables and metrics of runs: plot, table, metrics (try `analysis --help`)
    #[command(disable_help_flag = true)]
    Analysis {
        /// What `ferrocc-analysis` takes
        #[arg(
            value_name = "ARGUMENT",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        arguments: Vec<OsString>,
    },
    /// Runs what the papers' claims need, judges them, writes out/report/index.html
    Reproduce(ReproduceOptions),
    /// Scenarios, controllers, recoveries and AQMs, each with one line, and the papers' claims
    List,
    /// Links the module into an ns-3 tree and prints the ./ns3 commands that follow
    Ns3(Ns3Options),
    /// The benchmarks, with their targets
    Bench(BenchOptions),
}

/// Options of `reproduce`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct ReproduceOptions {
    /// Claims (C2-fig6 or C2), papers (copa-icn, ecd-icn), or ablations; all if none is given
    /// (`cargo xtask list` has the names)
    #[arg(value_name = "CLAIM|PAPER")]
    pub names: Vec<String>,
    /// Few, shortened runs; verdicts are preliminary
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// As the papers, with more runs
    #[arg(long)]
    pub full: bool,
    /// Runs at once [default: the processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Folder for the runs (campaign/) and the report (report/)
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub out: PathBuf,
}

/// Options of `test`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct TestOptions {
    /// Leave out the build in an ns-3 tree
    #[arg(long)]
    pub quick: bool,
}

/// Options of `ns3`.
#[derive(Debug, Clone, clap::Args)]
#[group(required = true, multiple = false)]
pub struct Ns3Options {
    /// The tree to link the module into
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Fetch the distribution's ns-3 source package, build it with the module, keep it in the cache
    #[arg(long)]
    pub fetch: bool,
}

/// Options of `bench`.
#[derive(Debug, Clone, clap::Args)]
pub struct BenchOptions {
    /// Five times as many packets
    #[arg(long)]
    pub full: bool,
    /// Keep the figures under this name
    #[arg(long, value_name = "NAME")]
    pub save: Option<String>,
    /// Compare with the figures kept under this name
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
}

/// Reads the command line. `Err(None)` means that help was printed.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Cli, Option<Failure>> {
    Cli::try_parse_from(arguments).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = error.print();
            None
        }
        _ => Some(Failure::usage(one_line(&error))),
    })
}

/// Clap's message as one line: what is wrong, the nearest name or what is accepted.
fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut message = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "no command given".to_owned(),
        _ => {
            let what: Vec<_> = text
                .lines()
                .take_while(|line| !line.is_empty() && !line.starts_with("Usage"))
                .map(str::trim)
                .collect();
            what.join(" ").trim_start_matches("error: ").to_owned()
        }
    };
    let suggestion = error
        .context()
        .find_map(|(kind, value)| match (kind, value) {
            (ContextKind::SuggestedSubcommand | ContextKind::SuggestedArg, value) => match value {
                ContextValue::String(name) => Some(name.clone()),
                ContextValue::Strings(names) => names.first().cloned(),
                _ => None,
            },
            _ => None,
        });
    if let Some(name) = suggestion {
        message += &format!("; did you mean {name}?");
    } else if matches!(
        error.kind(),
        ErrorKind::InvalidSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        let command = Cli::command();
        let names: Vec<_> = command
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        message += &format!("; commands: {}", names.join(", "));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> impl Iterator<Item = OsString> {
        line.split(' ')
            .map(Into::into)
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn message(line: &str) -> String {
        let failure = parse(words(line)).unwrap_err().unwrap();
        assert_eq!(failure.code, 2);
        assert!(!failure.message.contains('\n'), "{}", failure.message);
        failure.message
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_wrong_command_is_one_line_with_the_nearest_name() {
        let text = message("xtask demoo");
        assert!(
            text.contains("demoo") && text.ends_with("did you mean demo?"),
            "{text}"
        );
        let text = message("xtask zzz");
        assert!(
            text.contains("zzz") && text.contains("demo, test, run"),
            "{text}"
        );
        assert!(message("xtask").contains("no command given; commands: demo"));
    }

    #[test]
    fn wrong_options_are_one_line() {
        let text = message("xtask test --quik");
        assert!(
            text.contains("--quik") && text.ends_with("did you mean --quick?"),
            "{text}"
        );
        assert!(message("xtask run").contains("<NAME>"));
        assert!(message("xtask ns3").contains("PATH"));
        assert!(message("xtask ns3 --fetch /tree").contains("--fetch"));
    }

    #[test]
    fn reproduce_takes_names_and_one_scale() {
        let cli = parse(words("xtask reproduce copa-icn C2 --quick --jobs 2")).unwrap();
        let Task::Reproduce(options) = cli.command else {
            panic!("not reproduce")
        };
        assert_eq!(options.names, ["copa-icn", "C2"]);
        assert_eq!(
            (options.quick, options.full, options.jobs),
            (true, false, Some(2))
        );
        assert_eq!(options.out, PathBuf::from("out"));
        assert!(message("xtask reproduce --quick --full").contains("--full"));
        assert!(message("xtask reproduce --jobs 0").contains("--jobs"));
        assert!(message("xtask reproduce --ful").ends_with("did you mean --full?"));
    }

    #[test]
    fn the_runners_options_are_passed_through() {
        let cli = parse(words("xtask run base/topo-1 --flows=3 --set=a=b --pcap")).unwrap();
        let Task::Run { scenario, options } = cli.command else {
            panic!("not run")
        };
        assert_eq!(scenario, "base/topo-1");
        assert_eq!(options, ["--flows=3", "--set=a=b", "--pcap"]);
        let cli = parse(words("xtask run --help")).unwrap();
        assert!(matches!(cli.command, Task::Run { scenario, .. } if scenario == "--help"));
    }
}
