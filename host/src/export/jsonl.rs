//! A table as JSON lines.

use std::io::{self, Write};

use serde_json::{Map, Value as Json};

use super::Sink;
use crate::record::tables::{Cell, Column};

/// One JSON object a line.
pub(super) struct JsonLines<W> {
    out: W,
    columns: Vec<Column>,
}

impl<W: Write> JsonLines<W> {
    pub(super) fn new(out: W, columns: Vec<Column>) -> Self {
        Self { out, columns }
    }
}

impl<W: Write> Sink for JsonLines<W> {
    fn row(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        let pairs = self.columns.iter().zip(row).map(|(column, cell)| (column.name.clone(), cell.json()));
        serde_json::to_writer(&mut self.out, &Json::Object(pairs.collect::<Map<_, _>>()))?;
        writeln!(self.out)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}
