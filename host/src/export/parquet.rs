//! Apache Parquet, as far as a table of plain columns needs it: every column optional, values as they are, texts by a
//! dictionary, nothing compressed. A library for all of Parquet takes longer to build than the rest of the host.
//!
//! The format: <https://parquet.apache.org/docs/file-format/>. Metadata are Thrift's compact protocol.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::Sink;
use super::thrift::{BINARY, INT, STRUCT, Thrift, varint};
use crate::record::tables::{Cell, Column, Kind};

const MAGIC: &[u8] = b"PAR1";
// Numbers of the format's enumerations.
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const RLE_DICTIONARY: i64 = 8;

/// Writes a file, some rows at a time.
pub(super) struct Writer<W> {
    out: W,
    written: i64,
    columns: Vec<Column>,
    group_size: usize,
    rows: Vec<Vec<Cell<'static>>>,
    groups: Vec<RowGroup>,
}

struct RowGroup {
    rows: i64,
    bytes: i64,
    chunks: Vec<Chunk>,
}

/// Where a column's pages stand.
struct Chunk {
    dictionary: Option<i64>,
    data: i64,
    bytes: i64,
    values: i64,
}

impl<W: Write> Writer<W> {
    /// A file of these columns.
    pub(super) fn new(mut out: W, columns: Vec<Column>, group_size: usize) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self { out, written: 4, columns, group_size, rows: Vec::new(), groups: Vec::new() })
    }

    /// The end of the file.
    fn end(mut self) -> io::Result<W> {
        self.group()?;
        let metadata = self.metadata();
        self.out.write_all(&metadata)?;
        self.out.write_all(&(metadata.len() as u32).to_le_bytes())?;
        self.out.write_all(MAGIC)?;
        Ok(self.out)
    }

    fn group(&mut self) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.rows);
        let begin = self.written;
        let mut chunks = Vec::new();
        for (i, column) in self.columns.clone().iter().enumerate() {
            let cells: Vec<&Cell<'_>> = rows.iter().map(|row| &row[i]).collect();
            chunks.push(self.chunk(column.kind, &cells)?);
        }
        self.groups.push(RowGroup { rows: rows.len() as i64, bytes: self.written - begin, chunks });
        Ok(())
    }

    fn chunk(&mut self, kind: Kind, cells: &[&Cell<'_>]) -> io::Result<Chunk> {
        let begin = self.written;
        let mut data = levels(cells);
        let mut dictionary = None;
        let mut encoding = PLAIN;
        match kind {
            Kind::Text => {
                let (texts, indices) = distinct(cells);
                let page: Vec<u8> = texts
                    .iter()
                    .flat_map(|text| (text.len() as u32).to_le_bytes().into_iter().chain(text.bytes()))
                    .collect();
                dictionary = Some(self.written);
                self.page(2, &page, texts.len(), PLAIN)?;
                encoding = RLE_DICTIONARY;
                data.extend(indexed(&indices, texts.len()));
            }
            Kind::Whole => cells.iter().for_each(|cell| {
                if let Cell::Whole(value) = cell {
                    data.extend(value.to_le_bytes());
                }
            }),
            Kind::Number => cells.iter().for_each(|cell| {
                if let Cell::Number(value) = cell {
                    data.extend(value.to_le_bytes());
                }
            }),
            Kind::Flag => {
                let flags = cells
                    .iter()
                    .filter_map(|cell| if let Cell::Flag(flag) = cell { Some(*flag) } else { None });
                data.extend(bits(flags.map(u32::from), 1));
            }
        }
        let place = self.written;
        self.page(0, &data, cells.len(), encoding)?;
        Ok(Chunk { dictionary, data: place, bytes: self.written - begin, values: cells.len() as i64 })
    }

    /// A page: 0 for data, 2 for a dictionary.
    fn page(&mut self, kind: i64, bytes: &[u8], values: usize, encoding: i64) -> io::Result<()> {
        let mut header = Thrift::default();
        header.int(1, kind);
        header.int(2, bytes.len() as i64);
        header.int(3, bytes.len() as i64);
        let field = if kind == 0 { 5 } else { 7 };
        header.begin(field);
        header.int(1, values as i64);
        header.int(2, encoding);
        if kind == 0 {
            header.int(3, RLE);
            header.int(4, RLE);
        }
        header.end();
        header.end();
        self.out.write_all(&header.bytes)?;
        self.out.write_all(bytes)?;
        self.written += (header.bytes.len() + bytes.len()) as i64;
        Ok(())
    }

    fn metadata(&self) -> Vec<u8> {
        let mut file = Thrift::default();
        file.int(1, 1);
        file.list(2, STRUCT, self.columns.len() + 1);
        file.element();
        file.text(4, "schema");
        file.int(5, self.columns.len() as i64);
        file.end();
        for column in &self.columns {
            file.element();
            file.int(1, physical(column.kind));
            file.int(3, 1); // optional
            file.text(4, &column.name);
            if column.kind == Kind::Text {
                file.int(6, 0); // UTF8
                file.begin(10);
                file.begin(1); // STRING
                file.end();
                file.end();
            }
            if column.kind == Kind::Whole {
                file.int(6, 14); // UINT_64: a seed may be above 2^63
            }
            file.end();
        }
        file.long(3, self.groups.iter().map(|group| group.rows).sum());
        file.list(4, STRUCT, self.groups.len());
        for group in &self.groups {
            file.element();
            file.list(1, STRUCT, group.chunks.len());
            for (column, chunk) in self.columns.iter().zip(&group.chunks) {
                file.element();
                file.long(2, chunk.dictionary.unwrap_or(chunk.data));
                file.begin(3);
                file.int(1, physical(column.kind));
                let encodings: &[i64] =
                    if chunk.dictionary.is_some() { &[PLAIN, RLE, RLE_DICTIONARY] } else { &[PLAIN, RLE] };
                file.list(2, INT, encodings.len());
                encodings.iter().for_each(|encoding| file.item(*encoding));
                file.list(3, BINARY, 1);
                file.word(&column.name);
                file.int(4, 0); // not compressed
                file.long(5, chunk.values);
                file.long(6, chunk.bytes);
                file.long(7, chunk.bytes);
                file.long(9, chunk.data);
                if let Some(place) = chunk.dictionary {
                    file.long(11, place);
                }
                file.end();
                file.end();
            }
            file.long(2, group.bytes);
            file.long(3, group.rows);
            file.end();
        }
        file.text(6, concat!("host version ", env!("CARGO_PKG_VERSION")));
        file.end();
        file.bytes
    }
}

impl<W: Write> Sink for Writer<W> {
    fn row(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        self.rows.push(row.iter().cloned().map(Cell::into_owned).collect());
        if self.rows.len() >= self.group_size { self.group() } else { Ok(()) }
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.end()?.flush()
    }
}

fn physical(kind: Kind) -> i64 {
    match kind {
        Kind::Flag => 0,
        Kind::Whole => 2,
        Kind::Number => 5,
        Kind::Text => 6,
    }
}

/// Which cells have a value, run by run, with the length before.
fn levels(cells: &[&Cell<'_>]) -> Vec<u8> {
    let present: Vec<u32> = cells.iter().map(|cell| u32::from(**cell != Cell::Nothing)).collect();
    let runs = run_lengths(&present, 1);
    (runs.len() as u32).to_le_bytes().into_iter().chain(runs).collect()
}

/// The texts there are, and which one each cell has.
fn distinct<'a>(cells: &[&'a Cell<'_>]) -> (Vec<&'a str>, Vec<u32>) {
    let mut places: BTreeMap<&str, u32> = BTreeMap::new();
    let (mut texts, mut indices) = (Vec::new(), Vec::new());
    for cell in cells {
        if let Cell::Text(text) = cell {
            let next = places.len() as u32;
            let place = *places.entry(text).or_insert_with(|| {
                texts.push(text.as_ref());
                next
            });
            indices.push(place);
        }
    }
    (texts, indices)
}

/// Indices into a dictionary: the width in bits, then runs.
fn indexed(indices: &[u32], count: usize) -> Vec<u8> {
    let width = (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1);
    std::iter::once(width as u8).chain(run_lengths(indices, width)).collect()
}

/// Runs of equal values: how many, twice, then the value in whole bytes.
fn run_lengths(values: &[u32], width: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for run in values.chunk_by(|a, b| a == b) {
        varint(&mut bytes, (run.len() as u64) << 1);
        bytes.extend(&run[0].to_le_bytes()[..width.div_ceil(8) as usize]);
    }
    bytes
}

/// Values of `width` bits after each other, the lowest bit first.
fn bits(values: impl Iterator<Item = u32>, width: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (i, value) in values.enumerate() {
        for bit in 0..width {
            let place = i * width as usize + bit as usize;
            if place / 8 == bytes.len() {
                bytes.push(0);
            }
            bytes[place / 8] |= ((value >> bit & 1) as u8) << (place % 8);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small table with every kind, gaps, an empty text and more than one group.
    fn small() -> Vec<u8> {
        let column = |name: &str, kind: Kind| Column { name: name.to_owned(), kind };
        let columns = vec![
            column("text", Kind::Text),
            column("whole", Kind::Whole),
            column("number", Kind::Number),
            column("flag", Kind::Flag),
        ];
        let mut writer = Writer::new(Vec::new(), columns, 3).unwrap();
        let text = |text: &'static str| Cell::Text(text.into());
        for row in [
            [text("psr"), Cell::Whole(1), Cell::Number(0.1 + 0.2), Cell::Flag(true)],
            [text("psr"), Cell::Whole(2), Cell::Nothing, Cell::Flag(false)],
            [text("λ, \"quoted\""), Cell::Whole(u64::MAX), Cell::Number(-1e-300), Cell::Nothing],
            [text(""), Cell::Nothing, Cell::Number(f64::INFINITY), Cell::Flag(true)],
            [Cell::Nothing, Cell::Whole(0), Cell::Number(0.0), Cell::Flag(true)],
        ] {
            writer.row(&row).unwrap();
        }
        writer.end().unwrap()
    }

    #[test]
    fn the_file_is_the_one_that_others_read() {
        // `tests/data/small.parquet` was read by pyarrow 26 (`pq.read_table(…).to_pylist()`) with exactly the values above.
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/small.parquet");
        assert_eq!(small(), std::fs::read(golden).unwrap());
    }
}
