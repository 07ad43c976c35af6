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

/// The surrogate where a solver takes any function; else the one whose draws every solver takes.
///
/// It has two models that see different things: one lengthscale for all variables and values as they are; a lengthscale
/// for each and nothing but the order of values. Alone each fails on some objective; the one that predicts better was on
/// each the one that finds better points.
pub(super) fn surrogate(takes_general: bool, path: &KeyPath) -> PluginUse {
    let surrogate = |name: &str, options: Json| PluginUse {
        options,
        ..PluginUse::bare(Kind::Surrogate, name, path.clone())
    };
    match takes_general {
        true => surrogate("heat", json!({ "model": "predictive" })),
        false => surrogate("horseshoe", json!({})),
    }
}
