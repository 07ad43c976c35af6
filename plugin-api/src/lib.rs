//! What the host and a plugin agree on.

pub mod options;
pub mod random;
pub mod testing;

mod acquisition;
mod benchmark;
mod bits;
mod encoder;
mod error;
mod export;
mod quadratic;
mod solver;
mod space;
mod surrogate;

pub use acquisition::{Acquisition, AcquisitionKind, Function};
pub use benchmark::{Benchmark, Sense};
pub use bits::{Bits, Layout};
pub use encoder::Encoder;
pub use error::{Error, ErrorKind, Result};
pub use quadratic::Quadratic;
pub use random::{Rng, rng};
pub use solver::{Answer, Problem, Solver, Stop};
pub use space::{Point, Space, Variable};
pub use surrogate::Surrogate;

pub use {rand, schemars, serde, serde_json, tracing};
