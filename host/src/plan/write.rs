//! A plan as a manifest: `host run plan.yaml` is the same experiment.

use std::path::Path;

use serde_json::{Map, Value as Json, json};
use serde_yaml::Value;

use super::{Setting, Spec};
use crate::manifest::{Manifest, PluginUse};
use crate::yaml::KeyPath;

/// The first setting with every default filled, and the sweep that leads to the others.
pub(super) fn yaml(
    manifest: &Manifest,
    settings: &[Setting],
    axes: &[(KeyPath, Vec<Value>)],
    base: &Path,
) -> String {
    let first = &settings[0];
    let writer = Writer { axes, base };
    let mut plan = Map::new();
    plan.insert("name".to_owned(), json!(manifest.name));
    plan.insert("seeds".to_owned(), seeds(&manifest.seeds));
    plan.insert("budget".to_owned(), json!({ "initial": first.initial, "evaluations": first.evaluations }));
    plan.insert("penalty".to_owned(), json!({ "l1": first.l1 }));
    plan.insert("evaluation".to_owned(), json!(first.evaluation));
    let benchmark = manifest.benchmark.as_ref().expect("a plan has a benchmark");
    plan.insert("benchmark".to_owned(), writer.plugin(&first.benchmark, benchmark));
    // A sweep over spaces may choose another encoder at each point.
    if settings.iter().all(|setting| setting.encoder.name == first.encoder.name) {
        let options = first.encoder.options.clone();
        plan.insert(
            "encoder".to_owned(),
            json!({ "use": writer.reference(&first.encoder), "options": options }),
        );
    }
    let mut methods = Map::new();
    for (resolved, written) in first.methods.iter().zip(&manifest.methods) {
        let shadows = resolved.shadows.iter().zip(&written.shadows);
        let shadows: Vec<Json> = shadows.map(|(spec, used)| writer.plugin(spec, used)).collect();
        let mut method = Map::new();
        method.insert("surrogate".to_owned(), writer.plugin(&resolved.surrogate, &written.surrogate));
        method.insert("solver".to_owned(), writer.plugin(&resolved.solver, &written.solver));
        if !shadows.is_empty() {
            method.insert("shadows".to_owned(), shadows.into());
        }
        // Without `methods:`, the keys of the only one stand at the top, and the sweep's paths lead there.
        if written.solver.path.keys().len() == 1 {
            plan.append(&mut method);
        } else {
            methods.insert(resolved.name.clone(), method.into());
        }
    }
    if !methods.is_empty() {
        plan.insert("methods".to_owned(), methods.into());
    }
    if !axes.is_empty() {
        let axis = |(path, values): &(KeyPath, Vec<Value>)| (path.to_string(), json!(values));
        plan.insert("sweep".to_owned(), axes.iter().map(axis).collect::<Map<_, _>>().into());
    }
    if !manifest.plugin_directories.is_empty() {
        let folders = manifest.plugin_directories.iter().map(|folder| base.join(folder));
        plan.insert("plugin-directories".to_owned(), json!(folders.collect::<Vec<_>>()));
    }
    serde_yaml::to_string(&plan).expect("a plan is plain data")
}

fn seeds(seeds: &[u64]) -> Json {
    let counted = seeds.iter().zip(1..).all(|(&seed, i)| seed == i);
    if counted { json!(seeds.len()) } else { json!(seeds) }
}

struct Writer<'a> {
    axes: &'a [(KeyPath, Vec<Value>)],
    base: &'a Path,
}

impl Writer<'_> {
    fn plugin(&self, spec: &Spec, used: &PluginUse) -> Json {
        // Where the sweep changes which plugin it is, the defaults of one would be wrong for another.
        let options = used.path.join("options");
        let replaces =
            |path: &KeyPath| path.contains(&used.path) || used.path.contains(path) && !options.contains(path);
        let swept = self.axes.iter().any(|(path, _)| replaces(path));
        let options = if swept { &used.options } else { &spec.options };
        json!({ "use": self.reference(spec), "options": options })
    }

    fn reference(&self, spec: &Spec) -> String {
        if spec.reference.contains(['/', '\\']) {
            self.base.join(&spec.reference).display().to_string()
        } else {
            spec.reference.clone()
        }
    }
}
