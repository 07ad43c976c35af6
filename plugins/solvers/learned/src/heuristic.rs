//! The heuristic: a linear function of features of a point, learned by ranking.
//!
//! H(x) = w·φ(x) is low where descents end low. With spins s = 2x − 1, φ has the n spins over √n, the products of pairs of
//! spins, hashed with signs to a number of buckets, over √(n(n−1)/2), the share of bits set, and the share of bits
//! that differ from the incumbent: parts of about the same size, whatever n is. Products of two bits are the most that
//! is in it, so for a given incumbent H is a quadratic function.

use plugin_api::rand::RngExt;
use plugin_api::{Quadratic, Rng};

/// w.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Heuristic {
    dimension: usize,
    weights: Vec<f64>,
}

/// The features of a point of which it is known how well a descent through it ended.
pub(crate) struct Example {
    pub(crate) features: Vec<f64>,
    /// What it can be compared with: values of the same problem, at the same end of the descents.
    pub(crate) among: (u64, End),
    pub(crate) value: f64,
}

/// Where on a descent a point was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    First,
    Last,
}

/// How w is learned.
pub(crate) struct Training {
    pub(crate) rate: f64,
    pub(crate) decay: f64,
    pub(crate) passes: usize,
}

impl Heuristic {
    /// Knows nothing.
    pub(crate) fn new(dimension: usize, buckets: usize) -> Self {
        Self { dimension, weights: vec![0.0; dimension + buckets + 2] }
    }

    /// The one with these weights; `None` where they are too few, or not finite.
    pub(crate) fn from_weights(dimension: usize, buckets: usize, weights: Vec<f64>) -> Option<Self> {
        let fits = weights.len() == dimension.checked_add(buckets)?.checked_add(2)?;
        (fits && weights.iter().all(|weight| weight.is_finite())).then_some(Self { dimension, weights })
    }

    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Whether it has learned anything: at first it is 0 everywhere.
    pub(crate) fn knows(&self) -> bool {
        self.weights.iter().any(|&weight| weight != 0.0)
    }

    fn buckets(&self) -> usize {
        self.weights.len() - self.dimension - 2
    }

    /// What the sums of spins and of their products are multiplied with.
    fn scales(&self) -> (f64, f64) {
        let n = self.dimension as f64;
        (1.0 / n.max(1.0).sqrt(), 1.0 / (0.5 * n * (n - 1.0)).max(1.0).sqrt())
    }

    /// φ of a point at this many bits from the incumbent, unless `more` disagrees before it is there.
    pub(crate) fn features_while(
        &self,
        bits: &[bool],
        distance: usize,
        more: &dyn Fn() -> bool,
    ) -> Option<Vec<f64>> {
        /// Rows of pairs between two looks.
        const OFTEN: usize = 64;
        let (n, buckets) = (self.dimension, self.buckets());
        let (one, two) = self.scales();
        let spin = |i: usize| if bits[i] { 1.0 } else { -1.0 };
        let mut features = vec![0.0; self.weights.len()];
        for i in 0..n {
            features[i] = one * spin(i);
            if i % OFTEN == OFTEN - 1 && !more() {
                return None;
            }
            for j in i + 1..n {
                let (bucket, sign) = hashed(i, j, buckets);
                features[n + bucket] += two * sign * spin(i) * spin(j);
            }
        }
        let share = |count: usize| count as f64 / n.max(1) as f64;
        features[n + buckets] = share(bits.iter().filter(|&&bit| bit).count());
        features[n + buckets + 1] = share(distance);
        Some(features)
    }

    /// H as a function of bits, but for a constant.
    pub(crate) fn function(&self, incumbent: Option<&[bool]>) -> Quadratic {
        let (n, buckets) = (self.dimension, self.buckets());
        let (one, two) = self.scales();
        let [ones, distance] = [0, 1].map(|k| self.weights[n + buckets + k] / n.max(1) as f64);
        let mut f = Quadratic::zero(n);
        for i in 0..n {
            let nearer = incumbent.map_or(0.0, |incumbent| if incumbent[i] { -distance } else { distance });
            f.add_linear(i, 2.0 * one * self.weights[i] + ones + nearer);
            for j in i + 1..n {
                // s_i s_j = 4 x_i x_j − 2 x_i − 2 x_j + 1
                let (bucket, sign) = hashed(i, j, buckets);
                let weight = two * sign * self.weights[n + bucket];
                f.add_pair(i, j, 4.0 * weight);
                f.add_linear(i, -2.0 * weight);
                f.add_linear(j, -2.0 * weight);
            }
        }
        f
    }

    /// Learns to rank: the logistic loss of the difference of H, over all pairs of examples that can be compared, by
    /// stochastic gradient descent in a random order, for as long as `more` agrees, which is asked at each pair.
    pub(crate) fn learn_while(
        &mut self,
        examples: &[Example],
        training: &Training,
        rng: &mut Rng,
        more: &dyn Fn() -> bool,
    ) {
        let mut pairs = Vec::new();
        for (i, one) in examples.iter().enumerate() {
            for (j, other) in examples[..i].iter().enumerate().filter(|(_, other)| other.among == one.among) {
                // Less than this is rounding.
                let least = 1e-12 * (1.0 + one.value.abs());
                if one.value < other.value - least {
                    pairs.push((i, j));
                } else if other.value < one.value - least {
                    pairs.push((j, i));
                }
            }
        }
        let Training { rate, decay, passes } = training;
        for _ in 0..*passes {
            for last in (1..pairs.len()).rev() {
                pairs.swap(last, rng.random_range(0..=last));
            }
            for &(better, worse) in &pairs {
                if !more() {
                    return;
                }
                let (better, worse) = (&examples[better].features, &examples[worse].features);
                let ahead: f64 =
                    self.weights.iter().zip(better.iter().zip(worse)).map(|(w, (b, o))| w * (o - b)).sum();
                // The loss is log(1 + exp(−ahead)).
                let step = rate / (1.0 + libm::exp(ahead));
                for (w, (b, o)) in self.weights.iter_mut().zip(better.iter().zip(worse)) {
                    *w += step * (o - b) - rate * decay * *w;
                }
            }
        }
    }
}

/// The bucket and the sign of a pair of bits: SplitMix64 of both.
fn hashed(i: usize, j: usize, buckets: usize) -> (usize, f64) {
    let mut z = (((i as u64) << 32) | j as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let bucket = (z >> 1) % buckets as u64;
    (bucket as usize, if z & 1 == 1 { 1.0 } else { -1.0 })
}

/// In how many bits two points differ.
pub(crate) fn distance(one: &[bool], other: &[bool]) -> usize {
    one.iter().zip(other).filter(|(a, b)| a != b).count()
}

#[cfg(test)]
mod tests {
    use plugin_api::random::normal;
    use plugin_api::{Layout, rng};

    use super::*;

    const TRAINING: Training = Training { rate: 0.05, decay: 1e-4, passes: 3 };

    fn product(one: &[f64], other: &[f64]) -> f64 {
        one.iter().zip(other).map(|(a, b)| a * b).sum()
    }

    fn all_features(heuristic: &Heuristic, bits: &[bool], distance: usize) -> Vec<f64> {
        heuristic.features_while(bits, distance, &|| true).expect("time")
    }

    #[test]
    fn the_function_is_the_product_of_weights_and_features() {
        let mut random = rng(1);
        for n in [1, 2, 7, 30] {
            let weights: Vec<f64> = (0..n + 18).map(|_| normal(&mut random)).collect();
            let heuristic = Heuristic::from_weights(n, 16, weights).unwrap();
            let mut point = || Layout::free(n).random(&mut random);
            let incumbent = point();
            let f = heuristic.function(Some(&incumbent));
            let h = |x: &[bool]| {
                product(heuristic.weights(), &all_features(&heuristic, x, distance(x, &incumbent)))
            };
            let origin = point();
            for _ in 0..20 {
                let x = point();
                let (expected, found) = (h(&x) - h(&origin), f.value(&x) - f.value(&origin));
                assert!((expected - found).abs() < 1e-12 * (1.0 + expected.abs()), "{found}, not {expected}");
            }
        }
    }

    #[test]
    fn parts_of_the_features_are_of_the_same_size_whatever_the_dimension() {
        for n in [10, 40, 160] {
            let heuristic = Heuristic::new(n, 256);
            let mut random = rng(2);
            let (mut bits, mut pairs) = (0.0, 0.0);
            for _ in 0..200 {
                let features = all_features(&heuristic, &Layout::free(n).random(&mut random), 0);
                bits += product(&features[..n], &features[..n]) / 200.0;
                pairs += product(&features[n..n + 256], &features[n..n + 256]) / 200.0;
            }
            assert!((bits - 1.0).abs() < 1e-9 && (0.7..1.5).contains(&pairs), "{n}: {bits}, {pairs}");
        }
    }

    #[test]
    fn pairs_fill_the_buckets_evenly_with_both_signs() {
        let (mut counts, mut signs) = ([0usize; 64], 0.0);
        for i in 0..200 {
            for j in i + 1..200 {
                let (bucket, sign) = hashed(i, j, 64);
                counts[bucket] += 1;
                signs += sign;
            }
        }
        // 19,900 pairs, 311 a bucket with a deviation of 18.
        assert!(counts.iter().all(|count| (230..400).contains(count)), "{counts:?}");
        assert!(signs.abs() < 500.0, "{signs}");
    }

    /// Examples of several problems whose values are a function of the point, shifted from problem to problem.
    fn examples(heuristic: &Heuristic, f: &Quadratic, seed: u64) -> Vec<Example> {
        let mut random = rng(seed);
        let mut example = |k: u64| {
            let x = Layout::free(heuristic.dimension()).random(&mut random);
            let value = f.value(&x) + 1000.0 * (k % 3) as f64;
            Example { features: all_features(heuristic, &x, 0), among: (k % 3, End::First), value }
        };
        (0..60).map(&mut example).collect()
    }

    #[test]
    fn learned_weights_rank_examples_that_were_not_seen() {
        for seed in 0..5 {
            let mut heuristic = Heuristic::new(20, 256);
            let f = plugin_api::testing::random_quadratic(&mut rng(seed), 20);
            for batch in 0..10 {
                let examples = examples(&heuristic, &f, 100 * seed + batch);
                heuristic.learn_while(&examples, &TRAINING, &mut rng(batch), &|| true);
            }
            let unseen = examples(&heuristic, &f, 100 * seed + 50);
            let (mut right, mut all) = (0, 0);
            for one in &unseen {
                for other in unseen.iter().filter(|other| other.among == one.among && other.value < one.value)
                {
                    let h = |example: &Example| product(heuristic.weights(), &example.features);
                    right += u32::from(h(other) < h(one));
                    all += 1;
                }
            }
            let share = f64::from(right) / f64::from(all);
            assert!(share > 0.75, "{share} of the pairs are in the right order");
        }
    }

    #[test]
    fn a_step_follows_the_gradient_of_the_loss() {
        // One pair, one pass: against finite differences of the loss at the weights before.
        let mut heuristic = Heuristic::new(3, 4);
        let mut random = rng(3);
        heuristic.weights.iter_mut().for_each(|w| *w = normal(&mut random));
        let before = heuristic.clone();
        let example = |bits: [bool; 3], value| Example {
            features: all_features(&before, &bits, 1),
            among: (0, End::First),
            value,
        };
        let (one, other) = (example([true, false, true], 2.0), example([false, false, true], -1.0));
        let loss = |w: &[f64]| {
            let ahead = product(w, &one.features) - product(w, &other.features);
            libm::log(1.0 + libm::exp(-ahead)) + 0.5 * 0.3 * product(w, w)
        };
        let expected: Vec<f64> = (0..before.weights.len())
            .map(|k| {
                let shifted = |by: f64| {
                    let mut w = before.weights.clone();
                    w[k] += by;
                    loss(&w)
                };
                before.weights[k] - 0.01 * (shifted(1e-6) - shifted(-1e-6)) / 2e-6
            })
            .collect();
        heuristic.learn_while(
            &[one, other],
            &Training { rate: 0.01, decay: 0.3, passes: 1 },
            &mut rng(1),
            &|| true,
        );
        for (found, expected) in heuristic.weights.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-8, "{found} instead of {expected}");
        }
    }

    #[test]
    fn equal_values_and_those_that_cannot_be_compared_teach_nothing() {
        let mut heuristic = Heuristic::new(2, 4);
        let example =
            |problem: u64, end, value| Example { features: vec![value; 8], among: (problem, end), value };
        let examples = [
            example(1, End::First, 5.0),
            example(2, End::First, 1.0),
            example(2, End::Last, 7.0),
            example(3, End::First, 3.0),
            example(3, End::First, 3.0),
        ];
        heuristic.learn_while(&examples, &TRAINING, &mut rng(1), &|| true);
        assert!(!heuristic.knows());
    }
}
