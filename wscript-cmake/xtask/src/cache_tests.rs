use super::*;

fn identity(version: &str) -> Identity {
    Identity {
        name: "thing".into(),
        version: version.into(),
        sha256: "ab".into(),
    }
}

fn fill(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder.join("sub")).context("sub")?;
    fs::write(folder.join("sub/one"), "1").context("one")?;
    fs::write(folder.join("two"), "22").context("two")
}

fn never(_: &Path) -> Result<()> {
    panic!("must not be made again")
}

#[test]
fn an_entry_is_made_once() {
    let root = tempfile::tempdir().unwrap();
    let entry = root.path().join("entry");
    let made = ensure(&entry, &identity("1"), Contents::Frozen, fill).unwrap();
    assert_eq!(made, Made::New(Unfit::Absent));
    let again = ensure(&entry, &identity("1"), Contents::Frozen, never).unwrap();
    assert_eq!(again, Made::Reused);
    let names: Vec<_> = fs::read_dir(root.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names, ["entry"], "no temporary folder stays");
}

#[test]
fn an_older_version_other_input_and_missing_files_are_made_again() {
    let root = tempfile::tempdir().unwrap();
    let entry = root.path().join("entry");
    ensure(&entry, &identity("1"), Contents::Frozen, fill).unwrap();
    let made = ensure(&entry, &identity("2"), Contents::Frozen, fill).unwrap();
    assert_eq!(made, Made::New(Unfit::Stale("thing 1".into())));

    let other = Identity {
        sha256: "cd".into(),
        ..identity("2")
    };
    let made = ensure(&entry, &other, Contents::Frozen, fill).unwrap();
    assert_eq!(made, Made::New(Unfit::Stale("from other input".into())));

    fs::remove_file(entry.join("sub/one")).unwrap();
    let made = ensure(&entry, &other, Contents::Frozen, fill).unwrap();
    assert_eq!(made, Made::New(Unfit::Damaged));
    assert!(entry.join("sub/one").exists());

    fs::write(entry.join("two"), "2").unwrap();
    let made = ensure(&entry, &other, Contents::Frozen, fill).unwrap();
    assert_eq!(made, Made::New(Unfit::Damaged));
}

#[test]
fn an_entry_without_a_whole_stamp_is_made_again() {
    let root = tempfile::tempdir().unwrap();
    let entry = root.path().join("entry");
    fs::create_dir_all(entry.join("half")).unwrap();
    let made = ensure(&entry, &identity("1"), Contents::Frozen, fill).unwrap();
    assert_eq!(made, Made::New(Unfit::Unfinished));
    assert!(!entry.join("half").exists());

    let stamp = fs::read_to_string(entry.join(STAMP)).unwrap();
    for cut in 0..stamp.len() {
        fs::write(entry.join(STAMP), &stamp[..cut]).unwrap();
        assert_ne!(
            check(&entry, &identity("1"), Contents::Frozen),
            Ok(()),
            "cut at {cut}"
        );
    }
    fs::write(entry.join(STAMP), &stamp).unwrap();
    assert_eq!(check(&entry, &identity("1"), Contents::Frozen), Ok(()));
}

#[test]
fn a_failed_make_leaves_the_old_entry_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let entry = root.path().join("entry");
    ensure(&entry, &identity("1"), Contents::Frozen, fill).unwrap();
    let failing = |folder: &Path| {
        fill(folder)?;
        Err(Failure::step("network is gone"))
    };
    let result = ensure(&entry, &identity("2"), Contents::Frozen, failing);
    assert_eq!(result.unwrap_err().message, "network is gone");
    assert_eq!(check(&entry, &identity("1"), Contents::Frozen), Ok(()));
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
}

#[test]
fn what_a_killed_process_left_does_not_disturb() {
    let root = tempfile::tempdir().unwrap();
    let entry = root.path().join("entry");
    fs::create_dir_all(sibling(&entry).join("rubbish")).unwrap();
    ensure(&entry, &identity("1"), Contents::Frozen, fill).unwrap();
    assert!(!entry.join("rubbish").exists());
}

#[test]
fn a_living_entry_may_change_but_must_have_been_finished() {
    let root = tempfile::tempdir().unwrap();
    let entry = root.path().join("entry");
    let failing = |_: &Path| Err(Failure::step("no"));
    assert!(ensure_in_place(&entry, &identity("1"), failing).is_err());
    let made = ensure_in_place(&entry, &identity("1"), fill).unwrap();
    assert_eq!(made, Made::New(Unfit::Unfinished));
    fs::write(entry.join("three"), "3").unwrap();
    assert_eq!(
        ensure_in_place(&entry, &identity("1"), never).unwrap(),
        Made::Reused
    );
}

#[test]
fn the_cache_follows_the_xdg_specification() {
    let path = |text: &str| Some(PathBuf::from(text));
    assert_eq!(
        root_from(path("/x"), path("/users/u")).unwrap(),
        Path::new("/x/ferrocc")
    );
    let home = Path::new("/users/u/.cache/ferrocc");
    assert_eq!(root_from(None, path("/users/u")).unwrap(), home);
    assert_eq!(root_from(path("relative"), path("/users/u")).unwrap(), home);
    assert_eq!(root_from(path(""), path("/users/u")).unwrap(), home);
    assert_eq!(root_from(None, None).unwrap_err().code, 2);
}

#[test]
fn only_one_process_holds_the_cache() {
    let root = tempfile::tempdir().unwrap();
    let cache = Cache::lock(root.path().to_owned()).unwrap();
    let other = File::options()
        .write(true)
        .open(cache.path("lock"))
        .unwrap();
    assert!(matches!(
        other.try_lock(),
        Err(fs::TryLockError::WouldBlock)
    ));
    drop(cache);
    assert!(other.try_lock().is_ok());
}
