//! The command line of ferrocc's scenario runner, its embedded scenarios and its output folders.
//!
//! The runner in ns-3 and `cargo xtask` read the same options with the same messages through
//! [`parse`]. This crate does what the core must not do: it reads files and writes folders.

mod args;
mod folder;
mod library;
mod output;
mod sweep;
mod text;

use args::{Args, Read};
use ferrocc::scenario::{self, Cell, Error, Library as _};
use serde_json::Value;
use std::path::{Path, PathBuf};

pub use folder::Staging;
pub use library::{Embedded, scenarios};
pub use output::RunWriter;
pub use text::list;

/// Most runs of a sweep that a message lists.
const MOST_LISTED: usize = 20;

/// The scenario that runs when none is named.
pub const DEMO: &str = "demo";

/// The commit this program was built from; "unknown" outside a repository.
pub const GIT: &str = env!("FERROCC_GIT");

/// What a command line asks for.
#[derive(Debug, Clone)]
pub enum Action {
    /// Print and exit.
    Print,
    /// Make the runs.
    Run,
}

/// A command line, read and checked.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What to do.
    pub action: Action,
    /// What to print (before the runs, if there are runs); may be empty.
    pub text: String,
    /// The scenario's name; empty if there is nothing to run.
    pub scenario: String,
    /// Paths of the fields that are swept.
    pub axes: Vec<String>,
    /// The runs, in order.
    pub cells: Vec<Cell>,
    /// Folder of the results; a sweep's runs have folders of their own below it.
    pub out: PathBuf,
    /// How many runs may go on at once.
    pub jobs: usize,
    /// Whether progress is wanted.
    pub progress: bool,
    /// Whether a pcap file per device is wanted.
    pub pcap: bool,
    /// NetAnim file.
    pub anim: Option<PathBuf>,
    /// The options as they were given.
    pub command: Vec<String>,
}

impl Plan {
    fn print(text: String, command: &[String]) -> Plan {
        Plan {
            action: Action::Print,
            text,
            scenario: String::new(),
            axes: Vec::new(),
            cells: Vec::new(),
            out: PathBuf::new(),
            jobs: 1,
            progress: false,
            pcap: false,
            anim: None,
            command: command.to_vec(),
        }
    }

    /// The folder of the run at `index`.
    pub fn folder(&self, index: usize) -> PathBuf {
        match self.cells[index].name.as_str() {
            "" => self.out.clone(),
            name => self.out.join(name),
        }
    }

    /// Whether this is a sweep.
    pub fn is_sweep(&self) -> bool {
        !self.axes.is_empty()
    }
}

/// Reads a command line (without the program's name) and resolves its scenario. Nothing is written.
pub fn parse(command: &[String]) -> Result<Plan, Error> {
    let args = match args::read(command)? {
        Read::Text(text) => return Ok(Plan::print(text, command)),
        Read::Args(args) => args,
    };
    if args.list {
        return Ok(Plan::print(text::list()?, command));
    }
    let cwd = match &args.cwd {
        None => PathBuf::new(),
        Some(cwd) if Path::new(cwd).is_dir() => PathBuf::from(cwd),
        Some(cwd) => return Err(Error::new("--cwd", format!("\"{cwd}\" is not a folder"))),
    };
    let (name, file) = load(args.scenario.as_deref().unwrap_or(DEMO), &cwd)?;
    let (axes, assignments) = (args.axes()?, args.assignments()?);
    let mut plan = scenario::resolve_sweep(&name, file, axes, &assignments, &Embedded)?;
    if let Some(cell) = &args.cell {
        keep_one(&mut plan, cell)?;
    }
    if args.plan {
        return Ok(Plan::print(text::plan(&plan), command));
    }
    if args.describe {
        return Ok(Plan::print(text::describe(&plan)?, command));
    }
    let jobs = jobs(&args)?;
    let out = match &args.out {
        Some(out) if out.is_empty() => return Err(Error::new("--out", "needs a value")),
        Some(out) => folder::resolve(&cwd.join(out)),
        None => folder::resolve(&cwd.join("out").join(&plan.name)),
    };
    let anim = args.anim.as_ref().map(|file| cwd.join(file));
    if let Some(file) = &anim {
        check_anim(file, &args, plan.axes.is_empty())?;
    }
    let plan = Plan {
        action: Action::Run,
        text: if command.is_empty() {
            welcome()
        } else {
            String::new()
        },
        scenario: plan.name,
        axes: plan.axes,
        cells: plan.cells,
        out,
        jobs,
        progress: !args.no_progress,
        pcap: args.pcap.unwrap_or(false),
        anim,
        command: command.to_vec(),
    };
    let folders: Vec<PathBuf> = (0..plan.cells.len()).map(|i| plan.folder(i)).collect();
    folder::check(&plan.out, &folders)?;
    Ok(plan)
}

/// Makes a single run of `plan`: the one of its sweep that is called `name`.
fn keep_one(plan: &mut scenario::Plan, name: &str) -> Result<(), Error> {
    if plan.axes.is_empty() {
        let problem =
            format!("\"{name}\": there is no sweep (accepted: a scenario or --sweep that is one)");
        return Err(Error::new("--cell", problem));
    }
    let Some(index) = plan.cells.iter().position(|cell| cell.name == name) else {
        let names = plan.cells.iter().map(|cell| cell.name.as_str());
        return Err(if plan.cells.len() <= MOST_LISTED {
            Error::unknown("--cell", "run", name, names)
        } else {
            let problem = format!(
                "unknown run \"{name}\" (accepted: one of the {} that --describe lists)",
                plan.cells.len()
            );
            Error::new("--cell", problem)
        });
    };
    let mut cell = plan.cells.swap_remove(index);
    cell.name.clear();
    plan.axes.clear();
    plan.cells = vec![cell];
    Ok(())
}

/// The name and the content of an embedded scenario or of a file.
fn load(given: &str, cwd: &Path) -> Result<(String, Value), Error> {
    if let Some(text) = Embedded.find(given) {
        return Ok((given.to_owned(), scenario::read(text.as_bytes(), given)?));
    }
    let path = cwd.join(given);
    if path.is_file() {
        let bytes = std::fs::read(&path)
            .map_err(|e| Error::new("--scenario", format!("cannot read \"{given}\": {e}")))?;
        let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned());
        return Ok((stem.unwrap_or_default(), scenario::read(&bytes, given)?));
    }
    if path.is_dir() {
        return Err(Error::new(
            "--scenario",
            format!("\"{given}\" is a folder, not a file"),
        ));
    }
    if given.ends_with(".json") {
        return Err(Error::new(
            "--scenario",
            format!("there is no file \"{given}\""),
        ));
    }
    Err(Error::unknown(
        "--scenario",
        "scenario",
        given,
        Embedded.names().into_iter(),
    ))
}

fn jobs(args: &Args) -> Result<usize, Error> {
    match &args.jobs {
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
        Some(text) => match text.parse() {
            Ok(n @ 1..=1024) => Ok(n),
            _ => Err(Error::new(
                "--jobs",
                format!("\"{text}\" is not accepted (accepted: 1..1024)"),
            )),
        },
    }
}

fn check_anim(file: &Path, args: &Args, single: bool) -> Result<(), Error> {
    let given = args.anim.as_deref().unwrap_or_default();
    if !single {
        let problem = "is for a single run (accepted: a scenario without a sweep)";
        return Err(Error::new("--anim", problem));
    }
    let folder = file
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if file.file_name().is_none() || file.is_dir() || !folder.is_dir() {
        let problem = format!("\"{given}\" is not a file in an existing folder");
        return Err(Error::new("--anim", problem));
    }
    Ok(())
}

/// What the bare program says before the demo runs.
fn welcome() -> String {
    format!(
        "no scenario named: running \"{DEMO}\" (others: --list; options: --help; the scenario: \
         --describe)\n"
    )
}

#[cfg(test)]
mod tests;
