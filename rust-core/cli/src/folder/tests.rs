//! Folders, with real files.

use super::*;

#[test]
#[cfg(unix)]
fn two_runs_at_once_do_not_mix() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("run");
    let first = Staging::new(&place).unwrap();
    write(first.folder(), "summary.json", &summary("first"));
    let second = Staging::new(&place).unwrap_err();
    assert_eq!(second.to_string(), "another run is writing into it");
    first.commit().unwrap();
    assert_eq!(names(&place), ["summary.json"]);
    // What a killed run leaves is in nobody's way.
    write(&root.path().join(".run.partial"), MARKER, "");
    write(&root.path().join(".run.partial"), "queue.csv", "");
    Staging::new(&place).unwrap().commit().unwrap();
    assert!(names(&place).is_empty());
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(name), text).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let mut names = super::names(folder).unwrap();
    names.sort();
    names
}

/// The summary of a run of ours, told apart by the scenario's name.
fn summary(name: &str) -> String {
    format!(r#"{{"schema": 1, "scenario": "{name}", "ferrocc_version": "0.1.0"}}"#)
}

/// A table of a sweep of ours that names `cells`.
fn table(cells: &[&str]) -> String {
    let rows: String = cells.iter().map(|c| format!("{c},1,1,1\n")).collect();
    format!("cell,r,goodput_mbps,completed,fct_s_mean,x\n{rows}")
}

#[test]
fn an_earlier_run_is_replaced_whole_and_foreign_files_stay() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("run");
    for (text, trace) in [("1", true), ("2", false)] {
        let staging = Staging::new(&place).unwrap();
        write(staging.folder(), "summary.json", &summary(text));
        if trace {
            write(staging.folder(), "flows.csv", text);
        }
        assert!(names(root.path()).contains(&".run.partial".to_owned()));
        staging.commit().unwrap();
        assert_eq!(
            fs::read_to_string(place.join("summary.json")).unwrap(),
            summary(text)
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
    write(&root.path().join(".run.partial"), MARKER, "");
    write(&root.path().join(".run.partial"), "half", "");
    let staging = Staging::new(&place).unwrap();
    assert_eq!(names(staging.folder()), [MARKER]);
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
    for cell in ["c=a,r=1", "c=b", "c=kept", "mine"] {
        write(&out.join(cell), "summary.json", &summary(cell));
    }
    write(&out.join("c=a,r=1"), "flows.csv", "");
    write(&out.join("c=kept"), "notes.txt", "mine");
    write(&out.join("c=foreign"), "summary.json", "{}");
    let old = table(&[
        "\"c=a,r=1\"",
        "c=b",
        "c=kept",
        "c=foreign",
        ".",
        "..",
        "./mine",
    ]);
    write(out, "sweep.csv", &old);
    write(out, "my.pcap", "");
    // While a new sweep is under way there is no table.
    begin_sweep(out).unwrap();
    begin_sweep(out).unwrap();
    write(&out.join("c=b"), "run.json", r#"{"cell": "c=b"}"#);
    assert!(!out.join("sweep.csv").exists());
    assert!(sweepable(out));
    let new = table(&["c=b"]);
    finish_sweep(out, new.as_bytes(), &BTreeSet::from(["c=b".to_owned()])).unwrap();
    let left = ["c=b", "c=foreign", "c=kept", "mine", "my.pcap", "sweep.csv"];
    assert_eq!(names(out), left);
    assert_eq!(names(&out.join("c=kept")), ["notes.txt"]);
    assert_eq!(fs::read_to_string(out.join("sweep.csv")).unwrap(), new);
    write(out, "summary.json", &summary("single"));
    write(out, "trace-0-0.pcap", "");
    finish_sweep(out, new.as_bytes(), &BTreeSet::from(["c=b".to_owned()])).unwrap();
    assert_eq!(names(out), left);
}

#[test]
fn only_what_is_ours_is_an_earlier_run() {
    let root = tempfile::tempdir().unwrap();
    let refused = |name: &str, sweep: bool| {
        let out = root.path().join(name);
        let cell = if sweep { out.join("c=1") } else { out.clone() };
        check(&out, &[cell]).is_err_and(|e| e.problem.contains("holds other things"))
    };
    let at = |name: &str| root.path().join(name);
    for (i, text) in ["{}", "", r#"{"schema": 1, "scenario": "x"}"#]
        .iter()
        .enumerate()
    {
        let name = format!("summary-{i}");
        write(&at(&name), "summary.json", text);
        assert!(refused(&name, false) && refused(&name, true), "{text}");
    }
    write(&at("table"), "sweep.csv", "cell,price\n../precious,3\n");
    assert!(refused("table", false) && refused("table", true));
    write(&at("both"), "sweep.csv", &table(&["c=1"]));
    write(&at("both"), "summary.json", "{}");
    assert!(refused("both", false));
    write(&at("run"), "summary.json", &summary("x"));
    assert!(!refused("run", false) && !refused("run", true));
    // What an interrupted sweep leaves.
    write(&at("part/c=1"), "summary.json", &summary("x"));
    write(&at("part/c=1"), "run.json", r#"{"cell": "c=1"}"#);
    write(&at("part/.c=2.partial"), MARKER, "");
    assert!(!refused("part", false) && !refused("part", true));
    write(&at("part"), "thesis.txt", "");
    assert!(refused("part", false) && !refused("part", true));
    // Single runs side by side are no sweep.
    write(&at("runs/a"), "summary.json", &summary("x"));
    write(&at("runs/a"), "run.json", r#"{"cell": ""}"#);
    assert!(refused("runs", false) && refused("runs", true));
}

#[test]
fn a_run_replaces_exactly_its_own_files() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("run");
    write(&place, "summary.json", &summary("old"));
    for name in [
        "run.json",
        "flows.csv",
        "queue.csv",
        "events.csv",
        "trace-0-1.pcap",
    ] {
        write(&place, name, "old");
    }
    for name in ["my.pcap", "flows-notes", "sweep.csv.bak"] {
        write(&place, name, "mine");
    }
    write(&place.join("mine"), "summary.json", &summary("mine"));
    let staging = Staging::new(&place).unwrap();
    write(staging.folder(), "summary.json", &summary("new"));
    staging.commit().unwrap();
    let left = [
        "flows-notes",
        "mine",
        "my.pcap",
        "summary.json",
        "sweep.csv.bak",
    ];
    assert_eq!(names(&place), left);
    assert_eq!(names(root.path()), ["run"]);
}

#[test]
fn a_folder_that_only_has_the_name_of_a_partial_one_stays() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("run");
    write(&root.path().join(".run.partial"), "thesis.txt", "mine");
    let told = check(&place, std::slice::from_ref(&place)).unwrap_err();
    assert!(told.problem.contains("is in the way"), "{told}");
    let told = Staging::new(&place).unwrap_err().to_string();
    assert!(told.contains("is in the way"), "{told}");
    assert_eq!(names(&root.path().join(".run.partial")), ["thesis.txt"]);
}

#[test]
#[cfg(unix)]
fn a_link_stays_a_link() {
    let root = tempfile::tempdir().unwrap();
    let (link, target) = (root.path().join("link"), root.path().join("target"));
    fs::create_dir(&target).unwrap();
    std::os::unix::fs::symlink("target", &link).unwrap();
    // An empty folder, then an earlier run.
    for text in ["1", "2"] {
        check(&resolve(&link), &[resolve(&link)]).unwrap();
        let staging = Staging::new(&root.path().join("link/")).unwrap();
        write(staging.folder(), "summary.json", &summary(text));
        staging.commit().unwrap();
        assert!(link.is_symlink() && !target.is_symlink());
        assert_eq!(
            fs::read_to_string(target.join("summary.json")).unwrap(),
            summary(text)
        );
    }
    assert_eq!(names(root.path()), ["link", "target"]);
}
