//! Files that are no plugin for this host: one line each, that says what to do.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use plugin_api::Kind;
use plugin_api::load::{API_VERSION, LoadError, Plugin};

use crate::dylibs::{API_MANIFEST, API_VERSION_LINE, Patch, Stage};
use crate::panics::note;
use crate::{CURRENT, dylib};

/// The error of loading `path`, and its message with `FILE` for the path.
fn refusal(path: &Path) -> (LoadError, String) {
    described(Plugin::load(path).err().expect("the file is refused"), path)
}

fn described(error: LoadError, path: &Path) -> (LoadError, String) {
    let message = error.to_string();
    assert!(!message.contains('\n'), "more than one line: {message}");
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let message = message.replace(&path.display().to_string(), "FILE");
    (error, message)
}

fn other_api(found: &str) -> String {
    let versions = format!("FILE was built for plugin-api {found}, and this host has {API_VERSION}");
    format!("{versions}, which differs from it; rebuild it with plugin-api {API_VERSION}")
}

#[test]
fn a_plugin_of_the_next_major_version_is_refused() {
    let version = Patch { file: API_MANIFEST, old: API_VERSION_LINE, new: "version = \"2.0.0\"" };
    let next = Stage { name: "major", patches: &[version] };
    let built = next.build(&["trivial-benchmark"], &[]);
    let (error, message) = refusal(&built["trivial-benchmark"]);
    assert!(matches!(error, LoadError::OtherApi { .. }), "{error:?}");
    assert_eq!(message, other_api("2.0.0"));
}

#[test]
fn a_plugin_of_the_same_version_with_another_layout_is_refused() {
    let field = Patch { file: "plugin-api/src/abi/guard.rs", old: "    kind: u8,", new: "    kind: u16," };
    let other = Stage { name: "layout", patches: &[field] };
    let built = other.build(&["trivial-benchmark"], &[]);
    let (error, message) = refusal(&built["trivial-benchmark"]);
    assert!(matches!(error, LoadError::OtherApi { .. }), "{error:?}");
    assert_eq!(message, other_api(API_VERSION));
}

#[test]
fn a_plugin_with_another_abi_stable_is_refused() {
    let (error, message) = refusal(dylib("other-abi-stable"));
    assert!(matches!(error, LoadError::OtherAbiStable { .. }), "{error:?}");
    let versions = "FILE was built with abi_stable 0.12, and this host with 0.11";
    assert_eq!(message, format!("{versions}; rebuild it with plugin-api {API_VERSION}"));
}

#[test]
fn a_plugin_that_aborts_on_panic_is_refused() {
    // A flag for this crate alone: as a profile it would compile all dependencies again.
    let built = CURRENT.build_with_flags("trivial-solver", &["-Cpanic=abort"]);
    let (error, message) = refusal(&built["trivial-solver"]);
    assert!(matches!(error, LoadError::Aborts { .. }), "{error:?}");
    assert_eq!(
        message,
        "FILE was built with `panic = \"abort\"`; remove that from its profile and rebuild it"
    );
}

#[test]
fn a_plugin_of_another_kind_is_refused_where_one_kind_is_asked_for() {
    let path = dylib("solver");
    let error = Plugin::load_kind(path, Kind::Encoder).err().expect("the kind is refused");
    let (error, message) = described(error, path);
    assert!(
        matches!(&error, LoadError::OtherKind { found: Kind::Solver, expected: Kind::Encoder, name, .. } if name == "echo"),
        "{error:?}"
    );
    assert_eq!(message, "FILE holds the solver `echo`, not the encoder asked for; name it under `solver:`");
    assert!(Plugin::load_kind(path, Kind::Solver).is_ok());
}

#[test]
fn a_plugin_of_another_kind_makes_none_of_this_kind() {
    let plugin = crate::plugin("solver");
    let error = plugin.benchmark(&plugin_api::serde_json::json!({}), 0).err().expect("no benchmark is made");
    assert_eq!(error.to_string(), "this plugin is no benchmark");
}

#[test]
fn a_plugin_that_cannot_describe_itself_is_refused_with_its_panic() {
    let (error, message) = refusal(dylib("broken"));
    assert!(matches!(error, LoadError::Broken { .. }), "{error:?}");
    let note = note("broken", "panic!(", "no default; for the count");
    assert_eq!(message, format!("FILE cannot describe itself: {note}"));
}

#[test]
fn a_dylib_without_a_plugin_is_refused() {
    let (error, message) = refusal(dylib("no-plugin"));
    assert!(matches!(error, LoadError::NoPlugin { .. }), "{error:?}");
    assert_eq!(
        message,
        "FILE is a dynamic library without a plugin; add an `export_…!` line to its crate, or `host_plugin_entry` in C, and rebuild it"
    );
}

#[test]
fn what_is_no_library_is_refused_with_the_words_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    };
    let library = fs::read(dylib("solver")).unwrap();
    for path in [
        file("empty.so", b""),
        file("text.so", b"[package]\nname = \"solver\"\n"),
        file("long text.so", &b"All work and no play makes Jack a dull boy.\n".repeat(1000)),
        file("a few bytes.so", &library[..20]),
        file("a header.so", &library[..64]),
        folder.path().to_owned(),
    ] {
        let (error, message) = refusal(&path);
        let LoadError::NotALibrary { cause, .. } = &error else { panic!("{}: {error:?}", path.display()) };
        assert!(!cause.is_empty() && !cause.contains("FILE"), "{cause}");
        assert_eq!(
            message.replace(cause, "CAUSE"),
            "FILE is not a dynamic library for this machine (CAUSE); build it with `cargo build --release`"
        );
    }
}

#[test]
fn a_library_cut_short_is_refused_before_it_can_end_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let library = fs::read(dylib("solver")).unwrap();
    for length in [library.len() / 50, library.len() / 2, library.len() * 9 / 10, library.len() - 1] {
        let path = folder.path().join(format!("{length}.so"));
        fs::write(&path, &library[..length]).unwrap();
        let (error, message) = refusal(&path);
        assert!(matches!(error, LoadError::NotALibrary { .. }), "{error:?}");
        if cfg!(target_os = "linux") {
            assert!(message.contains("(the file is cut short)"), "{message}");
        }
    }
}

#[test]
fn a_missing_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (error, message) = refusal(&folder.path().join("libsolver_psr.so"));
    let LoadError::Unreadable { cause, .. } = &error else { panic!("{error:?}") };
    assert_eq!(cause.kind(), ErrorKind::NotFound);
    assert_eq!(message, format!("cannot read FILE: {cause}"));
}
