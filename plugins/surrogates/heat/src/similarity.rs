//! The heat kernel between points, eight bits at a time.
//!
//! k(x, x') = exp(−Σ θᵢ [xᵢ ≠ x'ᵢ]) over variables. Two levels of a one-hot group differ in two bits, so a bit of a
//! group has half of its variable's θ, a free bit all of it, and the kernel is a product over the bits that differ. The
//! products of each eight bits stand in a table.

use std::ops::Range;

use crate::kernel::{Kernel, WIDTH};

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

/// Points, packed eight bits to the byte, a row each, and again [`WIDTH`] points at a time.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    /// For each [`WIDTH`] points, of each byte those of all of them.
    blocks: Vec<[u8; WIDTH]>,
    width: usize,
    count: usize,
}

impl Packed {
    pub(crate) fn new(bits: usize) -> Self {
        Self { bytes: Vec::new(), blocks: Vec::new(), width: bits.div_ceil(8), count: 0 }
    }

    pub(crate) fn push(&mut self, bits: impl ExactSizeIterator<Item = bool>) {
        debug_assert_eq!(bits.len().div_ceil(8), self.width);
        let first = self.bytes.len();
        self.bytes.resize(first + self.width, 0);
        for (i, bit) in bits.enumerate() {
            self.bytes[first + i / 8] |= u8::from(bit) << (i % 8);
        }
        let column = self.count % WIDTH;
        if column == 0 {
            self.blocks.resize(self.blocks.len() + self.width, [0; WIDTH]);
        }
        let block = self.blocks.len() - self.width;
        for (block, byte) in self.blocks[block..].iter_mut().zip(&self.bytes[first..]) {
            block[column] = *byte;
        }
        self.count += 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn row(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.width..][..self.width]
    }

    /// The points from `first` on, which is a multiple of [`WIDTH`]; of those that are missing, no bit is set.
    pub(crate) fn block(&self, first: usize) -> &[[u8; WIDTH]] {
        &self.blocks[first / WIDTH * self.width..][..self.width]
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

    /// k of a packed point and each of a [block](Packed::block) of others.
    pub(crate) fn with_block(&self, kernel: Kernel, a: &[u8], block: &[[u8; WIDTH]]) -> [f64; WIDTH] {
        kernel.products(&self.tables, a, block)
    }

    /// What k of two points is multiplied by when bit `i` of one of them is turned over.
    pub(crate) fn factor(&self, i: usize, differs: bool) -> f64 {
        self.factors[i][usize::from(differs)]
    }
}

/// Bits as spins, ±1, of [`WIDTH`] bits at a time a column each: those that start with bit `first`.
pub(crate) fn spins(points: &Packed, first: usize, size: usize, spins: &mut Vec<[f64; WIDTH]>) {
    spins.clear();
    let spin = |byte: u8, w: usize| if byte >> w & 1 == 1 { 1.0 } else { -1.0 };
    spins.extend((0..points.len()).map(|i| {
        let byte = points.row(i)[first / 8];
        std::array::from_fn(|w| spin(byte, w))
    }));
    spins.resize(size, [0.0; WIDTH]);
}

#[cfg(test)]
mod tests {
    use plugin_api::{Layout, rng};

    use super::*;

    fn between(similarity: &Similarity, a: &[bool], b: &[bool]) -> f64 {
        let mut points = Packed::new(a.len());
        (0..10).for_each(|_| points.push(b.iter().copied()));
        points.push(a.iter().copied());
        let kernels = similarity.with_block(Kernel::available()[0], points.row(10), points.block(8));
        assert_eq!(kernels[2], 1.0, "k(a, a)");
        assert_eq!(kernels[0], kernels[1]);
        kernels[0]
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
            assert!((between(&similarity, &a, &b) - expected).abs() < 1e-12);
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
            let before = between(&similarity, &a, &b);
            let after = between(&similarity, &turned, &b);
            assert!((before * similarity.factor(i, a[i] != b[i]) / after - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn bits_are_spins() {
        let mut points = Packed::new(11);
        points.push("10000000001".bytes().map(|b| b == b'1'));
        points.push("01000000000".bytes().map(|b| b == b'1'));
        let mut columns = Vec::new();
        spins(&points, 8, 8, &mut columns);
        assert_eq!(
            (columns.len(), columns[0][..3].to_vec(), columns[2]),
            (8, vec![-1.0, -1.0, 1.0], [0.0; 8])
        );
        spins(&points, 0, 8, &mut columns);
        assert_eq!((columns[0][0], columns[0][1], columns[1][0], columns[1][1]), (1.0, -1.0, -1.0, 1.0));
    }
}
