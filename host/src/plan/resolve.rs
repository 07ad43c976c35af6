//! From names to plugins: each is opened, given its options, and tried with its neighbours.

use std::rc::Rc;

use plugin_api::load::Plugin;
use plugin_api::{AcquisitionKind, Benchmark, Encoder, Kind, Layout, Solver, Space, Surrogate};
use serde_json::Value as Json;

use super::error::{Mistake, PlanError};
use super::{MethodPlan, Setting, Spec};
use crate::manifest::{Manifest, Method, PluginUse};
use crate::plugins::Plugins;
use crate::trial::seeds::Seeds;

/// The setting of a manifest; `None` where there are mistakes.
pub(super) fn setting(
    manifest: &Manifest,
    sweep: Vec<(String, Json)>,
    plugins: &mut Plugins,
    mistakes: &mut Vec<Mistake>,
) -> Option<Setting> {
    let before = mistakes.len();
    let mut resolver = Resolver { plugins, mistakes };
    let benchmark = resolver.benchmark(manifest);
    let encoder = benchmark.as_ref().and_then(|(_, space)| resolver.encoder(manifest, space));
    let layout = encoder.as_ref().map(|(_, layout)| layout);
    let methods: Vec<_> = manifest.methods.iter().map(|method| resolver.method(method, layout)).collect();
    let (benchmark, space) = benchmark?;
    resolver.initial_design(manifest, &space);
    let (encoder, _) = encoder?;
    let setting = Setting {
        sweep,
        initial: manifest.budget.initial,
        evaluations: manifest.budget.evaluations,
        l1: manifest.penalty.l1,
        evaluation: manifest.evaluation,
        benchmark,
        encoder,
        methods: methods.into_iter().collect::<Option<_>>()?,
    };
    (mistakes.len() == before).then_some(setting)
}

struct Resolver<'a> {
    plugins: &'a mut Plugins,
    mistakes: &'a mut Vec<Mistake>,
}

impl Resolver<'_> {
    fn open(&mut self, used: &PluginUse) -> Option<Rc<Plugin>> {
        match self.plugins.get(used.kind, &used.name) {
            Ok(plugin) => Some(plugin),
            Err(error) => {
                // `solver: prs` is wrong at the word; `solver: { use: prs }` below `use`.
                let inner = used.path.join("use");
                self.mistakes.push(Mistake::at(if is_bare(used) { &used.path } else { &inner }, error));
                None
            }
        }
    }

    fn made<T>(
        &mut self,
        used: &PluginUse,
        plugin: &Plugin,
        made: plugin_api::Result<T>,
    ) -> Option<(Spec, T)> {
        match made {
            Ok(made) => Some((spec(used, plugin), made)),
            Err(source) => {
                let path = used.options_path().join_option(source.path());
                let error = PlanError::Options { kind: used.kind, name: used.name.clone(), source };
                self.mistakes.push(Mistake::at(&path, error));
                None
            }
        }
    }

    fn benchmark(&mut self, manifest: &Manifest) -> Option<(Spec, Space)> {
        let used = manifest.benchmark.as_ref()?;
        let plugin = self.open(used)?;
        // The space is the same for every instance, so the first seed's speaks for all.
        let seed = Seeds::new(&manifest.name, manifest.seeds[0]).instance();
        let made = plugin.benchmark(&used.options, seed).map(|benchmark| benchmark.space());
        self.made(used, &plugin, made)
    }

    fn encoder(&mut self, manifest: &Manifest, space: &Space) -> Option<(Spec, Layout)> {
        let benchmark = manifest.benchmark.as_ref()?;
        let fitting = || PluginUse {
            kind: Kind::Encoder,
            name: if space.is_binary() { "binary" } else { "one-hot" }.to_owned(),
            options: Json::Object(serde_json::Map::new()),
            path: benchmark.path.clone(),
        };
        let used = manifest.encoder.clone().unwrap_or_else(fitting);
        let plugin = self.open(&used)?;
        match plugin.encoder(&used.options, space) {
            Ok(encoder) => Some((spec(&used, &plugin), encoder.layout())),
            Err(source) if source.kind() == plugin_api::ErrorKind::Options => {
                self.made(&used, &plugin, Err(source))
            }
            Err(source) => {
                let benchmark = benchmark.name.clone();
                let error = PlanError::Encoder { encoder: used.name, benchmark, source };
                self.mistakes.push(Mistake::at(&used.path, error));
                None
            }
        }
    }

    fn method(&mut self, method: &Method, layout: Option<&Layout>) -> Option<MethodPlan> {
        let surrogate = self.surrogate(&method.surrogate, layout);
        let solvers: Vec<_> = std::iter::once(&method.solver)
            .chain(&method.shadows)
            .map(|used| {
                let (spec, properties) = self.solver(used)?;
                if let (Some((_, draws)), Some(layout)) = (&surrogate, layout) {
                    self.match_up(used, properties, &method.surrogate, *draws, layout);
                }
                Some(spec)
            })
            .collect();
        let mut solvers = solvers.into_iter().collect::<Option<Vec<_>>>()?.into_iter();
        let solver = solvers.next()?;
        let (surrogate, _) = surrogate?;
        Some(MethodPlan { name: method.name.clone(), surrogate, solver, shadows: solvers.collect() })
    }

    fn surrogate(&mut self, used: &PluginUse, layout: Option<&Layout>) -> Option<(Spec, AcquisitionKind)> {
        let plugin = self.open(used)?;
        let made = plugin.surrogate(&used.options, layout?).map(|surrogate| surrogate.draws());
        self.made(used, &plugin, made)
    }

    fn solver(&mut self, used: &PluginUse) -> Option<(Spec, (AcquisitionKind, bool))> {
        let plugin = self.open(used)?;
        let made = plugin.solver(&used.options).map(|solver| (solver.takes(), solver.keeps_groups()));
        self.made(used, &plugin, made)
    }

    fn match_up(
        &mut self,
        solver: &PluginUse,
        (takes, keeps_groups): (AcquisitionKind, bool),
        surrogate: &PluginUse,
        draws: AcquisitionKind,
        layout: &Layout,
    ) {
        if draws == AcquisitionKind::Quadratic {
            return;
        }
        let (name, surrogate) = (solver.name.clone(), surrogate.name.clone());
        if takes == AcquisitionKind::Quadratic {
            let error = PlanError::GeneralFunction { solver: name, surrogate };
            self.mistakes.push(Mistake::at(&solver.path, error));
        } else if !keeps_groups && !layout.groups().is_empty() {
            self.mistakes.push(Mistake::at(&solver.path, PlanError::Groups { solver: name, surrogate }));
        }
    }

    fn initial_design(&mut self, manifest: &Manifest, space: &Space) {
        let levels = space.variables().iter().map(|variable| variable.levels().len());
        let points = levels.fold(1_usize, usize::saturating_mul);
        let initial = manifest.budget.initial;
        if initial > points {
            let path = crate::yaml::KeyPath::root().join("budget").join("initial");
            self.mistakes.push(Mistake::at(&path, PlanError::SmallSpace { initial, points }));
        }
    }
}

fn is_bare(used: &PluginUse) -> bool {
    used.options.as_object().is_none_or(serde_json::Map::is_empty)
}

fn spec(used: &PluginUse, plugin: &Plugin) -> Spec {
    let description = plugin.description();
    let mut options = description.defaults.clone();
    merge(&mut options, &used.options);
    let label = label(&description.name, &options, &description.defaults);
    Spec {
        label,
        name: description.name.clone(),
        version: description.version.clone(),
        options,
        reference: if used.name.contains(['/', '\\']) { used.name.clone() } else { description.name.clone() },
    }
}

fn label(name: &str, options: &Json, defaults: &Json) -> String {
    let changed = |(key, value): (&String, &Json)| {
        let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (defaults.get(key) != Some(value)).then(|| format!("{key}={word}"))
    };
    let changed: Vec<String> = options.as_object().into_iter().flatten().filter_map(changed).collect();
    if changed.is_empty() { name.to_owned() } else { format!("{name}[{}]", changed.join(",")) }
}

/// Puts what was given over the defaults, key by key.
fn merge(defaults: &mut Json, given: &Json) {
    match (defaults, given) {
        (Json::Object(defaults), Json::Object(given)) => {
            for (key, value) in given {
                merge(defaults.entry(key).or_insert(Json::Null), value);
            }
        }
        (default, given) => *default = given.clone(),
    }
}
