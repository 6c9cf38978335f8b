//! System packages: looked for first, installed through apt only where something is missing.

use std::io::{BufRead, IsTerminal, Write};
use std::process::Command;

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::process::{find_program, output};
use crate::python;

/// What a command needs from the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// A C++17 compiler that ns-3 accepts.
    Compiler,
    /// CMake.
    CMake,
    /// Ninja.
    Ninja,
    /// The compiler cache.
    Ccache,
    /// Python >= 3.11 with `venv`.
    Python,
    /// `dpkg-source`, for the ns-3 source package.
    DpkgDev,
    /// Callgrind, for the benchmarks.
    Valgrind,
}

/// What every build of the module needs.
pub const BUILD: [Need; 5] = [
    Need::Compiler,
    Need::CMake,
    Need::Ninja,
    Need::Ccache,
    Need::Python,
];

impl Need {
    /// Debian's packages that bring it.
    fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Compiler => &["g++"],
            Self::CMake => &["cmake"],
            Self::Ninja => &["ninja-build"],
            Self::Ccache => &["ccache"],
            Self::Python => &["python3", "python3-venv"],
            Self::DpkgDev => &["dpkg-dev"],
            Self::Valgrind => &["valgrind"],
        }
    }

    fn is_met(self) -> bool {
        match self {
            Self::Compiler => find_program(&["g++", "c++", "clang++"]).is_some(),
            Self::CMake => find_program(&["cmake"]).is_some(),
            Self::Ninja => find_program(&["ninja"]).is_some(),
            Self::Ccache => find_program(&["ccache"]).is_some(),
            Self::Python => python::find().is_some(),
            Self::DpkgDev => find_program(&["dpkg-source"]).is_some(),
            Self::Valgrind => find_program(&["valgrind"]).is_some(),
        }
    }
}

/// How packages can be installed here.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Plan {
    /// Start apt-get with these words before it.
    Install { prefix: Vec<&'static str> },
    /// The user has to.
    Refuse(String),
}

/// The facts a plan depends on.
#[derive(Debug, Clone, Copy)]
struct Host {
    apt: bool,
    root: bool,
    terminal: bool,
    /// `sudo -n` works.
    passwordless_sudo: bool,
    sudo: bool,
}

/// Decides how to install. With a terminal the user is asked afterwards.
fn plan(host: Host, packages: &[&str]) -> Plan {
    let typed = format!(
        "apt-get install --no-install-recommends {}",
        packages.join(" ")
    );
    if !host.apt {
        let names = packages.join(", ");
        return Plan::Refuse(format!(
            "missing: {names} (Debian's package names); install them with this system's package manager"
        ));
    }
    if host.root {
        Plan::Install { prefix: vec![] }
    } else if host.terminal && host.sudo {
        Plan::Install {
            prefix: vec!["sudo"],
        }
    } else if host.passwordless_sudo {
        Plan::Install {
            prefix: vec!["sudo", "-n"],
        }
    } else {
        Plan::Refuse(format!("packages are missing; as root: {typed}"))
    }
}

/// Whether this process is root.
pub fn is_root() -> bool {
    output(Command::new("id").arg("-u")).as_deref() == Some("0")
}

/// Makes sure that everything in `needs` is there.
pub fn ensure(context: &Context, needs: &[Need]) -> Result<()> {
    let missing: Vec<Need> = needs
        .iter()
        .copied()
        .filter(|need| !need.is_met())
        .collect();
    let mut packages: Vec<&str> = missing
        .iter()
        .flat_map(|need| need.packages())
        .copied()
        .collect();
    packages.dedup();
    if packages.is_empty() {
        return context
            .progress
            .step("system packages", "look for them", |_| Ok("present".into()));
    }
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let root = is_root();
    let sudo = !root && find_program(&["sudo"]).is_some();
    let host = Host {
        apt: find_program(&["apt-get"]).is_some(),
        root,
        terminal,
        sudo,
        passwordless_sudo: sudo && output(Command::new("sudo").args(["-n", "true"])).is_some(),
    };
    let prefix = match plan(host, &packages) {
        Plan::Install { prefix } => prefix,
        Plan::Refuse(message) => return Err(Failure::usage(message)),
    };
    if terminal && !confirm(&prefix, &packages)? {
        return Err(Failure::usage(format!(
            "not installed: {}",
            packages.join(" ")
        )));
    }
    if prefix == ["sudo"]
        && !matches!(Command::new("sudo").arg("-v").status(), Ok(s) if s.success())
    {
        return Err(Failure::usage(format!(
            "sudo refused; as root: apt-get install --no-install-recommends {}",
            packages.join(" ")
        )));
    }
    context.progress.step(
        "system packages",
        &format!("install {}", packages.join(" ")),
        |step| {
            let log = context.logs.begin("system packages")?;
            let apt = |arguments: &[&str]| {
                let words = [
                    &prefix[..],
                    &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y"],
                ];
                let words = words.concat();
                let mut command = Command::new(words[0]);
                command.args(&words[1..]).args(arguments);
                command
            };
            let install = [&["install", "--no-install-recommends"][..], &packages].concat();
            // The lists of a fresh machine are empty or old: refresh them only if they have to be.
            if !log.status(step, &mut apt(&install))?.success() {
                log.run(step, &mut apt(&["update"]))?;
                log.run(step, &mut apt(&install))?;
            }
            match needs.iter().find(|need| !need.is_met()) {
                Some(need) => Err(log.failure(&format!(
                    "still missing after the installation: {}",
                    need.packages().join(" ")
                ))),
                None => Ok("installed".into()),
            }
        },
    )
}

fn confirm(prefix: &[&str], packages: &[&str]) -> Result<bool> {
    let command = [prefix, &["apt-get", "install"], packages]
        .concat()
        .join(" ");
    eprint!("These packages are missing. Run `{command}`? [Y/n] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Failure::usage(format!("cannot read the answer: {error}")))?;
    Ok(matches!(answer.trim(), "" | "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: Host = Host {
        apt: true,
        root: false,
        terminal: false,
        passwordless_sudo: false,
        sudo: false,
    };

    #[test]
    fn root_installs_directly_and_sudo_is_used_without_a_password_only_off_the_terminal() {
        let install = |prefix: &[&'static str]| Plan::Install {
            prefix: prefix.to_vec(),
        };
        assert_eq!(
            plan(
                Host {
                    root: true,
                    ..NOBODY
                },
                &["g++"]
            ),
            install(&[])
        );
        let host = Host {
            sudo: true,
            passwordless_sudo: true,
            ..NOBODY
        };
        assert_eq!(plan(host, &["g++"]), install(&["sudo", "-n"]));
        assert_eq!(
            plan(
                Host {
                    terminal: true,
                    ..host
                },
                &["g++"]
            ),
            install(&["sudo"])
        );
    }

    #[test]
    fn without_a_way_to_root_the_exact_command_is_said() {
        let expected =
            "packages are missing; as root: apt-get install --no-install-recommends g++ cmake";
        assert_eq!(
            plan(NOBODY, &["g++", "cmake"]),
            Plan::Refuse(expected.into())
        );
        assert_eq!(
            plan(
                Host {
                    sudo: true,
                    ..NOBODY
                },
                &["g++", "cmake"]
            ),
            Plan::Refuse(expected.into())
        );
    }

    #[test]
    fn without_apt_the_packages_are_named() {
        let Plan::Refuse(message) = plan(
            Host {
                apt: false,
                root: true,
                ..NOBODY
            },
            &["cmake"],
        ) else {
            panic!("nothing to install with");
        };
        assert!(message.contains("cmake"), "{message}");
    }
}
