//! What a manifest, a plugin's place or a name may not do.

use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use insta::assert_snapshot;

use crate::support::{self, SMALLEST, build_plugin, command, host, output};

#[test]
fn a_plugin_that_others_may_write_to_is_refused_unless_somebody_insists() {
    let _snapshots = snapshots::in_folder("cli");
    let folder = tempfile::tempdir().unwrap();
    let name = plugin_api::Kind::Solver.file_name("annealing");
    let file = folder.path().join(&name);
    std::fs::copy(support::program_folder().join(&name), &file).unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let plugin_dir = ["--plugin-dir", folder.path().to_str().unwrap()];
    let hidden =
        |text: String| text.replace(folder.path().canonicalize().unwrap().to_str().unwrap(), "[plugins]");
    let refused = host(&[&["plan", "-"], &plugin_dir[..]].concat(), SMALLEST);
    assert_snapshot!("an insecure plugin is refused", hidden(refused));
    let listed = output(&[&["plugins", "list"], &plugin_dir[..]].concat(), "");
    let warning = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert!(hidden(warning).starts_with("warning: every user of this machine may write to [plugins]"));
    let insisted = [&["plan", "-", "--allow-insecure-plugins"], &plugin_dir[..]].concat();
    assert!(output(&insisted, SMALLEST).status.success());
}

#[test]
fn a_bare_name_never_means_a_file_in_the_current_folder() {
    let here = tempfile::tempdir().unwrap();
    let file = support::program_folder().join(plugin_api::Kind::Solver.file_name("annealing"));
    std::fs::copy(file, here.path().join(plugin_api::Kind::Solver.file_name("mine"))).unwrap();
    let manifest = here.path().join("m.yaml");
    std::fs::write(&manifest, SMALLEST.replace("solver: annealing", "solver: mine")).unwrap();
    for search in ["", ":", "."] {
        let mut plan = command(&["plan", "m.yaml"]);
        let planned = plan.current_dir(here.path()).env("HOST_PLUGIN_PATH", search).output().unwrap();
        let words = String::from_utf8_lossy(&planned.stderr).into_owned();
        assert_eq!(planned.status.code(), Some(2), "{words}");
        assert!(words.contains("no solver named `mine`"), "{words}");
    }
}

#[test]
fn no_name_leaves_the_results_folder() {
    let top = tempfile::tempdir().unwrap();
    let results = top.path().join("results");
    let long = "x".repeat(300);
    let absolute = top.path().join("elsewhere");
    let names =
        ["../x", "..", ".", "", "a/b", "a\\\\b", "a\\0b", " x", "-x", &long, absolute.to_str().unwrap()];
    for name in names {
        let written = |text: &str| text.replace("NAME", name);
        let as_experiment = SMALLEST.replace("name: smallest", &written("name: \"NAME\""));
        let methods = written("methods: { \"NAME\": { surrogate: random, solver: annealing } }\n");
        let as_method = SMALLEST.replace("surrogate: random\nsolver: annealing\n", &methods);
        for manifest in [&as_experiment, &as_method] {
            let run = output(&["run", "-", "--quiet", "--output", results.to_str().unwrap()], manifest);
            assert_eq!(run.status.code(), Some(2), "{name}: {}", String::from_utf8_lossy(&run.stderr));
        }
        let id = name.replace("\\0", "\u{1}");
        let as_run = format!("--run-id={id}");
        let run = output(&["run", "-", "--quiet", &as_run, "--output", results.to_str().unwrap()], SMALLEST);
        assert_eq!(run.status.code(), Some(2), "{name}: {}", String::from_utf8_lossy(&run.stderr));
    }
    let entries: Vec<_> = std::fs::read_dir(top.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(entries.is_empty(), "{entries:?}");
}

#[test]
fn a_place_that_cannot_be_written_to_is_told_before_anything_runs() {
    // Nobody can make a folder there, not even the administrator.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let run = output(&["run", "-", "--output", file.join("results").to_str().unwrap()], SMALLEST);
    let words = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{words}");
    assert!(words.contains("cannot make") && words.contains("Not a directory"), "{words}");
}

/// Somebody else on this machine.
const ANOTHER: u32 = 54321;

/// Turns a link of somebody else's from one folder to another and back, until it is dropped.
struct Flipping(Child);

impl Flipping {
    fn start(link: &std::path::Path, one: &std::path::Path, other: &std::path::Path) -> Self {
        let user = [format!("--reuid={ANOTHER}"), format!("--regid={ANOTHER}"), "--clear-groups".to_owned()];
        let script = "while :; do ln -sfn \"$2\" \"$1\"; ln -sfn \"$3\" \"$1\"; done";
        let mut child = Command::new("setpriv");
        child.args(user).args(["sh", "-c", script, "sh"]).args([link, one, other]).stderr(Stdio::null());
        Self(child.spawn().unwrap())
    }
}

impl Drop for Flipping {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `HOST_FLIPS=300 cargo test -p host --test all security:: -- --nocapture` tries it three hundred times.
#[cfg(target_os = "linux")]
#[test]
fn no_code_is_loaded_through_a_link_that_somebody_else_turns() {
    let flips: usize = std::env::var("HOST_FLIPS").map_or(6, |count| count.parse().expect("a number"));
    let can =
        Command::new("setpriv").args([&format!("--reuid={ANOTHER}"), "true"]).stderr(Stdio::null()).status();
    if rustix::process::geteuid().as_raw() != 0 || !can.is_ok_and(|status| status.success()) {
        return eprintln!("skipped: only the administrator, with setpriv, can act as somebody else");
    }
    let top = tempfile::tempdir().unwrap();
    std::fs::set_permissions(top.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let [good, evil, open, theirs] =
        ["good", "evil", "open", "open/theirs"].map(|name| top.path().join(name));
    for folder in [&good, &evil, &open, &theirs] {
        std::fs::create_dir(folder).unwrap();
    }
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o1777)).unwrap();
    // The same plugin, and one that says it is another's.
    let name = plugin_api::Kind::Benchmark.file_name("fault");
    let built = build_plugin("benchmark-fault", include_str!("data/fault.rs")).join(&name);
    let (own, forged) = (b"by its own author", b"by somebody else!");
    let mut code = std::fs::read(built).unwrap();
    std::fs::write(good.join(&name), &code).unwrap();
    let places: Vec<usize> = (0..code.len() - own.len()).filter(|&at| code[at..].starts_with(own)).collect();
    assert!(!places.is_empty());
    places.iter().for_each(|&at| code[at..at + forged.len()].copy_from_slice(forged));
    std::fs::write(evil.join(&name), &code).unwrap();
    for path in [&theirs, &evil, &evil.join(&name)] {
        std::os::unix::fs::chown(path, Some(ANOTHER), Some(ANOTHER)).unwrap();
    }
    let signed = top.path().join("signed");
    let manifest = format!(
        "name: flipped\nseeds: 2\nbudget: {{ initial: 2, evaluations: 1 }}\nsurrogate: random\nsolver: annealing\n\
         benchmark: {{ use: fault, options: {{ fault: signed, folder: '{}' }} }}\n",
        signed.display()
    );
    let results = top.path().join("results");
    let run = |folder: &std::path::Path, more: &[&str]| {
        let arguments = ["run", "-", "--quiet", "--output", results.to_str().unwrap(), "--plugin-dir"];
        let ended = output(&[&arguments[..], &[folder.to_str().unwrap()], more].concat(), &manifest);
        (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    let signatures = || {
        let text = std::fs::read_to_string(&signed).unwrap_or_default();
        let _ = std::fs::remove_file(&signed);
        (text.matches("own author").count(), text.matches("somebody else!").count())
    };
    // The trap works: whose code ran is told.
    assert_eq!(run(&good, &[]).0, Some(0));
    assert!(matches!(signatures(), (1.., 0)));
    assert_eq!(run(&evil, &["--allow-insecure-plugins"]).0, Some(0));
    assert!(matches!(signatures(), (0, 1..)));
    // Their link in a folder for all, and one in a folder of theirs.
    let links = [open.join("link"), theirs.join("link")];
    let _flipping = links.each_ref().map(|link| Flipping::start(link, &good, &evil));
    let mut refused = 0;
    for flip in 0..flips {
        let (code, words) = run(&links[flip % 2], &[]);
        assert_eq!(code, Some(2), "{words}");
        refused += usize::from(words.contains("belongs to another user"));
        assert_eq!(signatures(), (0, 0), "code was run: {words}");
    }
    println!(
        "{flips} runs through links that somebody else turns: none loaded anything, {refused} because of the owner"
    );
    assert!(refused > 0);
}
