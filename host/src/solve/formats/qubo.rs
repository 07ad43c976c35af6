//! `.qubo`: the text of D-Wave's qbsolv. A line `p qubo 0 maxNodes nNodes nCouplers`, then nNodes lines
//! `i i w` and nCouplers lines `i j w` with i < j, all with indices from 0. A coupler counts once.
//!
//! Lines that begin with `c` are comments. As in qbsolv itself, a node without a line has the weight 0, and the
//! problem has maxNodes bits. <https://github.com/dwavesystems/qbsolv>

use plugin_api::Quadratic;

use super::Input;
use super::error::{ProblemError, Result};
use super::lines::{Line, Lines, Word};
use super::terms::Terms;

/// How the format looks.
pub(super) const FORM: &str = "a .qubo file is a line `p qubo 0 maxNodes nNodes nCouplers`, then nNodes lines \
                               `i i w` and nCouplers lines `i j w` with indices from 0";

/// Reads a problem.
pub(super) fn read(input: &mut Input) -> Result<Quadratic> {
    let mut lines = Lines::new(input);
    let (mut terms, mut counts) = loop {
        let line = lines.next()?.ok_or_else(|| ProblemError::Empty.at((1, 1)))?;
        if is_comment(line) {
            continue;
        }
        let mut words = line.text.split_ascii_whitespace();
        if (words.next(), words.next()) != (Some("p"), Some("qubo")) {
            return Err(ProblemError::NoHeader.at(line.first().place()));
        }
        let [_, _, _topology, bits, nodes, couplers] = line.words()?;
        let count =
            |what, word: Word<'_>| Ok(Count { what, expected: word.whole()?, found: 0, place: word.place() });
        break (Terms::new(bits.bits()?), [count("nodes", nodes)?, count("couplers", couplers)?]);
    };
    while let Some(line) = lines.next()? {
        if is_comment(line) {
            continue;
        }
        let [i, j, weight] = line.words()?;
        let bits = [terms.bit(i, 0)?, terms.bit(j, 0)?];
        if bits[0] > bits[1] {
            return Err(ProblemError::Order { i: bits[0], j: bits[1] }.at(i.place()));
        }
        let Count { what, expected, found, .. } = &mut counts[usize::from(bits[0] < bits[1])];
        if found == expected {
            return Err(ProblemError::More { what, expected: *expected }.at(i.place()));
        }
        *found += 1;
        terms.add_line(bits, weight.number()?, [i, j])?;
    }
    for Count { what, expected, found, place } in counts {
        if found < expected {
            return Err(ProblemError::Fewer { what, found, expected }.at(place));
        }
    }
    Ok(terms.function())
}

/// Entries of one sort: how many the header says, and where it says so.
struct Count {
    what: &'static str,
    expected: u64,
    found: u64,
    place: crate::manifest::yaml::LineColumn,
}

fn is_comment(line: Line<'_>) -> bool {
    line.first().text.starts_with('c')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::formats::input;

    #[test]
    fn the_example_of_the_format_is_read() {
        // From qbsolv's documentation.
        let text = "c\nc  This is a sample .qubo file\nc\np  qubo  0  4  4  6\nc ------------------\n\
                    0  0   3.4\n1  1   4.5\n2  2   2.1\n3  3   -2.4\nc ------------------\n\
                    0  1   2.2\n0  2   3.4\n1  2   4.5\n0  3   -2\n1  3   4.5678\n2  3   -3.22\n";
        let pairs = vec![2.2, 3.4, -2.0, 4.5, 4.5678, -3.22];
        let expected = Quadratic::new(0.0, vec![3.4, 4.5, 2.1, -2.4], pairs).unwrap();
        assert_eq!(read(&mut input(text)).unwrap(), expected);
    }

    #[test]
    fn a_node_without_a_line_is_a_bit() {
        let f = read(&mut input("p qubo unconstrained 3 1 1\n0 0 -1\n0 2 5")).unwrap();
        assert_eq!(f, Quadratic::new(0.0, vec![-1.0, 0.0, 0.0], vec![0.0, 5.0, 0.0]).unwrap());
    }

    #[test]
    fn mistakes_have_their_place() {
        let place = |text: &str| read(&mut input(text)).unwrap_err().place;
        assert_eq!(place("c nothing else\n"), (1, 1));
        assert_eq!(place("c\n0 0 1\n"), (2, 1), "no header");
        assert_eq!(place("p ising 0 2 1 0\n"), (1, 1), "another kind");
        assert_eq!(place("p qubo 0 2 1\n"), (1, 13), "a short header");
        assert_eq!(place("p qubo 0 2 1 0\n2 2 1"), (2, 1), "an index too large");
        assert_eq!(place("p qubo 0 2 0 1\n1 0 1"), (2, 1), "the wrong way round");
        assert_eq!(place("p qubo 0 2 2 0\n1 1 1\n1 1 1"), (3, 1), "a node twice");
        assert_eq!(place("p qubo 0 2 1 1\n1 1 1\n0 0 1"), (3, 1), "too many nodes");
        assert_eq!(place("p qubo 0 2 1 1\n1 1 1\n"), (1, 14), "too few couplers");
        assert_eq!(place("p qubo 0 2 1 0\n1 1 nan"), (2, 5));
    }
}
