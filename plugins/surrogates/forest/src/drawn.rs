//! Minus the expected improvement, as a function of bits for solvers.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use ndarray::{ArrayView2, ArrayViewMut2};
use plugin_api::Function;
use shared_variables::Variables;

use crate::model::Forest;

/// Minus the expected improvement; 0 at points that are known or under way.
pub(crate) struct Improvement {
    pub(crate) variables: Arc<Variables>,
    pub(crate) forest: Arc<Forest>,
    pub(crate) known: BTreeSet<Vec<u32>>,
}

impl Improvement {
    fn at(&self, levels: &[u32]) -> f64 {
        if self.known.contains(levels) { 0.0 } else { 0.0 - self.forest.improvement(levels) }
    }
}

impl Function for Improvement {
    fn dimension(&self) -> usize {
        self.variables.dimension()
    }

    fn value(&self, bits: &[bool]) -> f64 {
        self.at(&self.variables.of_bits(bits))
    }

    fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
        let mut levels = self.variables.of_bits(bits);
        let here = self.at(&levels);
        self.variables.flip(bits, i, &mut levels);
        self.at(&levels) - here
    }

    fn values(&self, points: ArrayView2<'_, bool>, values: &mut [f64]) {
        let points = points.as_standard_layout();
        let mut levels = vec![0; self.variables.count()];
        for (value, bits) in values.iter_mut().zip(points.rows()) {
            self.variables.read(bits.to_slice().expect("rows in order"), &mut levels);
            *value = self.at(&levels);
        }
    }

    fn move_gains(
        &self,
        points: ArrayView2<'_, bool>,
        groups: &[Range<usize>],
        mut gains: ArrayViewMut2<'_, f64>,
    ) {
        let points = points.as_standard_layout();
        let mut levels = vec![0; self.variables.count()];
        for (bits, mut gains) in points.rows().into_iter().zip(gains.rows_mut()) {
            let bits = bits.to_slice().expect("rows in order");
            let mut there = bits.to_vec();
            let mut value_of = |bits: &[bool]| {
                self.variables.read(bits, &mut levels);
                self.at(&levels)
            };
            let here = value_of(bits);
            let mut groups = groups.iter().peekable();
            for (i, gain) in gains.iter_mut().enumerate() {
                while groups.peek().is_some_and(|group| group.end <= i) {
                    groups.next();
                }
                let changed = match groups.peek().filter(|group| group.contains(&i)) {
                    Some(group) => {
                        there[(*group).clone()].fill(false);
                        there[i] = true;
                        (*group).clone()
                    }
                    None => {
                        there[i] = !bits[i];
                        i..i + 1
                    }
                };
                *gain = value_of(&there) - here;
                there[changed.clone()].copy_from_slice(&bits[changed]);
            }
        }
    }
}
