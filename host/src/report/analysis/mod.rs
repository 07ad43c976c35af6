//! Trials → numbers: what each method found, methods against each other, solvers by dimension.

pub(super) mod afo;
pub(super) mod best;
pub(super) mod compare;
pub(super) mod course;
pub(super) mod differences;
pub(super) mod learned;
pub(super) mod listing;
pub(super) mod model;
pub(super) mod predicted;
pub(super) mod recommended;
pub(super) mod settings;
pub(super) mod statistics;
pub(super) mod summary;
pub(super) mod trial;
