#![doc = include_str!("../README.md")]

use std::sync::Arc;

use ndarray::ArrayView2;
use plugin_api::rand::RngExt;
use plugin_api::random::normal;
use plugin_api::{
    Acquisition, AcquisitionKind, Bits, DrawRequest, Effect, Error, Evaluation, Layout, Predictions,
    Quadratic, Result, Rng, Surrogate, export_surrogate, rng, serde_json,
};
use shared_values::{Shift, with_infeasible};
use shared_variables::{Variables, distance};

mod challengers; // SMAC's search for points
mod drawn; // the improvement as a function of bits
mod effects; // what bits do on average
mod model; // the forest, and the improvement to expect
mod options; // what a manifest may set, and its limits
mod round; // what is proposed between two fits
mod split; // the best split of a sample
mod state; // what is saved
mod tree; // one tree

use challengers::Search;
use drawn::Improvement;
use model::{Forest, Recipe};
use options::{Choose, Options, Version};
use round::{Origin, Round, random_point};
use state::Saved;

export_surrogate!("forest", |options: Options, layout: &Layout| RandomForest::new(options, layout));

/// As for the other surrogates.
const MOST_BITS: usize = 1000;
/// Seed of the forest that is asked: its answers are a function of the observations alone.
const QUESTIONS: u64 = 1;

struct RandomForest {
    options: Options,
    version: Version,
    layout: Layout,
    variables: Arc<Variables>,
    recipe: Recipe,
    /// In the order of their evaluation; without a value where a point is infeasible.
    observations: Vec<(Bits, Option<f64>)>,
    /// Points proposed and not observed since: their evaluation failed, or is under way.
    unanswered: Vec<Bits>,
    /// `None` before the first draw that had a value to learn from.
    round: Option<Round>,
    /// The forest of the round, where it was grown in this process.
    forest: Option<Arc<Forest>>,
    /// Where the last proposal was from.
    origin: Option<Origin>,
}

impl RandomForest {
    fn new(options: Options, layout: &Layout) -> Result<Self> {
        if layout.dimension() > MOST_BITS {
            return Err(Error::new(format!("{} bits, more than {MOST_BITS}", layout.dimension())));
        }
        let (version, variables) = (options.version()?, Arc::new(Variables::of(layout)));
        let recipe = Recipe {
            levels: variables.levels(),
            splits: version.splits(),
            values: options.values,
            trees: options.trees,
        };
        Ok(Self {
            options,
            version,
            layout: layout.clone(),
            variables,
            recipe,
            observations: Vec::new(),
            unanswered: Vec::new(),
            round: None,
            forest: None,
            origin: None,
        })
    }

    fn learn(&mut self, bits: &Bits, value: Option<f64>) -> Result<()> {
        if !self.layout.admits(bits) {
            return Err(Error::new(format!("the bits {bits} are not in the layout")));
        }
        value.map_or(Ok(()), |value| shared_values::check_value(bits, value))?;
        self.unanswered.retain(|other| other != bits);
        self.observations.push((bits.clone(), value));
        Ok(())
    }

    /// What is learned of the first observations: value and penalty, because sums of transformed values mean nothing.
    fn totals(&self, observations: usize, request: &DrawRequest) -> Vec<f64> {
        let total = |bits: &Bits, value: f64| (value + request.penalty().of(bits)).clamp(-f64::MAX, f64::MAX);
        let first = self.observations[..observations].iter();
        let totals = first.map(|(bits, value)| value.map(|value| total(bits, value)));
        with_infeasible(&totals.collect::<Vec<_>>())
    }

    fn has_values(&self) -> bool {
        self.observations.iter().any(|(_, value)| value.is_some())
    }

    /// The forest of the first observations, at least one of which has a value.
    fn grow(&self, observations: usize, totals: &[f64], seed: u64) -> Forest {
        let first = &self.observations[..observations];
        let rows = first.iter().map(|(bits, _)| self.variables.of_bits(bits)).collect();
        let feasible: Vec<bool> = first.iter().map(|(_, value)| value.is_some()).collect();
        self.recipe.grow(rows, totals, &feasible, seed)
    }

    /// The forest of the round, grown again where it was restored.
    fn forest(&mut self) -> Option<Arc<Forest>> {
        let round = self.round.as_ref()?;
        if self.forest.is_none() {
            self.forest = Some(Arc::new(self.grow(round.observations, &round.totals, round.seed)));
        }
        self.forest.clone()
    }

    /// Starts a round where one is due: after enough proposals or observations, or for another penalty.
    fn renew(&mut self, request: &DrawRequest, rng: &mut Rng) {
        // Drawn in any case, so that what is drawn after it does not depend on it.
        let seed = rng.random();
        let stands = self.round.as_ref().is_some_and(|round| {
            round.proposed < self.options.refit_every
                && self.observations.len() - round.observations < self.options.refit_every
                && round.totals == self.totals(round.observations, request)
        });
        if !stands {
            self.start_round(request, seed);
        }
    }

    fn start_round(&mut self, request: &DrawRequest, seed: u64) {
        let observations = self.observations.len();
        let totals = self.totals(observations, request);
        (self.round, self.forest) = (None, None);
        if !self.has_values() {
            return;
        }
        let forest = self.grow(observations, &totals, seed);
        let challengers = match self.options.choose {
            Choose::Smac => self.search(&forest, seed),
            Choose::Solver => Vec::new(),
        };
        let shift = forest.shift().map(Shift::index);
        self.forest = Some(Arc::new(forest));
        let (proposed, passed_over) = (0, 0);
        self.round = Some(Round { observations, totals, seed, shift, proposed, challengers, passed_over });
    }

    /// What SMAC's search finds, the best last.
    fn search(&self, forest: &Forest, seed: u64) -> Vec<Bits> {
        let search = Search {
            layout: &self.layout,
            variables: &self.variables,
            improvement: &|levels| forest.improvement(levels),
            cost: &|levels| forest.mean(levels),
        };
        let known = self.observations.iter().map(|(bits, _)| bits.clone()).collect();
        // The forest's trees have used the seed itself.
        let mut found = search.challengers(known, &mut rng(!seed));
        found.reverse();
        found
    }

    fn is_known(&self, bits: &Bits, request: &DrawRequest) -> bool {
        let observed = self.observations.iter().map(|(bits, _)| bits);
        observed.chain(&self.unanswered).any(|known| known == bits)
            || request.pending().rows().any(|pending| pending == &bits[..])
    }

    /// The next point of SMAC's; `None` where it is a random one and none was found.
    fn propose(&mut self, request: &DrawRequest, rng: &mut Rng) -> Option<Bits> {
        let mut proposal = self.next(request, rng);
        let exhausted = self.round.as_ref().is_some_and(|round| round.proposed > 0) && proposal.is_none();
        if self.version == Version::Smac2_3 && exhausted {
            self.start_round(request, rng.random());
            proposal = self.next(request, rng);
        }
        let is_known = |bits: &Bits| self.is_known(bits, request);
        let random = || random_point(&self.layout, is_known, rng).map(|bits| (bits, Origin::Fallback));
        let (proposal, origin) = proposal.or_else(random)?;
        self.origin = Some(origin);
        self.unanswered.push(proposal.clone());
        Some(proposal)
    }

    /// The round's next point; `None` where it has none left.
    fn next(&mut self, request: &DrawRequest, rng: &mut Rng) -> Option<(Bits, Origin)> {
        let mut round = self.round.take()?;
        let next = round.next(self.options.random, &self.layout, |bits| self.is_known(bits, request), rng);
        self.round = Some(round);
        next
    }

    /// Minus the improvement to expect; `None` where the draw is to be random.
    fn improvement(&mut self, request: &DrawRequest, rng: &mut Rng) -> Option<Improvement> {
        let is_random = rng.random::<f64>() < self.options.random;
        let forest = self.forest().filter(|_| !is_random)?;
        let known = self.observations.iter().map(|(bits, _)| &bits[..]).chain(request.pending().rows());
        let known = known.map(|bits| self.variables.of_bits(bits)).collect();
        self.origin = Some(Origin::Solver);
        Some(Improvement { variables: self.variables.clone(), forest, known })
    }

    /// The forest of all values without penalty, for questions; `None` where there are none.
    fn asked(&self) -> Option<Forest> {
        let count = self.observations.len();
        let totals = self.totals(count, &DrawRequest::new(0));
        self.has_values().then(|| self.grow(count, &totals, QUESTIONS))
    }
}

/// A linear function whose minimum is at a point chosen uniformly, among those that have the layout's groups.
fn random_linear(n: usize, rng: &mut Rng) -> Quadratic {
    let mut drawn = Quadratic::zero(n);
    (0..n).for_each(|i| drawn.add_linear(i, normal(rng)));
    drawn
}

impl Surrogate for RandomForest {
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        self.learn(bits, evaluation.value())
    }

    /// The forest learns the total: nothing is added to a draw.
    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        let rng = &mut rng(request.seed());
        self.renew(request, rng);
        self.origin = Some(Origin::Random);
        let drawn = match self.options.choose {
            Choose::Smac => self.propose(request, rng).map(|chosen| distance(&chosen, 0.0).into()),
            Choose::Solver => {
                self.improvement(request, rng).map(|drawn| Acquisition::General(Arc::new(drawn)))
            }
        };
        if let Some(round) = &mut self.round {
            round.proposed += 1;
        }
        Ok(drawn.unwrap_or_else(|| random_linear(self.layout.dimension(), rng).into()))
    }

    fn draws(&self) -> AcquisitionKind {
        match self.options.choose {
            Choose::Smac => AcquisitionKind::Quadratic,
            Choose::Solver => AcquisitionKind::General,
        }
    }

    /// Mean and deviation of the value over the trees of a forest of its own.
    fn predict(&mut self, points: ArrayView2<'_, bool>) -> Result<Option<Predictions>> {
        let Some(forest) = self.asked() else { return Ok(None) };
        let points = points.as_standard_layout();
        let predict = |bits: &[bool]| forest.predict(&self.variables.of_bits(bits));
        let rows = points.rows().into_iter();
        let predictions = rows.map(|bits| predict(bits.to_slice().expect("rows in order")));
        let (means, deviations) = predictions.unzip();
        Predictions::new(means, deviations).map(Some)
    }

    /// What bits and pairs of them do on average over all points, by the same forest.
    fn effects(&mut self) -> Result<Option<Vec<Effect>>> {
        Ok(self.asked().map(|forest| effects::effects(&forest, &self.variables)))
    }

    fn notes(&self) -> Result<Vec<(String, String)>> {
        let shift = self.round.as_ref().and_then(|round| round.shift).and_then(Shift::from_index);
        let origin = self.origin.map(|origin| ("proposal".to_owned(), origin.words().to_owned()));
        Ok(shift.map(Shift::note).into_iter().chain(origin).collect())
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        serde_json::to_vec(&Saved::of(self)).map(Some).map_err(Error::wrap)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let refuse = |why: String| Error::new(format!("not a state of this surrogate: {why}"));
        let saved: Saved = serde_json::from_slice(state).map_err(|error| refuse(error.to_string()))?;
        let restored = Self::new(self.options.clone(), &self.layout)?;
        *self = saved.into_forest(restored).map_err(|error| refuse(error.to_string()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
