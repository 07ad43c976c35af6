//! Methods × sweep × seeds → the list of trials.

use serde_yaml::Value;

use super::error::PlanError;
use crate::yaml::{self, KeyPath};

/// No experiment has more trials than this.
pub const MOST_TRIALS: usize = 100_000;

/// One point of the sweep: a value for each axis, and the manifest with these values in it.
pub struct SweepPoint {
    /// Which value of each axis.
    pub choice: Vec<usize>,
    /// The changed tree.
    pub tree: Value,
}

/// Every combination of the axes' values, the last axis fastest; one point where there is no axis.
pub fn sweep_points(
    tree: &Value,
    axes: &[(KeyPath, Vec<Value>)],
) -> Result<Vec<SweepPoint>, (usize, PlanError)> {
    let count = axes.iter().try_fold(1_usize, |count, (_, values)| count.checked_mul(values.len()));
    let count = match count {
        Some(count) if count <= MOST_TRIALS => count,
        _ => {
            let words = count.map_or("too many to count".to_owned(), |count| count.to_string());
            return Err((0, PlanError::TooMany { count: words, most: MOST_TRIALS }));
        }
    };
    (0..count)
        .map(|index| {
            let mut tree = tree.clone();
            let mut choice = vec![0; axes.len()];
            let mut rest = index;
            for (axis, (_, values)) in axes.iter().enumerate().rev() {
                choice[axis] = rest % values.len();
                rest /= values.len();
            }
            for (axis, (path, values)) in axes.iter().enumerate() {
                let set = yaml::set(&mut tree, path, values[choice[axis]].clone());
                set.map_err(|blocked| {
                    let (path, blocked) = (path.to_string(), blocked.to_string());
                    (axis, PlanError::CannotSet { path, blocked })
                })?;
            }
            Ok(SweepPoint { choice, tree })
        })
        .collect()
}

/// The name of a trial, which is also its folder's.
pub fn trial_id(method: &str, point: usize, points: usize, seed: u64) -> String {
    if points == 1 {
        format!("{method}-seed{seed}")
    } else {
        format!("{method}-sweep{}-seed{seed}", point + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_multiply_with_the_last_one_fastest() {
        let tree: Value = serde_yaml::from_str("a: 0").unwrap();
        let axis = |path, values: &[i32]| {
            (KeyPath::parse(path).unwrap(), values.iter().map(|&v| Value::from(v)).collect())
        };
        let points = sweep_points(&tree, &[axis("a", &[1, 2]), axis("b.c", &[3, 4, 5])]).ok().unwrap();
        let choices: Vec<_> = points.iter().map(|point| point.choice.clone()).collect();
        assert_eq!(choices, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert_eq!(points[5].tree, serde_yaml::from_str::<Value>("{ a: 2, b: { c: 5 } }").unwrap());
    }

    #[test]
    fn a_sweep_into_a_single_value_is_refused() {
        let tree: Value = serde_yaml::from_str("a: 0").unwrap();
        let axes = [(KeyPath::parse("a.b").unwrap(), vec![Value::from(1)])];
        assert!(matches!(sweep_points(&tree, &axes), Err((0, PlanError::CannotSet { .. }))));
    }

    #[test]
    fn a_sweep_beyond_all_bounds_is_refused_before_it_is_made() {
        let axis = |i: i32| (KeyPath::parse(&format!("a{i}")).unwrap(), vec![Value::Null; 1000]);
        let axes: Vec<_> = (0..10).map(axis).collect();
        assert!(matches!(sweep_points(&Value::Null, &axes), Err((_, PlanError::TooMany { .. }))));
    }
}
