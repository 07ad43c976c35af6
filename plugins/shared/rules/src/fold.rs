//! Rules as terms of a function.

pub struct Folded;
pub struct Multipliers;
pub fn folded() {}
