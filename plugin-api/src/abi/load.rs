//! From a file to an ordinary trait; the library stays open until the process ends.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use abi_stable::StableAbi;
use abi_stable::abi_stability::abi_checking::{CheckingGlobals, check_layout_compatibility_with_globals};
use abi_stable::library::{LibHeader, LibraryError, RootModule, lib_header_from_path};
use abi_stable::sabi_types::VersionNumber;
use serde_json::Value;

use super::c::{self, CModule};
use super::guard::unwire;
use super::kinds::benchmark::PluginBenchmark;
use super::kinds::solver::PluginSolver;
use super::kinds::{from_json, to_json};
use super::log::LogSink;
use super::module::{PluginModuleRef, SYMBOL};
use crate::{Error, Kind, Layout, Result, Space};

pub use super::kinds::benchmark::LoadedBenchmark;
pub use super::kinds::encoder::LoadedEncoder;
pub use super::kinds::solver::LoadedSolver;
pub use super::kinds::surrogate::LoadedSurrogate;

/// The version of the api that this program was built with.
pub const API_VERSION: &str = env!("CARGO_PKG_VERSION");

/// A plugin in an open dylib.
pub struct Plugin {
    module: Module,
    description: Description,
}

/// What its library exports.
enum Module {
    Rust(PluginModuleRef),
    C(Box<CModule>),
}

/// What a plugin says of itself.
#[derive(Clone, Debug)]
pub struct Description {
    /// What it is.
    pub kind: Kind,
    /// Its name in manifests.
    pub name: String,
    /// What it does, in a line.
    pub summary: String,
    /// Its own version.
    pub version: String,
    /// The version of the api that it was built with: `1.1.0`, or `C 1` for that of `host_plugin.h`.
    pub api_version: String,
    /// JSON schema of its options, with documentation and limits.
    pub schema: Value,
    /// Every option with its default.
    pub defaults: Value,
    /// The file.
    pub path: PathBuf,
}

/// Why a file cannot be loaded as a plugin; one line each, that says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is not there, or may not be read.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        cause: std::io::Error,
    },
    /// The system's loader refuses the file.
    #[error("{} is not a dynamic library for this machine ({cause}); build it with `cargo build --release`", path.display())]
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// The loader's reason.
        cause: String,
    },
    /// The dylib has no plugin in it.
    #[error("{} is a dynamic library without a plugin; add an `export_…!` line to its crate, or `host_plugin_entry` in C, and rebuild it", path.display())]
    NoPlugin {
        /// The file.
        path: PathBuf,
    },
    /// The plugin was built with another version of abi_stable.
    #[error(
        "{} was built with abi_stable {found}, and this host with {expected}; rebuild it with plugin-api {API_VERSION}",
        path.display()
    )]
    OtherAbiStable {
        /// The file.
        path: PathBuf,
        /// The plugin's version.
        found: String,
        /// The host's version.
        expected: String,
    },
    /// The plugin was built with an api that this host cannot speak.
    #[error(
        "{} was built for plugin-api {found}, and this host has {API_VERSION}, which differs from it; \
         rebuild it with plugin-api {API_VERSION}",
        path.display()
    )]
    OtherApi {
        /// The file.
        path: PathBuf,
        /// The version of the api that the plugin was built with.
        found: String,
    },
    /// A panic in the plugin would end the whole program.
    #[error("{} was built with `panic = \"abort\"`; remove that from its profile and rebuild it", path.display())]
    Aborts {
        /// The file.
        path: PathBuf,
    },
    /// The plugin is of another kind.
    #[error("{} holds the {found} `{name}`, not the {expected} asked for; name it under `{found}:`", path.display())]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// The plugin's name.
        name: String,
        /// Its kind.
        found: Kind,
        /// The kind that was looked for.
        expected: Kind,
    },
    /// The plugin failed while it described itself.
    #[error("{} cannot describe itself: {cause}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What it said.
        cause: Error,
    },
}

impl Plugin {
    /// Opens the dylib at `path`, which need not follow the naming rule.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        // An absolute path: by a bare name the system would search folders of its own.
        let unreadable = |cause| LoadError::Unreadable { path: path.to_owned(), cause };
        let real = path.canonicalize().map_err(unreadable)?;
        let file = File::open(&real).map_err(unreadable)?;
        Self::open(&real, file, real.clone())
    }

    /// Opens the dylib at `path`, and refuses a plugin of another kind.
    pub fn load_kind(path: &Path, expected: Kind) -> Result<Self, LoadError> {
        Self::load(path)?.expect_kind(expected)
    }

    /// Opens a dylib from an open file, and refuses a plugin of another kind. Where the system allows, it is this very file
    /// that is loaded, whatever stands at `path` by now; `path` is for messages then.
    ///
    /// The file is never closed: the system's loader knows a library by its path, and the descriptor's would be another's.
    pub fn load_file(file: &'static File, path: &Path, expected: Kind) -> Result<Self, LoadError> {
        let _ = file;
        #[cfg(target_os = "linux")]
        {
            let descriptor = std::os::fd::AsRawFd::as_raw_fd(file);
            let library = PathBuf::from(format!("/proc/self/fd/{descriptor}"));
            if library.exists() {
                let unreadable = |cause| LoadError::Unreadable { path: path.to_owned(), cause };
                let own = file.try_clone().map_err(unreadable)?;
                return Self::open(&library, own, path.to_owned())?.expect_kind(expected);
            }
        }
        Self::load_kind(path, expected)
    }

    /// Opens `library`, of which `file` has the bytes, for messages at `path`.
    fn open(library: &Path, mut file: File, path: PathBuf) -> Result<Self, LoadError> {
        let length = file.metadata().and_then(|metadata| file.rewind().map(|()| metadata.len()));
        let length = length.map_err(|cause| LoadError::Unreadable { path: path.clone(), cause })?;
        if is_cut_short(&mut file, length) {
            return Err(LoadError::NotALibrary { path, cause: "the file is cut short".to_owned() });
        }
        if probe(library, &path)? == Language::C {
            return Self::open_c(library, path);
        }
        let header = lib_header_from_path(library).map_err(|error| match error {
            LibraryError::InvalidAbiHeader(found) => LoadError::OtherAbiStable {
                path: path.clone(),
                found: format!("{}.{}", found.abi_major, found.abi_minor),
                expected: "0.11".to_owned(),
            },
            other => LoadError::NotALibrary { path: path.clone(), cause: first_line(&other.to_string()) },
        })?;
        let module = checked_module(header)
            .ok_or_else(|| LoadError::OtherApi { path: path.clone(), found: api_version(header) })?;
        if !module.unwinds() {
            return Err(LoadError::Aborts { path });
        }
        (module.initialize())(LogSink::of_host());
        match describe(module, api_version(header), path.clone()) {
            Ok(description) => Ok(Self { module: Module::Rust(module), description }),
            Err(cause) => Err(LoadError::Broken { path, cause }),
        }
    }

    fn open_c(library: &Path, path: PathBuf) -> Result<Self, LoadError> {
        let opened = c::open(library).unwrap_or_else(|| Err(Error::new("its symbol is gone")));
        let module = opened.map_err(|cause| LoadError::Broken { path: path.clone(), cause })?;
        let description = Description {
            kind: module.kind,
            name: module.name.clone(),
            summary: module.summary.clone(),
            version: module.version.clone(),
            api_version: c::API_VERSION.to_owned(),
            schema: module.schema.clone(),
            defaults: module.defaults.clone(),
            path,
        };
        Ok(Self { module: Module::C(Box::new(module)), description })
    }

    fn expect_kind(self, expected: Kind) -> Result<Self, LoadError> {
        let Description { path, name, kind, .. } = self.description();
        if *kind != expected {
            let (path, name) = (path.clone(), name.clone());
            return Err(LoadError::OtherKind { path, name, found: *kind, expected });
        }
        Ok(self)
    }

    /// What the plugin says of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Makes the benchmark; `options` is a JSON object, `seed` that of its instance. Options that give no space are
    /// refused here too.
    pub fn benchmark(&self, options: &Value, seed: u64) -> Result<LoadedBenchmark> {
        LoadedBenchmark::new(match &self.module {
            Module::Rust(module) => unwire(module.benchmark()(to_json(options)?.as_rstr(), seed))?,
            Module::C(module) => PluginBenchmark::object(module.benchmark(options, seed)?),
        })
    }

    /// Makes the encoder of a space.
    pub fn encoder(&self, options: &Value, space: &Space) -> Result<LoadedEncoder> {
        let Module::Rust(module) = &self.module else { return Err(self.is_no(Kind::Encoder)) };
        let make = module.encoder();
        LoadedEncoder::new(unwire(make(to_json(options)?.as_rstr(), to_json(space)?.as_rstr()))?)
    }

    /// Makes the surrogate for a layout.
    pub fn surrogate(&self, options: &Value, layout: &Layout) -> Result<LoadedSurrogate> {
        let Module::Rust(module) = &self.module else { return Err(self.is_no(Kind::Surrogate)) };
        let make = module.surrogate();
        let object = unwire(make(to_json(options)?.as_rstr(), to_json(layout)?.as_rstr()))?;
        LoadedSurrogate::new(object, layout.dimension())
    }

    /// Makes the solver.
    pub fn solver(&self, options: &Value) -> Result<LoadedSolver> {
        LoadedSolver::new(match &self.module {
            Module::Rust(module) => unwire(module.solver()(to_json(options)?.as_rstr()))?,
            Module::C(module) => PluginSolver::object(module.solver(options)?),
        })
    }

    fn is_no(&self, kind: Kind) -> Error {
        Error::new(format!("this plugin is no {kind}"))
    }
}

/// Whether a file ends before its own header says it does, as after a copy that broke off.
///
/// The loader of Linux would map it nonetheless, and the process would die of a bus error. Files of other
/// formats are left to their loaders, which look for themselves.
fn is_cut_short(file: &mut impl Read, length: u64) -> bool {
    let mut header = [0; 64];
    if file.read_exact(&mut header).is_err() || !header.starts_with(b"\x7fELF\x02\x01") {
        return false;
    }
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    // Linkers put the table of sections last: e_shoff, e_shentsize and e_shnum of the ELF specification.
    let (start, entry, count) = (number(&header[40..48]), number(&header[58..60]), number(&header[60..62]));
    start.saturating_add(entry * count) > length
}

/// What a library's symbol says that it was written in.
#[derive(PartialEq)]
enum Language {
    Rust,
    C,
}

/// Opens the file and looks for the symbol, for errors that a person can read.
#[expect(unsafe_code, reason = "opening a dylib runs its code")]
fn probe(library: &Path, path: &Path) -> Result<Language, LoadError> {
    // SAFETY: who names a plugin directory trusts the code in it; that is what a plugin is.
    let library = unsafe { libloading::Library::new(library) }.map_err(|error| {
        let text = std::error::Error::source(&error).unwrap_or(&error).to_string();
        // dlopen puts the path in front of its reason, and our message has it already.
        let reason = text.replace(&format!("{}: ", library.display()), "");
        LoadError::NotALibrary { path: path.to_owned(), cause: first_line(&reason) }
    })?;
    // SAFETY: the symbol is only looked for; abi_stable checks what stands behind it.
    let rust = unsafe { library.get::<*const u8>(SYMBOL) }.is_ok();
    // SAFETY: as above; `c` checks what stands behind it.
    let c = unsafe { library.get::<*const u8>(c::SYMBOL) }.is_ok();
    // Never closed: a plugin may have started threads or left destructors with the thread it ran on.
    std::mem::forget(library);
    match (rust, c) {
        (true, _) => Ok(Language::Rust),
        (false, true) => Ok(Language::C),
        (false, false) => Err(LoadError::NoPlugin { path: path.to_owned() }),
    }
}

/// The module, where every type in it means the same on both sides.
#[expect(unsafe_code, reason = "the type of a module is erased on its way through the symbol")]
fn checked_module(header: &'static LibHeader) -> Option<PluginModuleRef> {
    let our_version = VersionNumber::new(PluginModuleRef::VERSION_STRINGS).ok()?;
    let their_version = VersionNumber::new(header.version_strings()).ok()?;
    if their_version.major != our_version.major {
        return None;
    }
    // A check passes where the second layout has all of the first, and perhaps more at the end. A plugin as
    // new as the host, or newer, has all of ours. An older one lacks our latest fields: check the other way.
    let (ours, theirs) = (<PluginModuleRef as StableAbi>::LAYOUT, header.layout()?);
    let is_older = their_version.minor < our_version.minor;
    let (fewer, more) = if is_older { (theirs, ours) } else { (ours, theirs) };
    // Each plugin is compared with this host alone. With the globals that abi_stable keeps otherwise, it compares
    // plugins with each other too, in an order that refuses an older and a newer one in the same newer host.
    check_layout_compatibility_with_globals(fewer, more, &CheckingGlobals::new()).ok()?;
    // SAFETY: the layout was checked above, one way or the other; fields after the common prefix are read
    // through accessors that know which of them are there.
    unsafe { header.unchecked_layout::<PluginModuleRef>() }.ok()
}

fn describe(module: PluginModuleRef, api_version: String, path: PathBuf) -> Result<Description> {
    Ok(Description {
        kind: module.kind().as_str().parse()?,
        name: module.name().to_string(),
        summary: module.summary().to_string(),
        version: module.version().to_string(),
        api_version,
        schema: from_json(&unwire((module.schema())())?)?,
        defaults: from_json(&unwire((module.defaults())())?)?,
        path,
    })
}

fn api_version(header: &LibHeader) -> String {
    header.version_strings().version.to_string()
}

fn first_line(text: &str) -> String {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}
