//! Means and deviations over the posterior, for questions.
//!
//! A chain goes on from where the last draw's stands, with random numbers of its own and on a copy of its state, so a question
//! changes no draw. Means and variances are over its steps; the noise, and the intercept given the coefficients, are added
//! by their formulas.
//!
//! A coefficient that no observation speaks of has its prior as posterior, whose tails are those of a Cauchy
//! distribution: it has a middle, 0, and no standard deviation. In its place stands half the width of the interval that holds
//! as much as ± one deviation of a normal distribution does.

use std::collections::BTreeMap;

use plugin_api::ndarray::ArrayView2;
use plugin_api::random::normal;
use plugin_api::{Effect, Penalty, Predictions, Result, Rng, rng};
use shared_values::Inverse;

use crate::chain::{Chain, NoisePrior};
use crate::observations::Targets;
use crate::options::Intercept;
use crate::regression::Regression;
use crate::{Horseshoe, check_size, coefficients};

/// Steps that are averaged.
const STEPS: u32 = 1000;
const SEED: u64 = 0x686f_7273_6573_686f;
/// The part of a normal distribution within ± one deviation.
const WITHIN_ONE: f64 = 0.682_689_492_137_085_9;
/// Sums of more coefficients from the prior are taken to grow in proportion: so do those of Cauchy distributions.
const MOST_SUMMED: usize = 64;

/// Averages over the steps of a chain, for values of variance 1.
struct Averages {
    /// Of each function of the coefficients that was asked for.
    means: Vec<f64>,
    variances: Vec<f64>,
    sigma2: f64,
    /// στ of each step, the scale of coefficients that no observation speaks of.
    prior_scales: Vec<f64>,
}

impl Horseshoe {
    pub(crate) fn predictions(&mut self, points: ArrayView2<'_, bool>) -> Result<Option<Predictions>> {
        if !self.observations.has_values() {
            return Ok(None);
        }
        let terms = self.observations.terms();
        let points: Vec<Vec<u32>> = points.rows().into_iter().map(|bits| terms.of(&bits.to_vec())).collect();
        // The values are asked for, so no penalty is learned with them.
        let targets = self.targets(&Penalty::default());
        let inverse = self.inverse(&targets);
        let observed = self.observations.count() as f64;
        let integrated = self.options.intercept == Intercept::Integrated;
        let averages = self.averages(&targets, points.len(), |regression, alpha, values| {
            let intercept = if integrated { -regression.mean(alpha) } else { 0.0 };
            for (value, terms) in values.iter_mut().zip(&points) {
                *value = intercept + shared_terms::sum_at(alpha, terms);
            }
        })?;
        let mut unspoken = Unspoken::new(&averages.prior_scales);
        let counts = self.unspoken_counts(&points);
        let (mut means, mut deviations) = (Vec::new(), Vec::new());
        for ((mean, variance), count) in averages.means.iter().zip(&averages.variances).zip(counts) {
            let noise = averages.sigma2 * if integrated { 1.0 + 1.0 / observed } else { 1.0 };
            let unspoken = unspoken.deviation(count);
            let deviation = (variance + noise + unspoken * unspoken).sqrt();
            let (mean, deviation) = match &inverse {
                Some(inverse) => inverse.moments(*mean, deviation),
                None => (targets.mean + targets.scale * mean, targets.scale * deviation),
            };
            means.push(mean);
            deviations.push(deviation);
        }
        Predictions::new(means, deviations).map(Some)
    }

    /// Of raw values alone: what is learned of transformed ones is no sum of effects on values.
    pub(crate) fn posterior_effects(&mut self) -> Result<Option<Vec<Effect>>> {
        if !self.options.values.is_raw() || !self.observations.has_values() {
            return Ok(None);
        }
        let targets = self.observations.targets();
        let scale = targets.scale;
        let columns = self.observations.design().columns();
        let averages = self.averages(&targets, columns, |_, alpha, values| values.copy_from_slice(alpha))?;
        let alone = Unspoken::new(&averages.prior_scales).deviation(1);
        let regression = self.regression(&targets);
        let mut speaks = vec![false; columns];
        regression.active().iter().for_each(|&term| speaks[term as usize] = true);
        let effect = |(term, bits): (usize, Vec<usize>)| {
            let deviation = if speaks[term] { averages.variances[term].sqrt() } else { alone };
            Effect::new(bits, scale * averages.means[term], scale * deviation)
        };
        Ok(Some(self.observations.terms().possible().map(effect).collect()))
    }

    /// From what is learned, standardised, back to values; `None` where these are learned as they are.
    fn inverse(&self, targets: &Targets) -> Option<Inverse> {
        let kind = self.options.values;
        let values = self.observations.totals(kind, &Penalty::default());
        let standard = |value: f64| (value - targets.mean) / targets.scale;
        let learned = || kind.transform(&values).into_iter().map(standard).collect::<Vec<_>>();
        (!kind.is_raw()).then(|| Inverse::new(&learned(), &values))
    }

    fn regression(&self, targets: &Targets) -> Regression<'_> {
        let integrated = self.options.intercept == Intercept::Integrated;
        Regression::new(&self.observations, targets, integrated)
    }

    /// Averages what `functions` writes of the coefficients of each step, which are 0 where no observation speaks of them.
    fn averages(
        &mut self,
        targets: &Targets,
        count: usize,
        functions: impl Fn(&Regression<'_>, &[f64], &mut [f64]),
    ) -> Result<Averages> {
        let (mut state, burn_in, _) = self.start();
        check_size(&self.regression(targets))?;
        // Counts of what was observed, kept for draws: brought up to date here, they are the same as there.
        let mut moments = std::mem::take(&mut self.moments);
        let regression = self.regression(targets);
        let mut coefficients =
            coefficients::choose(&regression, &self.observations, &mut moments, self.kernel);
        let mut chain = Chain::new(&regression, coefficients.as_mut(), NoisePrior::default());
        let random = &mut rng(SEED);
        chain.run(&mut state, burn_in, random)?;
        let (mut means, mut variances) = (vec![0.0; count], vec![0.0; count]);
        let (mut sigma2, mut prior_scales) = (0.0, Vec::new());
        let (mut alpha, mut values) = (vec![0.0; state.lambda2.len()], vec![0.0; count]);
        for step in 1..=STEPS {
            chain.run(&mut state, 1, random)?;
            let sigma = chain.sigma2().sqrt();
            alpha.iter_mut().zip(chain.beta()).for_each(|(alpha, beta)| *alpha = sigma * beta);
            functions(&regression, &alpha, &mut values);
            for ((mean, square), value) in means.iter_mut().zip(&mut variances).zip(&values) {
                let apart = value - *mean;
                *mean += apart / f64::from(step);
                *square += apart * (value - *mean);
            }
            sigma2 += chain.sigma2() / f64::from(STEPS);
            prior_scales.push(sigma * state.tau2.sqrt());
        }
        variances.iter_mut().for_each(|square| *square /= f64::from(STEPS - 1));
        drop(coefficients);
        self.moments = moments;
        Ok(Averages { means, variances, sigma2, prior_scales })
    }

    /// For each of the points, how many coefficients that no observation speaks of are in its value: those of terms that
    /// never were 1 and are, and, beside an intercept, of terms that always were 1 and are not.
    fn unspoken_counts(&self, points: &[Vec<u32>]) -> Vec<usize> {
        let targets = self.observations.targets();
        let (regression, impossible) = (self.regression(&targets), self.observations.terms().impossible());
        let counts = self.observations.design().counts();
        let mut active = vec![false; counts.len()];
        regression.active().iter().for_each(|&term| active[term as usize] = true);
        let unspoken = |term: usize| !active[term] && !impossible[term];
        let never = |term: &u32| unspoken(*term as usize) && counts[*term as usize] == 0.0;
        let always: Vec<u32> = (0..counts.len() as u32)
            .filter(|&term| unspoken(term as usize) && counts[term as usize] > 0.0)
            .collect();
        let count = |terms: &Vec<u32>| {
            let missing = always.iter().filter(|term| terms.binary_search(term).is_err()).count();
            terms.iter().filter(|term| never(term)).count() + missing
        };
        points.iter().map(count).collect()
    }
}

/// Deviations of sums of coefficients from their prior.
struct Unspoken<'a> {
    scales: &'a [f64],
    random: Rng,
    known: BTreeMap<usize, f64>,
}

impl<'a> Unspoken<'a> {
    fn new(scales: &'a [f64]) -> Self {
        Self { scales, random: rng(SEED + 1), known: BTreeMap::from([(0, 0.0)]) }
    }

    fn deviation(&mut self, count: usize) -> f64 {
        let summed = count.min(MOST_SUMMED);
        let Self { scales, random, known } = self;
        let deviation = *known.entry(summed).or_insert_with(|| {
            let mut draw = |scale: &f64| {
                // λ is half Cauchy, the ratio of two normal draws; so is a coefficient a ratio and a product of three.
                let terms = (0..summed).map(|_| normal(random) / normal(random) * normal(random));
                (scale * terms.sum::<f64>()).abs()
            };
            let mut sizes: Vec<f64> = scales.iter().map(&mut draw).collect();
            sizes.sort_by(f64::total_cmp);
            sizes[(WITHIN_ONE * sizes.len() as f64) as usize]
        });
        if summed == 0 { 0.0 } else { deviation * (count as f64 / summed as f64) }
    }
}

#[cfg(test)]
#[path = "asked_tests.rs"]
mod tests;
