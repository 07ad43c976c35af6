//! What is run where a manifest names no surrogate, or no solver.
//!
//! Chosen by measurement over six objectives, with and without relabelling; `plugins/surrogates/README.md` has the
//! numbers and the commands.

use plugin_api::{AcquisitionKind, Kind};
use serde_json::{Value as Json, json};

use crate::manifest::PluginUse;
use crate::manifest::yaml::KeyPath;

/// Of ours, the one that finds the lowest values of quadratic functions in a few milliseconds and proves how low they
/// could be (`plugins/solvers/README.md` has the numbers).
pub const QUADRATIC_SOLVER: &str = "certified";

/// The solver for draws of this kind.
pub(super) fn solver(draws: AcquisitionKind, path: KeyPath) -> PluginUse {
    let name = match draws {
        AcquisitionKind::Quadratic => QUADRATIC_SOLVER,
        _ => "ascent",
    };
    PluginUse::bare(Kind::Solver, name, path)
}

/// The surrogates, which take turns, where a solver takes any function; else the one whose draws every solver takes.
///
/// The two turns see different things: one lengthscale for all variables and values as they are; a lengthscale for each
/// and nothing but the order of values. Alone each fails on some objective; together they were nowhere far from the
/// better one.
pub(super) fn surrogates(takes_general: bool, path: &KeyPath) -> Vec<PluginUse> {
    let surrogate = |name: &str, options: Json| PluginUse {
        options,
        ..PluginUse::bare(Kind::Surrogate, name, path.clone())
    };
    if !takes_general {
        return vec![surrogate("horseshoe", json!({}))];
    }
    vec![
        surrogate("heat", json!({ "lengthscales": "common" })),
        surrogate("heat", json!({ "values": "copula", "spread": 0.5 })),
    ]
}
