//! A table as comma-separated text.

use std::io::{self, Write};

use serde_json::Value as Json;

use super::Sink;
use crate::record::tables::{Cell, Column};
use crate::text::csv_cell;

/// Comma-separated text, with the columns' names in the first line.
pub(super) struct Csv<W>(W);

impl<W: Write> Csv<W> {
    pub(super) fn new(mut out: W, columns: &[Column]) -> io::Result<Self> {
        let names: Vec<String> = columns.iter().map(|column| csv_cell(&column.name)).collect();
        writeln!(out, "{}", names.join(","))?;
        Ok(Self(out))
    }
}

impl<W: Write> Sink for Csv<W> {
    fn row(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        write_row(&mut self.0, row)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let Self(mut out) = *self;
        out.flush()
    }
}

/// One row, with the end of its line.
pub(super) fn write_row(out: &mut impl Write, row: &[Cell<'_>]) -> io::Result<()> {
    for (i, cell) in row.iter().enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        match cell {
            Cell::Nothing => {}
            Cell::Text(words) => out.write_all(csv_cell(words).as_bytes())?,
            Cell::Whole(value) => write!(out, "{value}")?,
            Cell::Number(value) => out.write_all(number(*value).as_bytes())?,
            Cell::Flag(flag) => write!(out, "{flag}")?,
        }
    }
    out.write_all(b"\n")
}

/// Shortest text that reads back as the same number.
fn number(value: f64) -> String {
    let text = Json::from(value).to_string();
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        assert_eq!(csv_cell("psr"), "psr");
        assert_eq!(csv_cell("sdp[a=1,b=2]"), "\"sdp[a=1,b=2]\"");
        assert_eq!(csv_cell("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(csv_cell("=1+1"), "'=1+1");
        assert_eq!(csv_cell("-1.5e-3"), "-1.5e-3");
    }

    #[test]
    fn numbers_read_back_as_they_were() {
        assert_eq!([number(4.0), number(-0.0), number(0.1)], ["4", "-0", "0.1"]);
        for value in [0.1 + 0.2, 1e-300, 12_345.678_9, -0.0] {
            assert_eq!(number(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }
}
