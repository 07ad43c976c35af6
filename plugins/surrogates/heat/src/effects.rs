//! Main effects and interactions of the posterior, in closed form.
//!
//! The effect of a bit is what the value gains on average where the bit is set, against where it is not, all other
//! variables being uniform over their levels (and the other levels of its own group as well). The interaction of two bits
//! of different variables is what the effect of one gains where the other is set. The kernel is a product over variables, so
//! its averages are products of the averages of each: for point p and a bit i of variable v,
//! E k(x, xₚ) = Π aᵥ(p), and the contrast of bit i replaces aᵥ(p) by cᵢ(p). The same averages over both arguments give the prior
//! variance of an effect, and the posterior's follows from the covariances with the observations.

use plugin_api::Effect;

use crate::kernel::WIDTH;
use crate::points::Packed;
use crate::posterior::Posterior;
use crate::similarity::Similarity;

/// How many interactions are told: the strongest.
const MOST_PAIRS: usize = 1000;

/// Averages of the kernel over uniform levels.
struct Averages {
    /// For each point Π aᵥ(p).
    of_points: Vec<f64>,
    /// For each bit, of each point cᵢ(p)/aᵥ(p).
    contrasts: Vec<Vec<f64>>,
    /// The average over both arguments.
    of_all: f64,
    /// For each bit, what its contrast in both arguments multiplies that by.
    own: Vec<f64>,
    /// Which variable each bit belongs to.
    variables: Vec<usize>,
}

impl Averages {
    fn new(similarity: &Similarity, points: &Packed) -> Self {
        let (count, variables) = (points.len(), similarity.variables());
        let mut of_points = vec![1.0; count];
        let (mut contrasts, mut own, mut of_all) = (Vec::new(), Vec::new(), 1.0);
        let mut first = 0;
        for variable in 0..variables.count() {
            let bits = variables.of_bit[first..].iter().take_while(|&&of| of == variable).count();
            // A free bit has two levels, of which the second is the bit that is set.
            let levels = if variables.share[first] == 1.0 { 2 } else { bits };
            let level = |p: usize| match levels {
                _ if variables.share[first] == 1.0 => usize::from(points.bit(p, first)),
                _ => (0..bits).find(|&l| points.bit(p, first + l)).unwrap_or(0),
            };
            let k = |a: usize, b: usize| similarity.of_levels(variable, a, b);
            let sums: Vec<f64> = (0..levels).map(|b| (0..levels).map(|a| k(a, b)).sum()).collect();
            let (number, whole) = (levels as f64, sums.iter().sum::<f64>());
            let at: Vec<usize> = (0..count).map(level).collect();
            of_points.iter_mut().zip(&at).for_each(|(average, &level)| *average *= sums[level] / number);
            of_all *= whole / (number * number);
            for bit in 0..bits {
                let set = if variables.share[first] == 1.0 { 1 } else { bit };
                // The level against the mean of the others; one that has no others has no effect.
                let others = (number - 1.0).max(1.0);
                let contrast =
                    |b: usize| if levels == 1 { 0.0 } else { k(set, b) - (sums[b] - k(set, b)) / others };
                contrasts.push(at.iter().map(|&b| contrast(b) * number / sums[b]).collect());
                let rest: f64 = (0..levels).filter(|&b| b != set).map(contrast).sum();
                own.push((contrast(set) - rest / others) * number * number / whole);
            }
            first += bits;
        }
        Self { of_points, contrasts, of_all, own, variables: variables.of_bit.clone() }
    }
}

/// The effects of all bits, then the strongest interactions in the order of their bits; values have this unit.
pub(crate) fn effects(posterior: &Posterior, points: &Packed, unit: f64) -> Vec<Effect> {
    let averages = Averages::new(&posterior.factored.similarity, points);
    let Averages { of_points, contrasts, variables, .. } = &averages;
    let weighted: Vec<f64> = of_points.iter().zip(&posterior.weights).map(|(a, w)| a * w).collect();
    let bits = contrasts.len();
    let mut terms: Vec<(Vec<usize>, f64)> =
        (0..bits).map(|i| (vec![i], dot(&weighted, &contrasts[i]))).collect();
    let mut pairs = Vec::new();
    for i in 0..bits {
        let with_i: Vec<f64> = weighted.iter().zip(&contrasts[i]).map(|(w, c)| w * c).collect();
        let others = (i + 1..bits).filter(|&j| variables[j] != variables[i]);
        pairs.extend(others.map(|j| (vec![i, j], dot(&with_i, &contrasts[j]))));
    }
    pairs.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then_with(|| a.0.cmp(&b.0)));
    pairs.truncate(MOST_PAIRS);
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    terms.extend(pairs);
    let deviations = deviations(posterior, &averages, &terms);
    let effect = |((bits, size), deviation): ((Vec<usize>, f64), f64)| {
        Effect::new(bits, unit * size, unit * deviation)
    };
    terms.into_iter().zip(deviations).map(effect).collect()
}

/// √(v(prior − cᵀK⁻¹c)) of each term, with its covariances c with the observations.
fn deviations(posterior: &Posterior, averages: &Averages, terms: &[(Vec<usize>, f64)]) -> Vec<f64> {
    let factored = &posterior.factored;
    let mut packed = factored.buffers.numbers(0);
    crate::kernel::pack(factored.inverse_factor(), factored.size, packed.vector());
    let mut deviations = Vec::with_capacity(terms.len());
    for chunk in terms.chunks(WIDTH) {
        let mut block = vec![[0.0; WIDTH]; factored.size];
        for (w, (bits, _)) in chunk.iter().enumerate() {
            for (p, average) in averages.of_points.iter().enumerate() {
                block[p][w] = average * bits.iter().map(|&i| averages.contrasts[i][p]).product::<f64>();
            }
        }
        let explained = factored.kernel.squared_norms(&packed, &block);
        for ((bits, _), explained) in chunk.iter().zip(explained) {
            let prior = averages.of_all * bits.iter().map(|&i| averages.own[i]).product::<f64>();
            deviations.push((posterior.amplitude * (prior - explained).max(0.0)).sqrt());
        }
    }
    deviations
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
