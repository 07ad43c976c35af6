//! Every method of every kind, with the values that a lossy crossing would change.

use std::time::Duration;

use plugin_api::load::{LoadedSurrogate, Plugin};
use plugin_api::ndarray::{Array2, s};
use plugin_api::serde_json::{Value, json};
use plugin_api::{
    Acquisition, AcquisitionKind, Answer, Benchmark, BitMatrix, Bits, Constraint, DrawRequest, Effect,
    Encoder, Error, Evaluation, Layout, Literal, Penalty, Point, Problem, Quadratic, Rule, Sense, Solver,
    Space, Stop, Surrogate, Variable,
};

use crate::plugin;

/// Zeros of both signs, the least and the greatest subnormals and normals, and one that text rounds easily.
const NUMBERS: [f64; 8] =
    [0.0, -0.0, 5e-324, -2.225_073_858_507_201e-308, f64::MIN_POSITIVE, 1e308, f64::MIN, 0.1 + 0.2];

fn none() -> Value {
    json!({})
}

fn bits(text: &str) -> Bits {
    text.parse().unwrap()
}

fn matrix(rows: &[&str]) -> BitMatrix {
    let mut points = BitMatrix::new(rows[0].len());
    rows.iter().for_each(|row| points.push(&bits(row)));
    points
}

#[test]
fn a_benchmark_has_its_space_with_names_and_constraints_its_sense_and_its_noise() {
    let benchmark = plugin("benchmark").benchmark(&none(), u64::MAX).unwrap();
    let expected = Space::new(vec![
        Variable::binary("instance 18446744073709551615"),
        Variable::categorical("solvent", ["water", "Äthanol", "\"hexane\"\n"]),
    ]);
    let never = Constraint::Forbidden(vec![Literal::new(0, 1), Literal::new(1, 2)]);
    let expected = expected.unwrap().with_constraints(vec![never]).unwrap();
    assert_eq!(benchmark.space().unwrap(), expected);
    assert_eq!((benchmark.sense(), benchmark.deterministic()), (Sense::Maximize, false));
}

#[test]
fn levels_arrive_and_values_come_back_to_the_bit() {
    let mut benchmark = plugin("benchmark").benchmark(&none(), 0).unwrap();
    for number in NUMBERS.into_iter().chain([f64::NAN, f64::INFINITY]) {
        let halves = [(number.to_bits() >> 32) as u32, number.to_bits() as u32];
        let value = benchmark.evaluate(&Point::from(halves.to_vec()), 0).unwrap().value().expect("a value");
        assert_eq!(value.to_bits(), number.to_bits(), "{number:e} came back as {value:e}");
    }
}

#[test]
fn an_infeasible_point_comes_back_with_its_reason() {
    let mut benchmark = plugin("benchmark").benchmark(&none(), 0).unwrap();
    let evaluation = benchmark.evaluate(&Point::from(vec![u32::MAX]), 7).unwrap();
    assert_eq!(evaluation, Evaluation::infeasible("level 4294967295\n\"with\" seed 7"));
}

#[test]
fn the_penalty_arrives_and_the_optimum_comes_back_to_the_bit() {
    let mut benchmark = plugin("benchmark").benchmark(&json!({ "number": 5e-324 }), 0).unwrap();
    for l1 in NUMBERS {
        let expected = if l1 == 0.0 { 5e-324 } else { l1 };
        assert_eq!(benchmark.optimum(l1).unwrap().map(f64::to_bits), Some(expected.to_bits()), "{l1:e}");
    }
    assert_eq!(benchmark.optimum(f64::NAN).unwrap(), None);
}

#[test]
fn numbers_in_options_arrive_to_the_bit() {
    for number in NUMBERS {
        let mut benchmark = plugin("benchmark").benchmark(&json!({ "number": number }), 0).unwrap();
        assert_eq!(benchmark.optimum(0.0).unwrap().map(f64::to_bits), Some(number.to_bits()), "{number:e}");
    }
}

#[test]
fn an_error_keeps_its_kind_its_message_and_its_path() {
    let plugin = plugin("benchmark");
    let mut benchmark = plugin.benchmark(&none(), 0).unwrap();
    let failed = benchmark.evaluate(&Point::from(vec![4, u32::MAX, 0]), u64::MAX).unwrap_err();
    assert_eq!(failed, Error::new("the point Point([4, 4294967295, 0]) with seed 18446744073709551615"));
    let refused = |options: Value| plugin.benchmark(&options, 0).err().expect("refused");
    assert_eq!(
        refused(json!({ "refuses": true })),
        Error::option("inner[2].key", "is refused,\nin two lines")
    );
    assert_eq!(refused(json!({ "refuses-space": true })), Error::option("rows[1]", "has no columns"));
    let unknown = refused(json!({ "panics": "often" }));
    assert_eq!(unknown.path(), "panics");
    assert!(unknown.message().starts_with("must be one of nowhere, make, space, "), "{unknown}");
}

#[test]
fn an_encoder_gets_the_space_and_gives_a_layout_with_groups_and_constraints() {
    let literals = |all: &[(usize, u32)]| all.iter().map(|&(i, level)| Literal::new(i, level)).collect();
    // Of each sort: about variables, and about bits.
    let constraints = |all: [Vec<Literal>; 4]| {
        let [at_most, exactly, fixed, forbidden] = all;
        vec![
            Constraint::AtMost { count: 1, of: at_most },
            Constraint::Exactly { count: 2, of: exactly },
            Constraint::Fixed(fixed[0]),
            Constraint::Forbidden(forbidden),
        ]
    };
    let of_variables = [
        literals(&[(0, 1), (1, 2), (2, 0)]),
        literals(&[(3, 0), (3, 1), (2, 1)]),
        literals(&[(2, 1)]),
        literals(&[(0, 0), (3, 3)]),
    ];
    let of_bits = [
        literals(&[(0, 1), (3, 1), (4, 0)]),
        literals(&[(5, 1), (6, 1), (4, 1)]),
        literals(&[(4, 1)]),
        literals(&[(0, 0), (8, 1)]),
    ];
    let space = mixed_space().with_constraints(constraints(of_variables)).unwrap();
    let encoder = plugin("encoder").encoder(&none(), &space).unwrap();
    let layout = Layout::with_groups(9, vec![1..4, 5..9]).unwrap();
    assert_eq!(encoder.layout(), layout.with_constraints(constraints(of_bits)).unwrap());
    let error = encoder.encode(&Point::from(vec![1, 2, 0, 4])).unwrap_err();
    assert_eq!(error, Error::new("level 4 of variable `Ü`, which has the levels 0 to 3"));
}

#[test]
fn points_become_bits_and_bits_become_points() {
    let encoder = plugin("encoder").encoder(&none(), &mixed_space()).unwrap();
    let point = Point::from(vec![1, 2, 0, 3]);
    assert_eq!(encoder.encode(&point).unwrap(), bits("100100001"));
    assert_eq!(encoder.decode(&bits("100100001")).unwrap(), point);
    assert_eq!(encoder.decode(&bits("100000001")).unwrap_err(), Error::new("an empty group"));
}

fn mixed_space() -> Space {
    let binary = Variable::binary;
    let (three, four) = (["x", "y", "z"].as_slice(), ["k", "l", "m", "n"].as_slice());
    let categorical = |name, levels: &[&str]| Variable::categorical(name, levels.iter().copied());
    Space::new(vec![binary("a"), categorical("b", three), binary("c"), categorical("Ü", four)]).unwrap()
}

/// The surrogate of the fixture for three bits in groups of one and two, with every number observed.
fn observed(plugin: &Plugin, general: bool) -> LoadedSurrogate {
    let layout = Layout::with_groups(3, vec![0..1, 1..3]).unwrap();
    let mut surrogate = plugin.surrogate(&json!({ "general": general }), &layout).unwrap();
    for number in NUMBERS {
        surrogate.observe(&bits("110"), &number.into()).unwrap();
    }
    surrogate
}

fn request() -> DrawRequest {
    DrawRequest::new(1)
}

#[test]
fn a_surrogate_gets_the_layout_with_its_rules_and_how_an_evaluation_ended() {
    let fixed = Constraint::Fixed(Literal::new(2, 0));
    let layout = Layout::with_groups(3, vec![0..1, 1..3]).unwrap().with_constraints(vec![fixed]).unwrap();
    let mut surrogate = plugin("surrogate").surrogate(&none(), &layout).unwrap();
    for outside in ["111", "101", "11"] {
        let error = surrogate.observe(&bits(outside), &1.0.into()).unwrap_err();
        assert_eq!(error, Error::new(format!("the layout does not admit {outside}")));
    }
    let error = surrogate.observe(&bits("110"), &Evaluation::infeasible("\"Öl\"\n")).unwrap_err();
    assert_eq!(error.message(), r#"110 is Infeasible("\"Öl\"\n")"#);
}

#[test]
fn all_of_a_request_arrives() {
    let mut surrogate = plugin("surrogate").surrogate(&none(), &Layout::free(3)).unwrap();
    let mut nothing = |request: &DrawRequest| {
        let error = surrogate.draw(request).err().expect("nothing was observed");
        error.message().strip_prefix("nothing observed for ").expect("the request").to_owned()
    };
    let full = DrawRequest::new(u64::MAX)
        .with_iteration(usize::MAX)
        .with_penalty(Penalty::l1(5e-324).from_point(bits("010")))
        .with_noisy(true)
        .with_best_total(-0.0)
        .with_best_points(matrix(&["101", "001"]))
        .with_pending(matrix(&["111"]));
    for request in [request(), full] {
        assert_eq!(nothing(&request), format!("{request:?}"));
    }
    let error = surrogate.draw(&request().with_pending(matrix(&["1"]))).err().expect("another length");
    assert_eq!(error, Error::new("rows of 1 bits where a point has 3"));
    let penalty = Penalty::l1(1.0).from_point(bits("01"));
    let error = surrogate.draw(&request().with_penalty(penalty)).err().expect("another length");
    assert_eq!(error, Error::new("a penalty of 2 bits for a model of 3"));
}

#[test]
fn a_quadratic_function_is_drawn_to_the_bit() {
    let mut surrogate = observed(&plugin("surrogate"), false);
    assert_eq!(surrogate.draws(), AcquisitionKind::Quadratic);
    let Acquisition::Quadratic(drawn) = surrogate.draw(&request()).unwrap() else {
        panic!("drew a general function")
    };
    let (constant, linear, pairs) = drawn.into_parts();
    let all = [vec![constant], linear, pairs].concat();
    // One constant, three linear terms, three pairs.
    assert_eq!(all.len(), 7);
    assert!(all.iter().zip(NUMBERS).all(|(drawn, number)| drawn.to_bits() == number.to_bits()), "{all:?}");
}

#[test]
fn coefficients_that_are_not_finite_are_refused_on_arrival() {
    let mut surrogate = plugin("surrogate").surrogate(&none(), &Layout::free(2)).unwrap();
    surrogate.observe(&bits("10"), &f64::MAX.into()).unwrap();
    // The penalty is added on the other side, to what was finite there.
    let error = surrogate.draw(&request().with_penalty(Penalty::l1(f64::MAX))).err().expect("refused");
    assert_eq!(error, Error::new("a coefficient is inf"));
}

#[test]
fn a_draw_is_not_copied_on_its_way_to_the_host_nor_are_points_on_their_way_to_the_surrogate() {
    let mut surrogate = observed(&plugin("surrogate"), false);
    let (best, pending) = (matrix(&["101", "001"]), matrix(&["110"]));
    let request = request().with_best_points(best.clone()).with_pending(pending.clone());
    let Acquisition::Quadratic(drawn) = surrogate.draw(&request).unwrap() else {
        panic!("drew a general function")
    };
    let effects = surrogate.effects().unwrap().expect("effects");
    let here = [drawn.linear(), drawn.pairs()].map(|part| part.as_ptr() as usize);
    let told = [best.row(0), best.row(1), pending.row(0)].map(|row| row.as_ptr() as usize);
    assert_eq!(effects.last().unwrap().bits(), [&here[..], &told[..]].concat());
}

#[test]
fn a_problem_is_not_copied_on_its_way_to_the_solver() {
    let mut solver = plugin("solver").solver(&json!({ "addresses": true })).unwrap();
    let f = Quadratic::new(0.0, vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]).unwrap();
    let (starts, unwanted) = (matrix(&["101", "001"]), matrix(&["110"]));
    let problem = Problem::new(f.clone()).with_starts(starts.clone()).with_unwanted(unwanted.clone());
    let answer = solver.minimize(&problem, 1).unwrap();
    let places = [
        ("linear at", f.linear().as_ptr() as u64),
        ("pairs at", f.pairs().as_ptr() as u64),
        ("starts at", starts.row(0).as_ptr() as u64),
        ("unwanted at", unwanted.row(0).as_ptr() as u64),
    ];
    for (name, place) in places {
        assert!(answer.counts().contains(&(name.to_owned(), place)), "{name} {place}: {:?}", answer.counts());
    }
}

#[test]
fn what_one_side_changes_stays_as_it_was_on_the_other() {
    let mut surrogate = observed(&plugin("surrogate"), false);
    let Acquisition::Quadratic(drawn) = surrogate.draw(&request()).unwrap() else {
        panic!("drew a general function")
    };
    // The last owner of memory of another dylib changes it in place, and frees it there.
    let mut changed = drawn.clone();
    changed.add_pair(0, 1, 1.0);
    assert_eq!((drawn.pair(0, 1), changed.pair(0, 1)), (NUMBERS[4], NUMBERS[4] + 1.0));
    let linear = drawn.linear().as_ptr();
    let mut alone = drawn;
    alone.add_linear(0, 1.0);
    assert_eq!((alone.linear().as_ptr(), alone.linear()[0]), (linear, 1.0));
    drop(surrogate);
    assert_eq!(alone.into_parts().1.len(), 3);
}

#[test]
fn a_general_function_of_one_dylib_is_minimized_by_another() {
    let mut surrogate = observed(&plugin("surrogate"), true);
    assert_eq!(surrogate.draws(), AcquisitionKind::General);
    let drawn = surrogate.draw(&request()).unwrap();
    assert_eq!((drawn.kind(), drawn.dimension()), (AcquisitionKind::General, 3));
    // The fixture's function has the second number where one bit is set; its gains are its own.
    assert_eq!(drawn.value(&[false, true, false]).to_bits(), (-0.0f64).to_bits());
    assert_eq!(drawn.flip_gain(&[false, true, false], 2), 2.5);

    let mut solver = plugin("solver").solver(&json!({ "general": true })).unwrap();
    assert!(AcquisitionKind::ALL.into_iter().all(|kind| solver.takes(kind)));
    // A function outlives the surrogate that drew it.
    drop(surrogate);
    let problem = Problem::new(drawn).with_starts(matrix(&["101"]));
    let answer = solver.minimize(&problem, 0).unwrap();
    assert_eq!((answer.bits(), answer.value().to_bits()), (&bits("010"), (-0.0f64).to_bits()));
    assert_eq!(answer.bound(), Some(1.5));
    let counted = |word: &str| -> Vec<f64> {
        let counts = answer.counts().iter().filter(|(name, _)| name == word);
        counts.map(|(_, bits)| f64::from_bits(*bits)).collect()
    };
    assert_eq!(counted("value"), [NUMBERS[0], NUMBERS[0] - 1.0]);
    assert_eq!(counted("gain"), [0.0, 1.5, 2.0, 100.0, 101.5, 102.0]);
}

#[test]
fn values_and_gains_of_many_points_cross_in_one_call_whatever_their_order_in_memory() {
    let drawn = observed(&plugin("surrogate"), true).draw(&request()).unwrap();
    let points = matrix(&["110", "001", "101"]);
    let mut values = [0.0; 3];
    drawn.values(points.view(), &mut values);
    // One call numbers its points; three calls would begin again each time.
    assert_eq!(values, [0.0, -1.0, -2.0]);
    let mut gains = Array2::zeros((3, 3));
    drawn.move_gains(points.view(), &[0..1, 1..3], gains.view_mut());
    let expected = [[10.5, 21.5, 22.0], [110.0, 121.0, 122.5], [210.5, 221.0, 222.5]];
    assert_eq!(gains, Array2::from(expected.to_vec()));

    let backwards = points.view().slice_move(s![..;-1, ..]);
    let mut columns = Array2::zeros((3, 3));
    drawn.move_gains(backwards, &[], columns.view_mut().reversed_axes());
    let expected = [[0.5, 1.0, 2.5], [100.0, 101.0, 102.5], [200.5, 201.5, 202.0]];
    assert_eq!(columns.t(), Array2::from(expected.to_vec()));
}

#[test]
fn predictions_and_effects_come_back_to_the_bit() {
    let plugin = plugin("surrogate");
    let mut surrogate = observed(&plugin, false);
    let points = matrix(&["000", "100", "011", "111"]);
    let predictions = surrogate.predict(points.view()).unwrap().expect("predictions");
    let to_bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
    assert_eq!(to_bits(predictions.means()), to_bits(&NUMBERS[..4]));
    assert_eq!(predictions.deviations(), [0.5, 1.5, 2.5, 3.5]);
    let transposed = points.view().reversed_axes();
    let error = surrogate.predict(transposed).unwrap_err();
    assert_eq!(error, Error::new("points of 4 bits for a model of 3"));

    let effects = surrogate.effects().unwrap().expect("effects");
    assert_eq!(to_bits(&effects.iter().map(Effect::size).collect::<Vec<_>>()), to_bits(&NUMBERS));
    assert_eq!((effects[2].bits(), effects[2].deviation()), (&[2, 3][..], -5e-324));

    let notes = surrogate.notes().unwrap();
    assert_eq!(notes, [("observed".to_owned(), NUMBERS.len().to_string()), ("λ".to_owned(), String::new())]);

    let mut fresh = plugin.surrogate(&none(), &Layout::free(3)).unwrap();
    assert_eq!(fresh.predict(points.view()).unwrap(), None);
    assert_eq!(fresh.effects().unwrap(), None);
}

#[test]
fn the_state_of_a_surrogate_is_saved_and_restored_to_the_byte() {
    let plugin = plugin("surrogate");
    let saved = observed(&plugin, true).save().unwrap().expect("a state");
    let expected: Vec<u8> = NUMBERS.iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(saved, expected);
    let mut fresh = plugin.surrogate(&none(), &Layout::free(2)).unwrap();
    assert_eq!(fresh.save().unwrap(), None);
    fresh.restore(&saved).unwrap();
    assert_eq!(fresh.save().unwrap(), Some(saved));
    assert_eq!(fresh.restore(&[0; 3]).unwrap_err(), Error::new("a state of 3 bytes"));
}

#[test]
fn all_of_a_problem_arrives_and_all_of_an_answer_comes_back() {
    let options = json!({ "keeps": ["groups", "exactly"], "stop": "time" });
    let mut solver = plugin("solver").solver(&options).unwrap();
    let takes = AcquisitionKind::ALL.map(|kind| solver.takes(kind));
    assert_eq!(
        (takes, Rule::ALL.map(|rule| solver.keeps(rule))),
        ([true, false], [true, false, true, false, false, false])
    );

    let (constant, linear, pairs) =
        (-0.0, vec![5e-324, 1e308, -1e-310, 3.0], vec![0.1, 0.2, 0.3, 0.4, -0.0, 0.6]);
    let f = Quadratic::new(constant, linear.clone(), pairs.clone()).unwrap();
    let layout = Layout::with_groups(4, vec![0..1, 2..4]).unwrap();
    let of = vec![Literal::new(0, 1), Literal::new(3, 0)];
    let constraints = vec![
        Constraint::Exactly { count: 1, of: of.clone() },
        Constraint::AtMost { count: 0, of: of.clone() },
        Constraint::Forbidden(of.clone()),
        Constraint::Fixed(of[1]),
        Constraint::Capacity { limit: 0.3, of: of.clone(), weights: vec![0.1, 0.1 + 0.2] },
    ];
    let problem = Problem::new(f.clone())
        .with_layout(&layout.with_constraints(constraints).unwrap())
        .with_starts(matrix(&["0110", "1111"]))
        .with_unwanted(matrix(&["1000", "0000", "0001"]))
        .with_work_limit(u64::MAX)
        .with_time_limit(Duration::new(3, 7));
    let mut expected = Answer::new(bits("1001"), f.value(&bits("1001")))
        .with_bound(-0.0)
        .with_count("seed", u64::MAX)
        .with_count("constant", (-0.0f64).to_bits());
    for x in linear {
        expected = expected.with_count("linear", x.to_bits());
    }
    for x in pairs {
        expected = expected.with_count("pair", x.to_bits());
    }
    expected = expected
        .with_count("group of 1", 0)
        .with_count("group of 2", 2)
        .with_count("exactly 1 of x[0]=1, x[3]=0", 2)
        .with_count("at most 0 of x[0]=1, x[3]=0", 2)
        .with_count("never all of x[0]=1, x[3]=0", 2)
        .with_count("always x[3]=0", 1)
        .with_count("weights of at most 0.3 among x[0]=1 (0.1), x[3]=0 (0.30000000000000004)", 2)
        .with_count("start 0110", 0)
        .with_count("start 1111", 1)
        .with_count("unwanted 1000", 0)
        .with_count("unwanted 0000", 1)
        .with_count("unwanted 0001", 2)
        .with_count("work", u64::MAX)
        .with_count("nanoseconds", 3_000_000_007)
        .with_stop(Stop::Time);
    let answer = solver.minimize(&problem, u64::MAX).unwrap();
    assert_eq!(answer, expected);
    assert_eq!(answer.bound().map(f64::to_bits), Some((-0.0f64).to_bits()));
}

#[test]
fn the_state_of_a_solver_is_saved_and_restored_to_the_byte() {
    let make = |counts: bool| plugin("solver").solver(&json!({ "counts": counts })).unwrap();
    let before = |solver: &mut dyn Solver| {
        let answer = solver.minimize(&Problem::new(Quadratic::zero(2)), 1).unwrap();
        answer.counts().iter().find(|(name, _)| name == "before").map(|(_, count)| *count)
    };
    let mut solver = make(true);
    assert_eq!((before(&mut solver), before(&mut solver)), (Some(0), Some(1)));
    let saved = solver.save().unwrap().expect("a state");
    assert_eq!(saved, [2, 0, 0, 0, 0, 0, 0, 0]);
    let mut fresh = make(true);
    fresh.restore(&saved).unwrap();
    assert_eq!(fresh.save().unwrap(), Some(saved));
    assert_eq!(before(&mut fresh), Some(2));
    assert_eq!(fresh.restore(&[0; 3]).unwrap_err(), Error::new("a state of 3 bytes"));
    assert_eq!(make(false).save().unwrap(), None);
}

#[test]
fn what_a_problem_lacks_is_lacking_on_the_other_side() {
    let mut solver = plugin("solver").solver(&json!({ "general": true, "stop": "work" })).unwrap();
    let answer = solver.minimize(&Problem::new(Quadratic::zero(0)), 5).unwrap();
    let expected = Answer::new(bits(""), 0.0).with_bound(0.0).with_count("seed", 5).with_count("constant", 0);
    assert_eq!(answer, expected.with_stop(Stop::Work));
}
