//! Values with mean 0 and standard deviation 1.

/// Values that differ by less than this part of their size are taken as equal: it is rounding.
const EQUAL: f64 = 1e-13;

/// Values in units of their own spread.
#[derive(Clone, Debug, PartialEq)]
pub struct Standardised {
    /// The mean of the values as they were.
    pub mean: f64,
    /// Their standard deviation; where all are equal, their size, or 1 for zeros.
    pub scale: f64,
    /// The values, with mean 0 and variance 1; zeros where all are equal.
    pub values: Vec<f64>,
}

/// Takes the mean out, and divides by the standard deviation (of a population). Any finite values do.
pub fn standardise(values: &[f64]) -> Standardised {
    // Divided by the largest first: the squares of values such as 1e200 are not finite.
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let unit = if largest > 0.0 { largest } else { 1.0 };
    let count = values.len().max(1) as f64;
    let mean = values.iter().map(|value| value / unit).sum::<f64>() / count;
    let centred: Vec<f64> = values.iter().map(|value| value / unit - mean).collect();
    let deviation = (centred.iter().map(|c| c * c).sum::<f64>() / count).sqrt();
    if deviation <= EQUAL {
        return Standardised { mean: mean * unit, scale: unit, values: vec![0.0; values.len()] };
    }
    let values = centred.into_iter().map(|c| c / deviation).collect();
    Standardised { mean: mean * unit, scale: deviation * unit, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standardised_values_have_mean_0_and_variance_1() {
        for unit in [1e-300, 1.0, 1e300] {
            let Standardised { mean, scale, values } = standardise(&[unit, 5.0 * unit, 3.0 * unit]);
            assert!(
                (mean / unit - 3.0).abs() < 1e-14 && (scale / unit - (8.0f64 / 3.0).sqrt()).abs() < 1e-14
            );
            assert!(values.iter().sum::<f64>().abs() < 1e-14);
            assert!((values.iter().map(|z| z * z).sum::<f64>() - 3.0).abs() < 1e-14);
        }
        assert_eq!(standardise(&[0.1; 3]), Standardised { mean: 0.1, scale: 0.1, values: vec![0.0; 3] });
        assert_eq!(standardise(&[]), Standardised { mean: 0.0, scale: 1.0, values: vec![] });
    }
}
