//! The arrows between the host's rooms point one way, and the pages that describe the workspace name what is there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

/// From the rooms that know most to those that know least. A room knows rooms of later lines only; `report` also knows
/// `export`, whose tables it writes.
const LEVELS: &[&[&str]] = &[
    &["main", "lib"],
    &["commands"],
    &["cli"],
    &["report"],
    &["export", "solve", "check", "run"],
    &["trial"],
    &["record"],
    &["plan"],
    &["plugins", "manifest"],
    &["skeleton"],
    &["clock", "diagnostic", "feasible", "files", "parallel", "text"],
    &["paint"],
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn level(room: &str) -> Option<usize> {
    LEVELS.iter().position(|rooms| rooms.contains(&room))
}

/// Every source file below a folder, as paths from it.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path.strip_prefix(folder).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The rooms that a source names: `crate::plan::Plan`, or `crate::{clock, files}`.
fn named_rooms(source: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for found in Regex::new(r"\bcrate::(\w+)").unwrap().captures_iter(source) {
        rooms.insert(found[1].to_owned());
    }
    for found in Regex::new(r"\bcrate::\{([^;]*)\}").unwrap().captures_iter(source) {
        // What stands in inner braces is within a room.
        let (mut depth, mut words) = (0, String::new());
        for letter in found[1].chars() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                letter if depth == 0 => words.push(letter),
                _ => {}
            }
        }
        rooms.extend(
            words.split(',').filter_map(|path| path.split("::").next()).map(|word| word.trim().to_owned()),
        );
    }
    rooms.retain(|room| !room.is_empty() && room != "self");
    rooms
}

/// What points back, or to a room of the same level.
fn wrong_arrows(room: &str, source: &str) -> Vec<String> {
    let own = level(room)
        .unwrap_or_else(|| panic!("`{room}` has no level: give it one here and a line in ARCHITECTURE.md"));
    let wrong = |other: &String| {
        *other != room && level(other).unwrap_or_else(|| panic!("`{other}` has no level")) <= own
    };
    named_rooms(source).into_iter().filter(wrong).collect()
}

#[test]
fn arrows_point_one_way() {
    let folder = workspace().join("host/src");
    let mut wrong = Vec::new();
    for path in sources(&folder) {
        let first = path.components().next().unwrap().as_os_str().to_str().unwrap();
        let source = std::fs::read_to_string(folder.join(&path)).unwrap();
        for other in wrong_arrows(first.trim_end_matches(".rs").trim_end_matches("_tests"), &source) {
            wrong.push(format!("{} knows `{other}`", path.display()));
        }
    }
    assert!(wrong.is_empty(), "arrows that point back:\n{}", wrong.join("\n"));
}

#[test]
fn an_arrow_that_points_back_is_found() {
    assert_eq!(wrong_arrows("record", "use crate::trial::OpenTrial;"), ["trial"]);
    assert_eq!(wrong_arrows("plan", "let x = crate::run::run();"), ["run"]);
    assert_eq!(wrong_arrows("files", "use crate::{clock, plan::{Plan, Spec}};"), ["clock", "plan"]);
    assert_eq!(wrong_arrows("manifest", "use crate::plugins::Plugins;"), ["plugins"]);
    assert!(
        wrong_arrows("trial", "use crate::record::{Journal, Step};\nuse crate::{plan::Plan, files};")
            .is_empty()
    );
    assert!(wrong_arrows("report", "use crate::export;").is_empty());
}

/// The files of a tree in a page: names stand at the beginning of a line, two spaces deeper than their folder, and
/// what they are for follows after two spaces.
fn tree(page: &str) -> Vec<String> {
    let (mut files, mut folders): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for block in page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        // Other blocks are pictures.
        if !block.lines().next().is_some_and(|first| first.ends_with('/') && !first.contains(' ')) {
            continue;
        }
        for line in block.lines().filter(|line| !line.trim().is_empty()) {
            let depth = (line.len() - line.trim_start().len()) / 2;
            let names = line.trim_start().split("  ").next().unwrap_or_default();
            folders.truncate(depth);
            for name in names.split_whitespace() {
                let path = folders.iter().map(String::as_str).chain([name]).collect::<String>();
                if name.ends_with('/') {
                    folders.push(name.to_owned());
                }
                files.push(path);
            }
        }
    }
    files
}

/// Words in backticks that look like paths of the workspace.
fn paths(page: &str) -> Vec<String> {
    let code = Regex::new(r"`([^`\n]+)`").unwrap();
    let ends = [".rs", ".md", ".yaml", ".toml", ".h", "/"];
    let is_path = |word: &str| {
        word.contains('/')
            && ends.iter().any(|end| word.ends_with(end))
            && !word.contains([' ', '<', '*', '{', '$', ':'])
            && !word.starts_with(['/', '~', '-'])
            // Folders of results, and of a user's own.
            && !["results/", "target/", "mine/"].iter().any(|folder| word.starts_with(folder))
    };
    code.captures_iter(page).map(|found| found[1].to_owned()).filter(|word| is_path(word)).collect()
}

#[test]
fn every_path_that_a_page_names_exists() {
    let mut missing = Vec::new();
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] {
        let text = std::fs::read_to_string(workspace().join(page)).unwrap();
        for path in tree(&text).into_iter().chain(paths(&text)) {
            if !workspace().join(&path).exists() {
                missing.push(format!("{page}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "paths that are not there:\n{}", missing.join("\n"));
}

#[test]
fn every_file_of_the_host_and_the_api_is_on_the_map() {
    let map = tree(&std::fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap());
    let mut missing = Vec::new();
    for folder in ["host/src", "plugin-api/src"] {
        for path in sources(&workspace().join(folder)) {
            let path = format!("{folder}/{}", path.display());
            if !map.contains(&path) {
                missing.push(path);
            }
        }
    }
    assert!(missing.is_empty(), "files that ARCHITECTURE.md does not have:\n{}", missing.join("\n"));
}

/// A limit that went by the time of day would end, or never end, when somebody sets the clock.
#[test]
fn the_time_of_day_is_asked_in_one_place_and_for_people_alone() {
    let host = workspace().join("host/src");
    let asks = Regex::new(r"SystemTime|\.modified\(\)|\.accessed\(\)|\.created\(\)").unwrap();
    let uses = Regex::new(r"\bclock::(stamp|moment|now)\(").unwrap();
    let with = |pattern: &Regex| -> Vec<String> {
        let found = sources(&host).into_iter().filter(|path| {
            let text = std::fs::read_to_string(host.join(path)).unwrap();
            pattern.is_match(text.split("#[cfg(test)]").next().unwrap())
        });
        found.map(|path| path.display().to_string()).collect()
    };
    // Beside the clock itself: which of several runs is the latest, where nobody has named one; and whether a trial has failed
    // since it was submitted to a cluster, for which the file system's clock is compared with itself.
    let submitted = ["record/cluster.rs", "record/incident.rs"];
    assert_eq!(with(&asks), ["clock.rs", submitted[0], "record/folder.rs", submitted[1]]);
    // Names of folders, who holds a lock since when, when a session began, when a page was made, when an array was submitted and
    // by which name it is found again.
    let arrays = ["run/slurm/mod.rs", "run/slurm/submit.rs"];
    let named = ["record/folder.rs", "record/lock.rs", "record/session.rs", "report/live.rs"];
    assert_eq!(with(&uses), [&named[..], &arrays].concat());
    for plugin in sources(&workspace().join("plugins")) {
        let text = std::fs::read_to_string(workspace().join("plugins").join(&plugin)).unwrap();
        assert!(!text.contains("SystemTime"), "{}", plugin.display());
    }
}
