//! The worth of a set of items, maximised: exactly `choose` of `items`, whose worth depends on which others are chosen.
//!
//! A team, a portfolio, a panel of sensors: a hidden model has a normal number for each item, and for some of the pairs and
//! triples. That exactly so many are chosen is a constraint of the space.

use plugin_api::{
    Benchmark, Constraint, Error, Evaluation, Literal, Point, Result, Sense, Space, Variable,
    export_benchmark,
};

mod options; // what a manifest may set, and its limits
mod worth; // the hidden model

use options::Options;
use worth::Worth;

export_benchmark!("subset", |options: Options, seed: u64| Subset::new(&options, seed));

struct Subset {
    space: Space,
    worth: Worth,
    choose: usize,
}

impl Subset {
    fn new(options: &Options, seed: u64) -> Result<Self> {
        let &Options { items, choose, .. } = options;
        if choose > items {
            return Err(Error::option("choose", format!("must be at most `items`, {items}, not {choose}")));
        }
        let item = |i: usize| Variable::categorical(format!("item-{i}"), ["out", "in"]);
        let of = (0..items).map(|i| Literal::new(i, 1)).collect();
        let space = Space::new((1..=items).map(item).collect())?
            .with_constraints(vec![Constraint::Exactly { count: choose, of }])?;
        Ok(Self { space, worth: Worth::random(options, options.seed.unwrap_or(seed)), choose })
    }
}

impl Benchmark for Subset {
    fn space(&self) -> Result<Space> {
        Ok(self.space.clone())
    }

    fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
        self.space.check(point)?;
        let chosen: Vec<bool> = point.iter().map(|&level| level == 1).collect();
        match chosen.iter().filter(|&&chosen| chosen).count() {
            count if count == self.choose => Ok(self.worth.of(&chosen).into()),
            count => Ok(Evaluation::infeasible(format!("{count} items are in, not {}", self.choose))),
        }
    }

    fn sense(&self) -> Sense {
        Sense::Maximize
    }

    /// Of up to five million sets, by trying each. Every set has as many bits set.
    fn optimum(&mut self, l1: f64) -> Result<Option<f64>> {
        Ok(self.worth.best(self.choose).map(|best| best - l1 * self.choose as f64))
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::options::parse;
    use plugin_api::testing::check_benchmark;

    use super::*;

    fn subset(json: &str, seed: u64) -> Subset {
        Subset::new(&parse(json).unwrap(), seed).unwrap()
    }

    #[test]
    fn it_keeps_the_contract_of_a_benchmark() {
        check_benchmark(|| subset(r#"{ "items": 8, "choose": 3 }"#, 3));
        check_benchmark(|| subset(r#"{ "items": 4, "choose": 4, "triples": 1 }"#, 3));
    }

    fn sets(n: usize, k: u32) -> impl Iterator<Item = Point> {
        (0..1u32 << n)
            .filter(move |mask| mask.count_ones() == k)
            .map(move |mask| (0..n).map(|i| mask >> i & 1).collect())
    }

    #[test]
    fn the_optimum_is_the_best_of_all_sets() {
        for (items, choose) in [(7, 3), (9, 1), (9, 8), (6, 6)] {
            for triples in ["0", "0.5"] {
                let json = format!(r#"{{ "items": {items}, "choose": {choose}, "triples": {triples} }}"#);
                let mut subset = subset(&json, 4);
                let values =
                    sets(items, choose as u32).map(|point| match subset.evaluate(&point, 0).unwrap() {
                        Evaluation::Value(value) => value,
                        other => panic!("{other:?}"),
                    });
                let best = values.fold(f64::NEG_INFINITY, f64::max);
                assert!((subset.optimum(0.0).unwrap().unwrap() - best).abs() < 1e-12);
                let penalised = subset.optimum(0.5).unwrap().unwrap();
                assert!((penalised - best + 0.5 * f64::from(choose)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_space_admits_sets_of_the_right_size_and_others_have_no_value() {
        let mut subset = subset(r#"{ "items": 6, "choose": 2 }"#, 1);
        let space = subset.space().unwrap();
        assert!(sets(6, 2).all(|point| space.admits(&point)));
        let three = Point::from(vec![1, 1, 1, 0, 0, 0]);
        assert!(!space.admits(&three));
        assert_eq!(subset.evaluate(&three, 0).unwrap(), Evaluation::infeasible("3 items are in, not 2"));
        assert_eq!(space.describe(&Point::from(vec![0, 1, 0, 0, 0, 1])).matches("=in").count(), 2);
    }

    #[test]
    fn items_that_depend_on_each_other_are_worth_more_or_less_together() {
        let mut subset = subset(r#"{ "items": 3, "choose": 2, "pairs": 1 }"#, 1);
        let worth = &subset.worth;
        let single = |i: usize| worth.of(&(0..3).map(|j| i == j).collect::<Vec<_>>());
        let sum = single(0) + single(1);
        let both = worth.of(&[true, true, false]);
        assert!((both - sum).abs() > 1e-6);
        assert_eq!(subset.evaluate(&Point::from(vec![1, 1, 0]), 0).unwrap(), Evaluation::from(both));
    }

    #[test]
    fn more_than_there_are_cannot_be_chosen_and_large_instances_have_no_known_optimum() {
        let error = Subset::new(&parse(r#"{ "items": 3 }"#).unwrap(), 1).err().unwrap().to_string();
        assert_eq!(error, "`choose`: must be at most `items`, 3, not 5");
        assert_eq!(subset(r#"{ "items": 100, "choose": 50 }"#, 1).optimum(0.0).unwrap(), None);
    }
}
