//! From names to plugins: each is opened, given its options, and tried with its neighbours.

use std::collections::BTreeMap;
use std::rc::Rc;

use plugin_api::load::{LoadedSolver, Plugin};
use plugin_api::{AcquisitionKind, Benchmark, Encoder, Kind, Layout, Rule, Solver, Space, Surrogate};
use serde_json::{Map, Value as Json};

use super::constraints::Rules;
use super::given::Tables;
use super::resolved::points;
use super::{
    GivenPoint, MethodPlan, PlanError, PluginPlan, PointsFile, Seeds, Setting, Spec, TurnPlan, default_method,
};
use crate::manifest::keys::initial::Initial;
use crate::manifest::keys::methods::Method;
use crate::manifest::yaml::KeyPath;
use crate::manifest::{Manifest, Mistake, PluginUse, Settings, Source};
use crate::plugins::Plugins;
use crate::text::plugin;

/// What was resolved at other points of a sweep, by all that it depends on.
pub(super) struct Known<'a> {
    source: &'a Source,
    watch: &'a dyn Fn(&str),
    resolved: BTreeMap<String, Rc<Resolved>>,
    tables: Tables,
    points: Option<PointsFile>,
}

impl<'a> Known<'a> {
    pub(super) fn new(source: &'a Source, watch: &'a dyn Fn(&str)) -> Self {
        Self { source, watch, resolved: BTreeMap::new(), tables: Tables::default(), points: None }
    }

    /// The table of points that was read.
    pub(super) fn points(self) -> Option<PointsFile> {
        self.points
    }
}

/// Plugins that go together, and what they say of themselves.
struct Resolved {
    plugins: Rc<PluginPlan>,
    bits: usize,
}

/// The setting of a manifest; `None` where there are mistakes.
pub(super) fn setting(
    manifest: &Manifest,
    sweep: Map<String, Json>,
    plugins: &mut Plugins,
    known: &mut Known<'_>,
    mistakes: &mut Vec<Mistake>,
) -> Option<Setting> {
    let before = mistakes.len();
    let Manifest { name, seeds, benchmark, encoder, methods, settings, .. } = manifest;
    let key = format!("{:?}", (name, seeds.first(), benchmark, encoder, methods, &settings.constraints));
    let resolved = match known.resolved.get(&key) {
        Some(resolved) => resolved.clone(),
        None => {
            let resolved = Rc::new(resolve(manifest, plugins, known.watch, mistakes)?);
            if mistakes.len() == before {
                known.resolved.insert(key, resolved.clone());
            }
            resolved
        }
    };
    check_initial_design(manifest, points(&resolved.plugins.space), mistakes);
    check_penalty(manifest, resolved.bits, mistakes);
    let plugins = resolved.plugins.clone();
    let mut keys = manifest.settings.clone();
    let given = take_points(&mut keys, &plugins, known, mistakes);
    (mistakes.len() == before).then_some(Setting { sweep, keys, given, plugins })
}

/// Reads the table that `initial.points` names, and names it for what is in it: where it lies is not what it is.
fn take_points(
    keys: &mut Settings,
    plugins: &PluginPlan,
    known: &mut Known<'_>,
    mistakes: &mut Vec<Mistake>,
) -> Rc<Vec<GivenPoint>> {
    let Some(path) = &keys.initial.points else { return Rc::default() };
    match known.tables.read(known.source, path, &plugins.space, plugins.deterministic) {
        Ok(given) => {
            keys.initial.points = Some(given.file.name.clone());
            known.points = Some(given.file.clone());
            given.points.clone()
        }
        Err(wrong) => {
            mistakes.extend(wrong.into_iter().map(|what| Mistake::at(&Initial::points_path(), what)));
            Rc::default()
        }
    }
}

/// Opens all plugins of a manifest, and tries each with its neighbours; `None` where that cannot be.
fn resolve(
    manifest: &Manifest,
    plugins: &mut Plugins,
    watch: &dyn Fn(&str),
    mistakes: &mut Vec<Mistake>,
) -> Option<Resolved> {
    let mut resolver = Resolver { plugins, watch, mistakes };
    let benchmark = resolver.benchmark(manifest);
    let benchmark = benchmark
        .map(|(spec, (space, deterministic))| (spec, (resolver.constrained(manifest, space), deterministic)));
    let encoder = benchmark.as_ref().and_then(|(_, (space, _))| resolver.encoder(manifest, space));
    let bits = benchmark.as_ref().zip(encoder.as_ref());
    let bits = bits.map(|((_, (space, _)), (_, layout))| ModelBits { space, layout });
    let methods: Vec<_> =
        manifest.methods.iter().map(|method| resolver.method(method, bits.as_ref())).collect();
    let (benchmark, (space, deterministic)) = benchmark?;
    // What else is wrong shows also where no method can be had.
    let methods: Option<Vec<MethodPlan>> = methods.into_iter().collect();
    if encoder.is_none() || methods.is_none() {
        check_initial_design(manifest, points(&space), mistakes);
    }
    let (encoder, layout) = encoder?;
    let plugins = Rc::new(PluginPlan { benchmark, encoder, methods: methods?, space, deterministic });
    Some(Resolved { plugins, bits: layout.dimension() })
}

/// A penalty that is too high to count with is a mistake.
fn check_penalty(manifest: &Manifest, bits: usize, mistakes: &mut Vec<Mistake>) {
    const MOST: f64 = 1e100;
    let l1 = manifest.settings.penalty.l1;
    if l1 * bits as f64 > MOST {
        let path = KeyPath::root().join("penalty").join("l1");
        mistakes.push(Mistake::at(&path, PlanError::Penalty { l1, bits }));
    }
}

fn check_initial_design(manifest: &Manifest, points: usize, mistakes: &mut Vec<Mistake>) {
    let initial = manifest.settings.budget.initial;
    if initial > points {
        let path = KeyPath::root().join("budget").join("initial");
        mistakes.push(Mistake::at(&path, PlanError::SmallSpace { initial, points }));
    }
}

/// What a model sees, and the space that it stands for.
struct ModelBits<'a> {
    space: &'a Space,
    layout: &'a Layout,
}

/// A solver as it is named, and as it was made.
type Solving = (PluginUse, (Spec, LoadedSolver));

/// A surrogate as it is named, as it was made, and what it draws.
type Drawing = (PluginUse, Spec, AcquisitionKind);

const SOLVER_IS_MADE: &str = "is made and tells what it takes and keeps";

struct Resolver<'a> {
    plugins: &'a mut Plugins,
    /// Is told where a plugin is about to be asked.
    watch: &'a dyn Fn(&str),
    mistakes: &'a mut Vec<Mistake>,
}

impl Resolver<'_> {
    /// A plugin is about to be asked.
    fn at(&self, kind: Kind, name: &str, what: &str) {
        (self.watch)(&format!("where the {kind} `{name}` {what}"));
    }

    fn open(&mut self, used: &PluginUse) -> Option<Rc<Plugin>> {
        self.at(used.kind, &used.name, "is opened");
        match self.plugins.get(used.kind, &used.name) {
            Ok(plugin) => Some(plugin),
            Err(error) => {
                self.mistakes.push(Mistake::at(&used.name_path(), error));
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
            Ok(made) => Some((self.spec(used, plugin), made)),
            Err(source) => {
                let path = used.options_path().join_option(source.path());
                let error = PlanError::Options { kind: used.kind, name: used.name.clone(), source };
                self.mistakes.push(Mistake::at(&path, error));
                None
            }
        }
    }

    fn spec(&self, used: &PluginUse, plugin: &Plugin) -> Spec {
        let description = plugin.description();
        let mut options = description.defaults.clone();
        merge(&mut options, &used.options);
        let label = label(&description.name, &options, &description.defaults);
        Spec {
            label,
            name: description.name.clone(),
            version: description.version.clone(),
            options,
            reference: match PluginUse::is_path(&used.name) {
                true => self.plugins.path(&used.name).display().to_string(),
                false => description.name.clone(),
            },
        }
    }

    /// With its space, and whether it is deterministic.
    fn benchmark(&mut self, manifest: &Manifest) -> Option<(Spec, (Space, bool))> {
        let used = manifest.benchmark.as_ref()?;
        let plugin = self.open(used)?;
        // The space is the same for every instance, so the first seed's speaks for all.
        let seed = Seeds::new(&manifest.name, manifest.seeds[0]).instance();
        let options = self.plugins.options(&plugin, &used.options);
        self.at(used.kind, &used.name, "is made and tells its space");
        let made = plugin.benchmark(&options, seed);
        let made = made.and_then(|benchmark| Ok((benchmark.space()?, benchmark.deterministic())));
        self.made(used, &plugin, made)
    }

    /// The space with the manifest's constraints beside its own; as it is, where these are mistakes or contradict each other.
    fn constrained(&mut self, manifest: &Manifest, space: Space) -> Space {
        let written = &manifest.settings.constraints;
        let mistakes = match Rules::new(&space, written) {
            Ok(rules) => match rules.contradiction(written) {
                None => return rules.space,
                Some(mistake) => vec![mistake],
            },
            Err(mistakes) => mistakes,
        };
        self.mistakes.extend(mistakes);
        space
    }

    fn encoder(&mut self, manifest: &Manifest, space: &Space) -> Option<(Spec, Layout)> {
        let benchmark = manifest.benchmark.as_ref()?;
        let fitting = || {
            let name = if space.is_binary() { "binary" } else { "one-hot" };
            PluginUse::bare(Kind::Encoder, name, benchmark.path.clone())
        };
        let used = manifest.encoder.clone().unwrap_or_else(fitting);
        let plugin = self.open(&used)?;
        self.at(used.kind, &used.name, "is made for the space");
        match plugin.encoder(&self.plugins.options(&plugin, &used.options), space) {
            Ok(encoder) if encoder.layout().dimension() == 0 => {
                self.mistakes.push(Mistake::at(&benchmark.path, PlanError::NoChoice));
                None
            }
            Ok(encoder) => Some((self.spec(&used, &plugin), encoder.layout())),
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

    fn method(&mut self, method: &Method, bits: Option<&ModelBits<'_>>) -> Option<MethodPlan> {
        // Everything is tried before anything is given up, so that all mistakes show at once.
        let mut solvers: Vec<Option<Solving>> =
            method.solvers.iter().map(|used| self.solver(used).map(|made| (used.clone(), made))).collect();
        let named: Vec<PluginUse> = match &method.surrogates[..] {
            [] => {
                let takes = |solver: &Option<Solving>| {
                    solver.as_ref().is_none_or(|(_, (_, solver))| solver.takes(AcquisitionKind::General))
                };
                vec![default_method::surrogate(solvers.iter().all(takes), &method.path.join("surrogate"))]
            }
            named => named.to_vec(),
        };
        let surrogates: Vec<Option<Drawing>> = named
            .iter()
            .map(|used| self.surrogate(used, bits).map(|(spec, draws)| (used.clone(), spec, draws)))
            .collect();
        if solvers.is_empty() {
            let path = method.path.join("solver");
            for surrogate in &surrogates {
                let draws = surrogate.as_ref().map(|(_, _, draws)| *draws);
                let used = default_method::solver(draws.unwrap_or(AcquisitionKind::Quadratic), path.clone());
                solvers.push(self.solver(&used).map(|made| (used, made)));
            }
        }
        let mut turns = Vec::new();
        for (i, surrogate) in surrogates.iter().enumerate() {
            let solver = &solvers[if solvers.len() == 1 { 0 } else { i }];
            let (Some((used, spec, draws)), Some((solver_used, (solver_spec, solver)))) = (surrogate, solver)
            else {
                continue;
            };
            if let Some(bits) = bits {
                self.match_up(solver_used, solver, used, *draws, bits);
            }
            turns.push(TurnPlan { surrogate: spec.clone(), solver: solver_spec.clone() });
        }
        // A shadow solves the problems of every turn.
        let mut shadows = Vec::new();
        for used in &method.shadows {
            let Some((spec, solver)) = self.solver(used) else { continue };
            if let Some(bits) = bits {
                for (surrogate, _, draws) in surrogates.iter().flatten() {
                    self.match_up(used, &solver, surrogate, *draws, bits);
                }
            }
            shadows.push(spec);
        }
        let whole = turns.len() == named.len() && shadows.len() == method.shadows.len();
        let name = match &method.name[..] {
            "" => Method::name_of(turns.iter().map(|turn| turn.solver.name.as_str())),
            name => name.to_owned(),
        };
        whole.then_some(MethodPlan { name, turns, shadows })
    }

    fn surrogate(
        &mut self,
        used: &PluginUse,
        bits: Option<&ModelBits<'_>>,
    ) -> Option<(Spec, AcquisitionKind)> {
        let plugin = self.open(used)?;
        let options = self.plugins.options(&plugin, &used.options);
        self.at(used.kind, &used.name, "is made and tells what it draws");
        let made = plugin.surrogate(&options, bits?.layout).map(|surrogate| surrogate.draws());
        self.made(used, &plugin, made)
    }

    fn solver(&mut self, used: &PluginUse) -> Option<(Spec, LoadedSolver)> {
        let plugin = self.open(used)?;
        self.at(used.kind, &used.name, SOLVER_IS_MADE);
        let made = plugin.solver(&self.plugins.options(&plugin, &used.options));
        self.made(used, &plugin, made)
    }

    /// Says which solver cannot do what its method asks of it: the function's kind, its groups, its constraints.
    fn match_up(
        &mut self,
        used: &PluginUse,
        solver: &LoadedSolver,
        surrogate: &PluginUse,
        draws: AcquisitionKind,
        bits: &ModelBits<'_>,
    ) {
        let names = || (used.name.clone(), surrogate.name.clone());
        if !solver.takes(draws) {
            let (solver, surrogate) = names();
            self.mistakes.push(Mistake::at(&used.path, PlanError::Kind { solver, surrogate, draws }));
        } else if draws != AcquisitionKind::Quadratic
            && !solver.keeps(Rule::Groups)
            && !bits.layout.groups().is_empty()
        {
            let (solver, surrogate) = names();
            self.mistakes.push(Mistake::at(&used.path, PlanError::Groups { solver, surrogate }));
        } else if !bits.layout.constraints().is_empty()
            && !solver.keeps(Rule::Groups)
            && !bits.layout.groups().is_empty()
        {
            // An answer whose groups are mended may break a constraint.
            let able = self.able(draws, bits.layout);
            let error = PlanError::GroupsAndConstraints { solver: used.name.clone(), able };
            self.mistakes.push(Mistake::at(&used.path, error));
        }
        let broken = bits.layout.constraints().iter().find(|constraint| !solver.keeps(constraint.rule()));
        if let Some(constraint) = broken {
            // In the objective's own words where it is the objective's.
            let own = bits.space.constraints().iter().find(|own| own.rule() == constraint.rule());
            let words = own.map_or_else(|| constraint.to_string(), |own| bits.space.describe_constraint(own));
            let able = self.able(draws, bits.layout);
            let error = PlanError::Constraint { solver: used.name.clone(), constraint: words, able };
            self.mistakes.push(Mistake::at(&used.path, error));
        }
    }

    /// The solvers that take functions of this kind and keep all rules of a layout, as they are by default.
    fn able(&mut self, draws: AcquisitionKind, layout: &Layout) -> Vec<String> {
        let mut able = Vec::new();
        for name in self.plugins.names(Kind::Solver) {
            self.at(Kind::Solver, &name, SOLVER_IS_MADE);
            let Ok(plugin) = self.plugins.get(Kind::Solver, &name) else { continue };
            let Ok(solver) = plugin.solver(&Json::Object(Map::new())) else { continue };
            let groups = layout.groups().is_empty() || solver.keeps(Rule::Groups);
            let rules = layout.constraints().iter().all(|constraint| solver.keeps(constraint.rule()));
            if groups && rules && solver.takes(draws) {
                able.push(name);
            }
        }
        able
    }
}

fn label(name: &str, options: &Json, defaults: &Json) -> String {
    let changed = |(key, value): &(&String, &Json)| defaults.get(key) != Some(value);
    plugin(name, options.as_object().into_iter().flatten().filter(changed))
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_given_stands_over_the_defaults_key_by_key() {
        let mut options = json!({ "a": 1, "b": { "c": 2, "d": 3 }, "e": [1, 2] });
        merge(&mut options, &json!({ "b": { "c": 5 }, "e": [7], "f": null }));
        assert_eq!(options, json!({ "a": 1, "b": { "c": 5, "d": 3 }, "e": [7], "f": null }));
    }

    #[test]
    fn a_label_has_the_options_that_differ() {
        let defaults = json!({ "steps": 10, "rounding": "best" });
        assert_eq!(label("sdp", &defaults, &defaults), "sdp");
        let options = json!({ "steps": 10, "rounding": "authors" });
        assert_eq!(label("sdp", &options, &defaults), "sdp[rounding=authors]");
    }
}
