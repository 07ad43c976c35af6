//! The energy of a sequence of ±1, and the least energy there is.

/// A sequence of ±1 of a length up to 128; bit i is set where element i + 1 is +1.
pub(crate) fn sequence(plus: impl IntoIterator<Item = bool>) -> u128 {
    plus.into_iter().enumerate().fold(0, |bits, (i, plus)| bits | u128::from(plus) << i)
}

/// E(s) = Σ_{k=1}^{n−1} (Σ_i s_i s_{i+k})², with 2 ≤ n ≤ 128.
pub(crate) fn energy(sequence: u128, n: u32) -> u64 {
    let squared_autocorrelation = |k: u32| {
        // Of the n − k products, those of unequal neighbours are −1.
        let pairs = n - k;
        let unequal = ((sequence ^ sequence >> k) & (u128::MAX >> (128 - pairs))).count_ones();
        let autocorrelation = i64::from(pairs) - 2 * i64::from(unequal);
        (autocorrelation * autocorrelation) as u64
    };
    (1..n).map(squared_autocorrelation).sum()
}

/// The least energy of all sequences of length `n`, where it is known.
pub(crate) fn least_energy(n: usize) -> Option<u64> {
    LEAST_ENERGIES.get(n.checked_sub(2)?).copied()
}

/// The least energies for n = 2, 3, …, 66: Packebusch & Mertens, "Low autocorrelation binary sequences",
/// J. Phys. A 49 (2016) 165001, who prove them by branch and bound.
#[rustfmt::skip]
const LEAST_ENERGIES: [u64; 65] = [
    1, 1, 2, 2, 7, 3, 8, 12, 13,
    5, 10, 6, 19, 15, 24, 32, 25, 29, 26,
    26, 39, 47, 36, 36, 45, 37, 50, 62, 59,
    67, 64, 64, 65, 73, 82, 86, 87, 99, 108,
    108, 101, 109, 122, 118, 131, 135, 140, 136, 153,
    153, 166, 170, 175, 171, 192, 188, 197, 205, 218,
    226, 235, 207, 208, 240, 257,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::golden;

    /// The definition, term by term.
    fn energy_by_definition(s: &[i64]) -> u64 {
        let n = s.len();
        let autocorrelation = |k: usize| (0..n - k).map(|i| s[i] * s[i + k]).sum::<i64>();
        (1..n).map(|k| autocorrelation(k) * autocorrelation(k)).sum::<i64>() as u64
    }

    #[test]
    fn the_energy_is_its_definition_up_to_the_longest_sequence() {
        use plugin_api::rand::RngExt;
        let mut rng = plugin_api::rng(1);
        for n in (2..=128).chain([127, 128, 128, 128]) {
            let plus: Vec<bool> = (0..n).map(|_| rng.random()).collect();
            let s: Vec<i64> = plus.iter().map(|&plus| if plus { 1 } else { -1 }).collect();
            assert_eq!(energy(sequence(plus), n as u32), energy_by_definition(&s), "{s:?}");
        }
    }

    #[test]
    fn no_short_sequence_is_below_the_table() {
        for n in 2..=20 {
            let least = (0..1 << (n - 1)).map(|bits| energy(bits, n)).min();
            assert_eq!(least_energy(n as usize), least, "n = {n}");
        }
    }

    #[test]
    fn the_best_sequences_of_the_reference_reach_the_table() {
        for best in golden().best {
            let found = energy(best.sequence(), best.n as u32);
            assert_eq!(found, best.energy, "n = {}", best.n);
            // The reference's search stopped above the proven values from 61 on.
            let table = least_energy(best.n).unwrap();
            assert!(if best.n <= 60 { found == table } else { found >= table }, "n = {}", best.n);
        }
    }

    #[test]
    fn the_table_ends_at_66() {
        assert_eq!((least_energy(0), least_energy(1), least_energy(67)), (None, None, None));
        assert_eq!((least_energy(2), least_energy(66)), (Some(1), Some(257)));
    }
}
