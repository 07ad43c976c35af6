//! What solvers found, for people and for scripts.

use plugin_api::Bits;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::Row;
use crate::diagnostic::Diagnostic;
use crate::text::{columns, time, wrapped};

/// A row as one line of JSON.
pub(super) fn json(row: &Row) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        file: &'a str,
        solver: &'a str,
        n: usize,
        value: Option<f64>,
        bound: Option<f64>,
        gap: Option<f64>,
        seconds: f64,
        bits: Option<&'a Bits>,
        #[serde(skip_serializing_if = "Option::is_none")]
        stop: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        counts: Option<Map<String, Json>>,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        flaws: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
    }
    let solved = row.outcome.as_ref().ok();
    let counts = |counts: &[(String, u64)]| {
        counts.iter().map(|(name, count)| (name.clone(), Json::from(*count))).collect()
    };
    let line = Line {
        file: &row.file,
        solver: &row.solver,
        n: row.bits,
        value: solved.map(|solved| solved.value),
        bound: solved.and_then(|solved| solved.bound),
        gap: solved.and_then(|solved| solved.gap()),
        seconds: row.seconds,
        bits: solved.map(|solved| &solved.bits),
        stop: solved.and_then(|solved| solved.limit.as_deref()),
        counts: solved.map(|solved| counts(&solved.counts)),
        flaws: solved.map(|solved| solved.flaws.as_slice()).unwrap_or_default(),
        error: row.outcome.as_ref().err().map(String::as_str),
    };
    serde_json::to_string(&line).expect("a row is plain data")
}

/// All rows as a table.
pub(super) fn table(rows: &[Row]) -> String {
    let limits: Vec<Option<&str>> =
        rows.iter().map(|row| row.outcome.as_ref().ok().and_then(|solved| solved.limit.as_deref())).collect();
    let any_limit = limits.iter().any(Option::is_some);
    let mut header = ["file", "n", "solver", "value", "bound", "gap", "time"].map(str::to_owned).to_vec();
    header.extend(any_limit.then(|| "stopped by".to_owned()));
    let cells = |(row, limit): (&Row, &Option<&str>)| {
        let none = || "–".to_owned();
        let [value, bound, gap] = match &row.outcome {
            Err(_) => ["failed".to_owned(), none(), none()],
            Ok(solved) => [
                number(solved.value),
                solved.bound.map_or_else(none, number),
                solved.gap().map_or_else(none, percent),
            ],
        };
        let (bits, seconds) = (row.bits.to_string(), time(Some(row.seconds)));
        let mut cells = vec![row.file.clone(), bits, row.solver.clone(), value, bound, gap, seconds];
        cells.extend(any_limit.then(|| limit.map_or_else(none, |limit| format!("{limit} limit"))));
        cells
    };
    columns(&header, &rows.iter().zip(&limits).map(cells).collect::<Vec<_>>())
}

/// Lines that an answer's bits may take.
const MOST_LINES: usize = 4;

/// Bits that stand together.
const BITS_A_WORD: usize = 10;

/// The bits of each answer, in tens; long ones are cut.
pub(super) fn answers(rows: &[Row]) -> String {
    let block = |row: &Row| {
        let bits: Vec<char> = row.outcome.as_ref().ok()?.bits.to_string().chars().collect();
        let words = bits.chunks(BITS_A_WORD).map(|word| word.iter().collect::<String>());
        let mut lines = wrapped(words, "  ");
        if lines.len() > MOST_LINES {
            let set = bits.iter().filter(|bit| **bit == '1').count();
            lines.truncate(MOST_LINES);
            lines.push(format!("  … {set} of {} bits are set; --json has all of them", bits.len()));
        }
        Some(format!("{}, {}\n{}", row.file, row.solver, lines.join("\n")))
    };
    rows.iter().filter_map(block).collect::<Vec<_>>().join("\n")
}

/// Why rows failed, and what was wrong with answers.
pub(super) fn failures(rows: &[Row]) -> Vec<Diagnostic> {
    let failure = |row: &Row| match &row.outcome {
        Err(reason) => {
            Some(Diagnostic::new(format!("solver `{}` failed on {}", row.solver, row.file)).because(reason))
        }
        Ok(solved) if !solved.flaws.is_empty() => {
            let message = format!("solver `{}` gave a false answer on {}", row.solver, row.file);
            Some(Diagnostic::new(message).because(solved.flaws.join("; ")))
        }
        Ok(_) => None,
    };
    rows.iter().filter_map(failure).collect()
}

/// A whole number as it is, another with eight digits that count.
fn number(value: f64) -> String {
    let size = value.abs();
    if value == value.trunc() && size < 1e15 {
        // Plus 0, which turns −0 into 0.
        format!("{:.0}", value + 0.0)
    } else if (1e-3..1e9).contains(&size) {
        let digits = [1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1].iter().filter(|&&limit| size < limit).count();
        format!("{value:.digits$}")
    } else {
        format!("{value:.7e}")
    }
}

fn percent(gap: f64) -> String {
    match 100.0 * gap {
        0.0 => "0 %".to_owned(),
        percent if percent < 0.005 => "< 0.01 %".to_owned(),
        percent => format!("{percent:.2} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_count() {
        let shown = [-0.0, -19412.0, -10.610_689_802_424_993, 123_456.78, 4e-7, 1e300, 0.25].map(number);
        assert_eq!(
            shown,
            ["0", "-19412", "-10.610690", "123456.78", "4.0000000e-7", "1.0000000e300", "0.2500000"]
        );
    }

    #[test]
    fn only_a_gap_of_nothing_is_0() {
        assert_eq!(
            [0.0, 1e-9, 1e-4, 0.1234, 2.0].map(percent),
            ["0 %", "< 0.01 %", "0.01 %", "12.34 %", "200.00 %"]
        );
    }
}
