//! What an encoder promises.

use std::collections::BTreeSet;

use crate::{Bits, Constraint, Encoder, Literal, Space, Variable, rng};

/// Checks what [`Encoder`] promises on binary, categorical and mixed spaces, without constraints and with each sort.
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
        ];
        let with =
            |all: &[Constraint]| space.clone().with_constraints(all.to_vec()).expect("valid constraints");
        spaces.extend(constraints.iter().map(|constraint| with(std::slice::from_ref(constraint))));
        spaces.push(with(&constraints[2..]));
    }
    spaces
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
        let point = encoder.decode(&bits).unwrap_or_else(|error| panic!("decode({bits}): {error}"));
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
