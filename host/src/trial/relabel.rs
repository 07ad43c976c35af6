//! Other names for the levels of each variable: a switch against optima that lie in a convenient corner.
//!
//! A solver or model that prefers points of which most bits agree looks good on an objective whose optimum is such a
//! point. Relabelled, the objective is the same, and its optimum lies anywhere. Bits that are in no group are turned
//! over or not, the bits of a group change places, and levels in an order are counted from the other end; surrogates and solvers see nothing else, and points are translated
//! back before anything is evaluated or recorded.

use plugin_api::rand::RngExt;
use plugin_api::{Bits, Encoder, Layout, Literal, Penalty, Point, Result, rng};

/// An encoder, behind which bits have other meanings.
pub(super) struct Relabelled {
    encoder: Box<dyn Encoder>,
    layout: Layout,
    /// For each bit, the encoder's bit that it stands for.
    meaning: Vec<usize>,
    /// Which bits are turned over.
    turned: Bits,
}

impl Relabelled {
    pub(super) fn new(encoder: Box<dyn Encoder>, seed: u64) -> Result<Self> {
        let plain = encoder.layout();
        let rng = &mut rng(seed);
        let mut turned: Bits = (0..plain.dimension()).map(|_| rng.random::<bool>()).collect();
        let mut meaning: Vec<usize> = (0..plain.dimension()).collect();
        for (place, group) in plain.groups().iter().enumerate() {
            turned[group.clone()].fill(false);
            if plain.ordered_groups().contains(&place) {
                if rng.random::<bool>() {
                    meaning[group.clone()].reverse();
                }
                continue;
            }
            // Fisher and Yates.
            for last in (group.start + 1..group.end).rev() {
                meaning.swap(last, rng.random_range(group.start..=last));
            }
        }
        let mut place = vec![0; meaning.len()];
        meaning.iter().enumerate().for_each(|(i, &means)| place[means] = i);
        let translate = |Literal { index, level }| {
            let i = place[index];
            Literal::new(i, if turned[i] { 1 - level } else { level })
        };
        let constraints = plain.constraints().iter().map(|constraint| constraint.map(translate)).collect();
        let layout = plain.with_constraints(constraints)?;
        Ok(Self { encoder, layout, meaning, turned })
    }

    /// The penalty of a point, said of the bits that stand for it: where all that costs is turned over, setting a bit
    /// is what costs nothing.
    pub(super) fn penalty(&self, plain: Penalty) -> Penalty {
        plain.from_point(self.turned.clone())
    }
}

impl Encoder for Relabelled {
    fn layout(&self) -> Layout {
        self.layout.clone()
    }

    fn encode(&self, point: &Point) -> Result<Bits> {
        let bits = self.encoder.encode(point)?;
        Ok(self
            .meaning
            .iter()
            .zip(self.turned.iter())
            .map(|(&means, &turned)| bits[means] != turned)
            .collect())
    }

    fn decode(&self, bits: &Bits) -> Result<Point> {
        let mut plain = Bits::zeros(bits.len());
        for ((&means, &turned), &bit) in self.meaning.iter().zip(self.turned.iter()).zip(bits.iter()) {
            plain[means] = bit != turned;
        }
        self.encoder.decode(&plain)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::Range;

    use plugin_api::testing::check_encoder;
    use plugin_api::{Space, Variable};

    use super::*;

    /// A bit a variable, or one a level where there are more than two.
    struct OneHot {
        places: Vec<Range<usize>>,
        layout: Layout,
    }

    impl OneHot {
        fn new(space: &Space) -> Self {
            let (mut places, mut end) = (Vec::new(), 0);
            for variable in space.variables() {
                let start = end;
                end += if variable.levels().len() == 2 { 1 } else { variable.levels().len() };
                places.push(start..end);
            }
            let groups: Vec<_> = places.iter().filter(|place| place.len() > 1).cloned().collect();
            let ordered = |place: &usize| {
                let variable = places.iter().position(|bits| *bits == groups[*place]).unwrap();
                space.variables()[variable].is_ordered()
            };
            let ordered: Vec<usize> = (0..groups.len()).filter(ordered).collect();
            let bit = |Literal { index, level }| match &places[index] {
                place if place.len() == 1 => Literal::new(place.start, level),
                place => Literal::new(place.start + level as usize, 1),
            };
            let constraints = space.constraints().iter().map(|constraint| constraint.map(bit)).collect();
            let layout = Layout::with_groups(end, groups).unwrap().with_ordered_groups(ordered).unwrap();
            let layout = layout.with_constraints(constraints).unwrap();
            Self { places, layout }
        }
    }

    impl Encoder for OneHot {
        fn layout(&self) -> Layout {
            self.layout.clone()
        }
        fn encode(&self, point: &Point) -> Result<Bits> {
            let bits = self.places.iter().zip(point.iter()).flat_map(|(place, &level)| {
                (0..place.len() as u32).map(move |i| level == if place.len() == 1 { 1 } else { i })
            });
            Ok(bits.collect())
        }
        fn decode(&self, bits: &Bits) -> Result<Point> {
            let level = |place: &Range<usize>| match place.len() {
                1 => u32::from(bits[place.start]),
                _ => place.clone().take_while(|&i| !bits[i]).count() as u32,
            };
            Ok(self.places.iter().map(level).collect())
        }
    }

    fn space() -> Space {
        let solvents = Variable::categorical("solvent", ["water", "oil", "ether"]);
        Space::new(vec![Variable::binary("heated"), solvents]).unwrap()
    }

    fn relabelled(space: &Space, seed: u64) -> Relabelled {
        Relabelled::new(Box::new(OneHot::new(space)), seed).unwrap()
    }

    fn points() -> impl Iterator<Item = Point> {
        (0..6).map(|i| Point::from(vec![i % 2, i / 2]))
    }

    #[test]
    fn it_keeps_the_contract_of_encoders() {
        // The encoder of these tests has no bits for a variable with a single level.
        let takes = |space: &Space| space.variables().iter().all(|variable| variable.levels().len() > 1);
        (0..20).for_each(|seed| check_encoder(|space| takes(space).then(|| relabelled(space, seed))));
    }

    #[test]
    fn seeds_reach_every_labelling() {
        let all = |seed| points().map(|point| relabelled(&space(), seed).encode(&point).unwrap()).collect();
        let labellings: BTreeSet<Vec<Bits>> = (0..200).map(all).collect();
        assert_eq!(labellings.len(), 2 * 6);
    }

    #[test]
    fn levels_in_an_order_keep_it_or_are_reversed() {
        let space = Space::new(vec![Variable::ordered("dose", ["low", "middle", "high"])]).unwrap();
        let all = |seed| {
            let encoder = relabelled(&space, seed);
            assert_eq!(encoder.layout().ordered_groups(), [0]);
            (0..3).map(|level| encoder.encode(&Point::from(vec![level])).unwrap().to_string()).collect()
        };
        let labellings: BTreeSet<Vec<String>> = (0..50).map(all).collect();
        let words = |words: [&str; 3]| words.map(str::to_owned).to_vec();
        assert_eq!(labellings, BTreeSet::from([words(["100", "010", "001"]), words(["001", "010", "100"])]));
    }

    #[test]
    fn a_point_costs_what_it_did() {
        let plain = OneHot::new(&space());
        for encoder in (0..10).map(|seed| relabelled(&space(), seed)) {
            let penalty = encoder.penalty(Penalty::l1(0.1));
            for point in points() {
                let cost = Penalty::l1(0.1).of(&plain.encode(&point).unwrap());
                assert_eq!(penalty.of(&encoder.encode(&point).unwrap()), cost);
            }
        }
    }
}
