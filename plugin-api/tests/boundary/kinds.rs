//! Every method of every kind, with the values that a lossy crossing would change.

use std::time::Duration;

use plugin_api::load::{LoadedSurrogate, Plugin};
use plugin_api::serde_json::{Value, json};
use plugin_api::{
    Acquisition, AcquisitionKind, Answer, Benchmark, Bits, Encoder, Error, Layout, Point, Problem, Quadratic,
    Sense, Solver, Space, Stop, Surrogate, Variable,
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

#[test]
fn a_benchmark_has_its_space_with_names_its_sense_and_its_noise() {
    let benchmark = plugin("benchmark").benchmark(&none(), u64::MAX).unwrap();
    let expected = Space::new(vec![
        Variable::binary("instance 18446744073709551615"),
        Variable::categorical("solvent", ["water", "Äthanol", "\"hexane\"\n"]),
    ]);
    assert_eq!(benchmark.space(), expected.unwrap());
    assert_eq!((benchmark.sense(), benchmark.deterministic()), (Sense::Maximize, false));
}

#[test]
fn levels_arrive_and_values_come_back_to_the_bit() {
    let mut benchmark = plugin("benchmark").benchmark(&none(), 0).unwrap();
    for number in NUMBERS.into_iter().chain([f64::NAN, f64::INFINITY]) {
        let halves = [(number.to_bits() >> 32) as u32, number.to_bits() as u32];
        let value = benchmark.evaluate(&Point::from(halves.to_vec()), 0).unwrap();
        assert_eq!(value.to_bits(), number.to_bits(), "{number:e} came back as {value:e}");
    }
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
    let unknown = refused(json!({ "panics": "often" }));
    assert_eq!(unknown.path(), "panics");
    assert!(unknown.message().starts_with("unknown variant `often`"), "{unknown}");
}

#[test]
fn an_encoder_gets_the_space_and_gives_a_layout_with_groups() {
    let encoder = plugin("encoder").encoder(&none(), &mixed_space()).unwrap();
    assert_eq!(encoder.layout(), Layout::with_groups(9, vec![1..4, 5..9]).unwrap());
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
        surrogate.observe(&bits("110"), number).unwrap();
    }
    surrogate
}

#[test]
fn a_surrogate_gets_the_layout_with_its_groups_and_the_seed() {
    let layout = Layout::with_groups(3, vec![0..1, 1..3]).unwrap();
    let mut surrogate = plugin("surrogate").surrogate(&none(), &layout).unwrap();
    let error = surrogate.observe(&bits("111"), 1.0).unwrap_err();
    assert_eq!(error, Error::new("the layout does not admit 111"));
    let error = surrogate.draw(u64::MAX).err().expect("nothing was observed");
    assert_eq!(error, Error::new("nothing observed, and the seed 18446744073709551615"));
}

#[test]
fn a_quadratic_function_is_drawn_to_the_bit() {
    let mut surrogate = observed(&plugin("surrogate"), false);
    assert_eq!(surrogate.draws(), AcquisitionKind::Quadratic);
    let Acquisition::Quadratic(drawn) = surrogate.draw(1).unwrap() else { panic!("drew a general function") };
    let (constant, linear, pairs) = drawn.into_parts();
    let all = [vec![constant], linear, pairs].concat();
    // One constant, three linear terms, three pairs.
    assert_eq!(all.len(), 7);
    assert!(all.iter().zip(NUMBERS).all(|(drawn, number)| drawn.to_bits() == number.to_bits()), "{all:?}");
}

#[test]
fn a_general_function_of_one_dylib_is_minimized_by_another() {
    let mut surrogate = observed(&plugin("surrogate"), true);
    assert_eq!(surrogate.draws(), AcquisitionKind::General);
    let drawn = surrogate.draw(1).unwrap();
    assert_eq!((drawn.kind(), drawn.dimension()), (AcquisitionKind::General, 3));
    // The fixture's function has the second number where one bit is set; its gains are its own.
    assert_eq!(drawn.value(&[false, true, false]).to_bits(), (-0.0f64).to_bits());
    assert_eq!(drawn.flip_gain(&[false, true, false], 2), 2.5);

    let mut solver = plugin("solver").solver(&json!({ "general": true })).unwrap();
    assert_eq!(solver.takes(), AcquisitionKind::General);
    // A function outlives the surrogate that drew it.
    drop(surrogate);
    let answer = solver.minimize(&Problem::new(drawn).with_incumbent(bits("101")), 0).unwrap();
    assert_eq!((answer.bits(), answer.value().to_bits()), (&bits("010"), (-0.0f64).to_bits()));
    assert_eq!(answer.bound(), Some(1.5));
}

#[test]
fn a_state_is_saved_and_restored_to_the_byte() {
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
    let options = json!({ "keeps-groups": true, "stop": "time" });
    let mut solver = plugin("solver").solver(&options).unwrap();
    assert_eq!((solver.takes(), solver.keeps_groups()), (AcquisitionKind::Quadratic, true));

    let (constant, linear, pairs) =
        (-0.0, vec![5e-324, 1e308, -1e-310, 3.0], vec![0.1, 0.2, 0.3, 0.4, -0.0, 0.6]);
    let f = Quadratic::new(constant, linear.clone(), pairs.clone()).unwrap();
    let problem = Problem::new(f.clone())
        .with_groups(&Layout::with_groups(4, vec![0..1, 2..4]).unwrap())
        .with_incumbent(bits("0110"))
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
        .with_count("work", u64::MAX)
        .with_count("nanoseconds", 3_000_000_007)
        .with_stop(Stop::Time);
    let answer = solver.minimize(&problem, u64::MAX).unwrap();
    assert_eq!(answer, expected);
    assert_eq!(answer.bound().map(f64::to_bits), Some((-0.0f64).to_bits()));
}

#[test]
fn what_a_problem_lacks_is_lacking_on_the_other_side() {
    let mut solver = plugin("solver").solver(&json!({ "general": true, "stop": "work" })).unwrap();
    let answer = solver.minimize(&Problem::new(Quadratic::zero(0)), 5).unwrap();
    let expected = Answer::new(bits(""), 0.0).with_bound(0.0).with_count("seed", 5).with_count("constant", 0);
    assert_eq!(answer, expected.with_stop(Stop::Work));
}
