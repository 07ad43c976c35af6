//! Everything that a report says, computed once.

use super::afo::{ImprovementAt, SolverAt, improvements, solvers};
use super::compare::{Comparison, compare};
use super::settings::{Setting, settings};
use super::summary::{MethodSummary, summarize};
use super::trial::TrialRecord;

/// Points of a sweep that get a figure each.
pub(crate) const MOST_SETTINGS: usize = 24;

/// Everything that a report says.
pub(crate) struct Model<'a> {
    /// Trials by setting and method.
    pub settings: Vec<Setting<'a>>,
    /// What each method found.
    pub summaries: Vec<MethodSummary>,
    /// Methods against each other.
    pub comparisons: Vec<Comparison>,
    pub by_dimension: Vec<SolverAt>,
    /// Followed solvers beside their shadows, by dimension.
    pub improvements: Vec<ImprovementAt>,
    /// The methods' names; the place of one is the key of its colour.
    pub methods: Vec<String>,
    /// The solvers' names.
    pub solvers: Vec<String>,
    /// What a method and its shadow are called together.
    pub pairs: Vec<(String, (String, String))>,
    several_experiments: bool,
}

impl<'a> Model<'a> {
    pub(crate) fn new(trials: &'a [TrialRecord]) -> Self {
        let settings = settings(trials);
        let by_dimension = solvers(trials);
        let improvements = improvements(trials);
        let mut methods = Vec::new();
        for (method, _) in settings.iter().flat_map(|setting| &setting.methods) {
            add(&mut methods, (*method).to_owned());
        }
        let mut solvers = Vec::new();
        for at in &by_dimension {
            add(&mut solvers, at.solver.clone());
        }
        let mut pairs = Vec::new();
        for at in &improvements {
            let name = format!("{} over {}", at.method, at.shadow);
            add(&mut pairs, (name, (at.method.clone(), at.shadow.clone())));
        }
        Self {
            several_experiments: settings.iter().any(|setting| setting.experiment != settings[0].experiment),
            summaries: summarize(&settings),
            comparisons: compare(&settings),
            by_dimension,
            improvements,
            methods,
            solvers,
            pairs,
            settings,
        }
    }

    /// The key of a method's colour.
    pub(crate) fn method(&self, name: &str) -> usize {
        self.methods.iter().position(|method| method == name).unwrap_or_default()
    }

    /// The settings that get a figure.
    pub(crate) fn drawn(&self) -> &[Setting<'a>] {
        &self.settings[..self.settings.len().min(MOST_SETTINGS)]
    }

    /// What a setting is called.
    pub(crate) fn label(&self, setting: &Setting<'_>) -> String {
        setting.label(self.several_experiments)
    }

    /// What stands above its figures: nothing where it is the only one.
    pub(crate) fn heading(&self, setting: &Setting<'_>) -> String {
        if self.settings.len() > 1 { self.label(setting) } else { String::new() }
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
