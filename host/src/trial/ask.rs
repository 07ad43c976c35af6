//! What the models are asked for the reader of a report: what they expect of a proposal, and what they have learned. The
//! trial does not depend on the answers, and the questions take a tenth of its time at most.

use std::time::{Duration, Instant};

use plugin_api::{BitMatrix, Bits, Effect, Encoder, Layout, Point, Result, Space, Variable};

use super::turns::Turns;
use crate::record::asked::{Effects, ModelEffects, NamedEffect, Prediction};
use crate::record::incident;
use crate::record::incident::Incident;

/// The part of a trial's time that questions may take.
const SHARE: u32 = 10;

/// Effects that are kept of each model: main ones, and interactions.
const MOST: [usize; 2] = [100, 50];

/// Who asks, and whether it is time to.
pub(super) struct Asker {
    begun: Instant,
    spent: Duration,
    /// How long the last question took.
    last: Duration,
    /// Whether no answer is to be had: the models have none, fail, or took the process with them.
    predicts: bool,
    explains: bool,
    /// How many evaluations the effects have seen that were told last.
    explained: usize,
}

impl Asker {
    pub(super) fn new(incidents: &[Incident]) -> Self {
        let may = !incident::died_asked(incidents);
        let (spent, last) = (Duration::ZERO, Duration::ZERO);
        Self { begun: Instant::now(), spent, last, predicts: may, explains: may, explained: 0 }
    }

    /// Whether to ask what is expected of the next point.
    pub(super) fn wants_prediction(&self) -> bool {
        self.predicts && self.affordable()
    }

    /// Whether to ask for effects before the end: whenever twice as much is known as last time.
    pub(super) fn wants_effects(&self, evaluations: usize) -> bool {
        self.explains && evaluations >= 2 * self.explained && self.affordable()
    }

    /// Whether to ask for effects at the end.
    pub(super) fn wants_last_effects(&self) -> bool {
        self.explains
    }

    fn affordable(&self) -> bool {
        (self.spent + self.last) * SHARE <= self.begun.elapsed()
    }

    fn took(&mut self, begun: Instant) {
        self.last = begun.elapsed();
        self.spent += self.last;
    }

    /// What the surrogate whose turn it is expects of a point; values have this sign in the objective's own terms.
    pub(super) fn predict(
        &mut self,
        turns: &mut Turns,
        iteration: usize,
        bits: &Bits,
        sign: f64,
        evaluation: usize,
    ) -> Option<Prediction> {
        let begun = Instant::now();
        let mut point = BitMatrix::new(bits.len());
        point.push(bits);
        let answer = turns.surrogate(iteration).predict(point.view());
        self.took(begun);
        match answer {
            Ok(Some(found)) => {
                let (mean, deviation) = (sign * found.means().first()?, *found.deviations().first()?);
                Some(Prediction { evaluation, mean, deviation })
            }
            Ok(None) => {
                // Of several that take turns, another may know.
                self.predicts = turns.count() > 1;
                None
            }
            Err(error) => {
                tracing::warn!("the surrogate is asked for no more predictions: {error}");
                self.predicts = false;
                None
            }
        }
    }

    /// What all surrogates have learned, in names.
    pub(super) fn effects(
        &mut self,
        turns: &mut Turns,
        names: &[String],
        sign: f64,
        evaluations: usize,
    ) -> Option<Effects> {
        let begun = Instant::now();
        let mut models = Vec::new();
        for (name, answer) in turns.effects() {
            match answer {
                Ok(effects) => models.extend(effects.map(|effects| named(name, &effects, names, sign))),
                Err(error) => {
                    tracing::warn!("the surrogate `{name}` is asked for no more effects: {error}");
                    self.explains = false;
                }
            }
        }
        self.took(begun);
        self.explained = evaluations;
        self.explains &= !models.is_empty();
        (!models.is_empty()).then_some(Effects { evaluations, models })
    }
}

/// The strongest effects with the names of what they are of.
fn named(surrogate: String, effects: &[Effect], names: &[String], sign: f64) -> ModelEffects {
    let mut kept: Vec<&Effect> = Vec::new();
    for (order, most) in MOST.into_iter().enumerate() {
        let mut strongest: Vec<&Effect> =
            effects.iter().filter(|effect| effect.bits().len() == order + 1).collect();
        strongest.sort_by(|a, b| b.size().abs().total_cmp(&a.size().abs()));
        kept.extend(strongest.into_iter().take(most));
    }
    let left_out = effects.len() - kept.len();
    let name = |effect: &Effect| {
        let term = |&bit: &usize| names.get(bit).cloned().unwrap_or_else(|| format!("bit {bit}"));
        let terms = effect.bits().iter().map(term).collect();
        NamedEffect { terms, size: sign * effect.size(), deviation: effect.deviation() }
    };
    ModelEffects { surrogate, effects: kept.into_iter().map(name).collect(), left_out }
}

/// What each bit says where it is set, in the objective's own words: `solvent=hexane`, `dose≥middle`; `bit 3` where it says
/// nothing about one variable alone.
pub(super) fn bit_names(encoder: &dyn Encoder, space: &Space, layout: &Layout) -> Vec<String> {
    // The levels at which each bit is set, in two surroundings: the same where it depends on nothing else.
    let surroundings: [Point; 2] = [
        space.variables().iter().map(|_| 0).collect(),
        space.variables().iter().map(|variable| variable.levels().len() as u32 - 1).collect(),
    ];
    let mut names: Vec<Option<String>> = vec![None; layout.dimension()];
    let mut clear = vec![true; layout.dimension()];
    for (i, variable) in space.variables().iter().enumerate() {
        let coded = |base: &Point| -> Result<Vec<Bits>> {
            let at = |level: usize| {
                let mut point = base.clone();
                point[i] = level as u32;
                encoder.encode(&point)
            };
            (0..variable.levels().len()).map(at).collect()
        };
        let [Ok(one), Ok(two)] = surroundings.each_ref().map(coded) else { continue };
        for bit in 0..layout.dimension() {
            let set = |coded: &[Bits]| coded.iter().map(|bits| bits[bit]).collect::<Vec<bool>>();
            let (one, two) = (set(&one), set(&two));
            if one.iter().all(|set| *set == one[0]) && two.iter().all(|set| *set == two[0]) {
                continue;
            }
            clear[bit] &= one == two && names[bit].is_none();
            names[bit] = said(variable, &one);
        }
    }
    let name = |(bit, (name, clear)): (usize, (Option<String>, bool))| {
        name.filter(|_| clear).unwrap_or_else(|| format!("bit {}", bit + 1))
    };
    names.into_iter().zip(clear).enumerate().map(name).collect()
}

/// That a variable has one of some levels, where there are few words for it.
fn said(variable: &Variable, levels: &[bool]) -> Option<String> {
    let name =
        |sign: &str, level: usize| Some(format!("{}{sign}{}", variable.name(), variable.levels()[level]));
    let those =
        |is: bool| levels.iter().enumerate().filter(move |(_, set)| **set == is).map(|(level, _)| level);
    match (those(true).collect::<Vec<_>>(), those(false).collect::<Vec<_>>()) {
        (set, _) if set.len() == 1 => name("=", set[0]),
        (set, unset) if variable.is_ordered() && unset.last() < set.first() => name("≥", set[0]),
        (set, unset) if variable.is_ordered() && set.last() < unset.first() => name("≤", set[set.len() - 1]),
        (_, unset) if unset.len() == 1 => name("≠", unset[0]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::ndarray::ArrayView2;
    use plugin_api::{
        Acquisition, Answer, DrawRequest, Evaluation, Predictions, Problem, Quadratic, Solver, Surrogate,
    };

    use super::super::relabel::Relabelled;
    use super::super::turns::Turn;
    use super::*;

    /// Two bits for `valve` alone and its neighbour, three for the levels of `heater`.
    struct Mixed;

    fn space() -> Space {
        let heater = Variable::categorical("heater", ["0kW", "2kW", "4kW"]);
        Space::new(vec![Variable::categorical("valve", ["shut", "open"]), heater]).unwrap()
    }

    impl Encoder for Mixed {
        fn layout(&self) -> Layout {
            Layout::with_groups(4, std::iter::once(1..4).collect()).unwrap()
        }
        fn encode(&self, point: &Point) -> Result<Bits> {
            Ok([point[0] == 1].into_iter().chain((0..3).map(|level| point[1] == level)).collect())
        }
        fn decode(&self, bits: &Bits) -> Result<Point> {
            let level = (0..3).find(|&level| bits[1 + level as usize]).ok_or("no level")?;
            Ok(vec![u32::from(bits[0]), level].into())
        }
    }

    #[test]
    fn bits_are_named_by_the_levels_that_they_stand_for() {
        let names = bit_names(&Mixed, &space(), &Mixed.layout());
        assert_eq!(names, ["valve=open", "heater=0kW", "heater=2kW", "heater=4kW"]);
        // Relabelled, every bit still says what it stands for: the encoder is asked for the truth.
        for seed in 0..8 {
            let relabelled = Relabelled::new(Box::new(Mixed), seed).unwrap();
            let names = bit_names(&relabelled, &space(), &relabelled.layout());
            for (bit, name) in names.iter().enumerate() {
                for point in (0..2).flat_map(|valve| (0..3).map(move |heater| vec![valve, heater])) {
                    let holds = space().describe(&point.clone().into()).contains(name.as_str());
                    let set = relabelled.encode(&point.into()).unwrap()[bit];
                    assert_eq!(set, holds, "{name}, seed {seed}");
                }
            }
        }
    }

    #[test]
    fn a_bit_that_means_nothing_by_itself_has_its_number() {
        /// A level in two bits, as a number.
        struct Number;
        impl Encoder for Number {
            fn layout(&self) -> Layout {
                Layout::free(2)
            }
            fn encode(&self, point: &Point) -> Result<Bits> {
                Ok([point[0] & 1 == 1, point[0] & 2 == 2].into_iter().collect())
            }
            fn decode(&self, bits: &Bits) -> Result<Point> {
                Ok(vec![u32::from(bits[0]) + 2 * u32::from(bits[1])].into())
            }
        }
        let space = Space::new(vec![Variable::categorical("heater", ["0", "2", "4", "6"])]).unwrap();
        assert_eq!(bit_names(&Number, &space, &Number.layout()), ["bit 1", "bit 2"]);
    }

    #[test]
    fn bits_of_thermometers_and_reference_levels_have_names_too() {
        /// Three bits that say how many levels are below, and a bit that is set at all but one of three levels.
        struct Thermometer;
        impl Encoder for Thermometer {
            fn layout(&self) -> Layout {
                Layout::free(4)
            }
            fn encode(&self, point: &Point) -> Result<Bits> {
                Ok((0..3).map(|bit| point[0] > bit).chain([point[1] != 1]).collect())
            }
            fn decode(&self, _: &Bits) -> Result<Point> {
                Err("nobody asks".into())
            }
        }
        let dose = Variable::ordered("dose", ["none", "low", "middle", "high"]);
        let space =
            Space::new(vec![dose, Variable::categorical("vessel", ["clay", "steel", "glass"])]).unwrap();
        let names = bit_names(&Thermometer, &space, &Thermometer.layout());
        assert_eq!(names, ["dose≥low", "dose≥middle", "dose=high", "vessel≠steel"]);
    }

    /// Knows that each bit adds 2, and nothing where `silent`.
    struct Twos {
        silent: bool,
    }

    impl Surrogate for Twos {
        fn observe(&mut self, _: &Bits, _: &Evaluation) -> Result<()> {
            Ok(())
        }
        fn draw(&mut self, _: &DrawRequest) -> Result<Acquisition> {
            Ok(Quadratic::zero(4).into())
        }
        fn predict(&mut self, points: ArrayView2<'_, bool>) -> Result<Option<Predictions>> {
            let ones = points.rows().into_iter().map(|row| row.iter().filter(|&&bit| bit).count());
            let means: Vec<f64> = ones.map(|ones| 2.0 * ones as f64).collect();
            let deviations = vec![0.5; means.len()];
            if self.silent { Ok(None) } else { Predictions::new(means, deviations).map(Some) }
        }
        fn effects(&mut self) -> Result<Option<Vec<Effect>>> {
            if self.silent {
                return Err("no".into());
            }
            let pair = Effect::new([0, 2], -5.0, 0.1);
            Ok(Some((0..4).map(|i| Effect::new([i], i as f64, 0.25)).chain([pair]).collect()))
        }
    }

    struct Nobody;
    impl Solver for Nobody {
        fn minimize(&mut self, _: &Problem, _: u64) -> Result<Answer> {
            Err("nobody asks".into())
        }
    }

    fn turns(silent: bool) -> Turns {
        let solver: super::super::turns::NamedSolver = ("nobody".to_owned(), Box::new(Nobody));
        let surrogate = Box::new(Twos { silent });
        Turns::new(vec![Turn { name: "twos".to_owned(), surrogate, solver }], Vec::new())
    }

    #[test]
    fn answers_are_in_the_objectives_own_terms_and_names() {
        let mut asker = Asker::new(&[]);
        let bits: Bits = "1010".parse().unwrap();
        let told = asker.predict(&mut turns(false), 1, &bits, -1.0, 8);
        assert_eq!(told, Some(Prediction { evaluation: 8, mean: -4.0, deviation: 0.5 }));
        let names = bit_names(&Mixed, &space(), &Mixed.layout());
        let told = asker.effects(&mut turns(false), &names, -1.0, 8).unwrap();
        let effects = &told.models[0].effects;
        assert_eq!((told.evaluations, effects.len(), told.models[0].left_out), (8, 5, 0));
        // The strongest first; then the pair.
        assert_eq!((effects[0].terms.join(" "), effects[0].size), ("heater=4kW".to_owned(), -3.0));
        assert_eq!(
            (effects[4].terms.join(" & "), effects[4].size),
            ("valve=open & heater=2kW".to_owned(), 5.0)
        );
        assert!(!asker.wants_effects(15));
    }

    #[test]
    fn who_does_not_answer_is_not_asked_again() {
        let mut asker = Asker::new(&[]);
        assert!(asker.wants_prediction() && asker.wants_last_effects());
        assert_eq!(asker.predict(&mut turns(true), 1, &Bits::zeros(4), 1.0, 1), None);
        assert_eq!(asker.effects(&mut turns(true), &[], 1.0, 1), None);
        assert!(!asker.predicts && !asker.wants_last_effects());
        let during = Some(crate::record::Step::Ask { evaluation: 3 });
        let died =
            Incident::Died { during, timed_out: false, from_outside: false, reason: "SIGSEGV".to_owned() };
        let asker = Asker::new(&[died]);
        assert!(!asker.wants_prediction() && !asker.wants_last_effects());
    }

    #[test]
    fn questions_take_a_tenth_of_the_time_at_most() {
        let second = Duration::from_secs(1);
        let begun = Instant::now().checked_sub(100 * second).unwrap();
        let asker = |spent: u32, last: u32| Asker {
            begun,
            spent: second * spent,
            last: second * last,
            ..Asker::new(&[])
        };
        assert!(asker(8, 1).wants_prediction());
        assert!(!asker(9, 2).wants_prediction());
    }
}
