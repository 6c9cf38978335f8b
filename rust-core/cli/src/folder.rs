//! Output folders: checked before a run, filled beside their place, put there whole.

use ferrocc::scenario::Error;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Files of a run, beside `trace-*.pcap`. Others in its folder are the user's and stay.
const RUN_FILES: &[&str] = &[
    "summary.json",
    "run.json",
    "flows.csv",
    "queue.csv",
    "events.csv",
    "aqm.csv",
];
/// The table of a sweep; its first column names the runs' folders.
pub(crate) const SWEEP_FILE: &str = "sweep.csv";
/// The table of the sweep before, while a new one is under way: it names the folders to clear.
const EARLIER_SWEEP_FILE: &str = ".sweep.csv.earlier";
/// Marks a folder that is being filled as ours.
const MARKER: &str = ".ferrocc-partial";

/// `path`, or where it leads if it is a symbolic link: the link stays, its target is replaced.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    // Without a slash at the end, which would hide the link.
    let path: PathBuf = path.components().collect();
    if path.is_symlink() {
        path.canonicalize().unwrap_or(path)
    } else {
        path
    }
}

/// Checks that runs can be written into `folders`, which are `out` or below it, without writing
/// anything that stays.
pub(crate) fn check(out: &Path, folders: &[PathBuf]) -> Result<(), Error> {
    let error = |problem: String| Err(Error::new("--out", problem));
    // The nearest folder that exists must let us make entries.
    let mut place = out;
    let existing = loop {
        if place.as_os_str().is_empty() {
            break Path::new(".");
        }
        match place.symlink_metadata() {
            Ok(_) if place.is_dir() => break place,
            Ok(_) => return error(format!("\"{}\" is a file, not a folder", place.display())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            // A component of the path is a file.
            Err(e) if e.kind() == io::ErrorKind::NotADirectory => {}
            Err(e) => return error(format!("cannot use \"{}\": {e}", place.display())),
        }
        place = place.parent().unwrap_or(Path::new(""));
    };
    // Without a name on POSIX systems, removed at once on others.
    if let Err(e) = tempfile::tempfile_in(existing) {
        return error(format!("cannot write into \"{}\": {e}", existing.display()));
    }
    let others = |folder: &Path| {
        error(format!(
            "\"{}\" holds other things than an earlier run (accepted: a new or empty folder, \
             or an earlier run's)",
            folder.display()
        ))
    };
    let sweep = folders != [out];
    if sweep && !sweepable(out) {
        return others(out);
    }
    for folder in folders {
        let folder = &resolve(folder);
        if folder.symlink_metadata().is_ok() && !replaceable(folder) {
            return others(folder);
        }
        let Some(partial) = partial(folder) else {
            return error(format!("\"{}\" does not end in a name", folder.display()));
        };
        if partial.symlink_metadata().is_ok() && !is_partial(&partial) {
            return error(format!("\"{}\" {NOT_PARTIAL}", partial.display()));
        }
    }
    Ok(())
}

/// What is wrong with a folder that has the name of one that is being filled.
const NOT_PARTIAL: &str =
    "is in the way and is not what an interrupted run left (accepted: remove it, or another --out)";

/// Whether a run may go into `folder`, which exists: it is empty, or holds an earlier run, an
/// earlier sweep, or what an interrupted sweep left and nothing else. What is not ours there has
/// no name that a run needs.
fn replaceable(folder: &Path) -> bool {
    if is_run(folder) {
        return !has_foreign_table(folder);
    }
    let Ok(entries) = names(folder) else {
        return false;
    };
    let free = !entries.iter().any(|name| is_run_file(name)) && !has_foreign_table(folder);
    free && (is_sweep(&folder.join(SWEEP_FILE)) || entries.iter().all(|n| of_sweep(folder, n)))
}

/// Whether a sweep may go into `out`: it does not exist, is empty, or holds an earlier run, an
/// earlier sweep or a part of one.
fn sweepable(out: &Path) -> bool {
    if out.symlink_metadata().is_err() {
        return true;
    }
    let Ok(entries) = names(out) else {
        return false;
    };
    !has_foreign_table(out)
        && (entries.is_empty()
            || is_run(out)
            || is_sweep(&out.join(SWEEP_FILE))
            || entries.iter().any(|name| of_sweep(out, name)))
}

/// Whether the entry `name` of `folder` is one that an interrupted sweep leaves.
fn of_sweep(folder: &Path, name: &str) -> bool {
    let path = folder.join(name);
    is_cell(&path, name) || is_partial(&path) || (name == EARLIER_SWEEP_FILE && is_sweep(&path))
}

/// The names in `folder`.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}

/// Whether `folder` holds a run of ours.
fn is_run(folder: &Path) -> bool {
    let Ok(bytes) = fs::read(folder.join("summary.json")) else {
        return false;
    };
    serde_json::from_slice(&bytes).is_ok_and(|summary: Value| {
        summary["schema"].is_u64()
            && summary["scenario"].is_string()
            && summary["ferrocc_version"].is_string()
    })
}

/// Whether `folder` holds the run of a sweep that is called `name`.
fn is_cell(folder: &Path, name: &str) -> bool {
    let protocol = fs::read(folder.join("run.json")).unwrap_or_default();
    let cell = |protocol: Value| protocol["cell"] == name;
    serde_json::from_slice(&protocol).is_ok_and(cell) && is_run(folder)
}

/// Whether `file` is a table of a sweep of ours.
fn is_sweep(file: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| {
        let header = text.lines().next().unwrap_or_default();
        header.starts_with("cell,") && header.contains(FIRST_COLUMNS)
    })
}

/// What follows the names of the axes in the header of every table of a sweep.
pub(crate) const FIRST_COLUMNS: &str = ",goodput_mbps,completed,fct_s_mean,";

/// Whether `folder` has something called as a sweep's table is that is not one.
fn has_foreign_table(folder: &Path) -> bool {
    let file = folder.join(SWEEP_FILE);
    file.symlink_metadata().is_ok() && !is_sweep(&file)
}

/// Whether `folder` is one that a run of ours was filling.
fn is_partial(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let named = name.starts_with('.') && name.ends_with(".partial");
    named && !folder.is_symlink() && folder.join(MARKER).is_file()
}

/// Where the run for `place` is made; none if that has no name.
fn partial(place: &Path) -> Option<PathBuf> {
    let mut name = std::ffi::OsString::from(".");
    name.push(place.file_name()?);
    name.push(".partial");
    Some(place.with_file_name(name))
}

/// A folder that is being filled, hidden beside its final place. Dropped without
/// [`Staging::commit`] it is removed.
#[derive(Debug)]
pub struct Staging {
    place: PathBuf,
    folder: PathBuf,
    done: bool,
    /// Held while the folder is being filled. The system lets go of it whatever ends the process.
    _lock: Option<File>,
}

impl Staging {
    /// Makes the staging folder for `place`; what an interrupted run left in its stead is removed.
    /// Fails while another process is filling it, and if its name is taken by anything else.
    pub fn new(place: &Path) -> io::Result<Staging> {
        let place = resolve(place);
        let folder = partial(&place)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no folder name"))?;
        if folder.symlink_metadata().is_ok() {
            // Of an earlier process: free if that has ended.
            let left = lock(&folder)?;
            if !is_partial(&folder) {
                let problem = format!("\"{}\" {NOT_PARTIAL}", folder.display());
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, problem));
            }
            fs::remove_dir_all(&folder)?;
            drop(left);
        }
        if let Some(above) = folder.parent() {
            fs::create_dir_all(above)?;
        }
        fs::create_dir(&folder)?;
        let lock = lock(&folder)?;
        // From here on dropping it removes it.
        let staging = Staging {
            place,
            folder,
            done: false,
            _lock: lock,
        };
        staging.create(MARKER)?;
        Ok(staging)
    }

    /// Where to write.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates a file in the staging folder.
    pub fn create(&self, name: &str) -> io::Result<File> {
        File::create(self.folder.join(name))
    }

    /// Puts the folder in its place. An earlier run there is replaced at once: at any moment the
    /// place holds the old run or the new one, whole. What is not a run's stays.
    pub fn commit(mut self) -> io::Result<()> {
        let filled = fs::read_dir(&self.place).is_ok_and(|mut entries| entries.next().is_some());
        if filled {
            // Until the user's files are out of it, the old folder must not look like ours.
            remove_file(&self.place.join(MARKER))?;
            exchange(&self.folder, &self.place)?;
            self.done = true;
            clear(&self.folder)?;
            keep_foreign(&self.folder, &self.place)?;
        } else {
            // Over an empty folder, too.
            fs::rename(&self.folder, &self.place)?;
            self.done = true;
        }
        remove_file(&self.place.join(MARKER))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.done {
            // Nothing to be done if it fails: the next run tries again.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Takes `folder` for this process; none if there is no such folder, or on systems where folders
/// cannot be locked.
#[cfg(unix)]
fn lock(folder: &Path) -> io::Result<Option<File>> {
    use rustix::fs::{FlockOperation, flock};
    if !folder.is_dir() {
        return Ok(None);
    }
    let file = File::open(folder)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "another run is writing into it",
        )),
        // Some file systems cannot.
        Err(_) => Ok(None),
    }
}

#[cfg(not(unix))]
fn lock(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Swaps two folders.
fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        // Some file systems cannot; then the two steps below.
        if renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
    }
    let aside = new.with_extension("old");
    if aside.symlink_metadata().is_ok() {
        let problem = format!("\"{}\" is in the way", aside.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, problem));
    }
    fs::rename(old, &aside)?;
    fs::rename(new, old)?;
    fs::rename(&aside, new)
}

/// Removes what an earlier run or sweep of ours wrote into `folder`, and nothing else.
fn clear(folder: &Path) -> io::Result<()> {
    for cell in swept(folder) {
        clear_cell(&folder.join(cell))?;
    }
    for table in [SWEEP_FILE, EARLIER_SWEEP_FILE] {
        let table = folder.join(table);
        if is_sweep(&table) {
            fs::remove_file(table)?;
        }
    }
    for name in names(folder)? {
        let path = folder.join(name);
        // Another process may be filling it.
        if is_partial(&path)
            && let Ok(_lock) = lock(&path)
        {
            fs::remove_dir_all(&path)?;
        }
    }
    clear_run(folder)
}

/// Removes the files of a run, if `folder` holds one of ours. The summary, by which it is known,
/// goes last.
fn clear_run(folder: &Path) -> io::Result<()> {
    if is_run(folder) {
        let mut files = names(folder)?;
        files.retain(|name| is_run_file(name) && !folder.join(name).is_dir());
        files.sort_by_key(|name| name == "summary.json");
        for name in files {
            fs::remove_file(folder.join(name))?;
        }
    }
    Ok(())
}

/// Removes a run of a sweep; its folder stays if there are files of the user's in it.
fn clear_cell(folder: &Path) -> io::Result<()> {
    if folder.is_symlink() || !is_run(folder) {
        return Ok(());
    }
    clear_run(folder)?;
    match fs::remove_dir(folder) {
        Err(e) if e.kind() != io::ErrorKind::DirectoryNotEmpty => Err(e),
        _ => Ok(()),
    }
}

/// Moves what is left in `old` to `new`, and removes `old`.
fn keep_foreign(old: &Path, new: &Path) -> io::Result<()> {
    for entry in fs::read_dir(old)? {
        let entry = entry?;
        let target = new.join(entry.file_name());
        if target.symlink_metadata().is_err() {
            fs::rename(entry.path(), target)?;
        }
    }
    // Fails if something had to stay: better left over than lost.
    fs::remove_dir(old)
}

fn is_run_file(name: &str) -> bool {
    RUN_FILES.contains(&name) || (name.starts_with("trace-") && name.ends_with(".pcap"))
}

/// The cells that the sweep tables in `folder` name.
fn swept(folder: &Path) -> BTreeSet<String> {
    let name = |line: &str| {
        let cell = match line.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => line.split(',').next(),
        };
        cell.unwrap_or_default().to_owned()
    };
    // A name, not a path that leads elsewhere.
    let plain = |name: &String| {
        let mut components = Path::new(name).components();
        let first = components.next();
        components.next().is_none()
            && matches!(first, Some(Component::Normal(n)) if n == name.as_str())
    };
    let mut cells = BTreeSet::new();
    for table in [SWEEP_FILE, EARLIER_SWEEP_FILE] {
        let table = folder.join(table);
        if is_sweep(&table) {
            let text = fs::read_to_string(table).unwrap_or_default();
            cells.extend(text.lines().skip(1).map(name).filter(plain));
        }
    }
    cells
}

/// Takes the table of an earlier sweep out of `out`, before a run that it speaks of is replaced.
pub(crate) fn begin_sweep(out: &Path) -> io::Result<()> {
    let table = out.join(SWEEP_FILE);
    if !is_sweep(&table) {
        return Ok(());
    }
    match fs::rename(table, out.join(EARLIER_SWEEP_FILE)) {
        // Another run of this sweep was faster.
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Puts the table of a finished sweep into `out` and removes what an earlier run or sweep left
/// there.
pub(crate) fn finish_sweep(out: &Path, table: &[u8], cells: &BTreeSet<String>) -> io::Result<()> {
    for stale in swept(out).difference(cells) {
        clear_cell(&out.join(stale))?;
    }
    // Of a single run.
    clear_run(out)?;
    let mut file = tempfile::NamedTempFile::new_in(out)?;
    io::Write::write_all(&mut file, table)?;
    let path = out.join(SWEEP_FILE);
    file.persist(&path)?;
    // Temporary files are private; results need not be.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
    }
    let earlier = out.join(EARLIER_SWEEP_FILE);
    if is_sweep(&earlier) {
        fs::remove_file(earlier)?;
    }
    Ok(())
}

/// Removes a file that need not be there.
fn remove_file(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
