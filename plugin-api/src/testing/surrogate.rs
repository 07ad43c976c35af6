//! What a surrogate promises.

use super::findings::{ANSWERS, Findings, Promise, Verdict, Watcher, insist};
use super::function::examine_acquisition;
use crate::random::normal;
use crate::{
    AcquisitionKind, BitMatrix, Bits, DrawRequest, Effect, Evaluation, Layout, Penalty, Predictions, Result,
    Surrogate, rng,
};

const PROMISES: &[Promise] = &[
    ANSWERS,
    ("determinism", "the same observations and request draw the same function; questions change no draw"),
    ("function", "what is drawn is finite, and agrees with itself; quadratic where draws() says so"),
    ("predictions", "predict() has a finite mean and a deviation for each point"),
    ("effects", "effects() has terms of bits, ascending, of finite size"),
    ("state", "what restore() was given goes on as the original does, and garbage is refused"),
];

/// Checks what [`Surrogate`] promises, on free bits and on groups, with and without a penalty.
///
/// # Panics
/// With the first promise that is not kept.
pub fn check_surrogate<S: Surrogate>(make: impl Fn(&Layout) -> S) {
    insist(examine_surrogate(|layout| Ok(make(layout)), &|_| {}));
}

/// The same with a verdict for each promise instead of a panic.
pub fn examine_surrogate<S: Surrogate>(
    make: impl Fn(&Layout) -> Result<S>,
    watch: Watcher<'_>,
) -> Vec<Verdict> {
    examine_all(&|layout| Ok(Box::new(make(layout)?)), watch)
}

type Make<'a> = &'a dyn Fn(&Layout) -> Result<Box<dyn Surrogate + 'a>>;

fn examine_all(make: Make<'_>, watch: Watcher<'_>) -> Vec<Verdict> {
    let mut findings = Findings::new(PROMISES, watch);
    let groups = Layout::with_groups(8, vec![1..4, 5..8]).expect("valid groups");
    // The last is large, and observed little.
    for (layout, steps) in [(Layout::free(1), 8), (Layout::free(6), 8), (groups, 8), (Layout::free(40), 2)] {
        if examine(&layout, steps, make, &mut findings).is_none() {
            break;
        }
    }
    findings.verdicts()
}

fn examine(layout: &Layout, steps: u64, make: Make<'_>, findings: &mut Findings<'_>) -> Option<()> {
    let make = || make(layout);
    let mut one = findings.call("making it", make)?;
    let mut two = findings.call("making it", make)?;
    let mut rng = rng(3);
    let mut probe = BitMatrix::new(layout.dimension());
    (0..5).for_each(|_| probe.push(&layout.random(&mut rng)));
    let mut observed: Vec<(f64, Bits)> = Vec::new();
    for step in 0..steps {
        let bits = layout.random(&mut rng);
        let value = bits.count_ones() as f64 + normal(&mut rng);
        for surrogate in [&mut one, &mut two] {
            observe(&mut **surrogate, &bits, &value.into(), findings)?;
            if step == 3 {
                let burning = layout.random(&mut crate::rng(9));
                observe(&mut **surrogate, &burning, &Evaluation::infeasible("it burns"), findings)?;
            }
        }
        observed.push((value, bits));
        let request = request(step, layout, &mut observed);
        // Only one of the two is asked: a question changes no draw.
        let predictions = findings.call("predict()", || one.predict(probe.view()))?;
        if let Err(why) = check_predictions(predictions, &probe) {
            findings.note("predictions", || why);
        }
        let effects = findings.call("effects()", || one.effects())?;
        if let Err(why) = check_effects(effects, layout.dimension()) {
            findings.note("effects", || why);
        }
        let first = values(&mut *one, &request, layout, &probe, findings)?;
        let second = values(&mut *two, &request, layout, &probe, findings)?;
        let same = findings.ensure("determinism", first == second, || {
            "the same observations and request drew two functions".to_owned()
        });
        if !same {
            return None;
        }
        // A state taken here goes on as the original does.
        if let Some(state) = findings.call("save()", || one.save())? {
            let mut restored = findings.call("making it", make)?;
            if let Err(error) = restored.restore(&state) {
                findings.note("state", || format!("restore() of its own state: {error}"));
                return None;
            }
            two = restored;
        }
    }
    let mut other = findings.call("making it", make)?;
    let garbage = other.restore(b"not a state");
    findings.ensure("state", garbage.is_err(), || "restore() took bytes that are no state".to_owned());
    Some(())
}

fn observe(
    surrogate: &mut dyn Surrogate,
    bits: &Bits,
    evaluation: &Evaluation,
    findings: &mut Findings<'_>,
) -> Option<()> {
    findings.call(&format!("observe({bits}, {evaluation:?})"), || surrogate.observe(bits, evaluation))
}

/// Every other one has a penalty, half of these with bits turned over; all have the points observed, and one under way.
fn request(step: u64, layout: &Layout, observed: &mut [(f64, Bits)]) -> DrawRequest {
    let penalty = match step % 4 {
        1 => Penalty::l1(0.25),
        3 => Penalty::l1(0.25).from_point(layout.random(&mut rng(step))),
        _ => Penalty::default(),
    };
    let total = |(value, bits): &(f64, Bits)| value + penalty.of(bits);
    observed.sort_by(|a, b| total(a).total_cmp(&total(b)));
    let mut best = BitMatrix::new(layout.dimension());
    best.extend(observed.iter().map(|(_, bits)| bits));
    let mut pending = BitMatrix::new(layout.dimension());
    pending.push(&layout.random(&mut rng(step)));
    DrawRequest::new(step)
        .with_iteration(step as usize + 1)
        .with_best_total(total(&observed[0]))
        .with_penalty(penalty)
        .with_noisy(step % 3 == 2)
        .with_best_points(best)
        .with_pending(pending)
}

/// The values at the probe of a function drawn, to the bit.
fn values(
    surrogate: &mut dyn Surrogate,
    request: &DrawRequest,
    layout: &Layout,
    probe: &BitMatrix,
    findings: &mut Findings<'_>,
) -> Option<Vec<u64>> {
    let what = format!("draw() of iteration {}", request.iteration());
    let drawn = findings.call(&what, || surrogate.draw(request))?;
    if surrogate.draws() == AcquisitionKind::Quadratic {
        findings.ensure("function", drawn.kind() == AcquisitionKind::Quadratic, || {
            "drew a general function, against draws()".to_owned()
        });
    }
    examine_acquisition(&drawn, layout, findings)?;
    let values: Vec<f64> = probe.rows().map(|bits| drawn.value(bits)).collect();
    findings.ensure("function", values.iter().all(|value| value.is_finite()), || {
        "the acquisition function is not finite".to_owned()
    });
    Some(values.into_iter().map(f64::to_bits).collect())
}

fn check_predictions(predictions: Option<Predictions>, points: &BitMatrix) -> Result<(), String> {
    let Some(predictions) = predictions else { return Ok(()) };
    if predictions.means().len() != points.len() {
        return Err("predict() has not one prediction for each point".to_owned());
    }
    if !predictions.means().iter().all(|mean| mean.is_finite()) {
        return Err("predict() has means that are not finite".to_owned());
    }
    match predictions.deviations().iter().all(|&deviation| is_deviation(deviation)) {
        true => Ok(()),
        false => Err("predict() has deviations that are negative or not finite".to_owned()),
    }
}

fn check_effects(effects: Option<Vec<Effect>>, n: usize) -> Result<(), String> {
    for effect in effects.into_iter().flatten() {
        let bits = effect.bits();
        if bits.is_empty() || !bits.is_sorted_by(|i, j| i < j) || bits.iter().any(|&i| i >= n) {
            return Err(format!("effects() has a term of the bits {bits:?}"));
        }
        let (size, deviation) = (effect.size(), effect.deviation());
        if !size.is_finite() || !is_deviation(deviation) {
            return Err(format!("effects() has one of size {size} with the deviation {deviation}"));
        }
    }
    Ok(())
}

fn is_deviation(deviation: f64) -> bool {
    deviation.is_finite() && deviation >= 0.0
}
