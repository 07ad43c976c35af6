//! A solver in C.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use ndarray::ArrayView2;

use super::{Instance, OK, c_text, call, failed, size_of, text};
use crate::abi::kinds::flat;
use crate::{Acquisition, AcquisitionKind, Answer, BitMatrix, Bits, Problem, Result, Rule, Solver, Stop};

/// `host_problem`.
#[repr(C)]
pub(super) struct CProblem {
    size: u32,
    host: *const c_void,
    dimension: usize,
    constant: f64,
    linear: *const f64,
    pairs: *const f64,
    values: unsafe extern "C" fn(*const CProblem, *const u8, usize, *mut f64),
    group_count: usize,
    groups: *const usize,
    constraints: *const c_char,
    start_count: usize,
    starts: *const u8,
    unwanted_count: usize,
    unwanted: *const u8,
    work_limit: u64,
    time_limit_nanoseconds: u64,
}

/// `host_answer`.
#[repr(C)]
pub(super) struct CAnswer {
    size: u32,
    bits: *mut u8,
    value: f64,
    bound: f64,
    work: u64,
    stop: c_int,
}

pub(super) struct CSolver {
    instance: Instance,
    takes: String,
    keeps: String,
}

impl CSolver {
    pub(super) fn new(instance: Instance) -> Self {
        let takes = text(instance.table.takes).unwrap_or_else(|| AcquisitionKind::Quadratic.to_string());
        let keeps = text(instance.table.keeps).unwrap_or_default();
        Self { instance, takes, keeps }
    }
}

fn has(list: &str, name: &str) -> bool {
    list.split(',').any(|word| word.trim() == name)
}

/// What the function of a problem is asked through: a panic of another plugin's must not pass through C.
struct Asked<'a> {
    problem: &'a Problem,
    panic: RefCell<Option<Box<dyn Any + Send>>>,
}

impl Solver for CSolver {
    #[expect(unsafe_code, reason = "calling into a plugin in C")]
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
        let n = problem.dimension();
        let groups = flat(problem.groups());
        let constraints = match problem.constraints() {
            [] => c_text("")?,
            some => c_text(&serde_json::to_string(some).map_err(crate::Error::wrap)?)?,
        };
        let (starts, unwanted) = (bytes(problem.starts()), bytes(problem.unwanted()));
        let asked = Asked { problem, panic: RefCell::new(None) };
        let (constant, linear, pairs) = match problem.objective() {
            Acquisition::Quadratic(f) => (f.constant(), f.linear().as_ptr(), f.pairs().as_ptr()),
            Acquisition::General(_) => (0.0, std::ptr::null(), std::ptr::null()),
        };
        let nanoseconds = |limit: std::time::Duration| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let sent = CProblem {
            size: size_of::<CProblem>(),
            host: (&raw const asked).cast(),
            dimension: n,
            constant,
            linear,
            pairs,
            values,
            group_count: groups.len() / 2,
            groups: groups.as_ptr(),
            constraints: constraints.as_ptr(),
            start_count: problem.starts().len(),
            starts: starts.as_ptr(),
            unwanted_count: problem.unwanted().len(),
            unwanted: unwanted.as_ptr(),
            work_limit: problem.work_limit().unwrap_or(0),
            time_limit_nanoseconds: problem.time_limit().map_or(0, nanoseconds),
        };
        let mut bits = vec![0u8; n];
        let mut answer = CAnswer {
            size: size_of::<CAnswer>(),
            bits: bits.as_mut_ptr(),
            value: f64::NAN,
            bound: f64::NEG_INFINITY,
            work: 0,
            stop: 0,
        };
        let minimize = self.instance.table.minimize.expect("checked when it was read");
        // SAFETY: the header's contract of `minimize`; all pointers live until it returns.
        let (code, message, option) =
            call(|error| unsafe { minimize(self.instance.pointer, &sent, seed, &mut answer, error) });
        if let Some(panic) = asked.panic.take() {
            resume_unwind(panic);
        }
        if code != OK {
            return Err(failed(code, message, option));
        }
        let stop = match answer.stop {
            1 => Stop::Work,
            2 => Stop::Time,
            _ => Stop::Done,
        };
        let bits: Bits = bits.iter().map(|&bit| bit != 0).collect();
        let mut found = Answer::new(bits, answer.value).with_stop(stop);
        if answer.bound != f64::NEG_INFINITY {
            found = found.with_bound(answer.bound);
        }
        Ok(if answer.work > 0 { found.with_count("steps", answer.work) } else { found })
    }

    fn takes(&self, kind: AcquisitionKind) -> bool {
        has(&self.takes, kind.name())
    }

    fn keeps(&self, rule: Rule) -> bool {
        has(&self.keeps, rule.name())
    }
}

fn bytes(points: &BitMatrix) -> Vec<u8> {
    points.rows().flatten().map(|&bit| u8::from(bit)).collect()
}

#[expect(unsafe_code, reason = "called by a plugin in C")]
unsafe extern "C" fn values(problem: *const CProblem, points: *const u8, count: usize, values: *mut f64) {
    if count == 0 {
        return;
    }
    // SAFETY: the plugin hands back the problem that it was given, which lives during its call, as does what is asked.
    let (asked, n) = unsafe { (&*(*problem).host.cast::<Asked<'_>>(), (*problem).dimension) };
    // SAFETY: the plugin says that there are `count` rows of `dimension` bytes, and room for `count` values.
    let (points, values) = unsafe {
        (std::slice::from_raw_parts(points, count * n), std::slice::from_raw_parts_mut(values, count))
    };
    let points: Vec<bool> = points.iter().map(|&bit| bit != 0).collect();
    let view = ArrayView2::from_shape((count, n), &points).expect("as many bits as rows and columns");
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| asked.problem.objective().values(view, values))) {
        values.fill(f64::NAN);
        asked.panic.replace(Some(panic));
    }
}
