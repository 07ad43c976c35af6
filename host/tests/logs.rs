//! What is said of a run at `-v` and more, and where colours go.

use std::path::Path;

use insta::assert_snapshot;

use crate::support::{self, SMALLEST, build_plugin, command};

/// What a run says on its error output.
fn said(manifest: &str, results: &Path, more: &[&str]) -> String {
    let plugins = build_plugin("benchmark-fault", include_str!("data/fault.rs"));
    let plugins = plugins.to_str().unwrap();
    let place = ["--quiet", "--output", results.to_str().unwrap(), "--run-id", "r", "--plugin-dir", plugins];
    let output = support::output(&[&["run", "-"], &place[..], more].concat(), manifest);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn manifest() -> String {
    SMALLEST.replace("{ use: labs, options: { n: 6 } }", "fault")
}

#[test]
fn as_much_is_said_as_was_asked_for_in_the_trials_processes_too() {
    let lines = ["a sample arrives", "it is weighed", "the door is closed"];
    for (level, flags) in [&[][..], &["-v"], &["-vv"], &["-vvv"]].into_iter().enumerate() {
        let results = tempfile::tempdir().unwrap();
        let said = said(&manifest(), results.path(), flags);
        for (i, line) in lines.iter().enumerate() {
            // Five evaluations; each line names the trial that it comes from.
            let from_trial = |said: &&str| said.starts_with("annealing-seed1: ") && said.contains(line);
            assert_eq!(
                said.lines().filter(from_trial).count(),
                if i < level { 5 } else { 0 },
                "{flags:?}: {said}"
            );
        }
    }
}

#[test]
fn at_v_the_host_says_what_it_does() {
    let _snapshots = snapshots::in_folder("runs");
    let results = tempfile::tempdir().unwrap();
    let place = results.path().to_str().unwrap().to_owned();
    let shown = |said: String| {
        let own = said.lines().filter(|line| line.contains(" INFO host::") && !line.contains("plugin"));
        let hash = regex::Regex::new("hash [0-9a-f]{64}").unwrap();
        let text = own.map(|line| format!("{line}\n")).collect::<String>().replace(&place, "[results]");
        let folder = regex::Regex::new(r"from /\S+/").unwrap();
        folder.replace_all(&hash.replace_all(&text, "hash [hash]"), "from [folder]/").into_owned()
    };
    assert_snapshot!("a run at -v", shown(said(&manifest(), results.path(), &["-v"])));
    // As if the power had gone after the fourth evaluation.
    let journal = results.path().join("smallest/r/trials/annealing-seed1/journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    std::fs::write(&journal, lines[..lines.len() - 3].concat()).unwrap();
    std::fs::remove_file(journal.with_file_name("state")).unwrap();
    assert_snapshot!("a resume at -v", shown(said(&manifest(), results.path(), &["-v", "--resume"])));
}

#[test]
fn a_restart_is_told_without_asking() {
    let results = tempfile::tempdir().unwrap();
    let manifest = SMALLEST.replace(
        "{ use: labs, options: { n: 6 } }",
        "{ use: fault, options: { fault: abort } }\nevaluation: { retries: 0 }",
    );
    let said = said(&manifest.replace("initial: 3", "initial: 40"), results.path(), &[]);
    assert!(said.contains("starting it again"), "{said}");
}

#[test]
fn colours_go_to_a_terminal_alone_unless_they_are_asked_for() {
    let error = |flags: &[&str], variables: &[(&str, &str)]| {
        let mut command = command(&[&["plan", "nothing.yaml"], flags].concat());
        for (name, value) in variables {
            command.env(name, value);
        }
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    let plain = error(&[], &[]);
    assert!(plain.starts_with("error: cannot read nothing.yaml"), "{plain}");
    assert_eq!(error(&["--color", "never"], &[]), plain);
    assert_eq!(error(&["--color=auto"], &[("NO_COLOR", "1")]), plain);
    let painted = error(&["--color", "always"], &[("NO_COLOR", "1")]);
    assert!(painted.starts_with("\u{1b}[1;31merror:\u{1b}[0m cannot read nothing.yaml"), "{painted:?}");
    // The parser's own words follow the same argument.
    assert!(error(&["--nonsense", "--color", "always"], &[]).contains('\u{1b}'));
    assert!(!error(&["--nonsense"], &[]).contains('\u{1b}'));
    assert!(error(&["--color", "blue"], &[]).contains("invalid value 'blue'"));
}

/// `script` gives its command a terminal.
#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_there_are_colours_unless_the_user_wants_none() {
    let has_script = std::process::Command::new("script").arg("--version").output();
    if has_script.is_err() {
        eprintln!("skipped: no `script` here to make a terminal");
        return;
    }
    let seen = |variable: &str| {
        let line = format!("{} plan nothing.yaml", env!("CARGO_BIN_EXE_host"));
        let mut command = std::process::Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").env_remove("NO_COLOR");
        if !variable.is_empty() {
            command.env(variable, "1");
        }
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    };
    assert!(seen("").contains("\u{1b}[1;31merror:"));
    assert!(!seen("NO_COLOR").contains('\u{1b}'));
}
