//! Minimises a smooth function within bounds: L-BFGS (Nocedal 1980) with projected steps.

use std::collections::VecDeque;

/// Steps that the approximation of the curvature remembers.
const MEMORY: usize = 8;
/// Halvings of a step before the search ends.
const HALVINGS: usize = 12;
/// What a step has to gain, as a part of what its slope promises (Armijo).
const SUFFICIENT: f64 = 1e-4;
/// How far a step goes in any number.
const LONGEST: f64 = 3.0;

/// A function with a gradient. The value comes first: a step that is not taken needs no gradient.
pub(crate) trait Smooth {
    /// A place at which the value is known.
    type Place;

    /// The place at `x`; `None` where the function has no value.
    fn at(&self, x: &[f64]) -> Option<Self::Place>;

    fn value(&self, place: &Self::Place) -> f64;

    fn gradient(&self, place: &Self::Place) -> Vec<f64>;

    /// Multiplies a vector by a guess of the inverse of the Hessian, before any step has told about it.
    fn precondition(&self, vector: &mut [f64]);
}

/// How long to search.
pub(crate) struct Limits<'b> {
    /// The lowest and the highest value of each number.
    pub(crate) bounds: &'b [(f64, f64)],
    pub(crate) steps: usize,
    /// Where the curvature known so far promises less than this, the search ends.
    pub(crate) least_gain: f64,
}

/// A place that is no worse than the one at `x`.
pub(crate) fn minimise<F: Smooth>(
    f: &F,
    mut x: Vec<f64>,
    mut place: F::Place,
    limits: &Limits<'_>,
) -> F::Place {
    let mut gradient = f.gradient(&place);
    let mut memory: VecDeque<(Vec<f64>, Vec<f64>)> = VecDeque::with_capacity(MEMORY);
    for _ in 0..limits.steps {
        // Numbers at a bound, beyond which the function falls, stay there.
        let free: Vec<bool> = (x.iter().zip(&gradient).zip(limits.bounds))
            .map(|((&x, &g), &(low, high))| !(x <= low && g > 0.0 || x >= high && g < 0.0))
            .collect();
        let mut direction = descent(f, &gradient, &memory, &free);
        let mut slope = dot(&direction, &gradient);
        if slope >= 0.0 || !slope.is_finite() {
            memory.clear();
            direction = descent(f, &gradient, &memory, &free);
            slope = dot(&direction, &gradient);
        }
        // A Newton step gains half of what the slope promises.
        if -0.5 * slope <= limits.least_gain || slope.is_nan() {
            break;
        }
        let longest = direction.iter().fold(0.0_f64, |longest, d| longest.max(d.abs()));
        let mut length = (LONGEST / longest).min(1.0);
        let value = f.value(&place);
        let mut taken = None;
        for _ in 0..HALVINGS {
            let there: Vec<f64> = (x.iter().zip(&direction).zip(limits.bounds))
                .map(|((&x, &d), &(low, high))| (x + length * d).clamp(low, high))
                .collect();
            let promised: f64 = (there.iter().zip(&x)).zip(&gradient).map(|((t, x), g)| (t - x) * g).sum();
            if let Some(place) = f.at(&there)
                && f.value(&place) <= value + SUFFICIENT * promised.min(0.0)
            {
                taken = Some((there, place));
                break;
            }
            length *= 0.5;
        }
        let Some((there, next)) = taken else { break };
        let new_gradient = f.gradient(&next);
        let step: Vec<f64> = there.iter().zip(&x).map(|(a, b)| a - b).collect();
        let change: Vec<f64> = new_gradient.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        if dot(&step, &change) > 1e-10 * dot(&change, &change) {
            if memory.len() == MEMORY {
                memory.pop_front();
            }
            memory.push_back((step, change));
        }
        (x, place, gradient) = (there, next, new_gradient);
    }
    place
}

/// −H·gradient on the free numbers, by the two loops of L-BFGS around the guess.
fn descent<F: Smooth>(
    f: &F,
    gradient: &[f64],
    memory: &VecDeque<(Vec<f64>, Vec<f64>)>,
    free: &[bool],
) -> Vec<f64> {
    let mask = |v: &mut [f64]| v.iter_mut().zip(free).filter(|(_, free)| !**free).for_each(|(v, _)| *v = 0.0);
    let mut d: Vec<f64> = gradient.iter().map(|g| -g).collect();
    mask(&mut d);
    let mut factors = Vec::with_capacity(memory.len());
    for (s, y) in memory.iter().rev() {
        let factor = dot(s, &d) / dot(s, y);
        d.iter_mut().zip(y).for_each(|(d, y)| *d -= factor * y);
        factors.push(factor);
    }
    f.precondition(&mut d);
    for ((s, y), factor) in memory.iter().zip(factors.iter().rev()) {
        let correction = factor - dot(y, &d) / dot(s, y);
        d.iter_mut().zip(s).for_each(|(d, s)| *d += correction * s);
    }
    mask(&mut d);
    d
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley; the place is the point.
    struct Valley;

    impl Smooth for Valley {
        type Place = Vec<f64>;
        fn at(&self, x: &[f64]) -> Option<Vec<f64>> {
            Some(x.to_vec())
        }
        fn value(&self, x: &Vec<f64>) -> f64 {
            (1.0 - x[0]) * (1.0 - x[0]) + 100.0 * (x[1] - x[0] * x[0]) * (x[1] - x[0] * x[0])
        }
        fn gradient(&self, x: &Vec<f64>) -> Vec<f64> {
            let bend = x[1] - x[0] * x[0];
            vec![-2.0 * (1.0 - x[0]) - 400.0 * x[0] * bend, 200.0 * bend]
        }
        fn precondition(&self, vector: &mut [f64]) {
            vector.iter_mut().zip([1e-3, 5e-3]).for_each(|(v, scale)| *v *= scale);
        }
    }

    fn lowest(bounds: &[(f64, f64)]) -> Vec<f64> {
        let start = vec![-1.2, 1.0];
        minimise(&Valley, start.clone(), start, &Limits { bounds, steps: 200, least_gain: 0.0 })
    }

    #[test]
    fn the_end_of_a_valley_is_found() {
        let x = lowest(&[(-5.0, 5.0); 2]);
        assert!((x[0] - 1.0).abs() < 1e-5 && (x[1] - 1.0).abs() < 1e-5, "{x:?}");
    }

    #[test]
    fn bounds_are_kept_and_reached() {
        // With x₀ ≤ ½ the minimum is at x₀ = ½, x₁ = ¼.
        let x = lowest(&[(-5.0, 0.5), (-5.0, 5.0)]);
        assert!(x[0] == 0.5 && (x[1] - 0.25).abs() < 1e-5, "{x:?}");
    }
}
