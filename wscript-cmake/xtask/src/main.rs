//! `cargo xtask`: set-up, builds, tests and runs of ferrocc.
//!
//! Exit codes: 0 done; 1 a step or a test failed; 2 bad input, or a set-up that needs the user; `run`,
//! `analysis` and `reproduce` give their program's own.

mod apt;
mod cache;
mod cli;
mod commands;
mod context;
mod deb_sources;
mod failure;
mod ns3_fetch;
mod ns3_tree;
mod process;
mod progress;
mod python;
mod runner;
mod scenarios;
mod standalone;
mod wheel;

use std::process::ExitCode;

use cli::Task;

fn main() -> ExitCode {
    let cli = match cli::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(None) => return ExitCode::SUCCESS,
        Err(Some(failure)) => return end(&failure),
    };
    let result = process::forward_signals().and_then(|()| match cli.command {
        Task::Demo { out } => commands::demo::run(&out),
        Task::Test(options) => commands::test::run(options),
        Task::Run { scenario, options } => commands::run::run(&scenario, &options),
        Task::Analysis { arguments } => commands::analysis::run(&arguments),
        Task::Reproduce(options) => commands::reproduce::run(&options),
        Task::List => commands::list::run(),
        Task::Ns3(options) => commands::ns3::run(&options),
        Task::Bench(options) => commands::bench::run(&options),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => end(&failure),
    }
}

fn end(failure: &failure::Failure) -> ExitCode {
    if !failure.message.is_empty() {
        eprintln!("error: {failure}");
    }
    ExitCode::from(failure.code)
}
