//! The parametrised submodular relaxation of a quadratic function, and its minimum by a cut.
//!
//! A positive pair is bounded from below by a linear function with a parameter λᵢⱼ in [0, 1],
//!
//! ```text
//! aᵢⱼ xᵢ xⱼ ≥ aᵢⱼ λᵢⱼ (xᵢ + xⱼ − 1),
//! ```
//!
//! and a negative one is the sum of two linear terms and two arcs of a network,
//!
//! ```text
//! aᵢⱼ xᵢ xⱼ = aᵢⱼ/2 (xᵢ + xⱼ) − aᵢⱼ/2 (1 − xᵢ) xⱼ − aᵢⱼ/2 (1 − xⱼ) xᵢ.
//! ```
//!
//! So the minimum of the whole is a minimum cut, and a lower bound on the function's own minimum.

use plugin_api::{Bits, Quadratic};

use crate::max_flow::Network;

/// A quadratic function with its positive pairs relaxed.
pub struct Relaxation<'f> {
    f: &'f Quadratic,
    /// λ, one for each pair of `f` in the same order; without effect where the pair is not positive.
    parameters: Vec<f64>,
    /// The constant of `f`, and the linear terms of `f` and of its negative pairs.
    constant: f64,
    linear: Vec<f64>,
    /// `linear` and the linear terms of the positive pairs.
    terminals: Vec<f64>,
    /// Σ aᵢⱼ λᵢⱼ over the positive pairs.
    relaxed: f64,
    network: Network,
    /// The most that rounding can add to a proven bound.
    rounding: f64,
}

/// A point where the relaxed function is least.
pub struct Cut {
    pub bits: Bits,
    pub relaxed_minimum: f64,
}

impl<'f> Relaxation<'f> {
    /// The relaxation of `f` with these parameters, one in [0, 1] for each pair.
    pub fn new(f: &'f Quadratic, parameters: Vec<f64>) -> Self {
        assert_eq!(parameters.len(), f.pairs().len(), "parameters for another number of pairs");
        let n = f.dimension();
        let capacities: Vec<f64> = f.symmetric().into_iter().map(half_capacity).collect();
        let mut linear = f.linear().to_vec();
        for row in capacities.chunks(n.max(1)) {
            linear.iter_mut().zip(row).for_each(|(term, capacity)| *term -= capacity);
        }
        let network = Network::new(n, capacities);
        let (constant, rounding) = (f.constant(), rounding(f));
        Self { f, parameters, terminals: linear.clone(), constant, linear, relaxed: 0.0, network, rounding }
    }

    /// Adds a linear function: from here on, all is about the sum of it and of what there was. `rounding` is the most by which
    /// its values may be wrong.
    pub fn add(&mut self, constant: f64, linear: &[f64], rounding: f64) {
        self.constant += constant;
        self.linear.iter_mut().zip(linear).for_each(|(term, added)| *term += added);
        let size = constant.abs() + linear.iter().map(|added| added.abs()).sum::<f64>();
        // Its coefficients are rounded when they are added, and then take part in the bound like those of `f`.
        let now = self.constant.abs() + self.linear.iter().map(|term| term.abs()).sum::<f64>();
        self.rounding += rounding + rounding_of(self.linear.len(), size) + f64::EPSILON * now;
    }

    /// Minimizes the relaxed function, starting from the flow of the cut before.
    pub fn cut(&mut self) -> Cut {
        self.cut_while(&|| true).expect("nothing ends it early")
    }

    /// [`cut`](Self::cut), unless `more` disagrees before it is done, which is asked now and then. Any flow proves a
    /// [bound](Self::proven_bound), that of half a cut too.
    pub fn cut_while(&mut self, more: &dyn Fn() -> bool) -> Option<Cut> {
        self.update_terminals();
        self.network.set_terminals(&self.terminals);
        if !self.network.maximize_flow_while(more) {
            return None;
        }
        let relaxed_minimum = self.constant - self.relaxed + self.network.minimum();
        let side = self.network.sink_side_while(more)?;
        Some(Cut { bits: side.into(), relaxed_minimum })
    }

    /// Moves the parameters by `step` along the subgradient of the relaxed minimum at `bits`,
    /// aᵢⱼ (xᵢ + xⱼ − 1), and back into [0, 1]. Answers whether any of them changed.
    ///
    /// Where none does, every positive pair is exact at `bits` (or too small to count), and these minimize `f`
    /// as they do the relaxed function.
    pub fn ascend(&mut self, bits: &Bits, step: f64) -> bool {
        let x: Vec<f64> = bits.iter().map(|&bit| f64::from(u8::from(bit))).collect();
        let mut changed = false;
        let mut rest = &mut self.parameters[..];
        for i in 0..x.len() {
            let (row, below) = rest.split_at_mut(x.len() - i - 1);
            rest = below;
            for ((parameter, &a), &other) in row.iter_mut().zip(self.f.row(i)).zip(&x[i + 1..]) {
                let moved = *parameter + step * positive(a) * (x[i] + other - 1.0);
                let moved = moved.clamp(0.0, 1.0);
                changed |= moved != *parameter;
                *parameter = moved;
            }
        }
        changed
    }

    /// A number that no value of `f` is below: the last relaxed minimum, less what rounding may have added.
    ///
    /// Any parameters in [0, 1] and any flow within the capacities prove a bound. It is added up from those
    /// alone, so that errors made on the way to them may lower it, but can't make it wrong.
    pub fn proven_bound(&self) -> f64 {
        let n = self.terminals.len();
        let mut excess = self.terminals.clone();
        for i in 0..n {
            // Within the capacities, whatever rounding did: a residual is never below 0.
            let residuals = &self.network.residuals()[i * n + i + 1..(i + 1) * n];
            let out = add_to_each(&mut excess[i + 1..], self.f.row(i), residuals, |a, residual| {
                let capacity = half_capacity(a);
                let flow = capacity - residual;
                if flow < -capacity { -capacity } else { flow }
            });
            excess[i] -= out;
        }
        let unmet: f64 = excess.iter().map(|excess| excess.min(0.0)).sum();
        self.constant - self.relaxed + unmet - self.rounding
    }

    fn update_terminals(&mut self) {
        let n = self.linear.len();
        self.terminals.copy_from_slice(&self.linear);
        self.relaxed = 0.0;
        let mut start = 0;
        for i in 0..n {
            let parameters = &self.parameters[start..start + n - i - 1];
            start += parameters.len();
            let added =
                add_to_each(&mut self.terminals[i + 1..], self.f.row(i), parameters, |a, p| positive(a) * p);
            self.terminals[i] += added;
            self.relaxed += added;
        }
    }
}

/// The capacity of each of the two arcs that stand for a negative pair; none for another.
fn half_capacity(a: f64) -> f64 {
    if a < 0.0 { -0.5 * a } else { 0.0 }
}

fn positive(a: f64) -> f64 {
    if a > 0.0 { a } else { 0.0 }
}

/// Adds to each term what `added` makes of the numbers beside it, and answers the sum of all that.
///
/// The sum is four sums side by side, because a single one would wait for itself at every addition.
fn add_to_each(terms: &mut [f64], a: &[f64], b: &[f64], added: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; 4];
    let (terms, last_terms) = terms.as_chunks_mut::<4>();
    let (a, last_a) = a.as_chunks::<4>();
    let (b, last_b) = b.as_chunks::<4>();
    for ((terms, a), b) in terms.iter_mut().zip(a).zip(b) {
        for lane in 0..4 {
            let added = added(a[lane], b[lane]);
            terms[lane] += added;
            sums[lane] += added;
        }
    }
    for (((sum, term), &a), &b) in sums.iter_mut().zip(last_terms).zip(last_a).zip(last_b) {
        let added = added(a, b);
        *term += added;
        *sum += added;
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The sum of the absolute values of all coefficients.
pub fn magnitude(f: &Quadratic) -> f64 {
    let mut pairs = [0.0; 4];
    for chunk in f.pairs().chunks(4) {
        pairs.iter_mut().zip(chunk).for_each(|(sum, a)| *sum += a.abs());
    }
    let others = f.linear().iter().map(|b| b.abs()).sum::<f64>() + f.constant().abs();
    pairs.iter().sum::<f64>() + others
}

/// The most that rounding can add to a proven bound.
///
/// The bound is a sum in which a coefficient occurs at most three times (a positive pair: in two terminals and
/// in `relaxed`), and takes part in at most 5n + 10 additions. An addition is wrong by at most ε/2 of its
/// result. Products are not counted: a rounded a⁺λ is still between 0 and a⁺, which is all the proof needs.
fn rounding(f: &Quadratic) -> f64 {
    rounding_of(f.dimension(), magnitude(f))
}

fn rounding_of(n: usize, magnitude: f64) -> f64 {
    (8 * n + 16) as f64 * f64::EPSILON * magnitude
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::rand::RngExt;
    use plugin_api::testing::{minimum, random_quadratic};
    use plugin_api::{Layout, Problem, rng};

    fn parameters(f: &Quadratic, seed: u64) -> Vec<f64> {
        let mut rng = rng(seed);
        f.pairs().iter().map(|_| rng.random()).collect()
    }

    /// The relaxed function, by its definition.
    fn relaxed_value(f: &Quadratic, parameters: &[f64], bits: &[bool]) -> f64 {
        let x: Vec<f64> = bits.iter().map(|&bit| f64::from(u8::from(bit))).collect();
        let pairs = (0..x.len()).flat_map(|i| (i + 1..x.len()).map(move |j| (i, j)));
        let linear: f64 = f.linear().iter().zip(&x).map(|(b, x)| b * x).sum();
        let pair = |((i, j), parameter): ((usize, usize), &f64)| match f.pair(i, j) {
            a if a > 0.0 => a * parameter * (x[i] + x[j] - 1.0),
            a => a * x[i] * x[j],
        };
        f.constant() + linear + pairs.zip(parameters).map(pair).sum::<f64>()
    }

    fn all_bits(n: usize) -> impl Iterator<Item = Vec<bool>> {
        (0..1u32 << n).map(move |mask| (0..n).map(|i| mask >> i & 1 == 1).collect())
    }

    #[test]
    fn a_cut_minimizes_the_relaxed_function() {
        for (seed, n) in (0..40).zip((0..=9).cycle()) {
            let f = random_quadratic(&mut rng(seed), n);
            let parameters = parameters(&f, seed + 100);
            let cut = Relaxation::new(&f, parameters.clone()).cut();
            let least =
                all_bits(n).map(|bits| relaxed_value(&f, &parameters, &bits)).fold(f64::INFINITY, f64::min);
            assert!((cut.relaxed_minimum - least).abs() < 1e-12, "{} is not {least}", cut.relaxed_minimum);
            let value = relaxed_value(&f, &parameters, &cut.bits);
            assert!((value - least).abs() < 1e-12, "{} has {value}, not {least}", cut.bits);
        }
    }

    #[test]
    fn a_cut_is_exact_on_submodular_functions() {
        for seed in 0..20 {
            let f = random_quadratic(&mut rng(seed), 9);
            let negative = f.pairs().iter().map(|a| -a.abs()).collect();
            let f = Quadratic::new(f.constant(), f.linear().to_vec(), negative).unwrap();
            let cut = Relaxation::new(&f, parameters(&f, seed)).cut();
            let exact = minimum(&Problem::new(f.clone()));
            assert!((f.value(&cut.bits) - exact).abs() < 1e-12);
            assert!((cut.relaxed_minimum - exact).abs() < 1e-12);
        }
    }

    #[test]
    fn cuts_that_follow_each_other_equal_cuts_from_scratch() {
        let f = random_quadratic(&mut rng(3), 70);
        let mut relaxation = Relaxation::new(&f, parameters(&f, 4));
        for step in [0.1, 1.0, 0.01, 3.0, 0.5] {
            let kept = relaxation.cut();
            let fresh = Relaxation::new(&f, relaxation.parameters.clone()).cut();
            assert_eq!(kept.bits, fresh.bits);
            assert!((kept.relaxed_minimum - fresh.relaxed_minimum).abs() < 1e-11);
            relaxation.ascend(&kept.bits, step);
        }
    }

    #[test]
    fn a_proven_bound_is_just_below_the_relaxed_minimum() {
        for (seed, n) in (0..20).zip([1, 5, 64, 90].into_iter().cycle()) {
            let f = random_quadratic(&mut rng(seed), n);
            let mut relaxation = Relaxation::new(&f, parameters(&f, seed));
            let cut = relaxation.cut();
            let below = cut.relaxed_minimum - relaxation.proven_bound();
            assert!(below > 0.0 && below < 2.0 * rounding(&f), "{below} at {n} bits");
        }
    }

    #[test]
    fn a_cut_that_is_cut_short_proves_a_bound_and_can_be_gone_on_with() {
        for seed in 0..20 {
            let f = random_quadratic(&mut rng(seed), 12);
            let exact = minimum(&Problem::new(f.clone()));
            let whole = Relaxation::new(&f, parameters(&f, seed)).cut();
            for looks in 0..8_u64 {
                let left = std::cell::Cell::new(looks);
                let mut relaxation = Relaxation::new(&f, parameters(&f, seed));
                let early = relaxation.cut_while(&|| left.replace(left.get().saturating_sub(1)) > 0);
                assert!(looks > 0 || early.is_none(), "a deadline that has passed");
                assert!(relaxation.proven_bound() <= exact);
                let cut = relaxation.cut();
                assert_eq!(cut.bits, whole.bits);
            }
        }
    }

    #[test]
    fn a_linear_function_can_be_added_again_and_again() {
        for seed in 0..20 {
            let f = random_quadratic(&mut rng(seed), 8);
            let mut sum = f.clone();
            let mut relaxation = Relaxation::new(&f, parameters(&f, seed));
            for round in 0..5 {
                let more = random_quadratic(&mut rng(100 * seed + round), 8);
                sum.add_constant(more.constant());
                (0..8).for_each(|i| sum.add_linear(i, more.linear()[i]));
                relaxation.add(more.constant(), more.linear(), 0.0);
                let (cut, fresh) = (relaxation.cut(), Relaxation::new(&sum, parameters(&f, seed)).cut());
                assert!((cut.relaxed_minimum - fresh.relaxed_minimum).abs() < 1e-12);
                assert!(relaxation.proven_bound() <= minimum(&Problem::new(sum.clone())));
                assert!((cut.relaxed_minimum - relaxation.proven_bound()) < 1e-10);
            }
        }
    }

    #[test]
    fn a_bound_is_proven_before_the_flow_is_maximal() {
        // Any flow proves a bound; here there is none yet.
        for seed in 0..20 {
            let f = random_quadratic(&mut rng(seed), 8);
            let mut relaxation = Relaxation::new(&f, parameters(&f, seed));
            relaxation.update_terminals();
            let early = relaxation.proven_bound();
            relaxation.cut();
            assert!(early <= relaxation.proven_bound());
            assert!(relaxation.proven_bound() <= minimum(&Problem::new(f.clone())));
        }
    }

    #[test]
    fn the_ascent_follows_the_subgradient_and_stays_between_0_and_1() {
        let f = Quadratic::new(0.0, vec![0.0; 4], vec![0.5, 0.25, -8.0, 4.0, 0.0, 0.125]).unwrap();
        let mut relaxation = Relaxation::new(&f, vec![0.5; 6]);
        // The pairs are 01, 02, 03, 12, 13, 23.
        assert!(relaxation.ascend(&"1100".parse().unwrap(), 0.5));
        assert_eq!(relaxation.parameters, [0.75, 0.5, 0.5, 0.5, 0.5, 0.4375]);
        assert!(relaxation.ascend(&"0110".parse().unwrap(), 0.5));
        assert_eq!(relaxation.parameters, [0.75, 0.5, 0.5, 1.0, 0.5, 0.4375]);
        assert!(!relaxation.ascend(&"0110".parse().unwrap(), 0.5));
    }

    #[test]
    fn parameters_that_stay_prove_a_minimum() {
        let mut proven = 0;
        for seed in 0..200 {
            let f = random_quadratic(&mut rng(seed), 5);
            let mut relaxation = Relaxation::new(&f, vec![0.5; f.pairs().len()]);
            for _ in 0..20 {
                let cut = relaxation.cut();
                if !relaxation.ascend(&cut.bits, 10.0) {
                    proven += 1;
                    assert!((f.value(&cut.bits) - minimum(&Problem::new(f.clone()))).abs() < 1e-12);
                    break;
                }
            }
        }
        assert!(proven > 20, "only {proven} of 200");
    }

    #[test]
    fn no_bits_are_a_constant() {
        let mut f = Quadratic::zero(0);
        f.add_constant(2.0);
        let cut = Relaxation::new(&f, vec![]).cut();
        assert_eq!((cut.bits, cut.relaxed_minimum), (Bits::zeros(0), 2.0));
    }

    #[test]
    fn the_magnitude_counts_every_coefficient() {
        let f =
            Quadratic::new(-1.0, vec![2.0, -3.0, 4.0, 5.0], vec![-6.0, 7.0, 8.0, 9.0, -10.0, 11.0]).unwrap();
        assert_eq!(magnitude(&f), 66.0);
        assert!(Layout::free(4).admits(&Relaxation::new(&f, vec![0.5; 6]).cut().bits));
    }
}
