//! What makes a plan this plan, as a hash.

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::shared::Cell;
use super::{MethodPlan, PluginPlan, Setting, Spec, TurnPlan};

/// The hash of names, options, budgets and seeds; versions and files of plugins are not in it.
pub(super) fn hash(name: &str, seeds: &[u64], settings: &[Setting], cells: &[Cell]) -> String {
    let mut hash = Sha256::new();
    let mut add = |part: Json| {
        hash.update(part.to_string());
        hash.update(b"\n");
    };
    add(json!([name, seeds]));
    settings.iter().map(identity).for_each(&mut add);
    // A run from before such trials were shared has them once for each point.
    if cells.iter().any(|cell| cell.sweep.is_some()) {
        add(json!("shared"));
    }
    hex(&hash.finalize())
}

/// A setting without the versions of its plugins.
fn identity(setting: &Setting) -> Json {
    // Taken apart, so that a new field is not forgotten.
    // The name of the table in `keys` has a hash of all given points.
    let Setting { sweep, keys, given: _, plugins } = setting;
    let PluginPlan { benchmark, encoder, methods, space: _, deterministic: _ } = plugins.as_ref();
    let plugin = |spec: &Spec| json!([spec.name, spec.options]);
    let method = |method: &MethodPlan| {
        let MethodPlan { name, turns, shadows } = method;
        let turns: Vec<Json> = turns
            .iter()
            .map(|TurnPlan { surrogate, solver }| json!([plugin(surrogate), plugin(solver)]))
            .collect();
        let shadows: Vec<Json> = shadows.iter().map(plugin).collect();
        json!([name, turns, shadows])
    };
    let methods: Vec<Json> = methods.iter().map(method).collect();
    json!([sweep, keys, plugin(benchmark), plugin(encoder), methods])
}

/// Bytes as people write hashes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
