//! Minimises a smooth function within bounds: L-BFGS (Nocedal 1980) with projected steps.

use std::collections::VecDeque;

/// Steps that the approximation of the curvature remembers.
const MEMORY: usize = 8;
/// Halvings of a step before the search ends.
const HALVINGS: usize = 12;
/// What a step has to gain, as a part of what its slope promises (Armijo).
const SUFFICIENT: f64 = 1e-4;

/// A function with a gradient. The value comes first: a step that is not taken needs no gradient.
pub(crate) trait Smooth {
    /// A place at which the value is known.
    type Place;

    /// The place at `x`; `None` where the function has no value.
    fn at(&self, x: &[f64]) -> Option<Self::Place>;

    fn value(&self, place: &Self::Place) -> f64;

    fn gradient(&self, place: &Self::Place) -> Vec<f64>;
}

/// How long to search.
pub(crate) struct Limits<'b> {
    /// The lowest and the highest value of each number.
    pub(crate) bounds: &'b [(f64, f64)],
    pub(crate) steps: usize,
    /// A step that gains less is the last one.
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
        let mut direction = descent(&gradient, &memory, &free);
        let mut slope = dot(&direction, &gradient);
        if slope >= 0.0 || !slope.is_finite() {
            memory.clear();
            direction = descent(&gradient, &memory, &free);
            slope = dot(&direction, &gradient);
        }
        if slope > -1e-12 {
            break;
        }
        // Without a memory the length means nothing: a step of at most 1 in any number.
        let longest = direction.iter().fold(0.0_f64, |longest, d| longest.max(d.abs()));
        let mut length = if memory.is_empty() { 1.0 / longest.max(1.0) } else { (3.0 / longest).min(1.0) };
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
        let gained = value - f.value(&next);
        (x, place, gradient) = (there, next, new_gradient);
        if gained < limits.least_gain {
            break;
        }
    }
    place
}

/// −H·gradient on the free numbers, by the two loops of L-BFGS.
fn descent(gradient: &[f64], memory: &VecDeque<(Vec<f64>, Vec<f64>)>, free: &[bool]) -> Vec<f64> {
    let mask = |v: &mut [f64]| v.iter_mut().zip(free).filter(|(_, free)| !**free).for_each(|(v, _)| *v = 0.0);
    let mut d: Vec<f64> = gradient.iter().map(|g| -g).collect();
    mask(&mut d);
    let mut factors = Vec::with_capacity(memory.len());
    for (s, y) in memory.iter().rev() {
        let factor = dot(s, &d) / dot(s, y);
        d.iter_mut().zip(y).for_each(|(d, y)| *d -= factor * y);
        factors.push(factor);
    }
    if let Some((s, y)) = memory.back() {
        let scale = dot(s, y) / dot(y, y);
        d.iter_mut().for_each(|d| *d *= scale);
    }
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
