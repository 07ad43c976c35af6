#![doc = include_str!("../README.md")]

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use ndarray::{ArrayView2, ArrayViewMut2};
use plugin_api::rand::RngExt;
use plugin_api::random::normal;
use plugin_api::serde::{Deserialize, Serialize};
use plugin_api::{
    Acquisition, AcquisitionKind, Bits, DrawRequest, Error, Evaluation, Function, Layout, Penalty,
    Predictions, Quadratic, Result, Surrogate, export_surrogate, rng, serde_json,
};

mod model; // values as logarithms, the forest, expected improvement
mod options; // what a manifest may set, and its limits
mod tree; // one tree
mod variables; // bits as levels

use model::Forest;
use options::Options;
use tree::Categories;
use variables::Variables;

export_surrogate!("forest", |options: Options, layout: &Layout| RandomForest::new(options, layout));

/// As for the other surrogates.
const MOST_BITS: usize = 1000;
/// Ranges of larger values are not finite.
const LARGEST_VALUE: f64 = 1e150;
/// Seed of the forest that predicts: a prediction is a function of the observations alone.
const PREDICTION: u64 = 1;

struct RandomForest {
    options: Options,
    categories: Categories,
    layout: Layout,
    variables: Arc<Variables>,
    /// In the order of their evaluation; without a value where a point is infeasible.
    observations: Vec<(Bits, Option<f64>)>,
    /// The forest that draws, and what it was grown from; `None` before the first draw.
    grown: Option<(Growth, Arc<Forest>)>,
}

/// What a forest was grown from: nothing else is needed to grow it again.
#[derive(Clone, Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
struct Growth {
    /// How many of the observations.
    observations: usize,
    seed: u64,
    penalty: Penalty,
}

impl RandomForest {
    fn new(options: Options, layout: &Layout) -> Result<Self> {
        if layout.dimension() > MOST_BITS {
            return Err(Error::new(format!("{} bits, more than {MOST_BITS}", layout.dimension())));
        }
        Ok(Self {
            categories: options.categories()?,
            options,
            layout: layout.clone(),
            variables: Arc::new(Variables::of(layout)),
            observations: Vec::new(),
            grown: None,
        })
    }

    fn learn(&mut self, bits: &Bits, value: Option<f64>) -> Result<()> {
        if !self.layout.admits(bits) {
            return Err(Error::new(format!("the bits {bits} are not in the layout")));
        }
        // A value that is not a number is not within either.
        if let Some(value) = value.filter(|value| !(-LARGEST_VALUE..=LARGEST_VALUE).contains(value)) {
            return Err(Error::new(format!(
                "the value of {bits} is {value:e}, not within ±{LARGEST_VALUE:e}"
            )));
        }
        self.observations.push((bits.clone(), value));
        Ok(())
    }

    /// `None` where none of the observations has a value.
    fn grow(&self, growth: &Growth) -> Option<Forest> {
        let (mut rows, mut totals) = (Vec::new(), Vec::new());
        for (bits, value) in &self.observations[..growth.observations] {
            if let Some(value) = value {
                rows.push(self.variables.of_bits(bits));
                totals.push(value + growth.penalty.of(bits));
            }
        }
        let (levels, trees) = (self.variables.levels(), self.options.trees);
        (!rows.is_empty()).then(|| Forest::grow(levels, rows, &totals, self.categories, trees, growth.seed))
    }

    /// The forest to draw from: a new one after enough new observations, or for another penalty.
    fn forest(&mut self, request: &DrawRequest) -> Option<Arc<Forest>> {
        let (observations, penalty) = (self.observations.len(), request.penalty().clone());
        let growth = Growth { observations, seed: request.seed(), penalty };
        let stands = self.grown.as_ref().filter(|(old, _)| {
            old.penalty == growth.penalty && growth.observations - old.observations < self.options.refit_every
        });
        if stands.is_none() {
            self.grown = self.grow(&growth).map(|forest| (growth, Arc::new(forest)));
        }
        self.grown.as_ref().map(|(_, forest)| forest.clone())
    }
}

/// Minus the expected improvement; 0 at points that are known or under way.
struct Improvement {
    dimension: usize,
    variables: Arc<Variables>,
    forest: Arc<Forest>,
    known: BTreeSet<Vec<u32>>,
}

impl Improvement {
    fn at(&self, levels: &[u32]) -> f64 {
        if self.known.contains(levels) { 0.0 } else { 0.0 - self.forest.improvement(levels) }
    }
}

impl Function for Improvement {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn value(&self, bits: &[bool]) -> f64 {
        self.at(&self.variables.of_bits(bits))
    }

    fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
        let mut levels = self.variables.of_bits(bits);
        let here = self.at(&levels);
        self.variables.flip(bits, i, &mut levels);
        self.at(&levels) - here
    }

    fn values(&self, points: ArrayView2<'_, bool>, values: &mut [f64]) {
        let points = points.as_standard_layout();
        let mut levels = vec![0; self.variables.count()];
        for (value, bits) in values.iter_mut().zip(points.rows()) {
            self.variables.read(bits.to_slice().expect("rows in order"), &mut levels);
            *value = self.at(&levels);
        }
    }

    fn move_gains(
        &self,
        points: ArrayView2<'_, bool>,
        groups: &[Range<usize>],
        mut gains: ArrayViewMut2<'_, f64>,
    ) {
        let points = points.as_standard_layout();
        let mut levels = vec![0; self.variables.count()];
        for (bits, mut gains) in points.rows().into_iter().zip(gains.rows_mut()) {
            let bits = bits.to_slice().expect("rows in order");
            let mut there = bits.to_vec();
            let mut value_of = |bits: &[bool]| {
                self.variables.read(bits, &mut levels);
                self.at(&levels)
            };
            let here = value_of(bits);
            let mut groups = groups.iter().peekable();
            for (i, gain) in gains.iter_mut().enumerate() {
                while groups.peek().is_some_and(|group| group.end <= i) {
                    groups.next();
                }
                let changed = match groups.peek().filter(|group| group.contains(&i)) {
                    Some(group) => {
                        there[(*group).clone()].fill(false);
                        there[i] = true;
                        (*group).clone()
                    }
                    None => {
                        there[i] = !bits[i];
                        i..i + 1
                    }
                };
                *gain = value_of(&there) - here;
                there[changed.clone()].copy_from_slice(&bits[changed]);
            }
        }
    }
}

impl Surrogate for RandomForest {
    /// A point without a value tells the forest nothing; it is known all the same.
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        self.learn(bits, evaluation.value())
    }

    /// The forest learns the total, because it is a logarithm that it learns: nothing is added to a draw.
    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        let forest = self.forest(request);
        let rng = &mut rng(request.seed());
        let is_random = rng.random::<f64>() < self.options.random;
        let Some(forest) = forest.filter(|_| !is_random) else {
            // Its minimum is at a point chosen uniformly.
            let mut drawn = Quadratic::zero(self.layout.dimension());
            (0..self.layout.dimension()).for_each(|i| drawn.add_linear(i, normal(rng)));
            return Ok(drawn.into());
        };
        let observed = self.observations.iter().map(|(bits, _)| &bits[..]);
        let known = observed.chain(request.pending().rows()).map(|bits| self.variables.of_bits(bits));
        Ok(Acquisition::General(Arc::new(Improvement {
            dimension: self.layout.dimension(),
            known: known.collect(),
            variables: self.variables.clone(),
            forest,
        })))
    }

    fn draws(&self) -> AcquisitionKind {
        AcquisitionKind::General
    }

    /// Mean and deviation of the value over the trees of a forest of its own, grown on all observations.
    fn predict(&mut self, points: ArrayView2<'_, bool>) -> Result<Option<Predictions>> {
        let (observations, penalty) = (self.observations.len(), Penalty::default());
        let growth = Growth { observations, seed: PREDICTION, penalty };
        let Some(forest) = self.grow(&growth) else { return Ok(None) };
        let points = points.as_standard_layout();
        let predict = |bits: &[bool]| forest.predict(&self.variables.of_bits(bits));
        let rows = points.rows().into_iter();
        let predictions = rows.map(|bits| predict(bits.to_slice().expect("rows in order")));
        let (means, deviations) = predictions.unzip();
        Predictions::new(means, deviations).map(Some)
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        let growth = self.grown.as_ref().map(|(growth, _)| growth.clone());
        let saved = Saved { forest: VERSION, observations: self.observations.clone(), growth };
        serde_json::to_vec(&saved).map(Some).map_err(Error::wrap)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let refuse = |why: String| Error::new(format!("not a state of this surrogate: {why}"));
        let saved: Saved = serde_json::from_slice(state).map_err(|error| refuse(error.to_string()))?;
        if saved.forest != VERSION {
            return Err(refuse(format!("its version is {}, not {VERSION}", saved.forest)));
        }
        let mut restored = Self::new(self.options.clone(), &self.layout)?;
        for (bits, value) in &saved.observations {
            restored.learn(bits, *value).map_err(|error| refuse(error.to_string()))?;
        }
        if let Some(growth) = saved.growth {
            if growth.observations > restored.observations.len() {
                return Err(refuse("its forest has more observations than it".to_owned()));
            }
            restored.grown = restored.grow(&growth).map(|forest| (growth, Arc::new(forest)));
        }
        *self = restored;
        Ok(())
    }
}

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
struct Saved {
    forest: u32,
    observations: Vec<(Bits, Option<f64>)>,
    growth: Option<Growth>,
}

#[cfg(test)]
mod tests;
