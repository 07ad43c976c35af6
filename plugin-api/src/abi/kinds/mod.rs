//! For each kind: its boundary trait, the plugin's side of it, and the host's side.
//!
//! The files look alike on purpose. `…Wire` is what crosses; `Plugin…` wraps an ordinary `impl` inside the dylib;
//! `Loaded…` is the ordinary `impl` that the host sees. Properties that do not change (`space`, `layout`, `takes`, …)
//! are asked for once, when the plugin is made: a panic in one of them is then an error like any other. What a call
//! takes and gives beyond a few numbers and slices is an object of the caller's: the plugin reads it through
//! accessors, or writes to it, so that a later version can add to both.

pub(crate) mod benchmark;
pub(crate) mod encoder;
pub(crate) mod function;
pub(crate) mod solver;
pub(crate) mod surrogate;

use std::ops::Range;

use abi_stable::std_types::RString;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::guard::{WireResult, guard};
use crate::{Error, Result};

/// Something that cannot be part of a call any more: the plugin's value after `close`.
pub(crate) fn closed() -> Error {
    Error::new("the plugin was closed")
}

/// Drops a plugin's value where a panic in its destructor becomes an error.
pub(crate) fn close<T>(inner: &mut Option<T>) -> WireResult<()> {
    let inner = inner.take();
    guard(|| {
        drop(inner);
        Ok(())
    })
}

/// Says in the log what went wrong where no caller is left to be told.
pub(crate) fn report_close(result: Result<()>) {
    if let Err(error) = result {
        tracing::error!("while closing a plugin: {error}");
    }
}

pub(crate) fn to_json(value: &impl Serialize) -> Result<RString> {
    serde_json::to_string(value).map(RString::from).map_err(Error::wrap)
}

pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(Error::wrap)
}

/// Starts and ends of groups, in turn: a range has no layout of its own.
pub(crate) fn flat(groups: &[Range<usize>]) -> Vec<usize> {
    groups.iter().flat_map(|group| [group.start, group.end]).collect()
}

/// The groups of which these are starts and ends.
pub(crate) fn ranges(flat: &[usize]) -> Vec<Range<usize>> {
    flat.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect()
}
