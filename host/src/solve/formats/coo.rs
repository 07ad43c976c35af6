//! `.coo`: the coordinate text of D-Wave's dimod. Lines `i j bias` with indices from 0, in any order; `i i bias`
//! is the linear term of a bit.
//!
//! Lines that begin with `#` are comments, and one of them may say `vartype=BINARY`, which is the default, or
//! `vartype=SPIN`. There are as many bits as the largest index asks for.
//! <https://docs.ocean.dwavesys.com/projects/dimod>

use plugin_api::Quadratic;

use super::error::{MOST_BITS, ProblemError, Result};
use super::lines::{Line, Lines, Word, quoted};
use super::spins::Vartype;
use super::terms::Terms;
use super::{Input, spins};

/// How the format looks.
pub(super) const FORM: &str = "a .coo file is lines `i j bias` with indices from 0, after `# vartype=BINARY` \
                               or `# vartype=SPIN`";

/// Reads a problem.
pub(super) fn read(input: &mut Input) -> Result<Quadratic> {
    let mut lines = Lines::new(input);
    let mut vartype = Vartype::Binary;
    let mut entries: Vec<Entry> = Vec::new();
    while let Some(line) = lines.next()? {
        if line.first().text.starts_with('#') {
            if let Some(named) = named_vartype(line)? {
                vartype = named;
            }
            continue;
        }
        let [i, j, bias] = line.words()?;
        entries.push(Entry { bits: [bit(i)?, bit(j)?], place: i.place(), value: bias.number()? });
    }
    let largest = entries.iter().flat_map(|entry| entry.bits).max();
    let mut terms = Terms::new(largest.ok_or_else(|| ProblemError::Empty.at((1, 1)))? as usize + 1);
    for Entry { bits: [i, j], place, value } in entries {
        terms
            .add(i as usize, j as usize, value, place.0)
            .map_err(|line| ProblemError::Again { i: i.to_string(), j: j.to_string(), line }.at(place))?;
    }
    match vartype {
        Vartype::Binary => Ok(terms.function()),
        Vartype::Spin => spins::to_bits(terms.function()).ok_or_else(|| ProblemError::Sum.at((1, 1))),
    }
}

/// A line, until it is known how many bits there are.
struct Entry {
    bits: [u32; 2],
    place: crate::manifest::yaml::LineColumn,
    value: f64,
}

fn bit(word: Word<'_>) -> Result<u32> {
    let index = word.whole()?;
    if index >= MOST_BITS as u64 {
        let bits = index.saturating_add(1).to_string();
        return Err(ProblemError::TooLarge { bits }.at(word.place()));
    }
    Ok(index as u32)
}

/// What a comment such as `# vartype=SPIN` says.
fn named_vartype(line: Line<'_>) -> Result<Option<Vartype>> {
    let Some((_, rest)) = line.text.split_once("vartype") else { return Ok(None) };
    let Some(value) = rest.strip_prefix(['=', ':']) else { return Ok(None) };
    let word = value.split_ascii_whitespace().next().unwrap_or_default();
    let vartype = Vartype::of(word);
    vartype.map(Some).ok_or_else(|| ProblemError::Vartype { word: quoted(word) }.at(line.first().place()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::formats::input;

    #[test]
    fn the_example_of_the_format_is_read() {
        // From dimod's documentation.
        for header in ["", "# vartype=BINARY\n", "\n# a model; vartype: BINARY\n"] {
            let text = format!("{header}0 0 -1.000000\n0 1 1.000000\n1 2 -4.500000\n");
            let expected = Quadratic::new(0.0, vec![-1.0, 0.0, 0.0], vec![1.0, 0.0, -4.5]).unwrap();
            assert_eq!(read(&mut input(text)).unwrap(), expected);
        }
    }

    #[test]
    fn spins_become_bits() {
        // −s₀ + 3 s₀s₁ at (−1, −1), (1, −1), (−1, 1), (1, 1)
        let f = read(&mut input("# vartype=SPIN\n0 0 -1\n1 0 3\n")).unwrap();
        let values = [[false, false], [true, false], [false, true], [true, true]].map(|bits| f.value(&bits));
        assert_eq!(values, [4.0, -4.0, -2.0, 2.0]);
    }

    #[test]
    fn mistakes_have_their_place() {
        let place = |text: &str| read(&mut input(text)).unwrap_err().place;
        assert_eq!(place("# vartype=BINARY\n"), (1, 1), "no entry");
        assert_eq!(place("  # vartype=INTEGER\n0 0 1"), (1, 3));
        assert_eq!(place("0 0 1\n0 10000 1"), (2, 3), "a huge index");
        assert_eq!(place("0 0 1\n 0 18446744073709551615 1"), (2, 4));
        assert_eq!(place("1 2 1\n0 1 1\n  2 1 1"), (3, 3), "a pair in both orders");
        assert_eq!(place("0 1 1 # note"), (1, 7), "a comment has its own line");
    }
}
