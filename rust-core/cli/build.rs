//! Embeds the scenario files and the commit that is built.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let root = here.join("../../scenarios").canonicalize()?;
    let mut files = Vec::new();
    collect(&root, &root, &mut files)?;
    files.sort();

    let mut table = String::from("&[\n");
    for (name, path) in &files {
        writeln!(
            table,
            "    ({name:?}, include_str!({:?})),",
            path.display().to_string()
        )
        .expect("writing to a string");
    }
    table.push(']');
    let out = PathBuf::from(env::var("OUT_DIR").expect("set by cargo"));
    fs::write(out.join("scenarios.rs"), table)?;

    let git = |args: &[&str]| {
        let output = Command::new("git")
            .current_dir(&here)
            .args(args)
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo:rustc-env=FERROCC_GIT={commit}");
    // HEAD's log grows with every commit, checkout and reset.
    for file in ["logs/HEAD", "HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            println!("cargo:rerun-if-changed={}", here.join(path).display());
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
    Ok(())
}

/// All scenario files below `folder`, named by their path without the extension.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            // Results of runs that were started here are no scenarios.
            if path.file_name().is_some_and(|n| n != "out") {
                collect(root, &path, files)?;
            }
            continue;
        }
        let name = path
            .strip_prefix(root)
            .expect("below the root")
            .with_extension("");
        if path.extension().is_some_and(|e| e == "json") && name != Path::new("schema") {
            println!("cargo:rerun-if-changed={}", path.display());
            let name = name.to_string_lossy().replace('\\', "/");
            files.push((name, path));
        }
    }
    Ok(())
}
