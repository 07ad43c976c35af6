//! Clauses, and the DIMACS WCNF formats that they are written in.

use std::fmt;

/// What files and options may ask for.
pub(crate) const MOST_VARIABLES: usize = 10_000;

/// Weighted clauses over variables 1 to `variables`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wcnf {
    pub(crate) variables: usize,
    pub(crate) clauses: Vec<Clause>,
}

/// Literals of which at least one has to hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clause {
    /// What it is worth; `None` where it is hard.
    pub(crate) weight: Option<f64>,
    pub(crate) literals: Vec<Literal>,
}

/// A variable, counted from 0, and the value that it should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    pub(crate) variable: usize,
    pub(crate) positive: bool,
}

/// What is wrong in a file, and where; both counted from 1, columns in characters.
#[derive(Debug, PartialEq)]
pub(crate) struct Mistake {
    line: usize,
    column: usize,
    what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, what } = self;
        write!(f, "line {line}, column {column}: {what}")
    }
}

impl Clause {
    pub(crate) fn holds(&self, x: &[bool]) -> bool {
        self.literals.iter().any(|literal| x[literal.variable] == literal.positive)
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, literal) in self.literals.iter().enumerate() {
            let (or, not) = (if i > 0 { " ∨ " } else { "" }, if literal.positive { "" } else { "¬" });
            write!(f, "{or}{not}x{}", literal.variable + 1)?;
        }
        Ok(())
    }
}

/// Reads a file of either format: the old one has a `p` line before its clauses, the new one has none.
pub(crate) fn parse(bytes: &[u8]) -> Result<Wcnf, Mistake> {
    let mut reader = Reader::default();
    let mut lines = 0;
    for (i, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        lines = i + 1;
        let text = std::str::from_utf8(line).map_err(|error| {
            let before = String::from_utf8_lossy(&line[..error.valid_up_to()]).chars().count();
            Mistake { line: lines, column: before + 1, what: "is not text in UTF-8".to_owned() }
        })?;
        let words = words(text);
        reader.line(&words, text.chars().count() + 1).map_err(|(column, what)| Mistake {
            line: lines,
            column,
            what,
        })?;
    }
    reader.end().map_err(|what| Mistake { line: lines.max(1), column: 1, what })
}

/// A word of a line, and the column that it starts in.
type Word<'t> = (usize, &'t str);

fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut start = None;
    for (column, (at, c)) in text.char_indices().enumerate() {
        match (c.is_whitespace(), start) {
            (false, None) => start = Some((column + 1, at)),
            (true, Some((first, from))) => {
                words.push((first, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|(first, from)| (first, &text[from..])));
    words
}

/// The `p` line of the old format.
struct Header {
    variables: usize,
    clauses: usize,
    /// The weight of hard clauses.
    top: Option<Weight>,
}

/// Whole numbers are compared exactly: above 2⁵³, neighbours are the same as `f64`.
#[derive(Clone, Copy)]
struct Weight {
    whole: Option<u64>,
    value: f64,
}

impl Weight {
    fn parse(word: &str) -> Option<Self> {
        let value: f64 = word.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)?;
        Some(Self { whole: word.parse().ok(), value })
    }

    fn reaches(self, top: Self) -> bool {
        match (self.whole, top.whole) {
            (Some(one), Some(two)) => one >= two,
            _ => self.value >= top.value,
        }
    }
}

#[derive(Default)]
struct Reader {
    header: Option<Header>,
    /// The highest variable of any clause.
    highest: usize,
    clauses: Vec<Clause>,
}

impl Reader {
    /// Reads a line; `end` is the column after its last. A mistake has its column.
    fn line(&mut self, words: &[Word<'_>], end: usize) -> Result<(), (usize, String)> {
        match words {
            [] => Ok(()),
            [(_, first), ..] if first.starts_with('c') => Ok(()),
            [(column, "p"), rest @ ..] => self.header(*column, rest, end),
            [first, literals @ ..] => self.clause(*first, literals, end),
        }
    }

    fn header(&mut self, column: usize, words: &[Word<'_>], end: usize) -> Result<(), (usize, String)> {
        if self.header.is_some() {
            return Err((column, "is a second `p` line".to_owned()));
        }
        if !self.clauses.is_empty() {
            return Err((column, "is a `p` line after the first clause".to_owned()));
        }
        let count = |word: Option<&Word<'_>>, what: &str| match word {
            None => Err((end, format!("the `p` line ends without the number of {what}"))),
            Some((column, word)) => {
                word.parse::<usize>().map_err(|_| (*column, format!("`{word}` is not a number of {what}")))
            }
        };
        match words.first() {
            Some((_, "wcnf")) => {}
            Some((column, other)) => {
                return Err((*column, format!("the format is `{other}`, not `wcnf`")));
            }
            None => return Err((end, "the `p` line ends without the format, `wcnf`".to_owned())),
        }
        let (variables, clauses) = (count(words.get(1), "variables")?, count(words.get(2), "clauses")?);
        if !(1..=MOST_VARIABLES).contains(&variables) {
            return Err((words[1].0, format!("{variables} variables, not 1 to {MOST_VARIABLES}")));
        }
        let top = words.get(3).map(|&(column, word)| {
            Weight::parse(word).ok_or((column, format!("`{word}` is not a weight, a number from 0 on")))
        });
        if let Some((column, word)) = words.get(4) {
            return Err((*column, format!("`{word}` stands after the end of the `p` line")));
        }
        self.header = Some(Header { variables, clauses, top: top.transpose()? });
        Ok(())
    }

    fn clause(&mut self, first: Word<'_>, rest: &[Word<'_>], end: usize) -> Result<(), (usize, String)> {
        let (column, word) = first;
        let top = self.header.as_ref().and_then(|header| header.top);
        let weight = match Weight::parse(word) {
            _ if word == "h" && self.header.is_none() => None,
            _ if word == "h" => {
                return Err((column, "`h` belongs to the format without a `p` line".to_owned()));
            }
            Some(weight) if top.is_some_and(|top| weight.reaches(top)) => None,
            Some(weight) => Some(weight.value),
            None => return Err((column, format!("`{word}` is not a weight, a number from 0 on"))),
        };
        if let Some(header) = self.header.as_ref().filter(|header| self.clauses.len() == header.clauses) {
            return Err((column, format!("is one more than the {} clauses of the `p` line", header.clauses)));
        }
        let mut literals = Vec::new();
        let mut words = rest.iter();
        loop {
            let Some(&(column, word)) = words.next() else {
                return Err((end, "the clause ends without a 0".to_owned()));
            };
            match word.parse::<i64>() {
                Ok(0) => break,
                Ok(number) => literals.push(self.literal(number).map_err(|what| (column, what))?),
                Err(_) => return Err((column, format!("`{word}` is not a literal, a whole number"))),
            }
        }
        if let Some((column, word)) = words.next() {
            return Err((*column, format!("`{word}` stands after the 0 that ends the clause")));
        }
        if weight.is_none() && literals.is_empty() {
            return Err((column, "a hard clause without literals, which nothing satisfies".to_owned()));
        }
        self.clauses.push(Clause { weight, literals });
        Ok(())
    }

    fn literal(&mut self, number: i64) -> Result<Literal, String> {
        let most = self.header.as_ref().map_or(MOST_VARIABLES, |header| header.variables);
        let variable = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
        if variable > most {
            return Err(format!("a literal of variable {variable}, beyond the {most} that there may be"));
        }
        self.highest = self.highest.max(variable);
        Ok(Literal { variable: variable - 1, positive: number > 0 })
    }

    fn end(self) -> Result<Wcnf, String> {
        let found = self.clauses.len();
        let variables = match &self.header {
            Some(header) if header.clauses != found => {
                return Err(format!(
                    "the file ends after {found} of the {} clauses of its `p` line",
                    header.clauses
                ));
            }
            Some(header) => header.variables,
            None => self.highest,
        };
        if variables == 0 {
            return Err("the file ends without a literal".to_owned());
        }
        Ok(Wcnf { variables, clauses: self.clauses })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mistake(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().to_string()
    }

    fn clause(weight: Option<f64>, numbers: &[i64]) -> Clause {
        let literal = |&n: &i64| Literal { variable: n.unsigned_abs() as usize - 1, positive: n > 0 };
        Clause { weight, literals: numbers.iter().map(literal).collect() }
    }

    #[test]
    fn both_formats_are_read() {
        let expected = Wcnf {
            variables: 3,
            clauses: vec![clause(None, &[1, -2]), clause(Some(4.0), &[-3]), clause(Some(2.5), &[])],
        };
        let old = "c a comment\np wcnf 3 3 10\n10 1 -2 0\n\nc\n 4\t-3 0\r\n2.5 0\n";
        let new = "c a comment\nh 1 -2 0\n4 -3 0\nc 1 2 3\n2.5 0";
        assert_eq!(parse(old.as_bytes()), Ok(expected.clone()));
        assert_eq!(parse(new.as_bytes()), Ok(expected));
    }

    #[test]
    fn without_a_top_no_clause_is_hard() {
        let read = parse(b"p wcnf 1 2\n18446744073709551615 1 0\n1 -1 0\n").unwrap();
        assert!(read.clauses.iter().all(|clause| clause.weight.is_some()));
    }

    #[test]
    fn large_weights_are_compared_exactly() {
        let read = parse(b"p wcnf 1 2 9007199254740993\n9007199254740992 1 0\n9007199254740993 -1 0\n");
        let hard: Vec<bool> = read.unwrap().clauses.iter().map(|clause| clause.weight.is_none()).collect();
        assert_eq!(hard, [false, true]);
    }

    #[test]
    fn mistakes_have_their_place() {
        for (text, expected) in [
            ("", "line 1, column 1: the file ends without a literal"),
            ("p", "line 1, column 2: the `p` line ends without the format, `wcnf`"),
            ("p cnf 1 1", "line 1, column 3: the format is `cnf`, not `wcnf`"),
            ("p wcnf 1", "line 1, column 9: the `p` line ends without the number of clauses"),
            ("p wcnf x 1", "line 1, column 8: `x` is not a number of variables"),
            ("p wcnf 0 1", "line 1, column 8: 0 variables, not 1 to 10000"),
            ("p wcnf 1 1 -3", "line 1, column 12: `-3` is not a weight, a number from 0 on"),
            ("p wcnf 1 1 3 4", "line 1, column 14: `4` stands after the end of the `p` line"),
            ("p wcnf 1 1\np wcnf 1 1", "line 2, column 1: is a second `p` line"),
            ("1 1 0\n p wcnf 1 1", "line 2, column 2: is a `p` line after the first clause"),
            ("p wcnf 1 1 3\nh 1 0", "line 2, column 1: `h` belongs to the format without a `p` line"),
            (
                "p wcnf 1 1 3\n1 2 0",
                "line 2, column 3: a literal of variable 2, beyond the 1 that there may be",
            ),
            (
                "p wcnf 1 1 3\n1 1 0\n1 1 0",
                "line 3, column 1: is one more than the 1 clauses of the `p` line",
            ),
            (
                "p wcnf 1 2 3\n1 1 0\n",
                "line 3, column 1: the file ends after 1 of the 2 clauses of its `p` line",
            ),
            ("1 1", "line 1, column 4: the clause ends without a 0"),
            ("1 1 0 2", "line 1, column 7: `2` stands after the 0 that ends the clause"),
            ("1 é 1.5 0", "line 1, column 3: `é` is not a literal, a whole number"),
            ("é 1 0", "line 1, column 1: `é` is not a weight, a number from 0 on"),
            ("nan 1 0", "line 1, column 1: `nan` is not a weight, a number from 0 on"),
            ("h 0", "line 1, column 1: a hard clause without literals, which nothing satisfies"),
            (
                "1 -9223372036854775808 0",
                "line 1, column 3: a literal of variable 9223372036854775808, beyond the 10000 that there may be",
            ),
        ] {
            assert_eq!(mistake(text), expected, "{text:?}");
        }
        assert_eq!(
            parse(b"1 1 0\n1 \xff").unwrap_err().to_string(),
            "line 2, column 3: is not text in UTF-8"
        );
    }

    #[test]
    fn a_clause_reads_as_a_formula() {
        assert_eq!(clause(None, &[1, -2, 3]).to_string(), "x1 ∨ ¬x2 ∨ x3");
    }

    /// As the file would have it, in the new format.
    fn written(wcnf: &Wcnf) -> String {
        let literal = |l: &Literal| if l.positive { l.variable as i64 + 1 } else { -(l.variable as i64) - 1 };
        let line = |clause: &Clause| {
            let weight = clause.weight.map_or("h".to_owned(), |weight| weight.to_string());
            let literals: Vec<String> = clause.literals.iter().map(|l| literal(l).to_string()).collect();
            format!("{weight} {} 0\n", literals.join(" "))
        };
        wcnf.clauses.iter().map(line).collect()
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn no_words_of_the_format_panic(
            words in proptest::collection::vec(
                prop_oneof!["p", "wcnf", "cnf", "h", "c", "\n", "0", "-?[0-9]{1,20}", "[0-9]\\.[0-9]", "1e999"],
                0..60,
            )
        ) {
            let _ = parse(words.join(" ").as_bytes());
        }

        #[test]
        fn what_is_written_is_read(
            clauses in proptest::collection::vec(
                (proptest::option::of(0.0..1e12f64), proptest::collection::vec((1..40i64, any::<bool>()), 1..5)),
                1..20,
            )
        ) {
            let numbers = |l: &[(i64, bool)]| -> Vec<i64> {
                l.iter().map(|&(n, positive)| if positive { n } else { -n }).collect()
            };
            let variables = clauses.iter().flat_map(|(_, l)| l).map(|(n, _)| *n as usize).max().unwrap();
            let clauses = clauses.iter().map(|(weight, l)| clause(*weight, &numbers(l))).collect();
            let wcnf = Wcnf { variables, clauses };
            prop_assert_eq!(parse(written(&wcnf).as_bytes()), Ok(wcnf));
        }
    }
}
