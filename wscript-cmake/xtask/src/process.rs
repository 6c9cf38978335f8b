//! Child processes whose output goes to a log file.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;

use crate::failure::{Failure, IoContext, Result};
use crate::progress::Step;

/// Lines of a failed child's log that are shown.
const TAIL_LINES: usize = 25;

/// Process ids of the children that are running now: a signal that ends xtask is passed on to them.
static CHILDREN: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Where children's output is kept.
#[derive(Debug, Clone)]
pub struct Logs {
    folder: PathBuf,
}

impl Logs {
    /// Logs below `folder`, which is created when it is needed.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The log file of the step called `name`.
    pub fn path(&self, name: &str) -> PathBuf {
        let file: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        self.folder.join(format!("{file}.log"))
    }

    /// Begins the log of a step anew.
    pub fn begin(&self, name: &str) -> Result<Log> {
        fs::create_dir_all(&self.folder)
            .context(format!("cannot create {}", self.folder.display()))?;
        let path = self.path(name);
        File::create(&path).context(format!("cannot write {}", path.display()))?;
        Ok(Log { path })
    }
}

/// One step's log: the output of its children, in order.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
}

impl Log {
    /// Runs a child to its end; anything but exit code 0 is a failure that shows the log's tail.
    pub fn run(&self, step: &Step<'_>, command: &mut Command) -> Result<()> {
        let status = self.status(step, command)?;
        if status.success() {
            return Ok(());
        }
        Err(self.failure(&format!("{} ended with {status}", describe(command))))
    }

    /// Runs a child to its end.
    pub fn status(&self, step: &Step<'_>, command: &mut Command) -> Result<ExitStatus> {
        let cannot = format!("cannot write {}", self.path.display());
        let mut log = File::options()
            .append(true)
            .open(&self.path)
            .context(&cannot)?;
        writeln!(log, "$ {}", describe(command)).context(&cannot)?;
        let errors = log.try_clone().context(&cannot)?;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .map_err(|error| {
                Failure::step(format!("cannot start {}: {error}", describe(command)))
            })?;
        let _registered = Registered::new(child.id());
        if let Some(output) = child.stdout.take() {
            for line in BufReader::new(output).split(b'\n') {
                let Ok(mut line) = line else { break };
                step.child_line(&String::from_utf8_lossy(&line));
                line.push(b'\n');
                log.write_all(&line).context(&cannot)?;
            }
        }
        child
            .wait()
            .context(format!("cannot wait for {}", describe(command)))
    }

    /// A failure that shows the log's tail and where the log is.
    pub fn failure(&self, what: &str) -> Failure {
        let text = fs::read(&self.path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n    ");
        Failure::step(format!(
            "{what}\n    {tail}\n  whole log: {}",
            self.path.display()
        ))
    }

    /// The log's text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.path).unwrap_or_default()).into_owned()
    }
}

/// A child in `CHILDREN` for as long as it runs.
struct Registered(u32);

impl Registered {
    fn new(id: u32) -> Self {
        lock_children().push(id);
        Self(id)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        lock_children().retain(|&id| id != self.0);
    }
}

fn lock_children() -> std::sync::MutexGuard<'static, Vec<u32>> {
    CHILDREN
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Passes SIGINT, SIGTERM and SIGHUP on to the running children and then ends with 128 + signal.
pub fn forward_signals() -> Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])
        .context("cannot watch for signals")?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            for id in lock_children().iter() {
                // A child that has just ended is no error.
                let _ = Command::new("kill")
                    .args([format!("-{signal}"), id.to_string()])
                    .stderr(Stdio::null())
                    .status();
            }
            eprintln!("\ninterrupted; run the same command again to go on");
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

/// Runs a child that talks to the terminal itself and returns its status.
pub fn foreground(command: &mut Command) -> Result<ExitStatus> {
    let mut child = command
        .spawn()
        .map_err(|error| Failure::step(format!("cannot start {}: {error}", describe(command))))?;
    let _registered = Registered::new(child.id());
    child
        .wait()
        .context(format!("cannot wait for {}", describe(command)))
}

/// Becomes `command`: its signals and its exit code are this process's. Returns only on failure.
pub fn replace(command: &mut Command) -> Failure {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    Failure::step(format!("cannot start {}: {error}", describe(command)))
}

/// What a child wrote to stdout, if it ended well.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The first of the names that is an executable file in PATH.
pub fn find_program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    names.iter().find_map(|name| {
        std::env::split_paths(&path)
            .map(|folder| folder.join(name))
            .find(|file| is_executable(file))
    })
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// A command as it could be typed.
pub fn describe(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(quote)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Quotes one word for a shell, if it needs it.
pub fn quote(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref().to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=/.:,+@%*[]".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;

    #[test]
    fn words_are_quoted_only_where_a_shell_needs_it() {
        assert_eq!(quote("--rate=20Mbps"), "--rate=20Mbps");
        assert_eq!(quote("two words"), "'two words'");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote("a;b"), "'a;b'");
        assert_eq!(quote(""), "''");
    }

    #[test]
    fn a_failing_child_shows_the_tail_of_both_its_outputs_and_the_logs_path() {
        let folder = tempfile::tempdir().unwrap();
        let logs = Logs::new(folder.path().join("logs"));
        let log = logs.begin("a step").unwrap();
        let script =
            "i=0; while [ $i -lt 40 ]; do echo line $i; i=$((i+1)); done; echo bad >&2; exit 3";
        let result = Progress::new().step("s", "w", |step| {
            log.run(step, Command::new("sh").args(["-c", script]))
                .map(|()| String::new())
        });
        let message = result.unwrap_err().message;
        assert!(message.contains("exit status: 3"), "{message}");
        assert!(
            message.contains("line 39") && message.contains("bad"),
            "{message}"
        );
        assert!(!message.contains("line 10\n"), "{message}");
        assert!(message.contains("a-step.log"), "{message}");
    }

    #[test]
    fn a_program_that_does_not_exist_is_a_failure_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let log = Logs::new(folder.path().to_owned()).begin("x").unwrap();
        let result = Progress::new().step("s", "w", |step| {
            log.run(step, &mut Command::new("no-such-program-here"))
                .map(|()| String::new())
        });
        assert!(
            result
                .unwrap_err()
                .message
                .contains("cannot start no-such-program-here")
        );
        assert_eq!(
            find_program(&["no-such-program-here", "sh"])
                .unwrap()
                .file_name()
                .unwrap(),
            "sh"
        );
    }
}
