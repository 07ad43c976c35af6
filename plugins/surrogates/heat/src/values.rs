//! What the model learns: values on a scale of their own. A transformation of values would stand here.

/// The scale on which values have mean 0 and standard deviation 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    centre: f64,
    unit: f64,
}

impl Scale {
    /// The scale of these values; equal ones keep their unit.
    pub(crate) fn of(values: impl ExactSizeIterator<Item = f64> + Clone) -> Self {
        let count = values.len().max(1) as f64;
        let centre = values.clone().sum::<f64>() / count;
        let squares: f64 = values.map(|value| (value - centre) * (value - centre)).sum();
        let unit = (squares / count).sqrt();
        // What is nothing but rounding is no unit.
        let is_unit = unit > 1e-13 * centre.abs() && unit > f64::MIN_POSITIVE;
        Self { centre, unit: if is_unit { unit } else { 1.0 } }
    }

    pub(crate) fn unit(self) -> f64 {
        self.unit
    }

    /// A value on this scale.
    pub(crate) fn to(self, value: f64) -> f64 {
        (value - self.centre) / self.unit
    }

    /// What has this place on the scale.
    pub(crate) fn from(self, place: f64) -> f64 {
        self.centre + self.unit * place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_mean_0_and_deviation_1() {
        let values = [3.0, 5.0, 7.0, 13.0];
        let scale = Scale::of(values.into_iter());
        let scaled = values.map(|value| scale.to(value));
        assert!(scaled.iter().sum::<f64>().abs() < 1e-12);
        assert!((scaled.iter().map(|x| x * x).sum::<f64>() - 4.0).abs() < 1e-12);
        assert!((scale.from(scale.to(5.0)) - 5.0).abs() < 1e-12);
    }

    #[test]
    fn equal_values_keep_their_unit() {
        assert_eq!(Scale::of([0.1; 3].into_iter()).unit(), 1.0);
        assert_eq!(Scale::of([7.0].into_iter()).to(9.0), 2.0);
    }
}
