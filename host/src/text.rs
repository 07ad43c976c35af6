//! Numbers, times, plugins and tables as people read them; and what others wrote, so that it cannot play tricks on a terminal.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};

use serde_json::Value as Json;

use crate::paint::painted;

/// Says something on the error output. That nobody can read it is no reason to end.
pub(crate) fn say(words: impl Display) {
    let _ = writeln!(io::stderr(), "{}", painted(plain(&words.to_string())));
}

/// The text with every character that would move a cursor, change a colour, or turn the direction of writing shown by its
/// number, as JSON has it: `\u001b`. Ends of lines and tabulators stay.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let shown = |c: char| !is_control(c) || matches!(c, '\n' | '\t');
    if text.chars().all(shown) {
        return text.into();
    }
    text.chars()
        .map(|c| if shown(c) { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) })
        .collect::<String>()
        .into()
}

fn is_control(c: char) -> bool {
    // Marks that turn the direction of writing make one text look like another.
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What is written to it comes out without control characters, or not at all where there is no room for it: a log is no reason to end.
pub struct PlainErrors;

impl Write for PlainErrors {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let _ = io::stderr().write_all(plain(&text).as_bytes());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A word as a shell reads it: quoted where it has to be.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Columns of text, each as wide as its widest cell; the first left, the others right.
pub(crate) fn columns(header: &[String], rows: &[Vec<String>]) -> String {
    let width = |i: usize| {
        std::iter::once(header).chain(rows.iter().map(Vec::as_slice)).map(|row| row[i].chars().count()).max()
    };
    let widths: Vec<usize> = (0..header.len()).map(|i| width(i).unwrap_or(0)).collect();
    let line = |row: &[String]| {
        let cells = row.iter().zip(&widths).enumerate().map(|(i, (cell, &width))| match i {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
    let mut lines = vec![line(header), rule.join("  ")];
    lines.extend(rows.iter().map(|row| line(row)));
    lines.join("\n")
}

/// How wide a line is where words are wrapped.
const WIDTH: usize = 100;

/// Words in lines that fit on a terminal, each after `indent`.
pub(crate) fn wrapped(words: impl Iterator<Item = String>, indent: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut length = 0;
    for word in words {
        let size = word.chars().count();
        match lines.last_mut() {
            Some(line) if length + 1 + size <= WIDTH => {
                line.push(' ');
                line.push_str(&word);
                length += 1 + size;
            }
            _ => {
                length = indent.chars().count() + size;
                lines.push(format!("{indent}{word}"));
            }
        }
    }
    lines
}

/// A cell of comma-separated text that no reader takes apart, and no spreadsheet for a formula.
pub(crate) fn csv_cell(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    let formula = !is_number && text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// A number with five digits that count.
pub(crate) fn number(value: Option<f64>) -> String {
    let Some(value) = value else { return "–".to_owned() };
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e5).contains(&size) {
        let digits = [1e4, 1e3, 1e2, 1e1].iter().filter(|&&limit| size < limit).count();
        format!("{value:.digits$}")
    } else {
        format!("{value:.3e}")
    }
}

/// A time with a unit that fits.
pub(crate) fn time(seconds: Option<f64>) -> String {
    match seconds {
        None => "–".to_owned(),
        // A clock that was set back, or rounding, gives no time below 0.
        Some(s) if s < 1e-3 => format!("{:.1} µs", (s * 1e6).max(0.0) + 0.0),
        Some(s) if s < 1.0 => format!("{:.2} ms", s * 1e3),
        Some(s) => format!("{s:.2} s"),
    }
}

/// What tells a point apart: its most common level, how many variables have it, and the others with theirs. Of levels as
/// common as each other, the first by name.
pub(crate) fn in_short<N>(pairs: &[(N, String)]) -> (String, Vec<&(N, String)>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    pairs.iter().for_each(|(_, level)| *counts.entry(level).or_default() += 1);
    let common = counts.iter().rev().max_by_key(|(_, count)| **count).map_or("", |(level, _)| *level);
    let others: Vec<&(N, String)> = pairs.iter().filter(|(_, level)| level != common).collect();
    let but = if others.is_empty() { "" } else { ", but" };
    (format!("{common} for {} of {} variables{but}", pairs.len() - others.len(), pairs.len()), others)
}

/// As much of a point's description as fits on a line; a long one by the variables that differ from the most common level.
pub(crate) fn cut(description: &str) -> String {
    const MOST: usize = 200;
    const LONG: usize = 100;
    let pair = |word: &str| word.split_once('=').map(|(name, level)| (name.to_owned(), level.to_owned()));
    let pairs: Option<Vec<(String, String)>> = description.split(' ').map(pair).collect();
    let short = pairs.map(|pairs| {
        let (begin, others) = in_short(&pairs);
        others.iter().fold(begin, |words, (name, level)| format!("{words} {name}={level}"))
    });
    let shorter = |short: &String| description.len() > LONG && short.len() < description.len();
    let short = short.filter(shorter);
    let description = short.as_deref().unwrap_or(description);
    match description.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &description[..end]),
        None => description.to_owned(),
    }
}

/// A time for people: two units at most.
pub(crate) fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..172_800 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} days {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// A plugin with options as on the command line: `psr[steps=10,polish=none]`.
pub(crate) fn plugin<'o>(name: &str, options: impl Iterator<Item = (&'o String, &'o Json)>) -> String {
    let word = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let options: Vec<String> = options.map(|(key, value)| format!("{key}={}", word(value))).collect();
    if options.is_empty() { name.to_owned() } else { format!("{name}[{}]", options.join(",")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_play_tricks_on_a_terminal_is_shown_by_its_number() {
        assert_eq!(plain("a\tb\nλ 漢"), "a\tb\nλ 漢");
        assert_eq!(plain("\u{1b}[31mred\r\u{7}\u{7f}"), "\\u001b[31mred\\u000d\\u0007\\u007f");
        assert_eq!(plain("\u{9b}2J \u{202e}txt"), "\\u009b2J \\u202etxt");
        // In JSON it is the same text still.
        let json = serde_json::to_string("\u{9b}2J").unwrap();
        assert_eq!(serde_json::from_str::<String>(&plain(&json)).unwrap(), "\u{9b}2J");
    }

    #[test]
    fn numbers_keep_the_digits_that_count() {
        let shown: Vec<String> =
            [0.0, 1.0, -0.012_345_67, 123.456_78, 99_999.4, 1e-5, 1e7].map(|x| number(Some(x))).to_vec();
        assert_eq!(shown, ["0", "1.0000", "-0.0123", "123.46", "99999", "1.000e-5", "1.000e7"]);
    }

    #[test]
    fn a_long_description_keeps_what_tells_the_point_apart() {
        let described = |n: usize, on: usize| {
            let word = |i: usize| format!("filter{i}={}", if i.is_multiple_of(on) { "on" } else { "off" });
            (1..=n).map(word).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(cut(&described(3, 2)), described(3, 2));
        assert_eq!(
            cut(&described(30, 10)),
            "off for 27 of 30 variables, but filter10=on filter20=on filter30=on"
        );
        assert_eq!(cut(&described(30, 50)), "off for 30 of 30 variables");
        assert_eq!(cut(&described(300, 2)).chars().count(), 201);
        assert_eq!(cut(&"word ".repeat(100)).chars().count(), 201);
    }

    #[test]
    fn long_times_have_two_units_at_most() {
        assert_eq!(
            [0.4, 59.4, 61.0, 7384.0, 200_000.0].map(duration),
            ["0 s", "59 s", "1 min 1 s", "2 h 3 min", "2 days 7 h"]
        );
    }

    #[test]
    fn times_have_a_unit_that_fits() {
        assert_eq!(
            [2e-5, 0.0123, 3.0].map(|s| time(Some(s))),
            ["20.0 µs".to_owned(), "12.30 ms".into(), "3.00 s".into()]
        );
        assert_eq!([0.0, -0.0, -1e-12].map(|s| time(Some(s))), ["0.0 µs", "0.0 µs", "0.0 µs"]);
    }
}
