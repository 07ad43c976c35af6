//! `RESULTS.md` is not out of date: its plans are those of its commands, and its tables can be made again.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use regex::Regex;
use serde_json::Value as Json;

use crate::support::{command, output, workspace};

fn page() -> String {
    std::fs::read_to_string(workspace().join("RESULTS.md")).unwrap()
}

/// Every run of the page, `host run … --run-id ID  # plan HASH`: what `host plan` says of the command, and HASH, by
/// the run's folder.
fn runs(page: &str) -> BTreeMap<String, (Json, String)> {
    let line = Regex::new(r"(?m)^host run (.+) --run-id (\S+)  # plan ([0-9a-f]{16})$").unwrap();
    let word = Regex::new(r"'([^']*)'|(\S+)").unwrap();
    let mut runs = BTreeMap::new();
    for found in line.captures_iter(page) {
        let words = word
            .captures_iter(&found[1])
            .map(|word| word.get(1).or(word.get(2)).unwrap().as_str().to_owned());
        let mut arguments = vec!["plan".to_owned(), "--json".to_owned()];
        arguments.extend(words);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = output(&arguments, "");
        assert!(output.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&output.stderr));
        let plan: Json = serde_json::from_slice(&output.stdout).unwrap();
        let folder = format!("{}/{}", plan["name"].as_str().unwrap(), &found[2]);
        assert!(runs.insert(folder, (plan, found[3].to_owned())).is_none(), "two runs: {}", &found[0]);
    }
    runs
}

#[test]
fn plans_on_the_page_are_those_of_its_commands() {
    let page = page();
    let runs = runs(&page);
    for (folder, (plan, hash)) in &runs {
        let planned = plan["hash"].as_str().unwrap();
        assert_eq!(
            &planned[..16],
            hash,
            "the plan of {folder} has changed: run it again, then \
            `python3 experiments/paper/tables.py RESULTS.md`"
        );
    }
    // Every command that is meant to be found was, and every manifest of the study has a run.
    assert_eq!(runs.len(), page.matches("  # plan ").count(), "{:?}", runs.keys());
    for entry in std::fs::read_dir(workspace().join("experiments/paper")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let name = format!("paper-{}/", path.file_stem().unwrap().to_str().unwrap());
            assert!(runs.keys().any(|folder| folder.starts_with(&name)), "{name}");
        }
    }
}

#[test]
fn every_table_and_figure_of_the_page_comes_from_somewhere() {
    let page = page();
    let runs = runs(&page);
    let table = Regex::new(r"<!-- [a-z-]+ (.+) -->\n\n\|").unwrap();
    let mut tables = 0;
    for found in table.captures_iter(&page) {
        for run in found[1].split(' ').map(|word| word.split_once('=').unwrap().1) {
            assert!(runs.contains_key(run), "no command makes {run}");
        }
        tables += 1;
    }
    assert_eq!(tables, page.matches("<!-- end -->").count());
    assert_eq!(
        tables,
        // A table of numbers, which are set to the right; methods are described in a table of words.
        Regex::new(r"(?m)^\| --- \|.*--:").unwrap().find_iter(&page).count(),
        "a table typed by hand"
    );
    let figure = Regex::new(r"!\[[^]]+\]\(([^)]+)\)").unwrap();
    let figures: Vec<_> = figure.captures_iter(&page).map(|found| found[1].to_owned()).collect();
    assert!(!figures.is_empty());
    for figure in figures {
        assert!(workspace().join(&figure).is_file(), "{figure}");
    }
}

/// The script on a page, with results in a folder.
fn tables(page: &Path, results: &Path, more: &[&str]) -> Output {
    let mut script = Command::new("python3");
    script.arg("experiments/paper/tables.py").arg(page).arg("--results").arg(results).args(more);
    script.current_dir(workspace()).output().unwrap()
}

#[test]
fn tables_are_written_from_runs_and_a_changed_number_is_found() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: `python3` is not here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    let short =
        ["--set", "seeds=3", "--set", "budget={initial: 4, evaluations: 2}", "--run-id", "t", "--quiet"];
    let mut run = command(&["run", "experiments/paper/ising.yaml", "--output", results.to_str().unwrap()]);
    assert!(run.args(short).output().unwrap().status.success());
    let path = folder.path().join("page.md");
    let empty = "```sh slow\nhost run experiments/paper/ising.yaml --run-id t  # plan -\n```\n\
        <!-- values Ising=paper-ising/t -->\n<!-- end -->\n<!-- pairs Ising=paper-ising/t -->\n<!-- end -->\n\
        <!-- afo Ising=paper-ising/t -->\n<!-- end -->\n<!-- values Other=paper-ising/none -->\n<!-- end -->\n";
    std::fs::write(&path, empty).unwrap();
    let written = tables(&path, &results, &[]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let page = std::fs::read_to_string(&path).unwrap();
    let summary: Json =
        serde_json::from_slice(&std::fs::read(results.join("paper-ising/t/summary.json")).unwrap()).unwrap();
    assert!(page.contains(&format!("# plan {}\n", &summary["plan"].as_str().unwrap()[..16])), "{page}");
    // Nine methods and nine pairs of them, five pairs of solvers; a run that is not there is passed over.
    assert_eq!(page.matches("| `").count(), 9 + 9 + 5, "{page}");
    let random = &summary["methods"][8];
    assert_eq!(random["method"], "random");
    let mean = random["final"]["mean"].as_f64().unwrap();
    let row = page.lines().find(|line| line.starts_with("| `random` |")).unwrap();
    let shown: f64 = row.split(['|', '[']).nth(2).unwrap().replace('*', "").trim().parse().unwrap();
    assert!((shown - mean).abs() < 0.01 * mean.abs().max(10.0), "{row}: {mean}");

    assert!(tables(&path, &results, &["--check"]).status.success());
    std::fs::write(&path, page.replacen("p = ", "p < ", 1)).unwrap();
    let checked = tables(&path, &results, &["--check"]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&checked.stdout).contains("differs: pairs Ising=paper-ising/t"));
}
