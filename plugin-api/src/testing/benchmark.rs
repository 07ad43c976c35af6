//! What a benchmark promises.

use crate::{Benchmark, Evaluation, Point, rng};

/// Checks what [`Benchmark`] promises, with `make` giving the same instance each time.
///
/// The points tried are random ones that the space admits; where its constraints leave few, perhaps none.
pub fn check_benchmark<B: Benchmark>(make: impl Fn() -> B) {
    let (mut one, mut two) = (make(), make());
    let space_of = |benchmark: &B| benchmark.space().unwrap_or_else(|error| panic!("space(): {error}"));
    let space = space_of(&one);
    assert_eq!(space, space_of(&one), "space() differs from call to call");
    assert_eq!(space, space_of(&two), "space() differs between two of the same benchmark");

    let mut rng = rng(1);
    let random = (0..10_000).map(|_| space.random_point(&mut rng));
    let points: Vec<Point> = random.filter(|point| space.admits(point)).take(20).collect();
    let first: Vec<Evaluation> = points.iter().map(|point| evaluate(&mut one, point, 5)).collect();
    for (point, first) in points.iter().zip(&first).rev() {
        let again = evaluate(&mut two, point, 5);
        assert!(are_same(first, &again), "the same point and seed gave {first:?} and {again:?}");
        if one.deterministic() {
            let other = evaluate(&mut two, point, 6);
            assert!(are_same(first, &other), "deterministic, but another seed gave {other:?}, not {first:?}");
        }
    }
}

fn evaluate(benchmark: &mut impl Benchmark, point: &Point, seed: u64) -> Evaluation {
    benchmark.evaluate(point, seed).unwrap_or_else(|error| panic!("evaluate({point:?}, {seed}): {error}"))
}

/// To the bit: NaN is the same as NaN, and 0 is not −0.
fn are_same(one: &Evaluation, two: &Evaluation) -> bool {
    match (one, two) {
        (Evaluation::Value(one), Evaluation::Value(two)) => one.to_bits() == two.to_bits(),
        _ => one == two,
    }
}
