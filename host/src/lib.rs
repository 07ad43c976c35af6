//! The program: reads a manifest, loads plugins, runs, records, reports.
//!
//! Rooms know each other in one direction only (`ARCHITECTURE.md` has the map, `tests/architecture.rs` reads the
//! arrows): commands → report, export, solve, check, run → trial → record → plan → plugins, manifest → files, feasible.

pub mod check;
pub mod cli;
pub mod commands;
pub mod diagnostic;
pub mod export;
pub mod feasible;
pub mod manifest;
pub mod plan;
pub mod plugins;
pub mod record;
pub mod report;
pub mod run;
pub mod skeleton;
pub mod solve;
pub mod trial;

mod clock;
mod files;
pub mod paint;
mod parallel;
pub mod text;
