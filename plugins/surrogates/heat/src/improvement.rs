//! The logarithm of the expected improvement of a normal distribution.

/// √(2π)
const ROOT_TWO_PI: f64 = 2.506_628_274_631_000_5;
/// ln √(2π)
const LOG_ROOT_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// ln E[max(z − ε, 0)] for ε ~ N(0, 1): ln(zΦ(z) + φ(z)).
///
/// It is exact to a few digits less than a double has everywhere, so that a search that follows it finds its way also
/// where the improvement itself would be 0.
pub(crate) fn log_expected_excess(z: f64) -> f64 {
    if z > -1.0 {
        libm::log(z * cumulative(z) + libm::exp(-0.5 * z * z) / ROOT_TWO_PI)
    } else if z > -20.0 {
        // φ(z)·(1 + zΦ(z)/φ(z)): what is left of the difference has the digits that the tail of Φ has.
        let mills = cumulative(z) * ROOT_TWO_PI * libm::exp(0.5 * z * z);
        -0.5 * z * z - LOG_ROOT_TWO_PI + libm::log(1.0 + z * mills)
    } else {
        // φ(z)/z²·(1 − 3/z² + 15/z⁴ − 105/z⁶ + …)
        let w = 1.0 / (z * z);
        let series = w * (-3.0 + w * (15.0 + w * (-105.0 + w * 945.0)));
        -0.5 * z * z - LOG_ROOT_TWO_PI - 2.0 * libm::log(-z) + libm::log1p(series)
    }
}

/// Φ(z)
fn cumulative(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_integral_of_the_excess() {
        for z in [-6.0, -5.0, -3.0, -1.5, -1.0, -0.5, 0.0, 0.7, 2.0, 5.0] {
            // Simpson's rule for ∫ (z − ε) φ(ε) dε up to z, from where nothing is left.
            let (from, steps) = (z - 14.0_f64, 100_000);
            let width = (z - from) / f64::from(steps);
            let excess = |e: f64| (z - e) * libm::exp(-0.5 * e * e) / ROOT_TWO_PI;
            let weight = |k: i32| if k == 0 || k == steps { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
            let sum: f64 = (0..=steps).map(|k| weight(k) * excess(from + f64::from(k) * width)).sum();
            let expected = libm::log(sum * width / 3.0);
            assert!((log_expected_excess(z) - expected).abs() < 1e-8, "z = {z}");
        }
    }

    #[test]
    fn its_pieces_meet() {
        for z in [-1.0, -20.0] {
            let (below, above) = (log_expected_excess(z - 1e-12), log_expected_excess(z + 1e-12));
            assert!((below - above).abs() < 1e-7, "z = {z}: {below} and {above}");
        }
    }

    #[test]
    fn it_rises_with_z_from_far_below() {
        let values: Vec<f64> = (-4000..400).map(|k| log_expected_excess(f64::from(k) * 0.01)).collect();
        assert!(values.is_sorted());
        assert!(log_expected_excess(-1e8).is_finite() && log_expected_excess(1e8).is_finite());
    }
}
