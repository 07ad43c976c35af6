//! Every point of the sweep: the manifest with one value of each axis in it.

use serde_yaml::Value;

use super::error::PlanError;
use crate::manifest::keys::sweep::Axis;
use crate::manifest::yaml::{self, KeyPath};
use crate::manifest::{ManifestError, Mistake};

/// No experiment has more trials than this.
pub(super) const MOST_TRIALS: usize = 100_000;

/// One point of the sweep: a value for each axis, and the manifest with these values in it.
pub(super) struct SweepPoint {
    /// Which value of each axis.
    pub choice: Vec<usize>,
    /// The changed tree.
    pub tree: Value,
}

/// Every combination of the axes' values, the last axis fastest; one point where there is no axis.
///
/// An axis that cannot be set is a mistake; the points are made without it, so that others show as well.
pub(super) fn sweep_points<'a>(
    tree: &Value,
    axes: &'a [Axis],
    mistakes: &mut Vec<Mistake>,
) -> SweepPoints<'a> {
    let sweep = KeyPath::root().join("sweep");
    let count = axes.iter().try_fold(1_usize, |count, axis| count.checked_mul(axis.values.len()));
    let Some(count) = count.filter(|&count| count <= MOST_TRIALS) else {
        let words = count.map_or("too many to count".to_owned(), |count| count.to_string());
        mistakes.push(Mistake::at(&sweep, PlanError::TooMany { count: words, most: MOST_TRIALS }));
        return SweepPoints::none();
    };
    // At each point the sweep is one value a key: all of them in every tree would be too much.
    let mut base = tree.clone();
    if let Value::Mapping(keys) = &mut base {
        keys.remove("sweep");
    }
    let mut first_point = base.clone();
    for Axis { path, values } in axes {
        if let Some(first) = values.first()
            && let Err(blocked) = yaml::set(&mut first_point, path, first.clone())
        {
            let error = ManifestError::CannotSet { path: path.to_string(), blocked: blocked.to_string() };
            mistakes.push(Mistake::at_key(&sweep.join(path), error));
        }
    }
    SweepPoints { base, axes, next: 0, count }
}

/// The points, made one after the other.
pub(super) struct SweepPoints<'a> {
    base: Value,
    axes: &'a [Axis],
    next: usize,
    count: usize,
}

impl SweepPoints<'_> {
    fn none() -> Self {
        Self { base: Value::Null, axes: &[], next: 0, count: 0 }
    }

    /// How many there are.
    pub(super) fn total(&self) -> usize {
        self.count
    }
}

impl Iterator for SweepPoints<'_> {
    type Item = SweepPoint;

    fn next(&mut self) -> Option<SweepPoint> {
        if self.next == self.count {
            return None;
        }
        let mut rest = self.next;
        self.next += 1;
        let mut choice = vec![0; self.axes.len()];
        for (chosen, axis) in choice.iter_mut().zip(self.axes).rev() {
            *chosen = rest % axis.values.len();
            rest /= axis.values.len();
        }
        let mut tree = self.base.clone();
        for (Axis { path, values }, &chosen) in self.axes.iter().zip(&choice) {
            // An axis that cannot be set is a mistake already.
            let _ = yaml::set(&mut tree, path, values[chosen].clone());
        }
        Some(SweepPoint { choice, tree })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(mistakes: &[Mistake]) -> Vec<&str> {
        mistakes.iter().map(|mistake| mistake.what.message.as_str()).collect()
    }

    #[test]
    fn axes_multiply_with_the_last_one_fastest() {
        let tree: Value = serde_yaml::from_str("a: 0").unwrap();
        let axis = |path, values: &[i32]| {
            let values = values.iter().map(|&v| Value::from(v)).collect();
            Axis { path: KeyPath::parse(path).unwrap(), values }
        };
        let mut mistakes = Vec::new();
        let axes = [axis("a", &[1, 2]), axis("b.c", &[3, 4, 5])];
        let points: Vec<SweepPoint> = sweep_points(&tree, &axes, &mut mistakes).collect();
        assert!(mistakes.is_empty());
        let choices: Vec<_> = points.iter().map(|point| point.choice.clone()).collect();
        assert_eq!(choices, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert_eq!(points[5].tree, serde_yaml::from_str::<Value>("{ a: 2, b: { c: 5 } }").unwrap());
    }

    #[test]
    fn a_sweep_into_a_single_value_is_refused() {
        let tree: Value = serde_yaml::from_str("a: 0").unwrap();
        let axes = [Axis { path: KeyPath::parse("a.b").unwrap(), values: vec![Value::from(1)] }];
        let mut mistakes = Vec::new();
        sweep_points(&tree, &axes, &mut mistakes);
        assert_eq!(messages(&mistakes), ["`a.b` cannot be set: `a` is a single value"]);
    }

    #[test]
    fn a_sweep_beyond_all_bounds_is_refused_before_it_is_made() {
        let axis = |i: i32| Axis {
            path: KeyPath::parse(&format!("a{i}")).unwrap(),
            values: vec![Value::Null; 1000],
        };
        let axes: Vec<_> = (0..10).map(axis).collect();
        let mut mistakes = Vec::new();
        assert_eq!(sweep_points(&Value::Null, &axes, &mut mistakes).count(), 0);
        assert_eq!(messages(&mistakes), ["too many to count trials are more than 100000"]);
    }
}
