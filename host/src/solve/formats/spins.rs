//! Problems of spins as problems of bits.

use plugin_api::Quadratic;

/// What values the variables of a file take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vartype {
    /// 0 and 1.
    Binary,
    /// −1 and 1.
    Spin,
}

impl Vartype {
    /// The type of this name.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "BINARY" => Some(Self::Binary),
            "SPIN" => Some(Self::Spin),
            _ => None,
        }
    }
}

/// The same function of bits, a bit being set where the spin is 1; `None` where a coefficient overflows.
///
/// With s = 2x − 1: h s = 2h x − h, and J s s′ = 4J x x′ − 2J x − 2J x′ + J.
pub(super) fn to_bits(f: Quadratic) -> Option<Quadratic> {
    let (mut constant, mut linear, mut pairs) = f.into_parts();
    for h in &mut linear {
        constant -= *h;
        *h *= 2.0;
    }
    let mut couplings = pairs.iter_mut();
    for i in 0..linear.len() {
        for j in i + 1..linear.len() {
            let coupling = couplings.next().expect("a coefficient for each pair");
            constant += *coupling;
            linear[i] -= 2.0 * *coupling;
            linear[j] -= 2.0 * *coupling;
            *coupling *= 4.0;
        }
    }
    Quadratic::new(constant, linear, pairs).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::testing::random_quadratic;

    #[test]
    fn bits_have_the_value_of_their_spins() {
        let f = random_quadratic(&mut plugin_api::rng(1), 6);
        let of_bits = to_bits(f.clone()).unwrap();
        for mask in 0..64 {
            let bits: Vec<bool> = (0..6).map(|i| mask >> i & 1 == 1).collect();
            let spin = |i: usize| if bits[i] { 1.0 } else { -1.0 };
            let mut energy = f.constant();
            for i in 0..6 {
                energy += f.linear()[i] * spin(i);
                energy += (i + 1..6).map(|j| f.pair(i, j) * spin(i) * spin(j)).sum::<f64>();
            }
            assert!((of_bits.value(&bits) - energy).abs() < 1e-12);
        }
    }

    #[test]
    fn what_overflows_is_none() {
        assert!(to_bits(Quadratic::new(0.0, vec![0.0; 2], vec![1e308]).unwrap()).is_none());
    }
}
