//! The contract of each kind, ready to call in a plugin's own tests.
//!
//! Each function panics with a sentence at the first promise that is not kept:
//!
//! ```
//! use plugin_api::{Answer, Bits, Problem, Result, Solver, testing::check_solver};
//!
//! struct Nothing;
//! impl Solver for Nothing {
//!     fn minimize(&mut self, problem: &Problem, _seed: u64) -> Result<Answer> {
//!         let bits = Bits::zeros(problem.dimension());
//!         let value = problem.objective().value(&bits);
//!         Ok(Answer::new(bits, value))
//!     }
//! }
//! check_solver(|| Nothing);
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::random::normal;
use crate::{
    Acquisition, AcquisitionKind, Answer, Benchmark, Bits, Encoder, Function, Layout, Point, Problem,
    Quadratic, Rng, Solver, Space, Surrogate, Variable, rng,
};

/// Checks what [`Benchmark`] promises, with `make` giving the same instance each time.
pub fn check_benchmark<B: Benchmark>(make: impl Fn() -> B) {
    let (mut one, mut two) = (make(), make());
    let space = one.space();
    assert_eq!(space, one.space(), "space() differs from call to call");
    assert_eq!(space, two.space(), "space() differs between two of the same benchmark");

    let mut rng = rng(1);
    let points: Vec<Point> = (0..20).map(|_| space.random_point(&mut rng)).collect();
    let first: Vec<f64> = points.iter().map(|point| evaluate(&mut one, point, 5)).collect();
    for (point, &value) in points.iter().zip(&first).rev() {
        let again = evaluate(&mut two, point, 5);
        assert_eq!(value.to_bits(), again.to_bits(), "the same point and seed gave {value} and {again}");
        if one.deterministic() {
            let other = evaluate(&mut two, point, 6);
            assert_eq!(
                value.to_bits(),
                other.to_bits(),
                "deterministic, but another seed gave {other}, not {value}"
            );
        }
    }
}

fn evaluate(benchmark: &mut impl Benchmark, point: &Point, seed: u64) -> f64 {
    benchmark.evaluate(point, seed).unwrap_or_else(|error| panic!("evaluate({point:?}, {seed}): {error}"))
}

/// Checks what [`Encoder`] promises on binary, categorical and mixed spaces.
///
/// `make` answers `None` for a space that the encoder does not take.
pub fn check_encoder<E: Encoder>(make: impl Fn(&Space) -> Option<E>) {
    let spaces = [
        Space::binary(1),
        Space::binary(7),
        Space::new(vec![Variable::categorical("a", ["x", "y", "z"])]).expect("a valid space"),
        Space::new(vec![
            Variable::binary("a"),
            Variable::categorical("b", ["v", "w", "x", "y", "z"]),
            Variable::binary("c"),
            Variable::categorical("d", ["x", "y", "z"]),
        ])
        .expect("a valid space"),
    ];
    let mut taken = 0;
    for space in &spaces {
        let Some(encoder) = make(space) else { continue };
        taken += 1;
        check_encoder_on(space, &encoder);
    }
    assert!(taken > 0, "the encoder takes none of the {} spaces tried", spaces.len());
}

fn check_encoder_on(space: &Space, encoder: &impl Encoder) {
    let layout = encoder.layout();
    assert_eq!(layout, encoder.layout(), "layout() differs from call to call");
    let mut rng = rng(2);
    let mut seen = BTreeSet::new();
    for _ in 0..200 {
        let point = space.random_point(&mut rng);
        let bits = encoder.encode(&point).unwrap_or_else(|error| panic!("encode({point:?}): {error}"));
        assert!(layout.admits(&bits), "encode({point:?}) gave {bits}, which its own layout does not admit");
        let back = encoder.decode(&bits).unwrap_or_else(|error| panic!("decode({bits}): {error}"));
        assert_eq!(back, point, "decode(encode(point)) is another point");
        seen.insert((bits, point));

        let bits = layout.random(&mut rng);
        let point = encoder.decode(&bits).unwrap_or_else(|error| panic!("decode({bits}): {error}"));
        space.check(&point).unwrap_or_else(|error| panic!("decode({bits}) is outside the space: {error}"));
    }
    let bits: BTreeSet<&Bits> = seen.iter().map(|(bits, _)| bits).collect();
    assert_eq!(bits.len(), seen.len(), "two points have the same bits");
}

/// Checks what [`Surrogate`] promises, on free bits and on groups.
pub fn check_surrogate<S: Surrogate>(make: impl Fn(&Layout) -> S) {
    for layout in
        [Layout::free(1), Layout::free(6), Layout::with_groups(8, vec![1..4, 5..8]).expect("valid groups")]
    {
        check_surrogate_on(&layout, || make(&layout));
    }
}

fn check_surrogate_on<S: Surrogate>(layout: &Layout, make: impl Fn() -> S) {
    let (mut one, mut two) = (make(), make());
    let mut rng = rng(3);
    let n = layout.dimension();
    let probe: Vec<Bits> = (0..5).map(|_| layout.random(&mut rng)).collect();
    for step in 0..8 {
        let bits = layout.random(&mut rng);
        let value = bits.count_ones() as f64 + normal(&mut rng);
        for surrogate in [&mut one, &mut two] {
            surrogate
                .observe(&bits, value)
                .unwrap_or_else(|error| panic!("observe({bits}, {value}): {error}"));
        }
        let values = |surrogate: &mut S| {
            let drawn = surrogate.draw(step).unwrap_or_else(|error| panic!("draw({step}): {error}"));
            assert_eq!(
                drawn.dimension(),
                n,
                "the acquisition function has another dimension than the layout"
            );
            if surrogate.draws() == AcquisitionKind::Quadratic {
                assert_eq!(
                    drawn.kind(),
                    AcquisitionKind::Quadratic,
                    "drew a general function, against draws()"
                );
            }
            let values: Vec<u64> = probe.iter().map(|bits| drawn.value(bits).to_bits()).collect();
            assert!(
                values.iter().all(|&v| f64::from_bits(v).is_finite()),
                "the acquisition function is not finite"
            );
            values
        };
        let first = values(&mut one);
        assert_eq!(first, values(&mut two), "the same observations and seed drew two functions");
        // A state taken here goes on as the original does.
        if let Some(state) = one.save().unwrap_or_else(|error| panic!("save(): {error}")) {
            let mut restored = make();
            restored.restore(&state).unwrap_or_else(|error| panic!("restore() of its own state: {error}"));
            two = restored;
        }
    }
    let garbage = make().restore(b"not a state");
    assert!(garbage.is_err(), "restore() took bytes that are no state");
}

/// Checks what [`Solver`] promises on random problems, small and larger, with groups where it keeps them.
pub fn check_solver<S: Solver>(make: impl Fn() -> S) {
    let mut rng = rng(4);
    for n in [1, 2, 3, 5, 8, 12] {
        for case in 0..6 {
            let problem = || Problem::new(random_quadratic(&mut crate::rng(1000 * n as u64 + case), n));
            let exact = minimum(&problem());
            check_solver_on(&make, &problem, Some(exact));
            let incumbent: Bits = Layout::free(n).random(&mut rng);
            check_solver_on(&make, &|| problem().with_incumbent(incumbent.clone()), Some(exact));
        }
    }
    check_solver_on(&make, &|| Problem::new(Quadratic::zero(9)), Some(0.0));
    check_solver_on(&make, &|| Problem::new(random_quadratic(&mut crate::rng(9), 40)), None);
    if make().takes() == AcquisitionKind::General {
        let problem = || Problem::new(Acquisition::General(Arc::new(Parity(6))));
        check_solver_on(&make, &problem, Some(minimum(&problem())));
    }
    if make().keeps_groups() {
        let layout = Layout::with_groups(9, vec![0..3, 4..9]).expect("valid groups");
        let problem = || Problem::new(random_quadratic(&mut crate::rng(10), 9)).with_groups(&layout);
        let answer = check_solver_on(&make, &problem, None);
        assert!(layout.admits(answer.bits()), "keeps_groups(), but answered {}", answer.bits());
    }
}

fn check_solver_on<S: Solver>(
    make: &impl Fn() -> S,
    problem: &impl Fn() -> Problem,
    exact: Option<f64>,
) -> Answer {
    let minimize = |solver: &mut S, seed| {
        solver.minimize(&problem(), seed).unwrap_or_else(|error| panic!("minimize: {error}"))
    };
    let mut solver = make();
    let answer = minimize(&mut solver, 7);
    let problem = problem();
    assert_eq!(answer.bits().len(), problem.dimension(), "the answer has another length than the problem");
    let value = problem.objective().value(answer.bits());
    let scale = 1.0 + value.abs();
    assert!(
        (value - answer.value()).abs() <= 1e-9 * scale,
        "the answer's bits have the value {value}, not {}",
        answer.value()
    );
    assert_eq!(answer, minimize(&mut solver, 7), "asked twice with one seed, it gave two answers");
    assert_eq!(answer, minimize(&mut make(), 7), "asked anew with the same seed, it gave another answer");
    if let (Some(bound), Some(exact)) = (answer.bound(), exact) {
        assert!(bound <= exact + 1e-9 * scale, "the bound {bound} is above the minimum {exact}");
    }
    answer
}

/// A quadratic function with coefficients from N(0, 1), a third of the pairs 0.
pub fn random_quadratic(rng: &mut Rng, n: usize) -> Quadratic {
    let mut f = Quadratic::zero(n);
    f.add_constant(normal(rng));
    for i in 0..n {
        f.add_linear(i, normal(rng));
        for j in i + 1..n {
            let a = normal(rng);
            if a.abs() > 0.43 {
                f.add_pair(i, j, a);
            }
        }
    }
    f
}

/// The least value of a problem over all strings of bits that its groups admit, by trying each.
///
/// # Panics
/// Above 24 bits.
pub fn minimum(problem: &Problem) -> f64 {
    let n = problem.dimension();
    assert!(n <= 24, "trying 2^{n} points");
    let bits = |mask: u32| -> Vec<bool> { (0..n).map(|i| mask >> i & 1 == 1).collect() };
    let layout = Layout::with_groups(n, problem.groups().to_vec()).expect("a problem's groups are valid");
    let admitted = (0..1u32 << n).map(bits).filter(|bits| layout.admits(bits));
    admitted.map(|bits| problem.objective().value(&bits)).fold(f64::INFINITY, f64::min)
}

/// A function that no quadratic one equals: −1 for odd parity, with a slope that makes the minimum unique.
struct Parity(usize);

impl Function for Parity {
    fn dimension(&self) -> usize {
        self.0
    }
    fn value(&self, bits: &[bool]) -> f64 {
        let ones = bits.iter().filter(|&&bit| bit).count();
        0.1 * ones as f64 - (ones % 2) as f64
    }
}
