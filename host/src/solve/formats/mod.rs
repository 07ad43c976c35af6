//! From a file to a function: one file a format, chosen by the extension.

mod bqm;
mod coo;
mod error;
mod json;
mod lines;
mod qubo;
mod sparse;
mod spins;
mod terms;

#[cfg(test)]
mod properties;

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use plugin_api::Quadratic;

use self::error::{ProblemError, Result};
use crate::diagnostic::Diagnostic;

/// What a problem is read from.
type Input = BufReader<Box<dyn Read>>;

/// A format: its extension, how it looks, and what reads it.
type Format = (&'static str, &'static str, fn(&mut Input) -> Result<Quadratic>);

const FORMATS: [Format; 4] = [
    ("json", json::FORM, json::read),
    ("sparse", sparse::FORM, sparse::read),
    ("qubo", qubo::FORM, qubo::read),
    ("coo", coo::FORM, coo::read),
];

/// The problem in a file, by its extension, or in the standard input for `-`.
pub(super) fn read(path: &Path) -> Result<Quadratic, Diagnostic> {
    let (label, extension) = if is_stdin(path) {
        ("<stdin>".to_owned(), "json".to_owned())
    } else {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        (path.display().to_string(), extension)
    };
    let opened: io::Result<Box<dyn Read>> = if is_stdin(path) {
        Ok(Box::new(io::stdin()))
    } else {
        File::open(path).map(|file| Box::new(file) as Box<dyn Read>)
    };
    let opened = opened.map_err(|error| Diagnostic::new(format!("cannot read {label}")).because(error))?;
    parse(&label, &extension, opened)
}

/// The problem in this input, in the format of this extension; `label` is what people call it.
pub fn parse(label: &str, extension: &str, input: Box<dyn Read>) -> Result<Quadratic, Diagnostic> {
    let format = FORMATS.iter().find(|(known, ..)| *known == extension);
    let Some((_, form, read)) = format else {
        let known = FORMATS.map(|(known, ..)| format!("`.{known}`")).join(", ");
        return Err(Diagnostic::new(format!("the format of {label} is not known"))
            .because(match extension {
                "" => "its name has no extension".to_owned(),
                _ => format!("its extension is `.{extension}`"),
            })
            .hint(format!("known are {known}; `host solve --help` describes them")));
    };
    let mut input = Input::with_capacity(1 << 16, input);
    let read = read(&mut input)
        .and_then(|f| if f.magnitude().is_finite() { Ok(f) } else { Err(ProblemError::Sum.at((1, 1))) });
    read.map_err(|misread| misread.diagnostic(label, form))
}

/// Whether a path stands for the standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// A file with this text, for tests.
#[cfg(test)]
fn input(text: impl Into<Vec<u8>>) -> Input {
    Input::new(Box::new(io::Cursor::new(text.into())))
}
