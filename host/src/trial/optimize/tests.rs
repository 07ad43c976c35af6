//! The loop with plugins that note what they are told.

use std::sync::{Arc, Mutex};

use plugin_api::{
    Acquisition, Answer, DrawRequest, Evaluation, Problem, Quadratic, Result as PluginResult, Solver,
    Surrogate,
};

use super::super::turns::Turn;
use super::testing::Events;
use super::*;
use crate::record::event::Evaluated;

/// Value 10 for each of three bits, maximised or minimised; all three together are not allowed where `limited`.
struct Tens {
    maximize: bool,
    limited: bool,
    fails: bool,
}

impl Benchmark for Tens {
    fn space(&self) -> PluginResult<Space> {
        Ok(Space::binary(3))
    }
    fn evaluate(&mut self, point: &Point, _seed: u64) -> PluginResult<Evaluation> {
        match point.iter().sum::<u32>() {
            _ if self.fails => Err("no licence".into()),
            3 if self.limited => Ok(Evaluation::infeasible("too many")),
            ones => Ok((10.0 * f64::from(ones)).into()),
        }
    }
    fn sense(&self) -> Sense {
        if self.maximize { Sense::Maximize } else { Sense::Minimize }
    }
}

struct Same;
impl Encoder for Same {
    fn layout(&self) -> Layout {
        Layout::free(3)
    }
    fn encode(&self, point: &Point) -> PluginResult<Bits> {
        Ok(point.iter().map(|&level| level == 1).collect())
    }
    fn decode(&self, bits: &Bits) -> PluginResult<Point> {
        Ok(bits.iter().map(|&bit| u32::from(bit)).collect())
    }
}

/// Everything that plugins were told.
#[derive(Default)]
struct Told {
    observed: Vec<(Bits, Evaluation)>,
    draws: Vec<DrawRequest>,
    problems: Vec<(Vec<f64>, Vec<Bits>, usize)>,
}

/// Draws zero, and may refuse what it is told.
struct Notes {
    told: Arc<Mutex<Told>>,
    refuses: bool,
}

impl Surrogate for Notes {
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> PluginResult<()> {
        self.told.lock().unwrap().observed.push((bits.clone(), evaluation.clone()));
        if self.refuses { Err("this is not what was expected".into()) } else { Ok(()) }
    }
    fn draw(&mut self, request: &DrawRequest) -> PluginResult<Acquisition> {
        self.told.lock().unwrap().draws.push(request.clone());
        Ok(Acquisition::from(Quadratic::zero(3)).with_penalty(request.penalty()))
    }
    fn notes(&self) -> PluginResult<Vec<(String, String)>> {
        let draws = self.told.lock().unwrap().draws.len();
        Ok(vec![("draws".to_owned(), draws.to_string())])
    }
}

/// Answers the same point each time.
struct Stubborn(Arc<Mutex<Told>>);
impl Solver for Stubborn {
    fn minimize(&mut self, problem: &Problem, _seed: u64) -> PluginResult<Answer> {
        let starts = problem.starts().rows().map(|row| Bits::from(row.to_vec())).collect();
        let problems = &mut self.0.lock().unwrap().problems;
        problems.push((problem.quadratic()?.linear().to_vec(), starts, problem.unwanted().len()));
        let bits = Bits::from(vec![true; 3]);
        let value = problem.objective().value(&bits);
        Ok(Answer::new(bits, value))
    }
}

/// Never answers.
struct Broken;
impl Solver for Broken {
    fn minimize(&mut self, _: &Problem, _: u64) -> PluginResult<Answer> {
        Err("out of ideas".into())
    }
}

struct Case {
    maximize: bool,
    limited: bool,
    fails: bool,
    refuses: bool,
    evaluations: usize,
    shadow: bool,
    turns: &'static [&'static str],
    known: Known,
    batch: usize,
    given: Vec<GivenPoint>,
}

impl Default for Case {
    fn default() -> Self {
        let known = Known::default();
        let turns = &["notes"];
        Self {
            maximize: false,
            limited: false,
            fails: false,
            refuses: false,
            evaluations: 3,
            shadow: false,
            turns,
            known,
            batch: 1,
            given: Vec::new(),
        }
    }
}

fn run(case: Case) -> (Result<Finished, TrialError>, Vec<Event>, Told) {
    let told: Arc<Mutex<Told>> = Arc::default();
    let mut shadows: Vec<(String, Box<dyn Solver>)> = Vec::new();
    if case.shadow {
        shadows.push(("broken".to_owned(), Box::new(Broken)));
    }
    let turn = |name: &str| Turn {
        name: name.to_owned(),
        surrogate: Box::new(Notes { told: told.clone(), refuses: case.refuses }),
        solver: ("stubborn".to_owned(), Box::new(Stubborn(told.clone()))),
    };
    let parts = Parts {
        benchmark: Box::new(Tens { maximize: case.maximize, limited: case.limited, fails: case.fails }),
        space: Space::binary(3),
        encoder: Box::new(Same),
        penalty: Penalty::l1(0.25),
        turns: Turns::new(case.turns.iter().map(|name| turn(name)).collect(), shadows),
        singles: None,
        workers: None,
    };
    let keys = format!(
        r#"{{ "budget": {{ "initial": 2, "evaluations": {}, "batch": {} }}, "evaluation": {{ "give-up-after": 3 }} }}"#,
        case.evaluations, case.batch
    );
    let keys: Settings = serde_json::from_str(&keys).unwrap();
    let mut events = Events::default();
    let finished = optimize(parts, &keys, &case.given, case.known, &Seeds::new("test", 1), &mut events);
    let told = std::mem::take(&mut *told.lock().unwrap());
    (finished, events.0, told)
}

fn evaluated(events: &[Event]) -> Vec<&Evaluated> {
    let mut found = Vec::new();
    for event in events {
        if let Event::Evaluated(evaluated) = event {
            found.push(evaluated);
        }
    }
    found
}

#[test]
fn the_model_learns_the_bare_value_and_is_told_the_penalty() {
    for (maximize, sign) in [(false, 1.0), (true, -1.0)] {
        let (_, events, told) = run(Case { maximize, ..Case::default() });
        for (bits, evaluation) in &told.observed {
            assert_eq!(evaluation.value(), Some(sign * 10.0 * bits.count_ones() as f64));
        }
        for evaluated in evaluated(&events) {
            assert_eq!(evaluated.total, evaluated.value.map(|value| value + sign * evaluated.penalty));
        }
        assert!(told.problems.iter().all(|(linear, _, _)| linear == &[0.25; 3]));
    }
}

#[test]
fn a_draw_is_told_the_iteration_the_penalty_and_the_best_points_and_so_are_solvers() {
    let (_, events, told) = run(Case { maximize: true, ..Case::default() });
    assert_eq!(told.draws.iter().map(DrawRequest::iteration).collect::<Vec<_>>(), [1, 2, 3]);
    for (i, (draw, (_, starts, unwanted))) in told.draws.iter().zip(&told.problems).enumerate() {
        let best = evaluated(&events)[i + 1].best;
        // Low is good for the model.
        assert_eq!((draw.penalty().lambda(), draw.best_total()), (0.25, best.map(|best| -best)));
        let points: Vec<Bits> = draw.best_points().rows().map(|row| Bits::from(row.to_vec())).collect();
        assert_eq!((&points, *unwanted), (starts, i + 2));
        assert_eq!(points.len(), i + 2);
        let ones: Vec<usize> = points.iter().map(Bits::count_ones).collect();
        assert!(ones.is_sorted_by(|a, b| a >= b), "{points:?}");
    }
}

#[test]
fn what_a_surrogate_notes_of_a_draw_is_recorded_with_its_proposal() {
    let (_, events, _) = run(Case::default());
    let notes: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Proposed(proposed) => Some(proposed.notes["draws"].clone()),
            _ => None,
        })
        .collect();
    assert_eq!(notes, ["1", "2", "3"]);
}

#[test]
fn surrogates_take_turns_and_all_of_them_observe() {
    let (_, events, told) = run(Case { turns: &["a", "b"], evaluations: 4, ..Case::default() });
    let names: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Proposed(proposed) => proposed.surrogate.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["a", "b", "a", "b"]);
    assert_eq!((told.draws.len(), told.observed.len()), (4, 2 * 6));
    let (_, events, _) = run(Case::default());
    let named = |event: &Event| matches!(event, Event::Proposed(proposed) if proposed.surrogate.is_some());
    assert!(!events.iter().any(named), "alone, a surrogate has no turn");
}

#[test]
fn the_best_is_the_best_total_in_the_objectives_own_sense() {
    let best = |maximize| run(Case { maximize, evaluations: 6, ..Case::default() }).0.unwrap().best;
    assert_eq!(best(false), Some(0.0));
    assert_eq!(best(true), Some(30.0 - 0.75));
}

#[test]
fn a_deterministic_objective_is_never_evaluated_twice_and_ends_when_all_is_seen() {
    let (finished, _, told) = run(Case { evaluations: 100, ..Case::default() });
    assert_eq!(finished.unwrap().evaluations, 8);
    assert_eq!(told.observed.iter().map(|(bits, _)| bits).collect::<BTreeSet<_>>().len(), 8);
}

#[test]
fn an_infeasible_point_is_recorded_told_to_the_model_and_no_failure() {
    let (finished, events, told) =
        run(Case { limited: true, maximize: true, evaluations: 6, ..Case::default() });
    assert_eq!(finished.unwrap().best, Some(20.0 - 0.5));
    let infeasible: Vec<_> =
        evaluated(&events).into_iter().filter(|evaluated| evaluated.status.word() == "infeasible").collect();
    assert_eq!(infeasible.len(), 1);
    assert_eq!((infeasible[0].reason.as_deref(), infeasible[0].total), (Some("too many"), None));
    let told: Vec<_> = told.observed.iter().filter(|(_, evaluation)| evaluation.value().is_none()).collect();
    assert_eq!(told, [&(Bits::from(vec![true; 3]), Evaluation::infeasible("too many"))]);
}

#[test]
fn a_trial_gives_up_after_that_many_failures_in_a_row_and_says_so() {
    let (finished, events, told) = run(Case { fails: true, evaluations: 5, ..Case::default() });
    let words = finished.unwrap_err().to_string();
    assert_eq!(
        words,
        "3 evaluations failed in a row, and `evaluation.give-up-after` is 3; the last: no licence"
    );
    assert_eq!((evaluated(&events).len(), told.observed.len()), (3, 0));
}

#[test]
fn a_value_is_recorded_before_the_surrogate_is_told() {
    let (ended, events, told) = run(Case { refuses: true, ..Case::default() });
    assert_eq!(ended.unwrap_err().to_string(), "observing a value: this is not what was expected");
    assert_eq!((told.observed.len(), evaluated(&events).len()), (1, 1));
}

#[test]
fn a_shadow_that_fails_is_recorded_so_and_costs_the_followed_solver_nothing() {
    let without = |events: &[Event]| -> Vec<Event> {
        let mut events = events.to_vec();
        for event in &mut events {
            if let Event::Proposed(proposed) = event {
                proposed.answers.truncate(1);
            }
        }
        events
    };
    let (_, alone, _) = run(Case::default());
    let (finished, events, _) = run(Case { shadow: true, ..Case::default() });
    assert!(finished.is_ok());
    assert_eq!(without(&events), alone);
    let failures: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::Proposed(proposed) => proposed.answers[1].failure.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(failures, ["out of ideas"; 3]);
}

#[test]
fn a_shadow_that_took_the_process_with_it_is_not_asked_again() {
    let during = Some(Step::Solve { iteration: 2, solver: "broken".to_owned(), followed: false });
    let died = Incident::Died { during, timed_out: false, from_outside: false, reason: "SIGSEGV".to_owned() };
    let known = Known { incidents: vec![died], ..Known::default() };
    let (_, events, _) = run(Case { shadow: true, known, ..Case::default() });
    let failures: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::Proposed(proposed) => proposed.answers[1].failure.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(failures, ["out of ideas", "SIGSEGV", "out of ideas"]);
}

#[test]
fn points_of_a_round_differ_and_each_draw_is_told_of_those_before_it() {
    let (finished, events, told) = run(Case { batch: 3, evaluations: 6, ..Case::default() });
    assert_eq!(finished.unwrap().evaluations, 8);
    let pending: Vec<usize> = told.draws.iter().map(|draw| draw.pending().len()).collect();
    assert_eq!(pending, [0, 1, 2, 0, 1, 2]);
    let unwanted: Vec<usize> = told.problems.iter().map(|(_, _, unwanted)| *unwanted).collect();
    assert_eq!(unwanted, [2, 3, 4, 5, 6, 7]);
    assert_eq!(told.observed.iter().map(|(bits, _)| bits).collect::<BTreeSet<_>>().len(), 8);
    // All of it is there in one round: the rest of the budget is left.
    let (finished, _, _) = run(Case { batch: 50, evaluations: 100, ..Case::default() });
    assert_eq!(finished.unwrap().evaluations, 8);
    let (_, alone, _) = run(Case { evaluations: 6, ..Case::default() });
    assert_eq!(evaluated(&alone).len(), evaluated(&events).len());
}

#[test]
fn a_round_is_recorded_whole_before_a_trial_gives_up() {
    let (finished, events, _) = run(Case { fails: true, batch: 4, evaluations: 5, ..Case::default() });
    assert!(matches!(finished, Err(TrialError::GaveUp { count: 3, .. })));
    assert_eq!(evaluated(&events).len(), 2 + 4);
}

#[test]
fn given_values_are_told_to_the_model_and_not_evaluated_and_the_others_come_first() {
    let given = |levels: [u32; 3], known| GivenPoint { point: levels.to_vec().into(), known };
    let given = vec![
        // Not what it would be: nobody asked.
        given([1, 0, 0], Some(crate::plan::points::Known::Value(-70.0))),
        given([1, 1, 0], Some(crate::plan::points::Known::Failed("spilt".to_owned()))),
        given([1, 1, 1], None),
    ];
    let (finished, events, told) = run(Case { given, evaluations: 2, ..Case::default() });
    let finished = finished.unwrap();
    assert_eq!((finished.evaluations, finished.best), (5, Some(-70.0 + 0.25)));
    let begun: Vec<(&str, Vec<u32>)> = events
        .iter()
        .filter_map(|event| match event {
            Event::Evaluating(begun) => Some((begun.phase.word(), begun.point.to_vec())),
            _ => None,
        })
        .collect();
    let expected = [("given", vec![1, 0, 0]), ("given", vec![1, 1, 0]), ("initial", vec![1, 1, 1])];
    assert_eq!(begun[..3], expected);
    assert!(begun[3..].iter().all(|(phase, _)| *phase == "search"), "given points are the initial design");
    assert_eq!(told.observed[0], (Bits::from(vec![true, false, false]), Evaluation::Value(-70.0)));
    assert_eq!(told.observed.len(), 4, "a failure tells nothing");
    assert_eq!(begun.iter().map(|(_, point)| point).collect::<BTreeSet<_>>().len(), 5);
}
