//! Several plugins in one process.

use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::thread;

use plugin_api::load::Plugin;
use plugin_api::serde_json::json;
use plugin_api::{Benchmark, Kind, Point};

use crate::{dylib, plugin};

#[test]
fn a_plugin_says_what_it_is() {
    let plugin = plugin("surrogate");
    let about = plugin.description();
    assert_eq!((about.kind, about.name.as_str(), about.version.as_str()), (Kind::Surrogate, "echo", "0.3.1"));
    assert_eq!(about.summary, "Draws functions from the values that it observed");
    assert_eq!(about.api_version, plugin_api::load::API_VERSION);
    assert_eq!(about.defaults, json!({ "general": false, "panics": "nowhere" }));
    assert_eq!(about.schema["properties"]["general"]["description"], "Whether to draw general functions.");
    assert_eq!(about.path, dylib("surrogate").canonicalize().unwrap());
}

/// What a benchmark says of the point (1, 2): the number that the two spell, or the first of them.
fn value(plugin: &Plugin) -> f64 {
    let mut benchmark = plugin.benchmark(&json!({}), 0).unwrap_or_else(|error| panic!("{error}"));
    let evaluation = benchmark.evaluate(&Point::from(vec![1, 2]), 0);
    evaluation.unwrap_or_else(|error| panic!("{error}")).value().expect("a value")
}

const ECHOED: f64 = f64::from_bits(1 << 32 | 2);

#[test]
fn two_plugins_of_one_kind_stay_two() {
    let (echo, trivial) = (plugin("benchmark"), plugin("trivial-benchmark"));
    assert_eq!((value(&echo), value(&trivial), value(&echo)), (ECHOED, 1.0, ECHOED));
    let names = [&echo, &trivial].map(|plugin| plugin.description().name.as_str());
    assert_eq!(names, ["echo", "trivial"]);
}

#[test]
fn one_file_can_be_loaded_twice() {
    let (one, two) = (plugin("benchmark"), plugin("benchmark"));
    let made = [&one, &two].map(|plugin| plugin.benchmark(&json!({}), 0).unwrap());
    drop(one);
    for mut benchmark in made {
        assert_eq!(benchmark.evaluate(&Point::from(vec![1, 2]), 0).unwrap(), ECHOED.into());
    }
}

#[test]
fn two_threads_can_load_at_once() {
    // Copies: what another test has loaded already would not be loaded again.
    let folder = tempfile::tempdir().unwrap();
    let copy = |fixture: &str, round: usize| {
        let path = folder.path().join(format!("{fixture} {round}"));
        fs::copy(dylib(fixture), &path).unwrap();
        path
    };
    let load = |path: &Path, at_once: &Barrier| {
        at_once.wait();
        value(&Plugin::load(path).unwrap_or_else(|error| panic!("{error}")))
    };
    for round in 0..8 {
        let (echo, trivial) = (copy("benchmark", round), copy("trivial-benchmark", round));
        let at_once = Barrier::new(2);
        thread::scope(|scope| {
            let other = scope.spawn(|| load(&trivial, &at_once));
            assert_eq!(load(&echo, &at_once), ECHOED);
            assert_eq!(other.join().unwrap(), 1.0);
        });
    }
}

#[test]
fn a_plugin_can_be_handed_to_another_thread() {
    let mut benchmark = plugin("benchmark").benchmark(&json!({}), 0).unwrap();
    let value = thread::spawn(move || benchmark.evaluate(&Point::from(vec![1, 2]), 0)).join().unwrap();
    assert_eq!(value.unwrap(), ECHOED.into());
}

#[test]
fn plugins_need_no_unsafe_code() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for fixture in fs::read_dir(fixtures).unwrap() {
        let folder = fixture.unwrap().path();
        let Ok(source) = fs::read_to_string(folder.join("src/lib.rs")) else { continue };
        // The other tests build and load each of them; the exception writes a header by hand.
        let forbids = source.contains("#![forbid(unsafe_code)]");
        assert!(forbids || folder.ends_with("other-abi-stable"), "{}", folder.display());
    }
}
