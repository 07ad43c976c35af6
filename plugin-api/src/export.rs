//! The one line that makes a crate a plugin.

/// Exports a solver under a name.
#[macro_export]
macro_rules! export_solver {
    ($name:literal, |$options:ident: $Options:ty| $make:expr $(,)?) => {
        #[allow(dead_code)]
        fn __make($options: $Options) -> $crate::Result<::std::boxed::Box<dyn $crate::Solver>> {
            Ok(::std::boxed::Box::new($make?))
        }
    };
}

/// Exports a benchmark under a name.
#[macro_export]
macro_rules! export_benchmark {
    ($name:literal, |$options:ident: $Options:ty, $seed:ident: u64| $make:expr $(,)?) => {
        #[allow(dead_code)]
        fn __make(
            $options: $Options,
            $seed: u64,
        ) -> $crate::Result<::std::boxed::Box<dyn $crate::Benchmark>> {
            Ok(::std::boxed::Box::new($make?))
        }
    };
}

/// Exports an encoder under a name.
#[macro_export]
macro_rules! export_encoder {
    ($name:literal, |$options:ident: $Options:ty, $space:ident: &Space| $make:expr $(,)?) => {
        #[allow(dead_code)]
        fn __make(
            $options: $Options,
            $space: &$crate::Space,
        ) -> $crate::Result<::std::boxed::Box<dyn $crate::Encoder>> {
            Ok(::std::boxed::Box::new($make?))
        }
    };
}

/// Exports a surrogate under a name.
#[macro_export]
macro_rules! export_surrogate {
    ($name:literal, |$options:ident: $Options:ty, $layout:ident: &Layout| $make:expr $(,)?) => {
        #[allow(dead_code)]
        fn __make(
            $options: $Options,
            $layout: &$crate::Layout,
        ) -> $crate::Result<::std::boxed::Box<dyn $crate::Surrogate>> {
            Ok(::std::boxed::Box::new($make?))
        }
    };
}
