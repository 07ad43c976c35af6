//! Each type, error and panic survives the crossing, in dylibs as they are built for real.

#![expect(clippy::unwrap_used, reason = "the helpers are parts of tests too")]

mod dylibs; // the fixtures, built
#[path = "../fixtures/every_call.rs"]
mod every_call;
mod kinds; // what crosses, for each kind
mod loading; // several plugins in one process
mod log; // what a plugin logs
mod panics; // what a plugin's panics become
mod refusals; // files that are no plugin for this host
mod versions; // plugins and hosts of other versions of the api

use std::path::Path;
use std::sync::OnceLock;

use dylibs::{Built, Stage};
use plugin_api::load::Plugin;

/// The fixtures with the api as it is.
const CURRENT: Stage<'_> = Stage { name: "fixture", patches: &[] };

/// The dylib of a fixture, built with the api as it is.
fn dylib(fixture: &str) -> &'static Path {
    const FIXTURES: [&str; 8] = [
        "benchmark",
        "broken",
        "encoder",
        "no-plugin",
        "other-abi-stable",
        "solver",
        "surrogate",
        "trivial-benchmark",
    ];
    static BUILT: OnceLock<Built> = OnceLock::new();
    &BUILT.get_or_init(|| CURRENT.build(&FIXTURES, &[]))[fixture]
}

fn plugin(fixture: &str) -> Plugin {
    Plugin::load(dylib(fixture)).unwrap_or_else(|error| panic!("{error}"))
}
