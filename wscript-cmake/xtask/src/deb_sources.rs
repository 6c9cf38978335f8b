//! apt source entries for source packages, derived from the machine's own entries for binary ones.
//!
//! Reads both formats of sources.list(5): deb822 stanzas (`*.sources`) and one line per entry
//! (`*.list`). The result is one deb822 text for a private list.

use std::fs;
use std::path::Path;

/// One entry for binary packages.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    uris: Vec<String>,
    suites: Vec<String>,
    components: Vec<String>,
    /// Whatever else the entry says, as deb822 fields ("Signed-By", its value with line breaks).
    options: Vec<(String, String)>,
}

/// A deb822 text of `deb-src` entries for the release `codename`, from every list below
/// `etc_apt`; `None` if the machine has no entry for the release.
pub fn derive(etc_apt: &Path, codename: &str) -> Option<String> {
    let mut texts = vec![(etc_apt.join("sources.list"), false)];
    let mut parts: Vec<_> = fs::read_dir(etc_apt.join("sources.list.d"))
        .map(|folder| {
            folder
                .filter_map(|entry| Some(entry.ok()?.path()))
                .collect()
        })
        .unwrap_or_default();
    parts.sort();
    for path in parts {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("list") => texts.push((path, false)),
            Some("sources") => texts.push((path, true)),
            _ => {}
        }
    }
    let mut entries = Vec::new();
    for (path, deb822) in texts {
        let Ok(text) = fs::read_to_string(path) else {
            continue;
        };
        entries.extend(if deb822 {
            parse_deb822(&text)
        } else {
            parse_lines(&text)
        });
    }
    let mut text = String::new();
    for mut entry in entries {
        entry.suites.retain(|suite| is_of_release(suite, codename));
        if !entry.suites.is_empty() && !entry.components.is_empty() {
            text += &stanza(&entry);
        }
    }
    (!text.is_empty()).then_some(text)
}

/// The release itself, its updates and its security fixes; other archives (a vendor's
/// "cloud-bookworm") have no source packages of the distribution.
fn is_of_release(suite: &str, codename: &str) -> bool {
    match suite.strip_prefix(codename) {
        Some(rest) => {
            matches!(
                rest,
                "" | "/updates" | "-updates" | "-security" | "-proposed-updates"
            )
        }
        None => false,
    }
}

fn stanza(entry: &Entry) -> String {
    let mut text = format!(
        "Types: deb-src\nURIs: {}\nSuites: {}\nComponents: {}\n",
        entry.uris.join(" "),
        entry.suites.join(" "),
        entry.components.join(" ")
    );
    for (name, value) in &entry.options {
        text += &format!("{name}:{value}\n");
    }
    text + "\n"
}

/// Stanzas of `Field: value` lines, continued by indented lines, apart by empty lines.
fn parse_deb822(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            entries.extend(entry_of(std::mem::take(&mut fields)));
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push('\n');
                value.push_str(line);
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_owned(), value.to_owned()));
        }
    }
    entries
}

fn entry_of(fields: Vec<(String, String)>) -> Option<Entry> {
    let words = |wanted: &str| -> Vec<String> {
        fields
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default()
    };
    let disabled = words("Enabled")
        .first()
        .is_some_and(|v| v.eq_ignore_ascii_case("no"));
    if disabled || !words("Types").iter().any(|kind| kind == "deb") {
        return None;
    }
    let main = ["types", "uris", "suites", "components", "enabled"];
    let (uris, suites, components) = (words("URIs"), words("Suites"), words("Components"));
    let options = fields
        .into_iter()
        .filter(|(name, _)| {
            let name = name.to_ascii_lowercase();
            // A restriction to an architecture says nothing about source packages.
            !main.contains(&name.as_str()) && name != "architectures"
        })
        .collect();
    Some(Entry {
        uris,
        suites,
        components,
        options,
    })
}

/// `deb [option=value …] URI suite component…` lines.
fn parse_lines(text: &str) -> Vec<Entry> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Entry> {
    let line = line.split('#').next()?.trim();
    let rest = line.strip_prefix("deb")?;
    // Not "deb-src".
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let options = options
        .split_whitespace()
        .filter_map(|option| option.split_once('='))
        .filter_map(|(key, value)| Some((deb822_name(key)?.to_owned(), format!(" {value}"))))
        .collect();
    let mut words = rest.split_whitespace().map(str::to_owned);
    let uri = words.next()?;
    let suite = words.next()?;
    Some(Entry {
        uris: vec![uri],
        suites: vec![suite],
        components: words.collect(),
        options,
    })
}

/// The deb822 name of a one-line option (sources.list(5)); the others do not concern source packages.
fn deb822_name(option: &str) -> Option<&'static str> {
    match option {
        "signed-by" => Some("Signed-By"),
        "trusted" => Some("Trusted"),
        "check-valid-until" => Some("Check-Valid-Until"),
        "allow-insecure" => Some("Allow-Insecure"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apt_folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sources.list.d")).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn deb822_stanzas_become_source_stanzas_with_their_keys() {
        let folder = apt_folder(&[(
            "sources.list.d/debian.sources",
            "Types: deb\n# a comment inside\nURIs: http://a.example/debian\n\
             Suites: bookworm bookworm-updates\nComponents: main contrib\n\
             Signed-By: /usr/share/keyrings/a.gpg\n\n\
             Types: deb deb-src\nURIs: http://a.example/debian-security\n\
             Suites: bookworm-security\nComponents: main\nArchitectures: amd64\n",
        )]);
        let expected = "Types: deb-src\nURIs: http://a.example/debian\n\
                        Suites: bookworm bookworm-updates\nComponents: main contrib\n\
                        Signed-By: /usr/share/keyrings/a.gpg\n\n\
                        Types: deb-src\nURIs: http://a.example/debian-security\n\
                        Suites: bookworm-security\nComponents: main\n\n";
        assert_eq!(derive(folder.path(), "bookworm").as_deref(), Some(expected));
    }

    #[test]
    fn an_inline_key_keeps_its_lines() {
        let key =
            " -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n -----END PGP PUBLIC KEY BLOCK-----";
        let text = format!("Types: deb\nURIs: u\nSuites: s\nComponents: c\nSigned-By:\n{key}\n");
        let entries = parse_deb822(&text);
        assert_eq!(entries.len(), 1);
        assert!(stanza(&entries[0]).contains(&format!("Signed-By:\n{key}\n")));
    }

    #[test]
    fn disabled_source_only_and_foreign_entries_are_left_out() {
        let folder = apt_folder(&[
            (
                "sources.list.d/off.sources",
                "Enabled: no\nTypes: deb\nURIs: http://off.example\nSuites: bookworm\nComponents: main\n",
            ),
            (
                "sources.list.d/src.sources",
                "Types: deb-src\nURIs: http://src.example\nSuites: bookworm\nComponents: main\n",
            ),
            (
                "sources.list.d/vendor.list",
                "deb http://vendor.example cloud-bookworm main\n",
            ),
            (
                "sources.list.d/old.list.disabled",
                "deb http://old.example bookworm main\n",
            ),
        ]);
        assert_eq!(derive(folder.path(), "bookworm"), None);
    }

    #[test]
    fn one_line_entries_are_read_with_options_and_comments() {
        let folder = apt_folder(&[(
            "sources.list",
            "# deb http://commented.example bookworm main\n\
             deb-src http://src.example bookworm main\n\
             deb [arch=amd64 signed-by=/k.gpg] http://a.example/debian bookworm main contrib # end\n\
             deb\thttp://b.example/debian\tbookworm-security\tmain\n\
             deb http://c.example/debian trixie main\n",
        )]);
        let expected = "Types: deb-src\nURIs: http://a.example/debian\nSuites: bookworm\n\
                        Components: main contrib\nSigned-By: /k.gpg\n\n\
                        Types: deb-src\nURIs: http://b.example/debian\nSuites: bookworm-security\n\
                        Components: main\n\n";
        assert_eq!(derive(folder.path(), "bookworm").as_deref(), Some(expected));
    }

    #[test]
    fn broken_lines_are_passed_over() {
        assert_eq!(
            parse_lines("deb\ndeb [unclosed http://x y z\ndebian is fine\ndeb http://only"),
            []
        );
        assert_eq!(parse_deb822(" continued without a field\nno colon\n"), []);
    }
}
