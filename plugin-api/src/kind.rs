//! The four kinds of plugin.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fmt;
use std::str::FromStr;

use crate::{Error, Result};

/// What a plugin is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A [`Benchmark`](crate::Benchmark).
    Benchmark,
    /// An [`Encoder`](crate::Encoder).
    Encoder,
    /// A [`Surrogate`](crate::Surrogate).
    Surrogate,
    /// A [`Solver`](crate::Solver).
    Solver,
}

impl Kind {
    /// Every kind, in the order people meet them.
    pub const ALL: [Self; 4] = [Self::Benchmark, Self::Encoder, Self::Surrogate, Self::Solver];

    /// The kind in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Benchmark => "benchmark",
            Self::Encoder => "encoder",
            Self::Surrogate => "surrogate",
            Self::Solver => "solver",
        }
    }

    /// The file that holds the plugin `name` of this kind: `libsolver_psr.so` on Linux.
    ///
    /// ```
    /// use plugin_api::Kind;
    /// let file = Kind::Encoder.file_name("one-hot");
    /// assert!(file.contains("encoder_one_hot"));
    /// ```
    pub fn file_name(self, name: &str) -> String {
        format!("{DLL_PREFIX}{self}_{}{DLL_SUFFIX}", name.replace('-', "_"))
    }

    /// The kind and the name (with `_` for `-`) in a file name, where it follows the rule of
    /// [`file_name`](Self::file_name).
    pub fn of_file_name(file: &str) -> Option<(Self, &str)> {
        let stem = file.strip_prefix(DLL_PREFIX)?.strip_suffix(DLL_SUFFIX)?;
        let (kind, name) = stem.split_once('_')?;
        Some((kind.parse().ok()?, name))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == text);
        known.ok_or_else(|| Error::new(format!("`{text}` is no kind of plugin")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_leads_back_to_its_plugin() {
        for kind in Kind::ALL {
            let file = kind.file_name("one-hot");
            assert_eq!(Kind::of_file_name(&file), Some((kind, "one_hot")));
        }
        assert_eq!(Kind::of_file_name("libz.so"), None);
        assert_eq!(Kind::of_file_name("notes.txt"), None);
    }
}
