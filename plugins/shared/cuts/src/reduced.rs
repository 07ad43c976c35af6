//! A function with some of its bits fixed: a function of the others.

use plugin_api::{Bits, Quadratic};

/// A function of the bits that are not fixed.
pub struct Reduced {
    pub function: Quadratic,
    /// The places of its bits among all.
    free: Vec<usize>,
    fixed: Vec<Option<bool>>,
}

impl Reduced {
    /// `f` with some bits fixed. Its values are those of `f` but for rounding: sums of at most 2n numbers, whose
    /// sizes add up to no more than those of all coefficients.
    pub fn new(f: &Quadratic, fixed: Vec<Option<bool>>) -> Self {
        let free: Vec<usize> = (0..fixed.len()).filter(|&i| fixed[i].is_none()).collect();
        if free.len() == fixed.len() {
            return Self { function: f.clone(), free, fixed };
        }
        let set: Vec<usize> = (0..fixed.len()).filter(|&i| fixed[i] == Some(true)).collect();
        let mut constant = f.constant();
        for (k, &i) in set.iter().enumerate() {
            constant += f.linear()[i] + set[k + 1..].iter().map(|&j| f.pair(i, j)).sum::<f64>();
        }
        let linear = |&i: &usize| f.linear()[i] + set.iter().map(|&j| f.pair(i, j)).sum::<f64>();
        let mut function = Quadratic::zero(free.len());
        function.add_constant(constant);
        for (k, i) in free.iter().enumerate() {
            function.add_linear(k, linear(i));
            let row = f.row(*i);
            (k + 1..free.len()).for_each(|l| function.add_pair(k, l, row[free[l] - i - 1]));
        }
        Self { function, free, fixed }
    }

    /// Where bit `k` of the function is among all.
    pub fn place(&self, k: usize) -> usize {
        self.free[k]
    }

    /// Takes over into `all` what is fixed of the free bits.
    pub fn fix(&self, all: &mut [Option<bool>], of_free: &[Option<bool>]) {
        self.free.iter().zip(of_free).for_each(|(&i, &fixed)| all[i] = all[i].or(fixed));
    }

    /// The free ones among all bits.
    pub fn restrict(&self, bits: &[bool]) -> Bits {
        self.free.iter().map(|&i| bits[i]).collect()
    }

    /// All bits, from the free ones.
    pub fn lift(&self, bits: &Bits) -> Bits {
        let mut all: Bits = self.fixed.iter().map(|fixed| fixed.unwrap_or(false)).collect();
        self.free.iter().zip(bits.iter()).for_each(|(&i, &bit)| all[i] = bit);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::testing::random_quadratic;
    use plugin_api::{Layout, rng};

    #[test]
    fn it_has_the_values_of_the_whole() {
        let rng = &mut rng(1);
        for _ in 0..50 {
            let f = random_quadratic(rng, 9);
            let (values, which) = (Layout::free(9).random(rng), Layout::free(9).random(rng));
            let fixed =
                values.iter().zip(which.iter()).map(|(&value, &fixed)| fixed.then_some(value)).collect();
            let reduced = Reduced::new(&f, fixed);
            assert_eq!(reduced.function.dimension(), 9 - which.count_ones());
            let free = Layout::free(reduced.function.dimension()).random(rng);
            let all = reduced.lift(&free);
            assert!((f.value(&all) - reduced.function.value(&free)).abs() < 1e-12);
            assert_eq!(reduced.restrict(&all), free);
            assert!((0..9).all(|i| !which[i] || all[i] == values[i]));
            let mut fixed = vec![None; 9];
            reduced.fix(&mut fixed, &free.iter().map(|&bit| Some(bit)).collect::<Vec<_>>());
            assert!((0..9).all(|i| fixed[i] == (!which[i]).then_some(all[i])));
            assert!((0..free.len()).all(|k| free[k] == all[reduced.place(k)]));
        }
    }
}
