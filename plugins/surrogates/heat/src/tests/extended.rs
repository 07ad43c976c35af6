//! Numbers with twice the digits of a double: a sum of two (Dekker 1971), as an independent truth.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// high + low, the second below half a unit in the last place of the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extended {
    high: f64,
    low: f64,
}

impl Extended {
    pub(crate) fn to_f64(self) -> f64 {
        self.high + self.low
    }

    fn normal(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self { high: sum, low: low - (sum - high) }
    }
}

impl From<f64> for Extended {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Add for Extended {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let sum = self.high + other.high;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (other.high - part);
        Self::normal(sum, error + self.low + other.low)
    }
}

impl Neg for Extended {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for Extended {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Extended {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let halves = |x: f64| {
            let scaled = 134_217_729.0 * x;
            let high = scaled - (scaled - x);
            (high, x - high)
        };
        let product = self.high * other.high;
        let ((a, b), (c, d)) = (halves(self.high), halves(other.high));
        let error = ((a * c - product) + a * d + b * c) + b * d;
        Self::normal(product, error + (self.high * other.low + self.low * other.high))
    }
}

impl Div for Extended {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = Self::from(self.high / other.high);
        let rest = self - first * other;
        let second = Self::from(rest.high / other.high);
        let rest = rest - second * other;
        first + second + Self::from(rest.high / other.high)
    }
}

/// Solves Ax = b by Gauss-Jordan elimination with pivots.
pub(crate) fn eliminate(mut a: Vec<Vec<Extended>>, mut b: Vec<Extended>) -> Vec<Extended> {
    let n = b.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|&p, &q| a[p][i].high.abs().total_cmp(&a[q][i].high.abs())).unwrap();
        a.swap(i, pivot);
        b.swap(i, pivot);
        for row in (0..n).filter(|&row| row != i) {
            let factor = a[row][i] / a[i][i];
            let pivot = a[i].clone();
            a[row].iter_mut().zip(&pivot).for_each(|(entry, pivot)| *entry = *entry - factor * *pivot);
            b[row] = b[row] - factor * b[i];
        }
    }
    (0..n).map(|i| b[i] / a[i][i]).collect()
}

#[test]
fn a_third_times_three_is_one_to_thirty_digits() {
    let third = Extended::from(1.0) / Extended::from(3.0);
    let rest = third + third + third - Extended::from(1.0);
    assert!(rest.to_f64().abs() < 1e-31, "{rest:?}");
    let root = Extended::from(1e-20) + Extended::from(1.0);
    assert_eq!((root * root - Extended::from(1.0)).to_f64(), 2e-20);
}

#[test]
fn a_hilbert_matrix_is_solved() {
    // Its condition is 1e16: a solve with doubles has no digit left.
    let entry = |i: usize, j: usize| Extended::from(1.0) / Extended::from((i + j + 1) as f64);
    let a: Vec<Vec<Extended>> = (0..12).map(|i| (0..12).map(|j| entry(i, j)).collect()).collect();
    let b = a.iter().map(|row| row.iter().fold(Extended::from(0.0), |sum, x| sum + *x)).collect();
    for x in eliminate(a, b) {
        assert!((x.to_f64() - 1.0).abs() < 1e-12, "{x:?}");
    }
}
