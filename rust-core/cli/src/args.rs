//! The options of the runner.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use ferrocc::scenario::{Assignment, Error, Path, read_value};
use serde_json::{Map, Value};

/// Options, as text: what they mean is the scenario model's business.
#[derive(Debug, Clone, Default, Parser)]
#[command(
    name = "scenarios",
    about = "Runs a scenario of ferrocc in ns-3 and writes its results into a folder",
    no_binary_name = true,
    version,
    override_usage = "scenarios [--scenario=NAME|FILE] [options]",
    after_help = "Quantities need a unit: 20Mbps, 30ms, 10MB, 200p, 1.5bdp. Without options the \
                  demo scenario runs; --list shows the others."
)]
pub struct Args {
    /// Scenario to run: a name that --list shows, or a JSON file.
    #[arg(long, value_name = "NAME|FILE")]
    pub scenario: Option<String>,
    /// Folder for the results [default: out/NAME].
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
    /// Folder that relative FILE and DIR start from [default: the current one].
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<String>,
    /// ns-3's RngSeed.
    #[arg(long, alias = "RngSeed", value_name = "N")]
    pub seed: Option<String>,
    /// ns-3's RngRun.
    #[arg(long, alias = "RngRun", value_name = "N")]
    pub run: Option<String>,
    /// Length of the simulation.
    #[arg(long, value_name = "T")]
    pub duration: Option<String>,
    /// Transport of all flows.
    #[arg(long, value_name = "icn|tcp")]
    pub transport: Option<String>,
    /// Congestion controller of all flows.
    #[arg(long, value_name = "NAME")]
    pub controller: Option<String>,
    /// Recovery of all TCP flows.
    #[arg(long, value_name = "NAME")]
    pub recovery: Option<String>,
    /// AQM of the bottleneck.
    #[arg(long, value_name = "NAME")]
    pub aqm: Option<String>,
    /// Rate of the bottleneck.
    #[arg(long, value_name = "R")]
    pub rate: Option<String>,
    /// Propagation round trip of the whole path.
    #[arg(long, value_name = "T")]
    pub rtprop: Option<String>,
    /// Buffer of the bottleneck: 200p, 50kB, 2bdp.
    #[arg(long, value_name = "B")]
    pub buffer: Option<String>,
    /// Fraction of DATA packets lost at the bottleneck, 0..1.
    #[arg(long, value_name = "P")]
    pub loss: Option<String>,
    /// Fraction of DATA packets held back at the bottleneck, 0..1.
    #[arg(long, value_name = "P")]
    pub reorder: Option<String>,
    /// Number of flows.
    #[arg(long, value_name = "N")]
    pub flows: Option<String>,
    /// Sets any field of the scenario model; repeatable.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Sweeps a field, in the stead of the scenario's sweep of it; VALUES is a JSON list, or
    /// values with commas between; repeatable.
    #[arg(long, value_name = "PATH=VALUES")]
    pub sweep: Vec<String>,
    /// Makes only the run of the sweep that is called so; its results go straight into DIR.
    #[arg(long, value_name = "NAME")]
    pub cell: Option<String>,
    /// Writes a pcap file per device.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub pcap: Option<bool>,
    /// Writes a NetAnim file.
    #[arg(long, value_name = "FILE")]
    pub anim: Option<String>,
    /// Transfers real content and checks it.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub verify: Option<bool>,
    /// How many runs of a sweep may go on at once [default: the processors].
    #[arg(long, value_name = "N")]
    pub jobs: Option<String>,
    /// No progress display.
    #[arg(long)]
    pub no_progress: bool,
    /// Lists scenarios, controllers, recoveries and AQMs.
    #[arg(long)]
    pub list: bool,
    /// Prints the resolved scenario instead of running it.
    #[arg(long)]
    pub describe: bool,
    /// Prints all runs, resolved, as one JSON object instead of making them.
    #[arg(long)]
    pub plan: bool,
}

/// What reading the options gave.
#[derive(Debug)]
pub(crate) enum Read {
    /// Options to act on.
    Args(Box<Args>),
    /// Text to print.
    Text(String),
}

/// Reads the options (without the program's name).
pub(crate) fn read(args: &[String]) -> Result<Read, Error> {
    match Args::try_parse_from(args) {
        Ok(args) => Ok(Read::Args(Box::new(args))),
        Err(e) if matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Ok(Read::Text(e.render().to_string()))
        }
        Err(e) => Err(in_one_line(&e)),
    }
}

/// clap's error as field, given and accepted.
fn in_one_line(error: &clap::Error) -> Error {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        _ => None,
    };
    let arg = context(ContextKind::InvalidArg).unwrap_or_default();
    let option = arg
        .split([' ', '=', '['])
        .next()
        .unwrap_or_default()
        .to_owned();
    let given = context(ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument if option.starts_with('-') => {
            let hint = context(ContextKind::SuggestedArg)
                .map(|name| format!("; did you mean {name}?"))
                .unwrap_or_default();
            let all: Vec<String> = Args::command()
                .get_arguments()
                .filter_map(|a| a.get_long().map(|long| format!("--{long}")))
                .chain(["--help".to_owned()])
                .collect();
            Error::new(
                option,
                format!("unknown option (accepted: {}{hint})", all.join(", ")),
            )
        }
        ErrorKind::UnknownArgument => Error::new(
            format!("\"{arg}\""),
            "is not an option (accepted: --key=value)",
        ),
        ErrorKind::ArgumentConflict => Error::new(option, "is given more than once"),
        ErrorKind::InvalidValue if given.is_empty() => Error::new(option, "needs a value"),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => Error::new(
            option,
            format!("\"{given}\" is not accepted (accepted: true, false)"),
        ),
        ErrorKind::NoEquals => Error::new(option, "needs a value"),
        ErrorKind::TooManyValues | ErrorKind::WrongNumberOfValues => {
            let flag = Args::command().get_arguments().any(|a| {
                a.get_long() == option.strip_prefix("--") && !a.get_action().takes_values()
            });
            let problem = if flag {
                "takes no value"
            } else {
                "takes one value"
            };
            Error::new(option, problem)
        }
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            Error::new("", line.trim_start_matches("error: "))
        }
    }
}

impl Args {
    /// The axes that `--sweep` gives, as in a scenario file.
    pub(crate) fn axes(&self) -> Result<Map<String, Value>, Error> {
        let mut axes = Map::new();
        for sweep in &self.sweep {
            let Some((path, text)) = sweep.split_once('=') else {
                let problem =
                    format!("\"{sweep}\" has no values (accepted: --sweep=path=[values])");
                return Err(Error::new("--sweep", problem));
            };
            let path = path.trim();
            let read = |text: &str| {
                read_value(text).map_err(|e| Error::new(format!("{path} (--sweep)"), e))
            };
            let values = match read(text.trim())? {
                // `red,codel` is short for `["red","codel"]`.
                Value::String(list) if !list.starts_with(['[', '{']) => list
                    .split(',')
                    .map(|value| read(value.trim()))
                    .collect::<Result<_, _>>()?,
                other => other,
            };
            if axes.insert(path.to_owned(), values).is_some() {
                return Err(Error::new(format!("{path} (--sweep)"), "is swept twice"));
            }
        }
        Ok(axes)
    }

    /// What the options change in the scenario, in the order in which they apply.
    pub(crate) fn assignments(&self) -> Result<Vec<Assignment>, Error> {
        let text = |text: &String| Value::from(text.as_str());
        let read = |text: &String| read_value(text).unwrap_or_else(|_| text.as_str().into());
        let options = [
            ("--flows", "flow_count", self.flows.as_ref().map(read)),
            ("--seed", "seed", self.seed.as_ref().map(read)),
            ("--run", "run", self.run.as_ref().map(read)),
            ("--duration", "duration", self.duration.as_ref().map(text)),
            (
                "--transport",
                "flows[*].transport",
                self.transport.as_ref().map(text),
            ),
            (
                "--controller",
                "flows[*].controller",
                self.controller.as_ref().map(text),
            ),
            (
                "--recovery",
                "flows[*].recovery",
                self.recovery.as_ref().map(text),
            ),
            (
                "--aqm",
                "topology.bottleneck.aqm",
                self.aqm.as_ref().map(text),
            ),
            (
                "--rate",
                "topology.bottleneck.rate",
                self.rate.as_ref().map(text),
            ),
            (
                "--rtprop",
                "topology.rtprop",
                self.rtprop.as_ref().map(text),
            ),
            (
                "--buffer",
                "topology.bottleneck.buffer",
                self.buffer.as_ref().map(text),
            ),
            (
                "--loss",
                "topology.bottleneck.loss",
                self.loss.as_ref().map(read),
            ),
            (
                "--reorder",
                "topology.bottleneck.reorder",
                self.reorder.as_ref().map(read),
            ),
            ("--verify", "verify", self.verify.map(Value::from)),
        ];
        let mut assignments = Vec::new();
        for (option, path, value) in options {
            if let Some(value) = value {
                let path: Path = path.parse().expect("the paths above are valid");
                assignments.push(Assignment {
                    path,
                    value,
                    option: option.to_owned(),
                });
            }
        }
        for set in &self.set {
            let Some((path, text)) = set.split_once('=') else {
                let problem = format!("\"{set}\" has no value (accepted: --set=path=value)");
                return Err(Error::new("--set", problem));
            };
            let path: Path = path
                .trim()
                .parse()
                .map_err(|e: String| Error::new("--set", e))?;
            let value =
                read_value(text.trim()).map_err(|e| Error::new(format!("{path} (--set)"), e))?;
            assignments.push(Assignment {
                path,
                value,
                option: "--set".to_owned(),
            });
        }
        Ok(assignments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(args: &[&str]) -> String {
        let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
        match read(&args).and_then(|read| match read {
            Read::Args(args) => args.assignments(),
            Read::Text(_) => Ok(Vec::new()),
        }) {
            Ok(_) => panic!("accepted {args:?}"),
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn errors_of_the_parser_are_one_line() {
        let unknown = error(&["--rat=1"]);
        assert!(
            unknown.starts_with("--rat: unknown option (accepted: --scenario, "),
            "{unknown}"
        );
        assert!(unknown.ends_with("did you mean --rate?)"), "{unknown}");
        assert_eq!(
            error(&["demo"]),
            "\"demo\": is not an option (accepted: --key=value)"
        );
        assert_eq!(
            error(&["--rate=1Mbps", "--rate=2Mbps"]),
            "--rate: is given more than once"
        );
        assert_eq!(error(&["--rate"]), "--rate: needs a value");
        assert_eq!(
            error(&["--verify=maybe"]),
            "--verify: \"maybe\" is not accepted (accepted: true, false)"
        );
        assert_eq!(error(&["--list=1"]), "--list: takes no value");
        assert_eq!(
            error(&[r#"--set=a={"b": 1, "b": 2}"#]),
            "a (--set): the key \"b\" occurs twice"
        );
        assert_eq!(
            error(&["--set=a"]),
            "--set: \"a\" has no value (accepted: --set=path=value)"
        );
        assert!(error(&["--set=a b=1"]).starts_with("--set: \"a b\" is not a path"));
        for args in [&["-x"][..], &["--no-progress", "--no-progress"], &[""]] {
            assert!(!error(args).contains('\n'), "{}", error(args));
        }
    }

    #[test]
    fn the_names_of_ns3_are_accepted() {
        let Ok(Read::Args(args)) = read(&["--RngSeed=3".to_owned(), "--RngRun=4".to_owned()])
        else {
            panic!("refused");
        };
        assert_eq!(
            (args.seed.as_deref(), args.run.as_deref()),
            (Some("3"), Some("4"))
        );
    }
}
