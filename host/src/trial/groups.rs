//! One-hot groups for solvers that do not know them: an exact penalty before, a repair after.

use std::ops::Range;

use plugin_api::{Acquisition, Bits, Layout, Quadratic};

/// The function plus M_g (Σ_{i∈g} xᵢ − 1)² for each group, with M_g so large that the minimum is kept.
///
/// Turning bit i over changes f by at most Uᵢ = |bᵢ| + Σⱼ |aᵢⱼ|. One bit too many (or too few) costs at least
/// M_g more than the right number, so M_g > maxᵢ Uᵢ makes mending a group always worth it: every minimiser of
/// the sum has exactly one bit set in each group, and its value is that of f.
pub(super) fn penalised(f: &Quadratic, layout: &Layout) -> Quadratic {
    let n = f.dimension();
    let mut reach: Vec<f64> = f.linear().iter().map(|b| b.abs()).collect();
    for i in 0..n {
        for (offset, a) in f.row(i).iter().enumerate() {
            reach[i] += a.abs();
            reach[i + 1 + offset] += a.abs();
        }
    }
    let mut penalised = f.clone();
    for group in layout.groups() {
        let most = reach[group.clone()].iter().copied().fold(0.0, f64::max);
        let m = 1.001 * most + f64::MIN_POSITIVE;
        // M (Σx − 1)² = M − M Σ xᵢ + 2M Σ_{i<j} xᵢxⱼ, because xᵢ² = xᵢ.
        penalised.add_constant(m);
        for i in group.clone() {
            penalised.add_linear(i, -m);
            for j in i + 1..group.end {
                penalised.add_pair(i, j, 2.0 * m);
            }
        }
    }
    penalised
}

/// Leaves one bit set in each group: of those set (or of all, where none is), the one of lowest value.
pub(super) fn repair(bits: &mut Bits, f: &Acquisition, layout: &Layout) {
    for group in layout.groups() {
        let set: Vec<usize> = group.clone().filter(|&i| bits[i]).collect();
        let candidates = match set.len() {
            1 => continue,
            0 => group.clone().collect(),
            _ => set,
        };
        let value = |i: usize| {
            let mut bits = bits.clone();
            choose(&mut bits, group, i);
            f.value(&bits)
        };
        let best = candidates.into_iter().min_by(|&i, &j| value(i).total_cmp(&value(j)));
        choose(bits, group, best.expect("a group is not empty"));
    }
}

fn choose(bits: &mut Bits, group: &Range<usize>, i: usize) {
    bits[group.clone()].fill(false);
    bits[i] = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::testing::{minimum, random_quadratic};
    use plugin_api::{Problem, rng};

    #[test]
    fn the_penalty_is_exact() {
        let layout = Layout::with_groups(9, vec![0..3, 4..8]).unwrap();
        for seed in 0..50 {
            let f = random_quadratic(&mut rng(seed), 9);
            let free = minimum(&Problem::new(penalised(&f, &layout)));
            let kept = minimum(&Problem::new(f).with_layout(&layout));
            assert!((free - kept).abs() < 1e-9, "{free} and {kept}");
        }
    }

    #[test]
    fn every_minimiser_of_the_penalised_function_keeps_the_groups() {
        let layout = Layout::with_groups(6, vec![1..3, 3..6]).unwrap();
        let f = random_quadratic(&mut rng(1), 6);
        let penalised = penalised(&f, &layout);
        let all = (0..64u32).map(|mask| (0..6).map(|i| mask >> i & 1 == 1).collect::<Bits>());
        let best = all.min_by(|a, b| penalised.value(a).total_cmp(&penalised.value(b))).unwrap();
        assert!(layout.admits(&best));
    }

    #[test]
    fn a_repair_keeps_what_is_right_and_mends_the_rest_for_the_best() {
        let layout = Layout::with_groups(7, vec![0..3, 4..7]).unwrap();
        let f = Quadratic::new(0.0, vec![3.0, 1.0, 2.0, 0.0, 5.0, 4.0, 6.0], vec![0.0; 21]).unwrap();
        let f = Acquisition::Quadratic(f);
        let mended = |text: &str| {
            let mut bits: Bits = text.parse().unwrap();
            repair(&mut bits, &f, &layout);
            bits.to_string()
        };
        assert_eq!(mended("1000100"), "1000100");
        assert_eq!(mended("1011000"), "0011010");
        assert_eq!(mended("0000111"), "0100010");
    }
}
