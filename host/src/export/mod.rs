//! A run's rows for other tools: every evaluation and every AFO answer, as CSV, JSON lines or Parquet.
//!
//! Which columns there are is said in `record::tables`, once for all formats. A format is one file here and a line in
//! [`Format`].

mod csv;
mod jsonl;
mod parquet;
mod thrift;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::files::Folder;
use crate::record::tables::{Cell, Column, Table};
use crate::record::{Broken, RunFolder, TrialFiles};

/// What other tools read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Comma-separated text.
    Csv,
    /// One JSON object a line.
    Json,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "jsonl",
            Self::Parquet => "parquet",
        }
    }

    fn sink<W: Write + 'static>(self, out: W, columns: Vec<Column>) -> io::Result<Box<dyn Sink>> {
        Ok(match self {
            Self::Csv => Box::new(csv::Csv::new(out, &columns)?),
            Self::Json => Box::new(jsonl::JsonLines::new(out, columns)),
            Self::Parquet => Box::new(parquet::Writer::new(out, columns, ROW_GROUP)?),
        })
    }
}

/// Where the rows of a table go.
trait Sink {
    fn row(&mut self, row: &[Cell<'_>]) -> io::Result<()>;
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Rows of a Parquet file that stand together.
const ROW_GROUP: usize = 100_000;

/// What was written, and which journals were left out because they are not what was written.
pub struct Exported {
    pub files: Vec<PathBuf>,
    pub broken: Vec<Broken>,
}

/// Writes both tables of a run.
pub fn export(folder: &Path, format: Format, output: Option<&Path>) -> Result<Exported, Diagnostic> {
    let run = RunFolder::open(folder)?;
    let place = output.unwrap_or(folder);
    let shown = place.to_owned();
    let cannot =
        |error: io::Error| Diagnostic::new(format!("cannot write into {}", shown.display())).because(error);
    let place = Folder::make(place).map_err(cannot)?;
    let mut exported = Exported { files: Vec::new(), broken: Vec::new() };
    for table in Table::ALL {
        let name = format!("{}.{}", table.name(), format.extension());
        place
            .replace_with(&name, |file| {
                exported.broken = write(&run, table, format, file.try_clone()?)?;
                Ok(())
            })
            .map_err(cannot)?;
        exported.files.push(place.path().join(name));
    }
    Ok(exported)
}

fn write(run: &RunFolder, table: Table, format: Format, file: File) -> io::Result<Vec<Broken>> {
    let mut sink = format.sink(BufWriter::new(file), table.columns(run))?;
    let take = |trial: TrialFiles| table.rows(&trial, run, |row| sink.row(row));
    let broken = run.each(|trial| trial, take)?;
    sink.finish()?;
    Ok(broken)
}

/// The first line of a table as CSV.
pub fn csv_header(table: Table, run: &RunFolder) -> io::Result<Vec<u8>> {
    let mut header = Vec::new();
    csv::Csv::new(&mut header, &table.columns(run))?;
    Ok(header)
}

pub fn csv_rows(table: Table, run: &RunFolder, trial: &TrialFiles) -> io::Result<Vec<u8>> {
    let mut rows = Vec::new();
    table.rows(trial, run, |row| csv::write_row(&mut rows, row))?;
    Ok(rows)
}
