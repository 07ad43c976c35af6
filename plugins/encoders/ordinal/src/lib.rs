//! Thermometers: a variable with k ordered levels is k − 1 bits, of which bit l is set where the level is above the l-th.
//!
//! A step from one level to the next turns over one bit, so that a model of bits learns what each step is worth, and levels
//! that are near each other share most of what is known of them. That no bit is set without the one before is a rule
//! between each two neighbours, which solvers keep. Variables whose levels have no order are one-hot groups; two levels are
//! one bit, a single one needs none.

use std::ops::Range;

use plugin_api::{
    Bits, Constraint, Encoder, Error, Layout, Literal, Point, Result, Space, Variable, export_encoder,
};
use shared_levels::{Indicator, in_bits};

mod options; // what a manifest may set: nothing

use options::Options;

export_encoder!("ordinal", |_options: Options, space: &Space| Ordinal::new(space));

struct Ordinal {
    space: Space,
    layout: Layout,
    codes: Vec<Code>,
}

/// The bits of a variable.
enum Code {
    /// As many are set as there are levels below.
    Thermometer(Range<usize>),
    /// One a level.
    Group(Range<usize>),
}

impl Code {
    fn place(&self) -> Range<usize> {
        match self {
            Self::Thermometer(place) | Self::Group(place) => place.clone(),
        }
    }

    fn indicator(&self, level: u32) -> Indicator {
        let (place, level) = (self.place(), level as usize);
        match self {
            Self::Group(_) => Indicator::bit(place.start + level, true),
            Self::Thermometer(_) if place.is_empty() => Indicator::always(),
            Self::Thermometer(_) if level == 0 => Indicator::bit(place.start, false),
            Self::Thermometer(_) if level == place.len() => Indicator::bit(place.end - 1, true),
            Self::Thermometer(_) => Indicator::between(place.start + level - 1, place.start + level),
        }
    }
}

impl Ordinal {
    fn new(space: &Space) -> Result<Self> {
        let mut end = 0;
        let mut next = |bits: usize| {
            end += bits;
            end - bits..end
        };
        // One or two levels have an order, whatever their author says.
        let code = |variable: &Variable| match variable.levels().len() {
            levels if variable.is_ordered() || levels <= 2 => Code::Thermometer(next(levels - 1)),
            levels => Code::Group(next(levels)),
        };
        let codes: Vec<Code> = space.variables().iter().map(code).collect();
        let groups = codes.iter().filter(|code| matches!(code, Code::Group(_))).map(Code::place).collect();
        let mut constraints = Vec::new();
        for code in codes.iter().filter(|code| matches!(code, Code::Thermometer(_))) {
            let place = code.place();
            for bit in place.start + 1..place.end {
                constraints.push(Constraint::Forbidden(vec![Literal::new(bit - 1, 0), Literal::new(bit, 1)]));
            }
        }
        for constraint in space.constraints() {
            constraints.extend(in_bits(constraint, |literal| codes[literal.index].indicator(literal.level))?);
        }
        let layout = Layout::with_groups(end, groups)?.with_constraints(constraints)?;
        Ok(Self { space: space.clone(), layout, codes })
    }
}

impl Encoder for Ordinal {
    fn layout(&self) -> Layout {
        self.layout.clone()
    }

    fn encode(&self, point: &Point) -> Result<Bits> {
        self.space.check(point)?;
        let mut bits = Bits::zeros(self.layout.dimension());
        for (code, &level) in self.codes.iter().zip(point.iter()) {
            let (start, level) = (code.place().start, level as usize);
            match code {
                Code::Thermometer(_) => bits[start..start + level].fill(true),
                Code::Group(_) => bits[start + level] = true,
            }
        }
        Ok(bits)
    }

    fn decode(&self, bits: &Bits) -> Result<Point> {
        if !self.layout.keeps_groups(bits) {
            let n = self.layout.dimension();
            return Err(Error::new(format!("{bits} is not {n} bits with one set in each group")));
        }
        let level = |code: &Code| {
            let bits = &bits[code.place()];
            match code {
                Code::Thermometer(_) => {
                    let level = bits.iter().take_while(|&&bit| bit).count();
                    (!bits[level..].contains(&true)).then_some(level as u32)
                }
                Code::Group(_) => bits.iter().position(|&bit| bit).map(|level| level as u32),
            }
        };
        let point: Option<Point> =
            self.codes.iter().map(level).collect::<Option<Vec<u32>>>().map(Point::from);
        point.ok_or_else(|| Error::new(format!("{bits} has a bit set after one that is not")))
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::testing::check_encoder;

    use super::*;

    fn encoder() -> Ordinal {
        let space = Space::new(vec![
            Variable::ordered("layers", ["1", "2", "4", "8"]),
            Variable::categorical("optimizer", ["sgd", "adam", "lion"]),
            Variable::binary("dropout"),
            Variable::ordered("only", ["one"]),
        ]);
        let never = Constraint::Forbidden(vec![Literal::new(0, 2), Literal::new(1, 2)]);
        Ordinal::new(&space.unwrap().with_constraints(vec![never]).unwrap()).unwrap()
    }

    #[test]
    fn it_keeps_the_contract_of_an_encoder() {
        check_encoder(|space| Some(Ordinal::new(space).unwrap()));
    }

    #[test]
    fn a_level_sets_as_many_bits_as_there_are_below_it() {
        let encoder = encoder();
        for (level, bits) in ["000", "100", "110", "111"].into_iter().enumerate() {
            let point = Point::from(vec![level as u32, 1, 1, 0]);
            let coded = encoder.encode(&point).unwrap();
            assert_eq!(coded.to_string(), format!("{bits}0101"));
            assert_eq!(encoder.decode(&coded).unwrap(), point);
        }
        assert_eq!(encoder.layout().groups(), std::slice::from_ref(&(3..6)));
    }

    #[test]
    fn the_order_of_bits_is_a_rule_and_so_are_those_of_levels() {
        let rules: Vec<String> = encoder().layout().constraints().iter().map(ToString::to_string).collect();
        assert_eq!(
            rules,
            [
                "never all of x[0]=0, x[1]=1",
                "never all of x[1]=0, x[2]=1",
                "never all of x[1]=1, x[2]=0, x[5]=1",
            ]
        );
    }

    #[test]
    fn bits_out_of_order_stand_for_no_point() {
        let error = encoder().decode(&"0100101".parse().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "0100101 has a bit set after one that is not");
    }
}
