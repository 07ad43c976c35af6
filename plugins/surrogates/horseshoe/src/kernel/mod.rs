//! The loops in which the time goes, for whatever vectors the machine has, with the same bits from each.
//!
//! Every loop is written once, over eight [lanes](lanes::Lanes), and compiled for each instruction set. The lanes
//! are outputs: each adds its own numbers in the order that the source says, however many are computed at once,
//! and products are rounded before they are added (no fused operations). So the instruction set changes the time only.
//!
//! - [`sums`]: Σ d over the terms that two points share (the Gram matrix X D Xᵀ), and over those of one point (Xu);
//! - [`moments`]: Σ w over the points that have a term (Xᵀw);
//! - [`scale`]: what is done to each entry of a matrix;
//! - [`cholesky`]: the factor of a positive definite matrix, and solves with it;
//! - [`aligned`]: memory for matrices.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions, chosen when the program runs")
)]

pub mod aligned;
pub mod cholesky;
pub mod lanes;
pub mod moments;
pub mod scale;
pub mod sums;
#[cfg(target_arch = "x86_64")]
mod x86;

use lanes::{Lanes, Portable};
use plugin_api::{Error, Result};

/// An instruction set that the machine has.
#[derive(Clone, Copy, Debug)]
pub struct Kernel(Set);

#[derive(Clone, Copy, Debug)]
enum Set {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
}

/// Something to do with the lanes of an instruction set.
pub trait Work {
    /// What comes out.
    type Output;

    /// Does it. An implementation has to be `#[inline(always)]`, and so has everything it calls with `lanes`: only what
    /// is inlined is compiled for the instruction set.
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

impl Kernel {
    /// All that this machine has, the fastest first.
    pub fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        let vectors = [x86::Avx512::detect().map(Set::Avx512), x86::Avx2::detect().map(Set::Avx2)];
        #[cfg(not(target_arch = "x86_64"))]
        let vectors: [Option<Set>; 0] = [];
        vectors.into_iter().flatten().chain([Set::Portable(Portable)]).map(Self).collect()
    }

    /// The fastest that this machine has.
    pub fn fastest() -> Self {
        Self::available()[0]
    }

    /// The fastest, or the one that the environment variable `HORSESHOE_KERNEL` names: for tests and measurements.
    pub fn from_environment() -> Result<Self> {
        let Some(name) = std::env::var_os("HORSESHOE_KERNEL") else { return Ok(Self::fastest()) };
        name.to_str().and_then(Self::named).ok_or_else(|| {
            let names: Vec<&str> = Self::available().into_iter().map(Self::name).collect();
            let (name, names) = (name.display(), names.join(", "));
            Error::new(format!("HORSESHOE_KERNEL is `{name}`, not one that this machine has: {names}"))
        })
    }

    /// The one of this name, if the machine has it.
    pub fn named(name: &str) -> Option<Self> {
        Self::available().into_iter().find(|kernel| kernel.name() == name)
    }

    /// Its name: `portable`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Portable(_) => "portable",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(_) => "avx512",
        }
    }

    fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            Set::Portable(lanes) => work.run(lanes),
            // SAFETY: the value exists only where the machine has AVX2.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(lanes) => unsafe { run_avx2(lanes, work) },
            // SAFETY: the value exists only where the machine has AVX-512F.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(lanes) => unsafe { run_avx512(lanes, work) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2<W: Work>(lanes: x86::Avx2, work: W) -> W::Output {
    work.run(lanes)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn run_avx512<W: Work>(lanes: x86::Avx512, work: W) -> W::Output {
    work.run(lanes)
}
