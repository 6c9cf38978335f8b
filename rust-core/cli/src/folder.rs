//! Output folders: checked before a run, filled beside their place, put there whole.

use ferrocc::scenario::Error;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Files of a run. Others in its folder are the user's and stay.
const RUN_FILES: &[&str] = &[
    "summary.json",
    "run.json",
    "flows.csv",
    "queue.csv",
    "events.csv",
];
/// The table of a sweep; its first column names the runs' folders.
pub(crate) const SWEEP_FILE: &str = "sweep.csv";

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
    for folder in folders {
        if folder.exists() && !replaceable(folder) {
            return error(format!(
                "\"{}\" holds other things than an earlier run (accepted: a new or empty folder, \
                 or an earlier run's)",
                folder.display()
            ));
        }
        if folder.file_name().is_none() {
            return error(format!("\"{}\" does not end in a name", folder.display()));
        }
    }
    Ok(())
}

/// Whether `folder` is empty or holds an earlier run or sweep.
fn replaceable(folder: &Path) -> bool {
    folder.is_dir()
        && (folder.join("summary.json").is_file()
            || folder.join(SWEEP_FILE).is_file()
            || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()))
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
    /// Fails while another process is filling it.
    pub fn new(place: &Path) -> io::Result<Staging> {
        let name = place
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no folder name"))?;
        let folder = place.with_file_name(format!(".{}.partial", name.to_string_lossy()));
        // Of an earlier process: free if that has ended.
        let left = lock(&folder)?;
        remove(&folder)?;
        drop(left);
        fs::create_dir_all(&folder)?;
        let lock = lock(&folder)?;
        Ok(Staging {
            place: place.to_owned(),
            folder,
            done: false,
            _lock: lock,
        })
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
            exchange(&self.folder, &self.place)?;
            self.done = true;
            keep_foreign(&self.folder, &self.place)?;
            return remove(&self.folder);
        }
        // Over an empty folder, too.
        fs::rename(&self.folder, &self.place)?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.done {
            // Nothing to be done if it fails: the next run tries again.
            let _ = remove(&self.folder);
        }
    }
}

/// Takes `folder` for this process; none if there is no such folder, or on systems where folders
/// cannot be locked.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    if !cfg!(unix) || !folder.is_dir() {
        return Ok(None);
    }
    let file = File::open(folder)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "another run is writing into it",
        )),
        // Some file systems cannot.
        Err(fs::TryLockError::Error(_)) => Ok(None),
    }
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
    remove(&aside)?;
    fs::rename(old, &aside)?;
    fs::rename(new, old)?;
    fs::rename(&aside, new)
}

/// Moves what is not part of a run or sweep from `old` to `new`.
fn keep_foreign(old: &Path, new: &Path) -> io::Result<()> {
    let cells = swept(old);
    for entry in fs::read_dir(old)? {
        let entry = entry?;
        let name = entry.file_name();
        let text = name.to_string_lossy();
        let target = new.join(&name);
        if !is_ours(&text) && !cells.contains(text.as_ref()) && !target.exists() {
            fs::rename(entry.path(), target)?;
        }
    }
    Ok(())
}

fn is_ours(name: &str) -> bool {
    RUN_FILES.contains(&name) || name == SWEEP_FILE || name.ends_with(".pcap")
}

/// The cells that the sweep table in `folder` names.
fn swept(folder: &Path) -> BTreeSet<String> {
    let table = fs::read_to_string(folder.join(SWEEP_FILE)).unwrap_or_default();
    let name = |line: &str| {
        let cell = match line.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => line.split(',').next(),
        };
        cell.unwrap_or_default().to_owned()
    };
    let single = |name: &String| Path::new(name).components().count() == 1;
    table.lines().skip(1).map(name).filter(single).collect()
}

/// Puts the table of a finished sweep into `out` and removes what an earlier run or sweep left
/// there.
pub(crate) fn finish_sweep(out: &Path, table: &[u8], cells: &BTreeSet<String>) -> io::Result<()> {
    for stale in swept(out).difference(cells) {
        let folder = out.join(stale);
        if folder.join("summary.json").is_file() {
            remove(&folder)?;
        }
    }
    // Only a folder that holds a run has files of a run.
    if out.join("summary.json").is_file() {
        for entry in fs::read_dir(out)? {
            let entry = entry?;
            let name = entry.file_name();
            if is_ours(&name.to_string_lossy()) && name != SWEEP_FILE {
                fs::remove_file(entry.path())?;
            }
        }
    }
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
    Ok(())
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn two_runs_at_once_do_not_mix() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("run");
        let first = Staging::new(&place).unwrap();
        first.create("flows.csv").unwrap();
        let second = Staging::new(&place).unwrap_err();
        assert_eq!(second.to_string(), "another run is writing into it");
        first.commit().unwrap();
        assert_eq!(names(&place), ["flows.csv"]);
        // What a killed run leaves is in nobody's way.
        write(&root.path().join(".run.partial"), "queue.csv", "");
        Staging::new(&place).unwrap().commit().unwrap();
        assert!(names(&place).is_empty());
    }

    fn write(folder: &Path, name: &str, text: &str) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn an_earlier_run_is_replaced_whole_and_foreign_files_stay() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("run");
        for (text, trace) in [("1", true), ("2", false)] {
            let staging = Staging::new(&place).unwrap();
            write(staging.folder(), "summary.json", text);
            if trace {
                write(staging.folder(), "flows.csv", text);
            }
            assert!(names(root.path()).contains(&".run.partial".to_owned()));
            staging.commit().unwrap();
            assert_eq!(
                fs::read_to_string(place.join("summary.json")).unwrap(),
                text
            );
            write(&place, "notes.txt", "mine");
        }
        assert_eq!(names(&place), ["notes.txt", "summary.json"]);
        assert_eq!(names(root.path()), ["run"]);
    }

    #[test]
    fn an_abandoned_run_changes_nothing_and_an_interrupted_one_is_cleared() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("run");
        write(&place, "summary.json", "old");
        drop(Staging::new(&place).unwrap());
        assert_eq!(names(root.path()), ["run"]);
        write(&root.path().join(".run.partial"), "half", "");
        let staging = Staging::new(&place).unwrap();
        assert!(names(staging.folder()).is_empty());
        drop(staging);
        assert_eq!(
            fs::read_to_string(place.join("summary.json")).unwrap(),
            "old"
        );
    }

    #[test]
    fn unusable_folders_are_told_before_anything_is_written() {
        let root = tempfile::tempdir().unwrap();
        let check = |out: &Path| check(out, &[out.to_owned()]).map_err(|e| e.to_string());
        write(root.path(), "file", "");
        let blocked = check(&root.path().join("file/below")).unwrap_err();
        assert!(blocked.starts_with("--out: ") && blocked.ends_with("is a file, not a folder"));
        assert!(
            check(&root.path().join("file"))
                .unwrap_err()
                .contains("is a file")
        );
        write(&root.path().join("home"), "letter", "dear");
        assert!(
            check(&root.path().join("home"))
                .unwrap_err()
                .contains("holds other things")
        );
        assert_eq!(check(&root.path().join("new/deep")), Ok(()));
        assert_eq!(names(root.path()), ["file", "home"]);
        assert!(
            check(Path::new("/proc/none"))
                .unwrap_err()
                .contains("cannot write into")
        );
    }

    #[test]
    fn a_new_sweep_replaces_an_old_one() {
        let root = tempfile::tempdir().unwrap();
        let out = root.path();
        write(&out.join("c=a,r=1"), "summary.json", "");
        write(&out.join("c=b"), "summary.json", "");
        write(&out.join("mine"), "summary.json", "");
        write(
            out,
            "sweep.csv",
            "cell,x\n\"c=a,r=1\",1\nc=b,2\n../mine,3\n",
        );
        write(out, "mine.pcap", "");
        fs::create_dir_all(out.join("c=b")).unwrap();
        finish_sweep(out, b"cell\nc=a,r=1\n", &BTreeSet::from(["c=b".to_owned()])).unwrap();
        assert_eq!(names(out), ["c=b", "mine", "mine.pcap", "sweep.csv"]);
        fs::remove_file(out.join("mine.pcap")).unwrap();
        write(out, "summary.json", "of a single run");
        finish_sweep(out, b"cell\nc=b\n", &BTreeSet::from(["c=b".to_owned()])).unwrap();
        assert_eq!(names(out), ["c=b", "mine", "sweep.csv"]);
        assert_eq!(
            fs::read_to_string(out.join("sweep.csv")).unwrap(),
            "cell\nc=b\n"
        );
    }
}
