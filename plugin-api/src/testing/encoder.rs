//! What an encoder promises.

use std::collections::BTreeSet;

use super::findings::{ANSWERS, Findings, Promise, Verdict, Watcher, insist};
use crate::{Bits, Constraint, Encoder, Literal, Result, Space, Variable, rng};

const PROMISES: &[Promise] = &[
    ANSWERS,
    ("spaces", "it takes at least one sort of space, small or large"),
    ("layout", "layout() is the same at each call"),
    ("round-trip", "decode(encode(point)) is the point, and no two points have the same bits"),
    (
        "groups",
        "encode() keeps the groups of the layout, and what keeps them decodes to a point of the space",
    ),
    ("constraints", "the layout admits the bits of a point where the space admits the point, and only there"),
];

/// Checks what [`Encoder`] promises on binary, categorical and mixed spaces, without constraints and with each sort.
///
/// `make` answers `None` for a space that the encoder does not take.
///
/// # Panics
/// With the first promise that is not kept.
pub fn check_encoder<E: Encoder>(make: impl Fn(&Space) -> Option<E>) {
    insist(examine_encoder(|space| Ok(make(space)), &|_| {}));
}

/// The same with a verdict for each promise instead of a panic.
pub fn examine_encoder<E: Encoder>(
    make: impl Fn(&Space) -> Result<Option<E>>,
    watch: Watcher<'_>,
) -> Vec<Verdict> {
    let mut findings = Findings::new(PROMISES, watch);
    let spaces = spaces();
    let mut taken = 0;
    for space in &spaces {
        let Some(made) = findings.call("making it", || make(space)) else { break };
        let Some(encoder) = made else { continue };
        taken += 1;
        if examine(space, &encoder, &mut findings).is_none() {
            break;
        }
    }
    let count = spaces.len();
    findings.ensure("spaces", taken > 0, || format!("the encoder takes none of the {count} spaces tried"));
    findings.verdicts()
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
    let wide = Variable::categorical("wide", (0..200).map(|level| level.to_string()));
    let wide = Space::new(vec![wide, Variable::binary("b")]).expect("a valid space");
    let mut spaces =
        vec![Space::binary(1), Space::binary(7), categorical, mixed.clone(), Space::binary(500), wide];
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

fn examine(space: &Space, encoder: &impl Encoder, findings: &mut Findings<'_>) -> Option<()> {
    findings.call("layout()", || Ok(()))?;
    let layout = encoder.layout();
    findings.ensure("layout", layout == encoder.layout(), || "layout() differs from call to call".to_owned());
    let mut rng = rng(2);
    let mut seen = BTreeSet::new();
    let tries = if layout.dimension() > 100 { 5 } else { 200 };
    for _ in 0..tries {
        let point = space.random_point(&mut rng);
        let bits = findings.call(&format!("encode({point:?})"), || encoder.encode(&point))?;
        let kept = findings.ensure("groups", layout.keeps_groups(&bits), || {
            format!("encode({point:?}) gave {bits}, which its own layout does not admit")
        });
        if !kept {
            return None;
        }
        findings.ensure("constraints", space.admits(&point) == layout.admits(&bits), || {
            format!("space and layout do not agree whether {point:?}, the bits {bits}, is admitted")
        });
        let back = findings.call(&format!("decode({bits})"), || encoder.decode(&bits))?;
        findings.ensure("round-trip", back == point, || {
            format!("decode(encode(point)) is another point: {point:?} became {back:?}")
        });
        seen.insert((bits, point));

        let bits = layout.random(&mut rng);
        let point = findings.call(&format!("decode({bits})"), || encoder.decode(&bits))?;
        if let Err(error) = space.check(&point) {
            findings.note("groups", || format!("decode({bits}) is outside the space: {error}"));
            return None;
        }
        findings.ensure("constraints", space.admits(&point) == layout.admits(&bits), || {
            format!("space and layout do not agree whether {bits}, the point {point:?}, is admitted")
        });
    }
    let bits: BTreeSet<&Bits> = seen.iter().map(|(bits, _)| bits).collect();
    findings.ensure("round-trip", bits.len() == seen.len(), || "two points have the same bits".to_owned());
    Some(())
}
