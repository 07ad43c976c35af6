//! A plan: every name resolved, every default filled, nothing left to check.

pub mod error;
pub mod expand;
pub mod overrides;
mod resolve;
mod write;

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value as Json, json};
use serde_yaml::Value;
use sha2::{Digest, Sha256};

use self::error::{Mistake, PlanError};
use self::expand::{MOST_TRIALS, SweepPoint, sweep_points, trial_id};
use self::overrides::{Origin, Overrides};
use crate::cli::PluginArguments;
use crate::diagnostic::{Diagnostic, Place};
use crate::manifest::{Evaluation, Manifest, read_sweep};
use crate::plugins::Plugins;
use crate::plugins::locate::Folders;
use crate::yaml::{self, KeyPath};

/// What will happen.
pub struct Plan {
    /// The experiment's name.
    pub name: String,
    /// Its seeds.
    pub seeds: Vec<u64>,
    /// One for each point of the sweep.
    pub settings: Vec<Setting>,
    /// The plan as a manifest: running it is the same experiment.
    pub yaml: String,
    /// What makes this plan this plan, as a hash: names, options, budgets, seeds. Which code the names stand for is
    /// the business of the run's identity.
    pub hash: String,
    /// The plugins.
    pub plugins: Plugins,
}

/// The experiment at one point of its sweep.
#[derive(Clone, Serialize)]
pub struct Setting {
    /// The values of the sweep's keys here.
    pub sweep: Vec<(String, Json)>,
    /// Random points, before there is anything to learn from.
    pub initial: usize,
    /// Points proposed after them.
    pub evaluations: usize,
    /// Cost of each bit that is set.
    pub l1: f64,
    /// What happens around an evaluation.
    pub evaluation: Evaluation,
    /// The objective.
    pub benchmark: Spec,
    /// Between its points and the model's bits.
    pub encoder: Spec,
    /// What is compared.
    pub methods: Vec<MethodPlan>,
}

/// A method with all names resolved.
#[derive(Clone, Serialize)]
pub struct MethodPlan {
    /// Its name.
    pub name: String,
    /// The model.
    pub surrogate: Spec,
    /// The solver that is followed.
    pub solver: Spec,
    /// Solvers that are recorded only.
    pub shadows: Vec<Spec>,
}

/// A plugin with all its options.
#[derive(Clone, Debug, Serialize)]
pub struct Spec {
    /// Its own name.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// Every option, defaults filled.
    pub options: Json,
    /// What finds it: its name, or the path that the manifest has. Where it lies is not what it is.
    #[serde(skip)]
    pub reference: String,
    /// Its name with the options that differ from their defaults: `sdp[rounding=authors]`.
    #[serde(skip)]
    pub label: String,
}

/// One trial: a method, a point of the sweep and a seed.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// The experiment here.
    pub setting: &'a Setting,
    /// The method.
    pub method: &'a MethodPlan,
    /// The seed.
    pub seed: u64,
    point: usize,
    points: usize,
}

impl Trial<'_> {
    /// Its name, which is also its folder's.
    pub fn id(&self) -> String {
        trial_id(&self.method.name, self.point, self.points, self.seed)
    }
}

impl Plan {
    /// Every trial, seeds fastest.
    pub fn trials(&self) -> impl Iterator<Item = Trial<'_>> {
        let points = self.settings.len();
        self.settings.iter().enumerate().flat_map(move |(point, setting)| {
            setting.methods.iter().flat_map(move |method| {
                self.seeds.iter().map(move |&seed| Trial { setting, method, seed, point, points })
            })
        })
    }
}

/// The text of a manifest, and where it comes from.
pub struct Source {
    /// The file as people call it.
    pub label: String,
    /// What it says.
    pub text: String,
    /// What paths in it start from.
    pub base: PathBuf,
}

/// No manifest has more bytes than this.
const LONGEST: u64 = 2_000_000;

impl Source {
    /// Reads a file, or the standard input for `-`.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        let label = path.display().to_string();
        let (label, opened): (_, std::io::Result<Box<dyn Read>>) = if label == "-" {
            ("<stdin>".to_owned(), Ok(Box::new(std::io::stdin())))
        } else {
            (label, std::fs::File::open(path).map(|file| Box::new(file) as Box<dyn Read>))
        };
        let mut text = String::new();
        let read = opened.and_then(|input| input.take(LONGEST + 1).read_to_string(&mut text));
        read.map_err(|error| Diagnostic::new(format!("cannot read {label}")).because(error))?;
        if text.len() as u64 > LONGEST {
            return Err(Diagnostic::new(format!("{label} is too long for a manifest"))
                .because(format!("it has more than {} MB", LONGEST / 1_000_000)));
        }
        let base = path.parent().unwrap_or(Path::new("")).to_owned();
        let base = std::path::absolute(&base).or_else(|_| std::env::current_dir());
        let base = base.map_err(|error| Diagnostic::new("the current folder is gone").because(error))?;
        Ok(Self { label, text, base })
    }
}

/// From a manifest to a plan, or to all its mistakes at once.
pub fn plan(
    source: &Source,
    overrides: &Overrides,
    plugins: &PluginArguments,
) -> Result<Plan, Vec<Diagnostic>> {
    let mut tree = parse(source).map_err(|diagnostic| vec![diagnostic])?;
    let mut diagnostics = Vec::new();
    let origins = overrides.apply(&mut tree, &mut diagnostics);

    let mut mistakes = Vec::new();
    let axes = read_sweep(&tree, &mut mistakes);
    let points = sweep_points(&tree, &axes, &mut mistakes);
    let places = Places { source, origins: &origins, axes: &axes };
    diagnostics.extend(mistakes.iter().map(|mistake| places.diagnostic(mistake, None)));

    let mut plugins = Plugins::new(folders(source, &tree, plugins), &source.base);
    let mut manifests = Vec::new();
    let mut settings = Vec::new();
    for point in &points {
        let mut mistakes = Vec::new();
        let manifest = Manifest::read(&point.tree, &mut mistakes);
        if let Some(manifest) = manifest {
            let sweep = named_values(&axes, point);
            if let Some(setting) = resolve::setting(&manifest, sweep, &mut plugins, &mut mistakes) {
                settings.push(setting);
            }
            manifests.push(manifest);
        }
        diagnostics.extend(mistakes.iter().map(|mistake| places.diagnostic(mistake, Some(point))));
    }
    if let Some(first) = manifests.first() {
        let most_methods = manifests.iter().map(|manifest| manifest.methods.len()).max().unwrap_or(0);
        let count = points.len() * most_methods * first.seeds.len();
        if count > MOST_TRIALS {
            let error = PlanError::TooMany { count: count.to_string(), most: MOST_TRIALS };
            diagnostics.push(places.diagnostic(&Mistake::at(&KeyPath::root().join("seeds"), error), None));
        }
    }
    // The same mistake shows at every point of the sweep.
    diagnostics.sort();
    diagnostics.dedup();
    match manifests.first() {
        Some(first) if diagnostics.is_empty() => {
            assert_eq!(settings.len(), points.len(), "a point of the sweep without mistakes has a setting");
            let yaml = write::yaml(first, &settings, &axes, &source.base);
            let hash = hash(&first.name, &first.seeds, &settings);
            let (name, seeds) = (first.name.clone(), first.seeds.clone());
            Ok(Plan { name, seeds, settings, yaml, hash, plugins })
        }
        _ => Err(diagnostics),
    }
}

/// The trial `id` of a plan, alone: nothing that only other trials need is opened.
pub fn plan_trial(
    source: &Source,
    id: &str,
    plugins: &PluginArguments,
) -> Result<SoleTrial, Vec<Diagnostic>> {
    let tree = parse(source).map_err(|diagnostic| vec![diagnostic])?;
    let mut mistakes = Vec::new();
    let axes = read_sweep(&tree, &mut mistakes);
    let points = sweep_points(&tree, &axes, &mut mistakes);
    let count = points.len();
    let mut plugins = Plugins::new(folders(source, &tree, plugins), &source.base);
    for (index, point) in points.iter().enumerate() {
        let Some(mut manifest) = Manifest::read(&point.tree, &mut mistakes) else { continue };
        let ids = |method: &str, seed: &u64| trial_id(method, index, count, *seed) == id;
        let found = manifest.methods.iter().enumerate().find_map(|(i, method)| {
            manifest.seeds.iter().find(|seed| ids(&method.name, seed)).map(|&seed| (i, seed))
        });
        let Some((method, seed)) = found else { continue };
        manifest.methods = vec![manifest.methods.swap_remove(method)];
        let sweep = named_values(&axes, point);
        if let Some(setting) = resolve::setting(&manifest, sweep, &mut plugins, &mut mistakes) {
            return Ok(SoleTrial { experiment: manifest.name, id: id.to_owned(), setting, seed, plugins });
        }
    }
    let places = Places { source, origins: &[], axes: &axes };
    let mut diagnostics: Vec<_> = mistakes.iter().map(|mistake| places.diagnostic(mistake, None)).collect();
    if diagnostics.is_empty() {
        diagnostics.push(Diagnostic::new(format!("no trial `{id}` in {}", source.label)));
    }
    Err(diagnostics)
}

/// A trial with all it needs; its setting has one method.
pub struct SoleTrial {
    /// The experiment's name.
    pub experiment: String,
    /// The trial's.
    pub id: String,
    /// The experiment at the trial's point of the sweep, with the trial's method only.
    pub setting: Setting,
    /// The seed.
    pub seed: u64,
    /// The plugins.
    pub plugins: Plugins,
}

fn parse(source: &Source) -> Result<Value, Diagnostic> {
    if let Some((line, column)) = yaml::too_deep(&source.text) {
        let place = Some(Place::File(source.label.clone(), line, column));
        let diagnostic = Diagnostic::new("too many brackets are open here");
        return Err(
            Diagnostic { place, ..diagnostic }.hint("no manifest needs more than a few; is one not closed?")
        );
    }
    serde_yaml::from_str(&source.text).map_err(|error: serde_yaml::Error| {
        if let Some((key, (line, column))) = yaml::duplicate(&source.text) {
            let place = Place::File(source.label.clone(), line, column);
            let hint = "keep one of them; several values go into a list or under names of their own";
            return Diagnostic {
                place: Some(place),
                ..Diagnostic::new(format!("the key `{key}` stands here twice"))
            }
            .hint(hint);
        }
        let (line, column) = error.location().map_or((1, 1), |place| (place.line(), place.column()));
        let place = Place::File(source.label.clone(), line, column);
        let text = error.to_string();
        // The parser repeats the place in its words.
        let cause = text.split(" at line ").next().unwrap_or(&text).to_owned();
        Diagnostic { place: Some(place), ..Diagnostic::new("this is not valid YAML").because(cause) }
    })
}

/// Folders of the command line, then those of the manifest, which start from the manifest.
fn folders(source: &Source, tree: &Value, plugins: &PluginArguments) -> Folders {
    let written = tree.get("plugin-directories").and_then(Value::as_sequence).into_iter().flatten();
    let written = written.filter_map(Value::as_str).map(|folder| source.base.join(folder));
    let directories = plugins.directories.iter().cloned().chain(written).collect();
    Folders::of(&PluginArguments { directories, allow_insecure: plugins.allow_insecure })
}

fn named_values(axes: &[(KeyPath, Vec<Value>)], point: &SweepPoint) -> Vec<(String, Json)> {
    let value = |values: &[Value], chosen: usize| serde_json::to_value(&values[chosen]).unwrap_or(Json::Null);
    let named = axes.iter().zip(&point.choice);
    named.map(|((path, values), &chosen)| (path.to_string(), value(values, chosen))).collect()
}

fn hash(name: &str, seeds: &[u64], settings: &[Setting]) -> String {
    let settings: Vec<Json> = settings.iter().map(identity).collect();
    let identity = serde_json::to_vec(&(name, seeds, settings)).expect("a plan is plain data");
    hex(&Sha256::digest(identity))
}

/// A setting without the versions of its plugins.
fn identity(setting: &Setting) -> Json {
    // Taken apart, so that a new field is not forgotten.
    let Setting { sweep, initial, evaluations, l1, evaluation, benchmark, encoder, methods } = setting;
    let plugin = |spec: &Spec| json!([spec.name, spec.options]);
    let methods: Vec<Json> = methods
        .iter()
        .map(|MethodPlan { name, surrogate, solver, shadows }| {
            let shadows: Vec<Json> = shadows.iter().map(plugin).collect();
            json!([name, plugin(surrogate), plugin(solver), shadows])
        })
        .collect();
    json!([sweep, initial, evaluations, l1, evaluation, plugin(benchmark), plugin(encoder), methods])
}

/// Bytes as people write hashes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where mistakes are to be looked for: a value may come from the file, the sweep or the command line.
struct Places<'a> {
    source: &'a Source,
    origins: &'a [Origin],
    axes: &'a [(KeyPath, Vec<Value>)],
}

impl Places<'_> {
    fn diagnostic(&self, mistake: &Mistake, point: Option<&SweepPoint>) -> Diagnostic {
        Diagnostic {
            place: Some(self.place(mistake, point)),
            message: mistake.error.to_string(),
            cause: mistake.error.cause(),
            hint: mistake.error.hint(),
        }
    }

    fn place(&self, mistake: &Mistake, point: Option<&SweepPoint>) -> Place {
        let swept = |point: &SweepPoint| {
            let axis = self.axes.iter().position(|(path, _)| path.contains(&mistake.path))?;
            let key = KeyPath::root().join("sweep").join(&self.axes[axis].0);
            Some(key.join(point.choice[axis]))
        };
        if let Some(path) = point.and_then(swept) {
            return self.in_file(&path, yaml::Part::Value);
        }
        match self.origins.iter().rev().find(|(path, _)| path.contains(&mistake.path)) {
            Some((_, argument)) => Place::Argument(argument.clone()),
            None => self.in_file(&mistake.path, mistake.part),
        }
    }

    fn in_file(&self, path: &KeyPath, part: yaml::Part) -> Place {
        let (line, column) = yaml::locate(&self.source.text, path, part);
        Place::File(self.source.label.clone(), line, column)
    }
}
