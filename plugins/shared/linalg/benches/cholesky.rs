//! Milliseconds for one factor: `cargo bench -p shared-linalg`.

use divan::Bencher;
use shared_linalg::cholesky;

fn main() {
    divan::main();
}

#[divan::bench(args = [55, 100, 170, 300, 600])]
fn factor(bencher: Bencher<'_, '_>, n: usize) {
    let entry = |i: usize, j: usize| if i == j { n as f64 } else { ((i * j) % 7) as f64 / 7.0 - 0.5 };
    let a: Vec<f64> = (0..n * n).map(|k| entry((k / n).min(k % n), (k / n).max(k % n))).collect();
    bencher.with_inputs(|| a.clone()).bench_values(|mut a| {
        cholesky(&mut a, n).expect("a dominant diagonal");
        a
    });
}
