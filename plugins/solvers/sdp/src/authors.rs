//! The rounding of the authors' code, errors and all, so that the paper's comparison can be repeated.
//!
//! In the notation of that code (BOCS's, which PSR's takes over) the right matrix is C = [A/4, bt/2; btᵀ/2, 0]. It
//!
//! 1. minimizes trace(At·X) for At = [A/4, bt/2; btᵀ, 2]: the last row is not halved. X is symmetric, so this is
//!    ⟨(At + Atᵀ)/2, X⟩, in which bt counts 3/4 instead of 1/2: one and a half times. (The corner adds 2·1, a constant.)
//! 2. factors X = LLᵀ with a *lower* triangular L, whose rows are the vectors to round; and then takes sign(Lᵀr),
//!    which multiplies r by the columns. Those signs have the correlations of LᵀL, which is not X.
//! 3. takes each spin as it is, not relative to the last one: a point is as likely as its opposite.
//!
//! Past the rank of X, L is made of the last digits of the solver, yet its signs count in full. So they have to be
//! modelled: an interior-point method ends on the central path, where X·S = μI for the dual matrix
//! S = C − diag(y) and a small μ. Near its end X is the optimum on the range of the vectors, and μS⁻¹ off it, so
//! X = VᵀV + μ(S + δI)⁻¹, with δ enough to make S invertible and μ ≪ δ. The signs do not depend on μ.
//! Roundings of this X come out as those of the whole central path do (mean gap 0.167 and 0.164 on the 42
//! stored problems below 60 bits that the authors' code answered, with 0.176 ± 0.009).

use shared_linalg::DenseFactor;
use shared_semidefinite::{Relaxation, Spins};

/// The form that the authors relax: error 1.
pub(crate) fn form(spins: &Spins) -> Spins {
    spins.with_field_times(1.5)
}

/// The columns of L, for error 2, unless `more` disagrees before they are there. The relaxation is that of `spins`, the
/// authors' form.
pub(crate) fn columns_while(
    spins: &Spins,
    relaxation: &Relaxation,
    more: &dyn Fn() -> bool,
) -> Option<Vec<f64>> {
    let size = spins.size();
    let duals = relaxation.duals_while(spins, more);
    let vectors = relaxation.rows();
    let vectors = || vectors.chunks_exact(relaxation.rank());
    let mut shift = 1e-8;
    loop {
        shift *= 2.0;
        let mut dual_matrix = spins.matrix().to_vec();
        for (i, y) in duals.iter().enumerate() {
            dual_matrix[i * size + i] = shift - y;
        }
        let factor = match DenseFactor::new_while(dual_matrix, size, more) {
            Ok(factor) => factor?,
            Err(_) => continue,
        };
        let mut primal_matrix = Vec::with_capacity(size * size);
        for (i, v) in vectors().enumerate() {
            if !more() {
                return None;
            }
            let mut off_range = vec![0.0; size];
            off_range[i] = 0.01 * shift;
            factor.solve(&mut off_range);
            factor.solve_transposed(&mut off_range);
            let product = |w: &[f64]| v.iter().zip(w).map(|(v, w)| v * w).sum::<f64>();
            primal_matrix.extend(vectors().zip(off_range).map(|(w, off_range)| product(w) + off_range));
        }
        if let Ok(factor) = DenseFactor::new_while(primal_matrix, size, more) {
            return factor.map(DenseFactor::into_columns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::Quadratic;
    use shared_semidefinite::relax;

    #[test]
    fn the_linear_terms_count_one_and_a_half_times() {
        // bt = b/2 + A·1/2 with A₁₂ = a/2: (1 + 1, 2 + 1) for b = (2, 4), a = 4; At's symmetric part has 3/4·bt.
        let f = Quadratic::new(0.0, vec![2.0, 4.0], vec![4.0]).unwrap();
        let theirs = form(&Spins::new(&f).unwrap());
        let in_units = |x: f64| x / theirs.unit;
        assert_eq!(theirs.row(2), [in_units(0.75 * 2.0), in_units(0.75 * 3.0), 0.0]);
        assert_eq!(theirs.row(0), [0.0, in_units(2.0 / 4.0), in_units(0.75 * 2.0)]);
    }

    #[test]
    fn the_columns_are_those_of_a_factor_of_the_relaxations_matrix() {
        let f = plugin_api::testing::random_quadratic(&mut plugin_api::rng(1), 20);
        let spins = form(&Spins::new(&f).unwrap());
        let relaxation = relax(&spins, 1e-12, &mut plugin_api::rng(2), |sweeps| sweeps < 1000);
        let (size, columns) = (spins.size(), columns_while(&spins, &relaxation, &|| true).expect("time"));
        let (vectors, rank) = (relaxation.rows(), relaxation.rank());
        for i in 0..size {
            assert!(columns[i * size..][..i].iter().all(|&entry| entry == 0.0));
            for j in 0..size {
                let factored: f64 = (0..size).map(|k| columns[k * size + i] * columns[k * size + j]).sum();
                let wanted: f64 = (0..rank).map(|k| vectors[i * rank + k] * vectors[j * rank + k]).sum();
                assert!((factored - wanted).abs() < 0.02, "{factored} for {wanted}");
            }
        }
        assert_eq!(columns_while(&spins, &relaxation, &|| false), None);
    }
}
