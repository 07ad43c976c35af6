//! The heat kernel between points, eight bits at a time.
//!
//! k(x, x') = exp(−Σ θᵢ [xᵢ ≠ x'ᵢ]) over variables. Two levels of a one-hot group differ in two bits, so a bit of a
//! group has half of its variable's θ, a free bit all of it, and the kernel is a product over the bits that differ. The
//! products of each eight bits stand in a table.

use std::ops::Range;

/// Which variable each bit belongs to, and with which part of its θ.
#[derive(Clone, Debug)]
pub(crate) struct Variables {
    of_bit: Vec<usize>,
    share: Vec<f64>,
    count: usize,
}

impl Variables {
    pub(crate) fn new(bits: usize, groups: &[Range<usize>]) -> Self {
        let (mut of_bit, mut share, mut count) = (Vec::with_capacity(bits), vec![1.0; bits], 0);
        let mut groups = groups.iter().peekable();
        while of_bit.len() < bits {
            match groups.next_if(|group| group.start == of_bit.len()) {
                Some(group) => {
                    share[group.clone()].fill(0.5);
                    of_bit.resize(group.end, count);
                }
                None => of_bit.push(count),
            }
            count += 1;
        }
        Self { of_bit, share, count }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Of a number for each bit, the sum for each variable, by the bits' shares.
    pub(crate) fn sums(&self, of_bits: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.count];
        for ((&variable, share), x) in self.of_bit.iter().zip(&self.share).zip(of_bits) {
            sums[variable] += share * x;
        }
        sums
    }
}

/// Points, packed eight bits to the byte, a row each.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    width: usize,
    count: usize,
}

impl Packed {
    pub(crate) fn new(bits: usize) -> Self {
        Self { bytes: Vec::new(), width: bits.div_ceil(8), count: 0 }
    }

    pub(crate) fn push(&mut self, bits: impl ExactSizeIterator<Item = bool>) {
        debug_assert_eq!(bits.len().div_ceil(8), self.width);
        let first = self.bytes.len();
        self.bytes.resize(first + self.width, 0);
        for (i, bit) in bits.enumerate() {
            self.bytes[first + i / 8] |= u8::from(bit) << (i % 8);
        }
        self.count += 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn row(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.width..][..self.width]
    }

    pub(crate) fn bit(&self, row: usize, i: usize) -> bool {
        self.bytes[row * self.width + i / 8] >> (i % 8) & 1 == 1
    }
}

/// The kernel at given θ.
#[derive(Clone, Debug)]
pub(crate) struct Similarity {
    /// For each eight bits, the factor of each set of them that differs.
    tables: Vec<[f64; 256]>,
    /// For each bit, what the kernel is multiplied by where the bit comes to differ, and where it comes to agree.
    factors: Vec<[f64; 2]>,
}

impl Similarity {
    /// With a logarithm of θ for each variable, or one for all.
    pub(crate) fn new(variables: &Variables, log_theta: &[f64]) -> Self {
        let thetas: Vec<f64> = log_theta.iter().map(|&log| libm::exp(log)).collect();
        let factor = |(&variable, share): (&usize, &f64)| {
            let exponent = share * thetas[if thetas.len() == 1 { 0 } else { variable }];
            [libm::exp(-exponent), libm::exp(exponent)]
        };
        let factors: Vec<[f64; 2]> = variables.of_bit.iter().zip(&variables.share).map(factor).collect();
        let tables = factors.chunks(8).map(|factors| {
            let mut table = [1.0; 256];
            for set in 1..256_usize {
                let highest = set.ilog2() as usize;
                let factor = factors.get(highest).map_or(1.0, |factor| factor[0]);
                table[set] = table[set ^ 1 << highest] * factor;
            }
            table
        });
        Self { tables: tables.collect(), factors }
    }

    /// k of two packed points.
    pub(crate) fn between(&self, a: &[u8], b: &[u8]) -> f64 {
        let mut product = 1.0;
        for ((table, a), b) in self.tables.iter().zip(a).zip(b) {
            product *= table[usize::from(a ^ b)];
        }
        product
    }

    /// What k of two points is multiplied by when bit `i` of one of them is turned over.
    pub(crate) fn factor(&self, i: usize, differs: bool) -> f64 {
        self.factors[i][usize::from(differs)]
    }
}

/// Sums of weights of pairs of points by the bits in which they differ.
pub(crate) struct Differences {
    sums: Vec<[f64; 256]>,
}

impl Differences {
    pub(crate) fn new(bits: usize) -> Self {
        Self { sums: vec![[0.0; 256]; bits.div_ceil(8)] }
    }

    pub(crate) fn add(&mut self, a: &[u8], b: &[u8], weight: f64) {
        for ((sums, a), b) in self.sums.iter_mut().zip(a).zip(b) {
            sums[usize::from(a ^ b)] += weight;
        }
    }

    /// For each bit, the sum over the pairs that differ in it.
    pub(crate) fn of_bits(&self, bits: usize) -> Vec<f64> {
        let sum = |i: usize| {
            let sums = self.sums[i / 8].iter().enumerate();
            sums.filter(|(set, _)| set >> (i % 8) & 1 == 1).map(|(_, sum)| sum).sum()
        };
        (0..bits).map(sum).collect()
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::{Layout, rng};

    use super::*;

    fn packed(bits: &[bool]) -> Vec<u8> {
        let mut points = Packed::new(bits.len());
        points.push(bits.iter().copied());
        points.row(0).to_vec()
    }

    /// exp(−βL) of the complete graph with g nodes, by its power series.
    fn heat(g: usize, beta: f64) -> Vec<Vec<f64>> {
        let laplacian = |i, j| if i == j { g as f64 - 1.0 } else { -1.0 };
        let identity: Vec<Vec<f64>> = (0..g).map(|i| (0..g).map(|j| f64::from(i == j)).collect()).collect();
        let (mut sum, mut term) = (identity.clone(), identity);
        for k in 1..200 {
            let entry = |i: usize, j: usize| {
                (0..g).map(|l| term[i][l] * laplacian(l, j)).sum::<f64>() * -beta / f64::from(k)
            };
            term = (0..g).map(|i| (0..g).map(|j| entry(i, j)).collect()).collect();
            (0..g * g).for_each(|ij| sum[ij / g][ij % g] += term[ij / g][ij % g]);
        }
        sum
    }

    #[test]
    fn it_is_the_heat_kernel_of_the_product_of_complete_graphs() {
        // A free bit is a graph of 2 nodes; the diagonal of the heat kernel is scaled to 1.
        let (layout, rates) = (Layout::with_groups(8, vec![1..4, 4..8]).unwrap(), [0.4, 0.2, 0.7]);
        let levels = [2, 3, 4];
        let kernels: Vec<_> = levels.iter().zip(rates).map(|(&g, beta)| heat(g, beta)).collect();
        let log_theta: Vec<f64> = kernels.iter().map(|k| libm::log(-libm::log(k[0][1] / k[0][0]))).collect();
        // The formula for θ: ρ = (1 − e^{−gβ})/(1 + (g−1)e^{−gβ}).
        for ((&g, beta), kernel) in levels.iter().zip(rates).zip(&kernels) {
            let e = libm::exp(-(g as f64) * beta);
            let rho = (1.0 - e) / (1.0 + (g as f64 - 1.0) * e);
            assert!((kernel[0][1] / kernel[0][0] - rho).abs() < 1e-12);
        }
        let similarity = Similarity::new(&Variables::new(8, layout.groups()), &log_theta);
        let level = |x: &[bool], variable: usize| match variable {
            0 => usize::from(x[0]),
            1 => (1..4).position(|i| x[i]).unwrap(),
            _ => (4..8).position(|i| x[i]).unwrap(),
        };
        let mut rng = rng(1);
        for _ in 0..50 {
            let (a, b) = (layout.random(&mut rng), layout.random(&mut rng));
            let expected: f64 =
                (0..3).map(|v| kernels[v][level(&a, v)][level(&b, v)] / kernels[v][0][0]).product();
            assert!((similarity.between(&packed(&a), &packed(&b)) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_factor_is_what_a_turned_bit_changes() {
        let variables = Variables::new(20, &[3..7, 9..12]);
        assert_eq!(variables.count(), 15);
        let log_theta: Vec<f64> = (0..15).map(|i| -0.2 * f64::from(i)).collect();
        let similarity = Similarity::new(&variables, &log_theta);
        let mut rng = rng(2);
        for i in 0..20 {
            let (a, b) = (Layout::free(20).random(&mut rng), Layout::free(20).random(&mut rng));
            let mut turned = a.clone();
            turned.flip(i);
            let before = similarity.between(&packed(&a), &packed(&b));
            let after = similarity.between(&packed(&turned), &packed(&b));
            assert!((before * similarity.factor(i, a[i] != b[i]) / after - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn differences_are_summed_for_each_bit() {
        let mut differences = Differences::new(11);
        let point = |text: &str| packed(&text.bytes().map(|b| b == b'1').collect::<Vec<_>>());
        differences.add(&point("10000000001"), &point("00000000000"), 2.0);
        differences.add(&point("10000000000"), &point("01000000000"), 0.5);
        let sums = differences.of_bits(11);
        assert_eq!((sums[0], sums[1], sums[2], sums[10]), (2.5, 0.5, 0.0, 2.0));
    }
}
