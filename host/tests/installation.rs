//! `host doctor` without a folder, and `host completions`.
#![allow(clippy::unwrap_used, reason = "`unwrap` is for tests, their helpers among them")]

mod support;

use std::process::Command;

use insta::assert_snapshot;
use support::host;

/// What the doctor says, without what differs between machines.
fn doctor(arguments: &[&str], more: &[(&str, &str)]) -> String {
    let program = support::program_folder().display().to_string();
    let mut seen = host(&[&["doctor"], arguments].concat(), "").replace(&program, "[program]");
    for (from, to) in more {
        seen = seen.replace(from, to);
    }
    let hidden = [
        (r"plugin-api \d+\.\d+\.\d+", "plugin-api [version]"),
        (r"\w+ on \w+, \d+ cores?", "[system] on [machine], [number] cores"),
        (r"[0-9.]+ GB free", "[number] GB free"),
        (r"─+", "─"),
        (r" {2,}", "  "),
        // Which plugins there are is another test's business.
        (r"(beside the program) +[1-9]\d*", "$1  [number]"),
        (r"(?m)^((?:benchmark|encoder|surrogate|solver)s: \S+ [0-9.]+),.*$", "$1, …"),
    ];
    for (pattern, to) in hidden {
        seen = regex::Regex::new(pattern).unwrap().replace_all(&seen, to).into_owned();
    }
    seen
}

#[test]
fn the_doctor_shows_what_there_is() {
    let _snapshots = snapshots::in_folder("cli");
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results").display().to_string();
    assert_snapshot!(
        "the doctor finds all well",
        doctor(&["--output", &results], &[(&results, "[results]")])
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[cfg(unix)]
#[test]
fn the_doctor_shows_what_is_refused_and_why() {
    use std::os::unix::fs::PermissionsExt;
    let _snapshots = snapshots::in_folder("cli");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(path.join(plugin_api::Kind::Solver.file_name("broken")), "no library").unwrap();
    let open = path.join(plugin_api::Kind::Solver.file_name("open"));
    std::fs::write(&open, "no library either").unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o666)).unwrap();
    // A file stands where results would go.
    let results = path.join("results");
    std::fs::write(&results, "").unwrap();
    let name = path.display().to_string();
    let arguments = ["--plugin-dir", &name, "--output", results.to_str().unwrap()];
    assert_snapshot!("the doctor finds what is refused", doctor(&arguments, &[(&name, "[folder]")]));
}

/// Asks bash itself what it would complete.
#[cfg(unix)]
#[test]
fn bash_completes_commands_options_and_their_values() {
    let Ok(version) = Command::new("bash").arg("--version").output() else {
        eprintln!("skipped: no bash here");
        return;
    };
    assert!(version.status.success());
    let script = host(&["completions", "bash"], "");
    let complete = |words: &[&str]| {
        let list = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
        let ask = format!(
            "{script}\nCOMP_WORDS=({list}); COMP_CWORD={}; _host host '{last}' '{before}'; echo \"${{COMPREPLY[@]}}\"",
            words.len() - 1
        );
        let output = Command::new("bash").args(["--norc", "-c", &ask]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    assert_eq!(complete(&["host", "pl"]), "plan plugins");
    assert_eq!(complete(&["host", "run", "--in"]), "--in-process");
    assert_eq!(complete(&["host", "plugins", "d"]), "describe");
    assert_eq!(complete(&["host", "plan", "--log-format", "j"]), "json");
    assert_eq!(
        complete(&["host", "completions", ""]).split(' ').filter(|word| !word.starts_with('-')).count(),
        3
    );
}

#[test]
fn zsh_and_fish_take_their_scripts() {
    for shell in ["zsh", "fish"] {
        let script = host(&["completions", shell], "");
        for command in
            ["run", "plan", "report", "doctor", "export", "solve", "plugins", "schema", "completions"]
        {
            assert!(script.contains(command), "{shell} does not know `{command}`");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &script).unwrap();
        match Command::new(shell).arg("-n").arg(file.path()).output() {
            Ok(checked) => assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr)),
            Err(_) => eprintln!("skipped: no {shell} here to read its script"),
        }
    }
    assert!(host(&["completions", "tcsh"], "").contains("[exit code Some(2)]"));
}
