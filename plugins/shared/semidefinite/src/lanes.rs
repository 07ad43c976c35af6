//! The inner loop that everything here shares: a weighted sum of rows of eight numbers.

/// How many numbers are summed side by side.
pub const LANES: usize = 8;

/// Numbers summed side by side: a stretch of one vector, or the same entry of eight vectors.
pub type Lanes = [f64; LANES];

/// Σⱼ `weights[j] · rows[j]`, over as many j as both have.
///
/// Even and odd j are summed apart, which doubles the additions that can be under way at once. The order is
/// fixed and nothing is fused, so the sum has the same bits on every machine.
#[inline]
pub fn weighted_sum(weights: &[f64], rows: &[Lanes]) -> Lanes {
    let (mut even, mut odd) = ([0.0; LANES], [0.0; LANES]);
    let (weight_pairs, last_weight) = weights.as_chunks::<2>();
    let (row_pairs, last_row) = rows.as_chunks::<2>();
    for (weight, row) in weight_pairs.iter().zip(row_pairs) {
        for l in 0..LANES {
            even[l] += weight[0] * row[0][l];
            odd[l] += weight[1] * row[1][l];
        }
    }
    for (weight, row) in last_weight.iter().zip(last_row) {
        for l in 0..LANES {
            even[l] += weight * row[l];
        }
    }
    for l in 0..LANES {
        even[l] += odd[l];
    }
    even
}
