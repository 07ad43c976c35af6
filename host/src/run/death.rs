//! Why a process ended, its own doing or somebody else's; and in which plugin and step.

use std::process::ExitStatus;

use serde::{Deserialize, Serialize};

use crate::plan::ResolvedTrial;
use crate::record::Step;

/// What Rust says before it aborts for want of memory.
pub(super) const OUT_OF_MEMORY: &str = "memory allocation of ";

/// Signals that somebody sends: they come from no fault of a process's own.
const OUTSIDE: &[&str] = &["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    pub code: Option<i32>,
    pub(super) signal: Option<i32>,
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Self { code: status.code(), signal }
    }
}

impl Exit {
    /// Whether somebody else ended the process. What an objective does to itself with such a signal cannot be told from
    /// that.
    pub(super) fn is_from_outside(self) -> bool {
        self.signal_name().is_some_and(|name| OUTSIDE.contains(&name))
    }

    /// Why the process of a trial or an evaluation ended, by the signal's name. `starved`: the machine ran out of memory
    /// meanwhile.
    pub(super) fn reason(self, what: &str, last_words: &[String], starved: bool) -> String {
        if let Some(words) = last_words.iter().find(|line| line.starts_with(OUT_OF_MEMORY)) {
            return format!("the {what}'s process ran out of memory: {words}");
        }
        if starved && self.signal_name() == Some("SIGKILL") {
            return format!(
                "the {what}'s process was killed by the system because the machine ran out of memory"
            );
        }
        match self.signal {
            Some(_) => format!("the {what}'s process {}", self.words()),
            None => format!("the {what}'s process {} before the {what} did", self.words()),
        }
    }

    /// How a process ended: what comes after its name.
    pub fn words(self) -> String {
        match (self.signal_name(), self.signal, self.code) {
            (Some(name), ..) if OUTSIDE.contains(&name) => format!("was killed from outside by {name}"),
            (Some(name), ..) => format!("was killed by {name}"),
            (None, Some(signal), _) => format!("was killed by signal {signal}"),
            (None, None, Some(code)) => format!("ended with exit code {code}"),
            (None, None, None) => "ended".to_owned(),
        }
    }

    fn signal_name(self) -> Option<&'static str> {
        let signal = self.signal?;
        SIGNALS.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name)
    }
}

/// Where a trial's process died, in words: which plugin was doing what. Names are those of `trial`, where it can be read.
pub(super) fn place(step: &Step, trial: Option<&ResolvedTrial>) -> String {
    let quoted = |name: &str| format!("`{name}`");
    let turns = || trial.map(|trial| trial.method.turns.as_slice()).unwrap_or_default();
    // Iterations are counted from 1, and surrogates take turns.
    let surrogate = |iteration: usize| match turns() {
        [] => "the surrogate".to_owned(),
        turns => format!("the surrogate {}", quoted(&turns[(iteration - 1) % turns.len()].surrogate.label)),
    };
    let surrogates = || {
        let names: Vec<String> = turns().iter().map(|turn| quoted(&turn.surrogate.label)).collect();
        format!("the surrogate {}", names.join(" or ")).trim_end().to_owned()
    };
    match step {
        Step::Evaluate { evaluation } => {
            let name = trial.map(|trial| format!(" `{}`", trial.benchmark.name)).unwrap_or_default();
            format!("in evaluation {evaluation} by the benchmark{name}")
        }
        Step::Await { evaluation } => format!("in the round of evaluation {evaluation}"),
        Step::Solve { iteration, solver, followed: true } => {
            format!("in the solver `{solver}`, iteration {iteration}")
        }
        Step::Solve { iteration, solver, followed: false } => {
            format!("in the shadow `{solver}`, iteration {iteration}")
        }
        Step::Fit { iteration } => {
            format!("in {}, drawing for iteration {iteration}", surrogate((*iteration).max(1)))
        }
        Step::Observe { evaluation } => format!("in {}, taking in evaluation {evaluation}", surrogates()),
        Step::Ask { evaluation } => format!("in {}, asked about evaluation {evaluation}", surrogates()),
    }
}

/// How many processes the system has ended since it started because there was no memory left; where it counts them.
pub(super) fn starved_processes() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/vmstat").ok()?;
    counts.lines().find_map(|line| line.strip_prefix("oom_kill ")?.parse().ok())
}

#[cfg(not(unix))]
const SIGNALS: &[(i32, &str)] = &[];

#[cfg(unix)]
const SIGNALS: &[(i32, &str)] = {
    use rustix::process::Signal;
    &[
        (Signal::HUP.as_raw(), "SIGHUP"),
        (Signal::INT.as_raw(), "SIGINT"),
        (Signal::QUIT.as_raw(), "SIGQUIT"),
        (Signal::ILL.as_raw(), "SIGILL"),
        (Signal::TRAP.as_raw(), "SIGTRAP"),
        (Signal::ABORT.as_raw(), "SIGABRT"),
        (Signal::BUS.as_raw(), "SIGBUS"),
        (Signal::FPE.as_raw(), "SIGFPE"),
        (Signal::KILL.as_raw(), "SIGKILL"),
        (Signal::USR1.as_raw(), "SIGUSR1"),
        (Signal::SEGV.as_raw(), "SIGSEGV"),
        (Signal::USR2.as_raw(), "SIGUSR2"),
        (Signal::PIPE.as_raw(), "SIGPIPE"),
        (Signal::ALARM.as_raw(), "SIGALRM"),
        (Signal::TERM.as_raw(), "SIGTERM"),
        (Signal::XCPU.as_raw(), "SIGXCPU"),
        (Signal::XFSZ.as_raw(), "SIGXFSZ"),
        (Signal::SYS.as_raw(), "SIGSYS"),
    ]
};

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn of(raw: i32) -> Exit {
        ExitStatus::from_raw(raw).into()
    }

    #[test]
    fn signals_are_told_by_name() {
        assert_eq!(of(11).reason("trial", &[], false), "the trial's process was killed by SIGSEGV");
        assert_eq!(of(6).reason("trial", &[], true), "the trial's process was killed by SIGABRT");
        assert_eq!(
            of(7 << 8).reason("trial", &[], false),
            "the trial's process ended with exit code 7 before the trial did"
        );
        assert_eq!(
            of(15).reason("trial", &[], true),
            "the trial's process was killed from outside by SIGTERM"
        );
        assert!(of(9).reason("trial", &[], true).ends_with("because the machine ran out of memory"));
    }

    #[test]
    fn who_ended_a_process_is_told_by_the_signal() {
        assert!([9, 15, 1, 2, 3].into_iter().all(|signal| of(signal).is_from_outside()));
        assert!([11, 6, 7, 4, 8, 24, 7 << 8, 0].into_iter().all(|raw| !of(raw).is_from_outside()));
    }
}
