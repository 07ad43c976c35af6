//! One bit for each variable: the identity, for spaces where every variable has two levels.

use plugin_api::{Bits, Encoder, Error, Layout, Point, Result, Space, export_encoder};

mod options; // what a manifest may set: nothing

use options::Options;

export_encoder!("binary", |_options: Options, space: &Space| Binary::new(space));

struct Binary {
    space: Space,
    layout: Layout,
}

impl Binary {
    fn new(space: &Space) -> Result<Self> {
        if let Some(variable) = space.variables().iter().find(|variable| variable.levels().len() != 2) {
            return Err(Error::new(format!(
                "variable `{}` has {} levels, and the encoder `binary` takes two; `one-hot` takes any number",
                variable.name(),
                variable.levels().len()
            )));
        }
        // Bit and variable are the same, and so are their rules.
        let layout = Layout::free(space.dimension()).with_constraints(space.constraints().to_vec())?;
        Ok(Self { space: space.clone(), layout })
    }
}

impl Encoder for Binary {
    fn layout(&self) -> Layout {
        self.layout.clone()
    }

    fn encode(&self, point: &Point) -> Result<Bits> {
        self.space.check(point)?;
        Ok(point.iter().map(|&level| level == 1).collect())
    }

    fn decode(&self, bits: &Bits) -> Result<Point> {
        let point = bits.iter().map(|&bit| u32::from(bit)).collect();
        self.space.check(&point)?;
        Ok(point)
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::testing::check_encoder;
    use plugin_api::{Constraint, Literal, Variable};

    use super::*;

    #[test]
    fn it_keeps_the_contract_of_an_encoder() {
        check_encoder(|space| Binary::new(space).ok());
    }

    #[test]
    fn a_bit_is_set_where_the_level_is_the_second() {
        let encoder = Binary::new(&Space::binary(3)).unwrap();
        assert_eq!(encoder.encode(&Point::from(vec![1, 0, 1])).unwrap().to_string(), "101");
        assert_eq!(encoder.decode(&"011".parse().unwrap()).unwrap(), Point::from(vec![0, 1, 1]));
        assert_eq!(encoder.layout(), Layout::free(3));
    }

    #[test]
    fn constraints_of_variables_are_those_of_their_bits() {
        let rules = vec![Constraint::Fixed(Literal::new(2, 0))];
        let encoder = Binary::new(&Space::binary(3).with_constraints(rules.clone()).unwrap()).unwrap();
        assert_eq!(encoder.layout().constraints(), rules);
        assert_eq!(
            encoder.decode(&"001".parse().unwrap()).unwrap(),
            Point::from(vec![0, 0, 1]),
            "not its business"
        );
    }

    #[test]
    fn the_first_variable_with_more_levels_is_named() {
        let space = Space::new(vec![
            Variable::binary("heated"),
            Variable::categorical("solvent", ["water", "ethanol", "hexane"]),
            Variable::categorical("vessel", ["glass", "steel", "clay", "wood"]),
        ]);
        let error = Binary::new(&space.unwrap()).err().unwrap().to_string();
        assert_eq!(
            error,
            "variable `solvent` has 3 levels, and the encoder `binary` takes two; `one-hot` takes any number"
        );
    }

    #[test]
    fn points_and_bits_of_another_size_are_refused() {
        let encoder = Binary::new(&Space::binary(3)).unwrap();
        assert!(encoder.encode(&Point::from(vec![1, 0])).is_err());
        assert!(encoder.encode(&Point::from(vec![1, 0, 2])).is_err());
        assert!(encoder.decode(&"0110".parse().unwrap()).is_err());
    }
}
