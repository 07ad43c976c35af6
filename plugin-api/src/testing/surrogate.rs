//! What a surrogate promises.

use super::function::check_acquisition;
use crate::random::normal;
use crate::{
    AcquisitionKind, BitMatrix, Bits, DrawRequest, Effect, Evaluation, Layout, Penalty, Predictions,
    Surrogate, rng,
};

/// Checks what [`Surrogate`] promises, on free bits and on groups, with and without a penalty.
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
    let mut probe = BitMatrix::new(layout.dimension());
    (0..5).for_each(|_| probe.push(&layout.random(&mut rng)));
    let mut observed: Vec<(f64, Bits)> = Vec::new();
    for step in 0..8 {
        let bits = layout.random(&mut rng);
        let value = bits.count_ones() as f64 + normal(&mut rng);
        for surrogate in [&mut one, &mut two] {
            observe(surrogate, &bits, &value.into());
            if step == 3 {
                observe(surrogate, &layout.random(&mut crate::rng(9)), &Evaluation::infeasible("it burns"));
            }
        }
        observed.push((value, bits));
        let request = request(step, layout, &mut observed);
        // Only one of the two is asked: a question changes no draw.
        check_predictions(one.predict(probe.view()), &probe);
        check_effects(one.effects(), layout.dimension());
        let first = values(&mut one, &request, layout, &probe);
        let second = values(&mut two, &request, layout, &probe);
        assert_eq!(first, second, "the same observations and request drew two functions");
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

fn observe(surrogate: &mut impl Surrogate, bits: &Bits, evaluation: &Evaluation) {
    let outcome = surrogate.observe(bits, evaluation);
    outcome.unwrap_or_else(|error| panic!("observe({bits}, {evaluation:?}): {error}"));
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
fn values<S: Surrogate>(
    surrogate: &mut S,
    request: &DrawRequest,
    layout: &Layout,
    probe: &BitMatrix,
) -> Vec<u64> {
    let drawn = surrogate.draw(request).unwrap_or_else(|error| panic!("draw({request:?}): {error}"));
    if surrogate.draws() == AcquisitionKind::Quadratic {
        assert_eq!(drawn.kind(), AcquisitionKind::Quadratic, "drew a general function, against draws()");
    }
    check_acquisition(&drawn, layout);
    let values: Vec<f64> = probe.rows().map(|bits| drawn.value(bits)).collect();
    assert!(values.iter().all(|value| value.is_finite()), "the acquisition function is not finite");
    values.into_iter().map(f64::to_bits).collect()
}

fn check_predictions(predictions: crate::Result<Option<Predictions>>, points: &BitMatrix) {
    let predictions = predictions.unwrap_or_else(|error| panic!("predict(): {error}"));
    let Some(predictions) = predictions else { return };
    assert_eq!(predictions.means().len(), points.len(), "predict() has not one prediction for each point");
    assert!(
        predictions.means().iter().all(|mean| mean.is_finite()),
        "predict() has means that are not finite"
    );
    let are_deviations = predictions.deviations().iter().all(|&deviation| is_deviation(deviation));
    assert!(are_deviations, "predict() has deviations that are negative or not finite");
}

fn check_effects(effects: crate::Result<Option<Vec<Effect>>>, n: usize) {
    let effects = effects.unwrap_or_else(|error| panic!("effects(): {error}"));
    for effect in effects.into_iter().flatten() {
        let bits = effect.bits();
        assert!(
            !bits.is_empty() && bits.is_sorted_by(|i, j| i < j) && bits.iter().all(|&i| i < n),
            "effects() has a term of the bits {bits:?}"
        );
        assert!(
            effect.size().is_finite() && is_deviation(effect.deviation()),
            "effects() has one of size {} with the deviation {}",
            effect.size(),
            effect.deviation()
        );
    }
}

fn is_deviation(deviation: f64) -> bool {
    deviation.is_finite() && deviation >= 0.0
}
