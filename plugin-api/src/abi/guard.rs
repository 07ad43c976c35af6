//! Panics stop here: a call across the boundary answers an error instead.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Once;

use abi_stable::StableAbi;
use abi_stable::std_types::{RErr, ROk, RResult, RString};

use crate::error::ErrorKind;
use crate::{Error, Result};

/// A [`crate::Error`] on its way across.
#[repr(C)]
#[derive(StableAbi)]
pub struct WireError {
    /// 0 failed, 1 options, 2 panicked; others are read as failed.
    kind: u8,
    message: RString,
    path: RString,
}

/// The answer of every call across the boundary.
pub(crate) type WireResult<T> = RResult<T, WireError>;

thread_local! {
    /// How many guarded calls this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Where and why the last panic of a guarded call happened; a panic's payload does not say where.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `call`; a panic in it becomes an error that says where it happened.
pub(crate) fn guard<T>(call: impl FnOnce() -> Result<T>) -> WireResult<T> {
    DEPTH.set(DEPTH.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(call));
    DEPTH.set(DEPTH.get() - 1);
    match outcome {
        Ok(Ok(value)) => ROk(value),
        Ok(Err(error)) => RErr(error.into()),
        Err(payload) => RErr(caught(payload).into()),
    }
}

fn caught(payload: Box<dyn Any + Send>) -> Error {
    match payload.downcast::<PassedOn>() {
        Ok(passed_on) => passed_on.0,
        Err(payload) => {
            let words = words(&*payload);
            // The payload's own destructor could panic again, this time with nobody to catch it.
            std::mem::forget(payload);
            // With other words, the note is of an earlier panic, which the plugin caught itself.
            let note = LAST_PANIC.take().filter(|note| note.ends_with(&words));
            Error::panicked(note.unwrap_or_else(|| format!("panicked: {words}")))
        }
    }
}

/// What a panic on the other side became, on its way through this one.
struct PassedOn(Error);

/// Goes on with a panic of the other side, where this side has no error to answer with.
///
/// A guard on this side answers the error as it was; without one it is a panic like any other.
pub(crate) fn pass_on(error: Error) -> ! {
    if DEPTH.get() > 0 {
        resume_unwind(Box::new(PassedOn(error)));
    }
    panic!("{error}");
}

/// Lets the panic hook note file and line of panics in guarded calls instead of printing them.
///
/// A dylib has a standard library of its own, so this changes nothing outside the plugin.
pub(crate) fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if DEPTH.get() == 0 {
                return print(panic);
            }
            let note = |at: &Location<'_>| {
                format!("panicked at {}:{}: {}", at.file(), at.line(), words(panic.payload()))
            };
            LAST_PANIC.set(panic.location().map(note));
        }));
    });
}

/// What the panic says, in one line: those of `assert_eq!` have three.
fn words(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let owned = || payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(owned).unwrap_or("a panic without words");
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

impl From<Error> for WireError {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Failed => 0,
            ErrorKind::Options => 1,
            ErrorKind::Panicked => 2,
        };
        Self { kind, message: error.message().into(), path: error.path().into() }
    }
}

impl From<WireError> for Error {
    fn from(wire: WireError) -> Self {
        match wire.kind {
            1 => Error::option(wire.path.into_string(), wire.message.into_string()),
            2 => Error::panicked(wire.message.into_string()),
            _ => Error::new(wire.message.into_string()),
        }
    }
}

/// A wire result back as an ordinary one.
pub(crate) fn unwire<T>(result: WireResult<T>) -> Result<T> {
    result.into_result().map_err(Error::from)
}
