//! `host plugins check`: every promise that a plugin breaks is told, with the reason, and no other.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use insta::assert_snapshot;
use serde_json::Value as Json;

use crate::support::{self, build_plugin};

/// Plugins that break one promise each, as their option says; and one whose options are wrong themselves.
fn wrong_plugins() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        build_plugin("benchmark-wrong", include_str!("data/wrong_benchmark.rs"));
        build_plugin("encoder-wrong", include_str!("data/wrong_encoder.rs"));
        build_plugin("surrogate-wrong", include_str!("data/wrong_surrogate.rs"));
        build_plugin("solver-lenient", include_str!("data/wrong_options.rs"));
        build_plugin("solver-wrong", include_str!("data/wrong_solver.rs"))
    })
}

/// The broken promises of a plugin, with their reasons, and the exit code.
fn broken(file: &str, options: &str, more: &[&str]) -> (Vec<(String, String)>, Option<i32>) {
    let path = wrong_plugins().join(file);
    let plugin = format!("{}{options}", path.display());
    let output = support::output(&[&["plugins", "check", &plugin, "--json"], more].concat(), "");
    let text = String::from_utf8_lossy(&output.stdout);
    let checked: Json = serde_json::from_str(text.trim())
        .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    let promises = checked["promises"].as_array().unwrap().clone();
    let broken = promises.iter().filter(|promise| promise["kept"] == false).map(|promise| {
        (promise["promise"].as_str().unwrap().to_owned(), promise["reason"].as_str().unwrap().to_owned())
    });
    let broken: Vec<_> = broken.collect();
    assert_eq!(checked["kept"], broken.is_empty());
    (broken, output.status.code())
}

#[test]
fn each_wrong_plugin_breaks_the_promise_that_it_breaks_and_no_other() {
    let _snapshots = snapshots::in_folder("cli");
    let file = |kind: plugin_api::Kind| kind.file_name("wrong");
    use plugin_api::Kind::{Benchmark, Encoder, Solver, Surrogate};
    let cases = [
        (Benchmark, "space", "space"),
        (Benchmark, "determinism", "determinism"),
        (Benchmark, "noise", "noise"),
        (Benchmark, "panic", "answers"),
        (Benchmark, "print", "silent"),
        (Benchmark, "crash", "survives"),
        (Benchmark, "hang", "survives"),
        (Benchmark, "finite", "finite"),
        (Benchmark, "optimum", "optimum"),
        (Encoder, "round-trip", "round-trip"),
        (Encoder, "constraints", "constraints"),
        (Surrogate, "determinism", "determinism"),
        (Surrogate, "function", "function"),
        (Surrogate, "predictions", "predictions"),
        (Solver, "length", "length"),
        (Solver, "value", "value"),
        (Solver, "bound", "bound"),
        (Solver, "determinism", "determinism"),
        (Solver, "groups", "groups"),
        (Solver, "constraints", "constraints"),
        (Solver, "state", "state"),
    ];
    let mut told = String::new();
    for (kind, way, promise) in cases {
        let more: &[&str] = if way == "hang" { &["--time-limit", "2"] } else { &[] };
        let (found, code) = broken(&file(kind), &format!("[way={way}]"), more);
        assert_eq!(code, Some(1), "{kind} {way}");
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, [promise], "{kind} {way}: {found:?}");
        told += &format!("{kind} {way}: {}\n", found[0].1);
    }
    for kind in plugin_api::Kind::ALL {
        assert_eq!(broken(&file(kind), "", &[]), (vec![], Some(0)), "{kind}");
    }
    let place = regex::Regex::new(r"at [^ ]+/src/lib\.rs:\d+").unwrap();
    let told = place.replace_all(&told, "at [place]").replace(" (core dumped)", "");
    let numbers = regex::Regex::new(r"-?\d+\.\d{4,}").unwrap();
    assert_snapshot!("wrong plugins in words", numbers.replace_all(&told, "[number]"));
}

#[test]
fn options_that_nobody_checks_are_found() {
    let file = plugin_api::Kind::Solver.file_name("lenient");
    let (found, _) = broken(&file, "", &[]);
    assert_eq!(found, [("defaults".to_owned(), "these defaults cannot work".to_owned())]);
    let (found, code) = broken(&file, "[hopeless=false]", &[]);
    assert_eq!(code, Some(1));
    // Types and limits are checked by the schema on the plugin's side; unknown names are for its author to refuse.
    assert_eq!(found, [("unknown-options".to_owned(), "it took `no-such-option: 1`".to_owned())]);
}

#[test]
fn a_table_is_for_people() {
    let _snapshots = snapshots::in_folder("cli");
    let path = wrong_plugins().join(plugin_api::Kind::Solver.file_name("wrong"));
    let folder = wrong_plugins().to_str().unwrap().to_owned();
    let times = regex::Regex::new(r"takes [\d.]+ (µs|ms|s)").unwrap();
    let seen = |plugin: &str| {
        let seen = support::host(&["plugins", "check", plugin], "").replace(&folder, "[folder]");
        times.replace_all(&seen, "takes [time]").into_owned()
    };
    let good = seen(path.to_str().unwrap());
    let bad = seen(&format!("{}[way=value]", path.display()));
    assert_snapshot!("a checked solver", format!("{good}\n{bad}"));
}

#[test]
fn what_cannot_be_checked_is_told() {
    let _snapshots = snapshots::in_folder("cli");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(plugin_api::Kind::Solver.file_name("empty"));
    std::fs::write(&path, "not a library").unwrap();
    let mut seen = String::new();
    for plugin in ["prs", "command", "nothing/libsolver_none.so", "Cargo.toml", path.to_str().unwrap()] {
        seen += &support::host(&["plugins", "check", plugin], "");
        seen += "\n";
    }
    assert_snapshot!("what cannot be checked", seen.replace(folder.path().to_str().unwrap(), "[folder]"));
}

#[test]
fn plugins_of_the_workspace_keep_their_promises() {
    // One of each kind; each has the same rules in its own tests.
    for name in [
        "labs",
        "one-hot",
        "random",
        "tabu",
        "command[run=[echo,1],mode=once,pass=environment,variables={a: [1, 2]}]",
    ] {
        let output = support::output(&["plugins", "check", name], "");
        assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
