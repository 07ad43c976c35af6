//! A benchmark in C.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::{INFEASIBLE, Instance, OK, call, failed, size_of};
use crate::{Benchmark, Constraint, Error, Evaluation, Point, Result, Sense, Space, Variable};

/// `host_space`: what the plugin calls to say its variables.
#[repr(C)]
pub(super) struct CSpace {
    size: u32,
    host: *mut c_void,
    variable: unsafe extern "C" fn(*mut CSpace, *const c_char, *const *const c_char, usize, c_int),
    constraint: unsafe extern "C" fn(*mut CSpace, *const c_char),
}

/// What was said so far.
#[derive(Default)]
struct Written {
    variables: Vec<Variable>,
    constraints: Vec<Constraint>,
    mistake: Option<String>,
}

pub(super) struct CBenchmark {
    instance: Instance,
    space: Space,
}

impl CBenchmark {
    #[expect(unsafe_code, reason = "calling into a plugin in C")]
    pub(super) fn new(instance: Instance) -> Result<Self> {
        let mut written = Written::default();
        let mut space = CSpace {
            size: size_of::<CSpace>(),
            host: (&raw mut written).cast(),
            variable: add_variable,
            constraint: add_constraint,
        };
        let describe = instance.table.space.expect("checked when it was read");
        // SAFETY: the header's contract of `space`; all pointers live until it returns.
        let (code, message, option) = call(|error| unsafe { describe(instance.pointer, &mut space, error) });
        if code != OK {
            return Err(failed(code, message, option));
        }
        if let Some(mistake) = written.mistake {
            return Err(Error::new(mistake));
        }
        let space = Space::new(written.variables)?.with_constraints(written.constraints)?;
        Ok(Self { instance, space })
    }
}

impl Benchmark for CBenchmark {
    fn space(&self) -> Result<Space> {
        Ok(self.space.clone())
    }

    #[expect(unsafe_code, reason = "calling into a plugin in C")]
    fn evaluate(&mut self, point: &Point, seed: u64) -> Result<Evaluation> {
        // C has no length of its own to check.
        self.space.check(point)?;
        let evaluate = self.instance.table.evaluate.expect("checked when it was read");
        let mut value = f64::NAN;
        // SAFETY: the header's contract of `evaluate`; all pointers live until it returns.
        let (code, message, option) = call(|error| unsafe {
            evaluate(self.instance.pointer, point.as_ptr(), point.len(), seed, &mut value, error)
        });
        match code {
            OK => Ok(value.into()),
            INFEASIBLE => Ok(Evaluation::infeasible(message)),
            _ => Err(failed(code, message, option)),
        }
    }

    fn sense(&self) -> Sense {
        if self.instance.table.maximize == 0 { Sense::Minimize } else { Sense::Maximize }
    }

    fn deterministic(&self) -> bool {
        self.instance.table.noisy == 0
    }
}

#[expect(unsafe_code, reason = "called by a plugin in C")]
unsafe extern "C" fn add_variable(
    space: *mut CSpace,
    name: *const c_char,
    levels: *const *const c_char,
    count: usize,
    ordered: c_int,
) {
    // SAFETY: the plugin hands back the space that it was given, which lives during its call, as does what was written.
    let written = unsafe { &mut *(*space).host.cast::<Written>() };
    if name.is_null() || levels.is_null() && count > 0 {
        written.mistake = Some("a variable without a name or levels".to_owned());
        return;
    }
    // SAFETY: texts of a plugin end with a NUL.
    let text = |pointer: *const c_char| unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned();
    let mut list = Vec::new();
    for i in 0..count {
        // SAFETY: the plugin says that there are `count` levels.
        let level = unsafe { *levels.add(i) };
        if level.is_null() {
            written.mistake = Some(format!("level {i} of variable `{}` is NULL", text(name)));
            return;
        }
        list.push(text(level));
    }
    written.variables.push(match ordered {
        0 => Variable::categorical(text(name), list),
        _ => Variable::ordered(text(name), list),
    });
}

#[expect(unsafe_code, reason = "called by a plugin in C")]
unsafe extern "C" fn add_constraint(space: *mut CSpace, json: *const c_char) {
    // SAFETY: as above.
    let written = unsafe { &mut *(*space).host.cast::<Written>() };
    // SAFETY: texts of a plugin end with a NUL.
    let text = if json.is_null() { "".into() } else { unsafe { CStr::from_ptr(json) }.to_string_lossy() };
    match serde_json::from_str(&text) {
        Ok(constraint) => written.constraints.push(constraint),
        Err(error) => written.mistake = Some(format!("`{text}` is no constraint: {error}")),
    }
}
