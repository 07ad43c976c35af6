//! `.sparse`: the text of the Biq Mac library. A line `n m`, then m lines `i j w` with indices from 1.
//!
//! The file is a symmetric matrix Q of which each entry is written once, and the problem is to minimize xᵀQx:
//! an entry off the diagonal counts twice. Lines that begin with `#` are comments.
//! <https://biqmac.aau.at/biqmaclib.html>

use plugin_api::Quadratic;

use super::Input;
use super::error::{ProblemError, Result};
use super::lines::Lines;
use super::terms::Terms;

/// How the format looks.
pub(super) const FORM: &str = "a .sparse file is a line `n m` (bits, entries), then m lines `i j w` \
                               with indices from 1";

/// Reads a problem.
pub(super) fn read(input: &mut Input) -> Result<Quadratic> {
    let mut lines = Lines::new(input);
    let (mut terms, expected, place) = loop {
        let line = lines.next()?.ok_or_else(|| ProblemError::Empty.at((1, 1)))?;
        if line.first().text.starts_with('#') {
            continue;
        }
        let [bits, entries] = line.words().map_err(|misread| match misread.error {
            ProblemError::Long { .. } | ProblemError::Short { .. } => {
                ProblemError::NoHeader.at(line.first().place())
            }
            _ => misread,
        })?;
        break (Terms::new(bits.bits()?), entries.whole()?, entries.place());
    };
    let mut found = 0;
    while let Some(line) = lines.next()? {
        if line.first().text.starts_with('#') {
            continue;
        }
        if found == expected {
            return Err(ProblemError::More { what: "entries", expected }.at(line.first().place()));
        }
        found += 1;
        let [i, j, weight] = line.words()?;
        let bits = [terms.bit(i, 1)?, terms.bit(j, 1)?];
        let value = if bits[0] == bits[1] { weight.number()? } else { weight.doubled()? };
        terms.add_line(bits, value, [i, j])?;
    }
    if found < expected {
        return Err(ProblemError::Fewer { what: "entries", found, expected }.at(place));
    }
    Ok(terms.function())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::formats::input;

    #[test]
    fn an_entry_off_the_diagonal_counts_twice() {
        let f = read(&mut input("# a comment\n3 4\n1 1 -1\n2 1 0.5\n\n2 3 -2e0\n3 3 7\n")).unwrap();
        assert_eq!(f, Quadratic::new(0.0, vec![-1.0, 0.0, 7.0], vec![1.0, 0.0, -4.0]).unwrap());
    }

    #[test]
    fn mistakes_have_their_place() {
        let place = |text: &str| read(&mut input(text)).unwrap_err().place;
        assert_eq!(place(""), (1, 1));
        assert_eq!(place("\n1 1 3\n"), (2, 1), "no header");
        assert_eq!(place("3 x\n"), (1, 3));
        assert_eq!(place("3 1\n1 4 3\n"), (2, 3), "an index too large");
        assert_eq!(place("3 1\n0 1 3\n"), (2, 1), "an index too small");
        assert_eq!(place("3 2\n1 2 3\n2 1 3\n"), (3, 1), "a pair in both orders");
        assert_eq!(place("3 1\n1 2 3\n2 2 3\n"), (3, 1), "too many entries");
        assert_eq!(place("3 2\n1 2 3\n"), (1, 3), "too few");
        assert_eq!(place("3 1\n1 2 1e308\n"), (2, 5), "its double overflows");
    }
}
