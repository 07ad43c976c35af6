//! The one line that makes a crate a plugin.

/// Exports a [`Benchmark`](crate::Benchmark): its name in manifests, and how to make one from options and the
/// seed of its instance.
///
/// The expression is a benchmark, or a [`Result`](crate::Result) of one: wrong options and impossible instances are
/// errors. The crate's `description` becomes the line that `host plugins list` shows.
///
/// ```
/// use plugin_api::{Benchmark, Evaluation, Point, Result, Space, export_benchmark, options};
///
/// options! {
///     /// The number of ones.
///     struct Options {
///         /// Number of bits.
///         #[schemars(range(min = 1, max = 1000))]
///         n: usize = 10,
///     }
/// }
/// struct OneMax(usize);
///
/// export_benchmark!("one-max", |options: Options, _seed: u64| OneMax(options.n));
///
/// impl Benchmark for OneMax {
///     fn space(&self) -> Result<Space> {
///         Ok(Space::binary(self.0))
///     }
///     fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
///         let ones: u32 = point.iter().sum();
///         Ok(f64::from(ones).into())
///     }
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_benchmark {
    ($name:literal, |$options:ident: $Options:ty, $seed:ident: u64| $make:expr $(,)?) => {
        $crate::__export!($name, $Options, benchmark_header, |Export| {
            impl $crate::__private::ExportBenchmark for Export {
                fn make(
                    $options: $Options,
                    $seed: u64,
                ) -> $crate::Result<::std::boxed::Box<dyn $crate::Benchmark>> {
                    $crate::__private::MadeBenchmark::made($make)
                }
            }
        });
    };
}

/// Exports an [`Encoder`](crate::Encoder): its name in manifests, and how to make one from options and a space.
///
/// `export_encoder!("one-hot", |options: Options, space: &Space| OneHot::new(options, space));`
#[macro_export]
macro_rules! export_encoder {
    ($name:literal, |$options:ident: $Options:ty, $space:ident: &Space| $make:expr $(,)?) => {
        $crate::__export!($name, $Options, encoder_header, |Export| {
            impl $crate::__private::ExportEncoder for Export {
                fn make(
                    $options: $Options,
                    $space: &$crate::Space,
                ) -> $crate::Result<::std::boxed::Box<dyn $crate::Encoder>> {
                    $crate::__private::MadeEncoder::made($make)
                }
            }
        });
    };
}

/// Exports a [`Surrogate`](crate::Surrogate): its name in manifests, and how to make one from options and a
/// layout.
///
/// `export_surrogate!("horseshoe", |options: Options, layout: &Layout| Horseshoe::new(options, layout));`
#[macro_export]
macro_rules! export_surrogate {
    ($name:literal, |$options:ident: $Options:ty, $layout:ident: &Layout| $make:expr $(,)?) => {
        $crate::__export!($name, $Options, surrogate_header, |Export| {
            impl $crate::__private::ExportSurrogate for Export {
                fn make(
                    $options: $Options,
                    $layout: &$crate::Layout,
                ) -> $crate::Result<::std::boxed::Box<dyn $crate::Surrogate>> {
                    $crate::__private::MadeSurrogate::made($make)
                }
            }
        });
    };
}

/// Exports a [`Solver`](crate::Solver): its name in manifests, and how to make one from options.
///
/// `export_solver!("annealing", |options: Options| Annealing::new(options));`
#[macro_export]
macro_rules! export_solver {
    ($name:literal, |$options:ident: $Options:ty| $make:expr $(,)?) => {
        $crate::__export!($name, $Options, solver_header, |Export| {
            impl $crate::__private::ExportSolver for Export {
                fn make($options: $Options) -> $crate::Result<::std::boxed::Box<dyn $crate::Solver>> {
                    $crate::__private::MadeSolver::made($make)
                }
            }
        });
    };
}

/// What the four macros share: the crate's own facts, and the symbol.
#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($name:literal, $Options:ty, $header:ident, |$Export:ident| { $($implementation:item)* }) => {
        const _: () = {
            struct $Export;
            impl $crate::__private::Export for $Export {
                const NAME: &'static str = $name;
                const SUMMARY: &'static str = env!("CARGO_PKG_DESCRIPTION");
                const VERSION: &'static str = env!("CARGO_PKG_VERSION");
                const UNWINDS: bool = cfg!(panic = "unwind");
                type Options = $Options;
            }
            $($implementation)*
            #[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
            pub static HEADER: $crate::__private::Header = $crate::__private::$header::<$Export>();
        };
    };
}

// The macro needs the symbol's name as a literal; it has to be the one that the loader looks for.
const _: () = {
    let (ours, theirs) = (b"_1as_0lib_1header_0root_bmodule_bloader", crate::abi::module::SYMBOL.as_bytes());
    assert!(ours.len() == theirs.len());
    let mut i = 0;
    while i < ours.len() {
        assert!(ours[i] == theirs[i]);
        i += 1;
    }
};
