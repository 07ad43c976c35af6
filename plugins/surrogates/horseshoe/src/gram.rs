//! G = Φ D Φᵀ, in which a Gibbs step spends most of its time.
//!
//! This is the place for faster kernels. Whatever they do, an entry G_kl (k ≤ l) is the sum of d over the terms of
//! row k that are also in row l, added one by one in ascending order: the chain amplifies every other rounding.

use crate::design::Design;

/// Rows of the design that are summed side by side.
pub const LANES: usize = 16;

/// Writes the upper triangle of Φ D Φᵀ into `g`, by rows; `d` has a number for each term.
///
/// `panel` is working memory of `LANES` numbers for each term. What stands below the diagonal of `g` is not kept.
///
/// # Panics
/// Where a slice has another length.
pub fn gram(design: &Design, d: &[f64], panel: &mut [f64], g: &mut [f64]) {
    let rows = design.rows();
    assert_eq!(d.len(), design.columns(), "one number a term");
    assert_eq!(panel.len(), d.len() * LANES, "a panel of another size");
    assert_eq!(g.len(), rows * rows, "a matrix of another size");
    for first in (0..rows).step_by(LANES) {
        let width = LANES.min(rows - first);
        // Lane l of the panel's row t is d_t where term t is in row first + l, else 0.
        panel.fill(0.0);
        for lane in 0..width {
            for &term in design.row(first + lane) {
                panel[term as usize * LANES + lane] = d[term as usize];
            }
        }
        let (panel, _) = panel.as_chunks::<LANES>();
        for k in 0..first + width {
            let mut sums = [0.0; LANES];
            for &term in design.row(k) {
                let lanes = &panel[term as usize];
                for lane in 0..LANES {
                    sums[lane] += lanes[lane];
                }
            }
            g[k * rows + first..][..width].copy_from_slice(&sums[..width]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::random::exponential;
    use plugin_api::{Layout, rng};
    use shared_terms::Terms;

    #[test]
    fn each_entry_is_the_sum_over_shared_terms_in_ascending_order() {
        for (bits, rows) in [(1, 1), (5, 3), (9, 16), (12, 37)] {
            let mut rng = rng(5);
            let terms = Terms::new(bits, 2, &[]);
            let mut design = Design::new(terms.count());
            (0..rows).for_each(|_| design.push(&terms.of(&Layout::free(bits).random(&mut rng))));
            let d: Vec<f64> = (0..terms.count()).map(|_| exponential(&mut rng)).collect();
            let (mut panel, mut g) = (vec![f64::NAN; d.len() * LANES], vec![f64::NAN; rows * rows]);
            gram(&design, &d, &mut panel, &mut g);
            for k in 0..rows {
                for l in k..rows {
                    let shared = design.row(k).iter().filter(|term| design.row(l).contains(term));
                    let expected = shared.fold(0.0, |sum, &term| sum + d[term as usize]);
                    assert_eq!(g[k * rows + l].to_bits(), expected.to_bits(), "entry ({k}, {l})");
                }
            }
        }
    }
}
