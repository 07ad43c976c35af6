//! What the host and a plugin agree on: write an objective, an encoder, a model or a solver as an ordinary
//! Rust `impl`, add one line, and the host loads it.
//!
//! # A first plugin
//!
//! An objective of your own, outside the workspace. `cargo new --lib benchmark-knapsack`, and in its `Cargo.toml`:
//!
//! ```toml
//! [package]
//! name = "benchmark-knapsack" # the kind, then the name: the host looks for this file
//! description = "Fill a knapsack with the most valuable items that it can carry."
//! version = "0.1.0"
//! edition = "2024"
//!
//! [lib]
//! crate-type = ["cdylib"]
//!
//! [dependencies]
//! plugin-api = { path = "../workbench/plugin-api" } # where this crate lies
//! ```
//!
//! In `src/lib.rs`:
//!
//! ```rust
//! //! A knapsack: items with weights and values, and a limit on the weight.
//!
//! use plugin_api::{Benchmark, Error, Evaluation, Point, Result, Sense, Space, export_benchmark, options};
//!
//! options! {
//!     /// What a manifest may set under `benchmark.options`.
//!     pub struct Options {
//!         /// The weight of each item.
//!         #[schemars(length(min = 1), inner(range(min = 0.0)))]
//!         pub weights: Vec<f64> = vec![3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0],
//!         /// The value of each item; as many as weights.
//!         pub values: Vec<f64> = vec![2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0, 8.0],
//!         /// The most that can be carried.
//!         #[schemars(range(min = 0.0))]
//!         pub limit: f64 = 12.0,
//!     }
//! }
//!
//! export_benchmark!("knapsack", |options: Options, _seed: u64| Knapsack::new(options));
//!
//! struct Knapsack(Options);
//!
//! impl Knapsack {
//!     fn new(options: Options) -> Result<Self> {
//!         if options.values.len() != options.weights.len() {
//!             return Err(Error::option("values", format!("must be {}, as many as weights", options.weights.len())));
//!         }
//!         Ok(Self(options))
//!     }
//! }
//!
//! impl Benchmark for Knapsack {
//!     fn space(&self) -> Result<Space> {
//!         Ok(Space::binary(self.0.weights.len()))
//!     }
//!
//!     fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
//!         let sum = |of: &[f64]| point.iter().zip(of).map(|(&taken, x)| f64::from(taken) * x).sum::<f64>();
//!         let excess = (sum(&self.0.weights) - self.0.limit).max(0.0);
//!         Ok((sum(&self.0.values) - 10.0 * excess).into())
//!     }
//!
//!     fn sense(&self) -> Sense {
//!         Sense::Maximize
//!     }
//! }
//!
//! #[cfg(test)]
//! mod tests {
//!     use super::*;
//!
//!     #[test]
//!     fn the_contract_is_kept() {
//!         plugin_api::testing::check_benchmark(|| Knapsack(Options::default()));
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! `cargo build --release` makes `target/release/libbenchmark_knapsack.so` (or its like on your system), and a
//! manifest names it:
//!
//! ```yaml
//! # Which of these eight items should be packed?
//! name: knapsack
//! budget: { initial: 10, evaluations: 30 }
//! benchmark: { use: knapsack, options: { limit: 15 } }
//! surrogate: horseshoe
//! solver: psr
//! ```
//!
//! ```text
//! host run knapsack.yaml --plugin-dir target/release
//! ```
//!
//! # The four kinds
//!
//! | kind | trait | made from | export | contract test |
//! | --- | --- | --- | --- | --- |
//! | an objective | [`Benchmark`] | options, the seed of its instance | [`export_benchmark!`] | [`testing::check_benchmark`] |
//! | points ⇄ bits | [`Encoder`] | options, a [`Space`] | [`export_encoder!`] | [`testing::check_encoder`] |
//! | a model | [`Surrogate`] | options, a [`Layout`] | [`export_surrogate!`] | [`testing::check_surrogate`] |
//! | what minimises its draws | [`Solver`] | options | [`export_solver!`] | [`testing::check_solver`] |
//!
//! One crate, one plugin, one file: the package `solver-tabu` becomes `libsolver_tabu.so`, which is
//! `solver: tabu` in a manifest. The crate's `description` is the line that `host plugins list` shows; the
//! documentation, limits and defaults of its options are what `host plugins describe` does.
//!
//! # What they hand each other
//!
//! - A [`Space`] has variables with levels, and [`Constraint`]s between them; a [`Layout`] has bits, groups of which
//!   exactly one is set, and the same constraints in terms of bits.
//! - An [`Evaluation`] is a value or infeasible, with a reason. The surrogate observes both.
//! - A surrogate is asked to draw with a [`DrawRequest`]: seed, iteration, penalty, the best points, those under way. It
//!   answers an [`Acquisition`], the complete function to be minimised: a [`Quadratic`], or any [`Function`].
//! - A solver gets a [`Problem`]: the acquisition, the rules, points to start from, points not wanted, limits. It says
//!   which acquisitions it [takes](Solver::takes) and which rules it [keeps](Solver::keeps), and gives an [`Answer`],
//!   which [`Problem::check`] compares with the truth.
//! - Coefficients and [rows of bits](BitMatrix) are shared between host and plugin, not copied. General functions are
//!   asked for many points or moves in one call.
//!
//! # What to rely on, and what to keep to
//!
//! - **Options** are declared with [`options!`]: documentation, limits and defaults once, checked before
//!   anything is made. What the limits cannot say is an [`Error::option`] from the constructor; the host shows
//!   its place in the manifest.
//! - **Randomness** comes as a `u64` seed. [`rng`] makes the generator, [`random`] has normal, exponential and
//!   gamma draws that are the same on every machine, [`rand`] is re-exported for the rest. The same inputs and
//!   seed give the same answer: no clock, no hash map's order, no `f64::exp` (the `libm` crate has one that does
//!   not differ between systems).
//! - **State**: a surrogate, or a solver that learns from one problem for the next, may [save](Solver::save) what it knows, so
//!   that a trial goes on after a kill without computing everything again.
//! - **Errors** are sentences: [`Error::new`], or [`Error::wrap`] around any other. An evaluation that failed is
//!   recorded and the trial goes on; an error of a model or solver ends its trial, and no other. A point that has no
//!   value is no error: it is [`Evaluation::infeasible`].
//! - **Panics** become errors with file and line. Build with `panic = "unwind"`, the default.
//! - **Logging** is [`tracing`]: `plugin_api::tracing::info!("…")` reaches the host's log (`host -v run …`).
//! - **Versions**: a plugin built with api 1.x loads into every host of 1.x, older or newer. Enums that may grow are
//!   `#[non_exhaustive]`: where a match has no better answer for what it does not know, it answers an error.

#![allow(
    clippy::test_attr_in_doctest,
    reason = "the first plugin above shows the test that its author would write"
)]

pub mod options;
pub mod random;
pub mod testing;

mod abi;
mod acquisition;
mod answer;
mod benchmark;
mod bit_matrix;
mod bits;
mod constraint;
mod encoder;
mod error;
mod evaluation;
mod exclusive;
mod export;
mod kind;
mod penalty;
mod quadratic;

mod solver;
mod space;
mod surrogate;

pub use acquisition::{Acquisition, AcquisitionKind, Function};
pub use answer::{Answer, Checked, Flaw, Stop};
pub use benchmark::{Benchmark, Sense};
pub use bit_matrix::BitMatrix;
pub use bits::{Bits, Layout};
pub use constraint::{Constraint, Literal, Rule};
pub use encoder::Encoder;
pub use error::{Error, ErrorKind, Result};
pub use evaluation::Evaluation;
pub use kind::Kind;
pub use penalty::Penalty;
pub use quadratic::Quadratic;
pub use random::{Rng, rng};
pub use solver::{Problem, Solver};
pub use space::{Point, Space, Variable};
pub use surrogate::{DrawRequest, Effect, Predictions, Surrogate};

pub use {ndarray, rand, schemars, serde, serde_json, tracing};

/// Opening plugins: what the host calls. A plugin never needs it.
pub mod load {
    pub use crate::abi::load::{
        API_VERSION, Description, LoadError, LoadedBenchmark, LoadedEncoder, LoadedSolver, LoadedSurrogate,
        Plugin,
    };
}

#[doc(hidden)]
pub mod __private {
    pub use crate::abi::module::{
        Export, ExportBenchmark, ExportEncoder, ExportSolver, ExportSurrogate, Header, MadeBenchmark,
        MadeEncoder, MadeSolver, MadeSurrogate, benchmark_header, encoder_header, solver_header,
        surrogate_header,
    };
}
