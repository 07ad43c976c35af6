//! What the host and a plugin agree on.

pub mod options;
pub mod random;
pub mod testing;

mod abi;
mod acquisition;
mod benchmark;
mod bits;
mod encoder;
mod error;
mod export;
mod kind;
mod quadratic;
mod solver;
mod space;
mod surrogate;

pub use acquisition::{Acquisition, AcquisitionKind, Function};
pub use benchmark::{Benchmark, Sense};
pub use bits::{Bits, Layout};
pub use encoder::Encoder;
pub use error::{Error, ErrorKind, Result};
pub use kind::Kind;
pub use quadratic::Quadratic;
pub use random::{Rng, rng};
pub use solver::{Answer, Problem, Solver, Stop};
pub use space::{Point, Space, Variable};
pub use surrogate::Surrogate;

pub use {rand, schemars, serde, serde_json, tracing};

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
        Export, ExportBenchmark, ExportEncoder, ExportSolver, ExportSurrogate, Header, benchmark_header,
        encoder_header, solver_header, surrogate_header,
    };
}
