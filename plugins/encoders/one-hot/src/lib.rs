//! One-hot: a variable of three or more levels is a group of bits, one a level; of two levels, a single bit; a single level
//! needs none.
//!
//! With a reference level, the first level of a group has no bit: it is what a point has where none of the others is set. The
//! bits are then no group, of which exactly one is set, but bits of which at most one is.

use std::ops::Range;

use plugin_api::{Bits, Constraint, Encoder, Error, Layout, Literal, Point, Result, Space, export_encoder};
use shared_levels::{Indicator, in_bits};

mod options; // what a manifest may set

use options::Options;

export_encoder!("one-hot", |options: Options, space: &Space| OneHot::new(space, &options));

struct OneHot {
    space: Space,
    layout: Layout,
    codes: Vec<Code>,
}

/// The bits of a variable.
#[derive(Clone)]
enum Code {
    /// None: it has one level.
    Only,
    /// Set at the second of two levels.
    Bit(usize),
    /// One a level.
    Group(Range<usize>),
    /// One a level, but for the first.
    Reference(Range<usize>),
}

impl Code {
    fn place(&self) -> Range<usize> {
        match self {
            Self::Only => 0..0,
            Self::Bit(bit) => *bit..bit + 1,
            Self::Group(place) | Self::Reference(place) => place.clone(),
        }
    }

    /// The bit that is set at a level.
    fn set(&self, level: u32) -> Option<usize> {
        match self {
            Self::Only => None,
            Self::Bit(bit) => (level == 1).then_some(*bit),
            Self::Group(place) => Some(place.start + level as usize),
            Self::Reference(place) => (level as usize).checked_sub(1).map(|bit| place.start + bit),
        }
    }

    fn indicator(&self, level: u32) -> Indicator {
        match (self, self.set(level)) {
            (Self::Only, _) => Indicator::always(),
            (_, Some(bit)) => Indicator::bit(bit, true),
            (code, None) => Indicator::none_of(code.place()),
        }
    }

    /// The level that these bits say, of which no two are set.
    fn level(&self, bits: &[bool]) -> u32 {
        let set = self.place().position(|bit| bits[bit]).map(|place| place as u32);
        match self {
            Self::Only => 0,
            Self::Group(_) => set.unwrap_or(0),
            Self::Bit(_) | Self::Reference(_) => set.map_or(0, |place| place + 1),
        }
    }
}

impl OneHot {
    fn new(space: &Space, options: &Options) -> Result<Self> {
        let mut end = 0;
        let mut next = |bits: usize| {
            end += bits;
            end - bits..end
        };
        let code = |levels: usize| match levels {
            1 => Code::Only,
            2 => Code::Bit(next(1).start),
            _ if options.reference => Code::Reference(next(levels - 1)),
            _ => Code::Group(next(levels)),
        };
        let levels = space.variables().iter().map(|variable| variable.levels().len());
        let codes: Vec<Code> = levels.map(code).collect();
        let is_group = |code: &Code| matches!(code, Code::Group(_));
        let groups = codes.iter().filter(|code| is_group(code)).map(Code::place).collect();
        let grouped = space.variables().iter().zip(&codes).filter(|(_, code)| is_group(code)).enumerate();
        let ordered =
            grouped.filter(|(_, (variable, _))| variable.is_ordered()).map(|(group, _)| group).collect();
        let mut constraints: Vec<Constraint> = Vec::new();
        for code in codes.iter().filter(|code| matches!(code, Code::Reference(_))) {
            let of = code.place().map(|bit| Literal::new(bit, 1)).collect();
            constraints.push(Constraint::AtMost { count: 1, of });
        }
        for constraint in space.constraints() {
            constraints.extend(in_bits(constraint, |literal| codes[literal.index].indicator(literal.level))?);
        }
        let layout =
            Layout::with_groups(end, groups)?.with_ordered_groups(ordered)?.with_constraints(constraints)?;
        Ok(Self { space: space.clone(), layout, codes })
    }
}

impl Encoder for OneHot {
    fn layout(&self) -> Layout {
        self.layout.clone()
    }

    fn encode(&self, point: &Point) -> Result<Bits> {
        self.space.check(point)?;
        let mut bits = Bits::zeros(self.layout.dimension());
        for (code, &level) in self.codes.iter().zip(point.iter()) {
            if let Some(bit) = code.set(level) {
                bits[bit] = true;
            }
        }
        Ok(bits)
    }

    fn decode(&self, bits: &Bits) -> Result<Point> {
        let n = self.layout.dimension();
        if !self.layout.keeps_groups(bits) {
            return Err(Error::new(format!("{bits} is not {n} bits with one set in each group")));
        }
        let set = |code: &Code| bits[code.place()].iter().filter(|&&bit| bit).count();
        if self.codes.iter().any(|code| set(code) > 1) {
            return Err(Error::new(format!("{bits} has two levels of one variable")));
        }
        Ok(self.codes.iter().map(|code| code.level(bits)).collect())
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::Variable;
    use plugin_api::testing::check_encoder;

    use super::*;

    fn one_hot(space: &Space) -> OneHot {
        OneHot::new(space, &Options::default()).unwrap()
    }

    fn reference(space: &Space) -> OneHot {
        OneHot::new(space, &Options { reference: true }).unwrap()
    }

    /// Two levels, then four, then two, then three.
    fn mixed() -> OneHot {
        let space = Space::new(vec![
            Variable::binary("heated"),
            Variable::categorical("vessel", ["glass", "steel", "clay", "wood"]),
            Variable::binary("stirred"),
            Variable::categorical("solvent", ["water", "ethanol", "hexane"]),
        ]);
        one_hot(&space.unwrap())
    }

    #[test]
    fn it_keeps_the_contract_of_an_encoder() {
        check_encoder(|space| Some(one_hot(space)));
        check_encoder(|space| Some(reference(space)));
    }

    #[test]
    fn a_reference_level_has_no_bit_and_its_rules_speak_of_the_others() {
        let rules = vec![
            Constraint::Fixed(Literal::new(1, 0)),
            Constraint::Forbidden(vec![Literal::new(0, 1), Literal::new(3, 0)]),
            Constraint::AtMost {
                count: 1,
                of: vec![Literal::new(1, 0), Literal::new(1, 1), Literal::new(3, 0)],
            },
        ];
        let encoder = reference(&mixed().space.with_constraints(rules).unwrap());
        let layout = encoder.layout();
        assert_eq!((layout.dimension(), layout.groups().len()), (7, 0));
        assert_eq!(encoder.encode(&Point::from(vec![1, 0, 0, 2])).unwrap().to_string(), "1000001");
        let rules: Vec<String> = layout.constraints().iter().map(ToString::to_string).collect();
        assert_eq!(
            rules,
            [
                "at most 1 of x[1]=1, x[2]=1, x[3]=1",
                "at most 1 of x[5]=1, x[6]=1",
                "always x[1]=0",
                "always x[2]=0",
                "always x[3]=0",
                "never all of x[0]=1, x[5]=0, x[6]=0",
                // 1 − x₂ − x₃ + 1 − x₅ − x₆ ≤ 1
                "at most 3 of x[2]=0, x[3]=0, x[5]=0, x[6]=0",
            ]
        );
        assert!(encoder.decode(&"0110000".parse().unwrap()).is_err());
    }

    #[test]
    fn a_single_level_needs_no_bit() {
        let only = Variable::categorical("oven", ["electric"]);
        let space = Space::new(vec![only.clone(), Variable::binary("heated")]).unwrap();
        let encoder = one_hot(&space);
        assert_eq!(encoder.layout(), Layout::free(1));
        assert_eq!(encoder.decode(&"1".parse().unwrap()).unwrap(), Point::from(vec![0, 1]));
        let encoder = one_hot(&Space::new(vec![only]).unwrap());
        assert_eq!(encoder.encode(&Point::from(vec![0])).unwrap(), Bits::zeros(0));
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
        let layout = one_hot(&space).layout();
        assert_eq!(layout.constraints(), rule([(0, 0), (4, 1), (6, 1)]));
    }

    #[test]
    fn ordered_variables_are_ordered_groups() {
        let space = Space::new(vec![
            Variable::ordered("switch", ["off", "on"]),
            Variable::categorical("vessel", ["glass", "steel", "clay"]),
            Variable::ordered("dose", ["none", "low", "middle", "high"]),
        ]);
        let layout = one_hot(&space.unwrap()).layout();
        assert_eq!((layout.groups(), layout.ordered_groups()), (&[1..4, 4..8][..], &[1][..]));
    }

    #[test]
    fn a_binary_space_has_no_groups() {
        assert_eq!(one_hot(&Space::binary(4)).layout(), Layout::free(4));
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
