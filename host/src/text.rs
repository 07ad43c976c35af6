//! Numbers, times, plugins and tables as people read them.

use serde_json::Value as Json;

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
        Some(s) if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        Some(s) if s < 1.0 => format!("{:.2} ms", s * 1e3),
        Some(s) => format!("{s:.2} s"),
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
    fn numbers_keep_the_digits_that_count() {
        let shown: Vec<String> =
            [0.0, 1.0, -0.012_345_67, 123.456_78, 99_999.4, 1e-5, 1e7].map(|x| number(Some(x))).to_vec();
        assert_eq!(shown, ["0", "1.0000", "-0.0123", "123.46", "99999", "1.000e-5", "1.000e7"]);
    }

    #[test]
    fn times_have_a_unit_that_fits() {
        assert_eq!(
            [2e-5, 0.0123, 3.0].map(|s| time(Some(s))),
            ["20.0 µs".to_owned(), "12.30 ms".into(), "3.00 s".into()]
        );
    }
}
