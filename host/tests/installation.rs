//! `host doctor` without a folder, `host plugins install`, `host --version` and `host completions`.

use std::process::Command;

use insta::assert_snapshot;
use plugin_api::Kind;

use crate::support::{self, host};

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
    std::fs::write(path.join(Kind::Solver.file_name("broken")), "no library").unwrap();
    let open = path.join(Kind::Solver.file_name("open"));
    std::fs::write(&open, "no library either").unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o666)).unwrap();
    // A file stands where results would go.
    let results = path.join("results");
    std::fs::write(&results, "").unwrap();
    let name = path.display().to_string();
    let arguments = ["--plugin-dir", &name, "--output", results.to_str().unwrap()];
    assert_snapshot!("the doctor finds what is refused", doctor(&arguments, &[(&name, "[folder]")]));
}

/// A user with a `host` of their own and an empty home, as `cargo install` leaves them.
struct User {
    home: tempfile::TempDir,
}

impl User {
    fn new() -> Self {
        support::program_folder();
        let home = tempfile::tempdir().unwrap();
        for folder in ["bin", "work"] {
            std::fs::create_dir(home.path().join(folder)).unwrap();
        }
        support::copy_host(&home.path().join("bin/host"));
        Self { home }
    }

    /// Both outputs of `host` in a folder that is nobody's checkout, and whether it ended well.
    fn host(&self, arguments: &[&str]) -> (String, bool) {
        let mut command = Command::new(self.home.path().join("bin/host"));
        let output = command
            .args(arguments)
            .current_dir(self.home.path().join("work"))
            .env_clear()
            .env("HOME", self.home.path())
            .output()
            .unwrap();
        let seen = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        let real = self.home.path().canonicalize().unwrap().display().to_string();
        (seen.replace(&real, "[home]"), output.status.success())
    }

    fn installed(&self) -> usize {
        let folder = self.home.path().join(".local/share/host/plugins");
        std::fs::read_dir(folder).map_or(0, |entries| entries.count())
    }
}

#[cfg(unix)]
#[test]
fn installed_plugins_are_found_wherever_the_host_is_started() {
    let user = User::new();
    let (said, well) = user.host(&["plugins", "list"]);
    assert!(!well && said.contains("no plugins found") && said.contains("host plugins install"), "{said}");

    let built = support::program_folder().to_str().unwrap();
    let (said, well) = user.host(&["plugins", "install", built]);
    let plugins = user.installed();
    let all =
        std::fs::read_dir(built).unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let all = all.filter(|name| Kind::of_file_name(name).is_some()).count();
    assert!(well && all > 0 && plugins == all, "{said}");
    let first =
        format!("plugins in [home]/.local/share/host/plugins: {plugins} new, 0 replaced, 0 unchanged");
    assert_eq!(said.lines().next(), Some(first.as_str()));

    let manifest = user.home.path().join("work/smallest.yaml");
    std::fs::write(manifest, support::SMALLEST).unwrap();
    let (said, well) = user.host(&["run", "smallest.yaml", "--run-id", "first", "--quiet"]);
    assert!(well && user.home.path().join("work/results/smallest/first/report.html").is_file(), "{said}");

    // Again, with one of them gone and one another than it was.
    let folder = user.home.path().join(".local/share/host/plugins");
    std::fs::remove_file(folder.join(Kind::Solver.file_name("psr"))).unwrap();
    std::fs::write(folder.join(Kind::Solver.file_name("sdp")), "cut short").unwrap();
    let (said, _) = user.host(&["plugins", "install", built]);
    let (new, unchanged) = (": 1 new, 1 replaced, ", format!(", {} unchanged", plugins - 2));
    assert!(said.contains(new) && said.contains(&unchanged), "{said}");
}

#[cfg(unix)]
#[test]
fn what_is_no_plugin_is_refused_and_nothing_is_installed() {
    let _snapshots = snapshots::in_folder("cli");
    let user = User::new();
    let work = user.home.path().join("work");
    std::fs::create_dir(work.join("empty")).unwrap();
    std::fs::write(work.join("notes.txt"), "").unwrap();
    std::fs::write(work.join("libsolver_broken.so"), "no library").unwrap();
    let psr = support::program_folder().join(Kind::Solver.file_name("psr"));
    std::fs::copy(&psr, work.join("libsolver_other.so")).unwrap();
    let (said, well) = user.host(&[
        "plugins",
        "install",
        psr.to_str().unwrap(),
        "libsolver_broken.so",
        "libsolver_other.so",
        "notes.txt",
        "empty",
        "nowhere",
    ]);
    assert!(!well && user.installed() == 0);
    assert_snapshot!("what is no plugin is not installed", said);
}

/// From packing to a report on a machine with nothing on it: `.ci/dist` runs every command of the archive's README there.
#[cfg(target_os = "linux")]
#[test]
fn the_archive_runs_in_an_empty_root() {
    let dist = |arguments: &[&str]| {
        let mut command = Command::new(support::workspace().join(".ci/dist"));
        command.args(arguments).output().unwrap()
    };
    if !dist(&["--check-possible"]).status.success() {
        eprintln!("skipped: this machine lets no user make an empty root");
        return;
    }
    // What experiments/ising.yaml needs, to be quick.
    let (built, folder) = (support::program_folder(), tempfile::tempdir().unwrap());
    let plugins = [
        (Kind::Benchmark, "ising"),
        (Kind::Encoder, "binary"),
        (Kind::Surrogate, "horseshoe"),
        (Kind::Surrogate, "random"),
        (Kind::Solver, "annealing"),
        (Kind::Solver, "psr"),
        (Kind::Solver, "sdp"),
    ];
    for name in plugins.iter().map(|(kind, name)| kind.file_name(name)).chain(["host".to_owned()]) {
        std::fs::copy(built.join(&name), folder.path().join(&name)).unwrap();
    }
    let (from, output) = (folder.path().to_str().unwrap(), folder.path().join("dist"));
    let made = dist(&["--from", from, "--output", output.to_str().unwrap(), "--check"]);
    let said = String::from_utf8_lossy(&made.stdout).into_owned() + &String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success() && said.ends_with("run in an empty root\n"), "{said}");
    assert_eq!(std::fs::read_dir(&output).unwrap().count(), 2, "the archive and its checksum");
}

/// With the commit in release builds from a repository, and without it in all others.
#[test]
fn the_version_is_the_packages_own() {
    let version = host(&["--version"], "");
    let pattern = format!(
        r"^host {}( \([0-9a-f]{{12}} \d{{4}}-\d\d-\d\d(, changed since)?\))?\n$",
        env!("CARGO_PKG_VERSION")
    );
    assert!(regex::Regex::new(&pattern).unwrap().is_match(&version), "{version}");
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
