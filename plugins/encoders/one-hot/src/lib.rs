//! One-hot: a variable of three or more levels is a group of bits, one a level; of two levels, a single bit.

use std::ops::Range;

use plugin_api::{Bits, Encoder, Error, Layout, Literal, Point, Result, Space, export_encoder};

mod options; // what a manifest may set: nothing

use options::Options;

export_encoder!("one-hot", |_options: Options, space: &Space| OneHot::new(space));

struct OneHot {
    space: Space,
    layout: Layout,
    /// The bits of each variable: a single one, or as many as it has levels.
    places: Vec<Range<usize>>,
}

impl OneHot {
    fn new(space: &Space) -> Result<Self> {
        let mut end = 0;
        let place = |levels: usize| {
            let start = end;
            end += if levels == 2 { 1 } else { levels };
            start..end
        };
        let places: Vec<Range<usize>> =
            space.variables().iter().map(|variable| variable.levels().len()).map(place).collect();
        let groups = places.iter().filter(|place| place.len() > 1).cloned().collect();
        // That a variable has a level is said by one bit: set for the level's own, 0 or 1 for the only one.
        let bit = |Literal { index, level }| match &places[index] {
            place if place.len() == 1 => Literal::new(place.start, level),
            place => Literal::new(place.start + level as usize, 1),
        };
        let constraints = space.constraints().iter().map(|constraint| constraint.map(bit)).collect();
        let has_group = |(_, place): &(_, &Range<usize>)| place.len() > 1;
        let grouped = space.variables().iter().zip(&places).filter(has_group).enumerate();
        let ordered =
            grouped.filter(|(_, (variable, _))| variable.is_ordered()).map(|(group, _)| group).collect();
        let layout =
            Layout::with_groups(end, groups)?.with_ordered_groups(ordered)?.with_constraints(constraints)?;
        Ok(Self { space: space.clone(), layout, places })
    }
}

impl Encoder for OneHot {
    fn layout(&self) -> Layout {
        self.layout.clone()
    }

    fn encode(&self, point: &Point) -> Result<Bits> {
        self.space.check(point)?;
        let mut bits = Bits::zeros(self.layout.dimension());
        for (place, &level) in self.places.iter().zip(point.iter()) {
            match place.len() {
                1 => bits[place.start] = level == 1,
                _ => bits[place.start + level as usize] = true,
            }
        }
        Ok(bits)
    }

    fn decode(&self, bits: &Bits) -> Result<Point> {
        if !self.layout.keeps_groups(bits) {
            let n = self.layout.dimension();
            return Err(Error::new(format!("{bits} is not {n} bits with one set in each group")));
        }
        let level = |place: &Range<usize>| match place.len() {
            1 => u32::from(bits[place.start]),
            _ => bits[place.clone()].iter().take_while(|&&bit| !bit).count() as u32,
        };
        Ok(self.places.iter().map(level).collect())
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::testing::check_encoder;
    use plugin_api::{Constraint, Variable};

    use super::*;

    /// Two levels, then four, then two, then three.
    fn mixed() -> OneHot {
        let space = Space::new(vec![
            Variable::binary("heated"),
            Variable::categorical("vessel", ["glass", "steel", "clay", "wood"]),
            Variable::binary("stirred"),
            Variable::categorical("solvent", ["water", "ethanol", "hexane"]),
        ]);
        OneHot::new(&space.unwrap()).unwrap()
    }

    #[test]
    fn it_keeps_the_contract_of_an_encoder() {
        check_encoder(|space| Some(OneHot::new(space).unwrap()));
    }

    #[test]
    fn two_levels_are_one_bit_and_more_are_a_group() {
        let encoder = mixed();
        assert_eq!(encoder.layout(), Layout::with_groups(9, vec![1..5, 6..9]).unwrap());
        assert_eq!(encoder.encode(&Point::from(vec![1, 2, 0, 0])).unwrap().to_string(), "100100100");
        assert_eq!(encoder.decode(&"000011001".parse().unwrap()).unwrap(), Point::from(vec![0, 3, 1, 2]));
    }

    #[test]
    fn constraints_of_levels_are_constraints_of_their_bits() {
        let rule = |of: [(usize, u32); 3]| {
            let of = of.map(|(index, level)| Literal::new(index, level)).to_vec();
            vec![Constraint::AtMost { count: 1, of }]
        };
        let space = mixed().space.with_constraints(rule([(0, 0), (1, 3), (3, 0)])).unwrap();
        let layout = OneHot::new(&space).unwrap().layout();
        assert_eq!(layout.constraints(), rule([(0, 0), (4, 1), (6, 1)]));
    }

    #[test]
    fn ordered_variables_are_ordered_groups() {
        let space = Space::new(vec![
            Variable::ordered("switch", ["off", "on"]),
            Variable::categorical("vessel", ["glass", "steel", "clay"]),
            Variable::ordered("dose", ["none", "low", "middle", "high"]),
        ]);
        let layout = OneHot::new(&space.unwrap()).unwrap().layout();
        assert_eq!((layout.groups(), layout.ordered_groups()), (&[1..4, 4..8][..], &[1][..]));
    }

    #[test]
    fn a_binary_space_has_no_groups() {
        assert_eq!(OneHot::new(&Space::binary(4)).unwrap().layout(), Layout::free(4));
    }

    #[test]
    fn points_and_bits_that_do_not_fit_are_refused() {
        let encoder = mixed();
        assert!(encoder.encode(&Point::from(vec![0, 4, 0, 0])).is_err());
        assert!(encoder.decode(&"0".parse().unwrap()).is_err());
        assert_eq!(
            encoder.decode(&"000110001".parse().unwrap()).unwrap_err().to_string(),
            "000110001 is not 9 bits with one set in each group"
        );
    }
}
