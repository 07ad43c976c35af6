//! A space whose points are evaluated by people, or by anything else: `host ask` shows the next, `host tell` takes its value.

use plugin_api::serde_json::{Map, Value};
use plugin_api::{Benchmark, Error, Evaluation, Point, Result, Sense, Space, export_benchmark, options};
use shared_named_levels::Variables;

options! {
    /// Which choices there are, and what is good.
    pub struct Options {
        /// The levels of each variable: `{ solvent: [water, ethanol], dose: [1, 2, 5] }`. Numbers, words, true and false.
        pub variables: Map<String, Value> = Map::new(),
        /// The variables whose levels stand in an order.
        pub ordered: Vec<String> = Vec::new(),
        /// Whether low or high values are good.
        pub sense: Direction = Direction::Minimize,
        /// Whether a point may have another value when it is evaluated again.
        pub noisy: bool = false,
    }
}

options! {
    /// Whether low or high values are good.
    pub enum Direction {
        /// Low values are good.
        #[default]
        Minimize,
        /// High values are good.
        Maximize,
    }
}

export_benchmark!("by-hand", |options: Options, _seed: u64| ByHand::new(&options));

struct ByHand {
    space: Space,
    sense: Sense,
    noisy: bool,
}

impl ByHand {
    fn new(options: &Options) -> Result<Self> {
        if options.variables.is_empty() {
            let example =
                "is missing: the levels of each, such as `{ solvent: [water, ethanol], dose: [1, 2, 5] }`";
            return Err(Error::option("variables", example));
        }
        let space = Variables::new(&options.variables, &options.ordered)?.space()?;
        let sense = match options.sense {
            Direction::Minimize => Sense::Minimize,
            Direction::Maximize => Sense::Maximize,
        };
        Ok(Self { space, sense, noisy: options.noisy })
    }
}

impl Benchmark for ByHand {
    fn space(&self) -> Result<Space> {
        Ok(self.space.clone())
    }

    fn evaluate(&mut self, _: &Point, _: u64) -> Result<Evaluation> {
        Err(Error::new(
            "points are evaluated by hand: `host ask` shows the next, `host tell` takes its value",
        ))
    }

    fn sense(&self) -> Sense {
        self.sense
    }

    fn deterministic(&self) -> bool {
        !self.noisy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(json: &str) -> Result<ByHand> {
        ByHand::new(&plugin_api::options::parse(json)?)
    }

    #[test]
    fn a_space_is_what_the_options_say() {
        let made = made(r#"{ "variables": { "solvent": ["water", "ethanol"], "dose": [1, 2.5] }, "ordered": ["dose"], "sense": "maximize" }"#).unwrap();
        assert_eq!(made.space.describe(&vec![1, 1].into()), "solvent=ethanol dose=2.5");
        assert!(
            made.space.variables()[1].is_ordered() && made.sense() == Sense::Maximize && made.deterministic()
        );
    }

    #[test]
    fn what_is_missing_or_wrong_has_its_place() {
        let path = |json: &str| made(json).map(|_| ()).unwrap_err().path().to_owned();
        assert_eq!(path("{}"), "variables");
        assert_eq!(path(r#"{ "variables": { "dose": 1 } }"#), "variables.dose");
        assert_eq!(path(r#"{ "variables": { "dose": [1, 2] }, "ordered": ["doze"] }"#), "ordered[0]");
    }

    #[test]
    fn nothing_is_evaluated_here() {
        let mut made = made(r#"{ "variables": { "dose": [1, 2] } }"#).unwrap();
        let error = made.evaluate(&vec![0].into(), 1).unwrap_err().to_string();
        assert!(error.contains("host tell"), "{error}");
    }
}
