//! Other people's files: what a report did not write it leaves alone, and a folder from a stranger leads nowhere else.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::support::{SMALLEST, command, output, recorded};

fn report(arguments: &[&Path]) -> (Option<i32>, String) {
    let words: Vec<&str> = arguments.iter().map(|path| path.to_str().unwrap()).collect();
    let output = output(&[&["report"], &words[..]].concat(), "");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Every file below a folder with its content, but for links.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files.extend(self::files(&entry.path()));
        } else if kind.is_file() {
            files.push((entry.path(), std::fs::read(entry.path()).unwrap()));
        }
    }
    files.sort();
    files
}

#[test]
fn a_report_into_somebodys_folder_replaces_and_removes_nothing_of_theirs() {
    let top = tempfile::tempdir().unwrap();
    let run = recorded::write(top.path(), &recorded::PLAIN);
    let paper = top.path().join("paper");
    std::fs::create_dir_all(paper.join("figures")).unwrap();
    for name in ["figures/holiday.png", "figures/logo.svg", "notes.txt"] {
        std::fs::write(paper.join(name), name).unwrap();
    }
    let theirs = files(&paper);
    for _ in 0..2 {
        let (code, words) = report(&[&run, Path::new("--output"), &paper]);
        assert_eq!(code, Some(0), "{words}");
        let now = files(&paper);
        assert!(theirs.iter().all(|file| now.contains(file)));
    }
    assert!(!run.join("figures").exists(), "the run's own folder is left alone");
    // A file of theirs that has the name of one of ours.
    let other = top.path().join("other");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("summary.json"), "theirs").unwrap();
    let (code, words) = report(&[&run, Path::new("--output"), &other]);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("summary.json is no file of a report"), "{words}");
    assert_eq!(files(&other), [(other.join("summary.json"), b"theirs".to_vec())]);
}

#[test]
fn links_in_a_strangers_folder_are_errors_and_lead_nowhere() {
    let home = tempfile::tempdir().unwrap();
    let (profile, pictures) = (home.path().join(".bashrc"), home.path().join("Pictures"));
    std::fs::create_dir(&pictures).unwrap();
    for file in [&profile, &pictures.join("a.png"), &pictures.join("b.svg")] {
        std::fs::write(file, "precious").unwrap();
    }
    let whole = files(home.path());
    let (file, folder) = (profile.as_path(), pictures.as_path());
    let links = [
        ("report.html", file),
        ("report.html.new", file),
        ("figures", folder),
        ("trace.csv", file),
        ("summary.json", file),
        ("report-files.json", file),
        ("identity.json", file),
        ("plan.yaml", file),
        ("spaces.json", file),
        ("trials", folder),
        ("trials/psr-sweep1-seed1", folder),
        ("trials/psr-sweep1-seed1/journal.jsonl", file),
        ("trials/psr-sweep1-seed1/timing.jsonl", file),
    ];
    for (name, target) in links {
        let top = tempfile::tempdir().unwrap();
        let run = recorded::write(top.path(), &recorded::PLAIN);
        let link = run.join(name);
        if link.is_dir() {
            std::fs::remove_dir_all(&link).unwrap();
        } else if link.exists() {
            std::fs::remove_file(&link).unwrap();
        }
        symlink(target, &link).unwrap();
        let (code, words) = report(&[&run]);
        // A name that is not ours is not in the way; times that cannot be read are left out.
        let harmless = name.ends_with(".new") || name.ends_with("timing.jsonl");
        assert_eq!(code == Some(0), harmless, "{name}: {words}");
        assert!(harmless || words.contains("in the way"), "{name}: {words}");
        let exported = output(&["export", run.to_str().unwrap(), "--format", "csv"], "");
        assert!(exported.status.code().is_some_and(|code| code <= 2));
        let resumed = output(&["run", "--resume", run.to_str().unwrap()], "");
        assert!(resumed.status.code().is_some_and(|code| code <= 2));
        assert_eq!(files(home.path()), whole, "{name}");
    }
}

#[test]
fn a_trial_does_not_write_through_links() {
    let (top, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let precious = home.path().join("precious");
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", top.path().to_str().unwrap()];
    assert!(output(&arguments, SMALLEST).status.success());
    let trial = top.path().join("smallest/r/trials/annealing-seed1");
    for name in ["journal.jsonl", "incidents.jsonl", "trial.json", "../../lock", "../../identity.json"] {
        std::fs::write(&precious, "precious").unwrap();
        let path = trial.join(name);
        let kept = std::fs::read(&path).ok();
        let _ = std::fs::remove_file(&path);
        symlink(&precious, &path).unwrap();
        let resumed = output(&[&arguments[..], &["--resume"]].concat(), SMALLEST);
        let words = String::from_utf8_lossy(&resumed.stderr).into_owned();
        assert_eq!(std::fs::read(&precious).unwrap(), b"precious", "{name}: {words}");
        assert!(name == "incidents.jsonl" || words.contains("a link is in the way"), "{name}: {words}");
        std::fs::remove_file(&path).unwrap();
        if let Some(kept) = kept {
            std::fs::write(&path, kept).unwrap();
        }
    }
}

#[test]
fn any_number_of_reports_and_runs_at_once_are_fine() {
    let top = tempfile::tempdir().unwrap();
    let results = top.path().to_str().unwrap();
    let manifest = top.path().join("m.yaml");
    std::fs::write(&manifest, SMALLEST.to_owned() + "seeds: 3\n").unwrap();
    let arguments = ["run", manifest.to_str().unwrap(), "--quiet", "--run-id", "r", "--output", results];
    assert!(output(&arguments, "").status.success());
    let run = top.path().join("smallest/r");
    let page = std::fs::read(run.join("report.html")).unwrap();
    for round in 0..3 {
        let mut hosts = Vec::new();
        // The run goes on from a journal without its end, and reports too.
        let journal = run.join("trials/annealing-seed2/journal.jsonl");
        let text = std::fs::read_to_string(&journal).unwrap();
        std::fs::write(&journal, &text[..text.trim_end().rfind('\n').unwrap() + 1]).unwrap();
        let reports = vec![vec!["report", run.to_str().unwrap()]; 6];
        let resume = [&arguments[..], &["--resume"]].concat();
        for arguments in reports.into_iter().chain([resume]) {
            let mut host = command(&arguments);
            host.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
            hosts.push(host.spawn().unwrap());
        }
        for host in hosts {
            let output = host.wait_with_output().unwrap();
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "round {round}: {words}");
        }
    }
    assert_eq!(report(&[&run]).0, Some(0));
    // Times differ from one report to the next.
    assert!(std::fs::read(run.join("report.html")).unwrap().len() > page.len() / 2);
    let left: Vec<_> =
        files(&run).into_iter().filter(|(path, _)| path.to_string_lossy().ends_with(".new")).collect();
    assert!(left.is_empty(), "{left:?}");
}
