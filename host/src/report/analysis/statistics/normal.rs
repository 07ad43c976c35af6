//! The normal distribution.

/// P(Z ≤ z).
pub(super) fn cumulative(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

/// The z with P(Z ≤ z) = p, by bisection: exact enough, and nothing to get wrong.
pub(super) fn quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if cumulative(middle) < p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_tables() {
        // scipy 1.17: norm.ppf and norm.cdf.
        for (p, z) in [(0.025, -1.959_963_98), (0.2, -0.841_621_23), (0.5, 0.0), (0.999, 3.090_232_31)] {
            assert!((quantile(p) - z).abs() < 1e-8, "{p}");
        }
        assert!((cumulative(-1.96) - 0.024_997_9).abs() < 1e-7);
        assert!((cumulative(0.3) - 0.617_911_42).abs() < 1e-8);
    }
}
