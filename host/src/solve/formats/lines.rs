//! A text file line by line and word by word, each with its place.

use std::io::{BufRead, Read};

use super::Input;
use super::error::{MOST_BITS, ProblemError, Result};
use crate::manifest::yaml::LineColumn;

/// The longest line in bytes; what is longer is no text of numbers.
const LONGEST_LINE: u64 = 1 << 16;
/// The most of a word that a message repeats.
const LONGEST_QUOTE: usize = 30;

/// The lines of a file, but for blank ones.
pub(super) struct Lines<'r> {
    input: &'r mut Input,
    buffer: Vec<u8>,
    number: usize,
}

impl<'r> Lines<'r> {
    pub(super) fn new(input: &'r mut Input) -> Self {
        Self { input, buffer: Vec::new(), number: 0 }
    }

    /// The next line that is not blank; each takes the place of the last.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>> {
        loop {
            self.buffer.clear();
            self.number += 1;
            let start = (self.number, 1);
            let length = (&mut *self.input).take(LONGEST_LINE).read_until(b'\n', &mut self.buffer);
            match length.map_err(|error| ProblemError::Read(error).at(start))? as u64 {
                0 => return Ok(None),
                LONGEST_LINE if !self.buffer.ends_with(b"\n") => {
                    return Err(ProblemError::NotText.at(start));
                }
                _ => (),
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        let number = self.number;
        let text = std::str::from_utf8(&self.buffer);
        let text = text
            .map_err(|error| ProblemError::NotText.at((number, error.valid_up_to() + 1)))?
            .trim_ascii_end();
        Ok(Some(Line { text, number }))
    }
}

/// A line of a file, and its number from 1.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) number: usize,
}

impl<'a> Line<'a> {
    /// The line as `N` words, no fewer and no more.
    pub(super) fn words<const N: usize>(self) -> Result<[Word<'a>; N]> {
        let mut words = [Word { line: self, start: 0, text: "" }; N];
        let mut end = 0;
        for (found, word) in words.iter_mut().enumerate() {
            let short = ProblemError::Short { found, expected: N };
            *word = self.word_after(end).ok_or_else(|| short.at(self.place(self.text.len())))?;
            end = word.start + word.text.len();
        }
        match self.word_after(end) {
            Some(word) => Err(ProblemError::Long { word: word.quoted() }.at(word.place())),
            None => Ok(words),
        }
    }

    /// The first word of the line.
    pub(super) fn first(self) -> Word<'a> {
        self.word_after(0).expect("blank lines are passed over")
    }

    fn word_after(self, end: usize) -> Option<Word<'a>> {
        let rest = self.text[end..].trim_ascii_start();
        let start = self.text.len() - rest.len();
        let text = rest.split_ascii_whitespace().next()?;
        Some(Word { line: self, start, text })
    }

    fn place(self, start: usize) -> LineColumn {
        (self.number, self.text[..start].chars().count() + 1)
    }
}

/// A word of a line.
#[derive(Clone, Copy)]
pub(super) struct Word<'a> {
    line: Line<'a>,
    start: usize,
    pub(super) text: &'a str,
}

impl Word<'_> {
    pub(super) fn place(self) -> LineColumn {
        self.line.place(self.start)
    }

    /// The word as a message shows it: short, and printable.
    pub(super) fn quoted(self) -> String {
        quoted(self.text)
    }

    /// A whole number that is not negative.
    pub(super) fn whole(self) -> Result<u64> {
        let digits = self.text.bytes().all(|byte| byte.is_ascii_digit());
        let number = self.text.parse().ok().filter(|_| digits);
        number.ok_or_else(|| ProblemError::Whole { word: self.quoted() }.at(self.place()))
    }

    /// A number of bits that a problem may have.
    pub(super) fn bits(self) -> Result<usize> {
        let digits = self.text.bytes().all(|byte| byte.is_ascii_digit());
        match self.text.parse::<usize>() {
            Ok(0) => Err(ProblemError::NoBits.at(self.place())),
            Ok(bits) if digits && bits <= MOST_BITS => Ok(bits),
            // More digits than fit any number are too many, too.
            _ if digits => Err(ProblemError::TooLarge { bits: self.quoted() }.at(self.place())),
            _ => Err(ProblemError::Whole { word: self.quoted() }.at(self.place())),
        }
    }

    /// A finite number.
    pub(super) fn number(self) -> Result<f64> {
        let value = self.text.parse::<f64>();
        if let Ok(value) = value
            && value.is_finite()
        {
            return Ok(value);
        }
        let (word, digits) = (self.quoted(), self.text.contains(|c: char| c.is_ascii_digit()));
        let error = match value {
            Ok(_) if digits => ProblemError::Overflow { word },
            Ok(_) => ProblemError::NotFinite { word },
            Err(_) => ProblemError::Number { word },
        };
        Err(error.at(self.place()))
    }

    /// A finite number, doubled.
    pub(super) fn doubled(self) -> Result<f64> {
        let double = 2.0 * self.number()?;
        let overflow = || ProblemError::Overflow { word: format!("2 * {}", self.quoted()) }.at(self.place());
        double.is_finite().then_some(double).ok_or_else(overflow)
    }
}

/// A text as a message shows it: short, and printable.
pub(super) fn quoted(text: &str) -> String {
    let mut shown: String = text.escape_debug().take(LONGEST_QUOTE).collect();
    if text.chars().count() > LONGEST_QUOTE {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::formats::input;

    #[test]
    fn words_have_their_place_and_blank_lines_count() {
        let mut input = input("\n \t\r\n  é 22\t x \r\n");
        let mut lines = Lines::new(&mut input);
        let words: [Word<'_>; 3] = lines.next().unwrap().unwrap().words().unwrap();
        assert_eq!(
            words.map(|word| (word.text, word.place())),
            [("é", (3, 3)), ("22", (3, 5)), ("x", (3, 9))]
        );
        assert!(lines.next().unwrap().is_none());
    }

    #[test]
    fn a_line_has_as_many_words_as_it_should() {
        let words = |text: &str| {
            let mut input = input(text);
            let words = Lines::new(&mut input).next().unwrap().unwrap().words::<2>().map(|_| ());
            words.map_err(|misread| (misread.place, misread.error.to_string()))
        };
        assert_eq!(words(" a b "), Ok(()));
        assert_eq!(words(" a "), Err(((1, 3), "the line ends after 1 of 2 words".to_owned())));
        assert_eq!(words(" a b c d"), Err(((1, 6), "`c` is one word too many".to_owned())));
    }

    #[test]
    fn what_is_no_text_is_refused_where_it_stops_being_text() {
        let refused = |bytes: &[u8]| Lines::new(&mut input(bytes)).next().map(|_| ()).unwrap_err().place;
        assert_eq!(refused(b"1 \xff"), (1, 3));
        assert_eq!(refused(&[b'1'; 1 << 17]), (1, 1));
    }

    #[test]
    fn numbers_are_finite_and_counts_are_whole() {
        let word = |text| Word { line: Line { text, number: 1 }, start: 0, text };
        let message = |text| word(text).number().unwrap_err().error.to_string();
        assert_eq!(word("-1.5e3").number().unwrap(), -1500.0);
        assert_eq!(message("1e999"), "`1e999` is larger than a number can be");
        assert_eq!(message("-inf"), "`-inf` is not finite");
        assert_eq!(message("0x1"), "`0x1` is not a number");
        assert!(word("1e308").doubled().is_err());
        assert_eq!(word("007").whole().unwrap(), 7);
        for text in ["-1", "+1", "1.0", "", "18446744073709551616"] {
            assert!(word(text).whole().is_err(), "{text}");
        }
        assert_eq!(word("10000").bits().unwrap(), 10_000);
        for text in ["0", "-1", "+1", "10001", "99999999999999999999999"] {
            assert!(word(text).bits().is_err(), "{text}");
        }
    }

    #[test]
    fn a_quote_is_short_and_printable() {
        assert_eq!(quoted("\u{feff}3\u{7}"), "\\u{feff}3\\u{7}");
        assert_eq!(quoted(&"9".repeat(31)), "9".repeat(30) + "…");
    }
}
