//! What a benchmark promises.

use super::findings::{ANSWERS, Findings, Promise, Verdict, Watcher, insist};
use crate::{Benchmark, Evaluation, Point, Result, Sense, rng};

const PROMISES: &[Promise] = &[
    ANSWERS,
    ("space", "space() is the same at each call, and for every instance with the same options"),
    ("determinism", "the same point and seed give the same answer, in whatever order"),
    ("noise", "where deterministic() says so, every seed gives the same answer"),
    ("finite", "values are finite numbers"),
    ("optimum", "no value is better than optimum(), where that is known"),
];

/// Checks what [`Benchmark`] promises, with `make` giving the same instance each time.
///
/// The points tried are random ones that the space admits; where its constraints leave few, perhaps none.
///
/// # Panics
/// With the first promise that is not kept.
pub fn check_benchmark<B: Benchmark>(make: impl Fn() -> B) {
    insist(examine_benchmark(|| Ok(make()), &|_| {}));
}

/// The same with a verdict for each promise instead of a panic.
pub fn examine_benchmark<B: Benchmark>(make: impl Fn() -> Result<B>, watch: Watcher<'_>) -> Vec<Verdict> {
    let mut findings = Findings::new(PROMISES, watch);
    examine(&|| Ok(Box::new(make()?)), &mut findings);
    findings.verdicts()
}

type Make<'a> = &'a dyn Fn() -> Result<Box<dyn Benchmark + 'a>>;

fn examine(make: Make<'_>, findings: &mut Findings<'_>) -> Option<()> {
    let mut one = findings.call("making it", make)?;
    let mut two = findings.call("making it", make)?;
    let space = findings.call("space()", || one.space())?;
    let again = findings.call("space()", || one.space())?;
    findings.ensure("space", space == again, || "space() differs from call to call".to_owned());
    let other = findings.call("space()", || two.space())?;
    findings
        .ensure("space", space == other, || "space() differs between two of the same benchmark".to_owned());

    let mut rng = rng(1);
    let random = (0..10_000).map(|_| space.random_point(&mut rng));
    let points: Vec<Point> = random.filter(|point| space.admits(point)).take(20).collect();
    let evaluate = |findings: &mut Findings<'_>, benchmark: &mut dyn Benchmark, point: &Point, seed: u64| {
        findings
            .call(&format!("evaluate({}, {seed})", space.describe(point)), || benchmark.evaluate(point, seed))
    };
    let mut first = Vec::new();
    for point in &points {
        let evaluation = evaluate(findings, &mut *one, point, 5)?;
        let value = evaluation.value().unwrap_or(0.0);
        findings.ensure("finite", value.is_finite(), || {
            format!("the value is {value} at {}", space.describe(point))
        });
        first.push(evaluation);
    }
    for (point, first) in points.iter().zip(&first).rev() {
        let again = evaluate(findings, &mut *two, point, 5)?;
        findings.ensure("determinism", are_same(first, &again), || {
            format!("the same point and seed gave {first:?} and {again:?}")
        });
        if one.deterministic() {
            let other = evaluate(findings, &mut *two, point, 6)?;
            findings.ensure("noise", are_same(first, &other), || {
                format!("deterministic, but another seed gave {other:?}, not {first:?}")
            });
        }
    }
    if one.deterministic()
        && let Some(optimum) = findings.call("optimum(0)", || one.optimum(0.0))?
    {
        let room = 1e-9 * (1.0 + optimum.abs());
        let beats = |value: &f64| match one.sense() {
            Sense::Minimize => *value < optimum - room,
            Sense::Maximize => *value > optimum + room,
        };
        let better = first.iter().filter_map(Evaluation::value).find(beats);
        findings.ensure("optimum", optimum.is_finite() && better.is_none(), || match better {
            Some(value) => format!("a point has the value {value}, better than the optimum {optimum}"),
            None => format!("the optimum is {optimum}"),
        });
    }
    Some(())
}

/// To the bit: NaN is the same as NaN, and 0 is not −0.
fn are_same(one: &Evaluation, two: &Evaluation) -> bool {
    match (one, two) {
        (Evaluation::Value(one), Evaluation::Value(two)) => one.to_bits() == two.to_bits(),
        _ => one == two,
    }
}
