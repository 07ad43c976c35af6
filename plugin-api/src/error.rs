//! What a plugin may answer instead of a result.

use std::fmt;

/// The result of every call to a plugin.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, in words for a person; and, for an option, where it stands.
///
/// Made from a sentence, or from any other error with [`Error::wrap`]:
///
/// ```
/// use plugin_api::{Error, Result};
///
/// fn parse(text: &str) -> Result<f64> {
///     let value: f64 = text.parse().map_err(Error::wrap)?;
///     if value < 0.0 {
///         return Err(Error::new(format!("the laboratory reported {value}, which is below 0")));
///     }
///     Ok(value)
/// }
/// assert!(parse("-1").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    path: String,
}

/// What sort of mistake an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The plugin could not do what was asked.
    Failed,
    /// The options in the manifest are wrong; [`Error::path`] says which.
    Options,
    /// The plugin panicked; the message has file, line and words of the panic.
    Panicked,
}

impl Error {
    /// An error that says `message`: a lowercase fragment without a full stop.
    pub fn new(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Failed, message: message.into(), path: String::new() }
    }

    /// The error `cause` with all its own causes, in one line.
    pub fn wrap(cause: impl std::error::Error) -> Self {
        let mut message = cause.to_string();
        let mut next = cause.source();
        while let Some(cause) = next {
            message = format!("{message}: {cause}");
            next = cause.source();
        }
        Self::new(message)
    }

    /// A wrong option: `path` is the way to it from `options`, such as `couplings[3].weight`. Where the message has a last
    /// line that begins with `hint: `, that is shown as what to do.
    pub fn option(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Options, message: message.into(), path: path.into() }
    }

    pub(crate) fn panicked(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Panicked, message: message.into(), path: String::new() }
    }

    /// What sort of mistake this is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The sentence alone.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The way to the wrong option; empty where it is the options as a whole, or no option at all.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "`{path}`: {}", self.message),
        }
    }
}

impl std::error::Error for Error {}

impl From<String> for Error {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for Error {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_keeps_every_cause() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer")]
        struct Outer(#[source] std::num::ParseIntError);
        let inner = "x".parse::<u8>().unwrap_err();
        assert_eq!(Error::wrap(Outer(inner)).to_string(), "outer: invalid digit found in string");
    }

    #[test]
    fn an_option_error_shows_its_path() {
        assert_eq!(Error::option("a.b", "is odd").to_string(), "`a.b`: is odd");
    }
}
