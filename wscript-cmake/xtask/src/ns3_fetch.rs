//! The distribution's ns-3 source package, unpacked into the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::apt::{self, Need};
use crate::cache::{self, Contents, Identity};
use crate::context::Context;
use crate::deb_sources;
use crate::failure::{Failure, IoContext, Result};
use crate::ns3_tree::Tree;
use crate::process::{Log, find_program};
use crate::progress::Step;

/// The entry of the cache.
const ENTRY: &str = "ns3-source";

/// The tree in the cache, if there is a whole one.
pub fn cached(context: &Context) -> Option<Tree> {
    let codename = codename()?;
    let folder = context.cache.path(ENTRY);
    cache::check(&folder, &identity(&codename), Contents::Living).ok()?;
    Tree::open(&find_tree(&folder)?).ok()
}

/// Downloads and unpacks the source package, if the cache has none.
pub fn ensure(context: &Context) -> Result<Tree> {
    let elsewhere = "unpack a release of ns-3 and use cargo xtask ns3 PATH";
    let (Some(codename), Some(_)) = (codename(), find_program(&["apt-get"])) else {
        return Err(Failure::usage(format!(
            "--fetch needs apt's source packages: {elsewhere}"
        )));
    };
    let folder = context.cache.path(ENTRY);
    if cached(context).is_none() {
        apt::ensure(context, &[Need::DpkgDev])?;
    }
    context.progress.step(
        "ns-3 source",
        &format!("fetch {codename}'s source package"),
        |step| {
            let log = context.logs.begin("ns-3 source")?;
            let sources =
                deb_sources::derive(Path::new("/etc/apt"), &codename).ok_or_else(|| {
                    Failure::usage(format!("apt has no entry for {codename}: {elsewhere}"))
                })?;
            let made = cache::ensure(
                &folder,
                &identity(&codename),
                Contents::Living,
                |temporary| fetch(&log, step, &sources, temporary),
            )?;
            Ok(made.note())
        },
    )?;
    let root = find_tree(&folder)
        .ok_or_else(|| Failure::step(format!("no ns-3 in {}: remove it", folder.display())))?;
    Tree::open(&root).map_err(|failure| {
        Failure::usage(format!(
            "{codename}'s package is no help: {failure}; {elsewhere}"
        ))
    })
}

fn identity(codename: &str) -> Identity {
    // apt checks the package against the signed index of the release.
    Identity {
        name: ENTRY.into(),
        version: codename.into(),
        sha256: String::new(),
    }
}

/// The distribution's release, "bookworm".
fn codename() -> Option<String> {
    codename_in(&fs::read_to_string("/etc/os-release").ok()?)
}

fn codename_in(os_release: &str) -> Option<String> {
    os_release
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="))
        .map(|name| name.trim_matches('"').to_owned())
        .filter(|name| !name.is_empty())
}

fn fetch(log: &Log, step: &Step<'_>, sources: &str, folder: &Path) -> Result<()> {
    // apt's own state is not touched: list, state and cache are private to this folder.
    let state = folder.join("apt");
    let list = state.join("ferrocc.sources");
    let cannot = format!("cannot write {}", list.display());
    for sub in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(state.join(sub)).context(&cannot)?;
    }
    fs::write(&list, sources).context(&cannot)?;
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.current_dir(folder).args(["-q", "-o"]);
        command.arg(format!("Dir::Etc::sourcelist={}", list.display()));
        command.args(["-o", "Dir::Etc::sourceparts=-", "-o"]);
        command.arg(format!(
            "Dir::State::lists={}",
            state.join("lists").display()
        ));
        command
            .arg("-o")
            .arg(format!("Dir::Cache={}", state.join("cache").display()));
        if apt::is_root() {
            // apt's own user may not be let into root's folders.
            command.args(["-o", "APT::Sandbox::User=root"]);
        }
        command.args(arguments);
        command
    };
    step.note("read the index");
    log.run(step, &mut apt(&["update"]))?;
    step.note("download and unpack");
    log.run(step, &mut apt(&["source", "ns3"]))?;
    cache::remove(&state)?;
    find_tree(folder)
        .map(|_| ())
        .ok_or_else(|| log.failure("the package has no ns-3 tree"))
}

/// The folder `ns3-3.37/ns-3.37` or `ns3-3.44` below the entry.
fn find_tree(folder: &Path) -> Option<PathBuf> {
    let folders = |folder: &Path| -> Vec<PathBuf> {
        let mut found: Vec<_> = fs::read_dir(folder)
            .map(|entries| {
                entries
                    .filter_map(|entry| Some(entry.ok()?.path()))
                    .collect()
            })
            .unwrap_or_default();
        found.retain(|path: &PathBuf| path.is_dir());
        found.sort();
        found
    };
    let is_tree = |path: &PathBuf| path.join("ns3").is_file() && path.join("VERSION").is_file();
    let outer = folders(folder);
    let inner = outer.iter().flat_map(|path| folders(path));
    outer.clone().into_iter().chain(inner).find(is_tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_read_from_os_release() {
        let text = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_CODENAME=bookworm\nID=debian\n";
        assert_eq!(codename_in(text).as_deref(), Some("bookworm"));
        assert_eq!(
            codename_in("VERSION_CODENAME=\"noble\"\n").as_deref(),
            Some("noble")
        );
        assert_eq!(codename_in("VERSION_CODENAME=\n"), None);
        assert_eq!(codename_in("ID=arch\n"), None);
    }

    #[test]
    fn a_tree_is_found_directly_or_inside_the_all_in_one_package() {
        for inner in ["ns3-3.44", "ns3-3.37/ns-3.37"] {
            let folder = tempfile::tempdir().unwrap();
            let tree = folder.path().join(inner);
            fs::create_dir_all(&tree).unwrap();
            assert_eq!(find_tree(folder.path()), None);
            fs::write(tree.join("ns3"), "").unwrap();
            fs::write(tree.join("VERSION"), "").unwrap();
            assert_eq!(find_tree(folder.path()), Some(tree));
        }
    }
}
