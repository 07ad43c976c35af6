//! A plan as a manifest: `host run plan.yaml` is the same experiment.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use super::{MethodPlan, Setting, Spec, TurnPlan};
use crate::manifest::keys::seeds::Seeds;
use crate::manifest::keys::sweep::{Axis, Sweep};
use crate::manifest::yaml::KeyPath;
use crate::manifest::{Manifest, PluginUse};

/// The first setting with every default filled, and the sweep that leads to the others.
pub(super) fn yaml(
    manifest: &Manifest,
    settings: &[Setting],
    axes: &[Axis],
    plugin_directories: &[PathBuf],
    folder: Option<&Path>,
) -> String {
    let (keys, first) = (&settings[0].keys, settings[0].plugins.as_ref());
    let plugin = |spec: &Spec, used: &PluginUse| written(spec, used, axes);
    let mut plan = Map::new();
    plan.insert("name".to_owned(), json!(manifest.name));
    plan.insert("seeds".to_owned(), Seeds::write(&manifest.seeds));
    if let Json::Object(mut keys) = json!(keys) {
        plan.append(&mut keys);
    }
    let benchmark = manifest.benchmark.as_ref().expect("a plan has a benchmark");
    plan.insert("benchmark".to_owned(), plugin(&first.benchmark, benchmark));
    // A sweep over spaces may choose another encoder at each point.
    if settings.iter().all(|setting| setting.plugins.encoder.name == first.encoder.name) {
        let options = first.encoder.options.clone();
        plan.insert("encoder".to_owned(), json!({ "use": first.encoder.reference, "options": options }));
    }
    let mut methods = Map::new();
    for (resolved, written) in first.methods.iter().zip(&manifest.methods) {
        let shadows = resolved.shadows.iter().zip(&written.shadows);
        let shadows: Vec<Json> = shadows.map(|(spec, used)| plugin(spec, used)).collect();
        let mut method = Map::new();
        let surrogates = |method: &MethodPlan| specs(method, |turn| &turn.surrogate);
        let solvers = |method: &MethodPlan| specs(method, |turn| &turn.solver);
        for (key, specs, used) in [
            ("surrogate", &surrogates as &dyn Fn(&MethodPlan) -> Vec<Spec>, &written.surrogates),
            ("solver", &solvers, &written.solvers),
        ] {
            let first = specs(resolved);
            // What is not named may be another at each point of a sweep.
            let same = |setting: &Setting| {
                let method = setting.plugins.methods.iter().find(|method| method.name == resolved.name);
                method.is_none_or(|method| specs(method) == first)
            };
            if !used.is_empty() || settings.iter().all(same) {
                let used_for = |i: usize| used.get(if used.len() == 1 { 0 } else { i });
                let write = |(i, spec): (usize, &Spec)| match used_for(i) {
                    Some(used) => plugin(spec, used),
                    None => json!({ "use": spec.reference, "options": spec.options }),
                };
                let mut list: Vec<Json> = first.iter().enumerate().map(write).collect();
                if key == "solver" && list.iter().all(|solver| *solver == list[0]) {
                    list.truncate(1);
                }
                method.insert(key.to_owned(), one_or_more(list));
            }
        }
        if !shadows.is_empty() {
            method.insert("shadows".to_owned(), shadows.into());
        }
        // Without `methods:`, the keys of the only one stand at the top, and the sweep's paths lead there. The default
        // one has none that a sweep could lead to, and keeps its name.
        if written.at_top && !written.is_default() {
            plan.append(&mut method);
        } else {
            methods.insert(resolved.name.clone(), method.into());
        }
    }
    if !methods.is_empty() {
        plan.insert("methods".to_owned(), methods.into());
    }
    if !axes.is_empty() {
        plan.insert("sweep".to_owned(), Sweep::write(axes));
    }
    if !plugin_directories.is_empty() {
        plan.insert("plugin-directories".to_owned(), json!(plugin_directories));
    }
    if let Some(folder) = folder {
        plan.insert("folder".to_owned(), json!(folder));
    }
    serde_yaml::to_string(&plan).expect("a plan is plain data")
}

fn specs(method: &MethodPlan, of: fn(&TurnPlan) -> &Spec) -> Vec<Spec> {
    method.turns.iter().map(|turn| of(turn).clone()).collect()
}

/// A list, or what is in it where it is one.
fn one_or_more(mut list: Vec<Json>) -> Json {
    if list.len() == 1 { list.remove(0) } else { list.into() }
}

fn written(spec: &Spec, used: &PluginUse, axes: &[Axis]) -> Json {
    // Where the sweep changes which plugin it is, the defaults of one would be wrong for another.
    let options = used.options_path();
    let replaces =
        |path: &KeyPath| path.contains(&used.path) || used.path.contains(path) && !options.contains(path);
    let swept = axes.iter().any(|axis| replaces(&axis.path));
    let options = if swept { &used.options } else { &spec.options };
    json!({ "use": spec.reference, "options": options })
}
