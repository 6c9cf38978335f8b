//! `cargo xtask reproduce [CLAIM|PAPER…]`: the papers' claims, run and judged.

use std::ffi::OsString;
use std::path::Path;

use crate::cli::ReproduceOptions;
use crate::commands::analysis;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::process;
use crate::python;
use crate::runner::{self, SCENARIOS};

/// What the analysis package takes for a claim, a line each; its tests keep the file up to date.
pub(super) const NAMES: &str =
    include_str!("../../../../analysis/src/ferrocc_analysis/claims/names.txt");

/// How alike two names must be for one to be suggested for the other, 0..1.
const ALIKE: f64 = 0.7;

/// Validates, builds and sets up what is missing and becomes `ferrocc-analysis reproduce`, whose
/// signals and exit code are then this program's.
pub fn run(options: &ReproduceOptions) -> Result<()> {
    check(&options.names, NAMES)?;
    check_out(&options.out)?;
    let mut command = {
        // Let go of the cache before the runs: others may build meanwhile.
        let context = Context::new()?;
        let program = runner::ensure(&context, &[SCENARIOS], &[])?.path(SCENARIOS)?;
        let venv = python::ensure_analysis(&context)?;
        let mut command = analysis::command(&context, &venv);
        command.args(arguments(options, &program));
        command
    };
    Err(process::replace(&mut command))
}

/// The program's arguments.
fn arguments(options: &ReproduceOptions, runner: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["reproduce".into(), "--runner".into(), runner.into()];
    words.extend(["--out".into(), options.out.clone().into()]);
    for (given, flag) in [(options.quick, "--quick"), (options.full, "--full")] {
        if given {
            words.push(flag.into());
        }
    }
    if let Some(jobs) = options.jobs {
        words.extend(["--jobs".into(), jobs.to_string().into()]);
    }
    words.extend(options.names.iter().map(OsString::from));
    words
}

/// Refuses a name that is none of `accepted` (a line each), in any letter case.
fn check(names: &[String], accepted: &str) -> Result<()> {
    for given in names {
        if accepted
            .lines()
            .any(|name| name.eq_ignore_ascii_case(given))
        {
            continue;
        }
        let likeness =
            |name: &str| strsim::jaro_winkler(&given.to_lowercase(), &name.to_lowercase());
        // "fig6" means C2-fig6, not the name that is spelt most alike.
        let within = |name: &&str| name.to_lowercase().contains(&given.to_lowercase());
        let containing = accepted.lines().find(within).filter(|_| given.len() > 1);
        let hint = accepted
            .lines()
            .filter(|name| containing.is_none_or(|found| *name == found))
            .map(|name| {
                (
                    if containing.is_some() {
                        1.0
                    } else {
                        likeness(name)
                    },
                    name,
                )
            })
            .filter(|(alike, _)| *alike > ALIKE)
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
            .map(|(_, name)| format!("; did you mean {name}?"))
            .unwrap_or_default();
        let all = accepted.lines().collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(format!(
            "claim: unknown claim or paper {given:?} (accepted: {all}{hint})"
        )));
    }
    Ok(())
}

/// Refuses a place where no folder can be.
fn check_out(out: &Path) -> Result<()> {
    let blocked = out
        .ancestors()
        .find(|place| place.symlink_metadata().is_ok())
        .filter(|place| !place.is_dir());
    match blocked {
        Some(file) => Err(Failure::usage(format!(
            "--out: \"{}\" is a file, not a folder",
            file.display()
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn claims_and_papers_are_known_before_anything_is_set_up() {
        for name in ["copa-icn", "C2-fig6", "c2", "ablations"] {
            assert_eq!(check(&names(&[name]), NAMES), Ok(()), "{name}");
        }
        assert_eq!(check(&[], NAMES), Ok(()));
    }

    #[test]
    fn an_unknown_name_is_one_line_with_the_nearest() {
        let failure =
            check(&names(&["C2-fig6", "c2-fig9"]), "copa-icn\nC2\nC2-fig6\n").unwrap_err();
        assert_eq!(failure.code, 2);
        assert_eq!(
            failure.message,
            "claim: unknown claim or paper \"c2-fig9\" (accepted: copa-icn, C2, C2-fig6; did you \
             mean C2-fig6?)"
        );
        assert!(
            !check(&names(&["xyz"]), "C2\n")
                .unwrap_err()
                .message
                .contains("did you mean")
        );
        let part = check(&names(&["FIG6"]), "C7-fig16\nC2-fig6\n").unwrap_err();
        assert!(part.message.ends_with("did you mean C2-fig6?)"), "{part:?}");
        let odd = check(&names(&["a\nb"]), "C2\n").unwrap_err().message;
        assert!(!odd.contains('\n'), "{odd}");
    }

    #[test]
    fn a_file_is_no_place_for_results() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(check_out(&root.path().join("new/er")), Ok(()));
        for place in [file.clone(), file.join("below")] {
            let failure = check_out(&place).unwrap_err();
            assert!(failure.code == 2 && failure.message.contains("is a file"));
        }
    }

    #[test]
    fn options_reach_the_program() {
        let options = ReproduceOptions {
            names: names(&["C2"]),
            quick: true,
            full: false,
            jobs: Some(3),
            out: "o".into(),
        };
        let words = arguments(&options, Path::new("r"));
        let expected = "reproduce --runner r --out o --quick --jobs 3 C2";
        assert_eq!(
            words,
            expected.split(' ').map(OsString::from).collect::<Vec<_>>()
        );
    }
}
