//! What has been observed: points, values, and the scale of the values.

use std::collections::BTreeMap;

use plugin_api::{Bits, Error, Layout, Penalty, Result};
use shared_terms::Terms;
use shared_values::Values;

use crate::design::Design;

/// Observations in the order they came, and the design matrix of their distinct points.
///
/// The same value again at the same point is not counted: it is what an objective without noise answers. In the model
/// it would speak for σ = 0, but there σ also stands for all that the terms can't express.
#[derive(Clone, Debug)]
pub struct Observations {
    layout: Layout,
    design: Design,
    rows: BTreeMap<Bits, usize>,
    history: Vec<(usize, Option<f64>)>,
}

/// The values of each distinct point, with mean 0 and variance 1 over all observations.
///
/// The model has no scale of its own (σ² ~ 1/σ²), so the regression on these values is the same regression.
#[derive(Clone, Debug)]
pub struct Targets {
    /// The mean of the values as they were observed.
    pub mean: f64,
    /// Their standard deviation; where all are equal, their size.
    pub scale: f64,
    /// The mean value of each distinct point, standardised.
    pub points: Vec<f64>,
    /// Σ (value − mean value of its point)², standardised.
    pub within: f64,
}

/// Values that differ by less than this part of their size are taken as equal: it is rounding.
const EQUAL: f64 = 1e-13;

impl Observations {
    /// None yet.
    pub fn new(layout: &Layout, order: usize) -> Self {
        let terms = Terms::new(layout, order);
        Self {
            layout: layout.clone(),
            design: Design::new(terms),
            rows: BTreeMap::new(),
            history: Vec::new(),
        }
    }

    /// Adds an observation that is new, without a value where the point is infeasible; refuses bits that the layout does not
    /// admit, and a value that is not finite.
    pub fn add(&mut self, bits: &Bits, value: impl Into<Option<f64>>) -> Result<()> {
        let value = value.into();
        if !self.layout.admits(bits) {
            return Err(Error::new(format!("the bits {bits} are not in the layout")));
        }
        if let Some(value) = value.filter(|value| !value.is_finite()) {
            return Err(Error::new(format!("the value of {bits} is {value}, which is not finite")));
        }
        let row = match self.rows.get(bits) {
            Some(&row) if self.history.contains(&(row, value)) => return Ok(()),
            Some(&row) => row,
            None => {
                let row = self.design.rows();
                self.design.push(bits);
                self.rows.insert(bits.clone(), row);
                row
            }
        };
        self.design.observe(row);
        self.history.push((row, value));
        Ok(())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.history.len()
    }

    /// The terms of the model.
    pub fn terms(&self) -> &Terms {
        self.design.terms()
    }

    /// The design matrix of the distinct points.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The row of the design and the value of each observation, in the order they came; none where the point is infeasible.
    pub fn history(&self) -> &[(usize, Option<f64>)] {
        &self.history
    }

    /// The distinct points, in the order of the design's rows.
    pub fn points(&self) -> Vec<&Bits> {
        let mut points: Vec<(usize, &Bits)> = self.rows.iter().map(|(bits, &row)| (row, bits)).collect();
        points.sort_unstable();
        points.into_iter().map(|(_, bits)| bits).collect()
    }

    /// Whether any observation has a value.
    pub fn has_values(&self) -> bool {
        self.history.iter().any(|(_, value)| value.is_some())
    }

    /// What is learned of each observation, before a transformation: see [`Values::totals`].
    pub fn totals(&self, kind: Values, penalty: &Penalty) -> Vec<f64> {
        let points = self.points();
        kind.totals(self.history.iter().map(|&(row, value)| (points[row], value)), penalty)
    }

    /// The standardised values.
    pub fn targets(&self) -> Targets {
        self.targets_of(&self.totals(Values::Raw, &Penalty::default()))
    }

    /// Other values of the same observations, one each in the order they came, standardised.
    ///
    /// # Panics
    /// Where there are not as many.
    pub fn targets_of(&self, values: &[f64]) -> Targets {
        assert_eq!(values.len(), self.history.len(), "values of other observations");
        // Divided by the largest first: the squares of values such as 1e200 are not finite.
        let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let total = values.len().max(1) as f64;
        let mean = values.iter().map(|value| value / unit).sum::<f64>() / total;
        let centred = |value: f64| value / unit - mean;
        let square = |&value: &f64| centred(value) * centred(value);
        let deviation = (values.iter().map(square).sum::<f64>() / total).sqrt();

        let mut points = vec![0.0; self.design.rows()];
        if deviation <= EQUAL {
            return Targets { mean: mean * unit, scale: unit, points, within: 0.0 };
        }
        let rows = self.history.iter().map(|&(row, _)| row);
        for (row, &value) in rows.clone().zip(values) {
            points[row] += centred(value) / deviation;
        }
        for (point, multiplicity) in points.iter_mut().zip(self.design.multiplicities()) {
            *point /= multiplicity;
        }
        let within = rows.zip(values).map(|(row, &value)| {
            let apart = centred(value) / deviation - points[row];
            apart * apart
        });
        let within = within.sum();
        Targets { mean: mean * unit, scale: deviation * unit, points, within }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(values: &[(&str, f64)]) -> Observations {
        let mut observations = Observations::new(&Layout::free(2), 2);
        for (bits, value) in values {
            observations.add(&bits.parse().unwrap(), *value).unwrap();
        }
        observations
    }

    #[test]
    fn repeated_points_share_a_row() {
        let observations = observed(&[("10", 1.0), ("11", 5.0), ("10", 3.0)]);
        let design = observations.design();
        assert_eq!((design.rows(), design.observations()), (2, 3.0));
        assert_eq!((design.multiplicities(), design.counts()), (&[2.0, 1.0][..], &[3.0, 1.0, 1.0][..]));
        assert_eq!(observations.points(), [&"10".parse().unwrap(), &"11".parse().unwrap()]);
        // Values 1, 5, 3: mean 3, variance 8/3. The point `10` has mean 2, and its values are 1 away from it.
        let (targets, scale) = (observations.targets(), (8.0f64 / 3.0).sqrt());
        assert!((targets.mean - 3.0).abs() < 1e-15 && (targets.scale - scale).abs() < 1e-15);
        assert!((targets.points[0] + 1.0 / scale).abs() < 1e-15);
        assert!((targets.points[1] - 2.0 / scale).abs() < 1e-15);
        assert!((targets.within - 2.0 / (scale * scale)).abs() < 1e-15);
    }

    #[test]
    fn the_same_value_at_the_same_point_is_counted_once() {
        let once = observed(&[("10", 1.0), ("11", 5.0), ("10", 3.0)]);
        let again = observed(&[("10", 1.0), ("11", 5.0), ("10", 1.0), ("10", 3.0), ("10", 3.0)]);
        assert_eq!(once.history(), again.history());
        assert_eq!(once.design().multiplicities(), again.design().multiplicities());
    }

    #[test]
    fn other_values_of_the_same_observations_are_standardised_as_if_observed() {
        let one = observed(&[("10", 1.0), ("11", 5.0), ("10", 3.0)]);
        let other = observed(&[("10", 2.0), ("11", -7.0), ("10", 4.5)]).targets();
        let targets = one.targets_of(&[2.0, -7.0, 4.5]);
        assert_eq!(
            (targets.mean, targets.scale, targets.points, targets.within),
            (other.mean, other.scale, other.points, other.within)
        );
    }

    #[test]
    fn the_largest_and_smallest_numbers_are_standardised_too() {
        for unit in [f64::MAX, 1e300, 1e-300] {
            let targets = observed(&[("10", unit), ("11", -unit)]).targets();
            assert_eq!((targets.points, targets.scale), (vec![1.0, -1.0], unit));
        }
    }

    #[test]
    fn equal_values_have_no_spread() {
        let targets = observed(&[("10", 0.1), ("11", 0.1), ("00", 0.1)]).targets();
        assert_eq!((targets.points, targets.scale, targets.within), (vec![0.0; 3], 0.1, 0.0));
        assert_eq!(observed(&[("10", 0.0)]).targets().scale, 1.0);
        assert_eq!(observed(&[]).targets().mean, 0.0);
    }

    #[test]
    fn what_no_regression_can_use_is_refused() {
        let mut observations = Observations::new(&Layout::with_groups(4, vec![0..2, 2..4]).unwrap(), 2);
        let error = |error: Result<()>| error.unwrap_err().to_string();
        let bits: Bits = "1001".parse().unwrap();
        assert_eq!(error(observations.add(&bits, f64::NAN)), "the value of 1001 is NaN, which is not finite");
        assert_eq!(
            error(observations.add(&"1101".parse().unwrap(), 1.0)),
            "the bits 1101 are not in the layout"
        );
        assert_eq!(observations.count(), 0);
    }

    #[test]
    fn an_infeasible_point_has_the_worst_value_and_counts_once() {
        let mut observations = observed(&[("10", 1.0), ("11", 5.0)]);
        (0..2).for_each(|_| observations.add(&"00".parse().unwrap(), None).unwrap());
        let worst = observed(&[("10", 1.0), ("11", 5.0), ("00", 5.0)]).targets();
        let targets = observations.targets();
        assert_eq!((targets.points, targets.scale, targets.mean), (worst.points, worst.scale, worst.mean));
        assert_eq!(observations.history(), [(0, Some(1.0)), (1, Some(5.0)), (2, None)]);
        assert!(observations.has_values() && !observed(&[]).has_values());
    }
}
