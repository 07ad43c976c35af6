//! Randomness that is the same on every machine.
//!
//! Randomness crosses the boundary as a seed. A plugin makes its generator from it with [`rng`], and draws
//! with [`rand`]'s methods (integers, booleans, uniform numbers) or with the functions here.
//! These take their logarithms from `libm`, because the system's differ in the last bit.

use std::sync::LazyLock;

use rand::{Rng as _, SeedableRng};

/// The generator that all plugins use: documented, portable, and small.
pub type Rng = rand_xoshiro::Xoshiro256PlusPlus;

/// A generator that starts at `seed`.
///
/// ```
/// use plugin_api::{random, rng};
///
/// // The same draws on every machine.
/// let draws = |seed| [random::normal(&mut rng(seed)), random::exponential(&mut rng(seed))];
/// assert_eq!(draws(7), draws(7));
/// assert_ne!(draws(7), draws(8));
/// ```
pub fn rng(seed: u64) -> Rng {
    Rng::seed_from_u64(seed)
}

/// A number uniform in (0, 1), never 0 or 1.
pub fn open_uniform(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

/// A draw from N(0, 1), by the ziggurat method (Marsaglia & Tsang 2000).
pub fn normal(rng: &mut Rng) -> f64 {
    let ziggurat = &*NORMAL;
    loop {
        let word = rng.next_u64();
        let layer = (word & 0xff) as usize;
        let x = (2.0 * unit(word) - 1.0) * ziggurat.edge[layer];
        if x.abs() < ziggurat.edge[layer + 1] {
            return x;
        }
        if layer == 0 {
            loop {
                let beyond = -libm::log(open_uniform(rng)) / NORMAL_TAIL;
                if -2.0 * libm::log(open_uniform(rng)) > beyond * beyond {
                    return (NORMAL_TAIL + beyond).copysign(x);
                }
            }
        }
        if ziggurat.below_density(layer, unit(rng.next_u64()), normal_density(x)) {
            return x;
        }
    }
}

/// A draw from the exponential distribution of mean 1, by the ziggurat method.
pub fn exponential(rng: &mut Rng) -> f64 {
    let ziggurat = &*EXPONENTIAL;
    loop {
        let word = rng.next_u64();
        let layer = (word & 0xff) as usize;
        let x = unit(word) * ziggurat.edge[layer];
        // The case x = 0, of probability 2⁻⁵³, is drawn again: 1/x is then always finite.
        if x < ziggurat.edge[layer + 1] && x > 0.0 {
            return x;
        }
        if layer == 0 {
            return EXPONENTIAL_TAIL - libm::log(open_uniform(rng));
        }
        if x > 0.0 && ziggurat.below_density(layer, unit(rng.next_u64()), libm::exp(-x)) {
            return x;
        }
    }
}

/// A draw from the gamma distribution with this shape and scale 1 (Marsaglia & Tsang 2000).
///
/// # Panics
/// Where the shape is not positive and finite.
pub fn gamma(rng: &mut Rng, shape: f64) -> f64 {
    assert!(shape > 0.0 && shape.is_finite(), "a gamma distribution of shape {shape}");
    if shape < 1.0 {
        let boost = libm::pow(open_uniform(rng), 1.0 / shape);
        return gamma(rng, shape + 1.0) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        if libm::log(open_uniform(rng)) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

/// The upper 53 bits as a number in [0, 1); the lower 8 stay free to choose a layer.
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

/// 256 layers of equal area under a decreasing density.
struct Ziggurat {
    /// Right edge of each layer; the first stands for the base with the tail, the last is 0.
    edge: [f64; 257],
    /// Density at each edge.
    density: [f64; 257],
}

// Tail starts and layer areas for 256 layers, from Marsaglia & Tsang (2000).
const NORMAL_TAIL: f64 = 3.654_152_885_361_009;
const NORMAL_AREA: f64 = 0.004_928_673_233_992_336;
const EXPONENTIAL_TAIL: f64 = 7.697_117_470_131_05;
const EXPONENTIAL_AREA: f64 = 0.003_949_659_822_581_572;

static NORMAL: LazyLock<Ziggurat> = LazyLock::new(|| {
    Ziggurat::new(NORMAL_TAIL, NORMAL_AREA, normal_density, |y| (-2.0 * libm::log(y)).sqrt())
});
static EXPONENTIAL: LazyLock<Ziggurat> =
    LazyLock::new(|| Ziggurat::new(EXPONENTIAL_TAIL, EXPONENTIAL_AREA, |x| libm::exp(-x), |y| -libm::log(y)));

fn normal_density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x)
}

impl Ziggurat {
    fn new(tail: f64, area: f64, density: fn(f64) -> f64, inverse: fn(f64) -> f64) -> Self {
        let mut edge = [0.0; 257];
        edge[0] = area / density(tail);
        edge[1] = tail;
        for i in 2..256 {
            edge[i] = inverse(area / edge[i - 1] + density(edge[i - 1]));
        }
        Self { edge, density: edge.map(density) }
    }

    /// Whether a point at height `u` (0 to 1) of the layer's wedge is under the density.
    fn below_density(&self, layer: usize, u: f64, density: f64) -> bool {
        let (low, high) = (self.density[layer], self.density[layer + 1]);
        low + (high - low) * u < density
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 400_000;

    /// The largest distance between the draws' distribution and `cdf`, in units of its own spread.
    fn kolmogorov(mut draw: impl FnMut(&mut Rng) -> f64, cdf: impl Fn(f64) -> f64) -> f64 {
        let mut rng = rng(7);
        let mut draws: Vec<f64> = (0..DRAWS).map(|_| draw(&mut rng)).collect();
        draws.sort_by(f64::total_cmp);
        let distance = |(i, &x): (usize, &f64)| {
            let (below, above) = (i as f64 / DRAWS as f64, (i + 1) as f64 / DRAWS as f64);
            (cdf(x) - below).abs().max((above - cdf(x)).abs())
        };
        draws.iter().enumerate().map(distance).fold(0.0, f64::max) * (DRAWS as f64).sqrt()
    }

    // 1.95 is the 0.999 quantile of the Kolmogorov distribution.
    #[test]
    fn normal_draws_are_normal() {
        let cdf = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        assert!(kolmogorov(normal, cdf) < 1.95);
    }

    #[test]
    fn exponential_draws_are_exponential() {
        assert!(kolmogorov(exponential, |x| -libm::expm1(-x)) < 1.95);
    }

    #[test]
    fn gamma_draws_are_gamma() {
        // Shape 2: 1 − e⁻ˣ(1 + x). Shape ½: erf(√x).
        assert!(kolmogorov(|r| gamma(r, 2.0), |x| 1.0 - libm::exp(-x) * (1.0 + x)) < 1.95);
        assert!(kolmogorov(|r| gamma(r, 0.5), |x| libm::erf(x.sqrt())) < 1.95);
    }

    #[test]
    fn tails_have_the_right_weight() {
        let mut rng = rng(11);
        let draws = 4_000_000;
        let beyond = (0..draws).filter(|_| normal(&mut rng).abs() > 3.7).count() as f64;
        let expected = draws as f64 * libm::erfc(3.7 / std::f64::consts::SQRT_2);
        assert!((beyond - expected).abs() < 4.0 * expected.sqrt(), "{beyond} for {expected}");
    }

    #[test]
    fn the_same_seed_gives_the_same_draws_on_every_machine() {
        let mut rng = rng(42);
        let draws = [normal(&mut rng), exponential(&mut rng), gamma(&mut rng, 3.5), open_uniform(&mut rng)];
        assert_eq!(draws.map(f64::to_bits), EXPECTED.map(f64::to_bits), "{draws:?}");
    }
    const EXPECTED: [f64; 4] =
        [0.834_397_546_843_479_3, 0.467_271_666_712_587_96, 6.390_363_738_374_81, 0.793_504_489_691_729];
}
