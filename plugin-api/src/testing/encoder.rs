//! What an encoder promises.

use std::collections::BTreeSet;

use rand::RngExt;

use super::findings::{ANSWERS, Findings, Promise, Verdict, Watcher, insist};
use crate::{Bits, Constraint, Encoder, Literal, Result, Rng, Space, Variable, rng};

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

/// Checks what [`Encoder`] promises on binary, categorical, ordered and mixed spaces, without constraints and with each
/// sort; with a single level, with a thousand; and on random ones.
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
    examine_all(&|space| Ok(make(space)?.map(|encoder| Box::new(encoder) as Box<dyn Encoder + '_>)), watch)
}

type Make<'a> = &'a dyn Fn(&Space) -> Result<Option<Box<dyn Encoder + 'a>>>;

fn examine_all(make: Make<'_>, watch: Watcher<'_>) -> Vec<Verdict> {
    let mut findings = Findings::new(PROMISES, watch);
    let spaces = spaces();
    let mut taken = 0;
    for space in &spaces {
        let Some(made) = findings.call("making it", || make(space)) else { break };
        let Some(encoder) = made else { continue };
        taken += 1;
        if examine(space, &*encoder, &mut findings).is_none() {
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

fn examine(space: &Space, encoder: &dyn Encoder, findings: &mut Findings<'_>) -> Option<()> {
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
        let point = match encoder.decode(&bits) {
            Ok(point) => point,
            // Bits against the encoder's own rules stand for no point.
            Err(_) if !layout.admits(&bits) => continue,
            Err(error) => {
                findings.note("groups", || format!("decode({bits}): {error}"));
                return None;
            }
        };
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
