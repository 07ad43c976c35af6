//! Several models, of which the one that has predicted best draws.
//!
//! Before each evaluation that a draw led to, every model predicts its value; after it, each gets the logarithm of the
//! density that it gave to the value. The sum of these scores is the prequential likelihood (Dawid 1984): how likely the
//! values were, each given those before it. It compares models of values and of transformed values fairly, because all
//! predict values. The density is Student's with few degrees of freedom, around the mean and with the deviation that the
//! model predicts: of a normal one, a single bad miss would decide for good.
//!
//! Points evaluated before the first draw have no score: they lie anywhere, and what counts is who knows more of
//! where the search goes.

use plugin_api::ndarray::ArrayView2;
use plugin_api::serde::{Deserialize, Serialize};
use plugin_api::{
    Acquisition, AcquisitionKind, Bits, DrawRequest, Effect, Error, Evaluation, Layout, Predictions, Result,
    Surrogate, serde_json,
};
use shared_values::Values;

use crate::Heat;
use crate::options::{Lengthscales, Model, Options};

/// How much more score the first model starts with, as odds of 22,000 to 1: the other one has to be clearly better before
/// it draws. Chosen among 0, 5 and 10 (`plugins/surrogates/README.md` has the numbers).
const HEAD_START: f64 = 10.0;
/// Degrees of freedom of the density of a predicted value.
const DEGREES: f64 = 4.0;
const VERSION: u32 = 1;

/// One model, or several that all observe.
pub(crate) struct Contest {
    members: Vec<Member>,
    /// Whether a function was drawn: what is observed from then on has a score.
    drawn: bool,
}

struct Member {
    /// What it is, where there are several.
    name: &'static str,
    model: Heat,
    /// The sum of the logarithms of the densities that it gave to values, and its head start.
    score: f64,
}

impl Contest {
    pub(crate) fn new(options: Options, layout: &Layout) -> Result<Self> {
        let members = match options.model {
            Model::Given => vec![("as given", options)],
            Model::Predictive => predictive(&options)?,
        };
        let member = |(name, options)| Ok(Member { name, model: Heat::new(options, layout)?, score: 0.0 });
        let mut members: Vec<Member> = members.into_iter().map(member).collect::<Result<_>>()?;
        members[0].score = HEAD_START;
        Ok(Self { members, drawn: false })
    }

    /// The member with the highest score; the first of equals.
    fn leader(&self) -> usize {
        let scores = self.members.iter().map(|member| member.score).enumerate();
        scores.fold((0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best }).0
    }

    /// Adds to each score what the member gave to this value before it is told.
    fn judge(&mut self, bits: &Bits, value: f64) -> Result<()> {
        let point = ArrayView2::from_shape((1, bits.len()), bits).expect("a row of bits");
        let density = |member: &mut Member| {
            let (mean, deviation) = member.model.forecast(point)?;
            Ok(log_density(value, mean, deviation))
        };
        let gained: Vec<f64> = self.members.iter_mut().map(density).collect::<Result<_>>()?;
        // Where one is so sure that it has no density, nobody is judged.
        if gained.iter().all(|gained| gained.is_finite()) {
            self.members.iter_mut().zip(gained).for_each(|(member, gained)| member.score += gained);
        }
        Ok(())
    }
}

/// The models of the default method, with the other options as they are.
///
/// They see different things: one lengthscale for all variables and values as they are; a lengthscale for each and
/// nothing but the order of values.
fn predictive(options: &Options) -> Result<Vec<(&'static str, Options)>> {
    let given = Options::default();
    let own = [
        ("values", options.values == given.values),
        ("lengthscales", options.lengthscales == given.lengthscales),
        ("spread", options.spread == given.spread),
    ];
    if let Some((name, _)) = own.iter().find(|(_, default)| !default) {
        return Err(Error::option(*name, "is each model's own where `model` is predictive"));
    }
    let common = Options { lengthscales: Lengthscales::Common, ..options.clone() };
    let ranks = Options { values: Values::Copula, spread: 0.5, ..options.clone() };
    Ok(vec![("common lengthscale", common), ("ranks", ranks)])
}

/// ln of Student's density of a value, up to a constant.
fn log_density(value: f64, mean: f64, deviation: f64) -> f64 {
    let z = (value - mean) / deviation;
    -libm::log(deviation) - 0.5 * (DEGREES + 1.0) * libm::log1p(z * z / DEGREES)
}

#[derive(Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
struct Saved {
    contest: u32,
    drawn: bool,
    scores: Vec<f64>,
    /// What the members saved.
    members: Vec<String>,
}

impl Surrogate for Contest {
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        if let Some(value) = evaluation.value().filter(|_| self.drawn && self.members.len() > 1) {
            self.members[0].model.check(bits, Some(value))?;
            self.judge(bits, value)?;
        }
        self.members.iter_mut().try_for_each(|member| member.model.observe(bits, evaluation))
    }

    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        self.drawn = true;
        let leader = self.leader();
        self.members[leader].model.draw(request)
    }

    fn draws(&self) -> AcquisitionKind {
        self.members[0].model.draws()
    }

    fn predict(&mut self, points: ArrayView2<'_, bool>) -> Result<Option<Predictions>> {
        let leader = self.leader();
        self.members[leader].model.predict(points)
    }

    fn effects(&mut self) -> Result<Option<Vec<Effect>>> {
        let leader = self.leader();
        self.members[leader].model.effects()
    }

    fn notes(&self) -> Result<Vec<(String, String)>> {
        let Member { name, model, .. } = &self.members[self.leader()];
        let mut notes = model.notes()?;
        if self.members.len() > 1 && self.drawn {
            notes.insert(0, ("model".to_owned(), (*name).to_owned()));
        }
        Ok(notes)
    }

    /// The state of the only model is its own.
    fn save(&self) -> Result<Option<Vec<u8>>> {
        if let [only] = &self.members[..] {
            return only.model.save();
        }
        let state = |member: &Member| {
            let state = member.model.save()?.unwrap_or_default();
            String::from_utf8(state).map_err(Error::wrap)
        };
        let members = self.members.iter().map(state).collect::<Result<_>>()?;
        let scores = self.members.iter().map(|member| member.score).collect();
        let saved = Saved { contest: VERSION, drawn: self.drawn, scores, members };
        serde_json::to_vec(&saved).map(Some).map_err(Error::wrap)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        if let [only] = &mut self.members[..] {
            return only.model.restore(state);
        }
        let refuse = |why: String| Error::new(format!("not a state of this surrogate: {why}"));
        let saved: Saved = serde_json::from_slice(state).map_err(|error| refuse(error.to_string()))?;
        if saved.contest != VERSION {
            return Err(refuse(format!("its version is {}, not {VERSION}", saved.contest)));
        }
        let count = self.members.len();
        for (found, what) in [(saved.members.len(), "models"), (saved.scores.len(), "scores")] {
            if found != count {
                return Err(refuse(format!("it has {found} {what}, not {count}")));
            }
        }
        // All of it is looked at before any of it is taken.
        let mut members = Vec::new();
        for ((member, state), score) in self.members.iter().zip(&saved.members).zip(saved.scores) {
            let model = crate::state::restored(&member.model, state.as_bytes())?;
            members.push(Member { name: member.name, model, score });
        }
        let seen = |member: &Member| member.model.observations.clone();
        if members.iter().any(|member| seen(member) != seen(&members[0])) {
            return Err(refuse("its models have not seen the same".to_owned()));
        }
        (self.members, self.drawn) = (members, saved.drawn);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::options::parse;
    use plugin_api::testing::check_surrogate;
    use plugin_api::{BitMatrix, Penalty, rng};

    use super::*;

    const PREDICTIVE: &str = r#"{ "model": "predictive" }"#;

    fn contest(json: &str, n: usize) -> Contest {
        Contest::new(parse(json).unwrap(), &Layout::free(n)).unwrap()
    }

    /// Observes random points, a draw before each from the tenth on; answers them with their values.
    fn run(contest: &mut Contest, count: usize, value: impl Fn(&Bits) -> f64) -> Vec<(Bits, f64)> {
        let (layout, mut rng) = (Layout::free(8), rng(1));
        let mut seen = Vec::new();
        for i in 0..count {
            if i >= 10 {
                contest.draw(&DrawRequest::new(i as u64).with_penalty(Penalty::l1(0.1))).unwrap();
            }
            let x = layout.random(&mut rng);
            contest.observe(&x, &value(&x).into()).unwrap();
            seen.push((x.clone(), value(&x)));
        }
        seen
    }

    fn sum(x: &Bits) -> f64 {
        x.iter().enumerate().map(|(i, &bit)| f64::from(bit) * (i as f64 + 1.0)).sum()
    }

    #[test]
    fn it_keeps_the_contract_of_surrogates() {
        check_surrogate(|layout| Contest::new(parse(PREDICTIVE).unwrap(), layout).unwrap());
        check_surrogate(|layout| Contest::new(Options::default(), layout).unwrap());
    }

    #[test]
    fn the_density_integrates_to_the_constant_that_is_left_out() {
        // Γ(2)√(4π)/Γ(5/2) = 8/3 for four degrees of freedom, whatever the mean and the deviation.
        for (mean, deviation) in [(0.0, 1.0), (3.0, 0.2), (-1.0, 7.0)] {
            let density =
                |k: i32| libm::exp(log_density(mean + 0.01 * f64::from(k) * deviation, mean, deviation));
            let whole: f64 = (-40_000..=40_000).map(density).sum::<f64>() * 0.01 * deviation;
            assert!((whole - 8.0 / 3.0).abs() < 1e-5, "{whole}");
        }
    }

    #[test]
    fn sums_are_for_the_model_of_values_and_their_exponentials_for_that_of_ranks() {
        let mut plain = contest(PREDICTIVE, 8);
        run(&mut plain, 40, sum);
        assert_eq!(plain.notes().unwrap(), [("model".to_owned(), "common lengthscale".to_owned())]);
        let mut steep = contest(PREDICTIVE, 8);
        run(&mut steep, 40, |x| libm::exp(0.5 * sum(x)));
        assert_eq!(steep.notes().unwrap(), [("model".to_owned(), "ranks".to_owned())]);
    }

    #[test]
    fn a_score_is_what_the_model_predicted_of_each_value_before_it_was_told() {
        let mut both = contest(PREDICTIVE, 8);
        let seen = run(&mut both, 10, sum);
        let scores = |contest: &Contest| contest.members.iter().map(|m| m.score).collect::<Vec<_>>();
        assert_eq!(scores(&both), [HEAD_START, 0.0], "nothing was drawn yet");
        let mut common = contest(r#"{ "lengthscales": "common" }"#, 8);
        seen.iter().for_each(|(x, y)| common.observe(x, &(*y).into()).unwrap());
        both.draw(&DrawRequest::new(1)).unwrap();
        common.draw(&DrawRequest::new(1)).unwrap();
        let next: Bits = "10110100".parse().unwrap();
        let mut point = BitMatrix::new(8);
        point.push(&next);
        let told = common.predict(point.view()).unwrap().unwrap();
        both.observe(&next, &1.5.into()).unwrap();
        let gained = log_density(1.5, told.means()[0], told.deviations()[0]);
        assert_eq!(both.members[0].score, HEAD_START + gained);
        let before = scores(&both);
        both.observe(&next, &Evaluation::infeasible("it burns")).unwrap();
        assert_eq!(scores(&both), before, "what has no value has no score");
    }

    #[test]
    fn a_draw_is_that_of_the_leader() {
        let mut both = contest(PREDICTIVE, 8);
        let seen = run(&mut both, 10, sum);
        let mut alone = contest(r#"{ "values": "copula", "spread": 0.5 }"#, 8);
        seen.iter().for_each(|(x, y)| alone.observe(x, &(*y).into()).unwrap());
        both.members[1].score = HEAD_START + 1.0;
        let request = DrawRequest::new(1).with_best_total(0.0);
        let (one, other) = (both.draw(&request).unwrap(), alone.draw(&request).unwrap());
        for mask in 0..256_u32 {
            let x: Bits = (0..8).map(|i| mask >> i & 1 == 1).collect();
            assert_eq!(one.value(&x), other.value(&x));
        }
    }

    #[test]
    fn a_restored_contest_goes_on_with_its_scores_and_draws() {
        let mut one = contest(PREDICTIVE, 8);
        run(&mut one, 25, |x| libm::exp(0.3 * sum(x)));
        let state = one.save().unwrap().unwrap();
        let mut other = contest(PREDICTIVE, 8);
        other.restore(&state).unwrap();
        let mut rng = rng(9);
        for seed in 0..5 {
            let x = Layout::free(8).random(&mut rng);
            let [a, b] = [&mut one, &mut other].map(|contest| {
                let value = contest.draw(&DrawRequest::new(seed)).unwrap().value(&x);
                contest.observe(&x, &value.abs().into()).unwrap();
                value.to_bits()
            });
            assert_eq!(a, b);
            assert_eq!(one.save().unwrap(), other.save().unwrap());
        }
        let text = String::from_utf8(state).unwrap();
        for (wrong, why) in [
            (text.replace(r#""contest":1"#, r#""contest":7"#), "its version is 7, not 1"),
            (text.replace(r#""scores":["#, r#""scores":[0.5,"#), "it has 3 scores, not 2"),
        ] {
            let error = other.restore(wrong.as_bytes()).unwrap_err().to_string();
            assert_eq!(error, format!("not a state of this surrogate: {why}"));
        }
        let mut given = contest("{}", 8);
        assert!(given.restore(text.as_bytes()).is_err());
    }

    #[test]
    fn options_that_are_each_models_own_are_refused_beside_predictive() {
        for (json, name) in [
            (r#"{ "model": "predictive", "values": "log" }"#, "values"),
            (r#"{ "model": "predictive", "lengthscales": "common" }"#, "lengthscales"),
            (r#"{ "model": "predictive", "spread": 0.1 }"#, "spread"),
        ] {
            let error = Contest::new(parse(json).unwrap(), &Layout::free(3)).err().unwrap().to_string();
            assert_eq!(error, format!("`{name}`: is each model's own where `model` is predictive"));
        }
    }
}
