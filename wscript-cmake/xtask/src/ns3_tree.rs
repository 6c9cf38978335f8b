//! ns-3 source trees: checking one, linking the module into it, building it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::context::Context;
use crate::failure::{Failure, IoContext, Result};

/// The modules that ferrocc's own build of a tree enables. Without csma, ns-3.37's test runner does not
/// link; netanim (for --anim) would bring wifi and lte along and double the build.
pub const MODULES: &str = "internet;point-to-point;traffic-control;applications;flow-monitor;\
                           mobility;internet-apps;csma;ferrocc";

/// The oldest ns-3 that the module supports.
const OLDEST: (u32, u32) = (3, 37);

/// A folder that holds ns-3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The folder with `./ns3`.
    pub root: PathBuf,
    /// Its version, "3.37".
    pub version: String,
}

/// What `contrib/ferrocc` of a tree is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// Nothing.
    Absent,
    /// This repository's module.
    Ours,
    /// A link to somewhere else.
    Elsewhere(PathBuf),
    /// Not a link.
    Folder,
}

impl Tree {
    /// Checks that `path` is an ns-3 tree, new enough.
    pub fn open(path: &Path) -> Result<Self> {
        let shown = path.display();
        let root = path
            .canonicalize()
            .map_err(|error| Failure::usage(format!("ns-3 tree: {shown}: {error}")))?;
        let is_tree = ["ns3", "VERSION", "src/core/CMakeLists.txt"]
            .iter()
            .all(|file| root.join(file).is_file());
        if !is_tree {
            return Err(Failure::usage(format!(
                "ns-3 tree: {shown} is not one (no ns3, VERSION and src/core/CMakeLists.txt in it)"
            )));
        }
        let version = fs::read_to_string(root.join("VERSION"))
            .map_err(|error| Failure::usage(format!("ns-3 tree: {shown}/VERSION: {error}")))?
            .trim()
            .to_owned();
        if !is_new_enough(&version) {
            return Err(Failure::usage(format!(
                "ns-3 tree: {shown} has version {version}; 3.{} or newer is needed",
                OLDEST.1
            )));
        }
        Ok(Self { root, version })
    }

    /// What the tree's `contrib/ferrocc` is.
    pub fn link_state(&self, module: &Path) -> Link {
        let link = self.root.join("contrib/ferrocc");
        match link.symlink_metadata() {
            Err(_) => Link::Absent,
            Ok(_) if link.canonicalize().is_ok_and(|path| path == *module) => Link::Ours,
            Ok(meta) if meta.is_symlink() => {
                Link::Elsewhere(fs::read_link(&link).unwrap_or_default())
            }
            Ok(_) => Link::Folder,
        }
    }

    /// Links `contrib/ferrocc` to `module`. A link to another clone is changed only if `relink`; a
    /// real folder never is.
    pub fn link(&self, module: &Path, relink: bool) -> Result<&'static str> {
        let link = self.root.join("contrib/ferrocc");
        let note = match self.link_state(module) {
            Link::Ours => return Ok("linked before"),
            Link::Folder => {
                return Err(Failure::usage(format!(
                    "{} is a folder, not a link: move it away first",
                    link.display()
                )));
            }
            Link::Elsewhere(target) if !relink && target.exists() => {
                return Err(Failure::usage(format!(
                    "{} links to {}: remove the link first",
                    link.display(),
                    target.display()
                )));
            }
            Link::Elsewhere(_) => {
                fs::remove_file(&link).context(format!("cannot change {}", link.display()))?;
                "link changed to this clone"
            }
            Link::Absent => "linked",
        };
        let cannot = format!("cannot create {}", link.display());
        fs::create_dir_all(self.root.join("contrib")).context(&cannot)?;
        std::os::unix::fs::symlink(module, &link).context(&cannot)?;
        Ok(note)
    }

    /// The tree's own record of its configuration and programs.
    fn lock_file(&self) -> Option<String> {
        fs::read_dir(&self.root)
            .ok()?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(".lock-ns3_") && name.ends_with("_build")
            })
            .and_then(|path| fs::read_to_string(path).ok())
    }

    /// A built program, "scenarios" or "test-runner".
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let lock = self.lock_file()?;
        runnable_program(&lock, name)
            .map(PathBuf::from)
            .filter(|path| path.is_file())
    }

    /// Whether the tree is configured as an optimized build with the module in it.
    fn is_configured(&self) -> bool {
        self.lock_file().is_some_and(|lock| {
            value(&lock, "BUILD_PROFILE") == Some("'optimized'") && lock.contains("ns3-ferrocc")
        })
    }

    /// Builds targets of a tree that is configured already.
    pub fn build(&self, context: &Context, targets: &[&str]) -> Result<()> {
        if !self.is_configured() {
            return Err(Failure::usage(format!(
                "{} is not configured as an optimized build with ferrocc: cargo xtask ns3 {0} prints how",
                self.root.display()
            )));
        }
        let name = format!("ns-3 {}", self.version);
        let what = match targets {
            [] => "compile the tree".to_owned(),
            targets => format!("compile {} in the tree", targets.join(" and ")),
        };
        context.progress.step(&name, &what, |step| {
            let log = context
                .logs
                .begin(&format!("ns-3 build {}", targets.join(" ")))?;
            let mut ninja = Command::new("cmake");
            ninja.arg("--build").arg(self.root.join("cmake-cache"));
            ninja.args(["--parallel", &context.jobs.to_string()]);
            // What another tree of the same sources has compiled is found in the compiler cache.
            ninja.env("CCACHE_BASEDIR", &self.root);
            // As `./ns3` sets it: its absence would change every command line when CMake runs again,
            // and so compile the whole tree anew.
            ninja.env("CLICOLOR", "1");
            if !targets.is_empty() {
                ninja.arg("--target").args(targets);
            }
            log.run(step, &mut ninja)?;
            let nothing = log.text().contains("ninja: no work to do");
            Ok(if nothing { "up to date" } else { "built" }.into())
        })
    }

    /// `./ns3 configure` as ferrocc's own tree is configured.
    pub fn configure(&self, context: &Context) -> Result<()> {
        context.progress.step(
            &format!("ns-3 {}", self.version),
            "configure, optimized, the modules needed",
            |step| {
                if self.is_configured() && self.root.join("cmake-cache/build.ninja").exists() {
                    return Ok("configured before".into());
                }
                let log = context.logs.begin("ns-3 configure")?;
                let mut command = Command::new("./ns3");
                command.current_dir(&self.root).args(CONFIGURE);
                if cfg!(target_arch = "x86_64") {
                    // "optimized" means -march=native; valgrind, which counts instructions for
                    // `bench`, does not know AVX-512.
                    command.env("CXXFLAGS", "-mno-avx512f");
                }
                command.args(["-G", "Ninja"]);
                command.arg(format!("--enable-modules={MODULES}"));
                log.run(step, &mut command)?;
                Ok("configured".into())
            },
        )
    }

    /// The `./ns3` commands for a user's tree.
    pub fn commands(&self) -> String {
        format!(
            "cd {}\n./ns3 configure {} --enable-modules=\"{MODULES}\"\n./ns3 build\n\
             ./ns3 run scenarios\n\
             ./ns3 run \"scenarios --scenario=copa-icn/fig6a --controller=copa --out=DIR\"\n\
             ./ns3 run \"icn-fetch --controller=newreno\"\n\
             ./test.py -n -s ferrocc-transport\n",
            crate::process::quote(&self.root),
            CONFIGURE[1..].join(" "),
        )
    }
}

/// The words of `./ns3 configure`, without the modules.
const CONFIGURE: [&str; 6] = [
    "configure",
    "-d",
    "optimized",
    "--enable-examples",
    "--enable-tests",
    "--filter-module-examples-and-tests=ferrocc",
];

/// "3.37", "3.48-dev", "3-dev".
fn is_new_enough(version: &str) -> bool {
    if version.starts_with("3-dev") {
        return true;
    }
    let mut parts = version.split(|c: char| !c.is_ascii_digit());
    let mut number = || {
        parts
            .next()
            .and_then(|part| part.parse::<u32>().ok())
            .unwrap_or(0)
    };
    (number(), number()) >= OLDEST
}

/// The value of `KEY = value` in ns-3's lock file.
fn value<'a>(lock: &'a str, key: &str) -> Option<&'a str> {
    lock.lines().find_map(|line| {
        Some(
            line.strip_prefix(key)?
                .trim_start()
                .strip_prefix('=')?
                .trim(),
        )
    })
}

/// The path of the program whose file is called `ns<version>-<name>-<profile>`.
fn runnable_program<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    value(lock, "ns3_runnable_programs")?
        .trim_matches(['[', ']'])
        .split(',')
        .map(|path| path.trim().trim_matches('\''))
        .find(|path| {
            let file = path.rsplit('/').next().unwrap_or_default();
            let Some((version, rest)) = file.split_once('-') else {
                return false;
            };
            let profiles = [
                "-optimized",
                "-debug",
                "-default",
                "-release",
                "-relwithdebinfo",
                "",
            ];
            version.starts_with("ns3")
                && profiles
                    .iter()
                    .any(|profile| rest.strip_suffix(profile) == Some(name))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(version: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("src/core")).unwrap();
        for (file, text) in [
            ("ns3", ""),
            ("VERSION", version),
            ("src/core/CMakeLists.txt", ""),
        ] {
            fs::write(folder.path().join(file), text).unwrap();
        }
        folder
    }

    #[test]
    fn versions_are_checked_as_numbers() {
        for good in ["3.37", "3.40.1", "3.48-dev", "3-dev", "3.100", "4.0"] {
            assert!(is_new_enough(good), "{good}");
        }
        for bad in ["3.36", "3.9", "2.99", ""] {
            assert!(!is_new_enough(bad), "{bad}");
        }
    }

    #[test]
    fn a_folder_that_is_no_tree_or_too_old_is_bad_input() {
        let empty = tempfile::tempdir().unwrap();
        for path in [empty.path(), Path::new("/no/such/folder")] {
            let failure = Tree::open(path).unwrap_err();
            assert_eq!(failure.code, 2);
            assert!(!failure.message.contains('\n'), "{}", failure.message);
        }
        let old = tree("3.36\n");
        assert!(Tree::open(old.path()).unwrap_err().message.contains("3.36"));
        let good = tree("3.44\n");
        assert_eq!(Tree::open(good.path()).unwrap().version, "3.44");
    }

    #[test]
    fn linking_is_repeatable_and_never_replaces_what_it_did_not_make() {
        let (folder, ours, other) = (tree("3.44"), tempfile::tempdir().unwrap(), tree("3.44"));
        let tree = Tree::open(folder.path()).unwrap();
        let ours = ours.path().canonicalize().unwrap();
        assert_eq!(tree.link_state(&ours), Link::Absent);
        assert_eq!(tree.link(&ours, false), Ok("linked"));
        assert_eq!(tree.link(&ours, false), Ok("linked before"));

        let link = tree.root.join("contrib/ferrocc");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(other.path(), &link).unwrap();
        assert_eq!(tree.link(&ours, false).unwrap_err().code, 2);
        assert_eq!(tree.link(&ours, true), Ok("link changed to this clone"));

        // A link to a clone that is gone is nobody's.
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("/no/such/clone", &link).unwrap();
        assert_eq!(tree.link(&ours, false), Ok("link changed to this clone"));

        fs::remove_file(&link).unwrap();
        fs::create_dir(&link).unwrap();
        assert_eq!(tree.link(&ours, true).unwrap_err().code, 2);
    }

    #[test]
    fn programs_are_found_in_ns3s_own_record() {
        let lock = "NS3_ENABLED_CONTRIBUTED_MODULES = ['ns3-ferrocc', ]\nBUILD_PROFILE = 'optimized'\n\
                    ns3_runnable_programs = ['/t/build/utils/ns3.37-test-runner-optimized', \
                    '/t/build/contrib/ferrocc/ns3.37-scenarios-optimized']\n";
        let found = runnable_program(lock, "scenarios");
        assert_eq!(
            found,
            Some("/t/build/contrib/ferrocc/ns3.37-scenarios-optimized")
        );
        assert_eq!(
            runnable_program(lock, "test-runner"),
            Some("/t/build/utils/ns3.37-test-runner-optimized")
        );
        assert_eq!(runnable_program(lock, "runner"), None);
        assert_eq!(value(lock, "BUILD_PROFILE"), Some("'optimized'"));
    }
}
