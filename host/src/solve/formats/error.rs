//! Why a file is no problem to solve.

use crate::diagnostic::{Diagnostic, Place};
use crate::manifest::yaml::LineColumn;

/// No problem has more bits than this: their pairs take 400 MB, and a solver keeps them twice or more.
pub(super) const MOST_BITS: usize = 10_000;

/// What is wrong in a file, and where.
#[derive(Debug)]
pub(super) struct Misread {
    pub(super) place: LineColumn,
    pub(super) error: ProblemError,
}

/// The result of reading a part of a file.
pub(super) type Result<T, E = Misread> = std::result::Result<T, E>;

/// Why a file is no problem to solve. Words of the file are shortened and printable.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProblemError {
    #[error("the file cannot be read")]
    Read(#[source] std::io::Error),
    #[error("the file is empty")]
    Empty,
    #[error("this is not text")]
    NotText,
    #[error("the header is missing")]
    NoHeader,
    #[error("the line ends after {found} of {expected} words")]
    Short { found: usize, expected: usize },
    #[error("`{word}` is one word too many")]
    Long { word: String },
    #[error("`{word}` is not a whole number of at least 0")]
    Whole { word: String },
    #[error("no bit has the index {index}")]
    Index { index: String, first: usize, bits: usize },
    #[error("`{word}` is not a number")]
    Number { word: String },
    #[error("`{word}` is not finite")]
    NotFinite { word: String },
    #[error("`{word}` is larger than a number can be")]
    Overflow { word: String },
    #[error("a number ends here that is larger than a number can be")]
    JsonOverflow,
    #[error("the term of {i} and {j} stands here again")]
    Again { i: String, j: String, line: usize },
    #[error("fewer {what} than the header says")]
    Fewer { what: &'static str, found: u64, expected: u64 },
    #[error("more {what} than the header says")]
    More { what: &'static str, expected: u64 },
    #[error("{bits} bits are more than the {MOST_BITS} that a problem may have")]
    TooLarge { bits: String },
    #[error("a problem has at least one bit")]
    NoBits,
    #[error("the coupler {i} {j} is the wrong way round")]
    Order { i: usize, j: usize },
    #[error("`{word}` is no kind of variable")]
    Vartype { word: String },
    #[error("this is not valid JSON")]
    Syntax { cause: String },
    #[error("this JSON is not a problem")]
    Content { cause: String },
    #[error("the coefficients add up to more than a number can hold")]
    Sum,
}

impl ProblemError {
    /// The error at its place.
    pub(super) fn at(self, place: LineColumn) -> Misread {
        Misread { place, error: self }
    }

    fn cause(&self) -> Option<String> {
        Some(match self {
            Self::Read(source) => source.to_string(),
            Self::Index { first, bits, .. } => {
                format!("the problem has {bits} bits, with indices from {first} to {}", first + bits - 1)
            }
            Self::Again { line, .. } => format!("line {line} has it already, in this order or the other"),
            Self::Fewer { found, expected, .. } => format!("it says {expected}, and the file has {found}"),
            Self::More { expected, .. } => format!("it says {expected}, and that many came before this one"),
            Self::Syntax { cause } | Self::Content { cause } => cause.clone(),
            _ => return None,
        })
    }

    /// What to do; `form` says how the format looks.
    fn hint(&self, form: &str) -> Option<String> {
        Some(match self {
            Self::Read(_) | Self::Sum => return None,
            Self::Again { .. } => "leave one of them, with the sum of both".to_owned(),
            Self::NotFinite { .. } | Self::Overflow { .. } | Self::JsonOverflow => {
                "coefficients are finite numbers of double precision".to_owned()
            }
            Self::TooLarge { .. } => {
                "all pairs are kept in memory; a problem of this size needs a solver for sparse problems"
                    .to_owned()
            }
            Self::Order { i, j } => format!("write `{j} {i}`: the first index is the smaller one"),
            Self::Vartype { .. } => "variables are BINARY (0 and 1) or SPIN (-1 and 1)".to_owned(),
            Self::Syntax { cause } if cause.starts_with("expected value") || cause == "invalid number" => {
                "JSON has numbers in digits only, and neither NaN nor Infinity".to_owned()
            }
            _ => form.to_owned(),
        })
    }
}

impl Misread {
    /// The lines a person reads.
    pub(super) fn diagnostic(&self, file: &str, form: &str) -> Diagnostic {
        let (line, column) = self.place;
        Diagnostic {
            place: Some(Place::File(file.to_owned(), line, column)),
            message: self.error.to_string(),
            cause: self.error.cause(),
            hint: self.error.hint(form),
        }
    }
}
