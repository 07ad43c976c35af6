//! A run's rows for other tools: every evaluation and every AFO answer, as CSV, JSON lines or Parquet.
//!
//! The columns are those of `trace.csv` and `afo.csv`; JSON and Parquet also have the reason of an evaluation without a
//! value. CSV is what `host report` writes.

pub mod parquet;
pub mod rows;
mod thrift;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use self::parquet::{Column, Writer};
use self::rows::{Cell, Table};
use crate::diagnostic::Diagnostic;
use crate::report;
use crate::report::collect::RunFolder;
use crate::report::trial_files::TrialFiles;

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

/// Rows of a Parquet file that stand together.
const ROW_GROUP: usize = 100_000;

/// Writes both tables of a run, and answers their files.
pub fn export(folder: &Path, format: Format, output: Option<&Path>) -> Result<Vec<PathBuf>, Diagnostic> {
    let run = report::open(folder)?;
    let place = output.unwrap_or(folder);
    let cannot =
        |error: io::Error| Diagnostic::new(format!("cannot write into {}", place.display())).because(error);
    std::fs::create_dir_all(place).map_err(cannot)?;
    let keys: Vec<(String, bool)> =
        report::sweep_keys(&run).into_iter().map(|key| (key.clone(), run.has_numbers(&key))).collect();
    let extension = match format {
        Format::Csv => "csv",
        Format::Json => "jsonl",
        Format::Parquet => "parquet",
    };
    let mut files = Vec::new();
    for table in [Table::Trace, Table::Afo] {
        let path = place.join(format!("{}.{extension}", table.name()));
        let columns = table.columns(&keys);
        if format == Format::Csv {
            csv(&run, table, &path).map_err(cannot)?;
            files.push(path);
            continue;
        }
        let write = || {
            let mut sink = Sink::new(&path, format, &columns)?;
            run.each(
                |trial| table.rows(&trial, &keys),
                |rows| rows.iter().try_for_each(|row| sink.row(row)),
            )?;
            sink.finish()
        };
        write().map_err(cannot)?;
        files.push(path);
    }
    Ok(files)
}

/// The table as `host report` writes it.
fn csv(run: &RunFolder, table: Table, path: &Path) -> io::Result<()> {
    let keys = report::sweep_keys(run);
    let mut file = BufWriter::new(File::create(path)?);
    let last: &[&str] = match table {
        Table::Trace => &report::csv::TRACE,
        Table::Afo => &report::csv::AFO,
    };
    report::csv::header(&mut file, &keys, last)?;
    let prepare = |trial: TrialFiles| {
        let mut rows = Vec::new();
        match table {
            Table::Trace => report::csv::trace(&trial, &keys, &mut rows).map(|()| rows),
            Table::Afo => report::csv::afo(&trial, &keys, &mut rows).map(|()| rows),
        }
    };
    run.each(prepare, |rows| file.write_all(&rows?))?;
    file.flush()
}

/// Where rows go.
enum Sink<'a> {
    Json(BufWriter<File>, &'a [Column]),
    Parquet(Box<Writer<BufWriter<File>>>),
}

impl<'a> Sink<'a> {
    fn new(path: &Path, format: Format, columns: &'a [Column]) -> io::Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        match format {
            Format::Parquet => Ok(Self::Parquet(Box::new(Writer::new(file, columns.to_vec(), ROW_GROUP)?))),
            _ => Ok(Self::Json(file, columns)),
        }
    }

    fn row(&mut self, row: &[Cell]) -> io::Result<()> {
        match self {
            Self::Json(file, columns) => {
                let pair =
                    |(column, cell): (&Column, &Cell)| (column.name.clone(), cell.json().unwrap_or_default());
                let object: serde_json::Map<_, _> = columns.iter().zip(row).map(pair).collect();
                serde_json::to_writer(&mut *file, &object)?;
                writeln!(file)
            }
            Self::Parquet(writer) => writer.row(row),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Json(mut file, _) => file.flush(),
            Self::Parquet(writer) => writer.finish()?.flush(),
        }
    }
}
