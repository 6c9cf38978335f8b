//! The cache: folders that are whole or not there.
//!
//! Every entry is made in a temporary sibling, gets a stamp and is renamed into place. A stamp says
//! what was made (name, version, checksum of what it came from) and how much (files and bytes), so
//! that an entry of an older version, one half removed by hand, and one left by a killed process are
//! all made again.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, IoContext, Result};

/// The file in an entry that says what it holds.
pub const STAMP: &str = ".ferrocc-stamp";

/// What an entry holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The thing's name, "ns3-wheel".
    pub name: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of what it was made from, in hexadecimal.
    pub sha256: String,
}

/// How much an entry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inventory {
    /// Regular files and symbolic links, without the stamp.
    pub files: u64,
    /// Their sizes together.
    pub bytes: u64,
}

impl Inventory {
    /// Counts what is below `folder`.
    pub fn of(folder: &Path) -> std::io::Result<Self> {
        let mut sum = Self::default();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let meta = entry.path().symlink_metadata()?;
            if meta.is_dir() {
                let below = Self::of(&entry.path())?;
                sum.files += below.files;
                sum.bytes += below.bytes;
            } else if entry.file_name() != STAMP {
                sum.files += 1;
                sum.bytes += meta.len();
            }
        }
        Ok(sum)
    }
}

/// Whether an entry is checked for missing files, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Nothing in it changes after it was made.
    Frozen,
    /// Programs write into it (byte code, build products).
    Living,
}

/// Why an entry cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// There is none.
    Absent,
    /// No stamp, or not one that can be read: it was never finished.
    Unfinished,
    /// It holds something else.
    Stale(String),
    /// Files are missing or changed.
    Damaged,
}

/// Whether an entry had to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Made {
    /// It was there and whole.
    Reused,
    /// It was made, because of this.
    New(Unfit),
}

impl Made {
    /// For the step's line.
    pub fn note(&self) -> String {
        match self {
            Self::Reused => "present".into(),
            Self::New(Unfit::Absent) => "made".into(),
            Self::New(Unfit::Unfinished) => "made again: it was unfinished".into(),
            Self::New(Unfit::Stale(old)) => format!("made again: it was {old}"),
            Self::New(Unfit::Damaged) => "made again: files were missing or changed".into(),
        }
    }
}

fn stamp_text(identity: &Identity, contents: Contents, inventory: Inventory) -> String {
    let Identity {
        name,
        version,
        sha256,
    } = identity;
    let mut text = format!("name={name}\nversion={version}\nsha256={sha256}\n");
    if contents == Contents::Frozen {
        text += &format!("files={}\nbytes={}\n", inventory.files, inventory.bytes);
    }
    // A stamp cut short is not one.
    text + "end\n"
}

/// Whether `folder` is a whole entry of that identity.
pub fn check(folder: &Path, identity: &Identity, contents: Contents) -> Result<(), Unfit> {
    if folder.symlink_metadata().is_err() {
        return Err(Unfit::Absent);
    }
    let stamp = fs::read_to_string(folder.join(STAMP)).map_err(|_| Unfit::Unfinished)?;
    let field = |key: &str| {
        stamp
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('=').map(str::to_owned))
    };
    if !stamp.ends_with("\nend\n") {
        return Err(Unfit::Unfinished);
    }
    let (Some(name), Some(version), Some(sha256)) =
        (field("name"), field("version"), field("sha256"))
    else {
        return Err(Unfit::Unfinished);
    };
    let found = Identity {
        name,
        version,
        sha256,
    };
    if found != *identity {
        let differs = if (&found.name, &found.version) == (&identity.name, &identity.version) {
            "from other input".into()
        } else {
            format!("{} {}", found.name, found.version)
        };
        return Err(Unfit::Stale(differs));
    }
    if contents == Contents::Frozen {
        let inventory = Inventory::of(folder).map_err(|_| Unfit::Damaged)?;
        if stamp != stamp_text(identity, contents, inventory) {
            return Err(Unfit::Damaged);
        }
    }
    Ok(())
}

/// Makes sure that `folder` is a whole entry: reuses it, or lets `make` fill a temporary sibling and
/// renames that into place.
pub fn ensure(
    folder: &Path,
    identity: &Identity,
    contents: Contents,
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<Made> {
    let unfit = match check(folder, identity, contents) {
        Ok(()) => return Ok(Made::Reused),
        Err(unfit) => unfit,
    };
    let temporary = sibling(folder);
    remove(&temporary)?;
    fs::create_dir_all(&temporary).context(format!("cannot create {}", temporary.display()))?;
    if let Err(failure) = make(&temporary) {
        remove(&temporary)?;
        return Err(failure);
    }
    finish(&temporary, identity, contents)?;
    remove(folder)?;
    fs::rename(&temporary, folder).context(format!("cannot create {}", folder.display()))?;
    Ok(Made::New(unfit))
}

/// As [`ensure`] for things that know their own path (virtual environments): made in place, the stamp
/// being written last. Use it only for folders whose name contains the identity.
pub fn ensure_in_place(
    folder: &Path,
    identity: &Identity,
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<Made> {
    let unfit = match check(folder, identity, Contents::Living) {
        Ok(()) => return Ok(Made::Reused),
        Err(unfit) => unfit,
    };
    remove(folder)?;
    fs::create_dir_all(folder).context(format!("cannot create {}", folder.display()))?;
    make(folder)?;
    finish(folder, identity, Contents::Living)?;
    Ok(Made::New(unfit))
}

/// Writes the stamp.
fn finish(folder: &Path, identity: &Identity, contents: Contents) -> Result<()> {
    let cannot = format!("cannot write {}", folder.join(STAMP).display());
    let inventory = Inventory::of(folder).context(&cannot)?;
    fs::write(
        folder.join(STAMP),
        stamp_text(identity, contents, inventory),
    )
    .context(&cannot)
}

/// The temporary sibling of an entry. One name, not one per process: the cache's lock keeps others
/// out, and what a killed process left is found and removed.
fn sibling(folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!(".{name}.partial"))
}

/// Removes a file, link or folder if it is there.
pub fn remove(path: &Path) -> Result<()> {
    let cannot = format!("cannot remove {}", path.display());
    match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path).context(cannot),
        Ok(_) => fs::remove_file(path).context(cannot),
    }
}

/// The cache's folder, held by this process alone until this is dropped.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    _lock: File,
}

/// `${XDG_CACHE_HOME:-$HOME/.cache}/ferrocc`.
pub fn default_root() -> Result<PathBuf> {
    root_from(
        std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from),
        std::env::home_dir(),
    )
}

fn root_from(xdg: Option<PathBuf>, home: Option<PathBuf>) -> Result<PathBuf> {
    // The XDG specification: a relative path is to be ignored.
    xdg.filter(|path| path.is_absolute())
        .or_else(|| {
            home.filter(|path| path.is_absolute())
                .map(|home| home.join(".cache"))
        })
        .map(|path| path.join("ferrocc"))
        .ok_or_else(|| Failure::usage("no cache folder: set HOME or XDG_CACHE_HOME"))
}

impl Cache {
    /// Takes the cache, waiting for another `cargo xtask` that is setting up or building.
    pub fn lock(root: PathBuf) -> Result<Self> {
        let path = root.join("lock");
        let cannot = format!("cannot use the cache {}", root.display());
        fs::create_dir_all(&root).context(&cannot)?;
        let mut lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .context(&cannot)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(&path).unwrap_or_default();
                eprintln!(
                    "waiting for {}, which uses {}",
                    holder.lines().next().unwrap_or("another cargo xtask"),
                    root.display()
                );
                lock.lock().context(&cannot)?;
            }
            Err(fs::TryLockError::Error(error)) => return Err(error).context(&cannot),
        }
        // For those who wait. Nothing depends on it.
        let arguments: Vec<_> = std::env::args().skip(1).collect();
        let holder = format!(
            "`cargo xtask {}` (process {})\n",
            arguments.join(" "),
            std::process::id()
        );
        let _ = lock
            .set_len(0)
            .and_then(|()| lock.write_all(holder.as_bytes()));
        Ok(Self { root, _lock: lock })
    }

    /// A path in the cache.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
