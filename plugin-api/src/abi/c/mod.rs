//! Plugins in C: the table of `include/host_plugin.h`, read with care, behind the same traits as all others.
//!
//! The structs here are those of the header, field by field. They grow at their end alone, and each says its size.

mod benchmark;
mod solver;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

use serde_json::{Map, Value, json};

use self::benchmark::CBenchmark;
use self::solver::CSolver;
use crate::{Benchmark, Error, Kind, Result, Solver, options};

/// The name of the one symbol that a plugin in C exports.
pub(crate) const SYMBOL: &str = "host_plugin_entry";

/// The version of the header.
const VERSION: u32 = 1;

/// The same in words, as a plugin's description has it.
pub(crate) const API_VERSION: &str = "C 1";

/// `host_plugin`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Table {
    version: u32,
    size: u32,
    kind: *const c_char,
    name: *const c_char,
    summary: *const c_char,
    plugin_version: *const c_char,
    options: *const c_char,
    create: Option<unsafe extern "C" fn(*const c_char, u64, *mut *mut c_void, *mut CError) -> c_int>,
    destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    maximize: c_int,
    noisy: c_int,
    space: Option<unsafe extern "C" fn(*mut c_void, *mut benchmark::CSpace, *mut CError) -> c_int>,
    evaluate:
        Option<unsafe extern "C" fn(*mut c_void, *const u32, usize, u64, *mut f64, *mut CError) -> c_int>,
    takes: *const c_char,
    keeps: *const c_char,
    minimize: Option<
        unsafe extern "C" fn(
            *mut c_void,
            *const solver::CProblem,
            u64,
            *mut solver::CAnswer,
            *mut CError,
        ) -> c_int,
    >,
}

// SAFETY: the header promises that a table and its texts are constant: any thread may read them.
#[expect(unsafe_code, reason = "pointers to constants of a plugin in C")]
unsafe impl Sync for Table {}

/// What is there in every table of version 1.
const LEAST_SIZE: usize = std::mem::size_of::<Table>();

/// `host_error`.
#[repr(C)]
struct CError {
    size: u32,
    message: *mut c_char,
    message_size: usize,
    option: *mut c_char,
    option_size: usize,
}

const OK: c_int = 0;
const BAD_OPTION: c_int = 2;
const INFEASIBLE: c_int = 3;

/// Runs a call with room for an error; answers its code, and the words and the option that it wrote.
fn call(call: impl FnOnce(*mut CError) -> c_int) -> (c_int, String, String) {
    let (mut message, mut option) = ([0 as c_char; 2048], [0 as c_char; 256]);
    let mut error = CError {
        size: size_of::<CError>(),
        message: message.as_mut_ptr(),
        message_size: message.len(),
        option: option.as_mut_ptr(),
        option_size: option.len(),
    };
    let code = call(&mut error);
    if code == OK {
        return (code, String::new(), String::new());
    }
    // Whatever was written, it ends within its room.
    (message[message.len() - 1], option[option.len() - 1]) = (0, 0);
    (code, words(&message), words(&option))
}

/// An error of a call that could not do what was asked.
fn failed(code: c_int, message: String, option: String) -> Error {
    match (code, message.is_empty()) {
        (BAD_OPTION, _) => Error::option(option, message),
        (code, true) => Error::new(format!("the plugin answered the code {code} without a reason")),
        (_, false) => Error::new(message),
    }
}

fn size_of<T>() -> u32 {
    u32::try_from(std::mem::size_of::<T>()).expect("a small struct")
}

fn words(buffer: &[c_char]) -> String {
    let bytes: Vec<u8> = buffer.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text of the table, which lives as long as the library.
#[expect(unsafe_code, reason = "a text of a plugin in C")]
fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the header promises texts that end with a NUL and live as long as the library, which is never closed.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

/// A text for a plugin; none of ours has a NUL in it.
fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(Error::wrap)
}

/// A plugin in C.
pub(crate) struct CModule {
    table: &'static Table,
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) summary: String,
    pub(crate) version: String,
    pub(crate) schema: Value,
    pub(crate) defaults: Value,
}

/// Opens the plugin in C of a library; `None` where it has none, an error where it cannot be used.
#[expect(unsafe_code, reason = "calling into a plugin in C")]
pub(crate) fn open(library: &Path) -> Option<Result<CModule>> {
    // SAFETY: the library was opened before, by the loader's probe; this gives another handle to it.
    let library = unsafe { libloading::Library::new(library) }.ok()?;
    // SAFETY: the header declares the symbol with this type.
    let entry = unsafe { library.get::<unsafe extern "C" fn() -> *const Table>(SYMBOL) }.ok()?;
    // SAFETY: as above; the function takes nothing.
    let table = unsafe { entry() };
    let module = read(table);
    // Never closed, like every plugin.
    std::mem::forget(library);
    Some(module)
}

#[expect(unsafe_code, reason = "the table of a plugin in C")]
fn read(pointer: *const Table) -> Result<CModule> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Error::new(format!("{SYMBOL}() answers no table")));
    }
    // SAFETY: every table begins with its version and size, and lives as long as the library.
    let (version, size) = unsafe { ((*pointer).version, (*pointer).size) };
    if version != VERSION {
        let hint = "rebuild it with the header of this host";
        return Err(Error::new(format!(
            "it has version {version} of host_plugin.h, and this host {VERSION}; {hint}"
        )));
    }
    if (size as usize) < LEAST_SIZE {
        return Err(Error::new(format!(
            "its table has {size} bytes, and {LEAST_SIZE} are needed: set `.size = sizeof(host_plugin)`"
        )));
    }
    // SAFETY: the table has all these bytes, as it says, and nobody changes it.
    let table: &'static Table = unsafe { &*pointer };
    let needed =
        |pointer, what: &str| text(pointer).ok_or_else(|| Error::new(format!("its table has no `{what}`")));
    let kind: Kind = needed(table.kind, "kind")?.parse()?;
    let function = |there: bool, name: &str| match there {
        true => Ok(()),
        false => Err(Error::new(format!("its table has no function `{name}`, which a {kind} needs"))),
    };
    function(table.create.is_some(), "create")?;
    match kind {
        Kind::Benchmark => {
            function(table.space.is_some(), "space")?;
            function(table.evaluate.is_some(), "evaluate")?;
        }
        Kind::Solver => function(table.minimize.is_some(), "minimize")?,
        other => {
            return Err(Error::new(format!(
                "a {other} cannot be written in C, only a benchmark or a solver"
            )));
        }
    }
    let (schema, defaults) = declared(text(table.options).as_deref())?;
    let name = needed(table.name, "name")?;
    let (summary, version) =
        (needed(table.summary, "summary")?, needed(table.plugin_version, "plugin_version")?);
    Ok(CModule { table, kind, name, summary, version, schema, defaults })
}

/// The schema of the options as plugins in Rust have it, and the default of each.
fn declared(text: Option<&str>) -> Result<(Value, Value)> {
    let mut schema: Value = serde_json::from_str(text.unwrap_or("{}"))
        .map_err(|error| Error::new(format!("its `options` are not JSON: {error}")))?;
    let Some(object) = schema.as_object_mut() else {
        return Err(Error::new("its `options` are no JSON schema"));
    };
    object.entry("type").or_insert(json!("object"));
    object.entry("properties").or_insert(json!({}));
    object.entry("additionalProperties").or_insert(json!(false));
    let mut defaults = Map::new();
    for (name, option) in object["properties"].as_object().into_iter().flatten() {
        let default =
            option.get("default").ok_or_else(|| Error::new(format!("its option `{name}` has no default")))?;
        defaults.insert(name.clone(), default.clone());
    }
    let defaults = Value::Object(defaults);
    options::check(&defaults, &schema)
        .map_err(|error| Error::new(format!("a default is not allowed: {error}")))?;
    Ok((schema, defaults))
}

impl CModule {
    pub(crate) fn benchmark(&self, options: &Value, seed: u64) -> Result<Box<dyn Benchmark>> {
        self.expect(Kind::Benchmark)?;
        Ok(Box::new(CBenchmark::new(self.instance(options, seed)?)?))
    }

    pub(crate) fn solver(&self, options: &Value) -> Result<Box<dyn Solver>> {
        self.expect(Kind::Solver)?;
        Ok(Box::new(CSolver::new(self.instance(options, 0)?)))
    }

    fn expect(&self, kind: Kind) -> Result<()> {
        match self.kind == kind {
            true => Ok(()),
            false => Err(Error::new(format!("this plugin is no {kind}"))),
        }
    }

    #[expect(unsafe_code, reason = "calling into a plugin in C")]
    fn instance(&self, given: &Value, seed: u64) -> Result<Instance> {
        if !given.is_object() {
            return Err(Error::option("", "options are names with values, such as `steps: 10`"));
        }
        options::check(given, &self.schema)?;
        let mut all = self.defaults.clone();
        for (name, value) in given.as_object().into_iter().flatten() {
            all[name.as_str()] = value.clone();
        }
        let text = c_text(&all.to_string())?;
        let mut instance = Instance { table: self.table, pointer: std::ptr::null_mut() };
        let create = self.table.create.expect("checked when it was read");
        // SAFETY: the header's contract of `create`; all pointers live until it returns.
        let (code, message, option) =
            call(|error| unsafe { create(text.as_ptr(), seed, &mut instance.pointer, error) });
        match code {
            OK => Ok(instance),
            _ => {
                // What was not made is not destroyed.
                std::mem::forget(instance);
                Err(failed(code, message, option))
            }
        }
    }
}

/// An instance of a plugin in C, destroyed with this value.
struct Instance {
    table: &'static Table,
    pointer: *mut c_void,
}

// SAFETY: the header says that an instance is called by one thread at a time, whichever that is; the table never changes.
#[expect(unsafe_code, reason = "an instance may go from thread to thread")]
unsafe impl Send for Instance {}

impl Drop for Instance {
    #[expect(unsafe_code, reason = "calling into a plugin in C")]
    fn drop(&mut self) {
        if let Some(destroy) = self.table.destroy {
            // SAFETY: the instance was made by `create`, and is destroyed once.
            unsafe { destroy(self.pointer) }
        }
    }
}
