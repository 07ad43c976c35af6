//! What the tests of several models share.

use plugin_api::{BitMatrix, Bits, DrawRequest, Layout, Penalty, Surrogate, rng};

/// How many bits the points have.
pub const BITS: usize = 6;

/// Panics unless a new model of [`BITS`] bits that learns transformed values predicts values themselves: those of an exponential
/// function between 5 and 60, from 60 of them. It has no effects, which would be those of what it learned.
pub fn check_transformed_predictions(mut model: impl Surrogate, name: &str) {
    let value = |x: &Bits| {
        let spread = 3.0 * f64::from(x[0]) - 2.0 * f64::from(x[1] && x[2]) + f64::from(x[3]);
        5.0 + libm::exp(spread)
    };
    let (layout, mut random) = (Layout::free(BITS), rng(3));
    let untold = model.predict(BitMatrix::new(BITS).view());
    assert!(matches!(untold, Ok(None)), "{name}: nothing is known yet, and it answers {untold:?}");
    for _ in 0..60 {
        let x = layout.random(&mut random);
        model.observe(&x, &value(&x).into()).expect("a value is observed");
    }
    // A penalty of draws is none of the values.
    model.draw(&DrawRequest::new(1).with_penalty(Penalty::l1(3.0))).expect("a function is drawn");
    let mut points = BitMatrix::new(BITS);
    let fresh: Vec<Bits> = (0..30).map(|_| layout.random(&mut random)).collect();
    fresh.iter().for_each(|x| points.push(x));
    let told = model.predict(points.view()).expect("values are predicted").expect("60 values are known");
    let (mut errors, mut spread, mut surprise) = (0.0, 0.0, 0.0);
    let centre = fresh.iter().map(value).sum::<f64>() / 30.0;
    for (x, (mean, deviation)) in fresh.iter().zip(told.means().iter().zip(told.deviations())) {
        let (error, off) = (mean - value(x), value(x) - centre);
        (errors, spread) = (errors + error * error, spread + off * off);
        surprise += error * error / (deviation * deviation) / 30.0;
    }
    assert!(errors < 0.1 * spread, "{name}: {errors} of {spread}");
    assert!(surprise < 4.0, "{name}: {surprise}");
    assert!(matches!(model.effects(), Ok(None)), "{name}: it has effects");
}
