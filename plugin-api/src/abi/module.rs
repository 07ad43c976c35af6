//! The symbol and table of functions that a dylib exports.
//!
//! Everything here is called by the export macros; nothing is meant to be called by hand.

use abi_stable::StableAbi;
use abi_stable::library::{CheckTypeLayout, LibHeader, RootModule, RootModuleResult};
use abi_stable::marker_type::ErasedPrefix;
use abi_stable::package_version_strings;
use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{ROk, RStr, RString};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::guard::{WireResult, guard, note_panics};
use super::kinds::benchmark::{BenchmarkObject, PluginBenchmark};
use super::kinds::encoder::{EncoderObject, PluginEncoder};
use super::kinds::solver::{PluginSolver, SolverObject};
use super::kinds::surrogate::{PluginSurrogate, SurrogateObject};
use super::kinds::{from_json, to_json};
use super::log::LogSink;
use crate::{Benchmark, Encoder, Error, Kind, Layout, Result, Solver, Space, Surrogate, options};

pub use abi_stable::library::LibHeader as Header;

/// The name of the one symbol that a plugin exports.
pub(crate) const SYMBOL: &str = abi_stable::library::ROOT_MODULE_LOADER_NAME;

/// What a dylib says of itself, and how to make its plugin.
///
/// Frozen up to `last_prefix_field`; later fields are added below it and may be absent in older plugins.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginModuleRef, prefix_fields = PluginModulePrefix)))]
#[sabi(missing_field(option))]
pub(crate) struct PluginModule {
    pub(crate) kind: RStr<'static>,
    pub(crate) name: RStr<'static>,
    pub(crate) summary: RStr<'static>,
    pub(crate) version: RStr<'static>,
    /// Whether panics unwind, so that the guard can catch them.
    pub(crate) unwinds: bool,
    pub(crate) initialize: extern "C" fn(LogSink),
    pub(crate) schema: extern "C" fn() -> WireResult<RString>,
    pub(crate) defaults: extern "C" fn() -> WireResult<RString>,
    /// From options and the instance's seed. This and the next three: one makes the plugin, the others refuse.
    pub(crate) benchmark: extern "C" fn(RStr<'_>, u64) -> WireResult<BenchmarkObject>,
    /// From options and a space, both JSON.
    pub(crate) encoder: extern "C" fn(RStr<'_>, RStr<'_>) -> WireResult<EncoderObject>,
    /// From options and a layout, both JSON.
    pub(crate) surrogate: extern "C" fn(RStr<'_>, RStr<'_>) -> WireResult<SurrogateObject>,
    /// From options.
    #[sabi(last_prefix_field)]
    pub(crate) solver: extern "C" fn(RStr<'_>) -> WireResult<SolverObject>,
}

impl RootModule for PluginModuleRef {
    abi_stable::declare_root_module_statics! {PluginModuleRef}
    const BASE_NAME: &'static str = "plugin";
    const NAME: &'static str = "plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}

/// What an export macro knows of its crate.
pub trait Export {
    /// The plugin's name in manifests.
    const NAME: &'static str;
    /// The crate's description.
    const SUMMARY: &'static str;
    /// The crate's version.
    const VERSION: &'static str;
    /// Whether the crate was built with `panic = "unwind"`.
    const UNWINDS: bool;
    /// What a manifest may set.
    type Options: DeserializeOwned + Serialize + JsonSchema + Default;
}

/// An exported benchmark.
pub trait ExportBenchmark: Export {
    /// Makes one.
    fn make(options: Self::Options, seed: u64) -> Result<Box<dyn Benchmark>>;
}

/// An exported encoder.
pub trait ExportEncoder: Export {
    /// Makes one.
    fn make(options: Self::Options, space: &Space) -> Result<Box<dyn Encoder>>;
}

/// An exported surrogate.
pub trait ExportSurrogate: Export {
    /// Makes one.
    fn make(options: Self::Options, layout: &Layout) -> Result<Box<dyn Surrogate>>;
}

/// An exported solver.
pub trait ExportSolver: Export {
    /// Makes one.
    fn make(options: Self::Options) -> Result<Box<dyn Solver>>;
}

/// What the expression of an export macro may be: for each kind, a value of it or a [`Result`] of one.
///
/// The two implementations never overlap: this crate implements none of the four traits for a `Result`, and no other
/// crate can, since both the traits and `Result` are foreign to it.
macro_rules! made {
    ($(#[$doc:meta])* $Made:ident, $Kind:ident) => {
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = "what the export macro makes is not of the kind that it exports",
            label = "implement the plugin's trait for `{Self}`, or answer a `plugin_api::Result` of it"
        )]
        pub trait $Made {
            /// It in a box.
            fn made(self) -> Result<Box<dyn $Kind>>;
        }
        impl<T: $Kind + 'static> $Made for T {
            fn made(self) -> Result<Box<dyn $Kind>> {
                Ok(Box::new(self))
            }
        }
        impl<T: $Kind + 'static> $Made for Result<T, Error> {
            fn made(self) -> Result<Box<dyn $Kind>> {
                self.map(|made| Box::new(made) as _)
            }
        }
    };
}

made!(
    /// A benchmark, or a result of one.
    MadeBenchmark, Benchmark
);
made!(
    /// An encoder, or a result of one.
    MadeEncoder, Encoder
);
made!(
    /// A surrogate, or a result of one.
    MadeSurrogate, Surrogate
);
made!(
    /// A solver, or a result of one.
    MadeSolver, Solver
);

// What is generic below is compiled in each plugin, so it only hands over to functions that are not.

/// The exported symbol of a benchmark.
pub const fn benchmark_header<E: ExportBenchmark>() -> LibHeader {
    extern "C" fn make<E: ExportBenchmark>(options: RStr<'_>, seed: u64) -> WireResult<BenchmarkObject> {
        made_benchmark(&|| E::make(options::parse(options.as_str())?, seed))
    }
    extern "C" fn module<E: ExportBenchmark>() -> RootModuleResult {
        erased(PluginModule { benchmark: make::<E>, ..described::<E>(Kind::Benchmark) })
    }
    header(module::<E>)
}

fn made_benchmark(make: &dyn Fn() -> Result<Box<dyn Benchmark>>) -> WireResult<BenchmarkObject> {
    guard(|| Ok(PluginBenchmark::object(make()?)))
}

/// The exported symbol of an encoder.
pub const fn encoder_header<E: ExportEncoder>() -> LibHeader {
    extern "C" fn make<E: ExportEncoder>(options: RStr<'_>, space: RStr<'_>) -> WireResult<EncoderObject> {
        made_encoder(space, &|space| E::make(options::parse(options.as_str())?, space))
    }
    extern "C" fn module<E: ExportEncoder>() -> RootModuleResult {
        erased(PluginModule { encoder: make::<E>, ..described::<E>(Kind::Encoder) })
    }
    header(module::<E>)
}

fn made_encoder(
    space: RStr<'_>,
    make: &dyn Fn(&Space) -> Result<Box<dyn Encoder>>,
) -> WireResult<EncoderObject> {
    guard(|| Ok(PluginEncoder::object(make(&from_json(space.as_str())?)?)))
}

/// The exported symbol of a surrogate.
pub const fn surrogate_header<E: ExportSurrogate>() -> LibHeader {
    extern "C" fn make<E: ExportSurrogate>(
        options: RStr<'_>,
        layout: RStr<'_>,
    ) -> WireResult<SurrogateObject> {
        made_surrogate(layout, &|layout| E::make(options::parse(options.as_str())?, layout))
    }
    extern "C" fn module<E: ExportSurrogate>() -> RootModuleResult {
        erased(PluginModule { surrogate: make::<E>, ..described::<E>(Kind::Surrogate) })
    }
    header(module::<E>)
}

fn made_surrogate(
    layout: RStr<'_>,
    make: &dyn Fn(&Layout) -> Result<Box<dyn Surrogate>>,
) -> WireResult<SurrogateObject> {
    guard(|| {
        let layout: Layout = from_json(layout.as_str())?;
        Ok(PluginSurrogate::object(make(&layout)?, layout.dimension()))
    })
}

/// The exported symbol of a solver.
pub const fn solver_header<E: ExportSolver>() -> LibHeader {
    extern "C" fn make<E: ExportSolver>(options: RStr<'_>) -> WireResult<SolverObject> {
        made_solver(&|| E::make(options::parse(options.as_str())?))
    }
    extern "C" fn module<E: ExportSolver>() -> RootModuleResult {
        erased(PluginModule { solver: make::<E>, ..described::<E>(Kind::Solver) })
    }
    header(module::<E>)
}

fn made_solver(make: &dyn Fn() -> Result<Box<dyn Solver>>) -> WireResult<SolverObject> {
    guard(|| Ok(PluginSolver::object(make()?)))
}

#[expect(unsafe_code, reason = "the header is what the loader on the other side reads")]
const fn header(module: extern "C" fn() -> RootModuleResult) -> LibHeader {
    // SAFETY: each `module` function above answers an erased `PluginModuleRef`, the type named here.
    unsafe { LibHeader::from_constructor::<PluginModuleRef>(module, CheckTypeLayout::Yes) }
}

#[expect(unsafe_code, reason = "abi_stable passes every module under one type")]
fn erased(module: PluginModule) -> RootModuleResult {
    let module = module.leak_into_prefix();
    // SAFETY: the type is only erased; the loader checks the layout before it is named again.
    ROk(unsafe { abi_stable::prefix_type::PrefixRefTrait::to_prefix_ref(module).cast::<ErasedPrefix>() })
}

/// The module of `E` with no constructor in it.
fn described<E: Export>(kind: Kind) -> PluginModule {
    extern "C" fn schema<E: Export>() -> WireResult<RString> {
        told(&|| Ok(options::schema::<E::Options>()))
    }
    extern "C" fn defaults<E: Export>() -> WireResult<RString> {
        told(&options::defaults::<E::Options>)
    }
    PluginModule {
        name: E::NAME.into(),
        summary: E::SUMMARY.into(),
        version: E::VERSION.into(),
        unwinds: E::UNWINDS,
        schema: schema::<E>,
        defaults: defaults::<E>,
        ..nameless(kind)
    }
}

fn told(what: &dyn Fn() -> Result<Value>) -> WireResult<RString> {
    guard(|| to_json(&what()?))
}

/// A module that makes nothing and knows nothing of its crate.
fn nameless(kind: Kind) -> PluginModule {
    extern "C" fn initialize(log: LogSink) {
        note_panics();
        log.install();
    }
    extern "C" fn nothing() -> WireResult<RString> {
        guard(|| Err(Error::new("this plugin has no options")))
    }
    extern "C" fn no_benchmark(_: RStr<'_>, _: u64) -> WireResult<BenchmarkObject> {
        guard(|| Err(Error::new("this plugin is no benchmark")))
    }
    extern "C" fn no_encoder(_: RStr<'_>, _: RStr<'_>) -> WireResult<EncoderObject> {
        guard(|| Err(Error::new("this plugin is no encoder")))
    }
    extern "C" fn no_surrogate(_: RStr<'_>, _: RStr<'_>) -> WireResult<SurrogateObject> {
        guard(|| Err(Error::new("this plugin is no surrogate")))
    }
    extern "C" fn no_solver(_: RStr<'_>) -> WireResult<SolverObject> {
        guard(|| Err(Error::new("this plugin is no solver")))
    }
    PluginModule {
        kind: kind.name().into(),
        name: RStr::empty(),
        summary: RStr::empty(),
        version: RStr::empty(),
        unwinds: false,
        initialize,
        schema: nothing,
        defaults: nothing,
        benchmark: no_benchmark,
        encoder: no_encoder,
        surrogate: no_surrogate,
        solver: no_solver,
    }
}
