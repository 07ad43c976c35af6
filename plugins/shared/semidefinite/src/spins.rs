//! A quadratic function of bits as a quadratic form of spins.

use plugin_api::{Error, Quadratic, Result};

/// f(x) = constant + unit · (offset + zᵀCz) for z = (2x − 1, 1), where the last spin makes the form homogeneous.
///
/// C is symmetric with zeros on its diagonal. `unit` is a power of two that brings the largest coefficient
/// near 1, so that no step after this one can overflow; multiplying by it is exact.
pub struct Spins {
    size: usize,
    matrix: Vec<f64>,
    /// What the change from bits to spins adds, in units.
    pub(crate) offset: f64,
    /// The sum of all |coefficients| but the constant, in units: what rounding errors are measured by.
    pub(crate) weight: f64,
    pub(crate) constant: f64,
    /// What the form is measured in.
    pub unit: f64,
}

/// Beyond this the matrix and its factor take more than 1.6 GB.
const MOST_BITS: usize = 10_000;

impl Spins {
    pub fn new(f: &Quadratic) -> Result<Self> {
        let n = f.dimension();
        if n > MOST_BITS {
            return Err(Error::new(format!("{n} bits, which is more than the {MOST_BITS} that sdp takes")));
        }
        let coefficients = || f.linear().iter().chain(f.pairs());
        if !f.constant().is_finite() || coefficients().any(|c| !c.is_finite()) {
            return Err(Error::new("a coefficient is not finite"));
        }
        let largest = coefficients().fold(0.0, |most: f64, c| most.max(c.abs()));
        let (_, exponent) = libm::frexp(largest);
        // Both 2^±1022 are ordinary numbers; the clamp costs nothing but a largest coefficient of 2^±52.
        let unit = libm::scalbn(1.0, exponent.clamp(-1022, 1022));
        let scale = 1.0 / unit;

        // xᵢ = (1 + zᵢ)/2:  bᵢxᵢ = bᵢ/2 + bᵢ/2·zᵢ  and  aᵢⱼxᵢxⱼ = aᵢⱼ/4·(1 + zᵢ + zⱼ + zᵢzⱼ).
        let size = n + 1;
        let mut field: Vec<f64> = f.linear().iter().map(|b| b * scale / 2.0).collect();
        let (mut offset, mut weight) = (0.0, 0.0);
        for i in 0..n {
            let b = f.linear()[i] * scale;
            let (mut row_offset, mut row_weight) = (b / 2.0, b.abs());
            for (j, a) in (i + 1..).zip(f.row(i)) {
                let a = a * scale;
                field[i] += a / 4.0;
                field[j] += a / 4.0;
                row_offset += a / 4.0;
                row_weight += a.abs();
            }
            offset += row_offset;
            weight += row_weight;
        }
        let mut matrix = f.symmetric_by(size);
        matrix.iter_mut().for_each(|a| *a = *a * scale / 8.0);
        matrix.resize(size * size, 0.0);
        for (i, h) in field.iter().enumerate() {
            matrix[i * size + n] = h / 2.0;
            matrix[n * size + i] = h / 2.0;
        }
        Ok(Self { size, matrix, offset, weight, constant: f.constant(), unit })
    }

    /// The number of spins: one more than there are bits.
    pub fn size(&self) -> usize {
        self.size
    }

    /// C by rows.
    pub fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// Row `i` of C.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.matrix[i * self.size..][..self.size]
    }

    /// The function's value where zᵀCz, or its relaxation ⟨C, Y⟩, is `form`.
    pub fn value(&self, form: f64) -> f64 {
        self.constant + self.unit * (self.offset + form)
    }

    /// The same form with every entry that touches the last spin multiplied by `factor`.
    pub fn with_field_times(&self, factor: f64) -> Self {
        let last = self.size - 1;
        let mut matrix = self.matrix.clone();
        for i in 0..last {
            matrix[i * self.size + last] *= factor;
            matrix[last * self.size + i] *= factor;
        }
        Self { matrix, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::testing::random_quadratic;

    fn form(spins: &Spins, bits: &[bool]) -> f64 {
        let z: Vec<f64> = bits.iter().map(|&b| if b { 1.0 } else { -1.0 }).chain([1.0]).collect();
        let product = |i: usize| spins.row(i).iter().zip(&z).map(|(c, z)| c * z).sum::<f64>();
        (0..spins.size()).map(|i| z[i] * product(i)).sum()
    }

    #[test]
    fn the_form_has_the_functions_values() {
        for n in 0..7 {
            let f = random_quadratic(&mut plugin_api::rng(n as u64), n);
            let spins = Spins::new(&f).unwrap();
            for mask in 0..1u32 << n {
                let bits: Vec<bool> = (0..n).map(|i| mask >> i & 1 == 1).collect();
                let (expected, found) = (f.value(&bits), spins.value(form(&spins, &bits)));
                assert!((expected - found).abs() < 1e-13, "{expected} as {found}");
            }
        }
    }

    #[test]
    fn extreme_coefficients_neither_overflow_nor_vanish() {
        for exponent in [1021, -1022, -1071] {
            let scale = libm::scalbn(1.0, exponent);
            let f = Quadratic::new(0.0, vec![scale, -scale], vec![scale]).unwrap();
            let spins = Spins::new(&f).unwrap();
            for bits in [[false, false], [true, false], [false, true], [true, true]] {
                assert_eq!(spins.value(form(&spins, &bits)), f.value(&bits), "{scale:e}");
            }
        }
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        let mut f = Quadratic::zero(2);
        f.add_linear(1, f64::INFINITY);
        assert!(Spins::new(&f).is_err());
    }
}
