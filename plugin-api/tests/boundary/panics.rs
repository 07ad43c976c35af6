//! A panic in a plugin is an error that says where it happened, and the process lives.

use std::fs;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use plugin_api::ndarray::{Array2, ArrayView2, ArrayViewMut2};
use plugin_api::serde_json::{Value, json};
use plugin_api::tracing::Level;
use plugin_api::{
    Acquisition, Benchmark, BitMatrix, Bits, DrawRequest, Encoder, ErrorKind, Evaluation, Function, Layout,
    Penalty, Point, Problem, Quadratic, Result, Solver, Space, Surrogate,
};

use crate::log::heard_during;
use crate::plugin;

/// What a panic in a fixture becomes: the place of `code` in its source, and `words`.
pub(crate) fn note(fixture: &str, code: &str, words: &str) -> String {
    let file = Path::new(fixture).join("src").join("lib.rs");
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(&file))
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let lines: Vec<usize> =
        (1..).zip(source.lines()).filter(|(_, line)| line.contains(code)).map(|(i, _)| i).collect();
    let [line] = lines[..] else { panic!("`{code}` stands on the lines {lines:?} of {}", file.display()) };
    format!("panicked at {}:{line}: {words}", file.display())
}

/// Each case is the option for where to panic, the code that does, and its words. `life` calls everything.
fn check(fixture: &str, life: impl Fn(&Value) -> Result<()>, cases: &[(&str, &str, &str)]) {
    for (panics, code, words) in cases {
        let error = life(&json!({ "panics": panics })).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Panicked, ""), "{panics}: {error}");
        assert_eq!(error.message(), note(fixture, code, words), "{panics}");
        life(&json!({})).unwrap_or_else(|error| panic!("after a panic in {panics}: {error}"));
    }
}

#[test]
fn a_panic_in_any_part_of_a_benchmark_is_an_error_with_its_place() {
    let life = |options: &Value| {
        let mut benchmark = plugin("benchmark").benchmark(options, 7)?;
        benchmark.evaluate(&Point::from(vec![1, 2]), 3)?;
        benchmark.optimum(0.5)?;
        benchmark.close()
    };
    let cases = [
        ("make", "panic!(\"made with", "made with seed 7"),
        ("space", "panic!(\"no space", "no space left"),
        ("evaluate", "panic!(\"evaluated with", "evaluated with seed 3"),
        ("assertion", "assert_eq!(", "assertion `left == right` failed: of the seed; left: 3; right: 1"),
        ("payload", "panic_any(", "a panic without words"),
        ("optimum", "panic!(\"no optimum", "no optimum for 0.5"),
        ("drop", "panic!(\"dropped with", "dropped with seed 7"),
    ];
    check("benchmark", life, &cases);
}

#[test]
fn a_panic_in_any_part_of_an_encoder_is_an_error_with_its_place() {
    let life = |options: &Value| {
        let encoder = plugin("encoder").encoder(options, &Space::binary(2))?;
        encoder.encode(&Point::from(vec![1, 0]))?;
        encoder.decode(&Bits::zeros(2))?;
        encoder.close()
    };
    let cases = [
        ("layout", "panic!(\"laid out", "laid out"),
        ("encode", "panic!(\"encoded", "encoded Point([1, 0])"),
        ("decode", "panic!(\"decoded", "decoded 00"),
        ("drop", "panic!(\"dropped", "dropped the encoder"),
    ];
    check("encoder", life, &cases);
}

#[test]
fn a_panic_in_any_part_of_a_surrogate_is_an_error_with_its_place() {
    let life = |options: &Value| {
        let mut options = options.clone();
        options["general"] = true.into();
        let mut surrogate = plugin("surrogate").surrogate(&options, &Layout::free(2))?;
        surrogate.observe(&Bits::zeros(2), &1.0.into())?;
        let burnt = surrogate.observe(&Bits::zeros(2), &Evaluation::infeasible("it burns"));
        // The fixture answers an error of its own.
        burnt.or_else(|error| if error.kind() == ErrorKind::Failed { Ok(()) } else { Err(error) })?;
        surrogate.draw(&DrawRequest::new(3))?;
        surrogate.predict(points().view())?;
        surrogate.effects()?;
        surrogate.notes()?;
        surrogate.save()?;
        surrogate.restore(&[0; 16])?;
        surrogate.close()
    };
    let cases = [
        ("draws", "panic!(\"asked what", "asked what it draws"),
        ("observe", "panic!(\"observed", "observed 00"),
        ("observe-infeasible", "panic!(\"was told", "was told of 00"),
        ("draw", "panic!(\"drew with", "drew with seed 3"),
        ("predict", "panic!(\"predicted", "predicted 3 points"),
        ("effects", "panic!(\"asked for effects", "asked for effects"),
        ("notes", "panic!(\"asked for notes", "asked for notes"),
        ("save", "panic!(\"saved", "saved"),
        ("restore", "panic!(\"restored", "restored 16 bytes"),
        ("dimension", "panic!(\"without a", "without a dimension"),
        ("drop", "panic!(\"dropped the surrogate", "dropped the surrogate"),
    ];
    check("surrogate", life, &cases);
}

#[test]
fn a_panic_in_any_part_of_a_solver_is_an_error_with_its_place() {
    let life = |options: &Value| {
        let mut solver = plugin("solver").solver(options)?;
        solver.minimize(&Problem::new(Quadratic::zero(2)), 3)?;
        solver.save()?;
        solver.restore(&[0; 8])?;
        solver.close()
    };
    let cases = [
        ("takes", "panic!(\"asked what it takes", "asked what it takes"),
        ("keeps", "panic!(\"asked what it keeps", "asked what it keeps"),
        ("minimize", "panic!(\"minimized with", "minimized with seed 3"),
        ("save", "panic!(\"saved", "saved"),
        ("restore", "panic!(\"restored", "restored 8 bytes"),
        ("drop", "panic!(\"dropped", "dropped the solver"),
    ];
    check("solver", life, &cases);
}

#[test]
fn a_panic_that_the_plugin_caught_is_not_taken_for_another() {
    let mut benchmark = plugin("benchmark").benchmark(&json!({ "panics": "rethrown" }), 7).unwrap();
    let error = benchmark.evaluate(&Point::from(vec![1, 2]), 3).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Panicked, "panicked: thrown again"));
}

#[test]
fn a_plugin_goes_on_after_a_panic() {
    let mut benchmark = plugin("benchmark").benchmark(&json!({ "panics": "optimum" }), 7).unwrap();
    assert!(benchmark.optimum(0.5).is_err());
    assert_eq!(benchmark.evaluate(&Point::from(vec![0, 2]), 3), Ok(f64::from_bits(2).into()));
    assert!(benchmark.close().is_ok());
}

#[test]
fn a_panic_in_a_destructor_that_nobody_closed_is_logged() {
    type Make = fn() -> Result<Box<dyn Send>>;
    let makers: [(&str, &str, Make); 4] = [
        ("benchmark", "dropped with seed 7", || {
            Ok(Box::new(plugin("benchmark").benchmark(&json!({ "panics": "drop" }), 7)?))
        }),
        ("encoder", "dropped the encoder", || {
            Ok(Box::new(plugin("encoder").encoder(&json!({ "panics": "drop" }), &Space::binary(2))?))
        }),
        ("surrogate", "dropped the surrogate", || {
            Ok(Box::new(plugin("surrogate").surrogate(&json!({ "panics": "drop" }), &Layout::free(2))?))
        }),
        ("solver", "dropped the solver", || {
            Ok(Box::new(plugin("solver").solver(&json!({ "panics": "drop" }))?))
        }),
    ];
    for (fixture, words, make) in makers {
        let made = make().unwrap();
        let heard = heard_during(Level::TRACE, || drop(made));
        let note = note(fixture, &format!("panic!(\"{}", words.trim_end_matches('7')), words);
        let [(level, _, fields, _)] = &heard[..] else { panic!("heard {heard:?}") };
        assert_eq!(*level, Level::ERROR);
        assert!(fields.contains(&format!("message: while closing a plugin: {note}. ")), "{fields}");
    }
}

/// A general function of the surrogate's dylib that panics as its option says.
fn panicking_function(panics: &str) -> Acquisition {
    let options = json!({ "general": true, "panics": panics });
    let mut surrogate = plugin("surrogate").surrogate(&options, &Layout::free(2)).unwrap();
    surrogate.observe(&Bits::zeros(2), &1.0.into()).unwrap();
    surrogate.draw(&DrawRequest::new(1)).unwrap()
}

/// Three points of two bits.
fn points() -> BitMatrix {
    let mut points = BitMatrix::new(2);
    (0..3).for_each(|_| points.push(&[true, false]));
    points
}

fn minimize(acquisition: Acquisition) -> Result<()> {
    let mut solver = plugin("solver").solver(&json!({ "general": true }))?;
    solver.minimize(&Problem::new(acquisition), 1).map(|_| ())
}

fn value_note() -> String {
    note("surrogate", "panic!(\"the value of", "the value of 2 bits")
}

/// What a panic in a call for several points becomes.
fn bulk_notes(points: usize) -> [(&'static str, String); 2] {
    let note = |code, word| note("surrogate", code, &format!("the {word} of {points} points"));
    [
        ("values", note("panic!(\"the values of", "values")),
        ("move-gains", note("panic!(\"the moves of", "moves")),
    ]
}

#[test]
fn a_panic_in_a_function_of_one_dylib_is_the_error_of_the_solver_in_another() {
    let error = minimize(panicking_function("value")).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Panicked, value_note().as_str()));
    let error = minimize(panicking_function("flip-gain")).unwrap_err();
    assert_eq!(error.message(), note("surrogate", "panic!(\"the gain", "the gain of bit 1"));
    for (panics, note) in bulk_notes(2) {
        // Within the penalty, which is a function of the same dylib, and without.
        for function in
            [panicking_function(panics), panicking_function(panics).with_penalty(&Penalty::l1(0.5))]
        {
            let error = minimize(function).unwrap_err();
            assert_eq!((error.kind(), error.message()), (ErrorKind::Panicked, note.as_str()));
        }
    }
    minimize(panicking_function("nowhere")).unwrap();
}

#[test]
fn a_panic_in_a_function_within_a_function_of_the_host_keeps_its_place() {
    struct Penalized(Acquisition);
    impl Function for Penalized {
        fn dimension(&self) -> usize {
            self.0.dimension()
        }
        fn value(&self, bits: &[bool]) -> f64 {
            self.0.value(bits) + 1.0
        }
        fn values(&self, points: ArrayView2<'_, bool>, values: &mut [f64]) {
            self.0.values(points, values);
        }
        fn move_gains(
            &self,
            points: ArrayView2<'_, bool>,
            groups: &[Range<usize>],
            gains: ArrayViewMut2<'_, f64>,
        ) {
            self.0.move_gains(points, groups, gains);
        }
    }
    let within = |panics: &str| {
        minimize(Acquisition::General(Arc::new(Penalized(panicking_function(panics))))).unwrap_err()
    };
    for (panics, note) in [("value", value_note())].into_iter().chain(bulk_notes(2)) {
        let error = within(panics);
        assert_eq!((error.kind(), error.message()), (ErrorKind::Panicked, note.as_str()));
    }
}

#[test]
fn a_panic_in_a_function_that_the_host_calls_itself_is_a_panic_with_the_place() {
    let function = panicking_function("value");
    let payload = catch_unwind(AssertUnwindSafe(|| function.value(&[true, false]))).unwrap_err();
    assert_eq!(payload.downcast_ref::<String>(), Some(&value_note()));
    let bulk = |panics: &str| {
        let (function, points) = (panicking_function(panics), points());
        catch_unwind(AssertUnwindSafe(|| {
            function.values(points.view(), &mut [0.0; 3]);
            function.move_gains(points.view(), &[], Array2::zeros((3, 2)).view_mut());
        }))
        .unwrap_err()
    };
    for (panics, note) in bulk_notes(3) {
        assert_eq!(bulk(panics).downcast_ref::<String>(), Some(&note));
    }
}

#[test]
fn a_panic_in_the_destructor_of_a_function_is_logged() {
    let function = panicking_function("drop-function");
    let heard = heard_during(Level::TRACE, || drop(function));
    let note = note("surrogate", "panic!(\"dropped the function", "dropped the function");
    let [(Level::ERROR, _, fields, _)] = &heard[..] else { panic!("heard {heard:?}") };
    assert!(fields.contains(&note), "{fields}");
}
