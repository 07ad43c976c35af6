//! What an encoder promises.

use std::collections::BTreeSet;

use rand::RngExt;

use crate::{Bits, Constraint, Encoder, Literal, Rng, Space, Variable, rng};

/// Checks what [`Encoder`] promises on binary, categorical, ordered and mixed spaces, without constraints and with each
/// sort; with a single level, with a thousand; and on random ones.
///
/// `make` answers `None` for a space that the encoder does not take.
pub fn check_encoder<E: Encoder>(make: impl Fn(&Space) -> Option<E>) {
    let spaces = spaces();
    let mut taken = 0;
    for space in &spaces {
        let Some(encoder) = make(space) else { continue };
        taken += 1;
        check_encoder_on(space, &encoder);
    }
    assert!(taken > 0, "the encoder takes none of the {} spaces tried", spaces.len());
}

fn spaces() -> Vec<Space> {
    let mixed = vec![
        Variable::binary("a"),
        Variable::categorical("b", ["v", "w", "x", "y", "z"]),
        Variable::binary("c"),
        Variable::categorical("d", ["x", "y", "z"]),
    ];
    let mixed = Space::new(mixed).expect("a valid space");
    let categorical = Space::new(vec![Variable::categorical("a", ["x", "y", "z"])]).expect("a valid space");
    let mut spaces = vec![Space::binary(1), Space::binary(7), categorical, mixed.clone()];
    let literals = |all: &[(usize, u32)]| all.iter().map(|&(i, level)| Literal::new(i, level)).collect();
    for (space, of) in [(Space::binary(7), [(0, 1), (3, 0), (6, 1)]), (mixed, [(0, 1), (1, 3), (2, 0)])] {
        let constraints = [
            Constraint::AtMost { count: 1, of: literals(&of) },
            Constraint::Exactly { count: 2, of: literals(&of) },
            Constraint::Fixed(Literal::new(of[1].0, of[1].1)),
            Constraint::Forbidden(literals(&of[..2])),
            Constraint::Capacity { limit: 0.3, of: literals(&of), weights: vec![0.1, 0.2, 0.25] },
        ];
        let with =
            |all: &[Constraint]| space.clone().with_constraints(all.to_vec()).expect("valid constraints");
        spaces.extend(constraints.iter().map(|constraint| with(std::slice::from_ref(constraint))));
        spaces.push(with(&constraints[2..]));
    }
    let levels = |count: usize| (0..count).map(|level| format!("l{level}"));
    let wide = vec![Variable::categorical("a", levels(1000)), Variable::ordered("b", levels(1000))];
    spaces.push(Space::new(wide).expect("a valid space"));
    spaces.push(Space::new(vec![Variable::categorical("a", levels(1))]).expect("a valid space"));
    spaces.extend((0..40).map(random_space));
    spaces
}

/// Up to six variables of one to seven levels, some of them ordered, with up to three constraints that some point keeps.
fn random_space(seed: u64) -> Space {
    let rng = &mut rng(seed);
    let variable = |i: usize, rng: &mut Rng| {
        let levels = (0..rng.random_range(1..=7)).map(|level| format!("l{level}"));
        let name = format!("v{i}");
        if rng.random() { Variable::ordered(name, levels) } else { Variable::categorical(name, levels) }
    };
    let variables = (0..rng.random_range(1..=6)).map(|i| variable(i, rng)).collect();
    let space = Space::new(variables).expect("a valid space");
    let witness = space.random_point(rng);
    let mut constraints = Vec::new();
    for _ in 0..rng.random_range(0..=3) {
        let mut of = Vec::new();
        for (index, variable) in space.variables().iter().enumerate() {
            let levels = 0..variable.levels().len() as u32;
            of.extend(levels.filter(|_| rng.random()).map(|level| Literal::new(index, level)));
        }
        let holding = of.iter().filter(|literal| witness[literal.index] == literal.level).count();
        let weights: Vec<f64> = of.iter().map(|_| f64::from(rng.random_range(0..=20u8)) / 4.0).collect();
        let held = of.iter().zip(&weights).filter(|(literal, _)| witness[literal.index] == literal.level);
        let limit = held.map(|(_, weight)| weight).sum();
        constraints.push(match rng.random_range(0..5) {
            0 => Constraint::AtMost { count: holding, of },
            1 => Constraint::Exactly { count: holding, of },
            2 => Constraint::Fixed(Literal::new(0, witness[0])),
            3 => Constraint::Capacity { limit, of, weights },
            _ => {
                of.truncate(3);
                Constraint::Forbidden(of)
            }
        });
        if !constraints.last().is_some_and(|rule| rule.holds(|index| witness[index])) {
            constraints.pop();
        }
    }
    space.with_constraints(constraints).expect("valid constraints")
}

fn check_encoder_on(space: &Space, encoder: &impl Encoder) {
    let layout = encoder.layout();
    assert_eq!(layout, encoder.layout(), "layout() differs from call to call");
    let mut rng = rng(2);
    let mut seen = BTreeSet::new();
    for _ in 0..200 {
        let point = space.random_point(&mut rng);
        let bits = encoder.encode(&point).unwrap_or_else(|error| panic!("encode({point:?}): {error}"));
        assert!(
            layout.keeps_groups(&bits),
            "encode({point:?}) gave {bits}, which its own layout does not admit"
        );
        assert_eq!(
            space.admits(&point),
            layout.admits(&bits),
            "space and layout do not agree whether {point:?}, the bits {bits}, is admitted"
        );
        let back = encoder.decode(&bits).unwrap_or_else(|error| panic!("decode({bits}): {error}"));
        assert_eq!(back, point, "decode(encode(point)) is another point");
        seen.insert((bits, point));

        let bits = layout.random(&mut rng);
        let point = match encoder.decode(&bits) {
            Ok(point) => point,
            Err(error) if layout.admits(&bits) => panic!("decode({bits}): {error}"),
            // Bits against the encoder's own rules stand for no point.
            Err(_) => continue,
        };
        space.check(&point).unwrap_or_else(|error| panic!("decode({bits}) is outside the space: {error}"));
        assert_eq!(
            space.admits(&point),
            layout.admits(&bits),
            "space and layout do not agree whether {bits}, the point {point:?}, is admitted"
        );
    }
    let bits: BTreeSet<&Bits> = seen.iter().map(|(bits, _)| bits).collect();
    assert_eq!(bits.len(), seen.len(), "two points have the same bits");
}
