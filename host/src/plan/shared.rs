//! Trials that are the same at several points of a sweep: recognised by what they are, planned once.
//!
//! A sweep over an option of one method leaves the others as they are. Such a method stands at the first of the points
//! where it is the same, and its trials name the keys of the sweep that they depend on, no others.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};

use super::{PluginPlan, Setting};

/// A method at a point of the sweep.
pub(super) struct Cell {
    /// The first point where it is what it is, from 0.
    pub(super) point: usize,
    /// Which of the point's methods.
    pub(super) method: usize,
    /// The values of the keys that it depends on; `None` where those are all.
    pub(super) sweep: Option<Map<String, Json>>,
}

/// Every method at every point, once for all points where it is the same; `axes` has the number of values of each key.
pub(super) fn cells(settings: &[Setting], axes: &[usize]) -> Vec<Cell> {
    let mut known = BTreeMap::new();
    let mut hashes = Hashes::default();
    // Each with all points where it stands, in order.
    let mut cells: Vec<(Cell, Vec<usize>)> = Vec::new();
    for (point, setting) in settings.iter().enumerate() {
        let keys = hash(&json!(setting.keys));
        for (method, plugins) in hashes.of(&setting.plugins).iter().enumerate() {
            let place = *known.entry((keys, *plugins)).or_insert(cells.len());
            match cells.get_mut(place) {
                Some((_, points)) => points.push(point),
                None => cells.push((Cell { point, method, sweep: None }, vec![point])),
            }
        }
    }
    let reduced = |(cell, points): (Cell, Vec<usize>)| {
        let free = free_axes(&points, axes);
        let mut keys = settings[cell.point].sweep.iter().zip(&free);
        let sweep = free.contains(&true).then(|| {
            let bound = keys.by_ref().filter(|(_, free)| !**free);
            bound.map(|((key, value), _)| (key.clone(), value.clone())).collect()
        });
        Cell { sweep, ..cell }
    };
    cells.into_iter().map(reduced).collect()
}

/// Of each axis, whether it makes no difference: wherever one of its values is among the points, all are.
fn free_axes(points: &[usize], axes: &[usize]) -> Vec<bool> {
    let mut stride: usize = axes.iter().product();
    let free = |&values: &usize| {
        stride /= values;
        if values == 1 || points.len() < values {
            return false;
        }
        // Points that differ along this axis alone stand on one line.
        let mut lines: BTreeMap<usize, usize> = BTreeMap::new();
        for point in points {
            *lines.entry(point - point / stride % values * stride).or_default() += 1;
        }
        lines.values().all(|&count| count == values)
    };
    axes.iter().map(free).collect()
}

type Hash = [u8; 32];

/// What makes each method of some plugins what it is. Points of a sweep share their plugins.
#[derive(Default)]
struct Hashes(BTreeMap<*const PluginPlan, Vec<Hash>>);

impl Hashes {
    fn of(&mut self, plugins: &Rc<PluginPlan>) -> &[Hash] {
        self.0.entry(Rc::as_ptr(plugins)).or_insert_with(|| {
            let PluginPlan { benchmark, encoder, methods, space: _, deterministic: _ } = plugins.as_ref();
            methods.iter().map(|method| hash(&json!([benchmark, encoder, method]))).collect()
        })
    }
}

fn hash(json: &Json) -> Hash {
    Sha256::digest(json.to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_free_where_all_its_values_are_there() {
        // Two axes of 2 and 3 values; the last is the fastest.
        let free = |points: &[usize]| free_axes(points, &[2, 3]);
        assert_eq!(free(&[0]), [false, false]);
        assert_eq!(free(&[0, 1, 2]), [false, true]);
        assert_eq!(free(&[0, 3]), [true, false]);
        assert_eq!(free(&[0, 1, 2, 3, 4, 5]), [true, true]);
        assert_eq!(free(&[0, 1]), [false, false]);
        assert_eq!(free(&[0, 1, 2, 4]), [false, false]);
        assert_eq!(free_axes(&[0, 1], &[1, 2]), [false, true]);
        assert_eq!(free_axes(&[0], &[]), Vec::<bool>::new());
    }
}
