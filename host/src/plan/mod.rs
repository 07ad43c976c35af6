//! A plan: every name resolved, every default filled, nothing left to check.

mod constraints;
mod default_method;
mod error;
mod extension;
mod given;
mod hash;
pub mod points;
mod resolve;
mod resolved;
mod seeds;
mod shared;
mod sweep;
mod trial_id;
mod write;

use std::path::PathBuf;

use serde_json::Map;
use serde_yaml::Value;

pub use self::constraints::constrained;
pub use self::default_method::QUADRATIC_SOLVER;
pub use self::error::PlanError;
pub use self::extension::obstacles;
pub use self::given::{GivenPoint, PointsFile};
pub use self::hash::hex;
pub use self::resolved::{MethodPlan, PluginPlan, ResolvedTrial, Setting, Spec, TurnPlan};
pub use self::seeds::{Seeds, repetition};
pub use self::trial_id::{NoTrialId, TrialId};

use self::resolved::points;
use self::shared::{Cell, cells};
use self::sweep::{MOST_TRIALS, SweepPoint, sweep_points};
use crate::diagnostic::Diagnostic;
use crate::feasible::Sampler;
use crate::manifest::keys::cluster::Cluster;
use crate::manifest::keys::initial::Initial;
use crate::manifest::keys::sweep::Axis;
use crate::manifest::overrides::Overrides;
use crate::manifest::yaml::KeyPath;
use crate::manifest::{Manifest, Mistake, Places, Source};
use crate::plugins::locate::Folders;
use crate::plugins::{PluginArguments, Plugins, has_paths};

/// What will happen.
pub struct Plan {
    /// The experiment's name.
    pub name: String,
    pub seeds: Vec<u64>,
    /// One for each point of the sweep.
    pub settings: Vec<Setting>,
    /// The methods that are run, each at the first point of the sweep where it is what it is.
    cells: Vec<Cell>,
    /// The plan as a manifest: running it is the same experiment.
    pub yaml: String,
    /// The table of points that it begins with: the plan names its copy in the run's folder.
    pub points: Option<PointsFile>,
    /// What makes this plan this plan: names, options, budgets, seeds. Which code the names stand for is the
    /// business of the run's identity.
    pub hash: String,
    pub plugins: Plugins,
    /// Folders of plugins that the manifest names; absolute.
    pub plugin_directories: Vec<PathBuf>,
    /// What the paths in plugins' options start from, where there are any; absolute.
    pub folder: Option<PathBuf>,
    /// How a cluster runs it, where the manifest says so: no part of what is computed, nor of the hash.
    pub cluster: Option<Cluster>,
}

/// One trial: a method, a point of the sweep and a seed.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    plan: &'a Plan,
    pub setting: &'a Setting,
    pub method: &'a MethodPlan,
    pub seed: u64,
    cell: &'a Cell,
}

impl Trial<'_> {
    /// The values of the sweep's keys, as far as the trial depends on them.
    pub fn sweep(&self) -> &Map<String, serde_json::Value> {
        self.cell.sweep.as_ref().unwrap_or(&self.setting.sweep)
    }

    /// Its name, which is also its folder's.
    pub fn id(&self) -> TrialId {
        let point = (self.plan.settings.len() > 1).then_some(self.cell.point + 1);
        TrialId { method: self.method.name.clone(), point, seed: self.seed }
    }

    /// The trial with everything that it needs.
    pub fn resolved(&self) -> ResolvedTrial {
        ResolvedTrial {
            experiment: self.plan.name.clone(),
            id: self.id(),
            plan: self.plan.hash.clone(),
            sweep: self.sweep().clone(),
            keys: self.setting.keys.clone(),
            benchmark: self.setting.plugins.benchmark.clone(),
            encoder: self.setting.plugins.encoder.clone(),
            method: self.method.clone(),
            given: self.setting.given.to_vec(),
            plugin_directories: self.plan.plugin_directories.clone(),
            folder: self.plan.folder.clone(),
        }
    }
}

impl Plan {
    /// What somebody should know before it is run: budgets that no trial will spend, initial points that are not quite
    /// uniform.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for setting in &self.settings {
            let space = &setting.plugins.space;
            let note = "initial points are only nearly uniform: those that keep the constraints are too many to count, and \
                        are drawn by random walks among them";
            if !space.constraints().is_empty()
                && !notes.iter().any(|known| known == note)
                && !Sampler::new(space).is_uniform()
            {
                notes.push(note.to_owned());
            }
            let (evaluations, points) = (setting.evaluations(), points(&setting.plugins.space));
            let note = format!(
                "a budget of {evaluations} evaluations is more than the {points} points of the space: a trial ends when all \
                 have been evaluated"
            );
            let once = setting.plugins.deterministic || !setting.keys.evaluation.again;
            if once && evaluations > points && !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }

    /// Every trial, seeds fastest. What is the same at several points of the sweep is one trial.
    pub fn trials(&self) -> impl Iterator<Item = Trial<'_>> {
        self.cells.iter().flat_map(move |cell| {
            let setting = &self.settings[cell.point];
            let method = &setting.plugins.methods[cell.method];
            self.seeds.iter().map(move |&seed| Trial { plan: self, setting, method, seed, cell })
        })
    }
}

/// From a manifest to a plan, or to all its mistakes at once.
pub fn plan(
    source: &Source,
    overrides: &Overrides,
    plugins: &PluginArguments,
) -> Result<Plan, Vec<Diagnostic>> {
    let mut tree = source.parse().map_err(|diagnostic| vec![diagnostic])?;
    let mut diagnostics = Vec::new();
    let origins = overrides.apply(&mut tree, &mut diagnostics);

    let mut mistakes = Vec::new();
    let whole = Manifest::read(&tree, &mut mistakes);
    let axes = whole.as_ref().map(|manifest| manifest.sweep.clone()).unwrap_or_default();
    let folder = whole.as_ref().map(|manifest| source.base.join(&manifest.folder));
    let base = folder.unwrap_or_else(|| source.base.clone());
    let directories = whole.map(|manifest| manifest.plugin_directories).unwrap_or_default();
    let directories: Vec<PathBuf> = directories.iter().map(|folder| base.join(folder)).collect();
    // What the sweep replaces may be anything before it does: only the sweep's own mistakes count here.
    mistakes.retain(|mistake| KeyPath::root().join("sweep").contains(&mistake.path));
    let points = sweep_points(&tree, &axes, &mut mistakes);
    let places = Places { source, origins: &origins, axes: &axes };
    diagnostics.extend(mistakes.iter().map(|mistake| places.diagnostic(mistake, None)));

    let mut plugins = Plugins::new(Folders::of(plugins, &directories), &base);
    let (mut first, mut most_methods) = (None, 0);
    let (mut settings, mut known) = (Vec::new(), resolve::Known::new(source));
    if let Some(axis) = axes.iter().find(|axis| sweeps_points(axis)) {
        let path = KeyPath::root().join("sweep").join(&axis.path);
        diagnostics.push(places.diagnostic(&Mistake::at(&path, PlanError::SweptPoints), None));
    }
    if let Some(axis) = axes.iter().find(|axis| KeyPath::root().join("cluster").contains(&axis.path)) {
        let path = KeyPath::root().join("sweep").join(&axis.path);
        diagnostics.push(places.diagnostic(&Mistake::at_key(&path, PlanError::SweptCluster), None));
    }
    let count = points.total();
    for point in points {
        let mut mistakes = Vec::new();
        let manifest = Manifest::read(&point.tree, &mut mistakes);
        mistakes.retain(|mistake| !KeyPath::root().join("sweep").contains(&mistake.path));
        if let Some(manifest) = manifest {
            let sweep = named_values(&axes, &point);
            settings.extend(resolve::setting(&manifest, sweep, &mut plugins, &mut known, &mut mistakes));
            most_methods = most_methods.max(manifest.methods.len());
            first.get_or_insert(manifest);
        }
        diagnostics.extend(mistakes.iter().map(|mistake| places.diagnostic(mistake, Some(&point.choice))));
    }
    if let Some(first) = &first {
        let trials = count * most_methods * first.seeds.len();
        if trials > MOST_TRIALS {
            let error = PlanError::TooMany { count: trials.to_string(), most: MOST_TRIALS };
            diagnostics.push(places.diagnostic(&Mistake::at(&KeyPath::root().join("seeds"), error), None));
        }
    }
    // The same mistake shows at every point of the sweep.
    diagnostics.sort();
    diagnostics.dedup();
    match &first {
        Some(first) if diagnostics.is_empty() => {
            assert_eq!(settings.len(), count, "a point of the sweep without mistakes has a setting");
            let axis_sizes: Vec<usize> = axes.iter().map(|axis| axis.values.len()).collect();
            let cells = cells(&settings, &axis_sizes);
            let has_paths = plugins.loaded().any(|loaded| has_paths(loaded.plugin.description()));
            let folder = has_paths.then_some(base);
            Ok(Plan {
                name: first.name.clone(),
                seeds: first.seeds.clone(),
                yaml: write::yaml(first, &settings, &axes, &directories, folder.as_deref()),
                hash: hash::hash(&first.name, &first.seeds, &settings, &cells),
                points: known.points(),
                settings,
                cells,
                plugins,
                plugin_directories: directories,
                folder,
                cluster: first.cluster.clone(),
            })
        }
        _ => Err(diagnostics),
    }
}

/// Whether the sweep goes through tables of points: a run's folder has one.
fn sweeps_points(axis: &Axis) -> bool {
    let names_points = |value: &Value| value.get("points").is_some();
    axis.path == Initial::points_path()
        || axis.path == KeyPath::root().join("initial") && axis.values.iter().any(names_points)
}

fn named_values(axes: &[Axis], point: &SweepPoint) -> Map<String, serde_json::Value> {
    let value = |values: &[Value], chosen: usize| serde_json::to_value(&values[chosen]).unwrap_or_default();
    let named = axes.iter().zip(&point.choice);
    named.map(|(axis, &chosen)| (axis.path.to_string(), value(&axis.values, chosen))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Settings;
    use serde_json::json;
    use std::rc::Rc;

    /// A plan without plugins, with this many points of a sweep.
    fn planned(points: usize, l1: f64) -> Plan {
        let spec = |name: &str| Spec {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            options: json!({}),
            reference: name.to_owned(),
            label: name.to_owned(),
        };
        let keys = json!({ "budget": { "initial": 2, "evaluations": 3 }, "penalty": { "l1": l1 } });
        let keys: Settings = serde_json::from_value(keys).unwrap();
        let method = |name: &str, option: usize| MethodPlan {
            name: name.to_owned(),
            turns: vec![TurnPlan {
                surrogate: spec("random"),
                solver: Spec { options: json!({ "a": option }), ..spec(name) },
            }],
            shadows: vec![],
        };
        let setting = |point: usize| Setting {
            sweep: (0..points.min(2) - 1).map(|_| ("a".to_owned(), json!(point))).collect(),
            keys: keys.clone(),
            given: Rc::default(),
            plugins: Rc::new(PluginPlan {
                benchmark: spec("labs"),
                encoder: spec("binary"),
                // The sweep is over an option of the first.
                methods: vec![method("psr", point), method("sdp", 0)],
                space: plugin_api::Space::binary(3),
                deterministic: true,
            }),
        };
        let settings: Vec<Setting> = (0..points).map(setting).collect();
        let cells = cells(&settings, &vec![points; points.min(2) - 1]);
        Plan {
            name: "x".to_owned(),
            seeds: vec![7, 3],
            hash: hash::hash("x", &[7, 3], &settings, &cells),
            settings,
            cells,
            yaml: String::new(),
            points: None,
            plugins: Plugins::new(Folders::default(), std::path::Path::new("")),
            plugin_directories: vec![],
            folder: None,
            cluster: None,
        }
    }

    #[test]
    fn trials_go_through_points_then_methods_then_seeds() {
        let ids =
            |points| planned(points, 0.0).trials().map(|trial| trial.id().to_string()).collect::<Vec<_>>();
        assert_eq!(ids(1), ["psr-seed7", "psr-seed3", "sdp-seed7", "sdp-seed3"]);
        assert_eq!(ids(2)[2..5], ["sdp-sweep1-seed7", "sdp-sweep1-seed3", "psr-sweep2-seed7"]);
    }

    #[test]
    fn a_method_that_the_sweep_leaves_as_it_is_has_its_trials_once() {
        let plan = planned(3, 0.0);
        let of = |method: &str| -> Vec<(String, Map<String, serde_json::Value>)> {
            let trials = plan.trials().filter(|trial| trial.method.name == method && trial.seed == 7);
            trials.map(|trial| (trial.id().to_string(), trial.resolved().sweep)).collect()
        };
        assert_eq!(of("sdp"), [("sdp-sweep1-seed7".to_owned(), Map::new())]);
        let swept = of("psr").into_iter().map(|(_, sweep)| sweep["a"].clone());
        assert_eq!(swept.collect::<Vec<_>>(), [json!(0), json!(1), json!(2)]);
    }

    #[test]
    fn a_resolved_trial_survives_its_file() {
        let plan = planned(2, 0.1);
        for trial in plan.trials() {
            let resolved = trial.resolved();
            let text = serde_json::to_string(&resolved).unwrap();
            assert_eq!(serde_json::from_str::<ResolvedTrial>(&text).unwrap(), resolved);
        }
    }

    #[test]
    fn the_hash_is_that_of_what_is_run_and_not_of_versions() {
        let plan = planned(1, 0.0);
        assert_eq!(plan.hash, planned(1, 0.0).hash);
        assert_ne!(plan.hash, planned(1, 0.5).hash);
        assert_ne!(plan.hash, planned(2, 0.0).hash);
        let mut settings = plan.settings.clone();
        Rc::make_mut(&mut settings[0].plugins).benchmark.version = "9.9.9".to_owned();
        assert_eq!(hash::hash("x", &[7, 3], &settings, &plan.cells), plan.hash);
        Rc::make_mut(&mut settings[0].plugins).benchmark.options = json!({ "n": 5 });
        assert_ne!(hash::hash("x", &[7, 3], &settings, &plan.cells), plan.hash);
    }
}
